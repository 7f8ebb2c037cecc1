"""Containers of sequences that users may pass, and columns of them."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import count, islice
from numbers import Integral
from typing import Any

import numpy as np

from skcrf_sdca._utils.words import name_of, words


def check_container(X, name="X"):
    """Raise TypeError if `X` cannot hold sequences in a defined order.

    `name` is the name of the argument in the message. A data frame holds none: what
    its iterator yields, names or columns, depends on the library.
    """
    if isinstance(X, (list, tuple)):
        return
    readable = isinstance(X, Iterable) or hasattr(X, "__array__")
    is_scalar = getattr(X, "shape", None) == ()
    if not readable or is_scalar or isinstance(X, (str, bytes, Mapping, Set)):
        found = advice_on(X, name_of(name))
        advice = f" ({found})" if found else ""
        raise TypeError(
            f"{name_of(name)} must be a list of {words().sequence}s, got "
            f"{type(X).__name__} instead{advice}."
        )
    if is_frame(X):
        raise TypeError(
            f"{name_of(name)} is a data frame: pass the column that holds the "
            f"{words().sequence}s, of "
            f"{columns_of(X)}. If each row is a token, text.read_corpus makes "
            "sequences of them."
        )


def as_list(X, *, name="X"):
    """Return a container that can be read more than once.

    Generators, iterators and columns of data frames become lists. Raise TypeError if
    `X`, called `name`, is no container of sequences, and ValueError if it has masked
    entries.
    """
    if isinstance(X, (list, tuple)):
        return X
    if isinstance(X, np.ndarray):
        return unmasked(X, name)
    if len(getattr(X, "shape", ())) == 2:
        return X
    X = plain_column(X)
    check_container(X, name)
    return list(X) if isinstance(X, Iterable) else np.asarray(X)


def unmasked(values: Any, where: str) -> Any:
    """Return values, called `where`, as an array; ValueError if some are masked."""
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name_of(where)} is an array with masked entries; fill them, or leave "
            "them out."
        )
    return np.asarray(values)


# So many sequences go through the steps of a pipeline at once.
PART = 1000


def parts_of(X: Iterable[Any], size: int) -> Iterator[tuple[int, list[Any]]]:
    """Yield lists of up to ``size`` sequences, each after the number of its first.

    There is one at least.

    >>> from skcrf_sdca.data.containers import parts_of
    >>> list(parts_of("abc", 2)), list(parts_of([], 2))
    ([(0, ['a', 'b']), (2, ['c'])], [(0, [])])
    """
    sequences = iter(X)
    for begin in count(0, size):
        part = list(islice(sequences, size))
        if begin and not part:
            return
        yield begin, part


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, NaT or NA."""
    if getattr(value, "shape", ()) != ():
        # No value, but not missing either. Some arrays warn when they are compared.
        return False
    try:
        return value is None or not value == value
    except (TypeError, ValueError, ArithmeticError):
        return True


def is_sparse(X):
    """Return whether `X` is a sparse matrix: there is none where SciPy has no module.

    What reads labels and text does not import SciPy for the answer.
    """
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(X)


def is_frame(X):
    """Return whether `X` is a data frame."""
    return len(getattr(X, "shape", ())) == 2 and hasattr(X, "columns")


def columns_of(frame):
    """Return the names of the columns of a data frame, or of a table of Arrow."""
    # The columns of Arrow are arrays.
    return list(getattr(frame, "column_names", frame.columns))


# Attributes by which containers that hold no sequences are known -> what to do.
_ADVICE = {
    "get_docs": "text.read_corpus reads its documents, {}.get_docs(nlp.vocab)",
    "collect_schema": "it is not computed yet: pass {}.collect()",
    "ents": "text.read_corpus reads documents of spaCy",
}


def advice_on(value: Any, name: str) -> str:
    """Return what to do with a value, called `name`, that is no sequence, or "".

    Other libraries need not be there: their containers are known by what they have.
    """
    if isinstance(value, Mapping):
        return "text.read_corpus reads records, such as the rows of a data set"
    known = (advice for own, advice in _ADVICE.items() if hasattr(value, own))
    found = next(known, None)
    return "" if found is None else found.format(name)


def is_graph(value):
    """Return whether a value is a tuple of nodes and of what joins these.

    That is pairs of nodes, or the head of each node, by their numbers.

    >>> from skcrf_sdca.data.containers import is_graph
    >>> is_graph((["a", "b"], [-1, 0])), is_graph((["a"], ["b"]))
    (True, False)
    """
    if not isinstance(value, tuple) or len(value) not in (2, 3):
        return False
    second = value[1]
    if isinstance(second, np.ndarray):
        return second.dtype.kind in "iu" or second.size == 0
    if not isinstance(second, (list, tuple)):
        return False
    flat = [x for part in second for x in (part if np.ndim(part) == 1 else [part])]
    return all(isinstance(x, Integral) for x in flat)


def plain_column(column):
    """Return a column of Polars as a list; anything else as it is.

    The iterator of Polars yields columns for lists, and its arrays have NaN for
    missing integers. An object with ``__array__``, but no shape, becomes an array.
    """
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(column, polars.Series):
        return column.to_list()
    is_only_array = hasattr(column, "__array__") and not hasattr(column, "shape")
    return np.asarray(column) if is_only_array else column


def holds_sequences(X, depth):
    """Return whether `X` is nested as a list of sequences is, and one sequence not.

    ``depth`` is the number of times that the first entry of the first entry, and so on,
    is a list, a tuple or a dict. A table within a list is a sequence.
    """
    for _ in range(depth):
        if not isinstance(X, (list, tuple)) or not X:
            return False
        X = X[0]
        if len(getattr(X, "shape", ())) == 2:
            return True
    return isinstance(X, (list, tuple, Mapping))
