/* Vector arithmetic over contiguous blocks: the only unit compiled with -ffast-math. It
 * is built for several levels, see levels.h, and each build hands on its functions as a table.
 *
 * Logarithms are made here, from the bits of the number and a short series: that
 * vectorises with any compiler on any processor, and gives the same result on all, but
 * for the rounding of sums.
 *
 * The compiler may assume here that no argument is NaN or infinite, so every
 * function clamps what it takes the logarithm or exponential of, and no result is
 * inspected for NaN inside this unit: callers do that.
 */
#ifndef SKCRF_VECMATH_H
#define SKCRF_VECMATH_H

#include <stddef.h>

#include "levels.h"

/* Probabilities of at most this are stored as 0 (no subnormals in the marginals). */
#define SKCRF_TINY 1e-30

/* How many rows sum_outer_blocks does at a time. */
#define SKCRF_ROWS 16

/* What moves marginals p toward a target t, with REAL the type in which both are stored.
 *
 * aim: stored = target, at least SKCRF_TINY,   ratio = direction / target,
 *     direction_sum += direction,   with direction = target - p,
 *     lost += what p has where the target is below SKCRF_TINY;
 *     returns sum_i p[i] scores[i].
 *
 * xlogx: returns sum_i p[i] log p[i], with 0 log 0 = 0.
 *
 * slope: with m = p + step * direction,
 *     slope = sum_i direction[i] log m[i],   curvature = sum_i direction[i]^2 / m[i].
 *
 * slope_near: the same in single precision, but slope = sum_i direction[i] log(m[i] / t[i]).
 *     With rest = 1 - step in [0, 1], m / t = 1 - rest * ratio: close to the target, where
 *     direction is small, each term keeps its relative precision.
 *
 * move: out = m, flushed to 0 at SKCRF_TINY and below: what is 0, and has a target of 0,
 *     stays so;
 *     returns sum_i m[i] log(m[i] / t[i]) - m[i] + t[i], whose terms are all positive.
 *
 * follow: the edge (n, n) of a chain whose node before has the marginals `from`:
 *     out[j, k] = from[j] edge[j, k] / sum_k edge[j, k],   to[k] = sum_j out[j, k]. */
#define SKCRF_MOVES(REAL, NAMED)                                                         \
    double (*NAMED(aim))(const double *target, const REAL *p, const double *scores,      \
                         ptrdiff_t n, REAL *stored, float *ratio,                        \
                         double *direction_sum, double *lost);                           \
    double (*NAMED(xlogx))(const REAL *p, ptrdiff_t n);                                  \
    void (*NAMED(slope))(const REAL *p, const REAL *target, double step, ptrdiff_t n,    \
                         double *slope, double *curvature);                              \
    void (*NAMED(slope_near))(const REAL *target, const float *ratio, float rest,        \
                              ptrdiff_t n, double *slope, double *curvature);            \
    double (*NAMED(move))(const REAL *p, const REAL *target, const float *ratio,         \
                          double step, ptrdiff_t n, REAL *out);                          \
    void (*NAMED(follow))(const REAL *edge, const double *from, ptrdiff_t n,             \
                          double *out, double *to);
#define SKCRF_DOUBLE(function) function##_double
#define SKCRF_SINGLE(function) function##_single

/* Pairs (j, k) of labels in blocks: of each block, the labels k reached from the same
 * labels j before. Numbers of pairs are a matrix (n_before, n_reached) for each block,
 * end to end. */
struct skcrf_blocks {
    ptrdiff_t count, n_labels;
    const int *before, *reached;
    const long long *n_before, *n_reached;
};

/* Factors of rows, of which at most 256 differ: the one of row j is value[code[j]]. Codes
 * stay in the cache, where a number for each row would not. */
struct skcrf_factors {
    const unsigned char *code;
    const double *value;
};

static inline double factor_of(const struct skcrf_factors *factors, int row)
{
    return factors->value[factors->code[row]];
}

struct skcrf_vecmath {
    /* out[i] = exp(x[i] - shift) for x[i] <= shift; arguments below -700, -inf among
     * them, count as -700. */
    void (*exp)(const double *x, double shift, double *out, ptrdiff_t n);

    /* The largest of n > 0 numbers, at least -DBL_MAX; least = the smallest, which may be
     * -inf. */
    double (*extent)(const double *x, ptrdiff_t n, double *least);

    /* out = matrix transposed, (n, n). */
    void (*transpose)(const double *matrix, ptrdiff_t n, double *out);

    /* row[i] = row[i] factor[i] / s, where s, the sum of row[i] factor[i], is returned;
     * if s is 0, nothing is divided. */
    double (*scale_row)(const double *factor, ptrdiff_t n, double *row);

    /* product[i] = a[i] x[i],   message[i] = factor b[i] x[i]. */
    void (*two_products)(const double *a, const double *b, double factor, const double *x,
                         ptrdiff_t n, double *product, double *message);

