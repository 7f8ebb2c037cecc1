"""The columns of the features of arcs, made of the codes of tokens when needed.

A feature is the hash of a template and of the codes of its parts in their order, and a
number for the direction of the arc, or for its direction and length. With mix(code,
other) for the hash of two numbers,

    hash = mix(... mix(mix(t + 1, part 1), part 2) ...),
    column = ((hash >> 20) + context) % n_features,

t the number of the template, and context = 8 for an arc to the left, or 0, plus 0, or
the class of its length from 1 to 7; see text/_arc_features.py. So the weights of a hash
are neighbours, which are read at once. Reading is most of the time, as the weights are
anywhere in megabytes: so columns are made in batches, their weights are asked for, and
are summed when they have come. The rows of a sentence take megabytes, and their columns
are made in the time of reading them. What depends on one node alone is hashed once for
each node: the first parts of a template, and all of a template that has no others.
"""

cimport cython

from libc.math cimport INFINITY
from libc.string cimport memset

from ._prefetch cimport prefetch

import numpy as np

# Arcs have one of 7 classes of lengths, and 2 directions.
cdef enum:
    N_LENGTHS = 7
    N_CONTEXTS = 14
    LAST_KIND = 15
    # Reads of weights that are under way at once.
    BATCH = 512
# Classes of lengths up to 11 words, and of longer arcs.
LENGTHS = np.array([1, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 7])
LOOKUP = np.dtype([(name, "i4") for name in ("word", "first", "second")])
PART = np.dtype([("at_head", "i4"), ("shift", "i4"), ("column", "i4")])
TEMPLATE = np.dtype(
    [(name, "i4") for name in ("first", "mixed", "last", "at_head", "between", "alone")]
)


