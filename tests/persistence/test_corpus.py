"""Labelled text in folders: fits from them, writers that end early, refused folders."""

import json
import os
import signal
import zlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from samples import until_it_fits
from skcrf_sdca import CRF, LBFGSCRF, SDCACRF, make_tagger
from skcrf_sdca.data.packed_file import PackedFormatError
from skcrf_sdca.persistence import PackedCorpus
from skcrf_sdca.text import Suffix, TokenFeatures, Window

TOKENS = [["the", "dogs", "bark"], ["a", "dog"], [], ["cats"], ["a", "cat", "sleeps"]]
TAGS = [["D", "N", "V"], ["D", "N"], [], ["N"], ["D", "N", "V"]]
NUMBERS = [[ord(tag) for tag in tags] for tags in TAGS]
FEATURES = TokenFeatures([Window("word", 1), Suffix(1)])
STRINGS = FEATURES.transform(TOKENS)
DICTS = [[{"word": w, "length": len(w)} for w in words] for words in TOKENS]
FILES = ["corpus.json", "labels.npy", "rows.packed", "vectorizer.zip"]


def write(path, X, y, size=2, features=None):
    with PackedCorpus.writer(path, features=features) as corpus:
        for begin in range(0, len(X), size):
            part = slice(begin, begin + size)
            corpus.append(X[part], y[part])
    return path


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "corpus", STRINGS, TAGS)


# Fits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("X", [STRINGS, DICTS], ids=["strings", "dicts"])
@pytest.mark.parametrize("y", [TAGS, NUMBERS], ids=["str", "int"])
@pytest.mark.parametrize(
    "crf", [CRF(random_state=0), LBFGSCRF(features="observed")], ids=repr
)
def test_a_fit_has_the_bits_of_one_on_all_items(tmp_path, X, y, crf):
    expected = clone(crf).fit(X, y)
    for size in (2, 5):
        corpus = PackedCorpus.open(write(tmp_path / f"{size}", X, y, size))
        found = corpus.fit(clone(crf))
        for name in ("coef_", "transition_", "start_", "end_"):
            a, b = getattr(found, name), getattr(expected, name)
            assert_array_equal(a, b) if isinstance(a, np.ndarray) else (a != b).nnz == 0
        assert found.duality_gap_ == expected.duality_gap_
        assert found.classes_.tolist() == expected.classes_.tolist()
        assert found.vectorizer_.vocabulary_ == expected.vectorizer_.vocabulary_
        assert found.predict(X).tolist() == expected.predict(X).tolist()


def test_templates_make_features_of_tokens(tmp_path):
    path = write(tmp_path / "corpus", TOKENS, TAGS, features=FEATURES)
    corpus = PackedCorpus.open(path)
    assert sorted(os.listdir(path)) == sorted([*FILES, "features.zip"])
    tagger = make_tagger(corpus.features, corpus.fit(SDCACRF(random_state=0)))
    expected = make_tagger(FEATURES, SDCACRF(random_state=0)).fit(TOKENS, TAGS)
    assert_array_equal(tagger[-1].coef_, expected[-1].coef_)
    assert tagger.predict(TOKENS).tolist() == expected.predict(TOKENS).tolist()


def test_a_fit_may_begin_at_a_model_of_items(path):
    model = SDCACRF(random_state=0).fit(STRINGS[::-1], TAGS[::-1])
    corpus = PackedCorpus.open(path)
    crf = corpus.fit(SDCACRF(random_state=0), init=model)
    assert crf.n_iter_ < corpus.fit(SDCACRF(random_state=0)).n_iter_
    np.testing.assert_allclose(crf.primal_objective_, model.primal_objective_, 2e-3)
    with pytest.raises(ValueError, match="prior is not taken: the packed rows"):
        corpus.fit(SDCACRF(), prior=model)


def test_models_of_one_corpus_learn_apart(path):
    corpus = PackedCorpus.open(path)
    crf, other = (corpus.fit(SDCACRF(random_state=0)) for _ in "ab")
    crf.vectorizer_.partial_fit([[["new"]]])
    assert other.vectorizer_.n_features_out_ == corpus.X.n_features


# Parts --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        ([["cat"]], [["N", "V"]], ValueError, "Sequence 2 has 1 items in X, but 2"),
        ([["cat"]], [[1]], TypeError, "labels of type int, but before of type str"),
        ([["cat"]], [["N\0"]], ValueError, "a file of labels does not give back"),
        ([["cat"], [3]], [["N"], ["N"]], TypeError, "sequence 3, item 0"),
        ([["cat"]], [[None]], ValueError, "sequence 2, position 0 is None"),
    ],
)
def test_after_a_part_that_is_refused_others_may_follow(tmp_path, X, y, error, message):
    path = tmp_path / "corpus"
    with PackedCorpus.writer(path, features=FEATURES) as corpus:
        corpus.append(TOKENS[:2], TAGS[:2])
        with pytest.raises(error, match=message):
            corpus.append(X, y)
        corpus.append(TOKENS[2:], TAGS[2:])
    found, all_tokens = PackedCorpus.open(path), write(tmp_path / "b", STRINGS, TAGS)
    expected = PackedCorpus.open(all_tokens)
    assert_array_equal(found.X.X.toarray(), expected.X.X.toarray())
    assert_array_equal(found.y, expected.y)


