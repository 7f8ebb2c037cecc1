"""Dependency trees as an Inference: positions are arcs.

A sentence of n words has the n (n + 1) arcs h * n + m from head h, 0 for the root, to
word m, counted from 0. The label 0 of an arc says that it is not in the tree, and label
l > 0 that it is, with relation l. The score of a labelling that is no tree is -inf; so
is that of an arc from a word to itself, and of arcs that are not allowed.

Sums over trees are in _matrix_tree.pyx, and the best tree in _arborescence.pyx. Trees
are drawn by walks [1], with the word below the root drawn first where there is one
alone [2]. A walk that takes too long is given up, and the tree drawn head by head: how
long walks take does not depend on the tree that they find [3], only on the root.

The n best trees are found one by one [4]. All trees are cut into parts, of each of
which the best two trees are known. The next tree of all is the best one of the second
ones: its part is cut by an arc that it has and the best one has not.

References
----------
[1] Wilson, "Generating random spanning trees more quickly than the cover time", STOC
    1996.
[2] Zmigrod, Vieira, Cotterell, "Efficient sampling of dependency structures", EMNLP
    2021.
[3] Propp, Wilson, "How to get a perfectly random sample from a generic Markov chain and
    generate a random spanning tree of a directed graph", J. Algorithms 27, 1998.
[4] Hamacher, Queyranne, "K best solutions to combinatorial optimization problems",
    Annals of Operations Research 4, 1985.
"""

from libc.math cimport INFINITY, exp, log, sqrt
from libc.string cimport memcpy, memset

from ._arborescence cimport Arborescence
from ._inference cimport Inference, Values
from ._matrix_tree cimport MatrixTree, largest_of

import numpy as np

# Steps of the walks of one tree, for each word: more are rarely made.
cdef Py_ssize_t MOST_STEPS = 100
# 2^53, and its inverse.
cdef double LARGEST = 9007199254740992.0, SMALL = 1.0 / 9007199254740992.0
CONDITION = np.dtype([("arc", "i4"), ("is_forced", "i4"), ("before", "i4")])


cdef class TreeList:
    """Room for at most ``n`` trees of at most ``n_words`` words."""

    def __init__(self, n, n_words):
        self.arcs = np.empty(n_words * (n_words + 1))
        self.values, self.next_values = np.empty((2, n))
        self.heads, self.next_heads = np.empty((2, n, n_words), dtype=np.intc)
        self.conditions = np.empty(2 * n, dtype=CONDITION)
        self.last = np.empty(n, dtype=np.intc)

    cdef Py_ssize_t best_part(self, Py_ssize_t n) noexcept nogil:
        """Return the part of the first n whose second tree is the best one."""
        cdef Py_ssize_t k, best = 0
        for k in range(1, n):
            if self.next_values[k] > self.next_values[best]:
                best = k
        return best

    cdef void split(self, Py_ssize_t k, Py_ssize_t new, Py_ssize_t n) noexcept nogil:
        """Cut part k into a new one, whose best tree is the second one, and the rest.
        """
        cdef Py_ssize_t m = 0
        cdef int arc
        self.values[new] = self.next_values[k]
        memcpy(&self.heads[new, 0], &self.next_heads[k, 0], n * sizeof(int))
        while self.heads[new, m] == self.heads[k, m]:
            m += 1
        arc = <int> (self.heads[new, m] * n + m)
        self.conditions[2 * new - 2] = Condition(arc, True, self.last[k])
        self.conditions[2 * new - 1] = Condition(arc, False, self.last[k])
        self.last[new], self.last[k] = <int> (2 * new - 2), <int> (2 * new - 1)


