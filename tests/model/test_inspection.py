"""Inspection, explanation and compression of fitted models."""

import copy
import pickle
import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, issparse
from sklearn.exceptions import NotFittedError

import reference
from samples import as_dicts, as_strings
from skcrf_sdca import SDCACRF, PackedSequences, SequenceVectorizer
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.model.inspection import _extremes
from skcrf_sdca.model.tables import Table

ARRAYS, CODES = make_chains(25, n_labels=3, n_features=4, length=(1, 6), random_state=0)
LABELS = [[("A", "B", "O")[k] for k in codes] for codes in CODES]
DICTS, STRINGS = as_dicts(ARRAYS), as_strings(ARRAYS)
PACKED = PackedSequences.from_sequences(ARRAYS)
TABLE = np.concatenate(ARRAYS)
KINDS = {
    "arrays": (ARRAYS, LABELS),
    "csr": ([csr_array(x) for x in ARRAYS], LABELS),
    "dicts": (DICTS, LABELS),
    "strings": (STRINGS, LABELS),
    "packed": (PACKED, LABELS),
    "table": (TABLE, np.concatenate(LABELS)),
}


def fitted(kind="arrays"):
    return SDCACRF(alpha=0.05, random_state=0).fit(*KINDS[kind])


def one_sequence(kind, i):
    """Return sequence i in the form that `explain` takes."""
    if kind == "table":
        return TABLE
    return PACKED[i : i + 1] if kind == "packed" else KINDS[kind][0][i]


def path_score(crf, kind, i, codes):
    """Return the score of a path by its definition, from the attributes alone."""
    X = KINDS[kind][0]
    if kind in ("dicts", "strings"):
        X = crf.vectorizer_.transform(X)
    x = X[i]
    x = x.toarray() if issparse(x) else x
    nodes = x @ crf.coef_.T + crf.intercept_
    nodes[0] += crf.start_
    nodes[-1] += crf.end_
    edges = crf.transition_[codes[:-1], codes[1:]].sum()
    return nodes[np.arange(len(codes)), codes].sum() + edges


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "table"])
@pytest.mark.parametrize("i", range(6))
def test_contributions_add_up_to_differences_of_path_scores(kind, i):
    crf = fitted(kind)
    X = KINDS[kind][0]
    (path,) = crf.predict(X[i : i + 1])
    (proba,) = crf.predict_proba(X[i : i + 1])

    def score_of(label):
        codes = np.searchsorted(crf.classes_, explanation.paths[label])
        return path_score(crf, kind, i, codes)

    for t in range(len(path)):
        explanation = crf.explain(one_sequence(kind, i), t, labels=crf.classes_)
        assert explanation.label == path[t]
        assert explanation.paths[path[t]] == path
        assert explanation.labels == list(explanation.paths) == ["A", "B", "O"]
        base = score_of(explanation.reference)
        for label, score, column in zip(
            explanation.labels,
            explanation.scores,
            explanation.contributions.T,
            strict=True,
        ):
            assert explanation.paths[label][t] == label
            assert_allclose(score, score_of(label) - base, rtol=0, atol=1e-12)
            assert_allclose(column.sum(), score, rtol=0, atol=1e-14)
        assert_array_equal(explanation.probabilities, proba[t])


def drawn_model(rng, n_labels, forbidden):
    """Return a model of drawn weights that forbids a share of all transitions."""
    X, y = [np.eye(n_labels, 2)], [list("ABCD"[:n_labels])]
    crf = SDCACRF(tol=1e100, random_state=0).fit(X, y)
    for name in ("coef_", "intercept_", "start_", "end_", "transition_"):
        weight = rng.standard_normal(getattr(crf, name).shape)
        if name in ("start_", "end_", "transition_"):
            weight[rng.random(weight.shape) < forbidden] = -np.inf
        setattr(crf, name, weight)
    return crf


def check_paths(explanation, best, score_of):
    """Check that paths are the best with their labels, and that terms add up."""
    base = score_of(explanation.paths[explanation.reference])
    for label, score in zip(explanation.labels, explanation.scores, strict=True):
        path = explanation.paths[label]
        assert path[explanation.position] == label
        assert_allclose(score, score_of(path) - base, rtol=0, atol=1e-12)
        if label != explanation.label:
            assert_allclose(score_of(path), best[label], rtol=0, atol=1e-12)
    places = enumerate(zip(*explanation.paths.values(), strict=True))
    assert explanation.positions == [t for t, labels in places if len(set(labels)) > 1]


