"""Texts with markup: which elements are spans, and what their types are."""

import io

import pytest

from skcrf_sdca.text import ReadingWarning, read_corpus


def read(text, **options):
    """Return the labels as one list, and what was read."""
    X, y, reading = read_corpus(
        io.StringIO(text), "xml", return_reading=True, **options
    )
    return sum(y, []), reading


HAREM = (
    '<DOC><P><EM ID="1" CATEG="PESSOA" TIPO="A">Ana</EM> foi a '
    '<EM ID="2" CATEG="LOCAL">Faro</EM> .</P></DOC>\n'
)
CATEG = ["B-PESSOA", "O", "O", "B-LOCAL", "O"]


@pytest.mark.parametrize("attribute", [None, "CATEG", "categ"])
def test_an_attribute_has_the_types(attribute):
    found, reading = read(HAREM, attribute=attribute)
    assert found == CATEG
    assert reading.messages() == []
    expected = {None: "CATEG of EM"}.get(attribute)
    assert reading.taken.get("attribute") == expected


def test_the_names_of_elements_may_be_asked_for():
    assert read(HAREM, attribute="")[0] == ["B-EM", "O", "O", "B-EM", "O"]


def test_elements_without_the_attribute_are_told():
    text = HAREM.replace('CATEG="LOCAL"', "")
    with pytest.warns(ReadingWarning, match="1 element called by their names: they ha"):
        assert read(text, attribute="CATEG")[0] == ["B-PESSOA", "O", "O", "B-EM", "O"]


def test_an_attribute_with_several_values_is_told():
    text = HAREM.replace("CATEG", "kategorie")
    message = "all 2 spans are 'EM', but their attribute kategorie has 2 values, such"
    with pytest.warns(ReadingWarning, match=message):
        assert read(text)[0] == ["B-EM", "O", "O", "B-EM", "O"]
    assert read(text, attribute="kategorie")[0] == CATEG


@pytest.mark.parametrize(
    "text",
    [
        "<rs type='person'>Ann</rs> saw <rs type=place>Basel</rs>",
        '<ENAMEX TYPE = "person">Ann</ENAMEX> saw <TIMEX TYPE="place">Basel</TIMEX>',
        '<person data-type="x" n="type=y">Ann</person> saw <place>Basel</place>',
        '<person type="name">Ann</person> saw <place type="name">Basel</place>',
        '<e class="person">Ann</e> saw <e class="place">Basel</e>',
        '<e note="a>b" class="person">Ann</e> saw <e class="place">Basel</e>',
        "<person>Ann</person> saw <![CDATA[<]]><place>Basel</place>",
    ],
)
def test_types_are_attributes_or_names(text):
    found, reading = read(text)
    assert [label for label in found if label != "O"] == ["B-person", "B-place"]
    assert reading.messages() == []


def test_names_of_elements_are_of_any_script():
    assert read("<\u4eba\u540d>Ann</\u4eba\u540d> ran")[0] == ["B-\u4eba\u540d", "O"]


def test_comments_and_declarations_are_no_text():
    text = "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><!-- <X>no</X> -->yes"
    assert read_corpus(io.StringIO(text), "xml", labelled=False) == [[{"word": "yes"}]]


def test_elements_that_hold_others_are_spans_if_there_is_text_around():
    text = "<s><ORG>ETH <LOC>Basel</LOC></ORG> in <LOC>Rome</LOC>, <ORG>UN</ORG></s>"
    with pytest.warns(ReadingWarning, match="1 span left out: they overlap a longer"):
        found, reading = read(text)
    assert found == ["B-ORG", "I-ORG", "O", "B-LOC", "O", "B-ORG"]
    assert reading.taken["elements"] == "LOC ORG"
    assert reading.guesses["elements"] == "types"
    found, reading = read("<x><A>a</A> b</x>\n<x>c</x>")
    assert (found, reading.taken["elements"]) == (["B-A", "O", "O"], "A")


def test_spans_without_an_end_are_told():
    with pytest.warns(ReadingWarning, match="1 element left out: .* line 2.") as caught:
        assert read("<P><A>a</A>\n<P><A>b")[0] == ["B-A", "O"]
    assert len(caught) == 1


def test_types_that_no_element_has_are_told():
    with pytest.warns(ReadingWarning, match="types= names no element .* has: A."):
        assert read("<A>a</A>", types=["PER"])[0] == ["O"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n<!-- b", "line 2: '<!--' has no end"),
        ("a\n<![CDATA[ b", "line 2: .* has no end"),
        ("<!DOCTYPE a [ b", "line 1: .* has no end"),
        ("a\nb</A>", "line 2: '</A>' closes nothing"),
        ("<A><B></A></B>", "line 1: '</B>' closes nothing"),
    ],
)
def test_wrong_markup_is_named_with_the_line(text, message):
    with pytest.raises(ValueError, match=f"file, {message}"):
        read(text)
