"""Which sequence to visit next: see _samplers.pyx."""


cdef class Sampler:
    cdef readonly Py_ssize_t n_sequences
    cdef readonly double mix
    cdef double[::1] weight
    cdef bint follows_gap

    cdef Py_ssize_t pick(self, double coin, double position) noexcept nogil
    cdef void record(self, Py_ssize_t i, double gap) noexcept nogil
    cdef Py_ssize_t draw(self, double position) noexcept nogil
    cdef void update(self, Py_ssize_t i, double score) noexcept nogil
