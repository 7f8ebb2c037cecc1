"""Soft labels and labels that are only partly known: enumeration over all paths."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import logsumexp, xlogy
from sklearn.exceptions import ConvergenceWarning

import reference
from samples import flat_weights, make_solver, seeded
from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF, SGDCRF
from skcrf_sdca.data.label_encoding import encode_training_labels
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.estimators.crfs import ESTIMATORS
from skcrf_sdca.metrics import flat_accuracy_score
from skcrf_sdca.objective.penalties import elastic_net
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.objective.targets import PartialLabels, SoftLabels
from skcrf_sdca.solvers import cccp
from skcrf_sdca.solvers.cccp import CCCP
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.owlqn import OWLQN
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.structures.chain.constraints import Constraints
from skcrf_sdca.structures.chain.structure import Chain

N_FEATURES, ALPHA = 2, 0.2
LENGTHS = (1, 2, 4, 0, 3)
WEIGHT = np.array([1.0, 2.0, 0.5, 1.0, 1.5])
OTHERS = {"owlqn": partial(OWLQN, max_iter=1000)}
SOLVERS = {
    "lbfgs": partial(LBFGS, max_iter=1000),
    "oeg": OEG,
    "sag": SAG,
    "sdca": partial(SDCA, dual_dtype="float64"),
}
# LBFGS needs a penalty with a gradient; OWLQN takes the others.
FITS = [(name, 0.0) for name in SOLVERS]
FITS += [(name, 0.5) for name in ("oeg", "sag", "sdca", "owlqn")]
RATIOS = [0.0, 0.5, 1.0]
# Label 2 does not follow 0, and no sequence begins with 1.
FORBIDDING = Constraints(
    start=np.array([True, False, True]),
    end=np.ones(3, dtype=bool),
    transition=np.array([[1, 1, 0], [1, 1, 1], [1, 1, 1]], dtype=bool),
)


class Paths:
    """All allowed paths of all sequences, with their features, as the reference."""

    def __init__(self, X, n_labels, constraints=None, weight=WEIGHT):
        self.c = reference.loss_weights(len(X), weight)
        self.paths, self.features = [], []
        for x in X:
            paths = reference.all_paths(len(x), n_labels)
            if len(x) == 0:
                features = np.zeros(
                    (1, N_FEATURES * n_labels + 3 * n_labels + n_labels**2)
                )
            else:
                features = reference.all_features(x, n_labels)
            if constraints is not None and len(x):
                allowed = constraints.start[paths[:, 0]] & constraints.end[paths[:, -1]]
                allowed &= constraints.transition[paths[:, :-1], paths[:, 1:]].all(
                    axis=1
                )
                paths, features = paths[allowed], features[allowed]
            self.paths.append(paths)
            self.features.append(features)

    def soft(self, rows):
        """Return the distribution over the paths with these rows of probabilities."""
        q = [
            r[np.arange(len(r)), paths].prod(axis=1)
            for r, paths in zip(rows, self.paths, strict=True)
        ]
        return [p / p.sum() for p in q]

    def loss(self, w, q):
        """Return the mean of log Z_i - <q_i, scores_i>, and its gradient."""
        value, gradient = 0.0, np.zeros_like(w)
        for c, features, p in zip(self.c, self.features, q, strict=True):
            scores = features @ w
            model = np.exp(scores - logsumexp(scores))
            value += c * (logsumexp(scores) - p @ scores)
            gradient += c * (model - p) @ features
        return value, gradient

    def minimum(self, q, l1_ratio):
        """Return the w of smallest P, as the difference of two parts >= 0."""
        size = self.features[0].shape[1]

        def split(w):
            value, gradient = self.loss(w[:size] - w[size:], q)
            smooth = ALPHA * (1 - l1_ratio) * (w[:size] - w[size:])
            gradient += smooth
            value += 0.5 * smooth @ (w[:size] - w[size:])
            l1 = ALPHA * l1_ratio
            return value + l1 * w.sum(), np.append(gradient + l1, l1 - gradient)

        options = {"ftol": 1e-16, "gtol": 1e-10, "maxiter": 5000}
        found = minimize(
            split,
            np.zeros(2 * size),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * (2 * size),
            options=options,
        )
        return found.x[:size] - found.x[size:], found.fun


def draw(n_labels, seed=0):
    """Return sequences, and rows of probabilities, of which some are certain."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(length, N_FEATURES)) for length in LENGTHS]
    rows = [rng.dirichlet(np.ones(n_labels), size=len(x)) for x in X]
    rows[2][1] = np.eye(n_labels)[n_labels - 1]
    return X, rows


