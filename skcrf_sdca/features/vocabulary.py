"""The vocabulary of a vectorizer: its names, and checks of its types.

It is made of plain dicts, str and int.
"""

import sys
from itertools import chain
from numbers import Integral

import numpy as np

from skcrf_sdca._kernels.features._encoder import Lookup

TABLES = ("numeric", "categorical", "vectors")


def vocabulary_names(vocabulary, n_features):
    """Return the names of the first features of a vocabulary, an object array of str.

    It is given as dicts, or as a Lookup of them. There may be more features, since a
    vocabulary grows by `SequenceVectorizer.partial_fit`.
    """
    if isinstance(vocabulary, Lookup):
        vocabulary = vocabulary.vocabulary
    names = np.empty(n_features, dtype=object)
    numeric = vocabulary["numeric"]
    numbers = np.fromiter(numeric.values(), dtype=np.intp, count=len(numeric))
    keys = np.fromiter(numeric, dtype=object, count=len(numeric))
    is_first = numbers < n_features
    names[numbers[is_first]] = keys[is_first]
    for key, numbers in vocabulary["categorical"].items():
        for value, number in numbers.items():
            if number < n_features:
                names[number] = f"{key}:{value}"
    for key, numbers in vocabulary["vectors"].items():
        for component, number in enumerate(numbers):
            if 0 <= number < n_features:
                names[number] = f"{key}[{component}]"
    return names


def shorten_vocabulary(vocabulary, n_features):
    """Remove the features from number `n_features` on, which are the last of a table.

    It undoes `SequenceVectorizer.partial_fit`. The last keys of empty arrays go too,
    since nothing tells whether they are new.
    """
    _shorten(vocabulary["numeric"], lambda number: number >= n_features)
    for table in vocabulary["categorical"].values():
        _shorten(table, lambda number: number >= n_features)
    _shorten(vocabulary["categorical"], lambda table: not table)
    _shorten(
        vocabulary["vectors"],
        lambda numbers: max(numbers, default=n_features) >= n_features,
    )


def _shorten(table, is_new):
    while table and is_new(table[next(reversed(table))]):
        table.popitem()


def check_tables(vocabulary, n_features, *, complete=False):
    """Raise ValueError if this is no vocabulary of this number of features.

    Two names may have the same number: they are one feature. If it is to be complete,
    each number has a name: so a small file cannot declare many features.
    """
    if not isinstance(n_features, Integral) or n_features < 0:
        raise ValueError(f"n_features_out_ must be a number, got {n_features!r:.40}.")
    if type(vocabulary) is not dict or set(vocabulary) != set(TABLES):
        raise ValueError(f"vocabulary_ must be a dict of {TABLES}.")
    # Mostly sorted already: np.unique, which hashes, takes 20 times as long.
    numbers = np.sort(vocabulary_numbers(vocabulary))
    if numbers.min(initial=0) < 0 or numbers.max(initial=-1) >= n_features:
        raise ValueError(
            f"the numbers in vocabulary_ must be from 0 to {n_features - 1}."
        )
    n_known = np.count_nonzero(np.diff(numbers, prepend=-1))
    if complete and n_known != n_features:
        raise ValueError(
            f"vocabulary_ has {n_known} features, but n_features_out_ is {n_features}"
        )


def packed_lookup(lookup):
    """Return the names of a Lookup as an array of int64, and the sizes of its tables.

    `lookup_of_packed` makes the Lookup again, without a dict of the names.
    """
    _check_byte_order()
    return lookup.packed()


def lookup_of_packed(units, sizes, n_features):
    """Return the Lookup of an array and checked sizes, of a number of features.

    The array is neither copied nor written to. ValueError if it does not have a name of
    each feature, or is damaged.
    """
    _check_byte_order()
    components = [j for numbers in sizes["vectors"].values() for j in numbers]
    if n_features > len(units) + len(components):
        raise ValueError(f"vocabulary_ has fewer than {n_features} features")
    seen = np.zeros(n_features, dtype=np.uint8)
    lookup = Lookup.of_packed(units, sizes, seen)
    if components and not -1 <= min(components) <= max(components) < n_features:
        raise ValueError(
            f"the numbers in vocabulary_ must be from 0 to {n_features - 1}."
        )
    seen[[j for j in components if j >= 0]] = True
    if not seen.all():
        n_known = np.count_nonzero(seen)
        raise ValueError(
            f"vocabulary_ has {n_known} features, but n_features_out_ is {n_features}"
        )
    return lookup


def check_sizes(sizes):
    """Raise ValueError if these are no sizes of `packed_lookup`; return their sum."""
    categorical, vectors = sizes["categorical"], sizes["vectors"]
    _check_types("keys", [categorical, vectors], dict)
    _check_types("vectors", vectors.values(), list)
    _check_types("numbers", chain.from_iterable(vectors.values()), int)
    own = [sizes["numeric"], *categorical.values()]
    _check_types("sizes", own, int)
    if min(own) < 1:
        raise ValueError("vocabulary_: the size of each table must be at least 1.")
    return sum(own)


def _check_byte_order():
    if sys.byteorder != "little":
        raise ValueError(
            "the names of features are stored for processors whose numbers begin with "
            "the lowest byte, and this one is another: use pickle"
        )


def vocabulary_numbers(vocabulary):
    """Return the numbers of all features of a vocabulary, an array of int64.

    Raise ValueError if the vocabulary is not made of plain dicts, str and int.
    """
    categorical, vectors = vocabulary["categorical"], vocabulary["vectors"]
    _check_types("keys", [categorical, vectors], dict)
    tables = [vocabulary["numeric"], *categorical.values()]
    _check_types("tables", tables, dict)
    _check_types("vectors", vectors.values(), list)
    _check_types("names", chain(categorical, vectors, *tables), str)
    numbers = list(chain.from_iterable(table.values() for table in tables))
    components = list(chain.from_iterable(vectors.values()))
    _check_types("numbers", chain(numbers, components), int)
    # A component that min_freq has removed has the number -1.
    numbers += [number for number in components if number != -1]
    return np.fromiter(numbers, dtype=np.int64, count=len(numbers))


def _check_types(what, values, plain):
    if not set(map(type, values)) <= {plain}:
        raise ValueError(f"vocabulary_: the {what} must be plain {plain.__name__}.")
