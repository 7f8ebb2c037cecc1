"""Certificates that wait: when they are made, and what a fit without them still is."""

import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from test_solvers import draw_problem

import graph_cases
from samples import make_solver
from skcrf_sdca import (
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    DualityGapMonitor,
    GraphCRF,
)
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.objective.losses import new_loss
from skcrf_sdca.objective.objective import Certificate
from skcrf_sdca.solvers.bcfw import BCFW
from skcrf_sdca.solvers.monitor import (
    FIRST_RATIO,
    MARGIN,
    MOST_EPOCHS,
    FitMonitor,
    Observer,
)
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.proximal import ProximalPoint
from skcrf_sdca.solvers.sdca import SDCA

X, Y = make_chains(150, n_labels=4, n_features=6, random_state=0)
WAITING = [
    SDCACRF(),
    OEGCRF(),
    SDCACRF(acceleration=None),
    SDCACRF(loss="softmax_margin"),
    SDCACRF(l1_ratio=0.3),
    SDCACRF(l1_ratio=0.8),
    SDCACRF(sampling="uniform", n_jobs=2),
    OEGCRF(l1_ratio=0.3),
    SDCACRF(loss="sparsemap"),
    SDCACRF(loss="smooth_hinge"),
]


class Watcher(Observer):
    def end_epoch(self, row):
        return False


class Passer(Watcher):
    reads_rows = False


def run(solver, *observers, max_iter=200, tol=1e-3):
    return FitMonitor(solver, max_iter=max_iter, tol=tol, observers=observers).run()


def epochs_of(loop):
    return [row["epoch"] for row in loop.rows]


def new_solver(name="sdca", seed=0, loss="log_loss", **arguments):
    solver = {"sdca": SDCA, "oeg": OEG, "bcfw": BCFW}[name]
    problem = draw_problem(seed=seed, n_sequences=150, **arguments)
    problem.loss = new_loss(loss)
    return make_solver(partial(ProximalPoint, solver=solver), problem)


@pytest.mark.parametrize("crf", WAITING, ids=repr)
def test_a_fit_that_nobody_watches_is_the_same_with_fewer_certificates(crf):
    # A certificate of SparseMAP takes a hundred times as long as others.
    tol = 1e-2 if crf.loss == "sparsemap" else 1e-4
    crf.set_params(random_state=0, tol=tol, max_iter=500)
    alone = crf.fit(X, Y)
    found = alone.history_["epoch"]
    assert 1 < found[0]
    assert len(found) < found[-1] == alone.n_iter_
    assert np.diff(found, prepend=0).max() <= MOST_EPOCHS
    watched = type(crf)(**crf.get_params()).set_callbacks(DualityGapMonitor())
    watched.fit(X, Y)
    assert watched.coef_.tobytes() == alone.coef_.tobytes()
    assert_array_equal(watched.history_["epoch"], np.arange(1, alone.n_iter_ + 1))
    for column in set(alone.history_) - {"seconds"}:
        of_these = watched.history_[column][found - 1]
        assert_array_equal(alone.history_[column], of_these)
    assert alone.duality_gap_ <= tol * alone.primal_objective_
    # P is above the dual objectives of all epochs, aside or not.
    lowest = alone.primal_objective_ - alone.duality_gap_
    assert (watched.history_["dual"] <= alone.primal_objective_).all()
    assert (watched.history_["primal"] >= lowest).all()


@pytest.mark.parametrize("solver", ["sdca", "oeg"])
def test_observers_change_no_bit_where_inference_begins_at_its_last_end(solver):
    crf = GraphCRF(solver=solver, inference="trw", alpha=0.01, random_state=0)
    graphs = graph_cases.sample(100)
    alone = crf.set_params(tol=1e-5).fit(*graphs).coef_
    watched = clone(crf).set_callbacks(DualityGapMonitor()).fit(*graphs)
    assert len(watched.history_["epoch"]) > len(crf.history_["epoch"])
    assert watched.coef_.tobytes() == alone.tobytes()


@pytest.mark.parametrize(
    "crf",
    [
        SDCACRF(tol=0.0, max_iter=12, random_state=0),
        SAGNUSCRF(tol=1e-4, random_state=0),
        LBFGSCRF(tol=1e-4),
        SDCACRF(loss="hinge", acceleration=None, tol=1e-2, random_state=0),
    ],
    ids=repr,
)
def test_where_nothing_can_wait_every_epoch_is_certified(crf):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        crf.fit(X[:40], Y[:40])
    assert_array_equal(crf.history_["epoch"], np.arange(1, crf.n_iter_ + 1))


def test_partly_known_labels_are_certified_in_every_epoch():
    unknown = [[None, *labels[1:]] for labels in map(list, Y[:40])]
    crf = SDCACRF(random_state=0, tol=1e-3).fit(X[:40], unknown)
    assert_array_equal(crf.history_["epoch"], np.arange(1, crf.n_iter_ + 1))


def test_only_observers_that_read_rows_have_them_made():
    watcher, passer = (run(new_solver(), own()) for own in (Watcher, Passer))
    assert epochs_of(watcher) == list(range(1, watcher.rows[-1]["epoch"] + 1))
    assert epochs_of(passer) == epochs_of(run(new_solver()))
    assert len(passer.rows) < len(watcher.rows)


