"""One sequence through a fitted estimator: compiled, from its items to its labels.

The way of many sequences takes a hundred times as long as one sequence needs. Owns
when a compiled tagger is that of the estimator still.
"""

from operator import attrgetter, is_
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._kernels.features._features import RowLayout
from skcrf_sdca._kernels.features._weights import Weights
from skcrf_sdca._kernels.inference._sequence_tagger import SequenceTagger
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.features.vectorizer import reading_of
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.scores import LARGEST_SCORE

_PARTS = attrgetter(
    "coef_",
    "intercept_",
    "start_",
    "end_",
    "transition_",
    "temperature_",
    "classes_",
    "vectorizer_._lookup",
    "vectorizer_.input_format_",
    "vectorizer_.dtype",
)


class Single(NamedTuple):
    """A compiled tagger, its labels, and the attributes that it was made of."""

    tagger: SequenceTagger
    labels: list[Any]
    parts: tuple[Any, ...]


# Not an attribute of the estimator, which a prediction must not change.
_MADE: WeakKeyDictionary[Any, Single] = WeakKeyDictionary()


def single_of(estimator: Any) -> Single | None:
    """Return the Single of a fitted estimator; None if its items are no dicts or str.

    It is made once, and again if an attribute has become another object.
    """
    try:
        parts = _PARTS(estimator)
    except AttributeError:
        return None
    made = _MADE.get(estimator)
    if made is None or not all(map(is_, parts, made.parts)):
        tagger = _compiled(estimator)
        if tagger is None:
            return None
        made = Single(tagger, plain_labels(estimator.classes_), parts)
        _MADE[estimator] = made
    return made


def _compiled(estimator):
    """Return the SequenceTagger of an estimator, or None."""
    estimator._check_is_fitted()
    if not sp.issparse(estimator.coef_):
        return estimator._tagger()
    # From a row for each label to the labels of each feature.
    coef = sp.csc_array(estimator.coef_, dtype=np.float64)
    temperature = estimator.temperature_ or 1.0
    chains = Chains.of_fitted(estimator.transition_, temperature)
    n_labels, n_features = coef.shape
    layout = RowLayout(
        n_features,
        n_labels,
        coef.indptr.astype(np.int64),
        coef.indices.astype(np.int32),
        np.ones(coef.nnz, dtype=bool),
    )
    ends = estimator.intercept_, estimator.start_, estimator.end_
    weights = Weights((coef.data, *ends, chains.tied), layout=layout)
    reading = reading_of(estimator.vectorizer_)
    return SequenceTagger(reading, weights, chains, temperature, LARGEST_SCORE)
