"""A full pass of an accelerated fit sees the gaps that visits would find."""

from typing import ClassVar
from unittest import mock

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import graph_cases
from skcrf_sdca import OEGCRF, SDCACRF, GraphCRF, SegmentCRF
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.estimators import solver_choice
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers import oeg
from skcrf_sdca.solvers.partition import equal_shards
from skcrf_sdca.solvers.proximal import ProximalPoint

CHAINS = make_chains(140, n_labels=3, n_features=4, length=(1, 5), random_state=0)
GRAPHS = graph_cases.sample(140)
TEXTS = [[[f"w{np.argmax(row)}"] for row in rows] for rows in CHAINS[0]], CHAINS[1]
SORTED = CHAINS[0], [np.sort(labels) for labels in CHAINS[1]]
EXACT = {"dual_dtype": "float64"}
FITS = {
    "SDCA": (SDCACRF(**EXACT), CHAINS),
    "order 2": (SDCACRF(order=2, **EXACT), CHAINS),
    "transitions": (SDCACRF(transitions="observed", **EXACT), SORTED),
    "bound of the entropy": (SDCACRF(features="observed", **EXACT), TEXTS),
    "hinge": (SDCACRF(loss="hinge"), CHAINS),
    "costs": (SDCACRF(loss="softmax_margin", **EXACT), CHAINS),
    "OEG": (OEGCRF(), CHAINS),
    "derived": (OEGCRF(), CHAINS),
    "threads": (OEGCRF(n_jobs=2), CHAINS),
    "graphs": (GraphCRF(solver="sdca"), GRAPHS),
    "reweighted graphs": (GraphCRF(solver="sdca", inference="trw"), GRAPHS),
    "segments": (SegmentCRF(solver="oeg", scheme=None), CHAINS),
}
# Marginals in single precision.
ROUNDING = 1e-6


class Kept(ProximalPoint):
    """A ProximalPoint that a test can ask after the fit."""

    last = None

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        Kept.last = self.solver


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", FITS)
def test_full_passes_see_the_gaps_of_visits(name, monkeypatch):
    monkeypatch.setattr(solver_choice, "ProximalPoint", Kept)
    if name == "derived":
        monkeypatch.setattr(oeg, "MOST_STORED", 0)
    crf, data = FITS[name]
    crf.set_params(max_iter=3, alpha=0.01, acceleration="auto", random_state=0)
    for i in range(4):
        solver = crf.fit(*data) and Kept.last
        seen = solver.seen_gaps().copy()
        assert seen.max() > 1e-3
        solver.kernel.epoch_in_order(np.array([i]))
        assert_allclose(solver.gaps[i], max(seen[i], 0.0), rtol=0, atol=ROUNDING)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("crf", [SDCACRF(), OEGCRF(), SDCACRF(loss="hinge")])
def test_a_certificate_is_of_marginals_without_their_rounding(crf, monkeypatch):
    monkeypatch.setattr(solver_choice, "ProximalPoint", Kept)
    crf.set_params(max_iter=3, alpha=0.01, acceleration="auto", random_state=0)
    solver = crf.fit(*CHAINS) and Kept.last
    w, local, total, *others = solver.pair()
    found = solver.problem.compare(w, local, total, *others)
    total = solver.renormalize()
    expected = Problem.compare(solver.problem, w, local, total, *others)
    assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_draws_follow_what_was_seen(n_jobs, monkeypatch):
    monkeypatch.setattr(solver_choice, "ProximalPoint", Kept)
    SDCACRF(0.01, max_iter=1, n_jobs=n_jobs, random_state=0).fit(*CHAINS)
    solver = Kept.last
    visited = solver.gaps < solver.unvisited
    assert not visited.all()
    solver.record_seen()
    expected = np.where(visited, np.maximum(solver.seen_gaps(), 0.0), solver.unvisited)
    assert_array_equal(solver.gaps, expected)
    shards = equal_shards(solver.problem.data.lengths, len(solver.visitors))
    for visitor, shard in zip(solver.visitors, shards, strict=True):
        share = expected[shard] / expected[shard].sum()
        probabilities = 0.8 * share + 0.2 / len(share)
        assert_allclose(visitor.sampler.probabilities(), probabilities, rtol=1e-12)


class Changed(ProximalPoint):
    """A ProximalPoint that keeps what is recorded where the targets change."""

    pairs: ClassVar[list] = []

    def targets_changed(self):
        solver = self.solver
        seen, visited = solver.seen_gaps(), solver.gaps < solver.unvisited
        super().targets_changed()
        with mock.patch.object(solver, "epoch"):
            self.epoch()
        self.pairs.append((solver.gaps[visited], np.maximum(seen[visited], 0.0)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_other_targets_leave_what_was_seen_as_it_was(monkeypatch):
    monkeypatch.setattr(solver_choice, "ProximalPoint", Changed)
    X, y = CHAINS
    partial = [[labels[0], *[None] * (len(labels) - 1)] for labels in y]
    SDCACRF(0.01, max_iter=5, random_state=0, **EXACT).fit(X, partial)
    assert len(Changed.pairs[-1][0])
    for recorded, seen in Changed.pairs:
        assert_array_equal(recorded, seen)
