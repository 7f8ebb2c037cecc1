"""The file of a fitted model, by whose path programs for sklearn-crfsuite find it."""

import os
import tempfile
import weakref
from pathlib import Path
from typing import Any, Self

from skcrf_sdca._utils.typing import FilePath
from skcrf_sdca.compat._conversion import to_crfsuite
from skcrf_sdca.compat._model_file import BOUNDARIES


class WrittenModel:
    """A file of CRFsuite that has a model.

    Attributes
    ----------
    name : str
        The path of the file.
    """

    def __init__(self, name: FilePath) -> None:
        self.name = os.fspath(name)

    @classmethod
    def temporary(cls, estimator: Any) -> Self:
        """Write an estimator to a temporary file, which ends with the object."""
        descriptor, name = tempfile.mkstemp(suffix=".crfsuite")
        os.close(descriptor)
        written = cls(name)
        weakref.finalize(written, Path(name).unlink, missing_ok=True)
        to_crfsuite(estimator, name, **BOUNDARIES)
        return written
