"""Graphs of images against loops over pixels; adjacency matrices as edges."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from skcrf_sdca import GraphCRF
from skcrf_sdca.datasets import image_graph


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (3, 1), (3, 4), (4, 3, 2)])
@pytest.mark.parametrize("n_neighbours", [4, 8])
def test_the_edges_join_neighbours_and_say_their_direction(shape, n_neighbours):
    image = np.random.default_rng(0).normal(size=shape)
    nodes, edges, features = image_graph(image, n_neighbours=n_neighbours)
    height, width = shape[:2]
    directions = [(0, 1), (1, 0), (1, 1), (1, -1)][: n_neighbours // 2]
    expected = {
        (i * width + j, (i + down) * width + j + right): direction
        for direction, (down, right) in enumerate(directions)
        for i in range(height - down)
        for j in range(width)
        if 0 <= j + right < width
    }
    assert len(edges) == len(expected)
    for edge, row in zip(edges.tolist(), features, strict=True):
        assert_array_equal(row, np.eye(len(directions))[expected[tuple(edge)]])
    assert_array_equal(nodes, image.reshape(height * width, -1))


def test_contrasts_are_near_1_for_pixels_alike():
    image = np.array([[0.0, 0.0, 3.0]])
    _, _, features = image_graph(image, contrast=True)
    assert_allclose(features, [[1, 0, 1, 0], [1, 0, np.exp(-2.0), 0]], atol=1e-12)
    _, _, features = image_graph(np.ones((2, 2)), contrast=True)
    assert_array_equal(features[:, :2], features[:, 2:])


def test_images_that_are_none_are_refused():
    with pytest.raises(ValueError, match="shape \\(3,\\)"):
        image_graph(np.ones(3))
    with pytest.raises(ValueError, match="n_neighbours must be 4 or 8, got 6"):
        image_graph(np.ones((2, 2)), n_neighbours=6)


@pytest.mark.parametrize("make", [sp.csr_array, sp.coo_matrix])
def test_an_adjacency_matrix_has_the_edges(make):
    nodes, labels = np.eye(3), [[0, 1, 1]]
    ends = np.array([[0, 1], [1, 2]])
    one_way = make((np.ones(2), ends.T), shape=(3, 3))
    both_ways = make(one_way + one_way.T)
    crf = GraphCRF(random_state=0).fit([(nodes, ends)], labels)
    for matrix in (one_way, both_ways):
        other = GraphCRF(random_state=0).fit([(nodes, matrix)], labels)
        assert_array_equal(other.edge_coef_, crf.edge_coef_)
    with pytest.raises(ValueError, match="graph 0.*\\(3, 2\\).*square"):
        crf.predict([(nodes, make(np.ones((3, 2))))])
