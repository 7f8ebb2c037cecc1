"""Dual variables in files: the same optimum, and what a fit says of them."""

import os
import pickle
import signal
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, random_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import graph_cases
from samples import peak_of
from skcrf_sdca import (
    CRF,
    OEGCRF,
    SDCACRF,
    DualityGapMonitor,
    GraphCRF,
    PackedSequences,
    SegmentCRF,
    TreeCRF,
    load_model,
)
from skcrf_sdca._utils import archives, mapped_arrays
from skcrf_sdca.data import label_encoding
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.solvers import oeg, partition, state_file, storage
from skcrf_sdca.solvers.samplers import WINDOW
from skcrf_sdca.solvers.storage import FilesWarning
from skcrf_sdca.structures import structure

TIGHT = {"tol": 1e-9, "max_iter": 3000, "random_state": 0}


@pytest.fixture
def little(monkeypatch):
    """Leave no memory for dual variables."""
    monkeypatch.setattr(storage, "may_fit", lambda n_bytes: False)
    monkeypatch.setattr(storage, "available_memory", lambda: 1000)


def chains():
    return make_chains(60, random_state=0)


def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(80, 3)), rng.integers(3, size=80)


def words():
    X, y = make_chains(40, random_state=0)
    return [[[f"f{row.argmax()}"] for row in x] for x in X], y


def partly_known():
    X, y = chains()
    return X, [[None, *labels[1:]] if len(labels) > 1 else labels for labels in y]


def soft():
    X, y = chains()
    rng = np.random.default_rng(0)
    return X, [rng.dirichlet(np.ones(3), size=len(labels)) for labels in y]


def in_parts():
    X, y = words()
    names = "N-one", "N-many", "V-one"
    return X, [[names[k] for k in labels] for labels in y]


def graphs():
    return graph_cases.sample(30, n_labels=3)


def trees():
    rng = np.random.default_rng(0)
    x = [(rng.normal(size=(7, 5)), [-1, 0, 1, 1, 2, 2, 0]) for _ in range(20)]
    return x, [rng.integers(3, size=7).tolist() for _ in x]


FITS = {
    "chain": (chains, SDCACRF()),
    "oeg": (chains, OEGCRF()),
    "crf": (chains, CRF()),
    "threads": (lambda: make_chains(140, random_state=0), SDCACRF(n_jobs=2)),
    "threads of oeg": (lambda: make_chains(140, random_state=0), OEGCRF(n_jobs=2)),
    "l1": (chains, SDCACRF(l1_ratio=0.3)),
    "more l1": (chains, OEGCRF(l1_ratio=0.7)),
    "plain": (chains, SDCACRF(acceleration=None)),
    "margin": (chains, SDCACRF(loss="softmax_margin", temperature=0.5)),
    "sparsemap": (chains, SDCACRF(loss="sparsemap")),
    "sparsemap, l1": (chains, SDCACRF(loss="sparsemap", l1_ratio=0.3)),
    "smooth hinge": (chains, SDCACRF(loss="smooth_hinge")),
    "class weights": (chains, SDCACRF(class_weight="balanced")),
    "parts of labels": (in_parts, SDCACRF(label_features="parts")),
    "bound": (
        lambda: make_chains(40, n_labels=5, random_state=0),
        SDCACRF(label_pairs="observed"),
    ),
    "observed": (words, SDCACRF(features="observed")),
    "double": (chains, SDCACRF(dual_dtype="float64")),
    "order": (words, SDCACRF(order=2)),
    "observed transitions": (words, OEGCRF(transitions="observed")),
    "table": (rows, SDCACRF()),
    "partly known": (partly_known, SDCACRF()),
    "soft": (soft, OEGCRF()),
    "graph": (graphs, GraphCRF(solver="sdca")),
    "graph, oeg": (graphs, GraphCRF(solver="oeg")),
    "graph, l1": (graphs, GraphCRF(solver="oeg", l1_ratio=0.3)),
    "reweighted": (graphs, GraphCRF(solver="sdca", inference="trw")),
    "tree": (trees, TreeCRF(solver="oeg")),
    "tree, sdca": (trees, TreeCRF(solver="sdca")),
    "segments": (words, SegmentCRF(scheme=None)),
    "segments, oeg": (words, SegmentCRF(scheme=None, solver="oeg")),
}


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("name", FITS)
def test_a_fit_with_files_ends_at_the_optimum_in_memory(name, monkeypatch):
    make, crf = FITS[name]
    data, crf = make(), clone(crf).set_params(**TIGHT)
    with pytest.warns(FilesWarning, match="dual variables lie in files"):
        found = clone(crf).fit(*data)
    assert found.duality_gap_ <= found.gap_target_
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error", FilesWarning)
        expected = crf.fit(*data)
    assert_allclose(found.primal_objective_, expected.primal_objective_, rtol=1e-8)


