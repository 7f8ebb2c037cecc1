"""Files of parsers, of features of arcs, and of spans above a threshold."""

import io
import json
import zipfile

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from skcrf_sdca import SDCACRF, DependencyCRF, OnlineDependencyCRF, make_tagger
from skcrf_sdca.persistence import (
    TRUSTED_TYPES,
    ModelFormatError,
    load_model,
    save_model,
)
from skcrf_sdca.selection import TunedSpans
from skcrf_sdca.text import ArcFeatures, TokenFeatures

X = [[("dogs", "N"), ("bark", "V")], [("go", "V"), ("home", "A")]] * 2
Y = [[2, 0], [0, 1]] * 2
PAIRS = [([2, 0], ["nsubj", "root"]), ([0, 1], ["root", "advmod"])] * 2
FEATURES = ArcFeatures(
    ["h.word m.word", "h.tag m.tag", "h.tag between.tag m.tag"],
    columns=("word", "tag"),
    n_features=64,
)


def through_file(model):
    save_model(model, file := io.BytesIO())
    return load_model(file.getvalue())


def through_skops(model):
    sio = pytest.importorskip("skops.io")
    return sio.loads(sio.dumps(model), trusted=TRUSTED_TYPES)


def changed(model, change):
    """Return the bytes of a file whose document `change` has changed."""
    save_model(model, file := io.BytesIO())
    out = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "model.json":
                document = json.loads(content)
                change(document["model"])
                content = json.dumps(document)
            new.writestr(name, content)
    return out.getvalue()


def same_parameters(features, other):
    """Return whether two ArcFeatures are equal; lists and tuples may be."""
    both = [list(own.get_params().items()) for own in (features, other)]
    return json.dumps(both[0]) == json.dumps(both[1])


def parser(**options):
    return OnlineDependencyCRF(features=FEATURES, random_state=0, **options)


@pytest.mark.parametrize("way", [through_file, through_skops])
@pytest.mark.parametrize(
    ("model", "y"),
    [
        (parser(loss="log_loss", projective=True), Y),
        (parser(labelled=True, max_iter=3), PAIRS),
        (parser(labelled=True, loss="perceptron", average=False), PAIRS),
    ],
)
def test_parsers_keep_every_bit(way, model, y):
    model.fit(X, y)
    other = way(model)
    assert type(other) is OnlineDependencyCRF
    assert set(vars(other)) == set(vars(model))
    assert same_parameters(other.features, FEATURES)
    assert other.set_params(features=FEATURES).get_params() == model.get_params()
    for name in ("coef_", "intercept_", "loss_", "n_visits_", "n_iter_"):
        np.testing.assert_array_equal(getattr(other, name), getattr(model, name))
    assert other.history_.keys() == model.history_.keys()
    assert other.predict(X).tolist() == model.predict(X).tolist()
    assert other.fit(X, y).predict(X).tolist() == model.fit(X, y).predict(X).tolist()


@pytest.mark.parametrize("way", [through_file, through_skops])
@pytest.mark.parametrize("average", [True, False])
def test_streams_go_on_from_a_file(way, average):
    model = parser(labelled=True, average=average).partial_fit(X, PAIRS)
    other = way(model)
    for own in (model, other):
        own.partial_fit(X[1:], PAIRS[1:])
    np.testing.assert_array_equal(other.coef_, model.coef_)
    np.testing.assert_array_equal(other.relations_.coef_, model.relations_.coef_)


def test_features_may_be_the_default_ones():
    words = [[word for word, _ in sentence] for sentence in X]
    templates = ArcFeatures(["h.word m.word"])
    model = OnlineDependencyCRF(features=templates).fit(words, Y)
    model.sparsify()
    assert through_file(model).predict(words).tolist() == model.predict(words).tolist()
    default = OnlineDependencyCRF()
    tokens = [[{"word": w, "upos": t} for w, t in sentence] for sentence in X]
    model = default.fit(tokens, Y).sparsify()
    other = through_file(model)
    assert other.features is None
    assert other.predict(tokens).tolist() == Y


@pytest.mark.parametrize("is_sparse", [True, False])
def test_weights_of_relations_are_stored_in_the_smaller_way(tmp_path, is_sparse):
    model, path = parser(labelled=True).fit(X, PAIRS), tmp_path / "parser.crf"
    if not is_sparse:
        model.relations_.coef_[:] = 0.5
    before = model.relations_.coef_.copy()
    save_model(model, path)
    assert isinstance(model.relations_.coef_, np.ndarray)
    with zipfile.ZipFile(path) as archive:
        assert ("relations_coef_data.npy" in archive.namelist()) == is_sparse
        assert ("relations_coef.npy" in archive.namelist()) != is_sparse
    other = load_model(path)
    assert isinstance(other.relations_.coef_, np.ndarray)
    np.testing.assert_array_equal(other.relations_.coef_, before)


def test_templates_of_siblings_are_kept():
    columns = FEATURES.columns
    templates = [f"h.{columns[0]} m.{columns[0]}", f"s.{columns[0]} m.{columns[0]}"]
    model = parser(projective=True)
    model.set_params(features=ArcFeatures(templates, columns=columns, n_features=64))
    other = through_file(model.fit(X, Y))
    assert same_parameters(other.features, model.features)
    assert other.predict_n_best(X, 2).tolist() == model.predict_n_best(X, 2).tolist()


