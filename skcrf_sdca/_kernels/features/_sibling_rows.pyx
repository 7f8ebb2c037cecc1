"""The columns of the features of siblings, made of the codes of tokens when needed.

The sibling of a word m with head h is the word s nearest to it, between h and m, that
has the head h too; without one it is h itself. A feature is a hash as in _arc_rows.pyx:
of a template, of the codes of its parts of the head, then of the word, then of the
sibling, and of the direction of the arc, or of its direction and of the distance from s
to m. All parts of a sibling that is h itself have the code of what is before the first
token. Templates without the head are summed up once for two words, and not for each
head.
"""

cimport cython

from libc.stdlib cimport labs
from libc.string cimport memset

from ._arc_rows cimport (
    BEGIN,
    LAST_KIND,
    N_CONTEXTS,
    Part,
    base_of,
    in_context,
    mix,
    weight,
)
from ._prefetch cimport prefetch

import numpy as np

from skcrf_sdca._kernels.features._arc_rows import PART

cdef enum:
    NO_WORD = -1

TEMPLATE = np.dtype(
    [(name, "i4") for name in ("first", "at_sibling", "last", "has_head")]
)


@cython.final
cdef class SiblingRows:
    """The rows of the siblings of sentences.

    Parameters
    ----------
    arcs : ArcRows
        Those of the same sentences, whose tokens and table these have too.
    templates : list of parts
        A part is a tuple (node, shift, column); the node is 0 for the head, 1 for the
        word and 2 for its sibling. Parts stand in the order of nodes, and each template
        has a sibling.
    """

    def __init__(self, arcs, templates):
        self.arcs = arcs
        parts, found = [], []
        for own in templates:
            nodes = [node for node, *_ in own]
            first = len(parts)
            parts += [(node == 0, shift, column) for node, shift, column in own]
            found.append((first, first + nodes.index(2), len(parts), nodes[0] == 0))
        self.parts = np.array(parts, dtype=PART)
        self.templates = np.array(found, dtype=TEMPLATE)
        has_head = [nodes_of[0][0] == 0 for nodes_of in templates]
        self.of_two = np.flatnonzero(np.logical_not(has_head)).astype(np.intc)
        self.of_three = np.flatnonzero(has_head).astype(np.intc)
        self.most_columns = 2 * len(found)
        longest = self.arcs.longest
        self.pairs = np.empty(longest**2)
        self.alone = np.empty((longest, N_CONTEXTS))
        self.bases = np.empty(longest * (longest + 1), dtype=np.uintc)

    def columns(self, Py_ssize_t i, Py_ssize_t h, Py_ssize_t m, Py_ssize_t s):
        """Return the columns of word m of sentence i with head h and sibling s."""
        columns = np.empty(self.most_columns, dtype=np.intc)
        cdef int[::1] out = columns
        self.arcs.take(i)
        self.row(h, m, s, &out[0])
        return columns

    cdef void set_scores(self, const float* w, double* out) noexcept nogil:
        """Write the scores of all siblings of the sentence."""
        memset(out, 0, number_of_siblings(self.arcs.n) * sizeof(double))
        self.add_scores(w, out)

    cdef void add_scores(self, const weight* w, double* out) noexcept nogil:
        """Add the weights of all siblings of the sentence."""
        cdef Py_ssize_t h, k, n = self.arcs.n
        memset(&self.pairs[0], 0, n * n * sizeof(double))
        self.alone[:n] = 0.0
        for k in range(self.of_two.shape[0]):
            self.set_pairs(self.of_two[k], w)
        for h in range(1, n + 1):
            for k in range(self.of_three.shape[0]):
                self.add_siblings(self.of_three[k], h, w, out)
            self.add_pairs(h, out)
            out += (h * (h - 1) + (n - h) * (n - h + 1)) // 2

    cdef void set_pairs(self, Py_ssize_t t, const weight* w) noexcept nogil:
        """Add the weights of a template without the head, of two words and of one."""
        cdef Py_ssize_t m, n = self.arcs.n
        cdef unsigned long long state
        cdef unsigned int* own = &self.bases[0]
        cdef const unsigned int* base = own
        for m in range(1, n + 1):
            state = self.of_word(t, 0, m)
            own = self.ask_for(t, state, m, 1, n + 1, w, own)
            own[0] = base_of(self.with_sibling(state, t, NO_WORD), self.arcs.table)
            prefetch(w + own[0])
            prefetch(w + own[0] + LAST_KIND)
            own += 1
        for m in range(1, n + 1):
            base = self.add(m, 1, n + 1, w, base, &self.pairs[0] + (m - 1) * n - 1)
            self.arcs.add_node(w, base[0], &self.alone[m - 1, 0])
            base += 1

    cdef void add_pairs(self, Py_ssize_t h, double* out) noexcept nogil:
        """Add the scores without the head to all siblings below one head."""
        cdef Py_ssize_t m, s, n = self.arcs.n
        cdef double* own
        for m in range(1, n + 1):
            if m != h:
                own = out - least_sibling(h, m)
                out += labs(h - m)
                for s in range(min(h, m) + 1, max(h, m)):
                    own[s] += self.pairs[(m - 1) * n + s - 1]
                own[h] += self.alone[
                    m - 1, self.arcs.context[m - h + self.arcs.longest]
                ]

    cdef void add_siblings(
        self, Py_ssize_t t, Py_ssize_t h, const weight* w, double* out
    ) noexcept nogil:
        """Add the weights of a template with the head to the siblings below one."""
        cdef Py_ssize_t m, n = self.arcs.n
        cdef unsigned long long state
        cdef unsigned int* own = &self.bases[0]
        cdef const unsigned int* base = own
        cdef double* scores
        for m in range(1, n + 1):
            if m != h:
                state = self.of_word(t, h, m)
                own = self.ask_for(t, state, m, min(h, m) + 1, max(h, m), w, own)
                own[0] = base_of(self.with_sibling(state, t, NO_WORD), self.arcs.table)
                prefetch(w + own[0] + self.arcs.kinds[1, m - h + self.arcs.longest])
                own += 1
        for m in range(1, n + 1):
            if m != h:
                scores = out - least_sibling(h, m)
                out += labs(h - m)
                base = self.add(m, min(h, m) + 1, max(h, m), w, base, scores)
                base = self.add(m, h, h + 1, w, base, scores)

    cdef unsigned int* ask_for(
        self, Py_ssize_t t, unsigned long long state, Py_ssize_t m, Py_ssize_t first,
        Py_ssize_t last, const weight* w, unsigned int* base
    ) noexcept nogil:
        """Ask for the weights of siblings from one word to another of the word m.

        ``state`` is the hash of the parts of m and its head. Return where the bases of
        the next ones go.
        """
        cdef Py_ssize_t s, k = m + self.arcs.longest
        for s in range(first, last):
            base[0] = base_of(self.with_sibling(state, t, s), self.arcs.table)
            prefetch(w + base[0] + self.arcs.kinds[0, k - s])
            prefetch(w + base[0] + self.arcs.kinds[1, k - s])
            base += 1
        return base

    cdef const unsigned int* add(
        self, Py_ssize_t m, Py_ssize_t first, Py_ssize_t last, const weight* w,
        const unsigned int* base, double* out
    ) noexcept nogil:
        """Add the weights that have come to out[s]; return where the next bases are."""
        cdef Py_ssize_t s, k = m + self.arcs.longest
        cdef unsigned int n_columns = <unsigned int> self.arcs.table.n_columns
        for s in range(first, last):
            out[s] += (
                w[in_context(base[0], self.arcs.kinds[0, k - s], n_columns)]
                + w[in_context(base[0], self.arcs.kinds[1, k - s], n_columns)]
            )
            base += 1
        return base

    cdef unsigned long long of_word(
        self, Py_ssize_t t, Py_ssize_t h, Py_ssize_t m
    ) noexcept nogil:
        """Return the hash of the parts of a template at the head and the word."""
        cdef Py_ssize_t p, node
        cdef unsigned long long state = self.arcs.templates.shape[0] + t + 1
        cdef Part part
        for p in range(self.templates[t].first, self.templates[t].at_sibling):
            part = self.parts[p]
            node = h if part.at_head else m
            state = mix(state, self.arcs.near[part.column, node + 1 + part.shift])
        return state

    cdef unsigned long long with_sibling(
        self, unsigned long long state, Py_ssize_t t, Py_ssize_t s
    ) noexcept nogil:
        """Return the hash with the parts of the sibling, or of none: NO_WORD."""
        cdef Py_ssize_t p
        cdef unsigned long long code = BEGIN
        cdef Part part
        for p in range(self.templates[t].at_sibling, self.templates[t].last):
            part = self.parts[p]
            if s != NO_WORD:
                code = self.arcs.near[part.column, s + 1 + part.shift]
            state = mix(state, code)
        return state

    cdef Py_ssize_t row(
        self, Py_ssize_t h, Py_ssize_t m, Py_ssize_t s, int* out
    ) noexcept nogil:
        """Write the columns of word m with head h and sibling s; return their number.

        s is h where there is none.
        """
        cdef Py_ssize_t t, k, c = m - s + self.arcs.longest
        cdef Py_ssize_t word = NO_WORD if s == h else s
        cdef unsigned long long state
        cdef unsigned int base, n_columns = <unsigned int> self.arcs.table.n_columns
        for t in range(self.templates.shape[0]):
            state = self.with_sibling(self.of_word(t, h, m), t, word)
            base = base_of(state, self.arcs.table)
            for k in range(2):
                out[2 * t + k] = in_context(base, self.arcs.kinds[k, c], n_columns)
        return 2 * self.templates.shape[0]


