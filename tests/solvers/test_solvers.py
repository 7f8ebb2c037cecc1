"""The solvers: compiled epochs against their twins, and invariants of every run."""

import re
import warnings
from functools import partial
from itertools import count, pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import entr
from sklearn.exceptions import ConvergenceWarning

from pairs import by_pairs
from samples import inconsistency, make_problem, make_solver, node_scores
from skcrf_sdca import OEGCRF, SDCACRF
from skcrf_sdca._kernels.features._features import DistinctFeatures
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.objective.penalties import elastic_net
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.solvers.monitor import FitMonitor, Observer
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.samplers import SchemeNames
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.structures.chain import oracle
from skcrf_sdca.structures.chain.structure import Chain
from twins import OEGTwin, SAGTwin, SDCATwin, markov_chain

N_LABELS = 3


def draw_problem(seed=0, n_sequences=20, length=(1, 6), alpha="auto", **arguments):
    X, y = make_chains(
        n_sequences,
        n_labels=N_LABELS,
        n_features=4,
        length=length,
        random_state=seed,
        **arguments,
    )
    return make_problem(X, y, N_LABELS, alpha)


make_sdca = partial(make_solver, SDCA, dual_dtype="float64")
make_oeg = partial(make_solver, OEG)
make_sag = partial(make_solver, SAG)
DUAL_SOLVERS = {"sdca": make_sdca, "oeg": make_oeg}
STOCHASTIC_SOLVERS = DUAL_SOLVERS | {"sag": make_sag}


@pytest.fixture(params=sorted(DUAL_SOLVERS))
def make_dual(request):
    return DUAL_SOLVERS[request.param]


@pytest.fixture(params=sorted(STOCHASTIC_SOLVERS))
def make_stochastic(request):
    return STOCHASTIC_SOLVERS[request.param]


@pytest.fixture(scope="module")
def problem():
    return draw_problem()


@pytest.fixture(scope="module")
def optimum(problem):
    solver = LBFGS(problem, None, max_iter=1000)
    FitMonitor(solver, max_iter=1000, tol=1e-13).run()
    return solver


def dense_sequences(problem):
    """Return X and y as lists, for a twin."""
    X, y = [], []
    for b, e in zip(problem.offsets[:-1], problem.offsets[1:], strict=True):
        rows = problem.data.X[b:e]
        X.append(rows.toarray() if problem.data.is_sparse else rows)
        y.append(problem.targets.labels[b:e])
    return X, y


def gaps_of(solver):
    """Return KL(mu_i || p(. | x_i; w)) of a dual solver, sequence by sequence."""
    problem, model, node = solver.problem, solver.model, solver.marginals.local
    scores = node_scores(problem, model)
    log_z = oracle.log_partition(scores, model.transition, problem.offsets)
    gaps = log_z - solver.entropy
    for i, (b, e) in enumerate(pairwise(problem.offsets)):
        if isinstance(solver, SDCA):
            edges = markov_chain(node[b:e], solver.marginals[i][1])[1].sum(axis=0)
        else:
            edges = solver.marginals.tied[i]
        gaps[i] -= (node[b:e] * scores[b:e]).sum() + (edges * model.transition).sum()
    return gaps


def make_twin(problem, tolerance):
    X, y = dense_sequences(problem)
    return SDCATwin(
        X, y, N_LABELS, problem.alpha, mix=0.8, tolerance=tolerance, smoothing=1e-6
    )


@pytest.mark.parametrize("length", [1, 2, 3, (1, 6)])
@pytest.mark.parametrize("density", [1.0, 0.5])
def test_epoch_equals_its_twin(length, density):
    problem = draw_problem(seed=3, length=length, density=density)
    solver = make_sdca(problem, line_search_tol=1e-6)
    twin = make_twin(problem, tolerance=1e-6)
    assert_allclose(solver.model.w, twin.w, rtol=0, atol=1e-12)
    rng = np.random.default_rng(7)
    for _ in range(2):
        uniforms = rng.random((problem.n_sequences, 2))
        solver.kernel.epoch(uniforms)
        twin.epoch(uniforms)
        assert_allclose(solver.model.w, twin.w, rtol=0, atol=1e-10)
        assert_allclose(solver.gaps, twin.gaps, rtol=0, atol=1e-10)
    for i in range(problem.n_sequences):
        node, edge = solver.marginals[i]
        assert_allclose(node, twin.node[i], rtol=0, atol=1e-10)
        assert_allclose(edge, twin.edge[i], rtol=0, atol=1e-10)


def test_search_in_single_precision_finds_the_same_steps(problem):
    solver = make_sdca(problem, line_search_tol=1e-3)
    twin = make_twin(problem, tolerance=1e-3)
    uniforms = np.random.default_rng(7).random((problem.n_sequences, 2))
    solver.kernel.epoch(uniforms)
    twin.epoch(uniforms)
    assert_allclose(solver.model.w, twin.w, rtol=0, atol=1e-5)
    assert_allclose(solver.gaps, twin.gaps, rtol=1e-4)


