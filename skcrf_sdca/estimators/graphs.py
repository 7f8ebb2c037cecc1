"""GraphCRF and TreeCRF: labels of nodes, joined by edges of any graph.

A fit is the Problem of the other estimators on another structure, solved by the same
solvers; nothing here says how inference is done. After an error the estimator is as
before.
"""

import warnings
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._kernels._features import FeatureRows
from skcrf_sdca._utils.messages import renamed, required_attribute
from skcrf_sdca._utils.parallel import over_ranges
from skcrf_sdca._utils.random import as_generator
from skcrf_sdca._utils.shared_docs import shared_docs
from skcrf_sdca._utils.sklearn_private import (
    Interval,
    StrOptions,
    validates_parameters,
)
from skcrf_sdca._utils.typing import (
    Alpha,
    ClassWeight,
    Cost,
    Graphs,
    GraphSolver,
    Labels,
    LossName,
    RandomState,
)
from skcrf_sdca._version import VersionStamped
from skcrf_sdca.data.input_formats import check_has_items, training_format
from skcrf_sdca.data.rows import split_rows
from skcrf_sdca.estimators.base import (
    caller_level,
    check_finite_numbers,
    fit_attributes,
)
from skcrf_sdca.estimators.callbacks import EpochPrinter
from skcrf_sdca.estimators.fitted import check_weight, names_of_fit
from skcrf_sdca.estimators.parameter_docs import SHARED_DOCS
from skcrf_sdca.estimators.prediction import check_count
from skcrf_sdca.estimators.validation import (
    checked_weight,
    evaluation_labels,
    packed_for,
)
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.objective.costs import cost_matrix
from skcrf_sdca.objective.losses import LOSSES, names_with_cost, new_loss
from skcrf_sdca.objective.penalties import PENALTIES
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.averaged import Averaged
from skcrf_sdca.solvers.base import check_needs, missing_needs
from skcrf_sdca.solvers.bcfw import BCFW
from skcrf_sdca.solvers.dual import DualSolver
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.owlqn import OWLQN
from skcrf_sdca.solvers.proximal import PROVIDED, ProximalPoint, accelerates
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.structures import STRUCTURES
from skcrf_sdca.structures.graph.edges import Edges, split_graphs, split_trees
from skcrf_sdca.structures.graph.junction_tree import junction_trees
from skcrf_sdca.structures.graph.parameters import (
    WEIGHTS,
    GraphParameters,
    pair_places,
)


class SolverChoice(NamedTuple):
    """What a name of a solver stands for.

    Attributes
    ----------
    solvers : tuple of types
        The first of which least needs are missing is taken.
    options : tuple of str
        Names of the parameters handed on.
    acceleration : str or None
        A key of `PROVIDED`.
    """

    solvers: tuple[type, ...]
    options: tuple[str, ...] = ()
    acceleration: str | None = None


SOLVERS = {
    "sdca": SolverChoice((SDCA, BCFW), acceleration="auto"),
    "oeg": SolverChoice((OEG, BCFW), acceleration="auto"),
    "sag": SolverChoice((SAG,)),
    "lbfgs": SolverChoice((LBFGS, OWLQN), ("max_iter",)),
}