cdef class SpanningTreeInference(Inference):
    """The arcs of sentences, laid end to end.

    Parameters
    ----------
    offsets : ndarray of shape (n + 1,), int64
        Where the arcs of each sentence begin.
    n_labels : int
        1 + the number of relations.
    allowed : ndarray of shape (n_arcs,), uint8, default=None
        Which arcs may be in a tree.
    single_root : bool
        Whether trees have one word below the root alone.
    begin, end : int, default=None
        As for `Inference`.
    """

    def __init__(
        self, offsets, n_labels, allowed, single_root, begin=None, end=None
    ):
        super().__init__(offsets, n_labels, 0, begin, end)
        self.allowed, self.single = allowed, single_root
        n_words = self._words_of(self.longest)
        self._make_passes(n_words)
        self.arcs, self.marginals = np.empty((2, max(n_words * (n_words + 1), 1)))
        self.heads, self.second = np.empty((2, n_words), dtype=np.intc)
        self.done = np.empty(n_words, dtype=np.uint8)

    def _make_passes(self, n_words):
        """Make what sums over trees, and what finds the best one."""
        self.sums, self.best = MatrixTree(n_words), Arborescence(n_words)

    def _words_of(self, n_positions):
        """Return the number of words of a sentence of so many positions."""
        return words_of(n_positions)

    cdef void take(self, Py_ssize_t i) noexcept nogil:
        Inference.take(self, i)
        self.n_words, self.n_arcs = words_of(self.length), self.length

    cdef double set_arcs(self, Values scores, bint best) noexcept nogil:
        """Take the scores of arcs in a tree, less those of arcs that are not in it.

        Of the relations of an arc it is the best score, or that of all. Returns the sum
        of the scores of arcs not in a tree; -inf if no tree is possible. An arc that
        must be in the tree, whose label 0 is forbidden, has all its score.
        """
        cdef Py_ssize_t a
        cdef double others = 0.0
        cdef const double* local = scores.local
        for a in range(self.n_arcs):
            self.arcs[a] = -INFINITY
            if self.is_arc(a):
                self.arcs[a] = self.score_of(local, best)
                if local[0] > -INFINITY:
                    self.arcs[a] -= local[0]
                    others += local[0]
            else:
                others += local[0]
            local += self.n_labels
        return others if self.keep_forced(scores.local) else -INFINITY

    cdef bint keep_forced(self, const double* local) noexcept nogil:
        """Forbid the other arcs into words with an arc that must be in the tree.

        Return False if a word has two such arcs.
        """
        cdef Py_ssize_t a, b, h, n = self.n_words
        for a in range(self.n_arcs):
            if local[a * self.n_labels] > -INFINITY or not self.is_arc(a):
                continue
            for h in range(n + 1):
                b = h * n + a % n
                if b == a:
                    continue
                if local[b * self.n_labels] == -INFINITY:
                    return False
                self.arcs[b] = -INFINITY
        return True

    def allow_n_best(self, Py_ssize_t n):
        """Make the buffers of `n_best` and of `list_trees`."""
        self.listed = TreeList(n, len(self.heads))

    cdef Py_ssize_t n_best(
        self, Values scores, Py_ssize_t n, double* values, int* labels
    ) noexcept nogil:
        """Write the n best trees; arcs have the one relation 1."""
        cdef Py_ssize_t k, m, n_found = 0
        cdef double others = self.set_arcs(scores, True)
        memset(labels, 0, n * self.length * sizeof(int))
        if others > -INFINITY:
            n_found = self.list_trees(n)
        for k in range(n):
            values[k] = -INFINITY
            if k < n_found:
                values[k] = others + self.listed.values[k]
                for m in range(self.n_words):
                    labels[self.listed.heads[k, m] * self.n_words + m] = 1
                self.label_others(&self.listed.heads[k, 0], labels, 1)
            labels += self.length
        return n_found

    cdef void label_others(
        self, const int* heads, int* labels, Py_ssize_t stride
    ) noexcept nogil:
        """Write the labels 1 of a tree behind those of arcs: there are none."""

    cdef Py_ssize_t list_trees(self, Py_ssize_t n) noexcept nogil:
        """List the n best trees of the arcs, best first; return how many there are.

        The arcs are then those of a part of all trees.
        """
        cdef Py_ssize_t new, best = 0
        memcpy(&self.listed.arcs[0], &self.arcs[0], self.n_arcs * sizeof(double))
        self.listed.values[0], self.listed.last[0] = self.set_best(), -1
        if self.listed.values[0] == -INFINITY:
            return 0
        memcpy(&self.listed.heads[0, 0], &self.heads[0], self.n_words * sizeof(int))
        for new in range(1, n):
            # The parts that were cut last.
            self.set_next_of(best)
            if new > 1:
                self.set_next_of(new - 1)
            best = self.listed.best_part(new)
            if self.listed.next_values[best] == -INFINITY:
                return new
            self.listed.split(best, new, self.n_words)
        return n

    cdef void set_next_of(self, Py_ssize_t k) noexcept nogil:
        """Find the second best tree of part k."""
        self.set_part(k)
        self.listed.next_values[k] = self.set_next(&self.listed.heads[k, 0])
        memcpy(
            &self.listed.next_heads[k, 0], &self.heads[0], self.n_words * sizeof(int)
        )

    cdef void set_part(self, Py_ssize_t k) noexcept nogil:
        """Write the scores of arcs of part k, -inf for those that no tree has."""
        cdef Py_ssize_t at = self.listed.last[k]
        cdef Condition own
        memcpy(&self.arcs[0], &self.listed.arcs[0], self.n_arcs * sizeof(double))
        while at >= 0:
            own = self.listed.conditions[at]
            if own.is_forced:
                self.force(own.arc)
            else:
                self.arcs[own.arc] = -INFINITY
            at = own.before

    cdef double set_next(self, const int* found) noexcept nogil:
        """Write the heads of the best tree but one that is found; return its score.

        It is -inf without another tree.
        """
        cdef Py_ssize_t m, a
        cdef double kept, value, best = -INFINITY
        for m in range(self.n_words):
            a = found[m] * self.n_words + m
            kept, self.arcs[a] = self.arcs[a], -INFINITY
            value = self.set_best()
            self.arcs[a] = kept
            if value > best:
                best = value
                memcpy(&self.second[0], &self.heads[0], self.n_words * sizeof(int))
        memcpy(&self.heads[0], &self.second[0], self.n_words * sizeof(int))
        return best

    cdef void force(self, Py_ssize_t a) noexcept nogil:
        """Forbid the other arcs into the word of an arc."""
        cdef Py_ssize_t h, n = self.n_words
        for h in range(n + 1):
            if h * n + a % n != a:
                self.arcs[h * n + a % n] = -INFINITY

    cdef bint is_arc(self, Py_ssize_t a) noexcept nogil:
        """Return whether an arc may be in a tree."""
        cdef Py_ssize_t n = self.n_words
        if self.allowed is not None and not self.allowed[self.first + a]:
            return False
        return a // n != a % n + 1

    cdef double score_of(self, const double* local, bint best) noexcept nogil:
        """Return the score of the relations of an arc: the best one, or log sum exp."""
        cdef Py_ssize_t k
        cdef double largest = local[1], total = 0.0
        for k in range(2, self.n_labels):
            largest = max(largest, local[k])
        if best or self.n_labels == 2 or largest == -INFINITY:
            return largest
        for k in range(1, self.n_labels):
            total += exp(local[k] - largest)
        return largest + log(total)

    cdef double argmax(self, Values scores, int* labels) noexcept nogil:
        cdef Py_ssize_t m, a
        cdef int k, best
        cdef double value = self.set_arcs(scores, True)
        cdef const double* local
        memset(labels, 0, self.length * sizeof(int))
        value += self.set_best()
        for m in range(self.n_words):
            a = self.heads[m] * self.n_words + m
            local, best = scores.local + a * self.n_labels, 1
            for k in range(2, self.n_labels):
                if local[k] > local[best]:
                    best = k
            labels[a] = best
        self.label_others(&self.heads[0], labels, 1)
        return value

    cdef double labels_score(
        self, const int* labels, Values scores
    ) noexcept nogil:
        cdef Py_ssize_t a
        cdef double value = 0.0
        if not self.set_heads(labels) or not self.is_tree():
            return -INFINITY
        for a in range(self.n_arcs):
            value += scores.local[a * self.n_labels + labels[a]]
        return value

    cdef bint set_heads(self, const int* labels) noexcept nogil:
        """Take the heads of a labelling; return whether each word has one."""
        cdef Py_ssize_t a, m, n = self.n_words
        memset(&self.done[0], 0, n)
        for a in range(self.n_arcs):
            if labels[a] == 0:
                continue
            m = a % n
            if self.done[m] or not self.is_arc(a):
                return False
            self.done[m], self.heads[m] = True, a // n
        for m in range(n):
            if not self.done[m]:
                return False
        return True

    cdef bint is_tree(self) noexcept nogil:
        """Return whether the heads are a tree, with one root alone if it must be."""
        cdef Py_ssize_t m, u, n_steps, n_roots = 0
        for m in range(self.n_words):
            n_roots += self.heads[m] == 0
            u, n_steps = m + 1, 0
            while u > 0:
                u = self.heads[u - 1]
                n_steps += 1
                if n_steps > self.n_words:
                    return False
        return n_roots == 1 or not self.single

    cdef void add_tied_labels(
        self, const int* labels, double step, double* tied
    ) noexcept nogil:
        """Add nothing: there are no tied potentials."""

    cdef double log_partition(self, Values scores) noexcept nogil:
        cdef double others = self.set_arcs(scores, False)
        return others + self.log_sum()

    cdef double expect(self, Values scores, Values out) noexcept nogil:
        cdef Py_ssize_t a, k
        cdef double value = self.set_arcs(scores, False), p, of_all
        cdef const double* local = scores.local
        cdef double* mu = out.local
        value += self.set_marginals()
        memset(mu, 0, self.n_local * sizeof(double))
        if value == -INFINITY:
            return value
        for a in range(self.n_arcs):
            p = self.marginals[a]
            mu[0] = max(1.0 - p, 0.0)
            if p > 0.0:
                of_all = self.arcs[a] + (local[0] if local[0] > -INFINITY else 0.0)
                for k in range(1, self.n_labels):
                    mu[k] = p * exp(local[k] - of_all)
            local += self.n_labels
            mu += self.n_labels
        return value

    cdef double add_expected(
        self, Values scores, double weight, Values out, double* buffer
    ) noexcept nogil:
        """Write the local expectations: there are no others."""
        return self.expect(scores, out)

    def allow_sample(self):
        """Make the buffers of `sample`."""
        self.rates, self.left, self.given = np.empty((3, len(self.arcs)))

    cdef void sample(
        self, Values scores, const double* uniform, Py_ssize_t n_draws, int* labels
    ) noexcept nogil:
        """Write draws; the first two numbers of a draw are the seed of its own ones."""
        cdef Py_ssize_t d, a, m, n = self.n_words
        memset(labels, 0, self.length * n_draws * sizeof(int))
        if self.set_arcs(scores, False) == -INFINITY:
            return
        self.set_marginals()
        self.start_draws()
        for d in range(n_draws):
            self.generator = <unsigned long long> (uniform[d] * LARGEST)
            self.generator ^= (
                <unsigned long long> (uniform[n_draws + d] * LARGEST)
            ) << 11
            self.draw_tree()
            for m in range(n):
                a = self.heads[m] * n + m
                labels[a * n_draws + d] = self.draw_relation(
                    scores.local + a * self.n_labels
                )
            self.label_others(&self.heads[0], labels + d, n_draws)

    cdef double set_best(self) noexcept nogil:
        """Write the heads of the best tree of the arcs; return its score."""
        return self.best.solve(
            &self.arcs[0], self.n_words, self.single, &self.heads[0]
        )

    cdef double log_sum(self) noexcept nogil:
        """Return log Z of the arcs."""
        return self.sums.log_partition(&self.arcs[0], self.n_words, self.single)

    cdef double set_marginals(self) noexcept nogil:
        """Write the marginals of the arcs; return log Z."""
        return self.sums.expect(
            &self.arcs[0], self.n_words, self.single, &self.marginals[0]
        )

    cdef void start_draws(self) noexcept nogil:
        """Write the rates of walks from words to heads, the largest of a word 1."""
        cdef Py_ssize_t h, m, n = self.n_words
        cdef double largest
        for m in range(n):
            largest = largest_of(&self.arcs[0], n, m)
            for h in range(n + 1):
                self.rates[m * (n + 1) + h] = exp(self.arcs[h * n + m] - largest)

    cdef void draw_tree(self) noexcept nogil:
        """Write the heads of a tree that is drawn."""
        cdef Py_ssize_t root = -1
        if self.single:
            root = draw(&self.marginals[0], self.n_words, 1, self.random())
        if not self.walk(root):
            self.draw_in_turn(root)

    cdef bint walk(self, Py_ssize_t root) noexcept nogil:
        """Write the heads of a tree by walks; return whether they ended soon.

        Where the word below the root is not drawn yet, it is -1.
        """
        cdef Py_ssize_t m, n_left = MOST_STEPS * self.n_words
        memset(&self.done[0], 0, self.n_words)
        if root >= 0:
            self.heads[root], self.done[root] = 0, True
        for m in range(self.n_words):
            if not self.walk_from(m, &n_left):
                return False
        return True

    cdef bint walk_from(self, Py_ssize_t m, Py_ssize_t* n_left) noexcept nogil:
        """Walk from a word to what is in the tree, and take the way without loops."""
        cdef Py_ssize_t u = m, head, n = self.n_words
        # The root is not for walks, if the word below it is drawn.
        cdef Py_ssize_t first = 1 if self.single else 0
        while not self.done[u]:
            if n_left[0] == 0:
                return False
            n_left[0] -= 1
            head = draw(
                &self.rates[u * (n + 1) + first], n + 1 - first, 1, self.random()
            )
            if head < 0:
                return False
            self.heads[u] = head + first
            if self.heads[u] == 0:
                break
            u = self.heads[u] - 1
        u = m
        while not self.done[u]:
            self.done[u] = True
            if self.heads[u] == 0:
                break
            u = self.heads[u] - 1
        return True

    cdef void draw_in_turn(self, Py_ssize_t root) noexcept nogil:
        """Write heads, each drawn given the ones of words before it."""
        cdef Py_ssize_t h, m, n = self.n_words
        memcpy(&self.left[0], &self.arcs[0], self.n_arcs * sizeof(double))
        if root >= 0:
            for m in range(n):
                if m != root:
                    self.left[m] = -INFINITY
        for m in range(n):
            self.sums.expect(&self.left[0], n, self.single, &self.given[0])
            self.heads[m] = draw(&self.given[m], n + 1, n, self.random())
            for h in range(n + 1):
                if h != self.heads[m]:
                    self.left[h * n + m] = -INFINITY

    cdef int draw_relation(self, const double* local) noexcept nogil:
        """Return a relation of an arc, drawn by its scores."""
        cdef int k
        cdef double left = self.random(), of_all
        if self.n_labels == 2:
            return 1
        of_all = self.score_of(local, False)
        for k in range(1, self.n_labels):
            left -= exp(local[k] - of_all)
            if left < 0.0:
                return k
        return self.n_labels - 1

    cdef double random(self) noexcept nogil:
        """Return the next number of the generator splitmix64, in [0, 1)."""
        cdef unsigned long long z
        self.generator += 0x9E3779B97F4A7C15ULL
        z = self.generator
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL
        return ((z ^ (z >> 31)) >> 11) * SMALL


cdef Py_ssize_t words_of(Py_ssize_t n_arcs) noexcept nogil:
    """Return the number of words n of n (n + 1) arcs."""
    # n^2 <= n (n + 1) < (n + 1)^2
    return <Py_ssize_t> sqrt(<double> n_arcs)


cdef Py_ssize_t draw(
    const double* p, Py_ssize_t n, Py_ssize_t stride, double random
) noexcept nogil:
    """Return the number of one of n weights that is drawn, -1 if all are 0."""
    cdef Py_ssize_t i, found = -1
    cdef double left = 0.0
    for i in range(n):
        left += p[i * stride]
    left *= random
    for i in range(n):
        if p[i * stride] > 0.0:
            found = i
            left -= p[i * stride]
            if left < 0.0:
                break
    return found
