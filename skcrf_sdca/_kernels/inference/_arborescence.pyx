"""The spanning tree of highest score, by the contraction of cycles [1, 2].

Each node takes its best arc. If these form a cycle, its nodes become one node, whose
arcs from outside have the score less that of the arc in the cycle that they replace;
and so on, until there is no cycle. A tree with one word below the root alone is the
best tree if arcs of the root have a penalty: one more of them is worse than any score
[3]. Penalties are counted apart, so that no digit of a score is lost to them. It takes
O(n^2) steps for each contraction.

References
----------
[1] Chu, Liu, "On the shortest arborescence of a directed graph", Science Sinica, 1965.
[2] Edmonds, "Optimum branchings", J. Res. Nat. Bureau of Standards 71B, 1967.
[3] Stanojevic, Cohen, "A root of a problem: optimizing single-root dependency parsing",
    EMNLP 2021.
"""

from libc.math cimport INFINITY

import numpy as np


cdef class Arborescence:
    """The buffers for sentences of up to ``longest`` words.

    Scores are as for `MatrixTree`.

    Parameters
    ----------
    longest : int
    """

    def __init__(self, Py_ssize_t longest):
        cdef Py_ssize_t size = longest + 1
        arc = np.dtype([("score", "f8"), ("penalty", "i4"), ("place", "i4")])
        self.arcs, self.held = np.empty(size * size, dtype=arc), np.empty(size, arc)
        self.nodes, self.best, self.seen, self.cycle, self.number = np.empty(
            (5, size), dtype=np.intc
        )
        self.above, self.chosen = np.empty((2, 2 * size), dtype=np.intc)

    cdef double solve(
        self, const double* scores, Py_ssize_t n, bint single, int* heads
    ) noexcept nogil:
        """Write the heads of the words of the best tree; return its score.

        That is -inf if there is no tree.
        """
        cdef Py_ssize_t m, n_roots = 0
        cdef int node
        cdef double value = 0.0
        self.set_arcs(scores, n, single)
        while True:
            self.set_best()
            node = self.node_on_cycle()
            if node == 0:
                break
            self.contract(node)
        self.expand()
        for m in range(n):
            heads[m] = self.chosen[m + 1] // n
            n_roots += heads[m] == 0
            value += scores[self.chosen[m + 1]]
        return -INFINITY if single and n_roots > 1 else value

    cdef Arc* arc(self, int head, int node) noexcept nogil:
        """Return the arc between two nodes."""
        return &self.arcs[head * (self.n + 1) + node]

    cdef void set_arcs(
        self, const double* scores, Py_ssize_t n, bint single
    ) noexcept nogil:
        """Make every word a node, with the arcs of its scores."""
        cdef int h, m, place
        self.n, self.n_nodes, self.n_numbers = n, n + 1, n + 1
        for h in range(n + 1):
            self.nodes[h] = self.number[h] = h
            for m in range(n):
                place = h * n + m
                self.arc(h, m + 1)[0] = Arc(scores[place], single and h == 0, place)
                if scores[place] == -INFINITY:
                    # Worse than arcs of the root into all words.
                    self.arc(h, m + 1)[0] = Arc(0.0, n + 1, place)

    cdef void set_best(self) noexcept nogil:
        """Choose the best arc into each node."""
        cdef Py_ssize_t p, q
        cdef int node, head, best
        for p in range(1, self.n_nodes):
            node, best = self.nodes[p], -1
            for q in range(self.n_nodes):
                head = self.nodes[q]
                if head != node and (
                    best < 0 or is_better(self.arc(head, node), self.arc(best, node))
                ):
                    best = head
            self.best[node] = best
            self.seen[node] = 0
            self.chosen[self.number[node]] = self.arc(best, node).place

    cdef int node_on_cycle(self) noexcept nogil:
        """Return a node on a cycle of the best arcs, 0 if there is none."""
        cdef Py_ssize_t p
        cdef int node
        self.seen[0] = -1
        for p in range(1, self.n_nodes):
            node = self.nodes[p]
            while self.seen[node] == 0:
                self.seen[node] = p
                node = self.best[node]
            if self.seen[node] == p:
                return node
        return 0

    cdef void contract(self, int node) noexcept nogil:
        """Make one node of the cycle that a node is on, in the place of the node."""
        cdef Py_ssize_t p, c, size = self.take_cycle(node)
        cdef Arc* arc
        for p in range(self.n_nodes):
            arc = self.arc(self.nodes[p], node)
            arc.score -= self.held[0].score
            arc.penalty -= self.held[0].penalty
        for c in range(1, size):
            self.join(node, c)
        self.nodes[self.n_nodes] = node
        self.n_nodes += 1
        self.number[node] = self.n_numbers
        self.n_numbers += 1

    cdef Py_ssize_t take_cycle(self, int node) noexcept nogil:
        """Write the nodes of a cycle, and their arcs; return how many there are.

        They are no nodes of the graph any more.
        """
        cdef Py_ssize_t p, size = 0, n_left = 0
        cdef int member = node
        while True:
            self.cycle[size] = member
            self.held[size] = self.arc(self.best[member], member)[0]
            self.above[self.number[member]] = self.n_numbers
            self.seen[member] = -2
            size += 1
            member = self.best[member]
            if member == node:
                break
        for p in range(self.n_nodes):
            if self.seen[self.nodes[p]] != -2:
                self.nodes[n_left] = self.nodes[p]
                n_left += 1
        self.n_nodes = n_left
        return size

    cdef void join(self, int node, Py_ssize_t c) noexcept nogil:
        """Take the arcs of member c of the cycle that are better than those of a node.
        """
        cdef Py_ssize_t p
        cdef int other, member = self.cycle[c]
        cdef Arc arc
        for p in range(self.n_nodes):
            other = self.nodes[p]
            arc = self.arc(other, member)[0]
            arc.score -= self.held[c].score
            arc.penalty -= self.held[c].penalty
            if is_better(&arc, self.arc(other, node)):
                self.arc(other, node)[0] = arc
            if other > 0 and is_better(
                self.arc(member, other), self.arc(node, other)
            ):
                self.arc(node, other)[0] = self.arc(member, other)[0]

    cdef void expand(self) noexcept nogil:
        """Choose the arcs of all words, the last contraction first."""
        cdef int c, member
        for c in range(self.n_numbers - 1, self.n, -1):
            # The member that the arc into the cycle leads to lacks its own arc there.
            member = self.chosen[c] % self.n + 1
            while self.above[member] != c:
                member = self.above[member]
            self.chosen[member] = self.chosen[c]


cdef bint is_better(const Arc* one, const Arc* other) noexcept nogil:
    """Return whether an arc is better than another."""
    if one.penalty != other.penalty:
        return one.penalty < other.penalty
    return one.score > other.score
