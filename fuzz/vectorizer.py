"""Fuzz SequenceVectorizer: nested dicts and strings against scikit-learn's vectorizer.

Invalid input raises an error that names its place. Valid input gives, in fit and in
transform, the rows that DictVectorizer gives for the same items flattened.
"""

import math
import pickle
import re
from collections.abc import Mapping, Set
from decimal import Decimal
from itertools import chain
from numbers import Real

import numpy as np
from sklearn.feature_extraction import DictVectorizer

from harness import run
from inputs import Inputs, random_bytes
from skcrf_sdca import SequenceVectorizer
from twins import VectorizerTwin, plain

PLACE = r"sequence \d|X has \d+ sequences and 0 items|X must be a list of sequences"


def target(data):
    """Compare fit and transform on random input with the reference."""
    inputs = Inputs(data)
    dtype = inputs.pick((np.float64, np.float32))
    vectorizer = SequenceVectorizer(min_freq=inputs.pick((1, 1, 2)), dtype=dtype)
    twin = VectorizerTwin(dtype=dtype)
    draw = inputs.pick((inputs.dict, inputs.names))
    X, X_new = inputs.sequences(draw), inputs.sequences(draw)
    packed = refused_or_done(vectorizer.fit_transform, X)
    if packed is None:
        assert not are_valid(X) or overflows(X, twin), "valid input is refused"
        return
    assert are_valid(X), "input that is not valid is taken"
    reference = DictVectorizer(sort=False)
    reference.fit([twin.sums(item) for item in chain(*X)])
    expected = reference.transform([twin.sums(item) for item in chain(*X)]).toarray()
    kept = (expected != 0).sum(axis=0) >= vectorizer.min_freq
    names = np.flatnonzero(kept)
    numbers = numbers_of(vectorizer)
    order = [numbers[reference.feature_names_[name]] for name in names]
    assert sorted(order) == list(range(vectorizer.n_features_out_))
    np.testing.assert_array_equal(packed.X[:, order].toarray(), expected[:, kept])
    assert packed.lengths.tolist() == list(map(len, X))
    assert len(vectorizer.get_feature_names_out()) == len(order)

    vectorizer = pickle.loads(pickle.dumps(vectorizer))
    again = vectorizer.transform(X)
    np.testing.assert_array_equal(again.X.toarray(), packed.X.toarray())
    new = refused_or_done(vectorizer.transform, X_new)
    if new is not None and new.n_positions:
        rows = reference.transform([twin.sums(item) for item in chain(*X_new)])
        expected = rows.toarray()[:, kept]
        np.testing.assert_array_equal(new.X[:, order].toarray(), expected)


def refused_or_done(method, X):
    """Return the result of a method, or None if it refuses X and names the place."""
    try:
        return method(X)
    except (ValueError, TypeError) as error:
        if not re.search(PLACE, str(error)):
            raise


def are_valid(X):
    """Return whether fit should accept X: a second reading of its documentation."""
    if not isinstance(X, (list, tuple)):
        return False
    if not all(isinstance(s, (list, tuple, np.ndarray)) for s in X):
        return False
    if any(isinstance(s, np.ndarray) and s.dtype != object for s in X):
        return False
    items = list(chain(*X))
    dicts = [item for item in items if isinstance(item, Mapping)]
    if not items or len(dicts) not in (0, len(items)):
        return False
    if not all(is_valid(item) for item in items):
        return False
    lengths = set(chain.from_iterable(vector_lengths(item) for item in dicts))
    return len(lengths) == len({key for key, _ in lengths})


def overflows(X, twin):
    """Return whether a value, or the sum of values, is infinite in this precision."""
    sums = [value for item in chain(*X) for value in twin.sums(item).values()]
    return not all(map(math.isfinite, sums))


def is_valid(value):
    """Return whether a value, or an item, is of a documented form."""
    if isinstance(value, Mapping):
        return all(is_name(key) and is_entry(value[key]) for key in value)
    if isinstance(value, (list, tuple, Set)):
        return all(map(is_name, value))
    return False


def is_name(value):
    """Return whether a value is text: all bytes that are drawn are UTF-8."""
    return isinstance(value, (str, bytes))


def is_entry(value):
    """Return whether a dict may hold this value."""
    if isinstance(value, np.ndarray):
        is_plain = value.ndim == 1 and value.dtype.kind in "biuf"
        return bool(is_plain and np.isfinite(value).all())
    if isinstance(value, (Real, Decimal, np.bool_)):
        try:
            return math.isfinite(float(value))
        except (ValueError, OverflowError):
            return False
    return is_name(value) or is_valid(value)


def vector_lengths(item, prefix=""):
    """Yield (key, length) of the vectors in an item."""
    for key, value in item.items():
        if isinstance(value, Mapping):
            yield from vector_lengths(value, f"{prefix}{plain(key)}:")
        elif isinstance(value, np.ndarray):
            yield prefix + plain(key), len(value)


def numbers_of(vectorizer):
    """Return {(table, key, what): number} of all features."""
    known = vectorizer.vocabulary_
    numbers = {("numeric", key, None): j for key, j in known["numeric"].items()}
    for key, table in known["categorical"].items():
        numbers |= {("categorical", key, value): j for value, j in table.items()}
    for key, block in known["vectors"].items():
        numbers |= {("vectors", key, i): j for i, j in enumerate(block)}
    return numbers


if __name__ == "__main__":
    run(target, random_bytes())
