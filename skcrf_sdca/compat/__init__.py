"""Compatibility with sklearn-crfsuite and python-crfsuite: their calls and models.

Reading order: _layout.py, _string_table.py and _model_file.py (the files of CRFsuite),
_conversion.py (turns such files into estimators and back), _dump.py (their text),
_items.py, _tagger.py, _training_log.py, _log_parser.py, _fileresource.py, _single.py,
_crf.py and _label_lists.py (an estimator with the interface of sklearn-crfsuite),
_pickles.py (its pickles), _data_files.py (data of CRFsuite's command), estimator.py,
metrics.py, scorers.py and utils.py (its other modules), _eli5.py and _explainers.py,
_online_training.py, _orthants.py, _training.py and _trainer.py (with _tagger.py they
are pycrfsuite/, the interface of python-crfsuite), and trainer.py.
Neither of the two packages is needed.

Names are imported at their first use: `pycrfsuite.Tagger` needs NumPy alone.
"""

from typing import TYPE_CHECKING

from skcrf_sdca._utils.lazy import lazy

if TYPE_CHECKING:
    from skcrf_sdca.compat import estimator as estimator
    from skcrf_sdca.compat import metrics as metrics
    from skcrf_sdca.compat import pycrfsuite as pycrfsuite
    from skcrf_sdca.compat import scorers as scorers
    from skcrf_sdca.compat import trainer as trainer
    from skcrf_sdca.compat import utils as utils
    from skcrf_sdca.compat._conversion import (
        crfsuite_features,
        from_crfsuite,
        to_crfsuite,
    )
    from skcrf_sdca.compat._crf import CRF
    from skcrf_sdca.compat._data_files import read_crfsuite_data
    from skcrf_sdca.compat._explainers import register_eli5
    from skcrf_sdca.compat._pickles import load_pickle

__all__ = [
    "CRF",
    "crfsuite_features",
    "from_crfsuite",
    "load_pickle",
    "read_crfsuite_data",
    "register_eli5",
    "to_crfsuite",
]

_HOMES = {
    "CRF": "_crf",
    "crfsuite_features": "_conversion",
    "from_crfsuite": "_conversion",
    "load_pickle": "_pickles",
    "read_crfsuite_data": "_data_files",
    "register_eli5": "_explainers",
    "to_crfsuite": "_conversion",
}
_MODULES = "estimator", "metrics", "pycrfsuite", "scorers", "trainer", "utils"

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__, {**_HOMES, **dict.fromkeys(_MODULES)})
