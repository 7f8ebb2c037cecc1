"""Sums over the spanning trees of a sentence, without a subtraction.

A tree gives each of n words a head: another word, or the root 0, so that all words are
below the root. With the scores s[h, m] of the arcs from head h to word m, and weights
A = exp(s),

    Z = sum over trees of prod over words m of A[head(m), m],

over all trees, or over those with one word below the root. By the matrix-tree theorem
[1, 2] Z is a determinant, and the marginals of arcs are numbers of an inverse; but both
are differences that have no digit left if two words prefer each other by 35 nats. The
weights are here rates of a walk from words to heads, and words are eliminated as states
of this walk [3]: with the weights W[j, i] of the arcs from j to the words i that are
left, and k[j] of the arc to the root,

    d_j = sum_i W[j, i] + k[j],    f_i = W[i, j] / d_j,
    W[i, .] += f_i W[j, .],    k[i] += f_i k[j],    log Z = sum_j log d_j.

With one word below the root alone the k[j] are left out of the d_j of all words but the
last: that is the part of Z which is linear in k. Marginals follow from walks [4],

    mu[h, m] = A[h, m] e_m[h] / sum_h' A[h', m] e_m[h'],    e_m[0] = 1,

where e_m[h] is the probability that a walk from h is at the root before it is at m; or,
with one word below the root, the expected sum of k over the words that it visits before
m. When all words but m are eliminated, e_m follows by substitution:

    e_m[j] = (k[j] + sum_i W[j, i] e_m[i]) / d_j,    e_m[m] = 0.

That is done for all m in O(n^3) by halves: the words of one half are eliminated once
for all m of the other, where the same is done again. All terms are positive, so that
all numbers have a small relative error, whatever the scores are.

Weights are scaled so that the largest of each word is 1. If rates are too small for
floats all the same, the same is done with logarithms. There one word below the root is
had by a factor of k that is so small that other trees do not count.

References
----------
[1] Koo, Globerson, Carreras, Collins, "Structured prediction models via the matrix-tree
    theorem", EMNLP-CoNLL 2007.
[2] Smith, Smith, "Probabilistic models of nonprojective dependency trees", 2007.
[3] Grassmann, Taksar, Heyman, "Regenerative analysis and steady state distributions for
    Markov chains", Operations Research 33, 1985.
[4] Wilson, "Generating random spanning trees more quickly than the cover time", STOC
    1996.
"""

from libc.math cimport INFINITY, exp, log, log1p
from libc.string cimport memcpy, memset

from ..math._vecmath cimport ops

import numpy as np

# Smaller rates are kept as logarithms: sums of what floats lose, of 1e-308 each, are
# still nothing beside them.
cdef double SMALLEST = 1e-150


