"""GraphAnswers: what a fitted model of graphs answers, and tables of its weights."""

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._kernels.features._features import FeatureRows
from skcrf_sdca._utils.messages import required_attribute
from skcrf_sdca._utils.typing import GraphInference, Graphs
from skcrf_sdca._utils.words import one_alone
from skcrf_sdca.data.containers import holds_sequences
from skcrf_sdca.data.graphs import Edges, named_as_graphs
from skcrf_sdca.model.compression import TrimmingMixin
from skcrf_sdca.model.explanation import Explanation, checked_place
from skcrf_sdca.model.fitted import FittedModel, fitted_weights
from skcrf_sdca.model.inspection import Inspection
from skcrf_sdca.model.tables import Table, weight_table
from skcrf_sdca.structures.form import Axis
from skcrf_sdca.structures.graph.pairs import pair_places, terms_of_pairs
from skcrf_sdca.structures.graph.parameters import GRAPH_BLOCKS, GraphParameters
from skcrf_sdca.structures.graph.reweighted import ReweightedGraph
from skcrf_sdca.structures.graph.structure import Graph

# Parameter `inference` -> the structure that fits, and whose scores answer.
GRAPHS: dict[str, type[Graph]] = {"exact": Graph, "trw": ReweightedGraph}


class PackedGraphs(NamedTuple):
    """Graphs that a fitted model predicts, validated and packed."""

    data: Any  # PackedSequences of the nodes
    input_format: Any
    edges: Edges
    place: NDArray[np.int32]
    trees: Any  # JunctionTrees or ReweightedGraphs
    order: NDArray[Any]  # of the edges of the trees


