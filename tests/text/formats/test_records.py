"""Records: the table of their forms, and what is guessed, left out and refused."""

import ast
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairs import in_one_test
from skcrf_sdca.text import ReadingWarning, read_corpus
from skcrf_sdca.text.formats.record_forms import FORMS, HOLDERS

WORDS, LABELS = [["Anna", "left"]], [["B-PER", "O"]]


def read(*records, **options):
    """Return the labels and the Reading of records, as lines of JSON."""
    text = "".join(f"{json.dumps(own)}\n" for own in records)
    _, y, reading = read_corpus(
        io.StringIO(text), "json", return_reading=True, **options
    )
    return y, reading


@in_one_test("name", [name for name in FORMS if name != "doc"])
def test_the_example_of_each_form_is_read(name):
    record = ast.literal_eval(FORMS[name].example)
    for form in None, name:
        X, y, reading = read_corpus([record], form=form, return_reading=True)
        assert [[token["word"] for token in own] for own in X] == WORDS
        assert y == LABELS
        assert reading.taken["form"].split(", ")[0] == name
        assert reading.guesses["form"] == "form"
    assert len(read_corpus([record], labelled=False)) == 1


def test_a_form_of_inner_records_may_be_given():
    record = {"documents": [{"text": "Anna left", "tags": "B O", "spans": []}]}
    assert read(record)[0] == [["B", "O"]]
    assert read(record, form="spans")[0] == [["O", "O"]]
    assert "list" in HOLDERS
    with pytest.raises(
        ValueError, match="form='scierc', as .* lacks a field 'sentences"
    ):
        read(record, form="scierc")
    with pytest.raises(ValueError, match=r"no form 'span'; did you mean 'spans'\?"):
        read(record, form="span")


def test_forms_that_a_record_almost_has_are_listed():
    message = (
        r"record 0: no form fits a record with tokens, ents: form='tokens', as \{.*, "
        r"lacks labels of the tokens; form='token-spans', .*, lacks spans\. The field "
        "of labels or spans may be named by label="
    )
    with pytest.raises(ValueError, match=message):
        read({"tokens": ["a"], "ents": {}})
    message = "form='gliner', as .* lacks a field 'ner' of this form"
    with pytest.raises(ValueError, match=message):
        read({"tokenized_text": ["a"]})
    with pytest.raises(ValueError, match="a record without fields: form='tokens', as"):
        read({})


def test_the_line_names_the_form_and_the_fields():
    _, reading = read({"id": 1, "tokens": ["a", "b"], "ner_tags": ["X", "O"]})
    assert str(reading) == (
        "json: 1 sentence, 2 tokens, 2 labels; form: tokens (form= says otherwise), "
        "word: tokens, label: ner_tags (label= says otherwise)"
    )
    _, reading = read({"text": "a b", "ents": [[0, 1, "X"]], "x": []}, label="ents")
    assert str(reading).endswith("text: text, spans: ents")


def test_records_of_several_forms_are_told():
    records = {"text": "a b", "labels": ["X", "O"]}, {"text": "a b c", "labels": []}
    with pytest.warns(ReadingWarning, match="several forms: 1 of words, 1 of spans"):
        read(*records)


# Tasks --------------------------------------------------------------------------------


def result(begin, end, name="PER", **others):
    return {"value": {"start": begin, "end": end, "labels": [name], **others}}


def task(*annotations, text="Ann Lee ran", **others):
    return {"data": {"text": text}, "annotations": list(annotations), **others}


FIRST, TRUTH = {"result": [result(0, 3)]}, {"result": [result(0, 7)]}


@pytest.mark.parametrize(
    ("records", "labels", "message"),
    [
        ([task(FIRST, {**TRUTH, "ground_truth": True})], "BIO", None),
        ([task(FIRST, TRUTH)], "BOO", "1 task with several annotations: the first is"),
        ([task({**FIRST, "was_cancelled": True}, TRUTH)], "BIO", None),
        ([task(TRUTH), task()], "BIO", "1 task left out: it has no annotation"),
        ([task(TRUTH), task() | {"annotations": None}], "BIO", "no annotation"),
        (
            [task(TRUTH), task({**FIRST, "was_cancelled": True})],
            "BIO",
            "1 task left out: it was skipped; the first is file, line 2",
        ),
        ([task({"result": [{"type": "relation"}, {"value": {"choices": ["x"]}}]})],
         "OOO", None),
        ([task({"result": [result(9, 9, globalOffsets={"start": 0, "end": 7})]})],
         "BIO", None),
    ],
)  # fmt: skip
def test_tasks_of_label_studio_are_read_or_left_out(records, labels, message):
    if message is None:
        y, _ = read(*records)
    else:
        with pytest.warns(ReadingWarning, match=message):
            y, _ = read(*records)
    assert ["".join(label[0] for label in own) for own in y] == [labels]
    text = "".join(map(json.dumps, records))
    assert len(read_corpus(records, labelled=False)) == text.count("data")


