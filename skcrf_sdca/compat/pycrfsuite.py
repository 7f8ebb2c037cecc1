"""The interface of python-crfsuite: taggers, and sequences of items.

``sys.modules["pycrfsuite"] = skcrf_sdca.compat.pycrfsuite`` lets programs that import
pycrfsuite run on this package.
"""

from skcrf_sdca.compat._items import ItemSequence
from skcrf_sdca.compat._tagger import Tagger

__all__ = ["ItemSequence", "Tagger"]
