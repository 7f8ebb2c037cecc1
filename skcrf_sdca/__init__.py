"""Conditional random fields of sequences, segments, trees and graphs for scikit-learn.

A fit ends with a certificate, the duality gap, which bounds the distance of the
objective from its minimum.

The folders in reading order; a module imports only from folders above its own:

    _utils/         memory, threads, files, types, messages
    _kernels/       what is compiled
    data/           packed sequences, and the forms in which X and y come
    features/       transformers that make features of dicts, strings and columns
    text/           columns of text, tokens and templates, labels of spans
    metrics/        scores of tokens, spans, sequences and probabilities
    structures/     chains, segments, graphs and dependency trees: parameters, scores
    objective/      the training problem and its certificates
    solvers/        the optimisers around one loop
    plotting/       pictures of fits and weights
    model/          what a fitted model is and answers
    estimators/     what scikit-learn sees
    selection       folds, alphas, thresholds, calibration, ensembles, batches
    inspection      importance of features, and errors of spans
    compat/         the interface of sklearn-crfsuite
    distributed/    one model on many machines
    persistence/    how models are kept
    serving/        how programs use them that only tag
    datasets/       public corpora, and sequences that are made
    testing         checks of estimators, for their authors
    command/        the command skcrf-sdca
"""

from typing import TYPE_CHECKING

# It says what to do where nothing is compiled.
from skcrf_sdca import _kernels as _kernels
from skcrf_sdca._utils.lazy import lazy
from skcrf_sdca._version import __version__

if TYPE_CHECKING:
    from skcrf_sdca.data.packed import PackedSequences
    from skcrf_sdca.estimators.alpha_path import CRFCV
    from skcrf_sdca.estimators.callbacks import DualityGapMonitor
    from skcrf_sdca.estimators.crfs import CRF, LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF
    from skcrf_sdca.estimators.dependencies import DependencyCRF
    from skcrf_sdca.estimators.graphs import GraphCRF, TreeCRF
    from skcrf_sdca.estimators.online import PassiveAggressiveCRF
    from skcrf_sdca.estimators.online_dependencies import OnlineDependencyCRF
    from skcrf_sdca.estimators.segments import SegmentCRF
    from skcrf_sdca.estimators.sgd import SGDCRF
    from skcrf_sdca.estimators.tagger import make_tagger
    from skcrf_sdca.features.hasher import SequenceHasher
    from skcrf_sdca.features.per_token import PerToken
    from skcrf_sdca.features.union import SequenceUnion
    from skcrf_sdca.features.vectorizer import SequenceVectorizer
    from skcrf_sdca.persistence import load_model, save_model

__all__ = [
    "CRF",
    "CRFCV",
    "DependencyCRF",
    "DualityGapMonitor",
    "GraphCRF",
    "LBFGSCRF",
    "OEGCRF",
    "OnlineDependencyCRF",
    "PackedSequences",
    "PassiveAggressiveCRF",
    "PerToken",
    "SAGNUSCRF",
    "SDCACRF",
    "SequenceHasher",
    "SGDCRF",
    "SegmentCRF",
    "SequenceUnion",
    "SequenceVectorizer",
    "TreeCRF",
    "__version__",
    "load_model",
    "make_tagger",
    "save_model",
]

# The modules of the names, which are imported lazily: all of them, and scikit-learn,
# take a second.
_HOMES = {
    "CRF": "estimators.crfs",
    "CRFCV": "estimators.alpha_path",
    "DependencyCRF": "estimators.dependencies",
    "DualityGapMonitor": "estimators.callbacks",
    "GraphCRF": "estimators.graphs",
    "LBFGSCRF": "estimators.crfs",
    "OEGCRF": "estimators.crfs",
    "OnlineDependencyCRF": "estimators.online_dependencies",
    "PackedSequences": "data.packed",
    "PassiveAggressiveCRF": "estimators.online",
    "PerToken": "features.per_token",
    "SAGNUSCRF": "estimators.crfs",
    "SDCACRF": "estimators.crfs",
    "SGDCRF": "estimators.sgd",
    "SegmentCRF": "estimators.segments",
    "SequenceHasher": "features.hasher",
    "SequenceUnion": "features.union",
    "SequenceVectorizer": "features.vectorizer",
    "TreeCRF": "estimators.graphs",
    "load_model": "persistence",
    "make_tagger": "estimators.tagger",
    "save_model": "persistence",
}
_FOLDERS = {
    "compat",
    "data",
    "datasets",
    "distributed",
    "estimators",
    "features",
    "inspection",
    "metrics",
    "model",
    "objective",
    "persistence",
    "plotting",
    "selection",
    "serving",
    "solvers",
    "structures",
    "testing",
    "text",
}

# Where the names are that the package itself had.
_MOVED = {
    "CalibratedSpans": "selection",
    "SequenceBagging": "selection",
    "SequenceVoting": "selection",
    "SpanError": "inspection",
    "StratifiedSequenceKFold": "selection",
    "Tagger": "estimators.tagger",
    "TunedSpans": "selection",
    "alpha_path": "selection",
    "cross_val_predict_proba": "selection",
    "group_importance": "inspection",
    "image_graph": "datasets",
    "select_uncertain": "selection",
    "span_errors": "inspection",
    "span_outcomes": "selection",
}


# A type checker shall not take any name for one of the package.
if not TYPE_CHECKING:
    __getattr__ = lazy(__name__, {**_HOMES, **dict.fromkeys(_FOLDERS)}, _MOVED)


def __dir__() -> list[str]:
    """Return what users ask for."""
    return sorted({*__all__, *_FOLDERS})
