"""Checks of the arguments of metrics, and the values of ratios with denominator 0."""

import warnings

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import column_or_1d

from skcrf_sdca._utils.words import words
from skcrf_sdca.data.label_encoding import comparable_lists, label_lists
from skcrf_sdca.data.sample_weights import numbers_of_sequences

NO_TOKENS = "there are no tokens"


def check_pair(y_true, y_pred):
    """Return both as label lists of plain values of one type, and of equal lengths."""
    y_true, y_pred = label_lists(y_true, "y_true"), label_lists(y_pred, "y_pred")
    check_lengths(y_true, y_pred, "y_pred")
    return comparable_lists(y_true, y_pred, [len(labels) for labels in y_true])


def check_lengths(y_true, other, name):
    """Check that the argument called `name` has the lengths of y_true."""
    if len(y_true) != len(other):
        raise ValueError(
            f"{words().y_true} has {len(y_true)} {words().sequence}s, but {name} has "
            f"{len(other)}."
        )
    for i, (true, given) in enumerate(zip(y_true, other, strict=True)):
        if len(true) != len(given):
            raise ValueError(
                f"{words().sequence.capitalize()} {i} has {len(true)} labels in "
                f"{words().y_true}, but {len(given)} in {name}."
            )


def check_sample_weight(sample_weight, y):
    """Return the weight of each of the n sequences of y; ones by default."""
    if sample_weight is None:
        return np.ones(len(y))
    weight = column_or_1d(
        numbers_of_sequences(sample_weight, "each of its tokens has this weight")
    )
    if len(weight) != len(y):
        raise ValueError(
            f"sample_weight has {len(weight)} entries, but there are {len(y)} "
            "sequences."
        )
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    return weight


def token_weight(sample_weight, y):
    """Return the weight of each token; None without weights."""
    if sample_weight is None:
        return None
    return np.repeat(check_sample_weight(sample_weight, y), [len(s) for s in y])


def undefined_value(name, reason, zero_division, *, stacklevel):
    """Return the value of an undefined ratio according to `zero_division`.

    A warning has the `name` of the ratio and the `reason`, as in "Recall" and "there
    are no true spans", and names the line at `stacklevel`; 1 is the caller.
    """
    if zero_division != "warn":
        return float(zero_division)
    warnings.warn(
        f"{name} is undefined and set to 0.0: {reason}. Use `zero_division` to choose "
        "the value.",
        UndefinedMetricWarning,
        stacklevel=stacklevel + 1,
    )
    return 0.0


def ratio(numerator, denominator, name, reason, zero_division, *, stacklevel=2):
    """Divide arrays; where the denominator is 0, return `zero_division`.

    See `undefined_value` for the arguments; the default of `stacklevel` warns about the
    caller of the caller.
    """
    check_zero_division(zero_division)
    numerator, denominator = np.asarray(numerator), np.asarray(denominator)
    is_defined = denominator != 0
    value = 0.0
    if not is_defined.all():
        value = undefined_value(name, reason, zero_division, stacklevel=stacklevel + 1)
    quotient = np.full(denominator.shape, value)
    return np.divide(numerator, denominator, out=quotient, where=is_defined)


def check_zero_division(zero_division):
    """Raise ValueError if `zero_division` is none of "warn", 0.0, 1.0 and nan."""
    is_nan = isinstance(zero_division, float) and np.isnan(zero_division)
    if not is_nan and zero_division not in ("warn", 0, 1):
        raise ValueError(
            f"zero_division must be 'warn', 0.0, 1.0 or nan, got {zero_division!r}."
        )
