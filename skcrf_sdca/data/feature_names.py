"""Names of features: the columns of data frames, the same for all sequences of an X.

Rows are read by position. Thus columns of other names, or in another order, would be
other features.
"""

from skcrf_sdca._utils.sklearn_private import check_feature_names, get_feature_names


def same_names(sequences):
    """Yield the sequences of an X; their names of features must be the same.

    Sequences of another number of features are left to the caller. Raise ValueError if
    the names or their order differ, or if only some of the sequences have names;
    sequences without rows need none. Raise TypeError if only some names are str.
    """
    names = first = None
    for index, sequence in enumerate(sequences):
        own = _names_of(sequence, index)
        if first is None and (own is not None or _has_rows(sequence)):
            names, first = own, index
        elif own is not None or _has_rows(sequence):
            _check_same(own, index, names, first)
        yield sequence


def feature_names(X):
    """Return the names of the features of an X of sequences, None if it has none."""
    return get_feature_names(_first_with_names(X))


def check_names_of_fit(estimator, X):
    """Check the names of an X of sequences by scikit-learn's rule for tables.

    Raise ValueError if they are not those of fit, in their order; warn if only the data
    of fit or only X has names.
    """
    check_feature_names(estimator, _first_with_names(X), reset=False)


def _first_with_names(X):
    return next((x for x in X if _names_of(x, None) is not None), None)


def _names_of(sequence, index):
    # Only data frames have columns, and the other test takes far longer.
    if not hasattr(sequence, "columns"):
        return None
    try:
        return get_feature_names(sequence)
    except TypeError as error:
        raise TypeError(f"X: sequence {index}: {error}") from error


def _has_rows(sequence):
    if shape := getattr(sequence, "shape", ()):
        return shape[0] > 0
    return hasattr(sequence, "__len__") and len(sequence) > 0


def _check_same(own, index, names, first):
    if own is None and names is None:
        return
    if own is None or names is None:
        named, other = (first, index) if own is None else (index, first)
        raise ValueError(
            f"X: sequence {named} is a data frame with names of columns, but sequence "
            f"{other} has none; all must have the same names, or none."
        )
    differ = (j for j, (a, b) in enumerate(zip(own, names, strict=False)) if a != b)
    j = next(differ, None) if len(own) == len(names) else None
    if j is not None:
        raise ValueError(
            f"X: sequence {index} has column {j} {own[j]!r:.40}, but sequence {first} "
            f"has {names[j]!r:.40}; all must have the same columns in the same order."
        )