@pytest.mark.parametrize("sampling", sorted(SchemeNames("oeg")))
@pytest.mark.parametrize("line_search", ["newton", "fixed"])
def test_what_holds_after_every_epoch(problem, sampling, line_search):
    step = 0.2 if line_search == "fixed" else None
    solver = make_sdca(problem, sampling=sampling, line_search=line_search, step=step)
    dual = -np.inf
    for _ in range(15):
        solver.epoch()
        certificate = solver.certify()
        marginals = solver.marginals
        # w follows the marginals: it equals w_hat(mu) computed from them.
        w = problem.dual_to_primal(solver.marginals.local, solver.renormalize())
        assert_allclose(solver.model.w, w, rtol=0, atol=1e-11)
        assert inconsistency(marginals) < 1e-12
        assert_allclose(solver.entropy, marginals.entropy(), rtol=0, atol=1e-11)
        gaps = gaps_of(solver)
        assert (gaps >= -1e-12).all()
        assert_allclose(certificate.gap, problem.weight @ gaps, rtol=1e-9, atol=1e-12)
        assert_allclose(
            certificate.gap, certificate.primal - certificate.dual, rtol=0, atol=1e-9
        )
        if line_search == "newton":
            assert certificate.dual >= dual - 1e-12
        dual = certificate.dual


@pytest.mark.parametrize("init_score", [0.0, 3.0, 14.0])
@pytest.mark.parametrize("alpha", ["auto", 0.02])
def test_epoch_of_oeg_equals_its_twin(init_score, alpha):
    problem = draw_problem(seed=5, length=(1, 5), alpha=alpha)
    solver = make_oeg(problem, sampling="uniform", init_score=init_score, step_init=0.5)
    twin = OEGTwin(
        *dense_sequences(problem),
        N_LABELS,
        problem.alpha,
        at_nodes=init_score,
        at_edges=0.0,
        first_step=0.5,
    )
    order = solver._unvisited
    for max_halvings in (2, 5, 5, 5):
        # The package's own draws: a permutation first, then positions.
        state = solver.rng.bit_generator.state
        solver.epoch()
        if max_halvings == 5:
            solver.rng.bit_generator.state = state
            positions = solver.rng.random((problem.n_sequences, 2))[:, 1]
            order = (positions * problem.n_sequences).astype(int)
        for i in order:
            twin.visit(i, max_halvings)
        # The natural parameters have single precision.
        assert_allclose(solver.model.w, twin.w, rtol=0, atol=1e-5)
        assert_allclose(solver.steps, twin.steps, rtol=1e-12)


@by_pairs(
    {
        "changes": [{}, {"line_search_skipping": False}, {"saga": True}],
        "sampling": sorted(SchemeNames("sag")),
        "density": [1.0, 0.5],
        "length": [1, 2, (1, 6)],
    }
)
def test_epoch_of_sag_equals_its_twin(length, density, sampling, changes):
    problem = draw_problem(seed=3, length=length, density=density)
    solver = make_sag(problem, sampling=sampling, **changes)
    X, y = dense_sequences(problem)
    own = sampling == "lipschitz"
    twin = SAGTwin(
        X,
        y,
        N_LABELS,
        problem.alpha,
        mix=0.5,
        own=own,
        skipping=changes.get("line_search_skipping", True),
        saga=changes.get("saga", False),
    )
    rng = np.random.default_rng(7)
    for _ in range(2):
        uniforms = rng.random((problem.n_sequences, 2))
        solver.kernel.epoch(uniforms)
        twin.epoch(uniforms)
        assert_allclose(solver.model.w, twin.w, rtol=0, atol=1e-10)
        assert_allclose(solver.lipschitz, twin.L if own else twin.L[:1], rtol=1e-10)
        assert (solver.visited == twin.seen).all()


@pytest.mark.parametrize("skipping", [False, True])
def test_a_first_constant_that_is_too_large_falls_at_every_visit(problem, skipping):
    # [Schmidt15, Alg. 1, line 17]
    solver = make_sag(problem, sampling="uniform", line_search_skipping=skipping)
    solver.lipschitz[:] = 2.0**40
    for n_epochs in range(1, 21):
        solver.epoch()
        assert_allclose(solver.lipschitz, 2.0 ** (40 - n_epochs), rtol=1e-12)


def test_what_holds_after_every_epoch_of_sag(problem):
    solver = make_sag(problem)
    for _ in range(15):
        solver.epoch()
        # The target is w_hat(mu) of marginals whose nodes sum to 1.
        edge_total = solver.marginals.tied_total(problem.weight)
        expected = problem.dual_to_primal(solver.marginals.local, edge_total)
        assert_allclose(solver.target.w, expected, rtol=0, atol=1e-11)
        assert_allclose(solver.marginals.local.sum(axis=1), 1.0, rtol=0, atol=1e-12)
        certificate = solver.certify()
        _, alone = problem.certify_primal(solver.model.w)
        assert certificate.primal == alone.primal
        assert certificate.gap <= alone.gap


@pytest.mark.parametrize("sampling", sorted(SchemeNames("sag")))
@pytest.mark.parametrize("saga", [False, True])
@pytest.mark.parametrize("skipping", [False, True])
def test_sag_ends_at_the_optimum(problem, optimum, sampling, saga, skipping):
    solver = make_sag(
        problem, sampling=sampling, saga=saga, line_search_skipping=skipping
    )
    loop = FitMonitor(solver, max_iter=3000, tol=1e-12).run()
    assert loop.converged
    assert_allclose(solver.model.w, optimum.model.w, rtol=0, atol=1e-4)
    assert_allclose(loop.rows[-1]["primal"], optimum.certify().primal, rtol=1e-10)


