"""SparseMAP on all structures: mixtures and fits against enumerated labellings."""

import pickle
from copy import copy
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tree_twin import trees as all_trees

from matrix_models import (
    ALPHA,
    MODELS,
    OF_HINGE,
    check_same_optimum,
    dense,
    segment_features,
)
from reference import least_mixture_loss, mixture
from samples import make_solver
from skcrf_sdca import SDCACRF, DependencyCRF
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.metrics import extract_spans
from skcrf_sdca.objective.losses import new_loss
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.persistence import load_model, save_model
from skcrf_sdca.selection import alpha_path
from skcrf_sdca.serving import Predictor
from skcrf_sdca.solvers.bcfw import BCFW
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.chain.structure import Chain

TAU = 0.5


def nodes_of(model, codes):
    """Return the local expectations of labellings, flat; nodes may be pairs."""
    if model.options.get("order") == 2 or "edge_features" in model.options:
        codes = np.column_stack([codes[:, 0], 3 + 3 * codes[:, :-1] + codes[:, 1:]])
        return np.eye(12)[codes].reshape(len(codes), -1)
    return np.eye(3)[codes].reshape(len(codes), -1)


def solver_of(model):
    """Return the name of a solver that is block-coordinate Frank-Wolfe."""
    return next(s for s in ("sdca", "crf", "oeg") if s in model.solvers)


def fitted(name, solver=None, **parameters):
    model = MODELS[name]
    options = {"loss": "sparsemap", "temperature": TAU, "tol": 1e-4, **parameters}
    crf = model.new(solver or solver_of(model), **options)
    return model, crf.fit(model.X, model.y)


@pytest.mark.parametrize("name", OF_HINGE)
@pytest.mark.parametrize("loss", ["sparsemap", "smooth_hinge"])
def test_the_objective_is_that_of_all_labellings(name, loss):
    model, crf = fitted(name, loss=loss)
    value, classes = 0.0, crf.classes_.tolist()
    for labels, found in zip(model.labels(), model.labellings(crf), strict=True):
        right = np.array([classes.index(label) for label in labels])
        cost = (found.codes != right).sum(axis=1) if loss == "smooth_hinge" else 0.0
        possible = found.scores > -np.inf
        scores = ((found.scores + cost) / TAU)[possible]
        largest, _ = mixture(scores, nodes_of(model, found.codes[possible]))
        own = (found.codes == right).all(axis=1)
        value += (TAU * largest - found.scores[own].item()) / len(model.labels())
    weights = model.weights(crf)
    value += ALPHA / 2 * weights @ weights
    assert_allclose(crf.primal_objective_, value, rtol=1e-7)


@pytest.mark.parametrize("name", OF_HINGE)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_gap_of_every_epoch_bounds_the_distance(name):
    model, crf = fitted(name, tol=1e-6)
    assert crf.duality_gap_ <= 1e-6 * crf.primal_objective_
    primal, dual, gap = (crf.history_[key] for key in ("primal", "dual", "gap"))
    assert (primal - crf.primal_objective_ <= gap + 1e-12).all()
    assert (dual <= crf.primal_objective_ + 1e-12).all()


def features_of(model, crf):
    """Yield the features (n_labellings, n_weights) of all labellings of each item.

    Scores are linear in the weights: each feature is the score by one weight alone.
    """
    blocks = {}
    # A row of a table has no ends.
    names = ["coef_", "intercept_"] if model.is_table else model.blocks
    for name in names:
        if (block := getattr(crf, name)) is not None:
            parts = block if name == "higher_transitions_" else [dense(block)]
            blocks[name] = [np.where(own > -np.inf, 0.0, own) for own in parts]
    unit = copy(crf)
    for name, parts in blocks.items():
        setattr(unit, name, parts[0] if name != "higher_transitions_" else parts)
    is_shared = not getattr(crf, "directed", True)
    columns = []
    for name, parts in blocks.items():
        for part in parts:
            for place in zip(*np.nonzero(part == 0.0), strict=True):
                other = (place[0], *place[:0:-1]) if name == "edge_coef_" else place
                if is_shared and place > other:
                    continue
                part[place] = 1.0
                if is_shared:
                    part[other] = 1.0
                columns.append([own.scores for own in model.labellings(unit)])
                part[place] = 0.0
                if is_shared:
                    part[other] = 0.0
    return map(np.column_stack, zip(*columns, strict=True))


