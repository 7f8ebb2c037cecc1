# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Chains of label tuples as a Structure: labels that depend on several before them.

A state is the tuple of the last labels up to a position, see
structures/chain/tuples.py. Inference is that of the chain over states. Weights are
shared: the node score of a state is the sum of what the weights give to the tuple and
to its suffixes,

    node_scores[t, s] = raw[t, s] + node_scores[t, suffix[s]],

where suffix[s] is the tuple without its first label, a state of a lower number; and the
features of a change are those of the changes summed over the states that end with a
tuple. Ends of a sequence, and transitions from tuples that are cut off by its start,
have no weights of tuples.
"""

from libc.string cimport memcpy, memset

from ._chain_structure cimport ChainStructure
from ._structure cimport Values
from ._vecmath cimport ops
from ._weights cimport Weights

import numpy as np


cdef class TupleStructure(ChainStructure):
    """Chains over states under given weights.

    Parameters
    ----------
    suffix : ndarray of shape (n_states,), int32
        The number of each state without its first label, lower than its own; -1 for
        single labels, which are first.
    has_weight : ndarray of shape (n_tied,), bool
        Whether each transition between states has a weight.
    *args, **options
        As for `ChainStructure`, with states in place of labels.
    """

    cdef const int[::1] suffix
    cdef const unsigned char[::1] has_weight
    cdef Py_ssize_t n_singles
    cdef double[::1] shared         # (T + 1, S) the change over tuples; its ends

    def __init__(self, suffix, has_weight, *args, **options):
        super().__init__(*args, **options)
        self.suffix, self.has_weight = suffix, has_weight.view(np.uint8)
        self.n_singles = np.count_nonzero(suffix < 0)
        self.shared = np.empty(self.most_local + self.n_labels)

    cdef void complete_scores(self, double* scores) noexcept nogil:
        """Add to the scores of each tuple those of its suffixes."""
        cdef Py_ssize_t t
        for t in range(self.length):
            add_suffixes(
                &self.suffix[0], self.n_singles, self.n_labels,
                scores + t * self.n_labels,
            )

    cdef void share_change(self) noexcept nogil:
        """Write the change over tuples, and its sums."""
        cdef Py_ssize_t t, p, n = self.n_labels
        cdef double* row
        cdef double* ends = &self.shared[self.n_local]
        memcpy(&self.shared[0], &self.change[0], self.n_local * sizeof(double))
        memset(&self.sums.node[0], 0, n * sizeof(double))
        for t in range(self.length):
            row = &self.shared[t * n]
            add_to_suffixes(&self.suffix[0], self.n_singles, n, row)
            ops.axpy(1.0, row, &self.sums.node[0], n)
        memset(ends, 0, n * sizeof(double))
        memcpy(
            ends, &self.shared[self.n_local - n], self.n_singles * sizeof(double)
        )
        for p in range(self.n_tied):
            if not self.has_weight[p]:
                self.sums.edge[p] = 0.0

    cdef void sum_features(self) noexcept nogil:
        self.share_change()
        self.sums.set(self.item, self.first, self.length, &self.shared[0])
        self.sums.last_node = &self.shared[self.n_local]

    cdef void change_scores(self, Values out) noexcept nogil:
        ChainStructure.change_scores(self, out)
        self.complete_scores(out.local)

    cdef void add_change(self, Weights out, double step) noexcept nogil:
        self.share_change()
        self.rows.add_features(
            self.first, self.first + self.length, step, &self.shared[0], self.n_labels,
            <double*> out.coef_pointer(),
        )
        out.add_to_blocks(
            step, &self.shared[0], &self.shared[self.n_local], &self.sums.node[0],
            &self.sums.edge[0],
        )


cdef void add_suffixes(
    const int* suffix, Py_ssize_t n_singles, Py_ssize_t n,
    double* x,                              # in, out, (S,)
) noexcept nogil:
    """Add to each tuple the number of its suffix, itself complete."""
    cdef Py_ssize_t s
    for s in range(n_singles, n):
        x[s] += x[suffix[s]]


cdef void add_to_suffixes(
    const int* suffix, Py_ssize_t n_singles, Py_ssize_t n,
    double* x,                              # in, out, (S,)
) noexcept nogil:
    """Add the number of each tuple to that of its suffix: the adjoint."""
    cdef Py_ssize_t s
    for s in range(n - 1, n_singles - 1, -1):
        x[suffix[s]] += x[s]


def complete_rows(
    const int[::1] suffix, double[:, ::1] rows      # in, out, (n, S)
):
    """Add to the number of each tuple, in every row, those of its suffixes."""
    cdef Py_ssize_t t, n_singles = np.count_nonzero(np.asarray(suffix) < 0)
    with nogil:
        for t in range(rows.shape[0]):
            add_suffixes(&suffix[0], n_singles, rows.shape[1], &rows[t, 0])


def share_rows(
    const int[::1] suffix, double[:, ::1] rows      # in, out, (n, S)
):
    """Add the number of each tuple, in every row, to those of its suffixes."""
    cdef Py_ssize_t t, n_singles = np.count_nonzero(np.asarray(suffix) < 0)
    with nogil:
        for t in range(rows.shape[0]):
            add_to_suffixes(&suffix[0], n_singles, rows.shape[1], &rows[t, 0])
