# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Vector arithmetic over contiguous blocks: hands vecmath.c on to the other kernels.

Owns no arithmetic of its own. Of the Python functions at the end, all but `inner` exist
for the tests.
"""

from cython.view cimport array as cython_array


cdef extern from "vecmath.h" nogil:
    void skcrf_exp(const double*, double, double*, Py_ssize_t) noexcept
    double skcrf_xlogx(const double*, Py_ssize_t) noexcept
    void skcrf_slope(
        const double*, const double*, double, Py_ssize_t, double*, double*) noexcept
    void skcrf_slope_single(
        const float*, const float*, float, Py_ssize_t, double*, double*) noexcept
    double skcrf_move(double*, const double*, double, Py_ssize_t) noexcept
    void skcrf_direction(
        double*, const double*, Py_ssize_t, Py_ssize_t, double*, double*, float*,
        float*) noexcept
    void skcrf_row_times_matrix(
        const double*, const double*, double*, Py_ssize_t) noexcept
    void skcrf_scale_matrix(
        const double*, const double*, const double*, double*, Py_ssize_t) noexcept
    void skcrf_add_outer(
        const double*, const double*, double*, Py_ssize_t) noexcept
    void skcrf_axpy(double, const double*, double*, Py_ssize_t) noexcept
    void skcrf_pull(
        const int*, Py_ssize_t, int, int*, const double*, const double*,
        const double*, double*, Py_ssize_t) noexcept
    void skcrf_gather(
        const double*, const int*, Py_ssize_t, const double*, double*,
        Py_ssize_t) noexcept
    void skcrf_scatter(
        double, const double*, const int*, Py_ssize_t, const double*, double*,
        Py_ssize_t) noexcept
    void skcrf_change(
        const double*, const double*, Py_ssize_t, Py_ssize_t, double*,
        double*) noexcept
    void skcrf_prefetch(
        const int*, Py_ssize_t, const double*, Py_ssize_t) noexcept
    double skcrf_dot(const double*, const double*, Py_ssize_t) noexcept


cdef void vexp(
    const double* x, double shift, double* out, Py_ssize_t n
) noexcept nogil:
    skcrf_exp(x, shift, out, n)


cdef double vxlogx(const double* p, Py_ssize_t n) noexcept nogil:
    return skcrf_xlogx(p, n)


cdef void vslope(
    const double* p, const double* direction, double step, Py_ssize_t n,
    double* slope, double* curvature
) noexcept nogil:
    skcrf_slope(p, direction, step, n, slope, curvature)


cdef void vslope_single(
    const float* direction, const float* ratio, float rest, Py_ssize_t n,
    double* slope, double* curvature
) noexcept nogil:
    skcrf_slope_single(direction, ratio, rest, n, slope, curvature)


cdef double vmove(
    double* p, const double* direction, double step, Py_ssize_t n
) noexcept nogil:
    return skcrf_move(p, direction, step, n)


cdef void vdirection(
    double* target, const double* p, Py_ssize_t count, Py_ssize_t n,
    double* direction_sum, double* p_sum, float* single, float* ratio
) noexcept nogil:
    skcrf_direction(target, p, count, n, direction_sum, p_sum, single, ratio)


cdef void row_times_matrix(
    const double* row, const double* matrix, double* out, Py_ssize_t n
) noexcept nogil:
    skcrf_row_times_matrix(row, matrix, out, n)


cdef void scale_matrix(
    const double* left, const double* matrix, const double* right, double* out,
    Py_ssize_t n
) noexcept nogil:
    skcrf_scale_matrix(left, matrix, right, out, n)


cdef void add_outer(
    const double* left, const double* right, double* out, Py_ssize_t n
) noexcept nogil:
    skcrf_add_outer(left, right, out, n)


cdef void axpy(double a, const double* x, double* y, Py_ssize_t n) noexcept nogil:
    skcrf_axpy(a, x, y, n)


cdef void pull(
    const int* index, Py_ssize_t count, int move, int* moves, const double* shrunk,
    const double* gained, const double* target, double* rows, Py_ssize_t n
) noexcept nogil:
    skcrf_pull(index, count, move, moves, shrunk, gained, target, rows, n)


cdef void gather(
    const double* a, const int* index, Py_ssize_t count, const double* rows, double* y,
    Py_ssize_t n
) noexcept nogil:
    skcrf_gather(a, index, count, rows, y, n)


cdef void scatter(
    double step, const double* a, const int* index, Py_ssize_t count, const double* x,
    double* rows, Py_ssize_t n
) noexcept nogil:
    skcrf_scatter(step, a, index, count, x, rows, n)


cdef void vchange(
    const double* to, const double* start, Py_ssize_t count, Py_ssize_t n,
    double* change, double* change_sum
) noexcept nogil:
    skcrf_change(to, start, count, n, change, change_sum)


cdef void prefetch(
    const int* index, Py_ssize_t count, const double* rows, Py_ssize_t n
) noexcept nogil:
    skcrf_prefetch(index, count, rows, n)


cdef double dot(const double* x, const double* y, Py_ssize_t n) noexcept nogil:
    return skcrf_dot(x, y, n)


def inner(const double[::1] x, const double[::1] y):
    """Return sum_i x[i] y[i]: the same bits whatever the threads of BLAS."""
    return skcrf_dot(&x[0], &y[0], x.shape[0])


def exp(const double[::1] x, double shift, double[::1] out):
    """Write exp(x - shift) to ``out``; see skcrf_exp."""
    skcrf_exp(&x[0], shift, &out[0], x.shape[0])


def xlogx(const double[::1] p):
    """Return the sum of p log p; see skcrf_xlogx."""
    return skcrf_xlogx(&p[0], p.shape[0])


def slope(const double[::1] p, const double[::1] direction, double step):
    """Return the slope and curvature sums at ``step``; see skcrf_slope."""
    cdef double first, second
    skcrf_slope(&p[0], &direction[0], step, p.shape[0], &first, &second)
    return first, second


def slope_single(const float[::1] direction, const float[::1] ratio, float rest):
    """Return slope and curvature in single precision; see skcrf_slope_single."""
    cdef double first, second
    skcrf_slope_single(
        &direction[0], &ratio[0], rest, direction.shape[0], &first, &second
    )
    return first, second


def direction(double[:, ::1] target, const double[:, ::1] p):
    """Turn ``target`` into the direction; return what skcrf_direction writes."""
    n = p.shape[1]
    cdef double[::1] direction_sum = cython_array((n,), sizeof(double), "d")
    cdef double[::1] p_sum = cython_array((n,), sizeof(double), "d")
    cdef float[:, ::1] single = cython_array((p.shape[0], n), sizeof(float), "f")
    cdef float[:, ::1] ratio = cython_array((p.shape[0], n), sizeof(float), "f")
    skcrf_direction(
        &target[0, 0], &p[0, 0], p.shape[0], n, &direction_sum[0], &p_sum[0],
        &single[0, 0], &ratio[0, 0],
    )
    return direction_sum, p_sum, single, ratio


def move(double[::1] p, const double[::1] direction, double step):
    """Add step direction to ``p`` in place, return its x log x; see skcrf_move."""
    return skcrf_move(&p[0], &direction[0], step, p.shape[0])
