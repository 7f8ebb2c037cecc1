"""The features of words in trees against a twin that looks at each word alone."""

import numpy as np
import pytest

from skcrf_sdca.text import ArcFeatures
from skcrf_sdca.text.features.arc_features import templates_of
from skcrf_sdca.text.features.relation_features import (
    N_FEATURES,
    TEMPLATES,
    relation_rows,
)
from skcrf_sdca.text.features.token_arcs import TokenArcs

PRIMES = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
ROOT, NONE = 1, 2
LENGTHS = [0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 7]


def mix(code, other):
    code = ((code ^ other) * PRIMES[0]) % 2**64
    return ((code ^ (code >> 29)) * PRIMES[1]) % 2**64


def nodes_of(m, heads):
    """Return the number of each node of a word, None if none; 0 is the root."""
    n, head = len(heads), heads[m - 1]
    children = [c for c in range(1, n + 1) if heads[c - 1] == m]
    siblings = [c for c in range(1, n + 1) if heads[c - 1] == head]
    return {
        "m": m,
        "h": head,
        "g": heads[head - 1] if head else None,
        "before": m - 1 or None,
        "after": m + 1 if m < n else None,
        "l": min((c for c in children if c < m), default=None),
        "r": max((c for c in children if c > m), default=None),
        "s": max((c for c in siblings if c < m), default=None),
        "t": min((c for c in siblings if c > m), default=None),
    }


def columns_of(codes, m, heads):
    """Return the columns of the features of a word."""
    nodes, head = nodes_of(m, heads), heads[m - 1]
    columns = {"w": codes[0], "x": codes[min(1, len(codes) - 1)], "u": codes[-1]}
    side = 8 * (head > m)
    length = side + LENGTHS[min(abs(head - m), 11)]
    found = []
    for t, template in enumerate(TEMPLATES):
        state = t + 1
        for part in template.split():
            node, _, column = part.partition(".")
            if not column:
                state = mix(state, {"side": side, "length": length}[part])
            elif nodes[node] is None:
                state = mix(state, NONE)
            else:
                own = nodes[node]
                state = mix(state, int(columns[column][own - 1]) if own else ROOT)
        found.append((state >> 20) % N_FEATURES)
    return sorted(found)


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_rows_are_those_of_the_twin(n_columns):
    rng = np.random.default_rng(n_columns)
    n_words = np.array([3, 0, 14, 1, 6])
    codes = rng.integers(2**63, size=(n_columns, n_words.sum()), dtype=np.uint64)
    trees = []
    for n in n_words.tolist():
        order = rng.permutation(n) + 1
        heads = np.zeros(n, dtype=int)
        for k in range(1, n):
            heads[order[k] - 1] = order[rng.integers(k)]
        trees.append(heads.tolist())
    rows = relation_rows(codes, n_words, np.concatenate(trees).astype(int))
    assert rows.shape == (n_words.sum(), N_FEATURES)
    expected, first = [], 0
    for heads in trees:
        own = codes[:, first : first + len(heads)]
        expected += [columns_of(own, m, heads) for m in range(1, len(heads) + 1)]
        first += len(heads)
    for i, columns in enumerate(expected):
        assert sorted(rows[[i]].indices.tolist()) == columns


def test_there_may_be_no_words():
    rows = relation_rows(
        np.zeros((2, 0), np.uint64), np.zeros(2, int), np.zeros(0, int)
    )
    assert rows.shape == (0, N_FEATURES)


def test_too_many_words_for_one_call():
    # No memory: all heads are one number.
    heads = np.broadcast_to(0, 2**31 // len(TEMPLATES) + 1)
    with pytest.raises(ValueError, match="119304648 words.* at most 119304647 in one"):
        relation_rows(np.zeros((1, 0), np.uint64), np.array([len(heads)]), heads)


def test_columns_are_in_the_order_of_templates():
    features = ArcFeatures(["h.word m.word", "h.tag m.word", "m.a"])
    X = [[{"a": "1", "tag": "N", "word": "dog"}], [{"a": "2", "tag": "N", "word": "x"}]]
    codes = TokenArcs(templates_of(features), X).codes
    assert (codes[1, 0] == codes[1, 1]).all()
    assert len(np.unique(codes)) == 5
