"""Inference on the segmentations of one sequence: forward sums, posteriors, Viterbi.

A segmentation of T tokens is a path of segments (b, e, k), the tokens b <= t < e of
type k, that follow each other without gaps. With the local scores (T, L) of the tokens'
labels and the tied scores, transitions (K, K) and lengths (K, M), its score is

    sum over segments of [ inner(b, e, k) + length[k, e - b - 1] ]
    + sum over neighbours of transition[k, k'],

    inner(b, e, k) = local[b, single_k]                         for e = b + 1, else
                     local[b, first_k] + local[e - 1, last_k]
                     + sum over b < t < e - 1 of local[t, inside_k].

Features g of whole segments, if there are any, have tied scores (F, K) too, and add
g(b, e) . feature[:, k]: what they give to all segments is summed once for a sequence.

The last sum is a difference of the sums passed_k[t] over the first t tokens, so that
the time is of the order of T K M + T K^2. With ended_t the log-sum of scores of the
segmentations of the first t tokens whose last segment has type k, and reached_t the
log-sum of all that may precede a segment from t on:

    reached_t[k] = log sum_j exp( ended_t[j] + transition[j, k] ),    reached_0 = 0,
    ended_e[k]   = log sum_b exp( reached_b[k] + inner(b, e, k) + length[k, e - b - 1] )

The forward pass is in the log domain, with the largest of each sum taken out: no score
but +inf is too large. Posteriors need no second pass of logarithms: given where a
segment ends, and its type, the terms of the sum say where it begins, and the terms of
reached which type ends there. So probabilities are handed down from the end of the
sequence to its begin; they are never negative, and what is lost by underflow is less
than the smallest double.

A local score of -inf forbids a label there: no segment passes over a `barrier`, the
last token where the inner label is forbidden.
"""

from libc.math cimport INFINITY, exp, isfinite, log, rint
from libc.string cimport memcpy, memset

from ..math._math cimport finite_minimum, logsumexp, maximum, softmax, total
from ..features._segment_rows cimport SegmentRows
from ..math._vecmath cimport ops

import numpy as np

# The sum of these spreads is below: exponentials of a row and of the transitions cannot
# underflow. What ops.exp makes of -inf is below FORBIDDEN, and far below such products.
cdef double LARGEST_SPREAD = 600.0
cdef double FORBIDDEN = 1e-290


