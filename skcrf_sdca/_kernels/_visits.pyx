# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The loop over visits, and what every solver that visits one sequence at a time holds.

A solver's kernel is a Visitor with a `visit` of its own; that of a dual solver is a
DualVisitor, which records the gap found at each visit.
"""

from cpython.exc cimport PyErr_CheckSignals

from ._features cimport DistinctFeatures, FeatureRows
from ._samplers cimport Sampler
from ._weights cimport FeatureSums, Weights

import numpy as np

# Edge marginals between two looks for Ctrl-C: some hundredths of a second.
cdef Py_ssize_t WORK_BETWEEN_SIGNALS = 4_000_000


cdef class Visitor:
    """Visits sequences one by one, in the order of a sampler or in a given one.

    Parameters
    ----------
    rows : FeatureRows
    weights : Weights
        Changed in place.
    offsets : ndarray of shape (n + 1,), int64
    scale : ndarray of shape (n,)
        weight_i / alpha with the weights summing to 1; 1 / (alpha n) if all are equal.
    sampler : Sampler

    Attributes
    ----------
    n_oracle_calls : float
        Marginalisations so far; a forward pass alone counts one half.
    """

    def __init__(
        self, FeatureRows rows, Weights weights, offsets, scale, Sampler sampler
    ):
        self.rows = rows
        self.weights = weights
        self.sums = FeatureSums(DistinctFeatures(rows, offsets), weights)
        self.offsets, self.scale = offsets, scale
        self.sampler = sampler
        self.n_labels = weights.n_labels
        self.longest = int(np.diff(offsets).max(initial=1))

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit sequence i; return False if a number is not finite."""
        return True

    def epoch(self, const double[:, ::1] uniforms):
        """Make one visit for each row (coin, position) of uniform numbers."""
        self.make_visits(uniforms, None, uniforms.shape[0])

    def epoch_in_order(self, const Py_ssize_t[::1] order):
        """Visit the sequences in the given order."""
        self.make_visits(None, order, order.shape[0])

    def make_visits(
        self,
        const double[:, ::1] uniforms,          # in, (n_visits, 2), or None
        const Py_ssize_t[::1] order,            # in, (n_visits,), or None
        Py_ssize_t n_visits,
    ):
        """Visit the sequences of ``order``, or those that the sampler picks."""
        cdef Py_ssize_t v, i = 0, work = 0
        cdef bint sane = True
        cdef bint in_order = order is not None
        with nogil:
            for v in range(n_visits):
                if in_order:
                    i = order[v]
                else:
                    i = self.sampler.pick(uniforms[v, 0], uniforms[v, 1])
                sane = self.visit(i)
                if not sane:
                    break
                work += (
                    (self.offsets[i + 1] - self.offsets[i])
                    * self.n_labels * self.n_labels
                )
                if work > WORK_BETWEEN_SIGNALS:
                    work = 0
                    with gil:
                        PyErr_CheckSignals()
        if not sane:
            raise ValueError(
                f"the scores of sequence {i} or its line search are not finite: scale "
                "the features in X, or take a larger alpha"
            )


cdef class DualVisitor(Visitor):
    """Visits that record the gap of the sequence, for the sampler to follow.

    Parameters
    ----------
    rows, weights, offsets, scale, sampler
        As for `Visitor`.
    gaps : ndarray of shape (n,)
        The gap of each sequence when last visited: changed in place.
    """

    def __init__(self, rows, weights, offsets, scale, gaps, sampler):
        super().__init__(rows, weights, offsets, scale, sampler)
        self.gaps = gaps

    cdef void record_gap(self, Py_ssize_t i, double gap) noexcept nogil:
        """Take note of a new gap of sequence i."""
        self.gaps[i] = gap
        self.sampler.record(i, gap)
