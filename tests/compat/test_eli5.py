"""What eli5 says of the estimators, once they are registered with it."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from skcrf_sdca import CRF, LBFGSCRF, compat, make_tagger
from skcrf_sdca.text import TokenFeatures

eli5 = pytest.importorskip("eli5", reason="eli5 is not installed")
compat.register_eli5()

X = [[{"w": "a"}, {"w": "b", "n": 2.0}], [{"w": "c"}, {"w": "a"}]] * 5
Y = [["O", "B-PER"], ["I-LOC", "O"]] * 5


@pytest.fixture(scope="module")
def crf():
    return CRF(alpha=1e-3).fit(X, Y)


def weights(explanation):
    """Return {(feature, target): weight} of an explanation."""
    return {
        (one.feature, target.target): one.weight
        for target in explanation.targets
        for one in [*target.feature_weights.pos, *target.feature_weights.neg]
    }


@pytest.mark.parametrize("type_", [CRF, LBFGSCRF])
def test_weights_are_those_of_the_estimator(type_):
    crf = type_(alpha=1e-3).fit(X, Y)
    found = eli5.explain_weights(crf, top=None)
    assert found.error is None
    assert found.method == "CRF"
    assert found.estimator == repr(crf)
    assert [target.target for target in found.targets] == ["O", "I-LOC", "B-PER"]
    assert weights(found) == crf.state_features().to_dict()
    pairs = found.transition_features
    assert pairs.class_names == ["O", "I-LOC", "B-PER"]
    at = [crf.classes_.tolist().index(name) for name in pairs.class_names]
    np.testing.assert_array_equal(pairs.coef, crf.transition_[at][:, at])


def test_an_estimator_of_compat_and_a_tagger(crf, tmp_path):
    own = compat.CRF(c2=0.01, model_filename=tmp_path / "m").fit(X, Y)
    found = eli5.explain_weights(own, top=None)
    assert found.estimator == repr(own)
    assert weights(found) == own.estimator_.state_features().to_dict()
    of_file = eli5.explain_weights(compat.CRF(model_filename=tmp_path / "m"), top=None)
    assert weights(of_file) == pytest.approx(weights(found))
    with pytest.raises(NotFittedError):
        eli5.explain_weights(compat.CRF())
    words = [["Anna", "left"], ["Yes", "she"]]
    tagger = make_tagger(TokenFeatures(), CRF(alpha=1e-3)).fit(words, Y[:2])
    found = eli5.explain_weights(tagger, top=None)
    assert found.estimator == repr(tagger)
    assert weights(found) == tagger[-1].state_features().to_dict()


@pytest.mark.parametrize("top", [1, 3, (1, 2), None])
def test_the_largest_weights_are_shown(crf, top):
    every = crf.state_features().to_dict()
    for target in eli5.explain_weights(crf, top=top).targets:
        own = [w for (_, label), w in every.items() if label == target.target]
        shown = target.feature_weights
        pos, neg = ([one.weight for one in side] for side in (shown.pos, shown.neg))
        assert pos == sorted((w for w in own if w > 0), reverse=True)[: len(pos)]
        assert neg == sorted(w for w in own if w < 0)[: len(neg)]
        if isinstance(top, int):
            assert sorted(map(abs, pos + neg)) == sorted(map(abs, own))[-top:]
        if isinstance(top, tuple):
            assert len(pos) <= top[0]
            assert len(neg) <= top[1]
        n_left = shown.pos_remaining + shown.neg_remaining
        assert len(pos) + len(neg) + n_left == len(own)


def test_targets_and_features_may_be_chosen(crf):
    found = eli5.explain_weights(
        crf,
        top=None,
        targets=["B-PER", "O"],
        target_names={"O": "none"},
        feature_re="^w:",
        feature_filter=lambda name: not name.endswith("c"),
    )
    assert [target.target for target in found.targets] == ["B-PER", "none"]
    assert {name for name, _ in weights(found)} == {"w:a", "w:b"}
    at = [crf.classes_.tolist().index(name) for name in ("B-PER", "O")]
    np.testing.assert_array_equal(
        found.transition_features.coef, crf.transition_[at][:, at]
    )


def test_it_is_shown_as_text_and_html(crf):
    found = eli5.explain_weights(crf)
    assert "w:b" in eli5.format_as_text(found)
    assert "B-PER" in eli5.format_as_html(found)
    table = eli5.explain_weights_dfs(crf)["targets"]
    assert {"target", "feature", "weight"} <= {*table.columns}
    # Of numbers, which have names given, with other labels and forbidden pairs.
    rows = [np.eye(2), np.eye(2)[::-1]] * 3
    other = LBFGSCRF(alpha=1e-3, transitions="observed").fit(rows, [[0, 1], [1, 0]] * 3)
    found = eli5.explain_weights(other, feature_names=["left", "right"], top=None)
    assert {"left", "right"} <= {name for name, _ in weights(found)}
    assert "right" in eli5.format_as_text(found)


def test_parts_of_labels_are_targets():
    crf = LBFGSCRF(alpha=1e-3, label_features=lambda label: label.split("-"))
    found = eli5.explain_weights(crf.fit(X, Y), top=None)
    assert weights(found) == crf.state_features().to_dict()
    assert {target.target for target in found.targets} == {*crf.parts_.tolist()}
    assert found.transition_features is None
