"""Chains over the label tuples of data alone, beside enumeration of all label paths."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from tuple_twin import ALPHA, MODELS, SOLVERS, D, K, Twin, flat_weights, tiny_data

from samples import seeded
from skcrf_sdca import CRF, LBFGSCRF, OEGCRF, SDCACRF, load_model, save_model
from skcrf_sdca.structures.chain import tuple_scores
from skcrf_sdca.structures.chain.observed_chain import observed_label_tuples
from skcrf_sdca.structures.chain.tuples import LabelTuples

every_model = pytest.mark.parametrize("name", MODELS)
X, Y = tiny_data()
# Label 0 may not follow label 1: no sequence has this pair.
ALLOWED = np.ones((K, K), dtype=bool)
ALLOWED[1, 0] = False


def windows(y, length):
    """The labels that stand in a row in data."""
    return {tuple(own[t : t + length]) for own in y for t in range(len(own))} - {
        tuple(own[t:]) for own in y for t in range(len(own)) if len(own) - t < length
    }


def existing(y, order):
    """Which weights exist, in the order of the twin."""
    blocks = [np.ones(K * D + 3 * K, dtype=bool)]
    for length in range(2, order + 2):
        block = np.zeros(length * (K,), dtype=bool)
        block[tuple(np.transpose(sorted(windows(y, length))))] = True
        blocks.append(block.ravel())
    pairs = blocks[1].reshape(K, K, 1)
    return np.concatenate([*blocks, np.broadcast_to(pairs, (K, K, D)).ravel()])


class ObservedTwin(Twin):
    """A twin without the features whose weights do not exist."""

    def __init__(self, y, allowed=None, **options):
        super().__init__(X, **options)
        self.exists = existing(y, options.get("order", 1))
        for i, paths in enumerate(self.paths):
            kept = np.ones(len(paths), dtype=bool)
            if allowed is not None:
                kept = allowed[paths[:, :-1], paths[:, 1:]].all(axis=1)
            self.paths[i] = paths[kept]
            self.features[i] = self.features[i][kept] * self.exists


@cache
def optimum(name):
    """The weights of least P and that P, of the labels of the data."""
    return ObservedTwin(Y, **MODELS[name]).optimum(Y, ALPHA)


@pytest.fixture(params=[False, True], ids=["all tuples", "few tuples"])
def few(request, monkeypatch):
    """Have predictions made with the tuples that have weights, however many labels."""
    if request.param:
        monkeypatch.setattr(tuple_scores, "LEAST_LABELS", 0)
        monkeypatch.setattr(tuple_scores, "FEW", 1.0)


def test_the_tuples_of_data():
    labels, offsets = np.array([0, 1, 1, -1, 2, 0]), np.array([0, 3, 6])
    rows = observed_label_tuples(labels, offsets, 3, 3)
    expected = [[-1, 0, 1], [-1, 1, 1], [-1, 2, 0], [0, 1, 1]]
    assert rows.tolist() == expected
    # A position that may have every label observes nothing.
    sets = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 0], [1, 1, 1]], dtype=bool)
    rows = observed_label_tuples(sets, np.array([0, 4]), 3, 3)
    expected = [[-1, 0, 2], [-1, 1, 2], [-1, 2, 0], [0, 2, 0], [1, 2, 0]]
    assert rows.tolist() == expected


@pytest.mark.parametrize("order", [2, 3])
def test_a_state_is_the_longest_tuple_that_labels_end_with(order):
    rng = np.random.default_rng(0)
    y = [rng.integers(0, 4, 6).tolist() for _ in range(3)]
    offsets = np.arange(0, 19, 6)
    rows = observed_label_tuples(np.concatenate(y), offsets, 4, order + 1)
    allowed = np.ones((4, 4), dtype=bool)
    allowed[y[0][0], y[0][1]] = False
    for constraints in (
        None,
        LabelTuples(4, 1).constraints._replace(transition=allowed),
    ):
        tuples = LabelTuples(4, order, constraints, observed=rows)
        known = {
            tuple(row[row >= 0].tolist()): i for i, row in enumerate(tuples.tuples)
        }
        path = rng.integers(0, 4, 40)
        states = tuples.states(path, np.array([0, 40]))
        for t, state in enumerate(states):
            begin = max(t - order + 1, 0)
            run = tuple(path[begin : t + 1].tolist())
            pairs = zip(run, run[1:], strict=False)
            if constraints is not None and not all(allowed[pair] for pair in pairs):
                assert state == -1
                continue
            ends = (run[i:] for i in range(len(run)))
            assert state == next(known[end] for end in ends if end in known)
            if t > 0 and states[t - 1] >= 0:
                assert tuples.constraints.transition[states[t - 1], state]
        assert_array_equal(
            tuples.constraints.transition.sum(axis=1),
            (np.ones_like(allowed) if constraints is None else allowed)[
                tuples.label
            ].sum(axis=1),
        )


@every_model
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_reaches_the_optimum_of_the_definition(name, solver):
    w, least = optimum(name)
    estimator, own = SOLVERS[solver]
    options = {"label_pairs": "observed", "tol": 1e-9, "max_iter": 2000, **own}
    crf = estimator(ALPHA, **options, **MODELS[name]).fit(X, Y)
    assert crf.duality_gap_ <= crf.gap_target_
    assert_allclose(crf.primal_objective_, least, rtol=0, atol=2e-9)
    assert crf.dual_objective_ <= least + 1e-12
    found = flat_weights(crf)
    assert_allclose(found, w, rtol=0, atol=1e-3)
    assert_array_equal(found[~existing(Y, MODELS[name].get("order", 1))], 0.0)


@every_model
@pytest.mark.parametrize("mask", [None, ALLOWED], ids=["free", "constrained"])
def test_predictions_are_those_of_enumeration(name, mask, few, tmp_path):
    options = {"label_pairs": "observed", "transitions": mask, **MODELS[name]}
    crf = LBFGSCRF(ALPHA, tol=1e-9, max_iter=300, **options).fit(X, Y)
    save_model(crf, tmp_path / "model")
    crf = load_model(tmp_path / "model")
    twin = ObservedTwin(Y, mask, **MODELS[name])
    w = flat_weights(crf)
    w[w == -np.inf] = 0.0
    assert_allclose(crf.primal_objective_, twin.objective(w, Y, ALPHA)[0], rtol=1e-9)
    for i, x in enumerate(X):
        scores, paths = twin.features[i] @ w, twin.paths[i]
        p = np.exp(scores - logsumexp(scores))
        assert_allclose(crf.log_partition([x]), [logsumexp(scores)], rtol=1e-10)
        best = np.argsort(-scores)[:7]
        assert crf.predict([x])[0] == paths[best[0]].tolist()
        (found,) = crf.predict_n_best([x], 7)
        assert [labels for labels, _ in found] == paths[best].tolist()
        assert_allclose([q for _, q in found], p[best], rtol=1e-9)
        node = (paths[:, :, np.newaxis] == np.arange(K)).astype(float)
        node = np.einsum("p,ptk->tk", p, node)
        assert_allclose(crf.predict_proba([x])[0], node, rtol=0, atol=1e-10)
        edges = crf.predict_edge_proba([x])[0]
        for t in range(1, len(x)):
            pair = np.zeros((K, K))
            np.add.at(pair, (paths[:, t - 1], paths[:, t]), p)
            assert_allclose(edges[t - 1], pair, rtol=0, atol=1e-10)
        own = np.log(p[twin.place(i, Y[i])])
        assert_allclose(crf.log_likelihood([x], [Y[i]]), [own], rtol=1e-9)
    draws = crf.sample([X[2]], n_draws=5000, random_state=0)[:, 0]
    scores = twin.features[2] @ w
    p = np.exp(scores - logsumexp(scores))
    frequency = np.zeros(len(p))
    for labels, n in Counter(map(tuple, draws)).items():
        frequency[twin.place(2, labels)] = n / len(draws)
    assert_allclose(frequency, p, rtol=0, atol=0.03)


@every_model
def test_where_all_tuples_are_observed_it_is_the_model_of_all(name):
    rng = np.random.default_rng(0)
    signals = [rng.normal(size=(12, D)) for _ in range(60)]
    y = [rng.integers(0, K, 12).tolist() for _ in signals]
    assert existing(y, 3).all()
    options = {"tol": 1e-9, "max_iter": 300, **MODELS[name]}
    dense = LBFGSCRF(ALPHA, **options).fit(signals, y)
    own = LBFGSCRF(ALPHA, label_pairs="observed", **options).fit(signals, y)
    assert_allclose(own.primal_objective_, dense.primal_objective_, rtol=2e-9)
    assert_allclose(flat_weights(own), flat_weights(dense), rtol=0, atol=1e-3)


@pytest.mark.parametrize("estimator", [OEGCRF, SDCACRF])
def test_unknown_labels_elastic_net_and_threads(estimator):
    y = [list(own) for own in Y]
    y[1][0], y[4][1] = None, {0, 1}
    options = {"tol": 1e-7, "max_iter": 3000, "order": 2, "label_pairs": "observed"}
    crf = seeded(estimator, alpha=ALPHA, l1_ratio=0.2, **options).fit(X, y)
    twin = seeded(LBFGSCRF, alpha=ALPHA, l1_ratio=0.2, **options).fit(X, y)
    assert_allclose(crf.primal_objective_, twin.primal_objective_, rtol=0, atol=2e-6)
    assert crf.dual_objective_ <= twin.primal_objective_
    threads = seeded(estimator, alpha=ALPHA, n_jobs=2, **options).fit(X, Y)
    assert_allclose(threads.primal_objective_, optimum("order 2")[1], rtol=0, atol=1e-6)


@every_model
def test_tuples_of_a_prior_have_weights(name):
    options = {"label_pairs": "observed", "tol": 1e-9, "max_iter": 500, **MODELS[name]}
    prior = LBFGSCRF(ALPHA, **options).fit(X[4:], Y[4:])
    crf = LBFGSCRF(ALPHA, **options).fit(X[:4], Y[:4], prior=prior)
    order = MODELS[name].get("order", 1)
    either = existing(Y[:4], order) | existing(Y[4:], order)
    twin = ObservedTwin(Y, **MODELS[name])
    twin.paths, twin.features = twin.paths[:4], twin.features[:4]
    value, gradient = twin.objective(
        flat_weights(crf), Y[:4], ALPHA, flat_weights(prior)
    )
    assert_allclose(crf.primal_objective_, value, rtol=1e-9)
    assert np.abs(gradient[either]).max() < 1e-4


def test_a_warm_start_goes_on_with_the_same_tuples():
    options = {"order": 2, "label_pairs": "observed", "tol": 1e-6, "max_iter": 500}
    crf = seeded(OEGCRF, alpha=ALPHA, warm_start=True, **options)
    first = crf.fit(X, Y).n_iter_
    assert crf.fit(X, Y).n_iter_ < first
    with pytest.raises(ValueError, match="needs the same `label_pairs`"):
        crf.set_params(label_pairs="all").fit(X, Y)


def test_the_message_of_verbose_counts_tuples(capsys):
    CRF(order=2, label_pairs="observed", random_state=0, verbose=1).fit(X, Y)
    n = len(windows(Y, 2)) + len(windows(Y, 3))
    said = f"CRF: weights of {n} of {K**2 + K**3:,} tuples of labels, observed in y"
    assert said in capsys.readouterr().out
