"""Sum-product and max-product on junction trees: see _elimination.pyx."""

from ._junction_tree cimport Cliques
from ..math._transitions cimport TransitionLayout


cdef class Workspace(Cliques):
    cdef TransitionLayout layout            # all pairs
    cdef bint is_scaled                     # whether narrow steps have no table
    cdef int[::1] best
    cdef double[::1] inward                 # (V, K) of each step: its node, from below
    cdef double[::1] spreads                # (V,) of messages, in logarithms
    cdef double[::1] raw                    # of one clique
    cdef double[::1] pair                   # (K, K)
    cdef double[::1] row                    # (K,)
    cdef double[::1] totals                 # (d_e, K, K) [from, to]

    cdef double* inward_of(self, Py_ssize_t i, Py_ssize_t step) noexcept nogil
    cdef double sum_up(self, Py_ssize_t i, const double* local) noexcept nogil
    cdef double scaled_up(self, Py_ssize_t i, const double* local) noexcept nogil
    cdef double scaled_message(
        self, Py_ssize_t i, Py_ssize_t step, const double* inward, const double* pair
    ) noexcept nogil
    cdef double scaled_clique(self, Py_ssize_t i, Py_ssize_t step) noexcept nogil
    cdef void add_below(
        self, Py_ssize_t i, Py_ssize_t step, const double* local) noexcept nogil
    cdef double log_up(self, Py_ssize_t i, const double* local) noexcept nogil
    cdef void sum_down(
        self, Py_ssize_t i, bint with_tables, double* local,
        double* edges) noexcept nogil
    cdef void narrow_down(
        self, Py_ssize_t i, Py_ssize_t step, bint with_tables, double* local,
        double* edges) noexcept nogil
    cdef void clique_down(
        self, Py_ssize_t i, Py_ssize_t step, double* local,
        double* edges) noexcept nogil
    cdef void sum_pairs(self) noexcept nogil
    cdef void add_tied(self, double factor, double* tied) noexcept nogil
    cdef double entropy(self, Py_ssize_t i) noexcept nogil
    cdef double maximise(
        self, Py_ssize_t i, const double* local, int* path) noexcept nogil
    cdef int best_label(
        self, Py_ssize_t i, Py_ssize_t step, const int* path) noexcept nogil
    cdef void draw(
        self, Py_ssize_t i, const double* uniform, Py_ssize_t stride,
        int* path) noexcept nogil
