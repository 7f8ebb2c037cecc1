"""Scores of chains of higher order: states answer questions about labels."""

from functools import lru_cache

import numpy as np

from skcrf_sdca._kernels.math._sparse_transitions import FEW, LEAST_LABELS
from skcrf_sdca._kernels.visits._tying import complete_rows
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.chain.constraints import Constraints
from skcrf_sdca.structures.chain.tuples import LabelTuples, neighbours_with_weights
from skcrf_sdca.structures.scores import Scores


class TupleWeights:
    """The weights of tuples of labels of a fitted model, for predictions.

    ``by_length`` has the weights of tuples of 2, 3, ... labels, and ``has_edge`` says
    which pairs have weights of edge features, None without these. ``tuples`` have a
    place for all of the weights; by default they are the shortest, in the order of
    their last labels.
    """

    def __init__(self, by_length, has_edge=None, tuples=None):
        order = len(by_length)
        if tuples is None:
            longest = order if has_edge is None else max(order, 2)
            tuples = _tuples_of(
                len(by_length[0]),
                longest,
                (by_length[0] != -np.inf).tobytes(),
                _bytes_of_few(by_length, has_edge, longest + 1),
                longest_have_weights=order == longest,
                by_last_label=True,
            )
        self.tuples = tuples
        # The weight of each tuple itself; weights of single labels depend on X.
        self.of_tuple = tuples.weights_of_states(by_length)
        allowed = self.tuples.layout.compact(self.tuples.constraints.transition)
        self.between = np.where(allowed.reshape(-1), 0.0, -np.inf)
        self.between[tuples.has_weight] = tuples.weights_of_transitions(by_length)

    def pairs(self):
        """Return before * n_labels + label of the tuples of two labels."""
        own = self.tuples.of_length(2)
        before, label = self.tuples.tuples[own, -2:].T.astype(np.int64)
        return before * self.tuples.n_labels + label

    def scores(self, labels, edges, offsets, temperature):
        """Return the TupleScores of scores of labels, over the temperature.

        ``edges`` are those of edge features of `pairs`, over the temperature too, or
        None.
        """
        tuples, layout, n_positions = self.tuples, self.tuples.layout, len(labels)
        check_fits(
            8 * n_positions * len(tuples),
            f"the scores of {n_positions} positions and {len(tuples)} tuples of labels",
            "cut long sequences into shorter ones",
        )
        node_scores = np.empty((n_positions, len(tuples)))
        node_scores[:] = self.of_tuple / temperature
        node_scores[:, : tuples.n_labels] = labels
        if edges is not None:
            node_scores[:, tuples.of_length(2)] += edges
        complete_rows(tuples.suffix, node_scores)
        # A sequence begins with a tuple of one label.
        first = offsets[:-1][np.diff(offsets) > 0]
        node_scores[first, tuples.n_labels :] = -np.inf
        between = (self.between / temperature).reshape(layout.shape)
        return TupleScores(tuples, node_scores, between, offsets, layout=layout)


def _bytes_of_few(by_length, has_edge, longest):
    """Return the bytes of the tuples with a weight, or None if many of all have one.

    The arguments are as of `neighbours_with_weights`.
    """
    n_labels = len(by_length[0])
    if n_labels < LEAST_LABELS:
        return None
    n_weights = sum(np.count_nonzero(own) for own in by_length)
    if n_weights > FEW * n_labels ** (len(by_length) + 1):
        return None
    return neighbours_with_weights(by_length, has_edge, longest).tobytes()


@lru_cache(maxsize=8)
def _tuples_of(n_labels, order, allowed, observed, **options):
    """Return the tuples that the bytes of a matrix of bool allow.

    ``observed`` are the bytes of `_bytes_of_few`.
    """
    if observed is not None:
        observed = np.frombuffer(observed, dtype=int).reshape(-1, order + 1)
    transition = np.frombuffer(allowed, dtype=bool).reshape(n_labels, n_labels)
    anywhere = np.ones(n_labels, dtype=bool)
    constraints = Constraints(anywhere, anywhere, transition)
    return LabelTuples(n_labels, order, constraints, observed=observed, **options)


