"""Sums over spanning trees with a root: see _matrix_tree.pyx."""


# The rates of walks from some words, which stand one after another.
cdef struct Rates:
    double* weight      # [j, i] from a word to a head
    double* root        # from a word to the root
    Py_ssize_t stride   # from row to row
    Py_ssize_t first    # the number of the first word in the sentence


cdef class MatrixTree:
    cdef Py_ssize_t n                   # words
    cdef bint logs                      # whether numbers are kept as logarithms
    cdef bint kills                     # whether the rates of words have root arcs
    cdef double smallest                # of rates that are exact
    cdef double least                   # log Z of the weights, if there is a tree
    cdef double log_z                   # of the weights
    cdef double[::1] weight             # (n, n) [m, h], of the rates
    cdef double[::1] root               # (n,) of the rates
    cdef double[::1] reach              # (n, n) [m, h], e_m[h]
    cdef double[::1] copies             # of the rates, of all levels

    cdef double log_partition(
        self, const double* scores, Py_ssize_t n, bint single) noexcept nogil
    cdef double expect(
        self, const double* scores, Py_ssize_t n, bint single,
        double* out) noexcept nogil
    cdef double set_weights(
        self, const double* scores, Py_ssize_t n, bint single,
        bint logs) noexcept nogil
    cdef double value(self, double offset) noexcept nogil
    cdef Rates rates(self) noexcept nogil
    cdef bint sum_up(self) noexcept nogil
    cdef bint take(self, double rate, bint counts) noexcept nogil
    cdef bint set_reach(self) noexcept nogil
    cdef bint split(
        self, Rates rates, Py_ssize_t size, double* spare) noexcept nogil
    cdef bint keep(
        self, Rates rates, Py_ssize_t begin, Py_ssize_t end,
        double* spare) noexcept nogil
    cdef double eliminate(
        self, Rates rates, Py_ssize_t j, Py_ssize_t begin,
        Py_ssize_t end) noexcept nogil
    cdef void substitute(
        self, Rates rates, Py_ssize_t j, Py_ssize_t m, Py_ssize_t begin,
        Py_ssize_t end) noexcept nogil
    cdef bint normalise(self, double* out) noexcept nogil


cdef double largest_of(
    const double* scores, Py_ssize_t n, Py_ssize_t m) noexcept nogil
