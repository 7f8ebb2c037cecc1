"""Weights of a fitted model for other data: features and labels matched by name.

Owns what `init` of `BaseCRF.fit` takes: which models, and where their weights go. The
checks are those of `prior` too.
"""

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from skcrf_sdca._utils.messages import described
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.estimators.fitted import FittedAttributes, check_form, known_names


def check_model(model, name):
    """Raise TypeError or ValueError if an argument of fit is not a fitted CRF.

    Parameters
    ----------
    model : object
    name : str
        That of the argument.
    """
    if not isinstance(model, FittedAttributes):
        raise TypeError(
            f"{name} must be a fitted CRF of this package, got {described(model)}."
        )
    if "classes_" not in vars(model):
        raise NotFittedError(
            f"{name}: this {type(model).__name__} is not fitted; call its fit first."
        )
    check_form(model)
    if model._has_tuples:
        raise ValueError(
            f"{name}: this {type(model).__name__} has weights of more than two labels, "
            "or edge features; it must be of order 1 without edge features."
        )


def starting_weights(model, training, problem, name="init"):
    """Return the weights of a fitted model as a solver's first weights.

    Parameters
    ----------
    model : BaseCRF
        What it does not know gets the weight 0.
    training : TrainingData
    problem : Problem
    name : str, default="init"
        That of the argument.

    Returns
    -------
    w : ndarray of shape (n_weights,)
        In the solver's unit: divided by the scale of the loss.

    Raises
    ------
    TypeError
        If the model is not an estimator of this package.
    ValueError
        If it is not fitted, or if its features cannot be matched.
    """
    check_model(model, name)
    label = label_numbers(model, training.attributes["classes_"])
    feature = feature_numbers(model, training.attributes, name)
    if training.columns is not None:
        feature = feature[training.columns]
    structure = problem.structure
    parameters = structure.new_parameters()
    known = label >= 0
    parameters.intercept[known] = model.intercept_[label[known]]
    bounds = boundary_weights(model, label)
    if structure.constraints is not None:
        bounds = structure.constraints.forbid_weights(*bounds)
    # The weight of what is forbidden is 0 in a solver.
    start, end, transition = (np.where(b == -np.inf, 0.0, b) for b in bounds)
    parameters.start[:], parameters.end[:] = start, end
    parameters.transition[:] = structure.layout.compact(transition)
    set_coef(parameters, model.coef_, feature, label)
    parameters.clear_boundaries()
    parameters.w /= problem.loss.scale
    return parameters.w


def _numbers_of(names, known):
    """Return the number that each name has among the known ones, -1 if none."""
    number = {name: i for i, name in enumerate(known)}
    return np.array([number.get(name, -1) for name in names], dtype=np.intp)


def label_numbers(model, classes):
    """Return the number that each of the classes has in the model, -1 if none."""
    return _numbers_of(plain_labels(classes), plain_labels(model.classes_))


def feature_numbers(model, fitted, name):
    """Return the number that each feature has in the model, -1 if none.

    Parameters
    ----------
    model : BaseCRF
    fitted : dict
        Attributes of a fit: those of its features.
    name : str
        That of the argument, for messages.

    Raises
    ------
    ValueError
        If the features cannot be matched.
    """
    n_features, names = fitted["n_features_in_"], fitted.get("_feature_names")
    if "vectorizer_" in fitted:
        names = fitted["vectorizer_"].get_feature_names_out()
    known = known_names(model)
    if (names is None) != (known is None):
        has, has_not = ("X", name) if known is None else (name, "X")
        raise ValueError(
            f"{name}: the features of {has} have names, those of {has_not} have none, "
            "so that they cannot be matched; fit both on the same kind of input."
        )
    if names is not None:
        return _numbers_of(names, known)
    if n_features != model.n_features_in_:
        raise ValueError(
            f"{name} has {model.n_features_in_} features and X has {n_features}; "
            "features without names are matched by their number."
        )
    return np.arange(n_features)


def boundary_weights(model, label):
    """Return start, end and transition weights, as the model has them.

    ``label`` is what `label_numbers` returns; the weights of labels that the model does
    not know are 0.
    """
    n_labels, known = len(label), label >= 0
    start, end = np.zeros(n_labels), np.zeros(n_labels)
    start[known], end[known] = model.start_[label[known]], model.end_[label[known]]
    transition = np.zeros((n_labels, n_labels))
    transition[np.ix_(known, known)] = model.transition_[
        np.ix_(label[known], label[known])
    ]
    return start, end, transition


def set_coef(parameters, coef, feature, label):
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
