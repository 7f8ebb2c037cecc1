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


def check_model(model, name, structure="chain"):
    """Raise TypeError or ValueError if an argument of fit is not a fitted CRF.

    Parameters
    ----------
    model : object
    name : str
        That of the argument.
    structure : str, default="chain"
        That of the fit.
    """
    if not isinstance(model, FittedAttributes):
        raise TypeError(
            f"{name} must be a fitted CRF of this package, got {described(model)}."
        )
    has_segments = getattr(model, "_structure", "chain") == "segments"
    if has_segments != (structure == "segments"):
        must = "must" if structure == "segments" else "must not"
        raise TypeError(
            f"{name} is of type {type(model).__name__}, and {must} be a SegmentCRF: "
            "models of segments and chains have no weights of transitions in common."
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


def write_bounds(parameters, model, label, training, constraints):
    """Write start, end and transition weights of a model as parameters of a fit.

    ``label`` is what `label_numbers` returns.
    """
    bounds = boundary_weights(model, label)
    if constraints is not None:
        bounds = constraints.forbid_weights(*bounds)
    # The weight of what is forbidden is 0 in a solver.
    start, end, transition = (np.where(b == -np.inf, 0.0, b) for b in bounds)
    parameters.start[:], parameters.end[:] = start, end
    parameters.transition[:] = parameters.layout.compact(transition)


def starting_weights(model, training, problem, name="init", write_bounds=write_bounds):
    """Return the weights of a fitted model as a solver's first weights.

    Parameters
    ----------
    model : BaseCRF
        What it does not know gets the weight 0.
    training : TrainingData
    problem : Problem
    name : str, default="init"
        That of the argument.
    write_bounds : callable, default=write_bounds
        Writes what is not of single labels, as that function does for chains.

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
    structure = problem.structure
    check_model(model, name, structure.name)
    label = label_numbers(model, training.attributes["classes_"])
    feature = feature_numbers(model, training.attributes, name)
    if training.columns is not None:
        feature = feature[training.columns]
    parameters = structure.new_parameters()
    known = label >= 0
    parameters.intercept[known] = model.intercept_[label[known]]
    write_bounds(parameters, model, label, training, structure.constraints)
    _set_coef(parameters, model.coef_, feature, label)
    parameters.clear_boundaries()
    parameters.w /= problem.loss.scale
    return parameters.w


def numbers_of_names(names, known):
    """Return the number that each name has among the known ones, -1 if none."""
    number = {name: i for i, name in enumerate(known)}
    return np.array([number.get(name, -1) for name in names], dtype=np.intp)


def label_numbers(model, classes):
    """Return the number that each of the classes has in the model, -1 if none."""
    return numbers_of_names(plain_labels(classes), plain_labels(model.classes_))


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
        return numbers_of_names(names, known)
    if n_features != model.n_features_in_:
        raise ValueError(
            f"{name} has {model.n_features_in_} features and X has {n_features}; "
            "features without names are matched by their number."
        )
    return np.arange(n_features)


def end_weights(model, label):
    """Return start and end weights, as the model has them.

    ``label`` is what `label_numbers` returns; the weights of labels that the model does
    not know are 0.
    """
    start, end = np.append(model.start_, 0.0), np.append(model.end_, 0.0)
    return start[label], end[label]


def boundary_weights(model, label):
    """Return start, end and transition weights in the same way."""
    n_labels, known = len(label), label >= 0
    start, end = end_weights(model, label)
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
