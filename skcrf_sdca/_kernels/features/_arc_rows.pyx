"""The columns of the features of arcs, made of the codes of tokens when needed.

A feature is the hash of a template and of the codes of its parts in their order, and a
number for the direction of the arc, or for its direction and length. With mix(code,
other) for the hash of two numbers,

    hash = mix(... mix(mix(t + 1, part 1), part 2) ...),
    column = ((hash >> 20) + context) % n_features,

t the number of the template, and context = 8 for an arc to the left, or 0, plus 0, or
the class of its length from 1 to 7; see text/_arc_features.py. So the weights of a hash
are neighbours, which are read at once. The rows of a sentence take megabytes, and their
columns are made in the time of reading them.

Reading weights, which are anywhere in megabytes, is most of the time of scores. So all
columns of one head are made first, their weights are asked for, and they are summed
when they have come. What depends on one node alone is hashed once for each node: the
first parts of a template, and all of a template that has no others. Features of tokens
between are summed up from word to word: of two words of the same parts whose arcs have
the same context, the farther one has the features of the nearer one, and new ones.
"""

cimport cython

from libc.math cimport INFINITY
from libc.string cimport memset

from ._prefetch cimport prefetch

import numpy as np

# Classes of lengths up to 11 words, and of longer arcs.
LENGTHS = np.array([1, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 7])
GROUP = np.dtype([("kind", "i4"), ("n_seen", "i4"), ("total", "f8")])
PART = np.dtype([("at_head", "i4"), ("shift", "i4"), ("column", "i4")])
TEMPLATE = np.dtype(
    [(name, "i4") for name in ("first", "mixed", "last", "at_head", "between")]
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
        self.parts, layout = _layout(templates)
        self.templates = layout
        has_between, is_mixed = layout["between"] >= 0, layout["mixed"] < layout["last"]
        kinds = ~has_between & ~is_mixed, ~has_between & is_mixed, has_between
        self.of_one, self.of_two, self.of_between = (
            np.flatnonzero(own).astype(np.intc) for own in kinds
        )
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
        self.group = np.empty((n_templates, n_nodes), dtype=np.intc)
        self.state = np.empty(n_nodes, dtype=np.uint64)
        self.head_of = np.empty(n_columns, dtype=np.intc)
        self.found = np.empty((n_columns, 2, n_nodes), dtype=np.uint64)
        self.n_found = np.empty((n_columns, n_nodes), dtype=np.intc)
        self.seen = np.zeros(n_nodes, dtype=np.intc)
        self.sums = np.empty((2, n_nodes, N_CONTEXTS))
        n_bases = self.longest * max(len(self.of_two), self.longest)
        self.bases = np.empty(n_bases, dtype=np.uintc)
        self.groups = np.empty(n_nodes, dtype=GROUP)
        self.first_new = np.empty(n_nodes, dtype=np.intc)

    def _make_contexts(self):
        """Write what a feature has of direction and length."""
        shift = np.arange(-self.longest, self.longest + 1)
        length = LENGTHS[np.minimum(abs(shift), len(LENGTHS) - 1)]
        is_left = shift < 0
        self.context = (is_left * N_LENGTHS + length - 1).astype(np.intc)
        kinds = np.stack([8 * is_left, 8 * is_left + length])
        self.kinds = kinds.astype(np.intc)

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
                self.set_groups(t)

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

    cdef void set_groups(self, Py_ssize_t t) noexcept nogil:
        """Write the first word with the same parts of a template for each word."""
        cdef Py_ssize_t m, p, first
        cdef Part part
        for m in range(1, self.n + 1):
            self.state[m] = 0
        for p in range(self.templates[t].first, self.templates[t].last):
            part = self.parts[p]
            if not part.at_head:
                for m in range(1, self.n + 1):
                    self.state[m] = mix(
                        self.state[m], self.near[part.column, m + 1 + part.shift]
                    )
        for m in range(1, self.n + 1):
            first = 1
            while self.state[first] != self.state[m]:
                first += 1
            self.group[t, m] = <int> first

    cdef Py_ssize_t row(self, Py_ssize_t h, Py_ssize_t m, int* out) noexcept nogil:
        """Write the columns of the arc from head h to word m; return their number."""
        cdef Py_ssize_t t, k, i, c = m - h + self.longest, n = 0
        cdef unsigned int base, n_columns = <unsigned int> self.table.n_columns
        cdef Template own
        for t in range(self.templates.shape[0]):
            own = self.templates[t]
            self.set_states(t, h, m, m + 1)
            if own.between < 0:
                base = base_of(self.state[m], self.table)
                for k in range(2):
                    out[n + k] = in_context(base, self.kinds[k, c], n_columns)
                n += 2
                continue
            self.set_between(own.between, h)
            for i in range(self.n_found[own.between, m]):
                base = base_of(
                    mix(self.state[m], self.found[own.between, m < h, i]), self.table
                )
                for k in range(2):
                    out[n + k] = in_context(base, self.kinds[k, c], n_columns)
                n += 2
        return n

    cdef void add_scores(self, const weight* w, double* out) noexcept nogil:
        """Add the scores of all arcs of the sentence, nothing to what is no arc."""
        cdef Py_ssize_t h, k, n = self.n
        cdef double kept = 0.0
        cdef double* own = out
        for h in range(n + 1):
            if h > 0:
                kept = own[h - 1]
            self.ask_for_node(h, w)
            self.add_pairs(h, w, own)
            for k in range(self.of_between.shape[0]):
                self.add_between(self.of_between[k], h, w, own)
            if h > 0:
                own[h - 1] = kept
            own += n
        self.add_nodes(w, out)

    cdef void ask_for_node(self, Py_ssize_t node, const weight* w) noexcept nogil:
        """Ask for the weights of features of one node."""
        cdef Py_ssize_t k
        cdef const weight* own
        for k in range(self.of_one.shape[0]):
            own = w + base_of(self.start[self.of_one[k], node], self.table)
            prefetch(own)
            prefetch(own + LAST_KIND)

    cdef void add_nodes(self, const weight* w, double* out) noexcept nogil:
        """Add the weights of features of one node, as head and as word, to all arcs."""
        cdef Py_ssize_t k, t, node, h, m, c, n = self.n
        self.sums[:, : n + 1] = 0.0
        for k in range(self.of_one.shape[0]):
            t = self.of_one[k]
            for node in range(n + 1):
                self.add_node(
                    w, base_of(self.start[t, node], self.table),
                    &self.sums[not self.templates[t].at_head, node, 0],
                )
        for h in range(n + 1):
            for m in range(1, n + 1):
                c = self.context[m - h + self.longest]
                if m != h:
                    out[m - 1] += self.sums[0, h, c] + self.sums[1, m, c]
            out += n

    cdef void add_node(
        self, const weight* w, unsigned int base, double* sums
    ) noexcept nogil:
        """Add the weights of a feature of one node, in each context."""
        cdef unsigned int side, length, n_columns = <unsigned int> self.table.n_columns
        cdef weight of_side
        for side in range(2):
            of_side = w[in_context(base, 8 * side, n_columns)]
            for length in range(1, N_LENGTHS + 1):
                sums[0] += of_side + w[in_context(base, 8 * side + length, n_columns)]
                sums += 1

    cdef void add_pairs(
        self, Py_ssize_t h, const weight* w, double* out
    ) noexcept nogil:
        """Add the weights of features of both nodes to the arcs from one head."""
        cdef Py_ssize_t k, m, n = self.n, n_pairs = self.of_two.shape[0]
        cdef const int* direction = &self.kinds[0, self.longest - h]
        cdef const int* length = &self.kinds[1, self.longest - h]
        cdef const unsigned long long* states = &self.state[0]
        cdef unsigned int* bases = &self.bases[0]
        cdef unsigned int n_columns = <unsigned int> self.table.n_columns
        cdef Table table = self.table
        cdef double total
        for k in range(n_pairs):
            self.set_states(self.of_two[k], h, 1, n + 1)
            for m in range(1, n + 1):
                bases[m - 1] = base_of(states[m], table)
                prefetch(w + bases[m - 1] + direction[m])
                prefetch(w + bases[m - 1] + length[m])
            bases += n
        for m in range(1, n + 1):
            bases, total = &self.bases[m - 1], 0.0
            for k in range(n_pairs):
                total += (
                    w[in_context(bases[k * n], direction[m], n_columns)]
                    + w[in_context(bases[k * n], length[m], n_columns)]
                )
            out[m - 1] += total

    cdef void add_between(
        self, Py_ssize_t t, Py_ssize_t h, const weight* w, double* out
    ) noexcept nogil:
        """Add the weights of features of tokens between to the arcs from one head."""
        cdef Py_ssize_t k, m, i, n_new, column = self.templates[t].between
        cdef unsigned int n_columns = <unsigned int> self.table.n_columns
        cdef const int* direction = &self.kinds[0, self.longest - h]
        cdef const int* length = &self.kinds[1, self.longest - h]
        cdef const unsigned int* base = &self.bases[0]
        cdef Group* group
        self.set_states(t, h, 1, self.n + 1)
        self.set_between(column, h)
        self.ask_for_new(t, h, w)
        for k in range(self.n - (h > 0)):
            m = outwards(k, h, self.n)
            group = &self.groups[self.group[t, m]]
            if self.first_new[m] == 0:
                group.total = 0.0
            n_new = self.n_found[column, m] - self.first_new[m]
            for i in range(n_new):
                group.total += (
                    w[in_context(base[i], direction[m], n_columns)]
                    + w[in_context(base[i], length[m], n_columns)]
                )
            base += n_new
            out[m - 1] += group.total

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

    cdef void ask_for_new(
        self, Py_ssize_t t, Py_ssize_t h, const weight* w
    ) noexcept nogil:
        """Ask for the weights of values that the word before in a group lacks."""
        cdef Py_ssize_t k, m, i, column = self.templates[t].between
        cdef const int* direction = &self.kinds[0, self.longest - h]
        cdef const int* length = &self.kinds[1, self.longest - h]
        cdef const unsigned long long* found
        cdef unsigned int* base = &self.bases[0]
        cdef Group* group
        for m in range(1, self.n + 1):
            self.groups[m].kind = 0
        for k in range(self.n - (h > 0)):
            m = outwards(k, h, self.n)
            found = &self.found[column, m < h, 0]
            group = &self.groups[self.group[t, m]]
            self.first_new[m] = group.n_seen if group.kind == length[m] else 0
            for i in range(self.first_new[m], self.n_found[column, m]):
                base[0] = base_of(mix(self.state[m], found[i]), self.table)
                prefetch(w + base[0] + direction[m])
                prefetch(w + base[0] + length[m])
                base += 1
            group.kind, group.n_seen = length[m], self.n_found[column, m]

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


cdef inline Py_ssize_t outwards(
    Py_ssize_t k, Py_ssize_t h, Py_ssize_t n
) noexcept nogil:
    """Return a word by its number: those after h, and then those before it."""
    return h + 1 + k if k < n - h else n - 1 - k


def _layout(templates):
    """Return the parts of templates, and where they are, as arrays."""
    parts, found = [], []
    for own, between in templates:
        first, at_head = len(parts), bool(own and own[0][0])
        sides = [side for side, *_ in own]
        n_mixed = sides.index(not at_head) if (not at_head) in sides else len(own)
        parts += own
        found.append((first, first + n_mixed, len(parts), at_head, between))
    return np.array(parts, dtype=PART), np.array(found, dtype=TEMPLATE)
