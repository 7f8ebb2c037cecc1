"""Reading dependency trees for a fit: arcs as sequences of rows, and their labels.

The order of arcs is that of trees.py, and heads.py has the checks of heads.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.words import in_words, words
from skcrf_sdca.data.heads import (
    check_trees,
    labels_of_trees,
    named_as_arcs,
    split_labels,
)
from skcrf_sdca.data.input_formats import ARRAYS, check_has_items
from skcrf_sdca.data.label_encoding import (
    encode_labels,
    encode_labels_beside,
    flat_labels,
)
from skcrf_sdca.data.sequences import Data, read_sequences
from skcrf_sdca.data.tree_sizes import check_sentences
from skcrf_sdca.data.trees import arcs_of, n_rows_of, sizes_of


@dataclass(frozen=True)
class ArcData(Data):
    """The Data of arcs; ``constraints`` says which of them are allowed, None if all."""

    constraints: NDArray[np.uint8] | None


@named_as_arcs
def read_dependencies(X, y, known, *, labelled, rules):
    """Return the ArcData of a fit; the errors are as in `DependencyCRF.fit`."""
    X = list(X) if isinstance(X, Iterator) else X
    rows, allowed = split_arcs(X)

    def encode(input_format, y, data):
        return _encoded(y, data, known, allowed, labelled=labelled, rules=rules)

    own = read_sequences(rows, y, known._replace(check=_check_arcs, encode=encode))
    return ArcData(**(vars(own) | {"X": X}), constraints=allowed)


@named_as_arcs
def read_made_dependencies(arcs, X, y, known, *, labelled, rules):
    """Return the ArcData of a fit whose rows are made of tokens.

    Parameters
    ----------
    arcs : callable
        ``arcs(X)`` returns the TokenArcs of sentences of tokens.
    X, y, known, labelled, rules
        As for `read_dependencies`.
    """
    X = list(X) if isinstance(X, Iterator) else X
    data = arcs(X)
    check_has_items(len(data), data.n_positions)
    y = list(y) if isinstance(y, Iterator) else y
    encoded = _encoded(y, data, known, None, labelled=labelled, rules=rules)
    classes, labels, rows = encoded
    attributes = {
        "_input_format": ARRAYS.name,
        "classes_": classes,
        "n_features_in_": data.n_features,
    }
    return ArcData(X, y, data, labels, rows, ARRAYS, attributes, constraints=None)


def _encoded(y, data, known, allowed, *, labelled, rules):
    """Return the relations, the labels of all arcs, and None for rows of labels."""
    n_words = sizes_of(data.lengths, siblings=rules.siblings)
    check_sentences(n_words, rules)
    heads, relations = split_labels(y, n_words, labelled=labelled)
    check_trees(heads, allowed, data.offsets, rules)
    with in_words(item="word", position="word"):
        if known.classes is None:
            classes, codes = encode_labels(relations, n_words)
        else:
            # An arc has one relation, which is known.
            flat_labels(relations, n_words)
            classes, codes, _ = encode_labels_beside(
                known.classes, relations, n_words, None, known.argument
            )
    return classes, labels_of_trees(heads, codes, data.offsets, rules), None


def _check_arcs(input_format):
    """Raise ValueError if all sentences are read as one table."""
    if not input_format.boundaries:
        raise ValueError(
            f"{words().X}: the arcs of sentence 0 are a row of numbers; they must be "
            "an array of shape (n + 1, n, n_features), or have a row for each arc"
        )


def split_arcs(X):
    """Return the rows of the arcs of sentences, a list, and which are allowed.

    The latter are an ndarray of uint8 for all arcs, or None if all are. Raise
    ValueError or TypeError, which names the sentence, and the word if it can.
    """
    if isinstance(X, (str, bytes)) or not hasattr(X, "__iter__") or sp.issparse(X):
        raise TypeError(
            f"{words().X} is {described(X)}; it must be a list of sentences"
        )
    parts = [arcs_of(sentence, i) for i, sentence in enumerate(X)]
    rows = [own for own, _ in parts]
    if all(allowed is None for _, allowed in parts):
        return rows, None
    masks = [
        np.ones(n_rows_of(own), dtype=np.uint8) if allowed is None else allowed
        for own, allowed in parts
    ]
    return rows, np.concatenate(masks)
