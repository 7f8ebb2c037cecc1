"""Bad and unusual inputs for every estimator.

The cases are in bad_inputs.py. They run in a child process, which must survive.
"""

from itertools import product

import numpy as np
import pytest

from bad_inputs import CASES, NOT_OF_COMPAT, maker
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


@pytest.mark.survives
@pytest.mark.parametrize("case", sorted(CASES))
def test_input(case):
    names = [cls.__name__ for cls in ESTIMATORS]
    if case not in NOT_OF_COMPAT:
        names.append("compat.CRF")
    for name in names:
        try:
            CASES[case](maker(name))
        except Exception as error:
            error.add_note(f"The estimator was {name}.")
            raise


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
