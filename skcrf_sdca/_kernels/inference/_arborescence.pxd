"""The spanning tree of highest score: see _arborescence.pyx."""


# An arc from one node to another, as contractions change it.
cdef struct Arc:
    double score
    int penalty         # the smaller one is better, whatever the scores are
    int place           # of the arc between words that it stands for


cdef class Arborescence:
    cdef Py_ssize_t n               # words
    cdef Arc[::1] arcs              # (n + 1, n + 1) [head, node], of nodes now
    cdef int[::1] nodes             # (n + 1,) the nodes now, first the root 0
    cdef Py_ssize_t n_nodes
    cdef int[::1] best              # (n + 1,) the head of the best arc into each node
    cdef int[::1] seen              # (n + 1,) the search that was at a node
    cdef int[::1] cycle             # (n + 1,) the nodes of a cycle
    cdef Arc[::1] held              # (n + 1,) their arcs
    # Words have the numbers 1 to n, and what they are contracted to the next ones.
    cdef int[::1] number            # (n + 1,) of nodes now
    cdef int[::1] above             # (2n + 1,) what a number was contracted to
    cdef int[::1] chosen            # (2n + 1,) the place of the arc into it
    cdef int n_numbers

    cdef double solve(
        self, const double* scores, Py_ssize_t n, bint single,
        int* heads) noexcept nogil
    cdef void set_arcs(
        self, const double* scores, Py_ssize_t n, bint single) noexcept nogil
    cdef void set_best(self) noexcept nogil
    cdef int node_on_cycle(self) noexcept nogil
    cdef void contract(self, int node) noexcept nogil
    cdef Py_ssize_t take_cycle(self, int node) noexcept nogil
    cdef void join(self, int node, Py_ssize_t c) noexcept nogil
    cdef void expand(self) noexcept nogil
    cdef Arc* arc(self, int head, int node) noexcept nogil
