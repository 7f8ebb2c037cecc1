"""The options on input that the subcommands share, and how messages write options."""

import argparse
from collections.abc import Iterable
from typing import get_args, get_origin

from skcrf_sdca.text.core.files import text_encoding
from skcrf_sdca.text.corpora import ALIASES, FORMATS

from ._columns import Lines
from ._streams import STANDARD_INPUT

FILE_HELP = "text, also compressed by gzip, bzip2 or xz; - is the standard input"
_UTF_8 = "utf-8-sig"
# Formats of data in memory.
_NOT_OF_FILES = {"records", "huggingface"}
FORMAT_NAMES = [name for name in [*FORMATS, *ALIASES] if name not in _NOT_OF_FILES]
# The options of formats that the command has.
OF_FORMATS = ("columns", "label", "tokens", "delimiter", "comment", "header")
# Those of `add_reading_options`.
READING = ("format", "format_options", "encoding", "label_form", *OF_FORMATS)
TRUTHS = dict.fromkeys(("yes", "true"), True) | dict.fromkeys(("no", "false"), False)
_OWN = {*OF_FORMATS, "format", "encoding", "label_form"}


def as_option(name, value=None):
    """Return how messages name an option of the command, or give it a value."""
    if name not in _OWN:
        return f"--option {name}={'...' if value is None else value}"
    own = f"--{name.replace('_', '-')}"
    return own if value is None else f"{own} {value}"


def refuse(options, names, why):
    """End with a usage error that names an option that is given, and says why."""
    for name in names:
        default = options.default_of(name)
        if getattr(options, name, default) != default:
            own = "option" if name == "format_options" else name.replace("_", "-")
            options.usage_error(f"--{own} {why}")


def add_files(parser):
    """Add the files to read, by default the standard input."""
    parser.add_argument(
        "files",
        nargs="*",
        default=[STANDARD_INPUT],
        metavar="FILE",
        help=f"{FILE_HELP}, the default",
    )


def add_reading_options(parser, *further, labelled):
    """Add the options on how files are read, with labels or without.

    `further` are names of formats.
    """
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
        type=name_and_value,
        action="append",
        default=[],
        dest="format_options",
        metavar="NAME=VALUE",
        help="an option of the format, such as sentence=sent_id for a table or "
        "types=PER,LOC for xml; may be repeated",
    )
    parser.add_argument(
        "--tokens",
        metavar="PATTERN",
        help="what tokens of texts are: 'words' and single other characters, "
        "'characters', what 'blanks' separate, or a regular expression that finds them "
        "(default: as in the training of the model, else 'words')",
    )
    if labelled:
        _add_label_form(parser)
    parser.add_argument(
        "--encoding",
        type=_encoding,
        default=_UTF_8,
        metavar="NAME",
        help="encoding of the text (default: utf-8)",
    )
    _add_column_options(parser)


def _add_label_form(parser):
    parser.add_argument(
        "--label-form",
        metavar="FORM",
        help="form of the labels in files, such as B_PER, PER-B or auto: they become "
        "such as B-PER",
    )


def _add_column_options(parser):
    """Add the options on columns, and on the lines that have them."""
    parser.add_argument(
        "--columns",
        type=lambda text: text.split(","),
        metavar="NAME,...",
        help="names of the columns; one is 'word', one may be 'label', by default the "
        "last column after these, and columns called '_' are not read (default: those "
        "of a header or a model, or word,pos,column3,..., as many as there are)",
    )
    parser.add_argument(
        "--label",
        metavar="NAME",
        help="the column with the labels: of files of columns a number from 1, or a "
        "name of --columns or a header (default: the one called label, or the last); "
        "of CoNLL-U a name such as xpos, or joined ones such as 'upos|feats' (default: "
        "upos, or that of a model); of tables and JSON a name",
    )
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
        action=argparse.BooleanOptionalAction,
        help="whether the first line of a file of columns has the names of the columns "
        "(default: if they are usual names)",
    )


def option_value(text, annotation):
    """Return the value of an option of a format, given the type of its parameter.

    Lists have commas between their parts.

    >>> from collections.abc import Iterable
    >>> from skcrf_sdca.command._options import option_value
    >>> option_value("PER,LOC", Iterable[str] | None), option_value("no", bool | None)
    (['PER', 'LOC'], False)
    """
    types = get_args(annotation) or (annotation,)
    types = {get_origin(own) or own for own in types}
    if Iterable in types and (str not in types or "," in text):
        return text.split(",")
    return TRUTHS.get(text.lower(), text) if bool in types else text


def name_and_value(text):
    """Return the name and the value of NAME=VALUE."""
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
    return Lines(options.comment, options.delimiter, options.header)
