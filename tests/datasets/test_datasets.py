import gzip
import hashlib
import itertools
from datetime import date
from urllib.error import URLError

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.special import logsumexp
from sklearn.datasets import load_digits

import reference
from skcrf_sdca.datasets import (
    _conll,
    _download,
    _ocr,
    fetch_conll2000,
    fetch_conll2002,
    fetch_ocr_letters,
    load_digit_sequences,
    make_chains,
)

# --- make_chains ---------------------------------------------------------------------


def path_probabilities(x, model):
    """Probability of every path of one sequence, by enumeration."""
    length, n_labels = len(x), model.intercept.size
    scores = x @ model.coef + model.intercept
    scores[0] += model.start
    scores[-1] += model.end
    paths = [tuple(path) for path in reference.all_paths(length, n_labels).tolist()]
    totals = reference.path_scores(scores, model.transition)
    return paths, np.exp(totals - logsumexp(totals))


@pytest.mark.parametrize(
    ("length", "n_labels"), [(1, 2), (1, 3), (2, 2), (3, 3), ((1, 3), 2)]
)
def test_labels_follow_the_distribution_of_the_model(length, n_labels):
    n_draws = 1500
    X, y, model = make_chains(
        n_draws, n_labels=n_labels, length=length, random_state=3, return_model=True
    )
    # The expected count of a path is the sum of its probabilities over the sequences.
    expected, counts = {}, {}
    for x, labels in zip(X, y, strict=True):
        for path, p in zip(*path_probabilities(x, model), strict=True):
            expected[path] = expected.get(path, 0.0) + p
        counts[tuple(labels)] = counts.get(tuple(labels), 0) + 1
    observed = np.array([counts.get(path, 0) for path in expected])
    # The features differ between draws, so the variance of a count is below that of a
    # multinomial and the chi-square test is conservative.
    assert stats.chisquare(observed, list(expected.values())).pvalue > 0.01


def test_labels_depend_on_the_features_position_by_position():
    X, y, model = make_chains(
        3000, n_labels=2, n_features=2, length=3, random_state=8, return_model=True
    )
    residuals = []
    for x, labels in zip(X, y, strict=True):
        paths, p = path_probabilities(x, model)
        marginals = np.array(
            [p[[path[t] == 1 for path in paths]].sum() for t in range(3)]
        )
        residuals.append((np.array(labels) - marginals)[:, None] * x)
    residuals = np.array(residuals)
    z = residuals.mean(axis=0) / (residuals.std(axis=0) / np.sqrt(len(X)))
    assert np.abs(z).max() < 3.5


def test_batches_do_not_change_what_is_drawn_from(monkeypatch):
    monkeypatch.setattr("skcrf_sdca.datasets._chains._BATCH_SIZE", 60)
    X, y = make_chains(50, length=(1, 9), random_state=0)
    assert [len(x) for x in X] == [len(labels) for labels in y]
    assert {len(x) for x in X} == set(range(1, 10))


def test_huge_scores_give_the_best_path():
    X, y, model = make_chains(
        20,
        n_labels=3,
        length=(1, 4),
        weight_scale=1e4,
        transition_scale=1e4,
        random_state=0,
        return_model=True,
    )
    for x, labels in zip(X, y, strict=True):
        paths, p = path_probabilities(x, model)
        assert tuple(labels) == paths[p.argmax()]


def test_chains_are_reproducible():
    first, second, other = (make_chains(5, random_state=s) for s in (1, 1, 2))
    for a, b in zip(first[0], second[0], strict=True):
        np.testing.assert_array_equal(a, b)
    assert first[1] == second[1]
    assert first[1] != other[1]
    state = np.random.RandomState(1)
    assert make_chains(5, random_state=state)[1] == first[1]


def test_shapes_and_types_of_chains():
    X, y, model = make_chains(
        7, n_labels=4, n_features=6, length=5, random_state=0, return_model=True
    )
    assert [x.shape for x in X] == [(5, 6)] * 7
    assert all(isinstance(label, int) for labels in y for label in labels)
    assert {label for labels in y for label in labels} <= set(range(4))
    assert model.coef.shape == (6, 4)
    assert model.transition.shape == (4, 4)
    for name in ("intercept", "start", "end"):
        assert model[name].shape == (4,)


