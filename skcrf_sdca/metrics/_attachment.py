"""Metrics of dependency trees: attachment scores, over all words and by relation.

Owns what counts as a right arc. The scores count as the evaluation of the CoNLL 2018
shared task does, where both trees have the same words.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from skcrf_sdca._utils.messages import counted
from skcrf_sdca.metrics._checks import ratio

# Relations of Universal Dependencies between a word and a function word or a mark.
FUNCTIONAL = frozenset({"aux", "case", "cc", "clf", "cop", "det", "mark", "punct"})
NO_WORDS = "there are no words"
HEADINGS = ("precision", "recall", "f1-score", "support")


class AttachmentScores(NamedTuple):
    """Shares of words and trees that are right.

    Parameters
    ----------
    uas : float
        Unlabelled attachment score: words with the right head.
    las : float or None
        Labelled attachment score: words with the right head and relation. A relation
        such as "nsubj:pass" counts as "nsubj". None without relations.
    clas : float or None
        F1 of the arcs whose relation is neither of a function word nor "punct". None
        without relations.
    exact : float
        Sentences whose heads are all right.

    Examples
    --------
    >>> from skcrf_sdca.metrics import attachment_scores
    >>> attachment_scores([[2, 0]], [[2, 0]]).uas
    1.0
    """

    uas: float
    las: float | None
    clas: float | None
    exact: float


def attachment_scores(
    y_true: Sequence[Any],
    y_pred: Sequence[Any],
    *,
    subtypes: bool = False,
    mask: Sequence[Any] | None = None,
) -> AttachmentScores:
    """Return the attachment scores of predicted dependency trees.

    All words count, punctuation too, unless `mask` leaves some out. Every score is an
    average over words, or over sentences for `exact`, and 0 if there are none.

    Parameters
    ----------
    y_true, y_pred : sequences of length n
        True and predicted trees. A tree is the heads of its words, or a tuple (heads,
        relations). Heads are integers as in CoNLL-U: words count from 1, and 0 is the
        root.
    subtypes : bool, default=False
        Whether relations must agree in what follows their ":", too.
    mask : sequence of length n, default=None
        For each tree, whether each of its words counts. The shared task CoNLL-X [2]_
        leaves out punctuation: `~skcrf_sdca.text.is_punctuation` tells which words
        these are.

    Returns
    -------
    AttachmentScores
        ``(uas, las, clas, exact)``.

    Raises
    ------
    ValueError
        If the numbers of trees or of words differ, heads are no integers from 0 to the
        number of words, some trees have relations and others have none, or `mask` does
        not have True or False for each word.

    See Also
    --------
    attachment_report : The scores of each relation.
    skcrf_sdca.text.ConlluSentence : Its ``tree`` has this form.

    References
    ----------
    .. [1] D. Zeman et al., "CoNLL 2018 Shared Task: Multilingual Parsing from Raw Text
       to Universal Dependencies", Proceedings of the CoNLL 2018 Shared Task, 2018.
    .. [2] S. Buchholz, E. Marsi, "CoNLL-X Shared Task on Multilingual Dependency
       Parsing", Proceedings of CoNLL-X, 2006.

    Examples
    --------
    >>> from skcrf_sdca.metrics import attachment_scores
    >>> y_true = [([2, 0, 2], ["det", "root", "obj"])]
    >>> y_pred = [([2, 0, 2], ["det", "root", "nsubj"])]
    >>> scores = attachment_scores(y_true, y_pred)
    >>> scores.uas, round(scores.las, 2), round(scores.clas, 2), scores.exact
    (1.0, 0.67, 0.5, 1.0)

    Without punctuation, of words of any form:

    >>> from skcrf_sdca.text import is_punctuation
    >>> X = [["dogs", "bark", "!"]]
    >>> mask = [[not is_punctuation(word) for word in words] for words in X]
    >>> attachment_scores([[2, 0, 2]], [[2, 0, 1]], mask=mask).uas
    1.0
    """
    true, pred = _trees(y_true, y_pred, subtypes)
    counts = _counting(mask, true.heads)
    lengths = [len(heads) for heads in true.heads]
    is_right = _joined([a == b for a, b in zip(true.heads, pred.heads, strict=True)])
    words = np.repeat(np.arange(len(lengths)), lengths)
    n_wrong = np.bincount(words[~is_right & counts], minlength=len(lengths))
    uas, exact = _share(is_right[counts]), _share(n_wrong == 0)
    if true.relations is None:
        return AttachmentScores(uas, None, None, exact)
    is_labelled = is_right & (true.relations == pred.relations)
    own, other = true.is_content() & counts, pred.is_content() & counts
    n_content = own.sum() + other.sum()
    clas = ratio(2.0 * (is_labelled & own).sum(), n_content, "CLAS", NO_WORDS, 0.0)
    return AttachmentScores(uas, _share(is_labelled[counts]), float(clas), exact)


def attachment_report(
    y_true: Sequence[Any],
    y_pred: Sequence[Any],
    *,
    subtypes: bool = False,
    mask: Sequence[Any] | None = None,
    digits: int = 2,
    output_dict: bool = False,
) -> Any:
    """Return precision, recall, F1 and support of the arcs of each relation.

    An arc is right if its head and its relation are. Precision is 0 for a relation that
    is not predicted, and recall for one that is not in `y_true`.

    Parameters
    ----------
    y_true, y_pred : sequences of length n
        True and predicted trees, tuples (heads, relations), see `attachment_scores`.
    subtypes : bool, default=False
        Whether "nsubj:pass" is a relation of its own, instead of "nsubj".
    mask : sequence of length n, default=None
        For each tree, whether each of its words counts, as for `attachment_scores`.
    digits : int, default=2
        Number of decimals in the text.
    output_dict : bool, default=False
        Whether to return a dict of numbers, which are not rounded, instead of text.

    Returns
    -------
    report : str or dict
        One row for each relation, sorted, and "all", whose scores are the labelled
        attachment score. The dict is {row: {"precision": float, "recall": float,
        "f1-score": float, "support": int}}.

    Raises
    ------
    ValueError
        As for `attachment_scores`, and if trees have no relations.

    Examples
    --------
    >>> from skcrf_sdca.metrics import attachment_report
    >>> y_true = [([2, 0, 2], ["det", "root", "obj"])]
    >>> y_pred = [([2, 0, 2], ["det", "root", "nsubj"])]
    >>> print(attachment_report(y_true, y_pred))
          precision    recall  f1-score   support
      det      1.00      1.00      1.00         1
    nsubj      0.00      0.00      0.00         0
      obj      0.00      0.00      0.00         1
     root      1.00      1.00      1.00         1
      all      0.67      0.67      0.67         3
    """
    true, pred = _trees(y_true, y_pred, subtypes)
    if true.relations is None:
        raise ValueError("y_true has heads without relations: give (heads, relations).")
    counts = _counting(mask, true.heads)
    is_right = true.relations == pred.relations
    is_right &= _joined(true.heads) == _joined(pred.heads)
    right, wanted, given = (
        Counter(names.tolist())
        for names in (
            true.relations[is_right & counts],
            true.relations[counts],
            pred.relations[counts],
        )
    )
    rows = {
        name: _scores(right[name], given[name], wanted[name])
        for name in sorted(wanted.keys() | given.keys())
    }
    rows["all"] = _scores(right.total(), given.total(), wanted.total())
    if output_dict:
        return rows
    width = max(map(len, rows))
    lines = [" " * width + "".join(f"{heading:>10}" for heading in HEADINGS)]
    for name, row in rows.items():
        *shares, support = row.values()
        numbers = "".join(f"{share:10.{digits}f}" for share in shares)
        lines.append(f"{name:>{width}}{numbers}{support:10d}")
    return "\n".join(lines)


class _Trees(NamedTuple):
    """The heads of each tree, and the relations of all words, None without any."""

    heads: list[np.ndarray]
    relations: np.ndarray | None

    def is_content(self):
        """Return whether each relation is of a content word."""
        names = [name.partition(":")[0] for name in self.relations]
        return np.array([name not in FUNCTIONAL for name in names], dtype=bool)


def _trees(y_true, y_pred, subtypes):
    """Return both as _Trees, of equal lengths."""
    true, pred = (
        _of_argument(y, name, subtypes)
        for y, name in ((y_true, "y_true"), (y_pred, "y_pred"))
    )
    if len(true.heads) != len(pred.heads):
        raise ValueError(
            f"y_true has {counted(len(true.heads), 'tree')}, but y_pred has "
            f"{len(pred.heads)}."
        )
    for i, (own, other) in enumerate(zip(true.heads, pred.heads, strict=True)):
        if len(own) != len(other):
            raise ValueError(
                f"tree {i} has {counted(len(own), 'word')} in y_true, but {len(other)} "
                "in y_pred."
            )
    if (true.relations is None) != (pred.relations is None):
        name = "y_true" if true.relations is None else "y_pred"
        raise ValueError(
            f"{name} has heads without relations, but the other has relations: give "
            "(heads, relations) in both, or heads alone."
        )
    return true, pred


def _counting(mask, heads):
    """Return whether each word counts, from a mask for each tree or None."""
    if mask is None:
        return np.ones(sum(map(len, heads)), dtype=bool)
    if len(mask) != len(heads):
        raise ValueError(
            f"mask has {counted(len(mask), 'tree')}, but y_true has {len(heads)}."
        )
    found = [np.asarray(own) for own in mask]
    for i, (own, tree) in enumerate(zip(found, heads, strict=True)):
        if own.shape != tree.shape or (own.size and own.dtype.kind != "b"):
            raise ValueError(
                f"mask: tree {i} must have True or False for each of its "
                f"{counted(len(tree), 'word')}; it has {mask[i]!r:.80}."
            )
    return _joined(found).astype(bool)


def _of_argument(y, name, subtypes):
    """Return an argument as _Trees."""
    pairs = [tree for tree in y if isinstance(tree, tuple)]
    if not pairs:
        return _Trees([_heads(tree, name, i) for i, tree in enumerate(y)], None)
    if len(pairs) != len(y):
        raise ValueError(f"some trees of {name} have relations, and others have none.")
    heads, relations = [], []
    for i, pair in enumerate(pairs):
        if len(pair) != 2 or len(pair[0]) != len(pair[1]):
            raise ValueError(
                f"{name}: tree {i} must be a tuple (heads, relations), with as many "
                "relations as heads."
            )
        heads.append(_heads(pair[0], name, i))
        relations += map(str, pair[1])
    if not subtypes:
        relations = [relation.partition(":")[0] for relation in relations]
    return _Trees(heads, np.array(relations, dtype=object))


def _heads(heads, name, i):
    """Return the heads of tree i as an array, or raise ValueError."""
    found = np.asarray(heads)
    if not found.size:
        return np.zeros(0, dtype=np.intp)
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise ValueError(
            f"{name}: the heads of tree {i} must be integers in one row; they are "
            f"{heads!r:.80}. Words that do not count are left out by mask=."
        )
    is_wrong = (found < 0) | (found > len(found))
    if is_wrong.any():
        t = int(is_wrong.argmax())
        raise ValueError(
            f"{name}: tree {i}, word {t + 1}: the head must be 0, for the root, or a "
            f"word from 1 to {len(found)}; it is {found[t]}."
        )
    return found.astype(np.intp)


def _joined(arrays):
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=bool)


def _share(is_right):
    """Return the share of what is right; 0 of nothing."""
    return float(ratio(is_right.sum(), is_right.size, "share", NO_WORDS, 0.0))


def _scores(n_right, n_given, n_wanted):
    """Return a row of the report."""
    precision, recall = n_right / max(n_given, 1), n_right / max(n_wanted, 1)
    f1 = 2.0 * n_right / max(n_given + n_wanted, 1)
    return dict(zip(HEADINGS, (precision, recall, f1, n_wanted), strict=True))
