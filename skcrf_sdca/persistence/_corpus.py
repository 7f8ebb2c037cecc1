"""Labelled text in a folder: packed rows, labels, and what makes features of new text.

`PackedCorpus.writer` fills the folder, see _corpus_writer.py, and `PackedCorpus.open`
maps it into memory.
"""

import contextlib
import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._utils.files import checked_read, refused_as, strict_json
from skcrf_sdca._utils.typing import FilePath
from skcrf_sdca._version import __version__
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.packed_file import PackedFormatError
from skcrf_sdca.features.vectorizer import SequenceVectorizer, copied
from skcrf_sdca.model.fitted import set_input
from skcrf_sdca.persistence._corpus_writer import (
    FEATURES,
    FORMAT,
    FORMAT_VERSION,
    HEADER,
    LABELS,
    ROWS,
    VECTORIZER,
    CorpusWriter,
    checksum_of,
    file_of,
    is_begun,
    state_of,
    writing,
)
from skcrf_sdca.persistence._fields import fields
from skcrf_sdca.persistence._models import load_model

__all__ = ["PackedCorpus"]

# The entries of the header, with their types.
_ENTRIES = {
    "format": str,
    "format_version": int,
    "written_by": str,
    "files": dict,
    "metadata": dict,
    "crc32": int,
}