@given(
    seed=st.integers(0, 2**32 - 1),
    n_labels=st.integers(1, 4),
    length=st.integers(1, 4),
    forbidden=st.sampled_from([0.0, 0.2, 0.5]),
    path_is_given=st.booleans(),
)
def test_label_is_compared_with_the_best_paths(
    seed, n_labels, length, forbidden, path_is_given
):
    rng = np.random.default_rng(seed)
    crf, x = drawn_model(rng, n_labels, forbidden), rng.standard_normal((length, 2))
    nodes = x @ crf.coef_.T + crf.intercept_
    nodes[0] += crf.start_
    nodes[-1] += crf.end_
    codes = reference.all_paths(length, n_labels)
    scores = reference.path_scores(nodes, crf.transition_)
    possible = np.flatnonzero(scores > -np.inf)
    assume(len(possible))
    chosen = rng.choice(possible) if path_is_given else np.argmax(scores)
    path, t = crf.classes_[codes[chosen]].tolist(), int(rng.integers(length))
    options = {"path": path} if path_is_given else {}

    def score_of(path):
        at = np.searchsorted(crf.classes_, path)
        return scores[(codes == at).all(axis=1)].item()

    classes = crf.classes_.tolist()
    best = {label: scores[codes[:, t] == k].max() for k, label in enumerate(classes)}
    can_be = [label for label in best if best[label] > -np.inf]
    others = [label for label in can_be if label != path[t]]
    explanation = crf.explain(x, t, **options)
    assert explanation.label == path[t]
    if others:
        assert explanation.labels == [path[t], explanation.reference]
        assert_allclose(
            score_of(explanation.paths[explanation.reference]),
            max(best[label] for label in others),
            rtol=0,
            atol=1e-12,
        )
        check_paths(explanation, best, score_of)
        for label in others:
            check_paths(crf.explain(x, t, reference=label, **options), best, score_of)
        check_paths(crf.explain(x, t, labels=can_be, **options), best, score_of)
    else:
        assert explanation.reference is None
        assert explanation.paths == {path[t]: path}
        assert len(explanation) == 0
        assert "no other label is possible here" in repr(explanation)
        assert "no other label is possible here" in explanation._repr_html_()
    for label in set(best) - set(can_be):
        for wanted in ({"reference": label}, {"labels": [label]}):
            (name,) = wanted
            match = f"{name}: .* no path with the label '{label}' at position {t}; "
            with pytest.raises(ValueError, match=match) as error:
                crf.explain(x, t, **wanted, **options)
            assert str(error.value).endswith(f"possible labels are {can_be}.")


PLACES = [
    [["La"], ["Coruna"], ["a"]],
    [["La"], ["casa"]],
    [["El"], ["Pais"]],
    [["Coruna"]],
]
ENTITIES = [["B-LOC", "I-LOC", "O"], ["O", "O"], ["B-ORG", "I-ORG"], ["B-LOC"]]


@pytest.mark.parametrize("when", ["fit", "constrain"])
def test_first_word_of_an_entity_is_compared_with_no_entity(when):
    if when == "fit":
        crf = SDCACRF(tol=1e-6, random_state=0, transitions="BIO").fit(PLACES, ENTITIES)
    else:
        crf = SDCACRF(tol=1e-6, random_state=0).fit(PLACES, ENTITIES).constrain("BIO")
    explanation = crf.explain(PLACES[0], 0)
    (proba,) = crf.predict_proba(PLACES[:1])
    assert explanation.labels == ["B-LOC", "O"]
    assert explanation.paths == {"B-LOC": ["B-LOC", "I-LOC", "O"], "O": ["O", "O", "O"]}
    assert explanation.positions == [0, 1]
    assert_array_equal(explanation.probabilities, proba[0, [0, 4]])
    assert {"La", "<start>", "[1] Coruna", "[1] <before O>", "<transition 0-1>"} <= set(
        explanation.features
    )
    assert explanation.scores[0] > 0.0
    assert np.isfinite(explanation.contributions).all()
    first, second, *_ = repr(explanation).splitlines()
    assert first == (
        f"Position 0: B-LOC (probability {proba[0, 0]:.3f}) against O (probability "
        f"{proba[0, 4]:.3f})"
    )
    assert second == "Positions 0, 1: B-LOC I-LOC against O O"
    assert second in explanation._repr_html_()
    other = crf.explain(PLACES[0], 0, reference="B-ORG")
    assert other.paths["B-ORG"] == ["B-ORG", "I-ORG", "O"]
    with pytest.raises(
        ValueError, match=r"reference: .* 'I-LOC' .* are \['B-LOC', 'B-ORG', 'O'\]"
    ):
        crf.explain(PLACES[0], 0, reference="I-LOC")


