"""The builds of the loops. The switches are read once, so each has a process."""

import os
import pickle
import subprocess
import sys

import pytest
from numpy.testing import assert_allclose

FITS = """
import pickle, sys, warnings
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from skcrf_sdca import OEGCRF, SAGNUSCRF, SDCACRF
from skcrf_sdca._kernels.math._vecmath import LEVEL
from skcrf_sdca.datasets import make_chains

warnings.simplefilter("ignore", ConvergenceWarning)
chains = make_chains(60, n_labels=7, n_features=11, random_state=0)
# Of few labels in a row, many positions change by the same.
of_kind = {"SDCA, a bound": make_chains(60, n_labels=3, n_features=3, random_state=0)}
fixed = {"max_iter": 5, "tol": 0.0, "random_state": 0}
estimators = {
    "SDCA": SDCACRF(**fixed),
    "SDCA, double": SDCACRF(**fixed, dual_dtype="float64", line_search_tol=1e-9),
    "SDCA, a bound": SDCACRF(
        **fixed, order=2, label_pairs="observed", dual_dtype="float64", alpha=1e-3
    ),
    "OEG": OEGCRF(**fixed),
    "SAG": SAGNUSCRF(**fixed),
}
fits = {}
for kind, crf in estimators.items():
    X, y = of_kind.get(kind, chains)
    inputs = {"dense": X, "sparse": [csr_array(x) for x in X]}
    for name, sequences in inputs.items():
        crf.fit(sequences, y)
        fits[kind, name] = {
            "weights": [crf.coef_, crf.intercept_, crf.start_, crf.end_,
                        crf.transition_],
            "objectives": [crf.history_["primal"], crf.history_["dual"]],
            "predictions": crf.predict(sequences).tolist(),
        }
pickle.dump((LEVEL, fits), sys.stdout.buffer)
"""
pytestmark = pytest.mark.slow
# By default SDCA stores marginals and runs line searches in single precision.
ROUNDING = {
    "SDCA": 1e-5,
    "SDCA, double": 1e-9,
    "SDCA, a bound": 1e-9,
    "OEG": 1e-9,
    "SAG": 1e-9,
}
RUNS = [(kind, x) for kind in ROUNDING for x in ("dense", "sparse")]


def fitted(**switches):
    """Return the level of the loops, and the fits, with environment variables."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", FITS],
        env={**os.environ, **switches},
        stdout=subprocess.PIPE,
        check=True,
    )
    return pickle.loads(done.stdout)


@pytest.fixture(scope="module")
def runs():
    ordinary = {"SKCRF_SDCA_PLAIN_LOOPS": "0", "SKCRF_SDCA_NO_AVX512": "0"}
    return [
        fitted(**ordinary),
        fitted(**{**ordinary, "SKCRF_SDCA_NO_AVX512": "1"}),
        fitted(**{**ordinary, "SKCRF_SDCA_PLAIN_LOOPS": "1"}),
    ]


def test_the_variables_limit_the_level(runs):
    best, *limited = (level for level, _ in runs)
    assert best in {1, 3, 4}
    assert limited == [min(best, 3), 1]


@pytest.mark.parametrize("run", RUNS, ids="-".join)
def test_same_results_to_rounding(runs, run):
    best, *others = (fits[run] for _, fits in runs)
    rounding = ROUNDING[run[0]]
    for other in others:
        for name in "objectives", "weights":
            for a, b in zip(best[name], other[name], strict=True):
                assert_allclose(a, b, rtol=rounding, atol=rounding)
        assert best["predictions"] == other["predictions"]
