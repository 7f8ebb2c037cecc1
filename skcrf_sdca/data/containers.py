"""Containers of sequences that users may pass, checked and readable twice."""

import sys
from collections.abc import Iterable, Mapping, Set

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._utils.words import name_of, words
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.rows import checked_sparse, unmasked


def check_container(X, name="X"):
    """Raise TypeError if `X` cannot hold sequences in a defined order.

    `name` is the name of the argument in the message. A data frame holds none: what
    its iterator yields, names or columns, depends on the library.
    """
    if isinstance(X, (list, tuple)):
        return
    readable = isinstance(X, Iterable) or hasattr(X, "__array__")
    is_scalar = getattr(X, "shape", None) == ()
    if not readable or is_scalar or isinstance(X, (str, bytes, Mapping, Set)):
        raise TypeError(
            f"{name_of(name)} must be a list of {words().sequence}s, got "
            f"{type(X).__name__} instead."
        )
    if is_frame(X):
        raise TypeError(
            f"{name_of(name)} is a data frame: pass the column that holds the "
            f"{words().sequence}s, of "
            f"{list(X.columns)}."
        )


def is_frame(X):
    """Return whether `X` is a data frame."""
    return len(getattr(X, "shape", ())) == 2 and hasattr(X, "columns")


def plain_column(column):
    """Return a column of Polars as a list; anything else as it is.

    The iterator of Polars yields columns for lists, and its arrays have NaN for
    missing integers. An object with ``__array__``, but no shape, becomes an array.
    """
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(column, polars.Series):
        return column.to_list()
    is_only_array = hasattr(column, "__array__") and not hasattr(column, "shape")
    return np.asarray(column) if is_only_array else column


def as_sequence_list(X, *, name="X"):
    """Return `X` in a form that can be read more than once.

    Generators, iterators and one-dimensional data-frame columns become lists. Raise
    TypeError if `X`, called `name`, is no container of sequences, and ValueError if it
    is a sparse matrix whose indices are wrong, or has masked entries.
    """
    if isinstance(X, (PackedSequences, list, tuple)):
        return X
    if sp.issparse(X):
        checked_sparse(X, name)
        return X
    if isinstance(X, np.ndarray):
        return unmasked(X, name)
    if len(getattr(X, "shape", ())) == 2:
        return X
    X = plain_column(X)
    check_container(X, name)
    return list(X) if isinstance(X, Iterable) else np.asarray(X)
