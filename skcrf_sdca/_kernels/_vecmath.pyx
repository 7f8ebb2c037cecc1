# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Vector arithmetic over contiguous blocks: hands vecmath.c on to the other kernels.

Owns the choice between its builds, and no arithmetic. Of the Python functions at the
end, all but `inner` exist for the tests.
"""

from cython.view cimport array as cython_array

from skcrf_sdca._kernels import PLAIN_LOOPS

ctypedef fused real:
    float
    double


cdef extern from "vecmath.h":
    struct skcrf_vecmath:
        void (*exp)(const double*, double, double*, Py_ssize_t) noexcept nogil
        double (*aim_double)(
            const double*, const double*, const double*, Py_ssize_t, double*, float*,
            double*, double*) noexcept nogil
        double (*xlogx_double)(const double*, Py_ssize_t) noexcept nogil
        void (*slope_double)(
            const double*, const double*, double, Py_ssize_t, double*,
            double*) noexcept nogil
        void (*slope_near_double)(
            const double*, const float*, float, Py_ssize_t, double*,
            double*) noexcept nogil
        double (*move_double)(
            const double*, const double*, const float*, double, Py_ssize_t,
            double*) noexcept nogil
        void (*follow_double)(
            const double*, const double*, Py_ssize_t, double*, double*) noexcept nogil
        double (*aim_single)(
            const double*, const float*, const double*, Py_ssize_t, float*, float*,
            double*, double*) noexcept nogil
        double (*xlogx_single)(const float*, Py_ssize_t) noexcept nogil
        void (*slope_single)(
            const float*, const float*, double, Py_ssize_t, double*,
            double*) noexcept nogil
        void (*slope_near_single)(
            const float*, const float*, float, Py_ssize_t, double*,
            double*) noexcept nogil
        double (*move_single)(
            const float*, const float*, const float*, double, Py_ssize_t,
            float*) noexcept nogil
        void (*follow_single)(
            const float*, const double*, Py_ssize_t, double*, double*) noexcept nogil
        void (*row_times_matrix)(
            const double*, const double*, double*, Py_ssize_t) noexcept nogil
        void (*scale_matrix)(
            const double*, const double*, const double*, double*,
            Py_ssize_t) noexcept nogil
        void (*add_outer)(
            const double*, const double*, double*, Py_ssize_t) noexcept nogil
        void (*axpy)(double, const double*, double*, Py_ssize_t) noexcept nogil
        void (*pull)(
            const int*, Py_ssize_t, int, int*, const double*, const double*,
            const double*, double*, Py_ssize_t) noexcept nogil
        void (*gather)(
            const double*, const int*, Py_ssize_t, const double*, double*,
            Py_ssize_t) noexcept nogil
        void (*scatter)(
            double, const double*, const int*, Py_ssize_t, const double*, double*,
            Py_ssize_t) noexcept nogil
        void (*move_rows)(
            double, const double*, const int*, Py_ssize_t, double*,
            Py_ssize_t) noexcept nogil
        void (*join_rows)(
            double, const int*, Py_ssize_t, double*, double*, Py_ssize_t, Py_ssize_t,
            Py_ssize_t, double*, double*) noexcept nogil
        void (*change)(
            const double*, const double*, Py_ssize_t, Py_ssize_t, double*,
            double*) noexcept nogil
        double (*dot)(const double*, const double*, Py_ssize_t) noexcept nogil
        void (*gather_each)(
            const double*, const int*, const long long*, Py_ssize_t, const double*,
            double*, Py_ssize_t) noexcept nogil
        void (*scatter_each)(
            double, const double*, const int*, const long long*, Py_ssize_t,
            const double*, double*, Py_ssize_t) noexcept nogil

    const skcrf_vecmath skcrf_vecmath_clones
    const skcrf_vecmath skcrf_vecmath_plain


cdef const skcrf_vecmath* ops = (
    &skcrf_vecmath_plain if PLAIN_LOOPS else &skcrf_vecmath_clones
)


cdef void vexp(
    const double* x, double shift, double* out, Py_ssize_t n
) noexcept nogil:
    ops.exp(x, shift, out, n)


cdef double vxlogx(Stored p, Py_ssize_t n) noexcept nogil:
    if p.single:
        return ops.xlogx_single(<float*> p.first, n)
    else:
        return ops.xlogx_double(<double*> p.first, n)


cdef double vaim(
    const double* target, Stored p, const double* scores, Py_ssize_t n, Stored stored,
    float* ratio, double* direction_sum, double* lost
) noexcept nogil:
    if p.single:
        return ops.aim_single(
            target, <float*> p.first, scores, n, <float*> stored.first, ratio,
            direction_sum, lost
        )
    else:
        return ops.aim_double(
            target, <double*> p.first, scores, n, <double*> stored.first, ratio,
            direction_sum, lost
        )


cdef void vslope(
    Stored p, Stored target, double step, Py_ssize_t n, double* slope,
    double* curvature
) noexcept nogil:
    if p.single:
        ops.slope_single(
            <float*> p.first, <float*> target.first, step, n, slope, curvature
        )
    else:
        ops.slope_double(
            <double*> p.first, <double*> target.first, step, n, slope, curvature
        )


cdef void vslope_near(
    Stored target, const float* ratio, float rest, Py_ssize_t n, double* slope,
    double* curvature
) noexcept nogil:
    if target.single:
        ops.slope_near_single(
            <float*> target.first, ratio, rest, n, slope, curvature
        )
    else:
        ops.slope_near_double(
            <double*> target.first, ratio, rest, n, slope, curvature
        )


cdef double vmove(
    Stored p, Stored target, const float* ratio, double step, Py_ssize_t n, Stored out
) noexcept nogil:
    if p.single:
        return ops.move_single(
            <float*> p.first, <float*> target.first, ratio, step, n,
            <float*> out.first
        )
    else:
        return ops.move_double(
            <double*> p.first, <double*> target.first, ratio, step, n,
            <double*> out.first
        )


cdef void vfollow(
    Stored edge, const double* start, Py_ssize_t n, double* out, double* to
) noexcept nogil:
    if edge.single:
        ops.follow_single(
            <float*> edge.first, start, n, out, to
        )
    else:
        ops.follow_double(
            <double*> edge.first, start, n, out, to
        )


cdef void row_times_matrix(
    const double* row, const double* matrix, double* out, Py_ssize_t n
) noexcept nogil:
    ops.row_times_matrix(row, matrix, out, n)


cdef void scale_matrix(
    const double* left, const double* matrix, const double* right, double* out,
    Py_ssize_t n
) noexcept nogil:
    ops.scale_matrix(left, matrix, right, out, n)


cdef void add_outer(
    const double* left, const double* right, double* out, Py_ssize_t n
) noexcept nogil:
    ops.add_outer(left, right, out, n)


cdef void axpy(double a, const double* x, double* y, Py_ssize_t n) noexcept nogil:
    ops.axpy(a, x, y, n)


cdef void pull(
    const int* index, Py_ssize_t count, int move, int* moves, const double* shrunk,
    const double* gained, const double* target, double* rows, Py_ssize_t n
) noexcept nogil:
    ops.pull(index, count, move, moves, shrunk, gained, target, rows, n)


cdef void gather(
    const double* a, const int* index, Py_ssize_t count, const double* rows, double* y,
    Py_ssize_t n
) noexcept nogil:
    ops.gather(a, index, count, rows, y, n)


cdef void scatter(
    double step, const double* a, const int* index, Py_ssize_t count, const double* x,
    double* rows, Py_ssize_t n
) noexcept nogil:
    ops.scatter(step, a, index, count, x, rows, n)


cdef void move_rows(
    double step, const double* x, const int* index, Py_ssize_t count, double* rows,
    Py_ssize_t n
) noexcept nogil:
    ops.move_rows(step, x, index, count, rows, n)


cdef void join_rows(
    double factor, const int* index, Py_ssize_t count, double* rows, double* copies,
    Py_ssize_t stride, Py_ssize_t n_copies, Py_ssize_t n, double* joint, double* apart
) noexcept nogil:
    ops.join_rows(factor, index, count, rows, copies, stride, n_copies, n, joint, apart)


cdef void vchange(
    const double* to, const double* start, Py_ssize_t count, Py_ssize_t n,
    double* change, double* change_sum
) noexcept nogil:
    ops.change(to, start, count, n, change, change_sum)


cdef double dot(const double* x, const double* y, Py_ssize_t n) noexcept nogil:
    return ops.dot(x, y, n)


cdef void gather_each(
    const double* a, const int* index, const long long* bounds, Py_ssize_t count,
    const double* rows, double* y, Py_ssize_t n
) noexcept nogil:
    ops.gather_each(a, index, bounds, count, rows, y, n)


cdef void scatter_each(
    double step, const double* a, const int* index, const long long* bounds,
    Py_ssize_t count, const double* x, double* rows, Py_ssize_t n
) noexcept nogil:
    ops.scatter_each(step, a, index, bounds, count, x, rows, n)


def inner(const double[::1] x, const double[::1] y):
    """Return sum_i x[i] y[i]: the same bits whatever the threads of BLAS."""
    if x.shape[0] != y.shape[0]:
        raise ValueError(f"{x.shape[0]} and {y.shape[0]} numbers")
    return ops.dot(&x[0], &y[0], x.shape[0])


def plain_loops():
    """Return whether the plain build is in use."""
    return ops == &skcrf_vecmath_plain


def exp(const double[::1] x, double shift, double[::1] out):
    """Write exp(x - shift) to ``out``; see vecmath.h."""
    ops.exp(&x[0], shift, &out[0], x.shape[0])


cdef Stored stored(const real[::1] x):
    """Return where the numbers of an array are stored."""
    return Stored(<char*> &x[0], real is float)


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
    return vmove(
        stored(p), stored(target), &ratio[0], step, p.shape[0], stored(out)
    )


def follow(
    const real[:, ::1] edge, const double[::1] start, double[:, ::1] out,
    double[::1] to,
):
    """Write the edge and the node after it; see vecmath.h."""
    cdef Stored first = Stored(<char*> &edge[0, 0], real is float)
    vfollow(first, &start[0], edge.shape[0], &out[0, 0], &to[0])
