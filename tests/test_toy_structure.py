"""A new structure: one file, its kernel, its twin below, and one call of `register`.

The toy in tests/toy/ is trained by every solver whose needs it meets, predicts, is
explained, saved and loaded. The twin enumerates labellings in plain NumPy.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import issparse
from scipy.special import logsumexp

from reference import all_paths
from samples import registered
from skcrf_sdca import load_model, save_model
from skcrf_sdca.solvers import parallel

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "skcrf_sdca" / "_kernels"
TOY = Path(__file__).parent / "toy"
SOLVERS = ["sdca", "oeg", "sag", "sgd", "lbfgs"]
LABELS, ALPHA, MOST = ["a", "b", "c"], 0.05, 2
BUILD = """
from Cython.Build import cythonize
from setuptools import Extension, setup
module = Extension("counts_kernel", ["counts_kernel.pyx"], include_dirs=[{headers!r}])
setup(ext_modules=cythonize([module], include_path=[{root!r}], language_level=3))
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """Return the module of the toy, whose kernel is compiled for it."""
    if not (KERNELS / "inference" / "_inference.pxd").exists():
        pytest.skip("the sources of the kernels are not here")
    folder = tmp_path_factory.mktemp("toy")
    (folder / "counts_kernel.pyx").write_text((TOY / "counts.pyx").read_text())
    headers = str(KERNELS / "math")
    (folder / "setup.py").write_text(BUILD.format(root=str(ROOT), headers=headers))
    command = [sys.executable, "-P", "setup.py", "-q", "build_ext", "--inplace"]
    # To optimise it would take longer than all that it computes.
    options = {"env": os.environ | {"CFLAGS": "-O0"}, "cwd": folder, "timeout": 300}
    subprocess.run(command, check=True, capture_output=True, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(TOY)
        patch.syspath_prepend(folder)
        import counts

        with registered(counts.Counts, counts.CountCRF):
            yield counts


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = [rng.choice(LABELS, size=n).tolist() for n in (1, 2, 4, 3, 5, 2)]
    codes = [[LABELS.index(label) for label in labels] for labels in y]
    return [np.eye(3)[c] + rng.normal(size=(len(c), 3)) for c in codes], y


def labellings(crf, x):
    """Return all labellings of an item, and their scores."""
    local = x @ crf.coef_.T + crf.intercept_
    paths = all_paths(len(x), 3)
    n_first = np.minimum((paths == 0).sum(axis=1), MOST)
    return paths, local[np.arange(len(x)), paths].sum(axis=1) + crf.count_[n_first]


def objective(crf, X, y):
    """Return P(w) by enumeration, and the largest partial derivative that is free."""
    coef = crf.coef_.toarray() if issparse(crf.coef_) else crf.coef_
    weights = np.concatenate([coef.ravel(), crf.intercept_, crf.count_])
    value, gradient = ALPHA / 2 * weights @ weights, ALPHA * weights
    for x, labels in zip(X, y, strict=True):
        paths, scores = labellings(crf, x)
        right = (paths == [LABELS.index(label) for label in labels]).all(axis=1)
        p = np.exp(scores - logsumexp(scores))
        one_hot = np.eye(3)[paths]
        n_first = np.minimum((paths == 0).sum(axis=1), MOST)
        features = np.concatenate(
            [
                np.einsum("stk,td->skd", one_hot, x).reshape(len(p), -1),
                one_hot.sum(axis=1),
                np.eye(MOST + 1)[n_first],
            ],
            axis=1,
        )
        value -= np.log(p[right][0]) / len(X)
        gradient = gradient + (p - right) @ features / len(X)
    return value, np.abs(gradient).max()


def fitted(counts, data, solver="lbfgs", **parameters):
    crf = counts.CountCRF(alpha=ALPHA, solver=solver, max_iter=5000, **parameters)
    return crf.set_params(random_state=0).fit(*data)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("features", ["all", "observed"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.usefixtures("many_ranges")
def test_every_solver_finds_the_optimum(
    counts, data, solver, features, n_jobs, monkeypatch
):
    monkeypatch.setattr(parallel, "MIN_SHARD", 1)
    crf = fitted(counts, data, solver, tol=1e-9, features=features, n_jobs=n_jobs)
    value, residual = objective(crf, *data)
    assert_allclose(crf.primal_objective_, value, rtol=1e-12)
    assert crf.dual_objective_ <= value
    assert residual < 1e-3


def test_the_hinge_is_trained_by_the_maximum(counts, data):
    crf = fitted(counts, data, "oeg", loss="hinge", tol=0.02)
    assert crf.duality_gap_ <= 0.02 * crf.primal_objective_
    assert not hasattr(crf, "predict_proba")


def test_answers_are_those_of_all_labellings(counts, data):
    X, y = data
    crf = fitted(counts, data, tol=1e-6)
    proba, best = crf.predict_proba(X), crf.predict_n_best(X, n=4)
    log_p, drawn = crf.log_likelihood(X, y), crf.sample(X, 500, random_state=0)
    for i, x in enumerate(X):
        paths, scores = labellings(crf, x)
        p = np.exp(scores - logsumexp(scores))
        assert_allclose(proba[i], np.einsum("s,stk->tk", p, np.eye(3)[paths]))
        order = np.argsort(-scores)[:4]
        found = [labels for labels, _ in best[i]]
        assert found == [[LABELS[k] for k in path] for path in paths[order]]
        right = (paths == [LABELS.index(label) for label in y[i]]).all(axis=1)
        assert_allclose(log_p[i], np.log(p[right][0]))
        labels = [sample[i] for sample in drawn]
        share = np.mean([labels_of[0] == "a" for labels_of in labels])
        assert abs(share - proba[i][0, 0]) < 0.1
    assert crf.predict(X).tolist() == [labels for [(labels, _), *_] in best]


def test_unknown_labels_a_prior_and_a_start(counts, data):
    X, y = data
    some = [[None, *labels[1:]] for labels in y]
    crf = counts.CountCRF(alpha=ALPHA, solver="lbfgs", max_iter=5000).fit(X, some)
    near = counts.CountCRF(alpha=1e3, solver="lbfgs").fit(X, y, prior=crf)
    assert_allclose(near.count_, crf.count_, atol=1e-2)
    again = counts.CountCRF(alpha=ALPHA, solver="oeg", random_state=0)
    again.set_params(max_iter=1).fit(X, y, init=fitted(counts, data, tol=1e-9))
    assert again.duality_gap_ < 1e-3


def test_it_is_saved_loaded_and_explained(counts, data, tmp_path):
    crf = fitted(counts, data)
    save_model(crf, tmp_path / "toy.zip")
    loaded = load_model(tmp_path / "toy.zip")
    assert type(loaded) is counts.CountCRF
    assert_allclose(loaded.count_, crf.count_, rtol=0, atol=0)
    assert loaded.predict(data[0]).tolist() == crf.predict(data[0]).tolist()
    explanation = crf.explain(data[0][1], 1, labels=["a"], reference="b")
    assert "<count>" in str(explanation)
    # The terms sum to the difference of the best scores with both labels.
    paths, scores = labellings(crf, data[0][1])
    a, b = (scores[paths[:, 1] == k].max() for k in range(2))
    assert_allclose(explanation.scores, [a - b])


def test_how_much_a_structure_takes():
    code = [
        line
        for path in TOY.iterdir()
        if path.suffix in {".py", ".pyx"}
        for line in path.read_text().splitlines()
    ]
    assert len(code) < 400
