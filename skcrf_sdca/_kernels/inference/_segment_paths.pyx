"""Several segmentations of one sequence: the best in their order, and random ones.

The recursions are as in _segment_chain.pyx, with lists of scores in the place of maxima
for the best segmentations. A random one is drawn from its end: the type and the
begin of its last segment, then the type of the segment before, and so on.
"""

from libc.math cimport INFINITY, exp
from libc.string cimport memset

from ..math._math cimport maximum
from ._segment_chain cimport (
    SegmentWorkspace,
    at,
    fill,
    first_maximum,
    segment_forward,
    write_terms,
)
from ._segment_labels cimport later_is_first, write_segment

import numpy as np


cdef class SegmentLists:
    """Buffers for the lists of `segment_n_best`; ``width`` is set for each sequence.

    Parameters
    ----------
    work : SegmentWorkspace
    size : int
        The largest product of W and T + 1.
    """

    def __init__(self, SegmentWorkspace work, Py_ssize_t size):
        size *= work.n_types
        self.reached, self.ended = np.empty(size), np.empty(size)
        self.before, self.begun = np.empty((2, size), dtype=np.int64)
        self.front = np.empty(work.n_types + work.most + 1)
        self.head = np.empty(work.n_types + work.most + 1, dtype=np.intp)


cdef double term(
    SegmentWorkspace work, const double* local,
    Py_ssize_t begin, Py_ssize_t end, Py_ssize_t k,
    double reached,                 # score of what precedes
) noexcept nogil:
    """Add the score of a segment to a score, by the sums of `write_terms`."""
    cdef Py_ssize_t n = work.n_labels, last = end - 1
    cdef const double* passed = &work.passed[k * work.stride]
    cdef double length = work.lengths[(k + 1) * work.most - (end - begin)]
    if begin == last:
        reached = reached + at(local + last * n, work.single[k]) + length
    else:
        reached = reached + at(local + begin * n, work.first[k]) - passed[begin + 1]
        reached = reached + length + (
            passed[last] + at(local + last * n, work.last[k])
        )
    if work.rows is not None:
        reached += work.scores[(end * (work.most - 1) + begin) * work.n_types + k]
    return reached


cdef int label_of(
    SegmentWorkspace work, SegmentLists lists, Py_ssize_t t,
    long long place,                # type times W, plus the place in its list
) noexcept nogil:
    """Return the last label of what ends before token t."""
    cdef Py_ssize_t k = place // lists.width
    cdef long long begun = lists.begun[t * work.n_types * lists.width + place]
    return work.single[k] if begun // lists.width == t - 1 else work.last[k]


cdef Py_ssize_t first_type(
    SegmentWorkspace work, SegmentLists lists, Py_ssize_t t
) noexcept nogil:
    """Return the type of the first of what is left: lower labels go before."""
    cdef Py_ssize_t j, n = work.n_types, width = lists.width
    cdef const double* front = &lists.front[0]
    cdef const Py_ssize_t* head = &lists.head[0]
    cdef Py_ssize_t best = first_maximum(front, n)
    cdef double highest = front[best]
    if highest == -INFINITY:
        return best
    for j in range(best + 1, n):
        if front[j] == highest and (
            label_of(work, lists, t, j * width + head[j])
            < label_of(work, lists, t, best * width + head[best])
        ):
            best = j
    return best


cdef Py_ssize_t first_begin(
    SegmentWorkspace work, SegmentLists lists, Py_ssize_t end, Py_ssize_t k,
    Py_ssize_t first, Py_ssize_t count,     # as of `write_terms`
) noexcept nogil:
    """Return the number of the first of what is left, see `later_is_first`."""
    cdef Py_ssize_t i, number, begin, place, best
    cdef const double* front = &lists.front[0]
    cdef double highest
    if count == 1:
        return 0
    best = 1 + first_maximum(front + 1, count - 1)
    highest = front[best]
    if front[0] > highest or highest == -INFINITY:
        return 0
    # The segment of one token is the first in number, and it begins last.
    for i in range(best + 1, count + 1):
        number = i if i < count else 0
        if front[number] != highest:
            continue
        begin = first + i - 1 if i < count else end - 1
        place = (begin * work.n_types + k) * lists.width + lists.head[number]
        if later_is_first(
            work, begin, end, k, label_of(work, lists, begin, lists.before[place])
        ):
            best = number
    return best


cdef void merge_types(
    SegmentWorkspace work, SegmentLists lists, Py_ssize_t t,
    Py_ssize_t to,                  # the type that follows, or -1 at the end
    double* scores,                 # out, (W,)
    long long* origins,             # out, (W,)
) noexcept nogil:
    """Write the best of what ends before token t, with the transition to a type.

    The lists are sorted: only the first that is left of each can be the next.
    """
    cdef Py_ssize_t j, r, n = work.n_types, width = lists.width
    cdef const double* ended = &lists.ended[t * n * width]
    for j in range(n):
        lists.head[j] = 0
        lists.front[j] = ended[j * width]
        if to >= 0:
            lists.front[j] += work.transition[j * n + to]
    for r in range(width):
        j = first_type(work, lists, t)
        scores[r] = lists.front[j]
        origins[r] = j * width + lists.head[j]
        if scores[r] == -INFINITY:
            continue
        lists.head[j] += 1
        lists.front[j] = -INFINITY
        if lists.head[j] < width:
            lists.front[j] = ended[j * width + lists.head[j]]
            if to >= 0:
                lists.front[j] += work.transition[j * n + to]


