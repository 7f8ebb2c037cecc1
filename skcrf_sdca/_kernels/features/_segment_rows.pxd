"""Features of segments: see _segment_rows.pyx."""


cdef class SegmentRows:
    cdef readonly Py_ssize_t n_features     # F
    cdef readonly Py_ssize_t most           # M
    cdef const int[::1] indptr              # (N * M + 1,)
    cdef const int[::1] columns
    cdef const double[::1] entries
