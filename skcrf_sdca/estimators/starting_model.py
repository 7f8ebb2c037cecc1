"""Weights of a fitted model for other data: features and labels matched by name.

Owns what `init` of `BaseCRF.fit` takes: which models, and where their weights go. The
checks are those of `prior` too.
"""

import numpy as np
from sklearn.exceptions import NotFittedError

from skcrf_sdca._utils.messages import described
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.estimators.fitted import FittedAttributes, check_form, known_names
from skcrf_sdca.structures.chain.label_weights import LabelWeights


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


def matched_weights(model, training, label, feature):
    """Return the LabelWeights of labels and features, as numbered by the model."""
    return LabelWeights.of_fitted(model).matched(label, feature)


def starting_weights(model, training, problem, name="init", matched=matched_weights):
    """Return the weights of a fitted model as a solver's first weights.

    Parameters
    ----------
    model : BaseCRF
        Checked by `check_model`. What it does not know gets the weight 0. Weights that
        the problem has no place for, such as those of tuples that are too long, are
        left out.
    training : TrainingData
    problem : Problem
    name : str, default="init"
        That of the argument.
    matched : callable, default=matched_weights
        Returns the weights of the labels and features of the fit.

    Returns
    -------
    w : ndarray of shape (n_weights,)
        In the solver's unit: divided by the scale of the loss.

    Raises
    ------
    ValueError
        If its features cannot be matched.
    """
    structure = problem.structure
    label = label_numbers(model, training.attributes["classes_"])
    feature = feature_numbers(model, training.attributes, name)
    if training.columns is not None:
        feature = feature[training.columns]
    weights = matched(model, training, label, feature)
    parameters = structure.new_parameters()
    # The weight of what is forbidden is 0 in a solver.
    parameters.assign(weights.without_forbidden(structure.label_constraints))
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
