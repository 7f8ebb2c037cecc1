"""Preconditioners: linear maps that make the Hessian near the identity.

Owns the map w = S u of L-BFGS and SAG where the features are dense. At w = 0 all labels
have the probability 1/K at every position, independently. The Hessian of the node
weights, with z_t = (x_t, 1), is then

    alpha I + 1/K (G kron (I - 11'/K)),    G = sum_i c_i sum_t z_t z_t^T.

Gradients sum to 0 over the labels of a feature, so that the second factor is 1 for
them: with M = alpha I + G/K = L L^T, S = L^-T makes the Hessian the identity. Start,
end and transition weights take the diagonal. At other weights each label has a G of its
own, see `LocalCurvature`. A sample of the positions gives G: S changes the way to the
optimum and not the problem.
"""

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._kernels.math._vecmath import dense_features, dense_scores
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.parallel import ranges
from skcrf_sdca._utils.sklearn_private import one_blas_thread

# Limits of the inversion of M, in d^3 steps: the number d of features, and the
# positions per feature, beside which the factor is small.
MAX_FEATURES = 1024
LEAST_RATIO = 8
# Largest number of features for a block per label, and for whitening.
MAX_LOCAL_FEATURES = 256
# Directions of features with a smaller share of the largest moment are not stretched
# further: they would be noise of the size of the others.
LEAST_MOMENT = 1e-2
# Positions of the sample: for each feature, and at least.
POSITIONS_PER_FEATURE = 10
MIN_POSITIONS = 2048
# Positions whose products are added at once.
BLOCK = 512


class Curvature:
    """The map w = S u, with S^T H S near the identity at w = 0.

    The Chain has dense rows, see `suits`, ``weight`` holds c_i, and ``strength`` is the
    strength of the L2 penalty.
    """

    def __init__(self, structure, weight, strength):
        self.new_parameters = structure.new_parameters
        n_labels, lengths = structure.n_labels, structure.data.lengths
        moments = _moments(structure.data, np.repeat(weight, lengths))
        moments /= n_labels
        self.inverse_factor = _inverse_factor(_shifted(moments, strength))
        self.of_start = self.of_end = 1.0 / np.sqrt(strength + 1.0 / n_labels)
        n_edges = weight @ np.maximum(lengths - 1, 0)
        self.of_transition = 1.0 / np.sqrt(strength + n_edges / n_labels**2)

    @staticmethod
    def suits(structure):
        """Return whether the features are dense, and few beside the positions."""
        data = structure.data
        return (
            not sp.issparse(data.X)
            and structure.pairs is None
            and 0 < data.n_features <= MAX_FEATURES
            and data.n_positions >= LEAST_RATIO * data.n_features
        )

    def times(self, u):
        """Return S u."""
        return self._mapped(u, self._by_columns)

    def transposed_times(self, gradient):
        """Return S^T times a gradient."""
        return self._mapped(gradient, self._by_rows)

    def _by_rows(self, nodes):
        out = np.zeros_like(nodes)
        dense_scores(self.inverse_factor, nodes, out)
        return out

    def _by_columns(self, nodes):
        out = np.zeros_like(nodes)
        dense_features(1.0, self.inverse_factor, nodes, out)
        return out

    def _mapped(self, vector, of_nodes):
        given, found = self.new_parameters(vector), self.new_parameters()
        out = of_nodes(np.vstack([given.coef, given.intercept]))
        found.coef[:], found.intercept[:] = out[:-1], out[-1]
        found.start[:] = self.of_start * given.start
        found.end[:] = self.of_end * given.end
        found.transition[:] = self.of_transition * given.transition
        return found.w


class LocalCurvature(Curvature):
    """The map w = S u, with S^T H S nearer to the identity at given weights.

    H is taken apart label by label: with p_t the node marginals at the weights, the
    block of label k is

        alpha I + sum_i c_i sum_t p_tk (1 - p_tk) z_t z_t^T.

    Labels differ by orders of magnitude: rare or certain labels have little curvature.
    The blocks between labels are left out, and the other weights have the diagonal, as
    if all edges of a pair of labels had the same probability.
    """

    def __init__(self, structure, weight, strength, parameters):
        self.new_parameters = structure.new_parameters
        offsets, data = structure.offsets, structure.data
        node = np.empty((data.n_positions, structure.n_labels))
        tied = 0.0
        for begin, end in ranges(offsets):
            scores = structure.scores(parameters, begin, end)
            local, of_range, _ = scores.expectations(weight[begin:end])
            node[offsets[begin] : offsets[end]] = local
            tied = tied + of_range
        node *= 1.0 - node
        np.maximum(node, 0.0, out=node)
        of_position = np.repeat(weight, data.lengths)
        self.inverse_factors = np.array(
            [
                _inverse_factor(
                    _shifted(_moments(data, of_position * of_label), strength)
                )
                for of_label in node.T
            ]
        )
        kept = np.flatnonzero(data.lengths)
        self.of_start, self.of_end = (
            1.0 / np.sqrt(strength + weight[kept] @ node[bounds[kept] - last])
            for bounds, last in ((offsets[:-1], 0), (offsets[1:], 1))
        )
        n_edges = max(tied.sum(), np.finfo(float).tiny)
        spread = np.maximum(tied * (1.0 - tied / n_edges), 0.0)
        self.of_transition = 1.0 / np.sqrt(strength + spread)

    @staticmethod
    def suits(structure):
        """Return whether the features are so few that each label can have a block."""
        n_features = structure.data.n_features
        return Curvature.suits(structure) and n_features <= MAX_LOCAL_FEATURES

    def _by_rows(self, nodes):
        return np.einsum("kij,jk->ik", self.inverse_factors, nodes)

    def _by_columns(self, nodes):
        return np.einsum("kij,ik->jk", self.inverse_factors, nodes)