def test_an_error_in_the_block_leaves_nothing(tmp_path):
    for path in (tmp_path / "new", tmp_path):
        writer = PackedCorpus.writer(path)
        writer.__enter__().append(STRINGS, TAGS)
        error = FileNotFoundError(2, "No such file", "part-7")
        # It is raised as it is, by whoever called.
        assert writer.__exit__(type(error), error, None) is False
        assert error.filename == "part-7"
        assert os.listdir(tmp_path) == []
    with (
        pytest.raises(ValueError, match="no part was appended"),
        PackedCorpus.writer(tmp_path / "new"),
    ):
        pass
    assert os.listdir(tmp_path) == []


def test_what_is_there_is_not_replaced(path, tmp_path):
    (tmp_path / "file").write_text("mine")
    for taken in (path, tmp_path, tmp_path / "file"):
        before = sorted(os.listdir(tmp_path))
        with pytest.raises(FileExistsError) as raised, PackedCorpus.writer(taken):
            pass
        assert raised.value.filename == str(taken)
        assert sorted(os.listdir(tmp_path)) == before
    assert sorted(os.listdir(path)) == FILES


def test_a_full_disk_leaves_nothing(tmp_path):
    path = tmp_path / "corpus"
    n_full = until_it_fits(
        lambda: write(path, TOKENS, TAGS, features=FEATURES), path, step=60
    )
    assert n_full > 5
    assert PackedCorpus.open(path).X.n_positions == 9


def test_a_writer_whose_part_was_cut_takes_no_other(tmp_path):
    writer = PackedCorpus.writer(tmp_path / "corpus")
    corpus = writer.__enter__()
    corpus.append(STRINGS[:1], TAGS[:1])
    corpus._codes.close()
    with pytest.raises(ValueError, match="closed file"):
        corpus.append(STRINGS[1:], TAGS[1:])
    with pytest.raises(ValueError, match="begin again with a new writer"):
        corpus.append(STRINGS[1:], TAGS[1:])
    with pytest.raises(ValueError, match="begin again with a new writer"):
        writer.__exit__(None, None, None)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_the_folder_of_a_killed_writer_is_refused_and_taken(tmp_path):
    path = tmp_path / "corpus"
    child = os.fork()
    if child == 0:
        with PackedCorpus.writer(path) as corpus:
            corpus.append(STRINGS, TAGS)
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert len(os.listdir(path)) == 2
    with pytest.raises(PackedFormatError, match="corpus is not complete, because its"):
        PackedCorpus.open(path)
    write(path, STRINGS, TAGS)
    assert sorted(os.listdir(path)) == FILES


# Refused folders ----------------------------------------------------------------------


def cut(path):
    path.write_bytes(path.read_bytes()[:-1])


def flipped(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("name", FILES[1:])
@pytest.mark.parametrize("damage", [cut, flipped, os.unlink])
def test_a_damaged_file_is_refused_by_its_name(path, name, damage):
    damage(path / name)
    with pytest.raises(PackedFormatError, match=f"{name} is .*: write the corpus agai"):
        PackedCorpus.open(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.update(format_version=2), "of version 2, and this is"),
        (lambda h: h.update(format="other"), "it is 'other' of version 1"),
        (lambda h: h.update(more=1), "it must have the entries"),
        (lambda h: h["files"].pop("labels.npy"), "its files are not those of a packed"),
        (lambda h: h["files"].update({"../x": {}}), "its files are not those"),
        (lambda h: h["files"].update({"features.zip": {}}), "features.zip is missing"),
    ],
)
def test_headers_that_are_not_such(path, change, message):
    rewritten(path, change)
    with pytest.raises(PackedFormatError, match=message):
        PackedCorpus.open(path)


def rewritten(path, change):
    """Let a function change the header, whose checksum is then right."""
    header = json.loads((path / "corpus.json").read_text())
    del header["crc32"]
    change(header)
    header["crc32"] = zlib.crc32(json.dumps(header).encode())
    (path / "corpus.json").write_text(json.dumps(header))


def test_every_change_of_a_header_is_refused(path):
    good = (path / "corpus.json").read_bytes()
    for i in range(0, len(good), 3):
        changed = good[:i] + bytes([good[i] ^ 1]) + good[i + 1 :]
        (path / "corpus.json").write_bytes(changed)
        with pytest.raises(PackedFormatError):
            PackedCorpus.open(path)


def test_labels_of_another_length_are_refused(path, tmp_path):
    other = write(tmp_path / "other", STRINGS[:2], TAGS[:2])
    its = json.loads((other / "corpus.json").read_text())["files"]["labels.npy"]
    (path / "labels.npy").write_bytes((other / "labels.npy").read_bytes())
    rewritten(path, lambda header: header["files"].update({"labels.npy": its}))
    with pytest.raises(
        PackedFormatError, match=r"shape \(5,\), but the rows have 9 pos"
    ):
        PackedCorpus.open(path)


def test_what_is_no_corpus_is_refused(tmp_path):
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(FileNotFoundError):
            PackedCorpus.open(path)