@pytest.mark.parametrize("sampling", sorted(SchemeNames("sag")))
@pytest.mark.parametrize("saga", [False, True])
def test_sag_ignores_what_has_no_gradient(sampling, saga):
    """Sequences that are empty or without weight do not change the constants."""
    problem = draw_problem()
    weight = np.ones(40)
    weight[20:37] = 0.0
    lengths = np.diff(problem.offsets)
    again = np.concatenate([problem.data.X, problem.data.X])[: problem.offsets[-1] * 2]
    rows = np.split(again, np.cumsum(np.tile(lengths, 2))[:-1])
    rows[37:] = [np.zeros((0, rows[0].shape[1]))] * 3
    labels = np.tile(problem.targets.labels, 2)[: sum(map(len, rows))]
    padded = make_problem(rows, [labels], N_LABELS, 0.05, sample_weight=weight)
    reference = LBFGS(padded, None, max_iter=1000)
    FitMonitor(reference, max_iter=1000, tol=1e-12).run()
    loop = FitMonitor(
        make_sag(padded, sampling=sampling, saga=saga), max_iter=1000, tol=1e-9
    ).run()
    assert loop.converged
    best = reference.certify().primal
    assert_allclose(loop.rows[-1]["primal"], best, rtol=0, atol=1e-7)


@pytest.mark.parametrize("n_sequences", [1, 2, 3])
@pytest.mark.parametrize("alpha", [1.0, 0.1, 1e-2])
@pytest.mark.parametrize("sampling", sorted(SchemeNames("sag")))
def test_sag_ends_with_a_few_sequences_too(n_sequences, alpha, sampling):
    problem = draw_problem(n_sequences=n_sequences, length=5, alpha=alpha)
    reference = LBFGS(problem, None, max_iter=1000)
    FitMonitor(reference, max_iter=1000, tol=1e-12).run()
    loop = FitMonitor(
        make_sag(problem, sampling=sampling), max_iter=20000, tol=1e-6
    ).run()
    assert loop.converged
    best = reference.certify().primal
    assert abs(loop.rows[-1]["primal"] - best) <= loop.target


@pytest.mark.parametrize("seed", [18, 2627, 2739])
def test_sag_goes_on_after_the_objective_has_risen(seed):
    """In these runs P rises over some epochs, as a sequence has no recent visit."""
    problem = draw_problem(n_sequences=6, alpha=0.1)
    solver = SAG(problem, np.random.default_rng(seed))
    loop = FitMonitor(solver, max_iter=100, tol=1e-3).run()
    assert loop.converged


def test_constants_do_not_depend_on_alpha():
    """Constants that a search finds at a large alpha are valid at a small one."""
    large = make_sag(draw_problem(alpha=1e3))
    FitMonitor(large, max_iter=10, tol=0.0).run()
    problem = draw_problem(alpha=0.05)
    epochs = [
        len(
            FitMonitor(make_sag(problem, state=state), max_iter=500, tol=1e-8)
            .run()
            .rows
        )
        for state in (large.state(), None)
    ]
    assert epochs[0] <= 1.5 * epochs[1]


def test_the_sampler_of_a_warm_start_knows_the_constants(problem):
    first = make_sag(problem)
    for _ in range(5):
        first.epoch()
    again = make_sag(problem, state=first.state())
    constants = np.where(first.visited, first.lipschitz, 0.0)
    expected = 0.5 * constants / constants.sum() + 0.5 / problem.n_sequences
    assert_allclose(again.kernel.sampler.probabilities(), expected, rtol=1e-10)


@pytest.mark.parametrize(
    "make", [make_sag, lambda p, **k: LBFGS(p, None, max_iter=9, **k)]
)
def test_warm_start_without_boundaries_has_no_weights_for_them(make):
    X, y = make_chains(20, n_labels=N_LABELS, n_features=4, length=1, random_state=0)
    first = make(make_problem(X, y, N_LABELS, 0.1))
    FitMonitor(first, max_iter=3, tol=0.0).run()
    assert first.model.start.any()
    table = make_problem(X, y, N_LABELS, 0.1, boundaries=False)
    again = make(table, state=first.state())
    FitMonitor(again, max_iter=3, tol=0.0).run()
    assert not again.model.start.any()
    assert not again.model.end.any()


def test_skipping_saves_searches(problem):
    calls = []
    for skipping in (False, True):
        solver = make_sag(problem, line_search_skipping=skipping)
        for _ in range(30):
            solver.epoch()
        calls.append(solver.n_oracle_calls / solver.n_updates)
    assert calls[0] > calls[1]
    assert calls[1] >= 1.0


def test_without_searches_an_update_is_an_oracle_call(problem):
    solver = make_sag(problem)
    solver.epoch()
    before = solver.n_oracle_calls
    constants = solver.lipschitz.copy()
    np.asarray(solver.kernel.constants.to_skip)[:] = problem.n_sequences
    solver.epoch()
    assert solver.n_oracle_calls - before == problem.n_sequences
    known = solver.visited & (constants != 1.0)
    assert (solver.lipschitz[known > 0] == constants[known > 0]).all()


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
def test_many_moves_do_not_underflow(alpha):
    """At a large alpha every visit halves the weights: their scale ends at 2^-n."""
    problem = draw_problem(n_sequences=2000, length=2, alpha=alpha)
    solver = make_sag(problem)
    loop = FitMonitor(solver, max_iter=200, tol=1e-8).run()
    assert loop.converged
    assert np.isfinite(solver.model.w).all()


