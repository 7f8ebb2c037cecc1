# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The interface between solvers and structures: one call for an item, none for a label.

A solver's kernel knows of an item its potentials, scores and expectations, as `Values`.
How the labels of the item depend on each other, and which features there are, is known
to the Structure alone: the chain in _chain_structure.pyx. A structure offers levels:

    1   argmax, n_best: the labellings of highest score; their expectations (BCFW, MIRA)
    2   log_partition: log Z of any potentials of the item
    3   expect: log Z and the expectations that features need (OEG, SAG)
    4   set_direction, apply_step: marginals of cliques and separators (SDCA)

A structure that does not offer a level leaves out its methods. Visits that call one of
these are refused: the default returns no number, and `check` raises its name.

Every thread has a Structure of its own, since it owns the buffers of the current item.
"""

from libc.math cimport NAN
from libc.string cimport memcpy

from ._vecmath cimport ops

import numpy as np


cdef class Structure:
    """Items of one structure under given weights; a subclass does the inference."""

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
            f"the compiled structure {type(self).__name__} has no {method}, which this "
            "solver needs"
        )

    cdef Py_ssize_t first_local(self, Py_ssize_t i) noexcept nogil:
        """Return where the local values of item i begin in those of all items."""
        self.lacks(b"first_local")
        return 0

    cdef void set_item(self, Py_ssize_t i) noexcept nogil:
        """Take item i: write n_local, and its potentials under the current weights."""
        self.lacks(b"set_item")

    cdef double argmax(self, Values potentials, int* path) noexcept nogil:
        """Write the labelling of highest score under any potentials; return its score.

        A labelling has at most as many labels as the item has local potentials.
        """
        return self.lacks(b"argmax")

    def allow_n_best(self, Py_ssize_t n):
        """Make the buffers for n labellings of `n_best`.

        Raises
        ------
        NotImplementedError
            If the structure has no `n_best`.
        """
        raise self.lack_of("n_best")

    cdef Py_ssize_t n_best(
        self, Values potentials, double* scores, int* paths
    ) noexcept nogil:
        """Write the n labellings of highest score and these scores, best first.

        Labellings stand ``most_local`` numbers apart. Returns how many there are.
        """
        scores[0] = self.lacks(b"n_best")
        return 1

    cdef void set_certain(self, const int* path, Values out) noexcept nogil:
        """Write the expectations of the distribution that is certain of a labelling."""
        self.lacks(b"set_certain")

    cdef double log_partition(self, Values potentials) noexcept nogil:
        """Return log Z of the item with any potentials."""
        return self.lacks(b"log_partition")

    cdef double expect(self, Values potentials, Values out) noexcept nogil:
        """Write the expectations under any potentials; return log Z.

        Tied expectations are not written if ``out.tied`` is NULL.
        """
        return self.lacks(b"expect")

    cdef void set_change(self, Values to, Values start) noexcept nogil:
        """Take the change of expectations to - start."""
        self.lacks(b"set_change")

    cdef void set_gradient(self) noexcept nogil:
        """Take the change expected - target, the gradient of the item's loss."""
        self.lacks(b"set_gradient")

    cdef double target_score(self, Values potentials) noexcept nogil:
        """Return the score of the target under any potentials."""
        return self.lacks(b"target_score")

    cdef void sum_features(self) noexcept nogil:
        """Sum the features of the change, for ``sums`` to measure and to add."""
        self.lacks(b"sum_features")

    cdef void change_scores(self, Values out) noexcept nogil:
        """Write the potentials under the summed features of the change as weights."""
        self.lacks(b"change_scores")

    cdef double change_inner(self, Values potentials) noexcept nogil:
        """Return <change, potentials>."""
        return self.lacks(b"change_inner")

    cdef double residual(self) noexcept nogil:
        """Return the sum of the absolute values of the change, local ones only."""
        return self.lacks(b"residual")

    cdef void add_change(self, Weights out, double step) noexcept nogil:
        """Add step times the features of the change to weights."""
        self.lacks(b"add_change")

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

    cdef double set_direction(self, Segment* segment) noexcept nogil:
        """Describe the segment from the item's marginals to those under the weights.

        Follows `expect`. Writes the cliques, the separators and the linear term of the
        segment, takes the direction as the change, and returns <marginals, scores>.
        """
        return self.lacks(b"set_direction")

    cdef void apply_step(self, double step) noexcept nogil:
        """Move the item's marginals by the step that the line search has written."""
        self.lacks(b"apply_step")

    cdef double inner(self, Values a, Values b) noexcept nogil:
        """Return <a, b> of two values of the item."""
        return (
            ops.dot(a.local, b.local, self.n_local)
            + ops.dot(a.tied, b.tied, self.n_tied)
        )

    cdef void copy_values(self, Values values, Values out) noexcept nogil:
        """Copy values of the item."""
        memcpy(out.local, values.local, self.n_local * sizeof(double))
        memcpy(out.tied, values.tied, self.n_tied * sizeof(double))

    cdef Values new_values(self):
        """Return buffers for the values of any item."""
        cdef double[::1] local = np.zeros(self.most_local)
        cdef double[::1] tied = np.zeros(max(self.n_tied, 1))
        cdef Values values
        self.buffers = (self.buffers, local, tied)
        values.local, values.tied = &local[0], &tied[0]
        return values
