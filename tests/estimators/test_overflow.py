"""Numbers that are too large or too small: an error with advice, or a fit."""

import warnings
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pairs import pairwise_table
from samples import seeded
from skcrf_sdca import (
    SAGNUSCRF,
    SGDCRF,
    GraphCRF,
    PassiveAggressiveCRF,
    SegmentCRF,
    TreeCRF,
)
from skcrf_sdca.estimators.crfs import ESTIMATORS

SIZES = [1e-320, 1e150, 1e160, 1e300, 1.7e308]
ALPHAS = [1e-300, 1e-6, 1e300]
OPTIONS = [
    {},
    {"temperature": 1e-3},
    {"temperature": 1e-300},
    {"l1_ratio": 0.5},
    {"l1_ratio": 1.0},
    {"order": 2},
    {"edge_features": "all"},
    {"features": "observed"},
    {"loss": "hinge"},
    {"loss": "softmax_margin", "margin": 1e200},
]
LABELS = [["a", "a"]] * 3
KNOWN = {
    "two labels": [*LABELS, ["a", "b"]],
    "one label": [*LABELS, ["a", "a"]],
    "an unknown label": [*LABELS[:2], ["a", None], ["a", "b"]],
}


def check(call, *data):
    """Assert that a fit warns of convergence alone, or raises a ValueError."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            crf = call(*data)
        except ValueError as error:
            return str(error)
    coef = crf.coef_.data if sp.issparse(crf.coef_) else crf.coef_
    assert np.isfinite(coef).all()
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fits_of_chains(estimator, size):
    X = [np.full((2, 1), size)] * 4
    parameters = seeded(estimator).get_params()
    known = list(KNOWN.values())
    # Every pair of two of the three.
    for (i, alpha), (j, options) in product(enumerate(ALPHAS), enumerate(OPTIONS)):
        y = known[(i + j) % len(known)]
        if options.keys() <= parameters.keys():
            crf = seeded(estimator, alpha=alpha, max_iter=3, **options)
            check(crf.fit, X, y)
    with pytest.raises(ValueError, match="not finite.*scale the features in X"):
        seeded(estimator, alpha=1e-6).fit(
            [np.full((2, 1), 1.7e308)] * 4, KNOWN["two labels"]
        )


STREAMS = [
    *(SGDCRF(method=method, random_state=0) for method in ("sgd", "asgd", "adagrad")),
    SGDCRF(method="pegasos", loss="hinge", random_state=0),
    PassiveAggressiveCRF(random_state=0),
    PassiveAggressiveCRF(loss="hinge", random_state=0),
    PassiveAggressiveCRF(loss="perceptron", random_state=0),
    PassiveAggressiveCRF(loss="hinge", update="arow", random_state=0),
]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("crf", STREAMS, ids=str)
def test_streams(crf, size):
    X = [np.full((2, 1), size)] * 4
    check(clone(crf).partial_fit, X, KNOWN["two labels"])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("solver", ["oeg", "sdca", "sag", "sgd", "lbfgs"])
def test_fits_of_other_structures(solver, size):
    nodes, y = np.full((3, 1), size), [["a", "b", "a"]] * 4
    graph, tree = (nodes, [[0, 1], [1, 2], [2, 0]]), (nodes, [1, -1, 1])
    spans = [["B-a", "I-a", "O"]] * 4
    structures = (SegmentCRF, nodes, spans), (GraphCRF, graph, y), (TreeCRF, tree, y)
    options = {}, {"temperature": 1e-3}, {"l1_ratio": 0.5}
    for row in pairwise_table(ALPHAS, structures, options):
        alpha, (estimator, x, labels), more = row
        crf = estimator(alpha, solver=solver, max_iter=3, random_state=0)
        offered = crf._parameter_constraints["solver"][0].options
        if solver in offered and more.keys() <= crf.get_params().keys():
            check(crf.set_params(**more).fit, [x] * 4, labels)


def test_the_start_of_a_solver_is_checked_as_its_epochs_are():
    """Made before the first epoch, the gradients of SAG overflow too."""
    X = [np.full((2, 1), 1e150)] * 4
    crf = SAGNUSCRF(1e-6, temperature=1e-3, random_state=0)
    check(crf.fit, X, [["a", "a"]] * 4)
