"""Feature rows times weights and back: see _features.pyx."""

cimport cython

from ..math._vecmath cimport skcrf_factors


cdef class RowLayout:
    cdef readonly Py_ssize_t n_features
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t size
    cdef const long long[::1] bounds
    cdef const int[::1] labels
    cdef const unsigned char[::1] observed
    cdef const long long* first         # bounds, NULL if every feature has all labels
    cdef const int* label               # labels

    cdef Py_ssize_t begin(self, Py_ssize_t j) noexcept nogil
    cdef Py_ssize_t width(self, Py_ssize_t j) noexcept nogil


cdef class FeatureRows:
    cdef readonly Py_ssize_t n_rows
    cdef readonly Py_ssize_t n_features
    cdef readonly bint is_sparse
    cdef readonly bint is_stored        # False for subclasses that make rows
    cdef readonly RowLayout layout
    cdef const double[::1] data
    cdef const int[::1] indices
    cdef const long long[::1] indptr
    cdef const double* entries          # data, NULL if there are none
    cdef const int* columns             # indices
    cdef object matrix                  # the dense rows, None if they are sparse
    cdef const char* dense              # where they are, single or double
    cdef readonly bint single

    cdef bint is_consistent(self) noexcept
    cdef FeatureRows of_thread(self)

    cdef const void* dense_row(self, Py_ssize_t t) noexcept nogil

    cdef void add_scores(
        self, Py_ssize_t begin, Py_ssize_t end, const double* coef,
        Py_ssize_t n_labels, double* scores) noexcept nogil
    cdef void add_features(
        self, Py_ssize_t begin, Py_ssize_t end, double step, const double* node,
        Py_ssize_t n_labels, double* coef) noexcept nogil


cdef class DistinctFeatures:
    cdef readonly FeatureRows rows
    cdef readonly Py_ssize_t max_count
    cdef int[::1] local
    cdef const int* numbers             # local, NULL if there are no entries
    cdef int[::1] distinct
    cdef const int* first               # distinct, NULL if there are none
    cdef long long[::1] bounds
    cdef const long long[::1] offsets
    cdef int[::1] n_frequent            # (n,) 0 before `renumber`
    cdef int[::1] n_rare                # (n,) likewise

    cdef int find(self, const long long[::1] offsets, object new) except -1
    cdef void mark_rare(self, Py_ssize_t i, unsigned char* is_marked) noexcept nogil
    cdef void take(self, Py_ssize_t i) noexcept nogil

    @cython.final
    cdef inline Py_ssize_t count(self, Py_ssize_t i) noexcept nogil:
        """Return the number of distinct features of sequence i."""
        if self.rows.is_sparse:
            return self.bounds[i + 1] - self.bounds[i]
        return self.rows.n_features

    @cython.final
    cdef inline Py_ssize_t count_frequent(self, Py_ssize_t i) noexcept nogil:
        """Return how many of the distinct features, the first ones, are frequent."""
        return self.n_frequent[i] if self.rows.is_sparse else self.rows.n_features

    @cython.final
    cdef inline Py_ssize_t count_rare(self, Py_ssize_t i) noexcept nogil:
        """Return how many of the distinct features, the next ones, are rare."""
        return self.n_rare[i]

    @cython.final
    cdef inline const int* features(self, Py_ssize_t i) noexcept nogil:
        """Return the address of the distinct features of sequence i."""
        return self.first + (self.bounds[i] if self.rows.is_sparse else 0)

    cdef Py_ssize_t size(self, Py_ssize_t i, Py_ssize_t n_labels) noexcept nogil
    cdef Py_ssize_t size_of_first(
        self, Py_ssize_t i, Py_ssize_t count, Py_ssize_t n_labels) noexcept nogil
    cdef Py_ssize_t max_size(self, Py_ssize_t n_labels) noexcept nogil
    cdef void sum_rows(
        self, Py_ssize_t i, Py_ssize_t begin, Py_ssize_t end, const double* node,
        Py_ssize_t n_labels, double* out) noexcept nogil
    cdef void add_scores(
        self, Py_ssize_t i, Py_ssize_t begin, Py_ssize_t end,
        const double* feature_sums, Py_ssize_t n_labels,
        double* scores) noexcept nogil
    cdef void move_coef(
        self, Py_ssize_t i, double step_frequent, double step_rare,
        double step_private, const double* feature_sums, Py_ssize_t n_labels,
        double* coef) noexcept nogil
    cdef void copy_coef(
        self, Py_ssize_t i, const double* coef, Py_ssize_t n_labels,
        double* out) noexcept nogil
    cdef double precondition(
        self, Py_ssize_t i, Py_ssize_t first, Py_ssize_t last,
        const skcrf_factors* factors, Py_ssize_t n_labels,
        double* feature_sums) noexcept nogil
    cdef void spread(
        self, Py_ssize_t i, const skcrf_factors* factors, double unit,
        Py_ssize_t n_labels, double* out) noexcept nogil
    cdef void shrink_coef(
        self, Py_ssize_t i, const double* coef, double threshold,
        const skcrf_factors* factors, Py_ssize_t n_labels, unsigned char* active,
        double* out) noexcept nogil
