"""What users pass to an estimator, validated and packed: the one place for both.

Behind `training_data` and `prediction_data` there are only PackedSequences, label
numbers and weights. How X and y are read is up to their InputFormat.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.sklearn_private import check_sample_weight, get_feature_names
from skcrf_sdca.data.containers import as_sequence_list
from skcrf_sdca.data.input_formats import InputFormat, check_has_items, format_of
from skcrf_sdca.data.label_encoding import encode_known_labels, encode_partial_labels
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.rows import as_numbers
from skcrf_sdca.estimators.fitted import check_form, fitted_format
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.structures.chain.constraints import (
    Constraints,
    check_lengths,
    read_constraints,
)


@dataclass(frozen=True)
class TrainingData:
    """Validated input of a fit.

    Attributes
    ----------
    data : PackedSequences
        n sequences.
    labels : ndarray of shape (n_positions,), int32
    sample_weight : ndarray of shape (n,) or None
    constraints : Constraints or None
    input_format : InputFormat
    attributes : dict
        What a fitted estimator keeps of it: ``classes_``, ``n_features_in_``,
        ``_input_format``, and where they exist ``vectorizer_``, ``feature_names_in_``.
    """

    data: PackedSequences
    labels: np.ndarray
    sample_weight: np.ndarray | None
    constraints: Constraints | None
    input_format: InputFormat
    attributes: dict


def training_data(estimator, X, y, sample_weight):
    """Validate the arguments of fit and pack them.

    Parameters
    ----------
    estimator : BaseCRF
        Named in messages, asked for its ``transitions``; not changed.
    X : as `as_sequence_list` returns it
    y : list of n label lists, array-like of shape (n,) if X is a table, or ndarray of
        shape (n_positions,) if X is PackedSequences
    sample_weight : array-like of shape (n,) or None

    Returns
    -------
    training : TrainingData

    Raises
    ------
    ValueError, TypeError
        If the arguments are not valid, see `BaseCRF.fit`.
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None."
        )
    input_format = format_of(X)
    attributes = {"_input_format": input_format.name}
    if input_format.needs_vectorizer:
        attributes["vectorizer_"] = SequenceVectorizer()
    if (names := get_feature_names(X)) is not None:
        attributes["feature_names_in_"] = names
    vectorizer = attributes.get("vectorizer_")
    data, y = input_format.pack_training(X, y, estimator, vectorizer)
    check_has_items(len(data), data.n_positions)
    classes, labels = input_format.encode_labels(y, data)
    attributes |= {"classes_": classes, "n_features_in_": data.n_features}
    weight = _checked_weight(sample_weight, data)
    constraints = read_constraints(estimator.transitions, classes, labels, data.offsets)
    return TrainingData(data, labels, weight, constraints, input_format, attributes)


def prediction_data(estimator, X):
    """Validate X for a fitted estimator and pack it.

    Parameters
    ----------
    estimator : BaseCRF
    X : as in `BaseCRF.fit`

    Returns
    -------
    data : PackedSequences

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    ValueError, TypeError
        If X is not valid, differs from that of fit in input format or number of
        features, or has a sequence of a length for which the transitions of the model
        allow no path; or if the fitted attributes have been changed so that they do not
        agree.
    """
    check_is_fitted(estimator)
    check_form(estimator)
    data = fitted_format(estimator).pack(as_sequence_list(X), estimator)
    if data.n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {data.n_features} features, but {type(estimator).__name__} is "
            f"expecting {estimator.n_features_in_} features as input."
        )
    scores = estimator.start_, estimator.end_, estimator.transition_
    check_lengths(Constraints.of_scores(*scores), data.lengths)
    return data


def evaluation_labels(estimator, y, data, sample_weight):
    """Validate y and the weights for a score.

    Parameters
    ----------
    estimator : BaseCRF
        Fitted.
    y : as in `training_data`
    data : PackedSequences
        As `prediction_data` returns it.
    sample_weight : array-like of shape (n,) or None

    Returns
    -------
    labels : ndarray of shape (n_positions,), int32
        -1 for a label that is not in ``classes_``.
    weight : ndarray of shape (n_positions,) or None
    """
    y = fitted_format(estimator).label_lists(y, data)
    labels = encode_known_labels(y, data.lengths, estimator.classes_)
    weight = _checked_weight(sample_weight, data)
    return labels, None if weight is None else np.repeat(weight, data.lengths)


def known_labels(estimator, known, data):
    """Validate the labels that a prediction is to keep.

    Parameters
    ----------
    estimator : BaseCRF
        Fitted.
    known : list of n lists of labels and None, or of n if X is a table
    data : PackedSequences
        As `prediction_data` returns it.

    Returns
    -------
    labels : ndarray of shape (n_positions,), int32
        -1 where the label is free.
    """
    known = fitted_format(estimator).known_lists(known)
    return encode_partial_labels(known, data.lengths, estimator.classes_)


def _checked_weight(sample_weight, data):
    if sample_weight is None:
        return None
    weight = as_numbers(sample_weight, "sample_weight")
    weight = check_sample_weight(
        weight if weight.ndim else weight.item(),
        data,
        dtype=np.float64,
        ensure_non_negative=True,
    )
    # Their sum and its inverse scale the problem.
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not 1e-300 < total < 1e300:
        raise ValueError(
            f"sample_weight sums to {total:.3g}: scale the weights, for example "
            "to a mean of 1."
        )
    return weight
