"""Treebanks in CoNLL-U Plus, whose first line has the names of the columns.

The format: https://universaldependencies.org/ext-format.html.
"""

from collections.abc import Iterable, Iterator

from skcrf_sdca.text.core.files import blocks, numbered_lines, place
from skcrf_sdca.text.core.passages import Read, TextSource
from skcrf_sdca.text.core.reading import Reading

_HEADER = "# global.columns ="


def read_plus(
    file: object,
    reading: Reading,
    *,
    columns: Iterable[str] = ("word",),
    label: str | None = None,
) -> Iterator[Read]:
    """Yield the sequences of words; names are small letters, and FORM is "word".

    The label is in the last column, unless `label` names another.
    """
    lines = numbered_lines(file, reading.encoding)
    number, first = next(lines)
    if not first.startswith(_HEADER):
        raise ValueError(
            f"{place(file, number)}: CoNLL-U Plus begins with {_HEADER!r} and the "
            f"names of the columns; the line is {first!r:.80}."
        )
    titles = [title.lower() for title in first.removeprefix(_HEADER).split()]
    names = ["word" if title == "form" else title for title in titles]
    label = names[-1] if label is None else label
    wanted = [*columns, *[label] * reading.labelled]
    if missing := [name for name in wanted if name not in names]:
        raise ValueError(f"there is no column {missing[0]!r} among {', '.join(names)}.")
    columns = [name for name in wanted if name != label]
    words = ((n, line) for n, line in lines if line[:1] != "#")
    for k, block in enumerate(blocks(words)):
        rows = [_row(file, number, line, names) for number, line in block]
        # Multiword tokens have ids such as 1-2, and empty nodes such as 8.1.
        rows = [row for row in rows if row.get("id", "1").isdecimal()]
        tokens = [{name: row[name] for name in columns} for row in rows]
        labels = [row[label] for row in rows] if reading.labelled else None
        yield Read(tokens, labels, TextSource(k))


def _row(file, number, line, names):
    fields = line.split("\t")
    if len(fields) != len(names):
        raise ValueError(
            f"{place(file, number)}: {len(fields)} columns, but the first line names "
            f"{len(names)}: {', '.join(names)}."
        )
    return dict(zip(names, fields, strict=True))