def soft_problem(X, rows, n_labels, *, constraints=None, l1_ratio=0.0):
    data = PackedSequences.from_sequences(X, n_features=N_FEATURES)
    chains = Chain(data, n_labels, constraints=constraints)
    targets = SoftLabels.of_positions(chains, np.concatenate(rows))
    penalty = elastic_net(l1_ratio)
    return Problem(chains, targets, ALPHA, sample_weight=WEIGHT, penalty=penalty)


@pytest.mark.parametrize("constraints", [None, FORBIDDING])
def test_expectations_and_entropies_of_soft_labels(constraints):
    X, rows = draw(3)
    targets = soft_problem(X, rows, 3, constraints=constraints).targets
    all_paths = Paths(X, 3, constraints)
    q = all_paths.soft(rows)
    assert_allclose(targets.entropy, [-xlogy(p, p).sum() for p in q], atol=1e-14)
    for i, (p, paths) in enumerate(zip(q, all_paths.paths, strict=True)):
        tied = np.zeros((3, 3))
        for probability, path in zip(p, paths, strict=True):
            np.add.at(tied, (path[:-1], path[1:]), probability)
        assert_allclose(targets.expected.tied[i], tied, atol=1e-15)
    if constraints is None:
        assert_allclose(targets.expected.local, np.concatenate(rows), atol=1e-15)


@pytest.mark.parametrize("constraints", [None, FORBIDDING])
def test_objective_and_gradient_of_soft_labels(constraints):
    X, rows = draw(3)
    problem = soft_problem(X, rows, 3, constraints=constraints)
    paths = Paths(X, 3, constraints)
    w = np.random.default_rng(1).normal(size=problem.new_parameters().w.size)
    loss, gradient = paths.loss(w, paths.soft(rows))
    found, certificate = problem.certify_primal(w)
    assert_allclose(certificate.primal, ALPHA / 2 * w @ w + loss, rtol=1e-13)
    assert_allclose(problem.mean_loss(w), loss, rtol=1e-13)
    assert_allclose(found, ALPHA * w + gradient, atol=1e-14)


@pytest.mark.parametrize("constraints", [None, FORBIDDING])
@pytest.mark.parametrize(("name", "l1_ratio"), FITS)
def test_the_optimum_of_soft_labels_is_that_of_all_paths(name, l1_ratio, constraints):
    X, rows = draw(3)
    problem = soft_problem(X, rows, 3, constraints=constraints, l1_ratio=l1_ratio)
    solver = make_solver((SOLVERS | OTHERS)[name], problem)
    monitor = FitMonitor(solver, max_iter=3000, tol=1e-10).run()
    assert monitor.converged
    paths = Paths(X, 3, constraints)
    best, value = paths.minimum(paths.soft(rows), l1_ratio)
    history = monitor.history()
    assert (history["dual"] <= value + 1e-9).all()
    assert (value <= history["primal"] + 1e-9).all()
    assert_allclose(history["primal"] - history["dual"], history["gap"], atol=1e-12)
    assert_allclose(history["primal"][-1], value, rtol=1e-8)
    assert_allclose(solver.model.w, best, atol=1e-4)


@pytest.mark.parametrize("name", SOLVERS)
def test_soft_labels_of_a_single_label(name):
    X, rows = draw(1)
    solver = make_solver(SOLVERS[name], soft_problem(X, rows, 1))
    monitor = FitMonitor(solver, max_iter=10, tol=1e-10).run()
    assert monitor.converged
    assert_allclose(monitor.rows[-1]["primal"], 0.0, atol=1e-15)


@pytest.mark.parametrize("name", SOLVERS)
def test_certain_soft_labels_are_labels(name):
    X, rows = draw(3)
    labels = np.concatenate(rows).argmax(axis=1).astype(np.int32)
    certain = np.split(np.eye(3)[labels], np.cumsum(LENGTHS)[:-1])
    soft = soft_problem(X, certain, 3)
    hard = Problem(soft.structure, labels, ALPHA, sample_weight=WEIGHT)
    ends = []
    for problem in (soft, hard):
        solver = make_solver(SOLVERS[name], problem)
        FitMonitor(solver, max_iter=3000, tol=1e-12).run()
        ends.append(solver.model.w)
    assert_allclose(*ends, atol=1e-5)


