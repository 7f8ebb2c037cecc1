"""Inference on chains given their scores: every recursion behind one object.

`Chains` are the scores of chains laid end to end. The public functions of oracle.py and
decoding.py validate arrays and ask it; training and prediction make one `Chains` for
each range of sequences, and ask that directly.
"""

from operator import methodcaller

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skcrf_sdca._kernels import _chains, _paths, _spans
from skcrf_sdca._utils.memory import MOST_BYTES, check_fits
from skcrf_sdca._utils.parallel import over_ranges
from skcrf_sdca.data.rows import split_rows
from skcrf_sdca.structures.chain.marginals import Marginals, by_pairs


class Chains(_chains.ChainScores):
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

    def _with_scores(self, node_scores):
        """Return chains with other node scores."""
        return Chains(
            node_scores, self.transition, self.offsets, self.constraints, self.layout
        )

    def with_tied(self, transition):
        """Return chains with other transition scores."""
        return Chains(
            self.node_scores, transition, self.offsets, self.constraints, self.layout
        )

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

    # In the three methods that follow, probabilities are for users: they are at most 1,
    # which rounding exceeds, and scikit-learn refuses more. Training reads them as they
    # are, from `marginals` and `expectations`.

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

    def clamped(self, labels):
        """Return chains that forbid all labels but the known ones (not negative)."""
        return self._with_scores(clamped(self.node_scores, labels))

    def restricted(self, position, labels):
        """Return chains that forbid all labels but these at a position."""
        scores = self.node_scores.copy()
        scores[position] = -np.inf
        scores[position, labels] = self.node_scores[position, labels]
        return self._with_scores(scores)

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

    def posterior(self):
        """Return the paths with the largest expected accuracy, and log Z."""
        node, log_z = self.node_marginals()
        forbidden = self.transition == -np.inf
        if self.layout.is_dense and not forbidden.any():
            return node.argmax(axis=1).astype(np.int32), log_z
        node[self.node_scores == -np.inf] = -np.inf
        log_mask = np.where(forbidden, -np.inf, 0.0)
        possible = Chains(node, log_mask, self.offsets, layout=self.layout)
        return possible.with_threads(self.n_jobs).viterbi()[0], log_z

    def log_likelihood(self, labels, known=None):
        """Return log p(y | x) of one path of each chain; a label < 0 is impossible.

        If some are not ``known``, the probability is summed over these.
        """
        if known is not None:
            return known_log_likelihood(self, labels, known)
        values = self.path_scores(np.maximum(labels, 0))
        unknown = np.flatnonzero(labels < 0)
        values[np.searchsorted(self.offsets, unknown, side="right") - 1] = -np.inf
        possible = values > -np.inf
        values[possible] -= self.log_partition()[possible]
        return np.minimum(values, 0.0)

    def n_best(self, n):
        """Return for each chain its n best paths (n_paths, T), and their scores."""
        lengths = np.diff(self.offsets)
        widths = checked_numbers_of_paths(
            n, self.n_labels, lengths, 8.0 * self.n_labels * (lengths + 1.0)
        )
        path_offsets = np.concatenate([[0], np.cumsum(widths)])
        label_offsets = np.concatenate([[0], np.cumsum(widths * lengths)])
        scores = np.empty(path_offsets[-1])
        paths = np.empty(label_offsets[-1], dtype=np.int32)
        self._over_ranges(
            _paths.best_paths, widths, path_offsets, label_offsets, scores, paths
        )
        return split_paths(widths, lengths, scores, paths)

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


def clamped(node_scores: NDArray[np.float64], labels: ArrayLike) -> NDArray[np.float64]:
    """Return node scores that forbid all labels but the known ones.

    Parameters
    ----------
    node_scores : ndarray of shape (n_positions, n_labels)
    labels : array-like of int of shape (n_positions,)
        Negative where the label is free.

    Returns
    -------
    node_scores : ndarray of shape (n_positions, n_labels)
        A copy, -inf for the other labels of positions whose label is known.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.structures.chain.decoding import clamped
    >>> clamped(np.zeros((2, 2)), [-1, 1])
    array([[  0.,   0.],
           [-inf,   0.]])
    """
    labels = np.asarray(labels)
    other = (labels[:, np.newaxis] >= 0) & (
        labels[:, np.newaxis] != np.arange(node_scores.shape[1])
    )
    return np.where(other, -np.inf, node_scores)


def known_log_likelihood(scores, labels, known):
    """Return log p of the labels that are known, a sum over all the others.

    Parameters
    ----------
    scores : Chains, or scores like them
        With ``offsets``, `clamped` and `log_partition`.
    labels : ndarray of int of shape (n_positions,)
        A known label < 0 is impossible.
    known : ndarray of bool of shape (n_positions,)

    Returns
    -------
    values : ndarray of shape (n,)
    """
    values = scores.clamped(np.where(known, labels, -1)).log_partition()
    impossible = np.flatnonzero(known & (labels < 0))
    values[np.searchsorted(scores.offsets, impossible, side="right") - 1] = -np.inf
    possible = values > -np.inf
    values[possible] -= scores.log_partition()[possible]
    return np.minimum(values, 0.0)


# Name -> call of the method of Chains, or of scores like them, that returns the paths,
# end to end, and a number for each chain that is finite if it has a possible path.
DECODERS = {name: methodcaller(name) for name in ("viterbi", "posterior")}


def split_paths(widths, lengths, scores, paths):
    """Return the paths (n_paths, T) and the scores of each chain, of flat arrays.

    Chain i has the place of widths[i] paths. What it lacks has the score -inf, and
    stands at the end.
    """
    path_offsets = np.concatenate([[0], np.cumsum(widths)])
    label_offsets = np.concatenate([[0], np.cumsum(widths * lengths)])
    scores = [part[part > -np.inf] for part in split_rows(scores, path_offsets)]
    parts = split_rows(paths, label_offsets)
    paths = [
        part.reshape(width, length)[: len(found)]
        for part, width, length, found in zip(
            parts, widths, lengths, scores, strict=True
        )
    ]
    return paths, scores


def numbers_of_paths(n, n_labels, lengths):
    """Return n for each sequence, or how many label paths it has, as floats.

    They are at most MOST_BYTES, so that sums of them are finite.
    """
    with np.errstate(over="ignore"):
        n_paths = float(n_labels) ** lengths
    return np.minimum(float(min(n, MOST_BYTES)), n_paths)


def checked_numbers_of_paths(n, n_labels, lengths, n_bytes):
    """Return the same as integers; MemoryError if the paths do not fit into memory.

    ``n_bytes``, an array of the shape of ``lengths``, is what the search of a sequence
    keeps for each of its paths; one sequence is searched at a time.
    """
    widths = numbers_of_paths(n, n_labels, lengths)
    # Beside the search, scores and labels of all paths.
    total = (widths * (4.0 * lengths + 8.0)).sum() + (widths * n_bytes).max(initial=0.0)
    check_fits(
        total,
        f"the n={n} best paths of each sequence",
        "lower n, or cut long sequences",
    )
    return widths.astype(np.int64)
