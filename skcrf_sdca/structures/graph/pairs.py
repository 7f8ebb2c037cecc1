"""The weights of pairs of labels: one for each, or one for both orders of two."""

import numpy as np


def pair_places(n_labels, directed):
    """Return the number of the weight of each pair of labels, (K, K) int32.

    Examples
    --------
    >>> from skcrf_sdca.structures.graph.pairs import pair_places
    >>> pair_places(2, directed=True), pair_places(2, directed=False)
    (array([[0, 1],
           [2, 3]], dtype=int32), array([[0, 1],
           [1, 2]], dtype=int32))
    """
    if directed:
        return np.arange(n_labels**2, dtype=np.int32).reshape(n_labels, n_labels)
    place = np.zeros((n_labels, n_labels), dtype=np.int32)
    rows, columns = np.triu_indices(n_labels)
    place[rows, columns] = place[columns, rows] = np.arange(len(rows))
    return place


def tied_of_pairs(weights, place):
    """Return the weights (n_edge_features, K, K) as the flat vector that all share."""
    tied = np.empty((len(weights), place.max(initial=0) + 1))
    tied[:, place.ravel()] = weights.reshape(len(weights), -1)
    return tied.ravel()


def terms_of_pairs(weights, edges, paths, differs):
    """Yield the terms of the edges of one graph, as `path_terms` takes them."""
    for (a, b), row in zip(edges.ends.tolist(), edges.features, strict=True):
        if differs[a] or differs[b]:
            yield f"<edge {a}-{b}>", 1.0, row @ weights[:, paths[:, a], paths[:, b]]
