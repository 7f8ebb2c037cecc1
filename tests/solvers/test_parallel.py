"""Fits on several threads: w equals w_hat(mu), the optimum and the bits are kept."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from workers import FORMS, N_LABELS, draw_problem, draw_sparse, observed

from pairs import by_pairs
from samples import make_problem
from skcrf_sdca import OEGCRF, SDCACRF
from skcrf_sdca._kernels.features._features import DistinctFeatures, FeatureRows
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.objective.losses import new_loss
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers import parallel
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.parallel import n_workers
from skcrf_sdca.solvers.partition import FeaturePartition, equal_shards
from skcrf_sdca.structures.chain.structure import Chain

ESTIMATORS = [SDCACRF, OEGCRF]


def new_solver(estimator, problem, acceleration=None, **parameters):
    crf = estimator(acceleration=acceleration, random_state=0, **parameters)
    return crf._new_solver(problem)


@pytest.fixture(params=FORMS.values(), ids=FORMS)
def form(request):
    return request.param


of_threads = by_pairs({"estimator": ESTIMATORS, "n_jobs": [2, 3], "form": FORMS})


@of_threads
def test_weights_are_those_of_the_marginals(estimator, n_jobs, form):
    problem = draw_problem(FORMS[form], n_jobs)
    solver = new_solver(estimator, problem)
    assert len(solver.visitors) == n_jobs
    for _ in range(3):
        solver.epoch()
        w = problem.dual_to_primal(solver.marginals.local, solver.renormalize())
        # OEG stores natural parameters, SDCA stores edges in single precision.
        assert_allclose(solver.model.w, w, rtol=0, atol=2e-5)
    assert solver.n_updates == 3 * problem.n_sequences


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_weights_are_those_of_the_marginals_in_double(n_jobs, form):
    problem = draw_problem(form, n_jobs)
    solver = new_solver(SDCACRF, problem, dual_dtype="float64")
    for _ in range(3):
        solver.epoch()
    w = problem.dual_to_primal(solver.marginals.local, solver.renormalize())
    assert_allclose(solver.model.w, w, rtol=0, atol=1e-11)


@by_pairs(
    {
        "form": [sp.csr_array, observed],
        "estimator": ESTIMATORS,
        "rare_per_round,frequent": [
            (1, 0.1),
            (5, 0.025),
            (20, 0.4),
            (1, 5.0),
            (1, 0.0),
        ],
    }
)
def test_weights_are_those_of_the_marginals_however_aggregated(
    estimator, rare_per_round, frequent, form, monkeypatch
):
    monkeypatch.setattr(parallel, "RARE_PER_ROUND", rare_per_round)
    monkeypatch.setattr(parallel, "FREQUENT", frequent)
    problem = draw_problem(form, 3)
    solver = new_solver(estimator, problem)
    for _ in range(3):
        solver.epoch()
    w = problem.dual_to_primal(solver.marginals.local, solver.renormalize())
    assert_allclose(solver.model.w, w, rtol=0, atol=2e-5)


def test_visits_start_from_weights_that_were_changed(form):
    problem = draw_problem(form, 3)
    solver = new_solver(SDCACRF, problem)
    solver.epoch()
    before = problem.dual_to_primal(solver.marginals.local, solver.renormalize())
    added = np.random.default_rng(0).normal(0.0, 0.01, len(before))
    solver.model.w += added
    solver.kernel.weights_changed()
    solver.epoch()
    after = problem.dual_to_primal(solver.marginals.local, solver.renormalize())
    assert np.abs(after - before).max() > 1e-3
    assert_allclose(solver.model.w, after + added, rtol=0, atol=2e-5)


@of_threads
def test_the_optimum_is_that_of_one_thread(estimator, n_jobs, form):
    form = FORMS[form]
    alone, together = (
        FitMonitor(
            new_solver(estimator, draw_problem(form, n), dual_dtype="float64")
            if estimator is SDCACRF
            else new_solver(estimator, draw_problem(form, n)),
            max_iter=400,
            tol=1e-9,
        ).run()
        for n in (None, n_jobs)
    )
    assert alone.converged
    assert together.converged
    assert together.rows[-1]["primal"] == pytest.approx(
        alone.rows[-1]["primal"], rel=0, abs=alone.target + together.target
    )


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_dual_rises(estimator, form):
    loop = FitMonitor(
        new_solver(estimator, draw_problem(form, 4)), max_iter=15, tol=1e-6
    ).run()
    assert (np.diff(loop.history()["dual"]) > 0.0).all()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_two_runs_have_the_same_bits(estimator, form):
    runs = []
    for _ in range(2):
        solver = new_solver(estimator, draw_problem(form, 3))
        for _ in range(2):
            solver.epoch()
        runs.append(solver)
    assert_array_equal(runs[0].model.w, runs[1].model.w)
    assert_array_equal(runs[0].entropy, runs[1].entropy)


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_do_what_one_thread_does_in_turn(n_jobs, form):
    problem = draw_problem(form, n_jobs, n_sequences=400)
    threads, turns = (new_solver(SDCACRF, problem) for _ in range(2))
    turns.kernel.in_turn = True
    for _ in range(2):
        uniforms = threads.rng.random((400, 2))
        threads.kernel.epoch(uniforms)
        turns.kernel.epoch(uniforms)
        assert_array_equal(threads.model.w, turns.model.w)
        order = threads.rng.permutation(400)
        threads.kernel.epoch_in_order(order)
        turns.kernel.epoch_in_order(order)
        assert_array_equal(threads.model.w, turns.model.w)
        assert threads.kernel.rounds.sigma_prime == turns.kernel.rounds.sigma_prime


@of_threads
def test_weights_follow_dual_weights_of_all_threads(estimator, n_jobs, form):
    problem = draw_sparse(FORMS[form], n_jobs)
    solver = new_solver(estimator, problem)
    assert len(solver.visitors) == n_jobs
    for _ in range(4):
        solver.epoch()
        v = problem.dual_to_primal(solver.marginals.local, solver.renormalize())
        assert_allclose(solver.v, v, rtol=0, atol=2e-5)
        w = problem.penalty.primal_point(solver.v)
        assert_allclose(solver.model.w, w, rtol=0, atol=1e-12)
    assert 0 < np.count_nonzero(solver.model.w) < 0.9 * len(solver.model.w)


@by_pairs({"estimator": ESTIMATORS, "l1_ratio": [0.0, 0.7], "form": FORMS})
def test_weights_follow_dual_weights_in_a_metric(estimator, l1_ratio, form):
    problem = draw_sparse(FORMS[form], 3, l1_ratio)
    outer = new_solver(estimator, problem, "proximal_point")
    assert len(outer.solver.visitors) == 3
    for _ in range(4):
        outer.epoch()
        solver, penalty = outer.solver, outer.proximal.penalty
        v = problem.dual_to_primal(solver.marginals.local, solver.renormalize())
        assert_allclose(solver.v, v, rtol=0, atol=2e-5)
        w = penalty.primal_point(solver.v)
        assert_allclose(outer.model.w, w, rtol=0, atol=1e-12)


@by_pairs(
    {
        "estimator": ESTIMATORS,
        "acceleration": [None, "proximal_point"],
        "form": FORMS,
    }
)
def test_the_optimum_with_a_threshold_is_that_of_one_thread(
    estimator, acceleration, form
):
    form = FORMS[form]
    alone, together = (
        FitMonitor(
            new_solver(estimator, draw_sparse(form, n), acceleration),
            max_iter=400,
            tol=1e-9,
        ).run()
        for n in (None, 3)
    )
    assert alone.converged
    assert together.converged
    primal = [loop.rows[-1]["primal"] for loop in (alone, together)]
    assert primal[0] == pytest.approx(primal[1], rel=1e-8)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_dual_rises_with_a_threshold(estimator, form):
    solver = new_solver(estimator, draw_sparse(form, 4))
    loop = FitMonitor(solver, max_iter=15, tol=1e-6).run()
    assert (np.diff(loop.history()["dual"]) > 0.0).all()


def test_the_hinge_with_a_threshold_ends_at_the_optimum_of_one_thread():
    primal = []
    for n_jobs in (None, 3):
        problem = draw_sparse(sp.csr_array, n_jobs)
        problem.loss = new_loss("hinge", cost=1.0 - np.eye(N_LABELS))
        solver = new_solver(SDCACRF, problem, loss="hinge")
        assert len(solver.solver.visitors) == (n_jobs or 1)
        loop = FitMonitor(solver, max_iter=400, tol=1e-6).run()
        assert loop.converged
        primal.append(loop.rows[-1]["primal"])
    assert primal[0] == pytest.approx(primal[1], rel=1e-6)


@pytest.mark.parametrize("acceleration", [None, "proximal_point"])
def test_threads_with_a_threshold_do_what_one_thread_does_in_turn(acceleration, form):
    problem = draw_sparse(form, 3)
    threads, turns = (new_solver(SDCACRF, problem, acceleration) for _ in range(2))
    (turns if acceleration is None else turns.solver).kernel.in_turn = True
    for _ in range(2):
        threads.epoch()
        turns.epoch()
        assert_array_equal(threads.model.w, turns.model.w)


def test_all_threads_make_the_first_expectations(form):
    alone, together = (new_solver(OEGCRF, draw_problem(form, n)) for n in (None, 3))
    assert all(visitor.n_oracle_calls > 0 for visitor in together.visitors)
    assert_array_equal(together.marginals.local, alone.marginals.local)
    assert_array_equal(together.marginals.tied, alone.marginals.tied)
    assert_array_equal(together.entropy, alone.entropy)


def test_workers_draw_from_their_shards_by_gap(form):
    solver = new_solver(SDCACRF, draw_problem(form, 3))
    for _ in range(3):
        solver.epoch()
    for worker, visitor in enumerate(solver.visitors):
        gap = solver.gaps[solver.kernel.worker_of == worker]
        gap /= gap.sum()
        probability, uniform = visitor.sampler.probabilities(), 1.0 / len(gap)
        largest = gap.argmax()
        mix = (probability[largest] - uniform) / (gap[largest] - uniform)
        assert 0.5 < mix <= 1.0
        assert_allclose(probability, mix * gap + (1.0 - mix) * uniform)


def test_one_job_is_what_none_is(form):
    none, one = (new_solver(SDCACRF, draw_problem(form, n)) for n in (None, 1))
    none.epoch()
    one.epoch()
    assert_array_equal(none.model.w, one.model.w)


def test_sigma_prime_is_measured():
    # Sequences i and i + 130 share one feature, and all sequences share the intercept.
    n, rng = 260, np.random.default_rng(0)
    X = sp.csr_array(np.repeat(np.vstack([np.eye(n // 2)] * 2), 2, axis=0))
    data = PackedSequences(X, 2 * np.arange(n + 1))
    labels = rng.integers(0, N_LABELS, 2 * n).astype(np.int32)
    solver = new_solver(
        SDCACRF, Problem(Chain(data, N_LABELS, n_jobs=4), labels, "auto")
    )
    rounds = solver.kernel.rounds
    assert rounds.sigma_prime == {"frequent": 4.0, "rare": 4.0}
    for _ in range(5):
        solver.epoch()
    assert parallel.MARGIN < rounds.sigma_prime["frequent"] <= 4.0
    assert rounds.sigma_prime["rare"] < 2.0


def test_tiers_of_features():
    # Two sequences for each of two workers; no worker has feature 6.
    rows = [[0, 5], [0, 5, 2], [0, 1, 3], [0, 4, 1, 2]]
    indices = np.concatenate(rows).astype(np.int32)
    indptr = np.cumsum([0, *map(len, rows)], dtype=np.int32)
    X = sp.csr_array((np.arange(1.0, 13.0), indices, indptr), shape=(4, 7))
    features = DistinctFeatures(FeatureRows(X), np.arange(5))
    shards = [np.array([0, 1]), np.array([2, 3])]
    partition = FeaturePartition(features, shards, least_frequent=4.0)
    assert_array_equal(partition.shared, [0, 2])
    assert partition.n_frequent == 1
    assert_array_equal(partition.private[0], [5])
    assert_array_equal(partition.private[1], [1, 3, 4])
    assert_array_equal(partition.row[:6], [0, 2, 1, 3, 4, 2])
    assert partition.n_rows == 5
    renumbered = partition.renumber(X)
    assert renumbered.shape == (4, 5)
    assert_array_equal(renumbered.toarray()[3], [9.0, 12.0, 11.0, 0.0, 10.0])


def test_dense_features_are_frequent():
    X = np.random.default_rng(0).normal(size=(9, 3))
    features = DistinctFeatures(FeatureRows(X), np.array([0, 2, 5, 9]))
    shards = [np.array([0]), np.array([1, 2])]
    partition = FeaturePartition(features, shards, least_frequent=3.0)
    assert_array_equal(partition.shared, [0, 1, 2])
    assert partition.n_frequent == 3
    assert [len(private) for private in partition.private] == [0, 0]
    assert partition.renumber(X) is X


@pytest.mark.parametrize("boundaries", [True, False])
def test_chains_of_one_node_and_long_before_short(boundaries):
    rng = np.random.default_rng(0)
    lengths = np.r_[np.full(8, 40 if boundaries else 1), np.ones(200, dtype=int)]
    X = rng.normal(size=(lengths.sum(), 4))
    labels = X[:, 0] > 0
    X = np.split(X, np.cumsum(lengths)[:-1])
    problem = make_problem(X, [labels], 2, boundaries=boundaries, n_jobs=2)
    loop = FitMonitor(new_solver(SDCACRF, problem), max_iter=300, tol=1e-6).run()
    assert loop.converged


def test_a_visit_that_fails_stops_all_and_says_which():
    problem = draw_problem(np.asarray, 3)
    solver = new_solver(SDCACRF, problem)
    solver.entropy[200] = np.nan
    order = np.arange(problem.n_sequences)
    with pytest.raises(ValueError, match="the scores of sequence 200 "):
        solver.kernel.epoch_in_order(order)


def test_threads_that_cannot_be_started_stop_the_others(monkeypatch):
    class Short(ThreadPoolExecutor):
        def submit(self, *arguments):
            if self._threads:
                raise RuntimeError("can't start new thread")
            return super().submit(*arguments)

    monkeypatch.setattr(parallel, "ThreadPoolExecutor", Short)
    solver = new_solver(SDCACRF, draw_problem(np.asarray, 2))
    n_threads = threading.active_count()
    with pytest.raises(RuntimeError, match="start new thread"):
        solver.epoch()
    assert threading.active_count() == n_threads


@pytest.mark.parametrize("worker", [0, 1, 2])
def test_a_worker_that_fails_before_its_first_visit_stops_all(worker):
    solver = new_solver(SDCACRF, draw_problem(np.asarray, 3))
    visits = [(np.zeros((5, 2)), None) for _ in range(3)]
    visits[worker] = ("neither", None)
    with pytest.raises(TypeError):
        solver.kernel._run(visits)


def test_workers_go_on_after_they_were_stopped():
    problem = draw_problem(np.asarray, 2)
    solver = new_solver(SDCACRF, problem)
    solver.kernel.rounds.abort()
    solver.epoch()
    w = problem.dual_to_primal(solver.marginals.local, solver.renormalize())
    assert_allclose(solver.model.w, w, rtol=0, atol=2e-5)


def test_workers_go_on_from_the_weights_after_an_error():
    problem = draw_problem(np.asarray, 2)
    solver = new_solver(SDCACRF, problem)

    def what_of_mu():
        return problem.dual_to_primal(solver.marginals.local, solver.renormalize())

    solver.epoch()
    uniforms = np.random.default_rng(0).random((5, 2))
    with pytest.raises(TypeError):
        solver.kernel._run([(uniforms, None), ("neither", None)])
    # The visits of the first worker changed mu and its local weights, but not w.
    missing = what_of_mu() - solver.model.w
    assert np.abs(missing).max() > 1e-3
    solver.epoch()
    assert_allclose(what_of_mu() - solver.model.w, missing, rtol=0, atol=2e-5)


@given(
    lengths=st.lists(st.integers(0, 50), min_size=1, max_size=40),
    n_shards=st.integers(1, 40),
)
def test_shards_are_alike(lengths, n_shards):
    lengths, n_shards = np.array(lengths), min(n_shards, len(lengths))
    shards = equal_shards(lengths, n_shards)
    assert len(shards) == n_shards
    assert_array_equal(np.sort(np.concatenate(shards)), np.arange(len(lengths)))
    sizes = [len(shard) for shard in shards]
    assert max(sizes) - min(sizes) <= 1
    work = [lengths[shard].sum() for shard in shards]
    assert max(work) - min(work) <= lengths.max()
    assert all((np.diff(shard) > 0).all() for shard in shards)


def test_long_sequences_are_dealt_out():
    lengths = np.array([1, 90, 80, 70, 60, 2, 3, 4])
    shards = equal_shards(lengths, 2)
    assert_array_equal(shards[0], [0, 1, 4, 7])
    assert_array_equal(shards[1], [2, 3, 5, 6])


@pytest.mark.parametrize(
    ("n_jobs", "n_sequences", "number"),
    [(None, 10_000, 1), (1, 10_000, 1), (4, 10_000, 4), (4, 200, 3), (4, 5, 1)],
)
def test_number_of_workers(n_jobs, n_sequences, number):
    assert n_workers(n_jobs, n_sequences) == number


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_warm_start_and_constraints(estimator):
    rng = np.random.default_rng(0)
    y = [rng.choice(["O", "B-X"], 5).tolist() for _ in range(150)]
    X = [[{"a": label, "b": float(rng.normal())} for label in labels] for labels in y]
    y[0][:2] = "B-X", "I-X"
    crf = estimator(transitions="BIO", warm_start=True, random_state=0, n_jobs=2)
    crf.fit(X, y)
    gap = crf.duality_gap_
    crf.set_params(tol=1e-6).fit(X, y)
    assert crf.duality_gap_ < gap
    assert crf.duality_gap_ <= crf.gap_target_
