"""Treebanks in CoNLL-U: sentences of words, multiword tokens and empty nodes.

This is the only module that knows the format, version 2 of
https://universaldependencies.org/format.html. Files that are read, and sentences that
are written, pass the same checks.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._utils.messages import counted
from skcrf_sdca._utils.typing import FilePath, Labels
from skcrf_sdca.data.containers import check_container, plain_column
from skcrf_sdca.data.label_encoding import flat_labels
from skcrf_sdca.text.core.files import blocks, numbered_lines, place, write_text
from skcrf_sdca.text.core.passages import Read, TextSource
from skcrf_sdca.text.core.reading import Reading
from skcrf_sdca.text.core.tokens import Token, Tokens, checked_names

from .label_columns import (
    EMPTY,
    column_of,
    columns_of,
    joined,
    taken_apart,
    value_of,
    values_of,
    with_value,
    without_missing,
)

# Templates read the column "word" by default, so FORM has this name.
COLUMNS = (
    *("id", "word", "lemma", "upos", "xpos"),
    *("feats", "head", "deprel", "deps", "misc"),
)
# Largest number of strings that a reader remembers, also of an endless stream.
_MAX_SHARED = 2**20
_WITH_SPACES = {"word", "lemma", "misc"}
_LINE = re.compile(
    r"\t".join(r"[^\t\r\n]+" if c in _WITH_SPACES else r"[^ \t\r\n]+" for c in COLUMNS)
)
_COMMENT = re.compile(r"#[^\r\n]*")
# Nine digits are enough for any sentence, and int() limits how many it takes.
_ID = re.compile("[1-9][0-9]{0,8}")
_RANGE = re.compile(f"({_ID.pattern})-({_ID.pattern})")


@dataclass
class ConlluSentence:
    """A sentence of a treebank, as it is in the file.

    Parameters
    ----------
    comments : list of str
        The lines before the words, each with its ``#``.
    rows : list of dict
        ``{column: str}`` for each of the other lines: for words, for multiword tokens,
        whose id is a range such as ``"1-2"``, and for empty nodes, with an id such as
        ``"8.1"``. `read_conllu` names the columns.

    See Also
    --------
    read_conllu : Returns the sentences of a file with ``return_sentences=True``.
    write_conllu : Writes them.

    Examples
    --------
    >>> from skcrf_sdca.text import ConlluSentence
    >>> sentence = ConlluSentence(["# newpar", "# sent_id = s1", "# text = Ah!"], [])
    >>> sentence.sent_id, sentence.text
    ('s1', 'Ah!')
    """

    comments: list[str]
    rows: list[dict[str, str]]

    @property
    def words(self) -> list[dict[str, str]]:
        """The rows of words, without multiword tokens and empty nodes."""
        return [row for row in self.rows if _kind(row["id"]) == "word"]

    @property
    def tree(self) -> tuple[NDArray[np.intp], list[str]]:
        """The heads of the words, an array of shape (n_words,), and their relations.

        As in the file, words count from 1, and the head 0 is the root. ValueError if a
        HEAD is neither 0 nor the ID of another word; the message names the word.
        """
        words = self.words
        heads = [self._head(word, len(words)) for word in words]
        return np.array(heads, dtype=np.intp), [word["deprel"] for word in words]

    def _head(self, word, n_words):
        head = word["head"]
        if not (head == "0" or _ID.fullmatch(head)) or int(head) > n_words:
            wanted = f"0, for the root, or the ID of a word, from 1 to {n_words}"
        elif head == word["id"]:
            wanted = "another word"
        else:
            return int(head)
        raise ValueError(
            f"sentence {self.sent_id or self.text!r:.80}, word {word['id']} "
            f"({word['word']!r:.40}): HEAD must be {wanted}; it is {head!r:.40}."
        )

    @property
    def metadata(self) -> dict[str, str]:
        """The values of the comments that have the form ``# name = value``."""
        pairs = (comment[1:].partition("=") for comment in self.comments)
        return {name.strip(): value.strip() for name, sign, value in pairs if sign}

    @property
    def sent_id(self) -> str | None:
        """The id of the sentence; None if no comment has it."""
        return self.metadata.get("sent_id")

    @property
    def text(self) -> str | None:
        """The text before it was split into words; None if no comment has it."""
        return self.metadata.get("text")


