"""The entries of chains and of what reads their items: checks with NumPy alone.

`skcrf_sdca.load_model` and `skcrf_sdca.serving` read documents by them, so that both
refuse the same. What they differ in are the parameters and the stream of a fit, which
`skcrf_sdca.serving` does not read.
"""

from types import NoneType
from typing import get_args

import numpy as np

from skcrf_sdca._kernels.features._encoder import ITEM_TYPES, Lookup
from skcrf_sdca._utils.archives import INT
from skcrf_sdca._utils.typing import GraphSolver, SolverName
from skcrf_sdca.features.vocabulary import (
    TABLES,
    check_sizes,
    check_tables,
    lookup_of_packed,
)
from skcrf_sdca.persistence._fields import ModelFormatError, fields
from skcrf_sdca.persistence._values import parameters_from, rebuild_fit
from skcrf_sdca.structures.chain.tuples import MOST_ORDER
from skcrf_sdca.text.features.arc_templates import ArcTemplates
from skcrf_sdca.text.features.relation_features import N_FEATURES
from skcrf_sdca.text.spans.offsets import check_pattern

# The types of chains, and those that may be in a "CRF", which is of skcrf_sdca.compat.
WITHIN_COMPAT = ("skcrf_sdca.CRF", "PassiveAggressiveCRF", "SDCACRF")
CHAINS = (*WITHIN_COMPAT, "SAGNUSCRF", "OEGCRF", "LBFGSCRF", "SGDCRF")
PIPELINES = ("Pipeline", "Tagger")
NAMES_OR_NONE = (list, NoneType)
# The entries, with their types: of a CRF,
CRF = {
    "type": str,
    "parameters": dict,
    "input_format": str,
    "labels": dict,
    "n_features": int,
    "n_stored": (int, NoneType),
    "feature_names": NAMES_OR_NONE,
    "vectorizer": (dict, NoneType),
    "fit": dict,
    "history": dict,
}
# of a vectorizer,
VECTORIZER = {
    "type": str,
    "parameters": dict,
    "input_format": str,
    "n_features": int,
    "vocabulary": dict,
}
# of a window over rows or pixels; a SequenceWindow has the names of its columns too,
WINDOW = {"type": str, "parameters": dict, "n_features": int}
# What a hasher has, with the defaults.
HASHER = {"n_features": 2**20, "alternate_sign": True}
# The arrays of the names of features: of items, and of segments.
NAMES, SEGMENT_NAMES = "names", "segment_names"
# of a pipeline beside its steps,
PIPELINE = {"type": str, "names": list, "verbose": bool}
# and of a "CRF".
COMPAT = {
    "type": str,
    "parameters": dict,
    "estimator": dict,
    "dev_score": (float, NoneType),
}
# Weights of label tuples, of a CRF that has them: how many arrays there are of more
# than two labels, and how many weights edge features have, None without these.
TUPLES = {"n_higher": int, "n_edge_stored": (int, NoneType)}
# What the labels of a SegmentCRF are read by; with features of segments also the
# vectorizer of these.
SEGMENTS = {"scheme": (str, NoneType), "max_length": int}
# What a GraphCRF knows of edges beside their weights.
GRAPHS = {"n_edge_features": int}
# The names of the parts of labels, and how many numbers say which label has which.
LABEL_PARTS = {"names": list, "n_stored": int}
MAX_HIGHER = MOST_ORDER - 1
# Of an OnlineDependencyCRF, whose relations are of a PassiveAggressiveCRF.
PARSER = {
    "type": str,
    "parameters": dict,
    "features": (dict, NoneType),
    "n_features": int,
    "n_stored": (int, NoneType),
    "fit": dict,
    "history": dict,
    "relations": (dict, NoneType),
    "stream": (dict, NoneType),
}
# The members of the archive that the classifier of relations has begin so.
RELATIONS = "relations_"
# The parameters of an ArcFeatures.
OF_ARCS = {"templates": (list, NoneType), "columns": list, "n_features": int}
MAX_FEATURES = int(np.iinfo(np.int32).max)


