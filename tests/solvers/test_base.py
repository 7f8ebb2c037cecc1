"""What solvers need: an error names the losses and the solvers that would do."""

import re

import numpy as np
import pytest

import skcrf_sdca
from skcrf_sdca import CRF, LBFGSCRF, OEGCRF, SAGNUSCRF, SGDCRF, GraphCRF, SegmentCRF

ROWS, LABELS = [np.eye(3)] * 3, [["a", "b", "c"]] * 3
CHAINS = ROWS, LABELS
GRAPHS = [(np.eye(3), [(0, 1), (1, 2)])] * 3, LABELS
SEGMENTS = ROWS, [["B-a", "I-a", "O"]] * 3
WIDE = {"inference": "trw"}
HINGE = {"loss": "hinge"}


def taken(crf, choice):
    """Return an estimator with a parameter, or of a type, that a message names."""
    name, *options = re.findall(r"\w+", choice)
    if len(options) == 1:
        return crf.set_params(**{name: options[0]})
    cls = getattr(skcrf_sdca, name)
    known = {**crf.get_params(), **dict([options[1:]] if options else [])}
    own = cls().get_params().keys() - ({"method"} - {*options}) - {"sampling"}
    return cls(**{n: known[n] for n in own & known.keys()})


@pytest.mark.parametrize(
    ("crf", "data"),
    [
        (CRF(solver="oeg", **HINGE), CHAINS),
        (CRF(solver="sag", l1_ratio=1.0), CHAINS),
        (OEGCRF(**HINGE), CHAINS),
        (SAGNUSCRF(**HINGE), CHAINS),
        (LBFGSCRF(l1_ratio=0.5, **HINGE), CHAINS),
        (SGDCRF(method="smd", l1_ratio=0.5), CHAINS),
        (SGDCRF(method="svrg", **HINGE), CHAINS),
        (SegmentCRF(solver="lbfgs", **HINGE), SEGMENTS),
        (GraphCRF(solver="sag", **HINGE), GRAPHS),
        (GraphCRF(solver="sdca", **HINGE, **WIDE), GRAPHS),
        (GraphCRF(solver="sgd", **WIDE), GRAPHS),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_each_choice_of_the_message_fits(crf, data):
    crf.set_params(max_iter=1)
    with pytest.raises(ValueError, match=r" needs .*; got .*: take ") as error:
        crf.fit(*data)
    parameters, choices = crf.get_params(), str(error.value).split(": take ")[1]
    for choice in choices.split(" or "):
        assert hasattr(taken(crf.set_params(**parameters), choice).fit(*data), "coef_")