cdef class SegmentWorkspace:
    """Buffers for sequences of up to ``max_length`` tokens.

    Parameters
    ----------
    max_length : int
    grammar : Grammar
        Which labels the tokens of a segment have, and what is allowed.
    rows : SegmentRows, default=None
        Features of segments, of the sequences that `set_sequence` takes.
    """

    def __init__(self, Py_ssize_t max_length, grammar, SegmentRows rows=None):
        cdef Py_ssize_t n_types, size
        self.n_labels, self.n_types = grammar.n_labels, grammar.n_types
        self.most, self.n_counts = grammar.max_length, grammar.n_tied
        self.rows, self.n_tied = rows, self.n_counts
        if rows is not None:
            self.n_tied += rows.n_features * self.n_types
            size = max(max_length, 1) * self.most * self.n_types
            self.scores, self.segments = np.empty(size), np.empty(size)
        self.single, self.first = grammar.single, grammar.first
        self.inside, self.last = grammar.inside, grammar.last
        self.label_types = grammar.label_types
        self.joins = grammar.joins.view(np.uint8)
        self.longest = grammar.longest
        self.log_mask = np.where(grammar.allowed, 0.0, -np.inf)
        n_types = self.n_types
        self.stride = max(max_length, 1) + 1
        size = self.stride * n_types
        self.transition = np.empty(n_types * n_types)
        self.exp_transition = np.empty(n_types * n_types)
        self.outer = np.empty(n_types * n_types)
        self.lengths = np.empty(n_types * self.most)
        self.reached, self.ended = np.empty(size), np.empty(size)
        self.opened, self.passed = np.empty(size), np.empty(size)
        self.scaled, self.sums = np.empty(size), np.empty(size)
        self.ending, self.beginning = np.empty(size), np.empty(size)
        self.within = np.empty(size)
        self.barrier = np.empty(size, dtype=np.intc)
        self.in_logs = np.empty(self.stride, dtype=np.uint8)
        self.drops = np.empty(self.stride)
        self.terms = np.empty(n_types * (self.most + 1))
        self.exps = np.empty(n_types * (self.most + 1))
        self.shifts = np.empty(n_types)
        self.counts, self.begins = np.empty((2, n_types), dtype=np.intp)

    cdef void set_tied(self, const double* tied) noexcept nogil:
        """Take the tied scores of the next sequences, (K, K) and (K, M)."""
        cdef Py_ssize_t p, k, length, n = self.n_types, most = self.most
        cdef double* row
        for p in range(n * n):
            self.transition[p] = tied[p] + self.log_mask[p]
        tied += n * n
        for k in range(n):
            row = &self.lengths[0] + (k + 1) * most
            for length in range(1, most + 1):
                p = k * most + length - 1
                row[-length] = tied[p] + self.log_mask[n * n + p]
        self.transition_max = maximum(&self.transition[0], n * n)
        self.transition_spread = self.transition_max - finite_minimum(
            &self.transition[0], n * n
        )
        if self.transition_max == -INFINITY:
            # Nothing may follow a segment: any finite number will do.
            self.transition_max = self.transition_spread = 0.0
        ops.exp(
            &self.transition[0], self.transition_max, &self.exp_transition[0], n * n
        )
        for p in range(n * n):
            if self.transition[p] == -INFINITY:
                self.exp_transition[p] = 0.0

    cdef void set_sequence(
        self, Py_ssize_t first, Py_ssize_t length, const double* tied
    ) noexcept nogil:
        """Take the sequence of the tokens first, first + 1, ..., of all.

        With features of segments, write what these give under the tied scores.
        """
        cdef Py_ssize_t row, j, p, n = self.n_types, n_rows = length * self.most
        if self.rows is None:
            return
        self.token = first
        memset(&self.scores[0], 0, n_rows * n * sizeof(double))
        tied += self.n_counts
        p = self.rows.indptr[first * self.most]
        for row in range(n_rows):
            j, p = p, self.rows.indptr[first * self.most + row + 1]
            for j in range(j, p):
                ops.axpy(
                    self.rows.entries[j], tied + self.rows.columns[j] * n,
                    &self.scores[row * n], n,
                )

    cdef void add_row(
        self, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t k, double step, double* tied
    ) noexcept nogil:
        """Add step times the features of a segment of the sequence."""
        cdef Py_ssize_t j, row
        if self.rows is None:
            return
        row = (self.token + end) * self.most - (end - begin)
        tied += self.n_counts + k
        for j in range(self.rows.indptr[row], self.rows.indptr[row + 1]):
            tied[self.rows.columns[j] * self.n_types] += step * self.rows.entries[j]

    cdef double row_score(
        self, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t k, const double* tied
    ) noexcept nogil:
        """Return what its features give to a segment of the sequence."""
        cdef Py_ssize_t j, row
        cdef double value = 0.0
        if self.rows is None:
            return value
        row = (self.token + end) * self.most - (end - begin)
        tied += self.n_counts + k
        for j in range(self.rows.indptr[row], self.rows.indptr[row + 1]):
            value += self.rows.entries[j] * tied[self.rows.columns[j] * self.n_types]
        return value

    cdef void add_features(
        self, Py_ssize_t length, double step, double* tied
    ) noexcept nogil:
        """Add step times the expected features of segments.

        Follows `segment_expectations`.
        """
        cdef Py_ssize_t row, j, p, n = self.n_types
        if self.rows is None:
            return
        tied += self.n_counts
        p = self.rows.indptr[self.token * self.most]
        for row in range(length * self.most):
            j, p = p, self.rows.indptr[self.token * self.most + row + 1]
            for j in range(j, p):
                ops.axpy(
                    step * self.rows.entries[j], &self.segments[row * n],
                    tied + self.rows.columns[j] * n, n,
                )