cdef class MatrixTree:
    """The buffers for sentences of up to ``longest`` words.

    Scores are numbers [h, m] of shape (n + 1, n): head 0 is the root, and head h is
    word m = h - 1. They are -inf for forbidden arcs, and from a word to itself.

    Parameters
    ----------
    longest : int
    """

    def __init__(self, Py_ssize_t longest):
        self.weight, self.reach = np.empty((2, longest * longest))
        self.root = np.empty(longest)
        # A level has half of the words of the one above, and the odd one.
        self.copies = np.empty(2 * longest * longest + 8 * longest + 16)

    cdef double log_partition(
        self, const double* scores, Py_ssize_t n, bint single
    ) noexcept nogil:
        """Return log Z, -inf without a tree."""
        cdef double offset = self.set_weights(scores, n, single, False)
        if offset > -INFINITY and not self.sum_up():
            offset = self.set_weights(scores, n, single, True)
            self.sum_up()
        return self.value(offset)

    cdef double expect(
        self, const double* scores, Py_ssize_t n, bint single, double* out
    ) noexcept nogil:
        """Write the marginals of arcs (n + 1, n), 0 without a tree; return log Z."""
        cdef double offset = self.set_weights(scores, n, single, False)
        memset(out, 0, (n + 1) * n * sizeof(double))
        if offset > -INFINITY and not (self.set_reach() and self.normalise(out)):
            offset = self.set_weights(scores, n, single, True)
            if self.set_reach() and self.value(offset) > -INFINITY:
                self.normalise(out)
        return self.value(offset)

    cdef double set_weights(
        self, const double* scores, Py_ssize_t n, bint single, bint logs
    ) noexcept nogil:
        """Take scores; return what the logarithms of the weights of trees lack.

        That is -inf if a word has no head, or no word may be below the root.
        """
        cdef Py_ssize_t h, m
        cdef double largest, offset = 0.0, spread = 0.0, of_root = -INFINITY
        self.n, self.logs, self.kills = n, logs, logs or not single
        self.log_z, self.least = 0.0, -INFINITY
        self.smallest = -INFINITY if logs else SMALLEST
        for m in range(n):
            largest = largest_of(scores, n, m)
            if largest == -INFINITY:
                return -INFINITY
            offset += largest
            spread += largest - least_of(scores, n, m)
            self.root[m] = scores[m] - largest
            of_root = max(of_root, self.root[m])
            for h in range(n):
                self.weight[m * n + h] = scores[(h + 1) * n + m] - largest
        if of_root == -INFINITY:
            return -INFINITY
        if not single:
            of_root = 0.0
        elif logs:
            # A tree with one arc from the root has at least the weight exp(-of_root -
            # spread), and all others have not exp(-750) of that, which is no float.
            of_root = spread + n * log(n + 1.0) + 750.0
            self.least = -of_root - spread - 375.0
        for m in range(n):
            self.root[m] -= of_root
        if not logs:
            exp_of(&self.root[0], n)
            exp_of(&self.weight[0], n * n)
        return offset + of_root

    cdef double value(self, double offset) noexcept nogil:
        """Return log Z, given what the weights lack."""
        if offset == -INFINITY or not self.log_z >= self.least:
            return -INFINITY
        return self.log_z + offset

    cdef Rates rates(self) noexcept nogil:
        """Return the rates of all words."""
        return Rates(&self.weight[0], &self.root[0], self.n, 0)

    cdef bint sum_up(self) noexcept nogil:
        """Eliminate all words but word 0; return whether no rate is too small."""
        cdef Py_ssize_t j
        cdef Rates rates = self.rates()
        for j in range(self.n - 1, 0, -1):
            if not self.take(self.eliminate(rates, j, 0, j), True):
                return False
        return self.take(self.root[0], True)

    cdef bint take(self, double rate, bint counts) noexcept nogil:
        """Return whether a rate is not too small; if it counts, it is part of log Z."""
        if not rate > self.smallest:
            self.log_z = -INFINITY
            return False
        if counts:
            self.log_z += rate if self.logs else log(rate)
        return True

    cdef bint set_reach(self) noexcept nogil:
        """Write the expectations of walks, and log Z, as `split` does."""
        return self.split(self.rates(), self.n, &self.copies[0])

    cdef bint split(
        self, Rates rates, Py_ssize_t size, double* spare
    ) noexcept nogil:
        """Write the expectations of walks until each word of the rates.

        log Z is summed where the first of them is word 0. Returns whether no rate is
        too small.
        """
        cdef Py_ssize_t half = size // 2
        cdef Rates copy = Rates(spare, spare + size * size, size, rates.first)
        if size == 1:
            self.reach[rates.first * (self.n + 1)] = -INFINITY if self.logs else 0.0
            return self.take(rates.root[0], True) if rates.first == 0 else True
        spare += size * (size + 1)
        copy_rates(rates, copy)
        if not self.keep(copy, 0, half, spare):
            return False
        copy_rates(rates, copy)
        return self.keep(copy, half, size, spare)

    cdef bint keep(
        self, Rates rates, Py_ssize_t begin, Py_ssize_t end, double* spare
    ) noexcept nogil:
        """Eliminate the words of one half, `split` the other, and substitute.

        The words from begin to end are kept; the rates are changed.
        """
        cdef Py_ssize_t size = rates.stride, step, j, m, n_gone = size - (end - begin)
        cdef bint last = begin == 0         # whether the last words are eliminated
        cdef double rate
        cdef Rates kept = Rates(
            rates.weight + begin * (size + 1), rates.root + begin, size,
            rates.first + begin,
        )
        for step in range(n_gone):
            j = size - 1 - step if last else step
            rate = self.eliminate(rates, j, 0 if last else j + 1, j if last else size)
            if not self.take(rate, last and rates.first == 0):
                return False
        if not self.split(kept, end - begin, spare):
            return False
        for step in range(n_gone - 1, -1, -1):
            j = size - 1 - step if last else step
            for m in range(begin, end):
                self.substitute(rates, j, m, 0 if last else j + 1, j if last else size)
        return True

    cdef double eliminate(
        self, Rates rates, Py_ssize_t j, Py_ssize_t begin, Py_ssize_t end
    ) noexcept nogil:
        """Eliminate word j, of which the words from begin to end are left.

        Its rate is returned, and kept in the place of the weight of j as its own head.
        """
        cdef Py_ssize_t i, s = rates.stride, n = end - begin
        cdef double* row = rates.weight + j * s
        cdef double rate, factor
        if self.logs:
            rate = log_inner(row + begin, NULL, n, rates.root[j])
        else:
            rate = sum_of(row + begin, n, rates.root[j] if self.kills else 0.0)
        row[j] = rate
        if not rate > self.smallest:
            return rate
        for i in range(begin, end):
            factor = rates.weight[i * s + j]
            if self.logs:
                factor -= rate
                log_add(factor, row + begin, rates.weight + i * s + begin, n)
                log_add(factor, rates.root + j, rates.root + i, 1)
            else:
                factor /= rate
                ops.axpy(factor, row + begin, rates.weight + i * s + begin, n)
                rates.root[i] += factor * rates.root[j]
        return rate

    cdef void substitute(
        self, Rates rates, Py_ssize_t j, Py_ssize_t m, Py_ssize_t begin, Py_ssize_t end
    ) noexcept nogil:
        """Write the expectation of a walk from word j until m, of those left at j."""
        cdef const double* row = rates.weight + j * rates.stride
        cdef double* reach = (
            &self.reach[0] + (rates.first + m) * self.n + rates.first
        )
        if self.logs:
            reach[j] = log_inner(row + begin, reach + begin, end - begin, rates.root[j])
            reach[j] -= row[j]
        else:
            reach[j] = rates.root[j] + ops.dot(
                row + begin, reach + begin, end - begin
            )
            reach[j] /= row[j]

    cdef bint normalise(self, double* out) noexcept nogil:
        """Write marginals; return whether the numbers are in the range of floats."""
        cdef Py_ssize_t h, m, n = self.n
        cdef double total
        cdef const double* weight = &self.weight[0]
        cdef const double* reach = &self.reach[0]
        for m in range(n):
            if self.logs:
                total = log_inner(weight, reach, n, self.root[m])
                out[m] = exp(self.root[m] - total)
            else:
                total = self.root[m] + ops.dot(weight, reach, n)
                if not SMALLEST < total < INFINITY:
                    return False
                out[m] = self.root[m] / total
            for h in range(n):
                if self.logs:
                    out[(h + 1) * n + m] = exp(weight[h] + reach[h] - total)
                else:
                    out[(h + 1) * n + m] = weight[h] * reach[h] / total
            weight += n
            reach += n
        return True


