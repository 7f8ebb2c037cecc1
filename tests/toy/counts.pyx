# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Sites whose labels share one potential: how many of them have the first label.

    score(y) = sum_t local[t, y_t] + tied[min(c(y), M)],    c(y) = #{t: y_t = 0}

The recursion goes from the last site to the first, over the number m of sites before
it that have the label 0, where all from M on are one:

    b[T, m] = tied[m]
    b[t, m] = log(exp(local[t, 0] + b[t + 1, min(m + 1, M)])
                  + sum_{k > 0} exp(local[t, k] + b[t + 1, m])),    log Z = b[0, 0]

With the maximum in the place of the sum it is the best score. Labels then follow from
the first site on, drawn or best ones, and so do the expectations.
"""

from libc.math cimport INFINITY, exp, log1p
from libc.string cimport memset

from skcrf_sdca._kernels.inference._inference cimport Inference, Values

import numpy as np


cdef double join(double a, double b, bint best) noexcept nogil:
    """Return the larger number, or the logarithm of the sum of both exp."""
    cdef double high = max(a, b), low = min(a, b)
    if best or low == -INFINITY:
        return high
    return high + log1p(exp(low - high))


cdef class CountInference(Inference):
    """Items of sites laid end to end.

    Parameters
    ----------
    offsets : ndarray of shape (n + 1,), int64
    n_labels : int
    most : int
        M, the largest count that is told from larger ones.
    begin, end : int, default=None
        As for `Inference`.
    """

    cdef Py_ssize_t most
    cdef double[:, ::1] after       # (T + 1, M + 1), b
    cdef double[::1] others         # (T,) of the labels k > 0
    cdef double[::1] now, then      # (M + 1,) p(count so far), before and at a site

    def __init__(self, offsets, n_labels, most, begin=None, end=None):
        super().__init__(offsets, n_labels, most + 1, begin, end)
        self.most = most
        self.after = np.empty((self.longest + 1, most + 1))
        self.others = np.empty(self.longest)
        self.now, self.then = np.empty((2, most + 1))

    cdef Py_ssize_t next(self, Py_ssize_t m) noexcept nogil:
        return min(m + 1, self.most)

    cdef double solve(self, Values scores, bint best) noexcept nogil:
        """Write `after` and `others`; return log Z, or the best score."""
        cdef Py_ssize_t t, k, m, n = self.n_labels
        cdef const double* local
        for m in range(self.n_tied):
            self.after[self.length, m] = scores.tied[m]
        for t in range(self.length - 1, -1, -1):
            local = scores.local + t * n
            self.others[t] = -INFINITY
            for k in range(1, n):
                self.others[t] = join(self.others[t], local[k], best)
            for m in range(self.n_tied):
                self.after[t, m] = join(
                    local[0] + self.after[t + 1, self.next(m)],
                    self.others[t] + self.after[t + 1, m], best,
                )
        return self.after[0, 0]

    cdef Py_ssize_t count(self, const int* labels) noexcept nogil:
        cdef Py_ssize_t t, m = 0
        for t in range(self.length):
            if labels[t] == 0:
                m = self.next(m)
        return m

    cdef double argmax(self, Values scores, int* labels) noexcept nogil:
        cdef Py_ssize_t t, k, m = 0, n = self.n_labels
        cdef double value = self.solve(scores, True)
        cdef const double* local
        for t in range(self.length):
            local = scores.local + t * n
            if (
                local[0] + self.after[t + 1, self.next(m)]
                >= self.others[t] + self.after[t + 1, m]
            ):
                labels[t], m = 0, self.next(m)
                continue
            for k in range(1, n):
                if local[k] == self.others[t]:
                    labels[t] = k
                    break
        return value

    cdef double labels_score(
        self, const int* labels, Values scores
    ) noexcept nogil:
        cdef Py_ssize_t t
        cdef double value = scores.tied[self.count(labels)]
        for t in range(self.length):
            value += scores.local[t * self.n_labels + labels[t]]
        return value

    cdef void add_tied_labels(
        self, const int* labels, double step, double* tied
    ) noexcept nogil:
        tied[self.count(labels)] += step

    cdef double log_partition(self, Values scores) noexcept nogil:
        return self.solve(scores, False)

    cdef void sample(
        self, Values scores, const double* uniform, Py_ssize_t n_draws, int* labels
    ) noexcept nogil:
        cdef Py_ssize_t t, k, d, m, n = self.n_labels
        cdef double left
        self.solve(scores, False)
        for d in range(n_draws):
            m = 0
            for t in range(self.length):
                # The label at which the sum of the probabilities passes the number.
                left = uniform[t * n_draws + d]
                for k in range(n):
                    left -= self.proba(scores, t, m, k)
                    if left < 0.0 or k == n - 1:
                        break
                labels[t * n_draws + d] = k
                m = self.next(m) if k == 0 else m

    cdef double proba(
        self, Values scores, Py_ssize_t t, Py_ssize_t m, Py_ssize_t k
    ) noexcept nogil:
        """Return the probability of label k at site t, given the count before it."""
        cdef double score = scores.local[t * self.n_labels + k] - self.after[t, m]
        return exp(score + self.after[t + 1, self.next(m) if k == 0 else m])

    cdef double expect(self, Values scores, Values out) noexcept nogil:
        """Write p(y_t = k) and p(count), from the first site on; return log Z."""
        cdef Py_ssize_t t, k, m, to, n = self.n_labels
        cdef double p, log_z = self.solve(scores, False)
        memset(out.local, 0, self.n_local * sizeof(double))
        memset(&self.now[0], 0, self.n_tied * sizeof(double))
        self.now[0] = 1.0
        for t in range(self.length):
            memset(&self.then[0], 0, self.n_tied * sizeof(double))
            for m in range(self.n_tied):
                if self.now[m] == 0.0:
                    continue
                for k in range(n):
                    p = self.now[m] * self.proba(scores, t, m, k)
                    to = self.next(m) if k == 0 else m
                    out.local[t * n + k] += p
                    self.then[to] += p
            self.now, self.then = self.then, self.now
        if out.tied != NULL:
            for m in range(self.n_tied):
                out.tied[m] = self.now[m]
        return log_z

    cdef double add_expected(
        self, Values scores, double weight, Values out, double* buffer
    ) noexcept nogil:
        cdef Py_ssize_t m
        cdef double value = self.expect(scores, Values(out.local, buffer))
        for m in range(self.n_tied):
            out.tied[m] += weight * buffer[m]
        return value
