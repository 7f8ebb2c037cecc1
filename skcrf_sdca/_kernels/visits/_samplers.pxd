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


cdef class Window(SumTree):
    cdef double[::1] scores
    cdef unsigned char[::1] n_inside        # (n,) how often a sequence is inside
    cdef const Py_ssize_t[::1] bounds       # (n_blocks + 1,)
    cdef Py_ssize_t[::1] ring               # blocks inside, -1 for none
    cdef const Py_ssize_t[::1] order
    cdef Py_ssize_t n_entered, n_waiting    # blocks of the order
    cdef Py_ssize_t n_draws_left, n_drawn_from

    cdef void enter(self, Py_ssize_t block) noexcept nogil
    cdef void count(self, Py_ssize_t block, int change) noexcept nogil
    cdef Py_ssize_t draw_uniform(self, double position) noexcept nogil
    cdef double uniform_share(self, Py_ssize_t i) noexcept nogil


cdef class MaxTree(Sampler):
    cdef double[::1] scores
    cdef Py_ssize_t[::1] winner

    cdef double largest(self) noexcept nogil