def items_of(model, crf, loss):
    """Return the labellings of all items as `least_mixture_loss` takes them."""
    items, classes = [], crf.classes_.tolist()
    every = model.labellings(crf), features_of(model, crf)
    for labels, found, phi in zip(model.labels(), *every, strict=True):
        possible = found.scores > -np.inf
        right = [classes.index(label) for label in labels]
        own = (found.codes[possible] == right).all(axis=1).argmax()
        nodes = nodes_of(model, found.codes[possible])
        cost = np.zeros(nodes.shape[1])
        if loss == "smooth_hinge":
            wrong = (found.codes[possible] != right).sum(axis=1)
            cost = np.linalg.lstsq(nodes, wrong, rcond=None)[0]
        items.append((phi[possible], nodes, own, cost))
    return items


# Allowed pairs without a weight are no features.
WITH_ALL_WEIGHTS = [name for name in OF_HINGE if "observed" not in name]


@pytest.mark.parametrize("name", WITH_ALL_WEIGHTS)
@pytest.mark.parametrize("loss", ["sparsemap", "smooth_hinge"])
def test_a_program_over_all_labellings_has_the_same_optimum(name, loss):
    model, crf = fitted(name, loss=loss, tol=1e-8)
    optimum = least_mixture_loss(items_of(model, crf, loss), ALPHA, TAU)
    assert_allclose(crf.primal_objective_, optimum, rtol=2e-8)


# F is smooth where nothing is tied; elsewhere steps along gradients may end at a kink:
# they do not in these chains, where u has the pairs, or tuples, that scores are of.
@pytest.mark.parametrize("name", ["table", "edge features", "observed label tuples"])
@pytest.mark.parametrize("l1_ratio", [0.0, 0.4])
def test_full_passes_find_the_same_optimum(name, l1_ratio):
    _, crf = fitted(name, tol=1e-8, l1_ratio=l1_ratio, max_iter=2000)
    _, other = fitted(name, "lbfgs", tol=1e-8, l1_ratio=l1_ratio, max_iter=500)
    check_same_optimum(crf, other)
    assert other.duality_gap_ <= 1e-8 * other.primal_objective_
    assert_allclose(other.primal_objective_, crf.primal_objective_, rtol=1e-8)


@cache
def kept(name):
    return fitted(name)


def lists_of(crf, model):
    """Return the support with labellings as lists, also that of a table."""
    for own in crf.support(model.X):
        pairs = [([labels] if model.is_table else labels, p) for labels, p in own]
        yield [labels for labels, _ in pairs], np.array([p for _, p in pairs])


def one_hot(crf, labels):
    classes = crf.classes_.tolist()
    return np.eye(len(classes))[[classes.index(label) for label in labels]]


@pytest.mark.parametrize("name", OF_HINGE)
def test_probabilities_are_those_of_the_quadratic_program(name):
    model, crf = kept(name)
    found = crf.predict_proba(model.X)
    for own, proba in zip(model.labellings(crf), found, strict=True):
        possible = own.scores > -np.inf
        codes = own.codes[possible]
        nodes = nodes_of(model, codes)
        _, p = mixture(own.scores[possible] / TAU, nodes)
        of_labels = (p @ nodes).reshape(codes.shape[1], -1, 3).sum(axis=1)
        assert_allclose(np.reshape(proba, of_labels.shape), of_labels, atol=1e-5)


@pytest.mark.parametrize("name", OF_HINGE)
def test_all_answers_are_those_of_the_support(name):
    model, crf = kept(name)
    proba, pairs = crf.predict_proba(model.X), crf.predict_edge_proba(model.X)
    measured = crf.uncertainty(model.X, measure="entropy")
    likely = crf.uncertainty(model.X, measure="least_confidence")
    n_zero = 0
    for i, (labellings, shares) in enumerate(lists_of(crf, model)):
        hot = np.array([one_hot(crf, labels) for labels in labellings])
        node = np.einsum("s,stk->tk", shares, hot)
        assert len({tuple(labels) for labels in labellings}) == len(labellings)
        assert (np.diff(shares) <= 0.0).all()
        assert_allclose(shares.sum(), 1.0, rtol=1e-12)
        assert_allclose(np.reshape(proba[i], node.shape), node, atol=1e-12)
        ends = np.asarray(model.ends(model.X[i]), dtype=int).reshape(-1, 2)
        edge = np.einsum(
            "s,sej,sek->ejk", shares, hot[:, ends[:, 0]], hot[:, ends[:, 1]]
        )
        assert_allclose(pairs[i], edge, atol=1e-12)
        assert_allclose(measured[i], -shares @ np.log(shares), atol=1e-12)
        assert_allclose(likely[i], 1.0 - shares[0], atol=1e-12)
        n_zero += np.count_nonzero(node == 0.0)
    assert n_zero > 0
    drawn = crf.sample(model.X, 20, random_state=0)
    for i, (labellings, _) in enumerate(lists_of(crf, model)):
        for own in drawn[:, i]:
            assert ([own] if model.is_table else own) in labellings


