"""The linear chain as a Structure: see _chain_structure.pyx."""

from ._chain cimport Workspace
from ._line_search cimport Segment
from ._paths cimport KBestLists
from ._structure cimport Values
from ._token_structure cimport TokenStructure
from ._transitions cimport TransitionLayout
from ._vecmath cimport Stored


cdef class ChainStructure(TokenStructure):
    cdef Workspace workspace
    cdef TransitionLayout layout
    # Buffers of `n_best`.
    cdef KBestLists lists
    cdef double[::1] dense          # (K * K,) transition scores, -inf where forbidden
    cdef double[::1] masked         # (T, K) node scores, -inf where forbidden
    cdef int[::1] paths             # (n, T)
    # Marginals of all chains, for SDCA.
    cdef const long long[::1] edge_offsets
    cdef double[:, ::1] node
    cdef unsigned char[::1] edge    # (M, n_tied) of numbers
    cdef Py_ssize_t itemsize        # of the numbers of edge
    # Buffers of `set_direction`.
    cdef double[::1] node_kept          # (T, K) no smaller than the least marginal
    cdef float[::1] node_ratio          # (T, K) direction / target
    cdef double[::1] node_moved         # (T, K)
    cdef double[::1] matrix             # (n_tied,) the target of one edge
    cdef unsigned char[::1] edge_target     # (T - 1, n_tied) of numbers
    cdef float[::1] edge_ratio              # (T - 1, n_tied)
    cdef unsigned char[::1] edge_moved      # (T - 1, n_tied) of numbers

    cdef void set_parts(self, Segment* segment) noexcept nogil
    cdef Stored stored(self, unsigned char* first) noexcept nogil
    cdef void move_end(self, double* node, Py_ssize_t t, double step) noexcept nogil
