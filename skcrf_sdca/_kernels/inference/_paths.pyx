"""Several paths of a chain: the best in their order, and random ones.

Scores of -inf are forbidden: no path goes there.
"""

from cython.view cimport array as cython_array
from libc.math cimport INFINITY


cdef class KBestLists:
    """Buffers for the recursion of `best_lists`; `width` is set for every chain."""

    def __cinit__(self, Py_ssize_t n_labels, Py_ssize_t width, Py_ssize_t n_origins):
        self.n = n_labels
        self.width = width
        self.rows = cython_array((2, n_labels * width), sizeof(double), "d")
        self.reached = &self.rows[0, 0]
        self.extended = &self.rows[1, 0]
        self.origins = cython_array((n_origins,), sizeof(long long), "q")
        self.front = cython_array((n_labels,), sizeof(double), "d")
        self.head = cython_array((n_labels,), sizeof(long long), "q")
        self.zeros = cython_array((n_labels,), sizeof(double), "d")
        self.zeros[:] = 0.0

    # The r-th best of all reached[j, .] + added[j]. Lists are sorted, so that only the
    # first that is left of each can be next; ties go to the lowest j. An origin is the
    # place of the entry, j * width + r; places without a path have the score -inf.
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
            head[j] = 0
            front[j] = self.reached[j * width] + added[j * stride]
        for r in range(width):
            best = 0
            for j in range(1, n):
                if front[j] > front[best]:
                    best = j
            scores[r] = front[best]
            origins[r] = 0
            if scores[r] == -INFINITY:
                continue
            origins[r] = best * width + head[best]
            head[best] += 1
            front[best] = -INFINITY
            if head[best] < width:
                front[best] = self.reached[origins[r] + 1] + added[best * stride]


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
    const double* transition,       # in, (K, K)
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
        for k in range(n):
            row = lists.extended + k * width
            lists.merge(transition + k, n, row, origins + (t * n + k) * width)
            for r in range(width):
                row[r] += node_scores[t * n + k]
        lists.reached, lists.extended = lists.extended, lists.reached
    # The first position has no origins: the origins of the end take their place.
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