def test_paths_that_differ_at_one_item_are_read_as_its_labels():
    crf = SDCACRF(random_state=0, transitions="BIO").fit(PLACES, ENTITIES)
    explanation = crf.explain(PLACES[0], 2)
    assert explanation.positions == [2]
    assert "<after I-LOC>" in explanation.features
    assert not any(name.startswith(("[", "<tr")) for name in explanation.features)
    assert not any(line.startswith("Positions") for line in repr(explanation).split())


def test_long_sequence_is_explained_near_the_position():
    crf = SDCACRF(random_state=0, transitions="BIO").fit(PLACES, ENTITIES)
    words = [word for sequence in PLACES for word in sequence] * 1000
    (path,) = crf.predict([words])
    t = len(words) // 2
    while not path[t].startswith("B-") or not path[t + 1].startswith("I-"):
        t += 1
    explanation = crf.explain(words, t)
    assert explanation.positions[0] <= t < t + 1 <= explanation.positions[-1]
    assert len(explanation.positions) < 10
    likely = crf.log_likelihood(
        [words] * 2, [explanation.paths[label] for label in explanation.labels]
    )
    # log Z, of a thousand times the size, takes digits.
    assert_allclose(explanation.scores[0], likely[0] - likely[1], rtol=0, atol=1e-9)


def test_item_whose_label_is_forced_has_nothing_to_compare():
    pairs = [(None, "A"), ("A", "B"), ("B", "A"), ("A", None), ("B", None)]
    X = [np.eye(3)[[0, 1, 2]]] * 3
    crf = SDCACRF(random_state=0, transitions=pairs).fit(X, [["A", "B", "A"]] * 3)
    explanation = crf.explain(X[0], 1)
    assert (explanation.label, explanation.reference) == ("B", None)
    assert explanation.labels == ["B"]
    assert explanation.scores.tolist() == [0.0]
    assert repr(explanation) == (
        "Position 1: B (probability 1.000); no other label is possible here"
    )


def test_rows_of_a_table_are_explained_without_neighbours():
    crf = fitted("table")
    for t in (0, 7, -1):
        explanation = crf.explain(TABLE, t, reference="O")
        assert explanation.position == t % len(TABLE)
        assert set(explanation.features) <= {"x0", "x1", "x2", "x3", "<intercept>"}
        assert explanation.paths == {label: [label] for label in explanation.labels}
        assert explanation.positions == [explanation.position]
        codes = np.searchsorted(crf.classes_, explanation.labels)
        scores = (TABLE[t] @ crf.coef_.T + crf.intercept_)[codes]
        scores -= scores[explanation.labels.index("O")]
        assert_allclose(explanation.scores, scores, rtol=0, atol=1e-12)
        proba = crf.predict_proba(TABLE[[t]])[0, codes]
        assert_array_equal(explanation.probabilities, proba)
        assert explanation.label == crf.predict(TABLE[[t]])[0]


def test_table_explained_along_given_labels():
    crf = fitted("table")
    path = np.concatenate(LABELS)
    for t in (3, 5):
        explanation = crf.explain(TABLE, t, path=path)
        assert explanation.label == path[t]
        assert explanation.positions == [t]
    with pytest.raises(ValueError, match="labels in path"):
        crf.explain(TABLE, 3, path=path[:2])


def test_given_path_is_compared_with_the_best_other():
    crf = fitted()
    i = int(np.argmax([len(x) for x in ARRAYS]))
    (best,) = crf.predict(ARRAYS[i : i + 1])
    # Wrong at two items: the best other path is right at both.
    path = list(best)
    path[1], path[-1] = ("B" if label == "A" else "A" for label in (best[1], best[-1]))
    explanation = crf.explain(ARRAYS[i], 1, path=path)
    assert (explanation.label, explanation.reference) == (path[1], best[1])
    assert explanation.paths == {path[1]: path, best[1]: list(best)}
    assert explanation.positions == [1, len(path) - 1]
    assert explanation.scores[0] < 0.0


