"""What a file says of itself: metadata, and what is read without the weights."""

import io
import json

import numpy as np
import numpy_alone
import pytest

from model_fuzz import changed_members, members, write
from skcrf_sdca import (
    CRF,
    SDCACRF,
    DependencyCRF,
    OnlineDependencyCRF,
    SegmentCRF,
    SequenceVectorizer,
    compat,
    load_model,
    make_tagger,
    save_model,
)
from skcrf_sdca.persistence import ModelFormatError, ModelInfo, model_info
from skcrf_sdca.serving import Predictor
from skcrf_sdca.text import ArcFeatures, Shape, TokenFeatures

WORDS, Y = [["near", "Basel"], ["the", "Rhine"]] * 5, [["O", "B-LOC"]] * 10
STRINGS = [[[f"w={word}"] for word in sentence] for sentence in WORDS]
TREES = [([0, 1], ["root", "obj"]), ([2, 0], ["det", "root"])]
METADATA = {
    "corpus": "Basel \u00e9\ud800",
    "date": "2026-11-28",
    "f1": 80.25,
    "runs": [1, 2.5, None, True, {"a": []}],
}


def saved(model, **more):
    save_model(model, file := io.BytesIO(), **more)
    return file.getvalue()


@pytest.fixture(scope="module")
def tagger():
    features = TokenFeatures([Shape(), "pos"], columns=("word", "pos", "label"))
    X = [[(word, "N", "") for word in sentence] for sentence in WORDS]
    tagger = make_tagger(features, CRF(random_state=0))
    return tagger.set_params(crf__solver="sdca").fit(X, Y)


def test_metadata_come_back_equal(tagger):
    info = model_info(saved(tagger, metadata=METADATA))
    assert info.metadata == METADATA
    assert list(info.metadata) == list(METADATA)


def test_a_file_without_metadata_is_as_before(tagger):
    assert saved(tagger) == saved(tagger, metadata=None) == saved(tagger, metadata={})
    assert model_info(saved(tagger)).metadata == {}


def test_a_file_with_metadata_loads_and_the_estimator_does_not_keep_them(tagger):
    data = saved(tagger, metadata=METADATA)
    again = load_model(data)
    assert saved(again) == saved(tagger)
    crf = SDCACRF(random_state=0).fit(STRINGS, Y)
    served = Predictor.load(saved(crf, metadata=METADATA))
    assert served.predict_one(STRINGS[0]) == Y[0]


def test_the_version_of_the_format_says_that_there_are_metadata():
    crf = SDCACRF(random_state=0).fit([np.eye(2)], [["O", "B"]])
    assert model_info(saved(crf)).format_version == 1
    assert model_info(saved(crf, metadata={"a": 1})).format_version == 2


@pytest.mark.parametrize(
    ("metadata", "error", "message"),
    [
        (["a"], TypeError, r"metadata must be a dict or None, got list"),
        ({1: "a"}, TypeError, r"metadata has the key 1, and the keys must be str"),
        ({"a": {2.5: 0}}, TypeError, r"metadata\['a'\] has the key 2.5"),
        ({"a": [0, (1,)]}, TypeError, r"metadata\['a'\]\[1\] is of type tuple"),
        ({"a": np.float64(0.5)}, TypeError, r"metadata\['a'\] is of type float64"),
        ({"a": float("nan")}, ValueError, r"metadata\['a'\] is nan"),
        ({"a": "x" * 2**16}, ValueError, "65545 characters .* holds 65536"),
        ({"a": "\ud83d\ude00"}, ValueError, "does not survive JSON"),
    ],
)
def test_what_json_does_not_hold_is_refused(metadata, error, message, tagger):
    file = io.BytesIO()
    with pytest.raises(error, match=message):
        save_model(tagger, file, metadata=metadata)
    assert file.getvalue() == b""


def test_what_a_tagger_says(tagger):
    data = saved(tagger)
    info = model_info(data)
    crf = tagger[-1]
    assert info.type == "Tagger"
    assert info.steps == {"tokenfeatures": "TokenFeatures", "crf": "skcrf_sdca.CRF"}
    assert info.labels == crf.classes_.tolist()
    assert info.n_features == crf.n_features_in_
    assert info.input_format == "strings"
    assert info.columns == tagger[0].read_columns() == ["word", "pos"]
    assert info.parameters["solver"] == "sdca"
    assert info.fit["solver_"] == "sdca"
    for name in ("alpha_", "duality_gap_", "n_iter_"):
        assert info.fit[name] == getattr(crf, name)
    assert info.written_by.startswith("skcrf_sdca ")
    assert list(info.sizes)[0] == "model.json"
    # An array has a header of 128 bytes at least.
    assert 0 <= info.sizes["coef.npy"] - 8 * crf.coef_.size - 128 < 128
    assert sum(info.sizes.values()) < len(data)


def parser(cls):
    features = ArcFeatures(["h.word m.word"], n_features=64)
    crf = cls(features=features, labelled=True, max_iter=100, random_state=0)
    return crf.fit(WORDS[:2], TREES)


