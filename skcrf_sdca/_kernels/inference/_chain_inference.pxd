"""The linear chain as an Inference: see _chain_inference.pyx."""

cimport cython

from ._chain cimport Workspace
from ._inference cimport DirectInference, KeptPart
from ..math._line_search cimport Part, Segment
from ._paths cimport KBestLists
from ._state_labels cimport StateLabels
from ..math._transitions cimport TransitionLayout


@cython.final
cdef class ChainInference(DirectInference):
    cdef Workspace workspace
    cdef TransitionLayout layout
    cdef StateLabels states         # None if numbers of states order equal scores
    # Buffers of `n_best` and of `sample`.
    cdef KBestLists lists
    cdef double[::1] dense          # (K * K,) transition scores, -inf where forbidden
    cdef double[::1] masked         # (T, K) node scores, -inf where forbidden
    cdef double[:, ::1] node        # (T, K)
    cdef double[:, ::1] edge        # (K, K)
    # Marginals of all chains, for SDCA.
    cdef KeptPart nodes
    cdef KeptPart edges
    cdef const long long[::1] edge_offsets
    cdef double[::1] matrix         # (n_tied,) the target of one edge

    cdef void expand_transition(self) noexcept nogil
    cdef double score_at(
        self, const double* tied, Py_ssize_t place) noexcept nogil
    cdef const double* origins(self, Py_ssize_t t, Py_ssize_t k) noexcept nogil
    cdef void set_parts(self, Segment* segment, Part nodes) noexcept nogil
    cdef void move_end(self, Part* nodes, Py_ssize_t t, double step) noexcept nogil
