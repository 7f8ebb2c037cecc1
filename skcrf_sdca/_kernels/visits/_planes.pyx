"""The best mix of a few dual points: a quadratic on the simplex.

Two shares are moved at a time, the one that gains most and the one that loses most,
by the exact minimum along this line, as SMO does.
"""

# Moves of shares at most, and the part of the value below which no gain counts.
cdef Py_ssize_t MAX_MOVES = 2000
cdef double NO_GAIN = 1e-4


def best_mix(
    const double[:, ::1] gram,          # in, (m, m), the products of m vectors
    const double[::1] linear,           # in, (m,)
    double strength,
    double[::1] mix,                    # in, out, (m,), from 0 to 1, with the sum 1
):
    """Minimise f(mix) = <linear, mix> + strength / 2 mix^T gram mix on the simplex.

    f never rises. Returns its value.

    Parameters
    ----------
    gram : ndarray of shape (m, m)
    linear, mix : ndarrays of shape (m,)
        ``mix`` is where the search begins, and is changed in place.
    strength : float

    Returns
    -------
    value : float

    Raises
    ------
    ValueError
        If the shapes differ.
    """
    cdef Py_ssize_t m = mix.shape[0]
    if not m == linear.shape[0] == gram.shape[0] == gram.shape[1]:
        raise ValueError("gram, linear and mix differ in length")
    with nogil:
        for _ in range(MAX_MOVES):
            if not move(gram, linear, strength, mix):
                break
    return value_at(gram, linear, strength, mix)


cdef double product(
    const double[:, ::1] gram, Py_ssize_t i, const double[::1] mix
) noexcept nogil:
    """Return the i-th entry of gram @ mix."""
    cdef Py_ssize_t j
    cdef double total = 0.0
    for j in range(mix.shape[0]):
        total += gram[i, j] * mix[j]
    return total


cdef double value_at(
    const double[:, ::1] gram, const double[::1] linear, double strength,
    const double[::1] mix,
) noexcept nogil:
    """Return f(mix)."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(mix.shape[0]):
        total += mix[i] * (linear[i] + 0.5 * strength * product(gram, i, mix))
    return total


cdef bint move(
    const double[:, ::1] gram, const double[::1] linear, double strength,
    double[::1] mix,
) noexcept nogil:
    """Move a part of one share to another; return False if no move gains."""
    cdef Py_ssize_t i, to = 0, source = -1
    cdef double slope, least = 0.0, most = 0.0, value = 0.0, curvature, step
    for i in range(mix.shape[0]):
        slope = linear[i] + strength * product(gram, i, mix)
        value += mix[i] * slope
        if i == 0 or slope < least:
            to, least = i, slope
        if mix[i] > 0.0 and (source < 0 or slope > most):
            source, most = i, slope
    # At the slopes of f, sum_i mix_i slope_i - least bounds what is left to gain.
    if not value - least > NO_GAIN * value or source == to:
        return False
    curvature = strength * (
        gram[to, to] + gram[source, source] - 2.0 * gram[to, source]
    )
    step = mix[source]
    if curvature * step > most - least:
        step = (most - least) / curvature
    mix[to] += step
    mix[source] -= step
    return True
