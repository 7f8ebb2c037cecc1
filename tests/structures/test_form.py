"""Weights by blocks and named axes: matched, added, and counted."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from skcrf_sdca.structures.form import Axis, Block, Form, VectorForm, Weights

BLOCKS = (
    Block("coef", ("label", "feature")),
    Block("start", ("label",), forbids=True),
    Block("pair", ("label", "label")),
    Block("triple", 3 * ("label",), member_of="more_"),
    Block("edge", ("label", "label", "feature")),
)


def named(names):
    return Axis(len(names), lambda: names)


def random_weights(labels="abc", features="xyz", *, sparse=False, seed=0):
    form = Form({"label": named(labels), "feature": named(features)}, BLOCKS)
    rng = np.random.default_rng(seed)
    arrays = {b.name: rng.normal(size=form.shape(b)) for b in BLOCKS}
    if sparse:
        arrays |= {name: sp.csr_array(arrays[name]) for name in ("coef", "edge")}
    return Weights(form, arrays)


def by_names(weights):
    """Return every weight that is not 0, by its block and the names along its axes."""
    found = {}
    for block in weights.form.blocks:
        array = weights[block.name]
        array = array.toarray() if sp.issparse(array) else array
        names = [list(weights.form.axes[axis].names()) for axis in block.axes]
        array = array.reshape([len(own) for own in names])
        for places in zip(*np.nonzero(array), strict=True):
            key = [own[i] for own, i in zip(names, places, strict=True)]
            found[block.name, *key] = array[places]
    return found


@pytest.mark.parametrize("sparse", [False, True])
def test_weights_are_matched_by_the_names_along_all_axes(sparse):
    weights = random_weights(sparse=sparse)
    axes = {"label": named("bda"), "feature": named("wzxv")}
    found = weights.matched(axes)
    assert sp.issparse(found["edge"]) == sparse
    assert found["edge"].shape == (9, 4)
    known = {"a", "b", "x", "z"}
    expected = {k: v for k, v in by_names(weights).items() if set(k[1:]) <= known}
    assert by_names(found) == expected
    assert len(expected) == 4 + 2 + 4 + 8 + 8


def test_numbers_of_an_axis_may_be_given_and_new_weights_forbidden():
    weights = random_weights().of_blocks(lambda block: block.forbids)
    found = weights.matched(label=np.array([2, -1]), new=-np.inf)
    assert_array_equal(found["start"], [weights["start"][2], -np.inf])
    assert_array_equal(found.finite()["start"], [weights["start"][2], 0.0])
    assert found.n_nonzero == 1


def test_axes_without_names_are_matched_by_number():
    assert_array_equal(Axis(3).numbers_in(Axis(3)), [0, 1, 2])
    with pytest.raises(ValueError, match="prior has 2 features and X has 3"):
        Axis(3).numbers_in(Axis(2), "prior")
    with pytest.raises(ValueError, match="features of X have names, those of init"):
        named("ab").numbers_in(Axis(2))
    with pytest.raises(ValueError, match="features of init have names, those of X"):
        Axis(2).numbers_in(named("ab"))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("sparse_others", [False, True])
@pytest.mark.parametrize("columns", [None, np.array([2, 0])])
def test_sums_have_the_columns_of_both(sparse, sparse_others, columns):
    weights = random_weights(sparse=sparse)
    features = "xyz" if columns is None else "zx"
    others = random_weights(features=features, sparse=sparse_others, seed=1)
    found = by_names(weights.plus(others, columns))
    one, two = by_names(weights), by_names(others)
    assert found == {k: one.get(k, 0.0) + two.get(k, 0.0) for k in one | two}


def test_only_blocks_of_features_are_in_a_sum_if_the_other_has_none():
    weights, others = random_weights(), random_weights(seed=1)
    few = others.of_blocks(lambda block: block.name in ("coef", "start"))
    assert list(weights.plus(few)) == ["coef", "start", "edge"]
    assert list(few.plus(weights)) == [block.name for block in BLOCKS]


def test_attributes_are_the_weights_again():
    weights = random_weights()
    attributes = weights.attributes()
    assert list(attributes) == ["coef_", "start_", "pair_", "more_", "edge_"]
    assert attributes["more_"][0] is weights["triple"]
    model = type("Model", (), attributes)
    assert weights.form.weights_of(model) == weights
    del model.pair_
    with pytest.raises(ValueError, match="has no pair_"):
        weights.form.weights_of(model)


def test_columns_are_those_of_all_matrices():
    weights = random_weights()
    found = weights.of_columns([2, 0])
    assert_array_equal(found["coef"], weights["coef"][:, [2, 0]])
    assert_array_equal(found["edge"], weights["edge"][:, [2, 0]])
    assert found["pair"] is weights["pair"]
    assert weights.of_columns(None) is weights


def test_forms_of_vectors_name_what_differs():
    one = VectorForm(order=2, pair_columns=np.array([0, 3]))
    assert one.differences(one._replace(pair_columns=np.array([0, 3]))) == []
    assert one.differences(VectorForm(order=2, data=1)) == ["pair_columns", "data"]
