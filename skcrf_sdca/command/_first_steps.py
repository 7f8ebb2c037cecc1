"""The first step of a Tagger that `train` fits: what makes the features of tokens."""

from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.text.features.values import WORD

from ._evaluate import add_scheme_option
from ._formats import AttributesFormat
from ._template_files import checked_features, default_templates, read_templates


def add_text_options(group, repair_in):
    """Add the options on templates and labels, and say what --repair makes valid in."""
    group.add_argument(
        "--templates", metavar="FILE", help="templates of the features, one on a line"
    )
    add_scheme_option(group, "the first in which all labels are valid")
    group.add_argument(
        "--repair", action="store_true", help=f"make labels valid, in {repair_in}"
    )


def first_step(source, options):
    """Return the name and the first step of a Tagger."""
    if isinstance(source, AttributesFormat):
        return source.name, SequenceVectorizer()
    return "features", _features(source, options)


def _features(source, options):
    """Return the TokenFeatures of a format whose columns are known."""
    if options.templates is None:
        templates = default_templates(source.read_columns)
    else:
        templates = read_templates(options.templates, source.read_columns)
    return checked_features(templates, source.columns, _templates_name(options))


def check_features(source, options):
    """End with a usage error if tokens with features of their own get templates."""
    if isinstance(source, AttributesFormat) and options.templates is not None:
        options.usage_error(
            f"--templates: tokens of the format {source.name} have features already."
        )


def check_has_features(n_features, options):
    """Raise ValueError if there is no feature."""
    if n_features == 0:
        raise ValueError(
            f"{_templates_name(options)}: no token has a feature: the templates reach "
            "beyond the ends of all sentences."
        )


def take_features(reading, source, first):
    """Say which columns are features: those that templates read, but for words."""
    if "features" in reading.taken:
        read = [name for name in first.read_columns() if name != WORD]
        names = f"{', '.join(read)}, which new text needs too" if read else "none"
        reading.take("features", names, option=reading.guesses.get("features"))


def _templates_name(options):
    return "default templates" if options.templates is None else options.templates