@pytest.mark.usefixtures("little")
def test_the_hinge_has_its_expectations_in_files(monkeypatch):
    X, y = chains()
    crf = SDCACRF(loss="hinge", tol=1e-3, max_iter=3000, random_state=0)
    with pytest.warns(FilesWarning):
        found = clone(crf).fit(X, y)
    monkeypatch.undo()
    assert_allclose(found.primal_objective_, crf.fit(X, y).primal_objective_, rtol=1e-3)
    assert "window" in found.history_
    assert "window" not in crf.history_


def test_memory_decides_where_the_dual_variables_lie(monkeypatch):
    X, y = chains()
    made = []
    zeros = mapped_arrays.zeros
    monkeypatch.setattr(
        mapped_arrays, "zeros", lambda *form: made.append(form) or zeros(*form)
    )
    crf = SDCACRF(max_iter=2, tol=1.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FilesWarning)
        for memory in ("auto", None, "1 GB", 1e9):
            assert "window" not in crf.set_params(memory=memory).fit(X, y).history_
        assert not made
        # What was asked for is no news.
        window = crf.set_params(memory="1 kB").fit(X, y).history_["window"]
        assert np.all((window > 0.0) & (window < 0.2))
    assert made
    assert "window" not in crf.set_params(sampling="uniform").fit(X, y).history_
    crf.set_params(sampling="window", memory=None).fit(X, y)
    assert np.all(crf.history_["window"] == WINDOW)


@pytest.mark.usefixtures("little")
def test_without_files_memory_is_not_left(monkeypatch):
    X, y = chains()
    assert "window" not in SDCACRF(memory=None, random_state=0).fit(X, y).history_
    monkeypatch.setattr(mapped_arrays, "free_space", lambda: 10)
    assert "window" not in SDCACRF(random_state=0).fit(X, y).history_
    message = "more than memory=500, .* has only .* free: take a larger memory, or set"
    with pytest.raises(MemoryError, match=message):
        SDCACRF(memory=500).fit(X, y)
    with pytest.raises(ValueError, match="memory='much' is no size"):
        SDCACRF(memory="much").fit(X, y)


@pytest.mark.parametrize("cls", [SDCACRF, OEGCRF])
def test_a_warm_start_goes_on_from_files(cls):
    X, y = chains()
    crf = cls(memory=500, warm_start=True, tol=1e-6, max_iter=500, random_state=0)
    crf.fit(X, y)
    again = pickle.loads(pickle.dumps(crf)).fit(X, y)
    assert again.n_iter_ <= 2
    assert_array_equal(again.predict(X), crf.predict(X))


def test_a_full_disk_leaves_the_estimator_as_it_was(monkeypatch):
    X, y = chains()
    crf = SDCACRF(random_state=0).fit(X, y)
    before = crf.coef_.copy()

    def full(*_):
        raise OSError(28, "No space left on device", "folder")

    monkeypatch.setattr(mapped_arrays, "_reserve", full)
    with pytest.raises(OSError, match="No space left"):
        crf.set_params(memory=500).fit(X, y)
    assert_array_equal(crf.coef_, before)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_fit_from_a_file_keeps_no_number_for_each_value_in_memory(
    n_jobs, tmp_path, monkeypatch
):
    monkeypatch.setattr(partition, "BLOCK", 2**12)
    rng = np.random.default_rng(0)
    X = random_array((9_000, 300), density=0.25, format="csr", rng=rng)
    PackedSequences(X, np.arange(0, 9_001, 10)).save(tmp_path / "X")
    labels = rng.integers(3, size=9_000)
    packed = PackedSequences.open(tmp_path / "X")
    crf = SDCACRF(memory="1 kB", n_jobs=n_jobs, max_iter=2, tol=1e-9, random_state=0)
    with pytest.warns(ConvergenceWarning):
        crf.fit(packed[:100], labels[:1_000])
    # The warning reads values too.
    with pytest.warns(ConvergenceWarning):
        of_fit = peak_of(lambda: crf.fit(packed, labels))
    assert of_fit < 4 * X.nnz


@pytest.mark.parametrize("crf", [SDCACRF(), OEGCRF(), SDCACRF(loss="hinge")], ids=str)
def test_a_fit_from_a_file_keeps_no_number_for_each_position_in_memory(
    crf, tmp_path, monkeypatch
):
    for module in label_encoding, structure, state_file, archives:
        monkeypatch.setattr(module, "BLOCK", 2**12)
    crf = clone(crf).set_params(memory="1 kB", max_iter=1, tol=1.0, random_state=0)
    rng = np.random.default_rng(0)
    n_positions = 2**18
    X = csr_array(rng.random((n_positions, 1)) < 0.5, dtype=np.float64)
    PackedSequences(X, np.arange(0, n_positions + 1, 2**10)).save(tmp_path / "X")
    np.save(tmp_path / "y.npy", rng.integers(2, size=n_positions, dtype=np.int8))
    packed = PackedSequences.open(tmp_path / "X")
    labels = np.load(tmp_path / "y.npy", mmap_mode="r")
    crf.fit(packed[:100], labels[: 100 * 2**10])
    crf.set_params(checkpoint=tmp_path / "state", warm_start=True)
    for _ in "begin", "go on":
        assert peak_of(lambda: crf.fit(packed, labels)) < 4 * n_positions


