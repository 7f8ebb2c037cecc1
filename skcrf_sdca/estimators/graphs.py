"""GraphCRF and TreeCRF: labels of nodes, joined by edges of any graph.

A fit is the Problem of the other estimators on another structure, solved by the same
solvers; nothing here says how inference is done. data/graphs.py reads graphs, and the
methods of a fitted model are in graph_answers.py.
"""

from collections.abc import Callable
from dataclasses import field
from typing import Self

from numpy.typing import ArrayLike

from skcrf_sdca._utils.label_estimator import fits
from skcrf_sdca._utils.typing import GraphInference, Graphs, Labels
from skcrf_sdca.data.graph_data import read_graphs
from skcrf_sdca.data.graphs import split_graphs, split_trees
from skcrf_sdca.estimators.base import BaseFit
from skcrf_sdca.estimators.parameters import GraphOptions, parameters
from skcrf_sdca.estimators.solver_choice import SolverByName
from skcrf_sdca.model.graph_answers import GRAPHS, GraphAnswers


@parameters(max_iter=1000)
class GraphCRF(GraphOptions, SolverByName, GraphAnswers, BaseFit):
    """CRF of graphs: a label of each node, with scores of the labels that edges join.

    The fit minimises, over all weights w (``coef_``, ``intercept_``, ``edge_coef_``)::

        P(w) = alpha/2 ||w||^2 + 1/n sum_i L_i(w),
        L_i(w) = -log p(y_i | x_i; w)    with the default loss,

        score(x, y) = sum_v (coef_[y_v] . x_v + intercept_[y_v])
                      + sum_e x_e . edge_coef_[:, y_from(e), y_to(e)]

    Inference is exact, by a junction tree of each graph [1]_, and the fit stops on the
    certificate of the other estimators: ``duality_gap_`` bounds the distance of P(w)
    from its minimum. Its time and memory grow with n_labels to the power of the largest
    clique: forests, sequences with a few more edges, rings and narrow grids are fast.
    A graph that does not fit is refused, before anything is allocated.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {graph_weights_}
    {solver_}
    {fit_}

    See Also
    --------
    TreeCRF : The same for trees that are given by the head of each node.
    SDCACRF : Chains, with weights of the first and the last label.

    Notes
    -----
    The order of elimination is that of min-fill [1]_: it is exact for forests, and good
    for small graphs. The tables of one graph take about 8 * n_nodes * n_labels^c bytes,
    c the number of nodes of the largest clique (2 for trees, 3 for rings, the shorter
    side plus 1 for grids); those of another graph take their place. Every type of edge,
    of equal features, takes 48 * n_labels^2 bytes, those of one graph at a time. With
    "oeg" the dual variables take 12 * (n_nodes * n_labels + n * n_edge_features *
    n_labels^2) bytes, n_nodes those of all graphs, or a third of it above 3 GiB; with
    "sdca" half of the tables of all graphs.

    References
    ----------
    .. [1] Koller, Friedman, "Probabilistic Graphical Models", MIT Press, 2009,
       chapters 9 and 10.

    Examples
    --------
    Two words that are equal have an edge beside those of neighbours:

    >>> from skcrf_sdca import GraphCRF
    >>> words = ["Ada", "met", "Ada"]
    >>> nodes = [[word] for word in words]
    >>> edges, features = [[0, 1], [1, 2], [0, 2]], [[1, 0], [1, 0], [0, 1]]
    >>> X, y = [(nodes, edges, features)], [["PER", "O", "PER"]]
    >>> crf = GraphCRF(alpha=0.1, random_state=0).fit(X, y)
    >>> crf.predict(X)
    array([list(['PER', 'O', 'PER'])], dtype=object)
    >>> crf.edge_coef_.shape
    (2, 2, 2)
    """

    solver_: str = field(init=False)

    _dual = "oeg"
    # Return nodes, edges, and features of edges or None, of each graph.
    _split = staticmethod(split_graphs)

    @fits
    def fit(
        self,
        X: Graphs,
        y: Labels,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: Graphs | Callable[[], Graphs] | None = None,
        y_val: Labels | None = None,
        init: "GraphCRF | None" = None,
        prior: "GraphCRF | None" = None,
    ) -> Self:
        """Fit the model to labelled graphs, or to labelled trees.

        Parameters
        ----------
        X : list of n graphs, or of n trees for `TreeCRF`
            A graph is a tuple (nodes, edges) or (nodes, edges, edge_features). Its V
            nodes are an array or sparse matrix of shape (V, n_features), or a list of V
            dicts or of V lists of str, as items of sequences are for `SDCACRF`. Its
            edges are integers of shape (E, 2), the nodes that each joins [from, to];
            ``[]`` for none; or a sparse adjacency matrix of shape (V, V), whose entries
            that are not 0 are edges [row, column], one for each pair if it is
            symmetric. An edge that is given twice counts twice. Features of edges
            are a dense array of shape (E, n_edge_features), for all graphs or for none;
            without them every edge has one feature, 1.
            A graph may be one of networkx, whose nodes, and edges or not, have an
            attribute "features": a dict or a row of numbers.
            A tree is a tuple (nodes, heads) or (nodes, heads, edge_features). ``heads``
            are V integers: the number of the node above each node, -1 for a root. Row v
            of the features of edges, of shape (V, n_edge_features), is that of the edge
            from the head of v; rows of roots are not read.
        y : list of n lists of V labels
            In the order of the nodes. None, and the parameter `unknown_label`, stand
            for a label that is not known, a set of labels for one of these, and a dict
            {label: probability} for a soft label.
        sample_weight : array-like of shape (n,), default=None
            Weight of each graph, not negative.
        X_val, y_val : as X and y, default=None
            Held-out data, on which the model of every epoch is scored; X_val may be a
            function of no argument that returns the graphs. With `patience` the fit
            ends, and the model is that of the best epoch.
        init : estimator, default=None
            A fitted GraphCRF or TreeCRF to start from. Features and labels are matched
            by name, features without names, and those of edges, by number; what `init`
            does not know starts at 0. The objective and its certificate stay the same.
        prior : estimator, default=None
            A fitted GraphCRF or TreeCRF that the weights shall stay near: with its
            weights w_0, the penalty is that of w - w_0, see `SDCACRF.fit`. The model
            has the labels and features of both.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError, TypeError
            If an edge joins a node to itself or to one that is not there, heads form a
            cycle, features are NaN or infinite, or X and y do not fit together; the
            message names the graph, and the edge or the node. If `init` or `prior` is
            no fitted model of graphs with features of the same format, if
            ``warm_start=True`` has a state already beside `init` or is set with a
            `prior`, and for an `init` with a solver that does not start from weights:
            that of ``loss="hinge"``.
        MemoryError
            If the tables of a graph do not fit; the message says its treewidth, the
            bytes, and what would fit.

        {above_tol}

        Examples
        --------
        {graphs}
        >>> bool(crf.duality_gap_ <= crf.gap_target_)
        True
        """
        return self._fit(X, y, X_val, y_val, init, prior, sample_weight=sample_weight)

    def _read(self, X, y, known, lengths=None):
        """Return the GraphData of X and y."""
        return read_graphs(X, y, known, self._split)

    def _structure_options(self, training):
        own = {"edges": training.edges, "directed": self.directed}
        return GRAPHS[self.inference].name, own

    def _takes_tables(self):
        return False


@parameters(max_iter=1000)
class TreeCRF(GraphCRF):
    """CRF of trees and forests: `GraphCRF` where each node has at most one head.

    The objective, the certificate and the methods are those of `GraphCRF`. Edges go
    from the head of a node to the node, so that the weights ``edge_coef_`` are of pairs
    of labels [head, node]. Several roots make a forest. One inference takes
    n_nodes * n_labels^2 steps, as that of a chain.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {graph_weights_}
    {solver_}
    {fit_}

    See Also
    --------
    GraphCRF : Any graph of small treewidth, edges with or without a direction.

    Examples
    --------
    The second word is the root of a parse, the others depend on it:

    >>> from skcrf_sdca import TreeCRF
    >>> X = [([["Ada"], ["met"], ["Bob"]], [1, -1, 1])]
    >>> crf = TreeCRF(alpha=0.1, random_state=0).fit(X, [["subj", "root", "obj"]])
    >>> crf.predict(X)
    array([list(['subj', 'root', 'obj'])], dtype=object)
    """

    solver_: str = field(init=False)
    directed: bool = field(default=True, init=False)
    inference: GraphInference = field(default="exact", init=False)
    _split = staticmethod(split_trees)
