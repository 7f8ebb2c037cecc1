"""How large templates are, and how large they may be.

A few characters, such as a Joint of windows, can stand for any number of features.
Templates are therefore measured before their features are made. Model files have the
same limits, so that fitted templates can also be saved.
"""

import math
from typing import NamedTuple

MAX_PLACE, MAX_PARTS, MAX_CHARACTERS = 100, 100, 2**18


class Size(NamedTuple):
    """How many features a template has, parts of each, and characters of all names."""

    n_features: int
    n_parts: int
    n_characters: int


def size_of_runs(name, first, last, n=1):
    """Return the size of all runs of n places of a value with this feature name."""
    n_features = last - first - n + 2
    return Size(n_features, n, n_features * n * len(f"{name}[{last}]|"))


def size_of_product(sizes):
    """Return the size of the joint features of templates of these sizes.

    The characters count twice, because each Joint around it makes the features again:
    so the limit of characters is one of the depth, too.
    """
    n_features = math.prod(size.n_features for size in sizes)
    n_characters = sum(
        n_features // size.n_features * size.n_characters
        for size in sizes
        if size.n_features
    )
    return Size(n_features, sum(size.n_parts for size in sizes), 2 * n_characters)


def check_places(argument, value, *places):
    """Raise ValueError if a place of an argument is too far from the token."""
    if max(map(abs, places)) > MAX_PLACE:
        raise ValueError(
            f"{argument}={value!r:.80} has a place beyond {MAX_PLACE}: choose one that "
            "is nearer to the token."
        )


def check_sizes(name, sizes):
    """Raise ValueError if templates of these sizes are too large together."""
    sizes = list(sizes)
    if sum(size.n_characters for size in sizes) > MAX_CHARACTERS:
        raise ValueError(
            f"{name}: the names of the features have more than {MAX_CHARACTERS} "
            "characters; use fewer or smaller templates."
        )
    if max((size.n_parts for size in sizes), default=0) > MAX_PARTS:
        raise ValueError(
            f"{name}: a feature has more than {MAX_PARTS} parts; join fewer places."
        )
