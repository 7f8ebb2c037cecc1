"""How the local potentials of an item are made of the scores that weights give.

A Tying turns what the features of a position and the biases give to each label into
local scores, and a change of local expectations into the change that features and
biases see: its adjoint. `Tying` is for a chain, whose local scores are the scores that
weights give, with start and end at its ends.
"""

from libc.string cimport memcpy, memset

from ..math._vecmath cimport ops
from ..features._weights cimport FeatureSums

import numpy as np


cdef class Tying:
    """Local scores are the scores of the weights; sequences have start and end."""

    def n_columns(self, n_labels):
        """Return how many numbers the weights give to a position."""
        return n_labels

    def with_weight(self, n_tied):
        """Return which tied potentials have a weight (n_tied,), uint8."""
        return np.ones(n_tied, dtype=np.uint8)

    cdef double* before(self, double* scores) noexcept nogil:
        """Return where the scores of the weights are written before `complete`."""
        return scores

    cdef void complete(self, Py_ssize_t length, double* scores) noexcept nogil:
        """Make of what the weights give to a position its local scores."""

    cdef TiedChange share(
        self, Py_ssize_t length, const double* change, FeatureSums sums
    ) noexcept nogil:
        """Return a change (T, K) as features see it; its sums may be changed."""
        return TiedChange(
            change, change, change + (length - 1) * sums.weights.n_labels
        )


cdef class NoEnds(Tying):
    """Nothing has a start or an end: the weights of these stay 0.

    Parameters
    ----------
    n_labels : int
    """

    cdef double[::1] nothing            # (K,) zeros

    def __init__(self, n_labels):
        self.nothing = np.zeros(n_labels)

    cdef TiedChange share(
        self, Py_ssize_t length, const double* change, FeatureSums sums
    ) noexcept nogil:
        """Return a change as it is, without ends."""
        return TiedChange(change, &self.nothing[0], &self.nothing[0])


cdef class TupleTying(Tying):
    """The labels are tuples, which share the weights of their suffixes.

    A tuple is the labels up to a position, see structures/chain/tuples.py. Its score is
    the sum of what the weights give to the tuple and to its suffixes,

        scores[t, s] = raw[t, s] + scores[t, suffix[s]],

    where suffix[s] is the tuple without its first label, a tuple of a lower number; and
    the features of a change are the features of the changes that are summed over the
    tuples that end with a tuple. Ends of a sequence, and transitions from tuples that
    are cut off by its start, have no weights of tuples.

    Parameters
    ----------
    suffix : ndarray of shape (n_tuples,), int32
        The number of each tuple without its first label, lower than its own; -1 for
        single labels, which are first.
    has_weight : ndarray of shape (n_tied,), bool
        Whether each transition between tuples has a weight.
    longest : int
        Positions of the longest sequence.
    """

    cdef const int[::1] suffix
    cdef const unsigned char[::1] has_weight
    cdef Py_ssize_t n_singles
    cdef double[::1] shared         # (T + 1, S) the change over tuples; its ends

    def __init__(self, suffix, has_weight, longest):
        self.suffix, self.has_weight = suffix, has_weight.view(np.uint8)
        self.n_singles = np.count_nonzero(suffix < 0)
        self.shared = np.empty((longest + 1) * len(suffix))

    def with_weight(self, n_tied):
        """Return which transitions have a weight."""
        return np.asarray(self.has_weight)

    cdef void complete(self, Py_ssize_t length, double* scores) noexcept nogil:
        """Add to the scores of each tuple the scores of its suffixes."""
        cdef Py_ssize_t t, n = self.suffix.shape[0]
        for t in range(length):
            add_suffixes(&self.suffix[0], self.n_singles, n, scores + t * n)

    cdef TiedChange share(
        self, Py_ssize_t length, const double* change, FeatureSums sums
    ) noexcept nogil:
        """Return the change summed over tuples, and write its sums."""
        cdef Py_ssize_t t, p, n = self.suffix.shape[0]
        cdef double* row = &self.shared[0]
        memcpy(row, change, length * n * sizeof(double))
        memset(&sums.node[0], 0, n * sizeof(double))
        for t in range(length):
            row = &self.shared[t * n]
            add_to_suffixes(&self.suffix[0], self.n_singles, n, row)
            ops.axpy(1.0, row, &sums.node[0], n)
        memset(row + n, 0, n * sizeof(double))
        memcpy(row + n, row, self.n_singles * sizeof(double))
        for p in range(self.has_weight.shape[0]):
            if not self.has_weight[p]:
                sums.edge[p] = 0.0
        return TiedChange(&self.shared[0], &self.shared[0], row + n)


