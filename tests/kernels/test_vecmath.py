"""The vector functions against NumPy, at every length near the vector widths."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import xlogy

from skcrf_sdca._kernels.math import _vecmath

LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 100, 484]


@pytest.fixture(params=LENGTHS)
def segment(request):
    """Return p >= 0 and a target >= 0, with zeros in both."""
    rng = np.random.default_rng(request.param)
    p, target = rng.random((2, request.param))
    p[::3] = 0.0
    target[1::3] = 0.0
    return p, target


@pytest.fixture(params=["float32", "float64"])
def stored(request, segment):
    """Return the array in a data type of stored marginals."""
    return tuple(x.astype(request.param) for x in segment)


def test_exp(segment):
    x = 50.0 * (segment[1] - segment[0])
    out = np.empty_like(x)
    _vecmath.exp(x, x.max(), out)
    assert_allclose(out, np.exp(x - x.max()), rtol=1e-14)


def test_exp_of_very_negative_arguments_is_tiny_and_positive():
    out = np.empty(3)
    _vecmath.exp(np.array([-1e300, -1e4, 0.0]), 0.0, out)
    assert (out[:2] < 1e-300).all()
    assert (out > 0).all()
    assert out[2] == 1.0


def test_extent(segment):
    for place in (None, 0, -1):
        x = segment[1] - segment[0]
        if place is not None:
            x[place] = -np.inf
        largest = max(x.max(), -np.finfo(np.float64).max)
        assert _vecmath.extent(x) == (largest, x.min())


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 22])
def test_transpose(n):
    matrix, out = np.arange(1.0, n * n + 1).reshape(n, n), np.empty((n, n))
    _vecmath.transpose(matrix, out)
    np.testing.assert_array_equal(out, matrix.T)


def test_scale_row(segment):
    factor, row = segment[0] + 0.1, segment[1] + 0.1
    product = factor * row
    assert_allclose(_vecmath.scale_row(factor, row), product.sum(), rtol=1e-14)
    assert_allclose(row, product / product.sum(), rtol=1e-14)


def test_scale_row_leaves_zeros(segment):
    row = np.zeros_like(segment[0])
    assert _vecmath.scale_row(segment[0], row) == 0.0
    assert (row == 0.0).all()


def test_two_products(segment):
    a, x = segment
    b, product, message = a[::-1].copy(), np.empty_like(a), np.empty_like(a)
    _vecmath.two_products(a, b, 3.0, x, product, message)
    assert_allclose(product, a * x, rtol=1e-15)
    assert_allclose(message, 3.0 * b * x, rtol=1e-15)


def test_blend_and_narrow_round_to_single_precision(segment):
    x, y = segment[0].astype(np.float32), segment[1]
    out, single = np.empty_like(y), np.empty_like(x)
    _vecmath.blend(x, y, 0.3, out)
    exact = 0.7 * x.astype(np.float64) + 0.3 * y
    assert_allclose(out, exact, rtol=6e-8)
    _vecmath.narrow(out, single)
    np.testing.assert_array_equal(single, out)
    _vecmath.narrow(exact, single)
    np.testing.assert_array_equal(single, exact.astype(np.float32))


def test_xlogx(stored):
    p = stored[0]
    exact = p.astype(np.float64)
    assert_allclose(
        _vecmath.xlogx(p), xlogy(exact, exact).sum(), rtol=1e-13, atol=1e-15
    )


def test_long_sums_keep_their_digits_in_single_precision():
    """A million terms, at which one sum in single precision would stop growing."""
    rng = np.random.default_rng(0)
    target = rng.random(1_000_000).astype(np.float32)
    p = rng.random(1_000_000).astype(np.float32)
    ratio = ratio_of(p, np.maximum(target, 1e-30))
    value = _vecmath.move(p, target, ratio, 0.3, np.empty_like(p))
    t, moved = target.astype(np.float64), 0.7 * p.astype(np.float64) + 0.3 * target
    assert_allclose(value, divergence(moved, np.maximum(t, 1e-30)), rtol=3e-6)
    slope, curvature = _vecmath.slope_near(target, ratio, np.float32(0.7))
    direction, x = t * ratio, -np.float64(np.float32(0.7)) * ratio
    terms = direction * np.log1p(x)
    assert_allclose(slope, terms.sum(), rtol=0, atol=3e-6 * abs(terms).sum())
    assert_allclose(curvature, (direction * ratio / (1 + x)).sum(), rtol=3e-6)


def test_slope(stored):
    for step in (1e-9, 0.3, 0.5, 0.999):
        p, target = (x.astype(np.float64) for x in stored)
        direction = target - p
        moves = direction != 0
        m = (p + step * direction)[moves]
        slope, curvature = _vecmath.slope(*stored, step)
        assert_allclose(
            slope, (direction[moves] * np.log(m)).sum(), rtol=1e-12, atol=1e-12
        )
        assert_allclose(curvature, (direction[moves] ** 2 / m).sum(), rtol=1e-12)


def test_slope_at_the_border_is_finite(stored):
    for step in (0.0, 1.0):
        assert np.isfinite(_vecmath.slope(*stored, step)).all()


def ratio_of(p, target):
    """Return the ratios that aim writes."""
    end = np.maximum(target.astype(np.float64), 1e-30)
    return ((target.astype(np.float64) - p) / end).astype(np.float32)


def divergence(p, target):
    return (xlogy(p, p / target) - p + target).sum()


def test_move(stored):
    p, target = stored[0], np.maximum(stored[1], 1e-30).astype(stored[1].dtype)
    out = np.empty_like(p)
    value = _vecmath.move(p, target, ratio_of(p, target), 0.3, out)
    moved = 0.7 * p.astype(np.float64) + 0.3 * target
    assert_allclose(out, moved, rtol=1.5 * np.finfo(out.dtype).eps, atol=1e-30)
    digits = 1e-13 if out.dtype == np.float64 else 1e-6
    assert_allclose(value, divergence(moved, target), rtol=digits)


def test_move_keeps_what_is_at_its_target(stored):
    """A rounding that is the same at every visit would keep the gap above 0."""
    for step in (0.1, 0.3, 0.5, 0.7, 0.9):
        target = np.maximum(stored[1], 1e-29).astype(stored[1].dtype)
        out = np.empty_like(target)
        _vecmath.move(target, target, np.zeros(len(target), np.float32), step, out)
        np.testing.assert_array_equal(out, target)


def test_move_keeps_the_digits_of_what_is_small():
    """target - p keeps no digit of the smaller of the two."""
    p = np.array([1.0, 1e-20], dtype=np.float32)
    target = np.array([1e-20, 1.0], dtype=np.float32)
    out = np.empty_like(p)
    _vecmath.move(p, target, ratio_of(p, target), 1.0, out)
    assert_allclose(out, target, rtol=1e-7)


def test_divergence_keeps_its_digits_near_the_target(stored):
    for size in (1e-5, 1e-3, 1e-1):
        target = np.maximum(stored[1], 1e-30).astype(stored[1].dtype)
        relative = size * np.random.default_rng(0).choice([-1.0, 1.0], len(target))
        p = (target * (1.0 + relative)).astype(target.dtype)
        ratio = ratio_of(p, target)
        value = _vecmath.move(p, target, ratio, 0.0, np.empty_like(p))
        t, u = target.astype(np.float64), -ratio.astype(np.float64)
        exact = (t * (xlogy(1 + u, 1 + u) - u)).sum()
        # Terms of size u cancel, and only u^2 / 2 remains.
        assert_allclose(
            value, exact, rtol=0, atol=2e-7 * (t * abs(u)).sum() + 1e-6 * exact
        )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_divergence_of_nothing(dtype):
    """For p = 0 the ratio is 1 and the term is t."""
    p, target = np.zeros(2, dtype=dtype), np.array([0.25, 1e-30], dtype=dtype)
    ratio = np.ones(2, dtype=np.float32)
    value = _vecmath.move(p, target, ratio, 0.0, np.empty_like(p))
    assert_allclose(value, 0.25, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_move_leaves_no_subnormal_numbers(dtype):
    p = np.array([1e-31, 1e-40, 0.5, 1e-29], dtype=dtype)
    out = np.empty_like(p)
    _vecmath.move(p, p, np.zeros(4, dtype=np.float32), 0.5, out)
    assert out.tolist() == [0.0, 0.0, 0.5, p[3]]


def test_slope_near(stored):
    """Relative precision near the target (small ratios) and far from it."""
    for scale in (1e-30, 1e-7, 1e-3, 1.0, 1e10, 1e30):
        # A ratio is 1 - p / target: below 0 of any size, above 0 at most 1.
        direction = stored[1] - stored[0]
        ratio = np.minimum(scale * direction, 0.9).astype(np.float32)
        target = np.ones_like(direction)
        np.divide(direction, ratio, where=ratio != 0, out=target)
        rest = np.float32(0.75)
        slope, curvature = _vecmath.slope_near(target, ratio, rest)
        d, x = target.astype(np.float64) * ratio, -np.float64(rest) * ratio
        terms = d * np.log1p(x)
        assert_allclose(slope, terms.sum(), rtol=0, atol=3e-6 * abs(terms).sum())
        terms = d * ratio / (1 + x)
        assert_allclose(curvature, terms.sum(), rtol=0, atol=3e-6 * abs(terms).sum())


def test_aim(stored):
    p, target = stored[0], stored[1].astype(np.float64)
    scores = np.linspace(-3.0, 3.0, len(p))
    kept, ratio, direction, lost, expected = _vecmath.aim(target, p, scores)
    exact = p.astype(np.float64)
    assert_allclose(lost, exact[target < 1e-30].sum(), rtol=1e-14)
    assert_allclose(kept, np.maximum(target, 1e-30), rtol=1e-7)
    assert_allclose(direction, target - exact, rtol=0, atol=0)
    assert_allclose(expected, exact @ scores, rtol=1e-13, atol=1e-14)
    positive = target > 0
    assert_allclose(
        np.asarray(ratio)[positive],
        1 - exact[positive] / target[positive],
        rtol=1e-6,
        atol=1e-6,
    )
    assert np.isfinite(ratio).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 22])
def test_follow(n, dtype):
    rng = np.random.default_rng(n)
    edge = rng.random((n, n)).astype(dtype)
    edge[0] = 0.0
    start = rng.random(n)
    out, to = np.empty((n, n)), np.empty(n)
    _vecmath.follow(edge, start, out, to)
    rows = edge.astype(np.float64)
    sums = rows.sum(axis=1, keepdims=True)
    exact = start[:, None] * np.divide(rows, sums, where=sums > 0, out=rows.copy())
    assert_allclose(out, exact, rtol=1e-14)
    assert_allclose(to, exact.sum(axis=0), rtol=1e-13)


def test_logarithm_from_1_to_the_smallest_probability():
    """Each term is exact to the last digits."""
    for p in [*np.linspace(1e-3, 1.0, 999), *np.logspace(-30, 0, 301)]:
        term = _vecmath.xlogx(np.array([p]))
        assert_allclose(term, p * np.log(p), rtol=1e-15, atol=1e-17 * p)


# Rows of one vector and of several, of one panel and of several.
WIDTHS = [*range(1, 18), 22, 31, 45, 47, 48, 49, 95, 97, 145]


@pytest.fixture(params=WIDTHS)
def rows(request):
    """Return 60 rows, and the numbers of 40 of them."""
    rng = np.random.default_rng(request.param)
    values = rng.standard_normal((60, request.param))
    return values, rng.permutation(60).astype(np.int32)[:40]


def same(result, expected):
    assert_allclose(result, expected, rtol=1e-12, atol=1e-12)


def test_sums_of_rows(rows):
    values, index = rows
    a, y = np.linspace(-1.0, 2.0, 40), values[0].copy()
    expected = y + a @ values[index]
    _vecmath.gather(a, index, values, y)
    same(y, expected)


def test_multiples_of_a_row_are_added_to_rows(rows):
    values, index = rows
    a, x = np.linspace(-1.0, 2.0, 80), np.arange(float(values.shape[1]))
    index = np.repeat(index, 2)
    expected = values.copy()
    np.add.at(expected, index, 0.5 * np.outer(a, x))
    _vecmath.scatter(0.5, a, index, x, values)
    same(values, expected)


def test_products_with_dense_rows(rows):
    for n_rows, dtype in product([1, 4, 11], [np.float32, np.float64]):
        weights, _ = rows
        rng = np.random.default_rng(0)
        x = rng.standard_normal((n_rows, len(weights))).astype(dtype)
        y = rng.standard_normal((n_rows, weights.shape[1]))
        exact = x.astype(np.float64)
        scores, one = y.copy(), y.copy()
        _vecmath.dense_scores(x, weights, scores)
        same(scores, y + exact @ weights)
        # Those of a row do not depend on the other rows.
        for t in range(n_rows):
            _vecmath.dense_scores(x[t : t + 1], weights, one[t : t + 1])
        assert np.array_equal(scores, one)
        # Nor do their bits depend on the type that holds the numbers.
        other = y.copy()
        _vecmath.dense_scores(exact, weights, other)
        assert np.array_equal(scores, other)
        # Of features too, four are done at a time, and the rest one by one.
        for n_features in (60, 59, 3):
            part, moved = np.ascontiguousarray(x[:, :n_features]), weights[:n_features]
            expected = moved + 0.5 * exact[:, :n_features].T @ y
            moved = moved.copy()
            other = moved.copy()
            _vecmath.dense_features(0.5, part, y, moved)
            same(moved, expected)
            _vecmath.dense_features(0.5, exact[:, :n_features].copy(), y, other)
            assert np.array_equal(moved, other)


def test_rows_are_moved(rows):
    values, index = rows
    x = np.ascontiguousarray(values[:40] ** 2)
    expected = values.copy()
    expected[index] += 0.5 * x
    _vecmath.move_rows(0.5, x, index, values)
    same(values, expected)


def test_rows_are_pulled(rows):
    values, index = rows
    target = values**2
    moves = np.arange(60, dtype=np.int32) % 3
    shrunk, gained = np.array([1.0, 0.9, 0.7, 0.6]), np.array([0.0, 0.2, 0.5, 0.9])
    last = moves[index]
    expected = values.copy()
    expected[index] *= (shrunk[3] / shrunk[last])[:, None]
    expected[index] += (shrunk[3] * (gained[3] - gained[last]))[:, None] * target[index]
    _vecmath.pull(index, 3, moves, shrunk, gained, target, values)
    same(values, expected)
    assert (moves[index] == 3).all()


def test_rows_are_copied(rows):
    values, index = rows
    out = np.empty((40, values.shape[1]))
    _vecmath.copy_rows(index, values, out)
    assert (out == values[index]).all()


def test_rows_are_shrunk(rows):
    values, index = rows
    values[::3] *= 0.1
    active = np.arange(60, dtype=np.uint8) % 2
    before = np.where(active[:, None], 7.0, 0.0) * np.ones_like(values)
    out, threshold = before.copy(), 0.5
    soft = values - np.clip(values, -threshold, threshold)
    expected = before.copy()
    code = np.arange(60, dtype=np.uint8) % 3
    factors = np.array([2.0, 0.5, 3.0])
    expected[index] = factors[code[index], None] * soft[index]
    _vecmath.shrink_rows(index, values, threshold, code, factors, active, out)
    same(out, expected)
    assert (active[index] == soft[index].any(axis=1)).all()


def test_rows_are_preconditioned(rows):
    values, index = rows
    code, factors = np.arange(60, dtype=np.uint8) % 3, np.array([2.0, 0.5, 3.0])
    own = factors[code[index], None]
    out = values[: len(index)].copy()
    norm = _vecmath.precondition_rows(out, index, code, factors)
    same(out, own * values[: len(index)])
    same(norm, (own * values[: len(index)] ** 2).sum())


def test_changes_of_rows(rows):
    values, _ = rows
    out, total = np.empty((30, values.shape[1])), np.empty(values.shape[1])
    _vecmath.change(values[:30], values[30:], out, total)
    assert (out == values[:30] - values[30:]).all()
    same(total, out.sum(axis=0))


@pytest.mark.parametrize("n", WIDTHS)
def test_square_matrices(n):
    rng = np.random.default_rng(n)
    left, right, out = rng.standard_normal((3, n))
    matrix = rng.standard_normal((n, n))
    _vecmath.row_times_matrix(left, matrix, out)
    same(out, left @ matrix)
    scaled = np.empty_like(matrix)
    _vecmath.scale_matrix(left, matrix, right, scaled)
    same(scaled, left[:, None] * matrix * right)
    expected = matrix + np.outer(left, right)
    _vecmath.add_outer(left, right, matrix)
    same(matrix, expected)