class Whitening:
    """A preconditioner of steps along gradients of single sequences.

    Visits see weights u, w = S u, and features x' = S^T x. With alpha I + G/K = Q
    Lambda Q^T and S = c Q Lambda^(-1/2) the columns of S are orthogonal, so that the
    penalty stays a sum of squares:

        ||w||^2 = sum_j rates_j ||u_j||^2,    rates_j = c^2 / Lambda_j.

    At w = 0 the curvature is c^2 for u, with T the mean length T/K for intercepts, and
    T/K^2 for transition weights: c^2 is the geometric mean of the latter two. Start,
    end and transition weights and intercepts stay as they are. ``structure`` has the
    features x', in double precision.
    """

    def __init__(self, structure, weight, strength):
        data, n_labels = structure.data, structure.n_labels
        check_fits(
            8 * data.X.size,
            f"the whitened features of SAGNUSCRF, {data.X.shape[1]} at each of "
            f"{data.X.shape[0]} positions,",
            "take fewer features",
        )
        moments = _moments(data, np.repeat(weight, data.lengths))[:-1, :-1] / n_labels
        # The bits of LAPACK depend on its threads.
        with one_blas_thread():
            values, vectors = np.linalg.eigh(_shifted(moments, strength))
        values = np.maximum(values, LEAST_MOMENT * values[-1])
        size = weight @ data.lengths / n_labels**1.5
        self.rates = size / values
        self.map = np.ascontiguousarray(vectors * np.sqrt(self.rates))
        self.inverse = np.ascontiguousarray((vectors / np.sqrt(self.rates)).T)
        rows = np.zeros(data.X.shape)
        dense_scores(data.X, self.map, rows)
        self.structure = structure.with_rows(rows)

    @staticmethod
    def suits(structure):
        """Return whether the features are dense, and few."""
        return LocalCurvature.suits(structure)

    def weights_of(self, u, out):
        """Write w = S u; both are parameters."""
        _mapped_coef(self.map, u, out)

    def point_of(self, w, out):
        """Write u, with w = S u."""
        _mapped_coef(self.inverse, w, out)

    def dual_point_of(self, target, out):
        """Write w_hat(mu), given S^T w_hat(mu)."""
        _mapped_coef(self.inverse.T.copy(), target, out)

    def target_of(self, dual_point, out):
        """Write S^T w_hat(mu)."""
        _mapped_coef(self.map.T.copy(), dual_point, out)


def _mapped_coef(matrix, given, out):
    """Write parameters with matrix @ coef in place of coef."""
    out.biases[:] = given.biases
    out.coef[:] = 0.0
    dense_scores(matrix, given.coef, out.coef)


def _shifted(matrix, shift):
    """Return a matrix with a number added to its diagonal, in place."""
    matrix[np.diag_indices_from(matrix)] += shift
    return matrix


def _moments(data, weight):
    """Return an estimate of sum_t weight[t] z_t z_t^T from a sample of positions.

    Positions are drawn in proportion to their weight, at even distances of its sum: the
    sample is the same in every fit, and the result depends on the data alone.
    """
    n_positions, n_features = data.X.shape
    size = max(MIN_POSITIONS, POSITIONS_PER_FEATURE * n_features)
    if size < n_positions:
        sums = np.cumsum(weight)
        evenly = sums[-1] * (np.arange(size) + 0.5) / size
        sample = np.minimum(np.searchsorted(sums, evenly), n_positions - 1)
        weight = np.full(size, sums[-1] / size)
    else:
        sample = np.arange(n_positions)
    moments = np.zeros((n_features + 1, n_features + 1))
    for begin in range(0, len(sample), BLOCK):
        chosen = slice(begin, begin + BLOCK)
        rows = np.ones((len(sample[chosen]), n_features + 1))
        rows[:, :-1] = data.X[sample[chosen]]
        # Not by BLAS, whose bits depend on its threads.
        dense_features(1.0, rows, weight[chosen, None] * rows, moments)
    return moments


def _inverse_factor(matrix):
    """Return L^-1, lower triangular, for a positive definite matrix L L^T.

    Row by row: L_i = L^-1 A_i by the rows before.
    """
    n = len(matrix)
    inverse = np.zeros((n, n))
    tiny = np.finfo(float).eps * matrix.diagonal()
    for i in range(n):
        above = inverse[:i, :i]
        row = np.einsum("jk,k->j", above, matrix[i, :i])
        pivot = np.sqrt(max(matrix[i, i] - np.einsum("j,j->", row, row), tiny[i]))
        inverse[i, :i] = np.einsum("j,jk->k", row, above) / -pivot
        inverse[i, i] = 1.0 / pivot
    return inverse
