"""Answers and optima of every model with two threads, which share even tiny data."""

import copy
from functools import cache

import pytest

from matrix_models import (
    EXACT,
    MODELS,
    WITH_LOSSES,
    answers,
    check_same_optimum,
    fitted,
)
from skcrf_sdca.solvers import parallel

# The ranges of the data change the order of sums: no fit is shared with other modules.
pytestmark = pytest.mark.usefixtures("many_ranges")
new_fit = fitted.__wrapped__
alone = cache(new_fit)


@pytest.mark.parametrize(("name", "loss"), WITH_LOSSES)
def test_answers_do_not_depend_on_threads(name, loss):
    model, crf = MODELS[name], new_fit(name, loss=loss)
    threads = copy.deepcopy(crf).set_params(n_jobs=2)
    assert answers(model, threads) == answers(model, crf)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "solver"), EXACT)
def test_threads_find_the_same_optimum(name, solver, monkeypatch):
    monkeypatch.setattr(parallel, "MIN_SHARD", 1)
    model = MODELS[name]
    crf, again = (
        model.new(solver, tol=1e-2, n_jobs=2).fit(model.X, model.y) for _ in range(2)
    )
    assert crf.duality_gap_ <= crf.gap_target_
    check_same_optimum(crf, alone(name))
    assert answers(model, again) == answers(model, crf)
