"""Weights, names and orders of items and labels, and items without anything.

What means the same must give the same model, for every structure.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from matrix_models import (
    EXACT,
    LABELS,
    MODELS,
    NAMES,
    check_same_optimum,
    coef_of,
    fitted,
)

of_every_solver = pytest.mark.parametrize(("name", "solver"), EXACT)
of_every_model = pytest.mark.parametrize("name", MODELS)


def taken(X, rows):
    """Return some of the items, which may be rows of an array."""
    return X[rows] if isinstance(X, np.ndarray) else [X[i] for i in rows]


# Sample weights -----------------------------------------------------------------------


@of_every_solver
def test_integer_weights_are_repetitions(name, solver):
    model = MODELS[name]
    # A sequence of weight 0 has no loss, but it observes pairs of labels.
    least = int(getattr(model.new(solver), "label_pairs", None) == "observed")
    weight = least + np.arange(len(model.X)) * 2 % 5
    assert set(weight) == {least + k for k in range(5)}
    rows = np.repeat(np.arange(len(weight)), weight)
    crf = model.new(solver).fit(model.X, model.y, sample_weight=weight)
    repeated = model.new(solver).fit(taken(model.X, rows), taken(model.y, rows))
    check_same_optimum(crf, repeated)
    alone = fitted(name, solver)
    assert crf.primal_objective_ < alone.dual_objective_ or (
        alone.primal_objective_ < crf.dual_objective_
    )
    scaled = model.new(solver).fit(model.X, model.y, sample_weight=weight / 7)
    check_same_optimum(scaled, crf)


@of_every_model
@pytest.mark.parametrize(
    ("weight", "message"),
    [(-1.0, "Negative"), (np.nan, "NaN"), ([1.0], "sample_weight")],
)
def test_wrong_weights_are_refused(name, weight, message):
    model = MODELS[name]
    wrong = np.full(len(model.X), weight) if np.isscalar(weight) else weight
    with pytest.raises(ValueError, match=message):
        model.new("oeg").fit(model.X, model.y, sample_weight=wrong)


# Names and orders ---------------------------------------------------------------------

# Another order of the labels.


def exact(model, X, y):
    """Return a model that is fitted up to rounding; segments are runs of labels."""
    scheme = {"scheme": None} if model.family == "segments" else {}
    return model.new("lbfgs", tol=1e-10, **scheme).fit(X, y)


@of_every_model
def test_names_of_labels_do_not_matter(name):
    model = MODELS[name]
    crf = exact(model, model.X, model.y)
    named = [[NAMES[label] for label in labels] for labels in model.labels()]
    y = np.concatenate(named) if model.is_table else named
    other = exact(model, model.X, y)
    order = [other.classes_.tolist().index(NAMES[label]) for label in LABELS]
    assert order != sorted(order)
    assert_allclose(coef_of(other)[order], coef_of(crf), atol=1e-4)
    assert_allclose(other.log_partition(model.X), crf.log_partition(model.X), 1e-4)
    best = [[NAMES[label] for label in labels] for labels in predictions(model, crf)]
    # Of labellings that are as likely to rounding, either may be predicted.
    assert_allclose(
        other.log_likelihood(model.X, np.concatenate(best) if model.is_table else best),
        other.log_likelihood(model.X, other.predict(model.X)),
        atol=1e-4,
    )


def predictions(model, crf):
    found = crf.predict(model.X)
    return [[label] for label in found] if model.is_table else found.tolist()


@of_every_model
def test_the_order_of_items_does_not_matter(name):
    model = MODELS[name]
    rows = np.arange(len(model.X))[::-1]
    crf, X = exact(model, model.X, model.y), taken(model.X, rows)
    other = exact(model, X, taken(model.y, rows))
    check_same_optimum(other, crf)
    assert_allclose(other.log_partition(X), crf.log_partition(X), 1e-4)
    assert_array_equal(crf.predict(X), crf.predict(model.X)[rows])


def nodes_of(nodes, order):
    return nodes[order] if isinstance(nodes, np.ndarray) else [nodes[i] for i in order]


@pytest.mark.parametrize("name", ["graphs", "directed graphs"])
def test_the_order_of_nodes_does_not_matter(name):
    model, crf = MODELS[name], fitted(name)
    X = []
    for nodes, ends, *features in model.X:
        order = np.roll(np.arange(len(nodes)), 1)
        place = np.argsort(order)
        turned = place[ends]
        if name == "graphs":
            # An edge without a direction may be given from either of its nodes.
            turned = turned[:, ::-1]
        X.append((nodes_of(nodes, order), turned, *features))
    assert_allclose(crf.log_partition(X), crf.log_partition(model.X), rtol=1e-12)
    for a, b in zip(crf.predict_proba(X), crf.predict_proba(model.X), strict=True):
        assert_allclose(np.roll(a, -1, axis=0), b, rtol=1e-9)


# Items without positions --------------------------------------------------------------


def empty_like(model):
    """Return an item without positions in the form of X."""
    first = model.X[0]
    if model.family != "graphs":
        return first[:0]
    nodes, ends, *features = first
    return (nodes[:0], ends[:0], *(own[:0] for own in features))


SEQUENCES = [name for name, model in MODELS.items() if not model.is_table]


@pytest.mark.parametrize("name", SEQUENCES)
def test_an_empty_item_has_one_labelling(name):
    model, crf = MODELS[name], fitted(name)
    X = [*model.X, empty_like(model)]
    n_labels = len(crf.classes_)
    assert crf.predict(X)[-1] == []
    assert crf.log_partition(X)[-1] == 0.0
    assert crf.log_likelihood(X, [*model.y, []])[-1] == 0.0
    assert crf.predict_proba(X)[-1].shape == (0, n_labels)
    if hasattr(crf, "predict_n_best"):
        assert crf.predict_n_best(X, 3)[-1] == [([], 1.0)]
        assert crf.sample(X, 2, random_state=0)[:, -1].tolist() == [[], []]
    assert crf.score(X, [*model.y, []]) == crf.score(model.X, model.y)
    if hasattr(crf, "predict_spans"):
        assert crf.predict_spans(X)[-1] == []
    if hasattr(crf, "predict_edge_proba"):
        assert crf.predict_edge_proba(X)[-1].shape == (0, n_labels, n_labels)


@pytest.mark.parametrize(
    ("name", "solver"), [(n, s) for n, s in EXACT if n in SEQUENCES]
)
def test_an_empty_item_counts_in_the_mean_alone(name, solver):
    model = MODELS[name]
    X, y = [*model.X, empty_like(model)], [*model.y, []]
    crf = model.new(solver).fit(X, y)
    # P = alpha r + n / (n + 1) mean loss = n / (n + 1) (alpha (n + 1) / n r + loss)
    n = len(model.X)
    alone = model.new(solver, alpha=crf.alpha_ * (n + 1) / n).fit(model.X, model.y)
    share = n / (n + 1)
    assert crf.dual_objective_ <= share * alone.primal_objective_ + 1e-12
    assert share * alone.dual_objective_ <= crf.primal_objective_ + 1e-12


@of_every_model
def test_no_items_and_no_labels_are_refused(name):
    model = MODELS[name]
    with pytest.raises(ValueError, match="at least one|0 sample|no labels|is empty"):
        model.new("oeg").fit(model.X[:0], model.y[:0])
    with pytest.raises(ValueError, match="but y has|labels"):
        model.new("oeg").fit(model.X, model.y[:-1])
    if name in SEQUENCES:
        empty = [empty_like(model)] * 2
        with pytest.raises(ValueError, match="at least one .* with one"):
            model.new("oeg").fit(empty, [[], []])
