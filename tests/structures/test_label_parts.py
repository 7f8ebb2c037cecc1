"""Labels whose parts share weights: the model of labels with weights M W, by paths."""

import io
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

import reference
from samples import as_strings, seeded
from skcrf_sdca import (
    CRF,
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    SGDCRF,
    load_model,
    save_model,
)
from skcrf_sdca.compat import to_crfsuite
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.serving import Predictor
from skcrf_sdca.structures.chain.label_parts import LabelParts, parts_of_name
from skcrf_sdca.structures.chain.observed_chain import ObservedChain
from skcrf_sdca.structures.chain.structure import Chain

ALPHA = 0.05
LABELS = ["N|P", "N|S", "V|P", "X"]
X = [
    np.array([[1.0, 0, 0], [0.5, 1, 0]]),
    np.array([[0.0, 0, 1], [0, 1, 0], [0, 1, 0.5], [1, 0, 0]]),
    np.array([[-1.0, 0.5, 0]]),
    np.array([[0.5, 0, 1], [0.0, 0, 1], [1, 1, 0]]),
]
CODES = [[0, 2], [1, 2, 3, 1], [0], [3, 1, 2]]
Y = [[LABELS[k] for k in path] for path in CODES]
OBSERVED = np.zeros((4, 4), dtype=bool)
for path in CODES:
    for before, after in pairwise(path):
        OBSERVED[before, after] = True
SOLVERS = (LBFGSCRF, OEGCRF, SDCACRF, SAGNUSCRF, SGDCRF)


