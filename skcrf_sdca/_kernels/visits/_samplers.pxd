"""Which sequence to visit next: see _samplers.pyx."""


cdef class Sampler:
    cdef readonly Py_ssize_t n_sequences
    cdef readonly double mix
    cdef Py_ssize_t n_leaves        # of a tree: the least power of 2 >= n_sequences
    cdef double[::1] weight
    cdef bint adaptive
    cdef public bint by_residual

    cdef Py_ssize_t pick(self, double coin, double position) noexcept nogil
    cdef void record(self, Py_ssize_t i, double value) noexcept nogil
    cdef double probability(self, Py_ssize_t i) noexcept nogil
    cdef double share(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t draw(self, double position) noexcept nogil
    cdef void update(self, Py_ssize_t i, double score) noexcept nogil


cdef class SumTree(Sampler):
    cdef double[::1] sums


cdef class MaxTree(Sampler):
    cdef double[::1] scores
    cdef Py_ssize_t[::1] winner

    cdef double largest(self) noexcept nogil
