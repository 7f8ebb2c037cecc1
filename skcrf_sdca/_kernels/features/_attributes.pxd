"""Attributes of items, and their weights: see _attributes.pyx."""

cimport cython


@cython.final
cdef class AttributeWeights:
    cdef dict numbers
    cdef const long long[::1] begins
    cdef const long long[::1] labels
    cdef const double[::1] weights

    cdef int add_to(
        self, list items, double* scores, Py_ssize_t n_labels
    ) except -1
