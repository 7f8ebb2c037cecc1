"""Converts models of CRFsuite, with weights by name, to estimators and back.

The scores of CRFsuite are those of our model without intercept, start and end weights.
For CRFsuite, these become weights of attributes that every item, the first item and the
last item have.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from operator import is_not
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.files import atomic_write
from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.typing import FilePath, Sequences
from skcrf_sdca.compat._model_file import (
    BOUNDARIES,
    STATE,
    TRANSITION,
    WEIGHT,
    ModelFile,
    parse,
    places_of_boundaries,
    serialise,
)
from skcrf_sdca.data.containers import plain_column
from skcrf_sdca.data.input_formats import VECTORIZED, format_of_sequence
from skcrf_sdca.data.label_encoding import label_array, plain_labels
from skcrf_sdca.data.sequence_lists import as_sequence_list
from skcrf_sdca.estimators.crfs import SDCACRF
from skcrf_sdca.estimators.sequences import BaseCRF, ChainCRF
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.model.fitted import fitted_weights, known_names, set_fitted
from skcrf_sdca.structures.chain.parameters import ChainParameters, chain_blocks
from skcrf_sdca.structures.form import dense_coef

# The largest array of weights: 16 GiB.
MOST_WEIGHTS = 2**31
# Real keys have no more colons, but names may consist of many colons.
MOST_COLONS = 32
# Its exponential is 0 in any precision, and the sum of a few million such scores is
# finite.
FORBIDDEN = -1e30
# NUL, which ends a name in a file, and surrogates, which UTF-8 does not have.
NOT_WRITABLE = re.compile("[\0\ud800-\udfff]")
# Types of items that are words, and not lists of names.
_WORDS = frozenset([str, np.str_])


def from_crfsuite(
    model: Any, *, input_format: Literal["dicts", "strings"] = "dicts"
) -> SDCACRF:
    """Turn a model of CRFsuite into a fitted estimator that predicts the same.

    Parameters
    ----------
    model : str, path, bytes, pycrfsuite.Tagger or sklearn_crfsuite.CRF
        Path of a model file, its content, or an object that has the model. A Tagger
        returns its weights with six decimals only: pass the file if there is one.
    input_format : {"dicts", "strings"}, default="dicts"
        Input format of X: items are dicts, or lists, tuples or sets of str. Bytes are
        text in UTF-8.

    Returns
    -------
    estimator : SDCACRF
        Fitted estimator whose ``intercept_``, ``start_`` and ``end_`` are zero, unless
        `skcrf_sdca.compat.CRF` wrote the file. ``classes_`` has the order of the file,
        so that of labels with equal scores the same one is predicted. The estimator
        does not have the attributes that describe a fit (``n_iter_``, ``history_``
        ...). Pickles of it do not need CRFsuite.

    Raises
    ------
    ValueError
        If the file is damaged, its names are not UTF-8, or the model would take more
        than 16 GiB.
    TypeError
        If `model` is none of these.

    See Also
    --------
    to_crfsuite : Converts in the other direction.

    Notes
    -----
    The attribute ``"a:b:c"`` is the feature of this key, and of all pairs of a key and
    a value that CRFsuite turns into this name, for keys with up to 32 colons.

    The weights of an item are added in the order of the model, and by CRFsuite in the
    order of the item. Labels whose scores differ by this rounding alone may be chosen
    otherwise; `skcrf_sdca.compat.pycrfsuite.Tagger` adds as CRFsuite does.

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
    chain = ChainParameters(n_features, n_labels)
    for kind, block in ((STATE, chain.coef), (TRANSITION, chain.transition)):
        w = source.weights[source.weights["kind"] == kind]
        block[w["source"], w["label"]] = w["weight"]
    weights, names = chain.label_weights(), source.attributes
    if at := places_of_boundaries(names):
        coef, others = weights["coef"], np.ones(n_features, dtype=bool)
        others[list(at.values())] = False
        own = {block: coef[:, i].copy() for block, i in at.items()}
        weights = weights.replaced(coef=coef[:, others], **own)
        names = [name for name, is_other in zip(names, others, strict=True) if is_other]
    return set_fitted(
        SDCACRF(),
        {
            **weights.attributes(),
            "classes_": label_array(source.labels),
            "n_features_in_": len(names),
            "vectorizer_": _vectorizer_of(names, input_format),
            "_input_format": input_format,
        },
    )


