"""Trees that are none, and trees whose arcs cross: counted, left out or changed."""

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca.data.heads import (
    check_trees,
    crossing,
    first_cyclic,
    named_as_arcs,
    split_labels,
)
from skcrf_sdca.data.trees import TreeRules


class TreeFaults(NamedTuple):
    """The number of sentences with each fault; a wrong tree counts by its first fault.

    Parameters
    ----------
    head_out_of_range : int, default=0
        A head is neither 0 nor a word.
    own_head : int, default=0
        A word is its own head.
    cycle : int, default=0
        Words that are not below the root.
    several_roots : int, default=0
        Two or more words are below the root.
    crossing_arcs : int, default=0
        The tree is right, and arcs cross.

    Examples
    --------
    >>> from skcrf_sdca.text import TreeFaults
    >>> print(TreeFaults(own_head=1, crossing_arcs=2))
    own head: 1, crossing arcs: 2
    """

    head_out_of_range: int = 0
    own_head: int = 0
    cycle: int = 0
    several_roots: int = 0
    crossing_arcs: int = 0

    def __str__(self) -> str:
        """Return the counts that are not 0 in words."""
        counts = self._asdict().items()
        found = [f"{name.replace('_', ' ')}: {n}" for name, n in counts if n]
        return ", ".join(found) or "no faults"


# In the order in which they are looked for: each needs that the ones before are right.
_WRONG: dict[str, Callable[[NDArray[Any], bool], bool]] = {
    "head_out_of_range": lambda h, _: bool(((h < 0) | (h > len(h))).any()),
    "own_head": lambda h, _: bool((h == np.arange(1, len(h) + 1)).any()),
    "cycle": lambda h, _: first_cyclic(h) is not None,
    "several_roots": lambda h, single: single and bool(np.count_nonzero(h == 0) > 1),
}


def clean_trees(
    X: Iterable[Any],
    y: Iterable[Any],
    *,
    wrong: Literal["raise", "drop"] = "raise",
    crossing_arcs: Literal["keep", "raise", "drop", "projectivize"] = "keep",
    single_root: bool = True,
) -> tuple[list[Any], list[Any], TreeFaults]:
    """Return sentences whose trees are right, and count the faults of all.

    Parameters
    ----------
    X : list of n sentences
        Any objects.
    y : list of n trees
        The heads of words, integers as in CoNLL-U, or tuples (heads, relations).
    wrong : {"raise", "drop"}, default="raise"
        What to do with heads that are no tree: raise an error, or leave the sentence
        out.
    crossing_arcs : {"keep", "raise", "drop", "projectivize"}, default="keep"
        What to do with a tree whose arcs cross. "projectivize" moves words up: as long
        as arcs cross, the head of the word with the shortest arc over a word that is
        not below its head becomes the head of that head [1]_. Relations stay.
    single_root : bool, default=True
        Whether two words below the root are wrong.

    Returns
    -------
    X : list
        The sentences that are kept.
    y : list
        Their trees; those that were not changed are the same objects.
    faults : TreeFaults
        Counts of all sentences, and its text.

    Raises
    ------
    ValueError, TypeError
        With "raise" at the first fault, which names the sentence and the word; if there
        are not as many trees as sentences, heads are no integers, or a parameter is not
        valid.

    References
    ----------
    .. [1] Nivre, Nilsson, "Pseudo-projective dependency parsing", ACL 2005.

    Examples
    --------
    >>> from skcrf_sdca.text import clean_trees
    >>> X = [["dogs", "bark"], ["a", "b"], ["a", "b", "c", "d"]]
    >>> y = [[2, 0], [2, 1], [3, 4, 0, 3]]
    >>> X, y, faults = clean_trees(X, y, wrong="drop", crossing_arcs="projectivize")
    >>> X, y
    ([['dogs', 'bark'], ['a', 'b', 'c', 'd']], [[2, 0], [3, 3, 0, 3]])
    >>> print(faults)
    cycle: 1, crossing arcs: 1
    """
    for name, value, known in (
        ("wrong", wrong, ["raise", "drop"]),
        ("crossing_arcs", crossing_arcs, ["keep", "raise", *_CHANGES]),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {known}; it is {value!r}")
    X, y = list(X), list(y)
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} sentences, and y has {len(y)}")
    heads = [_heads(tree, i) for i, tree in enumerate(y)]
    if wrong == "raise":
        _check(heads, TreeRules(single_root, projective=False))
    counts, kept = dict.fromkeys(TreeFaults._fields, 0), []
    for i, own in enumerate(heads):
        fault = next((name for name in _WRONG if _WRONG[name](own, single_root)), None)
        if fault is None:
            kept.append(i)
        else:
            counts[fault] += 1
    crossed = {i for i in kept if crossing(heads[i]) is not None}
    counts["crossing_arcs"] = len(crossed)
    if crossing_arcs == "raise":
        _check([heads[i] for i in kept], TreeRules(single_root, projective=True))
    change = _CHANGES.get(crossing_arcs, lambda tree: tree)
    found = [(X[i], change(y[i]) if i in crossed else y[i]) for i in kept]
    found = [(sentence, tree) for sentence, tree in found if tree is not None]
    return [own for own, _ in found], [own for _, own in found], TreeFaults(**counts)


def _heads(tree, i):
    """Return the heads of tree i, an array of integers."""
    found = np.asarray(tree[0] if isinstance(tree, tuple) else tree)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise ValueError(
            f"y: the heads of sentence {i} must be integers in one row; they are "
            f"{found.tolist()!r:.80}"
        )
    return found.astype(np.intp)


@named_as_arcs
def _check(heads, constraints):
    """Raise ValueError at the first tree that breaks the constraints."""
    n_words = np.array([len(own) for own in heads], dtype=np.int64)
    heads, _ = split_labels(heads, n_words, labelled=False)
    check_trees(heads, None, None, constraints)


def _projectivized(tree):
    """Return a tree without arcs that cross, as `clean_trees` says."""
    if isinstance(tree, tuple):
        heads, *others = tree
        return (_projectivized(heads), *others)
    heads = np.array(tree)
    while (word := _shortest_crossing(heads)) is not None:
        heads[word - 1] = heads[heads[word - 1] - 1]
    return heads if isinstance(tree, np.ndarray) else heads.tolist()


def _shortest_crossing(heads):
    """Return the word with the shortest arc over a word that is not below its head."""
    n = len(heads)
    # below[k, h]: whether the word k is below the node h.
    below, above = np.zeros((n + 1, n + 1), dtype=bool), np.arange(n + 1)
    for _ in range(n + 1):
        below[np.arange(n + 1), above] = True
        above = np.append(0, heads)[above]
    best = None
    for m, h in enumerate(heads.tolist(), start=1):
        between = slice(min(h, m) + 1, max(h, m))
        if not below[between, h].all() and (best is None or abs(h - m) < best[0]):
            best = abs(h - m), m
    return None if best is None else best[1]


# What becomes of a tree whose arcs cross; None leaves it out.
_CHANGES: dict[str, Callable[[Any], Any]] = {
    "drop": lambda _: None,
    "projectivize": _projectivized,
}
