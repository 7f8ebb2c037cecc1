"""The options on input, and the models that read it.

Owns how the options and a model say which format is read: the `TokenFeatures` of a
model has the names of the columns, and its last step, the CRF, the name of the column
that it predicts.
"""

import argparse
import re

from sklearn.pipeline import Pipeline

from skcrf_sdca.data.label_names import named_lists
from skcrf_sdca.estimators.online_dependencies import OnlineDependencyCRF
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.persistence import load_model
from skcrf_sdca.text import TokenFeatures, unify_labels
from skcrf_sdca.text.core.files import text_encoding
from skcrf_sdca.text.corpora import ALIASES, FORMATS, guessed_format, options_of
from skcrf_sdca.text.features.values import WORD
from skcrf_sdca.text.formats.conllu import COLUMNS
from skcrf_sdca.text.formats.label_columns import column_of, columns_of

from ._formats import ColumnsFormat, ConlluFormat, CorpusFormat, Lines, TextFormat
from ._streams import STANDARD_INPUT, answered

FILE_HELP = "text, also compressed by gzip, bzip2 or xz; - is the standard input"
_UTF_8 = "utf-8-sig"
# Formats of tokens with features of their own, and of data in memory.
_NOT_OF_FILES = {"attributes", "mallet", "crfsuite", "records", "huggingface"}
# The readers of the formats that are written as they were read.
_KEPT = {FORMATS[name].read for name in ("columns", "conllu")}
FORMAT_NAMES = [name for name in [*FORMATS, *ALIASES] if name not in _NOT_OF_FILES]


def add_files(parser):
    """Add the files to read, by default the standard input."""
    parser.add_argument(
        "files",
        nargs="*",
        default=[STANDARD_INPUT],
        metavar="FILE",
        help=f"{FILE_HELP}, the default",
    )


def add_reading_options(parser, *further):
    """Add the options on how files are read; `further` are names of formats."""
    parser.add_argument(
        "--format",
        choices=[*further, *FORMAT_NAMES],
        metavar="NAME",
        help="format of the files, such as columns, conllu, csv, json, doccano, brat "
        "or another of read_corpus (default: the one that their names tell, such as "
        ".conllu, .csv or .jsonl, else columns)",
    )
    parser.add_argument(
        "--option",
        type=_option,
        action="append",
        default=[],
        dest="format_options",
        metavar="NAME=VALUE",
        help="an option of the format, such as sentence=sent_id for a table; may be "
        "repeated",
    )
    parser.add_argument(
        "--tokens",
        metavar="PATTERN",
        help="what tokens of texts are: 'blanks' separate them (the default of "
        "--format text), 'words' and single other characters are tokens (the default "
        "of other formats), 'characters' are, or a regular expression finds them",
    )
    parser.add_argument(
        "--label-form",
        metavar="FORM",
        help="form of the labels in files, such as B_PER, PER-B or auto: they become "
        "such as B-PER",
    )
    _add_line_options(parser)


def _add_line_options(parser):
    """Add the options on the lines of files of columns, and the encoding."""
    parser.add_argument(
        "--comment",
        metavar="TEXT",
        help="how comments begin in files of columns (default: there are none)",
    )
    parser.add_argument(
        "--delimiter",
        metavar="TEXT",
        help="what separates columns (default: tabs, or else blanks)",
    )
    parser.add_argument(
        "--header",
        action="store_true",
        help="the first line of a file of columns has the names of the columns",
    )
    parser.add_argument(
        "--encoding",
        type=_encoding,
        default=_UTF_8,
        metavar="NAME",
        help="encoding of the text (default: utf-8)",
    )


def _option(text):
    name, sign, value = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"{text!r:.80} is not NAME=VALUE.")
    return name, value


def add_model_option(parser, *, required):
    """Add the option that names a model file."""
    parser.add_argument(
        "-m",
        "--model",
        required=required,
        metavar="MODEL",
        help="a file of train or save_model",
    )


def _encoding(name):
    try:
        return text_encoding(name)
    except LookupError as error:
        raise argparse.ArgumentTypeError(error.args[0]) from error


def lines_of(options):
    """Return how the options say that lines of columns are read."""
    return Lines(options.comment, options.encoding, options.delimiter, options.header)