def test_two_fits_of_one_packed_file_at_once_have_files_of_their_own(tmp_path):
    X, y = words()
    vectorized = SDCACRF(max_iter=1, tol=1.0, random_state=0).fit(X, y).vectorizer_
    vectorized.transform(X).save(tmp_path / "X")
    labels = np.concatenate(y)
    # Each fit waits in its first epoch for the other.
    both = Barrier(2)

    class Meet(DualityGapMonitor):
        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            if fitted_estimator.n_iter_ == 1:
                both.wait(timeout=60)

    def fit(cls):
        packed = PackedSequences.open(tmp_path / "X")
        assert packed.n_bytes_mapped == (tmp_path / "X").stat().st_size
        return cls(memory=500, **TIGHT).set_callbacks(Meet()).fit(packed, labels)

    with ThreadPoolExecutor(2) as pool:
        fits = list(pool.map(fit, (SDCACRF, OEGCRF)))
    expected = SDCACRF(**TIGHT).fit(X, y).primal_objective_
    assert_allclose([f.primal_objective_ for f in fits], expected, rtol=1e-8)
    assert vectorized.transform(X).n_bytes_mapped == 0


def test_expectations_lie_in_files_where_memory_can_hold_them(monkeypatch):
    X, y = chains()
    monkeypatch.setattr(oeg, "MOST_STORED", 0)
    crf = OEGCRF(memory="1 kB", random_state=0, tol=1e-5)
    calls, coefs = [], []
    for n_bytes in 10**9, 1000, None:
        monkeypatch.setattr(storage, "memory_for_files", lambda n=n_bytes: n)
        crf.fit(X, y)
        calls.append(crf.history_["oracle_calls"][-1])
        coefs.append(crf.coef_)
    # Visits that derive their expectations call the oracle once more.
    assert calls[0] < calls[1] == calls[2]
    assert_array_equal(coefs[0], coefs[1])


KILLED = """
import os, signal, sys
import numpy as np
from skcrf_sdca import OEGCRF, PackedSequences, save_model
from skcrf_sdca.solvers.dual import DualSolver

class Keep:
    n_kept = 0
    def setup(self, estimator, context): pass
    teardown = setup
    def on_fit_task_begin(self, estimator, context, **arguments): pass
    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None, **_):
        save_model(fitted_estimator, sys.argv[1] + "/kept")
        Keep.n_kept += 1

def visit_and_die(solver, n_visits, visit=DualSolver._visit_drawn):
    visit(solver, n_visits // 2 if Keep.n_kept == 4 else n_visits)
    if Keep.n_kept == 4:
        os.kill(os.getpid(), signal.SIGKILL)

DualSolver._visit_drawn = visit_and_die
X = PackedSequences.open(sys.argv[1] + "/X")
y = np.load(sys.argv[1] + "/y.npy", mmap_mode="r")
crf = OEGCRF(memory=500, tol=1e-12, random_state=0)
crf.set_callbacks(Keep()).fit(X, y)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system kills otherwise")
def test_a_killed_fit_leaves_no_file_and_goes_on_from_a_kept_model(tmp_path):
    X, y = words()
    crf = OEGCRF(max_iter=1, tol=1.0, random_state=0).fit(X, y)
    crf.vectorizer_.transform(X).save(tmp_path / "X")
    np.save(tmp_path / "y.npy", np.concatenate(y))
    (tmp_path / "temporary").mkdir()
    killed = subprocess.run(
        [sys.executable, "-P", "-c", KILLED, str(tmp_path)],
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
    )
    assert killed.returncode == -signal.SIGKILL
    assert not list((tmp_path / "temporary").iterdir())
    kept = load_model(tmp_path / "kept")
    packed = PackedSequences.open(tmp_path / "X")
    labels = np.load(tmp_path / "y.npy", mmap_mode="r")
    # Whoever watches a fit has a certificate of its first epoch.
    watched = OEGCRF(memory=500, **TIGHT).set_callbacks(DualityGapMonitor())
    fresh, again = clone(watched), clone(watched)
    fresh.fit(packed, labels)
    again.fit(packed, labels, init=kept)
    assert_allclose(again.primal_objective_, fresh.primal_objective_, rtol=1e-8)
    assert again.history_["gap"][0] < fresh.history_["gap"][0]
