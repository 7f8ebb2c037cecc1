"""Runs of equal labels: what they say of the data.

The rows of a table are chains of one item, and their order has no meaning. A recording
that is passed so is fitted without its chain, which nothing else would tell.

Neighbouring frames of a recording are alike: a sequence of them tells less than as many
positions of their own, and the penalty is to be the stronger for it.
"""

import math
from typing import NamedTuple

import numpy as np

from skcrf_sdca._utils.parallel import over_ranges

__all__ = ["NoChainsWarning"]

# The features of recordings have a larger share of numbers that are not 0.
FULL = 0.5
# With fewer expected runs, shuffled rows could have few by chance.
_MIN_EXPECTED = 50
# Shuffled rows have about as many runs as expected, never a fifth of them.
_SHARE = 5


class NoChainsWarning(UserWarning):
    """A table was fitted whose rows look like one recording.

    They are chains of one item: the model has learnt nothing from their order. Pass
    ``lengths`` to ``fit``, the number of rows of each sequence.

    Examples
    --------
    >>> import warnings
    >>> from skcrf_sdca.data.label_runs import NoChainsWarning
    >>> warnings.simplefilter("ignore", NoChainsWarning)   # rows without a chain
    """


class RunCounts(NamedTuple):
    """Sums over sequences, from which the mean run of equal labels follows.

    Attributes
    ----------
    n_positions, n_nonzero : float
        Positions, and features of them that are not 0.
    weight, length : float
        The weights of sequences, and their lengths, each times its weight.
    pairs, changes : float
        Neighbouring positions whose labels are known, and those of them whose labels
        differ, each times the weight of its sequence.
    """

    n_positions: float
    n_nonzero: float
    weight: float
    length: float
    pairs: float
    changes: float

    @classmethod
    def of(cls, data, labels, weight=None):
        """Count in packed sequences, and labels of all positions, -1 where not known.

        >>> from skcrf_sdca import PackedSequences
        >>> data = PackedSequences(np.ones((6, 2)), [0, 6])
        >>> counts = RunCounts.of(data, np.array([0, 0, 0, 1, 1, 1]))
        >>> counts.pairs, counts.changes, round(counts.strength(2), 3)
        (5.0, 1.0, 2.449)
        """
        offsets, n_positions = data.offsets, data.n_positions
        weight = np.ones(len(data)) if weight is None else weight

        def of_range(begin, end):
            bounds = offsets[begin : end + 1]
            own, inner = labels[bounds[0] : bounds[-1]], bounds - bounds[0]
            known = own >= 0
            is_pair = known[1:] & known[:-1]
            is_pair[inner[(inner > 0) & (inner < len(own))] - 1] = False
            of_pair = np.repeat(weight[begin:end], np.diff(bounds))[1:] * is_pair
            return of_pair.sum(), of_pair @ (own[1:] != own[:-1])

        pairs, changes = np.sum(over_ranges(of_range, offsets), axis=0)
        return cls(
            n_positions,
            np.count_nonzero(data.X.data if data.is_sparse else data.X),
            float(weight.sum()),
            float(weight @ data.lengths),
            float(pairs),
            float(changes),
        )

    def strength(self, n_features):
        """Return the alpha n of recordings, 1 if more than half of the features are 0.

        It is the mean run, at most the root of the mean length.
        """
        if self.n_nonzero <= FULL * self.n_positions * n_features:
            return 1.0
        length = max(self.length / self.weight, 1.0)
        share = self.changes / self.pairs if self.pairs > 0.0 else 1.0
        return min(length / (1.0 + share * (length - 1.0)), math.sqrt(length))


def no_chains_message(labels):
    """Return the text of a NoChainsWarning for the labels of a table, or None.

    Shuffled rows have no long runs of equal labels. Rows that are sorted by label have
    one run of each; two per label are allowed, for two tables after each other.

    >>> no_chains_message(np.repeat([0, 1] * 5, 20))[:52]
    'y has 10 runs of equal labels in 200 rows, but shuff'
    >>> no_chains_message(np.repeat([0, 1], 100))
    """
    n_runs = 1 + np.count_nonzero(labels[1:] != labels[:-1])
    counts = np.unique(labels, return_counts=True)[1]
    n = len(labels)
    expected = 1 + n * (1 - np.square(counts / n).sum())
    is_long = expected >= _MIN_EXPECTED and n_runs * _SHARE < expected
    if not is_long or n_runs <= 2 * len(counts):
        return None
    return (
        f"y has {n_runs} runs of equal labels in {n} rows, but shuffled rows would "
        f"have about {expected:.0f}: if the rows are those of a recording, in its "
        "order, pass the number of rows of each sequence, fit(X, y, lengths=[...]). "
        "Without them each row of a table is a chain of one item: the order of the "
        "rows was not used."
    )
