"""Graphs of small treewidth as an Inference: see _graph_inference.pyx."""

from ._elimination cimport Workspace
from ._joined_nodes cimport EdgeInference


cdef class GraphInference(EdgeInference):
    cdef Workspace workspace
    cdef int[::1] path              # buffer of `sample`
