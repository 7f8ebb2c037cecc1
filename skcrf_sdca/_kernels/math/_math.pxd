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
