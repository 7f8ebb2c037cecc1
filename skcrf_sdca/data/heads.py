"""Heads of words: whether they are trees, and the labels of arcs that trees have.

The order of arcs is that of trees.py. Messages say sentence and word, counted as in
CoNLL-U. It is NumPy alone.
"""

import numpy as np

from skcrf_sdca._kernels.features._sibling_rows import add_sibling_labels
from skcrf_sdca._utils.messages import as_integer, as_list, described
from skcrf_sdca._utils.words import in_words, words
from skcrf_sdca.data.label_encoding import encode_known_labels
from skcrf_sdca.data.trees import UNSPECIFIED, are_arcs, number_of_positions, sizes_of

# The functions that read sequences say sentence and arc.
named_as_arcs = in_words(
    sequence="sentence",
    item="arc",
    position="arc",
    imputer="SimpleImputer, on one array with the rows of all arcs",
)


def read_known_trees(y, offsets, allowed, classes, *, labelled, rules):
    """Return the labels of all arcs of y for a model that has these relations.

    Arcs of other relations have the label -1. The second array says which arcs are in
    the trees. The errors are those of a fit.
    """
    n_words = sizes_of(np.diff(offsets), siblings=rules.siblings)
    heads, relations = split_labels(y, n_words, labelled=labelled)
    check_trees(heads, allowed, offsets, rules)
    with in_words(item="word", position="word"):
        codes = encode_known_labels(relations, n_words, classes)
    labels = labels_of_trees(heads, codes, offsets, rules)
    in_tree = labels != 0
    if rules.siblings:
        in_tree &= are_arcs(n_words)
    return labels, in_tree


def split_labels(y, n_words, *, labelled):
    """Return the heads and the relations of sentences, two lists.

    Without relations all arcs have the relation `UNSPECIFIED`. Raise ValueError or
    TypeError, which names the sentence and the word, if there are not as many heads as
    words, or one is not 0 to n.
    """
    if y is None or isinstance(y, (str, bytes)) or not hasattr(y, "__len__"):
        raise TypeError(
            f"{words().y} is {described(y)}; it must be a list of the heads of each "
            "sentence"
        )
    if len(y) != len(n_words):
        raise ValueError(
            f"{words().X} has {len(n_words)} sentences, and {words().y} has {len(y)}"
        )
    heads, relations = [], []
    for i, (own, n) in enumerate(zip(y, n_words.tolist(), strict=True)):
        names = [UNSPECIFIED] * n
        if labelled:
            if not isinstance(own, (tuple, list)) or list(map(np.ndim, own)) != [1, 1]:
                raise TypeError(
                    f"{words().y}: sentence {i} is {described(own)}; with "
                    "labelled=True it must be a pair (heads, relations)"
                )
            own, names = own[0], list(own[1])
        heads.append(_heads(own, i, n))
        relations.append(names)
    return heads, relations


def _heads(heads, i, n):
    """Return the heads of the words of sentence i, or raise."""
    found = np.asarray(heads if n or len(heads) else np.zeros(0, dtype=int))
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise ValueError(
            f"{words().y}: the heads of sentence {i} are an array of shape "
            f"{found.shape} and dtype {found.dtype}; they must be {n} integers, 0 for "
            "the root and m for the m-th word"
        )
    if len(found) != n:
        raise ValueError(
            f"{words().y}: sentence {i} has {len(found)} heads, and {words().X} has "
            f"the arcs of {n} words"
        )
    wrong = (found < 0) | (found > n)
    if wrong.any():
        m = int(wrong.argmax())
        raise ValueError(
            f"{words().y}: sentence {i}, word {m + 1} has the head {found[m]}; heads "
            f"are 0, the root, to {n}, as in CoNLL-U: the first word is 1"
        )
    return found.astype(np.int64)


def check_trees(heads, allowed, offsets, rules):
    """Raise ValueError, with the sentence, if heads are no tree of these rules."""
    for i, own in enumerate(heads):
        n, where = len(own), f"{words().y}: sentence {i}"
        _check_acyclic(own, where)
        (roots,) = np.nonzero(own == 0)
        if rules.single_root and len(roots) > 1:
            raise ValueError(
                f"{where} has {len(roots)} words below the root, the words "
                f"{roots[0] + 1} and {roots[1] + 1} among them; set "
                f"{words().several_roots} to allow that"
            )
        if rules.projective:
            _check_projective(heads, i)
        if allowed is None:
            continue
        lacking = allowed[offsets[i] + own * n + np.arange(n)] == 0
        if lacking.any():
            m = int(lacking.argmax())
            raise ValueError(
                f"{where}, word {m + 1} has the head {own[m]}, an arc that "
                f"{words().X} does not allow"
            )