@pytest.mark.parametrize("name", ["oeg", "sdca"])
def test_dual_solvers_start_near_the_soft_labels(name):
    X, rows = draw(3)
    problem = soft_problem(X, rows, 3)
    # At mu = q the weights are 0, and the dual is the mean entropy.
    dual = make_solver(SOLVERS[name], problem).certify().dual
    assert_allclose(dual, problem.mean(problem.targets.entropy), atol=1e-4)


def test_a_smaller_alpha_starts_near_the_soft_labels():
    X, rows = draw(3)
    problem = soft_problem(X, rows, 3)
    first = make_solver(SOLVERS["sdca"], problem)
    FitMonitor(first, max_iter=300, tol=1e-10).run()
    smaller = Problem(
        problem.structure, problem.targets, ALPHA / 100, sample_weight=WEIGHT
    )
    cold = make_solver(SOLVERS["sdca"], smaller)
    warm = make_solver(SOLVERS["sdca"], smaller, state=first.state())
    assert warm.certify().dual > cold.certify().dual


def as_dicts(rows, names="abc"):
    """Return rows of probabilities as y: a label where it is certain."""
    return [
        [
            names[row.argmax()]
            if row.max() == 1.0
            else dict(zip(names, row, strict=True))
            for row in part
        ]
        for part in rows
    ]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_estimator_fits_probabilities_of_labels(estimator):
    X, rows = draw(3)
    crf = seeded(estimator, alpha=ALPHA, tol=1e-10, max_iter=3000)
    crf.fit(X, as_dicts(rows), sample_weight=WEIGHT)
    assert crf.classes_.tolist() == ["a", "b", "c"]
    paths = Paths(X, 3)
    best, value = paths.minimum(paths.soft(rows), 0.0)
    assert_allclose(flat_weights(crf), best, atol=1e-4)
    assert_allclose(crf.primal_objective_, value, rtol=1e-8)
    assert "outer" not in crf.history_


def test_forbidden_paths_of_probabilities_are_left_out():
    X, rows = draw(3)
    allowed = [("abc"[a], "abc"[b]) for a, b in np.argwhere(FORBIDDING.transition)]
    allowed += [(None, "a"), (None, "c")]
    crf = SDCACRF(ALPHA, transitions=allowed, tol=1e-10, max_iter=3000, random_state=0)
    crf.fit(X, as_dicts(rows), sample_weight=WEIGHT)
    paths = Paths(X, 3, FORBIDDING)
    value = paths.minimum(paths.soft(rows), 0.0)[1]
    assert_allclose(crf.primal_objective_, value, rtol=1e-8)
    y = as_dicts(rows)
    y[4][1:] = ["a", {"c": 1.0}]
    with pytest.raises(ValueError, match="y: sequence 4, item 2: no path"):
        SDCACRF(transitions=allowed).fit(X, y)


def test_a_model_learns_from_the_probabilities_of_another():
    X, rows = draw(3)
    y = [row.argmax(axis=1).tolist() for row in rows]
    teacher = SDCACRF(0.5, random_state=0).fit(X, y)
    soft = [
        [dict(zip(teacher.classes_, row, strict=True)) for row in part.astype("f4")]
        for part in teacher.predict_proba(X)
    ]
    crf = SDCACRF(1e-4, tol=1e-5, max_iter=500, random_state=0).fit(X, soft)
    for own, taught in zip(crf.predict_proba(X), teacher.predict_proba(X), strict=True):
        assert_allclose(own, taught, atol=0.02)


def test_certain_probabilities_give_the_bits_of_labels():
    X, rows = draw(3)
    y = [row.argmax(axis=1).tolist() for row in rows]
    certain = [[{label: 1.0, 1: float(label == 1)} for label in labels] for labels in y]
    plain, crf = (seeded(SDCACRF).fit(X, labels) for labels in (y, certain))
    assert flat_weights(crf).tobytes() == flat_weights(plain).tobytes()


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({}, ValueError, "y: sequence 1, position 1 is .* with the sum 1"),
        ({"a": 0.5, "b": 0.4}, ValueError, "y: sequence 1, position 1 .* the sum 1"),
        ({"a": -0.5, "b": 1.5}, ValueError, "y: sequence 1, position 1 .* negative"),
        ({"a": np.nan, "b": 1.0}, ValueError, "y: sequence 1, position 1 .* negative"),
        ({"a": "1"}, ValueError, "y: sequence 1, position 1 .* must be probabilities"),
        (None, ValueError, "y: sequence 1, position 1 is None, while other positions"),
        ({"a", "b"}, ValueError, "y: sequence 1, position 1 is .*, while other"),
        ({1: 1.0}, TypeError, "y: sequence 1, position 1 is of type int 1, but the"),
        (["a"], TypeError, "y: sequence 1, position 1 is a list of str, but the first"),
    ],
)
def test_probabilities_that_are_refused(wrong, error, message):
    X = [np.ones((1, 1)), np.ones((2, 1))]
    with pytest.raises(error, match=message):
        SDCACRF().fit(X, [[{"a": 0.5, "b": 0.5}], ["a", wrong]])


