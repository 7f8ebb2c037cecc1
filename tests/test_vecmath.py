"""The vector unit against NumPy, at every length near the vector widths."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import xlogy

from skcrf_sdca._kernels import _vecmath

LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 100, 484]


@pytest.fixture(params=LENGTHS)
def segment(request):
    """Return p >= 0 with zeros, and a direction that keeps p + direction >= 0."""
    rng = np.random.default_rng(request.param)
    p = rng.random(request.param)
    target = rng.random(request.param)
    p[::3] = 0.0
    target[1::3] = 0.0
    return p, target - p


def test_exp(segment):
    x = 50.0 * segment[1]
    out = np.empty_like(x)
    _vecmath.exp(x, x.max(), out)
    assert_allclose(out, np.exp(x - x.max()), rtol=1e-14)


def test_exp_of_very_negative_arguments_is_tiny_and_positive():
    out = np.empty(3)
    _vecmath.exp(np.array([-1e300, -1e4, 0.0]), 0.0, out)
    assert (out[:2] < 1e-300).all()
    assert (out > 0).all()
    assert out[2] == 1.0


def test_xlogx(segment):
    p, _ = segment
    assert_allclose(_vecmath.xlogx(p), xlogy(p, p).sum(), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("step", [1e-9, 0.3, 0.5, 0.999])
def test_slope(segment, step):
    p, direction = segment
    moves = direction != 0
    m = (p + step * direction)[moves]
    slope, curvature = _vecmath.slope(p, direction, step)
    assert_allclose(slope, (direction[moves] * np.log(m)).sum(), rtol=1e-12, atol=1e-12)
    assert_allclose(curvature, (direction[moves] ** 2 / m).sum(), rtol=1e-12)


def test_slope_at_the_border_is_finite(segment):
    p, direction = segment
    for step in (0.0, 1.0):
        assert np.isfinite(_vecmath.slope(p, direction, step)).all()


def test_move(segment):
    p, direction = segment
    expected = p + 0.3 * direction
    value = _vecmath.move(p, direction, 0.3)
    assert_allclose(p, expected, rtol=1e-15, atol=1e-300)
    assert_allclose(value, xlogy(expected, expected).sum(), rtol=1e-13, atol=1e-15)


def test_move_leaves_no_subnormal_numbers():
    p = np.array([1e-31, 1e-310, 0.5, 1e-29])
    _vecmath.move(p, np.zeros(4), 0.5)
    assert p.tolist() == [0.0, 0.0, 0.5, 1e-29]
