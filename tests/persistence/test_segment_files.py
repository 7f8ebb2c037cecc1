"""Models of segments in files: the same answers, or refused."""

import io

import numpy as np
import pytest
from segment_twin import sentences

from model_fuzz import change_model
from skcrf_sdca import OEGCRF, SegmentCRF, load_model, make_tagger, save_model
from skcrf_sdca.persistence import TRUSTED_TYPES, ModelFormatError
from skcrf_sdca.structures.form import dense_coef
from skcrf_sdca.text import TokenFeatures

X, Y = sentences(12)
SIGNALS = [np.eye(3)[own] for own in ([0, 0, 1], [2, 1], [2, 2, 0, 1])]
RUNS = [[0, 0, 1], [2, 1], [2, 2, 0, 1]]


def through_file(crf):
    save_model(crf, file := io.BytesIO())
    return load_model(file.getvalue())


def through_skops(crf):
    sio = pytest.importorskip("skops.io")
    return sio.loads(sio.dumps(crf), trusted=TRUSTED_TYPES)


def assert_same(other, crf, sequences):
    assert type(other) is SegmentCRF
    assert set(vars(other)) == set(vars(crf))
    assert other.types_.tolist() == crf.types_.tolist()
    assert (other.max_length_, other.scheme_) == (crf.max_length_, crf.scheme_)
    for name in crf._form().weights_of(crf).attributes():
        own, expected = (dense_coef(getattr(c, name)) for c in (other, crf))
        np.testing.assert_array_equal(own, expected)
    proba = zip(
        other.predict_proba(sequences), crf.predict_proba(sequences), strict=True
    )
    assert all(a.tobytes() == b.tobytes() for a, b in proba)
    assert other.predict_spans(sequences).tolist() == (
        crf.predict_spans(sequences).tolist()
    )


def of_segment(sequence, begin, end):
    return {"first": str(sequence[begin]), "long": end - begin > 1}


@pytest.mark.parametrize("sequences", [X, SIGNALS])
def test_files_keep_weights_of_features_of_segments(sequences):
    """But not the function, which must be given again."""
    y, scheme = (Y, "BIO") if sequences is X else (RUNS, None)
    crf = SegmentCRF(scheme=scheme, segment_features=of_segment, random_state=0)
    crf.fit(sequences, y)
    other = through_file(crf)
    assert other.segment_features is None
    table = crf.segment_weights()
    assert other.segment_weights()["feature"].tolist() == table["feature"].tolist()
    with pytest.raises(ValueError, match=r"Call set_params\(segment_features"):
        other.predict(sequences)
    other.set_params(segment_features=of_segment)
    np.testing.assert_array_equal(other.segment_coef_, crf.segment_coef_)
    assert_same(other, crf, sequences)


def test_wrong_features_of_segments(tmp_path):
    path = tmp_path / "model"
    crf = SegmentCRF(segment_features=of_segment, random_state=0).fit(X, Y)
    save_model(crf, path)
    change_model(path, lambda model: model["segments"]["vectorizer"].pop("vocabulary"))
    with pytest.raises(ModelFormatError, match="vectorizer must have the entries"):
        load_model(path)
    save_model(crf, path)
    change_model(path, lambda model: model["segments"].pop("vectorizer"))
    with pytest.raises(ModelFormatError, match="segment_coef"):
        load_model(path)
    crf.segment_vectorizer_.restrict(np.arange(crf.segment_coef_.shape[1]) > 0)
    with pytest.raises(ValueError, match="segment_coef_ has shape"):
        through_file(crf)
    save_model(SegmentCRF(random_state=0).fit(X, Y), path)
    change_model(path, lambda model: model["segments"].update(vectorizer={}))
    with pytest.raises(ModelFormatError, match="type None"):
        load_model(path)


@pytest.mark.parametrize("way", [through_file, through_skops])
@pytest.mark.parametrize(
    ("parameters", "sequences", "y"),
    [
        ({}, X, Y),
        ({"l1_ratio": 0.9, "solver": "lbfgs", "max_length": 7}, X, Y),
        ({"scheme": None}, SIGNALS, RUNS),
    ],
)
def test_files_keep_every_bit(way, parameters, sequences, y):
    crf = SegmentCRF(alpha=0.05, random_state=0).set_params(**parameters)
    crf.fit(sequences, y)
    assert_same(way(crf), crf, sequences)
    assert through_file(crf).fit(sequences, y).score(sequences, y) > 0.5


def test_the_scheme_is_that_of_the_fit():
    crf = SegmentCRF(random_state=0).fit(X, Y).set_params(scheme="IO")
    assert_same(through_file(crf), crf, X)


def test_a_tagger():
    words = [[word for (word,) in own] for own in X]
    tagger = make_tagger(TokenFeatures(["word"]), SegmentCRF(random_state=0)).fit(
        words, Y
    )
    other = through_file(tagger)
    assert other.predict(words).tolist() == tagger.predict(words).tolist()


def test_what_does_not_hold_together_is_not_saved():
    crf = SegmentCRF(random_state=0).fit(X, Y)
    crf.length_ = crf.length_[:, 1:]
    with pytest.raises(ValueError, match="length_ has shape"):
        through_file(crf)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: model.pop("segments"), "must have the entries"),
        (lambda model: model.update(type="OEGCRF"), "must have the entries"),
        (lambda model: model.update(segments={}), "segments must have the entries"),
        (lambda model: model["segments"].update(max_length=0), "max_length must be"),
        (lambda model: model["segments"].update(max_length=2**40), "max_length must"),
        (lambda model: model["segments"].update(max_length=2**30), "length.npy"),
        (lambda model: model["segments"].update(max_length=1), "length.npy"),
        (lambda model: model["segments"].update(max_length=True), "max_length"),
        (lambda model: model["segments"].update(scheme="BIOX"), "scheme"),
        (lambda model: model["segments"].update(scheme="IOB1"), "IOB1"),
        (lambda model: model["segments"].update(scheme=None), "length.npy|transition"),
        (lambda model: model["labels"]["values"].__setitem__(0, "A"), "Label 'A'"),
        (lambda model: model.update(tuples={}), "must have the entries"),
    ],
)
def test_wrong_documents(change, message, tmp_path):
    path = tmp_path / "model"
    save_model(SegmentCRF(random_state=0).fit(X, Y), path)
    change_model(path, change)
    with pytest.raises(ModelFormatError, match=message):
        load_model(path)


def test_segments_are_of_segment_models_only(tmp_path):
    path = tmp_path / "model"
    save_model(OEGCRF(random_state=0).fit(X, Y), path)
    segments = {"scheme": "BIO", "max_length": 2}
    change_model(path, lambda model: model.update(segments=segments))
    with pytest.raises(ModelFormatError, match="must have the entries"):
        load_model(path)