def read_conllu(
    file: FilePath | IO[str] | IO[bytes],
    columns: Iterable[str] = ("word",),
    *,
    label: str | None = "upos",
    multiword_tokens: bool = False,
    empty_nodes: bool = False,
    return_sentences: bool = False,
    encoding: str = "utf-8-sig",
) -> Any:
    r"""Read the words of sentences, and their labels, from a treebank in CoNLL-U.

    Universal Dependencies define the format, version 2 [1]_. By default only words are
    read. Two kinds of lines are no words: multiword tokens, such as "vámonos" for the
    words "vamos" and "nos", and empty nodes, which are not in the text.

    Parameters
    ----------
    file : str, path-like, or file object of text or bytes
        The file. If its content is compressed by gzip, bzip2 or xz, it is decompressed,
        whatever the name of the file is.
    columns : sequence of str, default=("word",)
        The columns to read. Their names are "id", "word" (FORM), "lemma", "upos",
        "xpos", "feats", "head", "deprel", "deps" and "misc"; or of attributes, as in
        `label`.
    label : str or None, default="upos"
        Name of the column with the labels; None if there is none. Where it is empty,
        the label is "_", which estimators can take as unknown: ``unknown_label="_"``.
        Several names with ``|`` between them join the columns: with "upos|feats" the
        labels are such as "NOUN|Case=Nom|Number=Sing", and empty columns at the end are
        left out of them, as in "ADP". An attribute in FEATS or MISC is a column, too:
        "feats:Case", or "misc:NER" for entities as in "NER=B-PER|SpaceAfter=No".
    multiword_tokens : bool, default=False
        Whether to read multiword tokens too. They stand before their words, and their
        "id" is a range such as "1-2".
    empty_nodes : bool, default=False
        Whether to read empty nodes too; their "id" is such as "8.1".
    return_sentences : bool, default=False
        Whether to return the whole sentences too, with ids, texts and all columns.
    encoding : str, default="utf-8-sig"
        Encoding of bytes; the default is UTF-8, with or without a byte order mark.

    Returns
    -------
    X : list of lists of dict
        ``{column: str}`` for each sentence and word, without the labels. An empty
        column is "_", as in the file; in the column "word" this is an underscore.
    y : list of lists of str
        The labels. Not returned if `label` is None.
    sentences : list of ConlluSentence
        The sentences, for `write_conllu`. Only returned if `return_sentences`.

    Raises
    ------
    ValueError
        If the file does not have this format or another encoding; the message names the
        line. Numbers of columns, ids, spaces, and the places of comments are checked,
        but not the values of the other columns. If `columns` has an unknown name or one
        twice, or `label` is unknown, or joins columns of which one that is not the last
        has a ``|``.
    TypeError
        If `file` is neither a path nor an open file, or `columns` is no sequence.
    OSError
        If the file cannot be read or decompressed.
    LookupError
        If `encoding` is no encoding of text files.

    See Also
    --------
    write_conllu : Writes such files.
    read_conll : Reads other files of columns.

    References
    ----------
    .. [1] https://universaldependencies.org/format.html

    Examples
    --------
    >>> import io
    >>> from skcrf_sdca.text import read_conllu
    >>> file = io.StringIO(
    ...     "# sent_id = s1\n"
    ...     "# text = Vámonos!\n"
    ...     "1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    ...     "1\tVamos\tir\tVERB\t_\t_\t0\troot\t_\t_\n"
    ...     "2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_\n"
    ...     "3\t!\t!\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"
    ... )
    >>> X, y, sentences = read_conllu(file, return_sentences=True)
    >>> X
    [[{'word': 'Vamos'}, {'word': 'nos'}, {'word': '!'}]]
    >>> y
    [['VERB', 'PRON', 'PUNCT']]
    >>> sentences[0].sent_id, sentences[0].text
    ('s1', 'Vámonos!')

    The trees are what `skcrf_sdca.metrics.attachment_scores` compares:

    >>> [sentence.tree for sentence in sentences]
    [(array([0, 1, 1]), ['root', 'obj', 'punct'])]
    """
    columns = checked_names(columns)
    check_known(columns, "columns has")
    names = [] if label is None else checked_label(label, "label is")
    kept = [name for name in columns if name not in names]
    wanted = {
        "word": True,
        "multiword token": multiword_tokens,
        "empty node": empty_nodes,
    }
    X, y, sentences = [], [], []
    for k, sentence in enumerate(iter_sentences(file, encoding)):
        rows = [row for row in sentence.rows if wanted[_kind(row["id"])]]
        X.append(_tokens(rows, kept))
        if label is not None:
            y.append(labels_of(rows, names, k))
        if return_sentences:
            sentences.append(sentence)
    labels = [] if label is None else [y]
    parts = X, *labels, *([sentences] if return_sentences else [])
    return parts if len(parts) > 1 else X


