"""ArcFeatures against features that are written as strings, arc by arc."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from skcrf_sdca import DependencyCRF
from skcrf_sdca.text import ArcFeatures, arc_templates

# So many columns that no two features of the tests share one.
MANY = 2**31 - 1
WORDS = [("the", "DET"), ("dogs", "NOUN"), ("bark", "VERB"), ("the", "DET")]
SENTENCES = [WORDS, WORDS[1:3], WORDS[:1], [], WORDS + WORDS[::-1] + WORDS]


def strings_of(sentence, templates, h, m):
    """Return the features of the arc from head h to word m, as strings."""
    if h == m:
        return set()
    columns = {
        name: ["<begin>", "<root>", *values, "<end>"]
        for name, values in zip(
            ("word", "upos"), zip(*sentence, strict=True), strict=True
        )
    }
    places = {"h": h, "m": m, "h-1": h - 1, "h+1": h + 1, "m-1": m - 1, "m+1": m + 1}
    direction, length = "right" if h < m else "left", abs(h - m)
    length = length if length <= 5 else "6-10" if length <= 10 else ">10"
    found = set()
    for template in templates:
        between = [None]
        if "between" in template:
            between = range(min(h, m) + 1, max(h, m))
        for b in between:
            values = []
            for part in template.split():
                at, column = part.split(".")
                place = b if at == "between" else places[at]
                values.append(columns[column][place + 1])
            text = f"{template}={' '.join(values)} {direction}"
            found |= {text, f"{text} {length}"}
    return found


@pytest.mark.parametrize(
    "templates",
    [None, ["h.word m.word"], ["m.upos between.word"], arc_templates(context=True)],
)
def test_columns_stand_for_strings(templates):
    features = ArcFeatures(templates, columns=("word", "upos"), n_features=MANY)
    names = arc_templates() if templates is None else templates
    known = {}
    for sentence, arcs in zip(SENTENCES, features.transform(SENTENCES), strict=True):
        n = len(sentence)
        assert arcs.shape == (n * (n + 1), MANY)
        assert (arcs.data == 1.0).all()
        for h in range(n + 1):
            for m in range(1, n + 1):
                row = h * n + m - 1
                own = arcs.indices[arcs.indptr[row] : arcs.indptr[row + 1]]
                expected = strings_of(sentence, names, h, m)
                assert len(set(own)) == len(own) == len(expected)
                known.setdefault(frozenset(expected), set()).add(
                    frozenset(own.tolist())
                )
    # The same strings have the same columns, wherever they are, and only they.
    assert all(len(columns) == 1 for columns in known.values())
    columns = [next(iter(own)) for own in known.values()]
    assert len(set(columns)) == len(columns)
    for one, own in known.items():
        for other, its in known.items():
            shared = next(iter(own)) & next(iter(its))
            assert len(shared) == len(one & other)


def test_the_default_templates_are_22():
    # With direction, and with length too: 2 features for each that is not between.
    assert len(arc_templates()) == len(set(arc_templates())) == 22
    (arcs,) = ArcFeatures(columns=("word", "upos"), n_features=MANY).transform([WORDS])
    assert np.diff(arcs.indptr).max() == 2 * 21 + 2 * 3
    assert arc_templates("form", "xpos")[0] == "h.form h.xpos"


def test_templates_of_the_context_read_one_side_of_the_arc_alone():
    own = arc_templates("form", "xpos", context=True)
    assert own[:22] == arc_templates("form", "xpos")
    assert len(set(own)) == len(own) == 32
    for template in own[22:]:
        parts = template.split()
        assert len({part[0] for part in parts}) == 1
        assert any("+1." in part or "-1." in part for part in parts)


def test_templates_of_siblings_are_of_no_single_arc():
    own = arc_templates("form", "xpos", siblings=True)
    assert own[:22] == arc_templates("form", "xpos")
    assert len(set(own)) == len(own) == 27
    assert all("m." in template and "s." in template for template in own[22:])
    features = ArcFeatures(["m.word", "m.word s.word"]).fit()
    with pytest.raises(ValueError, match="a parser with projective=True takes them"):
        features.transform([["a"]])
    with pytest.raises(ValueError, match="of siblings, need projective=True"):
        DependencyCRF(features=features).fit([["a"]], [[0]])
    with pytest.raises(ValueError, match="has s and between"):
        ArcFeatures(["s.word between.word"]).fit()


def test_tokens_have_any_form():
    pairs = ArcFeatures(columns=("word", "upos")).transform([WORDS])
    dicts = [[{"upos": tag, "word": word} for word, tag in WORDS]]
    for one, other in zip(pairs, ArcFeatures().transform(dicts), strict=True):
        assert (one != other).nnz == 0
    (arcs,) = ArcFeatures(["h.word"]).transform([["a", "b"]])
    assert_array_equal(np.diff(arcs.indptr), [2, 2, 0, 2, 2, 0])
    assert ArcFeatures(["h.word"]).transform([]) == []


def test_a_parser_is_a_pipeline():
    X, y = [WORDS[:3], WORDS[1:3]], [[2, 3, 0], [2, 0]]
    features = ArcFeatures(columns=("word", "upos"), n_features=2**14)
    parser = clone(make_pipeline(features, DependencyCRF(random_state=0)))
    parser.fit(X, y)
    assert parser.predict(X).tolist() == y
    assert parser.score(X, y) == 1.0


@pytest.mark.parametrize(
    "template", ["", "word", "h", "x.word", "h+2.word", "between.a between.b", "h.", 3]
)
def test_a_wrong_template_is_named(template):
    with pytest.raises(ValueError, match="templates: .* is none|tokens between twice"):
        ArcFeatures([template]).fit()


def test_tokens_need_the_columns_alone_that_templates_name():
    features = ArcFeatures(["h.word m.word"], columns=("lemma", "word"))
    arcs = [features.transform([tokens])[0] for tokens in (["a"], [("x", "a")])]
    assert (arcs[0] != arcs[1]).nnz == 0


def test_a_column_that_lacks_is_named():
    with pytest.raises(ValueError, match="there is no column 'upos'"):
        ArcFeatures().transform([["a"]])
