"""Fits near the weights of another model: the argument `prior` of `BaseCRF.fit`.

With w_0 the weights of the prior, such a fit minimises

    P(w) = alpha r(w - w_0) + sum_i c_i L_i(w)

over u = w - w_0. For a solver that is the plain problem of u, in which the scores of
w_0 are fixed, see `FixedScores`. It knows the features of the data alone; w_0 stays
where the data have no feature. Owns what of the prior a fit needs: before the data are
packed (`Prior`), and after (`PriorWeights`).
"""

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._kernels._features import FeatureRows
from skcrf_sdca.estimators.fitted import fitted_format
from skcrf_sdca.estimators.starting_model import (
    boundary_weights,
    check_model,
    feature_numbers,
    label_numbers,
)
from skcrf_sdca.structures.chain.constraints import Constraints
from skcrf_sdca.structures.chain.parameters import (
    WEIGHTS,
    ChainParameters,
    dense_coef,
)
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

    def __init__(self, model):
        check_model(model, "prior")
        self.model = model

    @property
    def classes(self):
        """The labels."""
        return self.model.classes_

    def new_vectorizer(self, input_format):
        """Return a copy of the vectorizer, for data of this format to add features to.

        Raise TypeError if the prior was fitted on another format.
        """
        own = fitted_format(self.model)
        if own is not input_format:
            raise TypeError(
                f"X holds sequences of the input format {input_format.name}, but prior "
                f"was fitted on {own.name}; both must have the same, or both be packed."
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

    _weights = WEIGHTS

    def __init__(self, model, training):
        fitted = training.attributes
        label = label_numbers(model, fitted["classes_"])
        self.columns = training.columns
        self.intercept = np.append(model.intercept_, 0.0)[label]
        self._set_pairs(model, label, training)
        self.coef = _selected(model.coef_, label, _feature_numbers(model, fitted))

    def _set_pairs(self, model, label, training):
        """Take the weights of pairs of labels, and of the ends."""
        bounds = boundary_weights(model, label)
        if not training.input_format.boundaries:
            bounds = map(np.zeros_like, bounds)
        # Whether these are forbidden is said by constraints.
        self.start, self.end, self.transition = (
            np.where(b == -np.inf, 0.0, b) for b in bounds
        )

    def fixed_scores(self, chains, scale):
        """Return the FixedScores of chains, over the scale of a loss."""
        X, layout = chains.data.X, chains.layout
        parameters = ChainParameters(X.shape[1], chains.n_labels, layout=layout)
        coef = self.coef if self.columns is None else self.coef[:, self.columns]
        parameters.coef[:] = dense_coef(coef).T
        parameters.intercept[:] = self.intercept
        parameters.start[:], parameters.end[:] = self.start, self.end
        parameters.transition[:] = layout.compact(self.transition)
        parameters.w /= scale
        scores = parameters.scores(FeatureRows(X), chains.offsets, 0, len(chains.data))
        return FixedScores(scores.local, scores.tied)

    def added_to(self, attributes):
        """Return the attributes of a fit, with these weights added to its own."""
        weights = {
            name: attributes[name] + getattr(self, name.removesuffix("_"))
            for name in self._weights
            if name != "coef_"
        }
        weights["coef_"] = self._added_coef(attributes["coef_"])
        n_nonzero = sum(_count_weights(weight) for weight in weights.values())
        return {**attributes, **weights, "n_nonzero_": n_nonzero}

    def _added_coef(self, coef):
        """Return the sum of coefficients: sparse if both are."""
        if sp.issparse(coef) and sp.issparse(self.coef):
            if self.columns is not None:
                indices = self.columns.astype(coef.indices.dtype)[coef.indices]
                coef = sp.csr_array(
                    (coef.data, indices, coef.indptr), shape=self.coef.shape
                )
            return coef + self.coef
        total = dense_coef(self.coef).copy(order="F")
        total[:, slice(None) if self.columns is None else self.columns] += dense_coef(
            coef
        )
        return total


def _feature_numbers(model, fitted):
    """Return the number that each feature of a fit has in the prior, -1 if none."""
    if "vectorizer_" not in fitted:
        return feature_numbers(model, fitted, "prior")
    # Those of the prior come first: two of them may have the same name.
    numbers = np.arange(fitted["n_features_in_"])
    numbers[model.n_features_in_ :] = -1
    return numbers


def _selected(coef, label, feature):
    """Return coefficients of these labels and features, 0 where a number is -1."""
    (rows,), (columns,) = np.nonzero(label >= 0), np.nonzero(feature >= 0)
    block = coef[label[rows]][:, feature[columns]]
    if sp.issparse(block):
        block = block.tocoo()
        places = rows[block.row], columns[block.col]
        return sp.csr_array((block.data, places), shape=(len(label), len(feature)))
    selected = np.zeros((len(feature), len(label))).T
    selected[np.ix_(rows, columns)] = block
    return selected


def _count_weights(weight):
    """Return how many weights are neither 0 nor -inf."""
    if sp.issparse(weight):
        return int(np.count_nonzero(weight.data))
    return int(np.count_nonzero(weight) - np.count_nonzero(weight == -np.inf))