def read_treebank(
    file: Any,
    reading: Reading,
    *,
    columns: Iterable[str] = ("word",),
    label: str = "upos",
) -> Iterator[Read]:
    """Yield the sequences of the words of a treebank; options as in `read_conllu`.

    A label is None where its column is empty, but FEATS, which a word may lack.
    """
    columns = checked_names(columns)
    check_known(columns, "columns has")
    names = checked_label(label, "label is")
    kept = [name for name in columns if name not in names or not reading.labelled]
    if reading.labelled:
        reading.take("label", label, option="label")
    for k, sentence in enumerate(iter_sentences(file, reading.encoding)):
        rows, labels = sentence.words, None
        if reading.labelled:
            # A blank at the end of a line is no part of MISC.
            labels = [own.rstrip(" ") or own for own in labels_of(rows, names, k)]
            labels = without_missing(labels, names)
        yield Read(_tokens(rows, kept), labels, TextSource(k))


def write_conllu(
    file: FilePath | IO[str],
    X: Iterable[ConlluSentence] | Iterable[Iterable[Token]],
    y: Labels | None = None,
    *,
    label: str = "upos",
    trees: Iterable[Any] | None = None,
    columns: Iterable[str] | None = None,
    encoding: str = "utf-8",
) -> None:
    r"""Write sentences in CoNLL-U, with given or predicted labels in one column.

    Sentences that `read_conllu` returned are written as they were read, with their
    comments, multiword tokens and empty nodes.

    Parameters
    ----------
    file : str, path-like or text file object
        The file; if a path ends in ``.gz``, the file is compressed.
    X : iterable of ConlluSentence, or of sequences of tokens
        Tokens are str, the words, or tuples or dicts of str. Columns that they do not
        have are "_"; without the column "id", tokens are numbered. Nothing is written
        for a sequence without tokens.
    y : list of label lists, default=None
        Labels, such as the predictions of an estimator: one for each token, or for each
        word of a ConlluSentence.
    label : str, default="upos"
        Name of the column that the labels replace. Of several names with ``|`` between
        them, the parts of each label replace the columns, see `read_conllu`.
    trees : iterable of tuple (heads, relations), or of heads, default=None
        Dependency trees, each as `ConlluSentence.tree`, which replace the columns HEAD
        and DEPREL, or HEAD alone: one head for each token, or for each word of a
        ConlluSentence.
    columns : sequence of str, default=None
        Names of the columns of tuples, as in `read_conllu`, and the columns of dicts to
        write; by default all columns of dicts.
    encoding : str, default="utf-8"
        Encoding of a file that is opened here. The format demands UTF-8.

    Raises
    ------
    ValueError
        If the lengths of `X` and `y` or `trees` differ, a column is unknown, or a
        sentence does not have the form that `read_conllu` checks. Nothing is written.
    TypeError
        If `X` is not of this form.

    See Also
    --------
    read_conllu : Reads such files.

    Examples
    --------
    >>> import io
    >>> from skcrf_sdca.text import write_conllu
    >>> file = io.StringIO()
    >>> write_conllu(file, [["the", "dog"]], [["DET", "NOUN"]])
    >>> file.getvalue().split("\n")[1]
    '2\tdog\t_\tNOUN\t_\t_\t_\t_\t_\t_'
    """
    names = checked_label(label, "label is")
    check_container(X)
    X = list(plain_column(X))
    if X and all(isinstance(sentence, ConlluSentence) for sentence in X):
        sentences = _relabelled(X, y, names)
    else:
        sentences = _numbered(X, y, names, columns)
    if trees is not None:
        for column, fields in _columns_of_trees(trees).items():
            sentences = _relabelled(sentences, fields, [column], argument="trees")
    texts = []
    for k, sentence in enumerate(sentences):
        if not sentence.comments and not sentence.rows:
            continue
        lines = ["\t".join([row[name] for name in COLUMNS]) for row in sentence.rows]
        for i, message in _faults(sentence.comments, lines):
            raise ValueError(f"X: sequence {k}, line {i + 1}: {message}")
        texts += [f"{line}\n" for line in (*sentence.comments, *lines, "")]
    write_text(file, "".join(texts), encoding)


