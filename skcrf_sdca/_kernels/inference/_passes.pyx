"""Full passes over many items, given their scores, for Python to call.

``scores`` is an object with ``local`` (N, K) and ``tied``, arrays of float64, and a
method ``inference(begin, end)`` that returns a new `Inference`. Every function treats
the items begin <= i < end without the GIL, so that threads can share the arrays. An
item without positions has the score 0.
"""

cimport cython

from ._inference cimport Inference, Values, begin_of_local
from ..math._vecmath cimport addressable, start_of

import numpy as np


@cython.final
cdef class Items:
    """The items begin <= i < end of scores, one at a time.

    Parameters
    ----------
    scores : object with local, tied and inference
    begin, end : int
    sums : bool, default=True
        As for `Inference.set_tied`.

    Raises
    ------
    ValueError
        If there are fewer scores than the items need.
    """

    def __init__(self, scores, begin, end, bint sums=True):
        self.inference = scores.inference(begin, end)
        self.local, self.tied = scores.local, addressable(scores.tied.reshape(-1))
        check_end(self.inference.offsets, self.local.shape[0])
        self.first = rows_pointer(self.local)
        self.scores.tied = <double*> &self.tied[0]
        self.inference.set_tied(self.scores.tied, sums)

    cdef bint take(self, Py_ssize_t i) noexcept nogil:
        """Take item i; return whether it has positions."""
        self.inference.take(i)
        self.scores.local = self.first + begin_of_local(self.inference, i)
        return self.inference.n_local > 0


cdef int check_end(const long long[::1] bounds, Py_ssize_t size) except -1:
    """Raise ValueError if there are fewer numbers than the bounds of items say."""
    cdef Py_ssize_t end = bounds[bounds.shape[0] - 1]
    if end > size:
        raise ValueError(f"the items have {end} scores, but there are {size}")
    return 0


def log_partitions(
    scores, Py_ssize_t begin, Py_ssize_t end,
    double[::1] values,                     # out, (n,)
):
    """Write log Z."""
    cdef Py_ssize_t i
    cdef Items items = Items(scores, begin, end)
    with nogil:
        for i in range(begin, end):
            values[i] = 0.0
            if items.take(i):
                values[i] = items.inference.log_partition(items.scores)
    items.inference.check()


def expectations(
    scores, Py_ssize_t begin, Py_ssize_t end,
    double[:, ::1] local,                   # out, (N, K)
    double[::1] values,                     # out, (n,)
    *,
    const double[::1] weight=None,          # in, (n,)
    double[::1] tied_total=None,            # in, out, (n_tied,)
    double[:, ::1] tied_sums=None,          # out, (n, n_tied)
    double[::1] excess=None,                # out, (n,)
):
    """Write the local expectations and log Z.

    The tied expectations of each item are written to ``tied_sums``, or weight[i] times
    them added to ``tied_total``, where these are given, and so is `Inference.excess`.
    """
    cdef Py_ssize_t i
    cdef Items items = Items(scores, begin, end)
    cdef Inference inference = items.inference
    cdef double[::1] buffer = None
    cdef double* first = rows_pointer(local)
    cdef Values out
    if tied_total is not None:
        buffer = np.empty(inference.n_tied)
    with nogil:
        for i in range(begin, end):
            values[i] = 0.0
            out.tied = NULL
            if excess is not None:
                excess[i] = 0.0
            if tied_sums is not None:
                out.tied = rows_pointer(tied_sums) + i * inference.n_tied
                tied_sums[i, :] = 0.0
            if not items.take(i):
                continue
            out.local = first + begin_of_local(inference, i)
            if tied_total is None:
                values[i] = inference.expect(items.scores, out)
            else:
                out.tied = start_of(tied_total)
                values[i] = inference.add_expected(
                    items.scores, weight[i], out, start_of(buffer)
                )
            if excess is not None:
                excess[i] = inference.excess(items.scores, out)
    inference.check()


