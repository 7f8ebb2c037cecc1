"""`read_corpus` reads labelled text in all formats: one table says which there are."""

import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from skcrf_sdca._utils.files import is_regular_file
from skcrf_sdca._utils.messages import alternatives, described
from skcrf_sdca.data.containers import advice_on, is_frame

from .core.files import is_path, is_source, numbered_lines
from .core.folders import ends_in, others_in
from .core.passages import Read
from .core.reading import Reading
from .formats.attributes import read_attributes, read_scaled
from .formats.conll import read_columns
from .formats.conllu import read_treebank
from .formats.conllu_plus import read_plus
from .formats.i2b2 import read_i2b2
from .formats.marked_up import read_brackets, read_penn, read_slash
from .formats.markup import read_markup
from .formats.records import named, read_records
from .formats.standoff import read_brat, read_pubtator, write_brat, write_pubtator
from .formats.tables import has_names, read_table
from .formats.webanno import read_webanno
from .formats.written_records import (
    of_doccano,
    of_label_studio,
    of_spacy,
    with_tokens,
    write_lines,
    write_list,
)
from .formats.xml_records import read_bioc, read_xmi
from .spans.label_forms import unify_labels


class Format(NamedTuple):
    """A format: what reads it, the options that it sets, and the form of its labels.

    ``write(file, documents, encoding)`` writes texts with spans, if it is written.
    `folders` says whether a folder is read.
    """

    read: Callable[..., Iterator[Read]]
    options: Mapping[str, Any] = {}
    label_form: str | None = None
    write: Callable[..., None] | None = None
    folders: bool = False


FORMATS: Mapping[str, Format] = {
    "columns": Format(read_columns),
    "conllu": Format(read_treebank),
    "conllup": Format(read_plus),
    "grobid": Format(read_columns, label_form="I-<PER>"),
    "table": Format(read_table),
    "json": Format(read_records, write=partial(write_lines, with_tokens)),
    "prodigy": Format(read_records, write=partial(write_lines, with_tokens)),
    "doccano": Format(read_records, write=partial(write_lines, of_doccano)),
    "spacy": Format(read_records, write=partial(write_lines, of_spacy)),
    "label-studio": Format(read_records, write=partial(write_list, of_label_studio)),
    "records": Format(read_records),
    "brat": Format(read_brat, write=write_brat, folders=True),
    "pubtator": Format(read_pubtator, write=write_pubtator),
    "i2b2": Format(read_i2b2, folders=True),
    "bioc": Format(read_bioc),
    "xmi": Format(read_xmi),
    "webanno": Format(read_webanno),
    "slash": Format(read_slash),
    "penn": Format(read_penn),
    "brackets": Format(read_brackets),
    "markdown": Format(
        read_brackets, {"brackets": "[Anna Meier](PER)", "tokens": None}
    ),
    "opennlp": Format(read_brackets, {"brackets": "<START:PER> Anna Meier <END>"}),
    "xml": Format(read_markup),
    "attributes": Format(read_attributes),
    "mallet": Format(read_attributes, {"label": "last"}),
    "crfsuite": Format(read_scaled),
}
# Names of programs, data sets and kinds of files, for the formats that these have.
_ALIASES = {
    "columns": "conll conll2000 conll2002 conll2003 crf++ wapiti wnut stanford iob bio",
    "table": "csv tsv frame kaggle",
    "json": "jsonl gliner vertex",
    "webanno": "inception",
    "xmi": "uima",
    "records": "huggingface",
    "slash": "brown",
    "markdown": "rasa",
    "xml": "muc",
    "brat": "standoff",
}
ALIASES = {name: own for own, names in _ALIASES.items() for name in names.split()}
# The formats of files by the ends of their names; others have columns.
_SUFFIXES = {
    **{f".{name}": name for name in ("conllu", "conllup", "xml", "pubtator", "xmi")},
    **{".jsonl": "json", ".json": "json", ".csv": "table", ".ann": "brat"},
    ".con": "i2b2",
    **{".ndjson": "json", ".sgml": "xml", ".sgm": "xml", ".pos": "penn"},
}
# The formats of folders, by the ends of the names of annotations.
_FOLDERS = {".ann": "brat", ".con": "i2b2"}
# Other formats of files with the same end, by what their first lines begin with.
_BEGINNINGS = {
    ".xml": {"<collection": "bioc", "<!DOCTYPE collection": "bioc", "<xmi:": "xmi"},
    ".tsv": {"#FORMAT=WebAnno": "webanno"},
    ".yml": {"nlu:": "markdown"},
    ".yaml": {"nlu:": "markdown"},
}
# Files of other programs, which are no text -> what reads them.
_BINARY = {
    ".spacy": "DocBin().from_disk(path).get_docs(nlp.vocab) of spaCy",
    ".parquet": "pandas.read_parquet(path)",
    ".feather": "pandas.read_feather(path)",
    ".arrow": "datasets.Dataset.from_file(path)",
    ".xlsx": "pandas.read_excel(path)",
}
_N_FIRST_LINES = 3
_COMPRESSED = re.compile(r"\.(gz|bz2|xz)$")