def test_terms_are_differences_of_weights():
    crf = fitted()
    x = np.concatenate(ARRAYS)[:3]
    # The neighbours of all best paths are those of the given one.
    crf.start_, crf.end_ = np.eye(3)[1] * 1e3, np.eye(3)[1] * 1e3
    explanation = crf.explain(
        x, 1, path=["B"] * 3, reference="A", labels=["B", "O", "A"]
    )
    assert explanation.label == "B"
    assert explanation.labels == ["B", "O", "A"]
    assert {"<start>", "<end>"}.isdisjoint(explanation.features)
    rows = {row.feature: row for row in explanation}
    assert_allclose(
        rows["<after B>"].contributions["O"],
        crf.transition_[1, 2] - crf.transition_[1, 0],
        rtol=1e-12,
    )
    assert_allclose(
        rows["<before B>"].contributions["O"],
        crf.transition_[2, 1] - crf.transition_[0, 1],
        rtol=1e-12,
    )
    assert_allclose(
        rows["x2"].contributions["B"],
        x[1, 2] * (crf.coef_[1, 2] - crf.coef_[0, 2]),
        rtol=1e-12,
    )
    assert rows["x2"].value == x[1, 2]
    assert (explanation.contributions[:, 2] == 0.0).all()
    # The title names the first label that is explained, not the label of the path.
    assert repr(crf.explain(x, 1, labels=["O"], reference="A")).startswith(
        f"Position 1: O (probability {explanation.probabilities[1]:.3f}) against A"
    )


def test_default_labels_and_order():
    crf = fitted()
    explanation = crf.explain(ARRAYS[0], 0)
    label, rival = explanation.labels
    assert (label, rival) == (explanation.label, explanation.reference)
    assert (np.diff(explanation.contributions[:, 0]) <= 0).all()
    assert (explanation.contributions[:, 1] == 0.0).all()
    # The label as its own reference is compared with the best other one, too.
    turned = crf.explain(ARRAYS[0], 0, reference=label)
    assert (turned.labels, turned.reference) == ([label, rival], label)
    # The same terms in another order.
    assert_allclose(turned.scores, [0.0, -explanation.scores[0]], rtol=1e-12)
    # And with itself, if that is asked for.
    same = crf.explain(ARRAYS[0], 0, reference=label, labels=[label])
    assert (len(same), same.positions, same.scores.tolist()) == (0, [], [0.0])
    assert f"{label} (probability" in repr(same)
    assert same._repr_html_()


@pytest.mark.parametrize("kind", ["dicts", "strings"])
def test_names_come_from_the_vectorizer(kind):
    crf = fitted(kind)
    names = set(crf.vectorizer_.get_feature_names_out())
    explained = set(crf.explain(one_sequence(kind, 1), 0).features)
    assert {name for name in explained if name[0] != "<"} <= names
    assert explained & names


def test_names_come_from_a_data_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(TABLE, columns=["north", "east", "south", "west"])
    crf = SDCACRF(alpha=0.05, random_state=0).fit(frame, KINDS["table"][1])
    top = crf.top_features(2)
    assert {"<intercept>", *frame.columns} >= set(top["feature"])
    assert "north" in crf.explain(frame, 2).features


def test_names_of_a_separate_vectorizer():
    vectorizer = SequenceVectorizer()
    packed = vectorizer.fit_transform(DICTS)
    crf = SDCACRF(alpha=0.05, random_state=0).fit(packed, LABELS)
    names = vectorizer.get_feature_names_out()
    assert crf.state_features(feature_names=names).to_dict() == (
        fitted("dicts").state_features().to_dict()
    )
    assert "f1" in crf.explain(packed[2:3], 0, feature_names=names).features
    with pytest.raises(ValueError, match="feature_names has 3 names, but SDCACRF was"):
        crf.top_features(feature_names=names[:3])


def test_tables_hold_every_weight_once():
    crf = fitted("dicts")
    table = crf.state_features()
    weights = table.to_dict()
    names = crf.vectorizer_.get_feature_names_out()
    expected = {
        (name, label): crf.coef_[k, j]
        for j, name in enumerate(names)
        for k, label in enumerate(crf.classes_)
        if crf.coef_[k, j] != 0
    }
    for name, block in [
        ("<intercept>", crf.intercept_),
        ("<start>", crf.start_),
        ("<end>", crf.end_),
    ]:
        expected |= dict(zip([(name, k) for k in crf.classes_], block, strict=True))
    assert weights == expected
    assert (np.diff(table["weight"]) <= 0).all()
    assert crf.transition_features().to_dict() == {
        (a, b): crf.transition_[i, j]
        for i, a in enumerate(crf.classes_)
        for j, b in enumerate(crf.classes_)
    }


