"""Faults of trees: counted, left out, moved up, and named in errors."""

import numpy as np
import pytest
import tree_twin

from skcrf_sdca.data.heads import crossing
from skcrf_sdca.text import TreeFaults, clean_trees

BAD = {
    "head_out_of_range": [3, 0],
    "own_head": [0, 2],
    "cycle": [2, 1, 0],
    "several_roots": [0, 0],
}
CROSSED = [3, 4, 0, 3]


def test_faults_are_counted_and_left_out():
    y = [[2, 0], *BAD.values(), CROSSED, []]
    X = [f"sentence {i}" for i in range(len(y))]
    kept, trees, faults = clean_trees(X, y, wrong="drop")
    assert kept == ["sentence 0", "sentence 5", "sentence 6"]
    assert trees == [[2, 0], CROSSED, []]
    assert faults == TreeFaults(1, 1, 1, 1, 1)
    assert str(faults).startswith("head out of range: 1, own head: 1, cycle: 1")
    assert str(clean_trees(X[:1], y[:1])[2]) == "no faults"
    kept, _, faults = clean_trees(X, y, wrong="drop", crossing_arcs="drop")
    assert kept == ["sentence 0", "sentence 6"]
    assert faults.crossing_arcs == 1
    _, trees, faults = clean_trees(X, y, wrong="drop", single_root=False)
    assert [0, 0] in trees
    assert faults.several_roots == 0


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([3, 0], "sentence 1, word 1 has the head 3"),
        ([-1, 0], "sentence 1, word 1 has the head -1"),
        ([0, 2], "sentence 1, word 2 is its own head"),
        ([2, 1, 0], "sentence 1, word 1: its heads form a cycle"),
        ([0, 0], "sentence 1 has 2 words below the root, the words 1 and 2"),
        ([0.5, 0], "the heads of sentence 1 must be integers"),
        ([[0]], "the heads of sentence 1 must be integers"),
    ],
)
def test_errors_name_sentence_and_word(heads, message):
    with pytest.raises(ValueError, match=message):
        clean_trees(["a", "b"], [[0], heads])
    with pytest.raises(ValueError, match=message):
        clean_trees(["a", "b"], [([0], ["root"]), (heads, ["x", "y"])])


def test_crossing_arcs_may_be_errors():
    with pytest.raises(ValueError, match="sentence 1 is not projective: the arcs"):
        clean_trees(["a", "b"], [[0], CROSSED], crossing_arcs="raise")
    for options, name in (({"wrong": "x"}, "wrong"), ({"crossing_arcs": 1}, "cross")):
        with pytest.raises(ValueError, match=f"{name}.* must be one of"):
            clean_trees(["a"], [[0]], **options)
    with pytest.raises(ValueError, match="X has 2 sentences, and y has 1"):
        clean_trees(["a", "b"], [[0]])


@pytest.mark.parametrize("single_root", [True, False])
def test_every_tree_becomes_projective(single_root):
    """Few heads change, each to a node above the word, and the root stays."""
    trees = [t.tolist() for t in tree_twin.trees(5, single_root=single_root)]
    assert any(crossing(np.array(t)) is not None for t in trees)
    options = {"single_root": single_root, "crossing_arcs": "projectivize"}
    X, found, faults = clean_trees(trees, trees, **options)
    assert X == trees
    n_changed = 0
    for old, new in zip(trees, found, strict=True):
        assert crossing(np.array(new)) is None
        assert isinstance(new, list)
        if new == old:
            continue
        n_changed += 1
        for m, head in enumerate(new):
            above = [old[m]]
            while above[-1]:
                above.append(old[above[-1] - 1])
            assert head in above
        assert [h == 0 for h in old] == [h == 0 for h in new] or not single_root
    assert n_changed == faults.crossing_arcs > 0


def test_one_arc_over_a_word_is_lifted_once():
    y = [(np.array(CROSSED), ["a", "b", "root", "c"])]
    ((heads, relations),) = clean_trees(["x"], y, crossing_arcs="projectivize")[1]
    assert heads.tolist() == [3, 3, 0, 3]
    assert relations == y[0][1]
    assert y[0][0].tolist() == CROSSED
