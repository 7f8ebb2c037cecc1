"""Linear-chain conditional random fields for scikit-learn, trained to a certificate.

Reading order: data.py and features.py (what goes in), model.py and oracle.py (scores
and inference), problem.py (the formulas), samplers.py and solvers/ (the optimisers
around one loop), callbacks.py, _base.py, estimators.py and path.py (what scikit-learn
sees). The compiled parts are in _kernels/. A module imports only from those before it.
"""

from skcrf_sdca.callbacks import DualityGapMonitor
from skcrf_sdca.data import PackedSequences
from skcrf_sdca.estimators import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF
from skcrf_sdca.features import SequenceVectorizer
from skcrf_sdca.path import alpha_path

__all__ = [
    "DualityGapMonitor",
    "LBFGSCRF",
    "OEGCRF",
    "PackedSequences",
    "SAGNUSCRF",
    "SDCACRF",
    "SequenceVectorizer",
    "alpha_path",
]

__version__ = "0.1.0"
