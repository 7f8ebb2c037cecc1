"""No number in a file makes a small file take large memory: see size_fuzz.py."""

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import size_fuzz
from numpy.testing import assert_array_equal

from samples import peak_of
from skcrf_sdca import (
    DependencyCRF,
    PassiveAggressiveCRF,
    SequenceHasher,
    load_model,
    save_model,
)
from skcrf_sdca._utils import memory
from skcrf_sdca.persistence import _entries
from skcrf_sdca.persistence._document import PIPELINES, _describers
from skcrf_sdca.persistence._registry import CRFS
from skcrf_sdca.serving import Predictor

ON_LINUX = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="limits the memory of a process"
)
# So that a worker takes some of them at a time.
NAMES = list(size_fuzz.MODELS)
PARTS = [NAMES[k::4] for k in range(4)]


@pytest.mark.slow
@ON_LINUX
@pytest.mark.parametrize("names", PARTS, ids="|".join)
def test_numbers_that_become_sizes(names):
    script = Path(size_fuzz.__file__)
    done = subprocess.run(
        [sys.executable, script, *names],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts["refused"] > counts["answered"] > 0


def test_every_type_of_model_is_among_them():
    models = [model for model, *_ in size_fuzz.MODELS.values()]
    steps = [step for model in models for _, step in getattr(model, "steps", [])]
    assert {type(model) for model in models + steps} == set(_describers())


@pytest.mark.parametrize("read", [load_model, Predictor.load])
def test_a_document_that_does_not_fit_is_refused_before_it_is_parsed(read, monkeypatch):
    save_model(size_fuzz.fitted("dicts"), file := io.BytesIO())
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 2**10)
    monkeypatch.setattr(json, "loads", None)
    with pytest.raises(MemoryError, match=r"the objects of model.json, of \d+ bytes"):
        read(file.getvalue())


@pytest.mark.parametrize("n_features", [10**7, 2**31 - 1])
def test_hashed_columns_take_no_memory(n_features):
    X = [[["a", "b", "a"], ["c"]], [], [["b"], []]]
    few, many = (SequenceHasher(n).transform(X).X for n in (64, n_features))
    assert few.shape == (4, 64)
    assert many.shape == (4, n_features)
    assert_array_equal(np.sort(few.data), np.sort(many.data))
    assert peak_of(lambda: SequenceHasher(n_features).transform(X)) < 2**20


def test_a_sparse_model_of_many_columns_answers_as_a_dense_one():
    X = [[["a", "b"], ["b"]], [["c"], ["a", "a"]]]
    hashed = SequenceHasher(2**16).transform(X)
    crf = PassiveAggressiveCRF(random_state=0).fit(hashed, [["A", "B"], ["B", "A"]])
    dense = crf.predict_proba(hashed)
    assert 100 * crf.sparsify().coef_.nnz < 2**16
    for found, expected in zip(crf.predict_proba(hashed), dense, strict=True):
        assert_array_equal(found, expected)


def test_features_of_other_arcs_are_not_saved_or_loaded():
    X, y = size_fuzz.TOKENS, size_fuzz.HEADS
    crf = DependencyCRF(features=size_fuzz.ARCS, **size_fuzz.NEW).fit(X, y)
    crf.n_features_in_ = 128
    crf.coef_ = sp.csr_array((1, 128))
    with pytest.raises(ValueError, match="n_features=64, but the CRF 128"):
        save_model(crf, io.BytesIO())
    crf.fit(X, y)
    save_model(crf, file := io.BytesIO())
    assert load_model(file.getvalue()).predict(X).tolist() == crf.predict(X).tolist()


def test_the_names_of_types_are_those_of_estimators():
    chains = {name for name, cls in CRFS.items() if cls._structure == "chain"}
    assert chains == set(_entries.CHAINS)
    assert set(PIPELINES) == set(_entries.PIPELINES)
