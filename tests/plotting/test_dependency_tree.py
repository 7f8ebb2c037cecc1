"""Pictures of dependency trees: the arcs, their texts, and what is refused."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from skcrf_sdca.plotting import DependencyTree

WORDS = ["dogs", "chase", "<cats>", "&"]
TREE = [2, 0, 2, 3], ["nsubj", "root", "obj", "x<y"]
PROBA = np.array(
    [
        [0.25, 0.75, 0.0, 0.0],
        [0.0, 0.2, 0.0, 0.0],
        [0.75, 0.0, 0.95, 0.05],
        [0.0, 0.05, 0.0, 0.95],
        [0.0, 0.0, 0.05, 0.0],
    ]
)
SPACE = "{http://www.w3.org/2000/svg}"


def parts(shown):
    """Return the texts of a picture, and the titles of its arcs with their paths."""
    root = ElementTree.fromstring(shown.svg)
    texts = [(e.text or "", e.attrib) for e in root.iter(f"{SPACE}text")]
    arcs = {
        path.find(f"{SPACE}title").text: path
        for path in root.iter(f"{SPACE}path")
        if path.find(f"{SPACE}title") is not None
    }
    return root, texts, arcs


def test_words_tags_and_arcs_are_drawn():
    tags = ["N", "V", "N", "P"]
    shown = DependencyTree(WORDS, TREE, tags=tags)
    root, texts, arcs = parts(shown)
    assert {*WORDS, *tags, *TREE[1]} == {text for text, _ in texts}
    assert set(arcs) == {"2 to 1 nsubj", "0 to 2 root", "2 to 3 obj", "3 to 4 x<y"}
    width, height = float(root.get("width")), float(root.get("height"))
    for _, own in texts:
        assert 0.0 < float(own["x"]) < width
        assert 0.0 < float(own["y"]) < height
    centres = {text: float(own["x"]) for text, own in texts}
    assert sorted(WORDS, key=centres.get) == WORDS
    assert centres["dogs"] == centres["N"] or tags.count("N") == 2
    # An arc ends at its word.
    end = float(arcs["2 to 3 obj"].get("d").split()[-2])
    assert end == pytest.approx(centres["<cats>"], abs=0.1)
    assert shown._repr_html_().count(shown.svg) == 1


def test_probabilities_and_other_arcs_are_drawn():
    shown = DependencyTree(WORDS, TREE, proba=PROBA, least=0.2)
    _, texts, arcs = parts(shown)
    assert {"nsubj 0.75", "obj 0.95", "0.25", "0.20"} <= {text for text, _ in texts}
    dashed = {name for name, path in arcs.items() if path.get("stroke-dasharray")}
    assert dashed == {"0 to 1 0.25", "1 to 2 0.20"}
    solid = {name: float(path.get("opacity")) for name, path in arcs.items()}
    assert solid["2 to 3 obj 0.95"] > solid["2 to 1 nsubj 0.75"] > solid["0 to 1 0.25"]
    heads = DependencyTree(WORDS, TREE[0], proba=PROBA)
    assert "3 to 4 0.95" in parts(heads)[2]


def test_outer_arcs_are_higher_than_inner_ones():
    words = list("abcdef")
    _, _, arcs = parts(DependencyTree(words, [6, 1, 2, 3, 4, 0]))
    chain = [2, 0, 2, 2, 2, 2]
    _, _, fan = parts(DependencyTree(words, chain))

    def height(path):
        numbers = [float(x) for x in re.findall(r"-?\d+\.\d", path.get("d"))]
        return numbers[1] - numbers[3]

    assert height(arcs["6 to 1"]) > 1.5 * height(arcs["1 to 2"])
    heights = [height(fan[f"2 to {m}"]) for m in (3, 4, 5, 6)]
    assert heights == sorted(heights)
    assert heights[0] < heights[-1]


def test_the_text_has_a_line_of_each_word():
    lines = str(DependencyTree(WORDS, TREE)).splitlines()
    assert lines[0].split() == ["1", "dogs", "<-", "2", "chase", "nsubj"]
    assert lines[1].split() == ["2", "chase", "<-", "0", "root", "root"]
    assert DependencyTree([], []).svg.startswith("<svg")
    assert str(DependencyTree([], [])) == ""


@pytest.mark.parametrize(
    ("tree", "options", "message"),
    [
        ([2, 0, 2], {}, "4 words, but heads has 3"),
        (([2, 0, 2, 3], ["x"]), {}, "4 words, but relations has 1"),
        ([2, 0, 2, 5], {}, "word 4 has the head 5"),
        ([2, 0, 3, 3], {}, "word 3 has the head 3"),
        (TREE, {"tags": ["N"]}, "tags has 1"),
        (TREE, {"proba": np.zeros((4, 4))}, r"must be \(5, 4\)"),
    ],
)
def test_what_is_no_tree_is_refused(tree, options, message):
    with pytest.raises(ValueError, match=message):
        DependencyTree(WORDS, tree, **options)
