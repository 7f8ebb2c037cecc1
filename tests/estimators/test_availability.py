"""Methods that an estimator has with some of its parameters only.

Without them `hasattr` is False, and the error says why, as in scikit-learn.
"""

import copy
import inspect
import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from skcrf_sdca import (
    CRF,
    LBFGSCRF,
    SDCACRF,
    SGDCRF,
    GraphCRF,
    PassiveAggressiveCRF,
    SegmentCRF,
    SequenceHasher,
    SequenceUnion,
    SequenceVectorizer,
    compat,
    load_model,
    make_tagger,
    save_model,
)
from skcrf_sdca.text import TokenFeatures

X = [[["a"], ["b"], ["c"]], [["d"], ["b"]]] * 4
Y = [["B-P", "I-P", "O"], ["O", "B-P"]] * 4
GRAPHS = [(np.eye(3), [[0, 1], [1, 2]])] * 4, [["u", "v", "u"]] * 4

ARGUMENTS = {
    "predict_proba": lambda X, y: (X,),
    "predict_log_proba": lambda X, y: (X,),
    "predict_edge_proba": lambda X, y: (X,),
    "predict_spans": lambda X, y: (X,),
    "span_proba": lambda X, y: (X, [[] for _ in X]),
    "sample": lambda X, y: (X,),
    "log_partition": lambda X, y: (X,),
    "log_likelihood": lambda X, y: (X, y),
    "predict_marginals": lambda X, y: (X,),
    "predict_marginals_single": lambda X, y: (X[0],),
    "partial_fit": lambda X, y: (X, y),
}
# Estimators without probabilities, and a parameter with which they have some.
OF_SCORES = {
    "SDCACRF": (SDCACRF(loss="hinge"), {"loss": "log_loss"}),
    "order 2": (SDCACRF(loss="hinge", order=2), {"loss": "softmax_margin"}),
    "SGDCRF": (SGDCRF(loss="hinge", method="asgd"), {"loss": "log_loss"}),
    "mira": (PassiveAggressiveCRF(loss="hinge"), {"loss": "log_loss"}),
    "perceptron": (PassiveAggressiveCRF(loss="perceptron"), {"loss": "log_loss"}),
    "CRF": (CRF(loss="hinge"), {"loss": "log_loss"}),
    "SegmentCRF": (SegmentCRF(loss="hinge"), {"loss": "log_loss"}),
    "GraphCRF": (GraphCRF(loss="hinge"), {"loss": "log_loss"}),
}
NEED_ALL_DATA = {
    "svrg": (SGDCRF(), {"method": "asgd"}),
    "hybrid": (SGDCRF(method="hybrid"), {"method": "sgd"}),
    "adaptive": (
        SGDCRF(method="sgd", learning_rate="adaptive"),
        {"learning_rate": "auto"},
    ),
    "features": (SGDCRF(method="sgd", features="observed"), {"features": "all"}),
    "transitions": (PassiveAggressiveCRF(transitions="open"), {"transitions": None}),
    "class weight": (
        PassiveAggressiveCRF(loss="hinge", class_weight="balanced"),
        {"class_weight": None},
    ),
}


def of_class(estimator):
    """Return the names of the methods in question that a class has."""
    return {name for name in ARGUMENTS if name in dir(type(estimator))}


def data_of(estimator):
    return GRAPHS if isinstance(estimator, GraphCRF) else (X, Y)


def check_absent(estimator, names, reason):
    for name in sorted(names):
        assert not hasattr(estimator, name)
        with pytest.raises(AttributeError, match=reason):
            getattr(estimator, name)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", OF_SCORES.values(), ids=OF_SCORES)
def test_a_model_of_scores_has_no_probabilities(case):
    estimator, parameters = copy.deepcopy(case)
    names = of_class(estimator) - {"partial_fit"}
    if isinstance(estimator, SegmentCRF):
        names.remove("predict_edge_proba")
    reason = "scores, and no probabilities; fit with"
    check_absent(estimator, names, reason)
    X, y = data_of(estimator)
    estimator.fit(X, y)
    check_absent(estimator, names, reason)
    check_absent(pickle.loads(pickle.dumps(estimator)), names, reason)
    # A fitted model is what its fit made, whatever the parameters are now.
    estimator.set_params(**parameters)
    check_absent(estimator, names, reason)
    estimator.fit(X, y)
    for name in sorted(names):
        getattr(estimator, name)(*ARGUMENTS[name](X, y))
    if "loss" in parameters:
        estimator.set_params(loss="hinge")
        assert hasattr(estimator, "predict_proba")


