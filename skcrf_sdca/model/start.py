"""Weights of a fitted model in another fit: its arguments `init` and `prior`.

Labels, features and whatever else weights are of are matched by their names. A fit
begins at the weights of `init`. With w_0 the weights of `prior`, it minimises

    P(w) = alpha r(w - w_0) + sum_i c_i L_i(w)

over u = w - w_0. For a solver that is the plain problem of u, in which the scores of
w_0 are fixed, see `FixedScores`. It knows the features of the data alone; w_0 stays
where the data have no feature.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from skcrf_sdca._utils.given_estimators import check_given
from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.words import words
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.features.vectorizer import copied
from skcrf_sdca.model.fitted import check_form, fitted_format, fitted_weights, form_with
from skcrf_sdca.structures.chain.constraints import Constraints
from skcrf_sdca.structures.chain.tuple_parameters import tuples_with_weights
from skcrf_sdca.structures.form import Axis, Weights
from skcrf_sdca.structures.structure import FixedScores

# What fits of each structure take.
FITTED = {
    "chain": "CRF of chains",
    "segments": "SegmentCRF",
    "graph": "GraphCRF or TreeCRF",
    "dependency": "DependencyCRF",
}


def check_model(model, name, structure):
    """Raise TypeError or ValueError if the argument `name` of fit is no fitted model.

    ``structure`` is a key of `STRUCTURES`.
    """
    check_given(model, name=name)
    if getattr(model, "_structure", None) != structure:
        taken = FITTED.get(structure, f"CRF of the structure {structure!r}")
        raise TypeError(
            f"{name} must be a fitted {taken}, got {described(model)}; "
            "others have no weights in common with it."
        )
    if "classes_" not in vars(model):
        raise NotFittedError(
            f"{name}: this {type(model).__name__} is not fitted; call its fit first."
        )
    check_form(model)


def matched_weights(model, training, name, **numbers):
    """Return the Weights of a model for the labels and features of TrainingData.

    Features and labels that the model does not know have the weight 0. Raise ValueError
    if its features cannot be matched; ``name`` is the name of the argument.
    """
    axes = form_with(model, training.attributes).axes
    return fitted_weights(model).matched(axes, name, **numbers)


class Start(NamedTuple):
    """Where a solver starts: weights, and which sequences are unseen by these.

    ``unseen`` is a mask, or None where that is not known.
    """

    w: NDArray[np.float64]
    unseen: NDArray[np.bool_] | None


def first_point(init, prior, training, problem):
    """Return the Start of a fit from `init` and near `prior`, None for w = 0.

    Both are checked fitted models or None. The weights are as from `starting_weights`,
    less the prior's.
    """
    if init is None:
        return None
    axes = form_with(init, training.attributes).axes
    known = axes["feature"].numbers_in(fitted_weights(init).form.axes["feature"])
    w = starting_weights(init, training, problem, feature=known)
    if prior is not None:
        w -= starting_weights(prior, training, problem, "prior")
    return Start(w, _with_new_features(training, known < 0))


def _with_new_features(training, is_new):
    """Return which sequences have a feature that is new, None if that is not known.

    A model has each feature of the sequences that it was fitted on.
    """
    data, columns = training.data, training.columns
    is_new = is_new if columns is None else is_new[columns]
    if not (is_new.any() and data.stores_rows and sp.issparse(data.X)):
        return None
    n_before = np.append(0, np.cumsum(is_new[data.X.indices]))
    n_new = np.diff(n_before[data.X.indptr[data.offsets]])
    return n_new > 0


def starting_weights(model, training, problem, name="init", **numbers):
    """Return the weights of a fitted model as a solver's first weights.

    Weights that the problem has no place for, such as those of too long tuples, are
    left out. They are in the solver's unit: divided by the scale of the loss. Messages
    call the argument ``name``.
    """
    structure = problem.structure
    weights = matched_weights(model, training, name, **numbers)
    weights = weights.of_columns(training.columns)
    structure.check_weights(weights, name)
    if structure.label_constraints is not None:
        weights = structure.label_constraints.forbid(weights)
    parameters = structure.new_parameters()
    # Forbidden weights are 0 in a solver.
    parameters.assign(weights.finite())
    parameters.clear_boundaries()
    parameters.w /= problem.loss.scale
    return parameters.w


class Prior:
    """A fitted model, whose features, labels and transitions the data extend.

    The model is not changed. TypeError if it is no model of this structure, a key of
    `STRUCTURES`; ValueError if it is not fitted.
    """

    def __init__(self, model, structure="chain"):
        check_model(model, "prior", structure)
        self.model = model

    @property
    def classes(self):
        """The labels."""
        return self.model.classes_

    def check_places(self, order, edge_features):
        """Raise ValueError if a fit of chains has no place for weights of the model.

        The arguments are parameters of the fit.
        """
        own = 1 + len(self.model.higher_transitions_)
        if own > order:
            raise ValueError(
                f"prior has weights of order={own}, and the fit has order={order}: set "
                f"order={own} or more, or take a prior of a lower order"
            )
        if self.model.edge_coef_ is not None and edge_features is None and order == 1:
            raise ValueError(
                "prior has edge features, and the fit has none: set edge_features, or "
                "order=2, or take a prior without edge features"
            )

    def new_vectorizer(self, input_format):
        """Return a copy of the vectorizer, for data of this format to add features to.

        Raise TypeError if the prior was fitted on another format.
        """
        own = fitted_format(self.model)
        if own is not input_format:
            raise TypeError(
                f"X holds {words().sequence}s of the input format {input_format.name}, "
                f"but prior was fitted on {own.name}; both must have the same, or both "
                "be packed."
            )
        return copied(self.model.vectorizer_)

    def constraints(self, classes, new):
        """Return the Constraints that the prior sets for labels, or None.

        ``new`` says whether everything is allowed to labels that it does not know.
        """
        own = fitted_weights(self.model).of_blocks(_forbids_labels)
        if not own:
            return None
        axes = {"label": Axis(len(classes), lambda: plain_labels(classes))}
        weights = own.matched(axes, "prior", new=0.0 if new else -np.inf)
        allowed = Constraints.of_weights(weights)
        return None if new and allowed.is_trivial() else allowed

    def label_pairs(self, classes):
        """Return the pairs of labels whose transition weight is not 0, a mask."""
        axes = {"label": Axis(len(classes), lambda: plain_labels(classes))}
        own = fitted_weights(self.model).of_blocks(lambda b: b.name == "transition")
        return own.matched(axes, "prior").finite()["transition"] != 0.0

    def label_tuples(self, classes, longest):
        """Return the tuples of labels whose weight is not 0, and the ones in them.

        They are rows as of `LabelTuples`, of up to ``longest`` labels.
        """
        own = fitted_weights(self.model)
        axes = {"label": Axis(len(classes), lambda: plain_labels(classes))}
        axes["feature"] = own.form.axes["feature"]
        own = own.of_blocks(_is_of_label_tuples).matched(axes, "prior")
        return tuples_with_weights(own, longest)

    def weights(self, training):
        """Return the PriorWeights of the labels and features of TrainingData.

        Raise ValueError if the features of the prior cannot be matched.
        """
        numbers = {}
        if "vectorizer_" in training.attributes:
            # The prior's features come first: two of them may have the same name.
            number = np.arange(training.attributes["n_features_in_"])
            number[self.model.n_features_in_ :] = -1
            numbers["feature"] = number
        weights = matched_weights(self.model, training, "prior", **numbers)
        if not training.input_format.boundaries:
            bounds = weights.of_blocks(_forbids_labels)
            weights = weights.replaced(**{n: np.zeros_like(bounds[n]) for n in bounds})
        # Whether these are forbidden is said by constraints.
        return PriorWeights(weights.finite(), training.columns)


def _is_of_label_tuples(block):
    return block.axes[:2] == ("label", "label")


def _forbids_labels(block):
    return block.forbids and set(block.axes) == {"label"}


class PriorWeights(NamedTuple):
    """Finite weights of a prior, for the labels and features of a fit.

    The data of the fit have the features ``columns``; None if all.
    """

    weights: Weights
    columns: Any

    def fixed_scores(self, structure, scale):
        """Return the FixedScores of a structure, over the scale of a loss."""
        structure.check_weights(self.weights, "prior")
        fixed = structure.fixed_scores(self.weights.of_columns(self.columns))
        return FixedScores(fixed.local / scale, fixed.tied / scale)

    def added_to(self, weights):
        """Return the Weights of a fit with these added."""
        return self.weights.plus(weights, self.columns)
