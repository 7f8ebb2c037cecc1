"""Features of a change that is 0 at most positions: see _changed_sums.pyx."""

from ._weights cimport FeatureSums


cdef class ChangedSums(FeatureSums):
    cdef int[::1] place                 # (d,) of each feature in the sums, -1 for none
    cdef int[::1] found                 # the features that have a place
    cdef Py_ssize_t n_found
    cdef int[::1] places                # a buffer: of the entries of a row

    cdef void add_row(self, Py_ssize_t t, const double* change) noexcept nogil


cdef FeatureSums changed_sums(FeatureSums sums)


cdef inline bint has_change(const double* change, Py_ssize_t n) noexcept nogil:
    """Return whether one of n numbers is not 0."""
    cdef Py_ssize_t k
    for k in range(n):
        if change[k] != 0.0:
            return True
    return False
