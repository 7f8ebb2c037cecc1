"""The compiled rows of arcs against a twin in NumPy."""

import numpy as np
import pytest
from arc_twin import rows_of_arcs
from numpy.testing import assert_array_equal

from skcrf_sdca._kernels.features._arc_rows import ArcRows

# Parts of one side, of both in any order, near them, between, and nothing else.
TEMPLATES = [
    [("h", 0, 0), ("h", 1, 1)],
    [("m", -1, 0)],
    [("h", 0, 0), ("m", 0, 0), ("h", -1, 1)],
    [("m", 1, 1), ("h", 0, 0)],
    [("h", 0, 1), ("between", 0, 1), ("m", 0, 1)],
    [("between", 0, 0)],
    [("m", 0, 1), ("between", 0, 1)],
]
LENGTHS = [3, 0, 1, 14, 2]


def new_rows(templates, n_features, seed=0):
    """Return ArcRows of made sentences, and the codes of each."""
    rng = np.random.default_rng(seed)
    # Codes that occur again, of 64 bits.
    values = rng.integers(0, 2**64, size=5, dtype=np.uint64)
    codes = values[rng.integers(5, size=(2, sum(LENGTHS)))]
    offsets = np.append(0, np.cumsum(LENGTHS)).astype(np.intp)
    layout = [
        (
            [(at == "h", shift, column) for at, shift, column in own if at in "hm"],
            next((column for at, _, column in own if at == "between"), -1),
        )
        for own in templates
    ]
    sentences = np.split(codes, offsets[1:-1], axis=1)
    return ArcRows(codes, offsets, layout, n_features), sentences


@pytest.mark.parametrize("n_features", [2**31 - 1, 2**20, 1000, 1])
def test_rows_are_those_of_numpy(n_features):
    rows, sentences = new_rows(TEMPLATES, n_features)
    for i, codes in enumerate(sentences):
        bounds, columns = rows.rows(i)
        found = [sorted(row.tolist()) for row in np.split(columns, bounds[1:-1])]
        expected = rows_of_arcs(codes, TEMPLATES, n_features)
        assert found == (expected or [[]])
        assert bounds[-1] == len(columns)
        assert len(bounds) == len(expected) + 1


@pytest.mark.parametrize("template", TEMPLATES)
def test_each_template_has_its_own_rows(template):
    rows, sentences = new_rows([template], 2**31 - 1, seed=1)
    bounds, columns = rows.rows(3)
    found = [sorted(row.tolist()) for row in np.split(columns, bounds[1:-1])]
    assert found == rows_of_arcs(sentences[3], [template], 2**31 - 1)


def test_sentences_are_taken_in_any_order():
    rows, _ = new_rows(TEMPLATES, 2**20)
    first = rows.rows(3)
    rows.rows(0)
    for one, other in zip(first, rows.rows(3), strict=True):
        assert_array_equal(one, other)
