"""Every public method of every model agrees with enumeration, or is a named hole."""

import re
from typing import NamedTuple

import numpy as np
import pytest

from matrix_checks import (
    check_alpha_path,
    check_best_epoch,
    check_best_val_score,
    check_constrain,
    check_densify,
    check_explain,
    check_feature_names_in,
    check_length_features,
    check_lengths,
    check_log_likelihood,
    check_log_likelihood_of_known_labels,
    check_log_partition,
    check_partial_fit,
    check_posterior_decoding,
    check_predict,
    check_predict_bound,
    check_predict_edge_proba,
    check_predict_log_proba,
    check_predict_n_best,
    check_predict_proba,
    check_predict_spans,
    check_prune,
    check_sample,
    check_score,
    check_segment_weights,
    check_span_proba,
    check_sparsify,
    check_state_features,
    check_to_crfsuite,
    check_top_features,
    check_transition_display,
    check_transition_features,
    check_tuple_features,
    check_uncertainty,
)
from matrix_models import LAYOUT, MODELS, WITH_LOSSES, dense, fitted
from pairs import in_one_test, pairwise_table
from skcrf_sdca import (
    CRF,
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    SGDCRF,
    GraphCRF,
    PassiveAggressiveCRF,
    SegmentCRF,
    TreeCRF,
)

CLASSES = (
    *(CRF, LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF, SGDCRF, PassiveAggressiveCRF),
    *(SegmentCRF, GraphCRF, TreeCRF),
)
# Method -> check of it.
CHECKS = {
    "predict": check_predict,
    "predict_proba": check_predict_proba,
    "predict_log_proba": check_predict_log_proba,
    "predict_edge_proba": check_predict_edge_proba,
    "predict_n_best": check_predict_n_best,
    "predict_bound": check_predict_bound,
    "predict_spans": check_predict_spans,
    "span_proba": check_span_proba,
    "sample": check_sample,
    "log_partition": check_log_partition,
    "log_likelihood": check_log_likelihood,
    "score": check_score,
    "uncertainty": check_uncertainty,
    "explain": check_explain,
    "sparsify": check_sparsify,
    "densify": check_densify,
    "prune": check_prune,
    "constrain": check_constrain,
    "partial_fit": check_partial_fit,
    "state_features": check_state_features,
    "transition_features": check_transition_features,
    "tuple_features": check_tuple_features,
    "length_features": check_length_features,
    "segment_weights": check_segment_weights,
    "top_features": check_top_features,
    "feature_names_in_": check_feature_names_in,
    "best_epoch_": check_best_epoch,
    "best_val_score_": check_best_val_score,
}


class Hole(NamedTuple):
    """Why a model has no such method, and what the error says.

    Attributes
    ----------
    reason : str
        "mathematics: ...", or `LAYOUT` for what is missing without a reason in it.
    message : str
        A part of the message of the error.
    """

    reason: str
    message: str


NO_ATTRIBUTE = "object has no attribute"
NO_SEGMENTS = Hole("mathematics: only segments have lengths and features", NO_ATTRIBUTE)
NO_ORDER = Hole("mathematics: nodes of a graph have no order", NO_ATTRIBUTE)
NO_STREAM = Hole(
    "mathematics: its solvers come back to the same items, also SVRG, its sgd",
    NO_ATTRIBUTE,
)
NO_DISTANCE = Hole(
    "mathematics: a best labelling of a chain is always found", NO_ATTRIBUTE
)
NO_DISTRIBUTION = Hole(
    "mathematics: marginals that agree need not be those of a distribution",
    "has probabilities of nodes and edges",
)
NO_STREAM_OF_PAIRS = Hole(
    "mathematics: the pairs of labels of all data are not known before its end",
    f"{NO_ATTRIBUTE}|which needs all of the data at once",
)
# (family or model, method) -> why it is not there.
HOLES = {
    ("observed label pairs", "partial_fit"): NO_STREAM_OF_PAIRS,
    ("observed label tuples", "partial_fit"): NO_STREAM_OF_PAIRS,
    ("label features", "partial_fit"): Hole(
        "mathematics: the parts of labels that come later are not known", NO_ATTRIBUTE
    ),
    ("chains", "predict_bound"): NO_DISTANCE,
    ("segments", "predict_bound"): NO_DISTANCE,
    ("chains", "length_features"): NO_SEGMENTS,
    ("chains", "segment_weights"): NO_SEGMENTS,
    ("graphs", "length_features"): NO_SEGMENTS,
    ("graphs", "tuple_features"): Hole(
        "mathematics: an edge joins two labels, see transition_features", NO_ATTRIBUTE
    ),
    ("graphs", "segment_weights"): NO_SEGMENTS,
    ("graphs", "predict_spans"): NO_ORDER,
    ("graphs", "span_proba"): NO_ORDER,
    ("graphs", "constrain"): Hole(
        "mathematics: a pair of labels has the score w . x of the features x of an "
        "edge, which may be 0 or negative: no weight w forbids it",
        NO_ATTRIBUTE,
    ),
    ("graphs", "partial_fit"): NO_STREAM,
    ("segments", "partial_fit"): NO_STREAM,
    ("reweighted graphs", "predict_n_best"): NO_DISTRIBUTION,
    ("reweighted graphs", "sample"): NO_DISTRIBUTION,
}
# Methods of p(y | x), which a model of the hinge has not.
OF_PROBABILITIES = {
    *("predict_proba", "predict_log_proba", "predict_edge_proba", "predict_spans"),
    *("span_proba", "sample", "log_partition", "log_likelihood", "uncertainty"),
}
NO_PROBABILITIES = "was fitted with a loss that gives scores, and no probabilities"
# Attributes that are there after some fits only: their checks make these.
OF_SOME_FITS = {"feature_names_in_", "best_epoch_", "best_val_score_", "partial_fit"}
# Methods of fits with few labellings: test_every_mixture.py checks them.
OF_FEW_LABELLINGS = {"support"}
# Names that are no methods of a model: those of scikit-learn, weights, parameters.
OF_SKLEARN = {"fit", "get_params", "set_params", "get_metadata_routing"}
OF_SKLEARN |= {"set_callbacks"}
WEIGHTS = {"edge_coef_", "higher_transitions_", "segment_coef_", "temperature_"}
# What probabilities are those of; the names and the matrix of the parts of labels.
WEIGHTS |= {"entropy_index_", "parts_", "label_features_"}


