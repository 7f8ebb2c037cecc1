"""GraphInspection: why a node of a graph has its label."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.estimators.contrast import INTERCEPT, Rivals, new_terms, state_terms
from skcrf_sdca.estimators.explanation import Explanation
from skcrf_sdca.estimators.graph_prediction import GraphPrediction
from skcrf_sdca.estimators.inspection import FeatureInspection, as_index
from skcrf_sdca.estimators.parameter_docs import with_graph_docs


@with_graph_docs
class GraphInspection(FeatureInspection, GraphPrediction):
    """Methods that show the weights of a model of graphs and explain its labels."""

    def explain(
        self,
        graph: Any,
        node: int,
        *,
        labels: Iterable[Hashable] | None = None,
        reference: Hashable | None = None,
        feature_names: Iterable[str] | None = None,
    ) -> Explanation:
        """Return what features and neighbours contribute to the labels of a node.

        For every label k it explains the number ::

            score(labelling of k) - score(labelling of reference)

        where the labelling of k is the best of all in which the node has the label k.
        These may differ at other nodes too. The terms are those in which the labellings
        differ: at each such node the intercept and the features that are not zero, and
        the edges of these nodes.

        Parameters
        ----------
        graph : one graph as in `fit`
        node : int
            The number of the node. Negative numbers count from the end.
        labels : list of labels, default=None
            Labels k to explain. By default the predicted one and the reference, or the
            best other label if the predicted one is the reference.
        reference : label, default=None
            The label that the others are compared with. By default that of the best
            labelling in which the node has another label than the predicted one.
        feature_names : array-like of str of shape (n_features_in_,), default=None
            As for `state_features`.

        Returns
        -------
        explanation : Explanation
            As of the chains; positions are nodes, and ``<edge a-b>`` is an edge.

        Raises
        ------
        IndexError
            If the graph has no such node.
        ValueError, TypeError
            If a label was not seen in `fit`, feature_names has another length, or the
            graph is none, or of another input format than in `fit`.

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
        names = self._weight_names(feature_names)
        labels = None if labels is None else self._codes(labels, "labels")
        if reference is not None:
            (reference,) = self._codes([reference], "reference")
        packed = self._packed([graph])
        v, n_nodes = as_index(node, "node"), packed.data.n_positions
        if not -n_nodes <= v < n_nodes:
            raise IndexError(f"node: {node} is not in the graph of {n_nodes} nodes.")
        v %= n_nodes

        def best_with(codes):
            return self._over(
                lambda scores, *_: scores.restricted(v, codes).viterbi()[0],
                packed,
                proba=False,
            )

        rivals = Rivals(
            best_with(range(len(self.classes_))),
            best_with,
            plain_labels(self.classes_),
            position=v,
            first=0,
        )
        labels, reference = rivals.choose(labels, reference)
        paths = rivals.paths(labels, reference)
        probabilities = None
        if self._has_probabilities:
            probabilities = self._over(
                lambda scores, *_: scores.node_marginals()[0][[v]], packed
            )[0]
        return Explanation(
            self._terms(packed, np.stack(list(paths.values())), names, v),
            probabilities,
            plain_labels(self.classes_),
            position=v,
            label=rivals.label,
            reference=reference,
            labels=labels,
            paths=paths,
        )

    def _terms(self, packed, paths, names, v):
        """Return the Terms of the scores of labellings (n_paths, V) of one graph."""
        differs = (paths != paths[0]).any(axis=0)
        changed = np.flatnonzero(differs).tolist()
        terms = []
        for s in changed:
            where = "" if s == v else f"[{s}] "
            own = paths[:, s]
            for feature, value, scores in state_terms(self, packed.data.X[[s]], own):
                terms.append((f"{where}{names[feature]}", value, scores))
            terms.append((f"{where}{INTERCEPT}", 1.0, self.intercept_[own]))
        edges = packed.edges
        for (a, b), row in zip(edges.ends.tolist(), edges.features, strict=True):
            if differs[a] or differs[b]:
                scores = row @ self.edge_coef_[:, paths[:, a], paths[:, b]]
                terms.append((f"<edge {a}-{b}>", 1.0, scores))
        return new_terms(terms, paths, changed)
