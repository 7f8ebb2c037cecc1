"""Scores of items under one model, and every answer that is derived from them.

An item is a sequence or a graph. Each structure has one subclass of `Scores`, which
inherits the answers that inference with other labels forbidden gives, unless it has a
faster way.
"""

from heapq import heappop, heappush, nsmallest
from itertools import pairwise
from operator import methodcaller

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._kernels.inference import _passes
from skcrf_sdca._utils.memory import MOST_BYTES, check_fits
from skcrf_sdca._utils.messages import lacking
from skcrf_sdca._utils.words import place, words

# A search for n labellings: parts that are kept for each of these, and the bytes of a
# part beside its best labelling.
PARTS_OF_PATH, BYTES_OF_PART = 2, 500

# So that the scores of paths of any length are finite. Digits are lost long before.
LARGEST_SCORE = 1e100

# Kernels take exp(-700) for smaller numbers: smaller probabilities than this, which is
# far above that, are not exact. Log Z with the one label allowed there is.
SMALLEST = 1e-280

# Name of `decoding` -> call of the method of Scores that returns the labels, end to
# end, and a number for each item that is finite if it has a possible labelling.
VITERBI, POSTERIOR = "viterbi", "posterior"
DECODERS = {name: methodcaller(name) for name in (VITERBI, POSTERIOR)}


