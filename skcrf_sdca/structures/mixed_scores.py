"""Scores whose probabilities are those of SparseMAP or entmax: few labellings have one.

A distribution of few labellings answers what a mean of certain answers is: pairs and
spans are asked for each labelling in turn, with all others forbidden.
"""

from copy import copy
from functools import cached_property, lru_cache

import numpy as np

from skcrf_sdca._utils.messages import lacking
from skcrf_sdca.structures.entropy import GINI, SHANNON, TSALLIS, entmax15


class MixedAnswers:
    """What Scores answer by log Z, by the labellings of `Scores.mixed_labels` instead.

    Attributes
    ----------
    plain : Scores
        The same scores, whose best labellings these are too.
    """

    @cached_property
    def mixed(self):
        """The labellings of each item and their probabilities, the largest first."""
        return self.plain.mixed_labels()

    def node_marginals(self):
        """Return the probability of every label at every position, and 0 for log Z.

        It is -inf for an item without a possible labelling.
        """
        node = np.zeros((int(self.offsets[-1]), int(self.label_of.max()) + 1))
        for first, (paths, shares) in zip(self.offsets[:-1], self.mixed, strict=True):
            for path, share in zip(paths, shares, strict=True):
                node[first + np.arange(len(path)), path] += share
        possible = np.array([len(shares) > 0 for _, shares in self.mixed], dtype=bool)
        return np.minimum(node, 1.0, out=node), np.where(possible, 0.0, -np.inf)

    def log_node_marginals(self):
        """Return the logarithms of these probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.node_marginals()[0])

    def log_partition(self):
        """Raise NotImplementedError: no sum over labellings has these probabilities."""
        raise lacking(self, "log_partition")

    def n_best_probabilities(self, n):
        """Return the n most probable labellings of each item, and the probabilities."""
        paths = [own[:n] for own, _ in self.mixed]
        return paths, [own[:n] for _, own in self.mixed]

    def surprises(self):
        """Return -log p of the most probable labelling of each item."""
        return np.array([-np.log(own[:1]).sum() for _, own in self.mixed])

    def entropies(self):
        """Return the entropy of the labellings of each item."""
        return np.array([-own @ np.log(own) for _, own in self.mixed])

    def sample(self, uniform):
        """Return draws of labellings, by the number of the first position of each."""
        labels = np.empty(uniform.shape, dtype=np.int32)
        for first, (paths, shares) in zip(self.offsets[:-1], self.mixed, strict=True):
            if paths.size:
                bounds = np.cumsum(shares)
                drawn = np.searchsorted(bounds, uniform[first] * bounds[-1], "right")
                labels[first : first + paths.shape[1]] = paths[drawn].T
        return labels

    def _certain(self):
        """Yield the share of a labelling of each item, and Scores of these alone."""
        most = max((len(shares) for _, shares in self.mixed), default=0)
        for k in range(most):
            share = [own[k] if k < len(own) else 0.0 for _, own in self.mixed]
            paths = [own[k if k < len(own) else 0] for own, _ in self.mixed if len(own)]
            yield np.array(share), self.plain.clamped(np.concatenate(paths))

    def pair_marginals(self):
        """Return the probabilities of pairs of labels, and the bounds of items."""
        total, bounds = self.plain.pair_marginals()
        total = np.zeros_like(total)
        for share, scores in self._certain():
            pairs, _ = scores.pair_marginals()
            total += np.repeat(share, np.diff(bounds))[:, None, None] * pairs
        return np.minimum(total, 1.0, out=total), bounds

    def _mean_of_spans(self, method, spans, *arguments):
        total = np.zeros(len(spans))
        for share, scores in self._certain():
            of_one = getattr(scores, method)(spans, *arguments)
            total += share[spans[:, 0]] * of_one
        return np.minimum(total, 1.0)

    def span_probabilities(self, spans, labels):
        """Return the probability that each span has its labels; < 0 is impossible."""
        return self._mean_of_spans("span_probabilities", spans, labels)

    def typed_span_probabilities(self, spans, types, label_types, joins):
        """Return the probability that each span of a type stands where it is."""
        own = types, label_types, joins
        return self._mean_of_spans("typed_span_probabilities", spans, *own)

    def segment_probabilities(self, spans, types):
        """Return the probability that each (i, b, e) is a segment of the type."""
        return self._mean_of_spans("segment_probabilities", spans, types)


class EntmaxAnswers(MixedAnswers):
    """The same for the rows of a table, by the `entmax15` of the scores of labels."""

    @cached_property
    def mixed(self):
        """The labels of each row and their probabilities, the largest first."""
        found = []
        for p in entmax15(self.local)[0]:
            labels = np.argsort(-p, kind="stable")[: np.count_nonzero(p)]
            found.append((labels[:, np.newaxis].astype(np.intc), p[labels]))
        return found

    def node_marginals(self):
        """Return the probability of every label, and 0 for log Z, or -inf."""
        p, values = entmax15(self.local)
        return p, np.where(values > -np.inf, 0.0, -np.inf)


_ANSWERS = {GINI: MixedAnswers, TSALLIS: EntmaxAnswers}


@lru_cache
def _with_answers(index, scores_type):
    own = _ANSWERS[index]
    return type(f"{own.__name__}Of{scores_type.__name__}", (own, scores_type), {})


def with_entropy(scores, index):
    """Return Scores with the probabilities of an entropy, of an index of entropy.py."""
    if index == SHANNON:
        return scores
    found = copy(scores)
    found.__class__ = _with_answers(index, type(scores))
    found.plain = scores
    return found
