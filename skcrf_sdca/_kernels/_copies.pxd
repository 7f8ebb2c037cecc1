"""Copies of the weights that are moved side by side: see _copies.pyx."""


# Of what was joined.
cdef struct Squares:
    double joint        # ||sum_p change_p||^2
    double apart        # sum_p ||change_p||^2


cdef class Copies:
    cdef readonly Py_ssize_t n_members
    cdef Py_ssize_t n_labels
    cdef Py_ssize_t n_coef
    cdef double[::1] w
    cdef readonly object arrays
    cdef double[:, ::1] copies          # (n_members, n_weights)
    cdef const int[::1] common          # rows joined often, part by part
    cdef const Py_ssize_t[::1] bounds   # (n_members + 1,) of the parts in common
    cdef int[:, ::1] noted              # (n_members, d) rows that the member has moved
    cdef Py_ssize_t[::1] n_noted        # (n_members,)
    cdef unsigned char[:, ::1] seen     # (n_members, d) is the row noted
    cdef int[:, ::1] own                # (n_members, d) rows of the part to be joined
    cdef unsigned char[:, ::1] listed   # (n_members, d) whether the row is among them

    cdef void note(
        self, Py_ssize_t member, const int* features, Py_ssize_t count) noexcept nogil
    cdef void forget(self, Py_ssize_t member) noexcept nogil
    cdef Squares join_common(self, Py_ssize_t part, double damping) noexcept nogil
    cdef Squares join_others(self, Py_ssize_t part, double damping) noexcept nogil
    cdef Py_ssize_t find_own(self, Py_ssize_t part) noexcept nogil
