"""Measures of how unsure a model is of an item, of its scores alone.

A new measure is one entry of `MEASURES`: a function of the Scores of some items that
returns a number for each, the larger the less sure.
"""

import numpy as np


def _entropy(scores):
    return scores.entropies()


def _token_entropy(scores):
    return _means(scores.label_entropies(), scores.label_bounds)


def _least_confidence(scores):
    return -np.expm1(-scores.surprises())


def _mnlp(scores):
    return scores.surprises() / np.maximum(np.diff(scores.label_bounds), 1)


def _margin(scores):
    _, best = scores.n_best_probabilities(2)
    margins = [own[0] - own[1:2].sum() for own in best]
    return np.clip(1.0 - np.array(margins, dtype=np.float64), 0.0, 1.0)


MEASURES = {
    "entropy": _entropy,
    "least_confidence": _least_confidence,
    "margin": _margin,
    "mnlp": _mnlp,
    "token_entropy": _token_entropy,
}


def _means(values, offsets):
    """Return the mean over each item, 0 without positions."""
    sums = np.diff(np.concatenate([[0.0], np.cumsum(values)])[offsets])
    return sums / np.maximum(np.diff(offsets), 1)
