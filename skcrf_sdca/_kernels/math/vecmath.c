/* See vecmath.h. */
#include "vecmath.h"

#include <math.h>
#include <stdint.h>

#include "levels.h"

#if defined(__GNUC__)
#define INLINED static inline __attribute__((always_inline))
#define PREFETCH(x) __builtin_prefetch(x, 1)
#define PREFETCH_READ(x) __builtin_prefetch(x, 0)
#else
#define INLINED static inline
#define PREFETCH(x) ((void)(x))
#define PREFETCH_READ(x) ((void)(x))
#endif

/* Rows lie far apart: numbers of rows, and of entries (about two positions of text), that
 * are prefetched while one is worked on. */
#define AHEAD 6
#define ENTRIES_AHEAD 32

/* How many numbers are done at the end of a loop, some of them again. */
#define LANES 8

/* Both logarithms write x = 2^e m with m in about [sqrt(1/2), sqrt(2)], by subtracting
 * the bits of the lower end and cutting off what belongs to the exponent. */

/* log x for normal x > 0: log m = 2 atanh(s) = 2 (s + s^3 q(s^2)), s = (m - 1) / (m + 1),
 * with q interpolated at the Chebyshev nodes of s^2 < 0.0295, to 5e-18 of the result. */
static inline double log_double(double x)
{
    union { double value; int64_t bits; } m = {x};
    int64_t e = (m.bits - INT64_C(0x3fe6a09e667f3bcd)) >> 52;
    m.bits -= e * (INT64_C(1) << 52);
    double s = (m.value - 1.0) / (m.value + 1.0);
    double z = s * s;
    double q = 0.073085641999036499;
    q = q * z + 0.076658333382985872;
    q = q * z + 0.090914453890130652;
    q = q * z + 0.11111105556052474;
    q = q * z + 0.14285714313057259;
    q = q * z + 0.19999999999949599;
    q = q * z + 0.33333333333333348;
    return (double)(int32_t)e * 0.69314718055994530942 + 2.0 * (s + s * z * q);
}

/* log(1 + x) for x >= -1, a 1 + x below SKCRF_TINY counting as that. For e = 0 the
 * fraction is x itself: taken from the bits of 1 + x it would lose the digits of a small
 * x. The polynomial is log(1 + r) / r interpolated at the Chebyshev nodes of
 * [-0.334, 0.334], to a relative 3e-8. */
static inline float log1p_single(float x)
{
    union { float value; int32_t bits; } m = {1.0f + x};
    m.value = m.value < (float)SKCRF_TINY ? (float)SKCRF_TINY : m.value;
    int32_t e = (m.bits - 0x3f2aaaab) >> 23;
    m.bits -= e * (1 << 23);
    float r = e == 0 ? x : m.value - 1.0f;
    float p = 0.13766661f;
    p = p * r - 0.15414369f;
    p = p * r + 0.14052758f;
    p = p * r - 0.16411175f;
    p = p * r + 0.20007375f;
    p = p * r - 0.25008086f;
    p = p * r + 0.33333271f;
    p = p * r - 0.49999932f;
    p = p * r + 1.0f;
    return p * r + (float)e * 0.69314718f;
}

static inline void exp_each(const double *restrict x, double shift,
                            double *restrict out, ptrdiff_t n)
{
#pragma omp simd
    for (ptrdiff_t i = 0; i < n; i++) {
        double z = x[i] - shift;
        out[i] = exp(z < -700.0 ? -700.0 : z);
    }
}

/* Of a rest the last LANES numbers are done, some of them again: one vector of them takes
 * less time than one number. */
static void vexp(const double *restrict x, double shift, double *restrict out,
                 ptrdiff_t n)
{
    ptrdiff_t whole = n < LANES ? n : n - n % LANES;
    exp_each(x, shift, out, whole);
    if (whole < n)
        exp_each(x + n - LANES, shift, out + n - LANES, LANES);
}

static inline double extent_each(const double *restrict x, ptrdiff_t n,
                                 double *restrict least)
{
    double high = x[0], low = x[0];
#pragma omp simd reduction(max : high) reduction(min : low)
    for (ptrdiff_t i = 0; i < n; i++) {
        high = x[i] > high ? x[i] : high;
        low = x[i] < low ? x[i] : low;
    }
    *least = low;
    return high;
}

static double extent(const double *restrict x, ptrdiff_t n,
                     double *restrict least)
{
    ptrdiff_t whole = n < LANES ? n : n - n % LANES;
    double high = extent_each(x, whole, least);
    if (whole < n) {
        double low, other = extent_each(x + n - LANES, LANES, &low);
        high = other > high ? other : high;
        *least = low < *least ? low : *least;
    }
    return high;
}

static void transpose(const double *restrict matrix, ptrdiff_t n,
                      double *restrict out)
{
    for (ptrdiff_t j = 0; j < n; j++, matrix += n)
        for (ptrdiff_t k = 0; k < n; k++)
            out[k * n + j] = matrix[k];
}