class Scores:
    """Scores of n items end to end; a label of score -inf has probability 0.

    A structure adds `_new`, `expectations` and `viterbi`, the base of all answers, or
    all that is compiled, see `CompiledScores`.

    Attributes
    ----------
    local : ndarray of shape (n_positions, n_columns)
        Scores of the labels of single positions.
    tied : ndarray
        Scores that all positions share.
    offsets : ndarray of shape (n + 1,), int64
        Item i has the positions ``offsets[i]:offsets[i + 1]``.
    n_jobs : int or None
        Number of threads of compiled passes. 0, the default, takes all items as one
        range.
    excess : float or ndarray of shape (n,)
        Of the last `expectations`: log Z - <mu, scores> - H(mu), 0 where inference is
        exact.
    """

    local: NDArray[np.float64]
    tied: NDArray[np.float64]
    offsets: NDArray[np.int64]
    n_jobs = 0
    excess: float | NDArray[np.float64] = 0.0

    def _new(self, local, tied, begin, end):
        """Return scores of the items begin <= i < end alone, with these numbers."""
        raise lacking(self, "_new")

    def __len__(self):
        """Return the number of items."""
        return len(self.offsets) - 1

    @property
    def label_of(self):
        """The label of each column of the local scores."""
        return np.arange(self.local.shape[1])

    def with_scores(self, local, tied=None):
        """Return the same items with other scores."""
        return self._new(local, self.tied if tied is None else tied, 0, len(self))

    def only(self, i):
        """Return the scores of item i alone."""
        first, last = self.offsets[[i, i + 1]]
        return self._new(self.local[first:last], self.tied, i, i + 1)

    def clamped(self, labels):
        """Return scores that forbid all labels but the known ones (not negative)."""
        return self.with_scores(forbid_others(self.local, labels, self.label_of))

    def restricted(self, position, labels):
        """Return scores that forbid all labels but these at a position."""
        local = self.local.copy()
        local[position, ~np.isin(self.label_of, labels)] = -np.inf
        return self.with_scores(local)

    def best_with_labels(self, position, labels):
        """Return the best path with one of these labels there, empty if none has."""
        return self.restricted(position, labels).best_of_one()

    def best_of_one(self):
        """Return the best labelling of the one item, empty if none is possible."""
        found, (value,) = self.viterbi()
        return found if np.isfinite(value) else found[:0]

    def with_threads(self, n_jobs):
        """Cut the items into ranges on this number of threads; return self."""
        self.n_jobs = n_jobs
        return self

    def expectations(self, weight):
        """Return local expectations, the weighted sum of tied ones, and log Z.

        They have the shapes of ``local`` and ``tied``; ``weight`` is of shape (n,).
        Sets ``excess`` unless inference is exact.
        """
        raise lacking(self, "expectations")

    def viterbi(self):
        """Return the labels of highest score, end to end, and their scores.

        The score of an item without a possible labelling is -inf.
        """
        raise lacking(self, "viterbi")

    def log_partition(self):
        """Return log Z, an array (n,)."""
        return self.expectations(np.zeros(len(self)))[2]

    def potential_expectations(self, local, tied):
        """Write the local and the tied expectations of each item; return log Z."""
        values = np.empty(len(self))
        for i, first in enumerate(self.offsets[:-1]):
            own, tied[i], values[i : i + 1] = self.only(i).expectations(np.ones(1))
            local[first : first + len(own)] = own
        return values

    def path_scores(self, labels):
        """Return the score of one labelling of each item, -inf if it is impossible."""
        return self.clamped(labels).log_partition()

    def sample(self, uniform):
        """Return draws from p(y | x), int32, by uniform numbers in [0, 1).

        Both are of shape (n_positions, n_draws).
        """
        labels = np.full(uniform.shape, -1, dtype=np.int32)
        for i, (begin, end) in enumerate(pairwise(self.offsets)):
            self.only(i)._draw(uniform[begin:end], labels[begin:end])
        return labels

    # p(y) = prod_t p(y_t | y_0 ... y_t-1): the same for draws that begin alike.
    def _draw(self, uniform, labels):
        """Write draws of the one item over labels that are not known, < 0."""
        for t in range(len(labels)):
            beginnings, which = np.unique(labels[:t], axis=1, return_inverse=True)
            for d, beginning in enumerate(beginnings.T):
                known = np.full(len(labels), -1)
                known[:t] = beginning
                node, _ = self.clamped(known).node_marginals()
                bounds = np.cumsum(node[t])
                own = which == d
                drawn = np.searchsorted(bounds, uniform[t, own] * bounds[-1], "right")
                labels[t, own] = self.label_of[drawn]

    def entropies(self):
        """Return H(p(y | x)) of each item: log Z - E score(x, y)."""
        values = np.zeros(len(self))
        for i in range(len(self)):
            # One at a time: tied expectations are large where labels are many.
            one = self.only(i)
            local, tied, (log_z,) = one.expectations(np.ones(1))
            values[i] = log_z - one._mean_score(local, tied)
        return np.maximum(values, 0.0)

    def _mean_score(self, local, tied):
        """Return E score(x, y) of the one item, given its expectations."""
        return expected(local, self.local) + expected(tied, self.tied)

    def check(self, first):
        """Raise ValueError if scores overflow, as for huge features.

        The message names the place; ``first`` is the number of the first item.
        """
        if _passes.are_within(self.local, LARGEST_SCORE):
            return
        right = (np.abs(self.local) <= LARGEST_SCORE) | (self.local == -np.inf)
        if right.all():
            return
        row = int(np.argmin(right.all(axis=1)))
        i = self._item_of(row)
        raise ValueError(
            f"{place('X', first + i, position=row - self.offsets[i])} has features so "
            f"large that its scores are not finite or beyond {LARGEST_SCORE:g}; "
            "scale the features."
        )

    def _item_of(self, positions):
        """Return the items that positions belong to."""
        return np.searchsorted(self.offsets, positions, side="right") - 1

    # The probabilities below are for users: rounding may exceed 1, which scikit-learn
    # refuses, so they are cut there. Training reads them uncut, from `expectations`.

    def node_marginals(self):
        """Return the probability of every label at every position, and log Z."""
        node, _, log_z = self.expectations(np.zeros(len(self)))
        return np.minimum(node, 1.0), log_z

    @property
    def label_bounds(self):
        """Where the labels of each item begin, (n + 1,): one for each position."""
        return self.offsets

    def label_entropies(self):
        """Return the entropy of each label."""
        return entropies_of_rows(self.node_marginals()[0])

    def log_node_marginals(self):
        """Return the logarithms of these probabilities, which do not underflow."""
        node, log_z = self.node_marginals()
        with np.errstate(divide="ignore"):
            values = np.log(node)
        lost = (node < SMALLEST) & (self.local > -np.inf)
        for row, label in np.argwhere(lost):
            i = self._item_of(row)
            if log_z[i] > -np.inf:
                one = self.only(i).restricted(row - self.offsets[i], [label])
                values[row, label] = one.log_partition()[0] - log_z[i]
        return np.minimum(values, 0.0, out=values)

    def pair_marginals(self):
        """Return probabilities of the labels of pairs of positions, and their bounds.

        Pairs are neighbours, or nodes that an edge joins: an ndarray of shape (n_pairs,
        n_labels, n_labels), and where the pairs of each item begin, (n + 1,).
        """
        node, _ = self.node_marginals()
        n_pairs = np.maximum(np.diff(self.offsets) - 1, 0)
        bounds = np.concatenate([[0], np.cumsum(n_pairs)])
        pairs = empty_pairs(bounds[-1], node.shape[1])
        # p(y_t = j, y_t+1 = k) = p(y_t = j) p(y_t+1 = k | y_t = j)
        for i, first in enumerate(self.offsets[:-1]):
            one = self.only(i)
            for t in range(n_pairs[i]):
                pair = pairs[bounds[i] + t]
                pair[:] = 0.0
                for label in np.flatnonzero(node[first + t]):
                    given, _ = one.restricted(t, [label]).node_marginals()
                    pair[label] = node[first + t, label] * given[t + 1]
        return pairs, bounds

    def posterior(self):
        """Return the labels with most right ones in expectation, and log Z."""
        node, log_z = self.node_marginals()
        if self._allows_every_labelling():
            return node.argmax(axis=1).astype(np.int32), log_z
        node = np.ascontiguousarray(node[:, self.label_of])
        node[self.local == -np.inf] = -np.inf
        tied = np.where(self.tied == -np.inf, -np.inf, 0.0)
        return self.with_scores(node, tied).viterbi()[0], log_z

    def _allows_every_labelling(self):
        """Return whether every label may stand beside every label."""
        return False

    def log_likelihood(self, labels, known=None):
        """Return log p(y | x) of one labelling of each item; a label < 0 is impossible.

        If some labels are not ``known``, an ndarray of bool, the probability is summed
        over these.
        """
        if known is None:
            values = self.path_scores(np.maximum(labels, 0))
            impossible = labels < 0
        else:
            values = self.clamped(np.where(known, labels, -1)).log_partition()
            impossible = known & (labels < 0)
        values[self._item_of(np.flatnonzero(impossible))] = -np.inf
        possible = values > -np.inf
        values[possible] -= self.log_partition()[possible]
        return np.minimum(values, 0.0)

    def span_probabilities(self, spans, labels):
        """Return the probability that each span (i, begin, end) has its labels.

        The labels of all spans stand end to end; < 0 is impossible.
        """
        # p(labels of a span) = Z of the labellings that have them / Z
        log_z = self.log_partition()
        bounds = np.concatenate([[0], np.cumsum(spans[:, 2] - spans[:, 1])])
        values = np.zeros(len(spans))
        for s, (i, begin, end) in enumerate(spans):
            own = labels[bounds[s] : bounds[s + 1]]
            if (own >= 0).all():
                known = np.full(np.diff(self.offsets)[i], -1)
                known[begin:end] = own
                part = self.only(i).clamped(known)
                values[s] = np.exp(part.log_partition()[0] - log_z[i])
        return np.minimum(values, 1.0)

    def n_best(self, n):
        """Return the n best labellings of each item (n_paths, T), and their scores.

        Two lists of arrays, best first; fewer than n if an item does not have as many.
        Equal ones stand in the order of `viterbi`.
        """
        lengths, n_labels = np.diff(self.offsets), self.local.shape[1]
        n_bytes = PARTS_OF_PATH * (4.0 * lengths + BYTES_OF_PART)
        widths = checked_numbers_of_paths(n, n_labels, lengths, n_bytes).tolist()
        found = [self._n_best_of(i, width) for i, width in enumerate(widths)]
        return [paths for paths, _ in found], [scores for _, scores in found]

    def n_best_probabilities(self, n):
        """Return the n best labellings of each item, and their probabilities."""
        paths, scores = self.n_best(n)
        pairs = zip(scores, self.log_partition(), strict=True)
        return paths, [np.exp(np.minimum(own - log_z, 0.0)) for own, log_z in pairs]

    def surprises(self):
        """Return -log p of the most probable labelling of each item."""
        _, best = self.viterbi()
        return np.maximum(self.log_partition() - best, 0.0)

    # Lawler's partition: each labelling left agrees with one already found before a
    # position, and differs from it there. The same recursion, with other labels
    # forbidden, finds the best of each part, the first of equal ones. A part is kept as
    # its best labelling, the position, and the labels that are excluded there; no more
    # parts are of use than labellings are wanted.
    def _n_best_of(self, i, n):
        """Return the n best of item i; each takes as many searches as positions."""
        one, order = self.only(i), self._order_of_ties(i)
        path, (score,) = one.viterbi()
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
            for t, others, best, score in one._parts_of(path, first, excluded):
                heappush(parts, (-score, _rank(best, order), t, others))
                if len(parts) > PARTS_OF_PATH * left:
                    parts = nsmallest(left, parts)
        return np.array(paths), np.array(scores)

    def _order_of_ties(self, i):
        """Return the positions of item i by which `viterbi` orders equal labellings.

        The labelling with the lower label at the first position of difference is first.
        """
        return np.arange(self.offsets[i + 1] - self.offsets[i])[::-1]

    def _parts_of(self, path, first, excluded):
        """Yield the parts of a part of the one item without its best labelling.

        Each is a position, the labels that are excluded there, the best labelling, and
        its score; parts without a labelling are left out.
        """
        local = self.local.copy()
        for t in range(first):
            _forbid_others(local[t], path[t])
        local[first : first + 1, list(excluded)] = -np.inf
        for t in range(first, len(path)):
            excluded = (*excluded, path[t]) if t == first else (path[t],)
            own = local[t, path[t]]
            local[t, path[t]] = -np.inf
            best, (score,) = self.with_scores(local).viterbi()
            if score > -np.inf:
                yield t, excluded, best, score
            local[t, path[t]] = own
            _forbid_others(local[t], path[t])


