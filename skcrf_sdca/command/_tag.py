"""`skcrf-sdca tag` labels text, which it reads and writes sentence by sentence."""

import io
from functools import partial

from skcrf_sdca.data.spans import scheme_of_readable
from skcrf_sdca.estimators.online_dependencies import OnlineDependencyCRF
from skcrf_sdca.estimators.thresholds import TunedSpans
from skcrf_sdca.text import char_spans
from skcrf_sdca.text.core.passages import Document
from skcrf_sdca.text.writing import documents_of, whole, writer_of, written_formats

from . import _parsers
from ._formats import AttributesFormat, ConlluFormat, CorpusFormat
from ._inputs import (
    TEXT,
    answer_all,
    label_texts,
    load_any,
    reading_of,
    source_of,
    warn_of,
)
from ._jobs import answering
from ._options import add_files, add_model_option, add_reading_options
from ._streams import encode_output, say, write

HELP = "label the sentences of files or of the standard input"


def add_options(parser):
    """Add the options of `tag`."""
    add_model_option(parser, required=True)
    add_files(parser)
    add_reading_options(parser, TEXT, labelled=False)
    _add_forms(parser)
    parser.add_argument(
        "--batch",
        type=int,
        default=1000,
        metavar="N",
        help="sentences to read before they are labelled and written (default: 1000); "
        "those of a pipe are before the program waits for more",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        metavar="N",
        help="label by N processes, with N times --batch sentences at once; each has a "
        "copy of the model (default: 1, this process alone)",
    )


