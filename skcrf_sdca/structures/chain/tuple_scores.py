"""Scores of chains of higher order: what is asked of labels is answered by states.

`TupleScores` has the methods of `Chains` that predictions need. Labels go in and come
out; a `Chains` over states does the work.
"""

from functools import lru_cache

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from skcrf_sdca._kernels._tuple_structure import complete_rows
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.structures.chain.chains import Chains, known_log_likelihood
from skcrf_sdca.structures.chain.constraints import Constraints
from skcrf_sdca.structures.chain.parameters import ChainParameters
from skcrf_sdca.structures.chain.tuples import LabelTuples


class FittedTuples:
    """The weights of a fitted estimator of higher order, for predictions.

    Parameters
    ----------
    estimator : estimator or LabelWeights
    labels : ChainParameters
        The weights of the estimator but those of tuples, for the features of X.
    tuples : LabelTuples, default=None
        Tuples that have a place for all of the weights; by default the shortest, in
        the order of their last labels.
    """

    def __init__(self, estimator, labels, tuples=None):
        self.labels, self.edge_coef = labels, estimator.edge_coef_
        weights = estimator.transition_, *estimator.higher_transitions_
        n_labels, order = len(estimator.intercept_), len(weights)
        if tuples is None:
            longest = order if self.edge_coef is None else max(order, 2)
            allowed = estimator.transition_ != -np.inf
            tuples = _tuples_of(
                n_labels,
                longest,
                allowed.tobytes(),
                longest_have_weights=order == longest,
                by_last_label=True,
            )
        self.tuples = tuples
        if self.edge_coef is not None:
            pairs = self.tuples.of_length(2)
            before, label = self.tuples.tuples[pairs, -2:].T.astype(np.int64)
            self.edge_coef = self.edge_coef[before * n_labels + label]
        # The weight of each tuple itself; those of single labels depend on X.
        self.of_tuple = np.zeros(len(self.tuples))
        for m, values in zip(range(2, tuples.order + 1), weights, strict=False):
            rows = self.tuples.of_length(m)
            self.of_tuple[rows] = values[tuple(self.tuples.tuples[rows, -m:].T)]
        allowed = self.tuples.layout.compact(self.tuples.constraints.transition)
        self.between = np.where(allowed.reshape(-1), 0.0, -np.inf)
        index = tuple(self.tuples.transition_tuples.T)
        if order == tuples.order:
            self.between[self.tuples.has_weight] = weights[-1][index]

    @classmethod
    def of_fitted(cls, estimator, X):
        """Return the weights of a fitted estimator for the features in X, and X."""
        labels, used = ChainParameters.of_fitted(estimator, X)
        fitted = cls(estimator, labels)
        fitted.X = X
        return fitted, used

    def scores(self, rows, offsets, begin, end, *, temperature=1.0):
        """Return the TupleScores of begin <= i < end, of scores over a temperature."""
        tuples, layout = self.tuples, self.tuples.layout
        labels = self.labels.scores(rows, offsets, begin, end, temperature=temperature)
        n_positions = len(labels.node_scores)
        check_fits(
            8 * n_positions * len(tuples),
            f"the scores of {n_positions} positions and {len(tuples)} tuples of labels",
            "cut long sequences into shorter ones",
        )
        node_scores = np.empty((n_positions, len(tuples)))
        node_scores[:] = self.of_tuple / temperature
        node_scores[:, : tuples.n_labels] = labels.node_scores
        if self.edge_coef is not None:
            pairs = tuples.of_length(2)
            node_scores[:, pairs] += (
                self._edge_scores(offsets, begin, end) / temperature
            )
        complete_rows(tuples.suffix, node_scores)
        # A sequence begins with a tuple of one label.
        first = labels.offsets[:-1][np.diff(labels.offsets) > 0]
        node_scores[first, tuples.n_labels :] = -np.inf
        states = Chains(
            node_scores,
            (self.between / temperature).reshape(layout.shape),
            labels.offsets,
            layout=layout,
        )
        return TupleScores(tuples, states)

    def _edge_scores(self, offsets, begin, end):
        """Return the scores of the edge features, (n_positions, tuples of two)."""
        scores = self.X[offsets[begin] : offsets[end]] @ self.edge_coef.T
        return scores.toarray() if sp.issparse(scores) else scores


@lru_cache(maxsize=8)
def _tuples_of(n_labels, order, allowed, **options):
    """Return the tuples that the bytes of a matrix of bool allow."""
    transition = np.frombuffer(allowed, dtype=bool).reshape(n_labels, n_labels)
    anywhere = np.ones(n_labels, dtype=bool)
    constraints = Constraints(anywhere, anywhere, transition)
    return LabelTuples(n_labels, order, constraints, **options)


