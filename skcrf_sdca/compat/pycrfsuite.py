"""The interface of python-crfsuite: trainers, taggers and sequences of items.

``sys.modules["pycrfsuite"] = skcrf_sdca.compat.pycrfsuite`` lets programs that import
pycrfsuite run on this package.
"""

from skcrf_sdca.compat._items import ItemSequence
from skcrf_sdca.compat._tagger import Tagger
from skcrf_sdca.compat._trainer import BaseTrainer as BaseTrainer
from skcrf_sdca.compat._trainer import CRFSuiteError as CRFSuiteError
from skcrf_sdca.compat._trainer import Trainer

__all__ = ["ItemSequence", "Tagger", "Trainer"]

# The version of CRFsuite with the same files.
CRFSUITE_VERSION = "0.12.2"
