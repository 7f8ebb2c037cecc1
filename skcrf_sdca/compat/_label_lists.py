"""Label lists as programs of sklearn-crfsuite give and take them.

Owns the type of predictions that programs of its old and new versions both take, and
labels in bytes.
"""

from operator import is_not
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._kernels.features._attributes import decoded
from skcrf_sdca.data.containers import as_list


class LabelLists(list[list[Any]]):
    """Label lists: a list, as sklearn-crfsuite returned up to version 0.4.

    Version 0.5 returns an array. So NumPy reads these lists as an object array with one
    list for each sequence, and ``==`` returns a NumPy bool, which has the method
    ``all``. One sequence is equal to its labels alone, too, as a row of an array is.
    """

    def tolist(self) -> list[list[Any]]:
        """Return the lists, as an array does."""
        return list(self)

    def __array__(
        self, dtype: Any = None, copy: bool | None = None
    ) -> NDArray[np.object_]:
        """Return an object array with one list for each sequence."""
        array = np.empty(len(self), dtype=object)
        for i, labels in enumerate(self):
            array[i] = labels
        return array

    def __eq__(self, other):
        """Return whether all labels are equal."""
        equal = super().__eq__(other)
        if equal is NotImplemented:
            return equal
        return np.bool_(equal or (len(self) == 1 and self[0] == other))

    def __ne__(self, other):
        """Return whether some labels differ."""
        equal = self == other
        return equal if equal is NotImplemented else ~equal

    __hash__ = None


def decoded_lists(y: Any, name: str) -> Any:
    """Return label lists, called `name`, whose labels in bytes are str, as in CRFsuite.

    What has no labels in bytes stays as it is, but that a generator becomes a list.
    """
    lists = y if y is None else as_list(y, name=name)
    if not isinstance(lists, (list, tuple, np.ndarray)):
        return lists
    found = list(map(_decoded, lists))
    return found if any(map(is_not, found, lists)) else lists


def _decoded(labels):
    """Return the labels of a sequence, a new list if one is in bytes."""
    may_be = isinstance(labels, (list, tuple)) or len(getattr(labels, "shape", ())) == 1
    if not (may_be and any(isinstance(label, bytes) for label in labels)):
        return labels
    return list(map(decoded, labels))
