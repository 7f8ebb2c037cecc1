"""Whether the labels of frames are better by their marginals: ``DecodingWarning``.

A fit of dense rows asks it of some of its training data: of as many positions as keep
the time of both labellings below two hundredths of the fit.
"""

import numpy as np

from skcrf_sdca._utils.words import words
from skcrf_sdca.data.packed import PackedSequences

__all__ = ["DecodingWarning"]

# More of the positions right by marginals than by the path, to be worth a warning.
_GAIN = 0.02
# Fewer positions could differ by chance; more tell nothing new.
_FEWEST, _MOST = 1_000, 20_000
# Both labellings of a position take about two of its visits in a fit, so that all takes
# a hundredth of the time.
_N_VISITS = 200


class DecodingWarning(UserWarning):
    """The best paths have fewer right labels than the largest marginals would have.

    `fit` compares both on its training data. Set ``decoding="posterior"`` if positions
    are counted one by one, as `score` counts them; no other fit is needed.

    Examples
    --------
    >>> import warnings
    >>> from skcrf_sdca.model.decoding_check import DecodingWarning
    >>> warnings.simplefilter("ignore", DecodingWarning)   # whole paths count
    """


def frames_to_compare(training, n_iter):
    """Return the first frames of TrainingData, packed, to label in both ways, or None.

    It is asked of dense rows alone, and not where the labels that may follow each other
    are given: these are spans, which are counted as a whole. The fit took ``n_iter``
    epochs.
    """
    data, is_table = training.data, not training.input_format.boundaries
    if is_table or data.is_sparse or training.constraints is not None:
        return None
    n = min(data.n_positions, data.n_positions * n_iter // _N_VISITS, _MOST)
    if np.count_nonzero(training.labels[:n] >= 0) < _FEWEST:
        return None
    stops = data.offsets[1:]
    return PackedSequences(data.X[:n], [0, *stops[stops < n], n])


def decoding_message(of_path, of_marginals, labels):
    """Return the text of a DecodingWarning for both labellings of frames, or None.

    ``labels`` are the true ones, -1 where they are not known. The arguments are numbers
    of labels.

    >>> labels = np.zeros(2_000, dtype=int)
    >>> decoding_message(np.arange(2_000) % 2, labels, labels)[:67]
    'of 2000 positions of X, the largest probabilities have 1.000 right,'
    >>> decoding_message(labels, labels, labels)
    """
    labels, is_known = labels[: len(of_path)], labels[: len(of_path)] >= 0
    path, marginals = (
        (found == labels)[is_known].mean() for found in (of_path, of_marginals)
    )
    if marginals - path <= _GAIN:
        return None
    position = words().position
    return (
        f"of {is_known.sum()} {position}s of {words().X}, the largest probabilities "
        f"have {marginals:.3f} right, and the best path, which predict returns, "
        f'{path:.3f}: set decoding="posterior" if {position}s are counted one by one, '
        "as score counts them. The weights stay the same: set_params changes it in a "
        "fitted model"
    )