def public_names():
    """Return the public names of all estimators, but for parameters and requests."""
    names = {name for cls in CLASSES for name in dir(cls) if not name.startswith("_")}
    # A class lists what its descriptor refuses too.
    parameters = {name for cls in CLASSES for name in cls().get_params()}
    requests = {name for name in names if re.fullmatch("set_.*_request", name)}
    return names - parameters - requests - OF_SKLEARN - WEIGHTS


def test_the_tables_name_every_public_method():
    assert public_names() == CHECKS.keys() | OF_FEW_LABELLINGS
    families = {model.family for model in MODELS.values()}
    assert {(f, m) for f in {*families, *MODELS} for m in CHECKS} > set(HOLES)
    for hole in HOLES.values():
        assert hole.reason == LAYOUT or hole.reason.startswith("mathematics: ")


def is_asked(name, loss, method):
    """Return whether a check is one of such a model: some make fits of the log loss."""
    has_loss = (name, loss) in WITH_LOSSES
    return has_loss and (loss == "log_loss" or method not in OF_SOME_FITS)


LOSSES = ["log_loss", "softmax_margin", "hinge"]


@in_one_test(
    ("name", "loss", "method"),
    pairwise_table(list(MODELS), LOSSES, list(CHECKS), allowed=is_asked),
)
def test_a_method_agrees_with_enumeration_or_is_a_hole(name, loss, method):
    model, crf = MODELS[name], fitted(name, loss=loss)
    message = None
    if hole := HOLES.get((model.family, method)) or HOLES.get((name, method)):
        message = hole.message
    elif loss == "hinge" and method in OF_PROBABILITIES:
        message = NO_PROBABILITIES
    if message is None:
        assert hasattr(crf, method) or method in OF_SOME_FITS
        CHECKS[method](model, crf)
        return
    owners = [crf]
    if method == "partial_fit":
        owners += [model.new(own).fit(model.X, model.y) for own in model.online]
    for owner in owners:
        assert not hasattr(owner, method)
    with pytest.raises(AttributeError, match=message):
        getattr(crf, method)


@in_one_test(("name", "loss"), WITH_LOSSES)
def test_a_fit_with_many_labellings_has_no_support(name, loss):
    crf = fitted(name, loss=loss)
    assert not hasattr(crf, "support")
    with pytest.raises(AttributeError, match="every labelling a probability, or none"):
        crf.support(MODELS[name].X)


# Forms of methods, and functions of the package ---------------------------------------

FORMS = {
    "posterior decoding": check_posterior_decoding,
    "likelihood of known labels": check_log_likelihood_of_known_labels,
    "alpha_path": check_alpha_path,
    "lengths": check_lengths,
    "to_crfsuite": check_to_crfsuite,
    "TransitionDisplay": check_transition_display,
}
NO_LENGTHS = Hole("mathematics: a graph is no range of rows", "argument 'lengths'")
NO_FILE = Hole(
    "mathematics: the file of CRFsuite has the weights of a chain of order 1 alone",
    "file of CRFsuite cannot have|estimator must be one of",
)
OF_PAIRS = {"chain", "table", "observed label pairs"}
# (form, model) -> why it is not there.
HOLES_OF_FORMS = {
    **{("to_crfsuite", n): NO_FILE for n in MODELS if n not in OF_PAIRS},
    **{("lengths", n): NO_LENGTHS for n in MODELS if MODELS[n].family == "graphs"},
}


@in_one_test("form", FORMS)
@in_one_test("name", MODELS)
def test_a_form_agrees_with_enumeration_or_is_a_hole(name, form, tmp_path):
    model, crf = MODELS[name], fitted(name)
    paths = (tmp_path / "model",) if form == "to_crfsuite" else ()
    hole = HOLES_OF_FORMS.get((form, name))
    if hole is None:
        FORMS[form](model, crf, *paths)
        return
    with pytest.raises((TypeError, ValueError), match=hole.message):
        FORMS[form](model, crf, *paths)


# The methods that show weights.
TABLES = {
    *("state_features", "transition_features", "tuple_features"),
    *("length_features", "segment_weights"),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_table_shows_every_weight(name):
    model, crf = MODELS[name], fitted(name)
    tables = [m for m in sorted(TABLES) if hasattr(crf, m)]
    values = [getattr(crf, method)()["weight"] for method in tables]
    seen = np.concatenate(values)
    for block in model.blocks:
        weights = getattr(crf, block)
        own = weights if isinstance(weights, tuple) else (weights,)
        flat = [np.ravel(dense(w)) for w in own if w is not None]
        flat = np.concatenate([np.zeros(0), *flat])
        flat = flat[np.isfinite(flat) & (flat != 0.0)]
        assert np.isin(flat, seen).all()
