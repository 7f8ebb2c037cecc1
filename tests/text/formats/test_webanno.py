"""Tables of WebAnno and INCEpTION: layers, features, stacked spans, parts of tokens."""

import io

import pytest

from skcrf_sdca.text import ReadingWarning, read_corpus

DKPRO = "de.tudarmstadt.ukp.dkpro.core.api."
NAMED = f"#T_SP={DKPRO}ner.type.NamedEntity|identifier|value"
LEMMA = f"#T_SP={DKPRO}segmentation.type.Lemma|value"
POS = f"#T_SP={DKPRO}lexmorph.type.pos.POS|PosValue|coarseValue"
CHAIN = f"#T_CH={DKPRO}coref.type.CoreferenceLink|referenceRelation|referenceType"
DEPENDENCY = (
    f"#T_RL={DKPRO}syntax.type.dependency.Dependency|DependencyType|flavor|"
    f"BT_{DKPRO}lexmorph.type.pos.POS"
)
FRAME = (
    "#T_SP=webanno.custom.Frame|ROLE_webanno.custom.Frame:who_webanno.custom.FrameLink|"
    "webanno.custom.Actor|kind"
)
WORDS = ["Ann", "ran", "home"]


def table(layers, *cells, words=WORDS):
    """Return a table of one sentence; each token has the cells of all layers."""
    begin, rows = 0, []
    for t, (word, own) in enumerate(zip(words, cells, strict=True), start=1):
        rows.append(f"1-{t}\t{begin}-{begin + len(word)}\t{word}\t{own}\t\n")
        begin += len(word) + 1
    return document(layers, "".join(rows))


def document(layers, rows):
    return "\n".join(["#FORMAT=WebAnno TSV 3.3", *layers, "", "", "#Text=x", rows])


def labels(text, **options):
    """Return the labels, as one list, and what was read."""
    X, y, reading = read_corpus(
        io.StringIO(text), "webanno", return_reading=True, **options
    )
    return sum(y, []), reading


ALL = table(
    [POS, LEMMA, NAMED, FRAME, CHAIN, DEPENDENCY],
    "N\tNN\tann\t*\tPER\t*->2-1\t*[4]\tf\t_\t_\t_\t_\t_",
    "V\tVB\trun\t_\t_\t_\t_\t_\t*->1-2\tx\troot\tbasic\t1-2",
    "N\tNN\thome\tq[7]\tLOC[7]|ORG[8]\t_\t_\t_\t_\t_\tobj\tbasic\t1-2",
)


@pytest.mark.parametrize(
    ("label", "found"),
    [
        ("NamedEntity|value", ["B-PER", "O", "B-LOC"]),
        (f"{DKPRO}ner.type.NamedEntity", ["B-PER", "O", "B-LOC"]),
        ("value", ["B-PER", "O", "B-LOC"]),
        ("webanno.custom.Frame", ["B-f", "O", "O"]),
        ("kind", ["B-f", "O", "O"]),
        ("Lemma", ["ann", "run", "home"]),
        ("POS", ["N", "V", "N"]),
        ("coarseValue", ["NN", "VB", "NN"]),
        ("POS|coarseValue", ["NN", "VB", "NN"]),
    ],
)
@pytest.mark.filterwarnings("ignore:.*overlap:UserWarning")
def test_label_takes_a_layer_a_feature_or_both(label, found):
    assert labels(ALL, label=label)[0] == found


def test_named_entities_come_first_and_it_is_told():
    with pytest.warns(ReadingWarning, match="1 span left out: they overlap"):
        found, reading = labels(ALL)
    assert found == ["B-PER", "O", "B-LOC"]
    assert reading.taken["layer"] == "NamedEntity|value"
    assert reading.guesses["layer"] == "label"
    dropped = "POS Lemma NamedEntity|identifier Frame CoreferenceLink Dependency"
    assert reading.taken["dropped"] == dropped


@pytest.mark.parametrize(
    ("layers", "cells", "layer", "guessed"),
    [
        ([LEMMA, FRAME], ("a\t_\t_\tf", "b\t_\t_\t_"), "Frame|kind", True),
        ([LEMMA, "#T_SP=x.Person|"], ("a\t*", "b\t_"), "Person", True),
        ([NAMED], ("*\tPER", "_\t_"), "NamedEntity|value", False),
        ([LEMMA, POS], ("a\tN\tNN", "b\tV\tVB"), "POS|PosValue", True),
    ],
)
def test_layers_of_spans_come_before_layers_of_tokens(layers, cells, layer, guessed):
    _, reading = labels(table(layers, *cells, words=["Ann", "ran"]))
    assert reading.taken["layer"] == layer
    assert ("layer" in reading.guesses) == guessed
    assert reading.messages() == []


