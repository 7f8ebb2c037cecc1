"""The columns of the features of siblings: see _sibling_rows.pyx."""

from ._arc_rows cimport ArcRows, Part


# Its parts are of the head, then of the word, then of the sibling.
cdef struct SiblingTemplate:
    int first           # part
    int at_sibling
    int last
    bint has_head


cdef class SiblingRows:
    cdef ArcRows arcs
    cdef readonly Py_ssize_t most_columns       # of a sibling
    cdef SiblingTemplate[::1] templates
    cdef Part[::1] parts
    cdef double[::1] pairs          # (n, n) [m, s] of the templates without the head
    cdef double[:, ::1] alone       # by word and context, of the same without a sibling
    cdef int[::1] of_two, of_three  # the numbers of templates without and with the head
    cdef unsigned int[::1] bases    # of hashes whose weights are on their way

    cdef void set_scores(self, const float* w, double* out) noexcept nogil
    cdef void set_pairs(self, Py_ssize_t t, const float* w) noexcept nogil
    cdef void add_pairs(self, Py_ssize_t h, double* out) noexcept nogil
    cdef void add_siblings(
        self, Py_ssize_t t, Py_ssize_t h, const float* w, double* out) noexcept nogil
    cdef unsigned int* ask_for(
        self, Py_ssize_t t, unsigned long long state, Py_ssize_t m, Py_ssize_t first,
        Py_ssize_t last, const float* w, unsigned int* base) noexcept nogil
    cdef const unsigned int* add(
        self, Py_ssize_t m, Py_ssize_t first, Py_ssize_t last, const float* w,
        const unsigned int* base, double* out) noexcept nogil
    cdef unsigned long long of_word(
        self, Py_ssize_t t, Py_ssize_t h, Py_ssize_t m) noexcept nogil
    cdef unsigned long long with_sibling(
        self, unsigned long long state, Py_ssize_t t, Py_ssize_t s) noexcept nogil
    cdef Py_ssize_t row(
        self, Py_ssize_t h, Py_ssize_t m, Py_ssize_t s, int* out) noexcept nogil