# With a large alpha dozens of labellings have a share.
def test_no_labelling_of_a_support_is_a_mixture_of_others():
    X, y = make_chains(20, random_state=0)[:2]
    crf = SDCACRF(1.0, loss="sparsemap", tol=1e-2).fit(X, y)
    sizes = []
    for own in crf.support(X):
        nodes = np.array([one_hot(crf, labels).ravel() for labels, _ in own])
        assert np.linalg.matrix_rank(nodes) == len(own)
        sizes.append(len(own))
    assert max(sizes) > 10


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_shares_are_positive_with_the_sum_1_whatever_the_size_of_scores(size):
    rng = np.random.default_rng(0)
    for _ in range(300):
        n, n_labels = rng.integers(2, 8), rng.integers(2, 6)
        # Small numbers with many ties.
        local = size * rng.integers(-1, 2, size=(n, n_labels))
        transition = size * rng.integers(-1, 2, size=(n_labels, n_labels))
        chain = Chains(local, transition, np.array([0, n]))
        ((_, shares),) = chain.mixed_labels()
        assert (shares > 0.0).all()
        assert_allclose(shares.sum(), 1.0, rtol=1e-12)
        node, _, _ = chain.mixed_expectations(np.ones(1))
        assert_allclose(node.sum(axis=1), 1.0, rtol=1e-12)
        assert chain.excess[0] <= 1e-12 * (1.0 + size)


@pytest.mark.parametrize("name", OF_HINGE)
def test_files_and_predictors_answer_alike(name, tmp_path):
    model, crf = kept(name)
    save_model(crf, tmp_path / "model.crf")
    loaded = load_model(tmp_path / "model.crf")
    if "segment_features" in model.options:
        loaded.set_params(segment_features=segment_features)
    for other in (loaded, pickle.loads(pickle.dumps(crf))):
        assert other.support(model.X).tolist() == crf.support(model.X).tolist()
    if "segment_features" in model.options or model.is_table:
        return
    predictor = Predictor.load(tmp_path / "model.crf")
    # Shares need not be unique, the probabilities of labels are.
    for x, own in zip(model.X, crf.predict_proba(model.X), strict=True):
        assert_allclose(predictor.marginals(x), own, atol=1e-9)
        found = [p for _, p in predictor.n_best(x, 99)]
        assert_allclose(sum(found), 1.0, rtol=1e-12)
        assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("name", ["chain", "tuples", "segments"])
def test_spans_have_the_shares_of_the_labellings_that_have_them(name):
    model, crf = kept(name)
    found = crf.predict_spans(model.X)
    for spans, (labellings, shares) in zip(found, lists_of(crf, model), strict=True):
        for *span, p in spans:
            has = [tuple(span) in extract_spans(labels) for labels in labellings]
            assert_allclose(p, shares[has].sum(), atol=1e-12)
    assert any(map(len, found))


def test_log_z_is_refused_with_the_reason():
    model, crf = kept("chain")
    for method in ("log_partition", "log_likelihood"):
        with pytest.raises(AttributeError, match="has no log Z: take `support`, or"):
            getattr(crf, method)
    predictor = Predictor.from_estimator(crf)
    with pytest.raises(ValueError, match="has no log Z: take n_best"):
        predictor.log_partition(model.X[0])
    plain = model.new("crf").fit(model.X, model.y)
    with pytest.raises(AttributeError, match='few .* loss="sparsemap" or loss="smoo'):
        plain.support(model.X)
    assert not hasattr(model.new("crf"), "support")
    assert hasattr(model.new("crf", loss="sparsemap"), "support")
    again = crf.__class__(**crf.get_params()).set_params(loss="log_loss")
    assert np.isfinite(again.fit(model.X, model.y).log_partition(model.X)).all()


def test_a_file_with_another_entropy_is_refused(tmp_path):
    model, crf = kept("chain")
    other = copy(crf)
    other.entropy_index_ = 3.0
    save_model(other, tmp_path / "model.crf")
    with pytest.raises(ValueError, match=r"must be one of \(1.0, 1.5, 2.0\)"):
        load_model(tmp_path / "model.crf")