def test_sparse_chains_have_the_density_asked_for():
    X, y = make_chains(40, n_features=50, density=0.1, random_state=0)
    assert all(sparse.issparse(x) and x.format == "csr" for x in X)
    assert [x.shape[0] for x in X] == [len(labels) for labels in y]
    stacked = sparse.vstack(X)
    assert stacked.nnz == pytest.approx(0.1 * np.prod(stacked.shape), abs=1)


def test_no_transitions_gives_independent_labels():
    _, _, model = make_chains(1, transition_scale=0, random_state=0, return_model=True)
    np.testing.assert_array_equal(model.transition, 0.0)


@pytest.mark.parametrize(
    "options",
    [
        {"length": 0},
        {"length": (3, 2)},
        {"density": 0.0},
        {"density": 1.5},
        {"n_labels": 0},
        {"n_features": 0},
        {"n_sequences": 0},
        {"weight_scale": -1.0},
    ],
)
def test_chains_reject_bad_arguments(options):
    with pytest.raises(ValueError, match=next(iter(options)).split("_")[-1]):
        make_chains(**options)


# --- load_digit_sequences ------------------------------------------------------------


@pytest.mark.parametrize("strings", ["keypad", "dates"])
def test_no_image_serves_both_training_and_test(strings):
    data = load_digit_sequences(strings)
    train = set(np.concatenate(data.image_ids_train).tolist())
    test = set(np.concatenate(data.image_ids_test).tolist())
    assert train
    assert test
    assert not train & test


@pytest.mark.parametrize("strings", ["keypad", "dates"])
@pytest.mark.parametrize("part", ["train", "test"])
def test_images_show_the_digits(strings, part):
    data = load_digit_sequences(strings, n_train=30, n_test=20, noise=0.0)
    digits = load_digits()
    n_strings = {"train": 30, "test": 20}[part]
    X, y = data[f"X_{part}"], data[f"y_{part}"]
    ids, images = data[f"image_ids_{part}"], data[f"images_{part}"]
    assert len(X) == len(y) == len(ids) == len(images) == n_strings
    for x, labels, rows, image in zip(X, y, ids, images, strict=True):
        assert x.shape == (len(labels), 64)
        assert image.shape == (len(labels), 8, 8)
        assert digits.target[rows].tolist() == labels
        np.testing.assert_allclose(x, digits.data[rows] / 16, rtol=1e-12)


def test_dates_are_valid():
    for string in load_digit_sequences("dates", n_train=500).y_train:
        text = "".join(map(str, string))
        day = date(int(text[4:]), int(text[2:4]), int(text[:2]))
        assert date(1900, 1, 1) <= day <= date(2099, 12, 31)


def test_keypad_codes_move_to_an_adjacent_key():
    rows = ["123", "456", "789", " 0 "]
    keys = {
        int(key): (r, c)
        for r, row in enumerate(rows)
        for c, key in enumerate(row)
        if key != " "
    }
    strings = load_digit_sequences("keypad").y_train
    assert {len(string) for string in strings} == set(range(4, 11))
    moves = {pair for string in strings for pair in itertools.pairwise(string)}
    adjacent = {
        (a, b)
        for a, b in itertools.permutations(keys, 2)
        if sum(abs(np.subtract(keys[a], keys[b]))) == 1
    }
    assert moves == adjacent


