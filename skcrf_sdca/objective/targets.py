"""Targets: what is known of the labels. Today one label path for each sequence."""

from typing import Protocol

import numpy as np


class Targets(Protocol):
    """Distributions q_i over labellings, to which the loss compares the model."""

    def check(self, structure):
        """Raise ValueError if these are not targets of the structure's sequences."""

    def score(self, scores, first, last):
        """Return <q_i, scores_i> of the sequences with the positions first <= t < last.

        ``scores`` are theirs, as of `Structure.scores`.
        """

    def subtract(self, local, first, last):
        """Replace local expectations at first <= t < last by those of q less these."""

    def tied_total(self, structure, weight):
        """Return sum_i weight[i] times the tied expectations of q_i."""

    def potentials(self, structure):
        """Return the expectations of all q_i."""

    def expected_cost(self, cost, first, last):
        """Return the cost of each label at first <= t < last, expected under q."""


class Labels:
    """One label path for each sequence: q_i is certain.

    Parameters
    ----------
    labels : ndarray of shape (n_positions,), int32
    """

    def __init__(self, labels):
        self.labels = labels

    def check(self, structure):
        """Raise ValueError if there is not one label for each position."""
        shape, n_labels = (structure.data.n_positions,), structure.n_labels
        labels = self.labels
        in_range = labels.min(initial=0) >= 0 and labels.max(initial=0) < n_labels
        if labels.shape != shape or not in_range:
            raise ValueError(
                f"labels must have shape {shape} and be in 0..{n_labels - 1}; got "
                f"shape {labels.shape}"
            )

    def score(self, scores, first, last):
        """Return the scores of the label paths."""
        return scores.path_scores(self.labels[first:last])

    def subtract(self, local, first, last):
        """Replace local expectations by one-hot labels less these, in place."""
        np.negative(local, out=local)
        local[np.arange(last - first), self.labels[first:last]] += 1.0

    def tied_total(self, structure, weight):
        """Return the weighted sum of the tied expectations of the labels."""
        return structure.tied_labels(self.labels, weight)

    def potentials(self, structure):
        """Return one-hot labels, as expectations of the structure."""
        return structure.label_potentials(self.labels)

    def expected_cost(self, cost, first, last):
        """Return the rows of the cost for the labels."""
        return cost[self.labels[first:last]]
