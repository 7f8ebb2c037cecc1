"""What solvers ask of one item, whatever its structure: see _structure.pyx."""

from ._features cimport FeatureRows
from ._line_search cimport Segment
from ._weights cimport FeatureSums, Weights


# One number for each potential of an item: its score, or its expectation.
cdef struct Values:
    double* local       # potentials of the item alone: in a chain (T, K), of the nodes
    double* tied        # potentials that cliques share: in a chain (K, K), of the edges


cdef class Structure:
    cdef Py_ssize_t n_tied                  # tied potentials
    cdef Py_ssize_t most_local              # local potentials of the largest item
    cdef FeatureRows rows
    cdef Weights weights
    cdef FeatureSums sums                   # of the change that was set last
    cdef Py_ssize_t item                    # that was set last
    cdef Py_ssize_t n_local                 # its local potentials
    cdef Values potentials                  # its scores under the weights
    cdef Values expected                    # written by `Visitor.expect`
    cdef object buffers                     # owners of what pointers point to
    cdef const char* lacking                # a method that was called and is not there

    cdef double lacks(self, const char* method) noexcept nogil
    cdef int check(self) except -1
    cdef object lack_of(self, str method)
    cdef Py_ssize_t first_local(self, Py_ssize_t i) noexcept nogil
    cdef void set_item(self, Py_ssize_t i) noexcept nogil
    # Level 1.
    cdef double argmax(self, Values potentials, int* path) noexcept nogil
    cdef Py_ssize_t n_best(
        self, Values potentials, double* scores, int* paths) noexcept nogil
    cdef void set_certain(self, const int* path, Values out) noexcept nogil
    # Level 2.
    cdef double log_partition(self, Values potentials) noexcept nogil
    # Level 3.
    cdef double expect(self, Values potentials, Values out) noexcept nogil
    cdef void set_change(self, Values to, Values start) noexcept nogil
    cdef void set_gradient(self) noexcept nogil
    cdef double target_score(self, Values potentials) noexcept nogil
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