def read_corpus(
    source: Any,
    format: str | None = None,
    *,
    labelled: bool = True,
    label_form: str | None = None,
    label_names: Sequence[str] | None = None,
    return_sources: bool = False,
    return_reading: bool = False,
    encoding: str = "utf-8-sig",
    **options: Any,
) -> Any:
    r"""Read sequences of tokens and their labels, from a file or data in any format.

    Parameters
    ----------
    source : str, path-like, open file, data frame, or iterable of records
        What is read; see the table of formats. Files may be compressed by gzip, bzip2
        or xz.
    format : str, default=None
        The format, see Notes. By default the end of the name of a file tells it, such
        as ".conllu", ".jsonl" or ".csv", and other files have columns. A data frame is
        a "table", a folder has texts of brat or i2b2, and other data in memory are
        "records".
    labelled : bool, default=True
        Whether to read labels.
    label_form : str, default=None
        Write labels such as "B_PER" or "PER-B" as "B-PER", as :func:`unify_labels`
        does: the name of a form, or "auto". By default labels are as in the file, but
        for the format "grobid".
    label_names : sequence of str, default=None
        The names of labels that are numbers. Data sets of Hugging Face have them.
    return_sources : bool, default=False
        Whether to return the texts and the offsets of the tokens too.
    return_reading : bool, default=False
        Whether to return what was read and how, too.
    encoding : str, default="utf-8-sig"
        Encoding of bytes; the default is UTF-8, with or without a byte order mark.
    **options
        Options of the format, see Notes.

    Returns
    -------
    X : list of lists of tokens
        Tokens are ``{column: str}``, of which "word" is one, for a
        :class:`TokenFeatures`. In the formats "attributes", "mallet" and "crfsuite"
        they are features, lists of str or ``{name: value}``, for an estimator.
    y : list of lists of str
        The labels; None for one that is missing. Not returned if not `labelled`.
    sources : list of TextSource
        Only returned if `return_sources`.
    reading : Reading
        What was taken for the format, the word, the label and so on, and which of it
        was guessed: ``print(reading)`` shows it in one line. ``reading.labels`` counts
        the labels, ``reading.taken`` and ``reading.guesses`` are dicts of the above,
        and ``reading.messages()`` lists the warnings. Only returned if
        `return_reading`.

    Raises
    ------
    ValueError
        If the source does not have the format, or another encoding, or an option has a
        wrong value; the message names the line or the record.
    TypeError
        If the format does not have an option.
    OSError
        If a file cannot be read or decompressed.

    Warns
    -----
    ReadingWarning
        If something is left out or repaired, such as spans that begin or end inside of
        a token: the message counts it and names the first. If what was read is odd: a
        label is '', or there is one label in all; the message names the option that
        says otherwise.

    See Also
    --------
    write_corpus : Writes texts with spans in these formats.
    read_conll : Reads files of columns.
    read_conllu : Reads treebanks, and returns whole sentences.

    Notes
    -----
    The formats and their options; names of programs, such as "doccano", are names of
    formats too:

    ============== ================================================= ==================
    format         what it reads                                     options
    ============== ================================================= ==================
    columns        a line has a token and its columns, as in         columns, label,
                   CoNLL-2003, WNUT, CRF++, Wapiti, Stanford NER     delimiter, comment,
                                                                     header
    grobid         columns with labels "I-<title>", "<title>"        the same
    conllu         treebanks in CoNLL-U                              columns, label
    conllup        CoNLL-U Plus                                      columns, label
    table          csv, tsv, data frames: a row has a token, and     sentence, word,
                   its sentence; or a row has a sentence             label, columns,
                                                                     delimiter, header
    json           JSON, on one line each or all in one, with tokens tokens, scheme,
                   and labels, or a text and spans: doccano,         label, columns,
                   Prodigy, Label Studio, spaCy, GLiNER, BioC        form
    doccano        the same, as the program writes it                the same
    label-studio   the same, as the program writes it                the same
    prodigy        the same, as the program writes it                the same
    spacy          the same, as the program writes it                the same
    records        the same in memory: rows of Hugging Face,         the same
                   documents of spaCy, pairs (text, spans)
    brat           texts, each with a file ``.ann``                  tokens, scheme
    pubtator       titles, abstracts and annotations                 tokens, scheme
    i2b2           texts, each with a file ``.con`` of concepts      scheme
    bioc           BioC in XML                                       attribute, tokens,
                                                                     scheme
    xmi            texts of UIMA in XMI                              types, attribute,
                                                                     tokens, scheme
    webanno        tables of WebAnno and INCEpTION, version 3        label, scheme
    slash          "the/DT dog/NN", a sentence a line                separator
    penn           "[ the/DT dog/NN ]" of the Penn Treebank
    brackets       "[PER Anna Meier ] lives", a sentence a line      brackets, comment,
                                                                     tokens, scheme
    markdown       "[Anna Meier](PER) lives", as Rasa has it, also   the same
                   in YAML
    opennlp        "<START:PER> Anna Meier <END> lives"              the same
    xml            "<PER>Anna Meier</PER> lives", or MUC's           types, attribute,
                   ``<ENAMEX TYPE="PERSON">``                        tokens, scheme
    attributes     a label and any number of features on a line      label, delimiter,
                                                                     comment
    mallet         the same, with the label last                     the same
    crfsuite       data of CRFsuite, with values and escapes
    ============== ================================================= ==================

    * columns, label, delimiter, comment, header: as in `read_conll` and `read_conllu`.
      In tables `label`, `word` and `sentence` are names of columns, or their numbers
      from 1, found by usual names if not given, and `columns` further columns of
      tokens, by default all others. `sentence` may be a list of names; an empty cell
      is as the one above. ``header=False`` says that the first row has no names. In
      "attributes" the label is "first" or "last". In "json", `label` is the field of
      labels or spans, and `columns` are fields with a value for each token; a record
      without tokens has a text.
    * form: how records are written, such as "label-studio" or "token-spans", where
      their fields do not tell; an error lists the forms that a record almost has.
    * tokens: "words", "characters", "blanks" or a regular expression that finds the
      tokens of a text, as in `tokenize`; texts end their sequences at line breaks.
    * scheme: the tagging scheme in which spans are written, by default "BIO".
    * separator: what separates a word from its label, by default "/".
    * types: the names of the elements that are spans; by default of all that hold no
      other elements, and in "xmi" of NamedEntity, or of what is no part of grammar.
    * attribute: the attribute of an element that has its type, such as "CATEG"; "" if
      its name is the type. By default one that is called "type" or alike, if it tells
      more than the names. In "bioc" it is the key of an infon, by default "type".
    * label of "webanno": a layer, "layer|feature" or a feature; by default of
      NamedEntity, or else of another layer of spans. Layers of tokens, such as POS,
      have bare labels.
    * brackets: the form of spans, "[PER Anna Meier]" or "[Anna Meier](PER)", or that
      of OpenNLP, "<START:PER> Anna Meier <END>".
    * Where a file says the texts of its spans, their bounds may count UTF-16 units, as
      Label Studio and other programs in JavaScript do, or bytes of UTF-8. A span whose
      offsets meet another text is moved to its text, if this is near and there once.

    Examples
    --------
    >>> import io
    >>> from skcrf_sdca.text import read_corpus
    >>> file = io.StringIO('{"text": "Anna left.", "label": [[0, 4, "PER"]]}\n')
    >>> read_corpus(file, "json")
    ([[{'word': 'Anna'}, {'word': 'left'}, {'word': '.'}]], [['B-PER', 'O', 'O']])
    >>> rows = {"sentence": [1, 1, 2], "word": ["Anna", "left", "Yes"],
    ...         "label": ["B-PER", "O", "O"]}
    >>> X, y = read_corpus(rows, "table")
    >>> y
    [['B-PER', 'O'], ['O']]
    """
    reading = Reading(encoding, labelled)
    found = list(iter_corpus(source, format, reading, options))
    reading.warn()
    parts: list[Any] = [[sequence.tokens for sequence in found]]
    if labelled:
        y: Any = [named(sequence.labels, label_names) for sequence in found]
        form = label_form or FORMATS[reading.taken["format"]].label_form
        parts.append(y if form is None or not y else unify_labels(y, form))
    if return_sources:
        parts.append([sequence.source for sequence in found])
    if return_reading:
        parts.append(reading)
    return tuple(parts) if len(parts) > 1 else parts[0]


