"""Saves fitted models in a portable format that runs no code, and labelled text.

`save_model` and `load_model` are the interface, `model_info` reads what a file says of
its model, see _info.py, and `register` adds types, see _registry.py. `PackedCorpus` is
labelled text in a folder, see _corpus.py. Of models, _archive.py owns the file,
_head.py how every document begins, and _document.py, _entries.py, _crfs.py,
_vectorizers.py, _labels.py, _templates.py and _values.py its content, which
docs/model_format.rst describes for programs in other languages. What of these does not
make an estimator imports no scikit-learn: `skcrf_sdca.serving` reads files by it.
"""

from typing import TYPE_CHECKING

from skcrf_sdca._utils.lazy import lazy

if TYPE_CHECKING:
    from skcrf_sdca._utils.version_stamps import InconsistentVersionWarning
    from skcrf_sdca.persistence._corpus import PackedCorpus
    from skcrf_sdca.persistence._corpus_writer import CorpusWriter
    from skcrf_sdca.persistence._fields import ModelFormatError
    from skcrf_sdca.persistence._info import ModelInfo, model_info
    from skcrf_sdca.persistence._models import TRUSTED_TYPES, load_model, save_model
    from skcrf_sdca.persistence._registry import register

__all__ = [
    "TRUSTED_TYPES",
    "CorpusWriter",
    "InconsistentVersionWarning",
    "ModelFormatError",
    "ModelInfo",
    "PackedCorpus",
    "load_model",
    "model_info",
    "register",
    "save_model",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(
        __name__,
        {
            "TRUSTED_TYPES": "_models",
            "CorpusWriter": "_corpus_writer",
            "InconsistentVersionWarning": "._utils.version_stamps",
            "ModelFormatError": "_fields",
            "ModelInfo": "_info",
            "PackedCorpus": "_corpus",
            "load_model": "_models",
            "model_info": "_info",
            "register": "_registry",
            "save_model": "_models",
        },
    )
