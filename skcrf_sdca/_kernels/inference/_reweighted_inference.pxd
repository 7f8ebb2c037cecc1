"""Graphs of any shape as an Inference: see _reweighted_inference.pyx."""

from ._joined_nodes cimport EdgeInference
from ._reweighted cimport Sweeps
from ._reweighted_maximum cimport Maximiser


cdef class ReweightedInference(EdgeInference):
    cdef Sweeps sweeps
    cdef Maximiser maximiser
    cdef double[::1] node_buffer
    cdef double log_z               # that was written last
