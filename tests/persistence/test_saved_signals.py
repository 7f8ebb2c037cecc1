"""Models of signals and images are saved as data: what is before the CRF comes too."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

from model_fuzz import members, write
from pairs import by_pairs
from skcrf_sdca import (
    CRF,
    GraphCRF,
    PackedSequences,
    PerToken,
    SequenceVectorizer,
    load_model,
    make_tagger,
    save_model,
)
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.features import ImageWindow, SequenceWindow
from skcrf_sdca.persistence import ModelFormatError, model_info

RNG = np.random.default_rng(0)
LENGTHS = [5, 1, 7, 3]
X = [RNG.normal(3.0, 2.0, size=(length, 2)) for length in LENGTHS]
Y = [["A", "B"] * (length // 2) + ["A"] * (length % 2) for length in LENGTHS]
NEW = [np.random.default_rng(1).normal(3.0, 2.0, size=(6, 2)), np.empty((0, 2))]
IMAGES = [RNG.normal(size=(3, 4, 2)), RNG.normal(size=(2, 2, 2))]
OF_IMAGES = [[0, 1] * 6, [1, 0] * 2]
MODEL = "model.json"


def saved_again(model):
    save_model(model, file := io.BytesIO())
    return load_model(file.getvalue())


def document_of(model):
    save_model(model, file := io.BytesIO())
    return json.loads(members(file)[MODEL])


def assert_refused(model, change, message, path):
    """Check that a file whose document a function changes is refused."""
    save_model(model, path)
    contents = members(path)
    document = json.loads(contents[MODEL])
    change(document["model"])
    write(path, {**contents, MODEL: json.dumps(document).encode()})
    with pytest.raises(ModelFormatError, match=message):
        load_model(path)


def assert_same_answers(other, model, X):
    assert repr(other) == repr(model)
    assert other.predict(X).tolist() == model.predict(X).tolist()
    for p, q in zip(other.predict_proba(X), model.predict_proba(X), strict=True):
        assert p.tobytes() == q.tobytes()


# Windows ------------------------------------------------------------------------------


@by_pairs(
    {
        "options": [{}, {"differences": True, "padding": "zero"}],
        "span": [None, 1, (-2, 0)],
        "places": [0, 2, (-3, 1), (1, 2)],
    }
)
def test_a_window_comes_back_with_the_same_rows(places, span, options):
    window = SequenceWindow(places, span=span, **options).fit(X)
    other = saved_again(window)
    assert other.get_params() == window.get_params()
    assert vars(other).keys() == vars(window).keys()
    assert other.n_features_out_ == window.n_features_out_
    assert other.transform(NEW).X.tobytes() == window.transform(NEW).X.tobytes()
    names = window.get_feature_names_out().tolist()
    assert other.get_feature_names_out().tolist() == names


def test_a_window_keeps_the_names_of_its_columns():
    rows, bounds = np.concatenate(X), np.cumsum([0, *LENGTHS])
    named = PackedSequences(rows, bounds, feature_names=["x", "y"])
    other = saved_again(SequenceWindow(0, differences=True).fit(named))
    assert other.get_feature_names_out().tolist() == [
        *("x[0]", "y[0]", "x[0]-x[-1]", "y[0]-y[-1]")
    ]
    wrong = PackedSequences(rows, bounds, feature_names=["y", "x"])
    with pytest.raises(ValueError, match="in fit it was 'x'"):
        other.transform(wrong)


def test_a_window_whose_parameters_are_not_those_of_its_fit(tmp_path):
    window = SequenceWindow(1).fit(X).set_params(places=2)
    with pytest.raises(ValueError, match="was fitted with other parameters"):
        save_model(window, tmp_path / "model")


@pytest.mark.parametrize("kind", [Pipeline, Tagger])
def test_a_window_before_a_chain(kind):
    window = SequenceWindow((-2, 1), span=2)
    model = kind([("around", window), ("crf", CRF(random_state=0))]).fit(X, Y)
    other = saved_again(model)
    assert type(other) is kind
    assert_same_answers(other, model, NEW)
    assert other[-1].feature_names_in_.tolist() == (
        other[0].get_feature_names_out().tolist()
    )
    assert document_of(model)["format_version"] == 3
    save_model(model, file := io.BytesIO())
    found = model_info(file.getvalue())
    assert found.steps == {"around": "SequenceWindow", "crf": "skcrf_sdca.CRF"}


@pytest.mark.parametrize(
    "options", [{}, {"span": 1, "padding": "zero", "n_neighbours": 8, "contrast": True}]
)
def test_a_window_of_images_before_a_model_of_graphs(options):
    window = ImageWindow(1, **options)
    crf = GraphCRF(solver="lbfgs", inference="trw", alpha=0.1)
    model = make_tagger(window, crf).fit(IMAGES, OF_IMAGES)
    other = saved_again(model)
    assert repr(other) == repr(model)
    assert other[0].get_params() == window.get_params()
    assert other.predict(IMAGES).tolist() == model.predict(IMAGES).tolist()
    pairs = zip(*(m[0].transform(IMAGES) for m in (other, model)), strict=True)
    for own, graph in pairs:
        for part, expected in zip(own, graph, strict=True):
            np.testing.assert_array_equal(part, expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_features": -1}, "n_features must be from 0"),
        ({"n_features": 2**31 - 1}, "n_features_out must be"),
        ({"n_features": 3}, "has 15 features, but the CRF 10"),
        ({"feature_names": ["x"]}, "feature_names must be of 2"),
        ({"feature_names": [1, 2]}, "feature_names must be str"),
        ({"parameters": {"places": [2, 1]}}, "has no place"),
        ({"parameters": {"places": 10**12}}, "n_features_out must be"),
        ({"parameters": {"places": "2"}}, "places must be an int"),
        ({"parameters": {"span": 1.5}}, "span must be an int"),
        ({"parameters": {"padding": "wrap"}}, "'padding' parameter"),
        ({"parameters": {"size": 1}}, "has other parameters"),
        ({"parameters": {"places": 1}}, "has 6 features, but the CRF 10"),
        ({"type": "ImageWindow"}, "must have the entries"),
        ({"type": "CRF"}, "no place in it"),
        ({"more": 1}, "must have the entries"),
    ],
    ids=str,
)
def test_forged_windows_are_refused(change, message, tmp_path):
    model = make_tagger(SequenceWindow(), CRF(random_state=0)).fit(X, Y)

    def forge(whole):
        whole["window"].update(change)

    assert_refused(model, forge, message, tmp_path / "model")


def test_a_forged_window_of_images_is_refused(tmp_path):
    def forge(entry):
        entry["parameters"]["n_neighbours"] = 5

    window = ImageWindow().fit(IMAGES)
    assert_refused(window, forge, "n_neighbours must be 4 or 8", tmp_path / "model")


# Scalers ------------------------------------------------------------------------------

LOST = [np.where(RNG.random(rows.shape) < 0.3, np.nan, rows) for rows in X]
EMPTY = [np.column_stack([rows, np.full(len(rows), np.nan)]) for rows in LOST]
SCALERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    MinMaxScaler((-1, 2), clip=True),
    RobustScaler(quantile_range=(10.0, 90.0), unit_variance=True),
    RobustScaler(with_centering=False),
    MaxAbsScaler(),
]
IMPUTERS = [
    SimpleImputer(),
    SimpleImputer(strategy="median", add_indicator=True),
    SimpleImputer(strategy="most_frequent", keep_empty_features=True),
    SimpleImputer(strategy="constant", fill_value=-1.5, add_indicator=True),
]


def assert_same_transformer(other, per_token, X):
    assert repr(other) == repr(per_token)
    assert vars(other).keys() == vars(per_token).keys()
    assert other.n_features_out_ == per_token.n_features_out_
    found, expected = (each.transform(X).X for each in (other, per_token))
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()
    names = per_token.get_feature_names_out().tolist()
    assert other.get_feature_names_out().tolist() == names


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scaler", SCALERS, ids=str)
def test_a_scaler_comes_back_with_the_same_rows(scaler, dtype):
    per_token = PerToken(scaler).fit([rows.astype(dtype) for rows in X])
    other = saved_again(per_token)
    own, expected = vars(other.transformer_), vars(per_token.transformer_)
    assert own.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(own[name], value, strict=True, err_msg=name)
    for kind in (np.float64, np.float32):
        assert_same_transformer(other, per_token, [NEW[0].astype(kind)])


@pytest.mark.filterwarnings("ignore:Skipping features without any observed")
# Of scikit-learn 1.6 and 1.7.
@pytest.mark.filterwarnings("ignore:Currently, when `keep_empty_feature:FutureWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("X", [LOST, EMPTY], ids=["some", "all"])
@pytest.mark.parametrize("imputer", IMPUTERS, ids=str)
def test_an_imputer_comes_back_with_the_same_rows(imputer, X, dtype):
    whole = make_pipeline(imputer, StandardScaler())
    for transformer in (imputer, whole):
        per_token = PerToken(transformer).fit([rows.astype(dtype) for rows in X])
        other = saved_again(per_token)
        for kind in (np.float64, np.float32):
            assert_same_transformer(other, per_token, [X[0].astype(kind)])


def test_a_missing_value_that_is_a_number():
    rows = [np.where(np.isnan(rows), 0.0, rows) for rows in LOST]
    for imputer in (
        SimpleImputer(missing_values=0, add_indicator=True),
        SimpleImputer(missing_values=0.0, strategy="constant", fill_value=2.0),
    ):
        per_token = PerToken(imputer).fit(rows)
        other = saved_again(per_token).transformer_
        found, expected = (
            each.transform(rows[2]) for each in (other, per_token.transformer_)
        )
        assert found.tobytes() == expected.tobytes()


def test_a_file_has_no_parameter_that_another_version_may_lack():
    for scaler, expected in [
        (MaxAbsScaler(), {}),
        (MinMaxScaler((0, 2)), {"feature_range": [0, 2]}),
    ]:
        model = document_of(PerToken(scaler).fit(X))["model"]
        assert model["steps"][0]["parameters"] == expected


def test_a_scaler_keeps_the_names_of_columns():
    frames = [pd.DataFrame(rows, columns=["x", "y"]) for rows in X]
    per_token = PerToken(make_pipeline(StandardScaler())).fit(frames)
    other = saved_again(per_token)
    assert other.feature_names_in_.tolist() == ["x", "y"]
    assert_same_transformer(other, per_token, frames)


def test_a_scaler_and_a_window_before_a_chain():
    filled = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    for X, scaler in ((globals()["X"], StandardScaler()), (LOST, filled)):
        steps = PerToken(scaler), SequenceWindow(2, span=4), CRF(random_state=0)
        model = make_tagger(*steps).fit(X, Y)
        assert_same_answers(saved_again(model), model, X)
        assert document_of(model)["format_version"] == 3
        assert_same_answers(saved_again(model).fit(X, Y), model, X)


def test_a_scaler_after_a_vectorizer():
    dicts = [[{"a": x, "b": y} for x, y in rows.tolist()] for rows in X]
    steps = SequenceVectorizer(), PerToken(MaxAbsScaler()), CRF(random_state=0)
    model = make_tagger(*steps).fit(dicts, Y)
    other = saved_again(model)
    assert_same_answers(other, model, dicts)
    names = model[-1].feature_names_in_.tolist()
    assert other[-1].feature_names_in_.tolist() == names


@pytest.mark.parametrize(
    ("transformer", "message"),
    [
        (PCA(1), "of a pipeline of these; this is a PCA. Use joblib"),
        (make_pipeline(StandardScaler(), PCA(1)), "this is a PCA. Use joblib"),
        (make_pipeline("passthrough", StandardScaler()), "is a str. Use joblib"),
        (RobustScaler(with_centering=False, with_scaling=False), "changes nothing"),
        (Pipeline([("a", StandardScaler())], memory="/dev/null/x"), "memory and"),
        (SimpleImputer(strategy=np.min), "strategy is or holds a"),
    ],
)
def test_transformers_that_cannot_be_saved(transformer, message, tmp_path):
    per_token = PerToken(transformer)
    if "memory" in message:
        per_token.set_params(transformer__memory=None).fit(X)
        per_token.transformer_.memory = "somewhere"
    else:
        per_token.fit(X)
    with pytest.raises(TypeError, match=message):
        save_model(per_token, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def in_step(number, **entries):
    return lambda scaler: scaler["steps"][number].update(entries)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (in_step(0, type="PCA"), "it may have no 'PCA'"),
        (in_step(0, more=1), "must have the entries"),
        (in_step(0, dtype="int8"), "dtype must be one of"),
        (in_step(0, columns={}), "columns must be"),
        (in_step(0, columns={"statistics": 1}), "statistics must be of type list"),
        (in_step(0, columns={"statistics": ["x", 1.0]}), "'x' is no number"),
        (in_step(0, columns={"mean": [1.0, 2.0]}), "columns must be"),
        (in_step(0, indicators=[1, 0]), "indicators must be numbers"),
        (in_step(0, indicators=[0, 2]), "indicators must be numbers"),
        (in_step(0, indicators=[0.0, 1]), "indicators must be numbers"),
        (in_step(0, indicators=[0]), "returns 3 columns, but the StandardScaler"),
        (in_step(0, indicators=None), "indicators are of add_indicator"),
        (in_step(0, parameters={}), "indicators are of add_indicator"),
        (in_step(1, parameters={"copy": 3}), "'copy' parameter"),
        (in_step(1, parameters={"more": 3}), "has other parameters"),
        (in_step(1, indicators=[]), "indicators are of add_indicator"),
        (in_step(1, columns={"mean": [1.0], "scale": []}), "differ in length"),
        (lambda scaler: scaler.update(names=None), "null of one step"),
        (lambda scaler: scaler.update(names=["a", "a"]), "a different name"),
        (lambda scaler: scaler.update(names=["a", ["b"]]), "a different name"),
        (lambda scaler: scaler.update(steps=[]), "a different name"),
        (lambda scaler: scaler.update(feature_names=["x"]), "must be of 2 feat"),
        (lambda scaler: scaler.update(steps=[1, 2]), "must have the entries"),
        (lambda scaler: scaler.update(type="CRF"), "no place in it"),
    ],
)
def test_forged_scalers_are_refused(change, message, tmp_path):
    filled = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    model = make_tagger(PerToken(filled), CRF(random_state=0)).fit(LOST, Y)

    def forge(whole):
        change(whole["scaler"])

    assert_refused(model, forge, message, tmp_path / "model")
