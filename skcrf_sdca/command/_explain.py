"""`skcrf-sdca explain` shows the weights of a model, or those behind one label."""

from skcrf_sdca._utils.messages import counted

from ._inputs import TEXT, load_tagger, reading_of, source_of
from ._options import FILE_HELP, READING, add_model_option, add_reading_options, refuse
from ._streams import write

HELP = "show the strongest features of each label, or those behind one decision"


def add_options(parser):
    """Add the options of `explain`."""
    add_model_option(parser, required=True)
    parser.add_argument("file", nargs="?", metavar="FILE", help=FILE_HELP)
    add_reading_options(parser, TEXT, labelled=False)
    parser.add_argument(
        "--sentence",
        type=int,
        default=0,
        metavar="I",
        help="number of the sentence in FILE, from 0 (default: 0)",
    )
    parser.add_argument(
        "--token",
        type=int,
        metavar="J",
        help="number of the token to explain, from 0; needs FILE",
    )
    parser.add_argument(
        "--top",
        type=int,
        default=10,
        metavar="N",
        help="how many features for and against each label (default: 10)",
    )
    parser.add_argument(
        "--labels",
        type=lambda text: text.split(","),
        metavar="LABEL,...",
        help="labels to show (default: all; of one decision, the best two)",
    )


def run(options):
    """Print the table."""
    if (options.file is None) != (options.token is None):
        options.usage_error("FILE and --token must be given together.")
    if options.file is None:
        refuse(options, [*READING, "sentence"], "needs FILE and --token.")
    if options.top < 1:
        options.usage_error("--top must be at least 1.")
    tagger = load_tagger(options.model)
    labels = options.labels and _classes(tagger, options.labels)
    if options.file is None:
        write([f"{tagger.top_features(options.top, labels)}\n"])
        return
    tokens = _sentence(source_of(tagger, options, options.file), options)
    if not 0 <= options.token < len(tokens):
        raise ValueError(
            f"{options.file}, sentence {options.sentence}: there is no token "
            f"{options.token}, {_has(len(tokens), 'token')}."
        )
    write([f"{tagger.explain(tokens, options.token, labels=labels)}\n"])


def _classes(tagger, labels):
    """Return the classes that labels stand for; other labels stay as they are."""
    classes = {str(label): label for label in tagger[-1].classes_.tolist()}
    return [classes.get(label, label) for label in labels]


def _sentence(source, options):
    """Return the tokens of the sentence that the options name."""
    n, reading = 0, reading_of(options, labelled=False)
    for sentence in source.sentences(options.file, reading):
        if n == options.sentence:
            return sentence.tokens
        n += 1
    raise ValueError(
        f"{options.file}: no sentence {options.sentence}, {_has(n, 'sentence')}."
    )


def _has(n, noun):
    """Return how many items there are, and which numbers they have."""
    numbers = f", with the numbers 0 to {n - 1}" if n else ""
    return f"it has {counted(n, noun)}{numbers}"
