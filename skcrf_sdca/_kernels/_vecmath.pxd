"""Vector arithmetic over contiguous blocks, for the other kernels to cimport.

The functions are those of vecmath.h, where their meaning is stated. They are handed
on by this module, so that only its own C unit is compiled with -ffast-math.
"""


cdef struct Stored:
    # Marginals, in single or double precision.
    char* first
    bint single


cdef inline Stored doubles(const double* x) noexcept nogil:
    """Return where numbers in double precision are stored."""
    return Stored(<char*> x, False)


cdef inline Stored skip(Stored x, Py_ssize_t n) noexcept nogil:
    """Return where the numbers after the first n are stored."""
    cdef size_t itemsize = sizeof(float) if x.single else sizeof(double)
    return Stored(x.first + n * itemsize, x.single)


cdef void vexp(
    const double* x, double shift, double* out, Py_ssize_t n) noexcept nogil
cdef double vxlogx(Stored p, Py_ssize_t n) noexcept nogil
cdef double vaim(
    const double* target, Stored p, const double* scores, Py_ssize_t n, Stored stored,
    float* ratio, double* direction_sum, double* lost) noexcept nogil
cdef void vslope(
    Stored p, Stored target, double step, Py_ssize_t n, double* slope,
    double* curvature) noexcept nogil
cdef void vslope_near(
    Stored target, const float* ratio, float rest, Py_ssize_t n, double* slope,
    double* curvature) noexcept nogil
cdef double vmove(
    Stored p, Stored target, const float* ratio, double step, Py_ssize_t n,
    Stored out) noexcept nogil
cdef void vfollow(
    Stored edge, const double* start, Py_ssize_t n, double* out,
    double* to) noexcept nogil
cdef void row_times_matrix(
    const double* row, const double* matrix, double* out, Py_ssize_t n) noexcept nogil
cdef void scale_matrix(
    const double* left, const double* matrix, const double* right, double* out,
    Py_ssize_t n) noexcept nogil
cdef void add_outer(
    const double* left, const double* right, double* out, Py_ssize_t n) noexcept nogil
cdef void axpy(double a, const double* x, double* y, Py_ssize_t n) noexcept nogil
cdef void pull(
    const int* index, Py_ssize_t count, int move, int* moves, const double* shrunk,
    const double* gained, const double* target, double* rows,
    Py_ssize_t n) noexcept nogil
cdef void gather(
    const double* a, const int* index, Py_ssize_t count, const double* rows, double* y,
    Py_ssize_t n) noexcept nogil
cdef void scatter(
    double step, const double* a, const int* index, Py_ssize_t count, const double* x,
    double* rows, Py_ssize_t n) noexcept nogil
cdef void join_rows(
    double factor, const int* index, Py_ssize_t count, double* rows, double* copies,
    Py_ssize_t stride, Py_ssize_t n_copies, Py_ssize_t n, double* joint, double* apart
) noexcept nogil
cdef void move_rows(
    double step, const double* x, const int* index, Py_ssize_t count, double* rows,
    Py_ssize_t n) noexcept nogil
cdef void vchange(
    const double* to, const double* start, Py_ssize_t count, Py_ssize_t n,
    double* change, double* change_sum) noexcept nogil
cdef double dot(const double* x, const double* y, Py_ssize_t n) noexcept nogil
cdef void gather_each(
    const double* a, const int* index, const long long* bounds, Py_ssize_t count,
    const double* rows, double* y, Py_ssize_t n) noexcept nogil
cdef void scatter_each(
    double step, const double* a, const int* index, const long long* bounds,
    Py_ssize_t count, const double* x, double* rows, Py_ssize_t n) noexcept nogil
