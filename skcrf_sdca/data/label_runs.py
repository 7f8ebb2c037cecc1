"""Runs of equal labels: what they say of the data.

The rows of a table are chains of one item, and their order has no meaning. A recording
that is passed so is fitted without its chain, which nothing else would tell.

Neighbouring frames of a recording are alike: a sequence of them tells less than as many
positions of their own, and the penalty is to be the stronger for it.
"""

import math
from typing import NamedTuple

import numpy as np

__all__ = ["NoChainsWarning"]

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
    """Sums over sequences, each with its weight, from which the mean run follows.

    Attributes
    ----------
    weight : float
        Of the sequences.
    positions : float
    pairs : float
        Neighbouring positions whose labels are known.
    changes : float
        Those of the pairs whose labels differ.
    """

    weight: float
    positions: float
    pairs: float
    changes: float

    @classmethod
    def of(cls, labels, offsets, weight=None):
        """Count in labels of all positions, -1 where not known.

        >>> counts = RunCounts.of(np.array([0, 0, 0, 1, 1, 1]), np.array([0, 6]))
        >>> counts.pairs, counts.changes, round(counts.strength, 3)
        (5.0, 1.0, 2.449)
        """
        lengths = np.diff(offsets)
        weight = np.ones(len(lengths)) if weight is None else weight
        known = labels >= 0
        is_pair = known[1:] & known[:-1]
        is_pair[offsets[(offsets > 0) & (offsets < len(labels))] - 1] = False
        of_pair = np.repeat(weight, lengths)[1:] * is_pair
        return cls(
            float(weight.sum()),
            float(weight @ lengths),
            float(of_pair.sum()),
            float(of_pair @ (labels[1:] != labels[:-1])),
        )

    @property
    def strength(self):
        """The mean run, at most the root of the mean length: alpha n for recordings."""
        length = max(self.positions / self.weight, 1.0)
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
