"""The cost of predicting one label for another.

`cost_matrix` joins the parameters ``cost``, ``margin`` and ``class_weight``.
"""

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.data.label_encoding import plain_labels


def cost_matrix(classes, labels, *, cost=None, margin=1.0, class_weight=None):
    """Return margin * class_weight[y] * cost[y, k] for right labels y and others k.

    ``cost`` is a matrix in the order of ``classes``, or {(y, k): cost} of labels, where
    pairs that are left out cost 1; None is the Hamming cost: every wrong label costs 1.
    ``class_weight`` is {y: weight}, where labels that are left out weigh 1; "balanced"
    weighs a label by n_positions / (n_labels * its number of positions), and ``labels``
    are the indices in ``classes`` of the labels of all positions. ValueError if a cost
    or a weight is negative or not finite, if the cost of the right label is not 0, or
    if a dict has a label that is not in ``classes``.

    >>> import numpy as np
    >>> from skcrf_sdca.objective.costs import cost_matrix
    >>> classes, labels = np.array(["B", "O"]), np.array([1, 1, 1, 0])
    >>> cost_matrix(classes, labels, cost={("B", "O"): 3.0})
    array([[0., 3.],
           [1., 0.]])
    >>> cost_matrix(classes, labels, class_weight="balanced").round(2)
    array([[0.  , 2.  ],
           [0.67, 0.  ]])
    """
    index = {label: k for k, label in enumerate(plain_labels(classes))}
    check_fits(
        16 * len(index) ** 2,
        f"the costs of {len(index)} labels",
        "join labels that are rare (are all values in y labels?)",
    )
    matrix = margin * _costs(cost, index)
    return _class_weights(class_weight, index, labels)[:, None] * matrix


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
            row, column = (_number(label, index, "cost") for label in pair)
            hamming[row, column] = value
        matrix = hamming
    else:
        matrix = np.array(cost, dtype=np.float64)
        if matrix.shape != hamming.shape:
            raise ValueError(
                f"cost has shape {matrix.shape}; with {len(index)} labels in y it must "
                f"be of shape {hamming.shape}, in the order of classes_"
            )
    _check_not_negative("cost", matrix)
    if matrix.diagonal().any():
        raise ValueError("cost: the right label must cost 0, the diagonal is not")
    return matrix


def _class_weights(class_weight, index, labels):
    if class_weight is None:
        return np.ones(len(index))
    if isinstance(class_weight, dict):
        weights = np.ones(len(index))
        for label, weight in class_weight.items():
            weights[_number(label, index, "class_weight")] = weight
    else:
        # Labels that a prior model adds are in no y.
        weights, in_y = np.ones(len(index)), np.unique(labels)
        weights[in_y] = compute_class_weight(class_weight, classes=in_y, y=labels)
    _check_not_negative("class_weight", weights)
    return weights


def _number(label, index, argument):
    try:
        return index[label]
    except (KeyError, TypeError):
        raise ValueError(
            f"{argument}: the label {label!r:.40} is not in y; it has "
            f"{list(index)!r:.60}"
        ) from None


def _check_not_negative(argument, values):
    if not ((values >= 0.0) & (values < np.inf)).all():
        raise ValueError(f"{argument} must not hold negative numbers, NaN or infinity")