# Labels that are only partly known ----------------------------------------------------

CONVERGED = {"tol": 1e-9, "max_iter": 5000}
# What may be known of the labels of the sequences of `draw`, of three labels.
KNOWN = [
    [None],
    [0, {1, 2}],
    [None, 1, frozenset({0, 1}), None],
    [],
    [None, None, None],
]


def agreeing(paths, known):
    """Return which paths agree with what is known of each position, (n_paths,)."""
    agree = np.ones(len(paths), dtype=bool)
    for t, label in enumerate(known):
        if label is not None:
            some = label if isinstance(label, (set, frozenset)) else {label}
            agree &= np.isin(paths[:, t], list(some))
    return agree


def partial_loss(w, paths, known):
    """Return the mean of log Z_i - log Z_i(Y_i), and its gradient."""
    q = []
    for features, own, labels in zip(paths.features, paths.paths, known, strict=True):
        scores = np.where(agreeing(own, labels), features @ w, -np.inf)
        q.append(np.exp(scores - logsumexp(scores)))
    value, gradient = paths.loss(w, q)
    return value - paths.c @ [-xlogy(p, p).sum() for p in q], gradient


def partial_primal(crf, X, known, constraints=None):
    # Sequences of which nothing is known do not count, empty ones do.
    some = [not row or any(label is not None for label in row) for row in known]
    w, paths = flat_weights(crf), Paths(X, 3, constraints, WEIGHT * some)
    # Forbidden weights are -inf.
    w = np.where(np.isinf(w), 0.0, w)
    norm = (1 - crf.l1_ratio) / 2 * w @ w + crf.l1_ratio * np.abs(w).sum()
    loss, gradient = partial_loss(w, paths, known)
    return ALPHA * norm + loss, ALPHA * w + gradient


# SAG needs curvature, and without it the gap of SVRG falls too slowly.
NOT_CERTIFIED = ((SAGNUSCRF, 1.0), (SGDCRF, 1.0))


@pytest.mark.parametrize(
    ("estimator", "l1_ratio"),
    [p for p in product(ESTIMATORS, RATIOS) if p not in NOT_CERTIFIED],
)
def test_partly_known_labels_end_where_no_step_lowers_the_objective(
    estimator, l1_ratio
):
    X, _ = draw(3)
    crf = seeded(estimator, alpha=ALPHA, l1_ratio=l1_ratio, **CONVERGED)
    if l1_ratio == 1.0:
        # Without curvature, natural parameters in single precision leave gaps of 1e-8.
        crf.set_params(tol=2e-8)
    crf.fit(X, KNOWN, sample_weight=WEIGHT)
    value, gradient = partial_primal(crf, X, KNOWN)
    history = crf.history_
    assert crf.duality_gap_ <= crf.gap_target_
    assert_allclose(crf.primal_objective_, value, rtol=1e-8)
    assert (np.diff(history["primal"]) <= 1e-12).all()
    assert_allclose(history["primal"] - history["dual"], history["gap"], atol=1e-12)
    assert history["outer"][0] == 0 < history["outer"][-1]
    w, l1 = flat_weights(crf), ALPHA * l1_ratio
    slope = gradient - l1_ratio * ALPHA * w
    assert_allclose((slope + l1 * np.sign(w))[w != 0.0], 0.0, atol=2e-4)
    assert (np.abs(slope[w == 0.0]) <= l1 + 2e-4).all()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_partly_known_labels_under_constraints(estimator):
    X, _ = draw(3)
    allowed = [(a, b) for a, b in np.argwhere(FORBIDDING.transition).tolist()]
    allowed += [(None, 0), (None, 2)]
    crf = seeded(estimator, alpha=ALPHA, transitions=allowed, **CONVERGED)
    crf.fit(X, KNOWN, sample_weight=WEIGHT)
    value, gradient = partial_primal(crf, X, KNOWN, FORBIDDING)
    assert_allclose(crf.primal_objective_, value, rtol=1e-8)
    assert_allclose(gradient, 0.0, atol=1e-4)


