"""The interface of inference: potentials of one item in, answers out.

An Inference knows how the labels of an item depend on each other. It knows no weights,
no features and no targets: training, _item.pyx, and full passes, _passes.pyx, ask the
same methods, one call for an item and none for a label. Potentials are `Values`. An
Inference offers levels:

    1   argmax, n_best: the labellings of highest score, and the potentials of these
    2   log_partition, sample: log Z of any potentials of the item, and draws
    3   expect: log Z and expectations (OEG, SAG)
    4   DirectInference: marginals of cliques and separators are kept (SDCA)

An Inference that does not offer a level leaves out its methods. Whoever calls one of
these is refused: the default returns no number, and `check` raises its name.

Every thread has an Inference of its own, since it owns the buffers of one item.
"""

from libc.math cimport NAN
from libc.string cimport memcpy

from ..math._line_search cimport Segment
from ..math._vecmath cimport Stored, addressable

import numpy as np


cdef class Inference:
    """Items of one structure, one at a time; a subclass has the recursions.

    The items have the positions offsets[i]:offsets[i + 1] and, at each, labels.

    Parameters
    ----------
    offsets : ndarray of shape (n + 1,), int64
    n_labels : int
    n_tied : int
        How many tied potentials there are.
    begin, end : int, default=None
        The items that will be taken, by default all.
    """

    def __init__(self, offsets, n_labels, n_tied, begin=None, end=None):
        cdef Py_ssize_t i
        self.offsets = offsets
        self.n_labels, self.n_tied, self.longest = n_labels, n_tied, 1
        for i in range(
            0 if begin is None else begin, len(offsets) - 1 if end is None else end
        ):
            self.longest = max(self.longest, self.offsets[i + 1] - self.offsets[i])
        self.most_local = self.longest * self.n_labels

    cdef double lacks(self, const char* method) noexcept nogil:
        """Keep the name of a method that was called and is not there; return NaN."""
        self.lacking = method
        return NAN

    cdef int check(self) except -1:
        """Raise NotImplementedError if a method was called that is not there."""
        if self.lacking != NULL:
            raise self.lack_of(self.lacking.decode())
        return 0

    cdef object lack_of(self, str method):
        """Return the error of a method that is not there."""
        return NotImplementedError(
            f"the compiled {type(self).__name__} has no {method}, which is needed here"
        )

    cdef void take(self, Py_ssize_t i) noexcept nogil:
        """Take item i: the other methods are about it."""
        self.item, self.first = i, self.offsets[i]
        self.length = self.offsets[i + 1] - self.first
        self.n_local = self.length * self.n_labels
        self.n_costed = self.length

    cdef void set_tied(self, const double* tied, bint sums) noexcept nogil:
        """Prepare for tied potentials, for one item or many.

        ``sums`` says whether for all methods, or for level 1 alone. The methods get the
        same potentials again.
        """

    cdef double argmax(self, Values scores, int* labels) noexcept nogil:
        """Write the labelling of highest score; return its score.

        A labelling has at most as many labels as the item has local potentials.
        """
        return self.lacks(b"argmax")

    def allow_n_best(self, Py_ssize_t n):
        """Make the buffers for n labellings of `n_best`.

        Raises
        ------
        NotImplementedError
            If there is no `n_best`.
        """
        raise self.lack_of("n_best")

    cdef Py_ssize_t n_best(
        self, Values scores, Py_ssize_t n, double* values, int* labels
    ) noexcept nogil:
        """Write the n labellings of highest score, end to end, and their scores.

        The best is first; -inf is the score of those that are lacking. Returns how many
        there are. Follows `allow_n_best` of at least n.
        """
        values[0] = self.lacks(b"n_best")
        return 1

    cdef double labels_score(
        self, const int* labels, Values scores
    ) noexcept nogil:
        """Return the score of a labelling, -inf if it is not allowed."""
        return self.lacks(b"labels_score")

    cdef void add_local_labels(
        self, const int* labels, double step, double* local
    ) noexcept nogil:
        """Add step times the local potentials of a labelling."""
        cdef Py_ssize_t t
        for t in range(self.length):
            local[t * self.n_labels + labels[t]] += step

    cdef void add_tied_labels(
        self, const int* labels, double step, double* tied
    ) noexcept nogil:
        """Add step times the tied potentials of a labelling."""
        self.lacks(b"add_tied_labels")

    cdef double log_partition(self, Values scores) noexcept nogil:
        """Return log Z."""
        return self.lacks(b"log_partition")

    def allow_sample(self):
        """Make the buffers of `sample`."""

    cdef void sample(
        self, Values scores, const double* uniform, Py_ssize_t n_draws, int* labels
    ) noexcept nogil:
        """Write draws of labels (T, n_draws) from as many uniform numbers.

        Follows `allow_sample`.
        """
        self.lacks(b"sample")

    cdef double expect(self, Values scores, Values out) noexcept nogil:
        """Write the expectations; return log Z.

        Tied ones are not written if ``out.tied`` is NULL.
        """
        return self.lacks(b"expect")

    cdef double add_expected(
        self, Values scores, double weight, Values out, double* buffer
    ) noexcept nogil:
        """Write the local expectations, add weight times tied ones; return log Z.

        ``buffer`` has a place for all tied ones.
        """
        return self.lacks(b"add_expected")

    cdef double excess(self, Values scores, Values expected) noexcept nogil:
        """Return log Z - <mu, scores> - H(mu) of what `expect` wrote last.

        0 where inference is exact; where log Z is an upper bound, by how much at most.
        """
        return 0.0


