"""Reading the sequences and labels of a fit: one call returns all that it takes.

The readers of other data read the sequences in these by `read_sequences`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca.data.input_formats import (
    CUT_TABLE,
    InputFormat,
    check_has_items,
    cut_table,
    training_format,
)
from skcrf_sdca.data.label_encoding import encode_labels_beside
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.sequence_lists import as_sequence_list


class Known(NamedTuple):
    """The features and labels that are known before X and y are read.

    Attributes
    ----------
    estimator : BaseEstimator
        Named in messages.
    new_vectorizer : callable
        ``new_vectorizer(input_format)`` returns the SequenceVectorizer of X.
    classes : ndarray, default=None
        Labels beside the labels in y.
    grow : callable, default=None
        ``grow(vectorizer, X)`` returns X packed, whose features follow the features
        that the vectorizer knows. By default the vectorizer is fitted to X.
    check : callable, default=None
        ``check(input_format)`` raises an error if this format is not taken.
    argument : str, default="prior"
        Where the labels are from, for messages.
    encode : callable, default=None
        ``encode(input_format, y, data)`` returns what `encode_training_labels` returns,
        in place of it.
    """

    estimator: Any
    new_vectorizer: Callable[[InputFormat], Any]
    classes: NDArray[Any] | None = None
    grow: Callable[[Any, Any], PackedSequences] | None = None
    check: Callable[[InputFormat], None] | None = None
    encode: Callable[[InputFormat, Any, PackedSequences], Any] | None = None
    argument: str = "prior"


@dataclass(frozen=True)
class Data:
    """The X and y of a fit, in forms that can be read twice, and what they hold."""

    X: Any
    y: Any
    data: PackedSequences
    labels: NDArray[np.int32]  # of shape (n_positions,); -1 where not known
    # Of shape (n_positions, n_labels): which labels may be right, bool, or their
    # probabilities, float; None if all labels are known.
    label_rows: NDArray[Any] | None
    input_format: InputFormat
    # Fitted attributes: classes_, n_features_in_, _input_format, and where they exist
    # vectorizer_ and _feature_names.
    attributes: dict[str, Any]


def read_sequences(X, y, known, lengths=None):
    """Return the Data of a fit; the errors are as in `BaseCRF.fit`.

    X, y and lengths are as there.
    """
    X = as_sequence_list(X)
    y = list(y) if isinstance(y, Iterator) else y
    if lengths is None:
        sequences, input_format = X, training_format(X, y)
    else:
        sequences, input_format = cut_table(X, lengths), CUT_TABLE
    if known.check is not None:
        known.check(input_format)
    vectorizer = None
    if input_format.needs_vectorizer:
        vectorizer = known.new_vectorizer(input_format)
    if vectorizer is not None and known.grow is not None:
        data = known.grow(vectorizer, sequences)
    else:
        data = input_format.pack_training(sequences, known.estimator, vectorizer)
    data.check_source()
    check_has_items(len(data), data.n_positions)
    unknown_label = getattr(known.estimator, "unknown_label", None)
    if known.encode is not None:
        encoded = known.encode(input_format, y, data)
    elif known.classes is not None:
        lists = input_format.label_lists(y, data)
        encoded = encode_labels_beside(
            known.classes, lists, data.lengths, unknown_label, known.argument
        )
    else:
        encoded = input_format.encode_labels(y, data, unknown_label)
    classes, labels, rows = encoded
    attributes = {
        "_input_format": input_format.name,
        "vectorizer_": vectorizer,
        "_feature_names": input_format.feature_names(sequences, data),
        "classes_": classes,
        "n_features_in_": data.n_features,
    }
    attributes = {k: value for k, value in attributes.items() if value is not None}
    return Data(X, y, data, labels, rows, input_format, attributes)