cdef void read_token(
    SegmentWorkspace work,
    const double* local,            # in, (T, L)
    Py_ssize_t t,                   # its reached has been written
    bint best,
) noexcept nogil:
    """Take the local scores of a token: what opens there, and the inner sums.

    For log-sums a whole number is taken from all scores of the token, about that by
    which they raise the sums: so these stay near 0, and differences of sums keep their
    digits in long sequences.
    """
    cdef Py_ssize_t k, n = work.n_types
    cdef const double* row = local + t * work.n_labels
    cdef const double* reached = &work.reached[t * n]
    cdef double score, drop = 0.0
    cdef double* passed
    cdef int* barrier
    if not best:
        drop = rint(maximum(reached, n) + maximum(row, work.n_labels))
        if not isfinite(drop):
            drop = 0.0
    work.drops[t] = drop
    for k in range(n):
        passed = &work.passed[k * work.stride + t]
        barrier = &work.barrier[k * work.stride + t]
        passed[1], barrier[1] = passed[0], barrier[0]
        if work.longest[k] > 2:
            score = at(row, work.inside[k])
            if score == -INFINITY:
                barrier[1] = <int> t
            else:
                passed[1] += score - drop
        work.opened[k * work.stride + t] = (
            reached[k] + (at(row, work.first[k]) - drop) - passed[1]
        )


cdef void reach(SegmentWorkspace work, Py_ssize_t t, bint best) noexcept nogil:
    """Write reached at t > 0, or its maxima in the place of sums."""
    cdef Py_ssize_t j, k, n = work.n_types
    cdef const double* ended = &work.ended[t * n]
    cdef double* reached = &work.reached[t * n]
    cdef double* scaled = &work.scaled[t * n]
    cdef double* sums = &work.sums[t * n]
    cdef double* terms = &work.terms[0]
    cdef double shift = maximum(ended, n)
    cdef double spread = shift - finite_minimum(ended, n)
    # For NaN, too, which the logarithms hand on.
    work.in_logs[t] = not spread + work.transition_spread <= LARGEST_SPREAD
    if best or work.in_logs[t]:
        for k in range(n):
            for j in range(n):
                terms[j] = ended[j] + work.transition[j * n + k]
            reached[k] = maximum(terms, n) if best else logsumexp(terms, n)
        return
    ops.exp(ended, shift, scaled, n)
    memset(sums, 0, n * sizeof(double))
    for j in range(n):
        if ended[j] == -INFINITY:
            scaled[j] = 0.0
        ops.axpy(scaled[j], &work.exp_transition[j * n], sums, n)
    shift += work.transition_max
    for k in range(n):
        reached[k] = shift + log(sums[k]) if sums[k] > FORBIDDEN else -INFINITY


cdef Py_ssize_t write_terms(
    SegmentWorkspace work, const double* local, Py_ssize_t end, Py_ssize_t k,
    double* terms,                  # out
    Py_ssize_t* begin,              # out
) noexcept nogil:
    """Write the terms of the sum ended; return their number.

    The first term is the segment of one token; the others are the segments that begin
    at begin, begin + 1, ..., end - 2.
    """
    cdef Py_ssize_t i, n
    cdef const double* row = local + (end - 1) * work.n_labels
    cdef const double* opened = &work.opened[k * work.stride]
    cdef const double* lengths = &work.lengths[0] + (k + 1) * work.most - end
    cdef double tail, drop = work.drops[end - 1]
    cdef const double* scores = NULL
    terms[0] = (
        work.reached[(end - 1) * work.n_types + k] + (at(row, work.single[k]) - drop)
        + lengths[end - 1]
    )
    if work.rows is not None:
        scores = &work.scores[end * (work.most - 1) * work.n_types + k]
        terms[0] += scores[(end - 1) * work.n_types]
    begin[0] = max(
        max(end - work.longest[k], 0), work.barrier[k * work.stride + end - 1]
    )
    n = max(end - 1 - begin[0], 0)
    if n == 0:
        return 1
    tail = work.passed[k * work.stride + end - 1] + (at(row, work.last[k]) - drop)
    opened += begin[0]
    lengths += begin[0]
    for i in range(n):
        terms[i + 1] = opened[i] + lengths[i] + tail
    if scores != NULL:
        scores += begin[0] * work.n_types
        for i in range(n):
            terms[i + 1] += scores[i * work.n_types]
    return n + 1