cdef class KeptPart:
    """Marginals of the cliques, or of the separators, of all items.

    With the buffers for a move of the marginals of one item: see `Part`.

    Parameters
    ----------
    kept : ndarray, float32 or float64
        C-contiguous; changed in place.
    most : int
        The largest number of marginals of an item.
    """

    def __init__(self, kept, most):
        self.itemsize = kept.itemsize
        self.kept = addressable(kept.reshape(-1).view(np.uint8))
        most = max(most, 1)
        self.target = np.empty(most * self.itemsize, dtype=np.uint8)
        self.moved = np.empty(most * self.itemsize, dtype=np.uint8)
        self.ratio = np.empty(most, dtype=np.float32)
        self.whole.p = self.stored(&self.kept[0])
        self.whole.target = self.stored(&self.target[0])
        self.whole.moved = self.stored(&self.moved[0])
        self.whole.ratio = &self.ratio[0]

    cdef Stored stored(self, unsigned char* first) noexcept nogil:
        """Return numbers of the type of the marginals."""
        return Stored(first, self.itemsize == sizeof(float))

    cdef void keep_moved(self, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        """Keep n moved marginals, from the first on."""
        memcpy(
            &self.kept[0] + first * self.itemsize, &self.moved[0], n * self.itemsize
        )


cdef class DirectInference(Inference):
    """Inference that keeps the marginals of all items, and moves them item by item."""

    def keep_marginals(self, marginals):
        """Take the marginals of all items, for `set_direction` and `apply_step`.

        Parameters
        ----------
        marginals : Marginals or GraphMarginals
            Changed in place.

        Raises
        ------
        NotImplementedError
            If the structure has no level 4.
        """
        raise self.lack_of("keep_marginals")

    cdef double set_direction(
        self, Values scores, Values expected, Segment* segment, Values change
    ) noexcept nogil:
        """Describe the segment from the item's marginals to those under the scores.

        Follows `expect`, which wrote ``expected.local``. Writes the cliques and the
        separators of the segment, and the change of the expectations; returns
        <marginals, scores>.
        """
        return self.lacks(b"set_direction")

    cdef void apply_step(self, double step, Values change) noexcept nogil:
        """Move the item's marginals by the step that the line search has written."""
        self.lacks(b"apply_step")
