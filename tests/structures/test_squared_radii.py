"""How far the features of two labellings of a sequence may be from each other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference import all_features, all_paths
from samples import make_problem
from skcrf_sdca._utils.ragged import split_rows
from skcrf_sdca.data.graphs import Edges
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.structures.graph.structure import Graph


def squared_radii(*X, **options):
    """Return those of chains of the labels 0 and 1."""
    y = [[0] * len(x) for x in X]
    return make_problem(X, y, 2, 0.1, **options).structure.squared_radii()


def largest_distance(x):
    """Return the largest squared distance of the features of two paths."""
    found = all_features(x, 2)
    return ((found[:, np.newaxis] - found) ** 2).sum(axis=2).max()


def test_two_paths_of_one_label_each_attain_the_bound():
    x = np.array([[1.0, 2.0], [1.0, 0.0], [0.0, 3.0]])
    assert_allclose(squared_radii(x), 2 * (2**2 + 5**2 + 3**2 + 2 + 2**2))
    assert_allclose(squared_radii(x), largest_distance(x), rtol=1e-12)


def test_features_below_zero_bring_paths_closer():
    x = np.array([[1.0, -2.0], [1.0, 0.0], [0.0, 3.0]])
    assert_allclose(squared_radii(x), squared_radii(abs(x)))
    assert largest_distance(x) < squared_radii(x)


def test_positions_without_features_differ_by_their_intercepts():
    x = np.zeros((1, 2))
    assert_allclose(squared_radii(x), 2 * (1 + 2))
    assert_allclose(squared_radii(x, boundaries=False), 2.0)


def largest_distance_of_graphs(graph):
    """Return the largest squared distance of the features of two labellings of each."""
    largest = []
    for i, x in enumerate(split_rows(graph.data.X, graph.offsets)):
        own = slice(*graph.edges.offsets[i : i + 2])
        ends, features = graph.edges.ends[own], graph.edges.features[own]
        found = []
        for path in all_paths(len(x), graph.n_labels):
            local = np.zeros((graph.n_labels, x.shape[1] + 1))
            np.add.at(local, path, np.column_stack([x, np.ones(len(x))]))
            tied = np.zeros((graph.place.max() + 1, features.shape[1]))
            np.add.at(tied, graph.place[tuple(path[ends].T)], features)
            found.append(np.append(local, tied))
        largest.append(((np.array(found)[:, np.newaxis] - found) ** 2).sum(2).max())
    return np.array(largest)


@pytest.mark.parametrize("directed", [False, True])
def test_those_of_graphs_count_all_edges(directed):
    """A clique has more edges than a path, and edges have features of any size."""
    rng = np.random.default_rng(0)
    clique = [[0, 1], [0, 2], [3, 0], [1, 2], [3, 1], [2, 3]]
    ends, sizes = [clique, [[1, 0]], []], [4, 2, 1]
    data = PackedSequences.from_sequences([np.ones((n, 2)) for n in sizes])
    features = [rng.uniform(1.0, 9.0, size=(len(own), 2)) for own in ends]
    edges = Edges.of_lists(ends, features, sizes)
    graph = Graph(data, 2, edges=edges, directed=directed)
    assert_allclose(graph.squared_radii(), largest_distance_of_graphs(graph))
    edges.features[::2] *= -1.0
    assert (graph.squared_radii() >= largest_distance_of_graphs(graph)).all()
    edges.features[:] *= 1e200
    assert np.isfinite(graph.squared_radii()).all()