def test_the_gap_bounds_the_fall_of_the_next_convex_problem():
    X, _ = draw(3)
    data = PackedSequences.from_sequences(X, n_features=N_FEATURES)
    possible = encode_training_labels(KNOWN, data.lengths)[2]
    chains = Chain(data, 3)
    targets = PartialLabels(chains, possible)
    problem = Problem(chains, targets, ALPHA, sample_weight=WEIGHT)
    paths = Paths(X, 3)
    w = np.random.default_rng(1).normal(size=problem.new_parameters().w.size)
    solver = make_solver(CCCP, problem, inner=LBFGS, state={"w": w})
    q = []
    for features, own, known in zip(paths.features, paths.paths, KNOWN, strict=True):
        scores = np.where(agreeing(own, known), features @ w, -np.inf)
        q.append(np.exp(scores - logsumexp(scores)))
    assert_allclose(targets.entropy, [-xlogy(p, p).sum() for p in q], atol=1e-13)
    lowest = paths.minimum(q, 0.0)[1] - paths.c @ targets.entropy
    objective = ALPHA / 2 * w @ w + partial_loss(w, paths, KNOWN)[0]
    certificate = solver.certify()
    assert_allclose(certificate.primal, objective, rtol=1e-13)
    assert objective - lowest <= certificate.gap
    rows = FitMonitor(solver, max_iter=20, tol=0.0).run().rows
    gaps = np.array([row["gap"] for row in rows if row["outer"] == 0])
    assert len(gaps) < len(rows)
    assert (gaps >= objective - lowest).all()


def test_the_first_weights_are_those_of_the_known_parts():
    X, _ = draw(3)
    y = [[0], [None, 2], [1, 0, None, {1, 2}], [], [{0, 1}, None, 2]]
    data = PackedSequences.from_sequences(X, n_features=N_FEATURES)
    possible = encode_training_labels(y, data.lengths)[2]
    chains = Chain(data, 3, constraints=FORBIDDING)
    targets = PartialLabels(chains, possible)
    parts, labels, sequence = targets.known_parts()
    kept = [X[0], X[1][1:], X[2][:2], X[4][2:]]
    assert parts.offsets.tolist() == [0, 1, 2, 4, 5]
    assert_allclose(parts.data.X, np.concatenate(kept))
    assert labels.tolist() == [0, 2, 1, 0, 2]
    assert sequence.tolist() == [0, 1, 2, 4]
    assert parts.constraints.start.all()
    assert (parts.constraints.transition == FORBIDDING.transition).all()
    problem = Problem(chains, targets, ALPHA, sample_weight=WEIGHT)
    solver = make_solver(CCCP, problem, inner=LBFGS)
    known = [[label] for label in (0, 2)] + [[1, 0], [2]]
    w, c = solver.model.w, WEIGHT[sequence] / WEIGHT.sum()
    gradient = ALPHA * w
    for weight, x, path in zip(c, kept, known, strict=True):
        features = reference.all_features(x, 3)
        paths = reference.all_paths(len(x), 3)
        pairs = FORBIDDING.transition[paths[:, :-1], paths[:, 1:]].all(axis=1)
        scores = np.where(pairs, features @ w, -np.inf)
        model = np.exp(scores - logsumexp(scores))
        own = reference.features(x, path, 3)
        gradient = gradient + weight * (model @ features - own)
    assert_allclose(gradient, 0.0, atol=0.02)


@pytest.mark.parametrize("estimator", [SDCACRF, OEGCRF])
def test_labels_are_not_completed_where_the_objective_is_higher(estimator, monkeypatch):
    # A dual solver leaves the weights when the soft labels change.
    monkeypatch.setattr(cccp, "MAX_EPOCHS", 1)
    X, _ = draw(3)
    crf = seeded(estimator, alpha=1e-4, tol=0.0, max_iter=60)
    with pytest.warns(ConvergenceWarning):
        crf.fit(X, KNOWN)
    assert crf.history_["outer"][-1] > 0
    assert (np.diff(crf.history_["primal"]) <= 1e-12).all()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_start_that_is_stationary_is_the_end(estimator):
    X, _ = draw(2)
    y = [[{"a", "b"}] * len(x) for x in X]
    crf = seeded(estimator).fit(X, y)
    assert_allclose(flat_weights(crf), 0.0, atol=1e-5)
    assert crf.duality_gap_ <= crf.gap_target_