@pytest.mark.parametrize("sampling", sorted(SchemeNames("oeg")))
def test_what_holds_after_every_epoch_of_oeg(problem, sampling):
    solver = make_oeg(problem, sampling=sampling)
    dual = -np.inf
    for _ in range(15):
        solver.epoch()
        certificate = solver.certify()
        w = problem.dual_to_primal(solver.marginals.local, solver.renormalize())
        assert_allclose(solver.model.w, w, rtol=0, atol=1e-11)
        # The stored marginals and entropies are those of the natural parameters.
        for i, (b, e) in enumerate(
            zip(problem.offsets[:-1], problem.offsets[1:], strict=True)
        ):
            marginals, _ = oracle.marginals(
                solver.theta.local[b:e], solver.theta.tied[i]
            )
            assert_allclose(solver.marginals.local[b:e], marginals.node, atol=1e-13)
            assert_allclose(
                solver.marginals.tied[i], marginals.edge.sum(axis=0), atol=1e-12
            )
            assert_allclose(solver.entropy[i], marginals.entropy()[0], atol=1e-11)
        gap = certificate.primal - certificate.dual
        assert_allclose(certificate.gap, gap, rtol=0, atol=1e-9)
        assert certificate.dual >= dual - 1e-12
        dual = certificate.dual


def test_the_gaps_of_oeg_are_the_divergences(problem):
    solver = make_oeg(problem)
    solver.epoch()
    # A visit that may not move anything only measures the gap.
    solver.kernel.max_halvings = -1
    weights = solver.model.w.copy()
    solver.kernel.epoch_in_order(np.arange(problem.n_sequences))
    assert (solver.model.w == weights).all()
    recorded = solver.gaps.copy()
    solver.certify()
    assert_allclose(recorded, gaps_of(solver), rtol=0, atol=1e-10)


@pytest.mark.parametrize("sampling", sorted(SchemeNames("oeg") - {"max"}))
def test_dual_solvers_end_at_the_optimum(problem, optimum, sampling, make_dual):
    solver = make_dual(problem, sampling=sampling)
    loop = FitMonitor(solver, max_iter=3000, tol=1e-12).run()
    assert loop.converged
    assert_allclose(solver.model.w, optimum.model.w, rtol=0, atol=1e-4)
    primal = optimum.certify().primal
    assert_allclose(loop.rows[-1]["primal"], primal, rtol=1e-10)


@pytest.mark.parametrize("length", [1, 2, (1, 6)])
def test_single_precision_certifies_to_the_last_digits(length):
    """Edges are rounded, but the certificate is that of renormalized marginals."""
    problem = draw_problem(n_sequences=40, length=length)
    best = LBFGS(problem, None, max_iter=1000)
    FitMonitor(best, max_iter=1000, tol=1e-14).run()
    best = best.certify().primal
    solver = make_sdca(problem, dual_dtype="float32")
    assert solver.marginals.edge.dtype == np.float32
    loop = FitMonitor(solver, max_iter=1000, tol=1e-12).run()
    assert loop.converged
    for row in loop.rows:
        assert_allclose(row["gap"], row["primal"] - row["dual"], rtol=0, atol=1e-13)
        assert row["dual"] <= best + 1e-13
    assert_allclose(loop.rows[-1]["primal"], best, rtol=0, atol=1e-11)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("size", "alpha", "step"),
    [
        (1e3, 1e-3, None),
        (1e4, 1 / 30, None),
        (1e5, 1 / 30, None),
        (10.0, 1 / 30, 0.5),
        (10.0, 1e-3, 0.05),
    ],
)
def test_entropy_where_the_target_is_out_of_reach(size, alpha, step, dtype):
    """The logarithm of a target below 1e-30 is not computed and must not be used."""
    small = draw_problem(n_sequences=30, length=(1, 6))
    data = PackedSequences(small.data.X * size, small.data.offsets)
    problem = Problem(Chain(data, N_LABELS), small.targets.labels, alpha)
    search = "newton" if step is None else "fixed"
    solver = make_sdca(problem, line_search=search, step=step, dual_dtype=dtype)
    for _ in range(3):
        solver.epoch()
        entropy = solver.marginals.entropy()
        digits = 1e-9 if dtype == "float64" else 2e-4
        assert_allclose(solver.entropy, entropy, rtol=0, atol=digits)


def settled(solver):
    """Return a list that gets an entry whenever the marginals are settled."""
    calls, certify = [], solver.certify
    solver.certify = lambda: calls.append("settled") or certify()
    return calls


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_certificates_far_from_the_optimum_are_right_but_for_rounding(problem, dtype):
    solver = make_sdca(problem, dual_dtype=dtype)
    calls = settled(solver)
    digits = 1e-6 if dtype == "float32" else 1e-12
    for _ in range(5):
        solver.kernel.epoch_in_order(np.arange(0, problem.n_sequences, 4))
        kept = solver.certify_epoch(tol=0.0)
        assert not calls
        exact = solver.certify()
        calls.clear()
        for name in ("primal", "dual", "gap"):
            value = getattr(exact, name)
            assert_allclose(getattr(kept, name), value, rtol=0, atol=digits)


