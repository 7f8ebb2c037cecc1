# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Segmentations as labels of tokens: the best one, and scores and counts of given ones.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from ._segment_chain cimport SegmentWorkspace, fill, first_maximum, write_terms


cdef double segment_viterbi(
    SegmentWorkspace work,
    const double* local,            # in, (T, L)
    Py_ssize_t length,
    int* path,                      # out, (T,) labels
) noexcept nogil:
    """Fill the labels of the best segmentation; return its score, -inf if none.

    Of equal ones it takes the first type, and the shorter of two last segments of one
    token or more.
    """
    cdef Py_ssize_t i, j, k, begin, count, n = work.n_types, end = length
    cdef double value
    cdef double* row
    if length == 0:
        return 0.0
    fill(work, local, length, True)
    row = &work.ended[length * n]
    k = first_maximum(row, n)
    value = row[k]
    if not value > -INFINITY:
        memset(path, 0, length * sizeof(int))
        return value
    while True:
        count = write_terms(work, local, end, k, &work.terms[0], &begin)
        i = first_maximum(&work.terms[0], count)
        begin = end - 1 if i == 0 else begin + i - 1
        write_segment(work, path, begin, end, k)
        if begin == 0:
            return value
        for j in range(n):
            work.terms[j] = work.ended[begin * n + j] + work.transition[j * n + k]
        k = first_maximum(&work.terms[0], n)
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
    """Return the score of labels, -inf if they are not those of a segmentation."""
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
