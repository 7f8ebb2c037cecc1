"""Containers of sequences in a form that can be read twice."""

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp

from skcrf_sdca.data.containers import check_container, plain_column
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.rows import checked_sparse, unmasked


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
