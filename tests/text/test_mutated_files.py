"""Valid files that are changed as people change them: no label changes silently.

A changed file gives an error, a warning, or the labels of the file before.
"""

import re
import warnings
from itertools import chain, product

import pytest
from test_corpora import CRFSUITE, KINDS, given

from skcrf_sdca.text import ReadingWarning, read_corpus

FILES = {
    name: kind
    for name, kind in KINDS.items()
    if kind[0] is not None and isinstance(kind[1], str)
} | {
    "attributes": ("x.txt", "w=Anna b B\nw=ran O\n\nw=Yes O\n", {"format": "mallet"}),
    "CRFsuite": ("x.txt", CRFSUITE, {"format": "crfsuite"}),
}


def at_line_ends(sign):
    return lambda text: re.sub(r"(?m)(?<=[^\r\n])(?=\r?$)", sign, text)


# Changes after which the labels are as before, or a person is told.
CHANGES = {
    "ends of lines of Windows": lambda text: re.sub("\r?\n", "\r\n", text),
    "ends of lines of old Macs": lambda text: re.sub("\r?\n", "\r", text),
    "no end of the last line": lambda text: text.rstrip("\n"),
    "a mark of the order of bytes": lambda text: "\ufeff" + text,
    "blank lines first": lambda text: "\n\n" + text,
    "blank lines last": lambda text: text + "\n\n\n",
    "more blank lines": lambda text: text.replace("\n\n", "\n\n\n"),
    "blanks in blank lines": lambda text: text.replace("\n\n", "\n \t\n"),
    "hard blanks in blank lines": lambda text: text.replace("\n\n", "\n\u00a0\n"),
    "form feeds in blank lines": lambda text: text.replace("\n\n", "\n\f\n"),
    "blanks at the ends of lines": at_line_ends(" "),
    "tabs at the ends of lines": at_line_ends("\t"),
    "a comment first": lambda text: (
        "# made on Monday, by Ann, for all that read it\n" + text
    ),
    "a comment of two signs first": lambda text: (
        "## made on Monday, by Ann, for all that read it\n" + text
    ),
    "a comment between": lambda text: text.replace("\n\n", "\n\n# the next\n", 1),
    "tabs for blanks": lambda text: text.replace(" ", "\t"),
    "blanks for tabs": lambda text: text.replace("\t", " "),
    "two blanks for one": lambda text: text.replace(" ", "  "),
    "curly quotation marks": lambda text: text.replace('"', "\u201d"),
    "half of the file": lambda text: text[: text.rfind("\n", 0, len(text) // 2) + 1],
}
IS_CUT = {"half of the file"}
# Changes that make another valid file: texts have no comments, annotations may be none,
# and what stands between columns of csv may be both a comma and a tab.
OTHER_FILES = {
    *(("a comment first", kind) for kind in ("inline XML", "MUC")),
    *(("a comment of two signs first", kind) for kind in ("inline XML", "MUC")),
    ("half of the file", "PubTator"),
    ("tabs for blanks", "csv with blanks"),
}
# Files of texts or features, whose lines may have any fields.
TEXTS = {
    *("slash tags", "brackets", "Rasa", "inline XML", "MUC", "attributes", "CRFsuite"),
    *("csv with a sentence a row", "PubTator"),
}
# Lines that are changed, after the first.
N_LINES = 8
# Changes of one line.
OF_A_LINE = {
    "one more field": lambda line: line + "\tx",
    "no tabs": lambda line: line.replace("\t", "  "),
    "no last field": lambda line: re.sub(r"\t[^\t]*$", "", line),
    "no first field": lambda line: re.sub(r"^[^\t]*\t", "", line),
    "the first half": lambda line: line[: len(line) // 2],
    "a blank before": lambda line: f" {line}",
    "a tab before": lambda line: f"\t{line}",
    "a quotation mark before": lambda line: f'"{line}',
}


def read(path, options):
    """Return the words or features, the labels, and whether a person is told."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            X, y = read_corpus(path, **options)
        except ValueError:
            return None, None, True
    assert all(issubclass(own.category, ReadingWarning) for own in caught)
    words = [[t.get("word", t) if isinstance(t, dict) else t for t in own] for own in X]
    return words, y, bool(caught)


def written(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8", newline="")
    return folder / name


def is_right(found, before, is_cut):
    """Return whether labels are as before, or those of a part."""
    words, y, is_told = found
    is_same = is_told or (words, y) == before[:2]
    if is_same or not is_cut:
        return is_same
    # The last sequence may be a part of one.
    last = len(y) - 1
    cut = [[*own[:last], own[last][: len(y[last])]] for own in before[:2]]
    return (words, y) == tuple(cut)


@pytest.mark.parametrize("kind", FILES)
def test_changed_files(tmp_path, kind):
    name, text, options = FILES[kind]
    before, wrong = read(given(tmp_path, name, text), options), {}
    for change in CHANGES:
        changed = CHANGES[change](text)
        found = read(written(tmp_path, name, changed), options)
        if not is_right(found, before, change in IS_CUT):
            wrong[change] = found
    assert wrong.keys() == {change for change, own in OTHER_FILES if own == kind}, wrong


# One quotation mark that begins another sentence, or hides the labels of the first.
NOT_TOLD = {
    ("a quotation mark before", "tsv with a sentence column"),
    ("a quotation mark before", "label first, not said"),
}


@pytest.mark.parametrize("kind", [kind for kind in FILES if kind not in TEXTS])
def test_files_with_a_changed_line(tmp_path, kind):
    name, text, options = FILES[kind]
    _, before, _ = read(given(tmp_path, name, text), options)
    lines, wrong = text.split("\n"), {}
    for change, k in product(OF_A_LINE, range(1, min(len(lines), N_LINES))):
        changed = OF_A_LINE[change](lines[k])
        own = "\n".join([*lines[:k], changed, *lines[k + 1 :]])
        _, y, is_told = read(written(tmp_path, name, own), options)
        # An empty cell has no label.
        if not (is_told or None in chain(*y) or y == before):
            wrong[change] = k, changed, y
    assert wrong.keys() == {change for change, own in NOT_TOLD if own == kind}, wrong
