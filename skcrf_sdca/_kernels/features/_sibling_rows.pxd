"""The columns of the features of siblings: see _sibling_rows.pyx."""

from ._arc_rows cimport ArcRows, Part, weight


# Its parts are of the head, then of the word, then of the sibling.
cdef struct SiblingTemplate:
    int first           # part
    int at_sibling
    int last
    bint has_head


cdef inline Py_ssize_t triples(Py_ssize_t n) noexcept nogil:
    """Return how many sets of 3 there are of n."""
    return n * (n - 1) * (n - 2) // 6


cdef inline Py_ssize_t number_of_siblings(Py_ssize_t n) noexcept nogil:
    """Return how many siblings (h, m, s) n words may have, (n^3 - n) / 3."""
    return 2 * triples(n + 1)


# The siblings of m below h are abs(h - m), in the order of words; h among them stands
# for none. Heads stand in their order, and below each the words.
cdef inline Py_ssize_t first_sibling(
    Py_ssize_t n, Py_ssize_t h, Py_ssize_t m
) noexcept nogil:
    """Return where the siblings of word m below h begin; words count from 1."""
    cdef Py_ssize_t of_heads = triples(h) + triples(n + 1) - triples(n - h + 2)
    if m < h:
        return of_heads + (m - 1) * (2 * h - m) // 2
    return of_heads + (h * (h - 1) + (m - h) * (m - h - 1)) // 2


cdef inline Py_ssize_t least_sibling(Py_ssize_t h, Py_ssize_t m) noexcept nogil:
    """Return the first word that may be a sibling of m below h, or h."""
    return h if h < m else m + 1


cdef Py_ssize_t sibling_of(const int* heads, Py_ssize_t m) noexcept nogil
cdef Py_ssize_t place_in_tree(
    Py_ssize_t n, const int* heads, Py_ssize_t m) noexcept nogil


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
    cdef void add_scores(self, const weight* w, double* out) noexcept nogil
    cdef void set_pairs(self, Py_ssize_t t, const weight* w) noexcept nogil
    cdef void add_pairs(self, Py_ssize_t h, double* out) noexcept nogil
    cdef void add_siblings(
        self, Py_ssize_t t, Py_ssize_t h, const weight* w, double* out) noexcept nogil
    cdef unsigned int* ask_for(
        self, Py_ssize_t t, unsigned long long state, Py_ssize_t m, Py_ssize_t first,
        Py_ssize_t last, const weight* w, unsigned int* base) noexcept nogil
    cdef const unsigned int* add(
        self, Py_ssize_t m, Py_ssize_t first, Py_ssize_t last, const weight* w,
        const unsigned int* base, double* out) noexcept nogil
    cdef unsigned long long of_word(
        self, Py_ssize_t t, Py_ssize_t h, Py_ssize_t m) noexcept nogil
    cdef unsigned long long with_sibling(
        self, unsigned long long state, Py_ssize_t t, Py_ssize_t s) noexcept nogil
    cdef Py_ssize_t row(
        self, Py_ssize_t h, Py_ssize_t m, Py_ssize_t s, int* out) noexcept nogil
