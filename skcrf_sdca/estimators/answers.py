"""What the answers of all fitted estimators share, whatever their structure is.

Scores of ranges of sequences, or of graphs, are made on threads. They are those of a
part of the positions at a time.
"""

from numbers import Integral

import numpy as np

from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.parallel import over_ranges
from skcrf_sdca._utils.words import words
from skcrf_sdca.estimators.fitted import no_probabilities
from skcrf_sdca.structures.scores import numbers_of_paths

# Bytes of an answer beside its labels: of a labelling with its probability; of a draw
# for all sequences, and of its list for each.
BYTES_OF_LABELLING, BYTES_OF_DRAW, BYTES_OF_LIST = 144, 200, 72


def over_scores(estimator, function, scores, offsets, *, proba=True):
    """Return the results of all sequences in one array.

    Parameters
    ----------
    estimator : FittedModel
    function : callable
        ``function(scores, begin, end)`` is called for ranges of sequences, on threads:
        one may build Python objects while another computes.
    scores : callable
        ``scores(begin, end)`` returns the first argument, of scores over the
        temperature.
    offsets : ndarray of shape (n + 1,), int64
        Where the positions of each sequence begin.
    proba : bool, default=True
        Whether the function takes probabilities of the scores.

    Raises
    ------
    ValueError
        If there are none, after a fit with the hinge loss.
    """
    if proba and (why := no_probabilities(estimator)):
        raise ValueError(why)

    def run(begin, end):
        return function(scores(begin, end), begin, end)

    # Without sequences the one call is for the type and shape of the result.
    parts = over_ranges(run, offsets, estimator.n_jobs) or [run(0, 0)]
    return np.concatenate(parts)


def check_labellings_fit(estimator, n, lengths):
    """Raise MemoryError if the n best labellings of all sequences do not fit.

    ``lengths``, an ndarray of shape (n_sequences,), are those of the sequences.
    """
    widths = numbers_of_paths(n, len(estimator.classes_), lengths)
    check_fits(
        float((widths * (8.0 * lengths + BYTES_OF_LABELLING)).sum()),
        f"the n={n} best labellings of each of {len(lengths)} {words().sequence}s",
        f"lower n, or predict fewer {words().sequence}s at a time",
    )


def check_draws_fit(n_draws, data, input_format):
    """Raise MemoryError if so many draws for PackedSequences do not fit.

    ``input_format`` is that of the answers.
    """
    n_lists = len(data) if input_format.boundaries else 0
    # The random numbers, and the labels: as numbers, and as pointers to the same.
    n_bytes = 24 * data.n_positions + BYTES_OF_LIST * n_lists + BYTES_OF_DRAW
    check_fits(
        int(n_draws) * n_bytes,
        f"{n_draws} draws of {data.n_positions} labels",
        f"draw fewer at a time (n_draws), or of fewer {words().sequence}s",
    )


def n_best_labels(estimator, scores, n, input_format):
    """Return the n best labellings of each sequence of some scores, with their values.

    An object array of lists of (labels, probability), or of (labels, score) if the
    model has no probabilities.
    """
    all_paths, all_values = scores.n_best(n)
    if estimator._has_probabilities:
        log_z = scores.log_partition()
        all_values = map(_probabilities, all_values, log_z)
    found = []
    for paths, values in zip(all_paths, all_values, strict=True):
        labels = input_format.path_labels(paths, estimator.classes_)
        found.append(list(zip(labels, values.tolist(), strict=True)))
    return np.fromiter(found, dtype=object, count=len(found))


def _probabilities(scores, log_z):
    return np.exp(np.minimum(scores - log_z, 0.0))


def accuracy(found, labels, weight, items):
    """Return the share of label numbers that are right; ValueError if there are none.

    ``weight`` has one number for each, or is None; ``items`` names them in messages.
    """
    if not len(labels):
        raise ValueError(f"X has 0 {items}: there is nothing to score.")
    return float(np.average(found == labels, weights=weight))


def check_count(name, value):
    """Raise ValueError if an argument is not an integer of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")
