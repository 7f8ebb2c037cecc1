"""How local potentials follow from weights: see _tying.pyx."""

from ..features._weights cimport FeatureSums


# A change of local expectations as features see it.
cdef struct TiedChange:
    const double* local     # (T, rows of weights): K, or the parts of labels
    const double* first     # of the weights `start`
    const double* last      # of the weights `end`


cdef class Tying:
    cdef double* before(self, double* scores) noexcept nogil
    cdef void complete(self, Py_ssize_t length, double* scores) noexcept nogil
    cdef TiedChange share(
        self, Py_ssize_t length, const double* change,
        FeatureSums sums) noexcept nogil
