"""`skcrf-sdca train` fits a Tagger to labelled text and saves it."""

import contextlib
import math
import os
import sys
import time
from functools import partial

from skcrf_sdca._utils.messages import counted
from skcrf_sdca.estimators.crfs import CRF
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.persistence import save_model
from skcrf_sdca.persistence._head import checked_metadata
from skcrf_sdca.text import LabelPairs

from . import _parsers
from ._corpora import described, fitted_tagger, is_packed, of_new_file, opened
from ._evaluate import report
from ._first_steps import (
    add_text_options,
    check_features,
    check_has_features,
    first_step,
    take_features,
)
from ._fit_options import add_fit_options, parameters
from ._inputs import (
    labelled_sentences,
    load_tagger,
    source_of,
    untrained_source,
    warn_of,
)
from ._options import FILE_HELP, add_reading_options, name_and_value
from ._outputs import check_not_read, check_writable, named_output
from ._schemes import chosen
from ._search import best_penalty, divided
from ._streams import say, write

HELP = "train a model on labelled files and save it"


def add_options(parser):
    """Add the options of `train`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=FILE_HELP)
    add_reading_options(parser, labelled=True)
    parser.add_argument(
        "-o", "--output", required=True, metavar="MODEL", help="the file to write"
    )
    parser.add_argument(
        "--dev", metavar="FILE", help="report the scores on this labelled file"
    )
    parser.add_argument(
        "--metadata",
        type=name_and_value,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="what the model file says of itself too, such as corpus=wiki-2026; may be "
        "repeated; info shows it",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    add_text_options(
        parser.add_argument_group("text and features"),
        repair_in="--scheme or a scheme in which almost all are valid",
    )
    add_fit_options(parser.add_argument_group("fit"))
    _parsers.add_options(parser.add_argument_group("dependency trees"))


def run(options):
    """Fit, save, and report scores if asked to."""
    _parsers.check_usage(options)
    _check_usage(options)
    options.metadata = checked_metadata(dict(options.metadata))
    check_writable(options.output)
    check_not_read(options)
    if options.parse:
        with named_output(options):
            _parsers.train(options, partial(_say, options))
    elif is_packed(options):
        _train_packed(options)
    else:
        _train_tagger(options)


def _train_tagger(options):
    """Fit a Tagger to text, save it, and report scores if asked to."""
    source = untrained_source(options)
    check_features(source, options)
    others = _other_models(options)
    if source.columns is not None:
        # Before the files are read, which may take long.
        first_step(source, options)
    X, y, reading = labelled_sentences(source, options.files, options)
    dev = _dev_sentences(source, options)
    scheme, y, remark = chosen(y, options.scheme, options.repair)
    if options.tokens is not None:
        reading.take("tokens", options.tokens)
    tagger = _tagger(source, options, len(X), scheme).set_params(tokens=reading.tokens)
    take_features(reading, source, tagger[0])
    _say(options, f"{reading}; tagging scheme: {scheme}{remark}")
    warn_of(reading)
    if options.search:
        _set_penalty(tagger, X, y, dev, options)
    tagger = _fitted(partial(tagger.fit, X, y, **others), options)
    if dev is not None:
        _report(tagger, dev, source)


def _train_packed(options):
    """Fit a Tagger to a packed folder, save it, and report scores if asked to."""
    if options.dev is not None:
        # Both before the fit, which may take long.
        write([])
        os.stat(options.dev)
    corpus, about = opened(options)
    others, scheme = _other_models(options), options.scheme or about.scheme
    has_pairs = _has_label_pairs(corpus.features)
    crf = CRF(**parameters(options, len(corpus.X), scheme, has_pairs))
    _say(options, f"{described(corpus)}; tagging scheme: {scheme}")
    tagger = _fitted(partial(fitted_tagger, corpus, about, crf, **others), options)
    if options.dev is not None:
        of_dev = of_new_file(options, options.dev)
        source = source_of(tagger, of_dev, options.dev)
        _report(tagger, _dev_sentences(source, of_dev), source)


def _fitted(fit, options):
    """Return the Tagger that a function fits, trimmed, and saved to the output."""
    begin = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        tagger = fit()
    crf = tagger[-1].set_params(checkpoint=None, warm_start=False)
    seconds, epochs = time.perf_counter() - begin, crf.history_["seconds"][-1]
    check_has_features(crf.n_features_in_, options)
    if crf.l1_ratio > 0.0:
        tagger.prune().sparsify()
    with named_output(options):
        save_model(tagger, options.output, metadata=options.metadata)
    _say(
        options,
        f"solver {crf.solver_}, {counted(crf.n_iter_, 'epoch')} in {epochs:.2f} s, "
        f"features and all else in {seconds - epochs:.2f} s; gap "
        f"{crf.duality_gap_:.2e} (target {crf.gap_target_:.2e}), "
        f"{(crf.coef_ != 0).sum()} weights of {crf.n_features_in_} features "
        f"and {len(crf.classes_)} labels",
    )
    return tagger


def _report(tagger, dev, source):
    """Write the scores of a Tagger on the sentences of --dev."""
    X, y = dev
    write([report(y, tagger.predict(X), None, source.label_columns), "\n"])


def _other_models(options):
    """Return the taggers of --init and --prior, as arguments of `fit`.

    A fit that goes on from the file of --checkpoint begins at no other model.
    """
    goes_on = options.checkpoint is not None and os.path.exists(options.checkpoint)
    paths = {"init": None if goes_on else options.init, "prior": options.prior}
    return {name: load_tagger(path) for name, path in paths.items() if path is not None}


def _dev_sentences(source, options):
    """Return the tokens and the labels of --dev, or None."""
    if options.dev is None:
        return None
    # The standard output, for the report, may be closed.
    write([])
    X, y, reading = labelled_sentences(source, [options.dev], options)
    warn_of(reading)
    return X, y


def _tagger(source, options, n_sequences, scheme):
    """Return the Tagger to fit."""
    name, first = first_step(source, options)
    has_pairs = _has_label_pairs(first)
    crf = CRF(**parameters(options, n_sequences, scheme, has_pairs))
    return Tagger([(name, first), (source.label, crf)])


def _has_label_pairs(features):
    """Return whether templates make features of pairs of labels."""
    templates = getattr(features, "templates", ())
    return any(isinstance(template, LabelPairs) for template in templates)


def _set_penalty(tagger, X, y, dev, options):
    """Set the penalty that is best on the sentences of --dev, or on some kept aside."""
    train, held_out = ((X, y), dev) if dev is not None else divided(X, y)
    found = best_penalty(
        tagger,
        train,
        held_out,
        options.search,
        lambda text: _say(options, f"search: alpha = {text}"),
    )
    tagger[-1].set_params(alpha=found.n_alpha / len(X), l1_ratio=found.l1_ratio)
    _say(
        options,
        f"best: alpha = {found.n_alpha:g} / n, l1 ratio {found.l1_ratio:g}, "
        f"{found.metric} {found.score:.4f}",
    )


def _check_usage(options):
    if options.repair and options.scheme == "none":
        options.usage_error(
            "--repair needs a tagging scheme, and --scheme none has none."
        )
    if options.transitions is not None and options.scheme is not None:
        options.usage_error("use --transitions or --scheme, but not both.")
    if options.min_count is not None and options.features != "observed":
        options.usage_error("--min-count needs --features observed.")
    ours, crfsuite = (options.alpha, options.l1_ratio), (options.c1, options.c2)
    if crfsuite != (None, None) and ours != (None, None):
        options.usage_error(
            "use --c1 and --c2, or --alpha and --l1-ratio, but not both."
        )
    if options.search and options.prior is not None:
        options.usage_error("--search finds no penalty beside a --prior: give --alpha.")
    if options.search and (*ours, *crfsuite) != (None,) * 4:
        options.usage_error("--search finds the penalty: give none.")
    given = [strength for strength in crfsuite if strength is not None]
    if not all(0 <= strength < math.inf for strength in given) or set(given) == {0.0}:
        options.usage_error(
            "--c1 and --c2 must be finite and not negative, and one must be above 0."
        )


def _say(options, message):
    if not options.quiet:
        say(options, message)
