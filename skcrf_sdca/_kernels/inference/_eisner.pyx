"""Projective trees in O(n^3): sums, marginals, the best tree, draws [1].

A tree is projective if all words between a head and its word are below that head. Spans
of words i <= j are complete, with all of them below the first word (right) or the last
one (left), or incomplete, two words that an arc will join and what is between them.
With the weights A[h, m] = exp(score) of arcs,

    split[i, j] = sum_{i <= k < j} right[i, k] left[k + 1, j]
    right[i, j] = sum_{i < k <= j} split[i, k] A[i, k] right[k, j]
    left[i, j]  = sum_{i <= k < j} left[i, k] split[k, j] A[j, k]

and right[i, i] = left[i, i] = 1. The words up to j and the root have

    below[k]  = A[0, k] sum_{m < k} before[m] left[m + 1, k]
    before[j] = sum_{k <= j} below[k] right[k, j],    before[0] = 1,  Z = before[n]

where k is the last word below the root; with one word alone below it, m = 0. Each tree
is made in one way. Outside sums are the derivatives of Z by these numbers, and the
marginal of an arc is A[h, m] dZ / dA[h, m] / Z.

With the largest score of each word taken out, weights are at most 1, and sums are made
of them as they are. All numbers are logarithms where Z is outside of the range in which
nothing of it is lost to underflow.

The sibling of a word m with head h is the word s nearest to it, between h and m, that
has the head h too; without one it is h itself [2]. A tree has the scores of its arcs,
and of (h, m, s) for each word whose head is not the root. With logarithms, the largest
in place of a sum,

    arc_right[h, m] = A[h, m] + max(S[h, m, h] + left[h + 1, m],
                                    max_s arc_right[h, s] + split[s, m] + S[h, m, s])

and so to the left; spans that are complete are made as without siblings.

References
----------
[1] Eisner, "Three new probabilistic models for dependency parsing: an exploration",
    COLING 1996.
[2] McDonald, Pereira, "Online learning of approximate dependency parsing algorithms",
    EACL 2006.
"""

from libc.math cimport INFINITY, exp, log
from libc.string cimport memset

from ._matrix_tree cimport largest_of

import numpy as np

# Of Z, with weights of at most 1: trees of weight 1e-300 have no digit of it, and there
# are at most 6.75^n trees.
cdef double SMALLEST = 1e-200, LARGEST = 1e200


