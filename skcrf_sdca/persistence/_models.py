"""Saves an estimator to a file and loads it; the types that skops may load."""

from typing import Any

from scipy.sparse import csr_array
from sklearn.metrics import make_scorer
from sklearn.model_selection import KFold

from skcrf_sdca import compat, text
from skcrf_sdca._utils.typing import FilePath, SupportsRead, SupportsWrite
from skcrf_sdca.data.feature_names import FeatureNames, decoded_names
from skcrf_sdca.estimators.online_dependencies import OnlineDependencyCRF
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.estimators.thresholds import ThresholdCurve, TunedSpans
from skcrf_sdca.features.classifier import ClassifierFeatures
from skcrf_sdca.features.hasher import SequenceHasher
from skcrf_sdca.features.image_window import ImageWindow
from skcrf_sdca.features.per_token import PerToken
from skcrf_sdca.features.union import SequenceUnion, joined_names
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.features.vocabulary import vocabulary_names
from skcrf_sdca.features.window import SequenceWindow
from skcrf_sdca.metrics import flat_accuracy_score
from skcrf_sdca.metrics._scorers import SCORERS
from skcrf_sdca.persistence._archive import (
    opened_to_read,
    opened_to_write,
    read_archive,
    write_archive,
)
from skcrf_sdca.persistence._document import describe, rebuild
from skcrf_sdca.persistence._registry import CRFS
from skcrf_sdca.structures.chain.constraints import Constraints
from skcrf_sdca.structures.form import VectorForm
from skcrf_sdca.structures.segment.grammar import Grammar

__all__ = ["TRUSTED_TYPES", "load_model", "save_model"]

TEMPLATES = "Apply At Joint LabelPairs Prefix Shape Suffix Window".split()
# Objects in a search beside its estimator: a scorer of this package, or of scikit-learn
# with a function of this package, and the splitter that cv=3 stands for.
SEARCH_TYPES = {
    *map(type, SCORERS.values()),
    *(scorer._score_func for scorer in SCORERS.values()),
    type(make_scorer(flat_accuracy_score)),
    KFold,
}

#: Names of the types to trust in ``skops.io.load(path, trusted=TRUSTED_TYPES)``: the
#: estimators of this package and their attributes, its scorers, and scikit-learn's
#: ``KFold``, but no function of a user.
TRUSTED_TYPES = sorted(
    f"{trusted.__module__}.{trusted.__qualname__}"
    for trusted in (
        *CRFS.values(),
        OnlineDependencyCRF,
        TunedSpans,
        ThresholdCurve,
        compat.CRF,
        SequenceVectorizer,
        SequenceHasher,
        PerToken,
        SequenceUnion,
        SequenceWindow,
        ImageWindow,
        ClassifierFeatures,
        Tagger,
        Constraints,
        VectorForm,
        Grammar,
        FeatureNames,
        decoded_names,
        joined_names,
        vocabulary_names,
        text.TokenFeatures,
        text.ArcFeatures,
        *(getattr(text, name) for name in TEMPLATES),
        *SEARCH_TYPES,
        csr_array,
    )
)


def save_model(
    estimator: Any,
    path: FilePath | SupportsWrite,
    *,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Save a fitted estimator to a file that `load_model` reads without running code.

    The file contains the parameters, the labels, the vocabulary, the weights and the
    figures of the fit, such as ``duality_gap_`` and ``history_``. It does not contain
    what only another fit would use: callbacks, metadata requests, and the dual
    variables that ``warm_start=True`` keeps; but of a stream it has what the next
    ``partial_fit`` goes on from. It has no function of the user: set the parameter
    ``segment_features`` again after `load_model`. The file replaces an older one only
    when it is complete: after an error the older file is unchanged. If the process is
    killed, a file ``.skcrf_sdca-*.tmp`` stays beside it, until the next save to `path`
    from this machine removes it.

    Parameters
    ----------
    estimator : CRF, vectorizer, hasher, TokenFeatures, Pipeline or Tagger
        Fitted estimator. A CRF is an ``SDCACRF``, ``SAGNUSCRF``, ``OEGCRF``,
        ``LBFGSCRF``, ``SGDCRF``, ``PassiveAggressiveCRF``, ``SegmentCRF``,
        ``GraphCRF``, ``TreeCRF`` or ``compat.CRF``. The steps of a pipeline are a
        ``TokenFeatures``, a ``SequenceVectorizer`` or ``SequenceHasher``, or both in
        this order, and then a CRF; or of rows of numbers a ``PerToken`` of scalers or
        imputers, a ``SequenceWindow`` or ``ImageWindow``, or both in this order, and
        then a CRF. Templates may apply
        the functions of ``skcrf_sdca.text`` and methods of str, such as
        ``Apply(str.lower)``, but no other functions, because the file holds no code.
        Of a search, such as ``GridSearchCV``, save ``best_estimator_``.
    path : str, path-like or binary file object
        The name is free; the file is a zip archive. A file object, such as a BytesIO,
        gets the same bytes at its position, all at once: after an error, nothing.
    metadata : dict, default=None
        What the file says of the model beside what the model knows: a date, the data, a
        score, the version of a program. The values are str, int, float, bool, None, and
        lists and dicts of these. `model_info` reads them, and `load_model` does not:
        they belong to the file, and the estimator may be fitted again.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    TypeError
        If the estimator has another type, if its labels are not str, int, bool, bytes
        or float, or if the format cannot store a parameter, such as a RandomState or a
        template that applies a function of the user. The message names the step of the
        pipeline and the template. Also if `path` is none, such as a file in text mode,
        or if JSON lacks a value of `metadata`.
    ValueError
        If its parameters are not valid, its fitted attributes contradict each other, or
        a string would be another one after loading; or if `metadata` have a number that
        is not finite, or more than 65,536 characters as JSON.
    OSError
        If the file cannot be written.

    See Also
    --------
    load_model : Reads the file.
    model_info : Reads what the file says of the model.

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

    A file object takes the bytes, for a database say:

    >>> import io
    >>> save_model(crf, file := io.BytesIO())
    >>> load_model(file.getvalue())
    SDCACRF(random_state=0)
    """
    document, arrays = describe(estimator, metadata)
    with opened_to_write(path) as file:
        write_archive(file, document, arrays)


def load_model(path: FilePath | SupportsRead | bytes) -> Any:
    """Load an estimator that `save_model` saved. No file can make it run code.

    The whole content of the file is checked before it is used. A file that is damaged
    is refused, so that a loaded estimator predicts as the one that was saved.

    Parameters
    ----------
    path : str, path-like, binary file object or bytes
        A file object is read from its position to its end; bytes are the content of a
        file.

    Returns
    -------
    estimator : object
        A fitted estimator of the type that was saved.

    Raises
    ------
    ModelFormatError
        If the file is damaged, is not a model, or has a newer format. The error is a
        ValueError.
    MemoryError
        If what is in the file clearly does not fit into memory.
    TypeError
        If `path` is none of these, such as a file in text mode.
    OSError
        If there is no such file, or it cannot be opened.

    See Also
    --------
    save_model : Writes the file.
    model_info : Reads what the file says of the model, without the weights.

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
    with opened_to_read(path) as file:
        return read_archive(file, rebuild)