@cython.final
cdef class ArcRows:
    """The rows of the arcs of sentences, laid end to end.

    Parameters
    ----------
    codes : ndarray of shape (n_columns, n_tokens), uint64
        The hashes of the columns of tokens.
    offsets : ndarray of shape (n + 1,), intp
        Where each sentence begins in the tokens.
    templates : list of (parts, between)
        A part is a tuple (whether it is of the head, shift, column); between is the
        number of the column of tokens between head and word, or -1.
    n_features : int
        At most 2^31 - 1.
    """

    def __init__(self, codes, offsets, templates, n_features):
        self.codes, self.offsets = codes, offsets
        is_power = n_features & (n_features - 1) == 0
        self.table = Table(n_features, n_features - 1 if is_power else 0)
        self.longest = int(np.diff(offsets).max(initial=1))
        self.parts, self.templates = _layout(templates)
        n_between = sum(between >= 0 for _, between in templates)
        self.most_columns = 2 * (
            len(templates) - n_between + n_between * self.longest
        )
        self._make_contexts()
        n_nodes, n_templates = self.longest + 1, len(templates)
        n_columns = max(len(codes), 1)
        self.near = np.empty((n_columns, n_nodes + 2), dtype=np.uint64)
        self.start = np.empty((n_templates, n_nodes), dtype=np.uint64)
        self.value = np.empty((n_columns, n_nodes), dtype=np.intc)
        self.state = np.empty(n_nodes, dtype=np.uint64)
        self.head_of = np.empty(n_columns, dtype=np.intc)
        self.found = np.empty((n_columns, 2, n_nodes), dtype=np.uint64)
        self.n_found = np.empty((n_columns, n_nodes), dtype=np.intc)
        self.seen = np.zeros(n_nodes, dtype=np.intc)
        self.sums = np.empty((2, n_nodes, N_CONTEXTS))
        self.batch = np.empty(max(self.longest, BATCH), dtype=LOOKUP)
        self.n_batch = 0

    def _make_contexts(self):
        """Write what a feature has of direction and length."""
        shift = np.arange(-self.longest, self.longest + 1)
        length = LENGTHS[np.minimum(abs(shift), len(LENGTHS) - 1)]
        is_left = shift < 0
        self.context = (is_left * N_LENGTHS + length - 1).astype(np.intc)
        kinds = np.stack([8 * is_left, 8 * is_left + length])
        self.kinds = kinds.astype(np.uint64)

    def rows(self, Py_ssize_t i):
        """Return the rows of the arcs of sentence i: `indptr` and columns of a CSR.

        The row h * n + m is the arc from head h to word m + 1; rows of a word as its
        own head are empty.
        """
        cdef Py_ssize_t h, m, n, n_found = 0
        self.take(i)
        n = self.n
        bounds = np.zeros(n * (n + 1) + 1, dtype=np.int64)
        columns = np.empty(0, dtype=np.intc)
        cdef long long[::1] ends = bounds
        cdef int[::1] out
        for h in range(n + 1):
            # There is room for the arcs of one head at least.
            if len(columns) < n_found + n * self.most_columns:
                columns = np.resize(columns, 2 * (n_found + n * self.most_columns))
            out = columns
            with nogil:
                for m in range(1, n + 1):
                    if m != h:
                        n_found += self.row(h, m, &out[n_found])
                    ends[h * n + m] = n_found
        return bounds, columns[:n_found]

    def scores(self, const float[::1] w):
        """Return the scores of the arcs of all sentences, end to end, for weights w.

        They are -inf for a word as its own head.
        """
        cdef Py_ssize_t i, begin = 0
        lengths = np.diff(self.offsets)
        found = np.empty(int((lengths * (lengths + 1)).sum()))
        cdef double[::1] out = found
        with nogil:
            for i in range(self.offsets.shape[0] - 1):
                self.take(i)
                if self.n > 0:
                    self.set_scores(&w[0], &out[begin])
                begin += self.n * (self.n + 1)
        return found

    cdef void set_scores(self, const float* w, double* out) noexcept nogil:
        """Write the scores of all arcs of the sentence, -inf for no arcs."""
        cdef Py_ssize_t m
        memset(out, 0, self.n * (self.n + 1) * sizeof(double))
        self.add_scores(w, out)
        for m in range(self.n):
            out[(m + 1) * self.n + m] = -INFINITY

    cdef void take(self, Py_ssize_t i) noexcept nogil:
        """Take sentence i: hash what depends on one node alone."""
        cdef Py_ssize_t k, m, t, first = self.offsets[i]
        self.n = self.offsets[i + 1] - first
        self.head_of[:] = -1
        for k in range(self.codes.shape[0]):
            self.near[k, 0], self.near[k, 1] = BEGIN, ROOT
            for m in range(self.n):
                self.near[k, m + 2] = self.codes[k, first + m]
            self.near[k, self.n + 2] = END
        for t in range(self.templates.shape[0]):
            self.set_start(t)
            if self.templates[t].between >= 0:
                self.set_values(self.templates[t].between)

    cdef void set_start(self, Py_ssize_t t) noexcept nogil:
        """Write the hash of the first parts of a template for each node."""
        cdef Py_ssize_t node, p
        cdef unsigned long long state
        cdef Part part
        for node in range(self.n + 1):
            state = t + 1
            for p in range(self.templates[t].first, self.templates[t].mixed):
                part = self.parts[p]
                state = mix(state, self.near[part.column, node + 1 + part.shift])
            self.start[t, node] = state

    cdef void set_values(self, Py_ssize_t column) noexcept nogil:
        """Write the first word with the same code for each word."""
        cdef Py_ssize_t m, first
        for m in range(1, self.n + 1):
            first = 1
            while self.near[column, first + 1] != self.near[column, m + 1]:
                first += 1
            self.value[column, m] = first

    cdef Py_ssize_t row(self, Py_ssize_t h, Py_ssize_t m, int* out) noexcept nogil:
        """Write the columns of the arc from head h to word m; return their number."""
        cdef Py_ssize_t t, k, i, c = m - h + self.longest, n = 0
        cdef unsigned long long state
        cdef Template own
        for t in range(self.templates.shape[0]):
            own = self.templates[t]
            self.set_states(t, h, m, m + 1)
            if own.between < 0:
                for k in range(2):
                    out[n + k] = column_of(self.state[m], self.kinds[k, c], self.table)
                n += 2
                continue
            self.set_between(own.between, h)
            for i in range(self.n_found[own.between, m]):
                state = mix(self.state[m], self.found[own.between, m < h, i])
                for k in range(2):
                    out[n + k] = column_of(state, self.kinds[k, c], self.table)
                n += 2
        return n

    cdef void add_scores(self, const weight* w, double* out) noexcept nogil:
        """Add the scores of all arcs of the sentence, nothing to what is no arc."""
        cdef Py_ssize_t h, m, t, c, n = self.n
        cdef double kept = 0.0
        self.set_sums(w)
        for h in range(n + 1):
            if h > 0:
                kept = out[h - 1]
            for m in range(1, n + 1):
                c = self.context[m - h + self.longest]
                out[m - 1] += self.sums[0, h, c] + self.sums[1, m, c]
            for t in range(self.templates.shape[0]):
                if not self.templates[t].alone:
                    self.add_template(t, h, w, out)
            self.add_batch(w, out)
            if h > 0:
                out[h - 1] = kept
            out += n

    cdef void set_sums(self, const weight* w) noexcept nogil:
        """Sum up the weights of features of one node, as head and as word."""
        cdef Py_ssize_t t, node
        self.sums[:, : self.n + 1] = 0.0
        for t in range(self.templates.shape[0]):
            if self.templates[t].alone:
                for node in range(self.n + 1):
                    prefetch(w + column_of(self.start[t, node], 0, self.table))
                    prefetch(w + column_of(self.start[t, node], LAST_KIND, self.table))
        for t in range(self.templates.shape[0]):
            if self.templates[t].alone:
                for node in range(self.n + 1):
                    self.add_node(
                        w, self.start[t, node],
                        &self.sums[not self.templates[t].at_head, node, 0],
                    )

    cdef void add_node(
        self, const weight* w, unsigned long long state, double* sums
    ) noexcept nogil:
        """Add the weights of a feature of one node, in each context."""
        cdef Py_ssize_t side, length
        cdef weight of_side
        for side in range(2):
            of_side = w[column_of(state, 8 * side, self.table)]
            for length in range(1, N_LENGTHS + 1):
                sums[0] += of_side + w[column_of(state, 8 * side + length, self.table)]
                sums += 1

    cdef void add_template(
        self, Py_ssize_t t, Py_ssize_t h, const weight* w, double* out
    ) noexcept nogil:
        """Take the columns of a template for the arcs from one head into the batch."""
        cdef Py_ssize_t i, m, n_found, between = self.templates[t].between
        cdef const unsigned long long* states = &self.state[0]
        cdef const unsigned long long* direction = &self.kinds[0, self.longest - h]
        cdef const unsigned long long* length = &self.kinds[1, self.longest - h]
        cdef const unsigned long long* found
        cdef Lookup* batch
        cdef Table table = self.table
        self.set_states(t, h, 1, self.n + 1)
        if between < 0:
            batch = self.room(self.n, w, out)
            for m in range(1, self.n + 1):
                batch[m - 1] = lookup(m, states[m], direction[m], length[m], table)
                prefetch(w + batch[m - 1].first)
                prefetch(w + batch[m - 1].second)
            return
        self.set_between(between, h)
        for m in range(1, self.n + 1):
            n_found = self.n_found[between, m]
            found = &self.found[between, m < h, 0]
            batch = self.room(n_found, w, out)
            for i in range(n_found):
                batch[i] = lookup(
                    m, mix(states[m], found[i]), direction[m], length[m], table
                )
                prefetch(w + batch[i].first)
                prefetch(w + batch[i].second)

    cdef Lookup* room(
        self, Py_ssize_t size, const weight* w, double* out
    ) noexcept nogil:
        """Return where the batch has room for some more, and count them."""
        cdef Lookup* found
        if self.n_batch + size > self.batch.shape[0]:
            self.add_batch(w, out)
        found = &self.batch[0] + self.n_batch
        self.n_batch += size
        return found

    cdef void add_batch(self, const weight* w, double* out) noexcept nogil:
        """Add the weights of the batch, whose memory has been asked for."""
        cdef Py_ssize_t k
        cdef const Lookup* own = &self.batch[0]
        for k in range(self.n_batch):
            out[own[k].word] += w[own[k].first] + w[own[k].second]
        self.n_batch = 0

    cdef void set_states(
        self, Py_ssize_t t, Py_ssize_t h, Py_ssize_t first, Py_ssize_t last
    ) noexcept nogil:
        """Write the hashes of a template for the arcs from a head to some words."""
        cdef Py_ssize_t m, p
        cdef unsigned long long code
        cdef unsigned long long* states = &self.state[0]
        cdef const unsigned long long* near = &self.start[t, 0]
        cdef Part part
        for m in range(first, last):
            states[m] = near[h if self.templates[t].at_head else m]
        for p in range(self.templates[t].mixed, self.templates[t].last):
            part = self.parts[p]
            near = &self.near[part.column, 1 + part.shift]
            code = near[h]
            for m in range(first, last):
                states[m] = mix(states[m], code if part.at_head else near[m])

    cdef void set_between(self, Py_ssize_t column, Py_ssize_t h) noexcept nogil:
        """Write the distinct values between a head and each word."""
        cdef Py_ssize_t m
        if self.head_of[column] == h:
            return
        self.head_of[column] = <int> h
        self.n_found[column, h] = self.n_side = 0
        self.turn += 1
        for m in range(h + 1, self.n + 1):
            self.pass_word(column, m, 0)
        self.n_side = 0
        self.turn += 1
        for m in range(h - 1, 0, -1):
            self.pass_word(column, m, 1)

    cdef void pass_word(
        self, Py_ssize_t column, Py_ssize_t m, Py_ssize_t side
    ) noexcept nogil:
        """Keep how many values are before a word, and its own value if it is new."""
        cdef int value = self.value[column, m]
        self.n_found[column, m] = self.n_side
        if self.seen[value] != self.turn:
            self.seen[value] = self.turn
            self.found[column, side, self.n_side] = self.near[column, m + 1]
            self.n_side += 1


def _layout(templates):
    """Return the parts of templates, and where they are, as arrays."""
    parts, found = [], []
    for own, between in templates:
        first, at_head = len(parts), bool(own and own[0][0])
        sides = [side for side, *_ in own]
        n_mixed = sides.index(not at_head) if (not at_head) in sides else len(own)
        parts += own
        alone = between < 0 and n_mixed == len(own)
        found.append(
            (first, first + n_mixed, len(parts), at_head, between, alone)
        )
    return np.array(parts, dtype=PART), np.array(found, dtype=TEMPLATE)