@st.composite
def matrices(draw):
    """Return LabelParts of up to five labels and parts, and a generator."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_labels, n_parts = rng.integers(1, 6, size=2)
    matrix = rng.normal(size=(n_labels, n_parts)) * (
        rng.random((n_labels, n_parts)) < 0.6
    )
    matrix[np.arange(n_labels), rng.integers(n_parts, size=n_labels)] = 1.0
    return LabelParts([f"p{k}" for k in range(n_parts)], matrix), rng


@given(matrices())
def test_maps_of_rows_are_products_with_the_matrix(drawn):
    parts, rng = drawn
    matrix, n = parts.matrix.toarray(), rng.integers(0, 5)
    raw, change = rng.normal(size=(n, parts.n_parts)), rng.normal(size=(n, len(matrix)))
    assert_allclose(parts.scores(raw), raw @ matrix.T, atol=1e-13)
    assert_allclose(parts.shares(change), change @ matrix, atol=1e-13)
    labels = rng.integers(len(matrix), size=n)
    assert_array_equal(parts.of_labels(labels).toarray(), abs(matrix)[labels])


def test_parts_of_joint_labels():
    assert parts_of_name("A|b=C|d=E") == ["=A|b=C|d=E", "A", "b=C", "d=E"]
    assert parts_of_name("A") == ["=A", "A"]
    assert parts_of_name("A|A") == ["=A|A", "A"]
    crf = seeded(OEGCRF, label_features="parts").fit(X, Y)
    own = ["=N|P", "=N|S", "=V|P", "=X"]
    assert crf.parts_.tolist() == [*own, "N", "P", "S", "V", "X"]
    has = {
        label: crf.parts_[row != 0].tolist()
        for label, row in zip(LABELS, crf.label_features_.toarray(), strict=True)
    }
    assert has == {
        "N|P": ["=N|P", "N", "P"],
        "N|S": ["=N|S", "N", "S"],
        "V|P": ["=V|P", "P", "V"],
        "X": ["=X", "X"],
    }


# --- the objective, by enumeration


def structures():
    """Return the structures of LABELS, with all pairs and with observed ones."""
    parts = LabelParts.of({k: dict.fromkeys(parts_of_name(k), 0.75) for k in LABELS})
    data = PackedSequences.from_sequences(X)
    yield Chain(data, 4, parts=parts)
    yield ObservedChain(data, 4, parts=parts, label_pairs=OBSERVED)


def problem_of(structure):
    """Return the problem of the sequences."""
    return Problem(structure, np.concatenate(CODES).astype(np.int32), ALPHA)


def gradient_of(w, problem):
    """Return the gradient of P that the package computes."""
    return ALPHA * (w - problem.expected_point(w)[0])


def least_of(structure, problem):
    """Return min P, of the sums over all paths."""
    size = structure.new_parameters().w.size
    return minimize(
        lambda w: penalised(w, structure),
        np.zeros(size),
        jac=lambda w: gradient_of(w, problem),
        options={"gtol": 1e-7},
    ).fun


def penalised(w, structure):
    """Return P(w) by all paths."""
    parameters = structure.new_parameters(w)
    matrix = structure.label_parts.matrix.toarray()
    transition = structure.layout.expand(parameters.tied, 0.0)
    losses = []
    for x, path in zip(X, CODES, strict=True):
        raw = x @ parameters.coef + parameters.intercept
        raw[0] += parameters.start
        raw[-1] += parameters.end
        scores = raw @ matrix.T
        own = scores[np.arange(len(path)), path].sum()
        own += sum(transition[a, b] for a, b in pairwise(path))
        losses.append(reference.log_partition(scores, transition) - own)
    return ALPHA / 2 * w @ w + np.mean(losses)


def test_the_objective_its_gradient_and_the_dual_are_those_of_all_paths():
    for structure in structures():
        problem = problem_of(structure)
        rng = np.random.default_rng(0)
        size = problem.new_parameters().w.size
        least = least_of(structure, problem)
        for w in rng.normal(size=(3, size)):
            primal = problem.primal(w, problem.mean_loss(w))
            assert_allclose(primal, penalised(w, structure))
            along = rng.normal(size=size)
            ahead, behind = (penalised(w + h * along, structure) for h in (1e-4, -1e-4))
            slope = gradient_of(w, problem) @ along
            assert_allclose(slope, (ahead - behind) / 2e-4, rtol=1e-6, atol=1e-7)
            # w_hat(mu) of the marginals under w is a dual point.
            point, _, _ = problem.expected_point(w)
            entropy = sum_of_entropies(w, structure)
            assert entropy - ALPHA / 2 * point @ point <= least + 1e-9


def sum_of_entropies(w, structure):
    """Return the mean entropy of p(. | x; w)."""
    parameters = structure.new_parameters(w)
    matrix = structure.label_parts.matrix.toarray()
    transition = structure.layout.expand(parameters.tied, 0.0)
    found = []
    for x in X:
        raw = x @ parameters.coef + parameters.intercept
        raw[0] += parameters.start
        raw[-1] += parameters.end
        p = reference.path_probabilities(raw @ matrix.T, transition)
        found.append(reference.path_entropy(p))
    return np.mean(found)


@pytest.mark.parametrize("options", [{}, {"l1_ratio": 0.3}, {"features": "observed"}])
@pytest.mark.parametrize("pairs", ["all", "observed"])
def test_all_solvers_find_one_optimum(options, pairs):
    fits = []
    rows = as_strings(X)
    given = {"label_features": "parts", "alpha": ALPHA, "label_pairs": pairs, **options}
    for solver in SOLVERS:
        crf = seeded(solver, tol=1e-7, max_iter=5000, **given).fit(rows, Y)
        gap = crf.primal_objective_ - crf.dual_objective_
        assert_allclose(crf.duality_gap_, gap, rtol=0, atol=1e-12)
        assert crf.duality_gap_ <= 1e-7 * crf.primal_objective_
        fits.append(crf.primal_objective_)
    assert max(fits) - min(fits) <= 1e-6


@pytest.mark.parametrize("solver", SOLVERS)
def test_labels_with_themselves_as_their_only_part_are_the_plain_model(solver):
    options = {"alpha": ALPHA, "tol": 1e-9, "max_iter": 5000}
    plain = seeded(solver, **options).fit(X, Y)
    own = seeded(solver, label_features=lambda label: [label], **options).fit(X, Y)
    assert_allclose(own.primal_objective_, plain.primal_objective_, rtol=2e-9)
    assert_allclose(own.coef_, plain.coef_, atol=1e-3)
    for name in ("predict", "predict_proba", "log_partition"):
        for a, b in zip(getattr(own, name)(X), getattr(plain, name)(X), strict=True):
            if name == "predict":
                assert a == b
            else:
                assert_allclose(a, b, atol=2e-3)


def test_predictions_are_those_of_a_plain_model_with_the_weights_of_labels():
    crf = seeded(OEGCRF, label_features="parts", alpha=ALPHA).fit(X, Y)
    plain = seeded(OEGCRF, alpha=ALPHA, max_iter=1, tol=1.0).fit(X, Y)
    matrix = crf.label_features_
    plain.coef_ = matrix @ crf.coef_
    for name in ("intercept_", "start_", "end_"):
        setattr(plain, name, matrix @ getattr(crf, name))
    plain.transition_ = crf.transition_
    assert crf.predict(X).tolist() == plain.predict(X).tolist()
    for a, b in zip(crf.predict_proba(X), plain.predict_proba(X), strict=True):
        assert_allclose(a, b, atol=1e-12)
    assert_allclose(crf.score(X, Y), plain.score(X, Y))
    own, its = (model.explain(X[1], 2) for model in (crf, plain))
    assert_allclose(own.contributions, its.contributions, atol=1e-12)
    assert own.features == its.features


def test_threads_find_the_same_optimum():
    many, labels = 40 * X, 40 * Y
    options = {"alpha": ALPHA, "tol": 1e-5, "label_features": "parts", "max_iter": 1000}
    for features in ("all", "observed"):
        rows = as_strings(many)
        one = seeded(OEGCRF, features=features, **options).fit(rows, labels)
        two = seeded(OEGCRF, features=features, n_jobs=2, **options).fit(rows, labels)
        assert two.dual_objective_ <= one.primal_objective_ + 1e-12
        assert one.dual_objective_ <= two.primal_objective_ + 1e-12


# --- labels that y does not have


def test_labels_that_y_lacks_are_predicted_by_their_parts():
    """Words say the part N, V or A, and endings S, P or D; V|S is not in y."""
    every = [(w, e) for w in "NVA" for e in "SPD"]
    labels = {f"{w}|{e}": [w, e] for w, e in every}
    train = [pair for pair in every if pair != ("V", "S")]
    rows = [[[f"word {w}", f"ending {e}"]] for w, e in train] * 5
    y = [[f"{w}|{e}"] for w, e in train] * 5
    crf = seeded(OEGCRF, label_features=labels, alpha=0.01).fit(rows, y)
    assert crf.classes_.tolist() == sorted(labels)
    assert crf.predict([[["word V", "ending S"]]]).tolist() == [["V|S"]]
    assert crf.predict(rows).tolist() == y
    # Without the other label there is no such answer.
    seen = seeded(OEGCRF, label_features=labels.get, alpha=0.01).fit(rows, y)
    assert "V|S" not in seen.classes_


def test_only_observed_pairs_of_feature_and_part_have_weights():
    rows = [[["a"], ["b"]], [["c"]]]
    y = [["N|S", "V|S"], ["N|P"]]
    crf = seeded(LBFGSCRF, label_features="parts", features="observed").fit(rows, y)
    names = crf.vectorizer_.get_feature_names_out().tolist()
    seen = {
        name: set(crf.parts_[crf.coef_.toarray()[:, j] != 0])
        for j, name in enumerate(names)
    }
    assert seen == {
        "a": {"N", "S", "=N|S"},
        "b": {"V", "S", "=V|S"},
        "c": {"N", "P", "=N|P"},
    }
    crf.set_params(min_count=2).fit([[["d"], ["d"]], [["c"]]], y)
    rows, _ = crf.coef_.nonzero()
    assert crf.parts_[rows].tolist() == ["S"]


# --- files, names, and what is refused


def test_files_and_pickles_have_the_parts(tmp_path):
    for features in ("all", "observed"):
        options = {"label_features": "parts", "features": features, "alpha": ALPHA}
        crf = seeded(OEGCRF, **options).fit(as_strings(X), Y)
        save_model(crf, tmp_path / "model")
        for again in (load_model(tmp_path / "model"), pickle.loads(pickle.dumps(crf))):
            assert again.parts_.tolist() == crf.parts_.tolist()
            rows = as_strings(X)
            for a, b in zip(
                crf.predict_proba(rows), again.predict_proba(rows), strict=True
            ):
                assert_array_equal(a, b)
        served = Predictor.load((tmp_path / "model").read_bytes())
        for row, marginals in zip(rows, crf.predict_proba(rows), strict=True):
            assert_array_equal(served.marginals(row), marginals)
    with pytest.raises(ValueError, match="label_features=None"):
        to_crfsuite(crf, tmp_path / "file")


def test_tables_of_weights_have_the_names_of_parts():
    crf = seeded(OEGCRF, label_features="parts", alpha=ALPHA).fit(X, Y)
    assert set(crf.state_features()["label"]) == set(crf.parts_)
    table = crf.top_features(1, ["P"])
    assert set(table["label"]) == {"P"}
    with pytest.raises(ValueError, match="labels: 'Q' is not among"):
        crf.top_features(1, ["Q"])
    assert set(crf.transition_features()["label_from"]) <= set(LABELS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 2}, "label_features is not taken with order; set order=1"),
        ({"edge_features": "all"}, "not taken with edge_features; set edge_features"),
        ({"transitions": "observed"}, "only transitions can be forbidden"),
        ({"label_features": {"X": ["X"]}}, "no parts of the label 'N.P'; add them"),
        ({"label_features": lambda label: label}, "parts of the label 'N.P' must be a"),
        ({"label_features": lambda label: []}, "at least one that is not 0"),
        ({"label_features": lambda label: {"N": np.inf}}, "finite numbers"),
        ({"label_features": lambda label: {"N": 0.0}}, "at least one that is not 0"),
        ({"label_features": lambda label: [1]}, "must be a list of str"),
        ({"label_features": lambda label: 7}, "must be a list of str"),
        ({"label_features": "other"}, "The 'label_features' parameter"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        CRF(**{"label_features": "parts", **options}).fit(X, Y)


def test_labels_without_names_and_of_other_types_are_refused():
    with pytest.raises(TypeError, match="is for labels that are str, and y has 0"):
        CRF(label_features="parts").fit(X, CODES)
    names = dict(enumerate(LABELS))
    crf = seeded(OEGCRF, label_features="parts", label_names=names).fit(X, CODES)
    assert "N" in crf.parts_
    further = {**{k: ["a"] for k in range(4)}, "other": ["b"]}
    with pytest.raises((TypeError, ValueError), match="label_features: class 4"):
        CRF(label_features=further).fit(X, CODES)


def test_forbidden_transitions_stay_forbidden():
    mask = np.ones((4, 4), dtype=bool)
    mask[3, 3] = mask[1, 0] = False
    options = {"label_features": "parts", "alpha": ALPHA}
    for pairs in ("all", "observed"):
        crf = seeded(OEGCRF, transitions=mask, label_pairs=pairs, **options).fit(X, Y)
        assert_array_equal(crf.transition_ == -np.inf, ~mask)
        found = np.stack(crf.predict_edge_proba(X)[1])
        assert_array_equal(found[:, ~mask], 0.0)


def test_starts_have_parts_too_or_are_refused():
    options = {"label_features": "parts", "alpha": ALPHA, "tol": 1e-4, "max_iter": 500}
    crf = seeded(LBFGSCRF, **options).fit(X, Y)
    again = seeded(LBFGSCRF, **options).fit(X, Y, init=crf)
    assert again.n_iter_ < crf.n_iter_
    plain = seeded(LBFGSCRF, alpha=ALPHA).fit(X, Y)
    for name in ("init", "prior"):
        with pytest.raises(
            ValueError, match=f"{name}: the fit has label_features, and"
        ):
            seeded(LBFGSCRF, **options).fit(X, Y, **{name: plain})
        with pytest.raises(ValueError, match=f"{name}: {name} has label_features"):
            seeded(LBFGSCRF).fit(X, Y, **{name: crf})
    warm = seeded(OEGCRF, warm_start=True, **options).fit(X, Y)
    assert warm.fit(X, Y).duality_gap_ <= warm.gap_target_
    with pytest.raises(ValueError, match="needs the same `label_features`"):
        warm.set_params(label_features=lambda label: [label]).fit(X, Y)


def test_a_stream_has_no_parts():
    crf = SGDCRF(method="adagrad", label_features="parts")
    with pytest.raises(AttributeError, match="cannot work with label_features"):
        crf.partial_fit(X, Y)


def test_wrong_attributes_are_refused_before_a_kernel_reads_them():
    crf = seeded(OEGCRF, label_features="parts", alpha=ALPHA).fit(X, Y)
    good = crf.label_features_
    bad = good.copy()
    bad.indices[0] = 99
    for wrong, message in ((bad, "label_features_"), (good[:, :-1], "csr_array of sh")):
        crf.label_features_ = wrong
        with pytest.raises(ValueError, match=message):
            crf.predict(X)
    crf.label_features_ = good
    assert len(crf.predict(X)) == len(X)
    file = io.BytesIO()
    save_model(crf, file)
