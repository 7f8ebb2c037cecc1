"""One sequence through compat.CRF: the answers of many, by a compiled way."""

import pickle

import numpy as np
import pytest
from test_compat import as_strings, random_sequences

from skcrf_sdca.compat import CRF
from skcrf_sdca.model.answers import Answers


@pytest.fixture
def only_singles(monkeypatch):
    """Let the way of many sequences fail."""

    def packed(*given):
        raise AssertionError("the way of many sequences")

    monkeypatch.setattr(Answers, "_packed", packed)


def assert_same_answers(crf, X):
    predicted, marginals = list(crf.predict(X)), crf.predict_marginals(X)
    assert [crf.predict_single(x) for x in X] == predicted
    assert [crf.predict_marginals_single(x) for x in X] == marginals


@pytest.mark.parametrize(
    "options", [{"c1": 0.1}, {"c2": 0.1}, {"algorithm": "ap"}], ids=str
)
@pytest.mark.parametrize("form", [list, as_strings])
def test_a_compiled_way_for_every_model(options, form, only_singles, monkeypatch):
    X, y = random_sequences(30)
    X = [*form(X), []]
    crf = CRF(**options).fit(X, [*y, []])
    found = [(crf.predict_single(x), crf.predict_marginals_single(x)) for x in X[:-1]]
    monkeypatch.undo()
    assert found == list(
        zip(crf.predict(X[:-1]), crf.predict_marginals(X[:-1]), strict=True)
    )
    assert_same_answers(crf, X)


def test_models_of_files(tmp_path):
    X, y = random_sequences()
    CRF(c1=0.05, model_filename=tmp_path / "m").fit(X, y)
    crf = CRF(model_filename=tmp_path / "m")
    for form in (list, as_strings, list):
        assert_same_answers(crf, form(X))


def test_the_answers_are_those_of_the_model_as_it_is():
    X, y = random_sequences()
    crf = CRF(c1=0.05).fit(X, y)
    assert_same_answers(crf, X)
    crf.fit(X[:9], y[:9])
    assert_same_answers(crf, X)
    inner = crf.estimator_
    for name in ("coef_", "intercept_", "start_", "end_", "transition_"):
        setattr(inner, name, -3.0 * getattr(inner, name))
        assert_same_answers(crf, X)
    assert_same_answers(pickle.loads(pickle.dumps(crf)), X)


def test_items_of_any_form():
    X, y = random_sequences()
    crf = CRF(c2=0.1).fit(as_strings(X), y)
    assert_same_answers(crf, [("ab", "b"), [("a", "b"), {"b"}], [["a"], "ab"]])
    assert_same_answers(CRF(c2=0.1).fit([np.eye(3)], [["A", "B", "A"]]), [np.eye(3)])


@pytest.mark.parametrize("name", ["predict_single", "predict_marginals_single"])
def test_errors_name_the_place(name):
    crf = CRF(c2=0.1).fit([[{"n": 1.0}, {"n": 2.0}]], [["A", "B"]])
    with pytest.raises(TypeError, match="sequence 0, item 1"):
        getattr(crf, name)([{"n": 1.0}, {"n": None}])
    with pytest.raises(ValueError, match="sequence 0, position 1 has .* so large"):
        getattr(crf, name)([{"n": 1.0}, {"n": 1e300}])