static double scale_row(const double *restrict factor, ptrdiff_t n,
                        double *restrict row)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t i = 0; i < n; i++) {
        row[i] *= factor[i];
        sum += row[i];
    }
    double inverse = sum == 0.0 ? 1.0 : 1.0 / sum;
#pragma omp simd
    for (ptrdiff_t i = 0; i < n; i++)
        row[i] *= inverse;
    return sum;
}

static void two_products(const double *restrict a, const double *restrict b,
                         double factor, const double *restrict x, ptrdiff_t n,
                         double *restrict product, double *restrict message)
{
#pragma omp simd
    for (ptrdiff_t i = 0; i < n; i++) {
        product[i] = a[i] * x[i];
        message[i] = factor * b[i] * x[i];
    }
}

/* Number of terms that are summed in single precision; such sums are added in double. */
#define BLOCK 512

static inline double divergence_double(double m, double t)
{
    double quotient = m / t;
    return m * log_double(quotient < SKCRF_TINY ? SKCRF_TINY : quotient) - m + t;
}

/* From x = m / t - 1: the sum of such terms keeps its digits where m is close to t. */
static inline float divergence_single(float t, float x)
{
    return t * ((1.0f + x) * log1p_single(x) - x);
}

#define REAL double
#define DIVERGENCE(m, t, x) divergence_double(m, t)
#define NAMED SKCRF_DOUBLE
#include "vecmath_moves.h"
#undef REAL
#undef DIVERGENCE
#undef NAMED

#define REAL float
#define DIVERGENCE(m, t, x) divergence_single(t, x)
#define NAMED SKCRF_SINGLE
#include "vecmath_moves.h"
#undef REAL
#undef DIVERGENCE
#undef NAMED

/* Rows of dense entries that are done at a time: their sums stay in registers. */
#define AT_ONCE (WIDEST == 8 ? 4 : 2)