    SKCRF_MOVES(double, SKCRF_DOUBLE)
    SKCRF_MOVES(float, SKCRF_SINGLE)

    /* out[k] = sum_j row[j] matrix[j, k], matrix (n, n) with rows contiguous. */
    void (*row_times_matrix)(const double *row, const double *matrix, double *out,
                             ptrdiff_t n);

    /* out[j, k] = left[j] matrix[j, k] right[k]. */
    void (*scale_matrix)(const double *left, const double *matrix, const double *right,
                         double *out, ptrdiff_t n);

    /* out[j, k] += left[j] right[k]. */
    void (*add_outer)(const double *left, const double *right, double *out,
                      ptrdiff_t n);

    /* The same of the pairs in blocks alone, and the product with a column,
     *     out[j] = sum_k matrix[j, k] column[k].
     * Buffers are of n_labels numbers. */
    void (*row_times_blocks)(const struct skcrf_blocks *blocks, const double *row,
                             const double *matrix, double *buffer, double *out);
    void (*blocks_times_column)(const struct skcrf_blocks *blocks, const double *matrix,
                                const double *column, double *buffer, double *out);
    void (*scale_blocks)(const struct skcrf_blocks *blocks, const double *left,
                         const double *matrix, const double *right, double *buffer,
                         double *out);
    void (*add_outer_blocks)(const struct skcrf_blocks *blocks, const double *left,
                             const double *right, double *buffer, double *out);

    /* out[j, k] += sum_t left[t, j] right[t, k] of `count` rows of n_labels numbers. The
     * buffer is of 2 SKCRF_ROWS n_labels numbers. */
    void (*sum_outer_blocks)(const struct skcrf_blocks *blocks, const double *left,
                             const double *right, ptrdiff_t count, double *buffer,
                             double *out);

    /* Of weights w = soft(v) / curvature, soft(v) = v - min(max(v, -threshold), threshold),
     * where v moves to u = v - step a.
     *
     * exceeding: how many |v[i]| are above the threshold.
     *
     * shrink: out[i] = factor soft(v[i]).
     *
     * shrunk_norm: sum_i soft(v[i])^2.
     *
     * shrunk_slope: slope += sum_i weight[i] a[i] (soft(v[i]) - soft(u[i])),
     *     curvature += sum_i weight[i] a[i]^2 where |u[i]| is above the threshold.
     *
     * shrunk_rise: sum_i weight[i] times
     *     (soft(u[i])^2 - soft(v[i])^2) / 2 + (v[i] - u[i]) soft(v[i]),
     *     which is not negative. */
    ptrdiff_t (*exceeding)(const double *v, double threshold, ptrdiff_t n);
    void (*shrink)(const double *v, double threshold, double factor, ptrdiff_t n,
                   double *out);
    double (*shrunk_norm)(const double *v, double threshold, ptrdiff_t n);
    void (*shrunk_slope)(const double *v, const double *a, const double *weight,
                         double step, double threshold, ptrdiff_t n, double *slope,
                         double *curvature);
    double (*shrunk_rise)(const double *v, const double *a, const double *weight,
                          double step, double threshold, ptrdiff_t n);

    /* out = (1 - step) x + step y, rounded to single precision. */
    void (*blend)(const float *x, const double *y, double step, ptrdiff_t n, double *out);

    /* out = x in single precision. */
    void (*narrow)(const double *x, ptrdiff_t n, float *out);

    /* y += a x. */
    void (*axpy)(double a, const double *x, double *y, ptrdiff_t n);

    /* y = a x + b y, for the rows x of target and y of rows named by `index`, with
     *     b = shrunk[move] / shrunk[last],
     *     a = shrunk[move] (gained[move] - gained[last]),  last = moves[index[j]];
     * then moves[index[j]] = move. The indices are distinct. */
    void (*pull)(const int *index, ptrdiff_t count, int move, int *moves,
                 const double *shrunk, const double *gained, const double *target,
                 double *rows, ptrdiff_t n);

    /* y += sum_j a[j] rows[index[j]], rows of n numbers. */
    void (*gather)(const double *a, const int *index, ptrdiff_t count,
                   const double *rows, double *y, ptrdiff_t n);

    /* rows[index[j]] += step a[j] x, rows of n numbers; indices may repeat. */
    void (*scatter)(double step, const double *a, const int *index, ptrdiff_t count,
                    const double *x, double *rows, ptrdiff_t n);

    /* rows[index[j]] += step x_j, for each of the `count` rows x_j of x; all rows have n
     * numbers, the indices are distinct. */
    void (*move_rows)(double step, const double *x, const int *index, ptrdiff_t count,
                      double *rows, ptrdiff_t n);

