"""Sums and maxima over projective trees, and draws: see _eisner.pyx."""

cimport cython

from libc.math cimport INFINITY, exp, log


# How numbers are added and multiplied.
cdef enum Mode:
    SUM         # as they are
    LOG_SUM     # logarithms: no number is too small
    BEST        # logarithms, the largest number in place of a sum


cdef class Eisner:
    cdef Py_ssize_t n               # words
    cdef bint single                # whether one word alone is below the root
    cdef Mode mode
    cdef double zero, one           # of the mode
    cdef double offset              # what the logarithms of all weights lack
    # (n + 1, n + 1), of the nodes 0 to n; the root 0 has weights alone.
    cdef double[::1] weight                     # [h, m]
    cdef double[::1] right, left                # complete spans [i, j]
    cdef double[::1] arc_right, arc_left        # incomplete, head first or last
    cdef double[::1] out_right, out_left, out_split
    cdef double[::1] out_arc                    # [h, m]
    # (n + 1,), of the root and the words up to one.
    cdef double[::1] before                     # of all their trees
    cdef double[::1] below                      # whose last word is below the root
    cdef double[::1] out_before, out_gap
    cdef int[::1] todo                          # (9n + 3,) the spans of a tree
    cdef const double* uniform                  # numbers in [0, 1) for draws

    cdef double solve(
        self, const double* scores, Py_ssize_t n, bint single,
        int* heads) noexcept nogil
    cdef Py_ssize_t best_other(
        self, const double* scores, Py_ssize_t n, bint single, const int* heads,
        double* out) noexcept nogil
    cdef double log_partition(
        self, const double* scores, Py_ssize_t n, bint single) noexcept nogil
    cdef double expect(
        self, const double* scores, Py_ssize_t n, bint single,
        double* out) noexcept nogil
    cdef void draw(self, const double* uniform, int* heads) noexcept nogil
    cdef double inside(
        self, const double* scores, Py_ssize_t n, bint single, Mode mode) noexcept nogil
    cdef void set_weights(self, const double* scores) noexcept nogil
    cdef void join_words(self) noexcept nogil
    cdef void join_arcs(
        self, Py_ssize_t i, Py_ssize_t j, double split) noexcept nogil
    cdef void join_root(self) noexcept nogil
    cdef void split_root(self, double* out) noexcept nogil
    cdef void split_words(self, double* out) noexcept nogil
    cdef void split_arcs(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil
    cdef void add_out(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil

    @cython.final
    cdef inline double share(self, double inside, double outside) noexcept nogil:
        """Return which share of Z the trees with a span have, or the best score."""
        cdef double z = self.before[self.n]
        if self.mode == SUM:
            return inside * outside / z
        if self.mode == BEST:
            return inside + outside
        return exp(inside + outside - z)

    cdef double value(self) noexcept nogil
    cdef void trace(self, int* heads) noexcept nogil
    cdef void trace_root(self, int* heads, Py_ssize_t* n_todo) noexcept nogil
    cdef void trace_arc(
        self, bint is_right, Py_ssize_t i, Py_ssize_t j, int* heads,
        Py_ssize_t* n_todo) noexcept nogil
    cdef void trace_split(
        self, Py_ssize_t i, Py_ssize_t j, Py_ssize_t* n_todo) noexcept nogil
    cdef void push(
        self, int is_right, Py_ssize_t i, Py_ssize_t j,
        Py_ssize_t* n_todo) noexcept nogil

    @cython.final
    cdef inline double plus(self, double a, double b) noexcept nogil:
        cdef double largest
        if self.mode == SUM:
            return a + b
        largest = max(a, b)
        if self.mode == BEST or largest == -INFINITY:
            return largest
        return largest + log(exp(a - largest) + exp(b - largest))

    @cython.final
    cdef inline double times(self, double a, double b) noexcept nogil:
        return a * b if self.mode == SUM else a + b

    cdef double dot(
        self, const double* a, Py_ssize_t step_a, const double* b, Py_ssize_t step_b,
        Py_ssize_t size) noexcept nogil
    cdef Py_ssize_t pick(
        self, const double* a, Py_ssize_t step_a, const double* b, Py_ssize_t step_b,
        Py_ssize_t size) noexcept nogil


cdef class SiblingEisner(Eisner):
    cdef const double* siblings     # scores, see first_sibling in _sibling_rows.pxd
    cdef const double* pair         # the same in the mode
    cdef double[::1] of_siblings    # their weights, and then their marginals
    cdef double[::1] arc_scores     # (n + 1, n), of arcs with the largest of siblings
    # (n + 1, n + 1), of an arc [h, s], and of words from s to m or m to s [m, s]
    cdef double[::1] arc, split, out_between
    cdef int[::1] sibling           # (n + 1, n + 1) [h, m], the best one
    cdef Py_ssize_t[::1] place      # (n + 1, n + 1) [h, m], siblings less their words

    cdef void take(self, Py_ssize_t n) noexcept nogil

    cdef double score_of_siblings(
        self, Py_ssize_t n, const int* heads) noexcept nogil
    cdef void weigh_siblings(self, const double* scores) noexcept nogil
    cdef double join_siblings(
        self, Py_ssize_t h, Py_ssize_t m, double first) noexcept nogil
    cdef void split_siblings(
        self, Py_ssize_t h, Py_ssize_t m, double first,
        double* out_first) noexcept nogil
    cdef Py_ssize_t pick_sibling(self, Py_ssize_t h, Py_ssize_t m) noexcept nogil
