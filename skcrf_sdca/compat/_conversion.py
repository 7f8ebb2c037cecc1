"""Trained models from CRFsuite and to it: its weights by name, ours in arrays.

CRFsuite's score is that of our model without intercept, start and end weights. These go
to CRFsuite as weights of attributes that stand at every, the first and the last item.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.typing import FilePath, Sequences
from skcrf_sdca.compat._model_file import (
    STATE,
    TRANSITION,
    WEIGHT,
    ModelFile,
    parse,
    serialise,
)
from skcrf_sdca.data.containers import as_sequence_list
from skcrf_sdca.data.input_formats import VECTORIZED, format_of_sequence
from skcrf_sdca.data.label_encoding import encode_labels
from skcrf_sdca.estimators.base import BaseCRF
from skcrf_sdca.estimators.crfs import SDCACRF
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.structures.chain.parameters import ChainModel

# What may be asked for as one block: 16 GiB.
MOST_WEIGHTS = 2**31
# A key of more colons is none that anybody wrote; a name of colons alone may be.
MOST_COLONS = 32
# Its exponential is 0 in any precision, and sums of a few million of it are finite.
FORBIDDEN = -1e30


def from_crfsuite(
    model: Any, *, input_format: Literal["dicts", "strings"] = "dicts"
) -> SDCACRF:
    """Turn a model of CRFsuite into a fitted estimator that predicts the same.

    Parameters
    ----------
    model : str, path, bytes, pycrfsuite.Tagger or sklearn_crfsuite.CRF
        The name of a model file, what is in it, or an object that has it. A Tagger only
        tells its weights to six decimals: give the file where there is one.
    input_format : {"dicts", "strings"}, default="dicts"
        What the items of X will be: dicts, or lists of str.

    Returns
    -------
    estimator : SDCACRF
        Fitted, with ``intercept_``, ``start_`` and ``end_`` of zero, and with nothing
        that tells of a training (``n_iter_``, ``history_`` ...). Pickles need no
        CRFsuite.

    Raises
    ------
    ValueError
        If the file is damaged, its names are no UTF-8, or the model would take more
        than 16 GiB.
    TypeError
        If `model` is none of these.

    See Also
    --------
    to_crfsuite : The way back.

    Notes
    -----
    A name ``"a:b:c"`` is found again as that key, and as every key and value that
    CRFsuite's dicts would make it from, for keys of up to 32 colons.

    Examples
    --------
    >>> import tempfile
    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca.compat import from_crfsuite, to_crfsuite
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "a"}, {"word": "dog"}]]
    >>> y = [["DET", "NOUN"], ["DET", "NOUN"]]
    >>> crf = SDCACRF(random_state=0).fit(X, y)
    >>> with tempfile.NamedTemporaryFile(suffix=".crfsuite") as file:
    ...     to_crfsuite(crf, file.name, intercept="bias", start="BOS", end="EOS")
    ...     again = from_crfsuite(file.name)
    >>> again.predict([[{"word": "the", "bias": 1, "BOS": 1}]])
    array([list(['DET'])], dtype=object)
    """
    if input_format not in VECTORIZED:
        raise ValueError(
            f"input_format must be one of {VECTORIZED}, got {input_format!r}."
        )
    source = _read(model)
    n_labels, n_features = len(source.labels), len(source.attributes)
    if (n_features + n_labels + 3) * n_labels > MOST_WEIGHTS:
        raise ValueError(
            f"model has {n_labels} labels and {n_features} attributes: the array of "
            "all weights would be larger than 16 GiB."
        )
    classes, number = encode_labels([source.labels], [n_labels])
    chain = ChainModel(n_features, n_labels)
    weights = source.weights
    for kind, block, rows in (
        (STATE, chain.coef, np.arange(n_features)),
        (TRANSITION, chain.transition, number),
    ):
        w = weights[weights["kind"] == kind]
        block[rows[w["source"]], number[w["label"]]] = w["weight"]
    estimator = SDCACRF()
    estimator.__dict__.update(
        classes_=classes,
        coef_=chain.coef.T,
        intercept_=chain.intercept,
        start_=chain.start,
        end_=chain.end,
        transition_=chain.transition,
        n_features_in_=n_features,
        vectorizer_=_vectorizer_of(source.attributes, input_format),
        _input_format=input_format,
    )
    return estimator


def to_crfsuite(
    estimator: Any,
    path: FilePath,
    *,
    intercept: str | None = None,
    start: str | None = None,
    end: str | None = None,
    feature_names: Iterable[str] | None = None,
) -> None:
    """Write a fitted estimator as a model file that CRFsuite's tagger opens.

    CRFsuite knows weights of attributes and of transitions only. Intercept, start and
    end weights become those of attributes that every item, every first and every last
    item of a sequence must have, with value 1: name those that your features have
    anyway ("bias", "BOS", "EOS" in the tutorial of sklearn-crfsuite), or new ones, and
    let `crfsuite_features` add them to what the tagger is given.

    Parameters
    ----------
    estimator : SDCACRF, OEGCRF, SAGNUSCRF, LBFGSCRF or compat.CRF
        Fitted, to labels that are str.
    path : str or path
        File to write.
    intercept, start, end : str, default=None
        Names of the attributes that ``intercept_``, ``start_`` and ``end_`` are added
        to. None is for weights of zero.
    feature_names : sequence of str of length n_features_in_, default=None
        Names of the attributes; by default those of the estimator's ``vectorizer_``.
        It is needed for an estimator fitted on PackedSequences or arrays:
        ``get_feature_names_out()`` of the vectorizer that made them.

    Raises
    ------
    ValueError
        If weights are not zero and have no name; if two names are equal, or one cannot
        be written; if the model is too large for the format; if the estimator was
        fitted on numbers and there are no `feature_names`.
    TypeError
        If `estimator` is no such estimator, or its labels are not str.

    Notes
    -----
    A transition, start or end of -inf, which is forbidden, is written as -1e30: it is
    never predicted, and its probability is 0. Weights of 0 are left out.

    Examples
    --------
    >>> import tempfile
    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca.compat import from_crfsuite, to_crfsuite
    >>> crf = SDCACRF(random_state=0).fit([[["a"], ["b"]]], [["B", "I"]])
    >>> with tempfile.NamedTemporaryFile(suffix=".crfsuite") as file:
    ...     to_crfsuite(crf, file.name, intercept="bias", start="BOS", end="EOS")
    ...     from_crfsuite(file.name, input_format="strings").classes_.tolist()
    ['B', 'I']
    """
    estimator = getattr(estimator, "estimator_", estimator)
    if not isinstance(estimator, BaseCRF):
        raise TypeError(
            "estimator must be one of skcrf_sdca, got "
            f"{type(estimator).__name__} instead."
        )
    check_is_fitted(estimator)
    names = _names(estimator, feature_names)
    rows = dict(zip(names, estimator.coef_.T, strict=True))
    for name, added in _boundary_weights(estimator, intercept, start, end):
        rows[name] = rows.get(name, 0.0) + added
    attributes = _checked(rows, "feature")
    labels = _checked(estimator.classes_.tolist(), "label")
    coef = np.array(list(rows.values())).reshape(len(rows), len(labels))
    weights = [
        _named_weights(kind, block)
        for kind, block in ((STATE, coef), (TRANSITION, estimator.transition_))
    ]
    data = serialise(ModelFile(labels, attributes, np.concatenate(weights)))
    Path(path).write_bytes(data)


def crfsuite_features(
    X: Sequences,
    *,
    intercept: str | None = None,
    start: str | None = None,
    end: str | None = None,
) -> list[list[Any]]:
    """Add the attributes that a model written by `to_crfsuite` needs.

    Parameters
    ----------
    X : iterable of sequences
        Each a list of dicts, or each a list of lists (tuples, sets) of str.
    intercept, start, end : str, default=None
        As given to `to_crfsuite`: attributes of every, the first and the last item.

    Returns
    -------
    X : list of lists of dict, or of lists of str
        The same sequences, as python-crfsuite takes them. What was passed is not
        changed.

    Raises
    ------
    TypeError
        If X holds anything else.

    Examples
    --------
    >>> from skcrf_sdca.compat import crfsuite_features
    >>> X = [[{"word": "a"}, {"word": "cat"}]]
    >>> crfsuite_features(X, start="BOS", end="EOS")
    [[{'word': 'a', 'BOS': 1.0}, {'word': 'cat', 'EOS': 1.0}]]
    """
    return [
        _completed(sequence, index, intercept, start, end)
        for index, sequence in enumerate(as_sequence_list(X))
    ]


def _completed(sequence, index, intercept, start, end):
    """Return the items of a sequence with the names, where they are not None."""
    found = format_of_sequence(sequence, index)
    if found is not None and not found.needs_vectorizer:
        raise TypeError(
            f"X: sequence {index} holds numbers; an item must be a dict or a list of "
            "str."
        )
    added = [[intercept] for _ in sequence]
    if added:
        added[0].append(start)
        added[-1].append(end)
    return [
        _with_names(item, [name for name in names if name is not None])
        for item, names in zip(sequence, added, strict=True)
    ]


def _with_names(item, names):
    if isinstance(item, Mapping):
        return {**item, **dict.fromkeys(names, 1.0)}
    return [*item, *(name for name in names if name not in item)]


def _read(model):
    """Return the ModelFile of what a user calls a model."""
    # A CRF of sklearn-crfsuite keeps its file; before fit that has no name.
    file = getattr(model, "modelfile", None)
    if file is not None:
        model = file.name
        if not model or not os.path.exists(model):
            raise ValueError("model is a sklearn_crfsuite.CRF that is not fitted.")
    if isinstance(model, (bytes, bytearray, memoryview)):
        return parse(bytes(model))
    if isinstance(model, (str, os.PathLike)):
        return parse(Path(model).read_bytes())
    if callable(getattr(model, "info", None)):
        return _parsed_dump(model.info())
    raise TypeError(
        "model must be a path, bytes, a pycrfsuite.Tagger or a sklearn_crfsuite.CRF, "
        f"got {type(model).__name__} instead."
    )


def _parsed_dump(info):
    """Return the ModelFile of what a tagger tells of itself."""
    numbers = {name: i for i, name in enumerate(info.labels)}
    rows = {name: i for i, name in enumerate(info.attributes)}
    weights = [
        (kind, sources[source], numbers[label], weight)
        for kind, sources, table in (
            (STATE, rows, info.state_features),
            (TRANSITION, numbers, info.transitions),
        )
        for (source, label), weight in table.items()
    ]
    return ModelFile(list(numbers), list(rows), np.array(weights, dtype=WEIGHT))


def _vectorizer_of(names, input_format):
    """Return a vectorizer that numbers the features of these names in their order."""
    categorical = {}
    for number, name in enumerate(names):
        colon = name.find(":")
        for _ in range(MOST_COLONS):
            if colon < 0:
                break
            categorical.setdefault(name[:colon], {})[name[colon + 1 :]] = number
            colon = name.find(":", colon + 1)
    numeric = {name: number for number, name in enumerate(names)}
    vectorizer = SequenceVectorizer()
    vectorizer.vocabulary_ = {
        "numeric": numeric,
        "categorical": categorical,
        "vectors": {},
    }
    vectorizer.n_features_out_ = len(names)
    vectorizer.input_format_ = input_format
    return vectorizer


def _boundary_weights(estimator, intercept, start, end):
    """Return pairs (name, weights to add to those of the attribute)."""
    names = {"intercept": intercept, "start": start, "end": end}
    given = {block: name for block, name in names.items() if name is not None}
    if len(set(given.values())) < len(given):
        raise ValueError("intercept, start and end must have different names.")
    for block in names.keys() - given:
        if getattr(estimator, f"{block}_").any():
            raise ValueError(
                f"{type(estimator).__name__} has {block} weights, and {block} is None: "
                "name the attribute that they shall be added to, see crfsuite_features."
            )
    return [(name, getattr(estimator, f"{block}_")) for block, name in given.items()]


def _names(estimator, feature_names):
    """Return the distinct names of the features of an estimator."""
    if feature_names is None:
        if not hasattr(estimator, "vectorizer_"):
            raise ValueError(
                f"{type(estimator).__name__} was fitted on numbers: pass feature_names."
            )
        feature_names = estimator.vectorizer_.get_feature_names_out()
    names = list(feature_names)
    if len(names) != estimator.n_features_in_:
        raise ValueError(
            f"feature_names has {len(names)} names, but {type(estimator).__name__} "
            f"has {estimator.n_features_in_} features."
        )
    seen = set()
    for name in names:
        if name in seen:
            raise ValueError(
                f"two features have the name {name!r}, which are one to CRFsuite: "
                "rename one of their keys."
            )
        seen.add(name)
    return names


def _checked(names, what):
    """Return names as a list of what CRFsuite can hold."""
    names = list(names)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(
                f"{what}s must be str in a model of CRFsuite, got {name!r}."
            )
        if "\0" in name or not (name.isascii() or _is_text(name)):
            raise ValueError(f"{what} {name!r} cannot be written in UTF-8 without NUL.")
    return names


def _is_text(name):
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _named_weights(kind, block):
    """Return the weights of a block that are not 0, row by row."""
    source, label = np.nonzero(block)
    weights = np.empty(len(source), dtype=WEIGHT)
    weights["kind"], weights["source"], weights["label"] = kind, source, label
    weights["weight"] = np.maximum(block[source, label], FORBIDDEN)
    return weights
