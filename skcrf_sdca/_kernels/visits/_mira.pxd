"""The multipliers of a step of k-best MIRA: see _mira.pyx."""


cdef class Multipliers:
    cdef readonly Py_ssize_t n_best
    cdef double[::1] gains          # (n_best + 1,) the losses that are left
    cdef double[::1] values         # (n_best + 1,)
    cdef double[:, ::1] products    # (n_best + 1, n_best + 1) <g_r, g_s>

    cdef void ascend(self, Py_ssize_t n, double C) noexcept nogil