def expected(expectations, scores):
    """Return the sum of expectations times scores; those of forbidden labels are 0."""
    possible = scores > -np.inf
    return float(expectations[possible] @ scores[possible])


def entropies_of_rows(rows):
    """Return -sum_k p log p of the probabilities p in each row."""
    logarithms = np.log(rows, out=np.zeros_like(rows), where=rows > 0.0)
    return -np.einsum("tk,tk->t", rows, logarithms)


def check_weights(name, weights, *, forbids):
    """Raise ValueError if weights, called `name`, are not finite, or too large.

    If they may forbid, -inf is right.
    """
    right = (-LARGEST_SCORE <= weights) & (weights <= LARGEST_SCORE)
    if forbids:
        right |= weights == -np.inf
    if not right.all():
        raise ValueError(
            f"{name} contains NaN, infinity, or a number beyond {LARGEST_SCORE:g}."
        )


def _rank(path, order):
    """Return the labels of positions in an order, as bytes that compare like them."""
    return path[order].astype(">i4").tobytes()


def _ranked(rank, order):
    """Return the labels that have this rank."""
    path = np.empty(len(order), dtype=np.int32)
    path[order] = np.frombuffer(rank, dtype=">i4")
    return path


def _forbid_others(scores, label):
    """Forbid all labels of a position but one, in place."""
    own = scores[label]
    scores[:] = -np.inf
    scores[label] = own


