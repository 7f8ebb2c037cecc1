"""`skcrf-sdca train` fits a Tagger to labelled text and saves it."""

import argparse
import contextlib
import math
import sys
import time
from functools import partial

from skcrf_sdca.compat._crf import penalty_of
from skcrf_sdca.estimators.alpha_path import SEARCHES
from skcrf_sdca.estimators.crfs import CRF
from skcrf_sdca.estimators.solver_choice import SOLVERS
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.persistence import save_model
from skcrf_sdca.persistence._head import checked_metadata
from skcrf_sdca.structures.chain.constraints import FROM_DATA
from skcrf_sdca.structures.chain.label_parts import BY_NAME
from skcrf_sdca.structures.scores import DECODERS, VITERBI
from skcrf_sdca.text import LabelPairs
from skcrf_sdca.text.features.values import WORD

from . import _parsers
from ._evaluate import add_scheme_option, report
from ._formats import AttributesFormat
from ._inputs import (
    labelled_sentences,
    load_tagger,
    untrained_source,
    warn_of,
)
from ._options import FILE_HELP, add_reading_options, name_and_value
from ._outputs import check_not_read, check_writable, named_output
from ._schemes import chosen
from ._search import best_penalty, divided
from ._streams import say, write
from ._template_files import (
    checked_features,
    default_templates,
    read_templates,
)

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
    _add_text_options(parser.add_argument_group("text and features"))
    _add_fit_options(parser.add_argument_group("fit"))
    _parsers.add_options(parser.add_argument_group("dependency trees"))


def _add_text_options(group):
    group.add_argument(
        "--templates", metavar="FILE", help="templates of the features, one on a line"
    )
    add_scheme_option(group, "the first in which all labels are valid")
    group.add_argument(
        "--repair",
        action="store_true",
        help="make labels valid, in --scheme or a scheme in which almost all are valid",
    )


def _add_fit_options(group):
    group.add_argument(
        "--solver",
        choices=["auto", *SOLVERS],
        default="auto",
        help="optimiser (default: %(default)s, the one that suits the data)",
    )
    _add_weight_options(group)
    _add_penalty_options(group)
    for name, what in {
        "init": "begin at the weights of this model; the optimum is the same",
        "prior": "keep the weights near to those of this model, of another domain say",
    }.items():
        group.add_argument(f"--{name}", metavar="MODEL", help=what)
    group.add_argument(
        "--tol", type=float, help="gap, relative to the objective, at which to stop"
    )
    group.add_argument(
        "--max-iter", type=int, metavar="N", help="maximum number of epochs"
    )
    group.add_argument(
        "--decoding",
        choices=[*DECODERS],
        default=VITERBI,
        help="what the model predicts: the most probable path, or the path with most "
        "right labels in expectation (default: %(default)s)",
    )
    group.add_argument("--jobs", type=int, metavar="N", help="threads (default: 1)")
    group.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="seed of the random sampling (default: 0)",
    )


def _add_penalty_options(group):
    group.add_argument(
        "--alpha",
        type=_alpha,
        help="strength of the regularisation (default: auto, 1 / sentences)",
    )
    group.add_argument(
        "--l1-ratio", type=float, help="share of the l1 norm, from 0 (the default) to 1"
    )
    for name, norm in {"c1": "l1", "c2": "squared l2"}.items():
        group.add_argument(
            f"--{name}",
            type=float,
            help=f"weight of the {norm} norm as in CRFsuite, instead of --alpha",
        )
    group.add_argument(
        "--search",
        nargs="?",
        const="path",
        choices=[*SEARCHES],
        help="find the penalty that is best on --dev, or on every tenth sentence; "
        "'halving' fits the better ones for longer, in half of the time of 'path' "
        "(the default)",
    )


def _add_weight_options(group):
    for name, what in {
        "features": "of a feature and a label",
        "label-pairs": "of labels that follow each other",
    }.items():
        group.add_argument(
            f"--{name}",
            choices=["auto", "all", "observed"],
            default="auto",
            help=f"which pairs {what} have weights (default: auto, all unless these "
            "are very many)",
        )
    group.add_argument(
        "--min-count",
        type=float,
        metavar="N",
        help="with --features observed: only pairs that occur at least N times",
    )
    group.add_argument(
        "--label-features",
        choices=[BY_NAME],
        help="let labels share the weights of the parts between their separators |, "
        "such as those of --label 'upos|feats'",
    )
    group.add_argument(
        "--transitions",
        choices=[*FROM_DATA],
        help="forbid transitions that the files lack, all or but for frequent labels; "
        "in place of --scheme",
    )


