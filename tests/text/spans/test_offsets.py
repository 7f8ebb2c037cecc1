"""Tokens of raw text, and spans by characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcrf_sdca.text import align_spans, char_spans, token_offsets, tokenize

texts = st.text("ab -'é,.\n\t京", max_size=30)


@given(texts, st.sampled_from([None, r"\S+"]))
def test_tokens_are_where_their_offsets_say_and_only_blanks_are_between(text, pattern):
    tokens, offsets = tokenize(text) if pattern is None else tokenize(text, pattern)
    assert tokens == [text[begin:end] for begin, end in offsets]
    assert "".join(tokens) == "".join(text.split())
    assert token_offsets(text, tokens) == offsets


def test_words_keep_apostrophes_and_hyphens():
    assert tokenize("Anna's e-mail, 3.5!")[0] == [
        *("Anna's", "e-mail", ",", "3.5", "!")
    ]


@given(texts.filter(lambda text: text.strip()), st.data())
def test_spans_of_tokens_and_characters_are_the_same_both_ways(text, data):
    tokens, offsets = tokenize(text)
    begin = data.draw(st.integers(0, len(tokens) - 1))
    end = data.draw(st.integers(begin + 1, len(tokens)))
    (found,) = char_spans([("X", begin, end, 0.5)], offsets)
    assert found == ("X", offsets[begin][0], offsets[end - 1][1], 0.5)
    assert align_spans([found], offsets) == ([("X", begin, end)], [])


def test_spans_that_do_not_meet_the_bounds_of_tokens_are_returned():
    offsets = tokenize("Anna Meier lives")[1]
    spans = [(0, 10, "PER"), ("PER", 0, 9), ("PER", 1, 10), (4, 10, "PER", "note")]
    aligned, unaligned = align_spans(spans, offsets)
    assert aligned == [("PER", 0, 2)]
    assert unaligned == spans[1:]


@pytest.mark.parametrize("text", [None, b"a", ["a b"]], ids=repr)
def test_a_text_is_a_str(text):
    with pytest.raises(TypeError, match="text is .*; it must be a str"):
        tokenize(text)


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="item 1, 'a', is not in the text from"):
        token_offsets("a b", ["a", "a"])
    with pytest.raises(ValueError, match="item 0, '', is not in the text"):
        token_offsets("a", [""])
    with pytest.raises((TypeError, ValueError), match=r"span 0 is \(1, 2\); it must"):
        align_spans([(1, 2)], [])
    with pytest.raises(ValueError, match="span 0 goes from 0 to 2, but 0 <= begin"):
        char_spans([("X", 0, 2)], [(0, 1)])
