"""The files of fitted models, by which programs for sklearn-crfsuite keep them.

Owns the file of a model, and what a pickle of ``sklearn_crfsuite.CRF`` has of one. The
class and the module have their names there, for such pickles.
"""

import os
import tempfile
import weakref
from pathlib import Path
from typing import Any, Self

from skcrf_sdca._utils.typing import FilePath
from skcrf_sdca._utils.version_stamps import STAMP
from skcrf_sdca._version import __version__
from skcrf_sdca.compat._conversion import from_crfsuite, to_crfsuite
from skcrf_sdca.compat._model_file import BOUNDARIES

# What the state of a sklearn_crfsuite.CRF has beside its parameters.
_NO_PARAMETERS = {"modelfile", "training_log_", "_tagger", "_info_cached"}


class FileResource:
    """A file of CRFsuite that has a model.

    Attributes
    ----------
    name : str or None
        The path of the file; None after `cleanup`, and of a pickle that has the
        content.
    content : bytes or None
        The content of the file, in a pickle of sklearn-crfsuite.
    """

    content: bytes | None = None
    _is_temporary = False

    def __init__(self, name: FilePath) -> None:
        self.name: str | None = os.fspath(name)

    @classmethod
    def temporary(cls, estimator: Any) -> Self:
        """Write an estimator to a temporary file, which ends with the object."""
        descriptor, name = tempfile.mkstemp(suffix=".crfsuite")
        os.close(descriptor)
        written = cls(name)
        written._is_temporary = True
        weakref.finalize(written, Path(name).unlink, missing_ok=True)
        to_crfsuite(estimator, name, **BOUNDARIES)
        return written

    def cleanup(self) -> None:
        """Remove the file, if it is a temporary one."""
        if self._is_temporary and self.name is not None:
            Path(self.name).unlink(missing_ok=True)
            self.name = None

    def __setstate__(self, state):
        """Set the state of a pickle, also of one of sklearn-crfsuite."""
        self.name = state.get("name")
        self.content = state.get("__FILE_RESOURCE_DATA__")


def state_of_pickle(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a `CRF` that the state of a sklearn_crfsuite.CRF describes.

    A model of CRFsuite becomes the fitted estimator, and its log stays.
    """
    own = {name: v for name, v in state.items() if name not in _NO_PARAMETERS}
    own[STAMP] = __version__
    if state.get("training_log_") is not None:
        own["_training_log"] = state["training_log_"]
    content = getattr(state["modelfile"], "content", None)
    if content is not None:
        own["estimator_"] = from_crfsuite(content)
    return own