def iter_corpus(
    source: Any, format: str | None, reading: Reading, options: Mapping[str, Any]
) -> Iterator[Read]:
    """Return an iterator over the sequences, which reads a file as they are taken."""
    name = format_name(source, format)
    reading.take("format", name, option="format" if format is None else None)
    own = FORMATS[name]
    known = options_of(name)
    if is_path(source) and os.path.isdir(source) and not own.folders:
        raise ValueError(
            f"{os.fspath(source)}: this is a folder, and the format {name} has single "
            f"files{others_in(source)}"
        )
    for option in options:
        if option not in known:
            raise TypeError(
                f"format {name!r} has no option {option!r}"
                f"{alternatives(option, known)}."
            )
    found = own.read(source, reading, **{**own.options, **options})
    return reading.counted(found)


def options_of(name: str) -> dict[str, inspect.Parameter]:
    """Return the options of a format, by their names."""
    source, reading, *own = inspect.signature(FORMATS[name].read).parameters.values()
    return {parameter.name: parameter for parameter in own}


def format_name(source: Any, name: str | None) -> str:
    """Return the own name of a format; the one of a source if the name is None."""
    name = guessed_format(source) if name is None else ALIASES.get(name, name)
    if name not in FORMATS:
        known = [*FORMATS, *ALIASES]
        raise ValueError(f"there is no format {name!r}{alternatives(name, known)}.")
    return name