def test_labels_in_tables_are_those_of_the_user():
    crf = SDCACRF(random_state=0).fit(ARRAYS, CODES)
    assert {type(row.label) for row in crf.state_features()} == {int}
    assert type(crf.explain(ARRAYS[0], 0).label) is int


@pytest.mark.parametrize("n", [1, 2, 3, 100])
def test_top_features_are_the_extremes_of_all(n):
    crf = fitted()
    everything = crf.state_features()
    table = crf.top_features(n, ["O", "A"])
    assert list(dict.fromkeys(table["label"])) == ["O", "A"]
    for label in ("O", "A"):
        weights = [row.weight for row in everything if row.label == label]
        expected = [w for w in weights if w > 0][:n] + [w for w in weights if w < 0][
            -n:
        ]
        assert [row.weight for row in table if row.label == label] == expected


@given(weights=st.lists(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 3.0, -np.inf])))
def test_extremes(weights):
    weights = np.array(weights)
    found = weights[_extremes(weights, 2)].tolist()
    finite = sorted(weights[np.isfinite(weights)], reverse=True)
    assert found == [w for w in finite if w > 0][:2] + [w for w in finite if w < 0][-2:]


def forbidding():
    """Return an estimator that forbids O to B, and B at the start."""
    crf = fitted()
    for name, place in [("transition_", (2, 1)), ("start_", 1)]:
        block = getattr(crf, name).copy()
        block[place] = -np.inf
        setattr(crf, name, block)
    return crf


def test_forbidden_transitions_are_no_weights():
    crf = forbidding()
    assert ("O", "B") not in crf.transition_features().to_dict()
    assert len(crf.transition_features()) == 8
    assert ("<start>", "B") not in crf.state_features().to_dict()
    assert np.isfinite(crf.top_features()["weight"]).all()


def test_explanation_of_a_forbidden_path():
    crf = forbidding()
    x = np.concatenate(ARRAYS)[:4]
    path = ["A", "O", "B", "A"]
    explanation = crf.explain(x, 2, path=path, reference="A")
    assert explanation.paths["B"] == path
    assert explanation.scores.tolist() == [-np.inf, 0.0]
    assert not np.isnan(explanation.contributions).any()
    assert "-inf" in repr(explanation)
    # What forbids it is the last term.
    assert explanation.contributions[-1, 0] == -np.inf
    assert explanation.features[-1] in ("<after O>", "<transition 1-2>")
    with pytest.raises(
        ValueError, match="reference: the given path, with the label 'B' at position 2"
    ):
        crf.explain(x, 2, path=path, reference="B")


def test_only_label_has_no_reference():
    crf = SDCACRF(random_state=0).fit(ARRAYS, [["A"] * len(x) for x in ARRAYS])
    for options in ({}, {"reference": "A"}, {"labels": ["A"]}):
        explanation = crf.explain(ARRAYS[0], 0, **options)
        assert (explanation.label, explanation.reference) == ("A", None)
        assert explanation.scores.tolist() == [0.0]
        assert list(explanation) == explanation.positions == []
        title = "Position 0: A (probability 1.000); no other label is possible here"
        assert repr(explanation) == title
        assert explanation._repr_html_() == f"<p><b>{title}</b></p>"


def test_labels_of_equal_weights_have_no_terms():
    crf = fitted()
    for name in ("coef_", "intercept_", "start_", "end_", "transition_"):
        setattr(crf, name, np.zeros_like(getattr(crf, name)))
    explanation = crf.explain(ARRAYS[0], 0)
    assert (len(explanation), explanation.scores.tolist()) == (0, [0.0, 0.0])
    assert "score" in repr(explanation)
    assert "score" in explanation._repr_html_()


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"position": 99}, IndexError, "position: 99 is not in the sequence"),
        ({"position": -99}, IndexError, "position: -99"),
        ({"position": 0.5}, TypeError, "float"),
        ({"reference": "Z"}, ValueError, "reference: 'Z' is not among the labels"),
        ({"labels": ["Z"]}, ValueError, "labels: 'Z' is not among the labels"),
        ({"labels": []}, ValueError, "labels is empty"),
        ({"path": ["A"] * 40}, ValueError, "40 labels"),
        ({"sequence": PACKED}, ValueError, "sequence: one is needed, but there are 25"),
        ({"sequence": DICTS[0]}, TypeError, "dicts"),
        ({"sequence": ARRAYS[0][:, :2]}, ValueError, "2 features"),
        ({"sequence": ARRAYS[0][:0]}, IndexError, "0 items"),
    ],
)
def test_what_explain_refuses(options, error, match):
    with pytest.raises(error, match=match):
        fitted().explain(**{"sequence": ARRAYS[0], "position": 0, **options})


