"""Several paths of a chain: the best in their order, and random ones.

Scores of -inf are forbidden: no path goes there.
"""

from cython.view cimport array as cython_array
from libc.math cimport INFINITY

from ..math._transitions cimport FREE, TransitionLayout

import numpy as np

from ..math._sparse_transitions import NARROW


cdef class KBestLists:
    """Buffers for the recursion of `best_lists`; `width` is set for every chain.

    An entry of the lists of a position has the place j * width + r.
    """

    def __init__(self, Py_ssize_t n_labels, Py_ssize_t width, Py_ssize_t n_origins):
        self.n = n_labels
        self.width = width
        self.label = None
        self.rows = cython_array((2, n_labels * width), sizeof(double), "d")
        self.reached = &self.rows[0, 0]
        self.extended = &self.rows[1, 0]
        self.origins = cython_array((n_origins,), sizeof(long long), "q")
        self.front = cython_array((n_labels,), sizeof(double), "d")
        self.head = cython_array((n_labels,), sizeof(long long), "q")
        self.zeros = cython_array((n_labels,), sizeof(double), "d")
        self.zeros[:] = 0.0

    cdef Py_ssize_t first_of(
        self, const double* values, const long long* entries, Py_ssize_t n
    ) noexcept nogil:
        """Return the place of the largest value, of equal ones the first; 0 of none."""
        cdef Py_ssize_t i, best = 0
        for i in range(1, n):
            if values[i] > values[best]:
                best = i
            elif self.label is not None and values[i] == values[best]:
                if values[i] > -INFINITY and self.precedes(entries[i], entries[best]):
                    best = i
        return best

    cdef bint precedes(self, long long one, long long other) noexcept nogil:
        """Return whether an entry goes before another one of the same score.

        Its path has the lower label at the last position where they differ.
        """
        cdef Py_ssize_t t, j, k
        if self.label is None:
            return one // self.width < other // self.width
        for t in range(self.position, -1, -1):
            j, k = self.label[one // self.width], self.label[other // self.width]
            if j != k or t == 0:
                return j < k
            one = self.origins[t * self.n * self.width + one]
            other = self.origins[t * self.n * self.width + other]
        return False

    # The r-th best of all reached[j, .] + added[j]. Lists are sorted, so that only the
    # first that is left of each can be next. An origin is the place of the entry;
    # places without a path have the score -inf.
    cdef void merge(
        self,
        const double* added, Py_ssize_t stride,     # in, (K,)
        double* scores,                             # out, (width,)
        long long* origins,                         # out, (width,)
    ) noexcept nogil:
        """Merge the lists of all labels into one."""
        cdef Py_ssize_t j, r, best, n = self.n, width = self.width
        cdef double* front = &self.front[0]
        cdef long long* head = &self.head[0]
        for j in range(n):
            head[j] = j * width
            front[j] = self.reached[j * width] + added[j * stride]
        for r in range(width):
            best = self.first_of(front, head, n)
            scores[r] = front[best]
            origins[r] = 0
            if scores[r] == -INFINITY:
                continue
            origins[r] = head[best]
            head[best] += 1
            front[best] = -INFINITY
            if head[best] < (best + 1) * width:
                front[best] = self.reached[origins[r] + 1] + added[best * stride]

    cdef void begin(self) noexcept nogil:
        """Begin a position, with the lists of the position before."""

    cdef void extend(
        self,
        const double* transition,                   # in, (K, K)
        Py_ssize_t k,
        double* scores,                             # out, (width,)
        long long* origins,                         # out, (width,)
    ) noexcept nogil:
        """Merge what leads to label k."""
        self.merge(transition + k, self.n, scores, origins)


cdef class ListsBesideFree(KBestLists):
    """Lists where most pairs of labels have the score 0, see _sparse_transitions.pyx.

    ``transition`` has the scores of the pairs of the layout. The best of all lists are
    sorted once for a position; to each label the free ones among them lead, and the
    lists of the labels whose pairs have a score. To a label that few labels lead to,
    the lists of all of these lead.

    Parameters
    ----------
    n_labels, width, n_origins : int
        As for `KBestLists`.
    layout : SparseTransitions
    """

    def __init__(self, n_labels, width, n_origins, TransitionLayout layout):
        super().__init__(n_labels, width, n_origins)
        self.layout = layout
        self.value = cython_array((n_labels * width,), sizeof(double), "d")
        self.entry = cython_array((n_labels * width,), sizeof(long long), "q")
        self.left = cython_array((n_labels,), sizeof(double), "d")
        self.next = cython_array((n_labels,), sizeof(long long), "q")
        self.before = cython_array((n_labels,), sizeof(int), "i")
        self.added = cython_array((n_labels,), sizeof(double), "d")
        allowed = np.broadcast_to(layout.is_free, (n_labels, n_labels))
        is_narrow = allowed.sum(axis=0) < NARROW * n_labels
        label, before = np.nonzero((allowed & is_narrow).T)
        self.few = before.astype(np.int32)
        self.bounds = np.searchsorted(label, np.arange(n_labels + 1))

    cdef void begin(self) noexcept nogil:
        cdef Py_ssize_t j
        self.n_sorted = 0
        for j in range(self.n):
            self.left[j] = self.reached[j * self.width]
            self.next[j] = j * self.width

    cdef bint sort_up_to(self, Py_ssize_t r) noexcept nogil:
        """Sort one entry more, if entry r is the next; return whether there is one."""
        cdef Py_ssize_t best
        if r < self.n_sorted:
            return True
        best = self.first_of(&self.left[0], &self.next[0], self.n)
        if self.left[best] == -INFINITY:
            return False
        self.value[r] = self.left[best]
        self.entry[r] = self.next[best]
        self.next[best] += 1
        self.n_sorted += 1
        self.left[best] = -INFINITY
        if self.next[best] < (best + 1) * self.width:
            self.left[best] = self.reached[self.entry[r] + 1]
        return True

    cdef void extend(
        self,
        const double* transition,                   # in, (size,)
        Py_ssize_t k,
        double* scores,                             # out, (width,)
        long long* origins,                         # out, (width,)
    ) noexcept nogil:
        cdef Py_ssize_t i, r, best, label, free = 0
        cdef Py_ssize_t count = self.gather(transition, k)
        cdef bint has_free = self.bounds[k + 1] == self.bounds[k]
        cdef double* front = &self.front[0]
        for i in range(count):
            self.head[i] = self.before[i] * self.width
            front[i] = self.reached[self.head[i]] + self.added[i]
        for r in range(self.width):
            best = self.first_of(front, &self.head[0], count)
            scores[r], origins[r], label = -INFINITY, 0, self.n
            if count > 0 and front[best] > -INFINITY:
                scores[r], origins[r] = front[best], self.head[best]
                label = self.before[best]
            if has_free:
                free = self.free_from(free, k)
                if free < self.n_sorted and self.is_before(free, scores[r], origins[r]):
                    scores[r], origins[r] = self.value[free], self.entry[free]
                    free += 1
                    continue
            if label < self.n:
                self.head[best] += 1
                front[best] = -INFINITY
                if self.head[best] < (label + 1) * self.width:
                    front[best] = self.reached[self.head[best]] + self.added[best]

    cdef Py_ssize_t gather(
        self,
        const double* transition,                   # in, (size,)
        Py_ssize_t k,
    ) noexcept nogil:
        """Write which labels come before k, or those whose pairs have a score alone.

        Return how many; they are in rising order.
        """
        cdef const long long* place = &self.layout.origins[k, 0]
        cdef const int* before = self.layout.blocks.before + place[0]
        cdef Py_ssize_t i, pair, first = self.bounds[k]
        cdef Py_ssize_t count = self.bounds[k + 1] - first
        for i in range(count):
            self.before[i] = self.few[first + i]
            pair = self.layout.place(self.before[i], k)
            self.added[i] = transition[pair] if pair >= 0 else 0.0
        if count > 0:
            return count
        for i in range(place[1]):
            self.before[i] = before[i]
            self.added[i] = transition[place[2] + i * place[3]]
        return place[1]

    cdef Py_ssize_t free_from(self, Py_ssize_t r, Py_ssize_t k) noexcept nogil:
        """Return the first entry from r on whose label is free before label k.

        There is none if it has not been sorted.
        """
        while self.sort_up_to(r):
            if self.layout.place(self.entry[r] // self.width, k) == FREE:
                break
            r += 1
        return r

    cdef bint is_before(
        self, Py_ssize_t r, double score, long long other
    ) noexcept nogil:
        """Return whether a sorted entry comes before another one, given its score."""
        if self.value[r] != score:
            return self.value[r] > score
        return self.precedes(self.entry[r], other)


# Viterbi with lists: reached_t[k, .] are the best scores of the paths that end in label
# k at position t,
#     reached_t[k, .] = node_scores_t[k]
#                       + best of all reached_{t-1}[j, .] + transition[j, k],
# and the best of all lists at the last position are the best of the chain. Sums are
# made as by Viterbi, and ties have the same order: the path with the lower label at the
# last position where two differ comes first.
cdef void best_lists(
    KBestLists lists,
    const double* node_scores,      # in, (T, K)
    const double* transition,       # in, as `KBestLists.extend` takes it
    Py_ssize_t length,
    double* scores,                 # out, (width,)
    int* paths,                     # out, (width, T)
) noexcept nogil:
    """Write the best paths of one chain and their scores, -inf where there are no more.
    """
    cdef Py_ssize_t t, k, r, n = lists.n, width = lists.width
    cdef long long place
    cdef long long* origins = &lists.origins[0]
    cdef double* row
    for k in range(n):
        for r in range(width):
            lists.reached[k * width + r] = -INFINITY
        lists.reached[k * width] = node_scores[k]
    for t in range(1, length):
        lists.position = t - 1
        lists.begin()
        for k in range(n):
            row = lists.extended + k * width
            lists.extend(transition, k, row, origins + (t * n + k) * width)
            for r in range(width):
                row[r] += node_scores[t * n + k]
        lists.reached, lists.extended = lists.extended, lists.reached
    # The first position has no origins: the origins of the end take their place.
    lists.position = length - 1
    lists.merge(&lists.zeros[0], 1, scores, origins)
    for r in range(width):
        place = origins[r]
        for t in range(length - 1, -1, -1):
            paths[r * length + t] = <int> (place // width)
            place = origins[t * n * width + place]


cdef int drawn(
    const double* weight, Py_ssize_t stride,    # in, (K,)
    Py_ssize_t n,
    double uniform,
) noexcept nogil:
    """Return a label in proportion to its weight, none of weight 0."""
    cdef Py_ssize_t k
    cdef int last = 0
    cdef double left = 0.0
    for k in range(n):
        left += weight[k * stride]
    left *= uniform
    for k in range(n):
        if weight[k * stride] > 0.0:
            last = <int> k
            left -= weight[k * stride]
            if left < 0.0:
                break
    return last
