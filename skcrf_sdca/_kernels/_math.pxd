"""Scalar arithmetic, inlined into the kernels that cimport it (header only)."""

from libc.math cimport INFINITY, exp, log


cdef inline double maximum(const double* x, Py_ssize_t n) noexcept nogil:
    """Return max_i x[i], and -inf for n = 0."""
    cdef double best = -INFINITY
    cdef Py_ssize_t i
    for i in range(n):
        if x[i] > best:
            best = x[i]
    return best


cdef inline double finite_minimum(const double* x, Py_ssize_t n) noexcept nogil:
    """Return min_i x[i] over those that are not -inf, and inf for none."""
    cdef double least = INFINITY
    cdef Py_ssize_t i
    for i in range(n):
        if -INFINITY < x[i] < least:
            least = x[i]
    return least


cdef inline double least_positive(const double* x, Py_ssize_t n) noexcept nogil:
    """Return min_i x[i] over those above 0, and inf for none."""
    cdef double least = INFINITY
    cdef Py_ssize_t i
    for i in range(n):
        if 0.0 < x[i] < least:
            least = x[i]
    return least


cdef inline void extremes(
    const double* x, Py_ssize_t n, double* least, double* most
) noexcept nogil:
    """Write min_i x[i] and max_i x[i] of at least one number, in one pass."""
    cdef double low = x[0], high = x[0], other_low, other_high
    cdef Py_ssize_t i
    # Two of each, so that one comparison need not wait for another.
    other_low, other_high = x[n - 1], x[n - 1]
    for i in range(1, n - 1, 2):
        low = x[i] if x[i] < low else low
        high = x[i] if x[i] > high else high
        other_low = x[i + 1] if x[i + 1] < other_low else other_low
        other_high = x[i + 1] if x[i + 1] > other_high else other_high
    least[0] = other_low if other_low < low else low
    most[0] = other_high if other_high > high else high


cdef inline void forbid(
    const double* scores, double* exponentials, Py_ssize_t n
) noexcept nogil:
    """Write 0 for the exponential of each score that is -inf."""
    cdef Py_ssize_t k
    for k in range(n):
        if scores[k] == -INFINITY:
            exponentials[k] = 0.0


cdef inline double total(const double* x, Py_ssize_t n) noexcept nogil:
    """Return sum_i x[i]."""
    cdef double value = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        value += x[i]
    return value


cdef inline double logsumexp(const double* x, Py_ssize_t n) noexcept nogil:
    """Return log sum_i exp(x[i]), stable, and -inf if every x[i] is -inf."""
    cdef double shift = maximum(x, n)
    cdef double value = 0.0
    cdef Py_ssize_t i
    if shift == -INFINITY:
        return shift
    for i in range(n):
        value += exp(x[i] - shift)
    return shift + log(value)


cdef inline void softmax(double* x, Py_ssize_t n) noexcept nogil:
    """Write exp(x[i]) / sum_j exp(x[j]) in the place of x[i]; one of them is finite."""
    cdef double shift = logsumexp(x, n)
    cdef Py_ssize_t i
    for i in range(n):
        x[i] = exp(x[i] - shift)


cdef inline void log_softmax(double* x, Py_ssize_t n) noexcept nogil:
    """Write x[i] - log sum_j exp(x[j]) in the place of x[i]; one of them is finite."""
    cdef double shift = logsumexp(x, n)
    cdef Py_ssize_t i
    for i in range(n):
        x[i] -= shift
