"""Projective dependency trees as an Inference: see _projective_trees.pyx."""

from ._eisner cimport Eisner, SiblingEisner
from ._spanning_trees cimport SpanningTreeInference


cdef class ProjectiveTreeInference(SpanningTreeInference):
    cdef Eisner spans
    cdef double[::1] uniform        # for one draw


cdef class SiblingTreeInference(ProjectiveTreeInference):
    cdef double[::1] siblings               # scores of those of the sentence
    cdef SiblingEisner sibling_spans        # the same as spans

    cdef void keep_forced_siblings(self, const double* local) noexcept nogil
