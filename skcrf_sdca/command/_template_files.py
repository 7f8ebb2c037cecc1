"""Files of templates, one on a line, in the words of `skcrf_sdca.text`.

Owns their syntax, the constructors of templates as Python writes them, and the default
templates of a file with several columns; features/foreign_templates.py reads lines of
CRF++ and Wapiti. No line is run as code.
"""

import ast
import os
from functools import partial

from skcrf_sdca.persistence._templates import CLASSES, templates_of
from skcrf_sdca.text import DEFAULT_TEMPLATES, Lookup, TokenFeatures, Window
from skcrf_sdca.text.core.files import numbered_lines, place
from skcrf_sdca.text.features.foreign_templates import foreign_templates, is_foreign
from skcrf_sdca.text.features.sizes import check_sizes
from skcrf_sdca.text.features.templates import sized
from skcrf_sdca.text.features.values import FUNCTIONS, WORD, Column

from ._columns import may_be_read
from ._streams import write

HELP = "print the default templates, for a file that train --templates reads"
# The errors that a line raises which is no template.
_WRONG = (MemoryError, OSError, RecursionError, SyntaxError, TypeError, ValueError)
_CONSTRUCTORS = {name: cls for name, cls in CLASSES.items() if cls is not Column}


def add_options(parser):
    """Add the options of `templates`."""
    parser.add_argument(
        "--columns",
        type=lambda text: text.split(","),
        default="word,pos",
        metavar="NAME,...",
        help="names of the columns (default: word,pos)",
    )


def run(options):
    """Print the default templates."""
    templates = default_templates(list(filter(may_be_read, options.columns)))
    checked_features(templates, options.columns, "default templates")
    write(f"{template!r}\n" for template in templates)


def default_templates(columns):
    """Return templates for the words of any language, and for other columns."""
    others = [name for name in columns if name != WORD]
    return [
        *DEFAULT_TEMPLATES,
        *(Window(name, 2, n=n) for name in others for n in (1, 2, 3)),
    ]


def checked_features(templates, columns, name):
    """Return the TokenFeatures of templates, called `name` in messages, and columns.

    Raise ValueError, before a long fit, for what a model file cannot hold, and for
    columns that are missing.
    """
    features = TokenFeatures(templates, columns=columns)
    try:
        templates_of(features.fit().get_params())
        features.transform([[("",) * len(columns)]])
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    return features


def read_templates(path, columns=(WORD, "pos")):
    """Return the templates of a file; blank lines and comments, "#", are left out.

    Templates of CRF++ and Wapiti name ``columns`` by numbers. A template that such a
    file has twice counts once. Files that a `Lookup` names stand beside the file. Raise
    ValueError if a line is no template, or there is none.
    """
    templates = []
    lookup = partial(_lookup, os.path.dirname(path))
    constructors = {**_CONSTRUCTORS, Lookup.__name__: lookup}
    for number, line in numbered_lines(path, "utf-8-sig"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            if is_foreign(line):
                found = foreign_templates(line, list(columns))
                templates += [new for new in found if new not in templates]
                continue
            node = ast.parse(line.strip(), mode="eval").body
            template = _built(node, constructors)
            check_sizes(type(template).__name__, [sized(template)])
        except _WRONG as error:
            # The stack of Python, or of its parser, is too small.
            too_deep = isinstance(error, (MemoryError, RecursionError))
            why = "it is nested too deep." if too_deep else error
            if isinstance(error, OSError):
                why = f"{error.filename}: {error.strerror}."
            raise ValueError(
                f"{place(path, number)}: {line.strip()!r:.80} is no template: {why}"
            ) from error
        templates.append(template)
    if not templates:
        raise ValueError(
            f"{path}: there is no template. A template is a line such as "
            f"{DEFAULT_TEMPLATES[0]!r}; 'skcrf-sdca templates' prints the default ones."
        )
    return templates


def _lookup(folder, table, *options, **named):
    """Return a Lookup, whose file of words is in a folder."""
    own = os.path.join(folder, table) if isinstance(table, str) else table
    return Lookup(own, *options, **named)


def _built(node, constructors):
    """Return what an expression constructs."""
    if isinstance(node, ast.Call):
        arguments = {k.arg: _built(k.value, constructors) for k in node.keywords}
        build = _entry(node.func, constructors)
        return build(*(_built(value, constructors) for value in node.args), **arguments)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _entry(node, FUNCTIONS)
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError(
            f"{ast.unparse(node)} is no value that is written out, as 2 and 'word' are."
        ) from None


def _entry(node, table):
    name = ast.unparse(node)
    if name not in table:
        raise ValueError(f"{name} is not among {', '.join(table)}.")
    return table[name]
