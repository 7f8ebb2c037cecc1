"""Weights of another SegmentCRF in a fit: what `prior` and `init` need of segments.

Types of segments and features of segments are matched by their names, lengths by their
number. What belongs to single items is in prior.py and starting_model.py.
"""

from functools import partial

import numpy as np

from skcrf_sdca._kernels._features import FeatureRows
from skcrf_sdca.estimators import starting_model
from skcrf_sdca.estimators.prior import Prior, PriorWeights
from skcrf_sdca.estimators.starting_model import end_weights, numbers_of_names
from skcrf_sdca.structures.chain.parameters import dense_coef
from skcrf_sdca.structures.segment.parameters import WEIGHTS, SegmentParameters
from skcrf_sdca.structures.structure import FixedScores


class SegmentPrior(Prior):
    """A fitted SegmentCRF: its features, labels, and largest length."""

    _structure = "segments"

    def constraints(self, classes, new):
        """Return None: the scheme says what is allowed."""
        return None

    def weights(self, training):
        """Return the SegmentPriorWeights of the labels and features of TrainingData."""
        return SegmentPriorWeights(self.model, training)


class SegmentPriorWeights(PriorWeights):
    """Weights of a prior as those of the labels, types and features of a fit.

    Parameters and errors are those of `PriorWeights`.
    """

    _names = tuple(WEIGHTS)

    def _bounds(self, model, label, training):
        start, end = end_weights(model, label)
        tied = tied_weights(model, training.constraints, training.attributes)
        return {"start": start, "end": end, **tied}

    def fixed_scores(self, chains, scale):
        """Return the FixedScores of sequences, over the scale of a loss."""
        X = chains.data.X
        parameters = SegmentParameters(
            X.shape[1], chains.constraints, chains.segment_rows
        )
        coef = self.coef if self.columns is None else self.coef[:, self.columns]
        parameters.coef[:] = dense_coef(coef).T
        parameters.intercept[:] = self.intercept
        parameters.start[:], parameters.end[:] = self.start, self.end
        parameters.transition[:] = one_row(vars(self))
        parameters.w /= scale
        scores = parameters.scores(FeatureRows(X), chains.offsets, 0, len(chains.data))
        return FixedScores(scores.local, scores.tied)

    def added_to(self, attributes):
        """Return the attributes of a fit, with these weights added to its own."""
        coef = attributes["segment_coef_"]
        if coef is not None:
            attributes = {**attributes, "segment_coef_": coef + self.segment_coef}
        added = super().added_to(attributes)
        if coef is not None:
            added["n_nonzero_"] += int(np.count_nonzero(added["segment_coef_"]))
        return added


def tied_weights(model, grammar, fitted):
    """Return transition, length and segment_coef of a model, as those of a fit.

    Parameters
    ----------
    model : SegmentCRF
        What it does not know has the weight 0.
    grammar : Grammar
        That of the fit.
    fitted : dict
        Attributes of the fit: the names of its features of segments.

    Returns
    -------
    weights : dict
        transition, length and segment_coef, of shape (S, S), (S, M) and (S, F); F is 0
        without features of segments.
    """
    own = numbers_of_names(grammar.types, model.types_.tolist())
    (known,) = np.nonzero(own >= 0)
    transition = np.zeros((len(own), len(own)))
    transition[np.ix_(known, known)] = model.transition_[np.ix_(own[known], own[known])]
    length = np.zeros((len(own), grammar.max_length))
    most = min(grammar.max_length, model.max_length_)
    length[known, :most] = model.length_[own[known], :most]
    names = _names_of(fitted.get("segment_vectorizer_"))
    coef = np.zeros((len(own), len(names)))
    if model.segment_coef_ is not None:
        feature = numbers_of_names(names, _names_of(model.segment_vectorizer_))
        (shared,) = np.nonzero(feature >= 0)
        block = model.segment_coef_[np.ix_(own[known], feature[shared])]
        coef[np.ix_(known, shared)] = block
    return {"transition": transition, "length": length, "segment_coef": coef}


def one_row(weights):
    """Return the weights of `tied_weights` as SegmentParameters have them."""
    blocks = weights["transition"], weights["length"], weights["segment_coef"].T
    return np.concatenate([np.ravel(block) for block in blocks])


def write_bounds(parameters, model, label, training, grammar):
    """Write all weights but those of single items, see starting_model.py."""
    parameters.start[:], parameters.end[:] = end_weights(model, label)
    row = one_row(tied_weights(model, grammar, training.attributes))
    parameters.transition[:] = np.where(row == -np.inf, 0.0, row)


starting_weights = partial(starting_model.starting_weights, write_bounds=write_bounds)


def _names_of(vectorizer):
    return [] if vectorizer is None else vectorizer.get_feature_names_out().tolist()