# Which label has which part: the parts of label k are at bounds[k], ..., in CSR.
cdef struct PartMatrix:
    Py_ssize_t n_labels, n_parts
    const int* bounds
    const int* part
    const double* value


cdef class PartTying(Tying):
    """The labels have parts, and the weights are weights of parts.

    The score of a label is the sum over its parts,

        scores[t, k] = sum_p matrix[k, p] raw[t, p],

    and the features of a change are the features of change @ matrix.

    Parameters
    ----------
    matrix : csr_array of shape (K, P), float64
        Which label has which part, with indices of int32.
    longest : int
        Positions of the longest sequence.
    """

    cdef PartMatrix matrix
    cdef object arrays              # owners of what the matrix points to
    cdef double[::1] raw            # (T, P) scores of parts
    cdef double[::1] shared         # (T, P) the change of parts

    def __init__(self, matrix, longest):
        cdef Py_ssize_t n_labels, n_parts
        n_labels, n_parts = matrix.shape
        self.arrays = matrix
        self.matrix = part_matrix(matrix.indptr, matrix.indices, matrix.data)
        self.matrix.n_labels, self.matrix.n_parts = n_labels, n_parts
        self.raw = np.empty(max(longest * n_parts, 1))
        self.shared = np.empty(max(longest * n_parts, 1))

    def n_columns(self, n_labels):
        """Return the number of parts."""
        return self.matrix.n_parts

    cdef double* before(self, double* scores) noexcept nogil:
        """Return where the scores of parts are written."""
        return &self.raw[0]

    cdef void complete(self, Py_ssize_t length, double* scores) noexcept nogil:
        """Write the scores of labels."""
        add_parts(&self.matrix, length, &self.raw[0], scores)

    cdef TiedChange share(
        self, Py_ssize_t length, const double* change, FeatureSums sums
    ) noexcept nogil:
        """Return the change of the parts, and write its sum over positions."""
        cdef Py_ssize_t t, n = self.matrix.n_parts
        share_among_parts(&self.matrix, length, change, &self.shared[0])
        memset(&sums.node[0], 0, n * sizeof(double))
        for t in range(length):
            ops.axpy(1.0, &self.shared[t * n], &sums.node[0], n)
        return TiedChange(
            &self.shared[0], &self.shared[0], &self.shared[(length - 1) * n]
        )


cdef class ArcTying(Tying):
    """The labels of arcs: label 0 has no weights, and 1 + k those of relation k.

    Nothing has a start or an end.

    Parameters
    ----------
    n_relations : int
    longest : int
        Arcs of the longest sentence.
    """

    cdef Py_ssize_t n_relations
    cdef double[::1] raw            # (T, n_relations) scores of relations
    cdef double[::1] shared         # (T, n_relations) their change
    cdef double[::1] nothing        # (n_relations,) zeros

    def __init__(self, n_relations, longest):
        self.n_relations, self.nothing = n_relations, np.zeros(n_relations)
        self.raw, self.shared = np.empty((2, max(longest * n_relations, 1)))

    def n_columns(self, n_labels):
        """Return the number of relations."""
        return self.n_relations

    cdef double* before(self, double* scores) noexcept nogil:
        """Return where the scores of relations are written."""
        return &self.raw[0]

    cdef void complete(self, Py_ssize_t length, double* scores) noexcept nogil:
        """Write the scores of labels."""
        cdef Py_ssize_t t, n = self.n_relations
        for t in range(length):
            scores[t * (n + 1)] = 0.0
            memcpy(scores + t * (n + 1) + 1, &self.raw[t * n], n * sizeof(double))

    cdef TiedChange share(
        self, Py_ssize_t length, const double* change, FeatureSums sums
    ) noexcept nogil:
        """Return the change of relations, and write its sum over arcs."""
        cdef Py_ssize_t t, n = self.n_relations
        memset(&sums.node[0], 0, n * sizeof(double))
        for t in range(length):
            memcpy(&self.shared[t * n], change + t * (n + 1) + 1, n * sizeof(double))
            ops.axpy(1.0, &self.shared[t * n], &sums.node[0], n)
        return TiedChange(&self.shared[0], &self.nothing[0], &self.nothing[0])


