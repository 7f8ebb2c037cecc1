"""DependencyCRF with templates of siblings against the list of all projective trees."""

import warnings
from functools import cache

import numpy as np
import pytest
import tree_twin
from arc_twin import columns_of_sibling
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp, softmax
from sibling_twin import (
    ARCS,
    COLUMNS,
    FEATURES,
    N_FEATURES,
    OF_ARCS,
    PARTS,
    made,
    scored,
)
from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import DependencyCRF, OnlineDependencyCRF, load_model, save_model
from skcrf_sdca._utils import memory
from skcrf_sdca.data.trees import TreeRules
from skcrf_sdca.structures.dependency.structure import SiblingTrees
from skcrf_sdca.text import ArcFeatures
from skcrf_sdca.text.features.arc_features import templates_of
from skcrf_sdca.text.features.token_arcs import TokenArcs

ALPHA = 0.05
SOLVERS = ("sdca", "oeg", "sag", "sgd", "lbfgs")


def new_crf(**options):
    options = {"features": FEATURES, "projective": True, "random_state": 0, **options}
    return DependencyCRF(ALPHA, **options)


def rows_with_intercept(words, w, **rules):
    """Return the trees of a sentence, and their features with those of the intercept.

    It counts arcs and siblings.
    """
    trees, rows, _ = scored(words, w[:-1], **rules)
    counts = [[len(heads) + np.count_nonzero(heads)] for heads in trees]
    return trees, np.hstack([rows, counts])


@cache
def enumerated(single_root):
    """Return sentences, trees, and for each all trees and their features."""
    X, y = made(1, single_root=single_root)
    w = np.zeros(N_FEATURES + 1)
    trees = [
        rows_with_intercept(words, w, single_root=single_root) if words else None
        for words in X
    ]
    return X, y, trees


def objective(crf, *, single_root, loss="log_loss", margin=1.0):
    """Return P(w) and its gradient, by the list of all trees."""
    _, y, trees = enumerated(single_root)
    w = np.append(crf.coef_[0], crf.intercept_)
    value, gradient = ALPHA / 2 * w @ w, ALPHA * w
    for heads, found in zip(y, trees, strict=True):
        if found is None:
            continue
        own, rows = found
        right, scores = own.index(heads), rows @ w
        if loss != "log_loss":
            scores += margin * (np.array(own) != heads).sum(axis=1)
        if loss == "hinge":
            value += (scores.max() - scores[right]) / len(y)
            continue
        value += (logsumexp(scores) - scores[right]) / len(y)
        gradient = gradient + (softmax(scores) @ rows - rows[right]) / len(y)
    return value, gradient


@cache
def fitted(solver="lbfgs", *, single_root=True, loss="log_loss", tol=1e-9, **options):
    """Return a model of the enumerated sentences; a test must not change it."""
    X, y, _ = enumerated(single_root)
    crf = new_crf(solver=solver, single_root=single_root, loss=loss, tol=tol)
    return crf.set_params(max_iter=3000, **options).fit(X, y)


@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_finds_the_optimum_of_all_trees(solver, single_root):
    crf = fitted(solver, single_root=single_root)
    value, gradient = objective(crf, single_root=single_root)
    assert crf.primal_objective_ == pytest.approx(value, abs=1e-12)
    # P - min P <= ||grad P||^2 / (2 alpha)
    distance = gradient @ gradient / (2.0 * ALPHA)
    assert distance < 1e-8
    assert crf.dual_objective_ <= value
    best = fitted("lbfgs", single_root=single_root, tol=1e-12)
    assert -1e-12 <= value - best.primal_objective_ <= crf.duality_gap_ + 1e-12
    assert crf.primal_objective_ == pytest.approx(best.primal_objective_, abs=1e-8)


