"""Inference on one item, given its potentials: see _inference.pyx."""

from ..math._line_search cimport Part, Segment
from ..math._vecmath cimport Stored, skip


# One number for each potential of an item: its score, or its expectation.
cdef struct Values:
    double* local       # potentials of the item alone: (T, K), of its positions
    double* tied        # potentials that cliques share: in a chain (K, K), of the edges


cdef class Inference:
    cdef const long long[::1] offsets
    cdef readonly Py_ssize_t n_labels
    cdef readonly Py_ssize_t n_tied         # tied potentials
    cdef readonly Py_ssize_t longest        # positions of the longest item
    cdef readonly Py_ssize_t most_local     # local potentials of that item
    # The item that was taken last.
    cdef Py_ssize_t item
    cdef Py_ssize_t first                   # its first position, of all
    cdef Py_ssize_t length
    cdef Py_ssize_t n_local                 # its local potentials
    cdef Py_ssize_t n_costed                # its first positions, whose labels may cost
    cdef const char* lacking                # a method that was called and is not there

    cdef double lacks(self, const char* method) noexcept nogil
    cdef int check(self) except -1
    cdef object lack_of(self, str method)
    cdef void take(self, Py_ssize_t i) noexcept nogil
    cdef void set_tied(self, const double* tied, bint sums) noexcept nogil
    # Level 1.
    cdef double argmax(self, Values scores, int* labels) noexcept nogil
    cdef Py_ssize_t n_best(
        self, Values scores, Py_ssize_t n, double* values, int* labels) noexcept nogil
    cdef double labels_score(
        self, const int* labels, Values scores) noexcept nogil
    cdef void add_local_labels(
        self, const int* labels, double step, double* local) noexcept nogil
    cdef void add_tied_labels(
        self, const int* labels, double step, double* tied) noexcept nogil
    # Level 2.
    cdef double log_partition(self, Values scores) noexcept nogil
    cdef void sample(
        self, Values scores, const double* uniform, Py_ssize_t n_draws,
        int* labels) noexcept nogil
    # Level 3.
    cdef double expect(self, Values scores, Values out) noexcept nogil
    cdef double add_expected(
        self, Values scores, double weight, Values out,
        double* buffer) noexcept nogil
    cdef double excess(self, Values scores, Values expected) noexcept nogil


cdef inline Py_ssize_t begin_of_local(Inference inference, Py_ssize_t i) noexcept nogil:
    """Return where the local values of item i begin in those of all items."""
    return inference.offsets[i] * inference.n_labels


cdef class KeptPart:
    cdef unsigned char[::1] kept            # of numbers, of all items
    cdef unsigned char[::1] target          # of numbers, of one item
    cdef unsigned char[::1] moved           # of numbers
    cdef float[::1] ratio
    cdef Py_ssize_t itemsize                # of the numbers
    cdef Part whole                         # of all items, with the buffers

    cdef Stored stored(self, unsigned char* first) noexcept nogil
    cdef void keep_moved(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil


cdef inline Part part_of(KeptPart kept, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
    """Return n marginals from the first on, and where they move."""
    cdef Part part = kept.whole
    part.p, part.n = skip(part.p, first), n
    return part


# More probability than this where the target is below the smallest number stored, and
# the logarithm of the target is missed.
cdef inline bint is_out_of_reach(double lost) noexcept nogil:
    """Return whether marginals are where the target is as good as 0."""
    return lost > 1e-13


cdef class DirectInference(Inference):
    # Level 4.
    cdef double set_direction(
        self, Values scores, Values expected, Segment* segment,
        Values change) noexcept nogil
    cdef void apply_step(self, double step, Values change) noexcept nogil
