"""Vector arithmetic over contiguous blocks, for the other kernels to cimport.

`ops` is the table of functions of vecmath.h, where their meaning is stated. Those that
exist in single and in double precision have a twin here that takes `Stored` numbers.
"""


# Their REAL is void here: `Stored` knows in which precision the numbers are.
ctypedef double (*aim_function)(
    const double*, const void*, const double*, Py_ssize_t, void*, float*, double*,
    double*) noexcept nogil
ctypedef double (*xlogx_function)(const void*, Py_ssize_t) noexcept nogil
ctypedef void (*slope_function)(
    const void*, const void*, double, Py_ssize_t, double*, double*) noexcept nogil
ctypedef void (*slope_near_function)(
    const void*, const float*, float, Py_ssize_t, double*, double*) noexcept nogil
ctypedef double (*move_function)(
    const void*, const void*, const float*, double, Py_ssize_t, void*) noexcept nogil
ctypedef void (*follow_function)(
    const void*, const double*, Py_ssize_t, double*, double*) noexcept nogil


cdef extern from "vecmath.h":
    enum:
        SKCRF_ROWS

    struct skcrf_blocks:
        Py_ssize_t count, n_labels
        const int* before
        const int* reached
        const long long* n_before
        const long long* n_reached

    struct skcrf_factors:
        const unsigned char* code
        const double* value

    struct skcrf_vecmath:
        aim_function aim_single, aim_double
        xlogx_function xlogx_single, xlogx_double
        slope_function slope_single, slope_double
        slope_near_function slope_near_single, slope_near_double
        move_function move_single, move_double
        follow_function follow_single, follow_double
        void (*exp)(const double*, double, double*, Py_ssize_t) noexcept nogil
        double (*extent)(const double*, Py_ssize_t, double*) noexcept nogil
        void (*transpose)(const double*, Py_ssize_t, double*) noexcept nogil
        double (*scale_row)(const double*, Py_ssize_t, double*) noexcept nogil
        void (*two_products)(
            const double*, const double*, double, const double*, Py_ssize_t, double*,
            double*) noexcept nogil
        void (*row_times_matrix)(
            const double*, const double*, double*, Py_ssize_t) noexcept nogil
        void (*scale_matrix)(
            const double*, const double*, const double*, double*,
            Py_ssize_t) noexcept nogil
        void (*add_outer)(
            const double*, const double*, double*, Py_ssize_t) noexcept nogil
        void (*row_times_blocks)(
            const skcrf_blocks*, const double*, const double*, double*,
            double*) noexcept nogil
        void (*blocks_times_column)(
            const skcrf_blocks*, const double*, const double*, double*,
            double*) noexcept nogil
        void (*scale_blocks)(
            const skcrf_blocks*, const double*, const double*, const double*, double*,
            double*) noexcept nogil
        void (*add_outer_blocks)(
            const skcrf_blocks*, const double*, const double*, double*,
            double*) noexcept nogil
        void (*sum_outer_blocks)(
            const skcrf_blocks*, const double*, const double*, Py_ssize_t, double*,
            double*) noexcept nogil
        Py_ssize_t (*exceeding)(const double*, double, Py_ssize_t) noexcept nogil
        void (*shrink)(
            const double*, double, double, Py_ssize_t, double*) noexcept nogil
        double (*shrunk_norm)(const double*, double, Py_ssize_t) noexcept nogil
        void (*shrunk_slope)(
            const double*, const double*, const double*, double, double, Py_ssize_t,
            double*, double*) noexcept nogil
        double (*shrunk_rise)(
            const double*, const double*, const double*, double, double,
            Py_ssize_t) noexcept nogil
        void (*blend)(
            const float*, const double*, double, Py_ssize_t, double*) noexcept nogil
        void (*narrow)(const double*, Py_ssize_t, float*) noexcept nogil
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
        double (*precondition_rows)(
            double*, const int*, Py_ssize_t, const skcrf_factors*,
            Py_ssize_t) noexcept nogil
        double (*precondition_ragged)(
            double*, const int*, const int*, Py_ssize_t,
            const skcrf_factors*) noexcept nogil
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
        void (*dense_scores)(
            const void*, int, Py_ssize_t, Py_ssize_t, const double*, double*,
            Py_ssize_t) noexcept nogil
        void (*dense_features)(
            double, const void*, int, Py_ssize_t, Py_ssize_t, const double*, double*,
            Py_ssize_t) noexcept nogil
        void (*gather_ragged)(
            const double*, const int*, const int*, const long long*, Py_ssize_t,
            const int*, const double*, double*, Py_ssize_t) noexcept nogil
        void (*scatter_ragged)(
            double, const double*, const int*, const int*, const int*,
            const long long*, Py_ssize_t, const int*, const double*, double*,
            Py_ssize_t) noexcept nogil
        void (*move_ragged)(
            double, const double*, const int*, const int*, Py_ssize_t,
            double*) noexcept nogil
        void (*copy_ragged)(
            const int*, const int*, Py_ssize_t, const double*, double*) noexcept nogil
        void (*shrink_ragged)(
            const int*, const int*, Py_ssize_t, const int*, const double*, double,
            const skcrf_factors*, double*) noexcept nogil
        void (*copy_rows)(
            const int*, Py_ssize_t, const double*, double*, Py_ssize_t) noexcept nogil
        void (*shrink_rows)(
            const int*, Py_ssize_t, const double*, double, const skcrf_factors*,
            unsigned char*, double*, Py_ssize_t) noexcept nogil