def attributes_of(crf, more):
    """Return the fitted attributes that are numbers and names, of a checked CRF.

    ``more`` are the entries that its type has beside those of all, with their types.
    """
    is_chosen = crf.get("type") == "skcrf_sdca.CRF" or "solver" in crf
    own = {"solver": str} if is_chosen else {}
    fields(crf, "crf", CRF | own | more)
    attributes = {
        "_input_format": crf["input_format"],
        "n_features_in_": axis_size("n_features", crf["n_features"]),
        **rebuild_fit(crf),
    }
    if own:
        attributes["solver_"] = crf["solver"]
        _, *names = dict.fromkeys((*get_args(SolverName), *get_args(GraphSolver)))
        if crf["solver"] not in names:
            raise ModelFormatError(f"solver must be one of {', '.join(names)}")
    checked_names("crf", crf["feature_names"], crf["n_features"])
    return attributes


def axis_size(name, value, least=0):
    """Return an entry that is the size of an axis; raise ModelFormatError if none."""
    if not least <= value <= MAX_FEATURES:
        raise ModelFormatError(f"{name} must be from {least} to {MAX_FEATURES}")
    return value


def check_vectorizer(vectorizer):
    """Raise an error if these are not the entries of a vectorizer.

    The names of its features are checked where they are read: see `lookup_from`.
    """
    if vectorizer.get("type") != "SequenceVectorizer":
        raise ModelFormatError(
            f"a model of type {vectorizer.get('type')!r:.40} has no place in it"
        )
    fields(vectorizer, "vectorizer", VECTORIZER)
    if vectorizer["input_format"] not in ITEM_TYPES:
        raise ModelFormatError(f"input_format must be one of {tuple(ITEM_TYPES)}")
    axis_size("vectorizer: n_features", vectorizer["n_features"])
    vocabulary = vectorizer["vocabulary"]
    if set(vocabulary) != set(TABLES):
        raise ModelFormatError(f"vocabulary must have the entries {TABLES}")


def checked_hasher(entry):
    """Return the number of features of a hasher, and whether they have signs."""
    fields(entry, "hasher", {"type": str, "parameters": dict})
    own = entry["parameters"]
    if not own.keys() <= HASHER.keys():
        raise ModelFormatError(f"SequenceHasher has other parameters: {list(HASHER)}")
    own = HASHER | own
    fields(own, "hasher", {name: type(value) for name, value in HASHER.items()})
    n_features = axis_size("hasher: n_features", own["n_features"], least=1)
    return n_features, own["alternate_sign"]


def checked_window(entry):
    """Return the number of columns that a window takes, and their names or None."""
    own = {} if entry.get("type") == "ImageWindow" else {"feature_names": NAMES_OR_NONE}
    fields(entry, "window", WINDOW | own)
    n_features = axis_size("window: n_features", entry["n_features"])
    return n_features, checked_names("window", entry.get("feature_names"), n_features)


def checked_names(where, names, n_features):
    """Return names of features, or None; raise ModelFormatError if they are wrong."""
    if names is not None and not set(map(type, names)) <= {str}:
        raise ModelFormatError(f"{where}: feature_names must be str")
    if names is not None and len(names) != n_features:
        raise ModelFormatError(
            f"{where}: feature_names must be of {n_features} features"
        )
    return names


def lookup_from(vectorizer, array, name=NAMES):
    """Return the Lookup of the checked entries of a vectorizer.

    ``name`` is that of the array of its names. Before version 3 they are in the entry
    "vocabulary".
    """
    vocabulary, n_features = vectorizer["vocabulary"], vectorizer["n_features"]
    if type(vocabulary["numeric"]) is dict:
        check_tables(vocabulary, n_features, complete=True)
        return Lookup(vocabulary)
    units = array(name, INT, (check_sizes(vocabulary),))
    return lookup_of_packed(units, vocabulary, n_features)


