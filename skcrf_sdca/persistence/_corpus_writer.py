"""Writes labelled text to a folder, part by part and in one pass: see _corpus.py.

The header is empty until all other files are complete: so a folder with an empty one
is that of a writer that was killed.
"""

import contextlib
import errno
import json
import os
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from skcrf_sdca._utils.files import atomic_write
from skcrf_sdca._utils.memory import BLOCK
from skcrf_sdca._utils.temporary_files import errors_named, unnamed
from skcrf_sdca._utils.typing import Labels
from skcrf_sdca._utils.words import in_words
from skcrf_sdca._version import __version__
from skcrf_sdca.data.label_encoding import flat_labels, label_array
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.packed_file import PackedWriter
from skcrf_sdca.features.vectorizer import SequenceVectorizer, grow
from skcrf_sdca.persistence._head import checked_metadata
from skcrf_sdca.persistence._models import save_model

__all__ = ["CorpusWriter"]

FORMAT, FORMAT_VERSION = "skcrf_sdca.corpus", 1
ROWS, LABELS, VECTORIZER = "rows.packed", "labels.npy", "vectorizer.zip"
# Only of text whose features templates make.
FEATURES = "features.zip"
HEADER = "corpus.json"
_BYTES_AT_ONCE = 2**20


class CorpusWriter:
    """Writes labelled sequences part by part; `PackedCorpus.writer` makes it.

    Parameters
    ----------
    path : str
        The folder.
    rows : PackedWriter
        It takes the rows.
    codes : file
        It takes the numbers of the labels.
    features : TokenFeatures or None
        As for `PackedCorpus.writer`.

    Attributes
    ----------
    metadata : dict
        What the program says of the corpus; it may be set until the block ends. As for
        `save_model`.
    n_sequences, n_features : int
        How many have been written, and how many features they have.

    Examples
    --------
    >>> import os, tempfile
    >>> from skcrf_sdca.persistence import PackedCorpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "corpus")
    ...     with PackedCorpus.writer(path) as corpus:
    ...         corpus.append([[["w=a"], ["w=b"]]], [["X", "Y"]])
    ...         corpus.metadata = {"source": "news"}
    ...     PackedCorpus.open(path).metadata
    {'source': 'news'}
    """

    def __init__(
        self, path: str, rows: PackedWriter, codes: Any, features: Any
    ) -> None:
        self.metadata: dict[str, Any] = {}
        self.n_sequences = 0
        self._path, self._rows, self._codes = path, rows, codes
        self._features, self._vectorizer = features, SequenceVectorizer()
        # While a part is written, and for good if that fails.
        self._is_cut = False
        # The number of each label.
        self._numbers: dict[Any, int] = {}

    def append(self, X: Any, y: Labels) -> None:
        """Write sequences, and their labels, after those that are in the folder.

        Parameters
        ----------
        X : list of sequences
            Sequences of tokens as `features` takes them, or of items as a
            `SequenceVectorizer` does. One has an item at least.
        y : list of label lists
            Labels of one type, as for ``fit``; all are known.

        Raises
        ------
        TypeError, ValueError
            If X and y do not have this form, or not that of the parts before; the
            message names the sequence, counted from the first part, and the item. The
            part is left out, and others may follow.
        OSError
            If the part cannot be written, as to a full disk. No other can be then, and
            no corpus is written.
        """
        self._check_whole()
        X = list(X)
        with in_words(begin=self.n_sequences):
            flat = flat_labels(y, [len(sequence) for sequence in X])
            self._check_labels(set(flat))
            items = X if self._features is None else self._features.transform(X)
            packed = grow(self._vectorizer, items)
        self._is_cut = True
        # The names are those of the vectorizer at the end.
        self._rows.append(PackedSequences(packed.X, packed.offsets))
        numbers = self._numbers
        codes = [numbers.setdefault(label, len(numbers)) for label in flat]
        self._codes.write(np.array(codes, dtype=np.int32).tobytes())
        self.n_sequences += len(X)
        self._is_cut = False

    def _check_whole(self):
        if self._is_cut:
            raise ValueError(
                "a part could not be written before: the corpus would lack some of its "
                "sequences; begin again with a new writer."
            )

    @property
    def n_features(self) -> int:
        """How many features the parts have, together."""
        return getattr(self._vectorizer, "n_features_out_", 0)

    def _check_labels(self, labels):
        """Raise ValueError or TypeError for labels that no array of all could have."""
        known = type(next(iter(self._numbers or labels), None))
        for label in labels.difference(self._numbers):
            if type(label) is not known:
                raise TypeError(
                    f"y has labels of type {type(label).__name__}, but before of type "
                    f"{known.__name__}; all must be of one type."
                )
            if label_array([label]).dtype == object:
                raise ValueError(
                    f"y has the label {label!r:.60}, which a file of labels does not "
                    "give back; rename it."
                )

    def end(self) -> None:
        """Write all files of the folder but the rows, which are complete."""
        self._check_whole()
        path, names = self._path, label_array(list(self._numbers))
        _write_labels(file_of(path, LABELS), self._codes, names)
        save_model(self._vectorizer, file_of(path, VECTORIZER))
        files = [ROWS, LABELS, VECTORIZER]
        if self._features is not None:
            save_model(self._features, file_of(path, FEATURES))
            files.append(FEATURES)
        header = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "written_by": f"skcrf_sdca {__version__}",
            "files": {name: state_of(file_of(path, name)) for name in files},
            "metadata": checked_metadata(self.metadata),
        }
        header["crc32"] = checksum_of(header)
        with atomic_write(file_of(path, HEADER)) as file:
            file.write(json.dumps(header).encode())