@pytest.mark.parametrize("loss", ["hinge", "softmax_margin"])
def test_costs_are_of_wrong_heads_alone(loss):
    crf = fitted("sdca", loss=loss, tol=1e-3, margin=1.7)
    value, _ = objective(crf, single_root=True, loss=loss, margin=1.7)
    assert crf.primal_objective_ == pytest.approx(value, abs=1e-12)
    assert crf.duality_gap_ <= 1e-3 * value
    other = fitted("oeg", loss=loss, tol=1e-3, margin=1.7)
    assert crf.dual_objective_ <= other.primal_objective_
    assert other.dual_objective_ <= crf.primal_objective_


@pytest.mark.parametrize("solver", ["sdca", "oeg"])
def test_zeros_of_an_elastic_net_are_certified(solver):
    crf = fitted(solver, l1_ratio=0.3, tol=1e-5)
    best = fitted("lbfgs", l1_ratio=0.3, tol=1e-6)
    assert crf.n_nonzero_ < N_FEATURES
    assert crf.dual_objective_ <= best.primal_objective_
    assert best.dual_objective_ <= crf.primal_objective_
    assert crf.primal_objective_ == pytest.approx(best.primal_objective_, rel=1e-4)


@pytest.mark.parametrize("single_root", [True, False])
def test_answers_are_those_of_all_trees(single_root):
    X, y, trees = enumerated(single_root)
    crf = fitted(single_root=single_root)
    w = np.append(crf.coef_[0], crf.intercept_)
    proba, likelihood = crf.predict_proba(X), crf.log_likelihood(X, y)
    best, log_z = crf.predict_n_best(X, 4), crf.log_partition(X)
    entropies = crf.uncertainty(X, measure="entropy")
    for i, (heads, found) in enumerate(zip(y, trees, strict=True)):
        if found is None:
            assert proba[i].shape == (1, 0)
            continue
        own, rows = found
        scores = rows @ w
        assert log_z[i] == pytest.approx(logsumexp(scores), abs=1e-9)
        log_p = scores - logsumexp(scores)
        assert likelihood[i] == pytest.approx(log_p[own.index(heads)], abs=1e-9)
        assert entropies[i] == pytest.approx(-np.exp(log_p) @ log_p, abs=1e-9)
        order = np.argsort(-log_p)[:4]
        found = np.array([p for _, p in best[i]])
        assert_allclose(found, np.exp(log_p[order]), atol=1e-9)
        expected = np.zeros(proba[i].shape)
        at = np.array(own), np.arange(len(heads))
        np.add.at(expected, at, np.exp(log_p)[:, np.newaxis])
        assert_allclose(proba[i], expected, atol=1e-9)
    assert crf.predict(X).tolist() == [own[0][0] if own else [] for own in best]
    known = [[None] * (len(heads) - 1) + heads[-1:] for heads in y]
    predicted = crf.predict(X, known=known)
    for heads, found, own in zip(y, trees, predicted, strict=True):
        if found is not None:
            scores = np.where(
                np.array(found[0])[:, -1] == heads[-1], found[1] @ w, -np.inf
            )
            assert own == found[0][int(scores.argmax())]


def test_draws_are_trees_with_their_probabilities():
    X, _, trees = enumerated(True)
    crf, (own, rows) = fitted(), trees[1]
    drawn = [found for (found,) in crf.sample(X[1:2], 4000, random_state=0)]
    p = softmax(rows @ np.append(crf.coef_[0], crf.intercept_))
    shares = np.array([drawn.count(heads) for heads in own]) / 4000
    assert shares.sum() == 1.0
    assert_allclose(shares, p, atol=0.03)


@pytest.mark.parametrize("single_root", [True, False])
def test_explanations_have_the_terms_of_siblings(single_root):
    X, _, trees = enumerated(single_root)
    crf = fitted(single_root=single_root)
    w = np.append(crf.coef_[0], crf.intercept_)
    own, rows = trees[3]
    scores = rows @ w
    for word in range(1, 6):
        found = crf.explain(X[3], word)
        best, other = (
            scores[own.index(found.paths[head])]
            for head in (found.label, found.reference)
        )
        assert found.labels == [found.label, found.reference]
        assert_allclose(found.scores, [best - other, 0.0], atol=1e-9)
        names = {name.split("] ")[0] + "]" for name in found.features}
        paths = [found.paths[found.label], found.paths[found.reference]]
        assert names <= {name for heads in paths for name in names_of(heads)}
        differing = names_of(paths[0]) ^ names_of(paths[1])
        assert {name for name in names if "sibling" in name} == {
            name for name in differing if "sibling" in name
        }


