"""The function of ``sklearn_crfsuite.utils``."""

from collections.abc import Iterable
from itertools import chain
from typing import TypeVar

__all__ = ["flatten"]

Item = TypeVar("Item")


def flatten(y: Iterable[Iterable[Item]]) -> list[Item]:
    """Return the items of all sequences in one list.

    Parameters
    ----------
    y : iterable of iterables
        Such as label lists.

    Returns
    -------
    items : list

    Examples
    --------
    >>> from skcrf_sdca.compat.utils import flatten
    >>> flatten([["B", "I"], ["O"]])
    ['B', 'I', 'O']
    """
    return list(chain.from_iterable(y))
