"""Containers of sequences in a form that can be read twice."""

import scipy.sparse as sp

from skcrf_sdca.data.containers import as_list
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.rows import checked_sparse


def as_sequence_list(X, *, name="X"):
    """Return `X` in a form that can be read more than once, as `as_list`.

    PackedSequences and sparse matrices are as they are. Raise ValueError if the indices
    of a sparse matrix are wrong.
    """
    if isinstance(X, PackedSequences):
        return X
    if sp.issparse(X):
        checked_sparse(X, name)
        return X
    return as_list(X, name=name)
