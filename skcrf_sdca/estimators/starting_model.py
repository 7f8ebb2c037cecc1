"""Weights of a fitted model for other data: features and labels matched by name.

Owns what `init` of `BaseCRF.fit` takes: which models, and where their weights go.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from skcrf_sdca._utils.messages import described
from skcrf_sdca.estimators.fitted import FittedAttributes, check_form, known_names


def starting_weights(model, training, problem):
    """Return the weights of a fitted model as a solver's first weights.

    Parameters
    ----------
    model : BaseCRF
        The argument `init`. What it does not know gets the weight 0.
    training : TrainingData
    problem : Problem

    Returns
    -------
    w : ndarray of shape (n_weights,)
        In the solver's unit: divided by the scale of the loss.

    Raises
    ------
    TypeError
        If `init` is not an estimator of this package.
    ValueError
        If `init` is not fitted, or if its features cannot be matched.
    """
    if not isinstance(model, FittedAttributes):
        raise TypeError(
            f"init must be a fitted CRF of this package, got {described(model)}."
        )
    if "classes_" not in vars(model):
        raise NotFittedError(
            f"init: this {type(model).__name__} is not fitted; call its fit first."
        )
    check_form(model)
    label = _numbers_of(
        training.attributes["classes_"].tolist(), model.classes_.tolist()
    )
    feature = _features(model, training)
    structure = problem.structure
    parameters = structure.new_parameters()
    known = label >= 0
    parameters.intercept[known] = model.intercept_[label[known]]
    bounds = _bounds(model, label, known)
    if structure.constraints is not None:
        bounds = structure.constraints.forbid_weights(*bounds)
    # The weight of what is forbidden is 0 in a solver.
    start, end, transition = (np.where(b == -np.inf, 0.0, b) for b in bounds)
    parameters.start[:], parameters.end[:] = start, end
    parameters.transition[:] = structure.layout.compact(transition)
    _set_coef(parameters, model.coef_, feature, label)
    parameters.clear_boundaries()
    parameters.w /= problem.loss.scale
    return parameters.w


def _numbers_of(names, known):
    """Return the number that each name has among the known ones, -1 if none."""
    number = {name: i for i, name in enumerate(known)}
    return np.array([number.get(name, -1) for name in names], dtype=np.intp)


def _features(model, training):
    """Return the number that each feature has in the model, -1 if none."""
    fitted = training.attributes
    n_features, names = fitted["n_features_in_"], fitted.get("_feature_names")
    if "vectorizer_" in fitted:
        names = fitted["vectorizer_"].get_feature_names_out()
    known = known_names(model)
    if (names is None) != (known is None):
        has, has_not = ("X", "init") if known is None else ("init", "X")
        raise ValueError(
            f"init: the features of {has} have names, those of {has_not} have none, so "
            "that they cannot be matched; fit both on the same kind of input."
        )
    if names is not None:
        return _numbers_of(names, known)
    if n_features != model.n_features_in_:
        raise ValueError(
            f"init has {model.n_features_in_} features and X has {n_features}; "
            "features without names are matched by their number."
        )
    return np.arange(n_features)


def _bounds(model, label, known):
    """Return start, end and transition weights of the labels, 0 of those not known."""
    n_labels = len(label)
    start, end = np.zeros(n_labels), np.zeros(n_labels)
    start[known], end[known] = model.start_[label[known]], model.end_[label[known]]
    transition = np.zeros((n_labels, n_labels))
    transition[np.ix_(known, known)] = model.transition_[
        np.ix_(label[known], label[known])
    ]
    return start, end, transition


def _set_coef(parameters, coef, feature, label):
    """Write the weights of the features that are known, for the labels that are."""
    pairs = parameters.pairs
    if pairs is None:
        (rows,), (columns,) = np.nonzero(feature >= 0), np.nonzero(label >= 0)
        block = coef[:, feature[rows]][label[columns]].T
        block = block.toarray() if sp.issparse(block) else block
        parameters.coef[np.ix_(rows, columns)] = block
        return
    feature = np.repeat(feature, np.diff(pairs.bounds))
    label = label[pairs.labels]
    known = (feature >= 0) & (label >= 0)
    # Of a sparse matrix such a selection is a matrix of one row.
    coef = sp.csr_matrix(coef) if sp.issparse(coef) else coef
    weights = np.zeros(len(known))
    weights[known] = np.ravel(coef[label[known], feature[known]])
    parameters.coef[pairs.exists] = weights