def test_unseen_label_in_path():
    with pytest.raises(ValueError, match="path: the label 'Z' was not seen"):
        fitted().explain(ARRAYS[0], 0, path=["Z"] * len(ARRAYS[0]))


@pytest.mark.parametrize("n", [0, -1])
def test_top_features_needs_a_number(n):
    with pytest.raises(ValueError, match="n =="):
        fitted().top_features(n)


@pytest.mark.parametrize(
    "call",
    [
        lambda crf: crf.state_features(),
        lambda crf: crf.transition_features(),
        lambda crf: crf.top_features(),
        lambda crf: crf.explain(ARRAYS[0], 0),
        lambda crf: crf.sparsify(),
        lambda crf: crf.densify(),
        lambda crf: crf.prune(),
    ],
)
def test_unfitted(call):
    with pytest.raises(NotFittedError):
        call(SDCACRF())


def bits(arrays):
    return b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)


@pytest.mark.parametrize("kind", KINDS)
def test_sparsify_changes_no_bit_of_the_predictions(kind):
    crf, X = fitted(kind), KINDS[kind][0]
    crf.prune(0.3)
    proba, paths = crf.predict_proba(X), crf.predict(X)
    state, top = crf.state_features().to_dict(), list(crf.top_features(2))
    dense = crf.coef_
    assert crf.sparsify() is crf
    assert issparse(crf.coef_)
    assert bits(crf.predict_proba(X)) == bits(proba)
    assert [list(path) for path in crf.predict(X)] == [list(path) for path in paths]
    # One sequence alone has only some of the features.
    for i in range(0 if kind == "table" else len(proba)):
        assert bits(crf.predict_proba(X[i : i + 1])) == bits(proba[i : i + 1])
    assert crf.state_features().to_dict() == state
    assert list(crf.top_features(2)) == top
    explanation = crf.explain(one_sequence(kind, 1), 0)
    assert crf.densify() is crf
    assert_array_equal(crf.coef_, dense)
    assert crf.coef_.flags.f_contiguous
    again = crf.densify().explain(one_sequence(kind, 1), 0)
    assert_array_equal(explanation.contributions, again.contributions)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sparse", [False, True])
def test_prune_of_nothing_changes_no_bit(kind, sparse):
    crf, X = fitted(kind), KINDS[kind][0]
    crf.coef_ = crf.coef_.copy()
    crf.coef_[:, 1] = 0.0
    if sparse:
        crf.sparsify()
    proba = crf.predict_proba(X)
    assert crf.prune() is crf
    assert issparse(crf.coef_) == sparse
    assert bits(crf.predict_proba(X)) == bits(proba)
    has_names = kind in ("dicts", "strings")
    assert crf.coef_.shape[1] == crf.n_features_in_ == 3 + (not has_names)
    if has_names:
        assert len(crf.vectorizer_.get_feature_names_out()) == 3
    again = pickle.loads(pickle.dumps(crf))
    assert bits(again.predict_proba(X)) == bits(proba)


def test_prune_drops_small_weights():
    crf = fitted("strings")
    before = crf.state_features().to_dict()
    other = copy.copy(crf)
    # This is the last weight of a feature, so the feature is removed too.
    threshold = float(np.abs(crf.coef_).max(axis=0).min())
    crf.prune(threshold)
    assert crf.n_features_in_ < other.n_features_in_
    assert crf.state_features().to_dict() == {
        (name, label): weight
        for (name, label), weight in before.items()
        if name[0] == "<" or abs(weight) > threshold
    }
    # Objects that other code may hold are unchanged.
    assert other.state_features().to_dict() == before