def test_noise_stays_in_the_range_of_pixels_and_is_reproducible():
    first, second = (load_digit_sequences(n_train=20, n_test=3) for _ in range(2))
    for a, b in zip(first.X_train, second.X_train, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.min() >= 0
        assert a.max() <= 1
    assert first.y_train == second.y_train
    assert first.y_train != load_digit_sequences(n_train=20, random_state=1).y_train


def test_digit_sequences_as_a_tuple():
    options = {"n_train": 4, "n_test": 3}
    data = load_digit_sequences(**options)
    X_train, X_test, y_train, y_test = load_digit_sequences(**options, return_X_y=True)
    assert (len(X_train), len(X_test)) == (4, 3)
    assert (y_train, y_test) == (data.y_train, data.y_test)


@pytest.mark.parametrize(
    "options", [{"strings": "words"}, {"n_train": 0}, {"n_test": 0}, {"noise": -0.1}]
)
def test_digit_sequences_reject_bad_arguments(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        load_digit_sequences(**options)


# --- downloads -----------------------------------------------------------------------

TEXT = b"Rockwell NNP B-NP\nsaid VBD B-VP\n\n. . O\n\n"


@pytest.fixture
def no_local_folder(monkeypatch):
    monkeypatch.delenv("SKCRF_SDCA_DATA", raising=False)


@pytest.fixture
def remote(tmp_path, no_local_folder):
    """A public file at a file:// URL."""
    home = tmp_path / "public.txt.gz"
    home.write_bytes(gzip.compress(TEXT))
    return _download.RemoteFile(
        path="some/corpus.txt.gz",
        urls=(home.as_uri(),),
        sha256=hashlib.sha256(TEXT).hexdigest(),
    )


def replaced(remote, **changes):
    return _download.RemoteFile(**{**vars(remote), **changes})


def test_download_is_kept_in_data_home(remote, tmp_path):
    home = tmp_path / "home"
    assert _download.read_remote(remote, home) == TEXT
    kept = home / "skcrf_sdca" / "some" / "corpus.txt.gz"
    assert gzip.decompress(kept.read_bytes()) == TEXT
    assert list(kept.parent.iterdir()) == [kept]
    nowhere = replaced(remote, urls=())
    assert _download.read_remote(nowhere, home, download_if_missing=False) == TEXT


def test_plain_text_passes_the_same_check(remote, tmp_path):
    plain = tmp_path / "plain.txt"
    plain.write_bytes(TEXT)
    there = replaced(remote, urls=(plain.as_uri(),))
    assert _download.read_remote(there, tmp_path / "home") == TEXT


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"sha256": "0" * 64}, "checksum"), ({"sha256": None, "n_lines": 6}, "5 lines")],
)
def test_wrong_content_is_refused_and_not_kept(remote, tmp_path, changes, reason):
    home = tmp_path / "home"
    with pytest.raises(OSError, match=reason):
        _download.read_remote(replaced(remote, **changes), home)
    assert not list(home.rglob("*corpus*"))


@pytest.mark.parametrize("end", [-5, 12, 30])
def test_broken_archive_is_refused(remote, tmp_path, end):
    broken = tmp_path / "broken.gz"
    broken.write_bytes(gzip.compress(TEXT)[:end] + b"\x00")
    with pytest.raises(OSError, match=r"Could not download some/corpus\.txt\.gz"):
        _download.read_remote(
            replaced(remote, urls=(broken.as_uri(),)), tmp_path / "home"
        )


def test_next_home_is_tried_when_one_fails(remote, tmp_path):
    wrong = tmp_path / "wrong.txt"
    wrong.write_bytes(b"not found")
    missing = (tmp_path / "missing").as_uri()
    urls = (missing, wrong.as_uri(), *remote.urls)
    there = replaced(remote, urls=urls)
    assert _download.read_remote(there, tmp_path / "home") == TEXT
    with pytest.raises(OSError, match=r"(?s)missing.*wrong\.txt"):
        _download.read_remote(replaced(remote, urls=urls[:2]), tmp_path / "other")


def test_failed_write_leaves_nothing_behind(remote, tmp_path, monkeypatch):
    monkeypatch.setattr(_download.gzip, "compress", lambda *_, **__: "not bytes")
    with pytest.raises(TypeError):
        _download.read_remote(remote, tmp_path / "home")
    assert not [p for p in (tmp_path / "home").rglob("*") if p.is_file()]


def test_local_folder_comes_first(remote, tmp_path, monkeypatch):
    folder = tmp_path / "local"
    (folder / "some").mkdir(parents=True)
    monkeypatch.setenv("SKCRF_SDCA_DATA", str(folder))
    # No local file: the function downloads.
    assert _download.read_remote(remote, tmp_path / "home") == TEXT
    (folder / "some" / "corpus.txt.gz").write_bytes(gzip.compress(b"local"))
    assert _download.read_remote(remote, tmp_path / "home") == b"local"


def test_unpacked_files_are_found_in_both_folders(remote, tmp_path, monkeypatch):
    home, local = tmp_path / "home", tmp_path / "local"
    nowhere = replaced(remote, urls=())
    for folder, content in ((home / "skcrf_sdca", b"home"), (local, b"local")):
        (folder / "some").mkdir(parents=True)
        (folder / "some" / "corpus.txt").write_bytes(content)
    assert _download.read_remote(nowhere, home) == b"home"
    monkeypatch.setenv("SKCRF_SDCA_DATA", str(local))
    assert _download.read_remote(nowhere, home) == b"local"


