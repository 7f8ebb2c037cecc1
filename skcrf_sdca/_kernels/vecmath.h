/* Vector arithmetic over contiguous blocks: the only unit compiled with -ffast-math.
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

/* Probabilities below this are stored as 0 (no subnormals in the marginals). */
#define SKCRF_TINY 1e-30

/* out[i] = exp(x[i] - shift) for x[i] <= shift; arguments below -700 count as -700. */
void skcrf_exp(const double *x, double shift, double *out, ptrdiff_t n);

/* sum_i p[i] log p[i], with 0 log 0 = 0. */
double skcrf_xlogx(const double *p, ptrdiff_t n);

/* With m = p + step * direction:
 *     slope = sum_i direction[i] log m[i],   curvature = sum_i direction[i]^2 / m[i]. */
void skcrf_slope(const double *p, const double *direction, double step, ptrdiff_t n,
                 double *slope, double *curvature);

/* p += step * direction, flushed to 0 below SKCRF_TINY;
 * returns sum_i p[i] log p[i] of the new p. */
double skcrf_move(double *p, const double *direction, double step, ptrdiff_t n);

/* The same sums in single precision, from the target t = p + direction:
 *     slope = sum_i direction[i] log(m[i] / t[i]),   m / t = 1 - rest * ratio,
 * with rest = 1 - step in [0, 1] and ratio = direction / t. Close to the target, where
 * direction is small, each term keeps its relative precision. */
void skcrf_slope_single(const float *direction, const float *ratio, float rest,
                        ptrdiff_t n, double *slope, double *curvature);

/* target -= p (now the direction), over `count` blocks of `n` numbers, with
 *     direction_sum[i], p_sum[i]: sums over the blocks,
 *     single, ratio (count * n): direction and direction / target. */
void skcrf_direction(double *target, const double *p, ptrdiff_t count, ptrdiff_t n,
                     double *direction_sum, double *p_sum, float *single,
                     float *ratio);

/* out[k] = sum_j row[j] matrix[j, k], matrix (n, n) with rows contiguous. */
void skcrf_row_times_matrix(const double *row, const double *matrix, double *out,
                            ptrdiff_t n);

/* out[j, k] = left[j] matrix[j, k] right[k]. */
void skcrf_scale_matrix(const double *left, const double *matrix, const double *right,
                        double *out, ptrdiff_t n);

/* out[j, k] += left[j] right[k]. */
void skcrf_add_outer(const double *left, const double *right, double *out, ptrdiff_t n);

/* y += a x. */
void skcrf_axpy(double a, const double *x, double *y, ptrdiff_t n);

/* y = a x + b y, for the rows x of target and y of rows named by `index`, with
 *     b = shrunk[move] / shrunk[last],
 *     a = shrunk[move] (gained[move] - gained[last]),  last = moves[index[j]];
 * then moves[index[j]] = move. The indices are distinct. */
void skcrf_pull(const int *index, ptrdiff_t count, int move, int *moves,
                const double *shrunk, const double *gained, const double *target,
                double *rows, ptrdiff_t n);

/* y += sum_j a[j] rows[index[j]], rows of n numbers. */
void skcrf_gather(const double *a, const int *index, ptrdiff_t count,
                  const double *rows, double *y, ptrdiff_t n);

/* rows[index[j]] += step a[j] x, rows of n numbers; indices may repeat. */
void skcrf_scatter(double step, const double *a, const int *index, ptrdiff_t count,
                   const double *x, double *rows, ptrdiff_t n);

/* change = to - from, over `count` blocks of `n` numbers, and its sum over the blocks. */
void skcrf_change(const double *to, const double *from, ptrdiff_t count, ptrdiff_t n,
                  double *change, double *change_sum);

/* Ask for rows[index[j]], rows of n numbers, to be brought into the cache: a hint. */
void skcrf_prefetch(const int *index, ptrdiff_t count, const double *rows,
                    ptrdiff_t n);

/* sum_i x[i] y[i]. */
double skcrf_dot(const double *x, const double *y, ptrdiff_t n);

#endif