def best_labels(
    scores, Py_ssize_t begin, Py_ssize_t end,
    int[::1] labels,                        # out, (N,)
    double[::1] values,                     # out, (n,)
):
    """Write the labellings of highest score, and these scores."""
    cdef Py_ssize_t i
    cdef Items items = Items(scores, begin, end, False)
    with nogil:
        for i in range(begin, end):
            values[i] = 0.0
            if items.take(i):
                values[i] = items.inference.argmax(
                    items.scores, &labels[items.inference.first]
                )
    items.inference.check()


def n_best_labels(
    scores, Py_ssize_t begin, Py_ssize_t end,
    const long long[::1] widths,            # in, (n,) labellings wanted, at least 1
    const long long[::1] path_offsets,      # in, (n + 1,) sums of the widths
    const long long[::1] label_offsets,     # in, (n + 1,) sums of widths * lengths
    double[::1] values,                     # out, (sum of widths,)
    int[::1] labels,                        # out, (sum of widths * lengths,)
):
    """Write the widths[i] best labellings, best first, and their scores.

    An item that has fewer gets -inf for those it lacks.
    """
    cdef Py_ssize_t i
    cdef Items items = Items(scores, begin, end, False)
    items.inference.allow_n_best(np.max(widths[begin:end], initial=1))
    with nogil:
        for i in range(begin, end):
            values[path_offsets[i]] = 0.0
            if items.take(i):
                items.inference.n_best(
                    items.scores, widths[i], &values[path_offsets[i]],
                    &labels[label_offsets[i]],
                )


def draws(
    scores, Py_ssize_t begin, Py_ssize_t end,
    const double[:, ::1] uniform,           # in, (N, n_draws) in [0, 1)
    int[:, ::1] labels,                     # out, (N, n_draws)
):
    """Write independent draws from p(y | x), from as many random numbers."""
    cdef Py_ssize_t i, first, n_draws = uniform.shape[1]
    cdef Items items = Items(scores, begin, end)
    if n_draws == 0:
        return
    items.inference.allow_sample()
    with nogil:
        for i in range(begin, end):
            if items.take(i):
                first = items.inference.first
                items.inference.sample(
                    items.scores, &uniform[first, 0], n_draws, &labels[first, 0]
                )
    items.inference.check()


def labels_scores(
    scores, Py_ssize_t begin, Py_ssize_t end,
    const int[::1] labels,                  # in, (N,)
    double[::1] values,                     # out, (n,)
):
    """Write the score of one labelling of each item, -inf if it is not allowed."""
    cdef Py_ssize_t i
    cdef Items items = Items(scores, begin, end, False)
    with nogil:
        for i in range(begin, end):
            values[i] = 0.0
            if items.take(i):
                values[i] = items.inference.labels_score(
                    &labels[items.inference.first], items.scores
                )
    items.inference.check()


def add_labels(
    Inference inference,
    const int[::1] labels,                  # in, (N,)
    const double[::1] weight,               # in, (n,)
    double[:, ::1] tied,                    # in, out, (n or 1, n_tied)
):
    """Add weight[i] times the tied potentials of labellings to row i, or to the one."""
    cdef Py_ssize_t i, row = 1 if tied.shape[0] > 1 else 0
    with nogil:
        for i in range(weight.shape[0]):
            inference.take(i)
            if inference.length > 0:
                inference.add_tied_labels(
                    &labels[inference.first], weight[i],
                    rows_pointer(tied) + row * i * inference.n_tied,
                )
    inference.check()


def are_within(const double[:, ::1] local, double largest):
    """Return whether all numbers are in [-largest, largest]: none of them is NaN."""
    cdef Py_ssize_t t, k
    cdef bint right = True
    with nogil:
        for t in range(local.shape[0]):
            for k in range(local.shape[1]):
                right &= -largest <= local[t, k] <= largest
    return right


cdef double* rows_pointer(const double[:, ::1] rows) noexcept nogil:
    """Return the address of the rows, NULL if there are no numbers."""
    return <double*> &rows[0, 0] if rows.shape[0] > 0 and rows.shape[1] > 0 else NULL
