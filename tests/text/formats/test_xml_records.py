"""Annotations in XML: BioC, and UIMA CAS in XMI."""

import io

import pytest

from skcrf_sdca.text import ReadingWarning, read_corpus

XMI = (
    '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:x="http:///x.ecore">{}'
    '<x:Sofa xmi:id="1" sofaString="Ann ran home."/></xmi:XMI>'
)
ANN = '<x:{} xmi:id="7" sofa="1" begin="0" end="3" {}/>'
GRAMMAR = "".join(
    ANN.format(name, 'value="y"')
    for name in ("Lemma", "POS", "POS_NOUN", "Sentence", "DocumentMetaData", "Stem")
)


def xmi(*notes, **options):
    """Return the labels as one list, and what was read."""
    text = XMI.format("".join(notes))
    X, y, reading = read_corpus(
        io.StringIO(text), "xmi", return_reading=True, **options
    )
    return sum(y, []), reading


@pytest.mark.parametrize(
    ("notes", "options", "label"),
    [
        ([ANN.format("NamedEntity", 'value="PER"')], {}, "PER"),
        ([GRAMMAR, ANN.format("Person", "")], {}, "Person"),
        ([GRAMMAR, ANN.format("Person", 'label="p"')], {}, "p"),
        ([ANN.format("Person", 'kind="p" value="q"')], {"attribute": "kind"}, "p"),
        ([ANN.format("Person", 'value="q"')], {"attribute": ""}, "Person"),
        ([GRAMMAR, ANN.format("Person", "")], {"types": ["POS"]}, "y"),
        ([ANN.format("NamedEntity", ""), ANN.format("Person", "")], {}, "NamedEntity"),
    ],
)
def test_spans_are_what_is_no_grammar(notes, options, label):
    found, reading = xmi(*notes, **options)
    assert found == [f"B-{label}", "O", "O", "O"]
    assert reading.messages() == []
    assert ("elements" in reading.guesses) == ("types" not in options)


def test_texts_without_spans_are_told():
    with pytest.warns(
        ReadingWarning, match="no annotation is a span; types= names some"
    ):
        assert set(xmi(GRAMMAR)[0]) == {"O"}
    with pytest.warns(ReadingWarning, match="no annotation is a span; .*: Person."):
        xmi(ANN.format("Person", ""), types=["Place"])


def test_annotations_are_of_their_own_text():
    note = ANN.format("NamedEntity", 'value="PER"')
    other = '<x:Sofa xmi:id="2" sofaString="Bob ran."/>'
    assert xmi(note, other)[0] == ["O", "O", "O", "B-PER", "O", "O", "O"]


@pytest.mark.parametrize(
    ("note", "message"),
    [
        ('begin="8" end="99"', "1 span cut: they end after the text"),
        ('begin="99" end="105"', "1 span left out: they are outside of the text"),
        ('begin="9" end="3"', "1 span left out: they have no text"),
    ],
)
def test_offsets_outside_of_the_text_are_told(note, message):
    note = f'<x:NamedEntity sofa="1" {note} value="PER"/>'
    with pytest.warns(ReadingWarning, match=message):
        xmi(note)


def test_tokens_outside_of_the_text_are_told():
    tokens = '<x:Token begin="0" end="3"/><x:Token begin="4" end="99"/>'
    with pytest.warns(ReadingWarning, match="1 token left out: they are outside of"):
        assert xmi(tokens, ANN.format("NamedEntity", 'value="PER"'))[0] == ["B-PER"]


@pytest.mark.parametrize(
    "bad", ['begin="x" end="3"', 'begin="0"', 'begin="0" end="1.0"']
)
def test_offsets_that_are_no_numbers_are_refused(bad):
    with pytest.raises(ValueError, match=r"file: (begin|end) is .*, no whole number"):
        xmi(f'<x:NamedEntity sofa="1" {bad}/>')


NOTE = (
    '<annotation id="A1"><infon key="{}">PER</infon><location offset="{}" length="3"/>'
    "<text>Ann</text></annotation>"
)


def bioc(passage, **options):
    text = f"<collection><document><passage>{passage}</passage></document></collection>"
    return sum(read_corpus(io.StringIO(text), "bioc", **options)[1], [])


def test_annotations_of_bioc_are_of_the_passage_or_of_sentences():
    note = NOTE.format("type", 14)
    sentences = (
        "<sentence><offset>10</offset><text>Yes.</text></sentence>"
        "<sentence><offset>14</offset><text>Ann.</text>{}</sentence>"
    )
    expected = ["O", "O", "B-PER", "O"]
    assert bioc(sentences.format(note)) == expected
    whole = "<offset>10</offset><text>Yes. Ann.</text>" + NOTE.format("type", 15)
    assert bioc(whole) == bioc(whole + sentences.format("")) == expected
    with pytest.warns(ReadingWarning, match="1 annotation left out: .* without a text"):
        assert bioc(note + sentences.format("")) == ["O"] * 4


def test_the_infon_with_the_type_may_be_named():
    passage = "<offset>0</offset><text>Ann ran</text>" + NOTE.format("kind", 0)
    assert bioc(passage, attribute="kind") == ["B-PER", "O"]
    with pytest.raises(
        ValueError, match="annotation 'A1' has no infon 'type' among ki"
    ):
        bioc(passage)


@pytest.mark.parametrize(
    ("passage", "message"),
    [
        ("<offset>x</offset><text>Ann</text>", "offset is 'x', no whole number"),
        ("<text>Ann</text>" + NOTE.format("type", "y"), "offset is 'y', no whole"),
    ],
)
def test_wrong_numbers_of_bioc_are_refused(passage, message):
    with pytest.raises(ValueError, match=f"file: {message}"):
        bioc(passage)


def test_passages_in_others_are_read_once():
    text = "<a><passage><text>a</text><passage><text>b</text></passage></passage></a>"
    X = read_corpus(io.StringIO(text), "bioc", labelled=False)
    assert X == [[{"word": "a"}], [{"word": "b"}]]
