"""What users pass to an estimator, validated and packed: the one place for both.

`training_data` and `prediction_data` know every kind of input; behind them there are
only PackedSequences, label numbers and weights.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_X_y, column_or_1d, validate_data

from skcrf_sdca._utils.sklearn_private import check_sample_weight, get_feature_names
from skcrf_sdca.data.input_formats import (
    DICTS,
    PACKED,
    STRINGS,
    TABLE,
    as_sequence_list,
    check_container,
    input_kind,
    sequence_kind,
)
from skcrf_sdca.data.label_encoding import (
    encode_flat_labels,
    encode_known_labels,
    encode_labels,
    encode_partial_labels,
    flat_labels,
)
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.rows import as_numbers, split_rows
from skcrf_sdca.estimators.fitted import check_form
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
    attributes : dict
        What a fitted estimator keeps of it: ``classes_``, ``n_features_in_``,
        ``_input_kind``, and where they exist ``vectorizer_``, ``feature_names_in_``.
    """

    data: PackedSequences
    labels: np.ndarray
    sample_weight: np.ndarray | None
    constraints: Constraints | None
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
    kind = input_kind(X)
    attributes = {"_input_kind": kind}
    if kind == TABLE:
        rows, y = _checked_table(check_X_y, X, y, estimator=estimator)
        data = _pack_table(rows)
        if (names := get_feature_names(X)) is not None:
            attributes["feature_names_in_"] = names
    elif kind in (DICTS, STRINGS):
        attributes["vectorizer_"] = SequenceVectorizer()
        data = attributes["vectorizer_"].fit_transform(X)
    else:
        data = X if kind == PACKED else PackedSequences.from_sequences(list(X))
    classes, labels = _encode(y, data, kind)
    attributes |= {"classes_": classes, "n_features_in_": data.n_features}
    weight = _checked_weight(sample_weight, data)
    constraints = read_constraints(estimator.transitions, classes, labels, data.offsets)
    return TrainingData(data, labels, weight, constraints, attributes)


def prediction_data(estimator, X):
    """Validate X for a fitted estimator and pack it.

    Parameters
    ----------
    estimator : BaseCRF
        Fitted.
    X : any kind of input

    Returns
    -------
    data : PackedSequences

    Raises
    ------
    ValueError, TypeError
        If X is not valid, not of the kind and width seen in fit, or has a sequence of a
        length for which the transitions of the model allow no path; or if the fitted
        attributes have been changed so that they do not agree.
    """
    check_form(estimator)
    X = as_sequence_list(X)
    name, fitted_kind = type(estimator).__name__, estimator._input_kind
    if fitted_kind == TABLE:
        return _pack_table(_checked_table(validate_data, estimator, X, reset=False))
    kind = _kind_to_vectorize(estimator, X) or input_kind(X, default=fitted_kind)
    if kind == TABLE:
        raise ValueError(
            f"X is a single table, but {name} was fitted on sequences: wrap a single "
            "sequence in a list, [X]."
        )
    if isinstance(X, PackedSequences):
        data = X
    elif hasattr(estimator, "vectorizer_"):
        data = estimator.vectorizer_.transform(X)
    elif kind in (DICTS, STRINGS):
        raise TypeError(
            f"X is made of {kind}, but {name} was fitted on numbers: use the "
            "SequenceVectorizer that made them, or fit on the sequences themselves."
        )
    else:
        data = PackedSequences.from_sequences(
            list(X), n_features=estimator.n_features_in_
        )
    if data.n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {data.n_features} features, but {name} is expecting "
            f"{estimator.n_features_in_} features as input."
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
    if estimator._input_kind == TABLE:
        y = [[label] for label in column_or_1d(y)]
    elif _is_flat(y, estimator._input_kind):
        _check_flat(y, data)
        y = split_rows(y, data.offsets)
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
    if estimator._input_kind == TABLE:
        check_container(known, "known")
        known = [[label] for label in known]
    return encode_partial_labels(known, data.lengths, estimator.classes_)


def _kind_to_vectorize(estimator, X):
    """Return the kind seen in fit if X begins so, and a vectorizer will look at all.

    None if that cannot be told from the first sequence, or is not so.
    """
    if not hasattr(estimator, "vectorizer_") or not isinstance(X, list) or not X:
        return None
    kind = sequence_kind(X[0], 0) if isinstance(X[0], list) else None
    return kind if kind == estimator.vectorizer_.input_kind_ else None


_TABLE_FORM = {"accept_sparse": "csr", "dtype": np.float64, "order": "C"}


def _checked_table(check, *arguments, **options):
    """Return what a check of scikit-learn returns; it lets an overflow through."""
    try:
        return check(*arguments, **_TABLE_FORM, **options)
    except OverflowError as error:
        raise ValueError(f"X must hold numbers: {error}") from error


def _pack_table(rows):
    """Return the rows as sequences of one position."""
    return PackedSequences(rows, np.arange(rows.shape[0] + 1))


def _encode(y, data, kind):
    """Return (classes, labels)."""
    if _is_flat(y, kind):
        _check_flat(y, data)
        return encode_flat_labels(y)
    if kind != TABLE:
        return encode_labels(y, data.lengths)
    if y.dtype.kind == "O":
        # NumPy would not say which one it cannot sort.
        flat_labels([[label] for label in y], data.lengths)
    check_classification_targets(y)
    classes, labels = np.unique(y, return_inverse=True)
    return classes, labels.astype(np.int32)


def _is_flat(y, kind):
    """Whether y is the labels of packed sequences, end to end as these are."""
    is_array = kind == PACKED and isinstance(y, np.ndarray)
    return is_array and y.ndim == 1 and y.dtype.kind in "USbiu"


def _check_flat(y, data):
    if len(y) != data.n_positions:
        raise ValueError(
            f"X has {data.n_positions} positions, but y has {len(y)} labels: beside "
            "PackedSequences y is a list of label lists, or one array with the labels "
            "of all positions."
        )


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