cdef const skcrf_vecmath* ops


cdef struct Stored:
    # Marginals, in single or double precision.
    void* first
    bint single


# An address is that of an element, which must exist. What may be the end, or of
# nothing, is the first address plus an offset, of an array that has one.
cdef object addressable(array)


cdef inline double* start_of(const double[::1] x) noexcept nogil:
    """Return the address of the first number, NULL if there is none."""
    return <double*> &x[0] if x.shape[0] > 0 else NULL


cdef inline Stored doubles(const double* x) noexcept nogil:
    """Return where numbers in double precision are stored."""
    return Stored(<void*> x, False)


cdef inline Stored skip(Stored x, Py_ssize_t n) noexcept nogil:
    """Return where the numbers after the first n are stored."""
    cdef size_t itemsize = sizeof(float) if x.single else sizeof(double)
    return Stored(<char*> x.first + n * itemsize, x.single)


cdef inline double vxlogx(Stored p, Py_ssize_t n) noexcept nogil:
    if p.single:
        return ops.xlogx_single(p.first, n)
    return ops.xlogx_double(p.first, n)


cdef inline double vaim(
    const double* target, Stored p, const double* scores, Py_ssize_t n, Stored stored,
    float* ratio, double* direction_sum, double* lost
) noexcept nogil:
    if p.single:
        return ops.aim_single(
            target, p.first, scores, n, stored.first, ratio, direction_sum, lost
        )
    return ops.aim_double(
        target, p.first, scores, n, stored.first, ratio, direction_sum, lost
    )


cdef inline void vslope(
    Stored p, Stored target, double step, Py_ssize_t n, double* slope,
    double* curvature
) noexcept nogil:
    if p.single:
        ops.slope_single(p.first, target.first, step, n, slope, curvature)
    else:
        ops.slope_double(p.first, target.first, step, n, slope, curvature)


cdef inline void vslope_near(
    Stored target, const float* ratio, float rest, Py_ssize_t n, double* slope,
    double* curvature
) noexcept nogil:
    if target.single:
        ops.slope_near_single(target.first, ratio, rest, n, slope, curvature)
    else:
        ops.slope_near_double(target.first, ratio, rest, n, slope, curvature)


cdef inline double vmove(
    Stored p, Stored target, const float* ratio, double step, Py_ssize_t n, Stored out
) noexcept nogil:
    if p.single:
        return ops.move_single(p.first, target.first, ratio, step, n, out.first)
    return ops.move_double(p.first, target.first, ratio, step, n, out.first)


cdef inline void vfollow(
    Stored edge, const double* start, Py_ssize_t n, double* out, double* to
) noexcept nogil:
    if edge.single:
        ops.follow_single(edge.first, start, n, out, to)
    else:
        ops.follow_double(edge.first, start, n, out, to)