@pytest.mark.parametrize("projective", [False, True])
def test_trees_of_sentences(projective):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n * (n + 1), 3)) for n in (1, 2, 3, 4)]
    y = [[0], [2, 0], [0, 1, 1], [2, 0, 4, 2]]
    crf = DependencyCRF(
        0.1,
        loss="sparsemap",
        temperature=TAU,
        single_root=False,
        projective=projective,
        tol=1e-9,
        max_iter=2000,
    ).fit(X, y)
    items = []
    for i, (x, heads) in enumerate(zip(X, y, strict=True)):
        n = len(heads)
        trees = all_trees(n, single_root=False, projective=projective)
        arcs = trees * n + np.arange(n)
        score = x @ crf.coef_[0] + crf.intercept_[0]
        in_tree = np.zeros((len(trees), n * (n + 1)))
        np.put_along_axis(in_tree, arcs, 1.0, axis=1)
        nodes = np.hstack([in_tree, 1.0 - in_tree])
        _, p = mixture(score[arcs].sum(axis=1) / TAU, nodes)
        u = (p @ nodes)[: n * (n + 1)]
        assert_allclose(crf.predict_proba(X)[i].ravel(), u, atol=1e-5)
        shares = [p for _, p in crf.support(X)[i]]
        assert_allclose(sum(shares), 1.0, rtol=1e-12)
        features = in_tree @ np.column_stack([x, np.ones(len(x))])
        right = (trees == heads).all(axis=1).argmax()
        items.append((features, nodes, right, np.zeros(nodes.shape[1])))
    optimum = least_mixture_loss(items, 0.1, TAU)
    assert_allclose(crf.primal_objective_, optimum, rtol=2e-8)


@pytest.mark.parametrize("solver", ["sdca", "lbfgs"])
def test_unknown_and_soft_labels_are_refused(solver):
    model = MODELS["chain"]
    crf = model.new(solver, loss="sparsemap")
    unknown = [[None, *labels[1:]] for labels in model.y]
    soft = [np.full((len(labels), 3), 1.0 / 3.0) for labels in model.y]
    for y in (unknown, soft):
        with pytest.raises(
            ValueError, match='needs one label .*set loss="log_loss", or'
        ):
            crf.fit(model.X, y)


def test_scores_of_a_prior_are_part_of_the_loss():
    model = MODELS["chain"]
    prior = model.new("sdca", alpha=1.0).fit(model.X, model.y)
    crf = model.new("sdca", loss="sparsemap", tol=1e-5)
    crf.fit(model.X, model.y, prior=prior)
    assert 0.0 < crf.duality_gap_ <= 1e-5 * crf.primal_objective_
    again = model.new("sdca", loss="sparsemap", tol=1e-5)
    again.fit(model.X, model.y)
    # The penalty counts changes of the prior alone.
    assert crf.primal_objective_ < again.primal_objective_


def test_a_path_of_alphas_starts_at_the_last_mixture():
    model = MODELS["chain"]
    crf = model.new("sdca", loss="smooth_hinge", tol=1e-5)
    warm = list(alpha_path(crf, model.X, model.y, [1.0, 0.1]))[-1]
    cold = crf.set_params(alpha=0.1).fit(model.X, model.y)
    check_same_optimum(warm, cold)
    assert_allclose(warm.primal_objective_, cold.primal_objective_, rtol=2e-5)


def test_a_weighted_fit_is_that_of_repeated_sequences():
    model = MODELS["chain"]
    crf = model.new("sdca", loss="smooth_hinge", tol=1e-5)
    twice = crf.fit(model.X + model.X[:2], model.y + model.y[:2]).primal_objective_
    crf.fit(model.X, model.y, sample_weight=[2.0, 2.0, 1.0, 1.0, 1.0])
    assert_allclose(crf.primal_objective_, twice, rtol=2e-5)


@pytest.mark.parametrize("l1_ratio", [0.5, 1.0])
def test_sparse_weights_have_a_certificate(l1_ratio):
    model, crf = fitted("chain", loss="smooth_hinge", l1_ratio=l1_ratio)
    assert crf.duality_gap_ <= 1e-4 * crf.primal_objective_
    assert 0 < crf.n_nonzero_ < model.weights(crf).size
    primal, dual = crf.history_["primal"], crf.history_["dual"]
    assert dual.max() <= primal.min() + 1e-12


