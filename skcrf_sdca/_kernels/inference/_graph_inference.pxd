"""Graphs of small treewidth as an Inference: see _graph_inference.pyx."""

from ._elimination cimport Workspace
from ._inference cimport DirectInference, KeptPart, Values
from ._junction_tree cimport JunctionTrees


cdef class GraphInference(DirectInference):
    cdef Workspace workspace
    cdef JunctionTrees trees
    cdef Py_ssize_t first_graph     # the graph of the trees that is item 0
    cdef Py_ssize_t graph           # that was taken last, of the trees
    cdef int[::1] path              # buffer of `sample`
    # Marginals of all graphs, for SDCA.
    cdef bint keeps                 # whether there are any
    cdef double[:, ::1] node
    cdef double[:, ::1] tied_kept
    cdef KeptPart cliques
    cdef KeptPart separators
    cdef const long long[::1] clique_bounds
    cdef const long long[::1] separator_bounds
    cdef double[::1] unused         # directions, which the nodes and pairs sum

    cdef Values kept(self) noexcept nogil
