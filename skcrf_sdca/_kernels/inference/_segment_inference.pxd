"""The semi-Markov chain as an Inference: see _segment_inference.pyx."""

from ._inference cimport Inference, Values
from ._segment_chain cimport SegmentWorkspace
from ._segment_paths cimport SegmentLists


cdef class SegmentInference(Inference):
    cdef SegmentWorkspace workspace
    cdef SegmentLists lists
    cdef int[::1] path              # buffer of `sample`

    cdef void take_features(self, Values scores) noexcept nogil
