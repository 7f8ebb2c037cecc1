"""Dependency trees of one sentence: those of rows of arcs, and those of tokens."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._kernels.features._features import FeatureRows
from skcrf_sdca._kernels.features._single_weights import SingleWeights
from skcrf_sdca._kernels.features._weights import Weights
from skcrf_sdca._kernels.visits._tree_item import best_heads
from skcrf_sdca._utils.words import in_words
from skcrf_sdca.data.heads import read_known_trees, split_labels
from skcrf_sdca.data.tree_sizes import check_sentences
from skcrf_sdca.data.trees import TreeFormat, arcs_of, n_rows_of, sizes_of
from skcrf_sdca.serving._model import Model
from skcrf_sdca.serving._rows import CsrRows, rows_of_ones
from skcrf_sdca.serving._structures import (
    NO_SCORES,
    ServedSequences,
    chains_of_readers,
    reader_of,
)
from skcrf_sdca.structures.dependency.scores import ArcScores, inference_on_trees
from skcrf_sdca.structures.scores import LARGEST_SCORE, VITERBI
from skcrf_sdca.text.features.relation_features import relation_columns
from skcrf_sdca.text.features.token_arcs import TokenArcs

# The errors of one sentence say what `predict_one` calls it.
_named = in_words(X="sequence", sequence="sentence", item="arc", position="arc")


class _Trees(ServedSequences):
    """Trees of one sentence: what is the same whatever their features are of."""

    is_readable, readable = False, None

    def __init__(self, model: Model, *, labelled: bool) -> None:
        super().__init__(model)
        self._trees, siblings = model.own, model.own.rules.siblings
        self._format = TreeFormat(labelled=labelled, siblings=siblings)

    def _arcs(self, sentence):
        """Return the TokenArcs of one sentence."""
        arcs = TokenArcs(self._trees.templates, [sentence], takes_siblings=True)
        check_sentences(arcs.n_words, self._trees.rules)
        return arcs

    def _arc_scores(self, local, allowed):
        """Return the ArcScores of scores of relations, which are finite."""
        local = np.hstack([np.zeros((len(local), 1)), local])
        offsets = np.array([0, len(local)])
        scores = ArcScores(local, NO_SCORES, offsets, allowed, self._trees.rules)
        scores.check(0)
        return scores

    def items_of(self, sentence: Any) -> Any:
        """Return the rows of the arcs of a sentence."""
        rows, _ = arcs_of(sentence, 0)
        return rows

    def answer(self, path: NDArray[Any]) -> Any:
        """Return the heads of a tree, or a pair of these and the relations."""
        (tree,) = self._format.path_labels([path], self._model.classes)
        return tree

    @_named
    def codes_of(self, labels: Any, scores: ArcScores) -> tuple[Any, Any]:
        """Return the labels of arcs of heads, or of a pair of these and relations.

        The second array says which arcs are in the tree.
        """
        return read_known_trees(
            [labels],
            scores.offsets,
            scores.allowed,
            self._model.classes,
            labelled=self._format.labelled,
            rules=self._trees.rules._replace(projective=False),
        )

    def rows(self, node: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return marginals of heads [head, word], with a third axis for relations."""
        (rows,) = self._format.rows(node, np.array([0, len(node)]))
        return rows

    def spans(self, path: NDArray[Any], scores: Any, scheme: str | None) -> Any:
        """Raise ValueError: trees have no spans."""
        raise ValueError("dependency trees have no spans: call predict_one")

    def impossible(self, n_positions: int) -> ValueError:
        """Return the error for a sentence without a tree."""
        return ValueError(
            "sequence: the sentence has no tree of the arcs that are allowed, with "
            f"single_root={self._trees.rules.single_root} and "
            f"projective={self._trees.rules.projective}"
        )


