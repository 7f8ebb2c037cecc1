"""Reads pickles of ``sklearn_crfsuite.CRF``, of which no name leads to other code."""

import bz2
import gzip
import io
import lzma
import os
import pickle
import re
import zlib
from collections.abc import Callable
from copyreg import _reconstructor  # type: ignore[attr-defined]
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from skcrf_sdca._utils.typing import FilePath
from skcrf_sdca.compat._crf import CRF
from skcrf_sdca.compat._fileresource import FileResource
from skcrf_sdca.compat._log_parser import TrainLogParser
from skcrf_sdca.compat._training_log import LabelScore
from skcrf_sdca.compat.trainer import LinePerIterationTrainer


def _encoded(text, encoding):
    """Return bytes that are written as text, as the old protocols do."""
    return str.encode(text, {"latin1": "latin1"}[encoding])


class _Dtype:
    """The dtype of a number of NumPy: its code, such as f8, and its order of bytes."""

    def __init__(self, code, *_):
        self.code = re.fullmatch("[biuf][1248]", code)[0]

    def __setstate__(self, state):
        self.code = {"|": "", "<": "<", ">": ">"}[state[1]] + self.code


def _number(dtype, data):
    """Return a number of NumPy, such as a tuned c1, as a plain one."""
    [number] = np.frombuffer(data, dtype=dtype.code).tolist()
    return number


# All names that these pickles have: those of the classes, and of what is in them.
_KNOWN = {
    "sklearn_crfsuite.estimator.CRF": CRF,
    "sklearn_crfsuite._fileresource.FileResource": FileResource,
    "sklearn_crfsuite.trainer.LinePerIterationTrainer": LinePerIterationTrainer,
    "pycrfsuite._logparser.TrainLogParser": TrainLogParser,
    "pycrfsuite._logparser.LabelScore": LabelScore,
    "fractions.Fraction": Fraction,
    "numpy.dtype": _Dtype,
    "numpy.core.multiarray.scalar": _number,
    "numpy._core.multiarray.scalar": _number,
    "_codecs.encode": _encoded,
    # The old protocols, under the names of both versions of Python.
    "copy_reg._reconstructor": _reconstructor,
    "copyreg._reconstructor": _reconstructor,
    "__builtin__.object": object,
    "__builtin__.tuple": tuple,
    "builtins.object": object,
    "builtins.tuple": tuple,
}
# First bytes -> how joblib compressed what follows.
_COMPRESSIONS: dict[bytes, Callable[[bytes], bytes]] = {
    b"x": zlib.decompress,
    b"\x1f\x8b": gzip.decompress,
    b"BZh": bz2.decompress,
    b"\xfd7zXZ": lzma.decompress,
    b"\x5d\x00": lzma.decompress,
}


class _Unpickler(pickle.Unpickler):
    """Reads pickles that name `_KNOWN` alone."""

    def find_class(self, module, name):
        """Return what a name is; UnpicklingError if it is not known."""
        full = f"{module}.{name}"
        if full not in _KNOWN:
            raise pickle.UnpicklingError(
                f"it names {full}, and sklearn-crfsuite has no need of that"
            )
        return _KNOWN[full]


def load_pickle(path: FilePath | bytes) -> Any:
    """Read a pickle of ``sklearn_crfsuite.CRF``, without sklearn-crfsuite.

    Unlike ``pickle.load``, it runs no code that the file names: a file that names
    anything but the classes of sklearn-crfsuite is refused.

    Parameters
    ----------
    path : str, path or bytes
        Path of a file that pickle or joblib wrote, compressed or not, or its content.

    Returns
    -------
    crf : CRF
        Fitted, if it was. Where the file has a list, tuple or dict, this, with a
        `CRF` for each of sklearn-crfsuite.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is damaged, or names anything else.

    See Also
    --------
    from_crfsuite : Reads model files of CRFsuite.

    Notes
    -----
    The parameters and ``training_log_`` stay as they were. None means another value in
    some parameters of `CRF`, see there, which matters if it is fitted again.

    Examples
    --------
    >>> import pickle
    >>> from skcrf_sdca.compat import load_pickle
    >>> load_pickle(pickle.dumps([print]))
    Traceback (most recent call last):
    ...
    ValueError: the content is no pickle of sklearn-crfsuite: it names builtins.print, \
and sklearn-crfsuite has no need of that.
    """
    if isinstance(path, bytes):
        content, name = path, "the content"
    else:
        content, name = Path(path).read_bytes(), os.fspath(path)
    try:
        for begin, decompress in _COMPRESSIONS.items():
            if content.startswith(begin):
                content = decompress(content)
                break
        return _Unpickler(io.BytesIO(content)).load()
    # What is read is any bytes: they raise errors of many types.
    except Exception as error:
        raise ValueError(
            f"{name} is no pickle of sklearn-crfsuite: {error}."
        ) from error