static inline double entry(const void *x, int single, ptrdiff_t i)
{
    return single ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

#define MOST_VECTORS 6
#define VECTOR double
#define LENGTH 1
#include "vecmath_rows.h"

#if defined(__GNUC__)
#define VECTOR_OF(length) __attribute__((vector_size(8 * length), aligned(8), may_alias))
typedef double vector_2 VECTOR_OF(2);
#define VECTOR vector_2
#define LENGTH 2
#include "vecmath_rows.h"
#if WIDEST >= 4
typedef double vector_4 VECTOR_OF(4);
#define VECTOR vector_4
#define LENGTH 4
#include "vecmath_rows.h"
#endif
#if WIDEST >= 8
typedef double vector_8 VECTOR_OF(8);
#define VECTOR vector_8
#define LENGTH 8
#include "vecmath_rows.h"
#endif

#define PANEL (MOST_VECTORS * WIDEST)
/* Arguments that are macros are expanded before names are joined. */
#define CALL(function, length, count, ...) CALL_OF(function, length, count, __VA_ARGS__)
#define CALL_OF(function, length, count, ...)                                            \
    function##_##length(count, width, __VA_ARGS__);                                      \
    break
/* The cases of rows shorter than the widest vector: -1 for a row of one number. */
#if WIDEST == 2
#define NARROW(function, ...)                                                            \
    case -1: CALL(function, 1, 1, __VA_ARGS__);
#elif WIDEST == 4
#define NARROW(function, ...)                                                            \
    case -1: CALL(function, 1, 1, __VA_ARGS__);                                          \
    case -2: CALL(function, 2, 1, __VA_ARGS__);                                          \
    case -3: CALL(function, 2, 2, __VA_ARGS__);
#else
#define NARROW(function, ...)                                                            \
    case -1: CALL(function, 1, 1, __VA_ARGS__);                                          \
    case -2: CALL(function, 2, 1, __VA_ARGS__);                                          \
    case -3: CALL(function, 2, 2, __VA_ARGS__);                                          \
    case -4: CALL(function, 4, 1, __VA_ARGS__);                                          \
    case -5:                                                                             \
    case -6:                                                                             \
    case -7: CALL(function, 4, 2, __VA_ARGS__);
#endif
#define DO_PANEL(function, ...)                                                          \
    switch (width < WIDEST ? -width : (width + WIDEST - 1) / WIDEST) {                   \
        NARROW(function, __VA_ARGS__)                                                    \
    case 1: CALL(function, WIDEST, 1, __VA_ARGS__);                                      \
    case 2: CALL(function, WIDEST, 2, __VA_ARGS__);                                      \
    case 3: CALL(function, WIDEST, 3, __VA_ARGS__);                                      \
    case 4: CALL(function, WIDEST, 4, __VA_ARGS__);                                      \
    case 5: CALL(function, WIDEST, 5, __VA_ARGS__);                                      \
    default: CALL(function, WIDEST, 6, __VA_ARGS__);                                     \
    }
#else
#define PANEL MOST_VECTORS
#define DO_PANEL(function, ...) function##_1((int)width, width, __VA_ARGS__);
#endif

/* Do rows of n numbers in panels of about the same width. The arguments of the function
 * follow, where `first` stands for the first number of the panel. */
#define BY_PANELS(n, function, ...)                                                      \
    do {                                                                                 \
        ptrdiff_t panels = n <= PANEL ? 1 : (n + PANEL - 1) / PANEL;                     \
        for (ptrdiff_t p = 0; p < panels; p++) {                                         \
            ptrdiff_t first = panels == 1 ? 0 : p * n / panels;                          \
            ptrdiff_t width = panels == 1 ? n : (p + 1) * n / panels - first;            \
            DO_PANEL(function, __VA_ARGS__)                                              \
        }                                                                                \
    } while (0)

static void row_times_matrix(const double *restrict row,
                             const double *restrict matrix, double *restrict out,
                             ptrdiff_t n)
{
    for (ptrdiff_t k = 0; k < n; k++)
        out[k] = 0.0;
    BY_PANELS(n, gather, row, NULL, n, NULL, matrix + first, out + first, n);
}

static void scale_matrix(const double *restrict left,
                         const double *restrict matrix,
                         const double *restrict right, double *restrict out,
                         ptrdiff_t n)
{
    BY_PANELS(n, scale_matrix, left, matrix + first, right + first, out + first, n);
}

static void add_outer(const double *restrict left, const double *restrict right,
                      double *restrict out, ptrdiff_t n)
{
    BY_PANELS(n, add_outer, left, right + first, out + first, n);
}

/* A loop over blocks: of each, `before`, `reached` and their numbers. */
#define EACH_BLOCK(blocks)                                                               \
    const int *before = (blocks)->before, *reached = (blocks)->reached;                  \
    for (ptrdiff_t b = 0, n_before, n_reached;                                           \
         b < (blocks)->count && (n_before = (blocks)->n_before[b],                       \
                                 n_reached = (blocks)->n_reached[b], 1);                 \
         b++, before += n_before, reached += n_reached)

static inline void take(const double *restrict x, const int *restrict index, ptrdiff_t n,
                        double *restrict out)
{
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = x[index[i]];
}

static void row_times_blocks(const struct skcrf_blocks *blocks,
                             const double *restrict row,
                             const double *restrict matrix,
                             double *restrict buffer, double *restrict out)
{
    EACH_BLOCK(blocks) {
        if (n_reached == 1) {
            double sum = 0.0;
#pragma omp simd reduction(+ : sum)
            for (ptrdiff_t j = 0; j < n_before; j++)
                sum += row[before[j]] * matrix[j];
            out[reached[0]] = sum;
            matrix += n_before;
            continue;
        }
        for (ptrdiff_t k = 0; k < n_reached; k++)
            buffer[k] = 0.0;
        for (ptrdiff_t j = 0; j < n_before; j++, matrix += n_reached) {
            double scale = row[before[j]];
#pragma omp simd
            for (ptrdiff_t k = 0; k < n_reached; k++)
                buffer[k] += scale * matrix[k];
        }
        for (ptrdiff_t k = 0; k < n_reached; k++)
            out[reached[k]] = buffer[k];
    }
}

static void blocks_times_column(const struct skcrf_blocks *blocks,
                                const double *restrict matrix,
                                const double *restrict column,
                                double *restrict buffer, double *restrict out)
{
    for (ptrdiff_t j = 0; j < blocks->n_labels; j++)
        out[j] = 0.0;
    EACH_BLOCK(blocks) {
        if (n_reached == 1) {
            double factor = column[reached[0]];
#pragma omp simd
            for (ptrdiff_t j = 0; j < n_before; j++)
                out[before[j]] += factor * matrix[j];
            matrix += n_before;
            continue;
        }
        take(column, reached, n_reached, buffer);
        for (ptrdiff_t j = 0; j < n_before; j++, matrix += n_reached) {
            double sum = 0.0;
#pragma omp simd reduction(+ : sum)
            for (ptrdiff_t k = 0; k < n_reached; k++)
                sum += matrix[k] * buffer[k];
            out[before[j]] += sum;
        }
    }
}

static void scale_blocks(const struct skcrf_blocks *blocks,
                         const double *restrict left,
                         const double *restrict matrix,
                         const double *restrict right, double *restrict buffer,
                         double *restrict out)
{
    EACH_BLOCK(blocks) {
        if (n_reached == 1) {
            double factor = right[reached[0]];
#pragma omp simd
            for (ptrdiff_t j = 0; j < n_before; j++)
                out[j] = left[before[j]] * matrix[j] * factor;
            matrix += n_before;
            out += n_before;
            continue;
        }
        take(right, reached, n_reached, buffer);
        for (ptrdiff_t j = 0; j < n_before; j++, matrix += n_reached, out += n_reached) {
            double factor = left[before[j]];
#pragma omp simd
            for (ptrdiff_t k = 0; k < n_reached; k++)
                out[k] = factor * matrix[k] * buffer[k];
        }
    }
}

static void add_outer_blocks(const struct skcrf_blocks *blocks,
                             const double *restrict left,
                             const double *restrict right,
                             double *restrict buffer, double *restrict out)
{
    EACH_BLOCK(blocks) {
        if (n_reached == 1) {
            double factor = right[reached[0]];
#pragma omp simd
            for (ptrdiff_t j = 0; j < n_before; j++)
                out[j] += left[before[j]] * factor;
            out += n_before;
            continue;
        }
        take(right, reached, n_reached, buffer);
        for (ptrdiff_t j = 0; j < n_before; j++, out += n_reached) {
            double factor = left[before[j]];
#pragma omp simd
            for (ptrdiff_t k = 0; k < n_reached; k++)
                out[k] += factor * buffer[k];
        }
    }
}

/* out[k, i] = x[i, k] of the first SKCRF_ROWS rows of x, and 0 where there is none. */
static void columns(const double *restrict x, ptrdiff_t count, ptrdiff_t n,
                    double *restrict out)
{
    count = count < SKCRF_ROWS ? count : SKCRF_ROWS;
    for (ptrdiff_t k = 0; k < n; k++, out += SKCRF_ROWS)
        for (ptrdiff_t i = 0; i < SKCRF_ROWS; i++)
            out[i] = i < count ? x[i * n + k] : 0.0;
}

static void sum_outer_blocks(const struct skcrf_blocks *blocks, const double *left,
                             const double *right, ptrdiff_t count,
                             double *restrict buffer, double *restrict out)
{
    const ptrdiff_t size = SKCRF_ROWS * blocks->n_labels;
    for (; count > 0; count -= SKCRF_ROWS, left += size, right += size) {
        columns(left, count, blocks->n_labels, buffer);
        columns(right, count, blocks->n_labels, buffer + size);
        double *restrict to = out;
        EACH_BLOCK(blocks)
            for (ptrdiff_t j = 0; j < n_before; j++)
                for (ptrdiff_t k = 0; k < n_reached; k++) {
                    const double *a = buffer + SKCRF_ROWS * before[j];
                    const double *b = buffer + size + SKCRF_ROWS * reached[k];
                    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
                    for (ptrdiff_t i = 0; i < SKCRF_ROWS; i++)
                        sum += a[i] * b[i];
                    *to++ += sum;
                }
    }
}

static void blend(const float *restrict x, const double *restrict y, double step,
                  ptrdiff_t n, double *restrict out)
{
#pragma omp simd
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = (float)((1.0 - step) * x[i] + step * y[i]);
}

static void narrow(const double *restrict x, ptrdiff_t n, float *restrict out)
{
#pragma omp simd
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = (float)x[i];
}

static void axpy(double a, const double *restrict x, double *restrict y,
                 ptrdiff_t n)
{
#pragma omp simd
    for (ptrdiff_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

static inline void prefetch_row(const double *x, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i += 8)
        PREFETCH(x + i);
    PREFETCH(x + (n > 0 ? n - 1 : 0));
}

static void pull(const int *index, ptrdiff_t count, int move, int *moves,
                 const double *shrunk, const double *gained,
                 const double *restrict target, double *restrict rows,
                 ptrdiff_t n)
{
    BY_PANELS(n, pull, index, count, move, moves, shrunk, gained, target + first,
              rows + first, n);
    for (ptrdiff_t j = 0; j < count; j++)
        moves[index[j]] = move;
}

static void gather(const double *a, const int *index, ptrdiff_t count,
                   const double *restrict rows, double *restrict y, ptrdiff_t n)
{
    BY_PANELS(n, gather, a, index, count, NULL, rows + first, y + first, n);
}

static void scatter(double step, const double *a, const int *index,
                    ptrdiff_t count, const double *restrict x,
                    double *restrict rows, ptrdiff_t n)
{
    BY_PANELS(n, scatter, step, a, index, count, NULL, x + first, rows + first, n);
}

static inline double soft(double v, double threshold)
{
    double clipped = v < -threshold ? -threshold : v;
    return v - (clipped > threshold ? threshold : clipped);
}

static ptrdiff_t exceeding(const double *v, double threshold, ptrdiff_t n)
{
    ptrdiff_t count = 0;
#pragma omp simd reduction(+ : count)
    for (ptrdiff_t i = 0; i < n; i++)
        count += fabs(v[i]) > threshold;
    return count;
}

static void shrink(const double *restrict v, double threshold, double factor,
                   ptrdiff_t n, double *restrict out)
{
#pragma omp simd
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = factor * soft(v[i], threshold);
}

static double shrunk_norm(const double *v, double threshold, ptrdiff_t n)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t i = 0; i < n; i++) {
        double value = soft(v[i], threshold);
        sum += value * value;
    }
    return sum;
}