def iter_sentences(file, encoding):
    """Yield the sentences of a file, which is read as they are taken."""
    # Equal strings are stored once: this saves memory and makes lookups faster.
    shared = {}
    for block in blocks(numbered_lines(file, encoding)):
        if len(shared) > _MAX_SHARED:
            shared.clear()
        numbers, lines = zip(*block, strict=True)
        comments = list(takewhile(lambda line: line.startswith("#"), lines))
        lines = lines[len(comments) :]
        for i, message in _faults(comments, lines):
            raise ValueError(f"{place(file, numbers[i])}: {message}")
        rows = []
        for line in lines:
            fields = [shared.setdefault(field, field) for field in line.split("\t")]
            rows.append(dict(zip(COLUMNS, fields, strict=True)))
        yield ConlluSentence(comments, rows)


def _relabelled(sentences, y, names, argument="y"):
    """Return sentences with the columns of the labels `y`, if given, at their words."""
    for k, sentence in enumerate(sentences):
        for i, row in enumerate(sentence.rows):
            if not _is_row(row):
                raise ValueError(
                    f"X: sequence {k}, row {i} must have a str for each of "
                    f"{list(COLUMNS)}; it is {row!r:.80}."
                )
    if y is None:
        return sentences
    lengths = [len(sentence.words) for sentence in sentences]
    columns = _label_columns(y, lengths, names, argument)
    fields = zip(*columns.values(), strict=True)
    return [
        ConlluSentence(
            sentence.comments,
            [
                row
                if _kind(row["id"]) != "word"
                else _with_values(row, names, next(fields))
                for row in sentence.rows
            ],
        )
        for sentence in sentences
    ]


def _with_values(row, names, values):
    """Return a row with the values of a label in its columns."""
    for name, value in zip(names, values, strict=True):
        row = with_value(row, name, value)
    return row


def _is_row(row):
    return (
        isinstance(row, dict)
        and row.keys() == set(COLUMNS)
        and all(isinstance(field, str) for field in row.values())
    )


def _numbered(X, y, names_of_label, columns):
    """Return sequences of tokens as sentences whose rows have all columns."""
    names = ["word"] if columns is None else checked_names(columns)
    tokens = Tokens(X, names)
    if columns is None:
        names = tokens.names
    check_known(names, "X has" if columns is None else "columns has")
    table = {name: tokens.column(name) for name in names}
    lengths = tokens.lengths.tolist()
    if "id" not in table:
        table["id"] = [str(t + 1) for length in lengths for t in range(length)]
    empty = [EMPTY] * len(tokens)
    parts = [table.pop(name, empty) for name in COLUMNS]
    rows = (dict(zip(COLUMNS, f, strict=True)) for f in zip(*parts, strict=True))
    # What is left are attributes.
    if y is not None:
        table |= _label_columns(y, tokens.lengths, names_of_label)
    if table:
        fields = zip(rows, zip(*table.values(), strict=True), strict=True)
        rows = (_with_values(row, table, own) for row, own in fields)
    return [ConlluSentence([], list(islice(rows, length))) for length in lengths]


def _label_columns(y, lengths, names, argument="y"):
    """Return the values of the columns of the labels of all items, by their names."""
    labels = flat_labels(y, lengths, argument)
    rows = [taken_apart(str(label), len(names)) for label in labels]
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def _columns_of_trees(trees):
    """Return the lists of fields that trees have for each sentence, by column."""
    pairs = [tree if isinstance(tree, tuple) else (tree,) for tree in trees]
    if len(set(map(len, pairs))) > 1 or any(len(pair) > 2 for pair in pairs):
        raise ValueError(
            "trees must be tuples (heads, relations) for all sentences, or heads alone "
            "for all; heads are lists or arrays."
        )
    for k, (heads, *_) in enumerate(pairs):
        if len(heads) and np.asarray(heads).dtype.kind not in "iu":
            raise ValueError(f"trees: the heads of sentence {k} must be integers.")
    columns = zip(*pairs, strict=True) if pairs else [[]]
    return dict(zip(("head", "deprel"), columns, strict=False))


