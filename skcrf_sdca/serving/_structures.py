"""What a Predictor asks of the structure of a model: one class for each structure.

It makes the Scores of one sequence, and gives answers the form in which users know
them. A Scores has all answers that a structure has.
"""

from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._kernels.inference._sequence_tagger import SequenceTagger, impossible
from skcrf_sdca.data.label_reading import LabelReading
from skcrf_sdca.data.spans import scheme_of_readable
from skcrf_sdca.serving._items import plain_items
from skcrf_sdca.serving._model import Model
from skcrf_sdca.serving._rows import RowTagger
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.scores import LARGEST_SCORE


def reader_of(model: Model, weights: Any, chains: Chains) -> Any:
    """Return what makes the scores of labels of one sequence, by compiled weights."""
    items, coef, temperature = model.items, model.coef, model.temperature or 1.0
    if items is None:
        is_signal = model.input_format == "signals"
        columns = coef.n_features, coef.columns
        return RowTagger(weights, chains, temperature, columns, is_signal)
    plain = partial(plain_items, items.item_type)
    reading = items.lookup, items.item_type, items.dtype, plain
    return SequenceTagger(reading, weights, chains, temperature, LARGEST_SCORE)


class ServedChain:
    """A chain, whose labels may be of spans."""

    def __init__(self, model: Model) -> None:
        self._model, weights = model, model.of_labels
        self._chains = Chains.of_fitted(weights["transition"], model.temperature or 1.0)
        ends = weights["intercept"], weights["start"], weights["end"]
        compiled = model.coef.compiled(*ends, self._chains.tied)
        self._reader = reader_of(model, compiled, self._chains)
        self._labels = model.classes.tolist()
        self._readings: dict[str, LabelReading] = {}

    def predict(self, sequence: Any) -> Any:
        """Return the most probable answer."""
        return self._reader.predict(sequence, self._labels)

    def scores(self, sequence: Any) -> Any:
        """Return the Scores of one sequence, of finite scores."""
        return self._chains.of_one(self._reader.scores(sequence))

    def answer(self, path: NDArray[Any]) -> Any:
        """Return a labelling as the user knows it."""
        return [self._labels[k] for k in path.tolist()]

    def rows(self, node: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return marginals as the user knows them."""
        return node

    def spans(self, path: NDArray[Any], scores: Any, scheme: str | None) -> Any:
        """Return the spans of a labelling; `scores` is None without probabilities."""
        scheme = scheme or self._model.scheme
        if scheme not in self._readings:
            self._readings[scheme] = LabelReading.of(self._model.names, scheme)
        return self._readings[scheme].spans_of(path, scores)

    @cached_property
    def readable(self) -> str | None:
        """A scheme that can read all labels, or None."""
        return scheme_of_readable([self._model.names], self._model.scheme)

    def impossible(self, n_positions: int) -> ValueError:
        """Return the error for a sequence without a possible labelling."""
        return impossible(n_positions)