def test_sets_alone_train_a_model():
    X, _ = draw(3)
    y = [[{0, 1}] * len(x) for x in X]
    y[2][0] = {1, 2}
    crf = seeded(SDCACRF, alpha=ALPHA, **CONVERGED).fit(X, y, sample_weight=WEIGHT)
    assert_allclose(partial_primal(crf, X, y)[1], 0.0, atol=1e-4)
    # The only label that is known is that of a sequence without weight.
    y[0] = [0]
    weight = np.append(0.0, WEIGHT[1:])
    assert seeded(SDCACRF).fit(X, y, sample_weight=weight).n_iter_ > 0


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_known_labels_in_any_form_give_the_same_bits(estimator):
    X, rows = draw(3)
    y = [r.argmax(axis=1).tolist() for r in rows]
    plain = seeded(estimator, alpha=ALPHA).fit(X, y)
    as_sets = [[{label} for label in labels] for labels in y]
    for labels, unknown_label in ((as_sets, None), (y, -100)):
        crf = seeded(estimator, alpha=ALPHA, unknown_label=unknown_label)
        crf.fit(X, labels)
        assert flat_weights(crf).tobytes() == flat_weights(plain).tobytes()
        assert "outer" not in crf.history_


def test_the_forms_of_unknown_labels():
    X, _ = draw(3)
    fitted = []
    for value in (None, -100, np.int64(-100)):
        y = [[value if label is None else label for label in row] for row in KNOWN]
        crf = seeded(SDCACRF, alpha=ALPHA, unknown_label=-100).fit(X, y)
        assert crf.classes_.tolist() == [0, 1, 2]
        fitted.append(flat_weights(crf).tobytes())
    assert len(set(fitted)) == 1
    # One array of all positions, beside packed sequences.
    labels = np.array([-100, 0, 1, 2, -100, -100, 1, 0, 2, -100])
    packed = PackedSequences.from_sequences(X, n_features=N_FEATURES)
    cut = np.split(labels, np.cumsum(LENGTHS)[:-1])
    one, other = (
        seeded(SDCACRF, unknown_label=-100).fit(packed, y) for y in (labels, cut)
    )
    assert flat_weights(one).tobytes() == flat_weights(other).tobytes()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_rows_of_a_table_without_label(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    y = (X[:, 0] > 0).astype(int)
    hidden = [None if t % 3 == 0 else label for t, label in enumerate(y.tolist())]
    crf = seeded(estimator, **CONVERGED).fit(X, hidden)
    marked = np.where(np.arange(12) % 3 == 0, -1, y)
    same = seeded(estimator, unknown_label=-1, **CONVERGED).fit(X, marked)
    assert flat_weights(crf).tobytes() == flat_weights(same).tobytes()
    # A row whose label may be any has no loss: the others weigh 8/12.
    known = marked >= 0
    alpha = 1 / 8
    alone = seeded(estimator, alpha=alpha, **CONVERGED).fit(X[known], y[known])
    assert_allclose(flat_weights(crf), flat_weights(alone), atol=1e-4)


@pytest.mark.parametrize("inexact", [{"A", "B"}, frozenset("A"), {"A": 0.5, "B": 0.5}])
@pytest.mark.parametrize("place", [0, 1])
def test_the_score_needs_labels(inexact, place):
    X, y = [[["a"], ["b"]]], [["A", "B"]]
    crf = SDCACRF(random_state=0).fit(X, y)
    y[0][place] = inexact
    message = rf"y: sequence 0, position {place} is .*; a label is needed"
    with pytest.raises(ValueError, match=message):
        crf.score(X, y)
    with pytest.raises(ValueError, match=message.replace("y", "y_true", 1)):
        flat_accuracy_score(y, crf.predict(X))


@pytest.mark.parametrize("missing", [float("nan"), pd.NA, pd.NaT])
@pytest.mark.parametrize("others", [["A", "B"], [1.0, 2.0], ["A", None]])
def test_a_missing_label_is_told_that_none_is_an_unknown_one(missing, others):
    X, y = [[["a"], ["b"], ["c"]]], [[*others, missing]]
    crf = SDCACRF(random_state=0)
    message = "y: sequence 0, position 2 .*; a label is needed, or None where it is not"
    with pytest.raises(ValueError, match=message):
        crf.fit(X, y)
    crf.fit(X, [[*others, others[0]]])
    with pytest.raises(ValueError, match=message):
        crf.score(X, y)
    # It has no unknown labels.
    with pytest.raises(ValueError, match="a label is needed.$"):
        flat_accuracy_score(y, crf.predict(X))


def test_unknown_labels_are_left_out_of_the_score():
    X, _ = draw(3)
    crf = seeded(SDCACRF, alpha=ALPHA, unknown_label=-100).fit(X, KNOWN)
    predicted = crf.predict(X).tolist()
    wrong = [[(label + 1) % 3 for label in labels] for labels in predicted]
    y = [labels[:1] + [None] * len(labels[1:]) for labels in predicted]
    assert crf.score(X, y) == 1.0
    y[0] = wrong[0]
    assert crf.score(X, y) == 0.75
    assert crf.score(X, y, sample_weight=[0, 1, 1, 1, 1]) == 1.0
    y[0] = [-100]
    assert crf.score(X, y) == 1.0
    with pytest.raises(ValueError, match="y has no known label: there is nothing"):
        crf.score(X, [[None] * len(labels) for labels in predicted])


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (
            [["a", set()], ["b"]],
            ValueError,
            "y: sequence 0, position 1 is an empty set",
        ),
        (
            [[None, None], [None]],
            ValueError,
            "y has 3 positions, and no label is known",
        ),
        ([["a", None], [1]], TypeError, "y: sequence 1, position 0 is of type int 1"),
        ([["a", {"b", 1}], [None]], TypeError, "y: sequence 0, position 1 is of type "),
        ([[1, None], [0.5]], TypeError, "y: sequence 1, position 0 is of type float"),
        ([[1.0, None], [0.5]], ValueError, "y: sequence 1, position 0 .* continuous"),
        ([["a", None], [np.nan]], ValueError, "y: sequence 1, position 0 .* needed"),
    ],
)
def test_what_is_refused(y, error, message):
    X = [np.ones((2, 1)), np.ones((1, 1))]
    with pytest.raises(error, match=message):
        SDCACRF().fit(X, y)


