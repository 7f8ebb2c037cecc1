"""Hypothesis strategies for input: nested items, sequences and labels.

The strategies for scores and chains are in reference.py.
"""

from decimal import Decimal

import numpy as np
from hypothesis import strategies as st

# Items --------------------------------------------------------------------------------

names = st.text("ab:=[0]\0", max_size=3)
leaves = st.one_of(
    names,
    st.booleans(),
    st.integers(-2, 2),
    st.floats(-1e6, 1e6, width=32),
    st.lists(names, max_size=3),
    st.frozensets(names, max_size=3),
)
dict_items = st.dictionaries(names, leaves | st.dictionaries(names, leaves, max_size=2))
string_items = st.lists(names, max_size=4)

# Every type of value, also of subclasses and in dicts.
any_names = names | names.map(np.str_)
any_values = st.one_of(
    leaves,
    any_names,
    st.lists(any_names, max_size=3).map(tuple),
    st.integers(-2, 2).map(np.int16),
    st.booleans().map(np.bool_),
    st.decimals(-10, 10, places=2),
    st.floats(-1e3, 1e3),
)
any_dicts = st.dictionaries(
    any_names,
    st.recursive(
        any_values,
        lambda inner: st.dictionaries(any_names, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=5,
)
# A vector has one length wherever it occurs.
vectors = st.lists(st.sampled_from([0.0, -0.5, 2.0]), min_size=3, max_size=3)
any_dicts |= st.tuples(any_dicts, vectors.map(np.array)).map(
    lambda pair: {**pair[0], "vector": pair[1]}
)
any_strings = st.one_of(
    st.lists(any_names, max_size=5),
    st.lists(any_names, max_size=5).map(tuple),
    st.frozensets(any_names, max_size=5),
)

# Sequences and labels -----------------------------------------------------------------

LABEL_SETS = [
    ["O", "B-X", "I-X"],
    ["O"],
    [0, 1],
    [False, True],
    [b"", b"\0b"],
    [-1.0, 2.0],
]


@st.composite
def training_sets(draw):
    """Draw (X, y): sequences with items of one format, and their labels."""
    items = draw(st.sampled_from([any_dicts, any_strings]))
    X = draw(st.lists(st.lists(items, max_size=3), min_size=1, max_size=4).filter(any))
    label = st.sampled_from(draw(st.sampled_from(LABEL_SETS)))
    return X, [[draw(label) for _ in sequence] for sequence in X]


def label_pairs(alphabet):
    """Draw (y_true, y_pred) of equal lengths, with empty sequences among them."""
    token = st.tuples(st.sampled_from(alphabet), st.sampled_from(alphabet))
    sequences = st.lists(st.lists(token, max_size=6), min_size=1, max_size=5)
    return sequences.map(
        lambda pairs: tuple([[token[i] for token in s] for s in pairs] for i in (0, 1))
    )


# Invalid input ------------------------------------------------------------------------

wrong_values = st.sampled_from(
    [
        *(None, 1j, b"\xff", object(), 10**400, np.nan, -np.inf, np.float32("nan")),
        *(Decimal("NaN"), Decimal("sNaN"), Decimal("1e999"), np.datetime64("NaT", "D")),
        *(np.array(1.0), np.ones((1, 2)), np.array(["b"]), np.array([np.nan])),
        *([1], (None,), {1}, [["a"]], {1: "a"}, range(2), iter("ab")),
    ]
)
# At any depth.
wrong_values = st.recursive(
    wrong_values,
    lambda inner: st.dictionaries(names, inner, min_size=1, max_size=1),
    max_leaves=1,
)
wrong_labels = st.sampled_from([np.nan, Decimal("NaN"), Decimal("sNaN")])


def places(sequences):
    """Draw (i, t): the sequence and the position of an item."""
    return st.sampled_from(
        [(i, t) for i, sequence in enumerate(sequences) for t in range(len(sequence))]
    )


@st.composite
def damaged_sets(draw):
    """Draw (X, y, i, t): item t of sequence i holds an invalid feature."""
    X, y = draw(training_sets())
    i, t = draw(places(X))
    wrong = draw(wrong_values)
    if isinstance(X[i][t], dict):
        X[i][t] = {**X[i][t], draw(names): wrong}
    else:
        X[i][t] = ["a", *X[i][t], wrong]
    return X, y, i, t
