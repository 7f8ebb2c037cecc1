"""`write_corpus` writes texts with spans in the formats of annotation programs."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any

import numpy as np

from skcrf_sdca._utils.ragged import split_rows
from skcrf_sdca._utils.typing import SpanScheme
from skcrf_sdca.data.spans import TYPED, extract_spans, span_rows

from .core.passages import Document, TextSource
from .core.tokens import Tokens
from .corpora import FORMATS, format_name
from .features.values import WORD
from .spans.offsets import char_spans, token_offsets


def write_corpus(
    file: Any,
    X: Iterable[Iterable[Any]],
    y: Iterable[Iterable[Any]],
    format: str | None = None,
    *,
    sources: Iterable[TextSource] | None = None,
    scheme: SpanScheme = "BIO",
    encoding: str = "utf-8",
) -> None:
    r"""Write texts with their spans, in a format of `read_corpus`.

    Parameters
    ----------
    file : str, path-like or open text file
        Where to write. "brat" takes the path of a folder, which is made if it is not
        there. A path that ends in ``.gz`` is compressed.
    X : list of lists of tokens
        Tokens are str, dicts with "word", or tuples whose first entry is the word.
    y : list of lists of str, or of (type, begin, end, ...)
        The labels of the tokens; or the spans of each sequence, such as
        ``predict_spans`` returns, which may overlap.
    format : str, default=None
        See Notes. By default the end of the name of the file tells it, as in
        `read_corpus`.
    sources : list of TextSource, default=None
        The texts that the tokens come from, of `read_corpus` with
        ``return_sources=True``. Sequences of one document that follow each other are
        written as one. By default each sequence is a document, whose text is its words
        with blanks between them.
    scheme : str, default="BIO"
        The tagging scheme of the labels in `y`.
    encoding : str, default="utf-8"

    Raises
    ------
    ValueError
        If the format is not written here, `X`, `y` and `sources` do not have the same
        lengths, labels are not in the scheme, or a format cannot hold a span; the
        message names the sequence or the document.
    OSError
        If a file cannot be written.

    See Also
    --------
    read_corpus : Reads all of these formats.
    write_conll : Writes files of columns.

    Notes
    -----
    The formats; offsets count characters of Python unless said:

    ============= ==================================================================
    format        what is written
    ============= ==================================================================
    json, prodigy a line for each document: "text", "tokens", "spans" with "start",
                  "end", "label", and the first and last token
    doccano       a line for each document: "text", "label": [[0, 4, "PER"]]
    spacy         a line for each document, for ``Doc(vocab).from_json``; no overlaps
    label-studio  a list of tasks; offsets count UTF-16 units, as the program does
    brat          a ``.txt`` and a ``.ann`` for each document, named as it is
    pubtator      the first line as title, the others as abstract
    ============= ==================================================================

    Examples
    --------
    >>> import io
    >>> from skcrf_sdca.text import read_corpus, write_corpus
    >>> brackets = io.StringIO("[PER Anna ] lives  here .\n")
    >>> X, y, sources = read_corpus(brackets, "brackets", return_sources=True)
    >>> file = io.StringIO()
    >>> write_corpus(file, X, y, "doccano", sources=sources)
    >>> file.getvalue()
    '{"id": 0, "text": "Anna lives  here .", "label": [[0, 4, "PER"]]}\n'
    """
    write = writer_of(file, format)
    words = _words(X)
    spans = _span_lists(words, y, scheme)
    write(file, list(documents_of(words, spans, sources)), encoding)


def writer_of(file: Any, format: str | None) -> Any:
    """Return the function that writes a format, by default the format of a path."""
    write = FORMATS[format_name(file, format)].write
    if write is None:
        name = f"the format {format!r}" if format is not None else f"{file!r:.80}"
        raise ValueError(
            f"{name}: no spans of texts are written there; format= is one of "
            f"{', '.join(written_formats())}. Columns are written by write_conll."
        )
    return write


def written_formats() -> list[str]:
    """Return the names of the formats that are written."""
    return [name for name, own in FORMATS.items() if own.write is not None]


def documents_of(
    words: Sequence[Sequence[str]],
    spans: Sequence[Sequence[tuple[Any, ...]]],
    sources: Iterable[TextSource] | None = None,
) -> Iterator[Document]:
    """Yield the documents that sequences are of, with spans by characters.

    ``spans`` are (type, begin, end, ...) by tokens.
    """
    n = len(words)
    sources = list(map(TextSource, range(n)) if sources is None else sources)
    if len(sources) != n:
        raise ValueError(f"X has {n} sequences, but sources has {len(sources)}.")
    rows = zip(words, spans, sources, strict=True)
    yield from whole(_document(i, *row) for i, row in enumerate(rows))


def whole(documents: Iterable[Document]) -> Iterator[Document]:
    """Yield documents with the parts of one that follow each other as one."""
    for _, group in groupby(documents, key=lambda own: (own.name, own.text)):
        parts = list(group)
        yield parts[0]._replace(
            spans=[span for own in parts for span in own.spans or ()],
            offsets=[bounds for own in parts for bounds in own.offsets or ()],
        )


def _document(i, words, spans, source):
    """Return the document of one sequence, with its own tokens and spans."""
    name, text, offsets = source
    text = " ".join(words) if text is None else text
    offsets = token_offsets(text, words) if offsets is None else offsets
    if len(offsets) != len(words):
        raise ValueError(
            f"sources: sequence {i} has {len(offsets)} offsets, but X has "
            f"{len(words)} tokens."
        )
    found = [(begin, end, kind) for kind, begin, end, *_ in char_spans(spans, offsets)]
    return Document(name, text, found, offsets)


def _words(X):
    """Return the words of all sequences."""
    tokens = Tokens(X)
    names = tokens.names or [WORD]
    words = tokens.column(WORD if WORD in names else names[0])
    return split_rows(words, np.append(0, np.cumsum(tokens.lengths))).tolist()


def _span_lists(words, y, scheme):
    """Return the spans (type, begin, end) of labels, or of spans in another order."""
    y = [list(own) for own in y]
    lengths = np.array([len(own) for own in words], dtype=np.int64)
    if len(y) != len(words):
        raise ValueError(f"X has {len(words)} sequences, but y has {len(y)}.")
    if not isinstance(next(chain.from_iterable(y), None), str):
        rows, _, types = span_rows(y, lengths, TYPED)
        found = [[] for _ in words]
        for (i, begin, end), kind in zip(rows.tolist(), types, strict=True):
            found[i].append((kind, begin, end))
        return found
    for i, (own, n) in enumerate(zip(y, lengths.tolist(), strict=True)):
        if len(own) != n:
            raise ValueError(f"y: sequence {i} has {len(own)} labels for {n} tokens.")
    return extract_spans(y, scheme)