def test_the_text_of_a_task_may_have_any_name():
    y, _ = read({"data": {"id": 3, "document": "Ann ran"}, "annotations": [FIRST]})
    assert y == [["B-PER", "O"]]


SPANS = [["PER", 0, 3]]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"annotation": None, "status": "Default"}, "it has no annotation"),
        ({"annotation": [], "status": "Default"}, "it has no annotation"),
        ({"annotation": SPANS, "status": "Discarded"}, "it was discarded"),
        ({"annotation": None}, "it has no annotation"),
        ({"entities": None, "id": 3}, "it has no annotation"),
    ],
)
def test_records_that_nobody_annotated_are_left_out(record, message):
    good = {"text": "Ann ran", "annotation": SPANS, "status": "Validated"}
    with pytest.warns(ReadingWarning, match=f"1 record left out: {message}; .* line 2"):
        y, _ = read(good, {"text": "Bo sat", **record})
    assert y == [["B-PER", "O"]]
    assert len(read_corpus([{"text": "Bo sat", **record}], labelled=False)) == 1


def test_rejected_records_of_prodigy_are_said():
    spans = [{"start": 0, "end": 3, "label": "PER"}]
    y, reading = read(
        {"text": "Ann ran", "spans": spans, "answer": "accept"},
        {"text": "Bo sat", "spans": [], "answer": "reject"},
        {"text": "Bo sat", "answer": "accept"},
    )
    assert y == [["B-PER", "O"], ["O", "O"]]
    assert reading.taken["not used"] == "1 rejected or ignored"


def test_records_without_a_field_of_spans_are_told():
    with pytest.warns(ReadingWarning, match="1 record without a field of spans: .* 2"):
        y, _ = read({"text": "Ann ran", "spans": SPANS}, {"text": "Bo sat"})
    assert y == [["B-PER", "O"], ["O", "O"]]


# Spans --------------------------------------------------------------------------------


def test_lines_of_tokens_and_spans_of_tokens_are_read():
    records = [
        {"tokens": ["Ann", "Lee"], "entities": [{"type": "PER", "start": 0, "end": 2}]},
        {"tokens": ["Bo"], "entities": []},
    ]
    numbered = [{"id": k, **own} for k, own in enumerate(records)]
    for own in records, numbered, [{**x, "entities": [["PER", 0, 1]]} for x in records]:
        y, reading = read(*own)
        assert y[0][0] == "B-PER"
        assert reading.taken["form"] == "token-spans"
    assert read(records[0])[0] == [["B-PER", "I-PER"]]


def test_tokens_with_offsets_and_no_text_have_spans_of_characters():
    tokens = [
        {"text": "Ann", "start": 0, "end": 3},
        {"text": "ran", "start": 4, "end": 7},
    ]
    y, _ = read({"tokens": tokens, "spans": [{"start": 4, "end": 7, "label": "X"}]})
    assert y == [["O", "B-X"]]
    with pytest.raises(ValueError, match="neither begins nor ends with tokens"):
        read({"tokens": tokens, "spans": [{"start": 4, "end": 6, "label": "X"}]})


def test_tokens_whose_offsets_count_other_units_are_found():
    text = "\U0001f44d Ann"
    tokens = [{"text": "Ann", "start": 3, "end": 6}]
    spans = [{"start": 3, "end": 6, "label": "X", "text": "Ann"}]
    y, _ = read({"text": text, "tokens": tokens, "spans": spans})
    assert y == [["B-X"]]


MOVED = {"start": 4, "end": 7, "text": "Ann"}
POINT = {"label": ["X"], "points": [{**MOVED, "end": 6}]}