@pytest.mark.parametrize("sparse", [False, True])
def test_prune_of_everything(sparse):
    crf = fitted("strings")
    if sparse:
        crf.sparsify()
    crf.prune(1e9)
    assert crf.coef_.shape == (3, 0)
    assert crf.n_features_in_ == 0
    nodes = np.tile(crf.intercept_, (2, 1))
    nodes[0] += crf.start_
    nodes[-1] += crf.end_
    (proba,) = crf.predict_proba([[["f1"], ["f2"]]])
    assert_allclose(proba, reference.node_marginals(nodes, crf.transition_), rtol=1e-12)
    assert crf.explain([["f1"], ["f2"]], 0).features
    assert set(crf.top_features()["feature"]) == {"<intercept>", "<start>", "<end>"}


def test_pruned_model_is_smaller():
    words = [[[f"word={i}-{t}" for i in range(40)]] for t in range(30)]
    y = [["A" if t % 2 else "B"] for t in range(30)]
    crf = SDCACRF(random_state=0).fit(words, y)
    crf.coef_ = crf.coef_.copy()
    crf.coef_[:, 100:] = 0.0
    size = len(pickle.dumps(crf))
    assert len(pickle.dumps(crf.prune())) < size / 4


@pytest.mark.parametrize("threshold", [-1.0, np.inf, np.nan])
def test_prune_refuses(threshold):
    crf = fitted("dicts")
    state = pickle.dumps(vars(crf))
    with pytest.raises(ValueError, match="threshold"):
        crf.prune(threshold)
    assert pickle.dumps(vars(crf)) == state


def test_a_trimmed_estimator_can_be_fitted_again():
    crf = fitted("dicts")
    coef = crf.coef_.copy()
    crf.prune(0.3).sparsify().fit(DICTS, LABELS)
    assert_array_equal(crf.coef_, coef)


@given(keep=st.lists(st.booleans(), min_size=6, max_size=6))
def test_restricted_vectorizer(keep):
    X = [[{"w": "a", "n": 2.0, "v": np.array([1.0, 2.0, 3.0])}, {"w": "b"}]]
    vectorizer = SequenceVectorizer().fit(X)
    rows = vectorizer.transform(X).X.toarray()
    names = vectorizer.get_feature_names_out()
    # Pruned twice: components that are removed stay removed.
    first = np.array(keep) | (np.arange(6) % 2 == 0)
    vectorizer.restrict(first).restrict(np.array(keep)[first])
    assert vectorizer.n_features_out_ == sum(keep)
    assert_array_equal(vectorizer.get_feature_names_out(), names[keep])
    assert_array_equal(vectorizer.transform(X).X.toarray(), rows[:, keep])


def test_restrict_refuses():
    vectorizer = SequenceVectorizer().fit([[["a", "b"]]])
    with pytest.raises(ValueError, match=r"support has shape \(3,\)"):
        vectorizer.restrict([True, False, True])


def numbers(n):
    return Table(
        {
            "name": np.array(["odd", "even"])[np.arange(n) % 2],
            "weight": np.linspace(1.0, -1.0, n),
        }
    )


def test_table_is_a_sequence_of_rows():
    table = numbers(3000)
    rows = list(table)
    assert len(table) == len(rows) == 3000
    assert rows[2999] == table[-1] == ("even", -1.0)
    assert rows[1].name == "even"
    assert table[2990:].columns == ("name", "weight")
    assert list(table[2990:]) == rows[2990:]
    assert list(table[:4:2]) == rows[:4:2]
    assert_array_equal(table["weight"], np.linspace(1.0, -1.0, 3000))
    with pytest.raises(IndexError):
        table[3000]
    with pytest.raises(KeyError):
        table["nothing"]


def test_table_shows_both_ends():
    lines = repr(numbers(3000)).splitlines()
    assert len(lines) == 1 + 10 + 1 + 10 + 1
    assert lines[0] == "name  weight"
    assert lines[1] == "odd   +1.000"
    assert lines[11] == "...      ..."
    assert lines[-2:] == ["even  -1.000", "[3000 rows]"]
    assert len(repr(numbers(20)).splitlines()) == 21
    assert repr(numbers(0)) == "name  weight\n[0 rows]"
    assert numbers(3000)._repr_html_().count("<tr>") == 22


