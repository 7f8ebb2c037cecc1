"""Fits near the weights of another model: the argument `prior` of `BaseCRF.fit`.

With w_0 the weights of the prior, such a fit minimises

    P(w) = alpha r(w - w_0) + sum_i c_i L_i(w)

over u = w - w_0. For a solver that is the plain problem of u, in which the scores of
w_0 are fixed, see `FixedScores`. It knows the features of the data alone; w_0 stays
where the data have no feature. Owns what of the prior a fit needs: before the data are
packed (`Prior`), and after (`PriorWeights`).
"""

from itertools import starmap, zip_longest
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._utils.words import words
from skcrf_sdca.estimators.fitted import fitted_format
from skcrf_sdca.estimators.starting_model import (
    check_model,
    feature_numbers,
    label_numbers,
)
from skcrf_sdca.structures.chain.constraints import Constraints
from skcrf_sdca.structures.chain.label_weights import LabelWeights
from skcrf_sdca.structures.chain.parameters import MAY_FORBID, dense_coef
from skcrf_sdca.structures.structure import FixedScores


class Prior:
    """A fitted model: its features, labels and transitions, which those of data extend.

    Parameters
    ----------
    model : BaseCRF
        Not changed.

    Raises
    ------
    TypeError
        If it is not an estimator of this package.
    ValueError
        If it is not fitted.
    """

    _structure = "chain"

    def __init__(self, model):
        check_model(model, "prior", self._structure)
        self.model = model

    @property
    def classes(self):
        """The labels."""
        return self.model.classes_

    def check_places(self, estimator):
        """Raise ValueError if a fit has no place for the weights of the model."""
        order, edge_features = estimator.order, estimator.edge_features
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
        return self.model.vectorizer_._copied()

    def constraints(self, classes, new):
        """Return what the prior allows, or None if that is everything.

        ``new`` says whether everything is allowed to labels that it does not know.
        """
        model = self.model
        own = Constraints.of_scores(model.start_, model.end_, model.transition_)
        label = label_numbers(model, classes)
        start, end = (np.append(mask, new)[label] for mask in (own.start, own.end))
        transition = np.pad(own.transition, (0, 1), constant_values=new)
        allowed = Constraints(start, end, transition[np.ix_(label, label)])
        return None if new and allowed.is_trivial() else allowed

    def weights(self, training):
        """Return the PriorWeights of the labels and features of TrainingData."""
        return PriorWeights(self.model, training)


class PriorWeights:
    """Weights of a prior as those of the labels and features of a fit.

    Parameters
    ----------
    model : BaseCRF
    training : TrainingData
        Of the features of both; its data may have some of them only.

    Raises
    ------
    ValueError
        If the features of the model cannot be matched.
    """

    # The weights of each feature of positions.
    _of_features: ClassVar[tuple[str, ...]] = ("coef_", "edge_coef_")

    def __init__(self, model, training):
        label = label_numbers(model, training.attributes["classes_"])
        feature = _feature_numbers(model, training.attributes)
        self.columns = training.columns
        self.weights = self._matched(model, training, label, feature)

    def _matched(self, model, training, label, feature):
        """Return the finite weights of these labels and features, by attribute."""
        weights = LabelWeights.of_fitted(model).matched(label, feature)
        if not training.input_format.boundaries:
            bounds = {
                name: np.zeros_like(getattr(weights, name)) for name in MAY_FORBID
            }
            weights = weights._replace(**bounds)
        # Whether these are forbidden is said by constraints.
        return weights.without_forbidden()

    def fixed_scores(self, structure, scale):
        """Return the FixedScores of a structure, over the scale of a loss."""
        fixed = structure.fixed_scores(self.weights.of_features(self.columns))
        return FixedScores(fixed.local / scale, fixed.tied / scale)

    def added_to(self, attributes):
        """Return the attributes of a fit, with these weights added to its own."""
        sums = {
            name: self._sum(name, attributes.get(name), own)
            for name, own in self.weights._asdict().items()
            if name in attributes or name in self._of_features
        }
        n_nonzero = sum(map(_count_weights, sums.values()))
        return {**attributes, **sums, "n_nonzero_": n_nonzero}

    def _sum(self, name, found, own):
        """Return the sum of the weights of one name, of which None are 0."""
        if name in self._of_features:
            return self._added_coef(found, own)
        if isinstance(found, tuple):
            return tuple(starmap(np.add, zip_longest(found, own, fillvalue=0.0)))
        return None if found is None else found + own

    def _added_coef(self, coef, own):
        """Return the sum of coefficients, of which None are 0: sparse if both are."""
        if coef is None or own is None:
            return own if coef is None else self._on_all_features(coef)
        if sp.issparse(coef) and sp.issparse(own):
            return self._on_all_features(coef) + own
        total = dense_coef(own).copy(order="F")
        columns = slice(None) if self.columns is None else self.columns
        total[:, columns] += dense_coef(coef)
        return total

    def _on_all_features(self, coef):
        """Return sparse coefficients of the features of data with all columns."""
        if coef is None or self.columns is None:
            return coef
        indices = self.columns.astype(coef.indices.dtype)[coef.indices]
        shape = coef.shape[0], self.weights.coef_.shape[1]
        return sp.csr_array((coef.data, indices, coef.indptr), shape=shape)


def _feature_numbers(model, fitted):
    """Return the number that each feature of a fit has in the prior, -1 if none."""
    if "vectorizer_" not in fitted:
        return feature_numbers(model, fitted, "prior")
    # Those of the prior come first: two of them may have the same name.
    numbers = np.arange(fitted["n_features_in_"])
    numbers[model.n_features_in_ :] = -1
    return numbers


def _count_weights(weight):
    """Return how many weights, if there are any, are neither 0 nor -inf."""
    if weight is None:
        return 0
    if isinstance(weight, tuple):
        return sum(map(_count_weights, weight))
    if sp.issparse(weight):
        return int(np.count_nonzero(weight.data))
    return int(np.count_nonzero(weight) - np.count_nonzero(weight == -np.inf))
