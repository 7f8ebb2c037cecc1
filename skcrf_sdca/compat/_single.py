"""One sequence through a fitted estimator: compiled, from its items to its labels.

The way of many sequences takes a hundred times as long as one sequence needs. Owns
when a compiled tagger is that of the estimator still.
"""

from operator import attrgetter, is_
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from skcrf_sdca._kernels.inference._sequence_tagger import SequenceTagger
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.model.fitted import sequence_tagger

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
        tagger = sequence_tagger(estimator)
        if tagger is None:
            return None
        made = Single(tagger, plain_labels(estimator.classes_), parts)
        _MADE[estimator] = made
    return made
