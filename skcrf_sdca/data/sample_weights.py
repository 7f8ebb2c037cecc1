"""The weights of sequences, validated."""

import numpy as np
from sklearn.utils.validation import check_array

from skcrf_sdca._utils.words import words
from skcrf_sdca.data.rows import as_numbers


def numbers_of_sequences(sample_weight, reason):
    """Return weights as an array of numbers; ValueError if a sequence has several.

    The `reason` why it has one ends the message.
    """
    try:
        rows = weight = as_numbers(sample_weight, "sample_weight")
        if weight.ndim < 2 or weight.shape[1:] == (1,) or not len(weight):
            return weight
    except ValueError:
        rows = sample_weight if np.iterable(sample_weight) else ()
        if not any(map(_is_list, rows)):
            raise
    i, own = next((i, own) for i, own in enumerate(rows) if _is_list(own))
    raise ValueError(
        f"sample_weight: {words().sequence} {i} has the weights {list(own)!r:.60}, but "
        f"a {words().sequence} has one weight: {reason}."
    )


def _is_list(entry):
    is_array = isinstance(entry, np.ndarray) and entry.ndim > 0
    return is_array or isinstance(entry, (list, tuple))


def checked_weight(sample_weight, data, *, is_part=False):
    """Return the sample weights as an array, or None; ValueError for wrong ones.

    The weights of a part of the data have any sum: 0, too.
    """
    if sample_weight is None:
        return None
    weight = numbers_of_sequences(
        sample_weight,
        f"its likelihood has no part for each {words().item}. A label that shall not "
        "count is None in y, where labels may be unknown",
    )
    weight = weight if weight.ndim else np.full(len(data), weight)
    weight = check_array(
        weight,
        ensure_2d=False,
        dtype=np.float64,
        ensure_non_negative=True,
        ensure_min_samples=0,
        input_name="sample_weight",
    )
    if weight.shape != (len(data),):
        raise ValueError(
            f"sample_weight has shape {weight.shape}, expected {(len(data),)}: one "
            f"number for each {words().sequence}."
        )
    if is_part:
        return weight
    if not weight.any():
        raise ValueError("sample_weight is zero everywhere; one must be above 0.")
    # Their sum and its inverse scale the problem.
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not 1e-300 < total < 1e300:
        raise ValueError(
            f"sample_weight sums to {total:.3g}: scale the weights, for example "
            "to a mean of 1."
        )
    return weight
