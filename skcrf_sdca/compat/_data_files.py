"""Data files of CRFsuite: a label and its attributes on a line, with tabs between."""

from typing import IO

from skcrf_sdca._utils.typing import FilePath
from skcrf_sdca.text import read_corpus


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
    X, y = read_corpus(file, "crfsuite", encoding=encoding)
    return X, y