class GraphAnswers(Inspection, TrimmingMixin):
    """Answers of an estimator of graphs that has ``classes_`` and the weights."""

    _structure = "graph"
    _data_words = "edges"
    _named = staticmethod(named_as_graphs)

    inference: GraphInference
    edge_coef_: NDArray[np.float64]
    n_edge_features_in_: int

    @property
    def _no_labellings(self):
        return GRAPHS[self.inference].no_distribution

    @staticmethod
    def _axes_of(fitted):
        n = required_attribute(fitted, "n_edge_features_in_")
        own = {"edge_feature": Axis(n, words="features of each edge")}
        return FittedModel._axes_of(fitted) | own

    def _blocks(self):
        return GRAPH_BLOCKS

    @named_as_graphs
    def _pack(self, X, allowed, lengths=None):
        if isinstance(X, PackedGraphs):
            # Held-out data.
            return X
        nodes, ends, features = self._split(X)
        data, input_format, _ = super()._pack(nodes, None)
        edges = Edges.of_lists(ends, features, data.lengths)
        edges = edges.of_width(self.n_edge_features_in_, type(self).__name__)
        place = pair_places(len(self.classes_), self.directed)
        arrange = GRAPHS[self.inference].arrange
        trees, order = arrange(data.offsets, edges, len(place), place)
        return PackedGraphs(data, input_format, edges, place, trees, order)

    def _scores_of(self, packed):
        offsets, scores = packed.data.offsets, GRAPHS[self.inference].scores_type
        weights = fitted_weights(self)
        parameters, X = GraphParameters.of_fitted(weights, packed.place, packed.data.X)
        rows, temperature = FeatureRows(X), self.temperature_ or 1.0

        def scores_of(begin, end):
            found = parameters.potentials(rows, offsets, begin, end, temperature)
            return scores(packed.trees, *found, begin)

        return scores_of

    def _pair_marginals(self, scores, packed, begin, end):
        first, last = packed.edges.offsets[[begin, end]]
        found, bounds = scores.pair_marginals()
        pairs = np.empty_like(found)
        pairs[packed.order[first:last] - first] = found
        return pairs, bounds

    def predict_bound(self, X: Graphs) -> NDArray[np.float64]:
        """Return how far the labellings of `predict` may be from the best ones.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        distance : ndarray of shape (n,)
            An upper bound of the largest score of a labelling of each graph, less the
            score of the labelling of ``predict(X)``. 0 proves that no labelling has a
            larger score, and is the answer with ``inference="exact"``.

        Examples
        --------
        >>> from skcrf_sdca import GraphCRF
        >>> X = [([["a"], ["b"], ["b"]], [[0, 1], [1, 2], [2, 0]])]
        >>> crf = GraphCRF(inference="trw", random_state=0).fit(X, [["A", "B", "B"]])
        >>> crf.predict_bound(X).round(9)
        array([0.])
        """
        temperature = self.temperature_ or 1.0

        def distances(scores, begin, end):
            values, bounds = scores.maxima()
            return temperature * np.maximum(bounds - values, 0.0)

        return self._over(distances, self._packed(X), proba=False)

    def transition_features(self) -> Table:
        """Return all weights of pairs of labels that are not zero, the largest first.

        Returns
        -------
        table : Table
            With the columns feature, the number of a feature of edges, label_from,
            label_to and weight. Where edges have no direction, both orders
            of two labels have the same weight.

        Examples
        --------
        >>> from skcrf_sdca import GraphCRF
        >>> X = [([["a"], ["b"], ["b"]], [[0, 1], [1, 2]])]
        >>> crf = GraphCRF(solver="lbfgs", tol=1e-10).fit(X, [["A", "B", "B"]])
        >>> crf.transition_features()[:2]
        feature  label_from  label_to  weight
        0        B           B         +0.116
        0        A           B         +0.055
        """
        self._check_is_fitted()
        labels, numbers = self._label_values(), np.arange(len(self.edge_coef_))
        return weight_table(
            self.edge_coef_, feature=numbers, label_from=labels, label_to=labels
        )

    def explain(
        self,
        graph: Any,
        node: int,
        *,
        labels: Iterable[Hashable] | None = None,
        reference: Hashable | None = None,
        path: Iterable[Hashable] | None = None,
        feature_names: Iterable[str] | None = None,
    ) -> Explanation:
        """Return what features and neighbours contribute to the labels of a node.

        As `SDCACRF.explain` does for positions, it compares labellings: for every label
        k the best of all in which the node has the label k. The terms are those in
        which these differ: at each such node the intercept and the features that are
        not zero, and the edges of these nodes.

        Parameters
        ----------
        graph : one graph as in `fit`
        node : int
            The number of the node. Negative numbers count from the end.
        labels, reference, path, feature_names : default=None
            As for `SDCACRF.explain`.

        Returns
        -------
        explanation : Explanation
            As of the chains; positions are nodes, and ``<edge a-b>`` is an edge.

        Raises
        ------
        IndexError
            If the graph has no such node.
        ValueError, TypeError
            If a label was not seen in `fit`, path does not have V labels, feature_names
            has another length, or the graph is none, or of another input format than in
            `fit`.

        Examples
        --------
        >>> from skcrf_sdca import GraphCRF
        >>> X = [([["a"], ["b"], ["b"]], [[0, 1], [1, 2]])]
        >>> crf = GraphCRF(solver="lbfgs", tol=1e-10).fit(X, [["A", "B", "B"]])
        >>> crf.explain(X[0], 1)
        Position 1: B (probability 0.789) against A (probability 0.211)
        <BLANKLINE>
                     value       B
        probability          0.789
        score               +1.342
        b                1  +0.904
        <edge 0-1>       1  +0.227
        <intercept>      1  +0.151
        <edge 1-2>       1  +0.060
        """
        is_list = isinstance(graph, list) and holds_sequences(graph, depth=1)
        with one_alone("graph", is_list):
            packed = self._packed([graph])
        return self._explain(
            packed,
            self._named(checked_place)(node, packed.data.n_positions, "node"),
            labels=labels,
            reference=reference,
            path=path,
            feature_names=feature_names,
        )

    def _joint_terms(self, packed, paths, names, differs, *, position, first):
        return terms_of_pairs(self.edge_coef_, packed.edges, paths, differs)
