"""Folders as sources: what is left out, and what is said where nothing is read."""

import os

import pytest

from skcrf_sdca.text import ReadingWarning, read_corpus

TEXT, NOTES = "Anna left", "T1\tPER 0 4\tAnna\n"


@pytest.fixture
def corpus(tmp_path):
    """Return a folder with a text, and another folder beside it."""
    folder, other = tmp_path / "corpus", tmp_path / "other"
    for own in folder / "part", other:
        own.mkdir(parents=True)
        (own / "a.txt").write_text(TEXT, encoding="utf-8")
        (own / "a.ann").write_text(NOTES, encoding="utf-8")
    return folder


def test_a_folder_that_gives_nothing_is_an_error(tmp_path):
    for name in ("b.tsv", "a.tsv", "README"):
        (tmp_path / name).write_text("Anna\tB-PER\n", encoding="utf-8")
    message = (
        r"there is no text \.txt with a file \.ann of the same name; it has 2 files "
        r"\.tsv, 1 file README. Files of other formats are read one by one"
    )
    with pytest.raises(ValueError, match=message):
        read_corpus(tmp_path)
    with pytest.raises(ValueError, match=r"there is no text \.txt; it has 2 files"):
        read_corpus(tmp_path, labelled=False)
    with pytest.raises(ValueError, match="a folder, and the format columns has single"):
        read_corpus(tmp_path, "columns")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"same name; it has no files\."):
        read_corpus(tmp_path / "empty")
    (tmp_path / "c.txt").write_text(TEXT, encoding="utf-8")
    with pytest.raises(ValueError, match=r"of the same name; it has 2 files \.tsv, 1"):
        read_corpus(tmp_path)
    for k in range(9):
        (tmp_path / f"x.{k}").touch()
    with pytest.raises(ValueError, match="and others"):
        read_corpus(tmp_path)


def test_texts_below_a_folder_are_read(corpus):
    assert read_corpus(corpus)[1] == [["B-PER", "O"]]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of POSIX")
def test_links_out_of_a_folder_and_what_is_no_file_are_left_out(corpus):
    other = corpus.parent / "other"
    (corpus / "link.txt").symlink_to(other / "a.txt")
    (corpus / "linked").symlink_to(other)
    (corpus / "zero.txt").symlink_to("/dev/zero")
    (corpus / "loop.txt").symlink_to("loop.txt")
    os.mkfifo(corpus / "pipe.txt")
    (corpus / "same.txt").symlink_to("part/a.txt")
    (corpus / "same.ann").symlink_to("part/a.ann")
    for name in ("link", "zero", "pipe", "loop"):
        (corpus / f"{name}.ann").touch()
    with pytest.warns(ReadingWarning) as caught:
        _, y, sources = read_corpus(corpus, return_sources=True)
    assert [source.document for source in sources] == ["a", "same"]
    assert y == [["B-PER", "O"]] * 2
    assert str(caught[0].message).startswith(
        "4 files left out: it is a link out of the folder, or no regular file; the "
    )
