"""Local copies of the weights, one for each worker: see _local_weights.pyx."""


# Squared norms of the changes that the workers have made to the same weights.
cdef struct SquaredNorms:
    double of_sum       # ||sum_p change_p||^2
    double summed       # sum_p ||change_p||^2


cdef class LocalWeights:
    cdef readonly Py_ssize_t n_workers
    cdef Py_ssize_t n_labels
    cdef Py_ssize_t n_biases
    cdef Py_ssize_t n_frequent
    cdef Py_ssize_t n_shared
    cdef double[::1] w
    cdef readonly object arrays
    cdef double[:, ::1] local           # (n_workers, n_biases + n_rows K): arrays
    cdef double[::1] aggregated         # (n_biases + n_shared K,)
    cdef const int[::1] shared          # (n_shared + 1,) features
    cdef const int[::1] private         # features of one worker after another
    cdef const Py_ssize_t[::1] private_bounds   # (n_workers + 1,) of them
    cdef const Py_ssize_t[::1] first_private    # (n_workers,) rows in local weights

    cdef unsigned char[:, ::1] marks    # (n_workers, n_shared + 1), None if apart
    cdef int[::1] moved                 # (n_shared + 1,) rows of each part, from its
    cdef Py_ssize_t[::1] n_moved        # (n_workers,) first on, and how many

    cdef void load(self, Py_ssize_t worker) noexcept nogil
    cdef void store(self, Py_ssize_t worker) noexcept nogil
    cdef Py_ssize_t part(self, Py_ssize_t worker) noexcept nogil
    cdef SquaredNorms aggregate(
        self, Py_ssize_t part, bint rare, double sigma_prime) noexcept nogil
    cdef Py_ssize_t bound(self, Py_ssize_t part, bint rare) noexcept nogil
    cdef void pull(
        self, Py_ssize_t part, bint rare, double shrink, double gain,
        LocalWeights target) noexcept nogil
    cdef unsigned char* marks_of(self, Py_ssize_t worker) noexcept nogil
    cdef SquaredNorms aggregate_moved(
        self, Py_ssize_t part, double sigma_prime) noexcept nogil
    cdef Py_ssize_t first_rare(self, Py_ssize_t part) noexcept nogil
    cdef Py_ssize_t find_moved(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