def test_a_certificate_that_ends_the_run_has_no_rounding_of_the_visits(problem):
    solver = make_sdca(problem, dual_dtype="float32")
    loop = FitMonitor(solver, max_iter=100, tol=0.1).run()
    assert loop.converged
    assert solver.n_kept
    last, w = loop.rows[-1], solver.model.w.copy()
    primal = problem.primal(w, problem.mean_loss(w))
    assert_allclose(last["primal"], primal, rtol=1e-14)
    solver._set_point(solver.renormalize())
    assert_allclose(w, solver.model.w, rtol=0, atol=1e-5)
    assert_allclose(last["dual"], solver.recorded_dual(), rtol=1e-12)


def test_marginals_far_from_the_optimum_are_settled_now_and_then(problem):
    solver = make_sdca(problem)
    calls = settled(solver)
    solver.epoch()
    for _ in range(30):
        solver.certify_epoch(tol=0.0)
    assert len(calls) == 3


def test_long_chains_in_single_precision_follow_double():
    X, y = make_chains(2, n_labels=16, n_features=4, length=2_000, random_state=0)
    problem = make_problem(X, y, 16, 0.5)
    duals = []
    for dtype in ("float32", "float64"):
        solver = make_sdca(problem, dual_dtype=dtype)
        for _ in range(3):
            solver.kernel.epoch_in_order(np.arange(2))
        assert_allclose(solver.entropy, solver.marginals.entropy(), rtol=1e-5)
        duals.append(solver.certify().dual)
    assert_allclose(duals[0], duals[1], rtol=1e-4)


def test_single_precision_follows_double(problem):
    uniforms = np.random.default_rng(7).random((problem.n_sequences, 2))
    solvers = [make_sdca(problem, dual_dtype=dtype) for dtype in ("float32", "float64")]
    for _ in range(3):
        for solver in solvers:
            solver.kernel.epoch(uniforms)
    single, double = solvers
    assert_allclose(single.model.w, double.model.w, rtol=0, atol=1e-4)
    # w changes by the exact step of the marginals, not by the rounded one.
    kept = single.model.w.copy()
    single.certify()
    assert_allclose(kept, single.model.w, rtol=0, atol=1e-5)


def test_small_gaps_keep_their_digits_in_single_precision(problem):
    """Recorded gaps stay precise where log Z - H has lost all digits.

    A gap is of second order in the differences of marginals, whose rounding thus has an
    error of about the root of the gap times that of a number.
    """
    rounding = np.finfo(np.float32).eps / 2
    solver = make_sdca(problem, dual_dtype="float32")
    FitMonitor(solver, max_iter=1000, tol=1e-9).run()
    for i in range(problem.n_sequences):
        solver.certify()
        gaps = gaps_of(solver)
        solver.kernel.epoch_in_order(np.array([i], dtype=np.intp))
        gap = gaps[i]
        error = 4 * rounding * np.sqrt(max(gap, 0.0)) + 1e-13
        assert_allclose(solver.gaps[i], gap, rtol=0, atol=error)
    assert solver.gaps.max() > 1e-10


@pytest.mark.parametrize(
    ("alpha", "dtype"), [(1.0, "float32"), (1e-4, "float32"), (1e-6, "float64")]
)
def test_precision_of_the_dual_follows_alpha(alpha, dtype):
    """The rounding error of the edges enters w divided by n alpha."""
    problem = draw_problem(n_sequences=40, alpha=alpha)
    solver = make_sdca(problem, dual_dtype="auto")
    assert solver.marginals.edge.dtype == dtype


@pytest.mark.parametrize(
    "wrong",
    [
        lambda edge: edge[:-1],
        lambda edge: edge.astype(np.float16),
        np.asfortranarray,
        lambda edge: edge[:, :, :2].copy(),
    ],
)
def test_the_kernel_refuses_edges_that_it_cannot_move(problem, wrong):
    marginals = make_sdca(problem).marginals
    features = DistinctFeatures(problem.structure.rows, problem.offsets)
    kernel = problem.kernel(problem.new_parameters().weights(), features)
    marginals.edge = wrong(marginals.edge)
    with pytest.raises(ValueError, match="it must be of shape"):
        kernel.keep_marginals(marginals)


def test_fixed_step_ends_at_the_optimum(problem, optimum):
    solver = make_sdca(problem, line_search="fixed", step=0.1)
    loop = FitMonitor(solver, max_iter=3000, tol=1e-10).run()
    assert loop.converged
    assert_allclose(
        loop.rows[-1]["primal"], optimum.certify().primal, rtol=0, atol=1e-8
    )


@pytest.mark.parametrize("tolerance", [1e-1, 1e-2, 1e-5])
def test_line_search_precision_does_not_matter_for_convergence(problem, tolerance):
    solver = make_sdca(problem, line_search_tol=tolerance)
    assert FitMonitor(solver, max_iter=3000, tol=1e-10).run().converged


