/* See steps.h. */
#include "steps.h"

#include <math.h>
#include <string.h>

#include "levels.h"

#if defined(__GNUC__)
#define INLINED static inline __attribute__((always_inline))
#define PREFETCH(x) __builtin_prefetch(x, 1)
#else
#define INLINED static inline
#define PREFETCH(x) ((void)(x))
#endif

/* How many rows ahead are asked for. */
#define AHEAD 6
/* Numbers in a line of the cache, which are held in registers at a time. */
#define LINE 8

INLINED void prefetch_row(const double *x, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i += LINE)
        PREFETCH(x + i);
    PREFETCH(x + n - 1);
}

INLINED void settle_block(double *restrict w, double *restrict total, double a, double b,
                          ptrdiff_t n)
{
    if (total) {
#pragma omp simd
        for (ptrdiff_t k = 0; k < n; k++)
            total[k] += a * w[k];
    }
#pragma omp simd
    for (ptrdiff_t k = 0; k < n; k++)
        w[k] *= b;
}

static void settle(double *w, double *total, double a, double b, ptrdiff_t n)
{
    settle_block(w, total, a, b, n);
}

static void settle_rows(const int *index, ptrdiff_t count, int now, int *settled,
                        const double *shrunk, const double *counted, double *w,
                        double *total, ptrdiff_t n)
{
    for (ptrdiff_t j = 0; j < count; j++) {
        ptrdiff_t row = index[j], ahead = index[j + AHEAD < count ? j + AHEAD : j];
        PREFETCH(settled + index[j + 2 * AHEAD < count ? j + 2 * AHEAD : j]);
        prefetch_row(w + ahead * n, n);
        if (total)
            prefetch_row(total + ahead * n, n);
        int last = settled[row];
        if (last == now)
            continue;
        settle_block(w + row * n, total ? total + row * n : NULL,
                     (counted[now] - counted[last]) / shrunk[last],
                     shrunk[now] / shrunk[last], n);
        settled[row] = now;
    }
}

/* A power for each weight, by squares, without branches on the weights. */
INLINED void shrink_line(const double *w, const double *squares, double scale, int times,
                         double *out)
{
    double value[LINE], factor[LINE];
    for (int k = 0; k < LINE; k++) {
        double root = sqrt(squares[k]), ratio = root / (root + scale);
        factor[k] = root > 0.0 ? ratio : 1.0;
        value[k] = w[k];
    }
    for (; times > 0; times >>= 1) {
        if (times & 1)
            for (int k = 0; k < LINE; k++)
                value[k] *= factor[k];
        for (int k = 0; k < LINE; k++)
            factor[k] *= factor[k];
    }
    memcpy(out, value, sizeof(value));
}

/* The last line overlaps the one before, and is written last. */
INLINED void shrink_block(double *w, const double *squares, double scale, int times,
                          ptrdiff_t n)
{
    double last[LINE] = {0}, last_squares[LINE] = {0};
    if (n < LINE) {
        for (ptrdiff_t k = 0; k < n; k++) {
            last[k] = w[k];
            last_squares[k] = squares[k];
        }
        shrink_line(last, last_squares, scale, times, last);
        for (ptrdiff_t k = 0; k < n; k++)
            w[k] = last[k];
        return;
    }
    if (n % LINE)
        shrink_line(w + n - LINE, squares + n - LINE, scale, times, last);
    for (ptrdiff_t k = 0; k + LINE <= n; k += LINE)
        shrink_line(w + k, squares + k, scale, times, w + k);
    if (n % LINE)
        memcpy(w + n - LINE, last, sizeof(last));
}

static void shrink(double *w, const double *squares, double scale, int times,
                   ptrdiff_t n)
{
    shrink_block(w, squares, scale, times, n);
}

static void shrink_rows(const int *index, ptrdiff_t count, int now, int *settled,
                        const double *squares, double scale, double *w,
                        ptrdiff_t n)
{
    for (ptrdiff_t j = 0; j < count; j++) {
        ptrdiff_t row = index[j], ahead = index[j + AHEAD < count ? j + AHEAD : j];
        PREFETCH(settled + index[j + 2 * AHEAD < count ? j + 2 * AHEAD : j]);
        prefetch_row(w + ahead * n, n);
        prefetch_row(squares + ahead * n, n);
        if (settled[row] == now)
            continue;
        shrink_block(w + row * n, squares + row * n, scale, now - settled[row], n);
        settled[row] = now;
    }
}

static void move(const double *restrict gradient, double weight, double eta,
                 double *restrict squares, double *restrict w, ptrdiff_t n)
{
#pragma omp simd
    for (ptrdiff_t k = 0; k < n; k++) {
        double g = weight * gradient[k], square = g * g;
        double sum = squares[k] + square, step = eta * g / sqrt(sum);
        w[k] -= square > 0.0 ? step : 0.0;
        squares[k] = sum;
    }
}

const struct skcrf_steps LOOPS(skcrf_steps) = {
    settle, settle_rows, shrink, shrink_rows, move,
};
