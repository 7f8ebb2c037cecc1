"""The cost of predicting one label for another.

`cost_matrix` joins the parameters ``cost`` and ``margin`` with weights of labels.
"""

import numpy as np

from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.objective.class_weights import check_not_negative, number_of_label


def cost_matrix(classes, *, cost=None, margin=1.0, weights=1.0):
    """Return margin * weights[y] * cost[y, k] for right labels y and others k.

    ``cost`` is a matrix in the order of ``classes``, or {(y, k): cost} of labels, where
    pairs that are left out cost 1; None is the Hamming cost: every wrong label costs 1.
    ``weights`` are the weights of labels, see `weights_of_labels`. ValueError if a cost
    is negative or not finite, if the cost of the right label is not 0, or if a dict has
    a label that is not in ``classes``.

    >>> import numpy as np
    >>> from skcrf_sdca.objective.costs import cost_matrix
    >>> cost_matrix(np.array(["B", "O"]), cost={("B", "O"): 3.0})
    array([[0., 3.],
           [1., 0.]])
    """
    index = {label: k for k, label in enumerate(plain_labels(classes))}
    check_fits(
        16 * len(index) ** 2,
        f"the costs of {len(index)} labels",
        "join labels that are rare (are all values in y labels?)",
    )
    matrix = margin * _costs(cost, index)
    return np.broadcast_to(weights, len(index))[:, None] * matrix


def _costs(cost, index):
    hamming = 1.0 - np.eye(len(index))
    if cost is None:
        return hamming
    if isinstance(cost, dict):
        for pair, value in cost.items():
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ValueError(
                    f"cost: the key {pair!r} must be a pair (right label, other label)"
                )
            row, column = (number_of_label(label, index, "cost") for label in pair)
            hamming[row, column] = value
        matrix = hamming
    else:
        matrix = np.array(cost, dtype=np.float64)
        if matrix.shape != hamming.shape:
            raise ValueError(
                f"cost has shape {matrix.shape}; with {len(index)} labels in y it must "
                f"be of shape {hamming.shape}, in the order of classes_"
            )
    check_not_negative("cost", matrix)
    if matrix.diagonal().any():
        raise ValueError("cost: the right label must cost 0, the diagonal is not")
    return matrix
