"""The weights of sequences, validated."""

import numpy as np
from sklearn.utils.validation import check_array

from skcrf_sdca._utils.words import words
from skcrf_sdca.data.rows import as_numbers


def checked_weight(sample_weight, data, *, is_part=False):
    """Return the sample weights as an array, or None; ValueError for wrong ones.

    The weights of a part of the data have any sum: 0, too.
    """
    if sample_weight is None:
        return None
    weight = as_numbers(sample_weight, "sample_weight")
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
