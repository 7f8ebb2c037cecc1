/* Rows of n numbers, one for each label: included by vecmath.c once for each type VECTOR,
 * of LENGTH numbers, in which rows are held; function_LENGTH is what function is named
 * then. What the functions do is stated in vecmath.h.
 *
 * Here they do it for `width` >= LENGTH numbers of each row, held in `count` vectors, of
 * which the last one overlaps the one before: so there is no rest that is done number by
 * number. All vectors of a row are read before one is written. */
#define JOIN(function, length) function##_##length
#define NAMED_FOR(function, length) JOIN(function, length)
#define NAMED(function) NAMED_FOR(function, LENGTH)

/* The v-th vector of a row. */
#define AT(x, v) (*(VECTOR *)((x) + ((v) < count - 1 ? (v) * LENGTH : width - LENGTH)))
#if defined(__GNUC__)
#define EACH_VECTOR _Pragma("GCC unroll 8") for (int v = 0; v < count; v++)
#define EACH_ROW _Pragma("GCC unroll 4") for (int r = 0; r < at_once; r++)
#else
#define EACH_VECTOR for (int v = 0; v < count; v++)
#define EACH_ROW for (int r = 0; r < at_once; r++)
#endif

INLINED void NAMED(prefetch_vectors)(int count, ptrdiff_t width, const double *x)
{
    EACH_VECTOR PREFETCH(&AT(x, v));
    PREFETCH(x + width - 1);
}

/* index is NULL for the rows 0, 1, ...; `last` for rows that need not be asked for. */
INLINED void NAMED(gather)(int count, ptrdiff_t width, const double *a, const int *index,
                           ptrdiff_t n_rows, const int *last, const double *rows,
                           double *y, ptrdiff_t n)
{
    VECTOR sum[MOST_VECTORS];
    EACH_VECTOR sum[v] = AT(y, v);
    for (ptrdiff_t j = 0; j < n_rows; j++) {
        const double *x = rows + (index ? index[j] : j) * n;
        if (last) {
            const int *ahead = index + j + ENTRIES_AHEAD;
            NAMED(prefetch_vectors)(count, width, rows + *(ahead < last ? ahead : last) * n);
        }
        EACH_VECTOR sum[v] += a[j] * AT(x, v);
    }
    EACH_VECTOR AT(y, v) = sum[v];
}

INLINED void NAMED(scatter)(int count, ptrdiff_t width, double step, const double *a,
                            const int *index, ptrdiff_t n_rows, const int *last,
                            const double *x, double *rows, ptrdiff_t n)
{
    VECTOR kept[MOST_VECTORS], moved[MOST_VECTORS];
    EACH_VECTOR kept[v] = AT(x, v);
    for (ptrdiff_t j = 0; j < n_rows; j++) {
        double *y = rows + index[j] * n;
        double factor = step * a[j];
        if (last) {
            const int *ahead = index + j + ENTRIES_AHEAD;
            NAMED(prefetch_vectors)(count, width, rows + *(ahead < last ? ahead : last) * n);
        }
        EACH_VECTOR moved[v] = AT(y, v) + factor * kept[v];
        EACH_VECTOR AT(y, v) = moved[v];
    }
}

INLINED void NAMED(move_rows)(int count, ptrdiff_t width, double step, const double *x,
                              const int *index, ptrdiff_t n_rows, double *rows, ptrdiff_t n)
{
    VECTOR moved[MOST_VECTORS];
    for (ptrdiff_t j = 0; j < n_rows; j++, x += n) {
        double *y = rows + index[j] * n;
        NAMED(prefetch_vectors)
        (count, width, rows + index[j + AHEAD < n_rows ? j + AHEAD : j] * n);
        EACH_VECTOR moved[v] = AT(y, v) + step * AT(x, v);
        EACH_VECTOR AT(y, v) = moved[v];
    }
}

INLINED void NAMED(precondition_rows)(int count, ptrdiff_t width, double *x,
                                      const int *index, ptrdiff_t n_rows,
                                      const struct skcrf_factors *factors,
                                      double *norm, ptrdiff_t n)
{
    VECTOR sum[MOST_VECTORS], row[MOST_VECTORS];
    EACH_VECTOR sum[v] = (VECTOR){0.0};
    for (ptrdiff_t j = 0; j < n_rows; j++, x += n) {
        double factor = factor_of(factors, index[j]);
        EACH_VECTOR row[v] = AT(x, v);
        EACH_VECTOR sum[v] += factor * row[v] * row[v];
        EACH_VECTOR AT(x, v) = factor * row[v];
    }
    /* The numbers that the last vector shares with the one before count once. */
    double number[LENGTH];
    for (int v = 0; v < count; v++) {
        *(VECTOR *)number = sum[v];
        for (ptrdiff_t k = v < count - 1 ? 0 : count * LENGTH - width; k < LENGTH; k++)
            *norm += number[k];
    }
}

INLINED void NAMED(copy_rows)(int count, ptrdiff_t width, const int *index,
                              ptrdiff_t n_rows, const double *rows, double *x,
                              ptrdiff_t n)
{
    for (ptrdiff_t j = 0; j < n_rows; j++, x += n) {
        const int *ahead = index + (j + ENTRIES_AHEAD < n_rows ? j + ENTRIES_AHEAD : j);
        NAMED(prefetch_vectors)(count, width, rows + *ahead * n);
        EACH_VECTOR AT(x, v) = AT(rows + index[j] * n, v);
    }
}

