"""The few labellings that Gini's entropy mixes: see _mixture.pyx."""

from ._inference cimport Inference, Values


cdef class Mixture:
    cdef Inference inference
    cdef Py_ssize_t size            # labellings of the item that was solved last
    cdef Py_ssize_t most
    cdef int[:, ::1] labels         # (most, longest): of each labelling
    cdef double[::1] share          # (most,)
    cdef double[::1] slope          # (most,): <labelling, gradient>
    cdef double[:, ::1] agreement   # (most, most): positions of equal labels
    cdef double[::1] gradient       # (most_local,) local potentials of the gradient
    cdef double gap                 # at least F - <mu, scores> - H(mu)

    cdef double solve(
        self, Values scores, double* local, double small_gap) noexcept nogil
    cdef double mean_slope(self) noexcept nogil
    cdef double set_point(self, Values scores, double* local) noexcept nogil
    cdef Py_ssize_t place_of(self, const int* labels) noexcept nogil
    cdef void add(self, Values scores) noexcept nogil
    cdef void balance(self, double no_gain) noexcept nogil
    cdef bint move_share(self, double no_gain) noexcept nogil
    cdef void drop(self) noexcept nogil
    cdef void add_tied(self, double weight, double* tied) noexcept nogil