def test_relaxed_sums_are_refused():
    model = MODELS["reweighted graphs"]
    with pytest.raises(ValueError, match="needs a structure with a proven best"):
        model.new("sdca", loss="sparsemap").fit(model.X, model.y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_threads_reach_the_optimum():
    X, y = make_chains(60, random_state=0)[:2]
    options = {"loss": "smooth_hinge", "tol": 1e-3, "random_state": 0}
    one = SDCACRF(0.1, **options).fit(X, y)
    two = SDCACRF(0.1, n_jobs=2, **options).fit(X, y)
    check_same_optimum(one, two)
    assert two.duality_gap_ <= 1e-3 * two.primal_objective_


# Proximal points change the curvature of the penalty in each epoch.
@pytest.mark.parametrize("loss", ["sparsemap", "smooth_hinge"])
def test_a_small_alpha_needs_few_epochs(loss):
    X, y = make_chains(130, random_state=0)[:2]
    crf = SDCACRF(1e-4, loss=loss, max_iter=40, random_state=0).fit(X, y)
    assert crf.duality_gap_ <= crf.gap_target_


@pytest.mark.parametrize("position", ["first", "later"])
def test_a_warm_start_goes_on(position):
    model = MODELS["chain"]
    crf = model.new("sdca", loss="sparsemap", tol=1e-5, warm_start=True)
    if position == "later":
        crf.set_params(alpha=0.2).fit(model.X, model.y).set_params(alpha=ALPHA)
    n_epochs = crf.fit(model.X, model.y).n_iter_
    assert crf.fit(model.X, model.y).n_iter_ < n_epochs / 5


# Without features the line search has the scores of transitions alone.
@pytest.mark.parametrize("loss", ["sparsemap", "hinge"])
def test_the_first_visit_of_a_state_does_not_lower_the_dual(loss):
    X, y = make_chains(10, random_state=0)[:2]
    labels = np.concatenate(y).astype(np.int32)
    X = PackedSequences.from_sequences([np.zeros((len(x), 1)) for x in X])
    loss = new_loss(loss, cost=1.0 - np.eye(3))
    problem = Problem(Chain(X, 3), labels, 1.0, loss=loss)
    solver = make_solver(BCFW, problem)
    for _ in range(10):
        solver.epoch()
    for i in range(10):
        again = make_solver(BCFW, problem, state=solver.state())
        dual = again.certify().dual
        again.kernel.epoch_in_order(np.array([i]))
        assert again.certify().dual >= dual - 1e-14


# The labellings kept for mixtures are near mu, those of the hinge are mu.
@pytest.mark.parametrize(
    ("first", "then"), [("sparsemap", "hinge"), ("hinge", "sparsemap")]
)
def test_a_warm_start_takes_the_state_of_another_loss(first, then):
    model = MODELS["chain"]
    crf = model.new("sdca", loss=first, tol=1e-2, warm_start=True)
    crf.fit(model.X, model.y).set_params(loss=then, tol=1e-4).fit(model.X, model.y)
    cold = model.new("sdca", loss=then, tol=1e-4).fit(model.X, model.y)
    check_same_optimum(crf, cold)


def test_visits_begin_with_the_labellings_of_the_visits_before():
    X, y = make_chains(60, random_state=0)[:2]
    crf = SDCACRF(0.01, loss="sparsemap", random_state=0).fit(X, y)
    calls = crf.history_["oracle_calls"] / crf.history_["epoch"]
    assert calls[-1] < 0.7 * calls[0]


def test_a_visit_takes_the_step_of_largest_dual():
    X, y = make_chains(10, n_labels=3, length=(2, 5), random_state=0)[:2]
    labels = np.concatenate(y).astype(np.int32)
    chain = Chain(PackedSequences.from_sequences(X), 3)
    problem = Problem(chain, labels, 0.01, loss=new_loss("sparsemap"))
    solver = make_solver(BCFW, problem)
    for i in range(10):
        ends = [np.concatenate([own.ravel() for own in solver.marginals])]
        solver.kernel.epoch_in_order(np.array([i]))
        ends.append(np.concatenate([own.ravel() for own in solver.marginals]))

        def dual(share, ends=ends):
            mu = ends[0] + share * (ends[1] - ends[0])
            for own in solver.marginals:
                own.ravel()[:], mu = mu[: own.size], mu[own.size :]
            solver._set_point(solver.renormalize())
            return solver.certify().dual

        # A parabola, with its top at the step.
        first, middle, last = map(dual, (0.0, 0.5, 1.0))
        assert last > first + 1e-6
        assert middle - first == pytest.approx(0.75 * (last - first), rel=1e-6)
