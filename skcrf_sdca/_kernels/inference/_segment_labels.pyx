"""Segmentations as labels of tokens: the best one, and scores and counts of given ones.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from ..math._math cimport maximum
from ._segment_chain cimport SegmentWorkspace, fill, first_maximum, write_terms


# Of segmentations with equal scores the one with the lower label at the last token
# where they differ comes first. Two last segments of one type that end together differ
# at the later begin, where one has its first label and the other an inner one. If both
# are one label, they differ before that begin: the label there is not of the type, as
# two segments of one type that touch would be one.
cdef bint later_is_first(
    SegmentWorkspace work, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t k, int before
) noexcept nogil:
    """Return whether a last segment of type k goes before those that begin earlier.

    ``before`` is the label before it.
    """
    cdef int own = work.first[k], other = work.inside[k]
    if end == begin + 1:
        own, other = work.single[k], work.last[k]
    return own < other if own != other else before < other


cdef int last_label(
    SegmentWorkspace work, const double* local, Py_ssize_t end, Py_ssize_t k
) noexcept nogil:
    """Return the last label of the first of the best that end with a type."""
    cdef Py_ssize_t count, begin
    cdef double* terms = &work.exps[0]
    cdef double several
    if work.single[k] == work.last[k]:
        return work.single[k]
    count = write_terms(work, local, end, k, terms, &begin)
    several = maximum(terms + 1, count - 1) if count > 1 else -INFINITY
    if several == terms[0]:
        return min(work.single[k], work.last[k])
    return work.last[k] if several > terms[0] else work.single[k]


cdef Py_ssize_t best_type(
    SegmentWorkspace work, const double* local, Py_ssize_t end,
    Py_ssize_t to,                  # the type that follows, or -1 at the end
) noexcept nogil:
    """Return the type of the segment that ends there, in the first of the best."""
    cdef Py_ssize_t k, best, n = work.n_types
    cdef double* values = &work.shifts[0]
    cdef double highest
    cdef int label, lowest = -1     # the last label of the best, -1 as long as unknown
    for k in range(n):
        values[k] = work.ended[end * n + k]
        if to >= 0:
            values[k] += work.transition[k * n + to]
    best = first_maximum(values, n)
    highest = values[best]
    for k in range(best + 1, n):
        if values[k] == highest > -INFINITY:
            if lowest < 0:
                lowest = last_label(work, local, end, best)
            label = last_label(work, local, end, k)
            if label < lowest:
                best, lowest = k, label
    return best


cdef Py_ssize_t best_begin(
    SegmentWorkspace work, const double* local, Py_ssize_t end, Py_ssize_t k
) noexcept nogil:
    """Return where the last segment of type k begins, in the first of the best."""
    cdef Py_ssize_t i, begin, first, best
    cdef double* terms = &work.terms[0]
    cdef Py_ssize_t count = write_terms(work, local, end, k, terms, &first)
    cdef double highest
    if count == 1:
        return end - 1
    i = 1 + first_maximum(terms + 1, count - 1)
    highest, best = terms[i], first + i - 1
    if terms[0] > highest:
        return end - 1
    # The term of one token is the first, and it begins last.
    for i in range(i + 1, count + 1):
        begin = first + i - 1 if i < count else end - 1
        if terms[i if i < count else 0] == highest and later_is_first(
            work, begin, end, k,
            last_label(work, local, begin, best_type(work, local, begin, k)),
        ):
            best = begin
    return best


cdef double segment_viterbi(
    SegmentWorkspace work,
    const double* local,            # in, (T, L)
    Py_ssize_t length,
    int* path,                      # out, (T,) labels
) noexcept nogil:
    """Fill the labels of the best segmentation; return its score, -inf if none."""
    cdef Py_ssize_t k, begin, end = length
    cdef double value
    if length == 0:
        return 0.0
    fill(work, local, length, True)
    k = best_type(work, local, length, -1)
    value = work.ended[length * work.n_types + k]
    if not value > -INFINITY:
        memset(path, 0, length * sizeof(int))
        return value
    while True:
        begin = best_begin(work, local, end, k)
        write_segment(work, path, begin, end, k)
        if begin == 0:
            return value
        k = best_type(work, local, begin, k)
        end = begin


cdef void write_segment(
    SegmentWorkspace work, int* path, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t k
) noexcept nogil:
    """Write the labels of a segment."""
    cdef Py_ssize_t t
    if end == begin + 1:
        path[begin] = work.single[k]
        return
    path[begin], path[end - 1] = work.first[k], work.last[k]
    for t in range(begin + 1, end - 1):
        path[t] = work.inside[k]


cdef Py_ssize_t end_of_segment(
    SegmentWorkspace work, const int* path, Py_ssize_t length, Py_ssize_t begin
) noexcept nogil:
    """Return where the segment that begins there ends, by the labels."""
    cdef Py_ssize_t end = begin + 1
    while end < length and work.joins[path[end - 1], path[end]]:
        end += 1
    return end


cdef void add_path(
    SegmentWorkspace work,
    const int* path,                # in, (T,) labels of a segmentation
    Py_ssize_t length,
    double step,
    double* tied,                   # in, out
) noexcept nogil:
    """Add step times the counts and the features of a segmentation."""
    cdef Py_ssize_t end, k, begin = 0, before = -1, n = work.n_types
    while begin < length:
        end = end_of_segment(work, path, length, begin)
        k = work.label_types[path[begin]]
        if before >= 0:
            tied[before * n + k] += step
        tied[n * n + k * work.most + end - begin - 1] += step
        work.add_row(begin, end, k, step, tied)
        begin, before = end, k


cdef double path_score(
    SegmentWorkspace work,
    const double* local,            # in, (T, L)
    const double* tied,             # in, (n_tied,)
    const int* path,                # in, (T,) any labels
    Py_ssize_t length,
) noexcept nogil:
    """Return the score of labels, -inf if no segmentation has them."""
    cdef Py_ssize_t t, end, k, p, begin = 0, before = -1, n = work.n_types
    cdef double value = 0.0
    while begin < length:
        end = end_of_segment(work, path, length, begin)
        k = work.label_types[path[begin]]
        if end - begin > work.longest[k]:
            return -INFINITY
        if end == begin + 1:
            if path[begin] != work.single[k]:
                return -INFINITY
        elif path[begin] != work.first[k] or path[end - 1] != work.last[k]:
            return -INFINITY
        for t in range(begin + 1, end - 1):
            if path[t] != work.inside[k]:
                return -INFINITY
        if before >= 0:
            p = before * n + k
            value += tied[p] + work.log_mask[p]
        p = n * n + k * work.most + end - begin - 1
        value += tied[p] + work.log_mask[p] + work.row_score(begin, end, k, tied)
        for t in range(begin, end):
            value += local[t * work.n_labels + path[t]]
        begin, before = end, k
    return value
