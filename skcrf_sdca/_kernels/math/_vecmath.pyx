"""Vector arithmetic over contiguous blocks: the choice between the builds of vecmath.c.

``LEVEL`` is the level of all units of loops, see levels.h.

Of the Python functions, all but `inner` exist for the tests.
"""

from cython.view cimport array as cython_array

from skcrf_sdca._kernels import HIGHEST_LEVEL

import numpy as np

ctypedef fused real:
    float
    double


cdef extern from "vecmath.h":
    int skcrf_level(int highest)
    const skcrf_vecmath* skcrf_vecmath_of(int level)


LEVEL = skcrf_level(HIGHEST_LEVEL)
ops = skcrf_vecmath_of(LEVEL)


cdef object addressable(array):
    """Return an array, or zeros if it has no columns, so that it has an address.

    A structure may have no tied potentials, say.
    """
    *shape, n_columns = array.shape
    return array if n_columns > 0 else np.zeros((*shape, 1), dtype=array.dtype)


def inner(const double[::1] x, const double[::1] y):
    """Return sum_i x[i] y[i]: the same bits whatever the threads of BLAS."""
    if x.shape[0] != y.shape[0]:
        raise ValueError(f"{x.shape[0]} and {y.shape[0]} numbers")
    if x.shape[0] == 0:
        return 0.0
    return ops.dot(&x[0], &y[0], x.shape[0])


def shrink(const double[::1] v, double threshold, double factor, double[::1] out):
    """Write factor soft(v) to ``out``; see vecmath.h."""
    if v.shape[0] != out.shape[0]:
        raise ValueError(f"{v.shape[0]} and {out.shape[0]} numbers")
    ops.shrink(&v[0], threshold, factor, v.shape[0], &out[0])


def shrunk_norm(const double[::1] v, double threshold):
    """Return sum_i soft(v[i])^2; see vecmath.h."""
    return ops.shrunk_norm(&v[0], threshold, v.shape[0])


def exp(const double[::1] x, double shift, double[::1] out):
    """Write exp(x - shift) to ``out``; see vecmath.h."""
    ops.exp(&x[0], shift, &out[0], x.shape[0])


def extent(const double[::1] x):
    """Return the largest and the smallest number; see vecmath.h."""
    cdef double least
    largest = ops.extent(&x[0], x.shape[0], &least)
    return largest, least


def transpose(const double[:, ::1] matrix, double[:, ::1] out):
    """Write the transposed matrix to ``out``; see vecmath.h."""
    ops.transpose(&matrix[0, 0], matrix.shape[0], &out[0, 0])


def scale_row(const double[::1] factor, double[::1] row):
    """Multiply and normalise ``row``, return its sum before; see vecmath.h."""
    return ops.scale_row(&factor[0], row.shape[0], &row[0])


def two_products(
    const double[::1] a, const double[::1] b, double factor, const double[::1] x,
    double[::1] product, double[::1] message,
):
    """Write a x and factor b x; see vecmath.h."""
    ops.two_products(&a[0], &b[0], factor, &x[0], x.shape[0], &product[0], &message[0])


def blend(const float[::1] x, const double[::1] y, double step, double[::1] out):
    """Write (1 - step) x + step y, rounded to single precision; see vecmath.h."""
    ops.blend(&x[0], &y[0], step, x.shape[0], &out[0])


def narrow(const double[::1] x, float[::1] out):
    """Write ``x`` in single precision; see vecmath.h."""
    ops.narrow(&x[0], x.shape[0], &out[0])


cdef Stored stored(const real[::1] x):
    """Return where the numbers of an array are stored."""
    return Stored(<void*> &x[0], real is float)


def xlogx(const real[::1] p):
    """Return the sum of p log p; see vecmath.h."""
    return vxlogx(stored(p), p.shape[0])


def aim(const double[::1] target, const real[::1] p, const double[::1] scores):
    """Return what aim writes, and the sum that it returns; see vecmath.h."""
    n = p.shape[0]
    form = "f" if real is float else "d"
    cdef real[::1] kept = cython_array((n,), sizeof(real), form)
    cdef float[::1] ratio = cython_array((n,), sizeof(float), "f")
    cdef double[::1] direction_sum = cython_array((n,), sizeof(double), "d")
    cdef double lost = 0.0
    direction_sum[:] = 0.0
    expected = vaim(
        &target[0], stored(p), &scores[0], n, stored(kept), &ratio[0],
        &direction_sum[0], &lost,
    )
    return kept, ratio, direction_sum, lost, expected


def slope(const real[::1] p, const real[::1] target, double step):
    """Return the slope and curvature sums at ``step``; see vecmath.h."""
    cdef double first, second
    vslope(stored(p), stored(target), step, p.shape[0], &first, &second)
    return first, second


def slope_near(const real[::1] target, const float[::1] ratio, float rest):
    """Return slope and curvature in single precision; see vecmath.h."""
    cdef double first, second
    vslope_near(stored(target), &ratio[0], rest, ratio.shape[0], &first, &second)
    return first, second