class TupleScores(Chains):
    """Scores of n chains of higher order: of states in, of labels out."""

    def __init__(self, tuples, *scores, **options):
        super().__init__(*scores, **options)
        self.tuples = tuples

    def _new(self, local, tied, begin, end):
        offsets = self.offsets[begin : end + 1] - self.offsets[begin]
        return TupleScores(self.tuples, local, tied, offsets, layout=self.layout)

    @property
    def label_of(self):
        """The last label of each state."""
        return self.tuples.label

    @property
    def _label_of_ties(self):
        return self.tuples.label_of_ties

    def viterbi(self):
        """Return the best paths of all chains, end to end, and their scores."""
        paths, scores = super().viterbi()
        return self.label_of[paths], scores

    def node_marginals(self):
        """Return the node marginals (n_positions, n_labels), and log Z."""
        node, log_z = super().node_marginals()
        out = np.zeros((len(node), self.tuples.n_labels))
        for k in range(self.tuples.n_labels):
            node[:, self.label_of == k].sum(axis=1, out=out[:, k])
        return np.minimum(out, 1.0, out=out), log_z

    def log_node_marginals(self):
        """Return the logarithms of the node marginals, which do not underflow."""
        # Only here, and below: a server has other answers with NumPy alone.
        from scipy.special import logsumexp

        node = super().log_node_marginals()
        with np.errstate(divide="ignore"):
            columns = [
                logsumexp(node[:, self.label_of == k], axis=1)
                for k in range(self.tuples.n_labels)
            ]
        return np.minimum(np.column_stack(columns), 0.0)

    def pair_marginals(self):
        """Return the edge marginals of all chains, and their bounds for each chain."""
        from scipy.sparse import csr_array

        marginals, _ = self._with_every_pair().marginals()
        label, layout, n = self.label_of, marginals.layout, self.tuples.n_labels
        edge = marginals.edge.reshape(len(marginals.edge), layout.size)
        pair = label[layout.sources].astype(np.int64) * n + label[layout.targets]
        ones, bounds = np.ones(layout.size), np.arange(layout.size + 1)
        out = edge @ csr_array((ones, pair, bounds), shape=(layout.size, n * n))
        np.minimum(out, 1.0, out=out)
        return out.reshape(-1, n, n), marginals.edge_offsets

    def _allows_every_labelling(self):
        return self.tuples.allow_every_path()

    def path_scores(self, labels):
        """Return the score of one label path of each chain, -inf if it is forbidden."""
        states = self.tuples.states(labels, self.offsets)
        values = super().path_scores(np.maximum(states, 0))
        values[self._item_of(np.flatnonzero(states < 0))] = -np.inf
        return values

    def n_best(self, n):
        """Return for each chain its n best paths (n_paths, T), and their scores."""
        paths, scores = super().n_best(n)
        return [self.label_of[path] for path in paths], scores

    def mixed_labels(self):
        """Return the paths that are mixed, and their shares, for each chain."""
        found = super().mixed_labels()
        return [(self.label_of[paths], shares) for paths, shares in found]

    def sample(self, uniform):
        """Return draws from p(y | x), (n_positions, n_draws), of as many numbers."""
        return self.label_of[super().sample(uniform)]

    span_probabilities = Scores.span_probabilities

    def typed_span_probabilities(self, spans, types, label_types, joins):
        """Return the probability that each span of a type stands where it is."""
        label = self.label_of
        return super().typed_span_probabilities(
            spans,
            types,
            np.ascontiguousarray(label_types[label]),
            np.ascontiguousarray(joins[np.ix_(label, label)]).view(np.uint8),
        )