def forbid_others(local, labels, label_of):
    """Return local scores, -inf for other labels than the known ones, not negative.

    ``label_of`` are the labels of the columns.
    """
    labels = np.asarray(labels)[:, np.newaxis]
    return np.where((labels >= 0) & (labels != label_of), -np.inf, local)


def empty_pairs(n_pairs, n_labels):
    """Return an array for probabilities of pairs; MemoryError if it is too large."""
    check_fits(
        8 * n_pairs * n_labels**2,
        f"the marginals of {n_pairs} edges between {n_labels} labels",
        f"take fewer or smaller {words().sequence}s at once",
    )
    return np.empty((n_pairs, n_labels, n_labels))


def numbers_of_paths(n, n_labels, lengths):
    """Return n for each item, or how many labellings it has, as floats.

    They are at most MOST_BYTES, so that sums of them are finite.
    """
    with np.errstate(over="ignore"):
        n_paths = float(n_labels) ** lengths
    return np.minimum(float(min(n, MOST_BYTES)), n_paths)


def checked_numbers_of_paths(n, n_labels, lengths, n_bytes):
    """Return the same as integers; MemoryError if the paths do not fit into memory.

    The search of an item keeps ``n_bytes`` of it for each of its paths; one item is
    searched at a time.
    """
    widths = numbers_of_paths(n, n_labels, lengths)
    # Beside the search, scores and labels of all paths.
    total = (widths * (4.0 * lengths + 8.0)).sum() + (widths * n_bytes).max(initial=0.0)
    check_fits(
        total,
        f"the n={n} best paths of each {words().sequence}",
        f"lower n, or cut long {words().sequence}s",
    )
    return widths.astype(np.int64)
