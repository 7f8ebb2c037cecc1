"""Attributes of items as python-crfsuite takes them, and the scores of their weights.

Owns the attributes of an item (names and values, in their order), how names in bytes
are read, and the sums of the weights that model files of CRFsuite have.
"""

cimport cython

import numpy as np

cdef enum:
    # A dict that contains itself must come to an end.
    DEEPEST = 1000


def decoded(name):
    """Return a name in bytes, which are UTF-8, as a str; anything else as it is.

    Raises
    ------
    ValueError
        If the bytes are not UTF-8.
    """
    if not isinstance(name, bytes):
        return name
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(
            f"{name!r:.40} is not UTF-8, as the names of attributes and labels in "
            "bytes must be."
        ) from None


def entries_of(sequence):
    """Return the attributes of each item, lists of names and of pairs (name, value).

    Names alone have the value 1; see `ItemSequence` for items and errors.
    """
    if isinstance(sequence, (str, bytes)):
        raise ValueError("a sequence is a list of items, got a string.")
    return [entries_of_item(item) for item in sequence]


cdef list entries_of_item(item):
    """Return the attributes of an item."""
    cdef Py_ssize_t i
    cdef list found
    if isinstance(item, bytes):
        raise ValueError(f"an item is a dict or a list of names, got {item!r:.40}.")
    if not isinstance(item, dict):
        found = list(item)
        for i in range(len(found)):
            if type(found[i]) is not str:
                found[i] = name_of(found[i])
        return found
    found = []
    add_dict(found, "", item, 1)
    return found


cdef int add_dict(list found, str prefix, item, int depth) except -1:
    """Append the attributes of a dict, whose names have a prefix."""
    if depth > DEEPEST:
        raise RecursionError(f"dicts are nested more than {DEEPEST} deep")
    for key, value in item.items():
        if type(key) is not str:
            key = name_of(key)
        add_attribute(found, prefix + key if prefix else key, value, depth)


cdef int add_attribute(list found, name, value, int depth) except -1:
    """Append the attributes of a key and its value."""
    kind = type(value)
    if kind is str:
        found.append(f"{name}:{value}")
    elif kind is float:
        found.append((name, value))
    elif kind is bool:
        found.append(name if value else (name, 0.0))
    elif isinstance(value, dict):
        add_dict(found, f"{name}:", value, depth + 1)
    elif isinstance(value, (str, bytes)):
        found.append(f"{name}:{name_of(value)}")
    elif isinstance(value, (list, set)):
        for within in value:
            found.append(f"{name}:{name_of(within)}")
    else:
        found.append((name, number_of(name, value)))


cdef name_of(name):
    """Return a name, of str or bytes, as a str."""
    name = decoded(name)
    if not isinstance(name, str):
        raise ValueError(f"the name of an attribute must be a str, got {name!r:.40}.")
    return name


cdef number_of(name, value):
    """Return a value of another type, as a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"attribute {name!r} has a value of type {type(value).__name__}; it must "
            "be a number, bool, str, dict, list or set."
        ) from None


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
        if len(items) != scores.shape[0]:
            raise ValueError("there must be a row of scores for each item")
        if len(items) > 0 and scores.shape[1] > 0:
            self.add_to(items, &scores[0, 0], scores.shape[1])

    cdef int add_to(
        self, list items, double* scores, Py_ssize_t n_labels
    ) except -1:
        """Add them to scores (T, K) that have a row for each item."""
        cdef Py_ssize_t t, j, number
        cdef double value
        cdef list item
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
                    if not 0 <= self.labels[j] < n_labels:
                        raise IndexError("a label has no column")
                    scores[t * n_labels + self.labels[j]] += value * self.weights[j]
