"""Data files of CRFsuite: a label and its attributes on a line, with tabs between.

An attribute is a name, or a name and a value after a colon. In names a backslash stands
before each colon and each backslash.
"""

import re
from typing import IO, Any

from skcrf_sdca._utils.typing import FilePath
from skcrf_sdca.text._files import blocks, numbered_lines, place

_ESCAPED = re.compile(r"\\(.)")
# Before and after the last colon, if it is no escaped one.
_SCALED = re.compile(r"((?:[^\\]|\\.)*):([^:]*)", flags=re.DOTALL)


def read_crfsuite_data(
    file: FilePath | IO[str] | IO[bytes], *, encoding: str = "utf-8-sig"
) -> tuple[list[list[dict[str, float]]], list[list[str]]]:
    r"""Read items and labels from a data file of CRFsuite.

    A line has the label of an item and its attributes, with tabs between, and a blank
    line ends a sequence. The value of an attribute follows a colon and is 1 without
    one. ``\:`` and ``\\`` stand for a colon and a backslash in a name.

    Parameters
    ----------
    file : str, path-like, or file object of text or bytes
        The file. If its content is compressed by gzip, bzip2 or xz, it is decompressed.
    encoding : str, default="utf-8-sig"
        Encoding of bytes; the default is UTF-8, with or without a byte order mark.

    Returns
    -------
    X : list of lists of dict
        ``{attribute: value}`` for each sequence and item. The values of an attribute
        that an item has more than once are added, as CRFsuite adds them.
    y : list of lists of str
        The labels; "" where a line begins with a tab.

    Raises
    ------
    ValueError
        If the text after a colon is no number; the message names the line.
    OSError, LookupError
        As :func:`skcrf_sdca.text.read_conll`.

    See Also
    --------
    skcrf_sdca.text.read_conll : Reads files of columns.

    Examples
    --------
    >>> import io
    >>> from skcrf_sdca.compat import read_crfsuite_data
    >>> X, y = read_crfsuite_data(io.StringIO("O\tw=it\tbias\nB\tw=\\:\tlength:2.5\n"))
    >>> X, y
    ([[{'w=it': 1.0, 'bias': 1.0}, {'w=:': 1.0, 'length': 2.5}]], [['O', 'B']])
    """
    X: list[list[Any]] = []
    y: list[list[str]] = []
    for block in blocks(numbered_lines(file, encoding)):
        rows = [(number, *line.split("\t")) for number, line in block]
        y.append([label for _, label, *_ in rows])
        X.append([_item(file, number, fields) for number, _, *fields in rows])
    return X, y


def _item(file, number, fields):
    item: dict[str, float] = {}
    for field in filter(None, fields):
        scaled = _SCALED.fullmatch(field)
        name, scale = scaled.groups() if scaled else (field, "1")
        try:
            value = float(scale)
        except ValueError:
            raise ValueError(
                f"{place(file, number)}: {scale!r:.40} after the colon of "
                rf"{field!r:.80} is no number; a colon in a name is written as '\:'."
            ) from None
        name = _ESCAPED.sub(r"\1", name)
        item[name] = item.get(name, 0.0) + value
    return item