class ServedTrees(_Trees):
    """Trees whose arcs have rows of features, or rows that are made of tokens."""

    def __init__(self, model: Model) -> None:
        super().__init__(model, labelled=model.own.labelled)
        if self._trees.templates is None:
            intercept, start, end = self._ends
            compiled = model.coef.compiled(intercept, start, end, NO_SCORES)
            chains = chains_of_readers(len(model.classes))
            self._reader = reader_of(model, model.coef, compiled, chains)

    @property
    def _ends(self) -> tuple[NDArray[np.float64], ...]:
        zeros = np.zeros(len(self._model.classes))
        return self._model.of_labels["intercept"], zeros, zeros

    # Those of all features, of which a file that claims many may have few.
    @cached_property
    def _weights(self) -> Weights:
        return Weights((self._model.coef.dense(), *self._ends, NO_SCORES))

    @_named
    def scores(self, sentence: Any) -> ArcScores:
        """Return the Scores of one sentence, which are finite."""
        if self._trees.templates is not None:
            return self._of_arcs(self._arcs(sentence))
        rows, allowed = arcs_of(sentence, 0)
        check_sentences(sizes_of([n_rows_of(rows)]), self._trees.rules)
        return self._arc_scores(self._reader.scores(rows), allowed)

    def rows_at(self, sentence: Any, places: list[int]) -> tuple[Any, Iterable[int]]:
        """Return rows with those of some arcs and siblings, and where they are."""
        if self._trees.templates is None:
            return self.rows_of(sentence), places
        arcs = self._arcs(sentence)
        made, shape = arcs.feature_rows(), (len(places), arcs.n_features)
        # Features that share a column count twice.
        found = (np.unique(made.columns(0, p), return_counts=True) for p in places)
        own = [np.array(pair, dtype=np.intp) for pair in found]
        bounds = np.append(0, np.cumsum([pair.shape[1] for pair in own]))
        columns, counts = np.hstack([np.zeros((2, 0), dtype=np.intp), *own])
        rows = CsrRows(counts.astype(np.float64), columns, bounds, shape)
        return rows, range(len(places))

    def _of_arcs(self, arcs):
        """Return the ArcScores of TokenArcs."""
        local = np.empty((arcs.n_positions, self._weights.n_labels))
        self._weights.node_scores(arcs.feature_rows(), arcs.offsets, 0, 1, local)
        if self._temperature != 1.0:
            local /= self._temperature
        return self._arc_scores(local, None)


class _Relations:
    """The weights of relations, by the features of words in a tree."""

    def __init__(self, model: Model) -> None:
        self._names, coef = model.classes.tolist(), model.coef
        blocks = [model.of_labels[name] for name in ("intercept", "start", "end")]
        self._row, values = None, coef.values
        if coef.columns is not None:
            # The last row is that of all features without weights.
            values = np.vstack([values, np.zeros(values.shape[1])])
            self._row = np.full(coef.n_features, len(values) - 1, dtype=np.int32)
            self._row[coef.columns] = np.arange(len(values) - 1)
        self._weights = Weights((values, *blocks, NO_SCORES))

    def names(self, columns: NDArray[np.int32]) -> list[Any]:
        """Return the best relation of each word, of the columns of its features."""
        columns = columns if self._row is None else self._row[columns]
        rows = FeatureRows(rows_of_ones(columns, self._weights.n_features))
        scores = np.empty((len(columns), len(self._names)))
        self._weights.node_scores(rows, np.array([0, len(columns)]), 0, 1, scores)
        return [self._names[k] for k in scores.argmax(axis=1).tolist()]


class ServedParser(_Trees):
    """Trees of an online parser; relations are found given the heads."""

    def __init__(self, model: Model) -> None:
        super().__init__(model, labelled=False)
        self._relations = None
        if model.own.labelled:
            self._relations = _Relations(model.own.relations)

    @cached_property
    def _w(self) -> NDArray[np.float32]:
        dense = self._model.coef.dense()[:, 0]
        # Weights beyond single precision are named where scores are made of them.
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(dense, dtype=np.float32)

    @_named
    def predict(self, sentence: Any) -> Any:
        """Return the best tree, and its relations."""
        arcs, heads = self._arcs(sentence), None
        if self._model.decoding == VITERBI:
            rows, largest = arcs.rows(), LARGEST_SCORE * self._temperature
            inference = inference_on_trees(self._trees.rules, arcs.offsets, 2, None)
            siblings = arcs.sibling_rows(rows)
            heads = best_heads(rows, inference, self._w, largest, siblings)
        # Scores that are no numbers are named there.
        if heads is None:
            path, _ = self.decode(self._of_arcs(arcs))
            heads = np.array(self.answer(path), dtype=np.intc)
        if self._relations is None:
            return heads.tolist()
        columns = relation_columns(arcs.codes, arcs.n_words, heads)
        return heads.tolist(), self._relations.names(columns)

    @_named
    def codes_of(self, labels: Any, scores: ArcScores) -> tuple[Any, Any]:
        """Return the labels of arcs of the heads: the scores are of these alone."""
        labelled = self._relations is not None
        (heads,), _ = split_labels([labels], scores.n_words, labelled=labelled)
        return super().codes_of(heads, scores)

    @_named
    def scores(self, sentence: Any) -> ArcScores:
        """Return the Scores of the heads of one sentence, which are finite."""
        return self._of_arcs(self._arcs(sentence))

    def _of_arcs(self, arcs):
        local = np.empty((arcs.n_positions, 1))
        weights, rows = SingleWeights(self._w), arcs.feature_rows()
        weights.node_scores(rows, arcs.offsets, 0, 1, local)
        return self._arc_scores(local / self._temperature, None)
