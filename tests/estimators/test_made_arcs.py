"""DependencyCRF with arcs made at the visit, against the same arcs stored as rows."""

import warnings
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from skcrf_sdca import DependencyCRF, OnlineDependencyCRF, make_tagger
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.structures.dependency.scores import ONE_ROOT
from skcrf_sdca.structures.dependency.structure import DependencyTrees
from skcrf_sdca.text import ArcFeatures
from skcrf_sdca.text.features.arc_features import templates_of
from skcrf_sdca.text.features.token_arcs import TokenArcs

TEMPLATES = ["h.word m.word", "h.tag m.tag", "m.tag", "h.tag between.tag m.tag"]
# So few columns that features of one arc share some.
FEATURES = ArcFeatures(TEMPLATES, columns=("word", "tag"), n_features=97)
TREES = [
    [2, 0, 2],
    [0, 1, 1, 3],
    [0],
    [2, 3, 0, 3],
    [0, 1],
    [],
    [3, 3, 0, 5, 3],
]
X = [
    [(str(w), str(t)) for w, t in zip(words, tags, strict=True)]
    for rng in [np.random.default_rng(3)]
    for n in map(len, TREES)
    for words, tags in [(rng.choice(list("abc"), n), rng.choice(list("NVD"), n))]
]
WITH_RELATIONS = [(heads, ["ab"[m % 2] for m in heads]) for heads in TREES]
SOLVERS = ("sdca", "oeg", "sag", "sgd", "lbfgs")


