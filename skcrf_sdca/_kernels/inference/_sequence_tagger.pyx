"""One sequence of dicts or strings to its labels, in one call.

Who serves a model has one sentence at a time, for which the arrays of the other kernels
would take far longer than what is in them. Owns the buffers of a call: it borrows them
from a list, so that threads never share any. Models of estimators and those of files of
CRFsuite read items in two ways.
"""

cimport cython

from cython.view cimport array as cython_array
from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

from cpython.bytes cimport PyBytes_FromStringAndSize

from ..features._attributes cimport AttributeWeights
from ..features._encoder cimport Encoder, Lookup, type_of_items
from ..features._features cimport RowLayout
from ..features._weights cimport Weights
from ..math._transitions cimport TransitionLayout
from ..math._vecmath cimport addressable, ops
from ._chain cimport Workspace, forward_backward, viterbi

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
    cdef double[::1] node               # (T, K) marginals
    # The row of each entry in coef, if rows differ in length.
    cdef int[::1] places
    cdef int[::1] widths


cdef class ChainTagger:
    """A chain for one sequence at a time; a subclass reads it, and makes its scores.

    Methods raise ValueError, which names the item, if scores are beyond ``largest``.

    Parameters
    ----------
    chains : Chains
        Without positions: their ``tied`` scores, ``layout`` and ``constraints``.
    largest : float
        The largest score that is no error.
    """

    cdef TransitionLayout layout
    cdef object constraints
    cdef const double[::1] tied
    cdef Py_ssize_t n_labels
    cdef double largest
    cdef list free                      # buffers that no call uses

    def __init__(self, chains, double largest):
        self.layout, self.constraints = chains.layout, chains.constraints
        if chains.tied.size != self.layout.size:
            raise ValueError("the chains need a score for each pair of their layout")
        self.n_labels = self.layout.n_labels
        self.tied = addressable(chains.tied.reshape(-1))
        self.largest = largest
        self.free = []

    def predict(self, sequence, list labels):
        """Return the labels of the most probable path, a list; they are in `labels`.

        ValueError if no path of labels is allowed.
        """
        cdef Buffers own = self.scored(sequence)
        cdef double value = 0.0
        if own.length > 0:
            value = viterbi(own.workspace, &own.scores[0], own.length, &own.path[0])
        if value == -INFINITY:
            raise impossible(own.length)
        found = self.path_in_words(own, labels)
        self.free.append(own)
        return found

    def marginals(self, sequence, list labels):
        """Return the probability of every label at every position, a list of dicts.

        ValueError if no path of labels is allowed.
        """
        cdef Buffers own = self.scored(sequence)
        cdef Py_ssize_t t, k, n = self.n_labels
        cdef double value = 0.0
        cdef list found = []
        cdef dict row
        self.check_labels(labels)
        if own.length > 0:
            value = forward_backward(
                own.workspace, &own.scores[0], own.length, &own.node[0], NULL, NULL
            )
        if value == -INFINITY:
            raise impossible(own.length)
        for t in range(own.length):
            row = {}
            for k in range(n):
                row[labels[k]] = min(own.node[t * n + k], 1.0)
            found.append(row)
        self.free.append(own)
        return found

    def scores(self, sequence):
        """Return the scores of all labels at all positions.

        Returns
        -------
        scores : ndarray of shape (T, K)
            -inf where a label is forbidden.
        """
        cdef Buffers own = self.scored(sequence)
        cdef Py_ssize_t n = self.n_labels
        found = np.empty((own.length, n))
        cdef double[:, ::1] out = found
        if own.length > 0:
            memcpy(&out[0, 0], &own.scores[0], own.length * n * sizeof(double))
        self.free.append(own)
        return found

    cdef list path_in_words(self, Buffers own, list labels):
        """Return the labels of the path."""
        cdef Py_ssize_t t
        cdef list found = []
        self.check_labels(labels)
        for t in range(own.length):
            found.append(labels[own.path[t]])
        return found

    cdef int check_labels(self, list labels) except -1:
        if len(labels) != self.n_labels:
            raise ValueError(f"{len(labels)} labels for {self.n_labels}")

    cdef Buffers scored(self, sequence):
        """Return buffers with the scores of a sequence.

        The caller puts them back; after an error they are left to themselves.
        """
        raise NotImplementedError("scored")

    cdef Buffers borrowed(self):
        try:
            return self.free.pop()
        except IndexError:
            return Buffers()

    cdef int allocate(self, Buffers own, Py_ssize_t length) except -1:
        cdef Py_ssize_t n = self.n_labels
        own.workspace = Workspace(length, n, self.constraints, self.layout)
        own.workspace.set_transition(&self.tied[0])
        own.scores = cython_array((length * n,), sizeof(double), "d")
        own.node = cython_array((length * n,), sizeof(double), "d")
        own.path = cython_array((length,), sizeof(int), "i")

    cdef int check(self, Buffers own) except -1:
        """Raise ValueError if scores overflow, as for huge features."""
        cdef Py_ssize_t j, n = self.n_labels
        cdef double score
        for j in range(own.length * n):
            score = own.scores[j]
            if not -self.largest <= score <= self.largest and score != -INFINITY:
                raise ValueError(
                    f"item {j // n} has features so large that its scores are not "
                    f"finite or beyond {self.largest:g}; scale the features"
                )