def guessed_format(source: Any) -> str:
    """Return the name of the format that a source is taken to have."""
    if not is_source(source):
        if is_frame(source):
            return "table"
        # What is computed later, and documents without a vocabulary.
        if not isinstance(source, Iterable) and (advice := advice_on(source, "source")):
            raise TypeError(
                f"source has no records, it is {described(source)}: {advice}."
            )
        return "records"
    path = os.fspath(source) if is_path(source) else str(getattr(source, "name", ""))
    if os.path.isdir(path):
        ends = ends_in(path)
        return next((x for end, x in _FOLDERS.items() if end in ends), "brat")
    _, suffix = os.path.splitext(_COMPRESSED.sub("", path))
    suffix = suffix.lower()
    # What is read of a pipe is gone: its name alone tells.
    if is_path(source) and is_regular_file(source):
        first = _first_lines(source) if suffix in _BEGINNINGS else []
        for beginning, name in _BEGINNINGS.get(suffix, {}).items():
            if any(line.startswith(beginning) for line in first):
                return name
        if suffix == ".tsv" and has_names(source):
            return "table"
    if suffix in _BINARY:
        raise ValueError(
            f"{path}: a file {suffix} is no text; pass {_BINARY[suffix]} as the source."
        )
    return _SUFFIXES.get(suffix, "columns")


def _first_lines(path):
    try:
        lines = islice(numbered_lines(path, "latin-1"), _N_FIRST_LINES)
        # A declaration of XML may stand on the same line.
        return [re.sub(r"^.*?\?>", "", line).lstrip() for _, line in lines]
    except OSError:
        return []