@pytest.mark.parametrize("download", [False, True])
def test_the_folders_that_lack_a_file_are_named(
    download, remote, tmp_path, monkeypatch
):
    missing = (tmp_path / "missing").as_uri()
    there, home = replaced(remote, urls=(missing,)), tmp_path / "home"
    with pytest.raises(OSError, match=r"SKCRF_SDCA_DATA names \(not set\)"):
        _download.read_remote(there, home, download)
    monkeypatch.setenv("SKCRF_SDCA_DATA", str(tmp_path / "local"))
    with pytest.raises(OSError, match=r"corpus\.txt\.gz, .* without") as caught:
        _download.read_remote(there, home, download)
    places = [tmp_path / "local", home / "skcrf_sdca", *([missing] if download else [])]
    assert all(str(place) in str(caught.value) for place in places)


FETCHERS = [fetch_conll2000, fetch_conll2002, fetch_ocr_letters]


@pytest.mark.parametrize("fetch", FETCHERS)
def test_missing_data_without_download_is_an_error(fetch, tmp_path, no_local_folder):
    with pytest.raises(OSError, match="download_if_missing is False"):
        fetch(data_home=tmp_path, download_if_missing=False)


@pytest.mark.parametrize("fetch", FETCHERS)
def test_unreachable_hosts_are_named(fetch, tmp_path, no_local_folder, monkeypatch):
    def no_network(url, timeout):
        raise URLError("no network")

    monkeypatch.setattr(_download, "urlopen", no_network)
    with pytest.raises(OSError, match=r"http.*no network"):
        fetch(data_home=tmp_path)


@pytest.mark.parametrize("fetch", FETCHERS)
def test_unknown_subset_is_an_error(fetch):
    with pytest.raises(ValueError, match=r"subset must be one of .*'train'.*'dev'"):
        fetch(subset="dev")


def test_unknown_language_is_an_error():
    with pytest.raises(ValueError, match="language must be one of"):
        fetch_conll2002(language="de")


# --- formats -------------------------------------------------------------------------


def local_corpus(folder, path, content, monkeypatch):
    file = folder / path
    file.parent.mkdir(parents=True)
    file.write_bytes(gzip.compress(content))
    monkeypatch.setenv("SKCRF_SDCA_DATA", str(folder))


def test_sentences_are_read(tmp_path, monkeypatch):
    local_corpus(tmp_path, "conll2000/test.txt.gz", TEXT, monkeypatch)
    data = fetch_conll2000(subset="test")
    assert data.X == [
        [{"word": "Rockwell", "pos": "NNP"}, {"word": "said", "pos": "VBD"}],
        [{"word": ".", "pos": "."}],
    ]
    assert data.y == [["B-NP", "B-VP"], ["O"]]
    assert data.target_names == ["B-NP", "B-VP", "O"]
    assert fetch_conll2000(subset="test", return_X_y=True) == (data.X, data.y)


DUTCH = "-DOCSTART- -DOCSTART- O\nBelgië N B-LOC\n\nprêt-à-porter N O\n"


@pytest.mark.parametrize(
    "content",
    [
        DUTCH.encode("latin-1"),
        DUTCH.encode("utf-8"),
        DUTCH.encode("utf-8").decode("latin-1").encode("utf-8"),
        DUTCH.replace("\n", "\r\n").encode("utf-8"),
    ],
    ids=["latin-1", "utf-8", "utf-8 twice", "crlf"],
)
def test_dutch_words_are_the_same_in_every_encoding(content, tmp_path, monkeypatch):
    local_corpus(tmp_path, "conll2002/ned.testa.gz", content, monkeypatch)
    X, y = fetch_conll2002(subset="testa", return_X_y=True)
    assert [[token["word"] for token in sentence] for sentence in X] == [
        ["België"],
        ["prêt-à-porter"],
    ]
    assert y == [["B-LOC"], ["O"]]


def test_words_may_hold_a_no_break_space(tmp_path, monkeypatch):
    content = "10\xa0000 Num O\n".encode()
    local_corpus(tmp_path, "conll2002/ned.testb.gz", content, monkeypatch)
    X, y = fetch_conll2002(subset="testb", return_X_y=True)
    assert (X, y) == ([[{"word": "10\xa0000", "pos": "Num"}]], [["O"]])


