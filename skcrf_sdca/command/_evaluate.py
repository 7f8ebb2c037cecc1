"""`skcrf-sdca eval` compares labels with true ones, in a report like conlleval's."""

import warnings

import numpy as np

from skcrf_sdca.data.spans import scheme_of_readable
from skcrf_sdca.estimators.online_dependencies import OnlineDependencyCRF
from skcrf_sdca.estimators.span_errors import span_errors
from skcrf_sdca.metrics import (
    flat_accuracy_score,
    sequence_accuracy_score,
    span_f1_difference,
)
from skcrf_sdca.metrics._spans import averaged, span_counts
from skcrf_sdca.text.corpora import ALIASES
from skcrf_sdca.text.formats.label_columns import EMPTY, SEPARATOR, taken_apart

from . import _parsers
from ._columns import last_columns
from ._inputs import (
    check_any,
    label_texts,
    labelled_sentences,
    load_any,
    load_tagger,
    reading_of,
    source_of,
    warn_of,
)
from ._options import add_files, add_model_option, add_reading_options, lines_of, refuse
from ._schemes import SCHEMES
from ._streams import say, write

# The columns of a treebank that are lists of values.
LISTS = {"feats", "deps", "misc"}
# Options that the last two columns of a file do not have.
OF_MODELS = (
    *("columns", "label", "tokens", "label_form", "format_options"),
    *("errors", "other", "leave_out"),
)
HELP = "report accuracy, precision, recall and F1 of a model, or of two columns"


def add_options(parser):
    """Add the options of `eval`."""
    add_model_option(parser, required=False)
    add_files(parser)
    add_reading_options(parser, labelled=True)
    add_scheme_option(parser, "found from the labels")
    parser.add_argument(
        "--errors",
        type=int,
        default=0,
        metavar="N",
        help="print the N mistakes in spans that the model is most sure of, too",
    )
    parser.add_argument(
        "--other",
        metavar="MODEL",
        help="another model: print how much FB1 differs from it, and whether by chance",
    )
    _parsers.add_eval_options(parser)


def add_scheme_option(parser, default):
    """Add the option with the name of the tagging scheme."""
    parser.add_argument(
        "--scheme",
        choices=[*SCHEMES, "none"],
        help=f"tagging scheme of the labels (default: {default})",
    )


def run(options):
    """Print the report on the labels of a model, or on the last two columns."""
    if options.model is None:
        refuse(options, OF_MODELS, "needs a --model.")
        if ALIASES.get(options.format, options.format) not in (None, "columns"):
            options.usage_error(
                f"--format {options.format} needs a --model: without one, the last two "
                "columns of files are compared."
            )
        y, predicted = _last_columns(options)
        write([report(y, predicted, options.scheme), "\n"])
        return
    tagger = load_any(options.model)
    if isinstance(tagger, OnlineDependencyCRF):
        _parsers.evaluate(tagger, options)
        return
    refuse(options, ["leave_out"], "needs a --model that is a parser.")
    source = source_of(tagger, options, options.files[0])
    X, y, reading = labelled_sentences(source, options.files, options)
    say(options, str(reading))
    warn_of(reading)
    _warn_of_other_labels(y, tagger, options)
    predicted = label_texts(tagger, tagger.predict(X))
    lines = [report(y, predicted, options.scheme, source.label_columns)]
    if options.other or options.errors:
        scheme = options.scheme or scheme_of_readable([*y, *predicted])
        if scheme in (None, "none"):
            raise ValueError("--errors, --other: the labels are in no tagging scheme.")
    if options.other:
        lines.append(_difference(options, y, predicted, scheme))
    if options.errors:
        words = list(map(source.words, X))
        lines += _error_lines(tagger, X, y, words, scheme, options.errors)
    write(f"{line}\n" for line in lines)


def _warn_of_other_labels(y, tagger, options):
    """Warn of files in which the model knows no label: they may have none at all."""
    known = set(label_texts(tagger, [tagger[-1].classes_.tolist()])[0])
    found = {str(label) for labels in y for label in labels}
    if found and known.isdisjoint(found):
        warnings.warn(
            f"{', '.join(options.files)}: no label is one of the model. "
            f"{min(found)!r:.40} is read as a label; the model has {min(known)!r:.40}.",
            stacklevel=2,
        )


