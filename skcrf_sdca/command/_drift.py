"""`skcrf-sdca drift` shows whether a model still knows the text that it gets."""

import argparse

from skcrf_sdca.estimators.drift import drift_report

from ._inputs import TEXT, load_tagger, reading_of, source_of, warn_of
from ._options import FILE_HELP, FORMAT_NAMES, add_model_option, add_reading_options
from ._streams import write

HELP = "compare what a model finds in new text with what it finds in old text"


def add_options(parser):
    """Add the options of `drift`."""
    add_model_option(parser, required=True)
    parser.add_argument("old", metavar="OLD", help=f"known text: {FILE_HELP}")
    parser.add_argument("new", metavar="NEW", help="the text to compare with it")
    add_reading_options(parser, TEXT, labelled=False)
    parser.add_argument(
        "--old-format",
        choices=[TEXT, *FORMAT_NAMES],
        metavar="NAME",
        help="format of OLD, if it is another one than that of --format",
    )


def run(options):
    """Print the report."""
    tagger = load_tagger(options.model)
    own = options.old_format or options.format
    of_old = argparse.Namespace(**vars(options) | {"format": own})
    old = _sentences(tagger, of_old, options.old)
    report = drift_report(tagger, old, _sentences(tagger, options, options.new))
    write([f"{report}\n"])


def _sentences(tagger, options, name):
    """Yield the tokens of the sentences of a file."""
    reading = reading_of(options, labelled=False)
    for sentence in source_of(tagger, options, name).sentences(name, reading):
        yield sentence.tokens
    warn_of(reading)