class PackedCorpus:
    """Labelled sequences in a folder, which may be larger than memory.

    Parameters
    ----------
    X : PackedSequences
    y : ndarray of shape (n_positions,)
    vectorizer : SequenceVectorizer
    features : TokenFeatures or None
    metadata : dict

    Attributes
    ----------
    X : PackedSequences
        The rows of all sequences, mapped from a file, with the names of the features.
    y : ndarray of shape (n_positions,)
        The labels of all positions, mapped from a file.
    vectorizer : SequenceVectorizer
        It numbered the features.
    features : TokenFeatures or None
        It made the features of the tokens, None if they had features of their own.
    metadata : dict
        What the program that wrote the folder says of it.

    See Also
    --------
    skcrf_sdca.PackedSequences.writer : Writes rows alone.

    Examples
    --------
    >>> import os, tempfile
    >>> from skcrf_sdca import CRF, make_tagger
    >>> from skcrf_sdca.persistence import PackedCorpus
    >>> from skcrf_sdca.text import TokenFeatures
    >>> parts = [
    ...     ([["the", "dog"], ["dogs"]], [["DET", "NOUN"], ["NOUN"]]),
    ...     ([["the", "dogs", "bark"]], [["DET", "NOUN", "VERB"]]),
    ... ]
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "corpus")
    >>> with PackedCorpus.writer(path, features=TokenFeatures(["word"])) as corpus:
    ...     for X, y in parts:
    ...         corpus.append(X, y)
    >>> corpus = PackedCorpus.open(path)
    >>> corpus
    PackedCorpus(n_sequences=3, n_positions=6, n_features=4)
    >>> tagger = make_tagger(corpus.features, corpus.fit(CRF(random_state=0)))
    >>> tagger.predict([["the", "dog"]])
    array([list(['DET', 'NOUN'])], dtype=object)
    >>> folder.cleanup()
    """

    def __init__(
        self,
        X: PackedSequences,
        y: NDArray[Any],
        vectorizer: SequenceVectorizer,
        features: Any = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self.X, self.y = X, y
        self.vectorizer, self.features = vectorizer, features
        self.metadata = metadata or {}

    def __repr__(self) -> str:
        """Return the sizes in one line."""
        X = self.X
        return (
            f"PackedCorpus(n_sequences={len(X)}, n_positions={X.n_positions}, "
            f"n_features={X.n_features})"
        )

    @classmethod
    def open(cls, path: FilePath) -> Self:
        """Open a folder that `writer` has written; its files are read once and checked.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        PackedCorpus

        Raises
        ------
        PackedFormatError
            If a file is damaged, missing, or not the one that was written, or the
            folder is not complete, because its writer was killed. It is a ValueError.
        OSError
            If there is no such folder, or a file of it cannot be opened.

        See Also
        --------
        PackedCorpus : Has an example.
        """
        header = _read_header(path)
        for name, expected in header["files"].items():
            _check_file(file_of(path, name), expected)
        vectorizer = load_model(file_of(path, VECTORIZER))
        names = vectorizer.transform([]).feature_names
        X = PackedSequences.open(file_of(path, ROWS), feature_names=names)
        with refused_as(PackedFormatError, file_of(path, LABELS)):
            y = np.load(file_of(path, LABELS), mmap_mode="r")
        if y.shape != (X.n_positions,):
            raise PackedFormatError(
                f"{file_of(path, LABELS)} has labels of shape {y.shape}, but the rows "
                f"have {X.n_positions} positions"
            )
        features = None
        if FEATURES in header["files"]:
            features = load_model(file_of(path, FEATURES))
        return cls(X, y, vectorizer, features, header["metadata"])

    @staticmethod
    def writer(
        path: FilePath, *, features: Any = None
    ) -> contextlib.AbstractContextManager[CorpusWriter]:
        """Return a context that writes a folder part by part, in the memory of a part.

        The vocabulary is in memory, too. If the process is killed, a folder stays that
        `open` refuses, and that the next writer to this path takes.

        Parameters
        ----------
        path : str or path-like
            A folder that does not exist yet, or is empty.
        features : TokenFeatures, default=None
            Makes the features of tokens. By default the items are dicts, or lists of
            str, as `SequenceVectorizer` takes them.

        Returns
        -------
        context : context manager of a CorpusWriter
            ``append(X, y)`` adds sequences and their labels. After an error in the
            block, no file stays.

        Raises
        ------
        OSError
            If there is a folder of this name with files, or it cannot be written.
        ValueError
            At the end of the block, if there is no part.

        See Also
        --------
        PackedCorpus : Has an example.
        """
        return writing(os.fsdecode(path), features)

    def fit(self, crf: Any, **params: Any) -> Any:
        """Fit a CRF to the rows, and let it take the items that these were made of.

        Parameters
        ----------
        crf : CRF of chains
            It is changed.
        **params : dict
            Arguments of its ``fit``, such as ``init``, but for ``prior``.

        Returns
        -------
        crf : object
            Fitted, with a copy of `vectorizer` as ``vectorizer_``: it is as after a fit
            on all items, and takes these.

        Raises
        ------
        ValueError, TypeError
            As ``crf.fit``; and ValueError for a ``prior``.

        See Also
        --------
        PackedCorpus : Has an example.
        """
        if params.get("prior") is not None:
            raise ValueError(
                "prior is not taken: the packed rows have no place for the features "
                "that the prior alone has; fit on the sequences themselves."
            )
        return set_input(crf.fit(self.X, self.y, **params), self.input_attributes())

    def input_attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of a CRF that takes the items."""
        vectorizer = copied(self.vectorizer)
        return {"_input_format": vectorizer.input_format_, "vectorizer_": vectorizer}


def is_corpus(path: FilePath) -> bool:
    """Return whether a path leads to a folder that `PackedCorpus.writer` has begun."""
    return os.path.isfile(file_of(path, HEADER))


def _check_file(path, expected):
    """Raise PackedFormatError if a file is not as the header has it."""
    try:
        found = state_of(path)
    except FileNotFoundError:
        found = None
    if found != expected:
        what = "missing" if found is None else "not the file that was written"
        raise PackedFormatError(f"{path} is {what}: write the corpus again")


def _read_header(path):
    """Return the header of a folder; PackedFormatError if it is none."""
    file = file_of(path, HEADER)
    if is_begun(path):
        raise PackedFormatError(
            f"{os.fsdecode(path)} is not complete, because its writer was killed: "
            "write it again"
        )
    with checked_read(file, PackedFormatError) as opened:
        header = fields(strict_json(opened.read(), "the header"), "it", _ENTRIES)
        version = header["format_version"]
        if (header["format"], version) != (FORMAT, FORMAT_VERSION):
            raise PackedFormatError(
                f"it is {header['format']!r:.40} of version {version}, and this is "
                f"skcrf_sdca {__version__}, which reads {FORMAT!r} of version "
                f"{FORMAT_VERSION}"
            )
        if header.pop("crc32") != checksum_of(header):
            raise PackedFormatError("it is not as it was written")
        names = header["files"].keys() | {FEATURES}
        if names != {ROWS, LABELS, VECTORIZER, FEATURES}:
            raise PackedFormatError("its files are not those of a packed corpus")
    return header
