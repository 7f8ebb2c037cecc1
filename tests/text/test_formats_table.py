"""The tables of formats in the documentation have all formats, and all options.

`test_hostile_inputs` asks for rows of each format, and `test_writing` reads again what
each writer writes.
"""

import re
from pathlib import Path

from pairs import in_one_test
from skcrf_sdca.text import read_corpus, write_corpus
from skcrf_sdca.text.corpora import FORMATS, options_of
from skcrf_sdca.text.writing import written_formats

PAGE = Path(__file__).parents[2] / "docs" / "formats.rst"


def table_of(function):
    """Return the rows of the first table in a docstring, as lists of cells."""
    _, head, rows, *_ = re.split(r"^ *=+ [= ]*=\n", function.__doc__, flags=re.M)
    bounds = [found.start() for found in re.finditer(r"\S+( \S+)*", head)]
    found = []
    for line in rows.splitlines():
        ends = [*bounds[1:], None]
        cells = [line[b:e].strip() for b, e in zip(bounds, ends, strict=True)]
        if cells[0]:
            found.append(cells)
        else:
            pairs = zip(found[-1], cells, strict=True)
            found[-1] = [f"{a} {b}".strip() for a, b in pairs]
    return found


def sections():
    """Return the text of each format on the page of formats."""
    parts = re.split(r"^([\w-]+)\n~+\n", PAGE.read_text(encoding="utf-8"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_reference_has_all_formats_and_their_options():
    above, found = "", {}
    for name, _, options in table_of(read_corpus):
        above = above if options == "the same" else options
        found[name] = set(above.split(", ")) - {""}
    assert found == {name: set(options_of(name)) for name in FORMATS}


def test_the_reference_has_all_formats_that_are_written():
    names = {name for row in table_of(write_corpus) for name in row[0].split(", ")}
    assert names == set(written_formats())


def test_the_page_has_a_section_for_each_format():
    assert set(sections()) == set(FORMATS)


@in_one_test("name", FORMATS)
def test_the_section_of_a_format_has_an_example_and_its_options(name):
    section = sections()[name]
    assert re.search(rf'^    >>> .*"{name}"', section, flags=re.M)
    facts = dict(re.findall(r"^:([\w ]+): ((?:.*\n)(?:   .*\n)*)", section, re.M))
    assert [*facts] == ["Options", "Unknown labels", "Left out"]
    options = re.findall("``([a-z]+)``", facts["Options"])
    assert set(options) == set(options_of(name))