@cython.final
cdef class SequenceTagger(ChainTagger):
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
    cdef double temperature

    def __init__(
        self, reading, Weights weights, chains, double temperature, double largest
    ):
        super().__init__(chains, largest)
        self.lookup, self.item_type, self.dtype, self.checked = reading
        if self.n_labels != weights.n_labels:
            raise ValueError("the chains have another number of labels")
        self.weights, self.temperature = weights, temperature

    cdef Buffers scored(self, sequence):
        cdef Buffers own = self.borrowed()
        cdef Encoder encoder
        if own.encoder is None:
            own.encoder = Encoder(self.lookup, grows=False, dtype=self.dtype)
            self.make_room(own, FEW, FEW)
        encoder = own.encoder
        encoder.clear()
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
            if (
                own.length > own.workspace.max_length
                or encoder.n_entries > own.places.shape[0]
            ):
                # An item may have no known feature, and buffers have one entry at
                # least.
                self.make_room(own, 2 * own.length, max(2 * encoder.n_entries, FEW))
            self.add_up(own)
            self.check(own)
        return own

    cdef int make_room(
        self, Buffers own, Py_ssize_t length, Py_ssize_t n_entries
    ) except -1:
        """Make all buffers as long."""
        self.allocate(own, length)
        own.places = cython_array((n_entries,), sizeof(int), "i")
        own.widths = cython_array((n_entries,), sizeof(int), "i")

    cdef int add_up(self, Buffers own) except -1:
        """Write the scores, over the temperature."""
        cdef Encoder rows = own.encoder
        cdef RowLayout layout = self.weights.layout
        cdef const double* coef = self.weights.coef_pointer()
        cdef double* scores = &own.scores[0]
        cdef Py_ssize_t j, begin, end, n = self.n_labels
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


@cython.final
cdef class AttributeTagger(ChainTagger):
    """A model file of CRFsuite, for one sequence of attributes at a time.

    A sequence is a list of items as `AttributeWeights` takes them.

    Parameters
    ----------
    weights : AttributeWeights
    added : list of (slice, ndarray of shape (n_labels,))
        Numbers that are added to the scores of all, the first or the last position.
    chains, largest
        As for `ChainTagger`.
    """

    cdef AttributeWeights weights
    cdef list added

    def __init__(self, AttributeWeights weights, list added, chains, double largest):
        super().__init__(chains, largest)
        self.weights, self.added = weights, added

    def tag(self, list items, list labels):
        """Return the labels of highest score, and the scores: the bytes of (T, K)."""
        cdef Buffers own = self.scored(items)
        cdef const char* scores = NULL
        if own.length > 0:
            viterbi(own.workspace, &own.scores[0], own.length, &own.path[0])
            scores = <const char*> &own.scores[0]
        found = self.path_in_words(own, labels), PyBytes_FromStringAndSize(
            scores, own.length * self.n_labels * sizeof(double)
        )
        self.free.append(own)
        return found

    cdef Buffers scored(self, sequence):
        cdef Buffers own = self.borrowed()
        cdef Py_ssize_t t, k, n = self.n_labels
        cdef const double[::1] numbers
        cdef list items = sequence
        own.length = len(items)
        if own.length == 0:
            return own
        if own.workspace is None or own.length > own.workspace.max_length:
            self.allocate(own, max(2 * own.length, FEW))
        memset(&own.scores[0], 0, own.length * n * sizeof(double))
        self.weights.add_to(items, &own.scores[0], n)
        for place, numbers in self.added:
            for t in range(*place.indices(own.length)):
                for k in range(n):
                    own.scores[t * n + k] += numbers[k]
        self.check(own)
        return own


def impossible(length):
    """Return the error for a sequence of a length that has no allowed path."""
    return ValueError(
        f"the sequence is of length {length}, and of that length the transitions of "
        "the model allow no path of labels"
    )
