"""A Predictor of a signal scales, fills and windows its rows as the estimator does."""

import io

import numpy as np
import pytest
from served import (
    WAYS,
    assert_both_readers_refuse_the_same,
    assert_numpy_is_enough,
    assert_same_answers,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

from skcrf_sdca import (
    CRF,
    GraphCRF,
    PerToken,
    SegmentCRF,
    SequenceVectorizer,
    make_tagger,
    save_model,
)
from skcrf_sdca.features import ImageWindow, SequenceWindow
from skcrf_sdca.persistence import ModelFormatError
from skcrf_sdca.serving import Predictor

RNG = np.random.default_rng(0)
LENGTHS = [5, 1, 7, 3]
X = [RNG.normal(3.0, 2.0, size=(length, 2)) for length in LENGTHS]
LOST = [np.where(RNG.random(rows.shape) < 0.3, np.nan, rows) for rows in X]
Y = [["A", "B"] * (length // 2) + ["A"] * (length % 2) for length in LENGTHS]
WINDOW = SequenceWindow(2, span=4)
WINDOWS = [
    SequenceWindow((-3, 1), differences=True, padding="zero"),
    SequenceWindow(0, span=(-2, 0)),
]
SCALERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    MinMaxScaler((-1, 2), clip=True),
    RobustScaler(with_centering=False),
    make_pipeline(RobustScaler(), MaxAbsScaler()),
]
IMPUTERS = [
    SimpleImputer(add_indicator=True),
    SimpleImputer(strategy="constant", fill_value=2.0),
]


def crf():
    return CRF(alpha=0.1, random_state=0)


def of_scaler(transformer):
    return make_tagger(PerToken(transformer), WINDOW, crf())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("model", "X"),
    [
        *((make_tagger(window, crf()), X) for window in WINDOWS),
        *((of_scaler(scaler), X) for scaler in SCALERS),
        *((of_scaler(make_pipeline(i, StandardScaler())), LOST) for i in IMPUTERS),
        (make_tagger(PerToken(StandardScaler()), crf()), X),
        (make_tagger(WINDOW, SegmentCRF(alpha=0.1, scheme=None, random_state=0)), X),
    ],
    ids=str,
)
def test_the_answers_are_those_of_the_estimator(model, X, way):
    model.fit(X, Y)
    predictor = WAYS[way](model)
    assert_same_answers(predictor, model, [*X, np.empty((0, 2))])
    # The rows may be float32 too, whose features keep their precision.
    rows = X[2].astype(np.float32)
    assert predictor.predict_one(rows) == model.predict([rows])[0]


def test_the_features_of_an_explanation_have_the_names_of_the_window():
    model = of_scaler(StandardScaler()).fit(X, Y)
    found = Predictor.from_estimator(model).explain(X[2], 3)
    expected = model.explain(X[2], 3)
    assert "x1[-2]" in found.features
    assert found.features == expected.features
    assert found.values.tolist() == expected.values.tolist()
    assert repr(found) == repr(expected)


def test_numpy_alone_is_enough(tmp_path):
    models = [of_scaler(own).fit(X, Y) for own in (StandardScaler(), IMPUTERS[0])]
    assert_numpy_is_enough([(own, X[2].tolist(), Y[2]) for own in models], tmp_path)


@pytest.mark.slow
def test_both_readers_refuse_the_same_steps():
    filled = make_pipeline(IMPUTERS[0], MinMaxScaler(clip=True))
    save_model(of_scaler(filled).fit(LOST, Y), file := io.BytesIO())
    assert_both_readers_refuse_the_same(file)


def test_rows_that_the_steps_do_not_take():
    predictor = Predictor.from_estimator(of_scaler(MinMaxScaler(clip=True)).fit(X, Y))
    with pytest.raises(ValueError, match="has 3 features, but the model 2"):
        predictor.predict_one(np.zeros((2, 3)))
    for value, message in [(np.inf, "has infinity"), (np.nan, "has NaN")]:
        with pytest.raises(ValueError, match=message):
            predictor.predict_one(np.full((2, 2), value))


def test_steps_that_only_load_model_reads():
    dicts = [[{"a": x, "b": y} for x, y in rows.tolist()] for rows in X]
    scaled = make_tagger(SequenceVectorizer(), PerToken(MaxAbsScaler()), crf())
    of_images = make_tagger(ImageWindow(), GraphCRF(solver="lbfgs", alpha=0.1))
    image = np.arange(6.0).reshape(2, 3)
    for model, message in [
        (scaled.fit(dicts, Y), "its PerToken is after a SequenceVectorizer"),
        (of_images.fit([image], [[0, 1] * 3]), "its ImageWindow is before a GraphCRF"),
    ]:
        with pytest.raises(ModelFormatError, match=f"{message}.*load_model reads"):
            Predictor.from_estimator(model)