def test_a_step_after_which_the_dual_would_be_smaller_is_halved():
    # Below the threshold of l1 the penalty has no curvature, so that the first step of
    # Newton's method goes too far, and a coarse search ends there.
    chain = Chain(PackedSequences.from_sequences([np.array([[3.0]])]), 2)
    labels, penalty = np.array([0], dtype=np.int32), elastic_net(0.9)
    problem = Problem(chain, labels, 1.0, penalty=penalty)
    solver = make_sdca(problem, line_search_tol=0.5)

    def dual(p):
        """Return the dual where the wrong label of the token has the marginal p."""
        beyond = np.maximum(p * np.array([3.0, 1.0, 1.0, 1.0]) - 0.9, 0.0)
        return entr([p, 1 - p]).sum() - 2 * (beyond**2).sum() / (2 * (1 - 0.9))

    p_before = solver.marginals.local[0, 1]
    solver.kernel.epoch(np.full((1, 2), 0.5))
    p, far = p_before + np.array([0.5, 1.0]) * solver.steps[0] * (0.5 - p_before)
    assert dual(far) < dual(p_before) < dual(p)
    assert_allclose(solver.marginals.local[0, 1], p, rtol=1e-12)
    assert_allclose(solver.certify().dual, dual(p), rtol=1e-12)


def test_the_line_search_needs_few_evaluations(problem):
    solver = make_sdca(problem)
    for _ in range(20):
        solver.epoch()
    assert 1.0 <= solver.kernel.n_evaluations / solver.n_updates <= 3.0


def test_the_gap_bounds_the_distance_from_the_optimum(problem, optimum):
    best = optimum.certify().primal
    solvers = [make(problem) for make in STOCHASTIC_SOLVERS.values()]
    solvers.append(LBFGS(problem, None, max_iter=1000))
    for solver in solvers:
        loop = FitMonitor(solver, max_iter=300, tol=1e-8).run()
        for row in loop.rows:
            assert row["primal"] - best <= row["gap"] + 1e-12
            assert row["dual"] <= best + 1e-12


def test_no_drift_over_many_epochs(problem, make_dual):
    solver = make_dual(problem)
    for _ in range(100):
        solver.epoch()
    kept = solver.model.w.copy()
    solver.certify()
    assert_allclose(kept, solver.model.w, rtol=0, atol=1e-9 * abs(kept).max())
    assert_allclose(solver.marginals.local.sum(axis=1), 1.0, rtol=0, atol=1e-10)


def test_same_seed_same_bits_and_other_seed_other_bits(problem, make_stochastic):
    weights = []
    for seed in (0, 0, 1):
        solver = make_stochastic(problem, seed=seed)
        for _ in range(3):
            solver.epoch()
        weights.append(solver.model.w.tobytes())
    assert weights[0] == weights[1]
    assert weights[0] != weights[2]


def test_the_mean_of_the_recorded_gaps_is_near_the_gap(problem, make_dual):
    solver = make_dual(problem)
    for _ in range(5):
        solver.epoch()
    gap = solver.certify().gap
    assert 0.2 * gap < problem.mean(solver.gaps) < 5 * gap


def test_warm_start_takes_up_the_dual(problem, make_dual):
    first = make_dual(problem)
    loop = FitMonitor(first, max_iter=100, tol=1e-6).run()
    again = make_dual(problem, state=first.state())
    assert_allclose(again.model.w, first.model.w, rtol=0, atol=1e-12)
    assert again.certify().gap <= loop.rows[-1]["gap"] + 1e-12


def mixed_with_labels(solver, problem, rest):
    """Certify rest * mu + (1 - rest) * labels, with mu of a solver."""
    marginals = solver.marginals.copy()
    marginals.shrink_to_labels(problem.targets.labels, keep=rest)
    edge_total, entropy = marginals.renormalize(problem.weight)
    w = problem.dual_to_primal(marginals.node, edge_total)
    return w, problem.certify_dual(w, w, marginals.node, edge_total, entropy)


@pytest.mark.parametrize("ratio", [0.9, 0.5, 0.1, 0.01])
def test_warm_start_at_a_smaller_alpha_has_the_largest_dual_of_mixtures(ratio):
    first = make_sdca(draw_problem(n_sequences=40, alpha=0.1))
    FitMonitor(first, max_iter=300, tol=1e-8).run()
    smaller = draw_problem(n_sequences=40, alpha=0.1 * ratio)
    warm = make_sdca(smaller, state=first.state())
    reached = warm.certify().dual
    assert inconsistency(warm.marginals) < 1e-12
    for rest in np.linspace(ratio, 1.0, 21):
        w, certificate = mixed_with_labels(first, smaller, rest)
        assert reached >= certificate.dual - 1e-9
        assert_allclose(w, rest / ratio * first.model.w, rtol=0, atol=1e-9)


def test_warm_start_at_a_larger_alpha_keeps_the_marginals():
    first = make_sdca(draw_problem(alpha=0.1))
    first.epoch()
    warm = make_sdca(draw_problem(alpha=0.2), state=first.state())
    assert (warm.marginals.edge == first.marginals.edge).all()


def test_warm_start_from_other_data_is_refused(problem, make_stochastic):
    state = make_stochastic(problem).state()
    other = draw_problem(seed=1)
    with pytest.raises(ValueError, match="warm_start=True needs X and y with the same"):
        make_stochastic(other, state=state)
    weights = {"w": np.zeros(3)}
    with pytest.raises(ValueError, match="as many features and labels"):
        LBFGS(problem, None, max_iter=1, state=weights)
    with pytest.raises(ValueError, match="as many features and labels"):
        make_sag(problem, state=make_sag(problem).state() | weights)


