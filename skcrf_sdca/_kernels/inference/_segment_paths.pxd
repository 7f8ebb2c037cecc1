"""Several segmentations of one sequence: see _segment_paths.pyx."""

from ._segment_chain cimport SegmentWorkspace


cdef class SegmentLists:
    cdef Py_ssize_t width           # W, segmentations wanted
    cdef double[::1] reached        # (T, K, W) scores of what precedes a segment
    cdef double[::1] ended          # (T + 1, K, W) of what ends before a token
    # Where these come from: type or begin, times W, plus the place in its list.
    cdef long long[::1] before      # (T, K, W) of `reached`
    cdef long long[::1] begun       # (T + 1, K, W) of `ended`
    cdef double[::1] front          # buffers of a merge, (K + M + 1,)
    cdef Py_ssize_t[::1] head


cdef void segment_n_best(
    SegmentWorkspace work, SegmentLists lists, const double* local, Py_ssize_t length,
    double* scores, int* paths) noexcept nogil
cdef void segment_sample(
    SegmentWorkspace work, const double* local, Py_ssize_t length,
    const double* uniform, Py_ssize_t n_draws, int* path, int* paths) noexcept nogil
