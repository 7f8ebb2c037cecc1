"""Fits on several threads where rows are made at the visit, as those of stored rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skcrf_sdca import DependencyCRF
from skcrf_sdca.objective.penalties import elastic_net
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.sdca_bound import SDCABound
from skcrf_sdca.structures.dependency.scores import ONE_ROOT
from skcrf_sdca.structures.dependency.structure import DependencyTrees
from skcrf_sdca.text import ArcFeatures
from skcrf_sdca.text.features.arc_features import templates_of
from skcrf_sdca.text.features.token_arcs import TokenArcs

TEMPLATES = ["h.word m.word", "h.tag m.tag", "m.tag", "h.tag between.tag m.tag"]
FEATURES = ArcFeatures(TEMPLATES, columns=("word", "tag"), n_features=97)
SIBLINGS = ArcFeatures(
    [*TEMPLATES, "h.tag s.tag m.tag"], columns=("word", "tag"), n_features=97
)
SOLVERS = [SDCABound, OEG]


def draw_sentences(n=200):
    """Return sentences of tokens, and heads: each is a word before, and none cross."""
    rng = np.random.default_rng(0)
    X = [
        [(rng.choice(list("abc")), rng.choice(list("NVD"))) for _ in range(length)]
        for length in rng.integers(0, 6, n)
    ]
    return X, [[*range(min(len(x), 2)), *draw_heads(rng, len(x) - 2)] for x in X]


def draw_heads(rng, n):
    """Return heads of the words 3, 4, ...: the word before, or its head."""
    heads = [1]
    for word in range(3, n + 3):
        heads.append(int(rng.choice([word - 1, heads[-1]])))
    return heads[1:]


def draw_problem(n_jobs, l1_ratio=0.0):
    X, y = draw_sentences()
    arcs = TokenArcs(templates_of(FEATURES), X)
    is_arc = [(np.arange(len(heads) + 1)[:, None] == heads).ravel() for heads in y]
    structure = DependencyTrees(arcs, 1, rules=ONE_ROOT, n_jobs=n_jobs)
    labels = np.concatenate(is_arc).astype(np.int32)
    return Problem(structure, labels, "auto", penalty=elastic_net(l1_ratio))


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
@pytest.mark.parametrize("solver", SOLVERS)
def test_weights_are_those_of_the_marginals(solver, l1_ratio):
    problem = draw_problem(3, l1_ratio)
    dual = solver(problem, np.random.default_rng(0))
    assert len(dual.visitors) == 3
    for _ in range(4):
        dual.epoch()
        v = problem.dual_to_primal(dual.marginals.local, dual.renormalize())
        assert_allclose(dual.v, v, rtol=0, atol=2e-5)
        w = problem.penalty.primal_point(dual.v)
        assert_allclose(dual.model.w, w, rtol=0, atol=1e-12)
    assert dual.kernel.rounds.n_rounds > 1


@pytest.mark.parametrize("solver", SOLVERS)
def test_all_threads_make_the_first_expectations(solver):
    alone, together = (
        solver(draw_problem(n), np.random.default_rng(0)) for n in (None, 3)
    )
    assert_array_equal(together.marginals.local, alone.marginals.local)
    assert_array_equal(together.entropy, alone.entropy)


@pytest.mark.parametrize("solver", SOLVERS)
def test_threads_do_what_one_thread_does_in_turn(solver):
    problem = draw_problem(3)
    threads, turns = (solver(problem, np.random.default_rng(0)) for _ in range(2))
    turns.kernel.in_turn = True
    for _ in range(3):
        threads.epoch()
        turns.epoch()
        assert_array_equal(threads.model.w, turns.model.w)


@pytest.mark.slow
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
@pytest.mark.parametrize("features", [FEATURES, SIBLINGS], ids=["arcs", "siblings"])
@pytest.mark.parametrize("solver", ["sdca", "oeg"])
def test_the_optimum_is_that_of_one_thread(solver, features, l1_ratio):
    X, y = draw_sentences()
    options = {
        "solver": solver,
        "features": features,
        "projective": True,
        "l1_ratio": l1_ratio,
        "tol": 1e-8,
        "max_iter": 500,
    }
    alone, together = (
        DependencyCRF(random_state=0, n_jobs=n_jobs, **options).fit(X, y)
        for n_jobs in (None, 3)
    )
    assert together.primal_objective_ == pytest.approx(
        alone.primal_objective_, rel=2e-8
    )