@pytest.mark.parametrize(("lengths", "n_labels"), [((2, 3), 3), ((3, 2), 4)])
def test_warm_start_from_other_lengths_or_labels_alone_is_refused(
    make_stochastic, lengths, n_labels
):
    """Each of them is enough: the sequences of the state have 3 and 2 positions."""

    def drawn(lengths, n_labels):
        X = [np.ones((length, 2)) for length in lengths]
        y = [np.arange(length) % n_labels for length in lengths]
        return make_problem(X, y, n_labels, 0.1)

    state = make_stochastic(drawn((3, 2), 3)).state()
    assert make_stochastic(drawn((3, 2), 3), state=state)
    with pytest.raises(ValueError, match="warm_start=True needs X and y with the same"):
        make_stochastic(drawn(lengths, n_labels), state=state)


def test_empty_sequences_count_in_n_and_in_nothing_else(make_stochastic):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(t, 2)) for t in (3, 0, 2)]
    problem = make_problem(X, [[0, 1, 2], [], [1, 0]], 3, 0.1)
    solver = make_stochastic(problem)
    loop = FitMonitor(solver, max_iter=500, tol=1e-11).run()
    reference = LBFGS(problem, None, max_iter=500)
    assert loop.converged
    assert FitMonitor(reference, max_iter=500, tol=1e-11).run().converged
    assert_allclose(
        loop.rows[-1]["primal"], reference.certify().primal, rtol=0, atol=1e-10
    )


def test_one_label_stops_at_once():
    problem = make_problem([np.ones((3, 2)), np.ones((1, 2))], [[0] * 3, [0]], 1, 0.5)
    solvers = [make(problem) for make in STOCHASTIC_SOLVERS.values()]
    solvers.append(LBFGS(problem, None, max_iter=10))
    for solver in solvers:
        loop = FitMonitor(solver, max_iter=10, tol=1e-4).run()
        assert loop.converged
        assert len(loop.rows) == 1
        assert abs(loop.rows[0]["primal"]) < 1e-30
        assert abs(solver.model.w).max() < 1e-15


def test_zero_weight_is_absence(make_stochastic):
    X, y = make_chains(10, n_labels=N_LABELS, n_features=4, random_state=0)
    weight = np.array([1.0, 0.0, 2.0, 1.0, 0.0, 1.0, 1.0, 0.5, 1.0, 1.0])
    kept = np.flatnonzero(weight)
    primals = []
    for chosen in (np.arange(10), kept):
        rows, labels = ([part[i] for i in chosen] for part in (X, y))
        problem = make_problem(
            rows, labels, N_LABELS, 0.1, sample_weight=weight[chosen]
        )
        loop = FitMonitor(make_stochastic(problem), max_iter=1000, tol=1e-12).run()
        primals.append(loop.rows[-1]["primal"])
    assert_allclose(primals[0], primals[1], rtol=1e-10)


class Recorder(Observer):
    def __init__(self, stop_at=None):
        self.calls, self.stop_at = [], stop_at

    def begin_epoch(self):
        self.calls.append("begin")

    def end_epoch(self, row):
        self.calls.append(row["epoch"])
        return row["epoch"] == self.stop_at

    def close(self):
        self.calls.append("close")


def test_observers_are_told_and_can_stop(problem):
    stopper, other = Recorder(stop_at=2), Recorder()
    loop = FitMonitor(
        make_sdca(problem), max_iter=50, tol=0.0, observers=[stopper, other]
    ).run()
    expected = ["begin", 1, "begin", 2, "close"]
    assert stopper.calls == other.calls == expected
    assert loop.stopped
    assert not loop.converged


def test_one_epoch_is_no_plural(problem):
    loop = FitMonitor(make_sdca(problem), max_iter=1, tol=0.0).run()
    assert " after 1 epoch, above" in loop.convergence_message()


def test_history_has_equal_columns_and_counts(problem):
    loop = FitMonitor(make_sdca(problem), max_iter=4, tol=0.0).run()
    assert re.match(
        r"the duality gap is .* after 4 epochs, above", loop.convergence_message()
    )
    history = loop.history()
    assert {len(column) for column in history.values()} == {4}
    assert history["epoch"].tolist() == [1, 2, 3, 4]
    assert history["updates"].tolist() == [1, 2, 3, 4]
    assert history["oracle_calls"].tolist() == [1, 2, 3, 4]
    assert (np.diff(history["seconds"]) > 0).all()


def test_lbfgs_counts_its_evaluations(problem):
    solver = LBFGS(problem, None, max_iter=1000)
    history = FitMonitor(solver, max_iter=1000, tol=1e-6).run().history()
    iterations = np.arange(1, len(history["epoch"]) + 1)
    assert_allclose(history["updates"] * problem.n_sequences, iterations, rtol=1e-12)
    assert (history["oracle_calls"] >= iterations).all()


@pytest.mark.parametrize("name", ["sdca", "oeg", "sag", "lbfgs"])
def test_an_objective_that_is_not_finite_is_an_error(name):
    X = [np.array([[1e200], [-1e200]]), np.array([[-1e200], [1e200]])]
    problem = make_problem(X, [[0, 1], [1, 1]], 2, 1e-8)
    others = {"lbfgs": lambda p: LBFGS(p, None, max_iter=5)}
    make = (STOCHASTIC_SOLVERS | others)[name]
    with pytest.raises(ValueError, match="not finite"):
        FitMonitor(make(problem), max_iter=5, tol=0.0).run()


