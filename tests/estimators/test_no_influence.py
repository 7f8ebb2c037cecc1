"""Sequences that must not change a model: of weight 0, or without any known label."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import graph_cases
from samples import seeded
from skcrf_sdca import SGDCRF, GraphCRF, SegmentCRF, TreeCRF, compat
from skcrf_sdca.estimators.crfs import ESTIMATORS

ALPHA, TOL = 0.1, 1e-7


def chains():
    """Return sequences with their labels; the last two are those without influence."""
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(length, 2)) for length in (3, 2, 4, 1, 3, 2, 3)]
    y = [rng.integers(3, size=len(x)).tolist() for x in X]
    y[0] = [0, 1, 2]
    return X, y


def segments():
    X = [["a", "b", "a"], ["b", "b"], ["a", "a"], ["b", "a"], ["a", "a", "b"]]
    y = [["B-A", "I-A", "O"], ["B-B", "I-B"], ["O", "B-B"], ["O", "O"]]
    y.append(["B-A", "O", "B-B"])
    return [[[word] for word in words] for words in X], y


def trees():
    rng = np.random.default_rng(0)
    heads = [[1, -1, 1], [-1, 0, 1, 1], [1, 2, -1], [-1], [2, 2, -1, 2], [1, -1]]
    X = [(rng.normal(size=(len(own), 2)), own) for own in heads]
    return X, [rng.integers(3, size=len(own)).tolist() for own in heads]


# Data, estimators, their solvers, and parameters.
STRUCTURES = {
    "chain": (chains, ESTIMATORS, (None,), {}),
    "label tuples": (chains, ESTIMATORS, (None,), {"order": 2}),
    "edge features": (chains, ESTIMATORS, (None,), {"edge_features": "all"}),
    "segment": (segments, (SegmentCRF,), ("lbfgs", "oeg", "sag", "sgd"), {}),
    "graph": (graph_cases.sample, (GraphCRF,), ("oeg", "sdca", "sag", "lbfgs"), {}),
    "tree": (trees, (TreeCRF,), ("oeg", "sdca", "sag", "lbfgs"), {}),
}
L1_RATIOS = 0.0, 0.5


def cases():
    """Yield the name of a structure, and an estimator of it."""
    for name, (_, estimators, solvers, options) in STRUCTURES.items():
        for estimator in estimators:
            for solver in solvers:
                given = {"alpha": ALPHA, "tol": TOL, "max_iter": 5000, **options}
                if solver is not None:
                    given["solver"] = solver
                if solver == "sgd" or estimator is SGDCRF:
                    # Its gap falls slowly.
                    given["tol"] = 0.1
                yield name, seeded(estimator, **given)


CASES = [pytest.param(*case, id=f"{case[0]}-{case[1]}") for case in cases()]


def assert_same_optimum(crf, other):
    """Assert that two fits end at the minimum of one objective, as certified."""
    assert crf.alpha_ == pytest.approx(other.alpha_, rel=1e-14)
    assert crf.duality_gap_ <= crf.gap_target_
    gaps = crf.duality_gap_ + other.duality_gap_
    assert abs(crf.primal_objective_ - other.primal_objective_) <= gaps
    # P is strongly convex: each gap bounds the distance of its weights to the optimum.
    curvature = crf.alpha_ * (1.0 - crf.l1_ratio)
    distance = abs(np.asarray(crf.coef_ - other.coef_)).max()
    assert distance <= 2.0 * np.sqrt(2.0 * gaps / curvature)


@pytest.mark.parametrize("l1_ratio", L1_RATIOS)
@pytest.mark.parametrize(("structure", "crf"), CASES)
def test_sequences_of_weight_0(structure, crf, l1_ratio):
    X, y = STRUCTURES[structure][0]()
    weight = np.linspace(1.0, 2.0, len(X))
    weight[-2:] = 0.0
    crf = clone(crf).set_params(l1_ratio=l1_ratio)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both = clone(crf).fit(X, y, sample_weight=weight)
        alone = clone(crf).fit(X[:-2], y[:-2], sample_weight=weight[:-2])
    assert_same_optimum(both, alone)
    assert np.isfinite(both.history_["primal"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [ALPHA, "auto"])
@pytest.mark.parametrize(("structure", "crf"), CASES)
def test_sequences_without_a_known_label(structure, crf, alpha):
    X, y = STRUCTURES[structure][0]()
    crf = clone(crf).set_params(alpha=alpha)
    unknown = [*y[:-2], [None] * len(y[-2]), [None] * len(y[-1])]
    assert_same_optimum(clone(crf).fit(X, unknown), clone(crf).fit(X[:-2], y[:-2]))


@pytest.mark.parametrize("c1", [0.0, 0.1])
def test_sequences_without_a_known_label_in_words_of_crfsuite(c1):
    X, y = [[{"a": 1.0}, {"b": 1.0}], [{"b": 1.0}], [{"a": 1.0}]], [["A", "B"], ["B"]]
    y.append(["A"])
    crf = compat.CRF(c1=c1, c2=0.1, tol=TOL, max_iterations=5000)
    alone = clone(crf).fit(X, y).estimator_
    both = clone(crf).fit(X + X[:1] * 30, y + [[None, None]] * 30).estimator_
    assert_same_optimum(both, alone)
