"""One sequence of dicts or strings to its labels, in one call.

Who serves a model has one sentence at a time, for which the arrays of the other kernels
would take far longer than what is in them. Owns the buffers of a call: it borrows them
from a list, so that threads never share any.
"""

cimport cython

from cython.view cimport array as cython_array
from libc.math cimport INFINITY
from libc.string cimport memcpy

from ..features._encoder cimport Encoder, Lookup, type_of_items
from ..features._features cimport RowLayout
from ..features._weights cimport Weights
from ..math._transitions cimport TransitionLayout
from ..math._vecmath cimport addressable, ops
from ._chain cimport Workspace, viterbi

import numpy as np

# Positions and entries that buffers have room for at first.
cdef enum:
    FEW = 64


@cython.final
cdef class Buffers:
    """What one call writes to: the rows of its items, their scores, the labels."""

    cdef Encoder encoder
    cdef Workspace workspace
    cdef Py_ssize_t length              # of the sequence
    cdef double[::1] scores             # (T, K)
    cdef int[::1] path                  # (T,)
    # The row of each entry in coef, if rows differ in length.
    cdef int[::1] places
    cdef int[::1] widths


@cython.final
cdef class SequenceTagger:
    """The weights of a chain, and its vocabulary, for one sequence at a time.

    All methods take a sequence of dicts, or of lists of str, as `Encoder` reads them.
    They raise TypeError or ValueError, which name the item, if one is of another form,
    if its scores are beyond ``largest``, or if no path of labels is allowed.

    Parameters
    ----------
    reading : tuple
        How items are read: a Lookup; the type of items, dict or list, as
        `type_of_items` finds it; the dtype of `Encoder`; and a function that takes a
        sequence of which that is another type, and returns a list of items or raises.
    weights : Weights
    chains : Chains
        Without positions: their ``tied`` scores, ``layout`` and ``constraints``. The
        scores are over the temperature already.
    temperature, largest : float
        What scores are divided by, and the largest that is no error.
    """

    cdef Lookup lookup
    cdef object item_type
    cdef object dtype
    cdef object checked
    cdef Weights weights
    cdef TransitionLayout layout
    cdef object constraints
    cdef const double[::1] tied
    cdef double temperature
    cdef double largest
    cdef list free                      # buffers that no call uses

    def __init__(
        self, reading, Weights weights, chains, double temperature, double largest
    ):
        self.lookup, self.item_type, self.dtype, self.checked = reading
        self.layout, self.constraints = chains.layout, chains.constraints
        if chains.tied.size != self.layout.size:
            raise ValueError("the chains need a score for each pair of their layout")
        if self.layout.n_labels != weights.n_labels:
            raise ValueError("the chains have another number of labels")
        self.tied = addressable(chains.tied.reshape(-1))
        self.weights = weights
        self.temperature, self.largest = temperature, largest
        self.free = []

    def predict(self, sequence, list labels):
        """Return the labels of the most probable path, a list; they are in `labels`."""
        cdef Buffers own = self.scored(sequence)
        cdef Py_ssize_t t
        cdef double value
        cdef list found = []
        if own.length > 0:
            value = viterbi(
                own.workspace, &own.scores[0], own.length, &own.path[0]
            )
            if value == -INFINITY:
                raise impossible(own.length)
        if len(labels) != self.weights.n_labels:
            raise ValueError(f"{len(labels)} labels for {self.weights.n_labels}")
        for t in range(own.length):
            found.append(labels[own.path[t]])
        self.free.append(own)
        return found

    def scores(self, sequence):
        """Return the scores of all labels at all positions, over the temperature.

        Returns
        -------
        scores : ndarray of shape (T, K)
            -inf where a label is forbidden.
        """
        cdef Buffers own = self.scored(sequence)
        cdef Py_ssize_t n = self.weights.n_labels
        found = np.empty((own.length, n))
        cdef double[:, ::1] out = found
        if own.length > 0:
            memcpy(&out[0, 0], &own.scores[0], own.length * n * sizeof(double))
        self.free.append(own)
        return found

    cdef Buffers scored(self, sequence):
        """Return buffers with the scores of a sequence.

        The caller puts them back; after an error they are left to themselves.
        """
        cdef Buffers own = self.borrowed()
        cdef Encoder encoder = own.encoder
        if type_of_items(sequence) is not self.item_type:
            sequence = self.checked(sequence)
        try:
            if self.item_type is dict:
                encoder.add_dicts(sequence)
            else:
                encoder.add_strings(sequence)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            wrapper = TypeError if isinstance(error, TypeError) else ValueError
            raise wrapper(f"item {encoder.n_rows}: {error}") from error
        if encoder.largest >= self.weights.n_features:
            raise ValueError("the vocabulary has features that the weights lack")
        own.length = encoder.n_rows
        if own.length > 0:
            self.make_room(own)
            self.add_up(own)
            self.check(own)
        return own

    cdef Buffers borrowed(self):
        cdef Buffers own
        try:
            own = self.free.pop()
        except IndexError:
            own = Buffers()
            own.encoder = Encoder(self.lookup, grows=False, dtype=self.dtype)
            self.allocate(own, FEW, FEW)
        own.encoder.clear()
        return own

    cdef int make_room(self, Buffers own) except -1:
        """Make the buffers long enough."""
        cdef Py_ssize_t n_entries = own.encoder.n_entries
        if (
            own.length > own.workspace.max_length
            or n_entries > own.places.shape[0]
        ):
            # An item may have no known feature, and buffers have one entry at least.
            self.allocate(own, 2 * own.length, max(2 * n_entries, FEW))

    cdef int allocate(
        self, Buffers own, Py_ssize_t length, Py_ssize_t n_entries
    ) except -1:
        cdef Py_ssize_t n = self.weights.n_labels
        own.workspace = Workspace(length, n, self.constraints, self.layout)
        own.workspace.keep_transition(&self.tied[0])
        own.scores = cython_array((length * n,), sizeof(double), "d")
        own.path = cython_array((length,), sizeof(int), "i")
        own.places = cython_array((n_entries,), sizeof(int), "i")
        own.widths = cython_array((n_entries,), sizeof(int), "i")

    cdef int add_up(self, Buffers own) except -1:
        """Write the scores."""
        cdef Encoder rows = own.encoder
        cdef RowLayout layout = self.weights.layout
        cdef const double* coef = self.weights.coef_pointer()
        cdef double* scores = &own.scores[0]
        cdef Py_ssize_t j, begin, end, n = self.weights.n_labels
        self.weights.set_scores(own.length, scores)
        if layout.first == NULL:
            ops.gather_each(
                rows.data, rows.indices, rows.indptr, own.length, coef, scores, n
            )
        else:
            for j in range(rows.n_entries):
                begin = layout.first[rows.indices[j]]
                end = layout.first[rows.indices[j] + 1]
                # Bounds may be mapped from a file, which others can change.
                if not 0 <= begin <= end <= layout.size:
                    raise ValueError(
                        f"feature {rows.indices[j]} has no weights: the mapped file of "
                        "the model was changed in place; write a new file, rename it, "
                        "and load it"
                    )
                own.places[j] = <int> begin
                own.widths[j] = <int> (end - begin)
            ops.gather_ragged(
                rows.data, &own.places[0], &own.widths[0], rows.indptr, own.length,
                layout.label, coef, scores, n,
            )
        if self.temperature != 1.0:
            for j in range(own.length * n):
                scores[j] /= self.temperature

    cdef int check(self, Buffers own) except -1:
        """Raise ValueError if scores overflow, as for huge features."""
        cdef Py_ssize_t j, n = self.weights.n_labels
        cdef double score
        for j in range(own.length * n):
            score = own.scores[j]
            if not -self.largest <= score <= self.largest and score != -INFINITY:
                raise ValueError(
                    f"item {j // n} has features so large that its scores are not "
                    f"finite or beyond {self.largest:g}; scale the features"
                )


def impossible(length):
    """Return the error for a sequence of a length that has no allowed path."""
    return ValueError(
        f"the sequence is of length {length}, and of that length the transitions of "
        "the model allow no path of labels"
    )