def _difference(options, y, predicted, scheme):
    """Return the line on another model, which may read other columns."""
    other = load_tagger(options.other)
    source = source_of(other, options, options.files[0])
    X, _, _ = labelled_sentences(source, options.files, options)
    theirs = label_texts(other, other.predict(X))
    found = span_f1_difference(y, predicted, theirs, scheme=scheme, random_state=0)
    value, low, high = (100 * value for value in found[:3])
    return (
        f"FB1 minus FB1 of {options.other}: {value:+.2f}; 95 % of samples of the "
        f"sentences: {low:+.2f} to {high:+.2f}; p = {found.p_value:.3f}"
    )


def _error_lines(tagger, X, y, words, scheme, n):
    """Yield the lines of the n most certain mistakes, with tabs between the values."""
    classes = tagger[-1].classes_.tolist()
    known = dict(zip(label_texts(tagger, [classes])[0], classes, strict=True))
    y = [[known.get(label, label) for label in labels] for labels in y]
    yield "sentence\tmistake\ttrue\tp\tpredicted\tp\ttext"
    for error in span_errors(tagger, X, y, tokens=words, scheme=scheme)[:n]:
        spans = (error.true, error.p_true), (error.predicted, error.p_predicted)
        shown = (f"{'-' if own is None else own[0]}\t{p:.4f}" for own, p in spans)
        yield "\t".join([str(error.sequence), error.mistake, *shown, error.text])


def report(y, predicted, scheme=None, names=()):
    """Return the report; without a scheme, the labels decide it.

    It has a line for each of the columns ``names``, if labels are made of several.
    """
    if len(names) > 1:
        return "\n".join(
            [report(y, predicted, "none"), *_column_lines(y, predicted, names)]
        )
    scheme = scheme or scheme_of_readable([*y, *predicted]) or "none"
    accuracy = 100 * flat_accuracy_score(y, predicted)
    n_tokens = sum(map(len, y))
    if scheme == "none":
        whole = 100 * sequence_accuracy_score(y, predicted)
        return (
            f"processed {n_tokens} tokens in {len(y)} sentences.\n"
            f"accuracy: {accuracy:6.2f}%; correct sentences: {whole:6.2f}%"
        )
    counts = span_counts(y, predicted, scheme, False, None, None)
    lines = [
        f"processed {n_tokens} tokens with {counts.true.sum()} phrases; "
        f"found: {counts.predicted.sum()} phrases; correct: {counts.correct.sum()}.",
        f"accuracy: {accuracy:6.2f}%; {_scores(counts, 'micro')[0]}",
    ]
    rows = zip(counts.types, _scores(counts, None), counts.predicted, strict=True)
    lines += [f"{name:>17}: {scores}  {found}" for name, scores, found in rows]
    return "\n".join(lines)


def _column_lines(y, predicted, names):
    """Yield the line of each column that labels are made of.

    It has the accuracy, or the scores of the values in lists such as those of FEATS,
    counted over all tokens.
    """
    found, true = (
        zip(*(taken_apart(a, len(names)) for own in part for a in own), strict=True)
        for part in (predicted, y)
    )
    for name, ours, right in zip(names, found, true, strict=True):
        if name not in LISTS:
            accuracy = np.mean(np.asarray(ours) == np.asarray(right))
            yield f"{name:>17}: accuracy: {100 * accuracy:6.2f}%"
            continue
        n_ours, n_right, n_both = 0, 0, 0
        for own, its in zip(map(_values, ours), map(_values, right), strict=True):
            n_ours, n_right = n_ours + len(own), n_right + len(its)
            n_both += len(own & its)
        precision, recall = n_both / max(n_ours, 1), n_both / max(n_right, 1)
        f1 = 2 * n_both / max(n_ours + n_right, 1)
        yield f"{name:>17}: {_percents(100 * precision, 100 * recall, 100 * f1)}"


def _values(text):
    """Return the values in a list of a treebank, a set."""
    return set() if text == EMPTY else set(text.split(SEPARATOR))


def _percents(precision, recall, f1):
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"


def _scores(counts, average):
    """Return the texts of precision, recall and F1, as conlleval writes them."""
    scores = [
        100 * np.atleast_1d(averaged(name, counts, average, 0.0))
        for name in counts.fractions()
    ]
    return [_percents(*row) for row in zip(*scores, strict=True)]


def _last_columns(options):
    """Return the labels of the last column but one, and of the last."""
    reading, y, predicted = reading_of(options, labelled=True), [], []
    reading.take("format", "columns")
    for name in options.files:
        for own in reading.counted(last_columns(name, reading, lines_of(options))):
            y.append(own.tokens)
            predicted.append(own.labels)
    check_any(y, options.files)
    if reading.guesses:
        say(options, str(reading))
    return y, predicted