def _add_forms(parser):
    """Add the options on what is written."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--proba",
        action="store_true",
        help="add the probability of each label as a further column",
    )
    what.add_argument(
        "--to",
        choices=written_formats(),
        metavar="NAME",
        help="write the texts with their spans in this format instead: "
        f"{', '.join(written_formats())}",
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
        help="with --spans or --to: all spans that are more probable than P and do not "
        "overlap, in place of the spans of the most probable labels; 0.3 finds more",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="PATH",
        help="with --to: the file to write, or the folder of brat (default: the "
        "standard output)",
    )


def run(options):
    """Write the sentences of the files with their predicted labels."""
    _check_usage(options)
    tagger = load_any(options.model)
    if isinstance(tagger, OnlineDependencyCRF):
        _parsers.tag(tagger, options)
        return
    source = source_of(tagger, options, options.files[0])
    if options.proba and isinstance(source, ConlluFormat):
        options.usage_error("--proba: CoNLL-U has no column for probabilities.")
    if options.to and isinstance(source, AttributesFormat):
        options.usage_error(
            f"--to: tokens of the format {source.name} have features, and no text."
        )
    documents: list[Document] = []
    find, told = _find_and_tell(options, documents)
    if find is not _labels:
        _check_has_probabilities(tagger[-1])
    # Bytes go out in the encoding in which they came, whatever the terminal has.
    encode_output(options.encoding.removesuffix("-sig"))
    n_written, reading = 0, reading_of(options, labelled=False)
    sentences = partial(source.sentences, reading=reading)
    with answering(find, tagger, options.jobs) as answers:

        def write_batch(batch):
            nonlocal n_written
            X = [sentence.tokens for sentence in batch]
            words = [_words(source, batch)] if options.spans or options.to else []
            found = answers(X, *words)
            write(told(tagger, source, batch, found, n_written))
            n_written += len(batch)

        size = options.batch * options.jobs
        answer_all(sentences, options.files, size, write_batch)
    _tell(options, source, reading)
    if options.to:
        _write_documents(options, documents)


def _find_and_tell(options, documents):
    """Return what answers sentences, and what yields the texts of the answers."""
    if options.proba:
        return _labels_and_marginals, _with_proba
    if options.spans:
        return partial(_spans, options.at_least), _span_lines
    if options.to:
        return partial(_spans, options.at_least), partial(_keep_documents, documents)
    return _labels, _labelled


def _tell(options, source, reading):
    """Say what is not written, and warn of what is odd."""
    if "comments" in reading.taken:
        say(options, str(reading))
    if reading.n_sentences or isinstance(source, CorpusFormat):
        # An empty input of lines is as it was written.
        warn_of(reading)


def _check_usage(options):
    for name in ("batch", "jobs"):
        if getattr(options, name) < 1:
            options.usage_error(f"--{name} must be at least 1.")
    least, has_spans = options.at_least, options.spans or options.to
    if least is not None and not (has_spans and 0.0 <= least <= 1.0):
        options.usage_error(
            "--at-least needs --spans or --to, and a number from 0 to 1."
        )
    if options.output is not None and not options.to:
        options.usage_error("--output needs --to.")
    if options.to == "brat" and options.output is None:
        options.usage_error("--to brat needs a folder, --output.")


def _check_has_probabilities(crf):
    try:
        getattr(crf, "predict_proba")  # noqa: B009
    except AttributeError as error:
        raise ValueError(f"--proba, --spans: {error}.") from error


def _labels(tagger, X):
    """Return the labels of sentences."""
    return list(tagger.predict(X))


def _labelled(tagger, source, batch, found, first):
    """Yield the texts of sentences with their labels."""
    for sentence, labels in zip(batch, label_texts(tagger, found), strict=True):
        yield source.text(sentence, labels)


def _labels_and_marginals(tagger, X):
    """Return the labels of sentences, and their marginals, in pairs."""
    return list(zip(tagger.predict(X), tagger.predict_proba(X), strict=True))


def _with_proba(tagger, source, batch, found, first):
    """Yield the texts of sentences with their labels and probabilities."""
    number = {label: k for k, label in enumerate(tagger[-1].classes_.tolist())}
    texts = label_texts(tagger, [labels for labels, _ in found])
    for sentence, (labels, marginals), own in zip(batch, found, texts, strict=True):
        proba = marginals[range(len(labels)), [number[label] for label in labels]]
        yield source.text(sentence, own, [f"{p:.4f}" for p in proba])


def _spans(least, tagger, X, words):
    """Return the spans of sentences, of all above a probability if any."""
    scheme, crf = None, tagger[-1]
    # A model of segments was fitted in a scheme, and answers in no other.
    if not hasattr(crf, "scheme_"):
        scheme = scheme_of_readable(label_texts(tagger, [crf.classes_.tolist()]))
        if scheme is None:
            raise ValueError(
                "--spans, --to: the labels of the model are in no tagging scheme."
            )
    if least is None:
        return tagger.predict_spans(X, scheme=scheme, tokens=words)
    own = TunedSpans(tagger, scheme=scheme or crf.scheme_, threshold=least)
    return own.predict_spans(X, tokens=words)


def _words(source, batch):
    return [source.words(sentence.tokens) for sentence in batch]


def _span_lines(tagger, source, batch, found, first):
    """Yield the lines of the spans of sentences."""
    rows = zip(batch, found, strict=True)
    for i, (sentence, spans) in enumerate(rows, start=first):
        name, text, offsets = source.passage(sentence, i)
        if text is not None and offsets is not None:
            placed = char_spans(spans, offsets)
            spans = [(kind, b, e, p, text[b:e]) for kind, b, e, p, _ in placed]
        for kind, begin, end, proba, said in spans:
            yield f"{name}\t{kind}\t{begin}\t{end}\t{proba:.4f}\t{said}\n"


def _keep_documents(documents, tagger, source, batch, found, first):
    """Add the documents of sentences with their spans; there is nothing to write."""
    sources = [source.passage(own, i) for i, own in enumerate(batch, start=first)]
    documents += documents_of(_words(source, batch), found, sources)
    return ()


def _write_documents(options, documents):
    """Write documents in the format of --to."""
    encoding = options.encoding.removesuffix("-sig")
    text = io.StringIO()
    to = text if options.output is None else options.output
    writer_of(to, options.to)(to, whole(documents), encoding)
    write([text.getvalue()])