def _alpha(text):
    try:
        return text if text == "auto" else float(text)
    except ValueError as error:
        message = f"must be a number or 'auto', got {text!r:.80}."
        raise argparse.ArgumentTypeError(message) from error


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
    else:
        _train_tagger(options)


def _train_tagger(options):
    """Fit a Tagger, save it, and report scores if asked to."""
    source = untrained_source(options)
    _check_features(source, options)
    others = _other_models(options)
    if source.columns is not None:
        # Before the files are read, which may take long.
        _first_step(source, options)
    X, y, reading = labelled_sentences(source, options.files, options)
    dev = _dev_sentences(source, options)
    scheme, y, remark = chosen(y, options.scheme, options.repair)
    if options.tokens is not None:
        reading.take("tokens", options.tokens)
    tagger = _tagger(source, options, len(X), scheme).set_params(tokens=reading.tokens)
    crf = tagger[-1]
    _take_features(reading, source, tagger[0])
    _say(options, f"{reading}; tagging scheme: {scheme}{remark}")
    warn_of(reading)
    if options.search:
        _set_penalty(tagger, X, y, dev, options)
    begin = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        tagger.fit(X, y, **others)
    seconds = time.perf_counter() - begin
    _check_has_features(crf, options)
    if crf.l1_ratio > 0.0:
        tagger.prune().sparsify()
    with named_output(options):
        save_model(tagger, options.output, metadata=options.metadata)
    _say(
        options,
        f"solver {crf.solver_}, {crf.n_iter_} epochs, {seconds:.1f} s, gap "
        f"{crf.duality_gap_:.2e} (target {crf.gap_target_:.2e}), "
        f"{(crf.coef_ != 0).sum()} weights of {crf.n_features_in_} features "
        f"and {len(crf.classes_)} labels",
    )
    if dev is not None:
        found = tagger.predict(dev[0])
        write([report(dev[1], found, None, source.label_columns), "\n"])


def _other_models(options):
    """Return the taggers of --init and --prior, as arguments of `fit`."""
    paths = {"init": options.init, "prior": options.prior}
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
    name, first = _first_step(source, options)
    templates = getattr(first, "templates", ())
    has_pairs = any(isinstance(t, LabelPairs) for t in templates)
    crf = CRF(**_parameters(options, n_sequences, scheme, has_pairs))
    return Tagger([(name, first), (source.label, crf)])


def _first_step(source, options):
    """Return the name and the first step of a Tagger."""
    if isinstance(source, AttributesFormat):
        return source.name, SequenceVectorizer()
    return "features", _features(source, options)


def _check_features(source, options):
    """End with a usage error if tokens with features of their own get templates."""
    if isinstance(source, AttributesFormat) and options.templates is not None:
        options.usage_error(
            f"--templates: tokens of the format {source.name} have features already."
        )


def _take_features(reading, source, first):
    """Say which columns are features: those that templates read, but for words."""
    if "features" in reading.taken:
        read = [name for name in first.read_columns() if name != WORD]
        option = reading.guesses.get("features")
        reading.take("features", ", ".join(read) or "none", option=option)


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


def _check_has_features(crf, options):
    if crf.n_features_in_ == 0:
        raise ValueError(
            f"{_templates_name(options)}: no token has a feature: the templates reach "
            "beyond the ends of all sentences."
        )


def _features(source, options):
    """Return the TokenFeatures of a format whose columns are known."""
    if options.templates is None:
        templates = default_templates(source.read_columns)
    else:
        templates = read_templates(options.templates, source.read_columns)
    return checked_features(templates, source.columns, _templates_name(options))


def _templates_name(options):
    return "default templates" if options.templates is None else options.templates


def _parameters(options, n_sequences, scheme, has_pairs):
    """Return the parameters of `CRF` that the options give."""
    alpha, l1_ratio = options.alpha, options.l1_ratio
    if options.c1 is not None or options.c2 is not None:
        alpha, l1_ratio = penalty_of(options.c1 or 0.0, options.c2 or 0.0, n_sequences)
    transitions = options.transitions or (None if scheme == "none" else scheme)
    given = {
        "alpha": alpha,
        "solver": options.solver,
        "decoding": options.decoding,
        "l1_ratio": l1_ratio,
        "tol": options.tol,
        "max_iter": options.max_iter,
        "n_jobs": options.jobs,
        "random_state": options.seed,
        "features": options.features,
        "label_pairs": options.label_pairs,
        "label_features": options.label_features,
        "min_count": options.min_count,
        "transitions": transitions,
        "edge_features": ["b:*"] if has_pairs else None,
        "verbose": int(not options.quiet),
    }
    return {name: value for name, value in given.items() if value is not None}


def _say(options, message):
    if not options.quiet:
        say(options, message)
