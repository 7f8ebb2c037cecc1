"""One item, its weights and its target, as solvers visit it: see _item.pyx."""

from ..features._features cimport FeatureRows
from ..inference._inference cimport DirectInference, Inference, Values
from ..math._line_search cimport Segment
from ._tying cimport Tying
from ..features._weights cimport FeatureSums, Weights


cdef class Item:
    cdef readonly Inference inference
    cdef DirectInference direct             # the same, if it keeps marginals
    cdef Tying tying
    cdef FeatureRows rows
    cdef Weights weights
    cdef FeatureSums sums                   # of the change that was set last
    cdef Py_ssize_t n_labels
    cdef Py_ssize_t n_tied                  # tied potentials
    cdef Py_ssize_t most_local              # local potentials of the largest item
    cdef const int[::1] labels              # None if the targets are soft
    cdef double[:, ::1] soft_local
    cdef double[:, ::1] soft_tied
    cdef const double[:, ::1] cost
    cdef const double[:, ::1] fixed_local   # None without fixed scores
    cdef const double[::1] fixed_tied
    cdef double[::1] tied                   # (n_tied,) buffer of their sum
    # Of the item that was set last.
    cdef Py_ssize_t item
    cdef Py_ssize_t first                   # its first position, of all
    cdef Py_ssize_t length
    cdef Py_ssize_t n_local                 # its local potentials
    cdef Values potentials                  # its scores under the weights
    cdef Values expected                    # written by `Visitor.expect`
    cdef double[::1] change         # (T, K) of local ones; the tied change is in sums
    cdef double work_of_position            # of a visit, see `Visitor.work_of`
    cdef int[::1] n_best_labels             # buffer of `n_best`
    # Buffers of `write_products` and `set_mixture`.
    cdef Values one                         # of a single labelling
    cdef double[:, ::1] local               # (n, most_local) potentials under g_r
    cdef double[:, ::1] tied_scores         # (n, n_tied)
    cdef object buffers                     # owners of what pointers point to

    cdef int check(self) except -1
    cdef Py_ssize_t first_local(self, Py_ssize_t i) noexcept nogil
    cdef void take_item(self, Py_ssize_t i) noexcept nogil
    cdef void set_item(self, Py_ssize_t i) noexcept nogil
    # Level 1.
    cdef double argmax(self, Values potentials, int* labels) noexcept nogil
    cdef Py_ssize_t n_best(
        self, Values potentials, double* scores, int* labels) noexcept nogil
    cdef void set_certain(self, const int* labels, Values out) noexcept nogil
    cdef void write_products(
        self, const int* labels, Py_ssize_t n, double[:, ::1] products) noexcept nogil
    cdef Values scores_under(self, Py_ssize_t r) noexcept nogil
    cdef void set_mixture(
        self, const int* labels, const double* values, Py_ssize_t n,
        double total) noexcept nogil
    # Level 2.
    cdef double log_partition(self, Values potentials) noexcept nogil
    # Level 3.
    cdef double expect(self, Values potentials, Values out) noexcept nogil
    cdef void set_change(self, Values to, Values start) noexcept nogil
    cdef void set_gradient(self) noexcept nogil
    cdef double target_score(self, Values potentials) noexcept nogil
    cdef Values soft_target(self) noexcept nogil
    cdef void copy_target(self, Values out) noexcept nogil
    cdef void sum_change(self) noexcept nogil
    cdef void sum_features(self) noexcept nogil
    cdef void change_scores(self, Values out) noexcept nogil
    cdef double change_inner(self, Values potentials) noexcept nogil
    cdef double residual(self) noexcept nogil
    cdef void add_change(self, Weights out, double step) noexcept nogil
    # Level 4.
    cdef double set_direction(self, Segment* segment) noexcept nogil
    cdef void apply_step(self, double step) noexcept nogil

    cdef double inner(self, Values a, Values b) noexcept nogil
    cdef void copy_values(self, Values values, Values out) noexcept nogil
    cdef Values new_values(self)