def test_letters_are_read_fold_by_fold(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    pixels = rng.integers(2, size=(5, 128))
    words = [("ab", 0), ("c", 7), ("de", 3)]
    lines, row = [], 0
    for word_id, (word, fold) in enumerate(words):
        for position, letter in enumerate(word):
            next_id = -1 if position + 1 == len(word) else row + 2
            head = [row + 1, letter, next_id, word_id, position + 1, fold]
            lines.append("\t".join(map(str, [*head, *pixels[row]])) + "\t\n")
            row += 1
    content = "".join(lines).encode()
    local_corpus(tmp_path, "ocr/letter.data.gz", content, monkeypatch)
    monkeypatch.setattr(_ocr, "_N_WORDS", {"train": 2, "test": 1})
    train, test = fetch_ocr_letters(), fetch_ocr_letters(subset="test")
    assert train.y == [["c"], ["d", "e"]]
    assert test.y == [["a", "b"]]
    np.testing.assert_array_equal(test.X[0], pixels[:2])
    np.testing.assert_array_equal(np.vstack(train.X), pixels[2:])
    assert train.X[0].dtype == np.float64
    monkeypatch.setattr(_ocr, "_N_WORDS", {"train": 3})
    with pytest.raises(OSError, match="2 words in the train part"):
        fetch_ocr_letters()


# --- the real files ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("subset", "n_sentences", "n_tokens", "n_labels"),
    [("train", 8_936, 211_727, 22), ("test", 2_012, 47_377, 19)],
)
def test_conll2000(data_folder, subset, n_sentences, n_tokens, n_labels):
    data = fetch_conll2000(subset=subset, download_if_missing=False)
    assert len(data.X) == len(data.y) == n_sentences
    assert [len(x) for x in data.X] == [len(labels) for labels in data.y]
    assert sum(map(len, data.y)) == n_tokens
    assert len(data.target_names) == n_labels
    assert {"B-NP", "I-NP", "O"} <= set(data.target_names)


@pytest.mark.parametrize("subset", ["train", "test"])
def test_recorded_digests_of_conll2000(data_folder, subset):
    content = (data_folder / "conll2000" / f"{subset}.txt.gz").read_bytes()
    digest = hashlib.sha256(gzip.decompress(content)).hexdigest()
    assert digest == _conll._CHUNKING_DIGESTS[subset]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("subset", "n_sentences", "n_tokens"),
    [("train", 15_806, 202_644), ("testa", 2_895, 37_687), ("testb", 5_195, 68_875)],
)
def test_conll2002(data_folder, subset, n_sentences, n_tokens):
    data = fetch_conll2002(subset=subset, download_if_missing=False)
    assert len(data.X) == n_sentences
    assert sum(map(len, data.y)) == n_tokens
    types = ["LOC", "MISC", "ORG", "PER"]
    labels = [f"{prefix}-{name}" for prefix in "BI" for name in types]
    assert data.target_names == [*labels, "O"]
    words = {token["word"] for sentence in data.X for token in sentence}
    assert "België" in words
    assert "-DOCSTART-" not in words


@pytest.mark.parametrize("subset", ["train", "testa", "testb"])
def test_recorded_digests_of_conll2002(data_folder, subset):
    content = (data_folder / "conll2002" / f"ned.{subset}.gz").read_bytes()
    text = _conll._decode(gzip.decompress(content))
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
    assert digest == _conll._ENTITY_DIGESTS["nl"][subset]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("subset", "n_words", "n_letters"),
    [("train", 6_251, 47_535), ("test", 626, 4_617)],
)
def test_ocr_letters(data_folder, subset, n_words, n_letters):
    data = fetch_ocr_letters(subset=subset, download_if_missing=False)
    assert len(data.X) == len(data.y) == n_words
    assert all(
        x.shape == (len(word), 128) for x, word in zip(data.X, data.y, strict=True)
    )
    assert sum(map(len, data.y)) == n_letters
    assert {letter for word in data.y for letter in word} == set(data.target_names)
    assert "".join(data.y[0]) == "ommanding"
    np.testing.assert_array_equal(np.unique(np.vstack(data.X)), [0.0, 1.0])


def test_number_of_letters_is_that_of_both_parts():
    assert _ocr._LETTERS.n_lines == 47_535 + 4_617
