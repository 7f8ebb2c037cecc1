"""The weights of a chain model, and the features that move them: see _weights.pyx."""

from ._features cimport DistinctFeatures, FeatureRows, RowLayout
from ..math._line_search cimport PenaltyRise
from ..math._vecmath cimport skcrf_factors


cdef class FeatureSums(PenaltyRise)


cdef class Weights:
    cdef readonly Py_ssize_t n_features
    cdef readonly Py_ssize_t n_labels
    cdef readonly bint boundaries
    cdef readonly RowLayout layout
    cdef const double[::1] coef
    cdef const double[::1] intercept
    cdef const double[::1] start
    cdef const double[::1] end
    cdef readonly Py_ssize_t n_tied
    cdef const double[::1] transition
    # None if visits move w = w_hat(mu).
    cdef const unsigned char[::1] factor_code
    cdef const double[::1] factor_value
    cdef skcrf_factors factors          # the addresses of both
    cdef double bias_factor

    cdef FeatureSums new_sums(self, DistinctFeatures features)
    cdef const double* coef_pointer(self) noexcept nogil
    cdef void score_nodes(
        self, FeatureRows rows, Py_ssize_t first, Py_ssize_t length,
        double* scores) noexcept nogil
    cdef void set_scores(self, Py_ssize_t length, double* scores) noexcept nogil
    cdef void add_features(
        self, FeatureRows rows, Py_ssize_t first, Py_ssize_t length, double step,
        const double* node, const double* node_sum,
        const double* edge_sum) noexcept nogil
    cdef void add_to_blocks(
        self, double step, const double* first_node, const double* last_node,
        const double* node_sum, const double* edge_sum) noexcept nogil
    cdef void blend_blocks(
        self, double shrink, Weights other, double gain) noexcept nogil
    cdef Weights moved(self)
    cdef void refresh_rows(self, const int* rows, Py_ssize_t count) noexcept nogil
    cdef void refresh_range(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void refresh_biases(self) noexcept nogil
    cdef void refresh_part(self, Py_ssize_t part, Py_ssize_t n_parts) noexcept nogil


cdef class SparseWeights(Weights):
    cdef Weights dual
    cdef double threshold
    cdef unsigned char[::1] active      # (d,)
    cdef const int[::1] every_row       # 0, 1, ..., d

    cdef void refresh_row(self, Py_ssize_t j) noexcept nogil


# How many times a worker counts its changes of frequent features and of the biases, and
# of rare features: see _rounds.pyx.
cdef struct SigmaPrime:
    double frequent
    double rare


cdef class FeatureSums(PenaltyRise):
    cdef SigmaPrime sigma_prime
    cdef Weights weights
    cdef DistinctFeatures features
    cdef Py_ssize_t i
    cdef Py_ssize_t first
    cdef const double* first_node
    cdef const double* last_node
    cdef double[::1] distinct           # sums of the distinct features
    cdef double[::1] node               # (K,) summed over t; set by the caller
    cdef double[::1] edge               # (n_tied,) summed over t; set by the caller

    cdef void set(
        self, Py_ssize_t i, Py_ssize_t first, Py_ssize_t length,
        const double* node_values) noexcept nogil
    cdef void measure(self, double scale) noexcept nogil
    cdef double squared_norm(self) noexcept nogil
    cdef double precondition(self) noexcept nogil
    cdef double squared_norm_of_blocks(self) noexcept nogil
    cdef const int* rows(self) noexcept nogil
    cdef Py_ssize_t n_rows(self) noexcept nogil
    cdef void score_nodes(self, Py_ssize_t length, double* scores) noexcept nogil
    cdef void score_blocks(self, Py_ssize_t length, double* scores) noexcept nogil
    cdef void add_to_weights(self, double step) noexcept nogil
    cdef void add_to(self, Weights out, double step) noexcept nogil
    cdef void add_counted(
        self, Weights out, double step, SigmaPrime times,
        double bias_factor) noexcept nogil


cdef class SparseFeatureSums(FeatureSums):
    cdef SparseWeights sparse
    cdef Weights moved                  # the dual weights
    cdef double scale
    cdef double[::1] dual               # v where the features are: rows, then biases
    cdef double[::1] weight             # factors of rows over that of biases
    cdef double[::1] ones
    cdef Py_ssize_t[3] ends             # of the tiers of features in dual

    cdef void add_slope(
        self, const double* v, const double* a, const double* weight, Py_ssize_t n,
        double moved, double times, double* value, double* second) noexcept nogil
    cdef double rise_of(
        self, const double* v, const double* a, const double* weight, Py_ssize_t n,
        double moved, double times) noexcept nogil
