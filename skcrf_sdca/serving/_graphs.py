"""Labels of the nodes of one graph, or of one tree whose nodes have heads."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._utils.words import in_words
from skcrf_sdca.data.graphs import Edges, split_graphs, split_trees
from skcrf_sdca.serving._model import Model
from skcrf_sdca.serving._structures import (
    NO_SCORES,
    ServedSequences,
    chains_of_readers,
    reader_of,
)
from skcrf_sdca.structures.graph.junction_tree import junction_trees
from skcrf_sdca.structures.graph.pairs import pair_places, terms_of_pairs, tied_of_pairs
from skcrf_sdca.structures.graph.scores import GraphScores
from skcrf_sdca.structures.path_terms import Term

# The errors of one graph say what `predict_one` calls it.
_named = in_words(X="sequence", sequence="graph", item="node", position="node")


class ServedGraphs(ServedSequences):
    """Graphs of small treewidth, whose nodes are eliminated one after the other."""

    is_readable, readable = False, None

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        n_labels, zeros = len(self._labels), np.zeros(len(self._labels))
        ends = model.of_labels["intercept"], zeros, zeros
        compiled = model.coef.compiled(*ends, NO_SCORES)
        chains = chains_of_readers(n_labels)
        self._reader = reader_of(model, model.coef, compiled, chains)
        self._place = pair_places(n_labels, model.own.directed)
        tied = tied_of_pairs(model.own.weights, self._place)
        self._tied = tied / self._temperature
        self._split = split_trees if model.own.are_trees else split_graphs

    def items_of(self, graph: Any) -> Any:
        """Return the nodes of a graph."""
        nodes, _, _ = self._split([graph])
        return nodes[0]

    def with_items(self, make: Any, graph: Any) -> Any:
        """Return a graph whose nodes ``make`` makes of its tokens."""
        # What is no graph is refused later, with what one is.
        is_graph = isinstance(graph, (tuple, list)) and len(graph) > 1
        return (make(graph[0]), *graph[1:]) if is_graph else graph

    @_named
    def scores(self, graph: Any) -> GraphScores:
        """Return the Scores of one graph, which are finite."""
        local = self._reader.scores(self.items_of(graph))
        edges, offsets = self._joined(graph, len(local)), np.array([0, len(local)])
        trees, _ = junction_trees(offsets, edges, len(self._labels), self._place)
        scores = GraphScores(trees, local, self._tied, offsets, 0)
        scores.check(0)
        return scores

    def _joined(self, graph, n_nodes):
        _, ends, features = self._split([graph])
        edges = Edges.of_lists(ends, features, [n_nodes])
        return edges.of_width(len(self._model.own.weights), "the model")

    def joint_terms(
        self,
        graph: Any,
        of_pairs: Any,
        paths: NDArray[Any],
        differs: NDArray[np.bool_],
        /,
        **places: int,
    ) -> Iterator[Term]:
        """Yield the terms of the nodes that edges join."""
        own = self._model.own.weights
        return terms_of_pairs(own, self._joined(graph, len(differs)), paths, differs)

    def spans(self, path: NDArray[Any], scores: Any, scheme: str | None) -> Any:
        """Raise ValueError: graphs have no spans."""
        raise ValueError("graphs have no spans: call predict_one")
