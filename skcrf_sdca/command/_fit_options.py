"""The options of `train` on the fit: the parameters of `CRF` that they give."""

import argparse

from skcrf_sdca.compat._crf import penalty_of
from skcrf_sdca.estimators.alpha_path import SEARCHES
from skcrf_sdca.estimators.solver_choice import SOLVERS
from skcrf_sdca.structures.chain.constraints import FROM_DATA
from skcrf_sdca.structures.chain.label_parts import BY_NAME
from skcrf_sdca.structures.scores import DECODERS, VITERBI


def add_fit_options(group):
    """Add the options that are parameters of `CRF` and arguments of its fit."""
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
    _add_end_options(group)
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


def _add_end_options(group):
    group.add_argument(
        "--tol", type=float, help="gap, relative to the objective, at which to stop"
    )
    group.add_argument(
        "--max-iter", type=int, metavar="N", help="maximum number of epochs"
    )
    group.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="keep the state of the fit in this file after every epoch, and begin with "
        "it if it is there: the same command goes on after it was killed",
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


def parameters(options, n_sequences, scheme, has_pairs):
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
        "checkpoint": options.checkpoint,
        "warm_start": True if options.checkpoint else None,
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
