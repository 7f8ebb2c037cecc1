/* See vecmath.h. Plain loops: with -O3 -ffast-math -fopenmp-simd gcc turns them into
 * calls of its vector exp and log, once for each x86-64 level, chosen when the module
 * is loaded. Elsewhere the same loops run as the compiler finds best. */
#include "vecmath.h"

#include <math.h>

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && \
    defined(__x86_64__) && defined(__gnu_linux__)
#define CLONES \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

CLONES void skcrf_exp(const double *restrict x, double shift, double *restrict out,
                      ptrdiff_t n)
{
#pragma omp simd
    for (ptrdiff_t i = 0; i < n; i++) {
        double z = x[i] - shift;
        out[i] = exp(z < -700.0 ? -700.0 : z);
    }
}

CLONES double skcrf_xlogx(const double *restrict p, ptrdiff_t n)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t i = 0; i < n; i++) {
        double m = p[i];
        sum += m * log(m < SKCRF_TINY ? SKCRF_TINY : m);
    }
    return sum;
}

CLONES void skcrf_slope(const double *restrict p, const double *restrict direction,
                        double step, ptrdiff_t n, double *restrict slope,
                        double *restrict curvature)
{
    double first = 0.0, second = 0.0;
#pragma omp simd reduction(+ : first, second)
    for (ptrdiff_t i = 0; i < n; i++) {
        double m = p[i] + step * direction[i];
        m = m < SKCRF_TINY ? SKCRF_TINY : m;
        first += direction[i] * log(m);
        second += direction[i] * direction[i] / m;
    }
    *slope = first;
    *curvature = second;
}

CLONES double skcrf_move(double *restrict p, const double *restrict direction,
                         double step, ptrdiff_t n)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t i = 0; i < n; i++) {
        double m = p[i] + step * direction[i];
        m = m < SKCRF_TINY ? 0.0 : m;
        p[i] = m;
        sum += m * log(m < SKCRF_TINY ? SKCRF_TINY : m);
    }
    return sum;
}

CLONES void skcrf_direction(double *restrict target, const double *restrict p,
                            ptrdiff_t count, ptrdiff_t n,
                            double *restrict direction_sum, double *restrict p_sum)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        direction_sum[i] = 0.0;
        p_sum[i] = 0.0;
    }
    for (ptrdiff_t t = 0; t < count; t++, target += n, p += n) {
#pragma omp simd
        for (ptrdiff_t i = 0; i < n; i++) {
            double d = target[i] - p[i];
            target[i] = d;
            direction_sum[i] += d;
            p_sum[i] += p[i];
        }
    }
}

CLONES void skcrf_row_times_matrix(const double *restrict row,
                                   const double *restrict matrix, double *restrict out,
                                   ptrdiff_t n)
{
    for (ptrdiff_t k = 0; k < n; k++)
        out[k] = 0.0;
    for (ptrdiff_t j = 0; j < n; j++, matrix += n) {
        double scale = row[j];
#pragma omp simd
        for (ptrdiff_t k = 0; k < n; k++)
            out[k] += scale * matrix[k];
    }
}

CLONES void skcrf_scale_matrix(const double *restrict left,
                               const double *restrict matrix,
                               const double *restrict right, double *restrict out,
                               ptrdiff_t n)
{
    for (ptrdiff_t j = 0; j < n; j++, matrix += n, out += n) {
        double scale = left[j];
#pragma omp simd
        for (ptrdiff_t k = 0; k < n; k++)
            out[k] = scale * matrix[k] * right[k];
    }
}

CLONES void skcrf_add_outer(const double *restrict left, const double *restrict right,
                            double *restrict out, ptrdiff_t n)
{
    for (ptrdiff_t j = 0; j < n; j++, out += n) {
        double scale = left[j];
#pragma omp simd
        for (ptrdiff_t k = 0; k < n; k++)
            out[k] += scale * right[k];
    }
}

CLONES void skcrf_axpy(double a, const double *restrict x, double *restrict y,
                       ptrdiff_t n)
{
#pragma omp simd
    for (ptrdiff_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

CLONES double skcrf_dot(const double *restrict x, const double *restrict y, ptrdiff_t n)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}
