"""The few labellings that Gini's entropy mixes: see _mixture.pyx."""

from ._inference cimport Inference, Values


cdef class Mixture:
    cdef Inference inference
    cdef Py_ssize_t size            # labellings of the item that was solved last
    cdef Py_ssize_t most
    cdef int[:, ::1] labels         # (most, longest): of each labelling
    cdef double[::1] share          # (most,)
    cdef double[::1] score          # (most,): with 1/2 for each position
    cdef double[::1] slope          # (most,): <labelling, gradient>
    cdef double[:, ::1] agreement   # (most, most): A, positions of equal labels
    cdef double[:, ::1] factor      # (most, most): its Cholesky factor, below
    cdef double[::1] change         # (most,) of the shares, a buffer
    cdef double[::1] part_of_ones   # (most,) buffer of `set_change`
    cdef double tied_factor         # b
    cdef const unsigned char[::1] has_weight    # (n_tied,)
    cdef double[::1] zeros          # (most_local,)
    cdef double[::1] tied           # (n_tied,) sums of tied potentials, a buffer
    cdef double[::1] tied_gradient  # (n_tied,) tied potentials of the gradient
    cdef double[::1] gradient       # (most_local,) local potentials of the gradient
    cdef Py_ssize_t max_searches    # for one item
    cdef Py_ssize_t n_searches      # for the item that was solved last
    cdef double gap                 # at least F - <mu, scores> - H(mu)

    cdef double solve(
        self, Values scores, double* local, double small_gap) noexcept nogil
    cdef double mean_slope(self) noexcept nogil
    cdef double set_point(self, Values scores, double* local) noexcept nogil
    cdef double* tied_at(self, Values scores) noexcept nogil
    cdef double set_tied_gradient(self, Values scores) noexcept nogil
    cdef void set_tied(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void set_slope(self, Py_ssize_t k) noexcept nogil
    cdef bint is_member(self, const int* labels) noexcept nogil
    cdef void clear(self) noexcept nogil
    cdef void add_known(
        self, Values scores, const int* labels, double share) noexcept nogil
    cdef void balance_known(self) noexcept nogil
    cdef void add(self, Values scores, double share) noexcept nogil
    cdef bint set_row(self, Py_ssize_t n, Py_ssize_t begin) noexcept nogil
    cdef void exchange(self) noexcept nogil
    cdef void solve_transposed(self, Py_ssize_t n) noexcept nogil
    cdef bint balance(self) noexcept nogil
    cdef double set_change(self) noexcept nogil
    cdef void remove(self, Py_ssize_t k) noexcept nogil
    cdef void add_tied(self, double weight, double* tied) noexcept nogil
