"""The parameter `edge_features`: patterns of names, or numbers, of features."""

import re

import numpy as np


def numbers_of(edge_features, training):
    """Return the numbers, ascending, of the features of TrainingData that it names.

    Raise TypeError if it holds neither str nor int; ValueError if there are no names to
    match, or a number is negative; and, but in a chunk of a stream, if a pattern
    matches no feature or a number is not a feature's.
    """
    numbers = _feature_numbers(edge_features, training)
    if training.columns is None:
        return numbers
    return np.flatnonzero(np.isin(training.columns, numbers))


def _feature_numbers(edge_features, training):
    """Return the numbers among all features of a fit, a prior's included."""
    n_features = training.attributes["n_features_in_"]
    if isinstance(edge_features, str):
        return np.arange(n_features)
    asked = np.asarray(edge_features)
    if asked.ndim == 1 and asked.dtype.kind in "iu":
        unknown = asked >= n_features
        wrong = asked[(asked < 0) | (unknown & (not training.is_chunk))]
        if len(wrong):
            raise ValueError(
                f"edge_features has {wrong[0]}, but X has the features 0 to "
                f"{n_features - 1}."
            )
        return np.unique(asked[~unknown])
    if asked.ndim != 1 or asked.dtype.kind not in "UO" or not len(asked):
        raise TypeError(
            'edge_features must be "all", a list of patterns of names such as '
            '["word=*"], or a list of numbers of features.'
        )
    return _matching(asked.tolist(), _names(training), training.is_chunk)


def _names(training):
    """Return the names of all features of the data of a fit."""
    vectorizer = training.attributes.get("vectorizer_")
    if vectorizer is not None:
        return vectorizer.get_feature_names_out()
    names = training.attributes.get("_feature_names")
    if names is None:
        raise ValueError(
            "edge_features are patterns of names, but the features of X have no "
            "names: give numbers of features."
        )
    return list(names)


def _matching(patterns, names, may_miss):
    """Return the numbers of the names that one of the patterns matches.

    ``may_miss`` says whether a pattern may match none.
    """
    found = np.zeros(len(names), dtype=bool)
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise TypeError(f"edge_features has {pattern!r:.40}, which is not a str.")
        parts = map(re.escape, pattern.split("*"))
        matches = re.compile(".*".join(parts), re.DOTALL).fullmatch
        own = np.array([matches(name) is not None for name in names], dtype=bool)
        if not own.any() and not may_miss:
            raise ValueError(
                f"edge_features: no feature has a name like {pattern!r}; names are "
                f"{', '.join(map(repr, names[:3]))}, ..."
            )
        found |= own
    return np.flatnonzero(found)
