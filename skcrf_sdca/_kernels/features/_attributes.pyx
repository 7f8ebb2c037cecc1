"""Scores of the attributes of items, as model files of CRFsuite have their weights."""

cimport cython

import numpy as np


@cython.final
cdef class AttributeWeights:
    """The weights of attributes, whose labels and weights stand one after another.

    Parameters
    ----------
    numbers : dict
        ``{attribute: number}``.
    begins : ndarray of shape (n_attributes + 1,), int64
        Where the weights of each attribute begin.
    labels : ndarray of shape (n_weights,), int64
    weights : ndarray of shape (n_weights,)
    """

    cdef dict numbers
    cdef const long long[::1] begins
    cdef const long long[::1] labels
    cdef const double[::1] weights

    def __init__(self, dict numbers, begins, labels, weights):
        if len(begins) != len(numbers) + 1 or len(labels) != len(weights):
            raise ValueError("weights or attributes without a place")
        widths = np.diff(begins)
        if begins[0] != 0 or (widths < 0).any() or widths.sum() != len(weights):
            raise ValueError("the weights of attributes are not all the weights")
        self.numbers, self.begins, self.labels = numbers, begins, labels
        self.weights = weights

    def add(self, list items, double[:, ::1] scores):
        """Add the weights of all attributes to the scores (T, K).

        Items are lists of attributes, in whose order weights are added: names, whose
        values are 1, or pairs (name, value). The weights of names that are not known
        are 0. ValueError without a row for each item, and IndexError without a column
        for each label.
        """
        cdef Py_ssize_t t, j, number
        cdef double value
        cdef list item
        if len(items) != scores.shape[0]:
            raise ValueError("there must be a row of scores for each item")
        for t in range(len(items)):
            item = items[t]
            for entry in item:
                name, value = entry, 1.0
                if type(entry) is tuple:
                    name, value = entry
                found = self.numbers.get(name)
                if found is None:
                    continue
                number = found
                if not 0 <= number < self.begins.shape[0] - 1:
                    raise IndexError("an attribute has no weights")
                for j in range(self.begins[number], self.begins[number + 1]):
                    if not 0 <= self.labels[j] < scores.shape[1]:
                        raise IndexError("a label has no column")
                    scores[t, self.labels[j]] += value * self.weights[j]
