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
and of (h, m, s) for each word whose head is not the root. With S[h, m, s] = exp(score),

    arc_right[h, m] = A[h, m] (S[h, m, h] left[h + 1, m]
                               + sum_{h < s < m} arc_right[h, s] split[s, m] S[h, m, s])

and so to the left; spans that are complete are made as without siblings. The marginal
of a sibling is S[h, m, s] dZ / dS[h, m, s] / Z. The largest score of (h, m, s) over s
is taken out of them, and is one of the arc: all weights are at most 1 again.

References
----------
[1] Eisner, "Three new probabilistic models for dependency parsing: an exploration",
    COLING 1996.
[2] McDonald, Pereira, "Online learning of approximate dependency parsing algorithms",
    EACL 2006.
"""

from libc.math cimport INFINITY, exp, log
from libc.stdlib cimport labs
from libc.string cimport memcpy, memset

from ..features._sibling_rows cimport (
    first_sibling,
    least_sibling,
    number_of_siblings,
    place_in_tree,
)
from ._matrix_tree cimport largest_of
from ._spanning_trees cimport draw as draw_number

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
        self.out_right, self.out_left = np.empty((2, size))
        self.out_arc, self.out_split = np.empty((2, size))
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

        It takes at most 3n numbers, and there must be a tree.
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
        for i in range(1, size):
            right[i * size + i] = left[i * size + i] = self.one
        for width in range(1, self.n):
            for i in range(1, size - width):
                j = i + width
                self.join_arcs(i, j, self.dot(
                    right + i * size + i, 1, left + (i + 1) * size + j, size, width
                ))
                right[i * size + j] = self.dot(
                    &self.arc_right[i * size + i + 1], 1,
                    right + (i + 1) * size + j, size, width,
                )
                left[i * size + j] = self.dot(
                    left + i * size + i, 1, &self.arc_left[i * size + j], size, width
                )

    cdef void join_arcs(
        self, Py_ssize_t i, Py_ssize_t j, double split
    ) noexcept nogil:
        """Make the two incomplete spans of words i to j, given the sum of splits."""
        cdef Py_ssize_t ij = i * (self.n + 1) + j, ji = j * (self.n + 1) + i
        self.arc_right[ij] = self.times(split, self.weight[ij])
        self.arc_left[ij] = self.times(split, self.weight[ji])

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
            self.out_right[i] = self.out_left[i] = self.out_arc[i] = self.zero
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
        cdef Py_ssize_t i, j, ij, ji, width, n = self.n, size = n + 1
        cdef double* out_arc = &self.out_arc[0]
        for width in range(n - 1, -1, -1):
            for i in range(1, size - width):
                j = i + width
                self.add_out(i, j)
                if width == 0:
                    continue
                ij, ji = i * size + j, j * size + i
                out_arc[ij] = self.plus(out_arc[ij], self.dot(
                    &self.out_right[ij], 1, &self.right[j * size + j], 1, size - j
                ))
                out_arc[ji] = self.plus(out_arc[ji], self.dot(
                    &self.out_left[size + j], size, &self.left[size + i], size, i
                ))
                out[i * n + j - 1] = self.share(self.arc_right[ij], out_arc[ij])
                out[j * n + i - 1] = self.share(self.arc_left[ij], out_arc[ji])
                self.split_arcs(i, j)

    cdef void split_arcs(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        """Write the outside sum of the splits of words i to j."""
        cdef Py_ssize_t ij = i * (self.n + 1) + j, ji = j * (self.n + 1) + i
        self.out_split[ij] = self.plus(
            self.times(self.out_arc[ij], self.weight[ij]),
            self.times(self.out_arc[ji], self.weight[ji]),
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

    Scores of siblings stand as `first_sibling` says.
    """

    def __init__(self, Py_ssize_t n_words):
        super().__init__(n_words)
        size = (n_words + 1) ** 2
        self.arc, self.split, self.out_between = np.empty((3, size))
        self.arc_scores = np.empty((n_words + 1) * n_words)
        self.of_siblings = np.empty(max(number_of_siblings(n_words), 1))
        self.sibling = np.zeros(size, dtype=np.intc)
        self.place = np.zeros(size, dtype=np.intp)

    cdef void take(self, Py_ssize_t n) noexcept nogil:
        """Take a sentence of n words, for all other methods."""
        cdef Py_ssize_t h, m, first = 0
        for h in range(1, n + 1):
            for m in range(1, n + 1):
                self.place[h * (n + 1) + m] = first - least_sibling(h, m)
                first += labs(h - m)

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
                value += self.siblings[place_in_tree(n, heads, m + 1)]
        return value

    cdef void set_weights(self, const double* scores) noexcept nogil:
        """Write weights, of which the largest of arcs and of siblings are 1."""
        self.pair = self.siblings
        if self.mode == SUM:
            self.weigh_siblings(scores)
            scores, self.pair = &self.arc_scores[0], &self.of_siblings[0]
        Eisner.set_weights(self, scores)

    cdef void weigh_siblings(self, const double* scores) noexcept nogil:
        """Write weights of siblings, and scores of arcs with what these lack."""
        cdef Py_ssize_t h, m, k, first, size, n = self.n
        cdef double largest
        memcpy(&self.arc_scores[0], scores, (n + 1) * n * sizeof(double))
        for h in range(1, n + 1):
            for m in range(1, n + 1):
                largest = -INFINITY
                first, size = first_sibling(n, h, m), labs(h - m)
                for k in range(first, first + size):
                    largest = max(largest, self.siblings[k])
                if largest == -INFINITY:
                    largest = 0.0
                for k in range(first, first + size):
                    self.of_siblings[k] = exp(self.siblings[k] - largest)
                self.arc_scores[h * n + m - 1] += largest

    cdef void join_arcs(
        self, Py_ssize_t i, Py_ssize_t j, double split
    ) noexcept nogil:
        """Make the two incomplete spans of words i to j, given the sum of splits."""
        cdef Py_ssize_t size = self.n + 1, ij = i * size + j, ji = j * size + i
        self.split[ij] = self.split[ji] = split
        self.arc[ij] = self.arc_right[ij] = self.times(
            self.weight[ij], self.join_siblings(i, j, self.left[ij + size])
        )
        self.arc[ji] = self.arc_left[ij] = self.times(
            self.weight[ji], self.join_siblings(j, i, self.right[ij - 1])
        )

    cdef double join_siblings(
        self, Py_ssize_t h, Py_ssize_t m, double first
    ) noexcept nogil:
        """Sum up over siblings of m below h what is between both, or note the best one.

        ``first`` is what is between them without a sibling.
        """
        cdef Py_ssize_t s, n = self.n, begin = min(h, m) + 1, end = max(h, m)
        cdef Py_ssize_t best = h
        cdef const double* own = self.pair + self.place[h * (n + 1) + m]
        cdef const double* arc = &self.arc[h * (n + 1)]
        cdef const double* split = &self.split[m * (n + 1)]
        cdef double value = self.times(first, own[h]), largest = value, total
        if self.mode == SUM:
            for s in range(begin, end):
                value += arc[s] * split[s] * own[s]
            return value
        for s in range(begin, end):
            if arc[s] + split[s] + own[s] > largest:
                best, largest = s, arc[s] + split[s] + own[s]
        self.sibling[h * (n + 1) + m] = <int> best
        if self.mode == BEST or largest == -INFINITY:
            return largest
        total = exp(value - largest)
        for s in range(begin, end):
            total += exp(arc[s] + split[s] + own[s] - largest)
        return largest + log(total)

    cdef void split_root(self, double* out) noexcept nogil:
        """Write what the root adds to outside sums, and the marginals of its arcs."""
        cdef Py_ssize_t i
        for i in range((self.n + 1) ** 2):
            self.out_between[i] = self.zero
        Eisner.split_root(self, out)

    cdef void split_arcs(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        """Write the outside sum of the splits of words i to j, and split both arcs."""
        cdef Py_ssize_t size = self.n + 1, ij = i * size + j, ji = j * size + i
        self.out_split[ij] = self.plus(self.out_between[ij], self.out_between[ji])
        self.split_siblings(i, j, self.left[ij + size], &self.out_left[ij + size])
        self.split_siblings(j, i, self.right[ij - 1], &self.out_right[ij - 1])

    cdef void split_siblings(
        self, Py_ssize_t h, Py_ssize_t m, double first, double* out_first
    ) noexcept nogil:
        """Write the marginals of siblings of m below h; add what is between to sums.
        """
        cdef Py_ssize_t s, n = self.n, hm = h * (n + 1) + m
        cdef Py_ssize_t at = self.place[h * (n + 1) + m]
        cdef double around = self.times(self.out_arc[hm], self.weight[hm]), own
        cdef const double* arc = &self.arc[h * (n + 1)]
        cdef const double* split = &self.split[m * (n + 1)]
        cdef double* out_arc = &self.out_arc[h * (n + 1)]
        cdef double* out_between = &self.out_between[m * (n + 1)]
        own = self.times(around, self.pair[at + h])
        self.of_siblings[at + h] = self.share(first, own)
        out_first[0] = self.plus(out_first[0], own)
        for s in range(min(h, m) + 1, max(h, m)):
            own = self.times(around, self.pair[at + s])
            self.of_siblings[at + s] = self.share(self.times(arc[s], split[s]), own)
            out_arc[s] = self.plus(out_arc[s], self.times(own, split[s]))
            out_between[s] = self.plus(out_between[s], self.times(own, arc[s]))

    cdef void trace_arc(
        self, bint is_right, Py_ssize_t i, Py_ssize_t j, int* heads, Py_ssize_t* n_todo
    ) noexcept nogil:
        """Take what is between two words that an arc joins, one sibling after another.
        """
        cdef Py_ssize_t h = i if is_right else j, m = j if is_right else i, s
        while True:
            s = self.pick_sibling(h, m)
            if s == h:
                break
            heads[s - 1] = <int> h
            self.trace_split(min(s, m), max(s, m), n_todo)
            m = s
        if is_right:
            self.push(False, h + 1, m, n_todo)
        else:
            self.push(True, m, h - 1, n_todo)

    cdef Py_ssize_t pick_sibling(self, Py_ssize_t h, Py_ssize_t m) noexcept nogil:
        """Return the best sibling of m below h, or one that is drawn by marginals."""
        cdef Py_ssize_t first = first_sibling(self.n, h, m), found
        if self.mode == BEST:
            return self.sibling[h * (self.n + 1) + m]
        found = draw_number(
            &self.of_siblings[first], labs(h - m), 1, self.uniform[0]
        )
        self.uniform += 1
        return found + (h if h < m else m + 1)
