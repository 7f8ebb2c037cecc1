"""Dependency trees as an Inference: see _spanning_trees.pyx."""

from ._arborescence cimport Arborescence
from ._inference cimport Inference, Values
from ._matrix_tree cimport MatrixTree


cdef class SpanningTreeInference(Inference):
    cdef bint single
    cdef Py_ssize_t n_words                     # of the sentence that was taken last
    cdef const unsigned char[::1] allowed       # of all arcs, None if all are
    cdef MatrixTree sums
    cdef Arborescence best
    cdef double[::1] arcs                       # scores of arcs, over their relations
    cdef double[::1] marginals                  # of arcs
    cdef int[::1] heads                         # of a tree
    cdef unsigned char[::1] done                # of words: whether they are in a tree
    # Of draws.
    cdef unsigned long long generator
    cdef double[::1] rates                      # (n, n + 1) [m, h] of a walk
    cdef double[::1] left                       # scores of the arcs that are left
    cdef double[::1] given                      # marginals given the heads before

    cdef double set_arcs(self, Values scores, bint best) noexcept nogil
    cdef bint keep_forced(self, const double* local) noexcept nogil
    cdef bint is_arc(self, Py_ssize_t a) noexcept nogil
    cdef double score_of(self, const double* local, bint best) noexcept nogil
    cdef bint set_heads(self, const int* labels) noexcept nogil
    cdef bint is_tree(self) noexcept nogil
    cdef void draw_tree(self) noexcept nogil
    cdef double set_best(self) noexcept nogil
    cdef double log_sum(self) noexcept nogil
    cdef double set_marginals(self) noexcept nogil
    cdef void start_draws(self) noexcept nogil
    cdef bint walk(self, Py_ssize_t root) noexcept nogil
    cdef bint walk_from(self, Py_ssize_t m, Py_ssize_t* n_left) noexcept nogil
    cdef void draw_in_turn(self, Py_ssize_t root) noexcept nogil
    cdef int draw_relation(self, const double* local) noexcept nogil
    cdef double random(self) noexcept nogil


cdef Py_ssize_t draw(
    const double* p, Py_ssize_t n, Py_ssize_t stride, double random) noexcept nogil