def test_the_advice_names_parameters_that_the_estimator_takes():
    for estimator in (SDCACRF(loss="hinge"), SegmentCRF(loss="hinge")):
        with pytest.raises(AttributeError) as error:
            estimator.predict_proba(X)
        advice = str(error.value).split("fit with")[1]
        assert '"softmax_margin"' in advice
        assert '"log_loss"' in advice


@pytest.mark.parametrize("case", NEED_ALL_DATA.values(), ids=NEED_ALL_DATA)
def test_what_needs_all_data_learns_from_no_stream(case):
    estimator, parameters = copy.deepcopy(case)
    check_absent(estimator, {"partial_fit"}, "partial_fit cannot work with")
    ((name, value),) = parameters.items()
    estimator.fit(X, Y)
    check_absent(estimator, {"partial_fit"}, f"{name}=")
    estimator.set_params(**{name: value}).partial_fit(X, Y)
    assert estimator.n_visits_ > 0


def test_wrong_parameters_are_refused_by_the_call():
    for wrong in ("nothing", 5, []):
        with pytest.raises(ValueError, match="'method' parameter of SGDCRF"):
            SGDCRF(method=wrong).partial_fit(X, Y)
        assert hasattr(SGDCRF(loss=wrong), "predict_proba")
        assert hasattr(compat.CRF(wrong), "predict_marginals")
    with pytest.raises(NotFittedError):
        SDCACRF().predict_proba(X)


def test_a_class_has_the_documented_methods():
    for estimator, _ in (*OF_SCORES.values(), *NEED_ALL_DATA.values()):
        for name in of_class(estimator):
            if isinstance(estimator, SegmentCRF) and name == "predict_edge_proba":
                continue
            method = getattr(type(estimator), name)
            assert inspect.isfunction(method)
            assert "{" not in method.__doc__.split("Examples")[0].replace("{label", "")
            assert "X" in inspect.signature(method).parameters or name.endswith(
                "single"
            )
    method = LBFGSCRF().fit(X, Y).predict_proba
    assert method.__doc__ == LBFGSCRF.predict_proba.__doc__
    assert pickle.loads(pickle.dumps(method))(X)[0].shape == (3, 3)


def test_pipelines_and_searches_have_what_their_last_step_has(tmp_path):
    hinge = SDCACRF(loss="hinge", tol=0.1)
    steps = [("features", SequenceVectorizer()), ("label", hinge)]
    for estimator in (Pipeline(steps), GridSearchCV(hinge, {"tol": [0.1]}, cv=2)):
        assert not hasattr(estimator, "predict_proba")
        assert not hasattr(estimator.fit(X, Y), "predict_proba")
    tagger = make_tagger(TokenFeatures(["word"]), SequenceVectorizer(), hinge)
    reason = "scores, and no probabilities"
    check_absent(tagger, {"sample", "span_proba", "predict_proba"}, reason)
    words = [["a", "b", "c"], ["d", "b"]] * 4
    save_model(tagger.fit(words, Y), tmp_path / "tagger")
    loaded = load_model(tmp_path / "tagger")
    check_absent(loaded, {"sample", "span_proba", "predict_proba"}, reason)
    svrg = make_tagger(SequenceHasher(), SGDCRF())
    check_absent(svrg, {"partial_fit"}, 'method="svrg"')
    with pytest.raises(AttributeError, match="'Tagger' object has no attribute"):
        _ = tagger.nothing


def test_a_union_with_a_hasher_has_no_names_of_features():
    hasher = ("hashed", SequenceHasher(n_features=8))
    union = SequenceUnion([("named", SequenceVectorizer()), hasher])
    tagger = make_tagger(union, LBFGSCRF()).fit(X, Y)
    reason = "its transformer 'hashed', a SequenceHasher, has none"
    for without_names in (tagger[0], SequenceUnion([("inner", union)]).fit(X)):
        assert not hasattr(without_names, "get_feature_names_out")
    with pytest.raises(AttributeError, match=reason):
        _ = tagger[0].get_feature_names_out
    # The features have numbers, as those of a hasher alone.
    assert len(tagger.top_features(2)) == len(tagger[-1].top_features(2))
