"""Names of features, the same for all sequences of an X.

`FeatureNames` are those that packed data carry. The others are columns of data frames.
Rows are read by position. Thus features of other names, or in another order, would be
other features.
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._kernels.features._encoder import Lookup
from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.sklearn_versions import check_feature_names, get_feature_names
from skcrf_sdca._utils.words import numbered, place, words


class FeatureNames:
    """The names of the features of packed data, computed lazily.

    Packed data and models keep a reference to this object, so that millions of names
    cost nothing until they are shown. It has the length and the indexing of an array of
    str, which ``np.asarray(names)`` makes; it is immutable.

    Parameters
    ----------
    n_features : int
        Number of names.
    function : callable
        ``function(*arguments)`` returns the names.
    *arguments : objects
        Sources of the names. They must not change.

    Examples
    --------
    >>> from skcrf_sdca import SequenceVectorizer
    >>> names = SequenceVectorizer().fit_transform([[["a", "b"], ["c"]]]).feature_names
    >>> names
    FeatureNames(n_features=3)
    >>> list(names)
    ['a', 'b', 'c']
    """

    def __init__(
        self,
        n_features: int,
        function: Callable[..., Iterable[str] | NDArray[Any]],
        *arguments: Any,
    ) -> None:
        self._n_features = n_features
        self._function = function
        self._arguments = arguments
        # Caches: the names without their source, the digest of these, and names of
        # another source that were found equal.
        self._compact: FeatureNames | None = None
        self._digest: bytes | None = None
        self._equal: FeatureNames | None = None

    @classmethod
    def of(cls, names: Iterable[str], what: str = "feature_names") -> Self:
        """Return an iterable of str, called `what` in messages, as FeatureNames.

        Parameters
        ----------
        names : iterable of str
        what : str, default="feature_names"

        Returns
        -------
        FeatureNames
            `names` itself if it is one.

        Raises
        ------
        TypeError
            If `names` is a single str, or one of the names is not a str.

        Examples
        --------
        >>> from skcrf_sdca.data.feature_names import FeatureNames
        >>> FeatureNames.of(["length", "angle"])[1]
        'angle'
        """
        if isinstance(names, cls):
            return names
        if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
            raise TypeError(f"{what} must be a list of str, got {described(names)}.")
        names = list(names)
        for j, name in enumerate(names):
            if not isinstance(name, str):
                raise TypeError(f"{what}: name {j} must be a str, got {name!r:.40}.")
        return cls._encoded(names)

    @classmethod
    def _encoded(cls, names):
        # A lone surrogate, which Python reads from a broken file, is a name too.
        encoded = [str(name).encode("utf-8", "surrogatepass") for name in names]
        ends = np.cumsum([0, *map(len, encoded)])
        text = np.frombuffer(b"".join(encoded), np.uint8)
        return cls(len(encoded), decoded_names, text, ends)

    def compact(self) -> "FeatureNames":
        """Return the same names in two arrays, which workers of joblib share.

        Returns
        -------
        FeatureNames
            They take the bytes of their text and 8 bytes for each name, and do not keep
            a vocabulary or a transformer in memory.
        """
        if self._function is decoded_names:
            return self
        if self._compact is None:
            self._compact = self._encoded(self)
        return self._compact

    @property
    def shape(self) -> tuple[int]:
        """``(n_features,)``."""
        return (self._n_features,)

    def __len__(self) -> int:
        """Return the number of names."""
        return self._n_features

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the names as an object array of str."""
        names = np.fromiter(
            self._function(*self._arguments), dtype=object, count=self._n_features
        )
        return names if dtype is None else names.astype(dtype)

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(np.asarray(self))

    def __getitem__(self, key: Any) -> Any:
        """Return a name, or an array of several."""
        return np.asarray(self)[key]

    def __eq__(self, other: object) -> bool:
        """Return whether the names and their order are the same.

        Names are compared one by one only if they come from different sources, and then
        once.
        """
        if not isinstance(other, FeatureNames):
            return NotImplemented
        if self is other:
            return True
        if len(self) != len(other):
            return False
        for known in (self, self._equal):
            if known is not None and known._has_source_of(other):
                return True
        if self._digest_of_names() != other._digest_of_names():
            return False
        self._equal = other
        return True

    __hash__ = None  # type: ignore[assignment]

    def first(self, n: int) -> "FeatureNames":
        """Return the first names.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        FeatureNames
        """
        if n == len(self):
            return self
        *source, last = self._arguments
        if type(last) is int and last == len(self):
            # A vocabulary: the function returns the first `n` names of it.
            return FeatureNames(n, self._function, *source, n)
        return self.of(np.asarray(self)[:n].tolist())

    def __repr__(self):
        """Return the number of names."""
        return f"FeatureNames(n_features={len(self)})"

    def __getstate__(self):
        """Return the source, which a vectorizer in the same pickle shares.

        Instead of a transformer, whose class a reader might not have, the compact form
        is returned.
        """
        plain = (int, str, tuple, dict, np.ndarray, FeatureNames)
        arguments = tuple(
            part.vocabulary if isinstance(part, Lookup) else part
            for part in self._arguments
        )
        if not all(isinstance(part, plain) for part in arguments):
            return self.compact().__getstate__()
        state = {"_compact": None, "_digest": None, "_equal": None}
        return {**vars(self), "_arguments": arguments, **state}

    def _has_source_of(self, other):
        if self._function is not other._function:
            return False
        pairs = zip(self._arguments, other._arguments, strict=True)
        return all(_are_same(a, b) for a, b in pairs)

    def _digest_of_names(self):
        names = self.compact()
        if names._digest is None:
            text, ends = names._arguments
            names._digest = blake2b(ends.tobytes() + text.tobytes()).digest()
        return names._digest


