"""GraphPrediction: everything a fitted model of graphs answers.

It needs the fitted attributes alone, and changes none. Most lines are reference.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from skcrf_sdca._kernels._features import FeatureRows
from skcrf_sdca._utils.availability import available_if
from skcrf_sdca._utils.messages import required_attribute
from skcrf_sdca._utils.typing import (
    Decoding,
    Graphs,
    KnownLabels,
    Labels,
    RandomState,
)
from skcrf_sdca.data.rows import split_rows
from skcrf_sdca.estimators.answers import (
    accuracy,
    check_count,
    check_draws_fit,
    check_labellings_fit,
    n_best_labels,
    over_scores,
)
from skcrf_sdca.estimators.fitted import FittedModel, no_probabilities
from skcrf_sdca.estimators.graph_data import (
    graph_labels,
    known_graph_labels,
    named_as_graphs,
    packed_graphs,
)
from skcrf_sdca.estimators.parameter_docs import with_graph_docs
from skcrf_sdca.structures.graph.parameters import WEIGHTS, GraphParameters
from skcrf_sdca.structures.scores import DECODERS


@with_graph_docs
class GraphPrediction(FittedModel):
    """Answers of an estimator of graphs that has ``classes_`` and the weights."""

    _weights = WEIGHTS

    edge_coef_: NDArray[np.float64]
    n_edge_features_in_: int

    def _axis_lengths(self):
        return super()._axis_lengths() | {
            "e": required_attribute(self, "n_edge_features_in_")
        }

    def predict(
        self,
        X: Graphs,
        *,
        decoding: Decoding = "viterbi",
        known: KnownLabels | None = None,
    ) -> NDArray[Any]:
        """Return a labelling of every graph.

        Parameters
        ----------
        X : as in `fit`
        decoding : {"viterbi", "posterior"}, default="viterbi"
            "viterbi" is the most probable labelling, exactly; of equally good ones that
            with the lower label at the node where they differ that is eliminated last,
            see :ref:`equal-scores`. "posterior" is that with the largest expected
            number of right labels: the most probable label of each node, the lowest of
            equally probable ones.
        known : list of n lists of V labels, default=None
            Labels that are known and kept, None where the label is free. The others are
            decoded given these.

        Returns
        -------
        y : ndarray of shape (n,)
            An object array of label lists.

        Raises
        ------
        ValueError
            If `decoding` is unknown, or `known` does not have the numbers of nodes of X
            or has a label that was not in `fit`; the message names the graph.

        Examples
        --------
        {graphs}
        >>> crf.predict([([["a"], ["b"]], [[0, 1]])])
        array([list(['A', 'B'])], dtype=object)
        >>> crf.predict([([["a"], ["b"]], [[0, 1]])], known=[["B", None]])
        array([list(['B', 'A'])], dtype=object)
        """
        if not isinstance(decoding, str) or decoding not in DECODERS:
            raise ValueError(
                f"decoding must be one of {sorted(DECODERS)}, got {decoding!r}."
            )
        fitted = packed_graphs(self, X)
        offsets, fixed = fitted.data.offsets, None
        if known is not None:
            fixed = known_graph_labels(self, known, fitted)

        def decode(scores, begin, end):
            if fixed is not None:
                scores = scores.clamped(fixed[offsets[begin] : offsets[end]])
            paths, _ = DECODERS[decoding](scores)
            return fitted.input_format.labels(paths, self.classes_, scores.offsets)

        return self._over_graphs(decode, fitted, proba=decoding == "posterior")

    @available_if(no_probabilities)
    def sample(
        self, X: Graphs, n_draws: int = 1, random_state: RandomState = None
    ) -> NDArray[Any]:
        """Draw labellings of every graph from p(y | x), exactly.

        Parameters
        ----------
        X : as in `fit`
        n_draws : int, default=1
            Independent draws, at least 1.
        random_state : int, RandomState instance or None, default=None
            Pass an int for the same draws at every call.

        Returns
        -------
        y : ndarray of shape (n_draws, n)
            Each row is as from `predict`.

        Raises
        ------
        ValueError
            If `n_draws` is not an integer of at least 1.
        MemoryError
            If so many draws clearly do not fit into memory.

        Examples
        --------
        {graphs}
        >>> X = [([["a"], ["b"]], [[0, 1]])]
        >>> crf.sample(X, n_draws=100, random_state=0).shape
        (100, 1)
        """
        check_count("n_draws", n_draws)
        fitted = packed_graphs(self, X)
        data = fitted.data
        generator = check_random_state(random_state)
        named_as_graphs(check_draws_fit)(n_draws, data, fitted.input_format)
        uniform = generator.random_sample((data.n_positions, n_draws))

        def draws(scores, begin, end):
            own = uniform[data.offsets[begin] : data.offsets[end]]
            drawn = [
                fitted.input_format.labels(path, self.classes_, scores.offsets)
                for path in scores.sample(own).T
            ]
            return np.stack(drawn, axis=1)

        return self._over_graphs(draws, fitted).T

    def predict_n_best(self, X: Graphs, n: int) -> NDArray[Any]:
        """Return the n most probable labellings of every graph, exactly.

        It takes as many searches as a graph has nodes for each labelling. The memory is
        that of the labellings: a few hundred bytes for each, and twelve for each label.

        Parameters
        ----------
        X : as in `fit`
        n : int
            Labellings wanted, at least 1.

        Returns
        -------
        labellings : ndarray of shape (n_graphs,)
            An object array of lists of (labels, probability), best first, or of
            (labels, score) after a fit with the hinge loss; fewer than n where a graph
            does not have so many labellings. The first labels are those of `predict`,
            and labellings with equal scores are ordered as there.

        Raises
        ------
        ValueError
            If n is not an integer of at least 1.
        MemoryError
            If so many labellings clearly do not fit into memory.

        Examples
        --------
        {graphs}
        >>> (best,) = crf.predict_n_best([([["a"], ["b"]], [[0, 1]])], 2)
        >>> len(best), best[0][0]
        (2, ['A', 'B'])
        """
        check_count("n", n)
        fitted = packed_graphs(self, X)
        named_as_graphs(check_labellings_fit)(self, n, fitted.data.lengths)

        @named_as_graphs
        def best(scores, begin, end):
            return n_best_labels(self, scores, n, fitted.input_format)

        return self._over_graphs(best, fitted, proba=False)

    @available_if(no_probabilities)
    def predict_proba(self, X: Graphs) -> NDArray[Any]:
        """Return the probability of every label at every node.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        proba : ndarray of shape (n,)
            An object array of arrays of shape (V, n_labels), in the order of
            ``classes_``.

        Examples
        --------
        {graphs}
        >>> (proba,) = crf.predict_proba([([["a"], ["b"]], [[0, 1]])])
        >>> proba.shape
        (2, 2)
        """

        def rows(scores, begin, end):
            return split_rows(scores.node_marginals()[0], scores.offsets)

        return self._over_graphs(rows, packed_graphs(self, X))

    @available_if(no_probabilities)
    def predict_edge_proba(self, X: Graphs) -> NDArray[Any]:
        """Return the probability of every pair of labels that an edge joins.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        proba : ndarray of shape (n,)
            An object array of arrays of shape (E, n_labels, n_labels), in the order of
            the edges: entry [e, j, k] is the probability of label j at the first node
            of edge e and label k at its second.

        Examples
        --------
        {graphs}
        >>> (proba,) = crf.predict_edge_proba([([["a"], ["b"]], [[0, 1]])])
        >>> proba.shape
        (1, 2, 2)
        """
        fitted = packed_graphs(self, X)

        def pairs(scores, begin, end):
            first, last = fitted.edges.offsets[[begin, end]]
            found, bounds = scores.pair_marginals()
            out = np.empty_like(found)
            out[fitted.order[first:last] - first] = found
            return split_rows(out, bounds)

        return self._over_graphs(pairs, fitted)

    @available_if(no_probabilities)
    def log_partition(self, X: Graphs) -> NDArray[np.float64]:
        """Return log Z of every graph, the log of the sum of exp(score(x, y)).

        Scores are divided by ``temperature_``.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        log_partition : ndarray of shape (n,)
            In nats; 0 for a graph without nodes.

        Examples
        --------
        {graphs}
        >>> crf.log_partition([([["a"], ["b"]], [[0, 1]])]).shape
        (1,)
        """

        def values(scores, begin, end):
            return scores.log_partition()

        return self._over_graphs(values, packed_graphs(self, X))

    @available_if(no_probabilities)
    def log_likelihood(self, X: Graphs, y: Labels) -> NDArray[np.float64]:
        """Return log p(y | x) of every graph: score(x, y) - log Z.

        Parameters
        ----------
        X, y : as in `fit`

        Returns
        -------
        log_likelihood : ndarray of shape (n,)
            In nats, at most 0. -inf where y has a label that was not in `fit`. Where
            some labels are not known, it is log p of those that are.

        Raises
        ------
        ValueError, TypeError
            If y does not have the numbers of nodes of X, or labels of another type than
            in `fit`.

        Examples
        --------
        {graphs}
        >>> X = [([["a"], ["b"]], [[0, 1]])]
        >>> bool(crf.log_likelihood(X, [["A", "B"]])[0] > -1)
        True
        """
        fitted = packed_graphs(self, X)
        labels, known = graph_labels(self, y, fitted)
        offsets = fitted.data.offsets

        def values(scores, begin, end):
            nodes = slice(offsets[begin], offsets[end])
            mask = None if known is None else known[nodes] > 0.0
            return scores.log_likelihood(labels[nodes], mask)

        return self._over_graphs(values, fitted)

    def score(
        self, X: Graphs, y: Labels, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the share of nodes whose label is predicted right.

        Parameters
        ----------
        X, y : as in `fit`
            Labels that were not in `fit` count as wrong.
        sample_weight : array-like of shape (n,), default=None
            Weight of each graph.

        Returns
        -------
        accuracy : float

        Examples
        --------
        {graphs}
        >>> crf.score([([["a"], ["b"]], [[0, 1]])], [["A", "never seen"]])
        0.5
        """
        fitted = packed_graphs(self, X)
        labels, weight = graph_labels(self, y, fitted, sample_weight)

        def paths(scores, begin, end):
            return scores.viterbi()[0]

        found = self._over_graphs(paths, fitted, proba=False)
        return accuracy(found, labels, weight, "nodes")

    def _over_graphs(self, function, packed, *, proba=True):
        """Return ``function(scores, begin, end)`` of ranges of graphs, in one array.

        ``proba`` is as for `over_scores`.
        """
        data, trees = packed.data, packed.trees
        parameters, X = GraphParameters.of_fitted(self, packed.place, data.X)
        rows = FeatureRows(X)

        @named_as_graphs
        def scores(begin, end):
            found = parameters.scores(
                rows,
                trees,
                data.offsets,
                begin,
                end,
                temperature=self.temperature_ or 1.0,
            )
            found.check(begin)
            return found

        return over_scores(self, function, scores, data.offsets, proba=proba)
