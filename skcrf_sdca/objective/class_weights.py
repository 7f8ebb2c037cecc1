"""The parameter ``class_weight``: weights of labels, and of sequences by their labels.

A loss with a cost multiplies the cost by the weight of the right label. The log loss of
a sequence has no parts for its labels, so the whole of it is multiplied by the mean
weight of the labels of the sequence: the problem is the same with other c_i, and so are
its convexity and its certificate.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca.data.label_encoding import plain_labels

BALANCED = "balanced"


class LabelledPositions(NamedTuple):
    """The labels of the positions of concatenated sequences.

    Attributes
    ----------
    offsets : ndarray of shape (n + 1,)
        Sequence i has the positions offsets[i]:offsets[i + 1].
    labels : ndarray of shape (n_positions,)
        Label numbers; without a meaning if there are rows.
    rows : ndarray of shape (n_positions, n_labels), default=None
        The possible labels of each position (bool), or their probabilities.
    """

    offsets: NDArray[np.int64]
    labels: NDArray[np.int32]
    rows: NDArray[np.bool_] | NDArray[np.float64] | None = None

    def counts(self, n_labels, sample_weight=None):
        """Return how many positions each label has, with the weights of sequences.

        One of several possible labels has an equal part of a position. A position of
        which nothing is known counts for none.
        """
        weight = np.ones(len(self.offsets) - 1)
        weight = weight if sample_weight is None else sample_weight
        weight = np.repeat(weight, np.diff(self.offsets))
        if self.rows is None:
            return np.bincount(self.labels, weight, minlength=n_labels)
        return np.einsum("tk,t->k", self.rows, weight * self._shares())

    def means(self, weights):
        """Return the mean of the weights of labels over each sequence.

        It is 1 for a sequence of which no label is known.
        """
        known = np.ones(self.offsets[-1])
        values = known
        if self.rows is None:
            values = weights[self.labels]
        else:
            shares = self._shares()
            known = (shares > 0.0).astype(np.float64)
            values = np.einsum("tk,k->t", self.rows, weights) * shares
        total, number = _sums(values, self.offsets), _sums(known, self.offsets)
        return np.where(number > 0.0, total / np.maximum(number, 1.0), 1.0)

    def _shares(self):
        """Return 1 / the sum of each row, 0 where every label is possible."""
        sums = self.rows.sum(axis=1, dtype=np.float64)
        says = ~self.rows.all(axis=1) if self.rows.dtype == bool else sums > 0.0
        return says / np.maximum(sums, np.finfo(float).tiny)


def weights_of_labels(class_weight, classes, counts):
    """Return the weight of each label.

    ``class_weight`` is {y: weight}, where labels that are left out weigh 1; "balanced"
    weighs a label by n_positions / (n_labels * its number of positions), and ``counts``
    are these numbers, which the others do not need. None weighs all by 1. Labels that
    have no position weigh 1 and do not count. ValueError if a weight is negative or not
    finite, or if a dict has a label that is not in ``classes``.

    >>> import numpy as np
    >>> from skcrf_sdca.objective.class_weights import weights_of_labels
    >>> weights_of_labels("balanced", np.array(["B", "O"]), np.array([1, 3])).round(2)
    array([2.  , 0.67])
    """
    weights = np.ones(len(classes))
    if class_weight == BALANCED:
        found = counts > 0.0
        weights[found] = counts.sum() / (found.sum() * counts[found])
    elif class_weight is not None:
        index = {label: k for k, label in enumerate(plain_labels(classes))}
        for label, weight in class_weight.items():
            weights[number_of_label(label, index, "class_weight")] = weight
    check_not_negative("class_weight", weights)
    return weights


def weights_of_sequences(positions, weights, sample_weight=None):
    """Return the sample weights times the mean weight of the labels of each sequence.

    ValueError if all of them are 0.

    >>> import numpy as np
    >>> from skcrf_sdca.objective.class_weights import LabelledPositions
    >>> from skcrf_sdca.objective.class_weights import weights_of_sequences
    >>> positions = LabelledPositions(np.array([0, 2, 3]), np.array([0, 1, 1]))
    >>> weights_of_sequences(positions, np.array([5.0, 1.0]))
    array([3., 1.])
    """
    found = positions.means(weights)
    found = found if sample_weight is None else sample_weight * found
    if len(found) and not found.any():
        raise ValueError(
            "class_weight weighs every sequence by 0; give a weight above 0 to a label "
            "of y"
        )
    return found


def number_of_label(label, index, argument):
    """Return the number of a label; ValueError that names the argument if unknown."""
    try:
        return index[label]
    except (KeyError, TypeError):
        raise ValueError(
            f"{argument}: the label {label!r:.40} is not in y; it has "
            f"{list(index)!r:.60}"
        ) from None


def check_not_negative(argument, values):
    """Raise ValueError that names the argument for a value that is no weight."""
    if not ((values >= 0.0) & (values < np.inf)).all():
        raise ValueError(f"{argument} must not hold negative numbers, NaN or infinity")


def _sums(values, offsets):
    """Return the sums over the sequences."""
    return np.diff(np.concatenate([[0.0], np.cumsum(values)])[offsets])
