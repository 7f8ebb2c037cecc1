"""Dependency trees crossed with methods, solvers, losses, penalties, files, threads.

They have arcs, relations too, or siblings.

Their labels are heads, so that they are no row of `MODELS`. What the methods answer is
checked by enumeration in tests/estimators/test_dependencies.py.
"""

from functools import cache
from itertools import product

import numpy as np
import pytest
from test_every_method import OF_PROBABILITIES, OF_SKLEARN, WEIGHTS

from matrix_models import PROBABLE, bits
from skcrf_sdca import DependencyCRF, load_model, save_model
from skcrf_sdca.text import ArcFeatures

X = [np.random.default_rng(n).normal(size=(n + 1, n, 3)) for n in (1, 3, 2, 4)]
HEADS = [[0], [2, 0, 2], [0, 1], [3, 3, 0, 2]]
# No arcs cross.
PROJECTIVE = [*HEADS[:3], [2, 3, 0, 3]]
RELATIONS = [["root"], ["nsubj", "root", "obj"], ["root", "obj"], list("abca")]
TEMPLATES = ["h.word m.word", "m.word s.word"]
OF_SIBLINGS = {
    "features": ArcFeatures(TEMPLATES, columns=("word",), n_features=97),
    "projective": True,
}
# What trees have -> X, y, and the parameters of the estimator.
DATA = {
    "arcs": (X, HEADS, {}),
    "relations": (X, list(zip(HEADS, RELATIONS, strict=True)), {"labelled": True}),
    "siblings": ([list("abcd")[: len(x)] for x in HEADS], PROJECTIVE, OF_SIBLINGS),
}
# Methods that answer, and attributes of some fits.
METHODS = {
    *("predict", "predict_proba", "predict_log_proba", "predict_n_best", "sample"),
    *("log_partition", "log_likelihood", "score", "explain", "state_features"),
    *("top_features", "prune", "sparsify", "densify", "uncertainty"),
    *("feature_names_in_", "best_epoch_", "best_val_score_"),
}
# Method -> why it is not there.
HOLES = {
    "predict_edge_proba": "DependencyCRF has no pairs of neighbours",
    "support": "every labelling a probability, or none",
}
SOLVERS = ("sdca", "oeg", "sag", "sgd", "lbfgs")
LOSSES = ("log_loss", "softmax_margin", "hinge")
L1_RATIOS = (0.0, 0.3)
# (solver, loss) -> what the error says.
REFUSED = {(solver, "hinge"): "needs a loss" for solver in ("sag", "sgd", "lbfgs")}


@cache
def fitted(solver="lbfgs", loss="log_loss", l1_ratio=0.0, has="arcs", n_jobs=None):
    """Return a model; a test must not change it."""
    X, y, options = DATA[has]
    crf = DependencyCRF(alpha=0.1, solver=solver, loss=loss, l1_ratio=l1_ratio)
    crf.set_params(n_jobs=n_jobs, random_state=0, max_iter=3000, **options)
    crf.set_params(tol=3e-2 if loss == "hinge" else 1e-5)
    return crf.fit(X, y)


def answers(crf, X):
    found = {"predict": crf.predict(X), "n_best": crf.predict_n_best(X, 3)}
    for method in PROBABLE:
        if hasattr(crf, method):
            found[method] = getattr(crf, method)(X)
    if hasattr(crf, "sample"):
        found["sample"] = crf.sample(X, 3, random_state=0)
    return bits(found)


def test_the_table_names_every_public_method():
    names = {name for name in dir(DependencyCRF) if not name.startswith("_")}
    others = {*DependencyCRF().get_params(), *OF_SKLEARN, *WEIGHTS}
    others |= {name for name in names if name.endswith("_request")}
    # What other estimators have as parameters.
    others |= {"features", "min_count", "cost", "class_weight"}
    assert names - others == METHODS | HOLES.keys()


@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_methods_are_there_or_say_why_not(loss):
    crf = fitted("sdca", loss)
    for name in METHODS - {"feature_names_in_", "best_epoch_", "best_val_score_"}:
        assert hasattr(crf, name) == (loss != "hinge" or name not in OF_PROBABILITIES)
    for name, message in HOLES.items():
        with pytest.raises(AttributeError, match=message):
            getattr(crf, name)


@pytest.mark.parametrize(
    ("solver", "loss", "l1_ratio", "has"),
    list(product(SOLVERS, LOSSES, L1_RATIOS, DATA)),
)
def test_every_fit_ends_with_a_certificate_or_is_refused(solver, loss, l1_ratio, has):
    message = REFUSED.get((solver, loss))
    if message is not None:
        with pytest.raises(ValueError, match=message):
            fitted(solver, loss, l1_ratio, has)
        return
    crf = fitted(solver, loss, l1_ratio, has)
    assert crf.duality_gap_ <= crf.gap_target_
    if loss != "hinge":
        best = fitted("lbfgs", loss, l1_ratio, has)
        assert crf.dual_objective_ <= best.primal_objective_ + 1e-12
        assert best.dual_objective_ <= crf.primal_objective_ + 1e-12


@pytest.mark.parametrize("has", DATA)
@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
def test_files_and_threads_change_no_bit_of_an_answer(has, loss, tmp_path):
    crf, (X, *_) = fitted("sdca", loss, has=has), DATA[has]
    save_model(crf, tmp_path / "model.zip")
    loaded = load_model(tmp_path / "model.zip")
    assert answers(loaded, X) == answers(crf, X)
    assert answers(loaded.set_params(n_jobs=2), X) == answers(crf, X)