cdef void merge_begins(
    SegmentWorkspace work, SegmentLists lists, const double* local,
    Py_ssize_t end, Py_ssize_t k,
) noexcept nogil:
    """Write the best of what ends with a segment of type k before a token."""
    cdef Py_ssize_t i, b, r, first, count, n = work.n_types, width = lists.width
    cdef double* scores = &lists.ended[(end * n + k) * width]
    cdef long long* origins = &lists.begun[(end * n + k) * width]
    count = write_terms(work, local, end, k, &work.terms[0], &first)
    for i in range(count):
        b = end - 1 if i == 0 else first + i - 1
        lists.head[i] = 0
        lists.front[i] = term(
            work, local, b, end, k, lists.reached[(b * n + k) * width]
        )
    for r in range(width):
        i = first_begin(work, lists, end, k, first, count)
        b = end - 1 if i == 0 else first + i - 1
        scores[r] = lists.front[i]
        origins[r] = b * width + lists.head[i]
        if scores[r] == -INFINITY:
            continue
        lists.head[i] += 1
        lists.front[i] = -INFINITY
        if lists.head[i] < width:
            lists.front[i] = term(
                work, local, b, end, k,
                lists.reached[(b * n + k) * width + lists.head[i]],
            )


cdef void segment_n_best(
    SegmentWorkspace work,          # its tied scores and its sequence have been set
    SegmentLists lists,
    const double* local,            # in, (T, L)
    Py_ssize_t length,
    double* scores,                 # out, (W,) -inf where there are no more
    int* paths,                     # out, (W, T) labels
) noexcept nogil:
    """Write the best segmentations of a sequence, best first, as Viterbi finds it."""
    cdef Py_ssize_t t, k, r, b, n = work.n_types, width = lists.width
    cdef long long place
    fill(work, local, length, True)
    for k in range(n):
        for r in range(width):
            lists.reached[k * width + r] = -INFINITY
        lists.reached[k * width] = 0.0
    for t in range(1, length + 1):
        for k in range(n):
            merge_begins(work, lists, local, t, k)
        for k in range(n if t < length else 0):
            merge_types(
                work, lists, t, k, &lists.reached[(t * n + k) * width],
                &lists.before[(t * n + k) * width],
            )
    # Nothing precedes the first token: its place takes the origins of the end.
    merge_types(work, lists, length, -1, scores, &lists.before[0])
    for r in range(width):
        place, t = lists.before[r], length
        memset(paths + r * length, 0, length * sizeof(int))
        if scores[r] == -INFINITY:
            continue
        while t > 0:
            k = place // width
            place = lists.begun[t * n * width + place]
            b = place // width
            write_segment(work, paths + r * length, b, t, k)
            if b > 0:
                place = lists.before[(b * n + k) * width + place % width]
            t = b


cdef Py_ssize_t drawn(double* x, Py_ssize_t n, double* uniform) noexcept nogil:
    """Return a place in proportion to the exponentials of x, none of -inf.

    What the choice leaves of the uniform number is uniform again. Overwrites x.
    """
    cdef Py_ssize_t i, last = 0
    cdef double shift = maximum(x, n), total = 0.0, left
    for i in range(n):
        x[i] = exp(x[i] - shift) if x[i] > -INFINITY else 0.0
        total += x[i]
    left = uniform[0] * total
    for i in range(n):
        if x[i] > 0.0:
            last = i
            if left < x[i]:
                break
            left -= x[i]
    uniform[0] = min(max(left / x[last], 0.0), 1.0)
    return last


cdef void segment_sample(
    SegmentWorkspace work,          # its tied scores and its sequence have been set
    const double* local,            # in, (T, L)
    Py_ssize_t length,
    const double* uniform,          # in, (T, n_draws) in [0, 1)
    Py_ssize_t n_draws,
    int* path,                      # buffer, (T,)
    int* paths,                     # out, (T, n_draws) labels
) noexcept nogil:
    """Write independent draws from p(y | x); zeros if there is no segmentation."""
    cdef Py_ssize_t d, t, i, j, k, begin, count, end, n = work.n_types
    cdef double coin
    memset(paths, 0, length * n_draws * sizeof(int))
    if segment_forward(work, local, length) == -INFINITY:
        return
    for d in range(n_draws):
        end = length
        coin = uniform[(end - 1) * n_draws + d]
        for j in range(n):
            work.terms[j] = work.ended[end * n + j]
        k = drawn(&work.terms[0], n, &coin)
        while True:
            count = write_terms(work, local, end, k, &work.terms[0], &begin)
            i = drawn(&work.terms[0], count, &coin)
            begin = end - 1 if i == 0 else begin + i - 1
            write_segment(work, path, begin, end, k)
            if begin == 0:
                break
            for j in range(n):
                work.terms[j] = work.ended[begin * n + j] + work.transition[j * n + k]
            k = drawn(&work.terms[0], n, &coin)
            end = begin
            coin = uniform[(end - 1) * n_draws + d]
        for t in range(length):
            paths[t * n_draws + d] = path[t]