static void shrunk_slope(const double *restrict v, const double *restrict a,
                         const double *restrict weight, double step,
                         double threshold, ptrdiff_t n, double *slope,
                         double *curvature)
{
    double first = 0.0, second = 0.0;
#pragma omp simd reduction(+ : first, second)
    for (ptrdiff_t i = 0; i < n; i++) {
        double u = v[i] - step * a[i], weighted = weight[i] * a[i];
        first += weighted * (soft(v[i], threshold) - soft(u, threshold));
        second += fabs(u) > threshold ? weighted * a[i] : 0.0;
    }
    *slope += first;
    *curvature += second;
}

/* With d = soft(v) - soft(u), a term is d^2 / 2 + (v - u - d) soft(v). */
static double shrunk_rise(const double *restrict v, const double *restrict a,
                          const double *restrict weight, double step,
                          double threshold, ptrdiff_t n)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t i = 0; i < n; i++) {
        double moved = step * a[i], start = soft(v[i], threshold);
        double d = start - soft(v[i] - moved, threshold);
        sum += weight[i] * (0.5 * d * d + (moved - d) * start);
    }
    return sum;
}

static void move_rows(double step, const double *restrict x, const int *index,
                      ptrdiff_t count, double *restrict rows, ptrdiff_t n)
{
    BY_PANELS(n, move_rows, step, x + first, index, count, rows + first, n);
}