def test_known_labels_without_an_allowed_path():
    X = [np.ones((length, 1)) for length in (1, 4, 0, 2)]
    y = [["O"], ["O", None, {"I-A", "I-B"}, "O"], [], ["B-A", {"I-B", "B-B"}]]
    assert SDCACRF(transitions="BIO").fit(X, y).n_iter_ > 0
    y[1][1] = "O"
    message = r"y: sequence 1, item 2: no path of labels .* transitions='BIO'"
    with pytest.raises(ValueError, match=message):
        SDCACRF(transitions="BIO").fit(X, y)
    y[1][1] = None
    y[3][1] = "I-B"
    with pytest.raises(ValueError, match="y: sequence 3, item 1: no path"):
        SDCACRF(transitions="BIO").fit(X, y)
    pairs = [("B-A", None), ("O", None)]
    pairs += [(a, b) for a in ("O", "B-A", "I-A", "I-B", "B-B") for b in pairs[0][:1]]
    with pytest.raises(ValueError, match="y: sequence 1, item 2: no path"):
        SDCACRF(transitions=pairs).fit(X, y)


def test_observed_transitions_are_those_between_known_labels():
    X = [np.ones((3, 1)), np.ones((2, 1))]
    crf = SDCACRF(transitions="observed").fit(X, [["a", "b", "a"], [None, "b"]])
    expected = [[-np.inf, 0.0], [0.0, -np.inf]]
    assert (np.isinf(crf.transition_) == np.isinf(expected)).all()
    assert np.isinf(crf.start_).tolist() == [False, True]
    y = [["a", "b", "a"], ["b", None, None]]
    with pytest.raises(ValueError, match="y: sequence 1, item 2: no path"):
        SDCACRF(transitions="observed").fit(X[:1] * 2, y)


