"""Weights of another SegmentCRF in a fit: what `prior` and `init` need of segments.

Types of segments and features of segments are matched by their names, lengths by their
number. What belongs to single items is in prior.py and starting_model.py.
"""

from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca.estimators import starting_model
from skcrf_sdca.estimators.prior import Prior, PriorWeights
from skcrf_sdca.estimators.starting_model import numbers_of_names
from skcrf_sdca.structures.chain.label_weights import selected


class SegmentPrior(Prior):
    """A fitted SegmentCRF: its features, labels, and largest length."""

    _structure = "segments"

    def check_places(self, estimator):
        """Do nothing: `SegmentCRF` checks its features of segments."""

    def constraints(self, classes, new):
        """Return None: the scheme says what is allowed."""
        return None

    def weights(self, training):
        """Return the SegmentPriorWeights of the labels and features of TrainingData."""
        return SegmentPriorWeights(self.model, training)


class SegmentWeights(NamedTuple):
    """Weights of segments by labels, types and features; -inf where forbidden.

    The names and shapes are those of the attributes of `SegmentCRF`, but for
    ``segment_coef_``, which has no columns without features of segments.
    """

    coef_: Any
    intercept_: NDArray[np.float64]
    start_: NDArray[np.float64]
    end_: NDArray[np.float64]
    transition_: NDArray[np.float64]
    length_: NDArray[np.float64]
    segment_coef_: NDArray[np.float64]

    @classmethod
    def matched(cls, model, training, label, feature):
        """Return the weights of a SegmentCRF as those of a fit; what is new has 0.

        Parameters
        ----------
        model : SegmentCRF
        training : TrainingData
            With the Grammar and the names of the features of segments of the fit.
        label, feature : ndarrays of int
            As of `LabelWeights.matched`.
        """
        grammar = training.constraints
        own = numbers_of_names(grammar.types, model.types_.tolist())
        (known,) = np.nonzero(own >= 0)
        square = np.ix_(known, known)
        transition = np.zeros((len(own), len(own)))
        transition[square] = model.transition_[np.ix_(own[known], own[known])]
        length = np.zeros((len(own), grammar.max_length))
        most = min(grammar.max_length, model.max_length_)
        length[known, :most] = model.length_[own[known], :most]
        names = _names_of(training.attributes.get("segment_vectorizer_"))
        coef = np.zeros((len(own), len(names)))
        if model.segment_coef_ is not None:
            number = numbers_of_names(names, _names_of(model.segment_vectorizer_))
            (shared,) = np.nonzero(number >= 0)
            block = model.segment_coef_[np.ix_(own[known], number[shared])]
            coef[np.ix_(known, shared)] = block
        of_labels = (
            np.append(weights, 0.0)[label]
            for weights in (model.intercept_, model.start_, model.end_)
        )
        return cls(
            selected(model.coef_, label, feature), *of_labels, transition, length, coef
        )

    def without_forbidden(self, grammar=None):
        """Return the weights with 0 where they are -inf; the scheme forbids these."""
        transition, length = (
            np.where(block == -np.inf, 0.0, block)
            for block in (self.transition_, self.length_)
        )
        return self._replace(transition_=transition, length_=length)

    def of_features(self, columns):
        """Return the weights of some features alone, or of all for None."""
        return self if columns is None else self._replace(coef_=self.coef_[:, columns])


class SegmentPriorWeights(PriorWeights):
    """Weights of a prior as those of the labels, types and features of a fit.

    Parameters and errors are those of `PriorWeights`.
    """

    _of_features: ClassVar[tuple[str, ...]] = ("coef_",)

    def _matched(self, model, training, label, feature):
        weights = SegmentWeights.matched(model, training, label, feature)
        return weights.without_forbidden()


starting_weights = partial(
    starting_model.starting_weights, matched=SegmentWeights.matched
)


def _names_of(vectorizer):
    return [] if vectorizer is None else vectorizer.get_feature_names_out().tolist()
