"""Small graphs of every shape, for the tests of graphs, and what enumeration says."""

import numpy as np
from scipy.special import logsumexp

import reference


def grid(height, width):
    """Return the edges of a grid, those along rows first."""
    node = np.arange(height * width).reshape(height, width)
    rows = np.column_stack([node[:, :-1].ravel(), node[:, 1:].ravel()])
    columns = np.column_stack([node[:-1].ravel(), node[1:].ravel()])
    return np.concatenate([rows, columns])


def cycle(n):
    return np.column_stack([np.arange(n), (np.arange(n) + 1) % n])


# Name -> number of nodes, edges.
SHAPES = {
    "nothing": (0, []),
    "one node": (1, []),
    "no edges": (3, []),
    "path": (4, [[0, 1], [1, 2], [3, 2]]),
    "star": (5, [[0, 4], [1, 4], [4, 2], [3, 4]]),
    "forest": (5, [[4, 0], [1, 2]]),
    "cycle": (5, cycle(5)),
    "clique": (4, [[0, 1], [0, 2], [3, 0], [1, 2], [3, 1], [2, 3]]),
    "two cycles": (6, [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [3, 5]]),
    "twice": (3, [[0, 1], [1, 0], [0, 1], [1, 2]]),
    "grid": (6, grid(2, 3)),
    "pendant": (6, [[0, 1], [1, 2], [2, 3], [3, 0], [3, 4], [5, 4]]),
}


def sample(n=20, *, n_labels=3, seed=0, edge_features=True):
    """Return graphs of all shapes, and labels that the features of nodes show."""
    rng = np.random.default_rng(seed)
    names = [name for name in SHAPES if name != "nothing"]
    X, y = [], []
    for i in range(n):
        n_nodes, ends = SHAPES[names[i % len(names)]]
        labels = rng.integers(n_labels, size=n_nodes)
        nodes = np.eye(n_labels)[labels] + rng.normal(size=(n_nodes, n_labels))
        parts = (rng.normal(size=(len(ends), 2)),) if edge_features else ()
        X.append((nodes, ends, *parts))
        y.append(labels.tolist())
    return X, y


def labelling_scores(crf, graph):
    """Return all labellings of a graph, and their scores under a fitted model."""
    nodes, ends, features = graph if len(graph) == 3 else (*graph, None)
    coef = crf.coef_.toarray() if hasattr(crf.coef_, "toarray") else crf.coef_
    local = nodes @ coef.T + crf.intercept_
    features = np.ones((len(ends), 1)) if features is None else np.asarray(features)
    pair = np.einsum("ef,fjk->ejk", features, crf.edge_coef_)
    return reference.labelling_scores(local, pair, ends)


def mean_loss(crf, X, log_targets):
    """Return the mean of log Z less the expected score of the targets.

    ``log_targets(i, paths, scores)`` returns <q, scores> or log Z(Y) of graph i.
    """
    losses = []
    for i, graph in enumerate(X):
        paths, scores = labelling_scores(crf, graph)
        losses.append(logsumexp(scores) - log_targets(i, paths, scores))
    return np.mean(losses)


def squared_norm(crf):
    """Return the squared norm of the weights of directed edges, and of nodes."""
    coef = crf.coef_.toarray() if hasattr(crf.coef_, "toarray") else crf.coef_
    blocks = coef, crf.intercept_, crf.edge_coef_
    return sum(float((block**2).sum()) for block in blocks)
