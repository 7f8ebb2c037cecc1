"""The list of mistakes in spans."""

from collections import Counter

import pytest

from skcrf_sdca import LBFGSCRF, SDCACRF, SequenceVectorizer, make_tagger
from skcrf_sdca.inspection import span_errors
from skcrf_sdca.metrics import extract_spans

WORDS = [["Ada", "met", "Bob", "Roe"], ["Bob", "Roe", "ran"], ["ran"]] * 3
X = [[{"word": word} for word in sentence] for sentence in WORDS]
Y = [["B-P", "O", "B-P", "I-P"], ["B-P", "I-P", "O"], ["O"]] * 3


@pytest.fixture(scope="module")
def tagger():
    return make_tagger(SequenceVectorizer(), LBFGSCRF(alpha=0.01)).fit(X, Y)


@pytest.mark.parametrize(
    ("labels", "mistake", "true", "predicted"),
    [
        (["O", "O", "B-P", "I-P"], "false", None, ("P", 0, 1)),
        (["B-P", "B-P", "B-P", "I-P"], "missed", ("P", 1, 2), None),
        (["B-Q", "O", "B-P", "I-P"], "type", ("Q", 0, 1), ("P", 0, 1)),
        (["B-P", "O", "O", "B-P"], "bounds", ("P", 3, 4), ("P", 2, 4)),
        (["B-P", "B-Q", "I-Q", "O"], "bounds and type", ("Q", 1, 3), ("P", 2, 4)),
    ],
)
def test_each_mistake(tagger, labels, mistake, true, predicted):
    (error,) = span_errors(tagger, X[:1], [labels], tokens=WORDS[:1])
    assert error[:4] == (0, mistake, true, predicted)
    spans = [span for span in (true, predicted) if span]
    found = tagger.span_proba(X[:1] * len(spans), [[span] for span in spans])
    values = dict(zip(spans, [own[0] for own in found], strict=True))
    assert error.p_true == values.get(true, 0.0)
    assert error.p_predicted == values.get(predicted, 0.0)


def test_the_text_has_the_spans_in_brackets(tagger):
    labels = ["B-P", "B-Q", "I-Q", "O"]
    (error,) = span_errors(tagger, X[:1], [labels], tokens=WORDS[:1])
    assert error.text == "Ada [met Bob Roe]"
    (error,) = span_errors(
        tagger, X[:1], [["O", "O", "B-P", "I-P"]], tokens=WORDS[:1], window=1
    )
    assert error.text == "[Ada] met"
    assert span_errors(tagger, X[:1], [labels])[0].text == ""


def test_every_wrong_span_is_in_one_error_and_the_surest_come_first(tagger):
    y = [["O", "B-P", "I-P", "O"], ["B-P", "O", "B-Q"], ["B-P"]] * 3
    errors = span_errors(tagger, X, y)
    surprises = [error.surprise for error in errors]
    assert surprises == sorted(surprises, reverse=True)
    assert all(
        error.surprise == (error.p_predicted if error.predicted else 1 - error.p_true)
        for error in errors
    )
    true, predicted = extract_spans(y), extract_spans(tagger.predict(X).tolist())
    for found, own, others in (
        ([e[::2][:2] for e in errors if e.true], true, predicted),
        ([(e[0], e[3]) for e in errors if e.predicted], predicted, true),
    ):
        wrong = [
            (i, span)
            for i, (spans, right) in enumerate(zip(own, others, strict=True))
            for span in spans
            if span not in right
        ]
        assert Counter(found) == Counter(wrong)


def test_no_mistakes_and_wrong_arguments(tagger):
    assert span_errors(tagger, X, Y) == []
    with pytest.raises(ValueError, match="X has 9 sequences, but y has 8"):
        span_errors(tagger, X, Y[:-1])
    with pytest.raises(ValueError, match="tokens"):
        span_errors(tagger, X, Y, tokens=WORDS[1:] + WORDS[:1])
    with pytest.raises(TypeError, match="X: sequence 0"):
        span_errors(tagger, ["a"], Y[:1])
    with pytest.raises(ValueError, match="E-P"):
        span_errors(tagger, X[:1], [["B-P", "E-P", "O", "O"]])


def test_tokens_may_have_different_numbers_of_features():
    X, y = [[["cap", "w=Anna"], ["w=ran"]]] * 4, [["B-PER", "O"]] * 4
    crf = SDCACRF(random_state=0).fit(X, y)
    (error,) = span_errors(crf, X[:1], [["O", "O"]])
    assert (error.mistake, error.predicted) == ("false", ("PER", 0, 1))