cdef class Eisner:
    """Passes over one sentence of at most ``n_words`` words after another.

    Scores are an array (n + 1, n): of arcs from node h, 0 for the root, to the word m,
    counted from 0. They are -inf where an arc is not allowed.
    """

    def __init__(self, Py_ssize_t n_words):
        size = (n_words + 1) ** 2
        self.weight, self.right, self.left = np.empty((3, size))
        self.arc_right, self.arc_left = np.empty((2, size))
        self.out_right, self.out_left, self.out_split = np.empty((3, size))
        self.before, self.below, self.out_before, self.out_gap = np.empty(
            (4, n_words + 1)
        )
        self.todo = np.empty(3 * (3 * n_words + 1), dtype=np.intc)

    cdef double solve(
        self, const double* scores, Py_ssize_t n, bint single, int* heads
    ) noexcept nogil:
        """Write the heads of the best tree, 0 for the root; return its score."""
        cdef Py_ssize_t m
        cdef double value = 0.0
        memset(heads, 0, n * sizeof(int))
        if self.inside(scores, n, single, BEST) == -INFINITY:
            return -INFINITY
        self.trace(heads)
        for m in range(n):
            value += scores[heads[m] * n + m]
        return value

    cdef Py_ssize_t best_other(
        self, const double* scores, Py_ssize_t n, bint single, const int* heads,
        double* out
    ) noexcept nogil:
        """Return an arc that the best tree but this one has, and this one has not.

        It is -1 without another tree. ``out`` has the score of the best tree that has
        each arc (n + 1, n).
        """
        cdef Py_ssize_t a, best = -1
        for a in range(n * (n + 1)):
            out[a] = -INFINITY
        if self.inside(scores, n, single, BEST) == -INFINITY:
            return -1
        self.split_root(out)
        self.split_words(out)
        for a in range(n * (n + 1)):
            if heads[a % n] != a // n and out[a] > -INFINITY:
                if best < 0 or out[a] > out[best]:
                    best = a
        return best

    cdef double log_partition(
        self, const double* scores, Py_ssize_t n, bint single
    ) noexcept nogil:
        """Return log Z, -inf without a tree."""
        cdef double z = self.inside(scores, n, single, SUM)
        if not SMALLEST <= z <= LARGEST:
            self.inside(scores, n, single, LOG_SUM)
        return self.value()

    cdef double expect(
        self, const double* scores, Py_ssize_t n, bint single, double* out
    ) noexcept nogil:
        """Write the marginals of arcs (n + 1, n), 0 without a tree; return log Z."""
        cdef double log_z = self.log_partition(scores, n, single)
        memset(out, 0, (n + 1) * n * sizeof(double))
        if n > 0 and log_z > -INFINITY:
            self.split_root(out)
            self.split_words(out)
        return log_z

    cdef void draw(self, const double* uniform, int* heads) noexcept nogil:
        """Write the heads of a tree drawn by the sums of the last sentence.

        It takes at most 2n numbers, and there must be a tree.
        """
        self.uniform = uniform
        self.trace(heads)

    # --- inside

    cdef double inside(
        self, const double* scores, Py_ssize_t n, bint single, Mode mode
    ) noexcept nogil:
        """Take scores, and make all spans; return Z, or its logarithm."""
        self.n, self.single, self.mode = n, single, mode
        self.zero, self.one = 0.0, 1.0
        if mode != SUM:
            self.zero, self.one = -INFINITY, 0.0
        self.set_weights(scores)
        self.join_words()
        self.join_root()
        return self.before[n]

    cdef void set_weights(self, const double* scores) noexcept nogil:
        """Write weights of arcs, of which the largest into each word is 1."""
        cdef Py_ssize_t h, m, n = self.n, size = n + 1
        cdef double largest, score
        self.offset = 0.0
        for m in range(n):
            largest = 0.0 if self.mode == BEST else largest_of(scores, n, m)
            if largest == -INFINITY:
                largest = 0.0
            self.offset += largest
            for h in range(n + 1):
                score = scores[h * n + m] - largest
                if self.mode == SUM:
                    score = exp(score)
                self.weight[h * size + m + 1] = score

    cdef void join_words(self) noexcept nogil:
        """Make the spans of words, the short ones first."""
        cdef Py_ssize_t i, j, width, size = self.n + 1
        cdef double* right = &self.right[0]
        cdef double* left = &self.left[0]
        cdef double split
        cdef double* arc_right = &self.arc_right[0]
        cdef double* arc_left = &self.arc_left[0]
        for i in range(1, size):
            right[i * size + i] = left[i * size + i] = self.one
        for width in range(1, self.n):
            for i in range(1, size - width):
                j = i + width
                split = self.dot(
                    right + i * size + i, 1, left + (i + 1) * size + j, size, width
                )
                arc_right[i * size + j] = self.times(split, self.weight[i * size + j])
                arc_left[i * size + j] = self.times(split, self.weight[j * size + i])
                right[i * size + j] = self.dot(
                    arc_right + i * size + i + 1, 1,
                    right + (i + 1) * size + j, size, width,
                )
                left[i * size + j] = self.dot(
                    left + i * size + i, 1, arc_left + i * size + j, size, width
                )

    cdef void join_root(self) noexcept nogil:
        """Join the words and the root."""
        cdef Py_ssize_t k, n = self.n, size = n + 1
        self.before[0] = self.one
        for k in range(1, size):
            self.below[k] = self.times(
                self.weight[k],
                self.dot(
                    &self.before[0], 1, &self.left[size + k], size,
                    1 if self.single else k,
                ),
            )
            self.before[k] = self.zero
            if k == n or not self.single:
                self.before[k] = self.dot(
                    &self.below[1], 1, &self.right[size + k], size, k
                )

    cdef double value(self) noexcept nogil:
        """Return log Z."""
        cdef double z = self.before[self.n]
        return (log(z) if self.mode == SUM else z) + self.offset

    # --- outside

    cdef void split_root(self, double* out) noexcept nogil:
        """Write what the root adds to outside sums, and the marginals of its arcs."""
        cdef Py_ssize_t i, j, k, m, n = self.n, size = n + 1
        cdef double* out_before = &self.out_before[0]
        cdef double* out_gap = &self.out_gap[0]
        cdef double out_below
        for i in range(size * size):
            self.out_right[i] = self.out_left[i] = self.zero
        for k in range(n, 0, -1):
            out_before[k] = self.one if k == n else self.zero
            if k < n and not self.single:
                out_before[k] = self.dot(
                    out_gap + k + 1, 1, &self.left[(k + 1) * size + k + 1], 1, n - k
                )
            out_below = self.dot(
                out_before + k, 1, &self.right[k * size + k], 1, size - k
            )
            out[k - 1] = self.share(self.below[k], out_below)
            out_gap[k] = self.times(out_below, self.weight[k])
            for j in range(k, size):
                self.out_right[k * size + j] = self.times(
                    out_before[j], self.below[k]
                )
            for m in range(1 if self.single else k):
                self.out_left[(m + 1) * size + k] = self.times(
                    out_gap[k], self.before[m]
                )

    cdef void split_words(self, double* out) noexcept nogil:
        """Add to outside sums the longer spans that a span is in, the long ones first.

        Each incomplete span is one arc, whose marginal is written.
        """
        cdef Py_ssize_t i, j, width, n = self.n, size = n + 1
        cdef double* out_right = &self.out_right[0]
        cdef double* out_left = &self.out_left[0]
        cdef double* out_split = &self.out_split[0]
        cdef double out_arc_right, out_arc_left
        for width in range(n - 1, -1, -1):
            for i in range(1, size - width):
                j = i + width
                self.add_out(i, j)
                if width == 0:
                    continue
                out_arc_right = self.dot(
                    out_right + i * size + j, 1, &self.right[j * size + j], 1, size - j
                )
                out_arc_left = self.dot(
                    out_left + size + j, size, &self.left[size + i], size, i
                )
                out[i * n + j - 1] = self.share(
                    self.arc_right[i * size + j], out_arc_right
                )
                out[j * n + i - 1] = self.share(
                    self.arc_left[i * size + j], out_arc_left
                )
                out_split[i * size + j] = self.plus(
                    self.times(out_arc_right, self.weight[i * size + j]),
                    self.times(out_arc_left, self.weight[j * size + i]),
                )

    cdef void add_out(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        """Add to outside sums of the complete spans of words i to j."""
        cdef Py_ssize_t n = self.n, size = n + 1, ij = i * size + j
        if j < n:
            self.out_right[ij] = self.plus(self.out_right[ij], self.dot(
                &self.out_split[ij + 1], 1, &self.left[(j + 1) * size + j + 1], 1, n - j
            ))
            self.out_left[ij] = self.plus(self.out_left[ij], self.dot(
                &self.out_left[ij + 1], 1, &self.arc_left[j * size + j + 1], 1, n - j
            ))
        if i > 1:
            self.out_right[ij] = self.plus(self.out_right[ij], self.dot(
                &self.out_right[size + j], size, &self.arc_right[size + i], size, i - 1
            ))
            self.out_left[ij] = self.plus(self.out_left[ij], self.dot(
                &self.out_split[size + j], size, &self.right[size + i - 1], size, i - 1
            ))

    cdef double share(self, double inside, double outside) noexcept nogil:
        """Return which share of Z the trees with a span have, or the best score."""
        cdef double z = self.before[self.n]
        if self.mode == SUM:
            return inside * outside / z
        if self.mode == BEST:
            return inside + outside
        return exp(inside + outside - z)

    # --- one tree: the best one, or one that is drawn

    cdef void trace(self, int* heads) noexcept nogil:
        """Write the heads of a tree, from the root to its leaves."""
        cdef Py_ssize_t i, j, k, size = self.n + 1, n_todo = 0
        cdef bint is_right
        self.trace_root(heads, &n_todo)
        while n_todo > 0:
            n_todo -= 1
            is_right = self.todo[3 * n_todo]
            i, j = self.todo[3 * n_todo + 1], self.todo[3 * n_todo + 2]
            if i == j:
                continue
            if is_right:
                k = i + 1 + self.pick(
                    &self.arc_right[i * size + i + 1], 1,
                    &self.right[(i + 1) * size + j], size, j - i,
                )
                heads[k - 1] = i
                self.push(True, k, j, &n_todo)
                self.trace_arc(True, i, k, heads, &n_todo)
            else:
                k = i + self.pick(
                    &self.left[i * size + i], 1, &self.arc_left[i * size + j], size,
                    j - i,
                )
                heads[k - 1] = j
                self.push(False, i, k, &n_todo)
                self.trace_arc(False, k, j, heads, &n_todo)

    cdef void trace_root(self, int* heads, Py_ssize_t* n_todo) noexcept nogil:
        """Write the words below the root, from the last to the first."""
        cdef Py_ssize_t k, m = self.n, size = self.n + 1
        while m > 0:
            k = 1 + self.pick(&self.below[1], 1, &self.right[size + m], size, m)
            heads[k - 1] = 0
            self.push(True, k, m, n_todo)
            m = self.pick(
                &self.before[0], 1, &self.left[size + k], size,
                1 if self.single else k,
            )
            self.push(False, m + 1, k, n_todo)

    cdef void trace_arc(
        self, bint is_right, Py_ssize_t i, Py_ssize_t j, int* heads, Py_ssize_t* n_todo
    ) noexcept nogil:
        """Take what is between two words that an arc joins."""
        self.trace_split(i, j, n_todo)

    cdef void trace_split(
        self, Py_ssize_t i, Py_ssize_t j, Py_ssize_t* n_todo
    ) noexcept nogil:
        """Take a split of the words from one to another."""
        cdef Py_ssize_t size = self.n + 1
        cdef Py_ssize_t k = i + self.pick(
            &self.right[i * size + i], 1, &self.left[(i + 1) * size + j], size, j - i
        )
        self.push(True, i, k, n_todo)
        self.push(False, k + 1, j, n_todo)

    cdef void push(
        self, int is_right, Py_ssize_t i, Py_ssize_t j, Py_ssize_t* n_todo
    ) noexcept nogil:
        """Note a complete span whose words need heads."""
        cdef Py_ssize_t k = 3 * n_todo[0]
        self.todo[k], self.todo[k + 1], self.todo[k + 2] = is_right, i, j
        n_todo[0] += 1

    # --- numbers of a mode

    cdef double plus(self, double a, double b) noexcept nogil:
        cdef double largest
        if self.mode == SUM:
            return a + b
        largest = max(a, b)
        if self.mode == BEST or largest == -INFINITY:
            return largest
        return largest + log(exp(a - largest) + exp(b - largest))

    cdef double times(self, double a, double b) noexcept nogil:
        return a * b if self.mode == SUM else a + b

    cdef double dot(
        self, const double* a, Py_ssize_t step_a, const double* b, Py_ssize_t step_b,
        Py_ssize_t size,
    ) noexcept nogil:
        """Return the sum over k of a[k] b[k]."""
        cdef Py_ssize_t k
        cdef double total = 0.0, largest = -INFINITY
        if self.mode == SUM:
            for k in range(size):
                total += a[k * step_a] * b[k * step_b]
            return total
        for k in range(size):
            largest = max(largest, a[k * step_a] + b[k * step_b])
        if self.mode == BEST or largest == -INFINITY:
            return largest
        for k in range(size):
            total += exp(a[k * step_a] + b[k * step_b] - largest)
        return largest + log(total)

    cdef Py_ssize_t pick(
        self, const double* a, Py_ssize_t step_a, const double* b, Py_ssize_t step_b,
        Py_ssize_t size,
    ) noexcept nogil:
        """Return the first k of largest a[k] b[k], or one that is drawn by them."""
        cdef Py_ssize_t k, found = 0
        cdef double total = self.dot(a, step_a, b, step_b, size), left = 0.0, number
        if self.mode != BEST:
            left = self.uniform[0] * (total if self.mode == SUM else 1.0)
            self.uniform += 1
        for k in range(size):
            number = self.times(a[k * step_a], b[k * step_b])
            if self.mode == BEST:
                if number == total:
                    return k
                continue
            number = number if self.mode == SUM else exp(number - total)
            if number > 0.0:
                found, left = k, left - number
                if left < 0.0:
                    break
        return found


cdef class SiblingEisner(Eisner):
    """Passes over one sentence of at most ``n_words`` words after another.

    Scores of siblings are an array (n, n, n), ``[h, m, s]`` of words counted from 0.
    """

    def __init__(self, Py_ssize_t n_words):
        super().__init__(n_words)
        size = (n_words + 1) ** 2
        self.split = np.empty(size)
        self.sibling = np.zeros(size, dtype=np.intc)

    cdef double solve(
        self, const double* scores, Py_ssize_t n, bint single, int* heads
    ) noexcept nogil:
        """Write the heads of the best tree, 0 for the root; return its score."""
        cdef double value = Eisner.solve(self, scores, n, single, heads)
        if value == -INFINITY:
            return value
        return value + self.score_of_siblings(n, heads)

    cdef double score_of_siblings(
        self, Py_ssize_t n, const int* heads
    ) noexcept nogil:
        """Return the score of the siblings of all words of a tree."""
        cdef Py_ssize_t m
        cdef double value = 0.0
        for m in range(n):
            if heads[m] > 0:
                value += self.siblings[
                    ((heads[m] - 1) * n + m) * n + sibling_of(heads, m + 1) - 1
                ]
        return value

    cdef void join_words(self) noexcept nogil:
        """Make the spans of words, the short ones first."""
        cdef Py_ssize_t i, j, width, ij, size = self.n + 1
        cdef double* right = &self.right[0]
        cdef double* left = &self.left[0]
        for i in range(1, size):
            right[i * size + i] = left[i * size + i] = 0.0
        for width in range(1, self.n):
            for i in range(1, size - width):
                j = i + width
                ij = i * size + j
                self.split[ij] = self.dot(
                    right + i * size + i, 1, left + (i + 1) * size + j, size, width
                )
                self.arc_right[ij] = self.weight[ij] + self.join_siblings(
                    i, j, left[(i + 1) * size + j]
                )
                self.arc_left[ij] = self.weight[j * size + i] + self.join_siblings(
                    j, i, right[i * size + j - 1]
                )
                right[ij] = self.dot(
                    &self.arc_right[ij] - width + 1, 1,
                    right + (i + 1) * size + j, size, width,
                )
                left[ij] = self.dot(
                    left + i * size + i, 1, &self.arc_left[ij], size, width
                )

    cdef double join_siblings(
        self, Py_ssize_t h, Py_ssize_t m, double first
    ) noexcept nogil:
        """Choose the sibling of m below h; ``first`` is what is between, without one.

        Return the score of all between them, and of the sibling.
        """
        cdef Py_ssize_t s, n = self.n, size = n + 1, best = h
        cdef const double* own = self.siblings + ((h - 1) * n + m - 1) * n - 1
        cdef double value = first + own[h], other
        if h < m:
            for s in range(h + 1, m):
                other = (
                    self.arc_right[h * size + s] + self.split[s * size + m] + own[s]
                )
                if other > value:
                    best, value = s, other
        else:
            for s in range(m + 1, h):
                other = self.arc_left[s * size + h] + self.split[m * size + s] + own[s]
                if other > value:
                    best, value = s, other
        self.sibling[h * size + m] = <int> best
        return value

    cdef void trace_arc(
        self, bint is_right, Py_ssize_t i, Py_ssize_t j, int* heads, Py_ssize_t* n_todo
    ) noexcept nogil:
        """Take what is between two words that an arc joins, one sibling after another.
        """
        cdef Py_ssize_t h = i if is_right else j, m = j if is_right else i, s
        while True:
            s = self.sibling[h * (self.n + 1) + m]
            if s == h:
                break
            heads[s - 1] = <int> h
            self.trace_split(min(s, m), max(s, m), n_todo)
            m = s
        if is_right:
            self.push(False, h + 1, m, n_todo)
        else:
            self.push(True, m, h - 1, n_todo)


cdef Py_ssize_t sibling_of(const int* heads, Py_ssize_t m) noexcept nogil:
    """Return the sibling of word m, its head if there is none; words count from 1."""
    cdef Py_ssize_t h = heads[m - 1], step = 1 if h > m else -1, s = m + step
    while s != h and heads[s - 1] != h:
        s += step
    return s