class TupleScores:
    """Scores of n chains of higher order; the methods are those of `Chains`.

    Parameters
    ----------
    tuples : LabelTuples
    states : Chains
        The chains over states.

    Attributes
    ----------
    offsets : ndarray of shape (n + 1,), int64
    node_scores : ndarray of shape (n_positions, n_states)
    """

    def __init__(self, tuples, states):
        self.tuples, self.states = tuples, states
        self.offsets, self.node_scores = states.offsets, states.node_scores

    def __len__(self):
        """Return the number of chains."""
        return len(self.states)

    def _with_scores(self, node_scores):
        """Return chains with other scores of states."""
        states = self.states
        return TupleScores(
            self.tuples,
            Chains(
                node_scores, states.transition, states.offsets, layout=states.layout
            ),
        )

    def _labels(self, states):
        return self.tuples.label[states]

    def log_partition(self):
        """Return log Z, an array (n,)."""
        return self.states.log_partition()

    def viterbi(self):
        """Return the best paths of all chains, end to end, and their scores."""
        paths, scores = self.states.viterbi()
        return self._labels(paths), scores

    def _by_label(self, values):
        """Return sums of values (n_positions, n_states) by the last label."""
        out = np.zeros((len(values), self.tuples.n_labels))
        for k in range(self.tuples.n_labels):
            values[:, self.tuples.label == k].sum(axis=1, out=out[:, k])
        return np.minimum(out, 1.0, out=out)

    def node_marginals(self):
        """Return the node marginals (n_positions, n_labels), and log Z."""
        node, log_z = self.states.node_marginals()
        return self._by_label(node), log_z

    def log_node_marginals(self):
        """Return the logarithms of the node marginals, which do not underflow."""
        node, label = self.states.log_node_marginals(), self.tuples.label
        with np.errstate(divide="ignore"):
            columns = [
                logsumexp(node[:, label == k], axis=1)
                for k in range(self.tuples.n_labels)
            ]
        return np.minimum(np.column_stack(columns), 0.0)

    def pair_marginals(self):
        """Return the edge marginals of all chains, and where those of each begin."""
        marginals, _ = self.states.marginals()
        tuples, layout, n = self.tuples, self.states.layout, self.tuples.n_labels
        edge = marginals.edge.reshape(len(marginals.edge), layout.size)
        out = np.zeros((len(edge), n * n))
        pair = tuples.label[layout.sources] * n + tuples.label[layout.targets]
        for j in np.unique(pair):
            edge[:, pair == j].sum(axis=1, out=out[:, j])
        np.minimum(out, 1.0, out=out)
        return out.reshape(-1, n, n), marginals.edge_offsets

    def posterior(self):
        """Return the paths with the largest expected accuracy, and log Z."""
        node, log_z = self.node_marginals()
        states = self.states
        if self.tuples.allow_every_path():
            return node.argmax(axis=1).astype(np.int32), log_z
        possible = Chains(
            np.ascontiguousarray(node[:, self.tuples.label]),
            np.where(states.transition == -np.inf, -np.inf, 0.0),
            states.offsets,
            layout=states.layout,
        )
        possible.node_scores[states.node_scores == -np.inf] = -np.inf
        return self._labels(possible.viterbi()[0]), log_z

    def clamped(self, labels):
        """Return chains that forbid all labels but the known ones (not negative)."""
        labels = np.asarray(labels)[:, np.newaxis]
        other = (labels >= 0) & (labels != self.tuples.label)
        return self._with_scores(np.where(other, -np.inf, self.node_scores))

    def restricted(self, position, labels):
        """Return chains that forbid all labels but these at a position."""
        scores = self.node_scores.copy()
        scores[position, ~np.isin(self.tuples.label, labels)] = -np.inf
        return self._with_scores(scores)

    def log_likelihood(self, labels, known=None):
        """Return log p(y | x) of one path of each chain; a label < 0 is impossible.

        If some are not ``known``, the probability is summed over these.
        """
        if known is not None:
            return known_log_likelihood(self, labels, known)
        states = self.tuples.states(labels, self.offsets)
        return self.states.log_likelihood(states)

    def n_best(self, n):
        """Return for each chain its n best paths (n_paths, T), and their scores."""
        paths, scores = self.states.n_best(n)
        return [self._labels(path) for path in paths], scores

    def sample(self, uniform):
        """Return draws from p(y | x), (n_positions, n_draws), of as many numbers."""
        return self._labels(self.states.sample(uniform))

    def span_probabilities(self, spans, labels):
        """Return the probability that each span has its labels; < 0 is unknown."""
        # p(labels of a span) = Z of the paths that have them / Z
        log_z = self.log_partition()
        lengths = spans[:, 2] - spans[:, 1]
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        values = np.zeros(len(spans))
        for s, (i, begin, end) in enumerate(spans):
            own = labels[bounds[s] : bounds[s + 1]]
            if (own >= 0).all():
                known = np.full(np.diff(self.offsets)[i], -1)
                known[begin:end] = own
                part = self._only(i).clamped(known)
                values[s] = np.exp(part.log_partition()[0] - log_z[i])
        return np.minimum(values, 1.0)

    def _only(self, i):
        """Return chain i alone."""
        states, (first, last) = self.states, self.offsets[[i, i + 1]]
        return TupleScores(
            self.tuples,
            Chains(
                states.node_scores[first:last],
                states.transition,
                np.array([0, last - first]),
                layout=states.layout,
            ),
        )

    def typed_span_probabilities(self, spans, types, label_types, joins):
        """Return the probability that each span of a type stands where it is."""
        label = self.tuples.label
        return self.states.typed_span_probabilities(
            spans,
            types,
            np.ascontiguousarray(label_types[label]),
            np.ascontiguousarray(joins[np.ix_(label, label)]).view(np.uint8),
        )