cdef void write_exponentials(
    SegmentWorkspace work, const double* local, Py_ssize_t end, bint posterior
) noexcept nogil:
    """Write the exponentials of the terms of all types, end to end.

    Of each type the largest term is taken out, and a type with one term is left out;
    with ``posterior``, types that do not end there are left out too.
    """
    cdef Py_ssize_t i, k, count, first = 0
    cdef double shift
    cdef double* terms
    for k in range(work.n_types):
        work.counts[k] = 0
        if posterior and work.ending[end * work.n_types + k] == 0.0:
            continue
        terms = &work.terms[first]
        count = work.counts[k] = write_terms(
            work, local, end, k, terms, &work.begins[k]
        )
        shift = work.shifts[k] = terms[0] if count == 1 else maximum(terms, count)
        if count > 1 and shift > -INFINITY:
            for i in range(count):
                terms[i] -= shift
            first += count
    if first > 0:
        ops.exp(&work.terms[0], 0.0, &work.exps[0], first)


cdef void fill(
    SegmentWorkspace work, const double* local, Py_ssize_t length, bint best
) noexcept nogil:
    """Write reached and ended: log-sums, or maxima."""
    cdef Py_ssize_t t, k, count, n = work.n_types
    cdef double* ended
    cdef double* exps
    for k in range(n):
        work.reached[k] = 0.0
        work.passed[k * work.stride] = 0.0
        work.barrier[k * work.stride] = 0
    for t in range(length):
        if t > 0:
            reach(work, t, best)
        read_token(work, local, t, best)
        ended = &work.ended[(t + 1) * n]
        if best:
            for k in range(n):
                count = write_terms(
                    work, local, t + 1, k, &work.terms[0], &work.begins[k]
                )
                ended[k] = maximum(&work.terms[0], count)
            continue
        write_exponentials(work, local, t + 1, False)
        exps = &work.exps[0]
        for k in range(n):
            ended[k] = work.shifts[k]
            if work.counts[k] > 1 and ended[k] > -INFINITY:
                ended[k] += log(total(exps, work.counts[k]))
                exps += work.counts[k]


cdef double segment_forward(
    SegmentWorkspace work, const double* local, Py_ssize_t length
) noexcept nogil:
    """Return log Z: 0 for T = 0, -inf if there is no segmentation."""
    if length == 0:
        return 0.0
    fill(work, local, length, False)
    return (
        logsumexp(&work.ended[length * work.n_types], work.n_types)
        + total(&work.drops[0], length)
    )


cdef double segment_expectations(
    SegmentWorkspace work,          # its tied scores have been set
    const double* local,            # in, (T, L)
    Py_ssize_t length,
    double* out,                    # out, (T, L) probabilities of the labels
    double* tied,                   # out, (n_counts,) expected counts, or NULL
) noexcept nogil:
    """Fill the expectations; return log Z. All are 0 if log Z is -inf.

    Features of segments are left to `add_features`.
    """
    cdef Py_ssize_t t, k, n = work.n_types
    cdef const double* exps
    cdef double value = segment_forward(work, local, length)
    memset(out, 0, length * work.n_labels * sizeof(double))
    if tied != NULL:
        memset(tied, 0, work.n_counts * sizeof(double))
    if work.rows is not None:
        memset(&work.segments[0], 0, length * work.most * n * sizeof(double))
    if length == 0 or value == -INFINITY:
        return value
    memset(&work.beginning[0], 0, length * n * sizeof(double))
    memset(&work.within[0], 0, work.stride * n * sizeof(double))
    memset(&work.outer[0], 0, n * n * sizeof(double))
    memcpy(&work.ending[length * n], &work.ended[length * n], n * sizeof(double))
    softmax(&work.ending[length * n], n)
    for t in range(length, 0, -1):
        if t < length:
            hand_down(work, t, tied)
        write_exponentials(work, local, t, True)
        exps = &work.exps[0]
        for k in range(n):
            if work.ending[t * n + k] > 0.0:
                exps = divide(work, t, k, exps, out, tied)
    add_inner(work, local, length, out)
    if tied != NULL:
        for k in range(n * n):
            tied[k] += work.outer[k] * work.exp_transition[k]
    return value


cdef void hand_down(SegmentWorkspace work, Py_ssize_t t, double* tied) noexcept nogil:
    """Write the posterior of what ends where segments begin, and add the transitions.

    Transitions that no sum of exponentials is of are added to ``tied``.
    """
    cdef Py_ssize_t j, k, n = work.n_types
    cdef const double* beginning = &work.beginning[t * n]
    cdef double* ending = &work.ending[t * n]
    cdef double* share = &work.terms[0]
    cdef double* row
    cdef double p
    if work.in_logs[t]:
        memset(ending, 0, n * sizeof(double))
        for k in range(n):
            if beginning[k] == 0.0:
                continue
            for j in range(n):
                p = beginning[k] * exp(
                    work.ended[t * n + j] + work.transition[j * n + k]
                    - work.reached[t * n + k]
                )
                ending[j] += p
                if tied != NULL:
                    tied[j * n + k] += p
        return
    for k in range(n):
        p = beginning[k]
        share[k] = p / work.sums[t * n + k] if p > 0.0 else 0.0
    for j in range(n):
        p = work.scaled[t * n + j]
        row = &work.outer[j * n]
        ending[j] = p * ops.dot(&work.exp_transition[j * n], share, n)
        ops.axpy(p, share, row, n)