static double precondition_rows(double *restrict x, const int *index,
                                ptrdiff_t count, const struct skcrf_factors *factors,
                                ptrdiff_t n)
{
    double norm = 0.0;
    BY_PANELS(n, precondition_rows, x + first, index, count, factors, &norm, n);
    return norm;
}

static double precondition_ragged(double *restrict x, const int *start,
                                  const int *index, ptrdiff_t count,
                                  const struct skcrf_factors *factors)
{
    double norm = 0.0;
    for (ptrdiff_t j = 0; j < count; j++) {
        double factor = factor_of(factors, index[j]), sum = 0.0;
        for (ptrdiff_t i = start[j]; i < start[j + 1]; i++) {
            sum += x[i] * x[i];
            x[i] *= factor;
        }
        norm += factor * sum;
    }
    return norm;
}

/* Numbers of a row that are joined at a time. */
#define JOINED 64

static void join_rows(double factor, const int *index, ptrdiff_t count,
                      double *restrict rows, double *restrict copies,
                      ptrdiff_t stride, ptrdiff_t n_copies, ptrdiff_t n,
                      double *joint, double *apart)
{
    double of_total = 0.0, of_parts = 0.0, total[JOINED];
    for (ptrdiff_t j = 0; j < count; j++) {
        for (ptrdiff_t first = 0; first < n; first += JOINED) {
            ptrdiff_t width = n - first < JOINED ? n - first : JOINED;
            /* Of a long row, what follows; else a row that does. */
            ptrdiff_t ahead = index[j] * n + first;
            if (n <= JOINED)
                ahead = index[j + AHEAD < count ? j + AHEAD : j] * n;
            else if (first + 3 * JOINED <= n)
                ahead += 2 * JOINED;
            prefetch_row(rows + ahead, width);
            for (ptrdiff_t p = 0; p < n_copies; p++)
                prefetch_row(copies + p * stride + ahead, width);
            double *restrict y = rows + index[j] * n + first;
            double *restrict c = copies + index[j] * n + first;
            for (ptrdiff_t i = 0; i < width; i++)
                total[i] = 0.0;
            for (ptrdiff_t p = 0; p < n_copies; p++) {
#pragma omp simd reduction(+ : of_parts)
                for (ptrdiff_t i = 0; i < width; i++) {
                    double change = factor * (c[p * stride + i] - y[i]);
                    total[i] += change;
                    of_parts += change * change;
                }
            }
#pragma omp simd reduction(+ : of_total)
            for (ptrdiff_t i = 0; i < width; i++) {
                of_total += total[i] * total[i];
                y[i] += total[i];
            }
            for (ptrdiff_t p = 0; p < n_copies; p++)
                for (ptrdiff_t i = 0; i < width; i++)
                    c[p * stride + i] = y[i];
        }
    }
    *joint += of_total;
    *apart += of_parts;
}

static void change(const double *restrict to, const double *restrict from,
                   ptrdiff_t count, ptrdiff_t n, double *restrict change,
                   double *restrict change_sum)
{
    BY_PANELS(n, change, to + first, from + first, count, n, change + first,
              change_sum + first);
}

