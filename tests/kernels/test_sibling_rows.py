"""The compiled rows of siblings against a twin in NumPy."""

import numpy as np
import pytest
from arc_twin import columns_of_sibling

from skcrf_sdca._kernels.features._arc_rows import ArcRows
from skcrf_sdca._kernels.features._sibling_rows import SiblingRows

# Of two words and of three, near them, and of the sibling alone.
TEMPLATES = [
    [("m", 0, 0), ("s", 0, 0)],
    [("h", 0, 0), ("m", 0, 1), ("s", 0, 0)],
    [("h", 1, 1), ("s", -1, 0), ("s", 0, 1)],
    [("m", -1, 0), ("m", 0, 1), ("s", 1, 1)],
    [("s", 0, 0)],
]
NODES = "hms"
LENGTHS = [3, 0, 1, 14, 2]


def new_rows(n_features):
    """Return SiblingRows of made sentences, after two templates, and their codes."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2**64, size=5, dtype=np.uint64)
    codes = values[rng.integers(5, size=(2, sum(LENGTHS)))]
    offsets = np.append(0, np.cumsum(LENGTHS)).astype(np.intp)
    arcs = ArcRows(codes, offsets, [([(True, 0, 0)], -1)] * 2, n_features)
    layout = [
        [(NODES.index(at), shift, column) for at, shift, column in own]
        for own in TEMPLATES
    ]
    return SiblingRows(arcs, layout), np.split(codes, offsets[1:-1], axis=1)


def all_siblings(n):
    """Return h, m, s of n words: s between h and m, or h itself."""
    return [
        {"h": h, "m": m, "s": s}
        for h in range(1, n + 1)
        for m in range(1, n + 1)
        if m != h
        for s in [h, *range(min(h, m) + 1, max(h, m))]
    ]


@pytest.mark.parametrize("n_features", [2**31 - 1, 2**20, 1000])
def test_columns_are_those_of_numpy(n_features):
    rows, sentences = new_rows(n_features)
    numbered = list(enumerate(TEMPLATES, start=3))
    for i, codes in enumerate(sentences):
        for nodes in all_siblings(codes.shape[1]):
            found = rows.columns(i, nodes["h"], nodes["m"], nodes["s"])
            expected = columns_of_sibling(codes, numbered, nodes, n_features)
            assert found.tolist() == expected
