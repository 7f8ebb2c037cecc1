"""The terms of dependency trees: the parts of their scores that are not in all of them.

It is for heads what structures/path_terms.py is for labels, and NumPy alone.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca.data.trees import TreeRules, sibling_at, words_of
from skcrf_sdca.structures.path_terms import Terms, terms_that_differ

# The names of features, their values, and their weights (n_features, K).
Weighted = tuple[Iterable[str], NDArray[Any], NDArray[Any]]


def tree_terms(
    trees: NDArray[Any],
    features_at: Callable[[list[int]], Iterable[Weighted]],
    intercept: NDArray[np.float64],
    rules: TreeRules,
) -> Terms:
    """Return the Terms of trees, rows of labels of arcs, without those of all trees.

    ``features_at(places)`` yields the features of the arc, or the sibling, at each of
    some places that are not zero; ``intercept`` is of shape (K,).
    """
    places = np.flatnonzero((trees != trees[0]).any(axis=0)).tolist()
    n = words_of(trees.shape[1], siblings=rules.siblings)
    # Trees differ in the number of siblings if they do in that of roots.
    has_intercept = rules.siblings and not rules.single_root
    has_intercept |= len(intercept) > 1
    terms, changed = [], set()
    for place, weighted in zip(places, features_at(places), strict=True):
        (names, values, weights), (where, word) = weighted, _name_of(place, n)
        changed.add(word)
        names, values = list(names), values.astype(np.float64)
        if has_intercept:
            weights = np.vstack([weights, intercept])
            names, values = [*names, "<intercept>"], np.append(values, 1.0)
        # The state 0 has no weights.
        weights = np.hstack([np.zeros((len(weights), 1)), weights])
        for name, value, own in zip(names, values, weights, strict=True):
            terms.append((f"{where} {name}", value, value * own[trees[:, place]]))
    return terms_that_differ(terms, len(trees), sorted(changed))


def _name_of(place, n):
    """Return the name of an arc or a sibling of n words, and its word."""
    if place < n * (n + 1):
        return f"[{place // n}>{place % n + 1}]", place % n + 1
    h, m, s = sibling_at(n, place - n * (n + 1))
    return f"[{h}>{m}, no sibling]" if s == h else f"[{h}>{m}, sibling {s}]", m
