# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Vector arithmetic over contiguous blocks: the choice between the builds of vecmath.c.

Of the Python functions, all but `inner` exist for the tests.
"""

from cython.view cimport array as cython_array

from skcrf_sdca._kernels import PLAIN_LOOPS

ctypedef fused real:
    float
    double


cdef extern from "vecmath.h":
    const skcrf_vecmath skcrf_vecmath_clones
    const skcrf_vecmath skcrf_vecmath_plain


ops = &skcrf_vecmath_plain if PLAIN_LOOPS else &skcrf_vecmath_clones


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


def plain_loops():
    """Return whether the plain build is in use."""
    return ops == &skcrf_vecmath_plain


def exp(const double[::1] x, double shift, double[::1] out):
    """Write exp(x - shift) to ``out``; see vecmath.h."""
    ops.exp(&x[0], shift, &out[0], x.shape[0])


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
