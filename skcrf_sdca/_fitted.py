"""Whether the attributes of a fitted estimator agree with each other.

They come from files, and users may assign them. `check_fitted` and `check_vocabulary`
look at everything, and end every load; `check_form` comes before every call of a
kernel, which would read beyond an array that is too short. It takes constant time, but
for sparse coefficients, whose indices scipy would follow anywhere.
"""

from itertools import chain
from numbers import Integral

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._rows import checked_sparse
from skcrf_sdca.kinds import ARRAYS, DICTS, PACKED, STRINGS, TABLE

# The axes of the weights: K labels, d features.
WEIGHTS = {
    "coef_": "Kd",
    "intercept_": "K",
    "start_": "K",
    "end_": "K",
    "transition_": "KK",
}
# Those that are -inf where a label or a transition is forbidden.
MAY_FORBID = ("start_", "end_", "transition_")
# So that the scores of paths of any length are finite. Digits are lost long before.
LARGEST_SCORE = 1e100
KINDS = (PACKED, DICTS, STRINGS, ARRAYS, TABLE)
TABLES = ("numeric", "categorical", "vectors")


def check_form(estimator):
    """Raise ValueError if the shapes and types of the weights do not agree.

    Parameters
    ----------
    estimator : BaseCRF
        With ``classes_``, ``n_features_in_`` and the weights.

    Raises
    ------
    ValueError
        The message names the attribute, and what it must be.
    """
    classes = _attribute(estimator, "classes_")
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or not len(classes):
        raise ValueError(
            "classes_ must be a one-dimensional array of at least one label."
        )
    n_features = _attribute(estimator, "n_features_in_")
    if not isinstance(n_features, Integral) or n_features < 0:
        raise ValueError(f"n_features_in_ must be a number, got {n_features!r:.40}.")
    sizes = {"K": len(classes), "d": n_features}
    for name, axes in WEIGHTS.items():
        shape = tuple(sizes[axis] for axis in axes)
        _check_weight(name, _attribute(estimator, name), shape)


def check_fitted(estimator):
    """Raise ValueError if the fitted attributes do not agree, or hold wrong numbers.

    Parameters
    ----------
    estimator : BaseCRF

    Raises
    ------
    ValueError
        The message names the attribute.
    """
    check_form(estimator)
    labels = estimator.classes_.tolist()
    if len(set(labels)) != len(labels):
        raise ValueError("classes_ must hold every label once.")
    for name in WEIGHTS:
        _check_values(name, getattr(estimator, name))
    kind = _attribute(estimator, "_input_kind")
    if kind not in KINDS:
        raise ValueError(f"_input_kind must be one of {KINDS}, got {kind!r:.40}.")
    _check_features(estimator, kind)


def check_vocabulary(vectorizer):
    """Raise ValueError if the fitted attributes of a vectorizer do not agree.

    Parameters
    ----------
    vectorizer : SequenceVectorizer

    Raises
    ------
    ValueError
        If the vocabulary is not made of plain dicts, str and int, or a number is not
        below ``n_features_out_``. Two names may have one number: they are one feature.
    """
    vocabulary = _attribute(vectorizer, "vocabulary_")
    n_features = _attribute(vectorizer, "n_features_out_")
    kind = _attribute(vectorizer, "input_kind_")
    if not isinstance(n_features, Integral) or n_features < 0:
        raise ValueError(f"n_features_out_ must be a number, got {n_features!r:.40}.")
    if type(vocabulary) is not dict or set(vocabulary) != set(TABLES):
        raise ValueError(f"vocabulary_ must be a dict of {TABLES}.")
    if kind not in (DICTS, STRINGS):
        raise ValueError(f"input_kind_ must be {DICTS!r} or {STRINGS!r}.")
    numbers = vocabulary_numbers(vocabulary)
    if numbers.min(initial=0) < 0 or numbers.max(initial=-1) >= n_features:
        raise ValueError(
            f"the numbers in vocabulary_ must be from 0 to {n_features - 1}."
        )


def vocabulary_numbers(vocabulary):
    """Return the numbers of all features of a vocabulary, an array of int64.

    Parameters
    ----------
    vocabulary : dict
        As ``SequenceVectorizer.vocabulary_``.

    Raises
    ------
    ValueError
        If it is not made of plain dicts, str and int.
    """
    categorical, vectors = vocabulary["categorical"], vocabulary["vectors"]
    _check_types("keys", [categorical, vectors], dict)
    tables = [vocabulary["numeric"], *categorical.values()]
    _check_types("tables", tables, dict)
    _check_types("vectors", vectors.values(), list)
    _check_types("names", chain(categorical, vectors, *tables), str)
    numbers = list(chain.from_iterable(table.values() for table in tables))
    components = list(chain.from_iterable(vectors.values()))
    _check_types("numbers", chain(numbers, components), int)
    # A component that min_freq has removed has the number -1.
    numbers += [number for number in components if number != -1]
    return np.fromiter(numbers, dtype=np.int64, count=len(numbers))


def _attribute(estimator, name):
    try:
        return getattr(estimator, name)
    except AttributeError as error:
        raise ValueError(f"{type(estimator).__name__} has no {name}.") from error


def _check_weight(name, weight, shape):
    sparse = name == "coef_" and sp.issparse(weight) and weight.format == "csr"
    if not sparse and not isinstance(weight, np.ndarray):
        raise ValueError(
            f"{name} must be an array, or coef_ a sparse one in CSR, got "
            f"{type(weight).__name__}."
        )
    if weight.shape != shape or weight.dtype != np.float64:
        raise ValueError(
            f"{name} has shape {weight.shape} and dtype {weight.dtype}; with classes_ "
            f"and n_features_in_ as they are it must have {shape} and float64."
        )
    if sparse:
        checked_sparse(weight, name)
    elif len(shape) == 1 and not weight.flags.c_contiguous:
        raise ValueError(f"{name} must be contiguous: assign a copy of it.")


def _check_values(name, weight):
    if sp.issparse(weight):
        weight = weight.data
    right = (-LARGEST_SCORE <= weight) & (weight <= LARGEST_SCORE)
    if name in MAY_FORBID:
        right |= weight == -np.inf
    if not right.all():
        raise ValueError(
            f"{name} contains NaN, infinity, or a number beyond {LARGEST_SCORE:g}."
        )


def _check_features(estimator, kind):
    """Check what stands for the features: a vectorizer, or names."""
    n_features = estimator.n_features_in_
    if hasattr(estimator, "vectorizer_") != (kind in (DICTS, STRINGS)):
        raise ValueError("vectorizer_ must be there after a fit on dicts or strings.")
    if kind in (DICTS, STRINGS):
        vectorizer = estimator.vectorizer_
        if _attribute(vectorizer, "input_kind_") != kind:
            raise ValueError(f"vectorizer_ was not fitted on {kind}.")
        if _attribute(vectorizer, "n_features_out_") != n_features:
            raise ValueError(
                f"vectorizer_ has {vectorizer.n_features_out_} features, but "
                f"n_features_in_ is {n_features}."
            )
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and np.shape(names) != (n_features,):
        raise ValueError(f"feature_names_in_ must hold {n_features} names.")


def _check_types(what, values, kind):
    if not set(map(type, values)) <= {kind}:
        raise ValueError(f"vocabulary_: the {what} must be plain {kind.__name__}.")