def names_of(heads):
    """Return the names of the arcs and the siblings of a tree, a set."""
    found = set()
    for m, (h, s) in enumerate(
        zip(heads, tree_twin.siblings(heads), strict=True), start=1
    ):
        found.add(f"[{h}>{m}]")
        if h > 0:
            of_sibling = "no sibling" if s == h else f"sibling {s}"
            found.add(f"[{h}>{m}, {of_sibling}]")
    return found


def test_rows_are_those_of_the_features():
    X, _ = made(3)
    arcs = TokenArcs(templates_of(FEATURES), X, takes_siblings=True)
    numbered = list(enumerate(PARTS, start=len(ARCS) + 1))
    codes = np.split(
        TokenArcs(templates_of(OF_ARCS), X).codes, arcs.word_offsets[1:-1], axis=1
    )
    expected = []
    for words, own in zip(X, codes, strict=True):
        (of_arcs,) = OF_ARCS.transform([words])
        expected += list(of_arcs.toarray())
        for h, m, s in np.argwhere(tree_twin.are_siblings(len(words))) + 1:
            nodes = {"h": int(h), "m": int(m), "s": int(s)}
            row = np.zeros(N_FEATURES)
            np.add.at(row, columns_of_sibling(own, numbered, nodes, N_FEATURES), 1.0)
            expected.append(row)
    expected = np.array(expected)
    assert arcs.n_positions == len(expected)
    assert_array_equal(arcs.X[:].toarray(), expected)
    order = np.random.default_rng(0).permutation(len(expected))[:50]
    assert_array_equal(arcs.X[order].toarray(), expected[order])
    weight = np.arange(1.0, len(X) + 1)
    squares, counts, _ = arcs.sizes(weight)
    assert_allclose(squares, np.repeat(weight, arcs.lengths) @ expected**2)
    assert_allclose(counts, np.repeat(weight, arcs.lengths) @ (expected != 0.0))
    assert_allclose(arcs.row_norms(), np.linalg.norm(expected, axis=1))


@pytest.mark.parametrize("single_root", [True, False])
def test_squared_radii_bound_the_distances_of_trees(single_root):
    X, _, trees = enumerated(single_root)
    arcs = TokenArcs(templates_of(FEATURES), X, takes_siblings=True)
    rules = TreeRules(single_root, projective=True, siblings=True)
    radii = SiblingTrees(arcs, 1, rules=rules).squared_radii()
    for radius, found in zip(radii, trees, strict=True):
        if found is None:
            assert radius == 0.0
            continue
        _, rows = found
        squares = ((rows[:, np.newaxis] - rows) ** 2).sum(axis=2)
        assert squares.max() <= radius


def test_the_bound_of_distances_has_both_siblings_of_a_word():
    # One word, tag and column for all: features of trees differ by siblings alone.
    features = ArcFeatures(["m.word s.word"], columns=("word",), n_features=2**20)
    X = [["a", "a", "a"]]
    arcs = TokenArcs(templates_of(features), X, takes_siblings=True)
    rules = TreeRules(True, projective=True, siblings=True)
    (radius,) = SiblingTrees(arcs, 1, rules=rules).squared_radii()
    # Arcs have the norm 1 of the intercept, and siblings that of two features too.
    assert radius == pytest.approx(4.0 * (3.0 + 3.0 * np.sqrt(3.0)) ** 2)


