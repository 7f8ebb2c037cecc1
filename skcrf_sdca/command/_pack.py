"""`skcrf-sdca pack` writes labelled text, which may be larger than memory, for `train`.

It reads the text once, part by part, and knows the features of all parts at the end.
"""

from itertools import chain

from skcrf_sdca._utils.words import in_words
from skcrf_sdca.data.containers import PART, parts_of
from skcrf_sdca.persistence import PackedCorpus
from skcrf_sdca.text import unify_labels

from ._corpora import About
from ._first_steps import (
    add_text_options,
    check_features,
    check_has_features,
    first_step,
    take_features,
)
from ._formats import AttributesFormat
from ._inputs import (
    check_any,
    labelled_reading,
    sentences_of,
    untrained_source,
    warn_of,
)
from ._options import FILE_HELP, add_reading_options
from ._schemes import SchemeOfParts
from ._streams import say

HELP = "write labelled files larger than memory to a folder that train takes"


def add_options(parser):
    """Add the options of `pack`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=FILE_HELP)
    add_reading_options(parser, labelled=True)
    parser.add_argument(
        "-o", "--output", required=True, metavar="FOLDER", help="the folder to write"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no messages")
    add_text_options(
        parser.add_argument_group("text and features"), repair_in="--scheme"
    )


def run(options):
    """Write the folder."""
    _check_usage(options)
    source = untrained_source(options)
    check_features(source, options)
    if source.columns is not None:
        # Before the files are read, which may take long.
        first_step(source, options)
    reading, form = labelled_reading(source, options)
    parts = parts_of(sentences_of(source, options.files, reading), PART)
    # It tells the columns.
    first = next(parts)
    check_any(first[1], options.files)
    name, step = first_step(source, options)
    features = None if isinstance(source, AttributesFormat) else step
    scheme = SchemeOfParts(options.scheme, options.repair)
    with PackedCorpus.writer(options.output, features=features) as corpus:
        for begin, part in chain([first], parts):
            y = [sentence.labels for sentence in part]
            with in_words(begin=begin):
                y = scheme.take(y if form is None else unify_labels(y, form))
            corpus.append([sentence.tokens for sentence in part], y)
        check_has_features(corpus.n_features, options)
        if options.tokens is not None:
            reading.take("tokens", options.tokens)
        about = About(name, source.label, reading.tokens, scheme.scheme)
        corpus.metadata = about._asdict()
    take_features(reading, source, step)
    if not options.quiet:
        say(
            options,
            f"{reading}; tagging scheme: {scheme.scheme}{scheme.remark}; "
            f"{corpus.n_features:,} features",
        )
    warn_of(reading)


def _check_usage(options):
    if options.repair and options.scheme in (None, "none"):
        options.usage_error("--repair needs the tagging scheme: give a --scheme.")
    if options.label_form == "auto":
        options.usage_error(
            "--label-form auto looks at all labels, and pack reads a part at a time: "
            "name the form, such as B_PER."
        )
