/* Loops over the weights that steps of stochastic gradient methods move, compiled without
 * -ffast-math. Built for several levels: see levels.h, and _steps.pyx for the formulas. */
#ifndef SKCRF_STEPS_H
#define SKCRF_STEPS_H

#include <stddef.h>

#include "levels.h"

struct skcrf_steps {
    /* total += a w, unless total is NULL; w *= b. */
    void (*settle)(double *w, double *total, double a, double b, ptrdiff_t n);

    /* The same for the rows of w and total, of n numbers, named by `index`, with
     *     a = (counted[now] - counted[last]) / shrunk[last],
     *     b = shrunk[now] / shrunk[last],  last = settled[index[j]];
     * then settled[index[j]] = now. */
    void (*settle_rows)(const int *index, ptrdiff_t count, int now, int *settled,
                        const double *shrunk, const double *counted, double *w,
                        double *total, ptrdiff_t n);

    /* w *= (1 + scale / sqrt(squares))^-times where squares are above 0. */
    void (*shrink)(double *w, const double *squares, double scale, int times,
                   ptrdiff_t n);

    /* The same for the rows named by `index`, now - settled[index[j]] times; then
     * settled[index[j]] = now. */
    void (*shrink_rows)(const int *index, ptrdiff_t count, int now, int *settled,
                        const double *squares, double scale, double *w, ptrdiff_t n);

    /* squares += g^2, w -= eta g / sqrt(squares), with g = weight gradient; where g^2 is
     * 0, w stays. */
    void (*move)(const double *gradient, double weight, double eta, double *squares,
                 double *w, ptrdiff_t n);
};

extern const struct skcrf_steps skcrf_steps_plain, skcrf_steps_v3, skcrf_steps_v4;
#define skcrf_steps_of(level) CHOOSE(skcrf_steps, level)

#endif
