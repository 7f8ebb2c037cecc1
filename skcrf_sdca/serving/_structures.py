"""What a Predictor asks of the structure of a model: one class for each structure.

It makes the Scores of one sequence, and gives answers the form in which users know
them. A Scores has all answers that a structure has.
"""

from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._kernels.inference._sequence_tagger import SequenceTagger, impossible
from skcrf_sdca._kernels.visits._tying import scores_of_parts
from skcrf_sdca.data.label_encoding import encode_known_labels, without_unknown_labels
from skcrf_sdca.data.label_reading import LabelReading
from skcrf_sdca.data.spans import scheme_of_readable
from skcrf_sdca.model.span_queries import SegmentReading
from skcrf_sdca.serving._items import encoded, plain_items
from skcrf_sdca.serving._model import Model
from skcrf_sdca.serving._rows import CsrRows, HashTagger, RowTagger
from skcrf_sdca.serving._steps import StepTagger
from skcrf_sdca.serving._weights import Coef
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.chain.tuple_scores import TupleWeights
from skcrf_sdca.structures.path_terms import (
    Term,
    chain_terms,
    segment_terms,
    tuple_terms,
)
from skcrf_sdca.structures.scores import DECODERS, LARGEST_SCORE, VITERBI
from skcrf_sdca.structures.segment.scores import SegmentScores, check_segments_fit

NO_SCORES = np.zeros(0)


def reader_of(model: Model, coef: Coef, weights: Any, chains: Chains) -> Any:
    """Return what makes the scores of labels of one sequence.

    ``coef`` are its weights of features, and ``weights`` the same compiled.
    """
    items, temperature = model.items, model.temperature or 1.0
    of_rows = weights, chains, temperature, (coef.n_features, coef.columns)
    if model.steps is not None:
        return StepTagger(model.steps, *of_rows)
    if items is None:
        return RowTagger(*of_rows, model.input_format == "signals")
    if items.hashing is not None:
        return HashTagger(items, *of_rows)
    plain = partial(plain_items, items.item_type)
    reading = items.lookup, items.item_type, items.dtype, plain
    return SequenceTagger(reading, weights, chains, temperature, LARGEST_SCORE)


def chains_of_readers(n: int) -> Chains:
    """Return Chains for readers alone, whose labels have other transitions."""
    return Chains.of_fitted(np.zeros((n, n)), 1.0)


