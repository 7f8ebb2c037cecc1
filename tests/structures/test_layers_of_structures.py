"""Layers of every structure: by enumeration, differences, and a quadratic program.

A labelling of an item is written as the numbers of times that it has each score, arrays
of the shapes of the scores: its own score is their product with the scores.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp, softmax
from segment_twin import labels_of, segmentations
from tree_twin import trees

from pairs import in_one_test
from reference import all_paths, mixture
from skcrf_sdca.data.trees import heads_of
from skcrf_sdca.structures.layers import (
    chain_layer,
    dependency_layer,
    graph_layer,
    segment_layer,
)
from skcrf_sdca.structures.segment.grammar import Grammar

LENGTHS = 3, 0, 2
EDGES = [[[0, 1], [2, 0], [1, 2]], [], [[1, 0]]]
FACTORS = [[[1.0, 0.5], [-1.0, 2.0], [0.3, 0.0]], np.zeros((0, 2)), [[2.0, 1.0]]]
GRAPHS = {"edges": EDGES, "n_labels": 2, "edge_features": FACTORS}
APART = GRAPHS | {"edge_features": np.split(np.eye(4), [3, 3])}
SPANS = {"labels": ["B-P", "I-P", "O"], "max_length": 2, "scheme": "BIO"}
RUNS = {"labels": ["a", "b"], "max_length": 3}
PARSES = {"n_relations": 2}
PROJECTIVE = {"projective": True, "single_root": False}


def chains(shapes, lengths):
    for i, first in enumerate(firsts(lengths)):
        found = []
        for path in all_paths(lengths[i], 3).tolist():
            nodes, transition = empty(shapes)
            nodes[first + np.arange(len(path)), path] = 1.0
            np.add.at(transition, (path[:-1], path[1:]), 1.0)
            found.append((path, (nodes, transition)))
        yield found


def graphs(options):
    ends, factors_of = options["edges"], options["edge_features"]

    def labellings(shapes, lengths):
        for i, first in enumerate(firsts(lengths)):
            found = []
            for path in all_paths(lengths[i], 2).tolist():
                nodes, pairs = empty(shapes)
                nodes[first + np.arange(len(path)), path] = 1.0
                for (a, b), factors in zip(ends[i], factors_of[i], strict=True):
                    pairs[:, path[a], path[b]] += factors
                found.append((path, (nodes, pairs)))
            yield found

    return labellings


def segments(options):
    grammar = Grammar(options["labels"], options.get("scheme"), options["max_length"])

    def labellings(shapes, lengths):
        for i, first in enumerate(firsts(lengths)):
            found = []
            for own in segmentations(grammar, lengths[i]):
                tokens, transition, length, single = empty(shapes)
                path = labels_of(grammar, own)
                tokens[first + np.arange(len(path)), path] = 1.0
                types = [k for _, _, k in own]
                np.add.at(transition, (types[:-1], types[1:]), 1.0)
                for begin, end, k in own:
                    length[k, end - begin - 1] += 1.0
                    single[first + begin, end - begin - 1, k] = 1.0
                found.append((path, (tokens, transition, length, single)))
            yield found

    return labellings


def dependency_trees(options):
    kind = {"projective": False, "single_root": True} | options
    n_relations = kind.pop("n_relations", 1)

    def labellings(shapes, n_words):
        first = 0
        for n in n_words:
            found = []
            for heads in trees(n, **kind):
                for relations in all_paths(n, n_relations):
                    labels, (arcs,) = np.zeros(n * (n + 1), int), empty(shapes)
                    places = heads * n + np.arange(n)
                    labels[places] = 1 + relations
                    arcs[first + places, relations] = 1.0
                    found.append((labels, (arcs,)))
            first += n * (n + 1)
            yield found

    return labellings


def firsts(lengths):
    return np.cumsum([0, *lengths])[:-1].tolist()


def empty(shapes):
    return [np.zeros(shape) for shape in shapes.values()]


# How the layer is made, and its labellings.
CASES = {
    "chains": (chain_layer, {"n_labels": 3}, chains),
    "spans": (segment_layer, SPANS, segments(SPANS)),
    "runs": (segment_layer, RUNS, segments(RUNS)),
    "graphs": (graph_layer, GRAPHS, graphs(GRAPHS)),
    "edges apart": (graph_layer, APART, graphs(APART)),
    "parses": (dependency_layer, PARSES, dependency_trees(PARSES)),
    "projective": (
        dependency_layer,
        PROJECTIVE,
        dependency_trees(PROJECTIVE),
    ),
}


class Case:
    """A layer, random scores, and all labellings of each item with their scores."""

    def __init__(self, name, **options):
        make, own, labellings = CASES[name]
        self.layer = make(LENGTHS, **own, **options)
        rng = np.random.default_rng(0)
        shapes = self.layer.shapes
        self.scores = [rng.normal(size=shape) for shape in shapes.values()]
        self.weight = np.array([1.0, 2.0, -0.5])
        self.items = list(labellings(shapes, LENGTHS))

    def values_of(self, item):
        """Return the scores of the labellings of an item."""
        return np.array([product_of(counts, self.scores) for _, counts in item])

    def sum_of(self, parts):
        """Return sums over items of weighted means of the counts of labellings."""
        total = [np.zeros_like(own) for own in self.scores]
        for weight, item, shares in zip(self.weight, self.items, parts, strict=True):
            for (_, counts), share in zip(item, shares, strict=True):
                for own, more in zip(total, counts, strict=True):
                    own += weight * share * more
        return total


def product_of(counts, scores):
    return sum(np.vdot(own, other) for own, other in zip(counts, scores, strict=True))


def one_hot(labels, n_labels):
    return np.eye(n_labels)[np.array(labels, int)].reshape(-1)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("name", CASES)
def test_log_z_and_marginals_are_those_of_all_labellings(name, n_jobs):
    case = Case(name, n_jobs=n_jobs)
    log_z, gradient = case.layer.log_partition(*case.scores, weight=case.weight)
    values = [case.values_of(item) for item in case.items]
    assert_allclose(log_z, [logsumexp(own) for own in values], atol=1e-12)
    for found, own in zip(gradient, case.sum_of(map(softmax, values)), strict=True):
        assert_allclose(found, own, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_the_best_labelling_is_that_of_all_labellings(name):
    case = Case(name)
    labels, values = case.layer.decode(*case.scores)
    best = [case.values_of(item).argmax() for item in case.items]
    expected = [item[k][0] for item, k in zip(case.items, best, strict=True)]
    assert_array_equal(labels, np.concatenate(expected))
    assert_allclose(values, [case.values_of(item).max() for item in case.items])


@pytest.mark.parametrize("name", CASES)
def test_sparse_marginals_are_those_of_the_quadratic_program(name):
    case = Case(name)
    value, gradient = case.layer.sparse_marginals(*case.scores, weight=case.weight)
    n_labels = case.layer.scores(*case.scores).local.shape[1]
    shares = []
    for i, item in enumerate(case.items):
        nodes = np.array([one_hot(labels, n_labels) for labels, _ in item])
        maximum, p = mixture(case.values_of(item), nodes)
        assert_allclose(value[i], maximum, atol=1e-9)
        shares.append(p)
    # u is unique, and what is tied follows from it where p is.
    assert_allclose(gradient[0], case.sum_of(shares)[0], atol=1e-5)
    assert (gradient[0] == 0.0).any()


METHODS = "log_partition", "sparse_marginals"
LOSSES = "negative_log_likelihood", "sparsemap_loss"


@in_one_test("method", [*METHODS, *LOSSES])
@in_one_test("name", CASES)
def test_gradients_are_those_of_differences(name, method):
    case, rng = Case(name), np.random.default_rng(1)
    first = [np.concatenate([item[-1][0] for item in case.items]).astype(int)]
    arguments = first if method in LOSSES else []
    call = getattr(case.layer, method)
    _, gradient = call(*arguments, *case.scores, weight=case.weight)
    step = 1e-6
    for _ in range(5):
        change = [rng.normal(size=own.shape) for own in case.scores]
        moved = (
            [own + s * d for own, d in zip(case.scores, change, strict=True)]
            for s in (step, -step)
        )
        above, below = (case.weight @ call(*arguments, *own)[0] for own in moved)
        slope = (above - below) / (2 * step)
        assert slope == pytest.approx(product_of(gradient, change), abs=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_losses_are_values_less_the_scores_of_the_labels(name):
    case = Case(name)
    for k in range(3):
        own = [item[k % len(item)] for item in case.items]
        labels = np.concatenate([path for path, _ in own]).astype(int)
        scores = [product_of(counts, case.scores) for _, counts in own]
        for method, loss in zip(METHODS, LOSSES, strict=True):
            values, _ = getattr(case.layer, method)(*case.scores)
            found, _ = getattr(case.layer, loss)(labels, *case.scores)
            assert_allclose(found, values - scores, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_forbidden_labels_are_refused_by_their_item(name):
    case = Case(name)
    labels, _ = case.layer.decode(*case.scores)
    scores = [own.copy() for own in case.scores]
    scores[0][np.flatnonzero(labels)[-1]] = -np.inf
    for loss in LOSSES:
        call = getattr(case.layer, loss)
        with pytest.raises(ValueError, match="those of item 2 are forbidden"):
            call(labels, *scores)


@pytest.mark.parametrize(
    ("options", "labels"),
    [(RUNS, [0, 0, 0, 0]), (RUNS, [1, 1, 1, 1]), (SPANS, [0, 1, 1, 2])],
)
def test_segments_that_are_too_long_are_refused(options, labels):
    layer = segment_layer([4], **options)
    with pytest.raises(ValueError, match="those of item 0 are forbidden"):
        layer.negative_log_likelihood(labels, *empty(layer.shapes))


def test_a_score_of_minus_infinity_forbids():
    layer = chain_layer([4], 2)
    transition = np.array([[0.0, -np.inf], [0.0, 0.0]])
    for method in METHODS:
        _, (nodes, pairs) = getattr(layer, method)(np.zeros((4, 2)), transition)
        assert pairs[0, 1] == 0.0
        assert_allclose(nodes.sum(axis=1), 1.0)
    arcs = np.zeros((6, 1))
    arcs[0] = -np.inf
    labels, _ = dependency_layer([2]).decode(arcs)
    assert heads_of(labels).tolist() == [2, 0]


@in_one_test("lengths", [[], [0], [0, 0]])
@in_one_test("name", CASES)
def test_there_may_be_no_positions(name, lengths):
    make, options, _ = CASES[name]
    if name in ("graphs", "edges apart"):
        options = {"edges": [[] for _ in lengths], "n_labels": 2}
    layer = make(lengths, **options)
    scores = empty(layer.shapes)
    for method in METHODS:
        values, gradient = getattr(layer, method)(*scores)
        assert values.tolist() == [0.0] * len(lengths)
        assert [own.shape for own in gradient] == list(layer.shapes.values())


def test_wrong_scores_are_refused():
    layer = chain_layer([2, 1], 3)
    nodes, transition = np.zeros((3, 3)), np.zeros((3, 3))
    with pytest.raises(ValueError, match="takes 2: nodes, transition"):
        layer.decode(nodes)
    with pytest.raises(ValueError, match=r"transition has shape \(2, 3\).*\(3, 3\)"):
        layer.decode(nodes, transition[:2])
    nodes[1, 2] = np.nan
    with pytest.raises(ValueError, match=r"nodes\[1, 2\] is nan"):
        layer.log_partition(nodes, transition)
    with pytest.raises(ValueError, match="weight has shape"):
        layer.log_partition(transition, transition, weight=[1.0])
    with pytest.raises(ValueError, match="labels must be from 0 to 2, got -1"):
        layer.sparsemap_loss([0, -1, 1], transition, transition)
    with pytest.raises(ValueError, match="labels must be 3 numbers below 3"):
        layer.sparsemap_loss([0, 1], transition, transition)
    with pytest.raises(ValueError, match="pairs must be finite"):
        graph_layer([2], [[[0, 1]]], 2).decode(
            np.zeros((2, 2)), np.full((1, 2, 2), -np.inf)
        )
    with pytest.raises(ValueError, match="three-dimensional"):
        graph_layer([2], [[[0, 1]]], 2).decode(np.zeros((2, 2)), np.zeros((2, 2)))


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="lengths must be integers"):
        chain_layer([1.5], 2)
    with pytest.raises(ValueError, match="n_labels must be an integer of at least 1"):
        chain_layer([1], 0)
    with pytest.raises(ValueError, match="max_length must be an integer of at least 1"):
        segment_layer([1], ["a"], max_length=0)
    with pytest.raises(ValueError, match="segments .* are more than the 2147483647"):
        segment_layer([50_000, 0], ["a"], max_length=50_000)
    with pytest.raises(MemoryError, match="take fewer sequences in a batch"):
        segment_layer([20_000], list("abcdefghijklmnopqrst"), max_length=100_000)
    with pytest.raises(ValueError, match="edges has 1 lists; 2 graphs need one each"):
        graph_layer([2, 2], [[[0, 1]]], 2)
    with pytest.raises(ValueError, match="edge_features has 1 lists; 2 graphs need"):
        graph_layer([2, 2], [[[0, 1]], []], 2, edge_features=[[[1.0]]])
    with pytest.raises(ValueError, match=r"^edges: graph 1, edge 0 joins \[0, 2\]"):
        graph_layer([1, 2], [[], [[0, 2]]], 2)
    with pytest.raises(ValueError, match="^n_words: sequence 1 has 1000000 words"):
        dependency_layer([1, 10**6])
    with pytest.raises(ValueError, match="n_relations must be an integer"):
        dependency_layer([1], 0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", CASES)
def test_torch_goes_on_with_the_gradients(name, loss):
    torch = pytest.importorskip("torch", reason="an optional package")

    class LayerLoss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, method, labels, *scores):
            values, gradient = method(labels, *(own.detach().numpy() for own in scores))
            ctx.save_for_backward(*map(torch.from_numpy, gradient))
            return scores[0].new_tensor(values.sum())

        @staticmethod
        def backward(ctx, of_loss):
            return None, None, *(of_loss * own for own in ctx.saved_tensors)

    case = Case(name)
    method, (labels, _) = getattr(case.layer, loss), case.layer.decode(*case.scores)
    tensors = [torch.tensor(own, requires_grad=True) for own in case.scores]
    (3.0 * LayerLoss.apply(method, labels, *tensors)).backward()
    _, gradient = method(labels, *case.scores)
    for tensor, own in zip(tensors, gradient, strict=True):
        assert_allclose(tensor.grad.numpy(), 3.0 * own)
