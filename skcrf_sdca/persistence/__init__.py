"""Saves fitted models in a portable format that runs no code; lists types for skops.

`save_model` and `load_model` are the interface. _archive.py owns the file, and
_document.py, _labels.py and _values.py own its content, which docs/model_format.rst
describes for programs in other languages.
"""

from typing import Any

from scipy.sparse import csr_array

from skcrf_sdca import compat, text
from skcrf_sdca._utils.files import checked_read
from skcrf_sdca._utils.typing import FilePath
from skcrf_sdca._version import InconsistentVersionWarning
from skcrf_sdca.data.feature_names import FeatureNames, decoded_names
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.features.per_token import PerToken
from skcrf_sdca.features.union import SequenceUnion, joined_names
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.features.vocabulary import vocabulary_names
from skcrf_sdca.persistence._archive import read_archive, write_archive
from skcrf_sdca.persistence._document import CRFS, describe, rebuild
from skcrf_sdca.persistence._fields import ModelFormatError
from skcrf_sdca.structures.chain.constraints import Constraints

__all__ = [
    "TRUSTED_TYPES",
    "InconsistentVersionWarning",
    "ModelFormatError",
    "load_model",
    "save_model",
]

# Templates, and the functions that templates may apply.
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
#: estimators of this package and their attributes, but no function of a user.
TRUSTED_TYPES = sorted(
    f"{trusted.__module__}.{trusted.__qualname__}"
    for trusted in (
        *CRFS.values(),
        compat.CRF,
        SequenceVectorizer,
        PerToken,
        SequenceUnion,
        Tagger,
        Constraints,
        FeatureNames,
        decoded_names,
        joined_names,
        vocabulary_names,
        *(getattr(text, name) for name in TEXT_TYPES),
        csr_array,
    )
)


def save_model(estimator: Any, path: FilePath) -> None:
    """Save a fitted estimator to a file that `load_model` reads without running code.

    The file contains the parameters, the labels, the vocabulary, the weights and the
    figures of the fit, such as ``duality_gap_`` and ``history_``. It does not contain
    what only another fit would use: callbacks, metadata requests, and the dual
    variables that ``warm_start=True`` keeps. The file replaces an older one only when
    it is complete: after an error the older file is unchanged.

    Parameters
    ----------
    estimator : SDCACRF, SAGNUSCRF, OEGCRF, LBFGSCRF, SequenceVectorizer, Pipeline or \
Tagger
        Fitted estimator. A pipeline must have two steps, a vectorizer and a CRF.
    path : str or path-like
        The name is free; the file is a zip archive.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    TypeError
        If the estimator has another type, if its labels are not str, int, bool, bytes
        or float, or if the format cannot store a parameter, such as a RandomState.
    ValueError
        If its parameters are not valid, its fitted attributes contradict each other, or
        a string would be another one after loading.
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
    """Load an estimator that `save_model` saved. No file can make it run code.

    The whole content of the file is checked before it is used. A file that is damaged
    is refused, so that a loaded estimator predicts as the one that was saved.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    estimator : object
        A fitted estimator of the type that was saved.

    Raises
    ------
    ModelFormatError
        If the file is damaged, is not a model, or has a newer format. The error is a
        ValueError.
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
