"""The columns of the features of siblings, made of the codes of tokens when needed.

The sibling of a word m with head h is the word s nearest to it, between h and m, that
has the head h too; without one it is h itself. A feature is a hash as in _arc_rows.pyx:
of a template, of the codes of its parts of the head, then of the word, then of the
sibling, and of the direction of the arc, or of its direction and of the distance from s
to m. All parts of a sibling that is h itself have the code of what is before the first
token. Templates without the head are hashed once for two words, and not for each head.
"""

cimport cython

from libc.string cimport memset

from ._arc_rows cimport BEGIN, Lookup, Part, column_of, lookup, mix
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
        self.most_columns = 2 * len(found)
        self.pairs = np.empty(self.arcs.longest**2)

    def scores(self, const float[::1] w):
        """Return the scores of the siblings of all sentences, for weights w.

        They are arrays (n, n, n) end to end, ``[h, m, s]`` of words counted from 0, and
        where those of each sentence begin. Numbers where s is neither between h and m
        nor h are 0.
        """
        cdef Py_ssize_t i
        lengths = np.diff(self.arcs.offsets).astype(np.int64)
        bounds = np.append(0, np.cumsum(lengths**3))
        found = np.empty(max(int((lengths**3).sum()), 1))
        cdef double[::1] out = found
        cdef const long long[::1] begins = bounds
        with nogil:
            for i in range(self.arcs.offsets.shape[0] - 1):
                self.arcs.take(i)
                self.set_scores(&w[0], &out[0] + begins[i])
        return found, bounds

    def columns(self, Py_ssize_t i, Py_ssize_t h, Py_ssize_t m, Py_ssize_t s):
        """Return the columns of word m of sentence i with head h and sibling s."""
        columns = np.empty(self.most_columns, dtype=np.intc)
        cdef int[::1] out = columns
        self.arcs.take(i)
        self.row(h, m, s, &out[0])
        return columns

    cdef void set_scores(self, const float* w, double* out) noexcept nogil:
        """Write the scores of all siblings of the sentence, (n, n, n)."""
        cdef Py_ssize_t h, t, n = self.arcs.n
        memset(out, 0, n * n * n * sizeof(double))
        self.set_pairs(w)
        for h in range(1, n + 1):
            for t in range(self.templates.shape[0]):
                self.add_siblings(t, h, w, out)
            self.arcs.add_batch(w, out)
            self.add_pairs(h, out)
            out += n * n

    cdef void set_pairs(self, const float* w) noexcept nogil:
        """Sum up the weights of templates without the head, of two words."""
        cdef Py_ssize_t t, m, s, k, n = self.arcs.n
        cdef unsigned long long state
        cdef Lookup* batch
        memset(&self.pairs[0], 0, n * n * sizeof(double))
        for t in range(self.templates.shape[0]):
            if self.templates[t].has_head:
                continue
            for m in range(1, n + 1):
                state = self.of_word(t, 0, m)
                batch = self.arcs.room(n - 1, w, &self.pairs[0])
                for k in range(n - 1):
                    s = k + 1 if k + 1 < m else k + 2
                    batch[k] = self.looked_up(
                        self.with_sibling(state, t, s), m, s, w
                    )
        self.arcs.add_batch(w, &self.pairs[0])

    cdef void add_siblings(
        self, Py_ssize_t t, Py_ssize_t h, const float* w, double* out
    ) noexcept nogil:
        """Take the columns of a template for the siblings below one head."""
        cdef Py_ssize_t m, s, k, n_between, first
        cdef unsigned long long state
        cdef Lookup* batch
        for m in range(1, self.arcs.n + 1):
            if m == h:
                continue
            state = self.of_word(t, h, m)
            first, n_between = min(h, m) + 1, 0
            if self.templates[t].has_head:
                n_between = max(h, m) - first
            batch = self.arcs.room(n_between + 1, w, out)
            for k in range(n_between):
                s = first + k
                batch[k] = self.looked_up(self.with_sibling(state, t, s), m, s, w)
            batch[n_between] = self.looked_up(
                self.with_sibling(state, t, NO_WORD), m, h, w
            )

    cdef Lookup looked_up(
        self, unsigned long long state, Py_ssize_t m, Py_ssize_t s, const float* w
    ) noexcept nogil:
        """Return the columns of a sibling, whose weights are asked for."""
        cdef Py_ssize_t c = m - s + self.arcs.longest
        cdef Lookup found = lookup(
            (m - 1) * self.arcs.n + s, state, self.arcs.kinds[0, c],
            self.arcs.kinds[1, c], self.arcs.table,
        )
        prefetch(w + found.first)
        prefetch(w + found.second)
        return found

    cdef void add_pairs(self, Py_ssize_t h, double* out) noexcept nogil:
        """Add the scores without the head to all siblings below one head."""
        cdef Py_ssize_t m, s, n = self.arcs.n
        for m in range(1, n + 1):
            for s in range(min(h, m) + 1, max(h, m)):
                out[(m - 1) * n + s - 1] += self.pairs[(m - 1) * n + s - 1]

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
        for t in range(self.templates.shape[0]):
            state = self.with_sibling(self.of_word(t, h, m), t, word)
            for k in range(2):
                out[2 * t + k] = column_of(
                    state, self.arcs.kinds[k, c], self.arcs.table
                )
        return 2 * self.templates.shape[0]