cdef const double* divide(
    SegmentWorkspace work, Py_ssize_t end, Py_ssize_t k,
    const double* exps,             # in, the exponentials of the type
    double* out, double* tied,
) noexcept nogil:
    """Divide the posterior of an end among the segments that end there.

    Returns where the exponentials of the next type begin.
    """
    cdef Py_ssize_t n_types = work.n_types, count = work.counts[k]
    cdef double posterior = work.ending[end * n_types + k]
    cdef double* counts = NULL
    cdef double* segments = NULL
    cdef double p = posterior
    if tied != NULL:
        counts = tied + n_types * n_types + k * work.most - 1
    if work.rows is not None:
        segments = &work.segments[end * (work.most - 1) * n_types + k]
    if count > 1:
        posterior /= total(exps, count)
        p = posterior * exps[0] if exps[0] > FORBIDDEN else 0.0
    if p > 0.0:
        out[(end - 1) * work.n_labels + work.single[k]] += p
        work.beginning[(end - 1) * n_types + k] += p
        if counts != NULL:
            counts[1] += p
        if segments != NULL:
            segments[(end - 1) * n_types] = p
    if count == 1:
        return exps
    divide_longer(work, end, k, exps, posterior, out, counts, segments)
    return exps + count


cdef void divide_longer(
    SegmentWorkspace work, Py_ssize_t end, Py_ssize_t k,
    const double* exps,
    double posterior,               # of an end, over the sum of the exponentials
    double* out, double* counts, double* segments,
) noexcept nogil:
    """Add the posteriors of the segments of more than one token that end there."""
    cdef Py_ssize_t i, b, n = work.n_labels, n_types = work.n_types
    cdef Py_ssize_t begin = work.begins[k]
    cdef double* within = &work.within[k * work.stride]
    cdef double p, several = 0.0, inner = 0.0
    for i in range(1, work.counts[k]):
        if exps[i] <= FORBIDDEN:
            continue
        p = posterior * exps[i]
        b = begin + i - 1
        several += p
        out[b * n + work.first[k]] += p
        work.beginning[b * n_types + k] += p
        if b < end - 2:
            within[b + 1] += p
            inner += p
        if counts != NULL:
            counts[end - b] += p
        if segments != NULL:
            segments[b * n_types] = p
    if several > 0.0:
        out[(end - 1) * n + work.last[k]] += several
        within[end - 1] -= inner


cdef void add_inner(
    SegmentWorkspace work, const double* local, Py_ssize_t length, double* out
) noexcept nogil:
    """Add the posteriors of inner tokens, from their changes."""
    cdef Py_ssize_t t, k, label
    cdef double p
    for k in range(work.n_types):
        if work.longest[k] < 3:
            continue
        p = 0.0
        for t in range(length):
            p += work.within[k * work.stride + t]
            label = t * work.n_labels + work.inside[k]
            # By rounding it may be below 0, or above where the label is forbidden.
            if p > 0.0 and local[label] > -INFINITY:
                out[label] += p


cdef double segment_probability(
    SegmentWorkspace work, const double* local, Py_ssize_t begin, Py_ssize_t end,
    Py_ssize_t k,
) noexcept nogil:
    """Return the posterior of a segment; follows `segment_expectations`."""
    cdef Py_ssize_t first, i
    cdef Py_ssize_t count = write_terms(work, local, end, k, &work.terms[0], &first)
    i = 0 if begin == end - 1 else begin - first + 1
    if i < 0 or i >= count or (i == 0 and begin != end - 1):
        return 0.0
    if work.terms[i] == -INFINITY:
        return 0.0
    return work.ending[end * work.n_types + k] * exp(
        work.terms[i] - work.ended[end * work.n_types + k]
    )
