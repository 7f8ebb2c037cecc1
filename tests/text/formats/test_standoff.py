"""Annotations beside the text: brat and PubTator, and what is wrong in their files."""

import io
import re

import pytest

from skcrf_sdca.text import ReadingWarning, read_corpus

TEXT = "Ann left New\nYork or Basel."


def brat(folder, notes, text=TEXT, **options):
    """Read a text with the lines of its annotations."""
    (folder / "a.txt").write_text(text, encoding="utf-8", newline="")
    (folder / "a.ann").write_text(notes, encoding="utf-8")
    _, y = read_corpus(folder, "brat", **options)
    return [label for labels in y for label in labels]


def pubtator(rows, texts="1|t|Ann has SARS.\n1|a|She slept.\n"):
    return read_corpus(io.StringIO(texts + rows), "pubtator")[1]


def test_texts_of_parts_are_their_own(tmp_path):
    notes = "T1\tX 0 3;21 26\tAnn Basel\nT2\tY 9 12;13 17\tNew York\n"
    assert brat(tmp_path, notes) == ["B-X", "O", "B-Y", "I-Y", "O", "B-X", "O"]


def test_parts_are_read_in_any_order(tmp_path):
    notes = "T1\tY 13 17;9 12\tNew York\n"
    assert brat(tmp_path, notes)[2:4] == ["B-Y", "I-Y"]


def test_offsets_that_do_not_count_line_feeds_of_windows_are_found(tmp_path):
    notes = "T1\tX 0 3\tAnn\nT2\tY 21 26\tBasel\n"
    assert brat(tmp_path, notes, TEXT.replace("\n", "\r\n"))[-2:] == ["B-Y", "O"]


@pytest.mark.parametrize(
    "line",
    ["T1 X 0 3 Ann", "T1\tX\t0\t3\tAnn", "T1\tX 0-3\tAnn", "X 0 3 Ann", "T1\tX 0"],
)
def test_lines_of_brat_that_are_no_annotations_are_refused(tmp_path, line):
    with pytest.raises(ValueError, match=r"a\.ann, line 2: .* is no annotation such"):
        brat(tmp_path, f"T2\tX 0 3\tAnn\n{line}\n")


def test_lines_of_brat_that_are_no_spans_are_left_out(tmp_path):
    others = "R1\tA Arg1:T1\nE1\tX:T1\nA1\tA T1\nM1\tA T1\nN1\tR T1 a:1\n#1\tN T1\ta\n"
    assert brat(tmp_path, f"{others}*\tA T1 T2\n\nT1\tX 0 3\tAnn\n")[0] == "B-X"


def test_files_of_a_folder_without_their_partner_are_told(tmp_path):
    for name in ("b.txt", "c.ann"):
        (tmp_path / name).write_text("")
    message = "1 (text|file .ann) left out: there is no (file .ann|text) of the same"
    with pytest.warns(ReadingWarning, match=message) as caught:
        assert brat(tmp_path, "T1\tX 0 3\tAnn\n")[0] == "B-X"
    firsts = [re.search(r"(\w)\.(txt|ann)\.", str(w.message))[1] for w in caught]
    assert firsts == ["b", "c"]


@pytest.mark.parametrize("missing", ["a.txt", "a.ann"])
def test_a_file_without_its_partner_is_refused(tmp_path, missing):
    name = "a.ann" if missing == "a.txt" else "a.txt"
    (tmp_path / name).write_text("")
    for source in tmp_path / name, [tmp_path / name]:
        with pytest.raises(FileNotFoundError, match=f"{missing}: no such file. A text"):
            read_corpus(source, "brat")
    if missing == "a.ann":
        with pytest.warns(ReadingWarning, match="nothing was read"):
            assert read_corpus(tmp_path / name, "brat", labelled=False) == []


@pytest.mark.parametrize(
    "row",
    [
        "1 8 12 SARS Disease D1",
        "1\t8\t12\tSARS",
        "1\t-8\t12\tSARS\tDisease",
        "1\t8.0\t12\tSARS\tDisease",
        "2\t8\t12\tSARS\tDisease",
        "She slept.",
    ],
)
def test_lines_of_pubtator_that_are_no_annotations_are_refused(row):
    with pytest.raises(ValueError, match=r"file, line 3: .* is no annotation of 1, su"):
        pubtator(f"{row}\n")


def test_relations_of_pubtator_are_left_out():
    rows = "1\tCID\tD1\tD2\n1\tCID\tD1\tD2\t0.5\n1\t8\t12\tSARS\tX\n"
    assert pubtator(rows)[0] == ["O", "O", "B-X", "O"]


def test_articles_without_a_blank_line_between_are_two():
    y = pubtator("1\t0\t3\tAnn\tX\n2|t|Bob ran.\n2\t0\t3\tBob\tY\n")
    assert [labels[0] for labels in y] == ["B-X", "O", "B-Y"]
