"""Projective trees with scores of siblings: see _sibling_trees.pyx."""

from ._projective_trees cimport ProjectiveTreeInference
from ._sibling_eisner cimport SiblingEisner


cdef class SiblingTreeInference(ProjectiveTreeInference):
    cdef double[::1] siblings               # of all sentences, (n, n, n) each
    cdef const long long[::1] bounds        # where they begin
    cdef SiblingEisner best_spans