def format_name(options, first):
    """Return the name of the format that the options say, or the name of a file."""
    name = options.format
    if name is None:
        return "columns" if first == STANDARD_INPUT else guessed_format(first)
    return ALIASES.get(name, name)


def labelled_sentences(source, names, options):
    """Return the tokens and the labels of all sentences of files in a format."""
    X, y = [], []
    for name in names:
        for sentence in source.sentences(name, labelled=True):
            X.append(sentence.tokens)
            y.append(sentence.labels)
    check_any(y, names)
    form = (
        options.label_form or FORMATS[format_name(options, options.files[0])].label_form
    )
    return X, y if form is None else unify_labels(y, form)


def check_any(y, names):
    """Raise ValueError if there are no sentences in files."""
    if not y:
        raise ValueError(f"{', '.join(names)}: no sentence.")


def answer_all(sentences, names, size, answer):
    """Call a function on the lists of at most `size` sentences of files.

    ``sentences(file)`` yields those of a file. Lists have fewer sentences where a file
    ends, or the program would wait for more of it.
    """
    batch = []

    def answer_batch():
        own, batch[:] = list(batch), []
        if own:
            answer(own)

    for name in names:
        with answered(name, answer_batch) as file:
            for sentence in sentences(file):
                batch.append(sentence)
                if len(batch) >= size:
                    answer_batch()
        answer_batch()


def load_any(path):
    """Return the Tagger or the OnlineDependencyCRF of a model file."""
    model = load_model(path)
    if isinstance(model, OnlineDependencyCRF):
        return model
    return _tagger_of(model, path)


def load_tagger(path):
    """Return the Tagger of a model file."""
    return _tagger_of(load_model(path), path)


def _tagger_of(model, path):
    if not isinstance(model, Pipeline) or not isinstance(model[0], TokenFeatures):
        raise ValueError(
            f"{path}: the model cannot read text: it must be a Tagger or a Pipeline "
            "whose first step is a TokenFeatures."
        )
    *steps, (name, crf) = model.steps
    # The estimator within a compat.CRF has the methods of the others.
    return Tagger([*steps, (name, getattr(crf, "estimator_", crf))])


def label_texts(tagger, y):
    """Return label lists of a model as files have them: names, if it has some."""
    return [list(map(str, labels)) for labels in named_lists(tagger, y)]


def source_of(tagger, options, first):
    """Return the format of the files that a tagger reads, of which one is the first."""
    columns, label = list(tagger[0].columns), tagger.steps[-1][0]
    if options.format == "text":
        return _text_format(columns, options)
    name = format_name(options, first)
    if not keeps_lines(name, options):
        return corpus_format(name, columns, options)
    if set(map(column_of, columns_of(label))) <= set(COLUMNS):
        return ConlluFormat(columns, label, options.encoding)
    classes = tagger[-1].classes_.tolist()
    known = set(label_texts(tagger, [classes])[0])
    return ColumnsFormat(columns, lines_of(options), known=known)


def keeps_lines(name, options):
    """Return whether a format is written as it was read: columns or CoNLL-U."""
    if FORMATS[name].read not in _KEPT:
        return False
    if options.format_options:
        options.usage_error(f"--option: the format {name} has none.")
    return True


def corpus_format(name, columns, options, label=None):
    """Return a format of `read_corpus` with the options that the command has for it."""
    given = {
        "tokens": _pattern(options),
        "delimiter": options.delimiter,
        "comment": options.comment,
        "label": label,
    }
    own = {option: value for option, value in given.items() if value is not None}
    own = {option: own[option] for option in own if option in options_of(name)}
    own |= dict(options.format_options)
    return CorpusFormat(name, columns, own, options.encoding)


def _text_format(columns, options):
    if columns != [WORD]:
        raise ValueError(
            f"--format text: the model needs the columns {', '.join(columns)} of each "
            "token, and text has words alone."
        )
    return TextFormat(_pattern(options) or "blanks", options.encoding)


def _pattern(options):
    """Return what --tokens says, or None; the names of patterns are expressions too."""
    try:
        re.compile(options.tokens or "")
    except re.error as error:
        options.usage_error(f"--tokens: no regular expression: {error}.")
    return options.tokens