cdef Py_ssize_t sibling_of(const int* heads, Py_ssize_t m) noexcept nogil:
    """Return the sibling of word m, its head if there is none; words count from 1."""
    cdef Py_ssize_t h = heads[m - 1], step = 1 if h > m else -1, s = m + step
    while s != h and heads[s - 1] != h:
        s += step
    return s


cdef Py_ssize_t place_in_tree(
    Py_ssize_t n, const int* heads, Py_ssize_t m
) noexcept nogil:
    """Return where the sibling of word m of a tree stands, whose head is no root."""
    cdef Py_ssize_t h = heads[m - 1]
    return first_sibling(n, h, m) + sibling_of(heads, m) - least_sibling(h, m)


def add_sibling_labels(
    const long long[::1] n_words,           # in, (n,)
    const int[::1] heads,                   # in, of all words, end to end
    int[::1] labels,                        # in, out, of arcs, then siblings, of each
):
    """Write 1 for the siblings of the words of trees, whose heads are given."""
    cdef Py_ssize_t i, m, n, first = 0, begin = 0
    cdef const int* own
    for i in range(n_words.shape[0]):
        n = n_words[i]
        begin += n * (n + 1)
        for m in range(1, n + 1):
            own = &heads[first]
            if own[m - 1] > 0:
                labels[begin + place_in_tree(n, own, m)] = 1
        first += n
        begin += number_of_siblings(n)