@pytest.mark.parametrize("name", ["sdca", "oeg"])
def test_no_certificate_waits_that_may_end_the_fit(name):
    for seed in range(8):
        loop = run(new_solver(name, seed), Watcher(), tol=1e-4)
        made = epochs_of(run(new_solver(name, seed), tol=1e-4))
        waited = set(epochs_of(loop)) - set(made)
        assert waited
        rows = [row for row in loop.rows if row["epoch"] in waited]
        assert all(row["gap"] > 1e-4 * row["primal"] for row in rows)


@pytest.mark.parametrize("name", ["sdca", "oeg"])
@pytest.mark.parametrize("recorded", [1e-30, 1e30, 0.0, np.nan, np.inf])
def test_false_recorded_gaps_end_no_fit_and_hide_no_end_for_long(name, recorded):
    true = run(new_solver(name)).rows[-1]["epoch"]
    solver = new_solver(name)
    first, found = solver.recorded_gap, iter([None])

    # The first one is true, and those after are not.
    def recorded_gap():
        return first() if next(found, 0) is None else np.float64(recorded)

    solver.recorded_gap = recorded_gap
    loop = run(solver)
    last = loop.rows[-1]
    assert loop.converged
    assert last["gap"] <= 1e-3 * last["primal"]
    assert solver.certify().gap <= 1e-3 * last["primal"]
    assert last["epoch"] <= true + MOST_EPOCHS
    assert np.diff(epochs_of(loop), prepend=0).max() <= MOST_EPOCHS


@pytest.mark.parametrize("max_iter", [1, 2, 3, 7])
def test_the_last_epoch_is_certified(max_iter):
    loop = run(new_solver(), max_iter=max_iter, tol=1e-9)
    assert loop.rows[-1]["epoch"] == max_iter
    assert loop.rows[-1]["updates"] == max_iter
    assert f"after {max_iter} epoch" in loop.convergence_message()


def test_a_warm_start_ends_at_its_first_certificate():
    crf = SDCACRF(random_state=0, warm_start=True).fit(X, Y)
    assert crf.n_iter_ > len(crf.history_["epoch"])
    assert crf.fit(X, Y).history_["epoch"].tolist() == [1]


def test_recorded_gaps_are_those_of_sequences_with_a_visit():
    solver = make_solver(SDCA, draw_problem(n_sequences=30))
    with np.errstate(invalid="ignore"):
        assert np.isnan(solver.recorded_gap())
    solver.kernel.epoch_in_order(np.arange(10))
    assert solver.recorded_gap() == pytest.approx(solver.gaps[:10].mean(), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "loss"),
    [("sdca", "log_loss"), ("oeg", "log_loss"), ("bcfw", "sparsemap")],
)
def test_the_dual_of_the_visits_is_the_one_of_the_certificate(name, loss):
    solver = new_solver(name, loss=loss)
    for _ in range(3):
        solver.epoch()
    state = solver.model.w.copy(), solver.lower_bound.value
    aside, dual = solver.certify_aside(), solver.solver.recorded_dual()
    assert (solver.model.w == state[0]).all()
    assert solver.lower_bound.value == state[1]
    found = solver.certify()
    assert dual == pytest.approx(found.dual, rel=1e-5)
    assert aside.gap == pytest.approx(found.gap, rel=1e-3)


def test_weights_are_recomputed_by_epochs_and_not_by_certificates(monkeypatch):
    solver = make_solver(OEG, draw_problem(n_sequences=30))
    calls = []
    monkeypatch.setattr(solver, "_set_point", lambda total: calls.append(1))
    solver.certify()
    for _ in range(solver.recompute_every - 2):
        solver.wait(1.0, 0.0)
    assert not calls
    solver.certify()
    assert len(calls) == 1


def test_the_ratio_of_the_last_certificate_and_the_margin_decide():
    solver, waited = new_solver(), []
    primal = np.log(2.0)
    # Each recorded gap is half the true one: before the first certificate the estimate
    # is `FIRST_RATIO` / 2 of the true gap, and exact from then on.
    first = 2.0 / FIRST_RATIO * MARGIN
    true = [400.0, 1.01 * first, 0.99 * first, 2.01 * MARGIN, 1.01 * MARGIN]
    true += [0.99 * MARGIN, 1.5, 0.9]
    gaps = iter(1e-3 * primal * np.array(true))

    def epoch():
        solver.gap = next(gaps)

    def certificate(tol):
        return Certificate(primal, primal - solver.gap, solver.gap)

    solver.epoch, solver.wait = epoch, lambda *found: waited.append(found)
    solver.recorded_gap = lambda: np.float64(solver.gap / 2.0)
    solver.recorded_dual = lambda: primal - solver.gap
    solver.certify_epoch = certificate
    assert epochs_of(run(solver)) == [3, 6, 7, 8]
    gap, dual = np.transpose(waited)
    true = 1e-3 * primal * np.array(true)[[0, 1, 3, 4]]
    assert_allclose(gap, true * [FIRST_RATIO / 2.0, FIRST_RATIO / 2.0, 1.0, 1.0])
    assert_allclose(dual, primal - true)
