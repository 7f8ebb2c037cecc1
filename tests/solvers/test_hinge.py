"""The hinge loss, the structural SVM: enumeration, a plain twin, and what users see."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

import reference
import twins
from samples import flat_weights, make_solver, seeded
from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.objective.losses import new_loss
from skcrf_sdca.objective.penalties import elastic_net
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.persistence import load_model, save_model
from skcrf_sdca.selection import alpha_path
from skcrf_sdca.solvers.bcfw import BCFW
from skcrf_sdca.solvers.samplers import SchemeNames
from skcrf_sdca.structures.chain.structure import Chain

N_LABELS, N_FEATURES, ALPHA = 3, 2, 0.2
COST = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.0], [3.0, 1.0, 0.0]])
HAMMING = 1.0 - np.eye(N_LABELS)
WEIGHT = np.array([1.0, 2.0, 0.5, 1.0])
# What a fit is given, and what that means: the matrix of costs, the sample weights.
FITS = {
    "hamming": ({}, HAMMING, None),
    "costs": ({"cost": COST}, COST, None),
    "margin": ({"cost": COST, "margin": 3.0}, 3.0 * COST, WEIGHT),
    "class weights": (
        {"class_weight": {1: 4.0, 2: 0.0}},
        np.array([1.0, 4.0, 0.0])[:, None] * HAMMING,
        WEIGHT,
    ),
    "elastic net": ({"cost": COST, "l1_ratio": 0.4}, COST, WEIGHT),
}


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(length, N_FEATURES)) for length in (1, 2, 3, 3)]
    return X, [[0], [0, 1], [2, 1, 0], [1, 0, 2]]


class Paths:
    """All paths of all sequences: features less those of the labels, and costs."""

    def __init__(self, X, y, cost, n_labels=N_LABELS, weight=None, mask=None):
        self.c = reference.loss_weights(len(X), weight)
        self.changes, self.costs = [], []
        for x, labels in zip(X, y, strict=True):
            paths = reference.all_paths(len(x), n_labels)
            allowed = np.ones(len(paths), dtype=bool)
            if mask is not None:
                allowed = mask[paths[:, :-1], paths[:, 1:]].all(axis=1)
            features = reference.all_features(x, n_labels)[allowed]
            target = reference.features(x, labels, n_labels)
            self.changes.append(features - target)
            self.costs.append(cost[np.array(labels), paths[allowed]].sum(axis=1))

    def primal(self, w, l1_ratio=0.0):
        """P(w): the largest cost + score less that of the labels."""
        pairs = zip(self.costs, self.changes, strict=True)
        losses = [(cost + change @ w).max() for cost, change in pairs]
        ridge = (1 - l1_ratio) / 2 * w @ w + l1_ratio * np.abs(w).sum()
        return ALPHA * ridge + self.c @ losses

    def optimum(self, l1_ratio=0.0):
        """min P, as a QP with a slack for each sequence: w = positive - negative."""
        n_weights, n = self.changes[0].shape[1], len(self.changes)
        rows = []
        for i, change in enumerate(self.changes):
            slack = np.zeros((len(change), n))
            slack[:, i] = 1.0
            rows.append(np.hstack([-change, change, slack]))
        rows, costs = np.vstack(rows), np.concatenate(self.costs)

        def value(z):
            w = z[:n_weights] - z[n_weights:-n]
            l1 = l1_ratio * z[:-n].sum()
            return ALPHA * ((1 - l1_ratio) / 2 * w @ w + l1) + self.c @ z[-n:]

        def gradient(z):
            w = z[:n_weights] - z[n_weights:-n]
            slope = ALPHA * (1 - l1_ratio) * w
            l1 = ALPHA * l1_ratio
            return np.concatenate([slope + l1, l1 - slope, self.c])

        start = np.append(np.zeros(2 * n_weights), [cost.max() for cost in self.costs])
        found = minimize(
            value,
            start,
            jac=gradient,
            method="SLSQP",
            bounds=[(0.0, None)] * len(start),
            constraints={
                "type": "ineq",
                "fun": lambda z: rows @ z - costs,
                "jac": lambda z: rows,
            },
            options={"ftol": 1e-12, "maxiter": 500},
        )
        assert found.success, found.message
        return found.fun


def hinge_problem(X, y, cost, n_labels=N_LABELS, *, l1_ratio=0.0, **options):
    chains = Chain(PackedSequences.from_sequences(X), n_labels, **options)
    labels = np.concatenate(y).astype(np.int32)
    loss, penalty = new_loss("hinge", cost=cost), elastic_net(l1_ratio)
    return Problem(chains, labels, ALPHA, loss=loss, penalty=penalty)


def check_history(crf, optimum):
    """Both objectives bound the optimum at every epoch, and end near to it."""
    primal, dual, gap = (crf.history_[name] for name in ("primal", "dual", "gap"))
    assert (gap >= 0.0).all()
    assert (dual <= optimum + 1e-8).all()
    assert (optimum <= primal + 1e-8).all()
    assert (primal - optimum <= gap + 1e-8).all()
    assert_allclose(primal - dual, gap, atol=1e-12)
    assert_allclose(crf.primal_objective_, optimum, rtol=0, atol=2e-3)


@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_optimum_is_that_of_all_paths(data, name):
    options, cost, weight = FITS[name]
    paths, l1_ratio = Paths(*data, cost, weight=weight), options.get("l1_ratio", 0.0)
    optimum = paths.optimum(l1_ratio)
    for sampling in ("gap", "uniform"):
        crf = SDCACRF(ALPHA, loss="hinge", tol=1e-4, max_iter=2000, random_state=0)
        crf.set_params(sampling=sampling, **options)
        crf.fit(*data, sample_weight=weight)
        value = paths.primal(flat_weights(crf), l1_ratio)
        assert_allclose(crf.primal_objective_, value, rtol=1e-12)
        check_history(crf, optimum)
        assert crf.gap_target_ == 1e-4 * crf.primal_objective_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_with_forbidden_transitions(data):
    X, y = data
    mask = np.ones((N_LABELS, N_LABELS), dtype=bool)
    seen = {pair for path in y for pair in zip(path[:-1], path[1:], strict=True)}
    for pair in np.ndindex(mask.shape):
        mask[pair] = pair in seen
    crf = SDCACRF(ALPHA, loss="hinge", cost=COST, transitions=mask, max_iter=2000)
    crf.set_params(random_state=0).fit(X, y)
    paths = Paths(X, y, COST, mask=mask)
    weights = np.where(np.isfinite(flat_weights(crf)), flat_weights(crf), 0.0)
    assert_allclose(crf.primal_objective_, paths.primal(weights), rtol=1e-12)
    check_history(crf, paths.optimum())
    assert all(
        mask[pair]
        for path in crf.predict(X)
        for pair in zip(path[:-1], path[1:], strict=True)
    )


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("n_labels", [1, 2, 3])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.4])
def test_primal_and_dual_by_enumeration(length, n_labels, l1_ratio):
    rng = np.random.default_rng(n_labels)
    X = [rng.normal(size=(length, N_FEATURES)) for _ in range(4)]
    y = [rng.integers(n_labels, size=length) for _ in X]
    cost = rng.random((n_labels, n_labels)) * (1.0 - np.eye(n_labels))
    problem = hinge_problem(X, y, cost, n_labels, l1_ratio=l1_ratio)
    paths = Paths(X, y, cost, n_labels)
    solver = make_solver(BCFW, problem)
    assert_allclose(solver.model.w, 0.0, atol=1e-12)
    for _ in range(5):
        solver.epoch()
        found, w = solver.certify(), solver.model.w
        flat = reference.flatten(
            [getattr(solver.model, name) for name in reference.Params._fields]
        )
        primal = paths.primal(flat, l1_ratio)
        mu = solver.marginals
        costs = sum(
            (cost[labels] * node).sum()
            for labels, node in zip(y, np.split(mu.local, len(X)), strict=True)
        )
        penalty = problem.penalty.conjugate(solver.v)
        dual = costs / len(X) - ALPHA * penalty
        assert_allclose(found.primal, primal, rtol=1e-12, atol=1e-14)
        assert_allclose(found.dual, dual, rtol=1e-10, atol=1e-12)
        assert found.gap >= primal - dual - 1e-14
        v = problem.dual_to_primal(mu.local, mu.tied_total(problem.weight))
        assert_allclose(problem.penalty.primal_point(v), w, atol=1e-12)


@pytest.mark.parametrize("sampling", SchemeNames("bcfw"))
def test_the_dual_never_falls(sampling):
    X, y = make_chains(n_sequences=40, random_state=0)
    cost = 1.0 - np.eye(3)
    for l1_ratio in (0.0, 0.4):
        problem = hinge_problem(X, y, cost, l1_ratio=l1_ratio)
        solver = make_solver(BCFW, problem, sampling=sampling)
        certificates = []
        for _ in range(60):
            solver.epoch()
            certificates.append(solver.certify())
        duals = np.array([c.dual for c in certificates])
        assert (np.diff(duals) >= -1e-9).all()
        assert certificates[-1].gap < 0.3 * certificates[0].gap
        assert solver.n_oracle_calls == 60 * len(X)


class BCFWTwin:
    """Frank-Wolfe with pairwise steps, uniform sampling, dense features, L2."""

    def __init__(self, X, y, cost, alpha, most):
        self.X, self.y, self.cost, self.alpha, self.most = X, y, cost, alpha, most
        self.n_labels = len(cost)
        # The labellings that mu_i mixes, with their shares.
        self.active = [{tuple(labels): 1.0} for labels in y]
        self.w = np.zeros(self.n_labels * (N_FEATURES + 3 + self.n_labels))
        self.gaps = np.zeros(len(X))
        self.n_full = 0

    def moments(self, path):
        node = np.eye(self.n_labels)[list(path)]
        return node, np.einsum("tj,tk->tjk", node[:-1], node[1:])

    def mean(self, i):
        """Return mu_i."""
        pairs = self.active[i].items()
        moments = [[share * m for m in self.moments(p)] for p, share in pairs]
        node, edge = zip(*moments, strict=True)
        return sum(node), sum(edge)

    def visit(self, i):
        x, active = self.X[i], self.active[i]
        coef, intercept, start, end, transition = twins.unpack(
            self.w, N_FEATURES, self.n_labels
        )
        scores = x @ coef + intercept + self.cost[self.y[i]]
        scores[0] += start
        scores[-1] += end

        def score(node, edge):
            return (node * scores).sum() + (edge * transition).sum()

        def score_of(path):
            return score(*self.moments(path))

        best = tuple(map(int, twins.best_path(scores, transition)[0]))
        self.gaps[i] = max(score_of(best) - score(*self.mean(i)), 0.0)
        if self.gaps[i] <= 0.0:
            return
        scale = 1.0 / (self.alpha * len(self.X))

        def direction(to, away):
            node, edge = (
                a - b for a, b in zip(self.moments(to), self.moments(away), strict=True)
            )
            v = -scale * twins.chain_features(x, node, edge)
            return v, (score_of(to) - score_of(away)) * scale / (v @ v)

        to = best
        away = min((p for p in active if active[p] > 0.0), key=score_of)
        if best not in active and len(active) == self.most:
            self.n_full += 1
            least = min((p for p in active if p != tuple(self.y[i])), key=active.get)
            v, step = direction(best, least)
            if score_of(best) > score_of(least) and 2.0 * step >= active[least]:
                self.w = self.w + active[least] * v
                active[best] = active.pop(least)
                return
            to = max(active, key=score_of)
        if score_of(to) <= score_of(away):
            return
        v, step = direction(to, away)
        step = min(step, active[away])
        active[to] = active.get(to, 0.0) + step
        active[away] -= step
        if active[away] == 0.0 and away != tuple(self.y[i]):
            del active[away]
        self.w = self.w + step * v


@pytest.mark.parametrize("most", [2, 3, 64])
def test_visits_are_those_of_the_twin(most, monkeypatch):
    monkeypatch.setattr("skcrf_sdca.solvers.bcfw.most_labellings", lambda _: most)
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(length, N_FEATURES)) for length in (1, 2, 5, 3, 7, 1)]
    y = [rng.integers(N_LABELS, size=len(x)).tolist() for x in X]
    solver = make_solver(BCFW, hinge_problem(X, y, COST), sampling="uniform")
    twin = BCFWTwin(X, y, COST, ALPHA, most)
    # After a step two labellings of the sequence tie, until others move the weights.
    order = rng.permutation(len(X))
    for _ in range(20):
        solver.kernel.epoch_in_order(order)
        for i in order:
            twin.visit(i)
    assert (twin.n_full > 0) == (most < 64)
    assert_allclose(solver.model.w, twin.w, atol=1e-10)
    assert_allclose(solver.gaps, twin.gaps, atol=1e-10)
    node, edge = zip(*map(twin.mean, range(len(X))), strict=True)
    assert_allclose(solver.marginals.local, np.vstack(node), atol=1e-10)
    tied = np.array([e.sum(axis=0) for e in edge])
    assert_allclose(solver.marginals.tied, tied, atol=1e-10)
    assert solver.active.size.tolist() == list(map(len, twin.active))


def test_where_nothing_costs_the_optimum_is_at_once(data):
    crf = SDCACRF(loss="hinge", margin=0.0, random_state=0).fit(*data)
    assert crf.duality_gap_ == crf.primal_objective_ == 0.0
    assert not crf.coef_.any()


@pytest.mark.parametrize("estimator", [LBFGSCRF, OEGCRF, SAGNUSCRF])
def test_other_estimators_refuse_it(data, estimator):
    crf = seeded(estimator, loss="hinge")
    with pytest.raises(ValueError, match=r"take .*SDCACRF|SDCACRF takes it"):
        crf.fit(*data)
    assert not hasattr(crf, "coef_")


@pytest.fixture(scope="module")
def chains():
    return make_chains(n_sequences=200, random_state=0)


@pytest.fixture
def crf(chains):
    return SDCACRF(0.05, loss="hinge", tol=0.02, random_state=0).fit(*chains)


def test_it_learns(crf, chains):
    best = LBFGSCRF(0.05).fit(*chains)
    assert crf.temperature_ == 0.0
    assert crf.duality_gap_ <= crf.gap_target_
    assert crf.score(*chains) > best.score(*chains) - 0.02


@pytest.mark.parametrize("l1_ratio", [0.0, 0.3])
def test_threads_give_the_same_bits_in_two_runs(chains, l1_ratio):
    options = {"loss": "hinge", "tol": 0.02, "random_state": 0, "l1_ratio": l1_ratio}
    one = SDCACRF(0.05, **options).fit(*chains)
    two, again = (SDCACRF(0.05, n_jobs=2, **options).fit(*chains) for _ in range(2))
    assert_array_equal(flat_weights(two), flat_weights(again))
    assert two.duality_gap_ <= two.gap_target_
    assert abs(two.primal_objective_ - one.primal_objective_) <= one.gap_target_


@pytest.mark.parametrize(
    "method",
    [
        "predict_proba",
        "predict_log_proba",
        "predict_edge_proba",
        "log_partition",
        "sample",
    ],
)
def test_probabilities_raise(crf, chains, method):
    with pytest.raises(AttributeError, match="scores, and no probabilities"):
        getattr(crf, method)(chains[0])


def test_more_probabilities_raise(crf, chains):
    X, y = chains
    types = [["I-X" if k else "O" for k in labels] for labels in y]
    tagger = SDCACRF(loss="hinge", tol=0.1, random_state=0).fit(X, types)
    for call in (
        lambda: tagger.predict_spans(X),
        lambda: crf.log_likelihood(X, y),
        lambda: crf.span_proba(X[:1], [[(0, 1, y[0][:1])]]),
    ):
        with pytest.raises(AttributeError, match="scores, and no probabilities"):
            call()
    with pytest.raises(ValueError, match="scores, and no probabilities"):
        crf.predict(X, decoding="posterior")


def test_the_n_best_paths_have_scores(crf, chains):
    X = [x[:length] for x, length in zip(chains[0], (1, 3, 5), strict=False)]
    for x, found in zip(X, crf.predict_n_best(X, 4), strict=True):
        nodes = x @ crf.coef_.T + crf.intercept_
        nodes[0] += crf.start_
        nodes[-1] += crf.end_
        scores = np.sort(reference.path_scores(nodes, crf.transition_))[::-1]
        assert_allclose([score for _, score in found], scores[:4], rtol=1e-9)
    first = [found[0][0] for found in crf.predict_n_best(X, 1)]
    assert first == crf.predict(X).tolist()


def test_an_explanation_has_scores_alone(crf, chains):
    explanation = crf.explain(chains[0][0], 0)
    assert explanation.probabilities is None
    assert "probability" not in repr(explanation) + explanation._repr_html_()
    assert explanation.reference == explanation.labels[1]
    assert explanation.scores[0] >= explanation.scores[1] == 0.0


def test_what_a_model_can_do_without_probabilities(crf, chains, tmp_path):
    X, _ = chains
    expected = crf.predict(X).tolist()
    save_model(crf, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.temperature_ == 0.0
    assert loaded.get_params()["loss"] == "hinge"
    assert loaded.predict(X).tolist() == expected
    with pytest.raises(AttributeError, match="no probabilities"):
        loaded.predict_proba(X)
    assert len(crf.state_features()) > 0
    assert crf.sparsify().predict(X).tolist() == expected
    assert crf.prune().predict(X).tolist() == expected
    known = [[None] * len(x) for x in X]
    assert crf.predict(X, known=known).tolist() == expected


def test_a_warm_start_continues(crf, chains):
    cold = crf.n_iter_
    crf.set_params(warm_start=True).fit(*chains)
    assert crf.fit(*chains).n_iter_ == 1
    crf.set_params(alpha=0.04).fit(*chains)
    assert crf.duality_gap_ <= crf.gap_target_
    assert cold > 1
    crf.set_params(loss="log_loss")
    with pytest.raises(ValueError, match="warm_start=True needs the state of a fit"):
        crf.fit(*chains)


def test_a_smaller_alpha_starts_from_a_mixture_of_largest_dual(crf, chains):
    X, y = chains
    crf.set_params(warm_start=True).fit(X, y)
    state, codes = crf._warm_state, [np.searchsorted(crf.classes_, p) for p in y]
    problem = hinge_problem(X, codes, 1.0 - np.eye(3))
    problem.alpha = problem.strength = 1e-4
    problem.feature_scale = problem.weight / 1e-4
    warm = make_solver(BCFW, problem, state=state).certify()
    raw = make_solver(BCFW, problem, state=state | {"alpha": 0.0}).certify()
    assert warm.dual > raw.dual
    assert warm.dual > 0.0


def test_a_path_of_alphas(chains):
    crf = SDCACRF(loss="hinge", tol=0.05, random_state=0)
    path = alpha_path(crf, *chains, [0.5, 0.1])
    assert [model.alpha_ for model in path] == [0.5, 0.1]
    assert all(model.duality_gap_ <= model.gap_target_ for model in path)


def test_rows_of_a_table_are_a_multiclass_svm():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = (X @ [2.0, 1.0] > 0).astype(int)
    crf = SDCACRF(0.01, loss="hinge", tol=0.01, max_iter=500, random_state=0).fit(X, y)
    assert crf.score(X, y) > 0.95
    scores = X @ crf.coef_.T + crf.intercept_ + (np.arange(2) != y[:, None])
    losses = scores.max(axis=1) - (scores - 0.0)[np.arange(80), y]
    norm = (crf.coef_**2).sum() + (crf.intercept_**2).sum()
    assert_allclose(crf.primal_objective_, 0.005 * norm + losses.mean(), rtol=1e-9)
