# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Lipschitz constants of the gradients of the losses, as searches find them.

Owns the rules of [Schmidt15, sec. 5]: where the search for a constant begins, when a
search is made at all, and what is known of all constants together. There is one for
each sequence (SAG-NUS), or one for all (SAG). The search itself is in _sag.pyx.
"""

from ._samplers cimport MaxTree

import numpy as np

# After so many searches without a doubling the number of those skipped grows no more.
cdef int MOST_SUCCESSES = 30


cdef class LipschitzConstants:
    """The constants L_i of n sequences.

    Parameters
    ----------
    values : ndarray of shape (n,) or (1,)
        L_i of each sequence, or one L for all: changed in place.
    known : ndarray of shape (n,), uint8
        Whether the sequence was visited, so that its L_i counts: changed in place.
    alpha : float
        No constant falls below the strength of the regularisation.
    decay : float
        What a constant is multiplied with before each search.
    skipping : bool
        Whether r searches in a row of a sequence without a doubling let its next
        2^(r - 1) searches be skipped.

    Attributes
    ----------
    searching : bool
        Whether any search is made.
    """

    def __init__(self, values, known, double alpha, double decay, bint skipping):
        cdef Py_ssize_t i, n = len(known)
        self.values, self.known = values, known
        self.alpha, self.decay, self.skipping = alpha, decay, skipping
        self.searching = True
        self.own = n == len(values)
        self.successes = np.zeros(n, dtype=np.int32)
        self.to_skip = np.zeros(n, dtype=np.int32)
        self.tree = MaxTree(np.ones(n), 1.0, True, 0.0)
        for i in range(n if self.own else 0):
            if self.known[i]:
                self.tree.record(i, self.values[i])
        self.recount()

    def recount(self):
        """Sum the constants anew, so that the rounding of changes does not gather."""
        known = np.asarray(self.known, dtype=bool)
        self.n_known = known.sum()
        if self.own:
            self.total = np.asarray(self.values)[known].sum()

    cdef double of(self, Py_ssize_t i) noexcept nogil:
        """Return the constant of sequence i."""
        return self.values[i if self.own else 0]

    cdef bint due(self, Py_ssize_t i) noexcept nogil:
        """Return whether the constant of sequence i is to be searched at this visit."""
        if self.searching and self.to_skip[i] == 0:
            return True
        self.to_skip[i] = max(self.to_skip[i] - 1, 0)
        if not self.known[i]:
            self.set(i, self.first_trial(i))
        return False

    cdef double first_trial(self, Py_ssize_t i) noexcept nogil:
        """Return the value that the search for sequence i begins with."""
        cdef double value
        if not self.own:
            value = self.values[0] * self.decay
        elif self.known[i]:
            value = self.values[i] * self.decay
        elif self.n_known > 0:
            value = 0.5 * self.mean()
        else:
            value = 1.0
        return max(value, self.alpha)

    cdef void found(self, Py_ssize_t i, double value, bint doubled) noexcept nogil:
        """Take the constant that the search for sequence i ended with."""
        self.set(i, value)
        self.successes[i] = 0 if doubled else min(self.successes[i] + 1, MOST_SUCCESSES)
        if self.skipping and not doubled:
            self.to_skip[i] = 1 << (self.successes[i] - 1)

    cdef void set(self, Py_ssize_t i, double value) noexcept nogil:
        """Set the constant of sequence i, which counts as known from now on."""
        if self.own:
            self.total += value - (self.values[i] if self.known[i] else 0.0)
            self.values[i] = value
            self.tree.record(i, value)
        else:
            self.values[0] = value
        self.n_known += not self.known[i]
        self.known[i] = True

    cdef double largest(self) noexcept nogil:
        """Return the largest constant of the sequences known."""
        return self.tree.largest() if self.own else self.values[0]

    cdef double mean(self) noexcept nogil:
        """Return the mean constant of the sequences known."""
        return self.total / self.n_known if self.own else self.values[0]
