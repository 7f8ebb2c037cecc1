"""Dependency trees: which of them there are, and where arcs and siblings stand.

A sentence of n words has n (n + 1) arcs: position h * n + m is that of the arc from
head h to word m + 1. Heads are as in CoNLL-U: words are counted from 1, and 0 is the
root. Where siblings have features, they follow the arcs of the sentence: (h, m, s) with
s the word nearest to m, between h and m, that has the head h too, or h itself.
"""

from math import isqrt
from typing import NamedTuple

import numpy as np

from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.ragged import split_rows
from skcrf_sdca._utils.words import words
from skcrf_sdca.data.label_encoding import plain_labels

# The relation of all arcs where trees have none: in Universal Dependencies the name of
# a relation that is not specified.
UNSPECIFIED = "dep"
ROWS = "row h * n + m is that of the arc from head h, 0 for the root, to word m + 1"


class TreeRules(NamedTuple):
    """Which trees there are."""

    single_root: bool = True  # one word alone is below the root
    projective: bool = False  # all words between a head and its word are below the head
    siblings: bool = False  # the siblings of words are positions too


def words_of(n_positions, *, siblings=False):
    """Return the number of words n of n (n + 1) arcs, and of (n^3 - n) / 3 siblings.

    >>> from skcrf_sdca.data.trees import words_of
    >>> words_of(6), words_of(12), words_of(20, siblings=True)
    (2, 3, 3)
    """
    if siblings:
        # n^3 < n (n + 1) (n + 2) < (n + 1)^3
        return int((3 * int(n_positions)) ** (1 / 3))
    # n^2 <= n (n + 1) < (n + 1)^2
    return isqrt(int(n_positions))


def sizes_of(n_positions, *, siblings=False):
    """Return the numbers of words of several sentences, an array (n,)."""
    sizes = [words_of(n, siblings=siblings) for n in n_positions]
    return np.array(sizes, dtype=np.int64)


def number_of_positions(n_words, *, siblings):
    """Return how many arcs, and siblings, sentences have.

    >>> from skcrf_sdca.data.trees import number_of_positions
    >>> number_of_positions(3, siblings=False), number_of_positions(3, siblings=True)
    (12, 20)
    """
    n_arcs = n_words * (n_words + 1)
    return n_arcs * (n_words + 2) // 3 if siblings else n_arcs


def are_arcs(n_words):
    """Return which positions of sentences with siblings are arcs, an array of bool.

    >>> import numpy as np
    >>> from skcrf_sdca.data.trees import are_arcs
    >>> are_arcs(np.array([1, 2])).astype(int).tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 0, 0]
    """
    n_arcs = number_of_positions(n_words, siblings=False)
    n_siblings = number_of_positions(n_words, siblings=True) - n_arcs
    counts = np.stack([n_arcs, n_siblings], axis=1).ravel()
    return np.repeat(np.arange(len(counts)) % 2 == 0, counts)


def pairs_of_words(n):
    """Return heads and words in the order of their siblings, rows (h, m).

    A pair has abs(h - m) siblings, in the order of words.

    >>> from skcrf_sdca.data.trees import pairs_of_words
    >>> pairs_of_words(3).tolist()
    [[1, 2], [1, 3], [2, 1], [2, 3], [3, 1], [3, 2]]
    """
    return np.argwhere(~np.eye(n, dtype=bool)) + 1


def sibling_at(n, place):
    """Return head, word and sibling of a place behind the arcs of n words.

    >>> from skcrf_sdca.data.trees import sibling_at
    >>> [sibling_at(3, place) for place in range(4)]
    [(1, 2, 1), (1, 3, 1), (1, 3, 2), (2, 1, 2)]
    """
    pairs = pairs_of_words(n)
    ends = np.cumsum(abs(pairs[:, 0] - pairs[:, 1]))
    pair = int(np.searchsorted(ends, place, side="right"))
    h, m = pairs[pair].tolist()
    return h, m, int(place - (ends[pair] - abs(h - m))) + (h if h < m else m + 1)


def heads_of(labels, *, siblings=False):
    """Return the heads of the words of a tree, given the labels of its arcs.

    >>> import numpy as np
    >>> from skcrf_sdca.data.trees import heads_of
    >>> heads_of(np.array([1, 0, 0, 1, 0, 0]))
    array([0, 1])
    """
    n = words_of(len(labels), siblings=siblings)
    return (labels[: n * (n + 1)].reshape(n + 1, n) > 0).argmax(axis=0)