def move(
    const real[::1] p, const real[::1] target, const float[::1] ratio, double step,
    real[::1] out,
):
    """Write the moved marginals, return their divergence; see vecmath.h."""
    return vmove(stored(p), stored(target), &ratio[0], step, p.shape[0], stored(out))


def follow(
    const real[:, ::1] edge, const double[::1] start, double[:, ::1] out,
    double[::1] to,
):
    """Write the edge and the node after it; see vecmath.h."""
    vfollow(stored(edge[0]), &start[0], edge.shape[0], &out[0, 0], &to[0])


def row_times_matrix(
    const double[::1] row, const double[:, ::1] matrix, double[::1] out
):
    """Write row @ matrix to ``out``; see vecmath.h."""
    ops.row_times_matrix(&row[0], &matrix[0, 0], &out[0], row.shape[0])


def scale_matrix(
    const double[::1] left, const double[:, ::1] matrix, const double[::1] right,
    double[:, ::1] out,
):
    """Write the scaled matrix to ``out``; see vecmath.h."""
    ops.scale_matrix(&left[0], &matrix[0, 0], &right[0], &out[0, 0], left.shape[0])


def add_outer(const double[::1] left, const double[::1] right, double[:, ::1] out):
    """Add the outer product to ``out``; see vecmath.h."""
    ops.add_outer(&left[0], &right[0], &out[0, 0], left.shape[0])


def change(
    const double[:, ::1] to, const double[:, ::1] start, double[:, ::1] out,
    double[::1] total,
):
    """Write the change and its sum over the rows; see vecmath.h."""
    ops.change(
        &to[0, 0], &start[0, 0], to.shape[0], to.shape[1], &out[0, 0], &total[0]
    )


def gather(
    const double[::1] a, const int[::1] index, const double[:, ::1] rows,
    double[::1] y,
):
    """Add a weighted sum of rows to ``y``; see vecmath.h."""
    ops.gather(&a[0], &index[0], len(index), &rows[0, 0], &y[0], len(y))


def scatter(
    double step, const double[::1] a, const int[::1] index, const double[::1] x,
    double[:, ::1] rows,
):
    """Add multiples of ``x`` to rows; see vecmath.h."""
    ops.scatter(step, &a[0], &index[0], len(index), &x[0], &rows[0, 0], len(x))


def dense_scores(const real[:, ::1] x, const double[:, ::1] rows, double[:, ::1] y):
    """Add x @ rows to ``y``; see vecmath.h."""
    ops.dense_scores(
        &x[0, 0], real is float, x.shape[1], x.shape[0], &rows[0, 0], &y[0, 0],
        y.shape[1],
    )


def dense_features(
    double step, const real[:, ::1] x, const double[:, ::1] y, double[:, ::1] rows
):
    """Add step times x.T @ y to ``rows``; see vecmath.h."""
    ops.dense_features(
        step, &x[0, 0], real is float, x.shape[1], x.shape[0], &y[0, 0], &rows[0, 0],
        y.shape[1],
    )


def move_rows(
    double step, const double[:, ::1] x, const int[::1] index, double[:, ::1] rows
):
    """Add step times the rows of ``x`` to the rows named; see vecmath.h."""
    ops.move_rows(
        step, &x[0, 0], &index[0], len(index), &rows[0, 0], rows.shape[1]
    )


def pull(
    const int[::1] index, int move, int[::1] moves, const double[::1] shrunk,
    const double[::1] gained, const double[:, ::1] target, double[:, ::1] rows,
):
    """Pull the rows named toward those of the target; see vecmath.h."""
    ops.pull(
        &index[0], len(index), move, &moves[0], &shrunk[0], &gained[0], &target[0, 0],
        &rows[0, 0], rows.shape[1],
    )


def copy_rows(const int[::1] index, const double[:, ::1] rows, double[:, ::1] out):
    """Copy the rows named to ``out``; see vecmath.h."""
    ops.copy_rows(&index[0], len(index), &rows[0, 0], &out[0, 0], rows.shape[1])


def precondition_rows(
    double[:, ::1] x, const int[::1] index, const unsigned char[::1] code,
    const double[::1] value,
):
    """Multiply rows with the factors named, return their norm; see vecmath.h."""
    cdef skcrf_factors factors = skcrf_factors(&code[0], &value[0])
    return ops.precondition_rows(
        &x[0, 0], &index[0], len(index), &factors, x.shape[1]
    )


def shrink_rows(
    const int[::1] index, const double[:, ::1] v, double threshold,
    const unsigned char[::1] code, const double[::1] value,
    unsigned char[::1] active, double[:, ::1] out,
):
    """Write factor soft(v) for the rows named; see vecmath.h."""
    cdef skcrf_factors factors = skcrf_factors(&code[0], &value[0])
    ops.shrink_rows(
        &index[0], len(index), &v[0, 0], threshold, &factors, &active[0], &out[0, 0],
        v.shape[1],
    )
