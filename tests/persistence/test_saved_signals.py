"""Models of signals and images are saved as data: what is before the CRF comes too."""

import io
import json

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

from model_fuzz import members, write
from skcrf_sdca import (
    CRF,
    GraphCRF,
    PackedSequences,
    load_model,
    make_tagger,
    save_model,
)
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.features import ImageWindow, SequenceWindow
from skcrf_sdca.persistence import ModelFormatError

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


@pytest.mark.parametrize("places", [0, 2, (-3, 1), (1, 2)])
@pytest.mark.parametrize("span", [None, 1, (-2, 0)])
@pytest.mark.parametrize("options", [{}, {"differences": True, "padding": "zero"}])
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