cdef double largest_of(
    const double* scores, Py_ssize_t n, Py_ssize_t m
) noexcept nogil:
    """Return the largest score of an arc into word m."""
    cdef Py_ssize_t h
    cdef double largest = -INFINITY
    for h in range(n + 1):
        largest = max(largest, scores[h * n + m])
    return largest


cdef double least_of(
    const double* scores, Py_ssize_t n, Py_ssize_t m
) noexcept nogil:
    """Return the smallest score of an arc into word m that is allowed."""
    cdef Py_ssize_t h
    cdef double least = INFINITY
    for h in range(n + 1):
        if scores[h * n + m] > -INFINITY:
            least = min(least, scores[h * n + m])
    return least


cdef void exp_of(double* x, Py_ssize_t n) noexcept nogil:
    """Replace numbers by their exponentials, exactly 0 for -inf."""
    cdef Py_ssize_t i
    for i in range(n):
        x[i] = exp(x[i])


cdef void copy_rates(Rates rates, Rates out) noexcept nogil:
    """Copy the rates of as many words as ``out`` has."""
    cdef Py_ssize_t j, size = out.stride
    memcpy(out.root, rates.root, size * sizeof(double))
    for j in range(size):
        memcpy(
            out.weight + j * size, rates.weight + j * rates.stride,
            size * sizeof(double),
        )


cdef double sum_of(const double* x, Py_ssize_t n, double start) noexcept nogil:
    """Return the sum of some numbers."""
    cdef Py_ssize_t i
    for i in range(n):
        start += x[i]
    return start


cdef void log_add(
    double factor, const double* x, double* y, Py_ssize_t n
) noexcept nogil:
    """Write log(exp(y) + exp(factor + x)) into y."""
    cdef Py_ssize_t i
    cdef double added
    for i in range(n):
        added = factor + x[i]
        if added > y[i]:
            added, y[i] = y[i], added
        if added > -INFINITY:
            y[i] += log1p(exp(added - y[i]))


cdef double log_inner(
    const double* x, const double* y, Py_ssize_t n, double start
) noexcept nogil:
    """Return log(exp(start) + sum exp(x + y)), x alone if y is NULL."""
    cdef Py_ssize_t i
    cdef double largest = start, total = 0.0, value
    for i in range(n):
        value = x[i] if y == NULL else x[i] + y[i]
        largest = max(largest, value)
    if largest == -INFINITY:
        return largest
    for i in range(n):
        total += exp((x[i] if y == NULL else x[i] + y[i]) - largest)
    return largest + log(exp(start - largest) + total)