def read_as(estimator, input_format):
    """Let an estimator of `from_crfsuite` take items of another input format."""
    vars(estimator).update(_input_format=input_format)
    estimator.vectorizer_.input_format_ = input_format


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

    CRFsuite has weights of attributes and of transitions only. Intercept, start and end
    weights become weights of attributes that every item, each first item and each last
    item of a sequence must have, with value 1. Name attributes that your features have
    anyway ("bias", "BOS", "EOS" in the tutorial of sklearn-crfsuite), or new ones, and
    add these to the input of the tagger by `crfsuite_features`.

    Parameters
    ----------
    estimator : SDCACRF, OEGCRF, SAGNUSCRF, LBFGSCRF, SGDCRF or compat.CRF
        Fitted estimator whose labels are str.
    path : str or path
        Path of the file.
    intercept, start, end : str, default=None
        Names of the attributes to whose weights ``intercept_``, ``start_`` and ``end_``
        are added. None is possible only if they are zero.
    feature_names : sequence of str of length n_features_in_, default=None
        Names of the attributes; by default those of the estimator's ``vectorizer_``, or
        its ``feature_names_in_``. An estimator that was fitted on data without names,
        such as arrays, needs them.

    Raises
    ------
    ValueError
        If weights that are not zero have no name; if two names are equal, or a name
        cannot be written; if the model is too large for the format; if the estimator
        was fitted on numbers and `feature_names` is None.
    TypeError
        If ``estimator`` is of another type or no model of chains, or its labels are not
        str.

    Notes
    -----
    Forbidden transitions, starts and ends have the weight -1e30 instead of -inf in the
    file: CRFsuite never predicts them, and their probability is 0. Weights of 0, and
    features that have no other weights, are not written. The file has no temperature:
    its weights are those of the estimator over ``temperature_``, so that CRFsuite finds
    the same probabilities.

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
    model = model_file_of(
        estimator, {"intercept": intercept, "start": start, "end": end}, feature_names
    )
    with atomic_write(path) as file:
        file.write(serialise(model))


def model_file_of(estimator, boundaries=BOUNDARIES, feature_names=None):
    """Return the ModelFile of an estimator; the arguments are as in `to_crfsuite`.

    ``boundaries`` has the arguments ``intercept``, ``start`` and ``end``.
    """
    estimator = getattr(estimator, "estimator_", estimator)
    if not isinstance(estimator, BaseCRF):
        raise TypeError(
            f"estimator must be one of skcrf_sdca, got {described(estimator)} instead."
        )
    check_is_fitted(estimator)
    if not isinstance(estimator, ChainCRF):
        raise TypeError(
            f"estimator is a {type(estimator).__name__}, whose weights of segments a "
            "file of CRFsuite cannot have: fit a chain, for example SDCACRF."
        )
    if fitted_weights(estimator).form.blocks != chain_blocks():
        raise ValueError(
            "crf has weights of more than two labels, edge features, or parts of "
            "labels, and a file of CRFsuite cannot have them: fit with order=1, "
            "edge_features=None and label_features=None."
        )
    names = _names(estimator, feature_names)
    rows = dict(zip(names, dense_coef(estimator.coef_).T, strict=True))
    for name, added in _boundary_weights(estimator, boundaries):
        rows[name] = rows.get(name, 0.0) + added
    # As in CRFsuite: attributes without weights have no name in the file.
    rows = {name: row for name, row in rows.items() if row.any()}
    attributes = checked_names(rows, "feature")
    labels = checked_names(plain_labels(estimator.classes_), "label")
    coef = np.array(list(rows.values())).reshape(len(rows), len(labels))
    temperature = estimator.temperature_ or 1.0
    weights = [
        _named_weights(kind, block / temperature)
        for kind, block in ((STATE, coef), (TRANSITION, estimator.transition_))
    ]
    return ModelFile(labels, attributes, np.concatenate(weights))


