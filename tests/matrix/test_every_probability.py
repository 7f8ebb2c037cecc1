"""Answers that are probabilities, of every model, with weights of any size.

They are in [0, 1], those of all labels sum to 1, and logarithms of what is possible are
finite: what `docs/promises.rst` says. What they are is checked in test_every_method.py.
"""

import copy
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import issparse
from test_every_tree import HEADS, RELATIONS
from test_every_tree import X as ARCS

from graph_cases import sample
from matrix_checks import rows_of
from matrix_models import BLOCKS, MODELS, fitted
from skcrf_sdca import DependencyCRF, GraphCRF
from skcrf_sdca.structures.uncertainty import MEASURES

SCALES = [0.1, 10.0, 50.0, 1e5]
# Of all shapes; so many that rounding makes some marginals negative, unless it is told.
GRAPHS = sample(24)


def trees(labelled):
    """Return arcs of sentences and their trees, without those with arcs that cross."""
    trees = list(zip(HEADS, RELATIONS, strict=True)) if labelled else HEADS
    return ARCS[:3], trees[:3]


@cache
def reweighted():
    options = {"inference": "trw", "directed": True, "solver": "lbfgs", "tol": 1.0}
    return GraphCRF(**options).fit(*GRAPHS)


@cache
def parser(labelled, projective):
    options = {"labelled": labelled, "projective": projective, "single_root": False}
    crf = DependencyCRF(solver="lbfgs", tol=1.0, **options)
    return crf.fit(*trees(labelled))


def with_weights(crf, blocks, scale, seed=0):
    """Return a copy whose weights are drawn; what is forbidden stays so."""
    rng = np.random.default_rng(seed)

    def draw(weights):
        if isinstance(weights, tuple):
            return tuple(map(draw, weights))
        if weights is not None:
            values = weights.data if issparse(weights) else weights
            is_free = np.isfinite(values)
            values[is_free] = scale * rng.normal(size=np.count_nonzero(is_free))
        return weights

    crf = copy.deepcopy(crf)
    for name in blocks:
        setattr(crf, name, draw(getattr(crf, name)))
    return crf


def check_range(values):
    values = np.asarray(values)
    assert ((values >= 0.0) & (values <= 1.0)).all()


def check_sums(rows, axes):
    for own in rows:
        check_range(own)
        assert_allclose(own.sum(axis=axes), 1.0, rtol=0, atol=1e-9)


def check_logarithms(rows, logarithms):
    """Logarithms are at most 0, and agree where the probabilities are no tiny ones."""
    for own, log_proba in zip(rows, logarithms, strict=True):
        assert (log_proba <= 0.0).all()
        seen = own > 1e-250
        assert_allclose(log_proba[seen], np.log(own[seen]), rtol=1e-6, atol=1e-9)


def check_answers(crf, X, y):
    """Check what has one number for each item, or some of its labellings."""
    likelihood = crf.log_likelihood(X, y)
    assert ((likelihood <= 0.0) & np.isfinite(likelihood)).all()
    measures = set(MEASURES)
    if hasattr(crf, "predict_n_best"):
        for best in crf.predict_n_best(X, 6):
            values = [value for _, value in best]
            check_range(values)
            assert sum(values) <= 1.0 + 1e-9
    else:
        measures -= {"margin"}
    for measure in measures:
        values = crf.uncertainty(X, measure=measure)
        assert ((values >= 0.0) & np.isfinite(values)).all()
        if measure in ("least_confidence", "margin"):
            check_range(values)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", MODELS)
def test_probabilities_of_labels(name, scale):
    model = MODELS[name]
    crf = with_weights(fitted(name), model.blocks, scale)
    rows = rows_of(model, crf.predict_proba(model.X))
    logarithms = rows_of(model, crf.predict_log_proba(model.X))
    check_sums(rows, -1)
    check_sums(crf.predict_edge_proba(model.X), (-2, -1))
    check_logarithms(rows, logarithms)
    for own, log_proba in zip(model.labellings(crf), logarithms, strict=True):
        possible = np.eye(len(crf.classes_), dtype=bool)[own.codes].any(axis=0)
        assert_array_equal(np.isfinite(log_proba), possible)
    check_answers(crf, model.X, model.y)
    if hasattr(crf, "predict_spans"):
        for spans in crf.predict_spans(model.X):
            check_range([proba for *_, proba in spans])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", SCALES)
def test_probabilities_of_bounds(scale, seed):
    X, y = GRAPHS
    crf = with_weights(reweighted(), BLOCKS["graphs"], scale, seed)
    rows, logarithms = crf.predict_proba(X), crf.predict_log_proba(X)
    check_sums(rows, -1)
    check_sums(crf.predict_edge_proba(X), (-2, -1))
    check_logarithms(rows, logarithms)
    assert all(np.isfinite(own).all() for own in logarithms)
    check_answers(crf, X, y)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("labelled", [False, True])
def test_probabilities_of_heads(labelled, projective, scale):
    crf = with_weights(
        parser(labelled, projective), ("coef_", "intercept_"), scale, seed=1
    )
    X, y = trees(labelled)
    rows, logarithms = crf.predict_proba(X), crf.predict_log_proba(X)
    check_sums(rows, (0, 2) if labelled else 0)
    check_logarithms(rows, logarithms)
    for log_proba in logarithms:
        heads = log_proba.max(axis=2) if labelled else log_proba
        # No word is its own head, and every other arc is in some tree.
        n = heads.shape[1]
        own_head = np.eye(n + 1, n, k=-1, dtype=bool)
        assert_array_equal(np.isfinite(heads), ~own_head)
    check_answers(crf, X, y)
