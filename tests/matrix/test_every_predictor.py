"""Every model is served with NumPy alone, or refused with what to call instead."""

import pytest
from numpy.testing import assert_allclose
from served import CLOSE, WAYS, assert_same_answers, assert_same_spans, through_file

from matrix_models import MODELS, WITH_LOSSES, fitted
from pairs import by_pairs
from skcrf_sdca.persistence import ModelFormatError
from skcrf_sdca.serving import Predictor

# Why a model is refused.
REFUSED = {
    "segments with features": "its features of segments come from a function",
    "table": "its input format is 'table'",
    "reweighted graphs": "it has tree-reweighted sums, which are made with SciPy",
}


@by_pairs(
    {
        "name": MODELS,
        "loss": ["log_loss", "softmax_margin", "hinge"],
        "way": WAYS.values(),
    },
    allowed=lambda name, loss, _: (name, loss) in WITH_LOSSES,
)
def test_a_model_is_served_or_refused_with_the_reason(name, loss, way):
    model, crf = MODELS[name], fitted(name, loss=loss)
    if name in REFUSED:
        with pytest.raises(ModelFormatError, match=f"{REFUSED[name]}.*load_model"):
            way(crf)
        return
    has_proba = loss != "hinge"
    predictor = way(crf)
    assert_same_answers(predictor, crf, model.X, has_proba=has_proba)
    if has_proba:
        for x in model.X if hasattr(crf, "predict_spans") else []:
            assert_same_spans(predictor.spans(x), crf.predict_spans([x])[0])
        for x, y in zip(model.X, model.y, strict=True):
            for first in y[0], None, "never seen":
                labels = [y[0], first, *y[2:]][: len(y)]
                found = predictor.log_likelihood(x, labels)
                assert_allclose([found], crf.log_likelihood([x], [labels]), **CLOSE)


def test_labels_that_do_not_fit_are_refused():
    predictor = Predictor.from_estimator(fitted("chain"))
    x = MODELS["chain"].X[0]
    with pytest.raises(ValueError, match="labels"):
        predictor.log_likelihood(x, ["O"])
    with pytest.raises(TypeError, match="labels"):
        predictor.log_likelihood(x, [1, 2, 3])


@pytest.mark.parametrize("name", ["chain", "tuples", "segments"])
def test_a_model_that_began_at_a_prior_is_served(name):
    model = MODELS[name]
    crf = model.new().fit(model.X[:2], model.y[:2], prior=fitted(name))
    assert_same_answers(through_file(crf), crf, model.X)


@pytest.mark.parametrize("name", ["chain", "edge features", "segments"])
def test_a_constrained_model_is_served(name):
    model = MODELS[name]
    crf = model.new().fit(model.X, model.y)
    types = getattr(crf, "types_", crf.classes_).tolist()
    pairs = [(a, b) for a in types for b in types if (a, b) != ("O", "O")]
    assert_same_answers(through_file(crf.constrain(pairs)), crf, model.X)
