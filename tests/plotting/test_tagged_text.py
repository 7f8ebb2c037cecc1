"""Tagged sentences as HTML."""

from html.parser import HTMLParser

import pytest

from skcrf_sdca.plotting import TaggedText

EVIL = '<script>alert("x")</script>'


class Reader(HTMLParser):
    """The tags, the attributes and the text of HTML."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.titles, self.text = [], [], ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.titles += [value for name, value in attributes if name == "title"]

    def handle_data(self, data):
        self.text += data


def test_spans_are_marked_with_type_and_probability():
    tokens = [["Ada", "Lovelace", "met", "Bob"], ["rain"]]
    spans = [[("LOC", 3, 4), ("PER", 0, 2, 0.9561, "Ada Lovelace")], []]
    shown = TaggedText(tokens, spans)
    assert repr(shown) == "[Ada Lovelace PER 0.96] met [Bob LOC]\nrain"
    read = Reader(shown._repr_html_())
    assert read.tags.count("mark") == 2
    assert read.tags.count("div") == 2
    assert read.titles == ["PER: 0.956", "LOC"]
    assert read.text == "Ada Lovelace PER met Bob LOC\nrain"
    assert shown.colors["PER"] != shown.colors["LOC"]


@pytest.mark.parametrize("evil", [EVIL, '"><img src=x>', "a & b", "&lt;b&gt;", "'"])
def test_tokens_types_and_colors_are_only_text(evil):
    spans, colors = [[(evil, 0, 1, 0.5)]], {evil: evil}
    read = Reader(TaggedText([[evil, evil]], spans, colors=colors).html)
    assert set(read.tags) == {"div", "mark", "small", "b"}
    assert read.text == f"{evil} {evil} {evil}"
    assert read.titles == [f"{evil}: 0.500"]


def test_colors_of_the_user():
    shown = TaggedText([["a", "b"]], [[("X", 0, 1), ("Y", 1, 2)]], colors={"Y": "gold"})
    assert "background: gold" in shown.html
    assert shown.colors.keys() == {"X", "Y"}


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([[("X", 0, 2), ("Y", 1, 2)]], "two spans of sequence 0 overlap"),
        ([[("X", 0, 3)]], "goes from 0 to 3"),
        ([[], []], "1 sequences, but spans has 2"),
        ([[(1, 0)]], "span 0 is"),
    ],
)
def test_errors_name_the_span(spans, message):
    with pytest.raises(ValueError, match=message):
        TaggedText([["a", "b"]], spans)