static double dot(const double *restrict x, const double *restrict y,
                  ptrdiff_t n)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static void gather_each(const double *a, const int *index,
                        const long long *bounds, ptrdiff_t count,
                        const double *restrict rows, double *restrict y,
                        ptrdiff_t n)
{
    if (bounds[0] == bounds[count])
        return;
    const int *last = index + bounds[count] - 1;
    for (ptrdiff_t t = 0; t < count; t++, y += n)
        BY_PANELS(n, gather, a + bounds[t], index + bounds[t], bounds[t + 1] - bounds[t],
                  last, rows + first, y + first, n);
}

static void scatter_each(double step, const double *a, const int *index,
                         const long long *bounds, ptrdiff_t count,
                         const double *restrict x, double *restrict rows,
                         ptrdiff_t n)
{
    if (bounds[0] == bounds[count])
        return;
    const int *last = index + bounds[count] - 1;
    for (ptrdiff_t t = 0; t < count; t++, x += n)
        BY_PANELS(n, scatter, step, a + bounds[t], index + bounds[t],
                  bounds[t + 1] - bounds[t], last, x + first, rows + first, n);
}

static inline const void *entries_after(const void *x, int single, ptrdiff_t n)
{
    return (const char *)x + n * (ptrdiff_t)(single ? sizeof(float) : sizeof(double));
}

/* Done for `single` and `at_once` that the compiler knows. */
#define DENSE(n, function, at_once, ...)                                                 \
    do {                                                                                 \
        if (single)                                                                      \
            BY_PANELS(n, function, 1, at_once, __VA_ARGS__);                             \
        else                                                                             \
            BY_PANELS(n, function, 0, at_once, __VA_ARGS__);                             \
    } while (0)

#if defined(__GNUC__)
/* Rows of one number: left to the compiler, the order of a sum would depend on the type of
 * the entries, and on how many rows are held. */
typedef double widest VECTOR_OF(WIDEST);

INLINED widest widest_at(const void *x, int single, ptrdiff_t first)
{
    widest found;
    for (int k = 0; k < WIDEST; k++)
        found[k] = entry(x, single, first + k);
    return found;
}

/* The same, 0 from `total` on. */
INLINED widest last_at(const void *x, int single, ptrdiff_t first, ptrdiff_t total)
{
    widest found = {0};
    if (first + WIDEST <= total)
        return widest_at(x, single, first);
    for (int k = 0; k < total - first; k++)
        found[k] = entry(x, single, first + k);
    return found;
}

__attribute__((noinline)) static double sum_of_lanes(widest x)
{
    double sum = 0.0;
    for (int k = 0; k < WIDEST; k++)
        sum += x[k];
    return sum;
}

#define EACH_ROW _Pragma("GCC unroll 4") for (int r = 0; r < at_once; r++)

/* The last entries of a row are read with what follows them, up to the end of `count` rows;
 * their weights are the first of `last`, and the other ones are 0. */
INLINED void add_scores_of_one(int single, int at_once, const void *x,
                               ptrdiff_t n_entries, ptrdiff_t count,
                               const double *rows, widest last, double *y)
{
    widest sum[AT_ONCE] = {0};
    ptrdiff_t j = 0;
    for (; j + WIDEST <= n_entries; j += WIDEST) {
        widest kept = widest_at(rows, 0, j);
        EACH_ROW sum[r] += kept * widest_at(x, single, r * n_entries + j);
    }
    if (j < n_entries && (at_once - 1) * n_entries + j + WIDEST <= count * n_entries)
        EACH_ROW sum[r] += last * widest_at(x, single, r * n_entries + j);
    else if (j < n_entries)
        EACH_ROW sum[r] += last * last_at(x, single, r * n_entries + j, count * n_entries);
    EACH_ROW y[r] += sum_of_lanes(sum[r]);
}

INLINED void dense_scores_of_one(int single, const void *x, ptrdiff_t n_entries,
                                 ptrdiff_t count, const double *rows, double *y)
{
    widest last = last_at(rows, 0, n_entries - n_entries % WIDEST, n_entries);
    for (; count >= AT_ONCE; count -= AT_ONCE, y += AT_ONCE) {
        add_scores_of_one(single, AT_ONCE, x, n_entries, count, rows, last, y);
        x = entries_after(x, single, AT_ONCE * n_entries);
    }
    for (; count > 0; count--, y++) {
        add_scores_of_one(single, 1, x, n_entries, count, rows, last, y);
        x = entries_after(x, single, n_entries);
    }
}

INLINED void dense_features_of_one(int single, double step, const void *x,
                                   ptrdiff_t n_entries, ptrdiff_t count,
                                   const double *y, double *rows)
{
    for (ptrdiff_t j = 0; j < n_entries; j += WIDEST) {
        widest sum = {0};
        for (ptrdiff_t t = 0; t < count; t++)
            sum += y[t] * last_at(x, single, t * n_entries + j, count * n_entries);
        for (int k = 0; k < WIDEST && j + k < n_entries; k++)
            rows[j + k] += step * sum[k];
    }
}

