"""The interface of python-crfsuite: trainers, taggers and sequences of items.

``sys.modules["pycrfsuite"] = skcrf_sdca.compat.pycrfsuite`` lets programs that import
pycrfsuite, or a module of it, run on this package.
"""

from typing import TYPE_CHECKING

from skcrf_sdca._utils.lazy import lazy
from skcrf_sdca.compat._items import ItemSequence
from skcrf_sdca.compat._tagger import Tagger

if TYPE_CHECKING:
    from skcrf_sdca.compat._trainer import BaseTrainer as BaseTrainer
    from skcrf_sdca.compat._trainer import CRFSuiteError as CRFSuiteError
    from skcrf_sdca.compat._trainer import Trainer

__all__ = ["ItemSequence", "Tagger", "Trainer"]

# The version of CRFsuite with the same files.
CRFSUITE_VERSION = "0.12.2"

# What trains needs SciPy and scikit-learn; programs that tag do without.
if not TYPE_CHECKING:
    __getattr__ = lazy(
        __name__,
        {
            **dict.fromkeys(["BaseTrainer", "CRFSuiteError", "Trainer"], "._trainer"),
            **dict.fromkeys(["_dumpparser", "_logparser", "_pycrfsuite"]),
        },
    )
