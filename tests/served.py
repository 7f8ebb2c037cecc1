"""Checks that a Predictor answers as the estimator of its model."""

import inspect
import io
import json

import numpy_alone
import pytest
from numpy.testing import assert_allclose

from model_fuzz import is_refused, members, with_changes
from skcrf_sdca import load_model, save_model
from skcrf_sdca.serving import Predictor

CLOSE = {"rtol": 1e-9, "atol": 1e-12}


def through_file(estimator):
    save_model(estimator, file := io.BytesIO())
    return Predictor.load(file.getvalue())


WAYS = {"file": through_file, "estimator": Predictor.from_estimator}


def assert_same_answers(predictor, estimator, X, *, has_proba=True):
    """Assert that each answer of a Predictor is that of the estimator."""
    for x in X:
        (expected,) = estimator.predict([x])
        found = predictor.predict_one(x)
        assert found == expected
        assert type(found) is type(expected)
        (best,) = estimator.predict_n_best([x], 3)
        paths = predictor.n_best(x, 3)
        assert [path for path, _ in paths] == [path for path, _ in best]
        values = [[value for _, value in own] for own in (paths, best)]
        assert_allclose(*values, rtol=1e-9, atol=1e-12)
        if has_proba:
            (proba,) = estimator.predict_proba([x])
            assert_allclose(predictor.marginals(x), proba, rtol=1e-9, atol=1e-12)
            found = predictor.log_partition(x)
            assert_allclose([found], estimator.log_partition([x]), **CLOSE)
        else:
            with pytest.raises(ValueError, match="no probabilities"):
                predictor.marginals(x)


def assert_same_spans(found, expected):
    assert [span[:3] for span in found] == [span[:3] for span in expected]
    probabilities = [[span[3] for span in own] for own in (found, expected)]
    assert_allclose(*probabilities, rtol=1e-9, atol=1e-12)


def assert_both_readers_refuse_the_same(file):
    """Assert that `Predictor.load` refuses the documents that `load_model` refuses.

    They are those of a model file, each with one change.
    """
    contents, n_refused = members(file), 0
    for changed in with_changes(json.loads(contents["model.json"])):
        changed = {**contents, "model.json": json.dumps(changed).encode()}
        refused = is_refused(load_model, changed)
        assert refused == is_refused(Predictor.load, changed)
        n_refused += refused
    assert n_refused > 100


def answers(predictor, x, y, explained=True):
    best, proba = predictor.n_best(x, 2), predictor.marginals(x).tolist()
    own = predictor.predict_one(x), predictor.log_likelihood(x, y)
    return [*own, best, proba, explained and repr(predictor.explain(x, 1))]


FRESH = f"""
import json, sys
from skcrf_sdca.serving import Predictor
{inspect.getsource(answers)}
for path, *case in json.loads(sys.argv[1]):
    print(json.dumps(answers(Predictor.load(path), *case)))
"""


def assert_numpy_is_enough(cases, folder):
    """Assert that a process without other packages answers as this one.

    A case is an estimator with the other arguments of `answers`, as JSON has them.
    """
    asked, expected = [], []
    for k, (estimator, *case) in enumerate(cases):
        save_model(estimator, folder / f"{k}")
        asked.append([f"{folder / str(k)}", *case])
        expected.append(answers(Predictor.load(folder / f"{k}"), *case))
    printed = numpy_alone.printed(FRESH, json.dumps(asked))
    assert list(map(json.loads, printed.splitlines())) == json.loads(
        json.dumps(expected)
    )
