"""The weights of a chain model, and the features that move them.

Owns the five blocks of weights as the other kernels see them: the node scores that they
give, and the features of a change of one sequence's marginals, by which every solver
that visits sequences moves them.
"""

from libc.math cimport isinf
from libc.string cimport memcpy

from ._features cimport DistinctFeatures, FeatureRows, RowLayout
from ..math._vecmath cimport addressable, ops, skcrf_factors

import numpy as np


# Entries of a row of X whose weights are not all 0, at a time.
cdef enum:
    BATCH = 64


cdef class Weights:
    """The five blocks of weights of a model.

    Parameters
    ----------
    blocks : tuple of ndarrays
        coef (d, K), intercept (K,), start (K,), end (K,), transition, one number for
        each pair of labels that may follow each other; float64, C-contiguous. The
        kernels change them in place.
    boundaries : bool
        Whether start, end and transition weights exist; else they are zero and stay so.
    layout : RowLayout, default=None
        The layout of coef, whose shape is (layout.size,); None for the shape (d, K).

    Raises
    ------
    ValueError
        If the shapes of the blocks do not agree.
    """

    def __init__(self, blocks, bint boundaries=True, RowLayout layout=None):
        n_labels = len(blocks[1])
        shapes = [block.shape for block in blocks]
        if layout is None:
            layout = RowLayout(len(blocks[0]), n_labels)
            right = [(layout.n_features, n_labels)]
        else:
            right = [(layout.size,)]
        right += [(n_labels,), (n_labels,), (n_labels,)]
        if n_labels == 0 or layout.n_labels != n_labels or shapes[:4] != right:
            raise ValueError(
                "the weights have shapes that do not agree: coef, intercept, start, "
                f"end, transition are {shapes}"
            )
        coef, self.intercept, self.start, self.end, transition = blocks
        self.coef = coef.reshape(-1)
        self.transition = addressable(transition.reshape(-1))
        self.n_tied = transition.size
        self.layout = layout
        self.n_features, self.n_labels = layout.n_features, n_labels
        self.boundaries = boundaries
        self.factor_value, self.bias_factor = None, 1.0

    def set_factors(self, code, const double[::1] value, double bias_factor):
        """Have visits move w_j by a factor times the change of w_hat(mu)_j.

        Parameters
        ----------
        code : ndarray of shape (n_features,), uint8, or None
            The factor of feature j is ``value[code[j]]``; None if all have the first.
        value : ndarray of shape (n_codes,)
            1 / curvature of rows of coef in the penalty.
        bias_factor : float
            1 / curvature of all other weights.
        """
        if code is None:
            code = np.zeros(self.n_features, dtype=np.uint8)
        if len(code) != self.n_features or code.max(initial=0) >= len(value):
            raise ValueError(
                f"{len(code)} codes of {len(value)} factors do not fit to "
                f"{self.n_features} features"
            )
        # One element more than needed: the address of an empty array is not defined.
        self.factor_code = np.append(code, 0).astype(np.uint8)
        self.factor_value = value
        self.factors = skcrf_factors(&self.factor_code[0], &self.factor_value[0])
        self.bias_factor = bias_factor

    def fill(self, const double[::1] rows, double bias):
        """Make every weight of feature j rows[j], and all other weights a bias."""
        cdef Py_ssize_t j, n = self.n_labels
        cdef double* coef = <double*> self.coef_pointer()
        with nogil:
            set_all(<double*> &self.intercept[0], bias, n)
            set_all(<double*> &self.start[0], bias, n)
            set_all(<double*> &self.end[0], bias, n)
            set_all(<double*> &self.transition[0], bias, self.n_tied)
            for j in range(self.n_features):
                set_all(coef + self.layout.begin(j), rows[j], self.layout.width(j))

    cdef FeatureSums new_sums(self, DistinctFeatures features):
        """Return the sums that move these weights."""
        return FeatureSums(features, self)

    cdef const double* coef_pointer(self) noexcept nogil:
        """Return the address of coef, NULL if there are no features."""
        return &self.coef[0] if self.layout.size > 0 else NULL

    cdef void score_nodes(
        self,
        FeatureRows rows,
        Py_ssize_t first, Py_ssize_t length,
        double* scores,                         # out, (T, K)
    ) noexcept nogil:
        """Write the node scores of the sequence of the rows first, first + 1, ..."""
        self.set_scores(length, scores)
        rows.add_scores(
            first, first + length, self.coef_pointer(), self.n_labels, scores
        )

    cdef void set_scores(
        self, Py_ssize_t length,
        double* scores,                         # out, (T, K)
    ) noexcept nogil:
        """Write the node scores of a sequence without features."""
        cdef Py_ssize_t t, k, n = self.n_labels
        if length == 0:
            return
        for t in range(length):
            for k in range(n):
                scores[t * n + k] = self.intercept[k]
        for k in range(n):
            scores[k] += self.start[k]
            scores[(length - 1) * n + k] += self.end[k]

    cdef void add_features(
        self,
        FeatureRows rows,
        Py_ssize_t first, Py_ssize_t length,
        double step,
        const double* node,                     # in, (T, K)
        const double* node_sum,                 # in, (K,) summed over t
        const double* edge_sum,                 # in, (pairs,) summed over t, or NULL
    ) noexcept nogil:
        """Add step times the features of a change of marginals of one sequence."""
        cdef Py_ssize_t n = self.n_labels
        rows.add_features(
            first, first + length, step, node, n, <double*> self.coef_pointer()
        )
        self.add_to_blocks(step, node, node + (length - 1) * n, node_sum, edge_sum)

    cdef void add_to_blocks(
        self,
        double step,
        const double* first_node,               # in, (K,)
        const double* last_node,                # in, (K,)
        const double* node_sum,                 # in, (K,)
        const double* edge_sum,                 # in, (pairs,), or NULL
    ) noexcept nogil:
        """Add step times the features that are not of X."""
        cdef Py_ssize_t n = self.n_labels
        ops.axpy(step, node_sum, <double*> &self.intercept[0], n)
        if self.boundaries:
            ops.axpy(step, first_node, <double*> &self.start[0], n)
            ops.axpy(step, last_node, <double*> &self.end[0], n)
            if edge_sum != NULL:
                ops.axpy(step, edge_sum, <double*> &self.transition[0], self.n_tied)

    cdef void blend_blocks(
        self, double shrink, Weights other, double gain
    ) noexcept nogil:
        """Make the blocks but coef shrink times themselves plus gain times others."""
        cdef Py_ssize_t n = self.n_labels
        scale(<double*> &self.intercept[0], shrink, n)
        scale(<double*> &self.start[0], shrink, n)
        scale(<double*> &self.end[0], shrink, n)
        scale(<double*> &self.transition[0], shrink, self.n_tied)
        self.add_to_blocks(
            gain, &other.start[0], &other.end[0], &other.intercept[0],
            &other.transition[0],
        )

    def node_scores(
        self,
        FeatureRows rows,
        const long long[::1] offsets,           # in, (n + 1,)
        Py_ssize_t begin, Py_ssize_t end,
        double[:, ::1] out,                     # out, (their positions, K)
    ):
        """Write the node scores of the sequences begin <= i < end."""
        cdef Py_ssize_t i
        self.check_shapes(rows, out)
        rows = rows.of_thread()
        if out.shape[0] == 0:
            return
        with nogil:
            for i in range(begin, end):
                self.set_scores(
                    offsets[i + 1] - offsets[i],
                    &out[0, 0] + (offsets[i] - offsets[begin]) * self.n_labels,
                )
            # The rows of all sequences at once: prefetches go on across sequences.
            rows.add_scores(
                offsets[begin], offsets[end], self.coef_pointer(), self.n_labels,
                &out[0, 0],
            )

    def add_changes(
        self,
        FeatureRows rows,
        const long long[::1] offsets,           # in, (n + 1,)
        Py_ssize_t begin, Py_ssize_t end,
        const double[::1] factor,               # in, (n,)
        const double[:, ::1] node,              # in, (their positions, K)
    ):
        """Add factor[i] times the features of a change of the node marginals of the
        sequences begin <= i < end; the edges are left out.
        """
        cdef Py_ssize_t i, t, length, n = self.n_labels
        cdef double[::1] total = np.empty(n)
        cdef const double* first
        self.check_shapes(rows, node)
        rows = rows.of_thread()
        if node.shape[0] == 0:
            return
        with nogil:
            for i in range(begin, end):
                first = &node[0, 0] + (offsets[i] - offsets[begin]) * n
                length = offsets[i + 1] - offsets[i]
                total[:] = 0.0
                for t in range(length):
                    ops.axpy(1.0, first + t * n, &total[0], n)
                if length > 0:
                    self.add_features(
                        rows, offsets[i], length, factor[i], first, &total[0], NULL
                    )

    def check_shapes(self, FeatureRows rows, const double[:, ::1] positions):
        """Raise ValueError if rows or positions do not fit to the weights."""
        if rows.n_features != self.n_features or positions.shape[1] != self.n_labels:
            raise ValueError(
                f"{rows.n_features} features and {positions.shape[1]} labels for "
                f"weights of {self.n_features} features and {self.n_labels} labels"
            )

    cdef Weights moved(self):
        """Return the weights that a visit moves: these, which do not follow others."""
        return self

    cdef void refresh_rows(self, const int* rows, Py_ssize_t count) noexcept nogil:
        """Compute rows of coef from the weights that visits move."""

    cdef void refresh_range(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Compute the rows begin <= j < end of coef, see `refresh_rows`."""

    cdef void refresh_biases(self) noexcept nogil:
        """Compute all weights but coef from the weights that visits move."""

    def refresh(self, Py_ssize_t part=0, Py_ssize_t n_parts=1):
        """Compute one of some parts of all weights from the weights that visits move.
        """
        with nogil:
            self.refresh_part(part, n_parts)

    cdef void refresh_part(self, Py_ssize_t part, Py_ssize_t n_parts) noexcept nogil:
        """Compute one of some parts of all weights; the first has all but coef."""
        self.refresh_range(
            part * self.n_features // n_parts, (part + 1) * self.n_features // n_parts
        )
        if part == 0:
            self.refresh_biases()


cdef class SparseWeights(Weights):
    """Weights w_j = factor_j soft(v_j) of an elastic net, which follow dual weights v.

    soft(v) = v - min(max(v, -threshold), threshold); the factors are 1 until
    `set_factors`. A row of coef that is all 0 is not read for scores.

    Parameters
    ----------
    blocks, boundaries, layout
        As for `Weights`.
    dual : Weights
        v, of the same shape.
    threshold : float
    """

    def __init__(
        self, blocks, bint boundaries=True, RowLayout layout=None, *, Weights dual,
        double threshold,
    ):
        super().__init__(blocks, boundaries, layout)
        self.dual = dual
        self.threshold = threshold
        self.set_factors(None, np.ones(1), 1.0)
        self.active = np.ones(max(self.n_features, 1), dtype=np.uint8)
        # One element more than needed: the address of an empty array is not defined.
        self.every_row = np.arange(self.n_features + 1, dtype=np.int32)

    cdef FeatureSums new_sums(self, DistinctFeatures features):
        """Return the sums that move the dual weights."""
        return SparseFeatureSums(features, self)

    cdef void score_nodes(
        self,
        FeatureRows rows,
        Py_ssize_t first, Py_ssize_t length,
        double* scores,                         # out, (T, K)
    ) noexcept nogil:
        """Write the node scores of the sequence of the rows first, first + 1, ..."""
        cdef Py_ssize_t t, j, count, n = self.n_labels
        cdef int[BATCH] columns
        cdef double[BATCH] entries
        cdef bint has_entries = rows.is_sparse and rows.is_stored
        if not has_entries or self.layout.first != NULL:
            Weights.score_nodes(self, rows, first, length, scores)
            return
        self.set_scores(length, scores)
        for t in range(length):
            count = 0
            for j in range(rows.indptr[first + t], rows.indptr[first + t + 1]):
                columns[count], entries[count] = rows.columns[j], rows.entries[j]
                count += self.active[rows.columns[j]]
                if count == BATCH:
                    ops.gather(
                        entries, columns, count, self.coef_pointer(), scores + t * n, n
                    )
                    count = 0
            ops.gather(entries, columns, count, self.coef_pointer(), scores + t * n, n)

    cdef void refresh_row(self, Py_ssize_t j) noexcept nogil:
        """Compute a row of coef from its dual weights, and note whether it is all 0.

        Of rows of different lengths, visits take no such note.
        """
        cdef Py_ssize_t begin = self.layout.begin(j), n = self.layout.width(j)
        cdef const double* dual = self.dual.coef_pointer() + begin
        cdef bint was_active = self.active[j]
        self.active[j] = ops.exceeding(dual, self.threshold, n) > 0
        if was_active or self.active[j] or self.layout.first != NULL:
            ops.shrink(
                dual, self.threshold, self.factor_value[self.factor_code[j]], n,
                <double*> self.coef_pointer() + begin,
            )

    cdef Weights moved(self):
        """Return the dual weights."""
        return self.dual

    cdef void refresh_rows(self, const int* rows, Py_ssize_t count) noexcept nogil:
        """Compute rows of coef from their dual weights."""
        cdef Py_ssize_t r
        if self.layout.first == NULL:
            ops.shrink_rows(
                rows, count, self.dual.coef_pointer(), self.threshold,
                &self.factors, &self.active[0], <double*> self.coef_pointer(),
                self.n_labels,
            )
            return
        for r in range(count):
            self.refresh_row(rows[r])

    cdef void refresh_biases(self) noexcept nogil:
        """Compute all weights but coef from the dual weights."""
        cdef Py_ssize_t n = self.n_labels
        cdef double t = self.threshold, f = self.bias_factor
        ops.shrink(&self.dual.intercept[0], t, f, n, <double*> &self.intercept[0])
        ops.shrink(&self.dual.start[0], t, f, n, <double*> &self.start[0])
        ops.shrink(&self.dual.end[0], t, f, n, <double*> &self.end[0])
        ops.shrink(
            &self.dual.transition[0], t, f, self.n_tied, <double*> &self.transition[0]
        )

    cdef void refresh_range(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Compute the rows begin <= j < end of coef from their dual weights."""
        self.refresh_rows(&self.every_row[begin], end - begin)


cdef void set_all(double* x, double value, Py_ssize_t n) noexcept nogil:
    """Write a value n times."""
    cdef Py_ssize_t k
    for k in range(n):
        x[k] = value


cdef void scale(double* x, double factor, Py_ssize_t n) noexcept nogil:
    """Multiply n numbers with a factor, in place."""
    cdef Py_ssize_t k
    for k in range(n):
        x[k] *= factor


cdef class FeatureSums:
    """Features of a change of one sequence's marginals, summed over its positions.

    Parameters
    ----------
    features : DistinctFeatures
    weights : Weights
        Those that `add_to_weights` moves.

    Attributes
    ----------
    sigma_prime : SigmaPrime
        How many times a change of the weights, and its square, are counted: once, but
        for the workers of _rounds.pyx.
    """

    def __cinit__(self, DistinctFeatures features, Weights weights):
        self.features = features
        self.weights = weights
        n_labels = weights.n_labels
        self.distinct = np.empty(max(features.max_size(n_labels), 1))
        self.node = np.empty(n_labels)
        self.edge = np.empty(max(weights.n_tied, 1))
        self.sigma_prime.frequent = self.sigma_prime.rare = 1.0

    cdef void set(
        self,
        Py_ssize_t i, Py_ssize_t first, Py_ssize_t length,
        const double* node_values,              # in, (T, K): kept, not copied
    ) noexcept nogil:
        """Take the change of sequence i; its sums node and edge have been written."""
        cdef Py_ssize_t n = self.weights.n_labels
        self.i = i
        self.first = first
        self.first_node = node_values
        self.last_node = node_values + (length - 1) * n
        self.features.sum_rows(
            i, first, first + length, node_values, n, &self.distinct[0]
        )

    cdef void measure(self, double scale) noexcept nogil:
        """Measure the rise of the penalty along the features, see `PenaltyRise`.

        ``scale`` belongs to the sequence. Follows `set`. Where rows have factors, their
        sums are multiplied by these, for `add_to_weights`.
        """
        if self.weights.factor_value is None:
            self.quadratic = scale * self.squared_norm()
        else:
            self.quadratic = scale * self.precondition()

    cdef double squared_norm(self) noexcept nogil:
        """Return the squared norm over all blocks, counted sigma_prime times."""
        cdef Py_ssize_t n = self.weights.n_labels
        cdef Py_ssize_t count = self.features.count_frequent(self.i)
        cdef Py_ssize_t n_frequent = self.features.size_of_first(self.i, count, n)
        cdef Py_ssize_t n_shared = self.features.size_of_first(
            self.i, count + self.features.count_rare(self.i), n
        )
        cdef Py_ssize_t n_rare = n_shared - n_frequent
        cdef Py_ssize_t n_private = self.features.size(self.i, n) - n_shared
        cdef const double* rare = &self.distinct[0] + n_frequent
        cdef const double* private = &self.distinct[0] + n_shared
        cdef double norm = ops.dot(&self.distinct[0], &self.distinct[0], n_frequent)
        norm += self.squared_norm_of_blocks()
        return (
            self.sigma_prime.frequent * norm
            + self.sigma_prime.rare * ops.dot(rare, rare, n_rare)
            + ops.dot(private, private, n_private)
        )

    cdef double precondition(self) noexcept nogil:
        """Multiply the rows by their factors; return the squared norm in these."""
        cdef Py_ssize_t n = self.weights.n_labels, i = self.i
        cdef Py_ssize_t n_frequent = self.features.count_frequent(i)
        cdef Py_ssize_t n_shared = n_frequent + self.features.count_rare(i)
        cdef const skcrf_factors* factors = &self.weights.factors
        cdef double* sums = &self.distinct[0]
        cdef double norm = self.weights.bias_factor * self.squared_norm_of_blocks()
        norm += self.features.precondition(i, 0, n_frequent, factors, n, sums)
        return (
            self.sigma_prime.frequent * norm
            + self.sigma_prime.rare
            * self.features.precondition(i, n_frequent, n_shared, factors, n, sums)
            + self.features.precondition(
                i, n_shared, self.features.count(i), factors, n, sums
            )
        )

    cdef const int* rows(self) noexcept nogil:
        """Return the address of the features whose sums ``distinct`` has."""
        return self.features.features(self.i)

    cdef Py_ssize_t n_rows(self) noexcept nogil:
        """Return how many features these are."""
        return self.features.count(self.i)

    cdef double squared_norm_of_blocks(self) noexcept nogil:
        """Return the squared norm over the blocks but coef."""
        cdef Py_ssize_t n = self.weights.n_labels
        cdef double norm = ops.dot(&self.node[0], &self.node[0], n)
        if self.weights.boundaries:
            norm += ops.dot(self.first_node, self.first_node, n)
            norm += ops.dot(self.last_node, self.last_node, n)
            norm += ops.dot(&self.edge[0], &self.edge[0], self.weights.n_tied)
        return norm

    cdef void score_nodes(
        self, Py_ssize_t length,
        double* scores,                         # out, (T, K)
    ) noexcept nogil:
        """Write the node scores of sequence i with the features as weights."""
        self.score_blocks(length, scores)
        self.features.add_scores(
            self.i, self.first, self.first + length, &self.distinct[0],
            self.weights.n_labels, scores,
        )

    cdef void score_blocks(
        self, Py_ssize_t length,
        double* scores,                         # out, (T, K)
    ) noexcept nogil:
        """Write what the blocks but coef add to the node scores of sequence i."""
        cdef Py_ssize_t t, k, n = self.weights.n_labels
        for t in range(length):
            for k in range(n):
                scores[t * n + k] = self.node[k]
        if self.weights.boundaries:
            ops.axpy(1.0, self.first_node, scores, n)
            ops.axpy(1.0, self.last_node, scores + (length - 1) * n, n)

    cdef void add_to_weights(self, double step) noexcept nogil:
        """Add step times the features, counted sigma_prime times, to all blocks."""
        self.add_counted(
            self.weights, step, self.sigma_prime, self.weights.bias_factor
        )

    cdef void add_to(self, Weights out, double step) noexcept nogil:
        """Add step times the features, counted once, to all blocks of other weights."""
        self.add_counted(out, step, SigmaPrime(1.0, 1.0), 1.0)

    cdef void add_counted(
        self, Weights out, double step, SigmaPrime times, double bias_factor
    ) noexcept nogil:
        """Add step times the features, each tier counted so many times."""
        self.features.move_coef(
            self.i, step * times.frequent, step * times.rare, step, &self.distinct[0],
            out.n_labels, <double*> out.coef_pointer(),
        )
        out.add_to_blocks(
            step * times.frequent * bias_factor, self.first_node, self.last_node,
            &self.node[0], &self.edge[0],
        )


cdef class SparseFeatureSums(FeatureSums):
    """Features of a change that move the dual weights, which `SparseWeights` follow.

    The line search needs R(s) of the elastic net exactly: with its quadratic bound
    the steps are half as long.

    Parameters
    ----------
    features : DistinctFeatures
    weights : SparseWeights
    """

    def __init__(self, DistinctFeatures features, SparseWeights weights):
        self.sparse, self.moved = weights, weights.moved()
        n_labels = weights.n_labels
        self.dual = np.empty(
            features.max_size(n_labels) + 3 * n_labels + weights.n_tied
        )
        self.weight = np.empty(max(features.max_size(n_labels), 1))
        self.ones = np.ones(max(n_labels, weights.n_tied))

    cdef void measure(self, double scale) noexcept nogil:
        """Measure the rise, and copy the dual weights of the features."""
        cdef Py_ssize_t i = self.i, n = self.weights.n_labels
        cdef Py_ssize_t count = self.features.count_frequent(i)
        cdef double* out = &self.dual[0]
        self.quadratic = scale * self.squared_norm()
        self.scale = scale
        self.ends[0] = self.features.size_of_first(i, count, n)
        count += self.features.count_rare(i)
        self.ends[1] = self.features.size_of_first(i, count, n)
        self.ends[2] = self.features.size(i, n)
        self.features.spread(
            i, &self.weights.factors, self.weights.bias_factor, n, &self.weight[0]
        )
        self.features.copy_coef(i, self.moved.coef_pointer(), n, out)
        out += self.ends[2]
        memcpy(out, &self.moved.intercept[0], n * sizeof(double))
        memcpy(out + n, &self.moved.start[0], n * sizeof(double))
        memcpy(out + 2 * n, &self.moved.end[0], n * sizeof(double))
        memcpy(
            out + 3 * n, &self.moved.transition[0],
            self.weights.n_tied * sizeof(double),
        )

    # R'(s) = sum factor a (soft(v) - soft(u)), u = v - s times scale a, over the
    # features a of the direction; R''(s) = scale times the sum of factor times a^2
    # where u is not shrunk to 0. R is convex, so that R(s) for times = sigma_prime,
    # divided by sigma_prime, bounds the part of one worker, see _rounds.pyx.
    cdef double slope(self, double step, double* curvature) noexcept nogil:
        """Return R'(step) and write R''(step)."""
        cdef Py_ssize_t n = self.weights.n_labels, begin = 0
        cdef double value = 0.0, second = 0.0, moved = step * self.scale
        cdef double frequent = self.sigma_prime.frequent
        cdef double[3] times = [frequent, self.sigma_prime.rare, 1.0]
        cdef const double* v = &self.dual[0]
        cdef const double* one = &self.ones[0]
        cdef int tier
        for tier in range(3):
            self.add_slope(
                v + begin, &self.distinct[0] + begin, &self.weight[0] + begin,
                self.ends[tier] - begin, moved, times[tier], &value, &second,
            )
            begin = self.ends[tier]
        v += begin
        self.add_slope(v, &self.node[0], one, n, moved, frequent, &value, &second)
        if self.weights.boundaries:
            self.add_slope(
                v + n, self.first_node, one, n, moved, frequent, &value, &second
            )
            self.add_slope(
                v + 2 * n, self.last_node, one, n, moved, frequent, &value, &second
            )
            self.add_slope(
                v + 3 * n, &self.edge[0], one, self.weights.n_tied, moved, frequent,
                &value, &second,
            )
        curvature[0] = self.scale * self.weights.bias_factor * second
        return self.weights.bias_factor * value

    cdef void add_slope(
        self, const double* v, const double* a, const double* weight, Py_ssize_t n,
        double moved, double times, double* value, double* second,
    ) noexcept nogil:
        """Add what n features, counted so many times, give to R' and R''."""
        cdef double own = 0.0
        ops.shrunk_slope(
            v, a, weight, times * moved, self.sparse.threshold, n, value, &own
        )
        second[0] += times * own

    # The rise over scale is 0 for scale = 0, as the direction has no features then. Its
    # product with a factor that has overflown would be no number.
    cdef double value(self, double step) noexcept nogil:
        """Return R(step)."""
        cdef Py_ssize_t n = self.weights.n_labels, begin = 0
        cdef double moved = step * self.scale, rise = 0.0
        cdef double frequent = self.sigma_prime.frequent
        cdef double[3] times = [frequent, self.sigma_prime.rare, 1.0]
        cdef const double* v = &self.dual[0]
        cdef const double* one = &self.ones[0]
        cdef double factor = self.weights.bias_factor / self.scale
        cdef int tier
        if isinf(factor):
            return 0.0
        for tier in range(3):
            rise += self.rise_of(
                v + begin, &self.distinct[0] + begin, &self.weight[0] + begin,
                self.ends[tier] - begin, moved, times[tier],
            )
            begin = self.ends[tier]
        v += begin
        rise += self.rise_of(v, &self.node[0], one, n, moved, frequent)
        if self.weights.boundaries:
            rise += self.rise_of(v + n, self.first_node, one, n, moved, frequent)
            rise += self.rise_of(v + 2 * n, self.last_node, one, n, moved, frequent)
            rise += self.rise_of(
                v + 3 * n, &self.edge[0], one, self.weights.n_tied, moved, frequent
            )
        return factor * rise

    cdef double rise_of(
        self, const double* v, const double* a, const double* weight, Py_ssize_t n,
        double moved, double times,
    ) noexcept nogil:
        """Return what n features, counted so many times, add to the rise."""
        cdef double t = self.sparse.threshold
        return ops.shrunk_rise(v, a, weight, times * moved, t, n) / times

    cdef void add_to_weights(self, double step) noexcept nogil:
        """Add step times the features to the dual weights; the weights follow."""
        self.add_counted(self.moved, step, self.sigma_prime, 1.0)
        self.features.shrink_coef(
            self.i, self.moved.coef_pointer(), self.sparse.threshold,
            &self.sparse.factors, self.weights.n_labels, &self.sparse.active[0],
            <double*> self.sparse.coef_pointer(),
        )
        self.sparse.refresh_biases()
