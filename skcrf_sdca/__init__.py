"""Linear-chain conditional random fields for scikit-learn, trained to a certificate.

Reading order: packed_file.py, data.py, features.py, text/, pipeline.py and union.py
(what goes in), model.py and oracle.py (scores and inference), problem.py (the
formulas), samplers.py and solvers/ (the optimisers around one loop), callbacks.py,
_fitted.py, _prediction.py, _base.py, estimators.py, path.py and model_selection.py
(what scikit-learn sees), and persistence/ (how models are kept); distributed/ (one
model on many machines). The compiled parts are in _kernels/. A module imports only from
those before it.
"""

from typing import TYPE_CHECKING

from skcrf_sdca._version import __version__
from skcrf_sdca.callbacks import DualityGapMonitor
from skcrf_sdca.data import PackedSequences
from skcrf_sdca.estimators import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF
from skcrf_sdca.features import SequenceVectorizer
from skcrf_sdca.model_selection import cross_val_predict_proba
from skcrf_sdca.path import alpha_path
from skcrf_sdca.pipeline import PerToken
from skcrf_sdca.union import SequenceUnion

__all__ = [
    "DualityGapMonitor",
    "LBFGSCRF",
    "OEGCRF",
    "PackedSequences",
    "PerToken",
    "SAGNUSCRF",
    "SDCACRF",
    "SequenceUnion",
    "SequenceVectorizer",
    "__version__",
    "alpha_path",
    "cross_val_predict_proba",
    "load_model",
    "save_model",
]

if TYPE_CHECKING:
    from skcrf_sdca.persistence import load_model, save_model
else:

    def __getattr__(name):
        """Import what not every program needs when it is first asked for."""
        if name in ("load_model", "save_model"):
            from skcrf_sdca import persistence

            return getattr(persistence, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
