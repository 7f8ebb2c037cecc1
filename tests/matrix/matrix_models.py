"""The models that the matrix crosses with methods, solvers, files and data.

One table of all structures, with one small set of labels: every model has the same five
items, of up to four positions or nodes. Labels, scores and objectives are enumerated
from the public attributes of a fitted model, without the package.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from scipy.special import logsumexp, softmax
from segment_twin import Enumeration, Features

import reference
from samples import as_dicts, as_strings, seeded
from skcrf_sdca import (
    CRF,
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    SGDCRF,
    GraphCRF,
    PassiveAggressiveCRF,
    SegmentCRF,
    TreeCRF,
)
from skcrf_sdca.structures.segment.grammar import Grammar

ALPHA, TOL = 0.1, 1e-5
# Of "softmax_margin": no power of 2, by which a division rounds nothing.
TEMPERATURE = 2.5
# The reason for a hole that has none in the mathematics.
LAYOUT = "accident of layout"
LABELS = ["B-X", "I-X", "O"]
Y = [
    ["B-X", "I-X", "O"],
    ["O"],
    ["O", "B-X", "I-X", "I-X"],
    ["B-X", "B-X"],
    ["I-X", "O", "O"],
]
# A segmentation begins with no "I-X" in the scheme "BIO".
Y[4][0] = "B-X"
N = len(Y)
# Other names of the labels, in another order.
NAMES = dict(zip(LABELS, ("c", "a", "b"), strict=True))
# Which parts labels have, and how much of them.
PARTS = {"B-X": ["B", "X"], "I-X": {"I-X": 1.0, "X": 0.5}, "O": ["O"]}
PARTS_OF = PARTS | {NAMES[label]: parts for label, parts in PARTS.items()}


def _arrays():
    rng = np.random.default_rng(0)
    codes = [[LABELS.index(label) for label in labels] for labels in Y]
    return [np.eye(3)[c] + rng.normal(size=(len(c), 3)).round(2) for c in codes]


ARRAYS = _arrays()
DICTS, STRINGS = as_dicts(ARRAYS), as_strings(ARRAYS)
# The edges of graphs, and the heads of trees, of 1, 2, 3 and 4 nodes.
EDGES = {
    1: np.zeros((0, 2), dtype=int),
    2: np.array([[1, 0]]),
    3: np.array([[0, 1], [1, 2], [2, 0]]),
    4: np.array([[0, 1], [2, 1], [2, 3], [3, 0], [0, 2]]),
}
HEADS = {1: [-1], 2: [1, -1], 3: [-1, 0, 0], 4: [1, -1, 1, -1]}


def edge_features(n_edges):
    """Return features (n_edges, 2) of edges."""
    return np.column_stack([np.ones(n_edges), np.cos(np.arange(n_edges))])


def segment_features(sequence, begin, end):
    """Return features of a segment of a list of lists of strings."""
    return {"long": end - begin > 1, "f0": 0.5 * sum("f0" in item for item in sequence)}


def graphs(nodes, *, with_features):
    """Return graphs with these nodes."""
    found = []
    for x in nodes:
        ends = EDGES[len(x)]
        found.append(
            (x, ends, edge_features(len(ends))) if with_features else (x, ends)
        )
    return found


def forests(nodes):
    """Return graphs without cycles with these nodes."""
    return [(own, EDGES[len(own)][: len(own) - 1]) for own in nodes]


def trees(nodes):
    """Return trees with these nodes."""
    return [(x, HEADS[len(x)]) for x in nodes]


# Enumeration --------------------------------------------------------------------------


class Labellings(NamedTuple):
    """All labellings of one item.

    Attributes
    ----------
    codes : ndarray of int of shape (n_labellings, n_positions)
        The numbers of the labels in ``classes_``.
    scores : ndarray of shape (n_labellings,)
    temperature : float
        What scores are divided by where they become probabilities.
    """

    codes: np.ndarray
    scores: np.ndarray
    temperature: float = 1.0

    @property
    def log_z(self):
        """The log of the sum of exp(score / temperature)."""
        return logsumexp(self.scores / self.temperature)

    @property
    def proba(self):
        """The probability of each labelling."""
        return softmax(self.scores / self.temperature)

    def agreeing(self, labels, classes):
        """Return which labellings agree with labels, sets of some, or None."""
        agree = np.ones(len(self.codes), dtype=bool)
        for t, label in enumerate(labels):
            if label is not None:
                possible = label if isinstance(label, set) else {label}
                codes = [classes.index(own) for own in possible if own in classes]
                agree &= np.isin(self.codes[:, t], codes)
        return agree

    def node_marginals(self, n_labels):
        """Return the probabilities (n_positions, n_labels) of labels."""
        return np.einsum("s,stk->tk", self.proba, np.eye(n_labels)[self.codes])

    def pair_marginals(self, ends, n_labels):
        """Return the probabilities (n_pairs, n_labels, n_labels) of pairs of labels."""
        one_hot = np.eye(n_labels)[self.codes]
        ends = np.asarray(ends, dtype=int).reshape(-1, 2)
        return np.einsum(
            "s,sej,sek->ejk", self.proba, one_hot[:, ends[:, 0]], one_hot[:, ends[:, 1]]
        )


def dense(weights):
    """Return weights as a dense array."""
    return weights.toarray() if hasattr(weights, "toarray") else np.asarray(weights)


def node_rows(crf, items):
    """Return the features (n_positions, n_features_in_) of the items of X."""
    if hasattr(crf, "vectorizer_"):
        return dense(crf.vectorizer_.transform([items]).X)
    return np.asarray(items, dtype=float)


def local_scores(crf, rows):
    """Return the scores (n_positions, n_labels) of labels by features and intercept."""
    return of_labels(crf, rows @ dense(crf.coef_).T + crf.intercept_)


def coef_of(crf):
    """Return the weights (n_labels, n_features_in_) of labels."""
    return of_labels(crf, dense(crf.coef_).T).T


def of_labels(crf, scores):
    """Return the scores of labels, of scores of the rows of ``coef_``."""
    if crf.label_features_ is None:
        return scores
    return scores @ dense(crf.label_features_).T


def of_chain(crf, x):
    """Enumerate the label paths of a sequence, or of a row of a table."""
    rows = node_rows(crf, x)
    local, n_labels = local_scores(crf, rows), len(crf.classes_)
    local[0] += of_labels(crf, crf.start_)
    local[-1] += of_labels(crf, crf.end_)
    edge = None
    if crf.edge_coef_ is not None:
        edge = rows @ dense(crf.edge_coef_).T
        edge = edge.reshape(len(rows), n_labels, n_labels)
    tuples = [crf.transition_, *crf.higher_transitions_]
    paths = reference.all_paths(len(rows), n_labels)
    scores = local[np.arange(len(rows)), paths].sum(axis=1)
    for m, weights in enumerate(tuples, start=2):
        for t in range(m, len(rows) + 1):
            scores += weights[tuple(paths[:, t - m : t].T)]
    if edge is not None:
        for t in range(1, len(rows)):
            scores += edge[t, paths[:, t - 1], paths[:, t]]
    return Labellings(paths, scores)


def of_row(crf, x):
    """Enumerate the labels of a row of a table."""
    return of_chain(crf, np.reshape(x, (1, -1)))


def grammar_of(crf):
    """Return the Grammar of a model of segments."""
    grammar = Grammar(crf.classes_.tolist(), crf.scheme_, crf.max_length_)
    grammar.transition &= crf.transition_ > -np.inf
    return grammar


def of_segments(crf, x):
    """Enumerate the segmentations of a sequence."""
    local = local_scores(crf, node_rows(crf, x))
    local[0] += crf.start_
    local[-1] += crf.end_
    blocks, features = [crf.transition_, crf.length_], None
    if crf.segment_coef_ is not None:
        blocks.append(crf.segment_coef_.T)

        @cache
        def values(begin, end):
            found = segment_features(x, begin, end)
            return dense(crf.segment_vectorizer_.transform([[found]]).X)[0]

        features = Features(crf.segment_coef_.shape[1], values)
    tied = np.concatenate([np.ravel(block) for block in blocks])
    tied = np.where(tied == -np.inf, 0.0, tied)
    found = Enumeration(grammar_of(crf), local, tied, features)
    return Labellings(np.array(found.labels), found.scores)


def ends_of_graph(x):
    """Return the edges of a graph."""
    return np.asarray(x[1]).reshape(-1, 2)


def ends_of_tree(x):
    """Return the edges [head, node] of a tree."""
    return np.array([(h, v) for v, h in enumerate(x[1]) if h >= 0]).reshape(-1, 2)


def of_graph(crf, x, ends=ends_of_graph):
    """Enumerate the labellings of a graph."""
    local = local_scores(crf, node_rows(crf, x[0]))
    joined = ends(x)
    rows = x[2] if len(x) == 3 else np.ones((len(joined), 1))
    pair = np.einsum("ef,fjk->ejk", rows, crf.edge_coef_)
    return Labellings(*reference.labelling_scores(local, pair, joined))


def of_tree(crf, x):
    """Enumerate the labellings of a tree."""
    return of_graph(crf, x, ends_of_tree)


# Solvers ------------------------------------------------------------------------------

# Name -> (class, parameters); "lbfgs" is in every family.
CHAINS = {
    "sdca": (SDCACRF, {}),
    "oeg": (OEGCRF, {}),
    "sag": (SAGNUSCRF, {}),
    "lbfgs": (LBFGSCRF, {}),
    "sgd": (SGDCRF, {}),
    "crf": (CRF, {}),
}
# Those that need no marginals of all pairs of labels.
SEGMENTS = {s: (SegmentCRF, {"solver": s}) for s in ("oeg", "sag", "sgd", "lbfgs")}
GRAPHS = {s: (GraphCRF, {"solver": s}) for s in ("sdca", "oeg", "sag", "sgd", "lbfgs")}
REWEIGHTED = {s: GRAPHS[s] for s in ("sdca", "oeg", "sag", "lbfgs")}
TREES = {s: (TreeCRF, {"solver": s}) for s in GRAPHS}
# Those that make no certificate, by what they learn from.
ONLINE = {
    "passive aggressive": (PassiveAggressiveCRF, {}),
    "asgd": (SGDCRF, {"method": "asgd", "eta0": 0.1, "tol": 1e-3}),
}


class Model(NamedTuple):
    """A row of the table.

    Attributes
    ----------
    family : str
        "chains", "segments" or "graphs".
    X : list of n items, or ndarray of shape (n_rows, n_features)
    y : list of n lists of str, or ndarray of shape (n_rows,)
    solvers : dict of str to (type, dict)
        The estimators that solve the problem, with their parameters.
    enumerate : callable
        ``enumerate(crf, item)`` returns the `Labellings` of an item of X.
    blocks : tuple of str
        The names of the weights.
    options : dict
        The parameters that make the model.
    ends : callable
        ``ends(item)`` returns the pairs of `predict_edge_proba`.
    online : dict
        As `solvers`, of estimators with `partial_fit`.
    """

    family: str
    X: Any
    y: Any
    solvers: dict
    enumerate: Callable
    blocks: tuple
    options: dict
    ends: Callable
    online: dict

    @property
    def takes_hinge(self):
        """Whether largest scores are found, and not only bounded."""
        return self.options.get("inference") != "trw"

    @property
    def is_table(self):
        """Whether X is one array, of chains of one node each."""
        return isinstance(self.X, np.ndarray)

    def new(self, solver="lbfgs", **parameters):
        """Return an estimator of a solver, not fitted."""
        cls, own = (self.online | self.solvers)[solver]
        given = {**self.options, **own, **parameters}
        if "alpha" in cls().get_params():
            given = {"alpha": ALPHA, "tol": TOL, "max_iter": 2000, **given}
        return seeded(cls, **given)

    def labels(self, y=None):
        """Return the labels as a list for each item, also those of a table."""
        y = self.y if y is None else y
        return [[label] for label in y] if self.is_table else list(y)

    def labellings(self, crf, X=None):
        """Return the Labellings of every item."""
        temperature = crf.temperature_ or 1.0
        return [
            self.enumerate(crf, x)._replace(temperature=temperature)
            for x in (self.X if X is None else X)
        ]

    def weights(self, crf):
        """Return all weights that the penalty counts, flat."""
        found = []
        for name in self.blocks:
            block = getattr(crf, name)
            if name == "higher_transitions_":
                found += [np.ravel(own) for own in block]
            elif block is not None:
                block = dense(block)
                if name == "edge_coef_" and not getattr(crf, "directed", True):
                    # Both orders of a pair have one weight.
                    block = block[:, *np.triu_indices(block.shape[1])]
                found.append(np.ravel(block))
        flat = np.concatenate(found)
        return np.where(flat == -np.inf, 0.0, flat)


OF_CHAINS = "coef_ intercept_ start_ end_ transition_ higher_transitions_ edge_coef_"
BLOCKS = {
    "chains": tuple(OF_CHAINS.split()),
    "segments": tuple(
        "coef_ intercept_ start_ end_ transition_ length_ segment_coef_".split()
    ),
    "graphs": ("coef_", "intercept_", "edge_coef_"),
}
FAMILIES = {"chains": CHAINS, "segments": SEGMENTS, "graphs": GRAPHS}
ENUMERATE = {"chains": of_chain, "segments": of_segments, "graphs": of_graph}


def neighbours(x):
    """Return the pairs of neighbours of a sequence."""
    t = np.arange(len(x) - 1)
    return np.column_stack([t, t + 1])


def row(family, X, *, y=Y, solvers=None, enumerate_=None, ends=neighbours, **options):
    """Return a row of the table; what is not given is that of the family."""
    return Model(
        family=family,
        X=X,
        y=y,
        solvers=solvers or FAMILIES[family],
        enumerate=enumerate_ or ENUMERATE[family],
        blocks=BLOCKS[family],
        options=options,
        ends=ends,
        online=ONLINE if family == "chains" else {},
    )


ROWS = np.concatenate(ARRAYS)
ROW_LABELS = np.array([label for labels in Y for label in labels])
MODELS = {
    "chain": row("chains", STRINGS),
    "table": row(
        "chains", ROWS, y=ROW_LABELS, enumerate_=of_row, ends=lambda x: neighbours([x])
    ),
    "tuples": row("chains", ARRAYS, order=2),
    # "O" before "I-X" has no weight, and is allowed.
    "observed label pairs": row("chains", STRINGS, label_pairs="observed"),
    "observed label tuples": row("chains", ARRAYS, order=2, label_pairs="observed"),
    "label features": row("chains", STRINGS, label_features=PARTS_OF.get),
    "edge features": row("chains", DICTS, edge_features="all"),
    "tuples, edge features": row("chains", ARRAYS, order=2, edge_features="all"),
    "segments": row("segments", ARRAYS, max_length=3),
    "segments with features": row(
        "segments", STRINGS, max_length=3, segment_features=segment_features
    ),
    "trees": row(
        "graphs", trees(DICTS), solvers=TREES, enumerate_=of_tree, ends=ends_of_tree
    ),
    "graphs": row("graphs", graphs(STRINGS, with_features=False), ends=ends_of_graph),
    # Where tree-reweighted sums are those of the labellings.
    "reweighted graphs": row(
        "graphs",
        forests(ARRAYS),
        solvers=REWEIGHTED,
        ends=ends_of_graph,
        inference="trw",
    ),
    "directed graphs": row(
        "graphs", graphs(ARRAYS, with_features=True), ends=ends_of_graph, directed=True
    ),
}
OF_HINGE = [name for name, model in MODELS.items() if model.takes_hinge]
# (model, loss) with probabilities, also of scores over a temperature, and with scores
# alone.
WITH_LOSSES = [(name, "log_loss") for name in MODELS]
WITH_LOSSES += [(name, "softmax_margin") for name in MODELS]
WITH_LOSSES += [(name, "hinge") for name in OF_HINGE]
# (model, solver) of every fit that ends with a certificate.
EXACT = [(name, solver) for name, model in MODELS.items() for solver in model.solvers]


@cache
def fitted(name, solver="lbfgs", loss="log_loss"):
    """Return a model fitted to its data; a test must not change it."""
    model = MODELS[name]
    if loss == "hinge":
        solver = next(s for s in ("sdca", "crf", "oeg") if s in model.solvers)
    parameters = {} if loss == "log_loss" else {"loss": loss, "tol": 3e-2}
    if loss == "softmax_margin":
        parameters["temperature"] = TEMPERATURE
    return model.new(solver, **parameters).fit(model.X, model.y)


def check_same_optimum(crf, other):
    """Check that two fits are of one objective, as far as their certificates say."""
    assert crf.dual_objective_ <= other.primal_objective_ + 1e-12
    assert other.dual_objective_ <= crf.primal_objective_ + 1e-12


# Answers of a model that a copy of it, and threads, must give to the last bit.
PROBABLE = ("predict_proba", "predict_edge_proba", "log_partition")


def bits(value):
    """Return an answer as nested lists of values, arrays of numbers by their bytes."""
    if issparse(value):
        return bits([value.data, value.indices, value.indptr, np.array(value.shape)])
    if isinstance(value, np.ndarray) and value.dtype.kind in "fi":
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: bits(own) for key, own in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [bits(own) for own in value]
    if hasattr(value, "get_feature_names_out"):
        return value.get_feature_names_out().tolist()
    return value


def answers(model, crf):
    """Return what a fitted model answers, by bits."""
    found = {"predict": crf.predict(model.X)}
    if hasattr(crf, "predict_n_best"):
        found["n_best"] = crf.predict_n_best(model.X, 3)
    for method in PROBABLE:
        if hasattr(crf, method):
            found[method] = getattr(crf, method)(model.X)
    if hasattr(crf, "sample"):
        found["sample"] = crf.sample(model.X, 3, random_state=0)
    return bits(found)