cdef PartMatrix part_matrix(
    const int[::1] bounds, const int[::1] part, const double[::1] value
):
    """Return the matrix of arrays that the caller keeps; every label has a part."""
    return PartMatrix(0, 0, &bounds[0], &part[0], &value[0])


cdef void add_parts(
    const PartMatrix* matrix, Py_ssize_t length,
    const double* raw,                      # in, (T, P)
    double* scores,                         # out, (T, K)
) noexcept nogil:
    """Write the sum over the parts of each label."""
    cdef Py_ssize_t _t, k, j
    cdef double total
    for _t in range(length):
        for k in range(matrix.n_labels):
            total = 0.0
            for j in range(matrix.bounds[k], matrix.bounds[k + 1]):
                total += matrix.value[j] * raw[matrix.part[j]]
            scores[k] = total
        raw += matrix.n_parts
        scores += matrix.n_labels


cdef void share_among_parts(
    const PartMatrix* matrix, Py_ssize_t length,
    const double* change,                   # in, (T, K)
    double* shared,                         # out, (T, P)
) noexcept nogil:
    """Write the sum over the labels of each part: the adjoint."""
    cdef Py_ssize_t _t, k, j
    memset(shared, 0, length * matrix.n_parts * sizeof(double))
    for _t in range(length):
        for k in range(matrix.n_labels):
            for j in range(matrix.bounds[k], matrix.bounds[k + 1]):
                shared[matrix.part[j]] += matrix.value[j] * change[k]
        change += matrix.n_labels
        shared += matrix.n_parts


def scores_of_parts(
    matrix,                                 # csr_array (K, P)
    const double[:, ::1] raw,               # in, (n, P)
    double[:, ::1] scores,                  # out, (n, K)
):
    """Write the sums over the parts of each label, in every row."""
    cdef PartMatrix own = part_matrix(matrix.indptr, matrix.indices, matrix.data)
    own.n_labels, own.n_parts = matrix.shape
    if raw.shape[0] > 0:
        with nogil:
            add_parts(&own, raw.shape[0], &raw[0, 0], &scores[0, 0])


def shares_of_parts(
    matrix,                                 # csr_array (K, P)
    const double[:, ::1] change,            # in, (n, K)
    double[:, ::1] shared,                  # out, (n, P)
):
    """Write the sums over the labels of each part, in every row."""
    cdef PartMatrix own = part_matrix(matrix.indptr, matrix.indices, matrix.data)
    own.n_labels, own.n_parts = matrix.shape
    if change.shape[0] > 0:
        with nogil:
            share_among_parts(&own, change.shape[0], &change[0, 0], &shared[0, 0])


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
    """Add the number of each tuple to the number of its suffix: the adjoint."""
    cdef Py_ssize_t s
    for s in range(n - 1, n_singles - 1, -1):
        x[suffix[s]] += x[s]


def complete_rows(
    const int[::1] suffix, double[:, ::1] rows      # in, out, (n, S)
):
    """Add to the number of each tuple, in every row, the numbers of its suffixes."""
    cdef Py_ssize_t t, n_singles = np.count_nonzero(np.asarray(suffix) < 0)
    with nogil:
        for t in range(rows.shape[0]):
            add_suffixes(&suffix[0], n_singles, rows.shape[1], &rows[t, 0])


def share_rows(
    const int[::1] suffix, double[:, ::1] rows      # in, out, (n, S)
):
    """Add the number of each tuple, in every row, to the numbers of its suffixes."""
    cdef Py_ssize_t t, n_singles = np.count_nonzero(np.asarray(suffix) < 0)
    with nogil:
        for t in range(rows.shape[0]):
            add_to_suffixes(&suffix[0], n_singles, rows.shape[1], &rows[t, 0])
