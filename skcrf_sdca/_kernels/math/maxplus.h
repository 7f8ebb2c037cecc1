/* Products in the (max, +) semiring, compiled without -ffast-math: a score of -inf or
 * NaN means what it means in IEEE arithmetic, and the sums have the bits of plain ones.
 * Built for several levels: see levels.h. */
#ifndef SKCRF_MAXPLUS_H
#define SKCRF_MAXPLUS_H

#include <stddef.h>

#include "levels.h"

/* out[k] = max_j(row[j] + matrix[j, k]), matrix (rows, n) with rows contiguous, of which
 * there is one at least. A NaN counts for j = 0, as the start of the comparisons, and for no other j. */
typedef void skcrf_row_plus_matrix(const double *row, const double *matrix, double *out,
                                   ptrdiff_t rows, ptrdiff_t n);
extern skcrf_row_plus_matrix skcrf_row_plus_matrix_plain, skcrf_row_plus_matrix_v3,
    skcrf_row_plus_matrix_v4;
#define skcrf_row_plus_matrix_of(level) CHOOSE(skcrf_row_plus_matrix, level)

#endif
