"""Every model through every copy of it: the same bits, attributes and parameters."""

import copy
import pickle
import warnings

import joblib
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from matrix_models import MODELS, OF_HINGE, answers, bits, fitted
from pairs import pairwise_table
from skcrf_sdca import load_model, save_model


def saved(crf, folder):
    save_model(crf, folder / "model")
    return load_model(folder / "model")


def saved_twice(crf, folder):
    return saved(saved(crf, folder), folder)


def pickled(crf, folder):
    return pickle.loads(pickle.dumps(crf))


def dumped(crf, folder):
    joblib.dump(crf, folder / "model")
    return joblib.load(folder / "model")


def mapped(crf, folder):
    joblib.dump(crf, folder / "model")
    return joblib.load(folder / "model", mmap_mode="r")


def copied(crf, folder):
    return copy.deepcopy(crf)


WAYS = (saved, saved_twice, pickled, dumped, mapped, copied)
SOLVERS = [
    (name, solver)
    for name, model in MODELS.items()
    for solver in (model.solvers | model.online)
]
of_every_solver = pytest.mark.parametrize(("name", "solver"), SOLVERS)


def attributes(crf, *, without=()):
    """Return the public fitted attributes, by bits."""
    own = {
        name: value
        for name, value in vars(crf).items()
        if name.endswith("_") and not name.startswith("_") and name not in without
    }
    if "history_" in own:
        own["history_"] = {k: v for k, v in own["history_"].items() if k != "seconds"}
    return bits(own)


# Parameters that may be functions of the user, which a file does not have.
FUNCTIONS = {"segment_features", "label_features"}


def parameters(crf):
    return {k: v for k, v in crf.get_params().items() if k not in FUNCTIONS}


@pytest.mark.parametrize(
    ("name", "solver", "way"),
    pairwise_table(
        list(MODELS),
        list(dict.fromkeys(solver for _, solver in SOLVERS)),
        WAYS,
        allowed=lambda name, solver, way: (name, solver) in SOLVERS,
    ),
)
def test_a_copy_is_the_model(name, solver, way, tmp_path):
    model, crf = MODELS[name], fitted(name, solver)
    again = way(crf, tmp_path)
    assert type(again) is type(crf)
    assert parameters(again) == parameters(crf)
    if crf.get_params().get("segment_features") and way in (saved, saved_twice):
        # A file has no function of the user.
        again.set_params(segment_features=crf.segment_features)
    assert attributes(again) == attributes(crf)
    assert answers(model, again) == answers(model, crf)


@pytest.mark.parametrize("way", [saved, pickled, mapped], ids=lambda way: way.__name__)
@pytest.mark.parametrize("name", OF_HINGE)
def test_a_copy_of_a_model_of_the_hinge_is_the_model(name, way, tmp_path):
    model, crf = MODELS[name], fitted(name, loss="hinge")
    again = way(crf, tmp_path)
    if crf.get_params().get("segment_features"):
        again.set_params(segment_features=crf.segment_features)
    assert attributes(again) == attributes(crf)
    assert answers(model, again) == answers(model, crf)


@of_every_solver
def test_every_fit_has_the_same_bits(name, solver):
    model, crf = MODELS[name], fitted(name, solver)
    assert not attributes(clone(crf))
    # What an earlier fit has left counts for nothing.
    again = copy.deepcopy(crf).fit(model.X, model.y)
    assert attributes(again) == attributes(crf)
    assert answers(model, again) == answers(model, crf)


@of_every_solver
def test_a_warm_start_goes_on(name, solver):
    model, cold = MODELS[name], fitted(name, solver)
    crf = model.new(solver, warm_start=True, max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        crf.fit(model.X, model.y)
    if solver == "passive aggressive":
        # It has no objective, and counts its visits.
        assert crf.fit(model.X, model.y).n_visits_ == 2 * len(model.X)
        return
    crf.set_params(max_iter=2000).fit(model.X, model.y)
    assert crf.duality_gap_ <= crf.gap_target_
    distance = abs(crf.primal_objective_ - cold.primal_objective_)
    assert distance <= crf.duality_gap_ + cold.duality_gap_
    # Where the last fit ended, no more epochs are needed than from w = 0.
    again = pickle.loads(pickle.dumps(crf)).fit(model.X, model.y)
    assert again.n_iter_ <= cold.n_iter_
    assert attributes(crf.fit(model.X, model.y)) == attributes(again)


# (family or model, solvers) -> why a warm start needs the same sequences or graphs.
SAME_DATA = {
    ("chains", "segments", "graphs"): (
        {"sdca", "oeg", "sag", "crf"},
        "mathematics: the state has dual variables, or gradients, of each of them",
    ),
    ("observed label pairs", "observed label tuples"): (
        {"lbfgs", "sgd", "passive aggressive", "asgd"},
        "mathematics: the weights are those of the pairs of labels in y",
    ),
}


def needs_same_data(name, solver):
    own = {name, MODELS[name].family}
    return any(own & set(k) and solver in v[0] for k, v in SAME_DATA.items())


@of_every_solver
def test_a_warm_start_takes_other_data_or_refuses_them(name, solver):
    model = MODELS[name]
    tol = {} if solver == "passive aggressive" else {"tol": 1e-2}
    crf = model.new(solver, warm_start=True, **tol).fit(model.X, model.y)
    before = attributes(crf)
    if needs_same_data(name, solver):
        with pytest.raises(ValueError, match="warm_start=True needs"):
            crf.fit(model.X[:-1], model.y[:-1])
        assert attributes(crf) == before
    else:
        crf.fit(model.X[:-1], model.y[:-1])
        assert attributes(crf) != before
