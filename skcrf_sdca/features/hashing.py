"""The columns and signs of hashed names, with NumPy alone.

`SequenceHasher` and `skcrf_sdca.serving` have them from here, so that they agree.
"""

import numpy as np

from skcrf_sdca._kernels.features._hashes import name_hashes


def hashed_columns(names, n_features, alternate_sign):
    """Return the columns, int32, and the signs, float64, of a list of names.

    Examples
    --------
    >>> from skcrf_sdca.features.hashing import hashed_columns
    >>> hashed_columns(["w=the", "w=dog"], 64, True)
    (array([ 4, 55], dtype=int32), array([1., 1.]))
    """
    hashes = name_hashes(names).astype(np.int64)
    columns = (np.abs(hashes) % n_features).astype(np.int32)
    if not alternate_sign:
        return columns, np.ones(len(columns))
    return columns, np.where(hashes < 0, -1.0, 1.0)