@pytest.mark.parametrize("loss", ["softmax_margin", "hinge"])
def test_other_losses_need_every_label(loss):
    X, rows = draw(3)
    for y in (KNOWN, as_dicts(rows)):
        with pytest.raises(ValueError, match=f'loss="{loss}" needs one label at every'):
            SDCACRF(loss=loss).fit(X, y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_warm_start_goes_on(estimator):
    X, _ = draw(3)
    crf = seeded(estimator, alpha=ALPHA, warm_start=True, **CONVERGED)
    first = crf.fit(X, KNOWN).primal_objective_
    n_iter = crf.n_iter_
    again = crf.fit(X, KNOWN)
    assert again.n_iter_ < n_iter
    assert again.primal_objective_ <= first + 1e-12


def test_a_temperature_scales_the_loss_of_partly_known_labels():
    X, _ = draw(3)
    options = {"alpha": ALPHA, **CONVERGED}
    crf = seeded(SDCACRF, temperature=2.0, **options).fit(X, KNOWN)
    own = {"alpha": 2.0 * ALPHA, "tol": 1e-9, "max_iter": 5000}
    plain = seeded(SDCACRF, **own).fit(X, KNOWN)
    assert_allclose(flat_weights(crf), 2.0 * flat_weights(plain), atol=1e-4)
    assert_allclose(crf.primal_objective_, 2.0 * plain.primal_objective_, rtol=1e-8)


@pytest.mark.parametrize("dtype", [float, np.float32])
def test_arrays_of_probabilities_are_soft_labels(dtype):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(t, 2)) for t in LENGTHS]
    y = [rng.dirichlet(np.ones(3), t).astype(dtype) for t in LENGTHS]
    y = [rows / rows.sum(axis=1, keepdims=True) for rows in y]
    dicts = [[dict(enumerate(map(float, row))) for row in rows] for rows in y]
    expected = SDCACRF(ALPHA, tol=1e-9, random_state=0).fit(X, dicts)
    found = SDCACRF(ALPHA, tol=1e-9, random_state=0).fit(X, y)
    assert found.classes_.tolist() == [0, 1, 2]
    assert_allclose(found.coef_, expected.coef_, atol=1e-12)
    # As predict_proba returns them, and as one array.
    of_teacher = found.predict_proba(X)
    assert SDCACRF(random_state=0).fit(X, of_teacher).classes_.tolist() == [0, 1, 2]
    same = SDCACRF(random_state=0).fit(X[:1] * 2, np.array([y[0], y[0]]))
    assert same.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("as_frame", [False, True])
def test_rows_of_a_table_may_have_probabilities_of_labels(as_frame):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(12, 2)), rng.dirichlet(np.ones(3), 12)
    frames = pd.DataFrame if as_frame else np.asarray
    given = frames(X), frames(y)
    for lengths in [1] * 12, [5, 4, 3]:
        bounds = np.cumsum(lengths)[:-1]
        expected = LBFGSCRF(ALPHA).fit(np.split(X, bounds), np.split(y, bounds))
        found = LBFGSCRF(ALPHA).fit(*given, lengths=lengths)
        assert_allclose(found.coef_, expected.coef_, atol=1e-12)
        assert found.classes_.tolist() == [0, 1, 2]
    alone = LBFGSCRF(ALPHA).fit(*given)
    assert alone.predict_proba(given[0]).shape == (12, 3)
    assert set(alone.predict(given[0])) <= {0, 1, 2}
    with pytest.raises(ValueError, match="X has 12 rows, but y has 11 labels"):
        LBFGSCRF().fit(X, y[1:])
    with pytest.raises(ValueError, match=r"the sum 1"):
        LBFGSCRF().fit(X, 2 * y)
    with pytest.raises(ValueError, match="y should be a 1d array"):
        LBFGSCRF().fit(X, y > 0.5)


def test_arrays_of_sure_probabilities_are_labels():
    classes, codes, rows = encode_training_labels([np.eye(3)[[2, 0]]], [2])
    assert classes.tolist() == [0, 1, 2]
    assert codes.tolist() == [2, 0]
    assert rows is None


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[[0.5, 0.6], [0, 1]]], "y: sequence 0, position 0 has the row .0.5, 0.6."),
        ([[[0, 1], [-0.5, 1.5]]], "sequence 0, position 1 has the row"),
        ([[[0, 1], [np.nan, 1]]], "sequence 0, position 1 has the row"),
        ([[[0.0, 1]]], r"sequence 0 is an array .* of shape \(1, 2\), but .* \(2, 2\)"),
        ([[[0.0, 1]] * 2] * 2, "X has 1 sequences, but y has 2"),
    ],
)
def test_wrong_arrays_of_probabilities_are_named(y, message):
    y = [np.array(rows, dtype=float) for rows in y]
    with pytest.raises(ValueError, match=message):
        SDCACRF().fit([np.ones((2, 1))], y)