def check_pipeline(model, roles):
    """Raise ModelFormatError if these are not the entries of a pipeline.

    ``roles`` are the roles of its steps, the last of which is "crf".
    """
    may_cut = model.get("type") == "Tagger" and "tokens" in model
    own = {"tokens": str} if may_cut else {}
    fields(model, "pipeline", PIPELINE | own | dict.fromkeys([*roles, "crf"], dict))
    if may_cut:
        check_pattern(model["tokens"])
    names = model["names"]
    is_str = set(map(type, names)) == {str}
    if not is_str or not 2 <= len(set(names)) == len(names) == len(roles):
        raise ModelFormatError("pipeline: names must be a different name of each step")


def check_compat(crf):
    """Raise ModelFormatError if these are not the entries of a "CRF"."""
    fields(crf, "CRF", COMPAT)
    name = crf["estimator"].get("type")
    if name not in WITHIN_COMPAT:
        raise ModelFormatError(f"a model of type {name!r:.40} has no place in it")


def checked_tuples(entry):
    """Return how many arrays there are of three labels and more, and edge weights."""
    fields(entry, "tuples", TUPLES)
    n_higher, n_stored = entry["n_higher"], entry["n_edge_stored"]
    if not 0 <= n_higher <= MAX_HIGHER or (n_stored is not None and n_stored < 0):
        raise ModelFormatError(
            f"tuples: n_higher must be from 0 to {MAX_HIGHER}, and n_edge_stored null "
            "or not negative"
        )
    return n_higher, n_stored


def checked_segments(entry):
    """Return the scheme of labels, and the largest length of a segment."""
    more = {"vectorizer": dict} if "vectorizer" in entry else {}
    fields(entry, "segments", SEGMENTS | more)
    max_length = axis_size("segments: max_length", entry["max_length"], least=1)
    return entry["scheme"], max_length


def checked_graphs(entry):
    """Return how many features an edge has."""
    fields(entry, "graphs", GRAPHS)
    return axis_size("graphs: n_edge_features", entry["n_edge_features"])


def checked_label_parts(crf, n_labels):
    """Return how many numbers say which label has which part, and the parts."""
    entry = fields(crf["label_parts"], "label_parts", LABEL_PARTS)
    names, n_stored = entry["names"], entry["n_stored"]
    if "tuples" in crf or n_stored < n_labels or len(set(names)) != len(names):
        raise ModelFormatError(
            "label_parts: names must be distinct, every label must have a part, and "
            "there must be no tuples"
        )
    if not set(map(type, names)) <= {str}:
        raise ModelFormatError("label_parts: names must be str")
    return n_stored, len(names)


def check_parser(parser):
    """Raise an error if these are not the entries of an OnlineDependencyCRF."""
    fields(parser, "parser", PARSER)
    rebuild_fit(parser)
    axis_size("n_features", parser["n_features"])
    relations = parser["relations"]
    if relations is None:
        return
    taken = relations.get("type"), relations.get("input_format")
    if taken != ("PassiveAggressiveCRF", "table"):
        raise ModelFormatError(
            "parser: its relations must be a PassiveAggressiveCRF of a table"
        )
    if relations.get("n_features") != N_FEATURES:
        raise ModelFormatError(f"parser: relations are of {N_FEATURES} features")


def arc_templates_from(features):
    """Return the ArcTemplates of the entries of an ArcFeatures, or raise an error."""
    fields(features, "ArcFeatures", {"type": str, "parameters": dict})
    own = parameters_from(features["parameters"])
    if not own.keys() <= OF_ARCS.keys():
        raise ModelFormatError(f"ArcFeatures has other parameters: {list(OF_ARCS)}")
    fields(own, "ArcFeatures", {name: OF_ARCS[name] for name in own})
    axis_size("n_features", own.get("n_features", 1), least=1)
    return ArcTemplates.of(**own)
