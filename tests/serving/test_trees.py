"""A Predictor answers as the parser of the same file, with NumPy alone."""

import io
import re
from functools import cache, partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from served import (
    CLOSE,
    WAYS,
    assert_both_readers_refuse_the_same,
    assert_numpy_is_enough,
    assert_same_answers,
    through_file,
)

from skcrf_sdca import (
    DependencyCRF,
    OnlineDependencyCRF,
    make_tagger,
    save_model,
)
from skcrf_sdca.serving import Predictor
from skcrf_sdca.text import ArcFeatures, arc_templates

WORDS = "dogs bark go home the a old".split()
TAGS = "N V V A D D J".split()
RELATIONS = ["nsubj", "obj", "det"]


def treebank(n=12, longest=6, seed=0):
    """Return sentences of tokens, and trees that are projective: heads, relations."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for size in [1, *rng.integers(2, longest, size=n)]:
        places = rng.integers(len(WORDS), size=size)
        X.append([(WORDS[k], TAGS[k]) for k in places])
        # Each word is below the one before it, or the root's word.
        heads = [0, *(int(rng.choice([1, m])) for m in range(1, size))]
        relations = ["root", *(RELATIONS[TAGS.index(tag) % 3] for _, tag in X[-1][1:])]
        Y.append((heads, relations))
    return X, Y


SENTENCES, TREES = treebank()
NEW = [[], *treebank(n=6, longest=9, seed=1)[0]]
COLUMNS = {"columns": ("word", "upos"), "n_features": 512}
OF_ARCS = ArcFeatures(**COLUMNS)
OF_SIBLINGS = ArcFeatures(arc_templates(siblings=True), **COLUMNS)
SHORT = {"max_iter": 3, "random_state": 0}


def optimal(**parameters):
    return DependencyCRF(solver="lbfgs", tol=1e-2, **parameters)


PARSERS = {
    "online": OnlineDependencyCRF(features=OF_ARCS, **SHORT),
    "online, relations": OnlineDependencyCRF(features=OF_ARCS, labelled=True, **SHORT),
    "online, projective": OnlineDependencyCRF(
        features=OF_ARCS, projective=True, single_root=False, labelled=True, **SHORT
    ),
    "online, siblings": OnlineDependencyCRF(
        features=OF_SIBLINGS, projective=True, labelled=True, **SHORT
    ),
    "online, log loss": OnlineDependencyCRF(
        features=OF_ARCS, loss="softmax_margin", temperature=0.5, **SHORT
    ),
    "online, log loss, relations": OnlineDependencyCRF(
        features=OF_ARCS, loss="softmax_margin", labelled=True, **SHORT
    ),
    "tokens": optimal(features=OF_ARCS),
    "tokens, relations": optimal(features=OF_ARCS, labelled=True, projective=True),
    "siblings": optimal(features=OF_SIBLINGS, projective=True),
    "hinge": DependencyCRF(
        features=OF_ARCS, loss="hinge", max_iter=5, tol=0.1, random_state=0
    ),
    "pipeline": make_tagger(OF_ARCS, optimal(labelled=True)),
}


def of_heads(parser, y):
    """Return the trees as a parser takes them."""
    last = parser[-1] if hasattr(parser, "steps") else parser
    return y if last.labelled else [heads for heads, _ in y]


@cache
def fitted(name):
    """Return a parser that was fitted on all trees, and the trees as it takes them."""
    Y = of_heads(PARSERS[name], TREES)
    return PARSERS[name].fit(SENTENCES, Y), Y


# Those that have probabilities.
LOG_LOSS = PARSERS.keys() - {"hinge", *(n for n in PARSERS if n.startswith("online"))}
LOG_LOSS |= {"online, log loss", "online, log loss, relations"}


def assert_same_likelihood(predictor, parser, X, Y):
    for x, y in zip(X, Y, strict=True):
        found = predictor.log_likelihood(x, y)
        assert_allclose([found], parser.log_likelihood([x], [y]), **CLOSE)


@pytest.mark.filterwarnings("ignore:the duality gap")
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_is_served(name, way):
    parser, _ = fitted(name)
    predictor = way(parser)
    has_proba = predictor._model.temperature > 0.0
    assert_same_answers(predictor, parser, NEW, has_proba=has_proba)
    assert_same_answers(predictor, parser, SENTENCES[:3], has_proba=has_proba)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("name", [n for n in PARSERS if n in LOG_LOSS])
def test_the_log_likelihood_of_trees(name, way):
    parser, Y = fitted(name)
    predictor = way(parser)
    assert_same_likelihood(predictor, parser, SENTENCES, Y)
    # Another root, and arcs that cross.
    for heads in [3, 1, 0, 3], [0, 4, 1, 1]:
        relations = ["root", "new", "obj", "det"]
        y = of_heads(parser, [(heads, relations)])
        sentence = next(x for x in SENTENCES if len(x) == 4)
        assert_same_likelihood(predictor, parser, [sentence], y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([2, 1], "^labels: sentence 0, word 1: its heads form a cycle"),
        ([0, 1, 2], "^labels: sentence 0 has 3 heads, and sequence has the arcs of 2"),
        (None, "^labels: the heads of sentence 0 are an array of shape"),
    ],
)
@pytest.mark.parametrize("name", ["online, log loss", "tokens"])
def test_heads_that_are_no_tree_are_refused(name, y, message):
    predictor = Predictor.from_estimator(fitted(name)[0])
    with pytest.raises((TypeError, ValueError), match=message):
        predictor.log_likelihood(SENTENCES[1][:1] * 2, y)


def assert_same_explanation(predictor, parser, of_word, **asked):
    found, expected = (own.explain(*of_word, **asked) for own in (predictor, parser))
    assert repr(found) == repr(expected)
    assert found.features == expected.features
    assert found.paths == expected.paths
    assert_allclose(found.contributions, expected.contributions, **CLOSE)


def assert_same_explanations(predictor, parser, X):
    for x, tree in zip(X, parser.predict(X), strict=True):
        heads, *_ = tree if isinstance(tree, tuple) else (tree,)
        for word in range(1, len(heads) + 1):
            assert_same_explanation(predictor, parser, (x, word))
            possible = list(parser.explain(x, word).paths)
            asked = {"labels": possible[::-1], "reference": possible[-1]}
            assert_same_explanation(predictor, parser, (x, word), **asked)
    for wrong in {"labels": [99]}, {"reference": -1}:
        with pytest.raises(ValueError, match="is no head in a sentence of") as refused:
            predictor.explain(x, 1, **wrong)
        with pytest.raises(ValueError, match=f"^{re.escape(str(refused.value))}$"):
            parser.explain(x, 1, **wrong)
    with pytest.raises(IndexError, match="^position: 99 is not in the sentence"):
        predictor.explain(x, 99)
    with pytest.raises(ValueError, match="^path: "):
        predictor.explain(x, 1, path=[0])


OPTIMAL = [n for n in PARSERS if not n.startswith("online")]


@pytest.mark.filterwarnings("ignore:the duality gap")
@pytest.mark.parametrize("name", OPTIMAL)
def test_heads_are_explained(name):
    parser, _ = fitted(name)
    assert_same_explanations(through_file(parser), parser, SENTENCES[:3])


def arcs_of(sentences):
    """Return the arcs of sentences as lists of dicts, of lists of str and as arrays."""
    tokens = [[("root", "R"), *words] for words in sentences]
    pairs = [[(h, m) for h in own for m in own[1:]] for own in tokens]
    strings = [[[h[0] + m[0], h[1] + m[1]] for h, m in own] for own in pairs]
    dicts = [[{"w": h[0] + m[0], "near": 0.5} for h, m in own] for own in pairs]
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(len(own) + 1, len(own), 3)) for own in sentences]
    return {"strings": strings, "dicts": dicts, "arrays": arrays}


@pytest.mark.parametrize("of", ["strings", "dicts", "arrays"])
@pytest.mark.parametrize("labelled", [False, True])
def test_trees_of_given_arcs_are_served(of, labelled):
    parser = optimal(labelled=labelled, alpha=0.1)
    X = arcs_of(SENTENCES)[of]
    predictor = through_file(parser.fit(X, of_heads(parser, TREES)))
    assert_same_answers(predictor, parser, arcs_of(NEW[1:])[of])
    assert_same_likelihood(predictor, parser, X, of_heads(parser, TREES))
    assert_same_explanations(predictor, parser, arcs_of(NEW[1:4])[of])
    # The root has the second word alone.
    allowed = np.ones((3, 2), dtype=bool)
    allowed[0, 0] = False
    pair = next(x for x, y in zip(X, TREES, strict=True) if len(y[0]) == 2)
    assert_same_answers(predictor, parser, [(pair, allowed)])
    assert_same_explanations(predictor, parser, [(pair, allowed)])


def test_sentences_without_a_tree_are_refused():
    X = arcs_of(SENTENCES)["strings"]
    predictor = through_file(optimal().fit(X, [heads for heads, _ in TREES]))
    pair = next(x for x, y in zip(X, TREES, strict=True) if len(y[0]) == 2)
    # Both words are below the root alone.
    allowed = np.array([[True, True], [False, False], [False, False]])
    explained = partial(predictor.explain, position=1)
    for answer in predictor.predict_one, predictor.marginals, explained:
        with pytest.raises(ValueError, match="no tree of the arcs .* single_root=True"):
            answer((pair, allowed))
    with pytest.raises(ValueError, match="^sequence: sentence 0 has 5 rows"):
        predictor.predict_one(X[1][:1] * 5)
    with pytest.raises(ValueError, match="have no spans"):
        predictor.spans(pair)


def test_parsers_need_numpy_alone(tmp_path):
    cases = []
    for name in ("online, log loss", "siblings", "tokens, relations"):
        parser, Y = fitted(name)
        explained = hasattr(parser, "explain")
        cases.append((parser, SENTENCES[2], Y[2], explained))
    assert_numpy_is_enough(cases, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["online, relations", "tokens", "pipeline"])
def test_both_readers_refuse_the_same_documents(name):
    save_model(fitted(name)[0], file := io.BytesIO())
    assert_both_readers_refuse_the_same(file)


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_scores_that_are_no_numbers_are_refused():
    parser = OnlineDependencyCRF(features=OF_ARCS, labelled=True, **SHORT)
    parser.fit(SENTENCES, TREES).coef_[:] = 1e60
    predictor = through_file(parser)
    for answer in predictor.predict_one, lambda x: predictor.n_best(x, 2):
        with pytest.raises(ValueError, match="^sequence: sentence 0, arc .* so large"):
            answer(SENTENCES[2])
    with pytest.raises(ValueError, match="so large"):
        parser.predict(SENTENCES[2:3])