    /* x_j *= factor of index[j], for each of the `count` rows x_j of x; returns the sum over
     * j of this factor times ||x_j||^2 of the rows before. The rows have n numbers, or are
     * x[start[j]], ... before x[start[j + 1]]. */
    double (*precondition_rows)(double *x, const int *index, ptrdiff_t count,
                                const struct skcrf_factors *factors, ptrdiff_t n);
    double (*precondition_ragged)(double *x, const int *start, const int *index,
                                  ptrdiff_t count, const struct skcrf_factors *factors);

    /* y += sum_p change_p with change_p = factor (c_p - y), for each of the `count` rows y
     * named by `index`, and c_p the same rows of the copies, that lie `stride` numbers
     * apart; then every c_p = y. All rows have n numbers, the indices are distinct.
     *     joint += ||sum_p change_p||^2,   apart += sum_p ||change_p||^2. */
    void (*join_rows)(double factor, const int *index, ptrdiff_t count, double *rows,
                      double *copies, ptrdiff_t stride, ptrdiff_t n_copies, ptrdiff_t n,
                      double *joint, double *apart);

    /* change = to - from, over `count` blocks of `n` numbers, and its sum over the
     * blocks. */
    void (*change)(const double *to, const double *from, ptrdiff_t count, ptrdiff_t n,
                   double *change, double *change_sum);

    /* sum_i x[i] y[i]. */
    double (*dot)(const double *x, const double *y, ptrdiff_t n);

    /* y_t += sum_j a[j] rows[index[j]] over bounds[t] <= j < bounds[t + 1], for each of
     * the `count` rows y_t of y; all rows have n numbers. */
    void (*gather_each)(const double *a, const int *index, const long long *bounds,
                        ptrdiff_t count, const double *rows, double *y, ptrdiff_t n);

    /* rows[index[j]] += step a[j] x_t over bounds[t] <= j < bounds[t + 1], for each of the
     * `count` rows x_t of x; all rows have n numbers, indices may repeat. */
    void (*scatter_each)(double step, const double *a, const int *index,
                         const long long *bounds, ptrdiff_t count, const double *x,
                         double *rows, ptrdiff_t n);

    /* For each of the `count` rows x_t of n_entries numbers, in single or double precision,
     * and y_t of y; the rows have n numbers.
     *
     * dense_scores: y_t += sum_j x_t[j] rows[j].
     *
     * dense_features: rows[j] += step sum_t x_t[j] y_t. */
    void (*dense_scores)(const void *x, int single, ptrdiff_t n_entries, ptrdiff_t count,
                         const double *rows, double *y, ptrdiff_t n);
    void (*dense_features)(double step, const void *x, int single, ptrdiff_t n_entries,
                           ptrdiff_t count, const double *y, double *rows, ptrdiff_t n);

    /* As gather_each and scatter_each for rows of different lengths: the j-th has width[j] <= n numbers, of the
     * labels label[place[j] + i]. A row of n numbers has all labels.
     *
     * gather_ragged: y_t[label] += a[j] rows[place[j] + i].
     *
     * scatter_ragged: rows[at[j] + i] += step a[j] x_t[label].
     *
     * move_ragged: rows[place[j] + i] += step x[start[j] + i], start[j + 1] - start[j]
     *     numbers; the places are distinct.
     *
     * copy_ragged: x[start[j] + i] = rows[place[j] + i].
     *
     * shrink_ragged: out[place[j] + i] = soft(v[place[j] + i]) times the factor of
     *     index[j]. */
    void (*gather_ragged)(const double *a, const int *place, const int *width,
                          const long long *bounds, ptrdiff_t count, const int *label,
                          const double *rows, double *y, ptrdiff_t n);
    void (*scatter_ragged)(double step, const double *a, const int *at, const int *place,
                           const int *width, const long long *bounds, ptrdiff_t count,
                           const int *label, const double *x, double *rows, ptrdiff_t n);
    void (*move_ragged)(double step, const double *x, const int *place, const int *start,
                        ptrdiff_t count, double *rows);
    void (*copy_ragged)(const int *place, const int *start, ptrdiff_t count,
                        const double *rows, double *x);
    void (*shrink_ragged)(const int *place, const int *start, ptrdiff_t count,
                          const int *index, const double *v, double threshold,
                          const struct skcrf_factors *factors, double *out);

    /* x_j = rows[index[j]], for each of the `count` rows x_j of x, of n numbers. */
    void (*copy_rows)(const int *index, ptrdiff_t count, const double *rows, double *x,
                      ptrdiff_t n);

    /* out_j = soft(v_j) times the factor of index[j], for each of the `count` rows v_j of v named by
     * `index`, of n numbers, where active[index[j]] says whether out_j has numbers other
     * than 0. */
    void (*shrink_rows)(const int *index, ptrdiff_t count, const double *v,
                        double threshold, const struct skcrf_factors *factors,
                        unsigned char *active, double *out, ptrdiff_t n);
};

extern const struct skcrf_vecmath skcrf_vecmath_plain, skcrf_vecmath_v3, skcrf_vecmath_v4;
#define skcrf_vecmath_of(level) CHOOSE(skcrf_vecmath, level)

#endif
