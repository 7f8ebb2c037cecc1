"""The best projective tree with scores of siblings, in O(n^3) [1].

The sibling of a word m with head h is the word s nearest to it, between h and m, that
has the head h too; without one it is h itself. A tree has the scores of its arcs, and
of (h, m, s) for each word whose head is not the root. In the notation of _eisner.pyx,
with sums and products of logarithms,

    arc_right[h, m] = A[h, m] + max(S[h, m, h] + left[h + 1, m],
                                    max_s arc_right[h, s] + split[s, m] + S[h, m, s])

and so to the left; spans that are complete are made as without siblings.

References
----------
[1] McDonald, Pereira, "Online learning of approximate dependency parsing algorithms",
    EACL 2006.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from ._eisner cimport BEST, Eisner

import numpy as np


cdef class SiblingEisner(Eisner):
    """Passes over one sentence of at most ``n_words`` words after another.

    Scores of siblings are an array (n, n, n), ``[h, m, s]`` of words counted from 0.
    """

    def __init__(self, Py_ssize_t n_words):
        super().__init__(n_words)
        size = (n_words + 1) ** 2
        self.split = np.empty(size)
        self.sibling = np.zeros(size, dtype=np.intc)

    cdef double solve(
        self, const double* scores, Py_ssize_t n, bint single, int* heads
    ) noexcept nogil:
        """Write the heads of the best tree, 0 for the root; return its score."""
        cdef Py_ssize_t m
        cdef double value = 0.0
        memset(heads, 0, n * sizeof(int))
        if self.inside(scores, n, single, BEST) == -INFINITY:
            return -INFINITY
        self.trace(heads)
        for m in range(n):
            value += scores[heads[m] * n + m]
        return value + self.score_of_siblings(n, heads)

    cdef double score_of_siblings(
        self, Py_ssize_t n, const int* heads
    ) noexcept nogil:
        """Return the score of the siblings of all words of a tree."""
        cdef Py_ssize_t m
        cdef double value = 0.0
        for m in range(n):
            if heads[m] > 0:
                value += self.siblings[
                    ((heads[m] - 1) * n + m) * n + sibling_of(heads, m + 1) - 1
                ]
        return value

    cdef void join_words(self) noexcept nogil:
        """Make the spans of words, the short ones first."""
        cdef Py_ssize_t i, j, width, ij, size = self.n + 1
        cdef double* right = &self.right[0]
        cdef double* left = &self.left[0]
        for i in range(1, size):
            right[i * size + i] = left[i * size + i] = 0.0
        for width in range(1, self.n):
            for i in range(1, size - width):
                j = i + width
                ij = i * size + j
                self.split[ij] = self.dot(
                    right + i * size + i, 1, left + (i + 1) * size + j, size, width
                )
                self.arc_right[ij] = self.weight[ij] + self.join_siblings(
                    i, j, left[(i + 1) * size + j]
                )
                self.arc_left[ij] = self.weight[j * size + i] + self.join_siblings(
                    j, i, right[i * size + j - 1]
                )
                right[ij] = self.dot(
                    &self.arc_right[ij] - width + 1, 1,
                    right + (i + 1) * size + j, size, width,
                )
                left[ij] = self.dot(
                    left + i * size + i, 1, &self.arc_left[ij], size, width
                )

    cdef double join_siblings(
        self, Py_ssize_t h, Py_ssize_t m, double first
    ) noexcept nogil:
        """Choose the sibling of m below h; ``first`` is what is between, without one.

        Return the score of all between them, and of the sibling.
        """
        cdef Py_ssize_t s, n = self.n, size = n + 1, best = h
        cdef const double* own = self.siblings + ((h - 1) * n + m - 1) * n - 1
        cdef double value = first + own[h], other
        if h < m:
            for s in range(h + 1, m):
                other = (
                    self.arc_right[h * size + s] + self.split[s * size + m] + own[s]
                )
                if other > value:
                    best, value = s, other
        else:
            for s in range(m + 1, h):
                other = self.arc_left[s * size + h] + self.split[m * size + s] + own[s]
                if other > value:
                    best, value = s, other
        self.sibling[h * size + m] = <int> best
        return value

    cdef void trace_arc(
        self, bint is_right, Py_ssize_t i, Py_ssize_t j, int* heads, Py_ssize_t* n_todo
    ) noexcept nogil:
        """Take what is between two words that an arc joins, one sibling after another.
        """
        cdef Py_ssize_t h = i if is_right else j, m = j if is_right else i, s
        while True:
            s = self.sibling[h * (self.n + 1) + m]
            if s == h:
                break
            heads[s - 1] = <int> h
            self.trace_split(min(s, m), max(s, m), n_todo)
            m = s
        if is_right:
            self.push(False, h + 1, m, n_todo)
        else:
            self.push(True, m, h - 1, n_todo)


cdef Py_ssize_t sibling_of(const int* heads, Py_ssize_t m) noexcept nogil:
    """Return the sibling of word m, its head if there is none; words count from 1."""
    cdef Py_ssize_t h = heads[m - 1], step = 1 if h > m else -1, s = m + step
    while s != h and heads[s - 1] != h:
        s += step
    return s