def crfsuite_features(
    X: Sequences,
    *,
    intercept: str | None = None,
    start: str | None = None,
    end: str | None = None,
) -> list[list[Any]]:
    """Add the attributes that a model from `to_crfsuite` needs.

    Parameters
    ----------
    X : iterable of sequences
        All sequences are lists of dicts, or all are lists of lists (tuples, sets) of
        str. An item that is a str is the list of its characters.
    intercept, start, end : str, default=None
        The arguments of `to_crfsuite`: names of the attributes of all items, of first
        items and of last items.

    Returns
    -------
    X : list of lists of dict, or of lists of str
        New sequences with these attributes, for python-crfsuite.

    Raises
    ------
    TypeError
        If X has another input format.

    Examples
    --------
    >>> from skcrf_sdca.compat import crfsuite_features
    >>> X = [[{"word": "a"}, {"word": "cat"}]]
    >>> crfsuite_features(X, start="BOS", end="EOS")
    [[{'word': 'a', 'BOS': 1.0}, {'word': 'cat', 'EOS': 1.0}]]
    """
    return [
        _completed(sequence, index, intercept, start, end)
        for index, sequence in enumerate(item_lists(X))
    ]


def item_lists(X):
    """Return X as `as_sequence_list` does; an item that is a str is its characters."""
    X = as_sequence_list(X)
    if not isinstance(X, (list, tuple, np.ndarray)):
        return X
    found = list(map(_without_words, X))
    return found if any(map(is_not, found, X)) else X


def _without_words(sequence):
    """Return the items of a sequence, as lists of characters where they are str."""
    if not isinstance(sequence, (list, tuple)):
        code = getattr(getattr(sequence, "dtype", None), "kind", "")
        if code not in ("O", "U"):
            return sequence
    elif sequence and type(sequence[0]) is dict:
        # The usual ones take no time; beside dicts there can be no names.
        return sequence
    if _WORDS.isdisjoint(map(type, sequence)):
        return sequence
    return [list(item) if isinstance(item, str) else item for item in sequence]


def _completed(sequence, index, intercept, start, end):
    """Return the items of a sequence with the added names that are not None."""
    sequence = plain_column(sequence)
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
    """Return the ModelFile of any of the types that `from_crfsuite` takes."""
    # A CRF of sklearn-crfsuite has a file, which has no name before fit.
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
    """Return the ModelFile of the info() of a tagger."""
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
    """Return a vectorizer whose features have these names, in this order."""
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


def _boundary_weights(estimator, names):
    """Return pairs: an attribute, and the weights that are added to its weights."""
    given = {block: name for block, name in names.items() if name is not None}
    if len(set(given.values())) < len(given):
        raise ValueError("intercept, start and end must have different names.")
    for block in names.keys() - given:
        if getattr(estimator, f"{block}_").any():
            raise ValueError(
                f"{type(estimator).__name__} has {block} weights, and {block} is None: "
                "name the attribute to which they are added, see crfsuite_features."
            )
    return [(name, getattr(estimator, f"{block}_")) for block, name in given.items()]


def _names(estimator, feature_names):
    """Return the names of the features of an estimator; check that they differ."""
    if feature_names is None:
        feature_names = known_names(estimator)
    if feature_names is None:
        raise ValueError(
            f"{type(estimator).__name__} was fitted on numbers: pass feature_names."
        )
    names = list(feature_names)
    if len(names) != estimator.n_features_in_:
        raise ValueError(
            f"feature_names has {len(names)} names, but {type(estimator).__name__} "
            f"has {estimator.n_features_in_} features."
        )
    if len(set(names)) < len(names):
        (name, _), *_ = Counter(names).most_common(1)
        raise ValueError(
            f"two features have the name {name!r}, which CRFsuite cannot distinguish: "
            "rename one of their keys."
        )
    return names


def checked_names(names, what):
    """Return names as a list; check that CRFsuite can store them."""
    names = list(names)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(
                f"{what}s must be str in a model of CRFsuite, got {name!r}."
            )
        if NOT_WRITABLE.search(name):
            raise ValueError(f"{what} {name!r} cannot be written in UTF-8 without NUL.")
    return names


def _named_weights(kind, block):
    """Return the nonzero weights of a block, in the order of rows."""
    source, label = np.nonzero(block)
    weights = np.empty(len(source), dtype=WEIGHT)
    weights["kind"], weights["source"], weights["label"] = kind, source, label
    weights["weight"] = np.maximum(block[source, label], FORBIDDEN)
    return weights
