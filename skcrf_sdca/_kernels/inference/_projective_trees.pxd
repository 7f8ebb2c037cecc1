"""Projective dependency trees as an Inference: see _projective_trees.pyx."""

from ._eisner cimport Eisner
from ._spanning_trees cimport SpanningTreeInference


cdef class ProjectiveTreeInference(SpanningTreeInference):
    cdef Eisner spans
    cdef double[::1] uniform        # for one draw
