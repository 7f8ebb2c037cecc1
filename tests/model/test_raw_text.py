"""Raw text in, spans out: cut as in the training, by a Tagger and by a Predictor."""

import io
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import FunctionTransformer

from skcrf_sdca import (
    SDCACRF,
    GraphCRF,
    SegmentCRF,
    SequenceVectorizer,
    load_model,
    make_tagger,
    save_model,
)
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.serving import Predictor
from skcrf_sdca.text import (
    TokenFeatures,
    char_spans,
    extract_spans,
    read_corpus,
    tokenize,
)

X = [["Anna", "lives", "in", "Basel", "."], ["She", "left", "."]] * 9
Y = [["B-PER", "O", "O", "B-LOC", "O"], ["O", "O", "O"]] * 9
POS = [["PROPN", "VERB", "ADP", "PROPN", "PUNCT"], ["PRON", "VERB", "PUNCT"]] * 9
TEXT = "Anna  lives in Basel.\r\n\n  She left Bern ."
NUMBERS = {name: k for k, name in enumerate(["O", "B-PER", "B-LOC"])}


def crf(**parameters):
    return SDCACRF(alpha=0.01, tol=0.1, random_state=0, **parameters)


def fitted(y=Y, *, last=None, tokens=None, **parameters):
    last = crf(**parameters) if last is None else last
    return make_tagger(TokenFeatures(), last, tokens=tokens).fit(X, y)


BIOES = [[label.replace("B-", "S-") for label in labels] for labels in Y]
AS_NUMBERS = [[NUMBERS[label] for label in labels] for labels in Y]
TAGGERS = {
    "BIO": lambda: fitted(transitions="BIO"),
    "BIOES, which is not said": lambda: fitted(BIOES),
    "numbers with names": lambda: fitted(AS_NUMBERS, label_names=list(NUMBERS)),
    "numbers": lambda: fitted(AS_NUMBERS),
    "parts of speech": lambda: fitted(POS),
    "scores": lambda: fitted(loss="hinge"),
}
WITHOUT_SPANS = {"numbers", "parts of speech"}


@pytest.mark.parametrize("name", TAGGERS)
def test_a_text_has_the_labels_and_the_spans_of_its_tokens(name):
    tagger = TAGGERS[name]()
    tagged = tagger.tag(TEXT)
    assert tagged.pattern == "words"
    words = [["Anna", "lives", "in", "Basel", "."], ["She", "left", "Bern", "."]]
    assert [sentence.tokens for sentence in tagged.sentences] == words
    for sentence in tagged.sentences:
        assert [TEXT[b:e] for b, e in sentence.offsets] == sentence.tokens
    labels = tagger.predict(words).tolist()
    assert [sentence.labels for sentence in tagged.sentences] == labels
    if name in WITHOUT_SPANS:
        assert tagged.spans is None
        return
    assert [(span.type, span.text) for span in tagged.spans][:2] == [
        ("PER", "Anna"),
        ("LOC", "Basel"),
    ]
    scheme = "BIOES" if name.startswith("BIOES") else None
    if name == "scores":
        found = [[(*s, None) for s in extract_spans(own)] for own in labels]
    else:
        found = tagger.predict_spans(words, scheme=scheme)
    places = [sentence.offsets for sentence in tagged.sentences]
    expected = [s for own in map(char_spans, found, places) for s in own]
    assert [span[:4] for span in tagged.spans] == expected
    assert all(TEXT[span.begin : span.end] == span.text for span in tagged.spans)


def without_proba(tagged):
    spans = tagged.spans and [(*s[:3], s.text) for s in tagged.spans]
    return spans, tagged.sentences, tagged.pattern


@pytest.mark.parametrize("name", TAGGERS)
def test_a_predictor_answers_as_the_tagger(name):
    tagger = TAGGERS[name]()
    save_model(tagger, file := io.BytesIO())
    expected = tagger.tag(TEXT)
    for predictor in Predictor.from_estimator(tagger), Predictor.load(file.getvalue()):
        found = predictor.tag(TEXT)
        assert without_proba(found) == without_proba(expected)
        if name not in WITHOUT_SPANS | {"scores"}:
            np.testing.assert_allclose(
                [span.probability for span in found.spans],
                [span.probability for span in expected.spans],
                rtol=1e-10,
            )


def test_features_may_be_made_by_a_function_of_words():
    def lowered(X):
        return [[{"w": word.lower()} for word in words] for words in X]

    tagger = make_tagger(FunctionTransformer(lowered), crf()).fit(X, Y)
    (span,) = tagger.tag("Anna left .").spans
    assert (span.type, span.text) == ("PER", "Anna")
    # Dicts are no words: the step says what to do.
    dicts = make_tagger(SequenceVectorizer(), crf()).fit(lowered(X), Y)
    with pytest.raises(TypeError, match=r"make_tagger\(TokenFeatures\(\), ...\)"):
        dicts.tag(TEXT)


def test_segments_are_spans():
    tagger = fitted(last=SegmentCRF(tol=0.1, random_state=0))
    (span, *_) = tagger.tag(TEXT).spans
    assert (span.type, span.begin, span.end, span.text) == ("PER", 0, 4, "Anna")