class ServedSequences:
    """Sequences of labels, which may be of spans.

    A structure adds `scores`, the Scores of one sequence, of finite scores.
    """

    # The reader of the scores of labels.
    _reader: Any
    scores: Any

    def __init__(self, model: Model) -> None:
        self._model = model
        self._temperature = model.temperature or 1.0
        self.decode = DECODERS[model.decoding]
        self._labels = model.classes.tolist()
        self._readings: dict[str, LabelReading] = {}

    def predict(self, sequence: Any) -> Any:
        """Return the answer that the decoding of the model finds."""
        path, (value,) = self.decode(self.scores(sequence))
        if len(path) and value == -np.inf:
            raise self.impossible(len(path))
        return self.answer(path)

    def answer(self, path: NDArray[Any]) -> Any:
        """Return a labelling as the user knows it."""
        return [self._labels[k] for k in path.tolist()]

    def codes_of(self, labels: Any, scores: Any) -> tuple[Any, Any]:
        """Return the numbers of labels that the user gives, and which are known.

        The latter is an array of bool, or None if all are.
        """
        lengths, classes = np.diff(scores.offsets), self._model.classes
        y, known = without_unknown_labels([list(labels)], lengths, classes, None)
        codes = encode_known_labels(y, lengths, classes, or_none=True)
        return codes, None if known is None else known > 0.0

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
    def is_readable(self) -> bool:
        """Whether labels are of spans in the scheme by default."""
        return self.readable is not None

    @cached_property
    def readable(self) -> str | None:
        """A scheme that can read all labels, or None."""
        return scheme_of_readable([self._model.names], self._model.scheme)

    def impossible(self, n_positions: int) -> ValueError:
        """Return the error for a sequence without a possible labelling."""
        return impossible(n_positions)

    def items_of(self, sequence: Any) -> Any:
        """Return the items that have features: of a sequence itself."""
        return sequence

    def with_items(self, make: Any, sequence: Any) -> Any:
        """Return a sequence whose items ``make`` makes of its tokens."""
        return make(sequence)

    def rows_of(self, sequence: Any) -> Any:
        """Return the features of a sequence, an array of rows or `CsrRows`."""
        items, n_features = self._model.items, self._model.coef.n_features
        sequence = self.items_of(sequence)
        if items is None or items.hashing is not None:
            return self._reader.rows(sequence)
        data, indices, indptr = encoded(items, sequence)
        return CsrRows(data, indices, indptr, (len(indptr) - 1, n_features))

    def of_labels(self, weights: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
        """Return the rows of weights that labels have, by their numbers."""
        return weights[labels]

    def of_pairs(self, weights: NDArray[Any], pairs: NDArray[Any]) -> NDArray[Any]:
        """Return the rows of weights that pairs of labels (n, 2) have."""
        return weights[pairs[:, 0] * len(self._labels) + pairs[:, 1]]

    # The weights of pairs, those of more labels, and the Coef of pairs or None.
    _of_several: tuple[Any, Any, Coef | None]

    def joint_terms(
        self,
        sequence: Any,
        of_pairs: Any,
        paths: NDArray[Any],
        differs: NDArray[np.bool_],
        /,
        **places: int,
    ) -> Iterator[Term]:
        """Yield the terms of several labels; arguments are as of `chain_terms`.

        ``of_pairs`` takes the Coef of pairs, and then what `tuple_terms` calls it with.
        """
        transition, higher, edges = self._of_several
        yield from chain_terms(transition, self._labels, paths, differs, **places)
        of_pairs = None if edges is None else partial(of_pairs, edges)
        yield from tuple_terms(higher, of_pairs, paths, differs)

    def _labels_reader(self, tied, chains):
        """Return the reader of the weights of labels, or of parts of these."""
        weights = self._model.of_labels
        ends = weights["intercept"], weights["start"], weights["end"]
        compiled = self._model.coef.compiled(*ends, tied)
        return reader_of(self._model, self._model.coef, compiled, chains)


class ServedChain(ServedSequences):
    """A chain, with a compiled way from items to labels."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._of_several = model.own, (), None
        self._chains = Chains.of_fitted(model.own, self._temperature)
        self._reader = self._labels_reader(self._chains.tied, self._chains)

    def predict(self, sequence: Any) -> Any:
        """Return the labels that the decoding of the model finds."""
        if self._model.decoding != VITERBI:
            return super().predict(sequence)
        return self._reader.predict(sequence, self._labels)

    def scores(self, sequence: Any) -> Any:
        """Return the Chains of one sequence."""
        return self._chains.of_one(self._reader.scores(sequence))


class ServedParts(ServedSequences):
    """A chain of labels whose parts have the other weights."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        transition, self._parts = model.own
        self._of_several = transition, (), None
        self._chains = Chains.of_fitted(transition, self._temperature)
        n_parts = self._parts.shape[1]
        self._reader = self._labels_reader(NO_SCORES, chains_of_readers(n_parts))

    def scores(self, sequence: Any) -> Any:
        """Return the Chains of one sequence."""
        parts = self._reader.scores(sequence)
        labels = np.empty((len(parts), len(self._labels)))
        scores_of_parts(self._parts, parts, labels)
        return self._chains.of_one(labels)

    def of_labels(self, weights: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
        """Return the sums of the rows of weights that the parts of labels have."""
        return self._parts.dense()[labels] @ weights


class ServedTuples(ServedSequences):
    """A chain of higher order, or whose pairs of labels have features."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        by_length, edges = model.own
        self._of_several = by_length[0], by_length[1:], edges
        chains = chains_of_readers(len(self._labels))
        self._reader = self._labels_reader(NO_SCORES, chains)
        n_pairs, self._of_pairs, has_pair = len(self._labels) ** 2, None, None
        if edges is not None:
            has_pair = edges.has_labels(n_pairs).reshape(by_length[0].shape)
            compiled = edges.compiled(*np.zeros((3, n_pairs)), NO_SCORES)
            chains = chains_of_readers(n_pairs)
            self._of_pairs = reader_of(model, edges, compiled, chains)
        self._tuples = TupleWeights(by_length, has_pair)

    def scores(self, sequence: Any) -> Any:
        """Return the TupleScores of one sequence."""
        labels, edges = self._reader.scores(sequence), None
        if self._of_pairs is not None:
            edges = self._of_pairs.scores(sequence)[:, self._tuples.pairs()]
        offsets = np.array([0, len(labels)])
        return self._tuples.scores(labels, edges, offsets, self._temperature)


class ServedSegments(ServedSequences):
    """Segments, whose weights are those of their types and lengths."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._grammar, transition, length = model.own
        self._tied_weights = transition, length
        tied = np.concatenate([transition.ravel(), length.ravel()])
        self._tied = tied / self._temperature
        chains = chains_of_readers(len(self._labels))
        self._reader = self._labels_reader(NO_SCORES, chains)

    def scores(self, sequence: Any) -> Any:
        """Return the SegmentScores of one sequence."""
        local = self._reader.scores(sequence)
        offsets = np.array([0, len(local)])
        check_segments_fit(np.diff(offsets), self._grammar, None)
        return SegmentScores(local, self._tied, offsets, self._grammar)

    def spans(self, path: NDArray[Any], scores: Any, scheme: str | None) -> Any:
        """Return the segments that are spans; in the scheme of the fit alone."""
        reading, offsets = SegmentReading.of(self._grammar, scheme), [0, len(path)]
        (found,) = reading.found(path, np.array(offsets))
        values = len(found) * [None]
        if scores is not None:
            asked = reading.asked([found], np.diff(offsets))
            values = asked.probabilities(scores, 0, 1)[0].tolist()
        return [(*span, value) for span, value in zip(found, values, strict=True)]

    def joint_terms(
        self, sequence: Any, of_pairs: Any, paths: Any, /, *_: Any, **places: int
    ) -> Iterator[Term]:
        """Yield the terms of segments, and of transitions between these."""
        return segment_terms(self._grammar, *self._tied_weights, None, paths)

    is_readable = True
    readable = None
