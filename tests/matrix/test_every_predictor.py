"""Every model is served with NumPy alone, or refused with what to call instead."""

import pytest
from served import WAYS, assert_same_answers, assert_same_spans

from matrix_models import MODELS, WITH_LOSSES, fitted
from skcrf_sdca.persistence import ModelFormatError

# Why a model is refused.
REFUSED = {
    "segments with features": "its features of segments come from a function",
    "table": "its input format is 'table'",
    "trees": "its graphs are read, .* with SciPy",
    "graphs": "its graphs are read, .* with SciPy",
    "reweighted graphs": "its graphs are read, .* with SciPy",
    "directed graphs": "its graphs are read, .* with SciPy",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(("name", "loss"), WITH_LOSSES)
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
        for x in model.X:
            assert_same_spans(predictor.spans(x), crf.predict_spans([x])[0])
