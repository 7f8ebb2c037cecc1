"""What a document says of a model, without an estimator.

Files that are damaged are refused, as `skcrf_sdca.load_model` refuses them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._kernels.features._encoder import ITEM_TYPES, Lookup
from skcrf_sdca._kernels.features._features import RowLayout
from skcrf_sdca._kernels.features._weights import Weights
from skcrf_sdca._utils.archives import FLOAT, INT
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.data.label_reading import names_of_labels, scheme_of
from skcrf_sdca.data.trees import UNSPECIFIED, TreeKind
from skcrf_sdca.persistence._entries import (
    CHAINS,
    PIPELINES,
    RELATIONS,
    arc_templates_from,
    attributes_of,
    check_compat,
    check_parser,
    check_pipeline,
    check_vectorizer,
)
from skcrf_sdca.persistence._fields import ModelFormatError
from skcrf_sdca.persistence._head import model_of
from skcrf_sdca.persistence._labels import labels_from
from skcrf_sdca.persistence._templates import templates_from
from skcrf_sdca.persistence._values import DTYPES, parameters_from
from skcrf_sdca.structures.scores import check_weights
from skcrf_sdca.text.features.arc_templates import ArcTemplates

# The structures of models by their types, and why others are not served.
STRUCTURES = dict.fromkeys(CHAINS, "chain") | {"DependencyCRF": "trees"}
_OF_GRAPHS = "its graphs are read, and their nodes eliminated, with SciPy"
NOT_SERVED = dict.fromkeys(("GraphCRF", "TreeCRF"), _OF_GRAPHS)
# What other chains have.
OTHERS = ("tuples", "label_parts")
OF_PIPELINE = ("features", "vectorizer", "crf")
# Parameters of trees, with their defaults.
OF_TREES = {"single_root": True, "projective": False, "labelled": False}
# The input formats whose sequences are rows of numbers, or one signal.
OF_ROWS = ("arrays", "packed", "signals", "table_with_lengths")
# The weights of labels, their axes, and whether -inf forbids.
OF_LABELS = {
    "intercept": (1, False),
    "start": (1, True),
    "end": (1, True),
    "transition": (2, True),
}


class Coef(NamedTuple):
    """Weights of features: (d, K), or of each feature the labels that have some.

    The row of feature j is then ``values[bounds[j]:bounds[j + 1]]``, of ``labels``.
    With ``columns``, which ascend, rows are of these features alone, and others have no
    weights: a file may say that there are many.
    """

    values: NDArray[np.float64]
    n_features: int
    bounds: NDArray[np.int64] | None = None
    labels: NDArray[np.int32] | None = None
    columns: NDArray[np.int64] | None = None

    def compiled(self, intercept, start, end, tied):
        """Return all weights as the kernels take them."""
        layout = None
        if self.bounds is not None:
            layout = RowLayout(
                self.n_features,
                len(intercept),
                self.bounds,
                self.labels,
                np.ones(len(self.values), dtype=bool),
            )
        blocks = self.values, intercept, start, end, tied
        return Weights(blocks, layout=layout)

    def dense(self):
        """Return the weights (d, K) of all features; MemoryError if they do not fit."""
        if self.columns is None:
            return self.values
        shape = self.n_features, self.values.shape[1]
        check_fits(8.0 * np.prod(shape), "the weights", "this file has too many")
        weights = np.zeros(shape)
        weights[self.columns] = self.values
        return weights


class Items(NamedTuple):
    """How dicts, lists of str or tokens are read."""

    item_type: type
    dtype: type
    lookup: Lookup
    templates: dict[str, Any] | None  # the parameters of a TokenFeatures


class Trees(NamedTuple):
    """Which dependency trees there are, and what the features of their arcs are of."""

    kind: TreeKind
    labelled: bool
    templates: ArcTemplates | None  # of tokens; None if a sentence is its arcs
    relations: Any = None  # the Model of relations, given the heads


class Model(NamedTuple):
    """A model, and how its items are read."""

    classes: NDArray[Any]
    names: list[str]  # of the labels, for spans
    scheme: str
    temperature: float
    input_format: str
    items: Items | None  # of a model of rows of numbers
    coef: Coef
    of_labels: dict[str, NDArray[np.float64]]
    tokens: str | None = None  # how the texts of the training were cut
    structure: str = "chain"
    trees: Any = None  # the Trees of a parser


def model_from(document, array):
    """Return the Model of a document; arguments and errors are as of `rebuild`."""
    whole = model_of(document)
    if whole.get("type") == "OnlineDependencyCRF":
        return _parser_from(whole, array)
    parts = _parts(whole)
    crf, vectorizer = parts["crf"], _vectorizer_of(parts)
    _check_is_served(crf, vectorizer)
    _check_entries(parts)
    model = _model_of(crf, array, vectorizer, parts.get("features"))
    return model._replace(tokens=whole.get("tokens"))


def _parts(model):
    """Return the entries of a pipeline by their roles, or a CRF as its only entry."""
    parts = {"crf": model}
    if model.get("type") in PIPELINES:
        parts = {role: model[role] for role in OF_PIPELINE if role in model}
        check_pipeline(model, parts)
    if parts["crf"].get("type") == "CRF":
        # Of skcrf_sdca.compat.
        check_compat(parts["crf"])
        parts["crf"] = parts["crf"]["estimator"]
    return parts


def _vectorizer_of(parts):
    """Return the entries of the vectorizer of a CRF, or of the one before it."""
    return parts.get("vectorizer", parts["crf"].get("vectorizer"))


def _check_is_served(crf, vectorizer):
    """Raise ModelFormatError for a model that only `load_model` reads."""
    name = crf.get("type")
    if "labels" not in crf:
        why = f"it is a {name!s:.40}, and no fitted CRF"
    elif name not in STRUCTURES:
        why = NOT_SERVED.get(name, f"it is a {name!s:.40}, and no chain")
    elif any(part in crf for part in OTHERS):
        why = "it has parts of labels, or weights of edge features or three labels"
    elif vectorizer is None:
        if crf.get("input_format") in OF_ROWS:
            return
        why = f"its input format is {crf.get('input_format')!r:.40}"
    elif vectorizer.get("type") != "SequenceVectorizer":
        why = f"its features come from a {vectorizer.get('type')!s:.40}"
    else:
        return
    raise ModelFormatError(
        f"{why}: a Predictor takes sequences of dicts, strings, tokens and rows of "
        "numbers, and trees of these. Use skcrf_sdca.load_model"
    )


def _check_entries(parts, of_rows=OF_ROWS):
    """Raise ModelFormatError if the entries of a CRF and its steps do not fit.

    ``of_rows`` are the input formats of rows of numbers that it may have.
    """
    crf = parts["crf"]
    more = {name: dict for name in ("stream", "arc_features") if name in crf}
    attributes_of(crf, more)
    own, before = crf["vectorizer"], parts.get("vectorizer")
    if before is not None:
        check_vectorizer(before)
    if own is not None:
        check_vectorizer(own)
    taken = crf["input_format"]
    # What a CRF is fitted on after a vectorizer, and with one of its own.
    expected = "packed" if before else own and own["input_format"]
    is_right = taken == expected if expected else taken in of_rows
    if before is not None:
        taken, is_right = before["input_format"], is_right and own is None
    if "features" in parts:
        name = parts["features"].get("type")
        of_arcs = crf["type"] == "DependencyCRF" and before is None
        names = ("ArcFeatures", "arrays") if of_arcs else ("TokenFeatures", "strings")
        is_right &= (name, taken) == names
    if not is_right:
        raise ModelFormatError("the input formats of its parts do not fit")


def _model_of(crf, array, vectorizer=None, features=None):
    """Return the Model of the checked entries of a CRF and of the steps before it."""
    n_features, items, trees = crf["n_features"], None, None
    structure = STRUCTURES[crf["type"]]
    parameters = parameters_from(crf["parameters"])
    if structure == "trees":
        trees = _trees_of(parameters, crf.get("arc_features", features), n_features)
        features = None
    if vectorizer is not None:
        # Its dicts go before the weights come: they are as large.
        items = _items_from(vectorizer, features, n_features)
    classes = labels_from(crf["labels"])
    coef = array, crf["n_stored"], n_features, len(classes)
    blocks = OF_LABELS if trees is None else ["intercept"]
    return Model(
        classes,
        names_of_labels(classes.tolist(), parameters.get("label_names")),
        scheme_of(parameters.get("transitions")),
        _temperature_of(crf),
        crf["input_format"],
        items,
        _coef_of_rows(*coef) if items is None else _coef_of_items(*coef),
        {name: _of_labels(array, name, len(classes)) for name in blocks},
        structure=structure,
        trees=trees,
    )


def _temperature_of(crf):
    return float(crf["fit"].get("temperature", 1.0))


def _trees_of(parameters, features, n_features):
    """Return the Trees of a parser, whose entry ``features`` may be None."""
    own = {name: parameters.get(name, n) for name, n in OF_TREES.items()}
    if set(map(type, own.values())) != {bool}:
        raise ModelFormatError(f"the parameters {list(OF_TREES)} must be bool")
    templates = None if features is None else arc_templates_from(features)
    siblings = templates is not None and bool(templates.siblings)
    if templates is not None and templates.n_features != n_features:
        raise ModelFormatError(
            f"features has n_features={templates.n_features}, but the CRF {n_features}"
        )
    if siblings and not own["projective"]:
        raise ModelFormatError("features: siblings need projective=True")
    labelled = own.pop("labelled")
    return Trees(TreeKind(**own, siblings=siblings), labelled, templates)


def _parser_from(parser, array):
    """Return the Model of the entries of an OnlineDependencyCRF."""
    check_parser(parser)
    n_features, relations = parser["n_features"], parser["relations"]
    parameters = parameters_from(parser["parameters"])
    features = parser["features"] or {"type": "ArcFeatures", "parameters": {}}
    trees = _trees_of(parameters, features, n_features)
    if trees.labelled and relations is None:
        raise ModelFormatError("labelled=True, but the model has no relations")
    if relations is not None:
        trees = trees._replace(relations=_relations_from(relations, array))
    classes = np.array([UNSPECIFIED], dtype=object)
    return Model(
        classes,
        classes.tolist(),
        scheme_of(None),
        _temperature_of(parser),
        "tokens",
        None,
        _coef_of_rows(array, parser["n_stored"], n_features, 1),
        {},
        structure="parser",
        trees=trees,
    )


def _relations_from(crf, array):
    """Return the Model of the relations of words, given the heads."""
    _check_entries({"crf": crf}, of_rows=["table"])

    def own_array(name, dtype, shape):
        return array(f"{RELATIONS}{name}", dtype, shape)

    return _model_of(crf, own_array)


def _items_from(vectorizer, features, n_features):
    """Return the Items of the entries of a vectorizer, and of a TokenFeatures or None.

    The vectorizer loses its vocabulary.
    """
    vocabulary, n_known = vectorizer.pop("vocabulary"), vectorizer["n_features"]
    if n_known != n_features:
        raise ModelFormatError(
            f"the vectorizer has {n_known} features, but the CRF {n_features}"
        )
    return Items(
        ITEM_TYPES[vectorizer["input_format"]],
        DTYPES[vectorizer["parameters"].get("dtype", "float64")],
        Lookup(vocabulary).in_tables(),
        None if features is None else templates_from(features),
    )


def _of_labels(array, name, n_labels):
    n_axes, forbids = OF_LABELS[name]
    weights = array(name, FLOAT, n_axes * (n_labels,))
    check_weights(name, weights, forbids=forbids)
    return weights


def _coef_of_rows(array, n_stored, n_features, n_labels):
    """Return the Coef of rows of numbers: of all labels."""
    if n_stored is None:
        return _dense_coef(array, n_features, n_labels)
    values, features, labels = _stored_coef(array, n_stored, n_features, n_labels)
    columns, rows = np.unique(features, return_inverse=True)
    dense = np.zeros((len(columns), n_labels))
    dense[rows, labels] = values
    return Coef(dense, n_features, columns=columns)


def _coef_of_items(array, n_stored, n_features, n_labels):
    """Return the Coef of items, of which each feature has a name in the file."""
    if n_stored is None:
        return _dense_coef(array, n_features, n_labels)
    values, features, labels = _stored_coef(array, n_stored, n_features, n_labels)
    # From a row for each label to a row for each feature.
    order = np.argsort(features, kind="stable")
    counts = np.bincount(features, minlength=n_features)
    bounds = np.concatenate([[0], np.cumsum(counts)])
    return Coef(values[order], n_features, bounds, labels[order])


def _dense_coef(array, n_features, n_labels):
    values = array("coef", FLOAT, (n_features, n_labels))
    check_weights("coef", values, forbids=False)
    return Coef(values, n_features)


def _stored_coef(array, n_stored, n_features, n_labels):
    """Return the stored weights, and their features and labels."""
    values = array("coef_data", FLOAT, (n_stored,))
    features = array("coef_indices", INT, (n_stored,))
    indptr = array("coef_indptr", INT, (n_labels + 1,))
    check_weights("coef", values, forbids=False)
    if indptr[0] != 0 or indptr[-1] != n_stored or (np.diff(indptr) < 0).any():
        raise ModelFormatError("coef_indptr must go from 0 to the number of weights")
    if features.min(initial=0) < 0 or features.max(initial=-1) >= n_features:
        raise ModelFormatError(f"coef_indices must be from 0 to {n_features - 1}")
    labels = np.repeat(np.arange(n_labels, dtype=np.int32), np.diff(indptr))
    return values, features, labels
