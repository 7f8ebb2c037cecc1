"""The attributes of a fitted `compat.CRF`, which sklearn_crfsuite.CRF has.

They are None before a fit, or are read from `model_filename`.
"""

import os
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

import scipy.sparse as sp

from skcrf_sdca.compat._conversion import from_crfsuite, model_file_of
from skcrf_sdca.compat._fileresource import FileResource
from skcrf_sdca.compat._model_file import serialise
from skcrf_sdca.compat._tagger import Tagger
from skcrf_sdca.compat._training_log import TrainingLog
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.estimators.crfs import CRF as AnyCRF
from skcrf_sdca.estimators.crfs import SDCACRF
from skcrf_sdca.estimators.online import PassiveAggressiveCRF

# The taggers and temporary files of fitted estimators, made when they are asked for.
_TAGGERS: WeakKeyDictionary[Any, Tagger] = WeakKeyDictionary()
_FILES: WeakKeyDictionary[Any, FileResource] = WeakKeyDictionary()


def _of_model(method):
    """Make a property that is None where there is no model of a method of a model."""

    @property
    @wraps(method)
    def attribute(self):
        estimator = self._model()
        return None if estimator is None else method(self, estimator)

    return attribute


class FittedAttributes:
    """The attributes of a fitted `CRF`, which are no parameters."""

    estimator_: AnyCRF | PassiveAggressiveCRF | SDCACRF
    dev_score_: float
    model_filename: Any

    @_of_model
    def classes_(self, estimator: Any) -> list[Any]:
        """Return the labels, a list: sorted, or of a file in its order."""
        return plain_labels(estimator.classes_)

    @_of_model
    def attributes_(self, estimator: Any) -> list[str]:
        """Return the names of the features, a list."""
        return estimator.vectorizer_.get_feature_names_out().tolist()

    @_of_model
    def num_attributes_(self, estimator: Any) -> int:
        """Return the number of features."""
        return estimator.n_features_in_

    @_of_model
    def state_features_(self, estimator: Any) -> dict[tuple[str, Any], float]:
        """Return the weights of features, {(name, label): weight}."""
        return _by_name(self.attributes_, self.classes_, estimator.coef_.T)

    @_of_model
    def transition_features_(self, estimator: Any) -> dict[tuple[Any, Any], float]:
        """Return the weights of transitions, {(label, next label): weight}."""
        return _by_name(self.classes_, self.classes_, estimator.transition_)

    @_of_model
    def tagger_(self, estimator: Any) -> Tagger:
        """Return the model as python-crfsuite has it."""
        if estimator not in _TAGGERS:
            _TAGGERS[estimator] = Tagger().open_model(model_file_of(estimator))
        return _TAGGERS[estimator]

    @_of_model
    def modelfile(self, estimator: Any) -> FileResource:
        """Return the model as a file of CRFsuite."""
        if self.model_filename:
            return FileResource(self.model_filename)
        if estimator not in _FILES:
            _FILES[estimator] = FileResource.temporary(estimator)
        return _FILES[estimator]

    @_of_model
    def training_log_(self, estimator: Any) -> TrainingLog:
        """Return the figures of each iteration of the fit; its text is empty."""
        kept = vars(self).get("_training_log")
        return kept or TrainingLog.of_history(getattr(estimator, "history_", {}))

    @_of_model
    def size_(self, estimator: Any) -> int:
        """Return the size in bytes of the model's file."""
        return len(serialise(model_file_of(estimator)))

    def _model(self):
        """Return the fitted estimator, also of `model_filename`; None without one."""
        if "estimator_" not in vars(self) and os.path.isfile(self.model_filename or ""):
            self.estimator_ = from_crfsuite(self.model_filename)
        return vars(self).get("estimator_")

    def __dir__(self):
        """Return all names; scikit-learn would compute the attributes, too."""
        return object.__dir__(self)

    def _get_fitted_attr_html(self, doc_link=""):
        """Return the attributes of `estimator_`, for scikit-learn's HTML.

        The attributes of this class would take dicts of all weights.
        """
        return self.estimator_._get_fitted_attr_html(doc_link)


def _by_name(sources, labels, weights):
    """Return {(source, label): weight} of the weights that are not 0."""
    weights = sp.coo_array(weights)
    weights.eliminate_zeros()
    places = zip(*(numbers.tolist() for numbers in weights.coords), strict=True)
    return {
        (sources[i], labels[k]): weight
        for (i, k), weight in zip(places, weights.data.tolist(), strict=True)
    }
