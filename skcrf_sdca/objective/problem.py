"""The training problem: THE formulas, with their scaling, written once.

n sequences with weights c_i that sum to 1 (1/n each unless sample weights are given),
labels y_i, and a model with weights w; every block of w is regularised:

    P(w)     = alpha/2 ||w||^2 + sum_i c_i ( log Z_i(w) - score_i(y_i) )      minimised
    D(mu)    = sum_i c_i H(mu_i) - alpha/2 ||what(mu)||^2                     maximised
    what(mu) = 1/alpha sum_i c_i ( F(x_i, y_i) - E_{mu_i} F(x_i, .) )

with H the entropy of a chain (marginals.py) and F the features (model.py). Then

    grad P(w) = alpha ( w - what(p(. | x; w)) ),
    P(w) - D(mu) = sum_i c_i g_i      at w = what(mu),
    g_i = KL(mu_i || p(. | x_i; w)) = log Z_i - <mu_i, scores_i> - H(mu_i).

Both certificates bound P(w) - min P from above [LePriol18, sec. 3]. Full passes go over
ranges of sequences, so that what they hold for every position is small.
"""

from dataclasses import dataclass

import numpy as np

from skcrf_sdca._kernels._chains import path_scores
from skcrf_sdca._kernels._features import FeatureRows
from skcrf_sdca._kernels._vecmath import inner
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.parallel import each_range, over_ranges, ranges
from skcrf_sdca.structures.chain import oracle
from skcrf_sdca.structures.chain.marginals import edge_ends
from skcrf_sdca.structures.chain.parameters import ChainModel, range_scores

NOT_FINITE = (
    "the objective is not finite: scale the features in X, or take a larger alpha"
)


@dataclass(frozen=True)
class Certificate:
    """How far from the optimum: primal - optimum <= gap = primal - dual.

    Attributes
    ----------
    primal, dual, gap : float
        In nats, averaged over sequences.
    """

    primal: float
    dual: float
    gap: float