#undef EACH_ROW
#define IS_ONE(n) ((n) == 1)
#define OF_ONE(function, ...)                                                            \
    do {                                                                                 \
        if (single)                                                                      \
            function##_of_one(1, __VA_ARGS__);                                           \
        else                                                                             \
            function##_of_one(0, __VA_ARGS__);                                           \
    } while (0)
#else
#define IS_ONE(n) 0
#define OF_ONE(function, ...) ((void)0)
#endif

static void dense_scores(const void *x, int single, ptrdiff_t n_entries,
                         ptrdiff_t count, const double *restrict rows,
                         double *restrict y, ptrdiff_t n)
{
    if (IS_ONE(n)) {
        OF_ONE(dense_scores, x, n_entries, count, rows, y);
        return;
    }
    for (; count >= AT_ONCE; count -= AT_ONCE, y += AT_ONCE * n) {
        DENSE(n, dense_scores, AT_ONCE, x, n_entries, rows + first, y + first, n);
        x = entries_after(x, single, AT_ONCE * n_entries);
    }
    for (; count > 0; count--, y += n) {
        DENSE(n, dense_scores, 1, x, n_entries, rows + first, y + first, n);
        x = entries_after(x, single, n_entries);
    }
}

static void dense_features(double step, const void *x, int single,
                           ptrdiff_t n_entries, ptrdiff_t count,
                           const double *restrict y, double *restrict rows,
                           ptrdiff_t n)
{
    ptrdiff_t j = 0;
    if (IS_ONE(n)) {
        OF_ONE(dense_features, step, x, n_entries, count, y, rows);
        return;
    }
    for (; j + AT_ONCE <= n_entries; j += AT_ONCE, rows += AT_ONCE * n) {
        DENSE(n, dense_features, AT_ONCE, step, x, n_entries, count, y + first,
              rows + first, n);
        x = entries_after(x, single, AT_ONCE);
    }
    for (; j < n_entries; j++, rows += n) {
        DENSE(n, dense_features, 1, step, x, n_entries, count, y + first, rows + first,
              n);
        x = entries_after(x, single, 1);
    }
}

/* A row of n numbers has all labels, and needs no list of them. */
static inline void prefetch_ragged(const double *row, const int *label, ptrdiff_t width,
                                   ptrdiff_t n)
{
    if (width < n)
        PREFETCH_READ(label);
    prefetch_row(row, width);
}

static void gather_ragged(const double *a, const int *place, const int *width,
                          const long long *bounds, ptrdiff_t count,
                          const int *label, const double *restrict rows,
                          double *restrict y, ptrdiff_t n)
{
    ptrdiff_t last = bounds[count] - 1;
    for (ptrdiff_t t = 0; t < count; t++, y += n) {
        for (ptrdiff_t j = bounds[t]; j < bounds[t + 1]; j++) {
            ptrdiff_t ahead = j + ENTRIES_AHEAD < last ? j + ENTRIES_AHEAD : last;
            prefetch_ragged(rows + place[ahead], label + place[ahead], width[ahead], n);
            const double *restrict x = rows + place[j];
            const int *restrict k = label + place[j];
            double factor = a[j];
            if (width[j] == n) {
#pragma omp simd
                for (ptrdiff_t i = 0; i < n; i++)
                    y[i] += factor * x[i];
            } else {
                for (ptrdiff_t i = 0; i < width[j]; i++)
                    y[k[i]] += factor * x[i];
            }
        }
    }
}

static void scatter_ragged(double step, const double *a, const int *at,
                           const int *place, const int *width,
                           const long long *bounds, ptrdiff_t count,
                           const int *label, const double *restrict x,
                           double *restrict rows, ptrdiff_t n)
{
    ptrdiff_t last = bounds[count] - 1;
    for (ptrdiff_t t = 0; t < count; t++, x += n) {
        for (ptrdiff_t j = bounds[t]; j < bounds[t + 1]; j++) {
            ptrdiff_t ahead = j + ENTRIES_AHEAD < last ? j + ENTRIES_AHEAD : last;
            prefetch_ragged(rows + at[ahead], label + place[ahead], width[ahead], n);
            double *restrict y = rows + at[j];
            const int *restrict k = label + place[j];
            double factor = step * a[j];
            if (width[j] == n) {
#pragma omp simd
                for (ptrdiff_t i = 0; i < n; i++)
                    y[i] += factor * x[i];
            } else {
                for (ptrdiff_t i = 0; i < width[j]; i++)
                    y[i] += factor * x[k[i]];
            }
        }
    }
}