SHARED = {
    **SHARED_DOCS,
    "graph_parameters": """
        alpha : float or "auto", default="auto"
            Strength of the penalty; "auto" is 1/n, or 1 over the sum of the sample
            weights.
        loss : {"log_loss", "softmax_margin", "hinge"}, default="log_loss"
            As of `SDCACRF`, the cost summed over the nodes. "hinge" is the structural
            SVM, for ``solver="oeg"`` and "sdca" only, both of which are then
            block-coordinate Frank-Wolfe; the model has scores, and no probabilities.
        temperature, margin : float, default=1.0
            As of `SDCACRF`.
        cost, class_weight : default=None
            As of `SDCACRF`.
        """,
    "graph_solver": """
        solver : {"oeg", "sdca", "sag", "lbfgs"}, default="oeg"
            "oeg" is online exponentiated gradient with gap sampling, see `OEGCRF`.
            "sdca" has an exact line search, see `SDCACRF`, and keeps the tables of all
            graphs. "sag" is SAG-NUS*, see `SAGNUSCRF`, and "lbfgs" is L-BFGS, or OWL-QN
            with `l1_ratio` above 0, see `LBFGSCRF`.
        max_iter : int, default=100
            Maximum number of epochs, or of iterations of L-BFGS.
        """,
    "graph_n_jobs": """
        n_jobs : int, default=None
            Number of threads; None means one. Each thread of "oeg" and "sdca" visits
            the graphs of its own shard, of at least 64 graphs.
        """,
    "graph_weights_": """
        classes_ : ndarray of shape (n_labels,)
            The labels, sorted.
        coef_ : ndarray or csr_array of shape (n_labels, n_features_in_)
            Weight of each feature of a node for each label.
        intercept_ : ndarray of shape (n_labels,)
            Score of each label at every node.
        edge_coef_ : ndarray of shape (n_edge_features_in_, n_labels, n_labels)
            Score of each pair of labels [from, to] for each feature of an edge;
            symmetric where edges have no direction.
        n_features_in_, n_edge_features_in_ : int
            Number of features of a node, after vectorizing, and of an edge: 1, of value
            1, if edges have none.
        vectorizer_ : SequenceVectorizer
            Converts dicts and strings. Exists only after a fit on these.
        n_nonzero_ : int
            Number of weights that are not 0.
        alpha_, temperature_ : float
            As of `SDCACRF`.
        """,
    "graph_history_": """
        history_ : dict of ndarrays of shape (n_iter_,)
            One value per epoch: epoch, updates and oracle_calls (divided by n), seconds
            (without the certificates), primal, dual, gap.
        """,
    "graphs": """
        >>> from skcrf_sdca import GraphCRF
        >>> X = [([["a"], ["b"], ["a"]], [[0, 1], [1, 2]])] * 9
        >>> crf = GraphCRF(alpha=0.01, random_state=0).fit(X, [["A", "B", "A"]] * 9)
        """,
}
# Fitted attributes that depend on the input format.
OF_SOME_FITS = "vectorizer_", "_feature_names"

# The errors of functions that know sequences alone.
_named_as_graphs = renamed(
    {
        "sequence": "graph",
        "sequences": "graphs",
        "Sequence": "Graph",
        "position": "node",
        "item": "node",
        "items": "nodes",
    }
)