@contextlib.contextmanager
def writing(path: str, features: Any) -> Iterator[CorpusWriter]:
    """Fill the folder of a path; yield the CorpusWriter."""
    is_new = _take_folder(path)
    try:
        # The labels are known by number until all of them are known by name.
        with unnamed(file_of(path, LABELS)) as codes:
            with PackedSequences.writer(file_of(path, ROWS), grows=True) as rows:
                writer = CorpusWriter(path, rows, codes, features)
                yield writer
            writer.end()
    except BaseException:
        for name in (FEATURES, VECTORIZER, LABELS, ROWS, HEADER):
            with contextlib.suppress(OSError):
                os.unlink(file_of(path, name))
        if is_new:
            with contextlib.suppress(OSError):
                os.rmdir(path)
        raise


def _take_folder(path):
    """Make the folder of a path, with an empty header; return whether there was none.

    Raise OSError if it has other files than those that a killed writer left.
    """
    is_new = not os.path.isdir(path)
    if is_new:
        os.mkdir(path)
    elif os.listdir(path) and not is_begun(path):
        raise FileExistsError(
            errno.EEXIST, "it has files in it: remove it, or choose another name", path
        )
    with errors_named(path), open(file_of(path, HEADER), "wb"):
        return is_new


def is_begun(path):
    """Return whether a path leads to a folder that has not been written to its end."""
    header = file_of(path, HEADER)
    return os.path.isfile(header) and os.path.getsize(header) == 0


def file_of(path, name):
    """Return the path of a file of a folder."""
    return os.path.join(os.fsdecode(path), name)


def _write_labels(path, codes, names):
    """Write the label of each number in a file as an array of NumPy."""
    n_labels = codes.tell() // 4
    codes.seek(0)
    form = {"descr": names.dtype.str, "fortran_order": False, "shape": (n_labels,)}
    with atomic_write(path) as file:
        np.lib.format.write_array_header_1_0(file, form)
        while block := codes.read(4 * BLOCK):
            file.write(names[np.frombuffer(block, dtype=np.int32)].tobytes())


def checksum_of(header):
    """Return the checksum of the entries of a header."""
    return zlib.crc32(json.dumps(header).encode())


def state_of(path):
    """Return the size of a file, and the checksum of its bytes."""
    size, checksum = 0, 0
    with open(path, "rb") as file:
        while block := file.read(_BYTES_AT_ONCE):
            size, checksum = size + len(block), zlib.crc32(block, checksum)
    return {"size": size, "crc32": checksum}