INLINED void NAMED(pull)(int count, ptrdiff_t width, const int *index, ptrdiff_t n_rows,
                         int move, const int *moves, const double *shrunk,
                         const double *gained, const double *target, double *rows,
                         ptrdiff_t n)
{
    VECTOR pulled[MOST_VECTORS];
    for (ptrdiff_t j = 0; j < n_rows; j++) {
        if (j + 2 * AHEAD < n_rows)
            PREFETCH(moves + index[j + 2 * AHEAD]);
        ptrdiff_t ahead = index[j + AHEAD < n_rows ? j + AHEAD : j] * n;
        NAMED(prefetch_vectors)(count, width, target + ahead);
        NAMED(prefetch_vectors)(count, width, rows + ahead);
        int last = moves[index[j]];
        double a = shrunk[move] * (gained[move] - gained[last]);
        double b = shrunk[move] / shrunk[last];
        const double *x = target + index[j] * n;
        double *y = rows + index[j] * n;
        EACH_VECTOR pulled[v] = a * AT(x, v) + b * AT(y, v);
        EACH_VECTOR AT(y, v) = pulled[v];
    }
}

INLINED void NAMED(scale_matrix)(int count, ptrdiff_t width, const double *left,
                                 const double *matrix, const double *right, double *out,
                                 ptrdiff_t n)
{
    VECTOR kept[MOST_VECTORS];
    EACH_VECTOR kept[v] = AT(right, v);
    for (ptrdiff_t j = 0; j < n; j++, matrix += n, out += n)
        EACH_VECTOR AT(out, v) = left[j] * AT(matrix, v) * kept[v];
}

INLINED void NAMED(add_outer)(int count, ptrdiff_t width, const double *left,
                              const double *right, double *out, ptrdiff_t n)
{
    VECTOR kept[MOST_VECTORS], sum[MOST_VECTORS];
    EACH_VECTOR kept[v] = AT(right, v);
    for (ptrdiff_t j = 0; j < n; j++, out += n) {
        EACH_VECTOR sum[v] = AT(out, v) + left[j] * kept[v];
        EACH_VECTOR AT(out, v) = sum[v];
    }
}

INLINED void NAMED(change)(int count, ptrdiff_t width, const double *to, const double *from,
                           ptrdiff_t n_rows, ptrdiff_t n, double *change,
                           double *change_sum)
{
    VECTOR sum[MOST_VECTORS] = {0};
    for (ptrdiff_t t = 0; t < n_rows; t++, to += n, from += n, change += n) {
        VECTOR moved[MOST_VECTORS];
        EACH_VECTOR moved[v] = AT(to, v) - AT(from, v);
        EACH_VECTOR sum[v] += moved[v];
        EACH_VECTOR AT(change, v) = moved[v];
    }
    EACH_VECTOR AT(change_sum, v) = sum[v];
}

/* `at_once` <= AT_ONCE sums of rows are held at a time: a vector that was read serves all of
 * them. Each sum has its terms in the same order, however many are held. */
INLINED void NAMED(dense_scores)(int count, ptrdiff_t width, int single, int at_once,
                                 const void *x, ptrdiff_t n_entries, const double *rows,
                                 double *y, ptrdiff_t n)
{
    VECTOR sum[AT_ONCE][MOST_VECTORS];
    EACH_ROW EACH_VECTOR sum[r][v] = AT(y + r * n, v);
    for (ptrdiff_t j = 0; j < n_entries; j++, rows += n) {
        VECTOR kept[MOST_VECTORS];
        EACH_VECTOR kept[v] = AT(rows, v);
        EACH_ROW
        {
            double a = entry(x, single, r * n_entries + j);
            EACH_VECTOR sum[r][v] += a * kept[v];
        }
    }
    EACH_ROW EACH_VECTOR AT(y + r * n, v) = sum[r][v];
}

INLINED void NAMED(dense_features)(int count, ptrdiff_t width, int single, int at_once,
                                   double step, const void *x, ptrdiff_t n_entries,
                                   ptrdiff_t n_rows, const double *y, double *rows,
                                   ptrdiff_t n)
{
    VECTOR sum[AT_ONCE][MOST_VECTORS] = {0};
    for (ptrdiff_t t = 0; t < n_rows; t++, y += n) {
        VECTOR kept[MOST_VECTORS];
        EACH_VECTOR kept[v] = AT(y, v);
        EACH_ROW
        {
            double a = entry(x, single, t * n_entries + r);
            EACH_VECTOR sum[r][v] += a * kept[v];
        }
    }
    EACH_ROW
    {
        VECTOR moved[MOST_VECTORS];
        EACH_VECTOR moved[v] = AT(rows + r * n, v) + step * sum[r][v];
        EACH_VECTOR AT(rows + r * n, v) = moved[v];
    }
}

#undef VECTOR
#undef LENGTH
#undef JOIN
#undef NAMED_FOR
#undef NAMED
#undef AT
#undef EACH_VECTOR
#undef EACH_ROW
