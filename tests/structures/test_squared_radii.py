"""How far the features of two labellings of a sequence may be from each other."""

import numpy as np
from numpy.testing import assert_allclose

from reference import all_features
from samples import make_problem


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