def n_rows_of(rows):
    """Return the number of rows of an array or a list."""
    return rows.shape[0] if hasattr(rows, "shape") else len(rows)


def arcs_of(sentence, i):
    """Return the rows of arcs of sentence i, and which are allowed, or raise."""
    allowed = None
    if isinstance(sentence, tuple):
        if len(sentence) != 2:
            raise TypeError(
                f"{words().X}: sentence {i} is a tuple of {len(sentence)}; a sentence "
                "is arcs, or a tuple (arcs, allowed)"
            )
        sentence, allowed = sentence
    shape = getattr(sentence, "shape", ())
    if len(shape) == 3:
        if shape[0] != shape[1] + 1:
            raise ValueError(
                f"{words().X}: the arcs of sentence {i} are of shape {shape}; they "
                "must be of shape (n + 1, n, n_features): from the root and each word, "
                "to each word"
            )
        sentence = np.reshape(sentence, (shape[0] * shape[1], shape[2]))
    elif not shape and not isinstance(sentence, list):
        raise TypeError(
            f"{words().X}: sentence {i} is {described(sentence)}; it must be an array "
            f"of shape (n + 1, n, n_features), or have n (n + 1) rows: {ROWS}"
        )
    n_rows = n_rows_of(sentence)
    n = words_of(n_rows)
    if n * (n + 1) != n_rows:
        raise ValueError(
            f"{words().X}: sentence {i} has {n_rows} rows; n words have n (n + 1) "
            f"arcs: {ROWS}"
        )
    return sentence, None if allowed is None else _allowed(allowed, i, n)


def _allowed(allowed, i, n):
    """Return which arcs of sentence i are allowed, uint8 of shape (n (n + 1),)."""
    mask = np.asarray(allowed)
    if mask.shape != (n + 1, n) or mask.dtype != bool:
        raise ValueError(
            f"{words().X}: what is allowed in sentence {i} is an array of shape "
            f"{mask.shape} and dtype {mask.dtype}; it must be bool of shape "
            f"({n + 1}, {n}): heads, and words"
        )
    mask = mask & ~np.eye(n + 1, n, k=-1, dtype=bool)
    if not mask.any(axis=0).all():
        m = int(mask.any(axis=0).argmin())
        raise ValueError(
            f"{words().X}: sentence {i}, word {m + 1} has no head that is allowed"
        )
    return mask.astype(np.uint8).ravel()


class TreeFormat:
    """The format of answers about trees, as an `InputFormat` has it for sequences."""

    boundaries = True

    def __init__(self, *, labelled, siblings):
        self.labelled, self.siblings = labelled, siblings

    def labels(self, paths, classes, offsets):
        """Return the trees of labels of arcs, end to end, as an object array."""
        names, parts = plain_labels(classes), split_rows(paths, offsets)
        trees = (self._tree(part, names) for part in parts)
        return np.fromiter(trees, dtype=object, count=len(parts))

    def path_labels(self, paths, classes):
        """Return the trees of one sentence, rows of labels of its arcs, as a list."""
        return [self._tree(path, plain_labels(classes)) for path in paths]

    def _tree(self, labels, classes):
        heads = heads_of(labels, siblings=self.siblings)
        if not self.labelled:
            return heads.tolist()
        codes = labels[heads * len(heads) + np.arange(len(heads))] - 1
        return heads.tolist(), [classes[k] for k in codes]

    def rows(self, values, offsets):
        """Return numbers of labels of arcs as an array [head, word] of each sentence.

        With relations there is a third axis for these.
        """
        parts, n_columns = split_rows(values[:, 1:], offsets), values.shape[1] - 1
        sizes = sizes_of(np.diff(offsets), siblings=self.siblings).tolist()
        parts = [own[: n * (n + 1)] for own, n in zip(parts, sizes, strict=True)]
        tables = (
            part.reshape(n + 1, n, n_columns)
            if self.labelled
            else part.reshape(n + 1, n)
            for part, n in zip(parts, sizes, strict=True)
        )
        return np.fromiter(tables, dtype=object, count=len(sizes))