@pytest.mark.parametrize("scale", [1e2, 1e4, 1e5])
@pytest.mark.parametrize("n_labels", [3, 8, 20])
def test_features_of_any_size_make_progress(scale, n_labels):
    """Steps far below single precision once became NaN."""
    rng = np.random.default_rng(0)
    X = [scale * rng.normal(size=(t, 3)) for t in rng.integers(1, 6, size=30)]
    y = rng.integers(n_labels, size=sum(map(len, X)))
    problem = make_problem(X, [y], n_labels)
    loop = FitMonitor(make_sdca(problem), max_iter=60, tol=0.0).run()
    duals = [row["dual"] for row in loop.rows]
    assert duals[-1] > 0
    assert (np.diff(duals) >= -1e-9 * abs(duals[-1])).all()


@pytest.mark.parametrize("sampling", ["gap", "gap_importance"])
def test_every_sequence_is_visited_soon_however_long(sampling):
    """Long sequences have gaps above 100, the initial value of all in [LePriol18]."""
    problem = draw_problem(n_sequences=60, length=300)
    solver = make_sdca(problem, sampling=sampling)
    start = solver.gaps.copy()
    solver.epoch()
    solver.epoch()
    assert (solver.gaps != start).all()


def test_a_solver_that_gives_up_says_why():
    problem = draw_problem(alpha=1e-9)
    loop = FitMonitor(LBFGS(problem, None, max_iter=3), max_iter=9, tol=1e-12).run()
    assert "L-BFGS: STOP" in loop.convergence_message()


@pytest.mark.parametrize("tol", [0.0, 1e-30])
def test_a_run_ends_where_rounding_lets_no_smaller_gap_be_certified(problem, tol):
    loop = FitMonitor(make_sdca(problem), max_iter=2000, tol=tol).run()
    last = loop.rows[-1]
    assert loop.converged
    assert 0.0 < last["gap"] <= loop.target == loop.floor < 1e-9 * last["primal"]
    assert (loop.convergence_message() is None) == (tol == 0.0)
    if tol:
        assert "as small as rounding lets it be" in loop.convergence_message()


def test_a_solver_that_is_stopped_is_not_said_to_have_given_up():
    problem = draw_problem(alpha=1e-9)
    loop = FitMonitor(LBFGS(problem, None, max_iter=9), max_iter=3, tol=1e-12).run()
    assert "L-BFGS: " not in loop.convergence_message()


@pytest.mark.parametrize("alpha", [1e-8, 1e-12, 1e-16, 1e-20, 1e-26])
@pytest.mark.parametrize("estimator", [OEGCRF, SDCACRF])
def test_no_gap_is_claimed_below_its_rounding(estimator, alpha):
    """Squared features over alpha of 1e16 and more: P - D was below 0, and cut to 0."""
    X, y = [np.array([[-1e5, -7e5], [3.3e4, 8e5]])], [[0, 1]]
    crf = estimator(alpha=alpha, random_state=0, max_iter=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        crf.fit(X, y)
    # A small model that is right, and sure of it.
    problem = make_problem(X, y, n_labels=2, alpha=alpha)
    model = problem.new_parameters()
    model.coef[1] = -1e-4, 1e-4
    lowest = problem.primal(model.w, problem.mean_loss(model.w))
    # But for the digits that the difference itself has lost.
    rounding = 1e-6 * (1.0 + crf.primal_objective_)
    assert crf.primal_objective_ - lowest <= crf.duality_gap_ + rounding
    assert crf.dual_objective_ <= lowest + rounding


def test_oeg_converges_to_rounding():
    """Changes of 1e-12 were taken for rounding, and steps grew by them."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(length, 4)) for length in rng.integers(1, 8, size=30)]
    y = [rng.integers(3, size=len(x)) for x in X]
    for seed in range(5):
        crf = OEGCRF(alpha=0.05, tol=1e-13, max_iter=300, random_state=seed).fit(X, y)
        assert crf.n_iter_ < 300


@pytest.mark.parametrize("transitions", ["BIOES", "observed", None])
@pytest.mark.parametrize("sampling", ["uniform", "gap"])
def test_oeg_goes_on_for_ever_at_the_optimum(transitions, sampling):
    """Steps grew without a bound where a sequence has a single possible path."""
    X = [[["a"], ["b"]], [["c"]], [["a"], ["d"], ["b"]]] * 3
    y = [["B-X", "E-X"], ["O"], ["O", "B-X", "E-X"]] * 3
    crf = OEGCRF(transitions=transitions, sampling=sampling, tol=0, max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        crf.set_params(random_state=0).fit(X, y)
    assert crf.duality_gap_ < 1e-11


def test_the_seconds_of_a_run_are_those_of_its_clock(problem):
    ticks = count()
    solver = SDCA(problem, np.random.default_rng(0))
    loop = FitMonitor(solver, max_iter=3, tol=0.0, clock=lambda: next(ticks))
    # Each epoch asks twice, and certificates never.
    assert [row["seconds"] for row in loop.run().rows] == [1, 2, 3]