OTHERS = {
    "CRF": lambda: SDCACRF(random_state=0).fit(STRINGS, Y),
    "pipeline": lambda: make_tagger(SequenceVectorizer(), SDCACRF()).fit(STRINGS, Y),
    "compat": lambda: compat.CRF().fit(STRINGS, Y),
    "segments": lambda: SegmentCRF(random_state=0).fit(STRINGS, Y),
    "vectorizer": lambda: SequenceVectorizer().fit(STRINGS),
    "templates": lambda: TokenFeatures([Shape()]).fit(),
    "arcs": lambda: ArcFeatures(["h.word"]).fit(),
    "parser": lambda: parser(OnlineDependencyCRF),
    "trees": lambda: parser(DependencyCRF),
}


@pytest.mark.parametrize("name", OTHERS)
def test_every_type_of_model_says_what_it_is(name):
    model = OTHERS[name]()
    info = model_info(saved(model, metadata={"name": name}))
    assert info.type == type(model).__name__
    assert info.metadata == {"name": name}
    if name in ("CRF", "pipeline", "compat", "segments"):
        assert info.labels == ["B-LOC", "O"]
        assert info.n_features == 4
    if name in ("parser", "trees"):
        assert info.labels == ["det", "obj", "root"]
    if name in ("templates", "arcs", "parser", "trees"):
        assert info.columns == ["word"]
    assert str(info) == repr(info)
    assert "metadata: name" in str(info)


def test_the_text_has_a_line_for_each_fact_and_cannot_control_a_terminal():
    Y_odd = [["\x1b[2J", "B-LOC"]] * 10
    crf = SDCACRF(random_state=0).fit(STRINGS, Y_odd)
    text = str(model_info(saved(crf, metadata={"a\x1b": "b\x07", "c": [1]})))
    assert not {"\x1b", "\x07"} & {*text}
    lines = dict(line.split("  ", 1) for line in text.splitlines())
    assert lines["labels"].strip() == r"2: '\x1b[2J', B-LOC"
    assert lines["metadata: c"].strip() == "[1]"
    many = CRF(random_state=0).fit([[["a"]]] * 50, [[f"L{k:02d}"] for k in range(50)])
    text = str(model_info(saved(many)))
    assert "50: L00, L01" in text
    assert "L19, ..." in text


def test_weights_are_not_read(tagger, tmp_path):
    """The file has nothing of the weights; only their sizes."""
    contents = members(io.BytesIO(saved(tagger)))
    damaged = {n: c if n == "model.json" else b"" for n, c in contents.items()}
    write(tmp_path / "m", damaged)
    assert model_info(tmp_path / "m").labels == ["B-LOC", "O"]
    with pytest.raises(ModelFormatError, match=r"(coef|intercept|names)\.npy"):
        load_model(tmp_path / "m")


@pytest.mark.parametrize(
    "metadata", [3, [], None, {"a": "x" * 2**16}, {"a": ["x"] * 2**15}]
)
def test_metadata_of_a_hostile_file_are_refused(metadata, tagger, tmp_path):
    contents = members(io.BytesIO(saved(tagger)))
    document = json.loads(contents["model.json"]) | {"metadata": metadata}
    write(tmp_path / "m", contents | {"model.json": json.dumps(document)})
    for read in (model_info, load_model, Predictor.load):
        with pytest.raises(ModelFormatError, match="metadata"):
            read(tmp_path / "m")


def test_changed_documents_have_an_info_or_are_refused(tagger, tmp_path):
    rng, n_refused = np.random.default_rng(0), 0
    contents = members(io.BytesIO(saved(tagger, metadata=METADATA)))
    for _ in range(300):
        write(tmp_path / "m", changed_members(contents, rng))
        try:
            info = model_info(tmp_path / "m")
        except ModelFormatError:
            n_refused += 1
        else:
            assert isinstance(info, ModelInfo)
            assert str(info)
    assert 0 < n_refused < 300


def test_no_model_is_refused(tmp_path):
    with pytest.raises(ModelFormatError, match="not a zip file"):
        model_info(b"no model")
    with pytest.raises(FileNotFoundError):
        model_info(tmp_path / "none")


def test_numpy_alone_is_enough(tagger, tmp_path):
    save_model(tagger, tmp_path / "m")
    code = "from skcrf_sdca.persistence import model_info; import sys; "
    code += "print(model_info(sys.argv[1]).columns)"
    assert numpy_alone.printed(code, tmp_path / "m") == "['word', 'pos']\n"


def test_a_parser_of_default_features_reads_words_and_tags():
    X = [[(word, "N") for word in sentence] for sentence in WORDS[:2]]
    features = ArcFeatures(columns=("word", "upos"))
    own = OnlineDependencyCRF(features=features, labelled=True, max_iter=1)
    assert model_info(saved(own.fit(X, TREES))).columns == ["word", "upos"]
