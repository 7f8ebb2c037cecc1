"""All of scikit-learn's estimator checks pass, and none is skipped.

They run on one-node chains; test_estimators.py checks longer chains.
"""

import subprocess
import sys

import pytest
from sklearn.base import ClassifierMixin
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

from samples import name_of
from skcrf_sdca import (
    CRF,
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    PassiveAggressiveCRF,
    SegmentCRF,
)

# These checks compare to a relative 1e-7 fits that stop at a gap of tol, or, of online
# learning, in which a repeated row is not one long step.
REPEATED_ROWS = {
    f"check_sample_weight_equivalence_on_{kind}_data": (
        "compares weights with repetition to 1e-7; the fit stops at tol"
    )
    for kind in ("dense", "sparse")
}


class SDCAClassifier(ClassifierMixin, SDCACRF):
    """Tagged as a classifier, so that the checks of classifiers run too."""


# With the default loss, class weights are an error that names the losses which take
# them; test_losses.py has what they do.
CLASS_WEIGHTS = {"check_class_weight_classifiers": "the log loss has no cost to weigh"}


class LBFGSClassifier(ClassifierMixin, LBFGSCRF):
    """Tagged as a classifier, so that the checks of classifiers run too."""


def statuses(estimator, expected_failures=None):
    results = check_estimator(
        estimator,
        on_skip=None,
        on_fail=None,
        expected_failed_checks=expected_failures or {},
    )
    for result in results:
        if result["status"] == "failed":
            raise AssertionError(result["check_name"]) from result["exception"]
    return [result["status"] for result in results]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("estimator", "n_checks"),
    [
        (LBFGSCRF(), 50),
        (LBFGSClassifier(), 63),
    ],
    ids=lambda value: type(value).__name__,
)
def test_all_checks_of_lbfgs_pass_at_the_defaults(estimator, n_checks):
    is_classifier = isinstance(estimator, ClassifierMixin)
    found = statuses(estimator, CLASS_WEIGHTS if is_classifier else None)
    assert set(found) == ({"passed", "xfail"} if is_classifier else {"passed"})
    assert found.count("xfail") == is_classifier
    assert len(found) >= n_checks


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "crf", [SDCACRF(dual_dtype="float64"), SAGNUSCRF()], ids=name_of
)
def test_the_two_checks_pass_at_a_tight_tolerance(crf):
    """The others pass at the defaults, see below.

    At the least gap that can be certified, weights are known to sqrt(2 gap / alpha),
    here 1.6e-7. The last epochs take them nearer, but not always to 1e-7 with line
    searches in single precision.
    """
    found = set()
    crf.set_params(tol=1e-16, max_iter=3000, random_state=0)
    for estimator, check in estimator_checks_generator(crf):
        if check.func.__name__ in REPEATED_ROWS:
            check(estimator)
            found.add(check.func.__name__)
    assert found == set(REPEATED_ROWS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("estimator", "n_checks"),
    [
        (CRF(), 50),
        (SDCACRF(), 50),
        (SAGNUSCRF(), 50),
        (OEGCRF(), 50),
        (PassiveAggressiveCRF(), 50),
        (SegmentCRF(scheme=None), 50),
        (SDCAClassifier(), 63),
    ],
    ids=lambda value: type(value).__name__,
)
def test_all_checks_but_two_pass_at_the_defaults(estimator, n_checks):
    is_classifier = isinstance(estimator, ClassifierMixin)
    expected = REPEATED_ROWS | (CLASS_WEIGHTS if is_classifier else {})
    found = statuses(estimator, expected)
    assert set(found) == {"passed", "xfail"}
    assert found.count("xfail") == len(expected)
    assert len(found) >= n_checks


def test_the_package_imports_what_is_asked_for():
    code = """
import sys, skcrf_sdca
assert skcrf_sdca.__version__
assert {"SDCACRF", "load_model", "metrics"} <= set(dir(skcrf_sdca))
assert not {"numpy", "scipy", "sklearn"} & set(sys.modules)
assert skcrf_sdca.metrics.extract_spans(["B-X"]) == [("X", 0, 1)]
assert "skcrf_sdca.estimators" not in sys.modules
from skcrf_sdca import SDCACRF
assert skcrf_sdca.SDCACRF is SDCACRF is sys.modules[SDCACRF.__module__].SDCACRF
try:
    skcrf_sdca.nonsense
except AttributeError as error:
    assert str(error) == "module 'skcrf_sdca' has no attribute 'nonsense'"
else:
    assert False
"""
    command = [sys.executable, "-P", "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_import_is_quiet_and_light():
    """The import prints nothing and loads no module that scikit-learn does not load."""
    code = (
        "import sys, sklearn.callback; before = set(sys.modules); "
        "from skcrf_sdca import *; new = set(sys.modules) - before; "
        "assert not {'matplotlib', 'pandas', 'rich', 'pycrfsuite'} & new"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", code],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