@pytest.mark.parametrize(
    "fields",
    [
        {"spans": [{**MOVED, "label": "X"}]},
        {"entities": [{"start": 4, "end": 7, "entity": "X", "value": "Ann"}]},
        {"annotation": [POINT]},
        {"label": {"X": {"Ann": [[4, 6]]}}},
        {"annotations": [{"result": [result(4, 7, "X", text="Ann")]}]},
    ],
)
def test_texts_that_differ_from_their_offsets_are_told(fields):
    with pytest.warns(ReadingWarning, match="1 span moved: .* 'Ann' with 'ran'"):
        y, _ = read({"text": "Ann ran off", **fields})
    assert y == [["B-X", "O", "O"]]


def test_the_field_of_spans_may_be_named():
    record = {"text": "Ann ran", "entities": [], "gold": [[0, 3, "X"]]}
    assert read(record)[0] == [["O", "O"]]
    assert read(record, label="gold")[0] == [["B-X", "O"]]


def test_labels_of_tokens_that_are_mappings_may_be_named():
    tokens = [
        {"word": "Ann", "pos": "NNP", "ner": "X"},
        {"word": "ran", "pos": "VBD", "ner": "O"},
    ]
    assert read({"tokens": tokens})[0] == [["X", "O"]]
    y, _ = read({"tokens": tokens}, label="pos")
    assert y == [["NNP", "VBD"]]
    X, _ = read_corpus([tokens], columns=["pos"])
    assert X == [[{"word": "Ann", "pos": "NNP"}, {"word": "ran", "pos": "VBD"}]]


# What is refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"text": "a", "spans": [["0", "3", "PER"]]}',
            "a span needs its begin, end and",
        ),
        (
            '{"text": "a", "spans": [[0, 3.5, "PER"]]}',
            "a span needs its begin, end and",
        ),
        (
            '{"text": "a", "spans": [{"start": 0, "end": 1, "label": [[]]}]}',
            "a span needs",
        ),
        ('{"annotations": [[]]}', "no form fits a record with annotations"),
        ('{"text": "a", "annotations": [[]]}', "a span needs its begin, end and type"),
        ("[" * 100_000, "line 1: .*nested too deeply|line 1: no JSON"),
        ('{"a":' * 100_000, "line 1: .*nested too deeply|line 1: no JSON"),
        ('{"data": ' * 300 + "1" + "}" * 300, "record 0: "),
        (
            '[["a", "b"], ["c", "d"]]',
            "record 0: no form",
        ),
        ('[[["a", "N"], ["b", "V"]]]', "two tokens with labels, .* say form='rows' or"),
        ('{"sentences": [["a"], ["b"]], "ner": [[]]}', "2 sentences, but ner has 1"),
        ('{"tokens": [["a"], ["b"]], "tags": [["X"]]}', "other numbers of rows"),
        ('{"passages": [{"text": "a", "annotations": [{}]}]}', "no field 'locations'"),
        ('{"tokenized_text": ["a"], "ner": [[0]]}', "record 0: "),
        ('{"tokens": ["a"], "spans": [[0, 9, "X"]]}', "record 0: .* goes from 0 to 9"),
        ('{"tokens": ["a"], "x": {"a": 1}}', "record 0: no form fits"),
    ],
)
def test_wrong_json_is_a_value_error_with_the_record(text, message):
    options = {"label": "x"} if '"x"' in text else {}
    with pytest.raises(ValueError, match=message):
        read_corpus(io.StringIO(text), "json", **options)


def test_a_label_without_a_name_is_refused():
    for label in -1, 2:
        with pytest.raises(ValueError, match=f"label {label} has no name among"):
            read_corpus([{"tokens": ["a"], "tags": [label]}], label_names=["O", "X"])


KEYS = (
    "text tokens spans entities label labels annotations annotation data result value "
    "start end ner sentences passages offset locations infons type documents points "
    "tokenized_text text_snippet content status answer completions was_cancelled"
).split()
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 9)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "a", "a b", "B-X", "O", "0", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.filterwarnings("ignore::skcrf_sdca.text.ReadingWarning")
@given(
    st.lists(VALUES, min_size=1, max_size=3),
    st.booleans(),
    st.sampled_from([None, *FORMS]),
)
def test_any_json_is_read_or_a_value_error(records, labelled, form):
    text = "\n".join(map(json.dumps, records))
    try:
        found = read_corpus(io.StringIO(text), "json", labelled=labelled, form=form)
    except ValueError:
        return
    X, y = found if labelled else (found, found)
    assert list(map(len, X)) == list(map(len, y))


def test_arrays_of_numpy_are_lists():
    record = {"tokens": np.array(["a", "b"]), "ner_tags": np.array([1, 0])}
    assert read_corpus([record], label_names=["O", "X"])[1] == [["X", "O"]]