def test_files_and_threads_change_no_answer(tmp_path):
    X, y, _ = enumerated(True)
    crf = fitted()
    save_model(crf, tmp_path / "model.zip")
    loaded = load_model(tmp_path / "model.zip")
    assert loaded.get_params()["projective"]
    many, trees = X * 300, y * 300
    for method in ("predict", "predict_proba", "log_partition"):
        expected = getattr(crf, method)(many)
        for other in (loaded, load_model(tmp_path / "model.zip").set_params(n_jobs=2)):
            for own, found in zip(expected, getattr(other, method)(many), strict=True):
                assert_array_equal(own, found)
    assert loaded.score(many, trees) == crf.score(many, trees)


def test_fits_do_not_depend_on_threads():
    X, y, _ = enumerated(True)
    found = []
    for n_jobs in (None, 2):
        crf = new_crf(solver="lbfgs", n_jobs=n_jobs, max_iter=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found.append(crf.fit(X * 100, y * 100).coef_)
    assert_array_equal(*found)


def test_held_out_data_and_other_models_are_taken():
    X, y, _ = enumerated(True)
    crf = new_crf(patience=2).fit(X, y, X_val=X, y_val=y)
    assert crf.best_val_score_ == crf.score(X, y)
    online = OnlineDependencyCRF(features=FEATURES, projective=True, random_state=0)
    online.fit(X, y)
    best = fitted(tol=1e-12).primal_objective_
    of_arcs = DependencyCRF(features=OF_ARCS, projective=True).fit(X, y)
    for other in (online, of_arcs, crf):
        own = new_crf(tol=1e-9, max_iter=500).fit(X, y, init=other)
        assert own.primal_objective_ == pytest.approx(best, abs=1e-8)
    near = new_crf(tol=1e-6, max_iter=500).fit(X, y, prior=crf)
    assert near.score(X, y) == 1.0
    # The prior is as near as it gets: its own weights enter no penalty.
    assert near.primal_objective_ < best


def test_a_warm_start_goes_on():
    X, y, _ = enumerated(True)
    for solver in ("sdca", "oeg", "sag", "lbfgs"):
        crf = new_crf(solver=solver, warm_start=True, tol=1e-7, max_iter=500).fit(X, y)
        n_iter = crf.n_iter_
        assert crf.fit(X, y).n_iter_ < n_iter or n_iter < 3


def test_scores_count_heads_alone():
    X, y, trees = enumerated(True)
    crf = fitted()
    others = [own[0][0] if own is not None else [] for own in trees]
    right = [
        a == b
        for heads, found in zip(others, crf.predict(X), strict=True)
        for a, b in zip(heads, found, strict=True)
    ]
    assert crf.score(X, others) == pytest.approx(np.mean(right))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labelled": True}, "have no weights of relations: set labelled=False"),
        ({"projective": False}, "with s, of siblings, need projective=True"),
    ],
)
def test_siblings_need_projective_trees_without_relations(options, message):
    X, y = made(1)
    if options.get("labelled"):
        y = [(heads, ["a"] * len(heads)) for heads in y]
    with pytest.raises(ValueError, match=message):
        new_crf(**options).fit(X, y)


def test_columns_are_those_of_the_model():
    X, _ = made(1)
    crf = fitted()
    other = ArcFeatures(FEATURES.templates, columns=COLUMNS, n_features=500)
    params = crf.get_params()
    try:
        crf.set_params(features=other)
        with pytest.raises(ValueError, match="n_features=500, but the model has 401"):
            crf.predict(X)
    finally:
        crf.set_params(**params)


def test_siblings_that_do_not_fit_are_an_error(monkeypatch):
    X, y = [[("a", "N")] * 30], [list(range(30))]
    crf = new_crf(solver="sdca", max_iter=1, tol=1.0).fit(X, y)
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 16 * 30**3 // 3 - 1)
    message = "sentence 0 has 30 words, and the scores of its siblings would take"
    for run in (lambda: crf.predict(X), lambda: new_crf().fit(X, y)):
        with pytest.raises(MemoryError, match=message):
            run()
