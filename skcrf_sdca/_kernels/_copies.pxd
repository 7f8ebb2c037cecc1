"""Copies of the weights that are moved side by side: see _copies.pyx."""


# Of what was joined.
cdef struct Squares:
    double joint        # ||sum_p change_p||^2
    double apart        # sum_p ||change_p||^2


cdef class Copies:
    cdef readonly Py_ssize_t n_members
    cdef Py_ssize_t n_rows
    cdef Py_ssize_t n_labels
    cdef Py_ssize_t n_joint
    cdef Py_ssize_t n_rest
    cdef const Py_ssize_t[::1] bands    # (n_bands,) rows before the end of each
    cdef double[::1] w
    cdef readonly object arrays
    cdef double[:, ::1] copies          # (n_members, n_rest + n_rows K)
    cdef double[::1] joined             # (n_joint K + n_rest,) w, but for own rows
    cdef const int[::1] joint           # (n_joint + 1,) features
    cdef const int[::1] own             # features of one member after another
    cdef const Py_ssize_t[::1] own_bounds   # (n_members + 1,) of them
    cdef unsigned char[:, ::1] moved    # (n_members, n_joint + 1) shared rows noted
    cdef int[:, ::1] found              # (n_members, n_joint + 1) rows to be joined

    cdef void start(self, Py_ssize_t member) noexcept nogil
    cdef void finish(self, Py_ssize_t member) noexcept nogil
    cdef Py_ssize_t part(self, Py_ssize_t member) noexcept nogil
    cdef void note(
        self, Py_ssize_t member, const int* rows, Py_ssize_t count) noexcept nogil
    cdef void forget(self, Py_ssize_t member) noexcept nogil
    cdef Py_ssize_t band_due(self, Py_ssize_t n_rounds) noexcept nogil
    cdef Squares join_common(self, Py_ssize_t part, double damping) noexcept nogil
    cdef Squares join_bands(
        self, Py_ssize_t part, Py_ssize_t last, double damping) noexcept nogil
    cdef Squares join_shared(self, Py_ssize_t part, double damping) noexcept nogil
    cdef Squares join_neighbours(
        self, Py_ssize_t part, Py_ssize_t begin, Py_ssize_t end,
        double damping) noexcept nogil
    cdef void join_long_row(
        self, Py_ssize_t at_joined, Py_ssize_t at_copies, Py_ssize_t n, double damping,
        Squares* squares) noexcept nogil
    cdef Py_ssize_t find_rows(self, Py_ssize_t part) noexcept nogil
