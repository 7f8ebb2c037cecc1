/* Moves of stored marginals: included by vecmath.c once for each type REAL that they may
 * have, with NAMED(f) the name of f for it and DIVERGENCE(m, t, x) = m log(m / t) - m + t,
 * x being m / t - 1. See vecmath.h. */

static double NAMED(aim)(const double *restrict target, const REAL *restrict p,
                         const double *restrict scores, ptrdiff_t n,
                         REAL *restrict stored, float *restrict ratio,
                         double *restrict direction_sum, double *restrict lost)
{
    double expected = 0.0, out_of_reach = 0.0;
#pragma omp simd reduction(+ : expected, out_of_reach)
    for (ptrdiff_t i = 0; i < n; i++) {
        double end = target[i] < SKCRF_TINY ? SKCRF_TINY : target[i];
        double direction = target[i] - (double)p[i];
        out_of_reach += target[i] < SKCRF_TINY ? (double)p[i] : 0.0;
        stored[i] = (REAL)end;
        ratio[i] = (float)direction / (float)end;
        direction_sum[i] += direction;
        expected += (double)p[i] * scores[i];
    }
    *lost += out_of_reach;
    return expected;
}

static double NAMED(xlogx)(const REAL *restrict p, ptrdiff_t n)
{
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t i = 0; i < n; i++) {
        double m = (double)p[i];
        sum += m * log_double(m < SKCRF_TINY ? SKCRF_TINY : m);
    }
    return sum;
}

static void NAMED(slope)(const REAL *restrict p, const REAL *restrict target,
                         double step, ptrdiff_t n, double *restrict slope,
                         double *restrict curvature)
{
    double first = 0.0, second = 0.0;
#pragma omp simd reduction(+ : first, second)
    for (ptrdiff_t i = 0; i < n; i++) {
        double direction = (double)target[i] - (double)p[i];
        double m = (double)p[i] + step * direction;
        m = m < SKCRF_TINY ? SKCRF_TINY : m;
        first += direction * log_double(m);
        second += direction * direction / m;
    }
    *slope = first;
    *curvature = second;
}

static void NAMED(slope_near)(const REAL *restrict target,
                              const float *restrict ratio, float rest,
                              ptrdiff_t n, double *restrict slope,
                              double *restrict curvature)
{
    *slope = *curvature = 0.0;
    for (ptrdiff_t begin = 0; begin < n; begin += BLOCK) {
        ptrdiff_t end = begin + BLOCK < n ? begin + BLOCK : n;
        float first = 0.0f, second = 0.0f;
#pragma omp simd reduction(+ : first, second)
        for (ptrdiff_t i = begin; i < end; i++) {
            float direction = (float)target[i] * ratio[i];
            float x = -rest * ratio[i];
            first += direction * log1p_single(x);
            second += direction * ratio[i] / (1.0f + x);
        }
        *slope += first;
        *curvature += second;
    }
}

/* The marginal that counts for more is moved toward the other one: in single precision
 * the rounding of (1 - step) p + step target would change what is at its target too, the
 * same way at every visit. */
static double NAMED(move)(const REAL *restrict p, const REAL *restrict target,
                          const float *restrict ratio, double step, ptrdiff_t n,
                          REAL *restrict out)
{
    double rest = 1.0 - step, sum = 0.0;
    const REAL *near = step < 0.5 ? p : target, *far = step < 0.5 ? target : p;
    REAL share = (REAL)(step < 0.5 ? step : rest);
    for (ptrdiff_t begin = 0; begin < n; begin += BLOCK) {
        ptrdiff_t end = begin + BLOCK < n ? begin + BLOCK : n;
        REAL part = 0;
#pragma omp simd reduction(+ : part)
        for (ptrdiff_t i = begin; i < end; i++) {
            REAL m = near[i] + share * (far[i] - near[i]);
            out[i] = m <= (REAL)SKCRF_TINY ? 0 : m;
            part += DIVERGENCE(m, target[i], -(float)rest * ratio[i]);
        }
        sum += part;
    }
    return sum;
}

static void NAMED(follow)(const REAL *restrict edge, const double *restrict from,
                          ptrdiff_t n, double *restrict out, double *restrict to)
{
    for (ptrdiff_t k = 0; k < n; k++)
        to[k] = 0.0;
    for (ptrdiff_t j = 0; j < n; j++, edge += n, out += n) {
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t k = 0; k < n; k++)
            sum += (double)edge[k];
        double factor = sum > 0.0 ? from[j] / sum : 0.0;
#pragma omp simd
        for (ptrdiff_t k = 0; k < n; k++) {
            double q = factor * (double)edge[k];
            out[k] = q;
            to[k] += q;
        }
    }
}
