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

Both certificates bound P(w) - min P from above [LePriol18, sec. 3].
"""

from dataclasses import dataclass

import numpy as np

from skcrf_sdca import oracle
from skcrf_sdca._kernels._features import FeatureRows
from skcrf_sdca._kernels._vecmath import inner
from skcrf_sdca.marginals import edge_ends
from skcrf_sdca.model import ChainModel


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
    empirical : ndarray of shape (n_weights,)
        sum_i c_i F(x_i, y_i).
    initial_primal : float
        P(0) = sum_i c_i T_i log n_labels.
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
        n_jobs=None,
    ):
        weight = np.ones(len(data)) if sample_weight is None else sample_weight
        self.weight = weight / weight.sum()
        self.data = data
        self.labels = labels
        self.n_labels = n_labels
        self.alpha = 1.0 / weight.sum() if alpha == "auto" else float(alpha)
        self.boundaries = boundaries
        self.n_jobs = n_jobs
        self.scale = self.weight / self.alpha
        self.rows = FeatureRows(data.X)
        self.offsets = data.offsets
        self.initial_primal = self.weight @ data.lengths * np.log(n_labels)
        self.empirical = self._empirical_features()

    @property
    def n_sequences(self):
        """Number of sequences n."""
        return len(self.weight)

    def new_model(self, w=None):
        """Return a model of the problem's shape, with zero weights by default."""
        return ChainModel(
            self.rows.n_features, self.n_labels, boundaries=self.boundaries, w=w
        )

    def _empirical_features(self):
        node = np.zeros((len(self.labels), self.n_labels))
        node[np.arange(len(node)), self.labels] = 1.0
        edge_total = np.zeros((self.n_labels, self.n_labels))
        position_weight = np.repeat(self.weight, self.data.lengths)
        to = edge_ends(self.offsets)
        np.add.at(
            edge_total, (self.labels[to - 1], self.labels[to]), position_weight[to]
        )
        return self._expected_features(node, edge_total)

    def _expected_features(self, node, edge_total):
        features = self.new_model()
        features.add_expected(self.rows, self.offsets, self.weight, node, edge_total)
        return features.w

    def mean(self, values):
        """Return sum_i c_i values[i]."""
        return inner(self.weight, values)

    def primal_point(self, node, edge_total):
        """Return what(mu) as a flat vector.

        Parameters
        ----------
        node : ndarray of shape (n_positions, n_labels)
            Node marginals of mu.
        edge_total : ndarray of shape (n_labels, n_labels)
            sum_i c_i sum_t edge marginals of mu_i.
        """
        w = self._expected_features(node, edge_total)
        np.subtract(self.empirical, w, out=w)
        w /= self.alpha
        return w

    def dual_to_primal(self, marginals):
        """Return what(mu) as a flat vector; `marginals` as for `certify_dual`."""
        edge_total = marginals.edge_total(self.weight, n_jobs=self.n_jobs)
        return self.primal_point(marginals.node, edge_total)

    def primal(self, w, log_partition):
        """Return P(w), given log Z_i(w) of every sequence."""
        return (
            0.5 * self.alpha * inner(w, w)
            + self.mean(log_partition)
            - inner(w, self.empirical)
        )

    def dual(self, w, entropy):
        """Return D(mu), given w = what(mu) and H(mu_i) of every sequence."""
        return self.mean(entropy) - 0.5 * self.alpha * inner(w, w)

    def certify_dual(self, marginals, entropy):
        """Certify a dual point mu with the primal point it defines.

        Parameters
        ----------
        marginals : Marginals
            mu; in any form that has ``node``, ``edge_total`` and ``expected_scores``.
        entropy : ndarray of shape (n,)
            H(mu_i).

        Returns
        -------
        w : ndarray of shape (n_weights,)
            what(mu), made anew.
        gaps : ndarray of shape (n,)
            g_i; rounding below 0 is cut to 0.
        certificate : Certificate
        """
        w = self.dual_to_primal(marginals)
        model = self.new_model(w)
        scores = model.node_scores(self.rows, self.offsets, n_jobs=self.n_jobs)
        log_partition = oracle.log_partition(
            scores, model.transition, self.offsets, n_jobs=self.n_jobs
        )
        expected = marginals.expected_scores(
            scores, model.transition, n_jobs=self.n_jobs
        )
        gaps = np.maximum(log_partition - expected - entropy, 0.0)
        certificate = Certificate(
            primal=self.primal(w, log_partition),
            dual=self.dual(w, entropy),
            gap=self.mean(gaps),
        )
        return w, gaps, certificate

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
        model = self.new_model(w)
        node, edge_total, log_partition = oracle.expectations(
            model.node_scores(self.rows, self.offsets, n_jobs=self.n_jobs),
            model.transition,
            self.offsets,
            self.weight,
            n_jobs=self.n_jobs,
        )
        gradient = self.alpha * (w - self.primal_point(node, edge_total))
        primal = self.primal(w, log_partition)
        gap = inner(gradient, gradient) / (2.0 * self.alpha)
        return gradient, Certificate(primal=primal, dual=primal - gap, gap=gap)
