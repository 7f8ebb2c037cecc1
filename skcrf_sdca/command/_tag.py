"""`skcrf-sdca tag` labels text, which it reads and writes sentence by sentence."""

from functools import partial

from skcrf_sdca.estimators.thresholds import TunedSpans
from skcrf_sdca.metrics._scorers import scheme_of_readable

from ._formats import ConlluFormat
from ._inputs import (
    add_files,
    add_model_option,
    add_reading_options,
    batches,
    label_texts,
    load_tagger,
    source_of,
)
from ._streams import encode_output, write

HELP = "label the sentences of files or of the standard input"


def add_options(parser):
    """Add the options of `tag`."""
    add_model_option(parser, required=True)
    add_files(parser)
    add_reading_options(parser, "text")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--proba",
        action="store_true",
        help="add the probability of each label as a further column",
    )
    what.add_argument(
        "--spans",
        action="store_true",
        help="write a line for each span instead: number of the sentence, type, begin, "
        "end, probability and text, separated by tabs; numbers count from 0; begin and "
        "end are tokens, and of texts characters",
    )
    parser.add_argument(
        "--at-least",
        type=float,
        metavar="P",
        help="with --spans: all spans that are more probable than P and do not "
        "overlap, in place of the spans of the most probable labels; 0.3 finds more",
    )
    parser.add_argument(
        "--batch",
        type=int,
        default=1000,
        metavar="N",
        help="sentences to read before they are labelled and written (default: 1000); "
        "1 answers each sentence at once",
    )


def run(options):
    """Write the sentences of the files with their predicted labels."""
    if options.batch < 1:
        options.usage_error("--batch must be at least 1.")
    least = options.at_least
    if least is not None and not (options.spans and 0.0 <= least <= 1.0):
        options.usage_error("--at-least needs --spans, and a number from 0 to 1.")
    tagger = load_tagger(options.model)
    source = source_of(tagger, options, options.files[0])
    if options.proba and isinstance(source, ConlluFormat):
        options.usage_error("--proba: CoNLL-U has no column for probabilities.")
    answer = _with_proba if options.proba else _labelled
    if options.spans:
        answer = partial(_spans, least)
    if answer is not _labelled:
        _check_has_probabilities(tagger[-1])
    # Bytes go out in the encoding in which they came, whatever the terminal has.
    encode_output(options.encoding.removesuffix("-sig"))
    n_written = 0
    for name in options.files:
        for batch in batches(source.sentences(name, labelled=False), options.batch):
            X = [sentence.tokens for sentence in batch]
            write(answer(tagger, source, batch, X, n_written))
            n_written += len(batch)


def _check_has_probabilities(crf):
    try:
        getattr(crf, "predict_proba")  # noqa: B009
    except AttributeError as error:
        raise ValueError(f"--proba, --spans: {error}.") from error


def _labelled(tagger, source, batch, X, first):
    """Yield the texts of sentences with their labels."""
    predicted = label_texts(tagger, tagger.predict(X))
    for sentence, labels in zip(batch, predicted, strict=True):
        yield source.text(sentence, labels)


def _with_proba(tagger, source, batch, X, first):
    """Yield the texts of sentences with their labels and probabilities."""
    number = {label: k for k, label in enumerate(tagger[-1].classes_.tolist())}
    y = tagger.predict(X)
    answers = zip(
        batch, y, label_texts(tagger, y), tagger.predict_proba(X), strict=True
    )
    for sentence, labels, texts, marginals in answers:
        proba = marginals[range(len(labels)), [number[label] for label in labels]]
        yield source.text(sentence, texts, [f"{p:.4f}" for p in proba])


def _spans(least, tagger, source, batch, X, first):
    """Yield the lines of the spans of sentences, of all above a probability if any."""
    scheme, crf = None, tagger[-1]
    # A model of segments was fitted in a scheme, and answers in no other.
    if not hasattr(crf, "scheme_"):
        scheme = scheme_of_readable(label_texts(tagger, [crf.classes_.tolist()]))
        if scheme is None:
            raise ValueError(
                "--spans: the labels of the model are in no tagging scheme."
            )
    words = [[columns[0] for columns in sentence.tokens] for sentence in batch]
    if least is None:
        found = tagger.predict_spans(X, scheme=scheme, tokens=words)
    else:
        own = TunedSpans(tagger, scheme=scheme or crf.scheme_, threshold=least)
        found = own.predict_spans(X, tokens=words)
    for i, (sentence, spans) in enumerate(zip(batch, found, strict=True), start=first):
        for span_type, begin, end, proba, text in source.located(sentence, spans):
            where = f"{source.number(sentence, i)}\t{span_type}\t{begin}\t{end}"
            yield f"{where}\t{proba:.4f}\t{text}\n"
