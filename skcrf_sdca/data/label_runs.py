"""Runs of equal labels: whether the rows of a table look like a recording.

The rows of a table are chains of one item, and their order has no meaning. A recording
that is passed so is fitted without its chain, which nothing else would tell.
"""

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
