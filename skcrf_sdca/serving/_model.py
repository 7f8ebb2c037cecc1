"""What a document says of a model, without an estimator.

Files that are damaged are refused, as `skcrf_sdca.load_model` refuses them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._kernels.features._encoder import ITEM_TYPES, Lookup
from skcrf_sdca.data.label_reading import names_of_labels, scheme_of
from skcrf_sdca.data.trees import UNSPECIFIED
from skcrf_sdca.persistence._entries import (
    CHAINS,
    PIPELINES,
    RELATIONS,
    attributes_of,
    check_compat,
    check_parser,
    check_pipeline,
    check_vectorizer,
    checked_hasher,
    lookup_from,
)
from skcrf_sdca.persistence._fields import ModelFormatError
from skcrf_sdca.persistence._head import model_of
from skcrf_sdca.persistence._labels import labels_from
from skcrf_sdca.persistence._templates import templates_from
from skcrf_sdca.persistence._values import DTYPES, parameters_from
from skcrf_sdca.serving._rows import CsrRows
from skcrf_sdca.serving._steps import RowSteps, steps_from
from skcrf_sdca.serving._weights import (
    OF_STRUCTURES,
    Coef,
    coef_of_items,
    coef_of_rows,
    label_weights,
    trees_of,
)
from skcrf_sdca.structures.entropy import SHANNON
from skcrf_sdca.structures.scores import DECODERS, VITERBI

# The structures of models by their types, and why others are not served.
STRUCTURES = dict.fromkeys(CHAINS, "chain")
STRUCTURES |= {"DependencyCRF": "trees", "SegmentCRF": "segments"}
STRUCTURES |= dict.fromkeys(("GraphCRF", "TreeCRF"), "graphs")
HASHER = "SequenceHasher"
# The entries of chains that are structures of their own.
OTHERS = ("tuples", "label_parts")
# The entries that all models of these structures have.
OF_TYPES = ("segments", "graphs")
OF_PIPELINE = ("features", "vectorizer", "scaler", "window", "crf")
# The steps that make rows of numbers of others.
OF_ROW_STEPS = ("scaler", "window")
# The input formats whose sequences are rows of numbers, or one signal.
OF_ROWS = ("arrays", "packed", "signals", "table_with_lengths")


class Items(NamedTuple):
    """How dicts, lists of str or tokens are read."""

    item_type: type | None  # None if it may be any
    dtype: type
    lookup: Lookup | None  # None of a hasher
    templates: dict[str, Any] | None  # the parameters of a TokenFeatures
    hashing: tuple[int, bool] | None = None  # the parameters of a hasher


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
    decoding: str = VITERBI  # the key of DECODERS that finds the labels
    tokens: str | None = None  # how the texts of the training were cut
    structure: str = "chain"
    own: Any = None  # what its structure has beside, such as Trees
    feature_names: list[str] | None = None  # of a model without items
    steps: RowSteps | None = None  # what makes the rows of a model without items
    entropy_index: float = SHANNON  # of entropy.py

    def names_of(self, rows):
        """Return the names of the features in rows, by their numbers."""
        if self.items is not None and self.items.lookup is not None:
            wanted = np.zeros(self.coef.n_features, dtype=np.uint8)
            wanted[rows.indices] = True
            return self.items.lookup.names_of(wanted)
        if self.feature_names is not None:
            return self.feature_names
        numbers = rows.indices if isinstance(rows, CsrRows) else range(rows.shape[1])
        return {j: f"x{j}" for j in map(int, numbers)}


def model_from(document, array):
    """Return the Model of a document; arguments and errors are as of `rebuild`."""
    whole = model_of(document)
    if whole.get("type") == "OnlineDependencyCRF":
        return _parser_from(whole, array)
    parts = _parts(whole)
    crf, vectorizer = parts["crf"], _vectorizer_of(parts)
    _check_is_served(crf, vectorizer)
    _check_entries(parts)
    own = [parts.get(role) for role in OF_ROW_STEPS]
    if any(own):
        _check_takes_steps(crf, vectorizer, own)
    steps = steps_from(*own, crf["n_features"])
    model = _model_of(crf, array, vectorizer, parts.get("features"))
    return model._replace(tokens=whole.get("tokens"), steps=steps)


def _check_takes_steps(crf, vectorizer, steps):
    """Raise ModelFormatError if steps of rows are not served before this CRF."""
    types = [step.get("type") for step in steps if step is not None]
    if vectorizer is not None:
        why = f"its {types[0]!s:.40} is after a {vectorizer.get('type')!s:.40}"
    elif STRUCTURES[crf["type"]] in ("trees", "graphs"):
        why = f"its {types[0]!s:.40} is before a {crf['type']}"
    elif not {*types} <= {"PerToken", "SequenceWindow"}:
        why = f"it has a {types[-1]!s:.40}"
    else:
        return
    raise ModelFormatError(f"{why}, which only skcrf_sdca.load_model reads")


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
        why = f"it is a {name!s:.40}, and no chain"
    elif crf.get("parameters", {}).get("inference", "exact") != "exact":
        why = "it has tree-reweighted sums, which are made with SciPy"
    elif "vectorizer" in crf.get("segments", ()):
        why = "its features of segments come from a function, which no file has"
    elif vectorizer is None:
        if crf.get("input_format") in OF_ROWS:
            return
        why = f"its input format is {crf.get('input_format')!r:.40}"
    elif vectorizer.get("type") not in ("SequenceVectorizer", HASHER):
        why = f"its features come from a {vectorizer.get('type')!s:.40}"
    else:
        return
    raise ModelFormatError(
        f"{why}: a Predictor takes sequences of dicts, strings, tokens and rows of "
        "numbers, and trees and graphs of these. Use skcrf_sdca.load_model"
    )


def _check_entries(parts, of_rows=OF_ROWS):
    """Raise ModelFormatError if the entries of a CRF and its steps do not fit.

    ``of_rows`` are the input formats of rows of numbers that it may have.
    """
    crf = parts["crf"]
    more = [name for name in ("stream", "arc_features", *OTHERS) if name in crf]
    more += [name for name in OF_TYPES if STRUCTURES[crf["type"]] == name]
    attributes_of(crf, dict.fromkeys(more, dict))
    own, before = crf["vectorizer"], parts.get("vectorizer")
    if own is not None:
        check_vectorizer(own)
    taken = crf["input_format"]
    # What a CRF is fitted on after a vectorizer, and with one of its own.
    expected = "packed" if before else own and own["input_format"]
    is_right = taken == expected if expected else taken in of_rows
    if before is not None:
        taken, is_right = _checked_format(before), is_right and own is None
    if "features" in parts:
        name = parts["features"].get("type")
        of_arcs = crf["type"] == "DependencyCRF" and before is None
        names = ("ArcFeatures", "arrays") if of_arcs else ("TokenFeatures", "strings")
        is_right &= (name, taken) == names
    if not is_right:
        raise ModelFormatError("the input formats of its parts do not fit")


def _checked_format(vectorizer):
    """Return the input format of the entries of a vectorizer, or of a hasher."""
    if vectorizer.get("type") == HASHER:
        # A hasher takes others as well.
        return "strings"
    check_vectorizer(vectorizer)
    return vectorizer["input_format"]


def _model_of(crf, array, vectorizer=None, features=None):
    """Return the Model of the checked entries of a CRF and of the steps before it."""
    n_features, items = crf["n_features"], None
    structure = next((n for n in OTHERS if n in crf), STRUCTURES[crf["type"]])
    if "arc_features" not in crf and structure == "trees" and features is not None:
        crf, features = crf | {"arc_features": features}, None
    if vectorizer is not None:
        # Its dicts go before the weights come: they are as large.
        items = _items_from(vectorizer, features, n_features, array)
    parameters = parameters_from(crf["parameters"])
    classes = labels_from(crf["labels"])
    is_named = items is not None and items.lookup is not None
    coef_from = coef_of_items if is_named else coef_of_rows
    own = OF_STRUCTURES[structure](crf, array, classes.tolist(), coef_from)
    # Parts of labels have weights in the place of labels.
    n_columns = own[1].shape[1] if structure == "label_parts" else len(classes)
    forbids = {"intercept": False}
    if structure not in ("trees", "graphs"):
        forbids |= dict.fromkeys(("start", "end"), structure != "label_parts")
    of_labels = {
        name: label_weights(array, name, (n_columns,), forbids=own_forbids)
        for name, own_forbids in forbids.items()
    }
    return Model(
        classes,
        names_of_labels(classes.tolist(), parameters.get("label_names")),
        scheme_of(parameters.get("transitions")),
        _temperature_of(crf),
        crf["input_format"],
        items,
        coef_from(array, "coef", crf["n_stored"], n_features, n_columns),
        of_labels,
        decoding=_decoding_of(parameters),
        structure=structure,
        own=own,
        feature_names=crf["feature_names"],
        entropy_index=float(crf["fit"].get("entropy_index", SHANNON)),
    )


def _decoding_of(parameters):
    """Return the parameter decoding, which older files do not have."""
    decoding = parameters.get("decoding", VITERBI)
    if decoding not in DECODERS:
        raise ModelFormatError(f"decoding must be one of {sorted(DECODERS)}")
    return decoding


def _temperature_of(crf):
    return float(crf["fit"].get("temperature", 1.0))


def _parser_from(parser, array):
    """Return the Model of the entries of an OnlineDependencyCRF."""
    check_parser(parser)
    n_features, relations = parser["n_features"], parser["relations"]
    parameters = parameters_from(parser["parameters"])
    features = parser["features"] or {"type": "ArcFeatures", "parameters": {}}
    trees = trees_of(parameters, features, n_features)
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
        coef_of_rows(array, "coef", parser["n_stored"], n_features, 1),
        {},
        decoding=_decoding_of(parameters),
        structure="parser",
        own=trees,
    )


def _relations_from(crf, array):
    """Return the Model of the relations of words, given the heads."""
    _check_entries({"crf": crf}, of_rows=["table"])

    def own_array(name, dtype, shape):
        return array(f"{RELATIONS}{name}", dtype, shape)

    return _model_of(crf, own_array)


def _items_from(vectorizer, features, n_features, array):
    """Return the Items of the entries of a vectorizer, and of a TokenFeatures or None.

    The vectorizer loses its vocabulary.
    """
    templates = None if features is None else templates_from(features)
    is_hasher = vectorizer.get("type") == HASHER
    hashing = checked_hasher(vectorizer) if is_hasher else None
    n_known = vectorizer["n_features"] if hashing is None else hashing[0]
    if n_known != n_features:
        raise ModelFormatError(
            f"the vectorizer has {n_known} features, but the CRF {n_features}"
        )
    if hashing is not None:
        item_type = None if templates is None else list
        return Items(item_type, np.float64, None, templates, hashing)
    lookup = lookup_from(vectorizer, array)
    del vectorizer["vocabulary"]
    return Items(
        ITEM_TYPES[vectorizer["input_format"]],
        DTYPES[vectorizer["parameters"].get("dtype", "float64")],
        lookup.in_tables(),
        templates,
    )
