"""What loops over many chains share: see _chains.pyx."""

from ._chain cimport Workspace


cdef const double* row_pointer(const double[:, ::1] rows) noexcept nogil

cdef Workspace workspace_for(
    const long long[::1] offsets, Py_ssize_t begin, Py_ssize_t end,
    const double[:, ::1] transition)
