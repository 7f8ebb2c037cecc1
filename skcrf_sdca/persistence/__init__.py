"""Saving fitted models: a portable format that runs no code, and what skops may trust.

`save_model` and `load_model` are the face. _archive.py owns the file, and _document.py
with _labels.py and _values.py what stands in it; docs/model_format.rst tells it to
readers in other languages.
"""

from typing import Any

from scipy.sparse import csr_array

from skcrf_sdca import compat, text
from skcrf_sdca._utils.files import checked_read
from skcrf_sdca._utils.typing import FilePath
from skcrf_sdca._version import InconsistentVersionWarning
from skcrf_sdca.features.per_token import PerToken
from skcrf_sdca.features.union import SequenceUnion
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.persistence._archive import read_archive, write_archive
from skcrf_sdca.persistence._document import CRFS, describe, rebuild
from skcrf_sdca.persistence._fields import ModelFormatError
from skcrf_sdca.structures.chain.constraints import Allowed

__all__ = [
    "TRUSTED_TYPES",
    "InconsistentVersionWarning",
    "ModelFormatError",
    "load_model",
    "save_model",
]

# Templates, and the functions that some of them apply.
TEXT_TYPES = (
    "TokenFeatures",
    "Apply",
    "At",
    "Joint",
    "Prefix",
    "Shape",
    "Suffix",
    "Window",
    "has_digit",
    "has_hyphen",
    "is_capitalized",
)

#: Names of the types to trust in ``skops.io.load(path, trusted=TRUSTED_TYPES)``: the
#: estimators of this package and what they hold, but no function of a user.
TRUSTED_TYPES = sorted(
    f"{trusted.__module__}.{trusted.__qualname__}"
    for trusted in (
        *CRFS.values(),
        compat.CRF,
        SequenceVectorizer,
        PerToken,
        SequenceUnion,
        Allowed,
        *(getattr(text, name) for name in TEXT_TYPES),
        csr_array,
    )
)


def save_model(estimator: Any, path: FilePath) -> None:
    """Save a fitted estimator to a file that `load_model` reads without running code.

    The file holds the parameters, the labels, the vocabulary, the weights and the
    figures of the fit, such as ``duality_gap_`` and ``history_``. It does not hold what
    only a further fit would use: callbacks, metadata requests, and the dual variables
    that ``warm_start=True`` keeps. It is written under another name in the same folder
    first, and takes the place of an older file when it is complete: after an error the
    older file is as it was.

    Parameters
    ----------
    estimator : SDCACRF, SAGNUSCRF, OEGCRF, LBFGSCRF, SequenceVectorizer or Pipeline
        Fitted. A pipeline has two steps: a vectorizer and one of the others.
    path : str or path-like
        Any name; the file is a zip archive.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    TypeError
        If it is of another type, or has labels that are not str, int, bool, bytes or
        float, or a parameter that the format does not hold, such as a RandomState.
    ValueError
        If its parameters are not valid, its fitted attributes do not agree with each
        other, or a string would not come back as it is.
    OSError
        If the file cannot be written.

    See Also
    --------
    load_model : Reads the file.

    Examples
    --------
    >>> import os
    >>> import tempfile
    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca.persistence import load_model, save_model
    >>> crf = SDCACRF(random_state=0).fit([[["a"], ["b"]]], [["B", "I"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(crf, os.path.join(folder, "model.zip"))
    ...     loaded = load_model(os.path.join(folder, "model.zip"))
    >>> loaded
    SDCACRF(random_state=0)
    >>> loaded.predict([[["a"], ["b"]]])
    array([list(['B', 'I'])], dtype=object)
    """
    write_archive(path, *describe(estimator))


def load_model(path: FilePath) -> Any:
    """Load what `save_model` saved. No file can make it run code.

    Everything in the file is checked before it is used: its predictions are those of
    the estimator that was saved, or it is not loaded.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    estimator : object
        Of the type that was saved, fitted.

    Raises
    ------
    ModelFormatError
        If the file is damaged, not a model, or of a newer format. It is a ValueError.
    OSError
        If there is no such file, or it cannot be opened.

    See Also
    --------
    save_model : Writes the file.

    Examples
    --------
    >>> import os
    >>> import tempfile
    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca.persistence import load_model, save_model
    >>> crf = SDCACRF(random_state=0).fit([[["a"], ["b"]]], [["B", "I"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(crf, os.path.join(folder, "model.zip"))
    ...     loaded = load_model(os.path.join(folder, "model.zip"))
    >>> loaded.duality_gap_ == crf.duality_gap_
    True
    """
    with checked_read(path, ModelFormatError) as file:
        return read_archive(file, rebuild)
