"""The one place where the arguments of an estimator are validated and packed.

The functions return PackedSequences, label numbers and weights, the only forms that the
rest of the package computes with. The InputFormat of X defines how X and y are read.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._utils.words import words
from skcrf_sdca.data.input_formats import CUT_TABLE, check_has_items, cut_table
from skcrf_sdca.data.label_encoding import (
    encode_known_labels,
    encode_partial_labels,
    without_unknown_labels,
)
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.rows import on_own_columns
from skcrf_sdca.data.sample_weights import checked_weight
from skcrf_sdca.data.sequence_lists import as_sequence_list
from skcrf_sdca.data.sequences import Data
from skcrf_sdca.model.fitted import fitted_format
from skcrf_sdca.structures.chain.constraints import check_lengths


@dataclass(frozen=True)
class TrainingData(Data):
    """Validated input of a fit."""

    sample_weight: np.ndarray | None
    # What labels may follow each other, or segments; None if all may.
    constraints: Any = None
    # The pairs of labels with weights, a mask, or rows of the tuples; None if all.
    label_pairs: Any = None
    # The LabelParts; None if labels have no parts.
    parts: Any = None
    # The edges of graphs.
    edges: Any = None
    # The numbers of the features that data has, of all n_features_in_; None if all.
    columns: np.ndarray | None = None
    # Whether it is a chunk of a stream, after which others may have more features.
    is_chunk: bool = False

    @classmethod
    def of(cls, own, sample_weight):
        """Return the same as Data, with the weights of the argument of a fit."""
        weight = training_weight(sample_weight, own.data, own.label_rows)
        return cls(**vars(own), sample_weight=weight)


def on_own_features(training):
    """Return the TrainingData on the features that sparse data have."""
    X = training.data.X
    if not sp.issparse(X):
        return training
    own, columns = on_own_columns(X)
    if own is X:
        return training
    data = PackedSequences(own, training.data.offsets)
    return replace(training, data=data, columns=columns)


def held_out_labels(estimator, y, data, input_format):
    """Return the labels of packed held-out data as `score` takes them.

    Raise what `evaluation_labels` raises, and ValueError if there is nothing to score.
    """
    check_has_items(len(data), data.n_positions)
    _, known = evaluation_labels(estimator, y, data, input_format)
    if known is not None and not known.any():
        raise ValueError(f"{words().y} has no known label: there is nothing to score.")
    return input_format.label_lists(y, data) if input_format.boundaries else y


class Packed(NamedTuple):
    """Validated data of a prediction.

    Attributes
    ----------
    data : PackedSequences
    input_format : InputFormat
        The format of the answers.
    X : list or PackedSequences
        The data as users pass them.
    """

    data: Any
    input_format: Any
    X: Any


def packed_for(estimator, X, constraints, lengths=None):
    """Return the Packed of X for an estimator that knows the features of a fit.

    Raise ValueError or TypeError if X differs from the X of the fit in input format or
    number of features, or if the constraints allow no path of the length of a sequence.
    """
    X = as_sequence_list(X)
    if lengths is not None:
        X = cut_table(X, lengths)
    data, input_format = fitted_format(estimator).pack(X, estimator)
    if data.n_features != estimator.n_features_in_:
        raise ValueError(
            f"{words().X} has {data.n_features} features, but "
            f"{type(estimator).__name__} is expecting {estimator.n_features_in_} "
            "features as input."
        )
    if constraints is not None:
        check_lengths(constraints, data.lengths)
    return Packed(data, input_format if lengths is None else CUT_TABLE, X)


def evaluation_labels(estimator, y, data, input_format, sample_weight=None):
    """Validate y and the weights for a score of what `packed_for` returned.

    Return the label numbers, -1 for a label that is not in ``classes_``, and the weight
    of each position, or None. Positions whose label is unknown have the weight 0.
    """
    y = input_format.label_lists(y, data)
    unknown_label = getattr(estimator, "unknown_label", None)
    y, known = without_unknown_labels(
        y, data.lengths, estimator.classes_, unknown_label
    )
    labels = encode_known_labels(y, data.lengths, estimator.classes_, or_none=True)
    weight = checked_weight(sample_weight, data)
    if weight is None:
        return labels, known
    weight = np.repeat(weight, data.lengths)
    return labels, weight if known is None else weight * known


def known_labels(estimator, known, data, input_format):
    """Return the numbers of the labels that a prediction must keep, -1 if free.

    `known` has None in place of each free label.
    """
    known = input_format.known_lists(known, data)
    return encode_partial_labels(known, data.lengths, estimator.classes_)


def training_weight(sample_weight, data, label_rows):
    """Return the weight of each sequence in a fit, or None if all are alike.

    A sequence without a known label has the weight 0: its loss is 0 for every w,
    and it does not count in the mean over sequences either. ``label_rows`` are the
    possible labels of all positions, or their probabilities; None if all labels are
    known.
    """
    weight = checked_weight(sample_weight, data)
    if label_rows is None or label_rows.dtype != bool:
        return weight
    n_unknown = np.concatenate([[0], np.cumsum(label_rows.all(axis=1))])
    known = (np.diff(n_unknown[data.offsets]) < data.lengths) | (data.lengths == 0)
    given = np.ones(len(data)) if weight is None else weight
    # Where nothing is known at all, the penalty alone is minimised.
    return weight if known.all() or not given[known].any() else given * known