def test_names_cannot_break_a_table():
    names = ["a\nb", "<script>", "漢字", "x" * 500]
    table = Table({"name": names, "weight": np.arange(4.0)})
    lines = repr(table).splitlines()
    assert len(lines) == 5
    assert "a\\nb" in lines[1]
    assert max(map(len, lines)) < 70
    # A character of double width counts as two.
    assert len(lines[3]) == len(lines[1]) - 2
    assert "<script>" not in table._repr_html_()
    assert "&lt;script&gt;" in table._repr_html_()


def test_small_weights_have_more_decimals():
    assert "+0.0000123" in repr(Table({"weight": np.array([1.234e-5, 0.0])}))


def test_table_refuses_what_is_lost_in_a_dict():
    table = Table({"name": np.array(["a", "a"]), "weight": np.ones(2)})
    with pytest.raises(ValueError, match="two rows of the table are of 'a'"):
        table.to_dict()


def test_columns_of_different_lengths():
    with pytest.raises(ValueError, match="different lengths"):
        Table({"a": np.ones(2), "b": np.ones(3)})


def test_explanation_of_many_features_adds_up_as_shown():
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((3, 50)) for _ in range(20)]
    crf = SDCACRF(random_state=0).fit(X, [["A", "B", "A"]] * 20)
    explanation = crf.explain(X[0], 1)
    lines = repr(explanation).splitlines()
    # Title, blank line, header, probability, score; then the terms of the score.
    score, *shown = (float(line.split()[-1]) for line in lines[4:])
    assert len(shown) == 21
    assert sum("others)" in line for line in lines) == 1
    assert_allclose(sum(shown), score, rtol=0, atol=0.5e-3 * 22)
    assert explanation._repr_html_().count("<tr>") == len(lines) - 2


def test_data_frames():
    pytest.importorskip("pandas")
    crf = fitted("dicts")
    frame = crf.state_features().to_frame()
    assert frame.columns.tolist() == ["feature", "label", "weight"]
    assert len(frame) == len(crf.state_features())
    assert frame["weight"].iloc[0] == crf.state_features()[0].weight
    explanation = crf.explain(DICTS[0], 0)
    frame = explanation.to_frame()
    assert frame.columns.tolist() == explanation.labels
    assert_allclose(frame.sum().to_numpy(), explanation.scores, rtol=0, atol=1e-12)


def test_html_is_shown_label_by_label():
    html = fitted().top_features(2)._repr_html_()
    assert html.count("<table") == 3
    assert "<b>O</b>" in html


def test_html_of_blocks_and_of_weights():
    columns = {"label": ["B", "B", "<O>"], "name": ["x", "y", "z"]}
    table = Table(columns | {"weight": [2.0, -1.0, 0.0]}, group="label")

    def cell(tag, align, text, tint=""):
        style = f"padding: 1px 8px; white-space: pre; text-align: {align}{tint}"
        return f'<{tag} style="{style}">{text}</{tag}>'

    def block(title, rows):
        head = cell("th", "left", "name") + cell("th", "right", "weight")
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return (
            f'<div style="margin: 0 24px 12px 0"><b>{title}</b>'
            '<table style="border-collapse: collapse; margin: 0">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    x = cell("td", "right", "+2.000", "; background: rgba(0, 114, 178, 0.55)")
    y = cell("td", "right", "-1.000", "; background: rgba(213, 94, 0, 0.28)")
    first = [cell("td", "left", "x") + x, cell("td", "left", "y") + y]
    last = [cell("td", "left", "z") + cell("td", "right", "+0.000")]
    assert table._repr_html_() == (
        '<div style="display: flex; flex-wrap: wrap">'
        f"{block('B', first)}{block('&lt;O&gt;', last)}</div>"
    )


def test_html_of_a_long_table_ends_with_its_number_of_rows():
    html = Table({"name": ["x", "y", "z"]}, max_rows=2)._repr_html_()
    assert re.findall("<td.*?>(.*?)</td>", html) == ["x", "...", "z"]
    assert html.endswith("</table></div></div><p>3 rows</p>")


def test_rows_of_a_table_are_chosen_by_a_mask():
    table = fitted("dicts").state_features()
    mask = table["weight"] > 0
    assert list(table[mask]) == [row for row in table if row.weight > 0]
    assert list(table[mask.tolist()]) == list(table[mask])
    assert list(table[np.array([2, 0])]) == [table[2], table[0]]
    assert len(table[[]]) == 0
    with pytest.raises(IndexError):
        table[mask[:-1]]