def _tokens(rows, names):
    """Return the tokens of rows, which have columns and attributes of these names."""
    if all(map(COLUMNS.__contains__, names)):
        return [{name: row[name] for name in names} for row in rows]
    columns = [values_of(rows, name) for name in names]
    return [dict(zip(names, own, strict=True)) for own in zip(*columns, strict=True)]


def labels_of(rows, names, k):
    """Return the labels of rows of sentence k, made of columns."""
    if len(names) == 1:
        return values_of(rows, names[0])
    try:
        labels = [joined([value_of(row, name) for name in names]) for row in rows]
    except ValueError as error:
        raise ValueError(f"sentence {k}: {error}.") from None
    return list(map(sys.intern, labels))


def checked_label(label, what):
    """Return the names of the columns of a label; ValueError if one is unknown."""
    names = columns_of(str(label))
    check_known(names, what)
    if len(set(names)) < len(names):
        raise ValueError(f"{what} {label!r}, which has a column twice.")
    return names


def check_known(names, what):
    """Raise ValueError if CoNLL-U has no column of one of the names."""
    for name in names:
        if column_of(str(name)) not in COLUMNS:
            raise ValueError(
                f"{what} {name!r}, but the columns of CoNLL-U are called "
                f"{list(COLUMNS)}, where 'word' is FORM; an attribute of FEATS or MISC "
                "has a name such as 'misc:NER'."
            )


def _kind(identifier):
    if "-" in identifier:
        return "multiword token"
    return "empty node" if "." in identifier else "word"


def _faults(comments, lines):
    """Yield the number of each wrong line of a sentence, from 0, and a message."""
    for i, comment in enumerate(comments):
        if not _COMMENT.fullmatch(comment):
            yield i, f"a comment must begin with # and be one line; it is {comment!r}."
    for i, line in enumerate(lines, start=len(comments)):
        if not _LINE.fullmatch(line):
            yield i, f"{_fault_of_line(line)}. The line is {line!r:.80}."
    for i, message in _faults_of_ids([line.partition("\t")[0] for line in lines]):
        yield i + len(comments), message


def _fault_of_line(line):
    if line.startswith("#"):
        return (
            "comments stand before the words of a sentence; move this one there, or, "
            "if a new sentence begins, put a blank line before it"
        )
    fields = line.split("\t")
    if len(fields) != len(COLUMNS):
        return (
            f"{counted(len(fields), 'column')}, but CoNLL-U has {len(COLUMNS)}; "
            "separate them by single tabs, and write _ for one that is empty. Files "
            "with further columns are of the format 'conllup'"
        )
    for name, field in zip(COLUMNS, fields, strict=True):
        title = "FORM" if name == "word" else name.upper()
        if not field:
            return f"{title} is empty; write _ for it"
        if "\n" in field or "\r" in field:
            return f"{title} has a line break; remove it"
        if " " in field and name not in _WITH_SPACES:
            return f"{title} has a space, which only FORM, LEMMA and MISC may have"


def _faults_of_ids(ids):
    """Yield the number of the first id that is wrong where it stands, and a message."""
    # The last word, the number of empty nodes after it, and the last range.
    word = empty = first = last = 0
    for i, text in enumerate(ids):
        if text == str(word + 1):
            word, empty = word + 1, 0
        elif text == f"{word}.{empty + 1}" and first <= word:
            empty += 1
        elif (
            (found := _RANGE.fullmatch(text))
            and last <= word
            and int(found[1]) == word + 1 <= int(found[2])
        ):
            first, last = int(found[1]), int(found[2])
        else:
            following = word + 1
            yield (
                i,
                f"ID {text!r:.40} cannot stand here. The next word has the ID "
                f"{following}, a multiword token before it one such as "
                f"{following}-{following + 1}, and an empty node {word}.{empty + 1}; "
                "if a new sentence begins here, put a blank line before it.",
            )
            return
    if last > word:
        yield (
            len(ids) - 1,
            f"the sentence ends with word {word}, but the multiword token "
            f"{first}-{last} has words up to {last}.",
        )
    elif word == 0:
        yield (
            len(ids) - 1,
            "the sentence ends without a word; remove the blank line between its "
            "comments and its words, or the comments.",
        )