def test_an_annotation_without_a_value_is_called_by_its_layer():
    text = table(["#T_SP=x.Person|"], "*[1]", "*[1]", "_")
    assert labels(text)[0] == ["B-Person", "I-Person", "O"]
    text = table(["#T_SP=x.Person|kind"], "*[1]", "*[1]", "f")
    with pytest.warns(ReadingWarning, match="2 spans called by their layer.* line 6"):
        assert labels(text)[0] == ["B-Person", "I-Person", "B-f"]


def test_tokens_without_a_value_have_no_label():
    found, _ = labels(table([POS], "N\tX", "_\t_", "*\tX"))
    assert found == ["N", None, None]
    with pytest.warns(ReadingWarning, match="1 token with several values"):
        assert labels(table([LEMMA], "a", "b|c", "d"))[0] == ["a", "b", "d"]


def test_spans_that_touch_have_numbers():
    text = table(["#T_SP=x|kind"], "X[1]", "X[1]|Y[2]", "Y[3]")
    with pytest.warns(ReadingWarning, match="1 span left out: they overlap"):
        assert labels(text)[0] == ["B-X", "I-X", "B-Y"]


def test_escapes_are_taken_off():
    text = table(["#T_SP=x|kind"], r"a\|b\[1\]", r"\_[1]", r"\\\->\;\*|[x")
    with pytest.warns(ReadingWarning, match="overlap"):
        found, _ = labels(text)
    assert found == ["B-a|b[1]", "B-_", "B-\\->;*"]


def test_parts_of_tokens_are_spans_inside_of_them():
    rows = "1-1\t0-5\t\U0001f642-Ann\t_\n1-1.1\t3-6\tAnn\tX[1]\n1-2\t7-10\tran\tX[1]\n"
    text = document(["#T_SP=x|kind"], rows.replace("0-5", "0-6"))
    message = "1 span left out: they begin or end inside of a token; the first is 'Ann"
    with pytest.warns(ReadingWarning, match=message):
        assert labels(text)[0] == ["O", "O"]


def test_spans_that_go_on_in_the_next_sentence_are_told():
    rows = "1-1\t0-1\ta\tX[1]\n\n#Text=b\n2-1\t2-3\tb\tX[1]\n"
    with pytest.warns(ReadingWarning, match="1 span cut: they go on in the next"):
        assert labels(document(["#T_SP=x|kind"], rows))[0] == ["B-X", "B-X"]


def test_tables_may_follow_each_other():
    second = table([LEMMA, NAMED], "a\t_\t_", "b\t*\tLOC", "c\t_\t_")
    found, _ = labels(f"{table([NAMED], *['*' + chr(9) + 'PER'] * 3)}\n{second}")
    assert found == ["B-PER", "B-PER", "B-PER", "O", "B-LOC", "O"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1-1\t0-1\ta\tX\n", "file, line 1: a table begins with '#FORMAT=WebAnno TSV"),
        ("#FORMAT=WebAnno TSV 2\n", "file, line 1: a table begins with"),
        (table([NAMED], "X", "X", "X"), "line 6: no number, offsets, token and 2 feat"),
        (document([NAMED], "1-1\ta\t_\t_\t_\n"), "line 6: no number, offsets"),
        (document([NAMED], "1-1.1\t0-1\ta\t_\t_\n"), "line 6: no number, offsets"),
        (document([NAMED], "Ann ran\n"), "line 6: no number, offsets, token"),
        (
            document([], "1-1\t0-1\ta\n"),
            "line 5: there is no layer with types of spans",
        ),
        (table([CHAIN], *["_\t_"] * 3), "there is no layer with types of spans"),
    ],
)
def test_wrong_tables_are_named_with_the_line(text, message):
    with pytest.raises(ValueError, match=message):
        labels(text)


def test_layers_that_are_not_there_are_told():
    with pytest.raises(ValueError, match="no layer or feature 'NamedEntiti'; did you"):
        labels(ALL, label="NamedEntiti")
    with pytest.raises(ValueError, match="no layer or feature 'Dependency'"):
        labels(ALL, label="Dependency")
