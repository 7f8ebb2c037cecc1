"""Inference on graphs given their scores: every recursion behind one object."""

from heapq import heappop, heappush, nsmallest

import numpy as np

from skcrf_sdca._kernels import _graphs
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.structures.chain.chains import (
    checked_numbers_of_paths,
    clamped,
    known_log_likelihood,
)

# Of a search for several labellings: parts that are kept for each that is wanted, and
# the bytes of a part beside its best labelling.
PARTS_OF_PATH, BYTES_OF_PART = 2, 500


class GraphScores:
    """Scores of the graphs begin <= i < end of junction trees.

    Parameters
    ----------
    trees : JunctionTrees
    local : ndarray of shape (n_nodes, n_labels)
        Those of their nodes.
    tied : ndarray of shape (trees.n_tied,)
        Those of pairs of labels, for each feature of edges.
    offsets : ndarray of shape (end - begin + 1,), int64
        Where the nodes of each graph begin.
    begin : int
    """

    def __init__(self, trees, local, tied, offsets, begin):
        self.trees = trees
        self.local, self.tied = local, tied
        self.offsets, self.begin = offsets, begin
        self._arguments = trees, local, tied, begin, begin + len(offsets) - 1

    def __len__(self):
        """Return the number of graphs."""
        return len(self.offsets) - 1

    def clamped(self, labels):
        """Return scores that forbid all labels but the known ones (not negative)."""
        local = clamped(self.local, labels)
        return GraphScores(self.trees, local, self.tied, self.offsets, self.begin)

    def restricted(self, node, labels):
        """Return scores that forbid all labels but these at a node of all graphs."""
        local = self.local.copy()
        local[node] = -np.inf
        local[node, labels] = self.local[node, labels]
        return GraphScores(self.trees, local, self.tied, self.offsets, self.begin)

    def log_partition(self):
        """Return log Z, an array (n,)."""
        values = np.empty(len(self))
        _graphs.log_partitions(*self._arguments, values)
        return values

    def expectations(self, weight):
        """Return node marginals, the weighted sum of tied expectations, and log Z."""
        node, values = np.empty_like(self.local), np.empty(len(self))
        total = np.zeros(len(self.tied))
        _graphs.marginals(
            *self._arguments, node, values, weight=weight, tied_total=total
        )
        return node, total, values

    def potential_expectations(self, local, tied):
        """Write node marginals, and the tied expectations of each; return log Z."""
        values = np.empty(len(self))
        _graphs.marginals(*self._arguments, local, values, tied_sums=tied)
        return values

    def node_marginals(self):
        """Return the node marginals, at most 1 in spite of rounding, and log Z."""
        node, values = np.empty_like(self.local), np.empty(len(self))
        _graphs.marginals(*self._arguments, node, values)
        return np.minimum(node, 1.0, out=node), values

    def pair_marginals(self, n_edges):
        """Return the marginals (n_edges, K, K) of edges, in the order of the trees."""
        n_labels = self.local.shape[1]
        node, values = np.empty_like(self.local), np.empty(len(self))
        check_fits(
            8 * n_edges * n_labels**2,
            f"the marginals of {n_edges} edges between {n_labels} labels",
            "take fewer or smaller graphs at once",
        )
        pairs = np.empty((n_edges, n_labels, n_labels))
        _graphs.marginals(*self._arguments, node, values, edges=pairs)
        return np.minimum(pairs, 1.0, out=pairs)

    def mix_into(self, table, keep):
        """Write keep times the marginals of cliques, 1 - keep times those of scores.

        ``table`` has those of all graphs.
        """
        _graphs.mix_cliques(*self._arguments, keep, table)

    def sample(self, uniform):
        """Return labellings drawn from p(y | x), (n_draws, n_nodes) int32.

        ``uniform`` are random numbers in [0, 1), of shape (n_nodes, n_draws).
        """
        paths = np.empty(uniform.shape[::-1], dtype=np.int32)
        if paths.size:
            _graphs.draws(*self._arguments, np.ascontiguousarray(uniform), paths)
        return paths

    def viterbi(self):
        """Return the labellings of highest score, end to end, and their scores.

        Of equal ones that with the lower label at the node where they differ that is
        eliminated last.
        """
        paths = np.empty(len(self.local), dtype=np.int32)
        values = np.empty(len(self))
        _graphs.best_labellings(*self._arguments, paths, values)
        return paths, values

    def n_best(self, n):
        """Return the n best labellings (n, n_nodes) of each graph, and their scores.

        Two lists; fewer than n if there are no more. The order of equal ones is that of
        `viterbi`.
        """
        lengths, n_labels = np.diff(self.offsets), self.local.shape[1]
        n_bytes = PARTS_OF_PATH * (4.0 * lengths + BYTES_OF_PART)
        widths = checked_numbers_of_paths(n, n_labels, lengths, n_bytes)
        found = [self._n_best_of(i, width) for i, width in enumerate(widths.tolist())]
        return [paths for paths, _ in found], [scores for _, scores in found]

    # Lawler's partition: the labellings left are those that agree with one already
    # found before a node, and differ from it there. The best of each part is found by
    # the same recursion, with other labels forbidden; so of equal ones it is the first.
    # A part is kept as its best labelling, the node, and the labels that it does not
    # have there; of the parts, no more than labellings are wanted are of use.
    def _n_best_of(self, i, n):
        """Return those of graph i; it takes n_nodes searches for each."""
        order = self.trees.eliminated(self.begin + i)[::-1]
        path, score = self._best_of(i, self._local_of(i))
        parts = [(-score, _rank(path, order), 0, ())]
        paths, scores = [], []
        while parts:
            score, rank, first, excluded = heappop(parts)
            path = _ranked(rank, order)
            paths.append(path)
            scores.append(-score)
            left = n - len(paths)
            if not left:
                break
            for t, others, best, score in self._parts_of(i, path, first, excluded):
                heappush(parts, (-score, _rank(best, order), t, others))
                if len(parts) > PARTS_OF_PATH * left:
                    parts = nsmallest(left, parts)
        return np.array(paths), np.array(scores)

    def _parts_of(self, i, path, first, excluded):
        """Yield the parts of a part of graph i without its best labelling.

        Each is a node, the labels that are excluded there, the best labelling, and its
        score; what has no labelling is left out.
        """
        local = self._local_of(i).copy()
        for t in range(first):
            _forbid_others(local[t], path[t])
        local[first : first + 1, list(excluded)] = -np.inf
        for t in range(first, len(path)):
            excluded = (*excluded, path[t]) if t == first else (path[t],)
            own = local[t, path[t]]
            local[t, path[t]] = -np.inf
            best, score = self._best_of(i, local)
            if score > -np.inf:
                yield t, excluded, best, score
            local[t, path[t]] = own
            _forbid_others(local[t], path[t])

    def _local_of(self, i):
        """Return the scores of the nodes of graph i."""
        return self.local[self.offsets[i] : self.offsets[i + 1]]

    def _best_of(self, i, local):
        """Return the best labelling of graph i with other local scores, its score."""
        offsets, begin = np.array([0, len(local)]), self.begin + i
        one = GraphScores(self.trees, local, self.tied, offsets, begin)
        path, (score,) = one.viterbi()
        return path, score

    def path_scores(self, labels):
        """Return the score of one labelling of each graph."""
        values = np.empty(len(self))
        _graphs.labelling_scores(*self._arguments, labels, values)
        return values

    def log_likelihood(self, labels, known=None):
        """Return log p(y | x) of one labelling of each; a label < 0 is impossible.

        If some are not ``known``, the probability is summed over these.
        """
        if known is not None:
            return known_log_likelihood(self, labels, known)
        values = self.path_scores(np.maximum(labels, 0))
        values -= self.log_partition()
        unknown = np.flatnonzero(labels < 0)
        values[np.searchsorted(self.offsets, unknown, side="right") - 1] = -np.inf
        return np.minimum(values, 0.0)


# How a labelling is chosen, by the name of `decoding`.
GRAPH_DECODERS = {
    "viterbi": lambda scores: scores.viterbi()[0],
    "posterior": lambda scores: scores.node_marginals()[0].argmax(axis=1),
}


def _rank(path, order):
    """Return the labels of nodes in an order, as bytes that compare as they do."""
    return path[order].astype(">i4").tobytes()


def _ranked(rank, order):
    """Return the labels that have this rank."""
    path = np.empty(len(order), dtype=np.int32)
    path[order] = np.frombuffer(rank, dtype=">i4")
    return path


def _forbid_others(scores, label):
    """Forbid all labels of a node but one, in place."""
    own = scores[label]
    scores[:] = -np.inf
    scores[label] = own