def fitted(X, y, **options):
    """Return a model after some epochs, at whatever gap."""
    options = {"alpha": 0.02, "random_state": 0, "max_iter": 6, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return DependencyCRF(**options).fit(X, y)


def weights(crf):
    return crf.coef_.toarray() if issparse(crf.coef_) else crf.coef_


@pytest.mark.parametrize(
    ("solver", "loss", "l1_ratio", "labelled", "projective"),
    [
        (solver, loss, l1_ratio, labelled, projective)
        for solver, loss, l1_ratio, labelled, projective in product(
            SOLVERS, ("log_loss", "hinge"), (0.0, 0.3), (False, True), (False, True)
        )
        # With weights of 0, which L1 makes, the best trees of the hinge have ties.
        if loss == "log_loss" or (solver in ("sdca", "oeg") and l1_ratio == 0.0)
    ],
)
def test_fits_are_those_of_stored_rows(solver, loss, l1_ratio, labelled, projective):
    y = WITH_RELATIONS if labelled else TREES
    options = {
        "solver": solver,
        "loss": loss,
        "l1_ratio": l1_ratio,
        "labelled": labelled,
        "projective": projective,
        # With some seeds the best trees of the hinge have ties, too, or visits to trees
        # that are nearly certain make more of the rounding.
        "random_state": 2,
    }
    stored = fitted(FEATURES.transform(X), y, **options)
    made = fitted(X, y, features=FEATURES, **options)
    assert_allclose(weights(made), weights(stored), rtol=0, atol=1e-11)
    assert_allclose(made.intercept_, stored.intercept_, rtol=0, atol=1e-11)
    for name in ("primal_objective_", "dual_objective_", "duality_gap_"):
        assert getattr(made, name) == pytest.approx(getattr(stored, name), abs=1e-11)


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("acceleration", [None, "proximal_point"])
def test_accelerated_fits_are_those_of_stored_rows(labelled, acceleration):
    y = WITH_RELATIONS if labelled else TREES
    # So many sentences that the metric follows the sizes of features.
    sentences, trees = X * 20, y * 20
    options = {"labelled": labelled, "acceleration": acceleration, "max_iter": 3}
    stored = fitted(FEATURES.transform(sentences), trees, **options)
    made = fitted(sentences, trees, features=FEATURES, **options)
    assert_allclose(weights(made), weights(stored), rtol=0, atol=1e-11)
    assert made.duality_gap_ == pytest.approx(stored.duality_gap_, abs=1e-11)


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("projective", [False, True])
def test_answers_are_those_of_stored_rows(labelled, projective):
    y = WITH_RELATIONS if labelled else TREES
    options = {"labelled": labelled, "projective": projective}
    rows = FEATURES.transform(X)
    stored, made = (
        fitted(rows, y, **options),
        fitted(X, y, features=FEATURES, **options),
    )
    made.coef_, made.intercept_ = stored.coef_, stored.intercept_
    for method in ("predict_proba", "log_partition"):
        pairs = zip(
            getattr(made, method)(X), getattr(stored, method)(rows), strict=True
        )
        for own, other in pairs:
            assert_allclose(own, other, rtol=0, atol=1e-12)
    assert made.predict(X).tolist() == stored.predict(rows).tolist()
    assert made.predict(X, decoding="posterior").tolist() == (
        stored.predict(rows, decoding="posterior").tolist()
    )
    assert made.score(X, y) == stored.score(rows, y)
    assert_allclose(
        made.log_likelihood(X, y), stored.log_likelihood(rows, y), atol=1e-12
    )
    assert str(made.explain(X[3], 2)) == str(stored.explain(rows[3], 2))


def test_a_tagger_explains_a_sentence_of_tokens():
    tagger = make_tagger(FEATURES, DependencyCRF(solver="lbfgs", alpha=0.1))
    tagger.fit(X, TREES)
    expected = tagger[-1].explain(FEATURES.transform(X)[3], 2)
    assert str(tagger.explain(X[3], 2)) == str(expected)


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("solver", ["sgd", "lbfgs"])
def test_threads_change_passes_by_no_bit(labelled, solver):
    y = WITH_RELATIONS if labelled else TREES
    one, two = (
        fitted(
            X * 30,
            y * 30,
            features=FEATURES,
            labelled=labelled,
            solver=solver,
            n_jobs=n_jobs,
        )
        for n_jobs in (None, 2)
    )
    assert_array_equal(weights(one), weights(two))
    assert one.duality_gap_ == two.duality_gap_
    one.set_params(n_jobs=2)
    for own, other in zip(one.predict_proba(X), two.predict_proba(X), strict=True):
        assert_array_equal(own, other)


def test_parts_of_the_matrix_are_the_rows_that_are_stored():
    arcs = TokenArcs(templates_of(FEATURES), X)
    stored = np.vstack([rows.toarray() for rows in FEATURES.transform(X)])
    order = np.random.default_rng(0).permutation(len(stored))
    for key in (slice(3, 20), order, [5], slice(0, 0), stored[:, 0] > 0):
        assert_array_equal(arcs.X[key].toarray(), stored[key])


def test_sizes_are_those_of_stored_rows():
    arcs = TokenArcs(templates_of(FEATURES), X)
    stored = np.vstack([rows.toarray() for rows in FEATURES.transform(X)])
    assert stored.max() > 1.0
    weight = np.arange(1.0, len(X) + 1)
    of_rows = np.repeat(weight, arcs.lengths)
    squares, counts, _ = arcs.sizes(weight)
    assert_allclose(squares, of_rows @ stored**2)
    assert_allclose(counts, of_rows @ (stored != 0.0))
    assert_allclose(arcs.row_norms(), np.linalg.norm(stored, axis=1))


def test_squared_radii_are_those_of_the_same_rows():
    rows = PackedSequences.from_sequences(FEATURES.transform(X))
    made, stored = (
        DependencyTrees(arcs, 1, rules=ONE_ROOT).squared_radii()
        for arcs in (TokenArcs(templates_of(FEATURES), X), rows)
    )
    assert_allclose(made, stored)
    # Each word has two arcs, so that a bound by all n + 1 of them is far too large.
    assert made[-1] < 4.0 * 25 * 20


def test_a_fit_goes_on_from_a_model_learned_online():
    online = OnlineDependencyCRF(features=FEATURES, random_state=0).fit(X, TREES)
    made = fitted(X, TREES, features=FEATURES, max_iter=1)
    crf = DependencyCRF(0.02, features=FEATURES, random_state=0, max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        crf.fit(X, TREES, init=online)
    assert (
        crf.dual_objective_
        <= fitted(X, TREES, features=FEATURES, max_iter=300).primal_objective_
    )
    assert not np.array_equal(weights(crf), weights(made))


def test_tools_of_scikit_learn_take_sentences():
    crf = clone(DependencyCRF(features=FEATURES, random_state=0))
    search = GridSearchCV(crf, {"alpha": [0.1, 0.01]}, cv=2)
    search.fit(X[:5], TREES[:5])
    assert search.best_estimator_.predict(X[:1])[0] in ([2, 0, 2], [0, 1, 1], [3, 3, 0])
    held_out = DependencyCRF(features=FEATURES, patience=2, random_state=0)
    held_out.fit(X, TREES, X_val=X, y_val=TREES)
    assert held_out.best_val_score_ == held_out.score(X, TREES)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="sentence 1"):
        DependencyCRF(features=FEATURES).fit(X[:2], [[2, 0, 2], [0, 1]])
    with pytest.raises(ValueError, match="0 sentences|no "):
        DependencyCRF(features=FEATURES).fit([], [])
    crf = fitted(X, TREES, features=FEATURES)
    crf.set_params(features=ArcFeatures(TEMPLATES, columns=("word", "tag")))
    with pytest.raises(ValueError, match="n_features=1048576, but the model has 97"):
        crf.predict(X)


def test_visits_leave_out_arcs_that_are_improbable():
    # A word's tag decides about its head.
    words = [("a", "N"), ("b", "V"), ("c", "D"), ("d", "N")]
    sentences = [[words[k] for k in (0, 1, 2, 3)], [words[k] for k in (2, 3, 1)]] * 100
    trees = [[2, 0, 4, 2], [2, 3, 0]] * 100
    options = {"features": FEATURES, "alpha": 1e-4, "max_iter": 2, "warm_start": True}
    crf = fitted(sentences, trees, **options)
    kept = crf._warm_state["expected_local"][:, 1]
    probable = np.concatenate([p.ravel() for p in crf.predict_proba(sentences)])
    arcs = probable > 0.0
    # All arcs have a probability; the dual point leaves out some of them.
    assert (kept[arcs] == 0.0).sum() > 0.1 * arcs.sum()
    assert (kept[~arcs] == 0.0).all()
    # It is one of distributions over trees all the same.
    tables = np.split(kept, np.cumsum([20, 12] * 100)[:-1])
    for heads, table in zip(trees, tables, strict=True):
        of_words = table.reshape(len(heads) + 1, len(heads)).sum(axis=0)
        assert_allclose(of_words, 1.0, rtol=0, atol=1e-12)
    best = fitted(sentences, trees, **{**options, "solver": "lbfgs", "max_iter": 50})
    assert crf.dual_objective_ <= best.primal_objective_
    assert crf.duality_gap_ >= crf.primal_objective_ - best.primal_objective_
