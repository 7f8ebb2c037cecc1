/* See maxplus.h. */
#include "maxplus.h"

#include "levels.h"

void LOOPS(skcrf_row_plus_matrix)(const double *restrict row,
                                  const double *restrict matrix,
                                  double *restrict out, ptrdiff_t rows,
                                  ptrdiff_t n)
{
    for (ptrdiff_t k = 0; k < n; k++)
        out[k] = row[0] + matrix[k];
    for (ptrdiff_t j = 1; j < rows; j++) {
        matrix += n;
#pragma omp simd
        for (ptrdiff_t k = 0; k < n; k++) {
            double sum = row[j] + matrix[k];
            out[k] = sum > out[k] ? sum : out[k];
        }
    }
}