static void move_ragged(double step, const double *restrict x, const int *place,
                        const int *start, ptrdiff_t count, double *restrict rows)
{
    for (ptrdiff_t j = 0; j < count; j++) {
        ptrdiff_t ahead = j + AHEAD < count ? j + AHEAD : j;
        prefetch_row(rows + place[ahead], start[ahead + 1] - start[ahead]);
        double *restrict y = rows + place[j];
        const double *restrict sums = x + start[j];
        for (ptrdiff_t i = 0; i < start[j + 1] - start[j]; i++)
            y[i] += step * sums[i];
    }
}

static void copy_ragged(const int *place, const int *start, ptrdiff_t count,
                        const double *restrict rows, double *restrict x)
{
    for (ptrdiff_t j = 0; j < count; j++) {
        PREFETCH_READ(rows + place[j + AHEAD < count ? j + AHEAD : j]);
        const double *restrict from = rows + place[j];
        for (ptrdiff_t i = start[j]; i < start[j + 1]; i++)
            x[i] = *from++;
    }
}

static void shrink_ragged(const int *place, const int *start, ptrdiff_t count,
                          const int *index, const double *restrict v,
                          double threshold, const struct skcrf_factors *factors,
                          double *restrict out)
{
    for (ptrdiff_t j = 0; j < count; j++) {
        PREFETCH(out + place[j + AHEAD < count ? j + AHEAD : j]);
        const double *restrict from = v + place[j];
        double *restrict to = out + place[j];
        double factor = factor_of(factors, index[j]);
        for (ptrdiff_t i = 0; i < start[j + 1] - start[j]; i++)
            to[i] = factor * soft(from[i], threshold);
    }
}

static void copy_rows(const int *index, ptrdiff_t count,
                      const double *restrict rows, double *restrict x,
                      ptrdiff_t n)
{
    BY_PANELS(n, copy_rows, index, count, rows + first, x + first, n);
}

static void shrink_rows(const int *index, ptrdiff_t count,
                        const double *restrict v, double threshold,
                        const struct skcrf_factors *factors, unsigned char *active,
                        double *restrict out, ptrdiff_t n)
{
    for (ptrdiff_t j = 0; j < count; j++) {
        int ahead = index[j + AHEAD < count ? j + AHEAD : j];
        PREFETCH(active + index[j + 2 * AHEAD < count ? j + 2 * AHEAD : j]);
        prefetch_row(v + ahead * n, n);
        if (active[ahead])
            prefetch_row(out + ahead * n, n);
        const double *row = v + index[j] * n;
        ptrdiff_t n_above = 0;
#pragma omp simd reduction(+ : n_above)
        for (ptrdiff_t i = 0; i < n; i++)
            n_above += fabs(row[i]) > threshold;
        if (n_above == 0 && !active[index[j]])
            continue;
        active[index[j]] = n_above > 0;
        double *shrunk = out + index[j] * n, factor = factor_of(factors, index[j]);
#pragma omp simd
        for (ptrdiff_t i = 0; i < n; i++)
            shrunk[i] = factor * soft(row[i], threshold);
    }
}

const struct skcrf_vecmath LOOPS(skcrf_vecmath) = {
    .exp = vexp,
    .extent = extent,
    .transpose = transpose,
    .scale_row = scale_row,
    .two_products = two_products,
    .aim_double = aim_double,
    .xlogx_double = xlogx_double,
    .slope_double = slope_double,
    .slope_near_double = slope_near_double,
    .move_double = move_double,
    .follow_double = follow_double,
    .aim_single = aim_single,
    .xlogx_single = xlogx_single,
    .slope_single = slope_single,
    .slope_near_single = slope_near_single,
    .move_single = move_single,
    .follow_single = follow_single,
    .row_times_matrix = row_times_matrix,
    .scale_matrix = scale_matrix,
    .add_outer = add_outer,
    .row_times_blocks = row_times_blocks,
    .blocks_times_column = blocks_times_column,
    .scale_blocks = scale_blocks,
    .add_outer_blocks = add_outer_blocks,
    .sum_outer_blocks = sum_outer_blocks,
    .exceeding = exceeding,
    .shrink = shrink,
    .shrunk_norm = shrunk_norm,
    .shrunk_slope = shrunk_slope,
    .shrunk_rise = shrunk_rise,
    .blend = blend,
    .narrow = narrow,
    .axpy = axpy,
    .pull = pull,
    .gather = gather,
    .scatter = scatter,
    .move_rows = move_rows,
    .precondition_rows = precondition_rows,
    .precondition_ragged = precondition_ragged,
    .join_rows = join_rows,
    .change = change,
    .dot = dot,
    .gather_each = gather_each,
    .scatter_each = scatter_each,
    .dense_scores = dense_scores,
    .dense_features = dense_features,
    .gather_ragged = gather_ragged,
    .scatter_ragged = scatter_ragged,
    .move_ragged = move_ragged,
    .copy_ragged = copy_ragged,
    .shrink_ragged = shrink_ragged,
    .copy_rows = copy_rows,
    .shrink_rows = shrink_rows,
};
