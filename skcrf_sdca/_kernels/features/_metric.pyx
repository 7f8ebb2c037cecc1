"""Squared distance of the weights from a center, in a metric of the features.

Owns the passes over all weights that proximal points take. To a penalty of curvature c

    1/2 sum_j kappa_j (w_j - z_j)^2,    kappa_j the same for all weights of a feature,

is added. Visits then move (v_j + kappa_j z_j) / (c + kappa_j), v the dual point, or, if
the penalty has a threshold, v_j + kappa_j z_j. There are millions of weights: a pass
reads and writes each once. Threads can share it: each takes one of n_parts.
"""

cimport cython

from ._features cimport RowLayout

import numpy as np


@cython.final
cdef class Metric:
    """kappa and z of flat vectors of weights: biases, then the rows of features.

    Parameters
    ----------
    layout : RowLayout
    n_biases : int
    code : ndarray of shape (n_features,), uint8
        Features with the same code have the same kappa.
    curvature : float
        c.
    divides : bool
        Whether visits move the quotient.

    Attributes
    ----------
    center : ndarray of shape (n_biases + layout.size,)
        z. It is 0 at first, as kappa is.
    """

    cdef RowLayout layout
    cdef Py_ssize_t n_biases
    cdef double curvature
    cdef bint divides
    cdef double bias                    # kappa of the biases
    cdef const unsigned char[::1] code
    cdef const double[::1] rows         # kappa of the features with a code
    cdef double[::1] z
    cdef readonly object center

    def __init__(
        self, RowLayout layout, Py_ssize_t n_biases, code, double curvature,
        bint divides,
    ):
        self.layout, self.n_biases, self.code = layout, n_biases, code
        self.curvature, self.divides = curvature, divides
        self.bias, self.rows = 0.0, np.zeros(256)
        self.z = self.center = np.zeros(n_biases + layout.size)

    def move(
        self, double bias, const double[::1] rows,
        const double[::1] z,                    # in
        double[::1] moved,                      # in, out, may be z
        Py_ssize_t part=0, Py_ssize_t n_parts=1,
    ):
        """Set z for a kappa. What visits move changes with them, and v does not.

        `set_kappa` follows, when all parts are done.
        """
        cdef Py_ssize_t i, j, begin, end = self.first(part, n_parts)
        cdef double old, new, multiple, quotient, own
        with nogil:
            for j in range(self.row(part, n_parts), self.row(part + 1, n_parts)):
                old, new = self.kappa(j), bias if j < 0 else rows[self.code[j]]
                multiple, quotient = self.quotient(old), self.quotient(new)
                begin, end = end, end + self.width(j)
                for i in range(begin, end):
                    own = z[i]
                    moved[i] = (
                        moved[i] * multiple - old * self.z[i] + new * own
                    ) / quotient
                    self.z[i] = own

    def set_kappa(self, double bias, const double[::1] rows):
        """Take kappa of the biases, and of the features with a code."""
        self.bias, self.rows = bias, rows

    def add_center(
        self, double[::1] v,                    # in, out
        bint divide,
    ):
        """Add kappa_j z_j to v, and divide by c + kappa_j if so asked."""
        cdef Py_ssize_t i, j, begin = 0, end = 0
        cdef double kappa, quotient
        with nogil:
            for j in range(-1, self.layout.n_features):
                kappa = self.kappa(j)
                quotient = self.curvature + kappa if divide else 1.0
                begin, end = end, end + self.width(j)
                for i in range(begin, end):
                    v[i] = (v[i] + kappa * self.z[i]) / quotient

    def take_center(
        self,
        const double[::1] moved,                # in
        double[::1] v,                          # out
        Py_ssize_t part=0, Py_ssize_t n_parts=1,
    ):
        """Write a part of v, given what visits move; return how many weights it has."""
        cdef Py_ssize_t i, j, first = self.first(part, n_parts)
        cdef Py_ssize_t begin, end = first
        cdef double kappa, multiple
        with nogil:
            for j in range(self.row(part, n_parts), self.row(part + 1, n_parts)):
                kappa = self.kappa(j)
                multiple = self.quotient(kappa)
                begin, end = end, end + self.width(j)
                for i in range(begin, end):
                    v[i - first] = moved[i] * multiple - kappa * self.z[i]
        return end - first

    def divide(self, double[::1] x):            # in, out
        """Divide x_j by c + kappa_j."""
        cdef Py_ssize_t i, j, begin = 0, end = 0
        cdef double quotient
        with nogil:
            for j in range(-1, self.layout.n_features):
                quotient = self.curvature + self.kappa(j)
                begin, end = end, end + self.width(j)
                for i in range(begin, end):
                    x[i] /= quotient

    cdef Py_ssize_t row(self, Py_ssize_t part, Py_ssize_t n_parts) noexcept nogil:
        """Return the first feature of a part; the first part begins with the biases."""
        return -1 if part == 0 else part * self.layout.n_features // n_parts

    cpdef Py_ssize_t first(self, Py_ssize_t part, Py_ssize_t n_parts) noexcept nogil:
        """Return where the weights of a part begin; that of n_parts is their number."""
        if part == 0:
            return 0
        return self.n_biases + self.layout.begin(self.row(part, n_parts))

    cdef double kappa(self, Py_ssize_t j) noexcept nogil:
        """Return kappa of the weights of feature j; -1 stands for the biases."""
        return self.bias if j < 0 else self.rows[self.code[j]]

    cdef double quotient(self, double kappa) noexcept nogil:
        """Return what visits divide by for a kappa, 1 if they do not."""
        return self.curvature + kappa if self.divides else 1.0

    cdef Py_ssize_t width(self, Py_ssize_t j) noexcept nogil:
        """Return how many weights feature j has."""
        return self.n_biases if j < 0 else self.layout.width(j)
