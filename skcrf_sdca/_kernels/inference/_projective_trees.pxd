"""Projective dependency trees as an Inference: see _projective_trees.pyx."""

from ._eisner cimport Eisner, SiblingEisner
from ._spanning_trees cimport SpanningTreeInference


cdef class ProjectiveTreeInference(SpanningTreeInference):
    cdef Eisner spans
    cdef double[::1] uniform        # for one draw


cdef class SiblingTreeInference(ProjectiveTreeInference):
    cdef double[::1] siblings               # of all sentences, (n, n, n) each
    cdef const long long[::1] bounds        # where they begin
    cdef SiblingEisner sibling_spans            # the same as spans
