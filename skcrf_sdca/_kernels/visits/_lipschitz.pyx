"""Lipschitz constants of the gradients of the losses, as searches find them.

Owns the rules of [Schmidt15, sec. 5]: where the search for a constant begins, when a
search is made at all, and the largest and the mean constant known. There is one for
each sequence (SAG-NUS), or one for all (SAG). The search itself is in _sag.pyx.
"""

from ._samplers cimport MaxTree

import numpy as np

# Number of searches without a doubling after which no more searches are skipped.
cdef int MOST_SUCCESSES = 30
# From here a search that has to go up again ends soon.
cdef double SMALLEST_CONSTANT = 1e-6


cdef class LipschitzConstants:
    """The constants L_i of n sequences.

    Parameters
    ----------
    values : ndarray of shape (n,) or (1,)
        L_i of each sequence, or one L for all: changed in place.
    known : ndarray of shape (n,), uint8
        Whether the sequence was visited, so that its L_i counts: changed in place.
    own : bool
        Whether each sequence has a constant of its own.
    decay : float
        Each search begins with the last constant times this factor.
    skipping : bool
        Whether r searches in a row of a sequence without a doubling let its next
        2^(r - 1) searches be skipped.

    Attributes
    ----------
    to_skip : memoryview of int, (n,)
        Visits of each sequence until its next search.
    """

    def __init__(self, values, known, *, bint own, double decay, bint skipping):
        cdef Py_ssize_t i, n = len(known)
        self.values, self.known = values, known
        self.own, self.decay, self.skipping = own, decay, skipping
        self.successes = np.zeros(n, dtype=np.int32)
        self.to_skip = np.zeros(n, dtype=np.int32)
        self.tree = MaxTree(np.ones(n if own else 0), 1.0, True, 0.0)
        for i in range(n if self.own else 0):
            if self.known[i]:
                self.tree.record(i, self.values[i])
        self.recount()

    def recount(self):
        """Sum the constants anew, so that rounding errors do not accumulate."""
        known = np.asarray(self.known, dtype=bool)
        self.n_known = known.sum()
        if self.own:
            self.total = np.asarray(self.values)[known].sum()

    cdef double of(self, Py_ssize_t i) noexcept nogil:
        """Return the constant of sequence i."""
        return self.values[i if self.own else 0]

    cdef bint due(self, Py_ssize_t i) noexcept nogil:
        """Return whether the constant of sequence i is to be searched at this visit."""
        if self.to_skip[i] == 0:
            return True
        self.to_skip[i] = max(self.to_skip[i] - 1, 0)
        self.pass_over(i)
        return False

    cdef double first_trial(self, Py_ssize_t i) noexcept nogil:
        """Return the value that the search for sequence i begins with."""
        if not self.own:
            return self.values[0] * self.decay
        if self.known[i]:
            return self.values[i] * self.decay
        return 0.5 * self.mean() if self.n_known > 0 else 1.0

    cdef void mark_known(self, Py_ssize_t i) noexcept nogil:
        """Count the constant of sequence i as known; no search was made."""
        if not self.known[i]:
            self.set(i, self.first_trial(i) if self.own else self.values[0])

    cdef void pass_over(self, Py_ssize_t i) noexcept nogil:
        """Count the constant of sequence i as known after a visit without a search.

        One for all sequences decays at every visit [Schmidt15, Alg. 1, line 17]; one
        of a sequence only at its searches [sec. 5.2].
        """
        self.mark_known(i)
        if not self.own and self.values[0] > SMALLEST_CONSTANT:
            self.values[0] *= self.decay

    cdef void decay_without_search(self, Py_ssize_t i) noexcept nogil:
        """Decay the constant of sequence i, whose gradient is too small for a search.

        Then the probabilities of its labels are nearly 1, and the curvature of its loss
        is as small.
        """
        if self.own:
            self.set(i, max(self.first_trial(i), SMALLEST_CONSTANT))
        else:
            self.pass_over(i)

    cdef void set_from_search(
        self, Py_ssize_t i, double value, bint doubled
    ) noexcept nogil:
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
