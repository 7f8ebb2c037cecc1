"""SAG on several threads: the target is w_hat(mu), optimum and bits are kept."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from workers import FORMS, draw_problem, draw_sparse

from pairs import by_pairs
from samples import make_problem
from skcrf_sdca import SAGNUSCRF
from skcrf_sdca.solvers import parallel
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.partition import equal_shards
from skcrf_sdca.solvers.sag import SAG

VARIANTS = {
    "sag-nus": {},
    "no skipping": {"line_search_skipping": False},
    "sag": {"sampling": "uniform"},
    "saga": {"saga": True},
}
DRAW = {"l2": draw_problem, "elastic net": draw_sparse}


@pytest.fixture(params=FORMS.values(), ids=FORMS)
def form(request):
    return request.param


@pytest.fixture(params=VARIANTS.values(), ids=VARIANTS)
def variant(request):
    return request.param


def new_solver(problem, seed=0, **options):
    return SAG(problem, np.random.default_rng(seed), **options)


def w_hat(solver):
    problem, mu = solver.problem, solver.marginals
    return problem.dual_to_primal(mu.local, mu.tied_total(problem.weight))


@by_pairs({"n_jobs": [2, 3], "form": FORMS, "variant": VARIANTS})
def test_the_target_is_that_of_the_marginals(n_jobs, form, variant):
    solver = new_solver(draw_problem(FORMS[form], n_jobs), **VARIANTS[variant])
    assert len(solver.kernel.visitors) == n_jobs
    for _ in range(3):
        solver.epoch()
        assert_allclose(solver.target.w, w_hat(solver), rtol=0, atol=1e-12)
    assert (solver.visited > 0).sum() > 200


def test_rounds_have_as_many_visits_as_they_are_to_have():
    """Sequences of other lengths do not make them longer, in the mean."""
    problem = draw_problem(FORMS["sparse"], 3, n_sequences=360)
    solver, n_rounds = new_solver(problem, sampling="uniform"), []
    for _ in range(10):
        solver.epoch()
        n_rounds.append(solver.kernel.rounds.n_rounds)
    # The slowest worker makes the last rounds.
    assert 1.0 <= np.mean(n_rounds) / parallel.FEWEST_SAG_ROUNDS < 1.08


@pytest.mark.slow
@by_pairs({"draw": DRAW, "form": FORMS, "variant": VARIANTS})
def test_the_optimum_is_that_of_one_thread(draw, form, variant):
    draw, form, variant = DRAW[draw], FORMS[form], VARIANTS[variant]
    alone, together = (
        FitMonitor(new_solver(draw(form, n), **variant), max_iter=400, tol=1e-9).run()
        for n in (None, 3)
    )
    assert alone.converged
    assert together.converged
    primal = [loop.rows[-1]["primal"] for loop in (alone, together)]
    assert primal[0] == pytest.approx(primal[1], rel=1e-8)


@by_pairs({"draw": DRAW, "form": FORMS, "variant": VARIANTS})
def test_threads_do_what_one_thread_does_in_turn(draw, form, variant):
    problem, options = DRAW[draw](FORMS[form], 3), VARIANTS[variant]
    threads, again, turns = (new_solver(problem, **options) for _ in range(3))
    turns.kernel.in_turn = True
    for _ in range(2):
        for solver in (threads, again, turns):
            solver.epoch()
        for solver in (again, turns):
            assert_array_equal(threads.model.w, solver.model.w)
            assert_array_equal(threads.target.w, solver.target.w)
            assert_array_equal(threads.lipschitz, solver.lipschitz)


# Aggregated weights are linear in the changes, however often rows are aggregated.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("rare_per_round", "frequent"), [(1, 0.1), (5, 0.025), (1, 5.0), (1, 0.0)]
)
def test_the_optimum_is_reached_however_rows_are_aggregated(
    rare_per_round, frequent, monkeypatch
):
    best = FitMonitor(
        new_solver(draw_problem(sp.csr_array)), max_iter=400, tol=1e-9
    ).run()
    monkeypatch.setattr(parallel, "RARE_PER_ROUND", rare_per_round)
    monkeypatch.setattr(parallel, "FREQUENT", frequent)
    solver = new_solver(draw_problem(sp.csr_array, 3))
    loop = FitMonitor(solver, max_iter=400, tol=1e-9).run()
    assert loop.converged
    assert loop.rows[-1]["primal"] == pytest.approx(best.rows[-1]["primal"], rel=1e-8)
    assert_allclose(solver.target.w, w_hat(solver), rtol=0, atol=1e-12)


def draw_alike(n_jobs):
    """Return a problem whose sequences all pull the weights the same way."""
    rng, W = np.random.default_rng(0), np.random.default_rng(1).normal(size=(20, 3))
    X = 1.0 + rng.normal(size=(1100, 4, 20))
    y = (X @ W + rng.gumbel(size=(1100, 4, 3))).argmax(axis=2).astype(np.int32)
    return make_problem(list(X), list(y), 3, n_jobs=n_jobs)


# If SAGA counted its unbiased parts 16 times, it would not converge here.
def test_sixteen_workers_need_few_more_epochs(variant):
    alone, together = (new_solver(draw_alike(n), **variant) for n in (None, 16))
    together.kernel.in_turn = True
    epochs = []
    for solver in (alone, together):
        loop = FitMonitor(solver, max_iter=60, tol=1e-3).run()
        assert loop.converged
        epochs.append(loop.rows[-1]["epoch"])
    assert epochs[1] <= 1.3 * epochs[0]


def test_a_warm_start_goes_on(form):
    first = new_solver(draw_problem(form, 3))
    first.epoch()
    gap = first.certify().gap
    for _ in range(12):
        first.epoch()
    for n_jobs in (3, None):
        again = new_solver(draw_problem(form, n_jobs), state=first.state())
        again.epoch()
        assert again.certify().gap < 0.01 * gap


@pytest.mark.parametrize("n_jobs", [None, 3])
def test_a_visit_that_fails_stops_all_and_leaves_no_moves(n_jobs, variant):
    solver = new_solver(draw_problem(sp.csr_array, n_jobs), **variant)
    solver.epoch()
    # Of a rare feature: some rounds make moves before a visit reads its weights.
    w = np.zeros_like(solver.model.w)
    solver.problem.new_parameters(w).coef[-1] = np.nan
    solver.start_at(w)
    with pytest.raises(ValueError, match="the scores of sequence "):
        solver.epoch()
    w = np.random.default_rng(0).normal(size=w.shape)
    solver.start_at(w)
    solver.kernel.epoch(np.zeros((0, 2)))
    assert_array_equal(solver.model.w, w)
    solver.epoch()
    assert np.isfinite(solver.model.w).all()


# The sequences of one shard alone have features that need short steps.
def test_the_constant_is_the_largest_of_all_shards():
    rng, y = np.random.default_rng(0), np.tile([0, 1, 2, 0], (300, 1))
    X = 0.1 * rng.normal(size=(300, 4, 5))
    for shard in equal_shards(np.full(300, 4), 3):
        own = X.copy()
        own[shard] *= 30.0
        found = []
        for n_jobs in (None, 3):
            problem = make_problem(list(own), list(y), 3, n_jobs=n_jobs)
            solver = new_solver(problem, sampling="uniform")
            solver.epoch()
            found.extend(solver.lipschitz)
        assert found[0] / 4.0 < found[1] < 4.0 * found[0]
    assert [values[0] for _, values, _ in solver.shards] == found[1:] * 3


def test_other_targets_move_the_weights():
    problem = draw_problem(np.asarray, 2)
    solver = new_solver(problem)
    solver.epoch()
    problem.targets.labels = np.roll(problem.targets.labels, 1)
    solver.targets_changed()
    for _ in range(2):
        solver.epoch()
        assert_allclose(solver.target.w, w_hat(solver), rtol=0, atol=1e-12)


def test_a_fit_by_threads_has_the_same_bits_again():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 3)) for _ in range(200)]
    y = [(x[:, 0] > 0).astype(int).tolist() for x in X]
    first, again = (
        SAGNUSCRF(random_state=0, n_jobs=2).fit(X, y).coef_ for _ in range(2)
    )
    assert_array_equal(first, again)
