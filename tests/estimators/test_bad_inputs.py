"""Bad and unusual inputs for every estimator.

The cases are in bad_inputs.py. They run in one child process, which must survive: if it
dies, its current case fails, by name, and another process runs the remaining cases.
"""

import json
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from bad_inputs import CASES, NOT_OF_COMPAT
from skcrf_sdca import (
    CRFCV,
    SDCACRF,
    DependencyCRF,
    GraphCRF,
    OnlineDependencyCRF,
    PassiveAggressiveCRF,
    SegmentCRF,
    TreeCRF,
)
from skcrf_sdca.estimators.crfs import ESTIMATORS

PROGRAM = Path(__file__).parents[1] / "bad_inputs.py"
NAMES = [*(cls.__name__ for cls in ESTIMATORS), "compat.CRF"]
ALL = [
    (name, case)
    for name, case in product(NAMES, sorted(CASES))
    if name != "compat.CRF" or case not in NOT_OF_COMPAT
]


def try_all(cases):
    """Return {case: outcome}, in as many processes as it takes."""
    outcomes = {}
    while len(outcomes) < len(cases):
        rest = cases[len(outcomes) :]
        done = subprocess.run(
            [sys.executable, PROGRAM],
            input=json.dumps(rest),
            capture_output=True,
            text=True,
        )
        found = dict(json.loads(line) for line in done.stdout.splitlines())
        if not found:
            pytest.fail(f"the program does not start: {done.stderr}")
        for number, outcome in found.items():
            died = f"the process died, with {done.returncode}:\n{done.stderr}"
            outcomes[rest[number]] = outcome or died
    return outcomes


@pytest.fixture(scope="module")
def outcomes():
    return try_all(ALL)


@pytest.mark.parametrize("case", sorted(CASES))
def test_input(case, outcomes):
    found = {name: outcomes[name, own] for name, own in ALL if own == case}
    assert set(found.values()) == {"ok"}, found


@pytest.mark.parametrize(
    "estimator",
    [
        *(cls() for cls in ESTIMATORS),
        *(SegmentCRF(), GraphCRF(), TreeCRF(), DependencyCRF()),
        *(PassiveAggressiveCRF(), OnlineDependencyCRF(), CRFCV(SDCACRF())),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_an_array_without_axes_is_refused_by_name(estimator):
    methods = [m for m in ("fit", "partial_fit") if hasattr(estimator, m)]
    for method, value in product(methods, ("x", 3, None)):
        single = np.array(value, dtype=object)
        message = rf"\.{method}\(\): {{}} is an array of"
        for X, y, name in (([["a"]], single, "y"), (single, [["x"]], "X")):
            with pytest.raises(TypeError, match=message.format(name)):
                getattr(estimator, method)(X, y)