@pytest.mark.parametrize("pattern", [None, "words", "blanks", "characters", r"\w+"])
def test_the_way_of_cutting_is_a_part_of_the_model(pattern):
    tagger = fitted(tokens=pattern)
    save_model(tagger, file := io.BytesIO())
    cut_by = "words" if pattern is None else pattern
    expected = [word for x in TEXT.split("\n") for word in tokenize(x, cut_by)[0]]
    models = [
        tagger,
        load_model(file.getvalue()),
        pickle.loads(pickle.dumps(tagger)),
        clone(tagger).fit(X, Y),
        Predictor.load(file.getvalue()),
        pickle.loads(pickle.dumps(Predictor.from_estimator(tagger))),
    ]
    for model in models:
        found = model.tag(TEXT)
        assert found.pattern == cut_by
        assert [w for sentence in found.sentences for w in sentence.tokens] == expected
        # Whoever asks may say otherwise.
        assert model.tag(TEXT, tokens="blanks").sentences[0].tokens[-1] == "Basel."
    assert models[1].tokens == models[3].tokens == pattern


def test_a_corpus_tells_how_its_texts_were_cut():
    records = [("Anna left Basel.", [(0, 4, "PER"), (10, 15, "LOC")])]
    *_, reading = read_corpus(records, tokens="characters", return_reading=True)
    assert reading.tokens == "characters"
    assert "tokens" not in reading.guesses
    X, y, reading = read_corpus(records, return_reading=True)
    assert reading.tokens == "words"
    assert "tokens: words (tokens= says otherwise)" in str(reading)
    tagger = make_tagger(TokenFeatures(), crf(), tokens=reading.tokens).fit(X, y)
    assert [own.tokens for own in tagger.tag("Anna left Basel.").sentences] == [
        [token["word"] for token in X[0]]
    ]
    lines = io.StringIO("Anna B-PER\nleft O\n\nAnna B-PER\nleft O\n")
    *_, reading = read_corpus(lines, return_reading=True)
    # A file of columns does not say which program made its tokens.
    assert reading.tokens is None


def test_a_pickle_from_before_the_parameter_does_not_know():
    tagger = fitted()
    del vars(tagger)["tokens"]
    old = pickle.loads(pickle.dumps(tagger))
    assert old.tokens is None
    assert old.get_params()["tokens"] is None
    assert old.tag(TEXT).pattern == "words"


@pytest.mark.parametrize("text", ["", " \n\r\n "])
def test_a_text_without_tokens_has_no_sentences(text):
    tagger = fitted()
    for model in tagger, Predictor.from_estimator(tagger):
        assert model.tag(text) == ([], [], "words")
    assert fitted(POS).tag(text).spans is None


def test_lists_of_words_are_asked_for_where_a_text_came():
    tagger = fitted()
    predictor = Predictor.from_estimator(tagger)
    for method in predictor.predict_one, predictor.spans, predictor.marginals:
        with pytest.raises(TypeError, match="list of tokens.*; tag takes a text, and"):
            method("Anna lives")
    with pytest.raises(TypeError, match="list of sequences of tokens. tag takes a tex"):
        tagger.predict("Anna lives")
    for wrong in ["Anna lives"], [*X, "Anna lives"]:
        with pytest.raises(TypeError, match=r"list of tokens \(tag takes a text, and"):
            tagger.predict(wrong)
    with pytest.raises(TypeError, match=r"wrap it in a list: \[X\]"):
        tagger.predict(["Anna", "lives"])


@pytest.mark.parametrize(
    ("tokens", "error", "message"),
    [
        ("word", ValueError, "tokens: there is no 'word'; did you mean 'words'"),
        ("(", ValueError, "tokens: no regular expression: "),
        (3, TypeError, "tokens is of type int 3; it must be 'words', "),
    ],
)
def test_what_cuts_no_text_is_refused(tokens, error, message):
    tagger = fitted()
    predictor = Predictor.from_estimator(tagger)
    for call in (
        lambda: tagger.tag(TEXT, tokens=tokens),
        lambda: predictor.tag(TEXT, tokens=tokens),
        lambda: clone(tagger).set_params(tokens=tokens).fit(X, Y),
        lambda: save_model(fitted().set_params(tokens=tokens), io.BytesIO()),
    ):
        with pytest.raises(error, match=message):
            call()


def test_a_model_that_takes_no_words_says_so():
    tagger = fitted()
    for model in tagger, Predictor.from_estimator(tagger):
        with pytest.raises(TypeError, match="text is a list of str; it must be a str"):
            model.tag(["Anna"])
        with pytest.raises(ValueError, match="got 'BILU'; did you mean"):
            model.tag(TEXT, scheme="BILU")
    two = TokenFeatures(["word", "pos"], columns=("word", "pos"))
    tagger = make_tagger(two, crf()).fit([[("Anna", "N")]] * 9, [["B-PER"]] * 9)
    for model in tagger, Predictor.from_estimator(tagger):
        with pytest.raises(ValueError, match="read the columns word, pos of each"):
            model.tag(TEXT)
    named = make_tagger(TokenFeatures(["form"], columns=("form",)), crf()).fit(X, Y)
    assert named.tag("Anna").sentences[0].labels == ["B-PER"]
    strings = crf().fit([[["w=Anna"]]] * 9, [["B-PER"]] * 9)
    with pytest.raises(ValueError, match="the model has no TokenFeatures"):
        Predictor.from_estimator(strings).tag(TEXT)
    graph = Tagger([("vectorizer", SequenceVectorizer()), ("crf", GraphCRF())])
    assert not hasattr(graph, "tag")
    with pytest.raises(AttributeError, match="of type GraphCRF, lacks 'predict_spans'"):
        graph.tag(TEXT)
    with pytest.raises(NotFittedError):
        make_tagger(TokenFeatures(), crf()).tag(TEXT)