@shared_docs(SHARED)
class GraphCRF(VersionStamped, BaseEstimator):
    """CRF of graphs: a label of each node, with scores of the labels that edges join.

    Minimises, over all weights w (``coef_``, ``intercept_``, ``edge_coef_``)::

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
    {graph_parameters}
    {l1_ratio}
    directed : bool, default=False
        Whether an edge has a direction: the weights are of pairs of labels [from, to].
        By default pairs have no order, and their weights are symmetric; the two
        of a pair are one weight in the penalty.
    {graph_solver}
    {tol}
    {graph_n_jobs}
    {random_state}
    {verbose}

    Attributes
    ----------
    {graph_weights_}
    {n_iter_}
    {certificate_}
    {graph_history_}

    See Also
    --------
    TreeCRF : The same for trees that are given by the head of each node.
    SDCACRF : Chains, much faster.

    Notes
    -----
    The order of elimination is that of min-fill [1]_: it is exact for forests, and good
    for small graphs. The tables of one graph take about 8 * n_nodes * n_labels^c bytes,
    c the number of nodes of the largest clique (2 for trees, 3 for rings, the shorter
    side plus 1 for grids); those of another graph take their place. With "oeg" the dual
    variables take 12 * (n_nodes * n_labels + n * n_edge_features * n_labels^2) bytes,
    n_nodes those of all graphs; with "sdca" half of the tables of all graphs.

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
    >>> edges, kinds = [[0, 1], [1, 2], [0, 2]], [[1, 0], [1, 0], [0, 1]]
    >>> X, y = [(nodes, edges, kinds)], [["PER", "O", "PER"]]
    >>> crf = GraphCRF(alpha=0.1, random_state=0).fit(X, y)
    >>> crf.predict(X)
    array([list(['PER', 'O', 'PER'])], dtype=object)
    >>> crf.edge_coef_.shape
    (2, 2, 2)
    """

    classes_: NDArray[Any]
    coef_: Any  # an array, or sparse
    intercept_: NDArray[np.float64]
    edge_coef_: NDArray[np.float64]
    n_features_in_: int
    n_edge_features_in_: int
    n_nonzero_: int
    n_iter_: int
    alpha_: float
    temperature_: float
    primal_objective_: float
    dual_objective_: float
    duality_gap_: float
    gap_target_: float
    history_: dict[str, NDArray[Any]]

    _parameter_constraints: ClassVar[dict] = {
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "loss": [StrOptions(LOSSES.keys())],
        "temperature": [Interval(Real, 0, None, closed="neither")],
        "margin": [Interval(Real, 0, None, closed="left")],
        "cost": ["array-like", dict, None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "directed": ["boolean"],
        "solver": [StrOptions(SOLVERS.keys())],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        alpha: Alpha = "auto",
        *,
        loss: LossName = "log_loss",
        temperature: float = 1.0,
        margin: float = 1.0,
        cost: Cost | None = None,
        class_weight: ClassWeight | None = None,
        l1_ratio: float = 0.0,
        directed: bool = False,
        solver: GraphSolver = "oeg",
        max_iter: int = 100,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.temperature = temperature
        self.margin = margin
        self.cost = cost
        self.class_weight = class_weight
        self.l1_ratio = l1_ratio
        self.directed = directed
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @validates_parameters
    def fit(self, X: Graphs, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to labelled graphs.

        Parameters
        ----------
        X : list of n graphs
            A graph is a tuple (nodes, edges) or (nodes, edges, edge_features). Its V
            nodes are an array or sparse matrix of shape (V, n_features), or a list of V
            dicts or of V lists of str, as items of sequences are for `SDCACRF`. Its
            edges are integers of shape (E, 2), the nodes that each joins [from, to];
            ``[]`` for none. An edge that is given twice counts twice. Features of edges
            are a dense array of shape (E, n_edge_features), for all graphs or for none;
            without them every edge has one feature, 1.
            A graph may be one of networkx, whose nodes, and edges or not, have an
            attribute "features": a dict or a row of numbers.
        y : list of n lists of V labels
            In the order of the nodes.
        sample_weight : array-like of shape (n,), default=None
            Weight of each graph, not negative.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError, TypeError
            If an edge joins a node to itself or to one that is not there, features are
            NaN or infinite, or X and y do not fit together; the message names the
            graph, and the edge or the node.
        MemoryError
            If the tables of a graph do not fit; the message says its treewidth, the
            bytes, and what would fit.

        Warns
        -----
        ConvergenceWarning
            If the gap is above tol * primal after max_iter epochs.

        Examples
        --------
        {graphs}
        >>> bool(crf.duality_gap_ <= crf.gap_target_)
        True
        """
        solver, attributes = self._prepared(X, y, sample_weight)
        monitor = FitMonitor(solver, max_iter=self.max_iter, tol=self.tol)
        if self.verbose:
            printer = EpochPrinter(type(self).__name__, self.tol)
            monitor.observers.append(printer)
        _named_as_graphs(monitor.run)()
        # All at once, without what only the last fit had.
        kept = {name: v for name, v in vars(self).items() if name not in OF_SOME_FITS}
        self.__dict__ = {**kept, **attributes, **fit_attributes(monitor)}
        if message := monitor.convergence_message():
            warnings.warn(message, ConvergenceWarning, stacklevel=caller_level())
        return self

    @_named_as_graphs
    def _prepared(self, X, y, sample_weight):
        """Return the solver of a fit, and what is known of the data as attributes."""
        data, edges, labels, attributes = self._training_data(X, y)
        weight = checked_weight(sample_weight, data)
        choice = SOLVERS[self.solver]
        loss = self._new_loss(labels, attributes["classes_"])
        penalty = PENALTIES["elastic_net"](self.l1_ratio, loss.scale)
        graph = STRUCTURES["graph"]
        parts = graph, loss, penalty, PROVIDED[choice.acceleration]
        solver = min(choice.solvers, key=lambda kind: len(missing_needs(kind, *parts)))
        check_needs(solver, *parts)
        graphs = graph(
            data,
            len(attributes["classes_"]),
            edges=edges,
            directed=self._is_directed,
            n_jobs=self.n_jobs,
        )
        problem = Problem(
            graphs, labels, self.alpha, sample_weight=weight, loss=loss, penalty=penalty
        )
        return self._new_solver(solver, choice, problem), attributes

    @property
    def _is_directed(self):
        return self.directed

    def _split(self, X):
        """Return nodes, edges, and features of edges or None, of each graph."""
        return split_graphs(X)

    def _training_data(self, X, y):
        """Return nodes, edges and label numbers, packed, and what is known of them."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is "
                "None."
            )
        nodes, ends, features = self._split(X)
        input_format = training_format(nodes, y)
        if not input_format.boundaries:
            raise ValueError(
                "X: the nodes of graph 0 are a row of numbers; they must be an array "
                "of shape (n_nodes, n_features), or a list of dicts or of lists of str"
            )
        vectorizer = SequenceVectorizer() if input_format.needs_vectorizer else None
        data = input_format.pack_training(nodes, self, vectorizer)
        check_has_items(len(data), data.n_positions)
        edges = Edges.of_lists(ends, features, data.lengths)
        classes, labels, rows = input_format.encode_labels(y, data)
        if rows is not None:
            raise ValueError(
                f"y: {type(self).__name__} needs one label at every node; leave out "
                "the graphs with unknown labels"
            )
        attributes = {
            "_input_format": input_format.name,
            "vectorizer_": vectorizer,
            "_feature_names": input_format.feature_names(nodes, data),
            "classes_": classes,
            "n_features_in_": data.n_features,
            "n_edge_features_in_": edges.features.shape[1],
        }
        known = {name: v for name, v in attributes.items() if v is not None}
        return data, edges, labels, known

    def _new_loss(self, labels, classes):
        if LOSSES[self.loss].takes_cost:
            cost = cost_matrix(
                classes,
                labels,
                cost=self.cost,
                margin=self.margin,
                class_weight=self.class_weight,
            )
            return new_loss(self.loss, self.temperature, cost)
        for name in ("cost", "class_weight"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f"{name} is taken by loss={names_with_cost()} only, got "
                    f'loss="{self.loss}"; set the loss, or {name}=None'
                )
        return new_loss(self.loss, self.temperature)

    def _new_solver(self, solver, choice, problem):
        if accelerates(choice.acceleration, problem):
            solver = partial(ProximalPoint, solver=solver)
        elif not problem.loss.is_smooth and issubclass(solver, DualSolver):
            solver = partial(Averaged, solver=solver)
        options = {name: getattr(self, name) for name in choice.options}
        return solver(problem, as_generator(self.random_state), **options)

    def _validate_params(self):
        """Raise InvalidParameterError; called by scikit-learn before `fit`."""
        check_finite_numbers(self)
        super()._validate_params()

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the features of nodes, if the data of `fit` had names."""
        names = names_of_fit(self)
        if names is None:
            raise AttributeError(
                f"{type(self).__name__} has no feature_names_in_: the X of its fit had "
                "no names of features."
            )
        return np.asarray(names)

    def predict(self, X: Graphs) -> NDArray[Any]:
        """Return the most probable labelling of every graph, exactly.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        y : ndarray of shape (n,)
            An object array of label lists.

        Examples
        --------
        {graphs}
        >>> crf.predict([([["a"], ["b"]], [[0, 1]])])
        array([list(['A', 'B'])], dtype=object)
        """

        def decode(scores, begin, end):
            return fitted.input_format.labels(
                scores.viterbi()[0], self.classes_, scores.offsets
            )

        fitted = self._packed(X)
        return self._over_graphs(decode, fitted, proba=False)

    def predict_n_best(self, X: Graphs, n: int) -> NDArray[Any]:
        """Return the n most probable labellings of every graph, exactly.

        It takes as many searches as a graph has nodes for each labelling.

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
            does not have so many labellings. The first labels are those of `predict`.

        Raises
        ------
        ValueError
            If n is not an integer of at least 1.

        Examples
        --------
        {graphs}
        >>> (best,) = crf.predict_n_best([([["a"], ["b"]], [[0, 1]])], 2)
        >>> len(best), best[0][0]
        (2, ['A', 'B'])
        """
        check_count("n", n)
        fitted = self._packed(X)

        def best(scores, begin, end):
            found = []
            proba = self.temperature_ > 0.0
            log_z = scores.log_partition() if proba else None
            for i in range(len(scores)):
                paths, values = scores.n_best(i, n)
                if proba:
                    values = np.exp(np.minimum(values - log_z[i], 0.0))
                labels = fitted.input_format.path_labels(paths, self.classes_)
                found.append(list(zip(labels, values.tolist(), strict=True)))
            return np.fromiter(found, dtype=object, count=len(found))

        return self._over_graphs(best, fitted, proba=False)

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

        return self._over_graphs(rows, self._packed(X))

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
        fitted = self._packed(X)
        bounds, order = fitted.edges.offsets, fitted.order

        def pairs(scores, begin, end):
            first, last = bounds[[begin, end]]
            found = scores.pair_marginals(last - first)
            out = np.empty_like(found)
            out[order[first:last] - first] = found
            return split_rows(out, bounds[begin : end + 1] - first)

        return self._over_graphs(pairs, fitted)

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

        return self._over_graphs(values, self._packed(X))

    def log_likelihood(self, X: Graphs, y: Labels) -> NDArray[np.float64]:
        """Return log p(y | x) of every graph: score(x, y) - log Z.

        Parameters
        ----------
        X, y : as in `fit`

        Returns
        -------
        log_likelihood : ndarray of shape (n,)
            In nats, at most 0. -inf where y has a label that was not in `fit`.

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
        fitted = self._packed(X)
        labels, _ = self._labels(y, fitted)
        offsets = fitted.data.offsets

        def values(scores, begin, end):
            return scores.log_likelihood(labels[offsets[begin] : offsets[end]])

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
        fitted = self._packed(X)
        labels, weight = self._labels(y, fitted, sample_weight)
        if not len(labels):
            raise ValueError("X has 0 nodes: there is nothing to score.")

        def paths(scores, begin, end):
            return scores.viterbi()[0]

        found = self._over_graphs(paths, fitted, proba=False)
        return float(np.average(found == labels, weights=weight))

    @_named_as_graphs
    def _labels(self, y, packed, sample_weight=None):
        """Return the label numbers of y, and the weight of each node or None."""
        data, input_format = packed.data, packed.input_format
        return evaluation_labels(self, y, data, input_format, sample_weight)

    @_named_as_graphs
    def _packed(self, X):
        """Return the PackedGraphs of X for the fitted model, or raise."""
        check_is_fitted(self)
        self._check_form()
        nodes, ends, features = self._split(X)
        data, input_format = packed_for(self, nodes, None)
        edges = Edges.of_lists(ends, features, data.lengths)
        found, expected = edges.features.shape[1], self.n_edge_features_in_
        if len(edges.ends) and found != expected:
            raise ValueError(
                f"X has {found} features of each edge, but {type(self).__name__} is "
                f"expecting {expected}, as in fit; edges without features have one."
            )
        if not len(edges.ends):
            edges = edges._replace(features=np.empty((0, expected)))
        place = pair_places(len(self.classes_), self._is_directed)
        trees, order = junction_trees(data.offsets, edges, len(place), place)
        return PackedGraphs(data, input_format, edges, place, trees, order)

    def _check_form(self):
        """Raise ValueError if the shapes and types of the weights are no model's."""
        sizes = {
            "K": len(required_attribute(self, "classes_")),
            "d": required_attribute(self, "n_features_in_"),
            "e": required_attribute(self, "n_edge_features_in_"),
        }
        for name, axes in WEIGHTS.items():
            shape = tuple(sizes[axis] for axis in axes)
            check_weight(name, required_attribute(self, name), shape)

    def _over_graphs(self, function, packed, *, proba=True):
        """Return ``function(scores, begin, end)`` of ranges of graphs, in one array.

        ``proba`` says that it takes probabilities of the scores.
        """
        if proba and not self.temperature_ > 0.0:
            raise ValueError(
                f"{type(self).__name__} was fitted with a loss that gives scores, and "
                'no probabilities; fit with loss="softmax_margin" or "log_loss"'
            )
        data = packed.data
        parameters, X = GraphParameters.of_fitted(self, packed.place, data.X)
        rows = FeatureRows(X)

        temperature = self.temperature_ or 1.0

        @_named_as_graphs
        def run(begin, end):
            scores = parameters.checked_scores(
                rows, packed.trees, data.offsets, begin, end, temperature=temperature
            )
            return function(scores, begin, end)

        # Without graphs the one call is for the type and shape of the result.
        parts = over_ranges(run, data.offsets, self.n_jobs) or [run(0, 0)]
        return np.concatenate(parts)

    def __sklearn_tags__(self):
        """Return the tags: a classifier of what is no table."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        return tags


class PackedGraphs(NamedTuple):
    """Graphs that a fitted model predicts, validated and packed."""

    data: Any  # PackedSequences of the nodes
    input_format: Any
    edges: Edges
    place: NDArray[np.int32]
    trees: Any  # JunctionTrees
    order: NDArray[Any]  # of the edges of the trees


@shared_docs(SHARED)
class TreeCRF(GraphCRF):
    """CRF of trees and forests: `GraphCRF` where each node has at most one head.

    The objective, the certificate and the methods are those of `GraphCRF`. Edges go
    from the head of a node to the node, so that the weights ``edge_coef_`` are of pairs
    of labels [head, node]. Several roots make a forest. One inference takes
    n_nodes * n_labels^2 steps, as that of a chain.

    Parameters
    ----------
    {graph_parameters}
    {l1_ratio}
    {graph_solver}
    {tol}
    {graph_n_jobs}
    {random_state}
    {verbose}

    Attributes
    ----------
    {graph_weights_}
    {n_iter_}
    {certificate_}
    {graph_history_}

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

    _parameter_constraints: ClassVar[dict] = {
        name: constraints
        for name, constraints in GraphCRF._parameter_constraints.items()
        if name != "directed"
    }

    def __init__(
        self,
        alpha: Alpha = "auto",
        *,
        loss: LossName = "log_loss",
        temperature: float = 1.0,
        margin: float = 1.0,
        cost: Cost | None = None,
        class_weight: ClassWeight | None = None,
        l1_ratio: float = 0.0,
        solver: GraphSolver = "oeg",
        max_iter: int = 100,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.temperature = temperature
        self.margin = margin
        self.cost = cost
        self.class_weight = class_weight
        self.l1_ratio = l1_ratio
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Graphs, y: Labels, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to labelled trees.

        Parameters
        ----------
        X : list of n trees
            A tree is a tuple (nodes, heads) or (nodes, heads, edge_features), nodes as
            for `GraphCRF`. ``heads`` are V integers: the number of the node above each
            node, -1 for a root. Row v of the features of edges, of shape
            (V, n_edge_features), is that of the edge from the head of v; rows of roots
            are not read.
        y : list of n lists of V labels
            In the order of the nodes.
        sample_weight : array-like of shape (n,), default=None
            Weight of each tree, not negative.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError, TypeError
            If heads form a cycle or are not there, features are NaN or infinite, or X
            and y do not fit together; the message names the tree and the node.

        Warns
        -----
        ConvergenceWarning
            If the gap is above tol * primal after max_iter epochs.

        Examples
        --------
        >>> from skcrf_sdca import TreeCRF
        >>> X, y = [([["a"], ["b"]], [-1, 0])] * 9, [["A", "B"]] * 9
        >>> crf = TreeCRF(random_state=0).fit(X, y)
        >>> crf.score(X, y)
        1.0
        """
        return super().fit(X, y, sample_weight)

    @property
    def _is_directed(self):
        return True

    def _split(self, X):
        return split_trees(X)