def test_pipelines_of_arcs_keep_every_bit():
    model = make_pipeline(FEATURES, DependencyCRF(random_state=0)).fit(X, Y)
    other = through_file(model)
    assert [name for name, _ in other.steps] == [name for name, _ in model.steps]
    assert other.predict(X).tolist() == Y
    both = zip(other.predict_proba(X), model.predict_proba(X), strict=True)
    assert all(a.tobytes() == b.tobytes() for a, b in both)
    assert same_parameters(through_file(FEATURES), FEATURES)


def test_trees_of_tokens_keep_every_bit():
    model = DependencyCRF(features=FEATURES, labelled=True, random_state=0)
    other = through_file(model.fit(X, PAIRS))
    assert same_parameters(other.features, FEATURES)
    assert other.predict(X).tolist() == PAIRS
    both = zip(other.predict_proba(X), model.predict_proba(X), strict=True)
    assert all(a.tobytes() == b.tobytes() for a, b in both)
    with pytest.raises(ModelFormatError, match="none; a template"):
        load_model(
            changed(
                model,
                lambda model: model["arc_features"]["parameters"].update(
                    templates=["x"]
                ),
            )
        )


def test_pipelines_that_do_not_fit_together_are_refused():
    crf = DependencyCRF(random_state=0).fit(FEATURES.transform(X), Y)
    for features, message in [
        (ArcFeatures(n_features=32), "has 32 features, but the CRF 64"),
        (TokenFeatures(["word"]), "TokenFeatures returns strings, but"),
    ]:
        with pytest.raises(ValueError, match=message):
            through_file(make_pipeline(features, crf))
    chain = SDCACRF(random_state=0).fit([np.eye(2)], [["A", "B"]])
    with pytest.raises(ValueError, match="ArcFeatures returns arrays, but .* SDCACRF"):
        through_file(make_pipeline(ArcFeatures(n_features=2), chain))


@pytest.mark.slow
def test_spans_above_a_threshold_keep_every_bit():
    words = [["Ada", "met", "Bob"], ["Bob", "ran"], ["met", "Bob"]] * 4
    y = [["B-P", "O", "B-P"], ["O", "O"], ["O", "O"]] * 4
    tagger = make_tagger(TokenFeatures(["word"]), SDCACRF(0.1, random_state=0))
    tuned = TunedSpans(tagger.fit(words, y), beta=2.0).fit(words, y)
    for way in (through_file, through_skops):
        other = way(tuned)
        assert type(other.estimator) is type(tagger)
        assert other.threshold_ == tuned.threshold_
        for own, known in zip(other.curve_, tuned.curve_, strict=True):
            np.testing.assert_array_equal(own, known)
        assert (other.beta, other.scheme, other.threshold) == (2.0, "BIO", None)
        spans = tuned.predict_spans(words).tolist()
        assert other.predict_spans(words).tolist() == spans
    by_type = TunedSpans(tagger, by_type=True).fit(words, y)
    assert through_file(by_type).threshold_ == by_type.threshold_
    assert (
        through_file(by_type).predict(words).tolist() == by_type.predict(words).tolist()
    )
    given = through_file(TunedSpans(tagger, threshold=0.25))
    assert given.threshold == 0.25
    assert not hasattr(given, "threshold_")
    with pytest.raises(TypeError, match="estimator of TunedSpans is a str"):
        through_file(TunedSpans("tagger", threshold=0.5))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model.pop("relations"), "must have the entries"),
        (lambda model: model.update(relations=None), "fitted with labelled=False"),
        (lambda model: model.update(relations={"type": "SDCACRF"}), "must be a Passi"),
        (lambda model: model.update(n_features=63), "n_features=64"),
        (lambda model: model.update(n_stored=1), "coef_data"),
        (lambda model: model.update(features={"type": "ArcFeatures"}), "entries"),
        (lambda model: model["features"]["parameters"].update(templates=["x"]), "none"),
        (lambda model: model["features"]["parameters"].update(n_features=0), "n_feat"),
        (lambda model: model["parameters"].update(C=-1.0), "C"),
        (lambda model: model["parameters"].update(features=[]), "features"),
        (lambda model: model["stream"].update(vectors=["total"]), "the vector w"),
        (lambda model: model["stream"].update(n_visits=-1), "from 0 to 2"),
        (lambda model: model["stream"].update(n_visits=10**30), "from 0 to 2"),
        (lambda model: model["relations"]["stream"].update(n_visits=10**30), "from 0"),
        (lambda model: model.update(stream={}), "stream must have"),
        (lambda model: model["fit"].update(more=1.0), "fit may have"),
    ],
)
def test_damaged_files_of_parsers_are_refused(change, message):
    model = parser(labelled=True).partial_fit(X, PAIRS)
    load_model(changed(model, lambda model: None))
    with pytest.raises(ModelFormatError, match=message):
        load_model(changed(model, change))


def test_weights_that_are_not_finite_are_refused():
    model = parser().fit(X, Y)
    model.coef_[0, 3] = np.nan
    with pytest.raises(ValueError, match="coef_ contains NaN"):
        through_file(model)
    model = parser(labelled=True).fit(X, PAIRS)
    model.relations_ = SDCACRF(random_state=0).fit([np.eye(2)], [["A", "B"]])
    with pytest.raises(ValueError, match="relations_ must be a Pass"):
        through_file(model)
