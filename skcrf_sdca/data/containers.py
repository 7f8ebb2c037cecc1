"""Containers of sequences: those that users may pass, in a form to read twice."""

from collections.abc import Iterable, Mapping, Set

import numpy as np
import scipy.sparse as sp

from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.rows import checked_sparse, unmasked


def check_container(X, name="X"):
    """Raise TypeError if `X` cannot hold sequences in a defined order.

    Parameters
    ----------
    X : object
        Argument of a user.
    name : str, default="X"
        Its name, for the message.

    Raises
    ------
    TypeError
        If `X` is None, a str, bytes, dict or set, a scalar of NumPy, or cannot be
        iterated over.

    Examples
    --------
    >>> from skcrf_sdca.data.containers import check_container
    >>> check_container([[{"word": "a"}]])
    """
    readable = isinstance(X, Iterable) or hasattr(X, "__array__")
    is_scalar = getattr(X, "shape", None) == ()
    if not readable or is_scalar or isinstance(X, (str, bytes, Mapping, Set)):
        raise TypeError(
            f"{name} must be a list of sequences, got {type(X).__name__} instead."
        )


def as_sequence_list(X, *, name="X"):
    """Return `X` in a form that can be read more than once.

    Parameters
    ----------
    X : PackedSequences, table, or iterable of sequences
        Generators, iterators and one-dimensional data-frame columns become lists.
    name : str, default="X"
        Name of the argument, for the message.

    Returns
    -------
    PackedSequences, list, tuple, ndarray, sparse matrix or data frame
        `X` itself if it is one of these.

    Raises
    ------
    TypeError
        If `X` is not a container of sequences, see `check_container`.
    ValueError
        If it is a sparse matrix that is not a valid one, or has masked entries.

    Examples
    --------
    >>> from skcrf_sdca.data.containers import as_sequence_list
    >>> as_sequence_list(sequence for sequence in [[["a"]], [["b"]]])
    [[['a']], [['b']]]
    """
    if sp.issparse(X):
        checked_sparse(X, name)
        return X
    if isinstance(X, (PackedSequences, list, tuple)):
        return X
    if isinstance(X, np.ndarray):
        return unmasked(X, name)
    check_container(X, name)
    if len(getattr(X, "shape", ())) == 2:
        return X
    return list(X) if isinstance(X, Iterable) else np.asarray(X)