def decoded_names(text, ends):
    """Return the names of the compact form: their UTF-8, and where each one ends."""
    encoded = text.tobytes()
    bounds = pairwise(ends.tolist())
    return [encoded[a:b].decode("utf-8", "surrogatepass") for a, b in bounds]


def _are_same(a, b):
    # Comparing two large dicts would take as long as comparing the names.
    if isinstance(b, Lookup):
        return b.is_of(a)
    if isinstance(a, Lookup):
        return a.is_of(b)
    return a is b or (isinstance(a, (int, str, tuple, FeatureNames)) and a == b)


def same_names(sequences):
    """Yield the sequences of an X; their names of features must be the same.

    Sequences of another number of features are left to the caller. Raise ValueError if
    the names or their order differ, or if only some of the sequences have names;
    sequences without rows need none. Raise TypeError if only some names are str.
    """
    names = first = None
    for index, sequence in enumerate(sequences):
        own = _names_of(sequence, index)
        if first is None and (own is not None or _has_rows(sequence)):
            names, first = own, index
        elif own is not None or _has_rows(sequence):
            _check_same(own, index, names, first)
        yield sequence


def names_of_frame(frame):
    """Return the names of the columns of a data frame, None if it has none."""
    names = get_feature_names(frame)
    return None if names is None else FeatureNames.of(names)


def check_names_of_fit(estimator, X):
    """Check the names of an X of sequences by scikit-learn's rule for tables.

    Raise ValueError if they are not the names of fit, in their order; warn if only the
    data of fit or only X has names.
    """
    first = next((x for x in X if _names_of(x, None) is not None), None)
    check_feature_names(estimator, first)


def check_same_names(names, of_fit):
    """Raise ValueError if FeatureNames of an X differ from those in fit, or in order.

    Names of another number of features are left to the caller, and None is no name.
    """
    if names is None or of_fit is None or len(names) != len(of_fit):
        return
    if of_fit == names:
        return
    pairs = enumerate(zip(names, of_fit, strict=True))
    j, (name, expected) = next((j, pair) for j, pair in pairs if pair[0] != pair[1])
    raise ValueError(
        f"{words().X}: feature {j} is {name!r:.60}, but in fit it was "
        f"{expected!r:.60}. Features are read by position: make {words().X} with the "
        "same transformer as in fit."
    )


def _names_of(sequence, index):
    # Only data frames have columns, and the other test takes far longer.
    if not hasattr(sequence, "columns"):
        return None
    try:
        return get_feature_names(sequence)
    except TypeError as error:
        raise TypeError(f"{place('X', index)}: {error}") from error


def _has_rows(sequence):
    if shape := getattr(sequence, "shape", ()):
        return shape[0] > 0
    return hasattr(sequence, "__len__") and len(sequence) > 0


def _check_same(own, index, names, first):
    if own is None and names is None:
        return
    if own is None or names is None:
        named, other = (first, index) if own is None else (index, first)
        raise ValueError(
            f"{place('X', named)} is a data frame with names of columns, but "
            f"{numbered(other)} has none; all must have the same names, or "
            "none."
        )
    differ = (j for j, (a, b) in enumerate(zip(own, names, strict=False)) if a != b)
    j = next(differ, None) if len(own) == len(names) else None
    if j is not None:
        raise ValueError(
            f"{place('X', index)} has column {j} {own[j]!r:.40}, but "
            f"{numbered(first)} has {names[j]!r:.40}; all must have the same "
            "columns in the same order."
        )
