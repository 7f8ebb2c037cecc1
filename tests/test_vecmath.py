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


@pytest.mark.parametrize("scale", [1e-30, 1e-7, 1e-3, 1.0, 1e10, 1e30])
def test_slope_single(segment, scale):
    """Relative precision near the target (small ratios) and far from it."""
    p, direction = segment
    single = direction.astype(np.float32)
    # A ratio is 1 - p / target: any size below 0, at most 1 above.
    ratio = np.minimum(scale * direction, 0.9).astype(np.float32)
    rest = np.float32(0.75)
    slope, curvature = _vecmath.slope_single(single, ratio, rest)
    d, x = single.astype(np.float64), -np.float64(rest) * ratio
    terms = d * np.log1p(x)
    assert_allclose(slope, terms.sum(), rtol=0, atol=3e-6 * abs(terms).sum())
    terms = d * ratio / (1 + x)
    assert_allclose(curvature, terms.sum(), rtol=0, atol=3e-6 * abs(terms).sum())


def test_direction():
    rng = np.random.default_rng(0)
    target, p = rng.random((2, 5, 7))
    target[2, 3] = 0.0
    moved = target.copy()
    direction_sum, p_sum, single, ratio = map(np.asarray, _vecmath.direction(moved, p))
    assert_allclose(moved, target - p, rtol=0, atol=0)
    assert_allclose(direction_sum, (target - p).sum(axis=0), rtol=1e-14, atol=1e-15)
    assert_allclose(p_sum, p.sum(axis=0), rtol=1e-14)
    assert_allclose(single, target - p, rtol=1e-7)
    positive = target > 0
    assert_allclose(
        ratio[positive], 1 - p[positive] / target[positive], rtol=1e-6, atol=1e-6
    )
    assert np.isfinite(ratio).all()


def test_logarithm_from_1_to_the_smallest_probability():
    """Term by term, to the last digits."""
    for p in [*np.linspace(1e-3, 1.0, 999), *np.logspace(-30, 0, 301)]:
        term = _vecmath.xlogx(np.array([p]))
        assert_allclose(term, p * np.log(p), rtol=1e-15, atol=1e-17 * p)
