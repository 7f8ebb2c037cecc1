"""OEG: expectations that are derived are the stored ones, in a third of the memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from samples import make_problem
from skcrf_sdca import OEGCRF, DependencyCRF, GraphCRF, SegmentCRF
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.objective.losses import new_loss
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.objective.targets import PartialLabels
from skcrf_sdca.solvers import oeg
from skcrf_sdca.structures.chain.structure import Chain

# An empty sequence between others, and sequences of several lengths.
X, Y = make_chains(40, n_labels=3, n_features=4, length=(1, 6), random_state=0)
X.insert(7, np.empty((0, 4)))
Y.insert(7, [])
ARCS = [np.random.default_rng(i).normal(size=(4, 3, 5)) for i in range(8)]
HEADS = [[2, 3, 0], [2, 0, 2]] * 4
GRAPHS = [(rows, [[t - 1, t] for t in range(1, len(rows))]) for rows in X if len(rows)]
LABELS = [labels for labels in Y if len(labels)]

SPANS = [["OBB"[k] + ("-X" if k else "") for k in labels] for labels in Y]

FITS = {
    "chain": (OEGCRF(), X, Y),
    "observed label pairs": (OEGCRF(label_pairs="observed"), X, Y),
    "softmax margin": (OEGCRF(loss="softmax_margin"), X, Y),
    "elastic net": (OEGCRF(l1_ratio=0.3), X, Y),
    "two threads": (OEGCRF(n_jobs=2), X, Y),
    "unknown labels": (OEGCRF(), X, [[None] * len(Y[0]), *Y[1:]]),
    "pairs of labels": (OEGCRF(order=2), X, Y),
    "graphs": (GraphCRF(solver="oeg"), GRAPHS, LABELS),
    "segments": (SegmentCRF(solver="oeg", max_length=2), X, SPANS),
    "trees": (DependencyCRF(solver="oeg"), ARCS, HEADS),
}


@pytest.fixture(scope="module")
def problem():
    return make_problem(*make_chains(20, n_labels=3, random_state=0), 3, 0.1)


def derive(monkeypatch):
    """Let no solver store expectations."""
    monkeypatch.setattr(oeg, "MOST_STORED", 0)


@pytest.mark.parametrize("name", FITS)
def test_derived_expectations_end_at_the_same_bits(name, monkeypatch):
    model, samples, targets = FITS[name]
    model.set_params(random_state=0, tol=1e-5)
    stored = model.fit(samples, targets)
    w, gap = stored.coef_.copy(), stored.duality_gap_
    derive(monkeypatch)
    derived = model.fit(samples, targets)
    assert_array_equal(derived.coef_, w)
    assert derived.duality_gap_ == gap


def test_slices_and_totals_are_the_stored_expectations(problem, monkeypatch):
    stored = oeg.OEG(problem, np.random.default_rng(0))
    derive(monkeypatch)
    derived = oeg.OEG(problem, np.random.default_rng(0))
    for solver in (stored, derived):
        solver.epoch()
        solver.epoch()
    first, last = problem.offsets[[3, 11]]
    local, marginals = stored.marginals.local, derived.marginals
    assert_array_equal(marginals.local[first:last], local[first:last])
    assert_array_equal(marginals.local[:], local)
    assert len(marginals.local) == len(local)
    total = stored.marginals.tied_total(problem.weight)
    assert_allclose(marginals.tied_total(problem.weight), total, rtol=1e-13)


def test_a_certificate_derives_all_expectations_once(problem, monkeypatch):
    derive(monkeypatch)
    solver = OEGCRF(acceleration="proximal_point")._new_solver(problem)
    solver.epoch()
    derived, part = [], oeg.DerivedExpectations.part

    def recorded(self, begin, end, *rest):
        derived.extend(range(begin, end))
        return part(self, begin, end, *rest)

    monkeypatch.setattr(oeg.DerivedExpectations, "part", recorded)
    solver.certify()
    assert derived == list(range(problem.n_sequences))


@pytest.mark.parametrize("most", [2**31, 0])
def test_natural_parameters_alone_say_the_expectations(most, problem, monkeypatch):
    monkeypatch.setattr(oeg, "MOST_STORED", most)
    solver = oeg.OEG(problem, np.random.default_rng(0))
    before = solver.marginals.local[:].copy()
    solver.model.w[:] = np.nan
    solver.kernel.weights_changed()
    solver.kernel.marginalise()
    assert_array_equal(solver.marginals.local[:], before)


def test_derived_expectations_take_no_memory(problem, monkeypatch):
    n_potentials = problem.structure.n_potentials
    stored = oeg.OEG.n_bytes(problem, 0)
    derive(monkeypatch)
    assert oeg.OEG.n_bytes(problem, 0) == stored - 8 * n_potentials == 4 * n_potentials
    solver = oeg.OEG(problem, np.random.default_rng(0))
    assert not isinstance(solver.marginals, tuple)


def test_a_visit_counts_the_marginalisation_that_it_repeats(problem, monkeypatch):
    calls = []
    for _ in range(2):
        solver = oeg.OEG(problem, np.random.default_rng(0))
        solver.certify()
        before = solver.kernel.n_oracle_calls
        solver.epoch()
        calls.append(solver.kernel.n_oracle_calls - before)
        derive(monkeypatch)
    assert calls[1] - calls[0] == problem.n_sequences


@pytest.mark.parametrize(("share", "again"), [(0.99, True), (1.01, False)])
def test_other_targets_are_taken_where_their_dual_is_larger(share, again, monkeypatch):
    """At the targets v = 0, and the dual is tau times the mean of their entropies."""
    X, y = make_chains(10, n_labels=3, random_state=0)
    chains = Chain(PackedSequences.from_sequences(X), 3)
    possible = np.ones((chains.data.n_positions, 3), dtype=bool)
    targets = PartialLabels(chains, possible)
    problem = Problem(chains, targets, 0.1, loss=new_loss("log_loss", 5.0))
    targets.complete(problem.new_parameters())
    solver = oeg.OEG(problem, np.random.default_rng(0))
    at_targets = 5.0 * np.log(3.0) * np.mean([len(x) for x in X])
    monkeypatch.setattr(solver, "_dual_value", lambda: share * at_targets)
    taken = []
    monkeypatch.setattr(solver, "take_targets", lambda: taken.append(True))
    solver.targets_changed()
    assert bool(taken) == again
