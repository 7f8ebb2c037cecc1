"""Inference on chains given their scores: every recursion behind one object.

`Chains` are the scores of chains laid end to end. The public functions of oracle.py and
decoding.py validate arrays and ask it; training and prediction make one `Chains` for
each range of sequences, and ask that directly.
"""

from functools import partial

import numpy as np

from skcrf_sdca._kernels import _chains, _paths, _spans
from skcrf_sdca._utils.parallel import over_ranges
from skcrf_sdca.structures.chain.marginals import Marginals, by_pairs
from skcrf_sdca.structures.scores import (
    Scores,
    checked_numbers_of_paths,
    listed_paths,
)


class Chains(Scores, _chains.ChainScores):
    """Scores of n chains; what -inf or the constraints forbid has probability 0.

    Parameters
    ----------
    node_scores : ndarray of shape (n_positions, n_labels)
    transition : ndarray of shape layout.shape
        By default (n_labels, n_labels), indexed [from, to].
    offsets : ndarray of shape (n + 1,), int64
        Chain i has the positions ``offsets[i]:offsets[i + 1]``.
    constraints : Constraints, default=None
        By default what is forbidden has a score of -inf.
    layout : TransitionLayout, default=None
        The pairs of labels that transition scores and edge marginals are of; by default
        all.

    Attributes
    ----------
    n_jobs : int or None
        Threads of every method. 0, the default, takes all chains as one range.
    """

    n_jobs = 0

    @property
    def local(self):
        """The potentials of single positions: the node scores."""
        return self.node_scores

    @property
    def tied(self):
        """The potentials that all positions share: the transition scores."""
        return self.transition

    def with_threads(self, n_jobs):
        """Cut the chains into ranges on so many threads; return self."""
        self.n_jobs = n_jobs
        return self

    def _new(self, local, tied, begin, end):
        offsets = self.offsets[begin : end + 1] - self.offsets[begin]
        chains = Chains(local, tied, offsets, self.constraints, self.layout)
        return chains.with_threads(self.n_jobs)

    def _over_ranges(self, kernel, *out, **options):
        """Call a kernel for all chains, range by range unless these are one range."""

        def run(begin, end):
            return kernel(self, begin, end, *out, **options)

        if self.n_jobs == 0:
            return [run(0, len(self))]
        return over_ranges(run, self.offsets, self.n_jobs)

    def log_partition(self):
        """Return log Z, an array (n,)."""
        values = np.empty(len(self))
        self._over_ranges(_chains.log_partitions, values)
        return values

    def marginals(self):
        """Return the Marginals, and log Z."""
        out = Marginals.empty(self.offsets, self.n_labels, layout=self.layout)
        values = np.empty(len(self))
        self._over_ranges(
            _chains.marginals,
            out.node,
            values,
            edge_offsets=out.edge_offsets,
            edge=by_pairs(out.edge),
        )
        return out, values

    def node_marginals(self):
        """Return the node marginals (n_positions, n_labels), and log Z."""
        node, values = np.empty_like(self.node_scores), np.empty(len(self))
        self._over_ranges(_chains.marginals, node, values)
        return np.minimum(node, 1.0, out=node), values

    def log_node_marginals(self):
        """Return the logarithms of the node marginals, which do not underflow."""
        node, values = np.empty_like(self.node_scores), np.empty(len(self))
        self._over_ranges(_chains.marginals, node, values, log_node=True)
        return np.minimum(node, 0.0, out=node)

    def pair_marginals(self):
        """Return the edge marginals of all chains, and where those of each begin."""
        marginals, _ = self.marginals()
        edge = np.minimum(marginals.edge, 1.0, out=marginals.edge)
        return self.layout.expand(edge, 0.0), marginals.edge_offsets

    def expectations(self, weight):
        """Return node marginals, the weighted sum of all edge marginals, and log Z."""
        if len(weight) != len(self):
            raise ValueError(f"{len(weight)} weights for {len(self)} chains")
        node, values = np.empty_like(self.node_scores), np.empty(len(self))

        def add_edges(chains, begin, end):
            total = np.zeros_like(self.transition)
            _chains.marginals(
                chains,
                begin,
                end,
                node,
                values,
                weight=weight,
                edge_total=total.reshape(-1),
            )
            return total

        totals = self._over_ranges(add_edges)
        return node, np.sum(totals, axis=0, initial=0.0), values

    def potential_expectations(self, local, tied):
        """Write node marginals and each chain's sum of edge marginals; return log Z."""
        values = np.empty(len(self))
        self._over_ranges(_chains.marginals, local, values, edge_sums=by_pairs(tied))
        return values

    def path_scores(self, labels):
        """Return the score of one label path of each chain."""
        values = np.empty(len(self))
        _chains.path_scores(self, labels, values)
        return values

    def viterbi(self):
        """Return the paths of highest score, end to end, and their scores."""
        paths = np.empty(len(self.node_scores), dtype=np.int32)
        values = np.empty(len(self))
        self._over_ranges(_chains.best_paths, paths, values)
        return paths, values

    def _allows_every_labelling(self):
        return self.layout.is_dense and not (self.transition == -np.inf).any()

    def n_best(self, n):
        """Return for each chain its n best paths (n_paths, T), and their scores."""
        lengths = np.diff(self.offsets)
        widths = checked_numbers_of_paths(
            n, self.n_labels, lengths, 8.0 * self.n_labels * (lengths + 1.0)
        )
        kernel = partial(self._over_ranges, _paths.best_paths)
        return listed_paths(kernel, widths, lengths)

    def sample(self, uniform):
        """Return draws from p(y | x), (n_positions, n_draws), of as many numbers."""
        paths = np.empty(uniform.shape, dtype=np.int32)
        self._over_ranges(_paths.random_paths, uniform, paths)
        return paths

    def span_probabilities(self, spans, labels):
        """Return the probability that each span has its labels; < 0 is unknown."""
        values = np.empty(len(spans))
        _spans.label_probabilities(self, spans, np.maximum(labels, 0), values)
        span_of_label = np.repeat(np.arange(len(spans)), spans[:, 2] - spans[:, 1])
        values[span_of_label[labels < 0]] = 0.0
        return np.minimum(values, 1.0)

    def typed_span_probabilities(self, spans, types, label_types, joins):
        """Return the probability that each span of a type stands where it is."""
        values = np.empty(len(spans))
        _spans.type_probabilities(self, spans, types, label_types, joins, values)
        return np.minimum(values, 1.0)
