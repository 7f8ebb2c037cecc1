"""Segmentations as labels of tokens: see _segment_labels.pyx."""

from ._segment_chain cimport SegmentWorkspace


cdef void write_segment(
    SegmentWorkspace work, int* path, Py_ssize_t begin, Py_ssize_t end,
    Py_ssize_t k) noexcept nogil
cdef double segment_viterbi(
    SegmentWorkspace work, const double* local, Py_ssize_t length,
    int* path) noexcept nogil
cdef void add_path(
    SegmentWorkspace work, const int* path, Py_ssize_t length, double step,
    double* tied) noexcept nogil
cdef double path_score(
    SegmentWorkspace work, const double* local, const double* tied, const int* path,
    Py_ssize_t length) noexcept nogil
cdef bint later_is_first(
    SegmentWorkspace work, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t k, int before
) noexcept nogil
