# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Copies of the weights that members of a team move side by side, and their joining.

Every member moves its copy w_p of the weights w by damping times the change that its
marginals make. Rows of coef, and all other weights, are joined while nobody moves them:

    w  <-  w + sum_p (w_p - w) / damping,      w_p  <-  w.

What nearly every visit moves is joined often: the common rows, and what is not coef.
The other rows are joined seldom, and only those that someone has moved, which is noted.
The two have dampings of their own.
The members join, each the rows of its own part, so that no two write to the same.
"""

from ._vecmath cimport join_rows

import numpy as np

# So many neighbouring rows belong to the same part: fewer would share cache lines.
cdef Py_ssize_t NEIGHBOURS = 16


cdef class Copies:
    """Copies of the weights, and which of their rows have been moved.

    Parameters
    ----------
    w : ndarray of shape (n_weights,)
        coef (d, K) first: changed in place.
    n_labels : int
        K.
    common : ndarray of shape (d,), bool
        The rows of coef that are joined often.
    n_members : int

    Attributes
    ----------
    arrays : ndarray of shape (n_members, n_weights)
        The copies.
    """

    def __cinit__(self, w, n_labels, common, n_members):
        self.w, self.n_labels, self.n_members = w, n_labels, n_members
        self.n_coef = len(common) * n_labels
        # Finite before `start`, too.
        self.arrays = np.zeros((n_members, len(w)))
        self.copies = self.arrays
        part = np.arange(len(common)) // NEIGHBOURS % n_members
        parts = [np.flatnonzero(common & (part == p)) for p in range(n_members)]
        self.common = np.concatenate(parts).astype(np.int32)
        self.bounds = np.cumsum([0, *map(len, parts)])
        # One more, so that what there is none of has an address.
        shape = n_members, len(common) + 1
        self.noted, self.own = np.empty((2, *shape), dtype=np.int32)
        self.seen, self.listed = np.zeros((2, *shape), dtype=np.uint8)
        self.n_noted = np.zeros(n_members, dtype=np.intp)

    def start(self, Py_ssize_t member):
        """Make the copy of a member anew."""
        self.arrays[member] = self.w

    cdef void note(
        self, Py_ssize_t member, const int* features, Py_ssize_t count
    ) noexcept nogil:
        """Take note that a member has moved the rows of these features."""
        cdef Py_ssize_t j, n = self.n_noted[member]
        cdef int* noted = &self.noted[member, 0]
        cdef unsigned char* seen = &self.seen[member, 0]
        for j in range(count):
            if not seen[features[j]]:
                seen[features[j]] = True
                noted[n] = features[j]
                n += 1
        self.n_noted[member] = n

    cdef void forget(self, Py_ssize_t member) noexcept nogil:
        """Forget what a member has moved: all rows have been joined."""
        cdef Py_ssize_t r
        for r in range(self.n_noted[member]):
            self.seen[member, self.noted[member, r]] = False
        self.n_noted[member] = 0

    cdef Squares join_common(self, Py_ssize_t part, double damping) noexcept nogil:
        """Join one of n_members parts of what is common."""
        cdef int first = 0
        cdef Py_ssize_t begin = self.bounds[part], end = self.bounds[part + 1]
        cdef Py_ssize_t n_weights = self.w.shape[0]
        cdef double[2] squares
        squares[0] = squares[1] = 0.0
        if begin < end:
            join_rows(
                1.0 / damping, &self.common[begin], end - begin, &self.w[0],
                &self.copies[0, 0], n_weights, self.n_members, self.n_labels, squares,
            )
        if part == 0:
            # What is not coef is one long row.
            join_rows(
                1.0 / damping, &first, 1, &self.w[self.n_coef],
                &self.copies[0, self.n_coef], n_weights, self.n_members,
                n_weights - self.n_coef, squares,
            )
        return Squares(squares[0], squares[1])

    cdef Squares join_others(self, Py_ssize_t part, double damping) noexcept nogil:
        """Join one of n_members parts of the other rows that someone has moved."""
        cdef double[2] squares
        squares[0] = squares[1] = 0.0
        join_rows(
            1.0 / damping, &self.own[part, 0], self.find_own(part), &self.w[0],
            &self.copies[0, 0], self.w.shape[0], self.n_members, self.n_labels, squares,
        )
        return Squares(squares[0], squares[1])

    cdef Py_ssize_t find_own(self, Py_ssize_t part) noexcept nogil:
        """List the noted rows of a part, each once; return their number."""
        cdef Py_ssize_t p, r, n = 0
        cdef int row
        cdef int* own = &self.own[part, 0]
        cdef unsigned char* listed = &self.listed[part, 0]
        for p in range(self.n_members):
            for r in range(self.n_noted[p]):
                row = self.noted[p, r]
                if (row // NEIGHBOURS) % self.n_members == part and not listed[row]:
                    listed[row] = True
                    own[n] = row
                    n += 1
        for r in range(n):
            listed[own[r]] = False
        return n
