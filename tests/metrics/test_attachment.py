"""Attachment scores against counts made by hand, word by word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skcrf_sdca.metrics import attachment_report, attachment_scores

RELATIONS = ["nsubj", "nsubj:pass", "obj", "det", "punct", "case", "root"]


@st.composite
def pairs_of_trees(draw):
    """Draw heads and relations of the same words, true and predicted."""
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))

    def tree(n):
        heads = draw(st.lists(st.integers(0, n), min_size=n, max_size=n))
        names = st.sampled_from(RELATIONS)
        return heads, draw(st.lists(names, min_size=n, max_size=n))

    return [[tree(n) for n in lengths] for _ in range(2)]


def counted(y_true, y_pred, subtypes, mask=None):
    """Return the four scores by loops."""
    mask = mask or [[True] * len(tree[0]) for tree in y_true]

    def own(name):
        return name if subtypes else name.split(":")[0]

    def is_content(name):
        return name.split(":")[0] not in {"det", "punct", "case"}

    counts = iter([own for tree in mask for own in tree])
    words = [
        (true[0][t], own(true[1][t]), pred[0][t], own(pred[1][t]))
        for true, pred in zip(y_true, y_pred, strict=True)
        for t in range(len(true[0]))
        if next(counts)
    ]
    uas = sum(w[0] == w[2] for w in words)
    las = sum(w[:2] == w[2:] for w in words)
    content = sum(w[:2] == w[2:] and is_content(w[1]) for w in words)
    both = sum(is_content(w[1]) for w in words) + sum(is_content(w[3]) for w in words)
    exact = sum(
        all(a == b for a, b, own in zip(true[0], pred[0], counts, strict=True) if own)
        for true, pred, counts in zip(y_true, y_pred, mask, strict=True)
    )
    n, m = max(len(words), 1), max(len(y_true), 1)
    return uas / n, las / n, 2 * content / max(both, 1), exact / m


@pytest.mark.parametrize("subtypes", [False, True])
@given(pairs_of_trees())
def test_scores_are_those_counted_by_loops(subtypes, pair):
    found = attachment_scores(*pair, subtypes=subtypes)
    assert found == pytest.approx(counted(*pair, subtypes))
    heads = [[np.array(tree[0], dtype=int) for tree in y] for y in pair]
    assert attachment_scores(*heads) == (found.uas, None, None, found.exact)
    report = attachment_report(*pair, subtypes=subtypes, output_dict=True)
    assert report["all"]["recall"] == pytest.approx(found.las)
    rows = [row for name, row in report.items() if name != "all"]
    assert sum(row["support"] for row in rows) == report["all"]["support"]


@pytest.mark.parametrize("subtypes", [False, True])
@given(pairs_of_trees(), st.data())
def test_words_that_the_mask_leaves_out_do_not_count(subtypes, pair, data):
    lengths = [len(tree[0]) for tree in pair[0]]
    mask = [data.draw(st.lists(st.booleans(), min_size=n, max_size=n)) for n in lengths]
    found = attachment_scores(*pair, subtypes=subtypes, mask=mask)
    assert found == pytest.approx(counted(*pair, subtypes, mask))
    report = attachment_report(*pair, subtypes=subtypes, mask=mask, output_dict=True)
    assert report["all"]["recall"] == pytest.approx(found.las)
    assert report["all"]["support"] == sum(map(sum, mask))
    for (heads, _), own in zip(pair[1], mask, strict=True):
        heads[:] = [h * counts for h, counts in zip(heads, own, strict=True)]
    assert attachment_scores(*pair, subtypes=subtypes, mask=mask) == found


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([[True]], "mask has 1 tree, but y_true has 2"),
        ([[True], [True]], "mask: tree 1 must have True or False for each of its 2 w"),
        ([[True], [1, 0]], r"mask: tree 1 must have True .*; it has \[1, 0\]"),
        ([[True], True], "mask: tree 1 must have True or False"),
    ],
)
def test_wrong_masks_are_named(mask, message):
    y = [([0], ["a"]), ([0, 1], ["a", "b"])]
    for score in (attachment_scores, attachment_report):
        with pytest.raises(ValueError, match=message):
            score(y, y, mask=mask)


def test_nothing_has_scores_of_0():
    assert attachment_scores([], []) == (0.0, None, None, 0.0)


def test_the_report_has_a_row_for_each_relation():
    y_true = [([2, 0, 2], ["det", "root", "obj"]), ([0], ["root"])]
    y_pred = [([2, 0, 1], ["det", "root", "obj"]), ([0], ["dep"])]
    report = attachment_report(y_true, y_pred, output_dict=True)
    assert list(report) == ["dep", "det", "obj", "root", "all"]
    keys = "precision", "recall", "f1-score", "support"
    assert report["root"] == dict(zip(keys, (1.0, 0.5, 2 / 3, 2), strict=True))
    assert report["obj"] == dict(zip(keys, (0.0, 0.0, 0.0, 1), strict=True))
    lines = attachment_report(y_true, y_pred, digits=3).split("\n")
    assert lines[-1] == " all     0.500     0.500     0.500         4"


@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        ([[0]], [], "y_true has 1 tree, but y_pred has 0"),
        ([[0, 1]], [[0]], "tree 0 has 2 words in y_true, but 1 in y_pred"),
        ([[0, 3]], [[0, 1]], "y_true: tree 0, word 2: the head must be 0"),
        ([[0], [-1]], [[0], [0]], "y_true: tree 1, word 1: .* it is -1"),
        ([[0]], [["0"]], "y_pred: the heads of tree 0 must be integers"),
        ([[0, None]], [[0, 1]], "y_true: the heads of tree 0 .* left out by mask="),
        ([([0], ["root"])], [[0]], "y_pred has heads without relations"),
        ([([0], ["root"]), [0]], [[0], [0]], "some trees of y_true have relations"),
        ([([0], [])], [[0]], r"y_true: tree 0 must be a tuple \(heads, relations\)"),
    ],
)
def test_trees_that_cannot_be_compared_are_named(y_true, y_pred, message):
    with pytest.raises(ValueError, match=message):
        attachment_scores(y_true, y_pred)


def test_a_report_needs_relations():
    with pytest.raises(ValueError, match="y_true has heads without relations"):
        attachment_report([[0]], [[0]])
