"""The type of predictions that programs of old and new sklearn-crfsuite both take."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


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