class Problem:
    """A CRF training problem: packed sequences, their labels, and alpha.

    Parameters
    ----------
    data : PackedSequences
        n sequences.
    labels : ndarray of shape (n_positions,), int
        In 0..n_labels-1.
    n_labels : int
    alpha : float or "auto"
        Strength of the regularisation, > 0; "auto" is 1/n, or 1 / sum(sample_weight).
    sample_weight : ndarray of shape (n,), default=None
        Not negative, with a positive sum; only their ratios count.
    boundaries : bool, default=True
        Whether start, end and transition weights exist.
    allowed : Allowed, default=None
        What is not allowed has probability 0 under every w, and its weights, which do
        not count, are 0; None if nothing is forbidden.
    n_jobs : int, default=None
        Threads of the full passes.

    Attributes
    ----------
    weight : ndarray of shape (n,)
        c_i.
    scale : ndarray of shape (n,)
        c_i / alpha, by which the features of mu_i enter what(mu).
    rows : FeatureRows
    offsets : ndarray of shape (n + 1,), int64
    edge_counts : ndarray of shape (n_labels, n_labels)
        sum_i c_i times how often the labels y_i go from one to the other.
    mean_length : float
        sum_i c_i T_i.
    initial_primal : float
        P(0) = sum_i c_i log(number of allowed paths of length T_i), which is
        mean_length * log n_labels if nothing is forbidden.

    Raises
    ------
    ValueError
        If labels do not have this shape, or are not in this range; or if alpha is too
        small to divide by.
    """

    def __init__(
        self,
        data,
        labels,
        n_labels,
        alpha,
        *,
        sample_weight=None,
        boundaries=True,
        allowed=None,
        n_jobs=None,
    ):
        _check_labels(labels, data, n_labels)
        weight = np.ones(len(data)) if sample_weight is None else sample_weight
        self.weight = weight / weight.sum()
        self.data = data
        self.labels = labels
        self.n_labels = n_labels
        self.alpha = 1.0 / weight.sum() if alpha == "auto" else float(alpha)
        self.boundaries = boundaries
        self.allowed = allowed
        self.n_jobs = n_jobs
        with np.errstate(over="ignore"):
            self.scale = self.weight / self.alpha
        if np.isinf(self.scale).any():
            raise ValueError(NOT_FINITE)
        self.rows = FeatureRows(data.X)
        self.offsets = data.offsets
        self.mean_length = self.weight @ data.lengths
        self.initial_primal = self.mean_length * np.log(n_labels)
        self._check_memory()
        if allowed is not None:
            self.initial_primal = self.weight @ allowed.log_counts(data.lengths)
        self.edge_counts = self._count_edges()

    @property
    def n_sequences(self):
        """Number of sequences n."""
        return len(self.weight)

    def new_model(self, w=None):
        """Return a model of the problem's shape, with zero weights by default."""
        return ChainModel(
            self.rows.n_features, self.n_labels, boundaries=self.boundaries, w=w
        )

    def _check_memory(self):
        """Refuse a model that clearly does not fit, whatever the solver."""
        n_features, n_labels = self.rows.n_features, self.n_labels
        longest = int(self.data.lengths.max(initial=0))
        # The weights, edge_counts, and the buffers for one chain.
        n_numbers = n_labels * (n_features + 3 * longest) + 5 * n_labels**2
        check_fits(
            8 * n_numbers,
            f"a model of {n_labels} labels and {n_features} features",
            "join labels that are rare (are all values in y labels?) or take fewer "
            "features",
        )

    def _count_edges(self):
        counts = np.zeros((self.n_labels, self.n_labels))
        for begin, end in ranges(self.offsets):
            own = self.offsets[begin : end + 1]
            labels = self.labels[own[0] : own[-1]]
            weight = np.repeat(self.weight[begin:end], np.diff(own))
            to = edge_ends(own - own[0])
            np.add.at(counts, (labels[to - 1], labels[to]), weight[to])
        return counts

    def mean(self, values):
        """Return sum_i c_i values[i]."""
        return inner(self.weight, values)

    def _add_to_primal_point(self, model, begin, end, node):
        """Add what(mu) of sequences begin <= i < end, but for the edges.

        ``node`` are their node marginals; it is overwritten.
        """
        first, last = self.offsets[begin], self.offsets[end]
        np.negative(node, out=node)
        node[np.arange(last - first), self.labels[first:last]] += 1.0
        weights = model.weights()
        weights.add_changes(self.rows, self.offsets, begin, end, self.scale, node)

    def _add_edges_to_primal_point(self, model, edge_total):
        """Add the edges of what(mu), given sum_i c_i sum_t edge marginals of mu_i."""
        if self.boundaries:
            model.transition += (self.edge_counts - edge_total) / self.alpha

    def dual_to_primal(self, node, edge_total, out=None):
        """Return what(mu) as a flat vector.

        Parameters
        ----------
        node : ndarray of shape (n_positions, n_labels)
            Node marginals of mu.
        edge_total : ndarray of shape (n_labels, n_labels)
            sum_i c_i sum_t edge marginals of mu_i.
        out : ndarray of shape (n_weights,), default=None
            Where to write it.
        """
        model = self.new_model(out)
        model.w[:] = 0.0
        for begin, end in ranges(self.offsets):
            part = node[self.offsets[begin] : self.offsets[end]].copy()
            self._add_to_primal_point(model, begin, end, part)
        self._add_edges_to_primal_point(model, edge_total)
        return model.w

    def _scores(self, model, begin, end):
        """Return node scores, transition and offsets of sequences begin <= i < end."""
        scores, offsets = range_scores(
            self.rows, self.offsets, model.weights(), begin, end
        )
        for values in (scores, model.transition):
            if not values.max(initial=0.0) < np.inf:
                raise ValueError(NOT_FINITE)
        return scores, model.transition, offsets

    def _allowed(self, *chains):
        """Return chains with -inf where something is forbidden, for the oracle."""
        return chains if self.allowed is None else self.allowed.forbid(*chains)

    def _losses(self, log_partition, begin, end, scores, transition, offsets):
        """Return log Z_i - score_i(y_i) of sequences begin <= i < end."""
        paths = self.labels[self.offsets[begin] : self.offsets[end]]
        of_labels = np.empty(end - begin)
        path_scores(paths, offsets, scores, transition, of_labels)
        return log_partition - of_labels

    def primal(self, w, losses):
        """Return P(w), given log Z_i - score_i(y_i) of every sequence."""
        return 0.5 * self.alpha * inner(w, w) + self.mean(losses)

    def dual(self, w, entropy):
        """Return D(mu), given w = what(mu) and H(mu_i) of every sequence."""
        return self.mean(entropy) - 0.5 * self.alpha * inner(w, w)

    def certify_dual(self, w, node, edge_total, entropy):
        """Certify a dual point mu with the primal point it defines.

        Parameters
        ----------
        w : ndarray of shape (n_weights,)
            what(mu).
        node, edge_total
            mu, as for `dual_to_primal`.
        entropy : ndarray of shape (n,)
            H(mu_i).

        Returns
        -------
        certificate : Certificate
            Its gap is sum_i c_i g_i; rounding below 0 is cut to 0.
        """
        model = self.new_model(w)

        def run(begin, end):
            chains, log_partition, losses = self._primal_pass(model, begin, end)
            return losses, log_partition, self._of_nodes(node, begin, end, chains[0])

        parts = over_ranges(run, self.offsets, self.n_jobs)
        losses, log_partition, of_nodes = zip(*parts, strict=True)
        expected = sum(of_nodes) + inner(edge_total.ravel(), model.transition.ravel())
        gap = self.mean(np.concatenate(log_partition) - entropy) - expected
        return Certificate(
            primal=self.primal(w, np.concatenate(losses)),
            dual=self.dual(w, entropy),
            gap=max(gap, 0.0),
        )

    def certify_kept(self, w, entropy):
        """Certify a dual point that is far from the optimum, by its two objectives.

        Half the price of `certify_dual`, where the entropies are at hand; the gap has
        the rounding of P and D.

        Parameters
        ----------
        w : ndarray of shape (n_weights,)
            what(mu).
        entropy : ndarray of shape (n,)
            H(mu_i).

        Returns
        -------
        certificate : Certificate
        """
        primal, dual = self.primal(w, self._all_losses(w)), self.dual(w, entropy)
        return Certificate(primal=primal, dual=dual, gap=primal - dual)

    def _primal_pass(self, model, begin, end):
        """Return chains, log Z_i and losses of sequences begin <= i < end."""
        chains = self._scores(model, begin, end)
        log_partition = oracle.log_partition(*self._allowed(*chains))
        return chains, log_partition, self._losses(log_partition, begin, end, *chains)

    def _of_nodes(self, node, begin, end, scores):
        """Return sum_i c_i <node_i, scores_i> of sequences begin <= i < end."""
        part = slice(self.offsets[begin], self.offsets[end])
        weight = np.repeat(self.weight[begin:end], self.data.lengths[begin:end])
        return float(np.einsum("t,tk,tk->", weight, node[part], scores))

    def certify_primal(self, w):
        """Certify a primal point w; the gap is ||grad P(w)||^2 / (2 alpha).

        Parameters
        ----------
        w : ndarray of shape (n_weights,)

        Returns
        -------
        gradient : ndarray of shape (n_weights,)
            grad P(w).
        certificate : Certificate
        """
        target, losses = self._expected_pass(w)
        gradient = np.subtract(w, target, out=target)
        gradient *= self.alpha
        primal = self.primal(w, losses)
        gap = inner(gradient, gradient) / (2.0 * self.alpha)
        return gradient, Certificate(primal=primal, dual=primal - gap, gap=gap)

    def expected_point(self, w):
        """Return what(p(. | x; w)), and the mean loss at w.

        All that a part of a larger problem adds to its gradient and objective.

        Parameters
        ----------
        w : ndarray of shape (n_weights,)

        Returns
        -------
        point : ndarray of shape (n_weights,)
        loss : float
            sum_i c_i (log Z_i(w) - score_i(y_i)).
        """
        point, losses = self._expected_pass(w)
        return point, self.mean(losses)

    def mean_loss(self, w):
        """Return sum_i c_i (log Z_i(w) - score_i(y_i)).

        Parameters
        ----------
        w : ndarray of shape (n_weights,)
        """
        return self.mean(self._all_losses(w))

    def _all_losses(self, w):
        """Return log Z_i(w) - score_i(y_i) of every sequence."""
        model = self.new_model(w)

        def run(begin, end):
            return self._primal_pass(model, begin, end)[-1]

        return np.concatenate(over_ranges(run, self.offsets, self.n_jobs))

    def _expected_pass(self, w):
        """Return what(p(. | x; w)), and the loss of every sequence at w."""
        model, target = self.new_model(w), self.new_model()
        edge_total = np.zeros_like(self.edge_counts)
        losses = []

        def run(begin, end):
            chains = self._scores(model, begin, end)
            node, edges, log_partition = oracle.expectations(
                *self._allowed(*chains), self.weight[begin:end]
            )
            return node, edges, self._losses(log_partition, begin, end, *chains)

        # Sums over ranges are made in their order: the bits do not depend on n_jobs.
        passes = each_range(run, self.offsets, self.n_jobs)
        for (begin, end), (node, edges, losses_of_part) in zip(
            ranges(self.offsets), passes, strict=True
        ):
            self._add_to_primal_point(target, begin, end, node)
            edge_total += edges
            losses.append(losses_of_part)
        self._add_edges_to_primal_point(target, edge_total)
        return target.w, np.concatenate(losses)


def _check_labels(labels, data, n_labels):
    shape = (data.n_positions,)
    in_range = labels.min(initial=0) >= 0 and labels.max(initial=0) < n_labels
    if labels.shape != shape or not in_range:
        raise ValueError(
            f"labels must have shape {shape} and be in 0..{n_labels - 1}; got shape "
            f"{labels.shape}"
        )