def _check_acyclic(heads, where):
    """Raise ValueError if the words are not all below the root."""
    own = heads == np.arange(1, len(heads) + 1)
    if own.any():
        m = int(own.argmax()) + 1
        raise ValueError(
            f"{where}, word {m} is its own head; words are counted from 1, and 0 is "
            "the root"
        )
    if (m := first_cyclic(heads)) is not None:
        raise ValueError(f"{where}, word {m}: its heads form a cycle")


def first_cyclic(heads):
    """Return the first word that is not below the root, None if all are.

    >>> import numpy as np
    >>> from skcrf_sdca.data.heads import first_cyclic
    >>> first_cyclic(np.array([0, 3, 2])), first_cyclic(np.array([2, 0]))
    (2, None)
    """
    # Twice as far up at every turn: who is on a cycle never arrives.
    above = np.append(0, heads).astype(np.intp)
    for _ in range(len(heads).bit_length()):
        above = above[above]
    return int((above > 0).argmax()) if above.any() else None


def _check_projective(heads, i):
    """Raise ValueError if arcs of sentence i cross, and say in how many others too."""
    pair = crossing(heads[i])
    if pair is None:
        return
    n_more = sum(crossing(own) is not None for own in heads[i + 1 :])
    a, b = pair
    raise ValueError(
        f"{words().y}: sentence {i} is not projective: the arcs from {heads[i][a - 1]} "
        f"to {a} and from {heads[i][b - 1]} to {b} cross, and {n_more} sentences after "
        'it have such arcs; clean_trees(X, y, crossing_arcs="projectivize") moves '
        'words until none cross, "drop" leaves such sentences out, and '
        "projective=False allows crossing arcs"
    )


def crossing(heads):
    """Return two words whose arcs cross, or None; the root stands before all words.

    >>> import numpy as np
    >>> from skcrf_sdca.data.heads import crossing
    >>> crossing(np.array([2, 0, 1])), crossing(np.array([3, 0, 2]))
    ((2, 3), (2, 1))
    >>> crossing(np.array([2, 0, 2]))
    """
    ends = np.stack([heads, np.arange(1, len(heads) + 1)])
    low, high = ends.min(axis=0), ends.max(axis=0)
    inside = (low[:, None] < low) & (low < high[:, None]) & (high[:, None] < high)
    if not inside.any():
        return None
    a, b = np.argwhere(inside)[0].tolist()
    return a + 1, b + 1


def labels_of_trees(heads, codes, offsets, rules):
    """Return the labels of all arcs: 0, or 1 + the code of the relation of the word.

    Those of siblings are 1 in the tree, and 0 else.
    """
    labels = np.zeros(offsets[-1], dtype=np.int32)
    for_arcs = [
        first + own * len(own) + np.arange(len(own))
        for first, own in zip(offsets[:-1], heads, strict=True)
    ]
    places = np.concatenate([np.zeros(0, dtype=np.int64), *for_arcs])
    labels[places] = np.where(codes < 0, -1, codes + 1)
    if rules.siblings:
        n_words = np.array([len(own) for own in heads], dtype=np.int64)
        flat = np.concatenate([np.zeros(0, dtype=np.intc), *heads])
        add_sibling_labels(n_words, flat.astype(np.intc), labels)
    return labels


def labels_of_known_heads(known, n_positions, *, siblings=False):
    """Return 0 for all other arcs into the words whose head is known, -1 for the rest.

    Heads that are not known are None. The errors are those of y.
    """
    with in_words(y="known"):
        if not hasattr(known, "__len__") or len(known) != len(n_positions):
            raise ValueError(
                f"{words().y} must have the heads of {len(n_positions)} sentences, as "
                f"many as {words().X}"
            )
        parts = [np.zeros(0, dtype=np.int32)]
        sizes = sizes_of(n_positions, siblings=siblings).tolist()
        for i, (own, n) in enumerate(zip(known, sizes, strict=True)):
            is_free = np.array([head is None for head in own], dtype=bool)
            heads = _heads([0 if head is None else head for head in own], i, n)
            table = np.full((n + 1, n), -1, dtype=np.int32)
            table[:, ~is_free] = 0
            (places,) = np.nonzero(~is_free)
            table[heads[places], places] = -1
            n_others = number_of_positions(n, siblings=siblings) - table.size
            parts += [table.ravel(), np.full(n_others, -1, dtype=np.int32)]
    return np.concatenate(parts)


def checked_word(word, n, name):
    """Return the number of one of n words, or raise TypeError or IndexError."""
    word = as_integer(word, name)
    if not 1 <= word <= n:
        raise IndexError(f"{name}: {word} is not in the sentence of {n} words")
    return word


def checked_heads(heads, name, n):
    """Return a list of heads of a word of n words, or raise."""
    heads = [as_integer(head, name) for head in as_list(heads, name, "heads")]
    for head in heads:
        if not 0 <= head <= n:
            raise ValueError(
                f"{name}: {head} is no head in a sentence of {n} words; heads are 0, "
                f"the root, to {n}"
            )
    return heads
