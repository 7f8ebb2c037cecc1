"""Dependency trees as an Inference: see _spanning_trees.pyx."""

from ._arborescence cimport Arborescence
from ._inference cimport Inference, Values
from ._matrix_tree cimport MatrixTree


# A condition on the trees of a part: an arc that they have, or have not.
cdef struct Condition:
    int arc
    bint is_forced
    int before          # the condition before, -1 for none


# The best trees of a sentence. Each is the best one of a part of all trees.
cdef class TreeList:
    cdef double[::1] arcs           # of all trees
    cdef double[::1] values         # of the best tree of each part
    cdef int[:, ::1] heads
    cdef double[::1] next_values    # of the second best tree
    cdef int[:, ::1] next_heads
    cdef Condition[::1] conditions
    cdef int[::1] last              # condition of each part, -1 for none

    cdef Py_ssize_t best_part(self, Py_ssize_t n) noexcept nogil
    cdef void split(self, Py_ssize_t k, Py_ssize_t new, Py_ssize_t n) noexcept nogil


cdef class SpanningTreeInference(Inference):
    cdef bint single
    # Of the sentence that was taken last.
    cdef Py_ssize_t n_words
    cdef Py_ssize_t n_arcs                      # its first positions
    cdef const unsigned char[::1] allowed       # of all arcs, None if all are
    cdef MatrixTree sums
    cdef Arborescence best
    cdef double[::1] arcs                       # scores of arcs, over their relations
    cdef double[::1] marginals                  # of arcs
    cdef int[::1] heads, second                 # of a tree, and of another one
    cdef unsigned char[::1] done                # of words: whether they are in a tree
    # Of the n best trees.
    cdef TreeList listed
    # Of draws.
    cdef unsigned long long generator
    cdef double[::1] rates                      # (n, n + 1) [m, h] of a walk
    cdef double[::1] left                       # scores of the arcs that are left
    cdef double[::1] given                      # marginals given the heads before

    cdef void label_others(
        self, const int* heads, int* labels, Py_ssize_t stride) noexcept nogil
    cdef Py_ssize_t list_trees(self, Py_ssize_t n) noexcept nogil
    cdef void set_part(self, Py_ssize_t k) noexcept nogil
    cdef void set_next_of(self, Py_ssize_t k) noexcept nogil
    cdef double set_next(self, const int* found) noexcept nogil
    cdef void force(self, Py_ssize_t a) noexcept nogil
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
