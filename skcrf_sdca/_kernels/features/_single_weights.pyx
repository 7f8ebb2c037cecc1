"""Weights of one label in single precision, and the sums of made rows that move them.

Reading weights, which are anywhere in megabytes, is most of the time of a visit: those
of single precision are half as many bytes. There are none beside those of features. The
sum that gives their average has double precision, see _dca.pyx.
"""

from ._features cimport DistinctFeatures, FeatureRows, RowLayout
from ._made_rows cimport DistinctMadeFeatures, MadeRows
from ._prefetch cimport prefetch
from ..math._vecmath cimport ops
from ._weights cimport FeatureSums, Weights

import numpy as np

# Weights are asked for so many columns before they are moved.
cdef enum:
    AHEAD = 16

# Of either precision.
ctypedef fused number:
    float
    double


cdef class SingleWeights(Weights):
    """Weights of the features of rows that are made, and no others.

    Parameters
    ----------
    w : ndarray of shape (n_features,), float32
        Changed in place.
    """

    def __init__(self, w):
        none = np.zeros((0, 1)), *np.zeros((3, 1)), np.zeros(0)
        super().__init__(none, boundaries=False)
        self.w, self.n_features = w, len(w)
        self.layout = RowLayout(len(w), 1)

    cdef FeatureSums new_sums(self, DistinctFeatures features):
        """Return the sums that move these weights."""
        return SingleSums(features, self)

    cdef const double* coef_pointer(self) noexcept nogil:
        """Return NULL: no weights have double precision."""
        return NULL

    def node_scores(
        self,
        FeatureRows rows,
        const long long[::1] offsets,           # in, (n + 1,)
        Py_ssize_t begin, Py_ssize_t end,
        double[:, ::1] out,                     # out, (their positions, 1)
    ):
        """Write the scores of the sequences begin <= i < end, of MadeRows."""
        cdef MadeRows made = rows.of_thread()
        self.check_shapes(rows, out)
        out[:] = 0.0
        if out.shape[0] > 0:
            with nogil:
                made.add_single_scores(
                    offsets[begin], offsets[end], &self.w[0], &out[0, 0]
                )


cdef class SingleSums(FeatureSums):
    """Sums of made rows times factors, which are taken row by row.

    Parameters
    ----------
    features : DistinctMadeFeatures
    weights : SingleWeights
    """

    def __init__(self, DistinctMadeFeatures features, SingleWeights weights):
        self.made, self.single = features, weights

    cdef void start(self, Py_ssize_t i) noexcept nogil:
        """Begin with sentence i, of which there is no row yet."""
        self.i = i
        self.made.forget(i)

    cdef void add_columns(self, Py_ssize_t count, double factor) noexcept nogil:
        """Add a factor times the row of the columns made last."""
        cdef Py_ssize_t r, known = self.made.n_found
        cdef const int* place = &self.made.own.made[0]
        self.made.number(count)
        for r in range(known, self.made.n_found):
            self.distinct[r] = 0.0
        for r in range(count):
            self.distinct[place[r]] += factor

    cdef double columns_inner(self, Py_ssize_t count) noexcept nogil:
        """Return the inner product of the sums and the row of the columns made last."""
        cdef Py_ssize_t r
        cdef int place
        cdef double value = 0.0
        for r in range(count):
            place = self.made.place[self.made.own.made[r]]
            if place >= 0:
                value += self.distinct[place]
        return value

    cdef double squared_norm(self) noexcept nogil:
        """Return the squared norm."""
        return ops.dot(&self.distinct[0], &self.distinct[0], self.made.n_found)

    cdef void add_to_weights(self, double step) noexcept nogil:
        """Add step times the sums to the weights."""
        move(self, step, &self.single.w[0])

    cdef void add_to(self, Weights out, double step) noexcept nogil:
        """Add step times the sums to weights of double precision."""
        move(self, step, <double*> out.coef_pointer())


cdef void move(SingleSums sums, double step, number* w) noexcept nogil:
    """Add step times the sums to the weights of their features."""
    cdef Py_ssize_t r, n = sums.made.n_found
    cdef const int* columns = &sums.made.distinct[0]
    for r in range(n):
        prefetch(w + columns[min(r + AHEAD, n - 1)])
        w[columns[r]] += <number> (step * sums.distinct[r])
