"""A chain on top of a network: by enumeration, by differences, and beside torch."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from reference import all_paths
from skcrf_sdca.structures.chain.layer import ChainLayer, LayerGradient

N_LABELS = 3


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def layer_of(rng):
    shapes = N_LABELS, N_LABELS, (N_LABELS, N_LABELS)
    return ChainLayer(*(rng.normal(size=shape) for shape in shapes))


def batch(rng, lengths=(2, 0, 1, 4)):
    """Return emissions, labels and offsets of a few sequences, one of them empty."""
    n = sum(lengths)
    labels = rng.integers(N_LABELS, size=n)
    return rng.normal(size=(n, N_LABELS)), labels, np.cumsum([0, *lengths])


def score(layer, emissions, path):
    if len(path) == 0:
        return 0.0
    pairs = sum(layer.transition[a, b] for a, b in zip(path, path[1:], strict=False))
    nodes = sum(row[k] for row, k in zip(emissions, path, strict=True))
    return layer.start[path[0]] + nodes + pairs + layer.end[path[-1]]


def enumerated(layer, emissions):
    """Return all paths of one sequence, and their scores."""
    paths = all_paths(len(emissions), N_LABELS)
    return paths, np.array([score(layer, emissions, path) for path in paths])


def parts(emissions, offsets):
    return [emissions[a:b] for a, b in zip(offsets, offsets[1:], strict=False)]


def test_all_answers_are_those_of_enumeration(rng):
    layer, (emissions, labels, offsets) = layer_of(rng), batch(rng)
    log_z, _ = layer.log_partition(emissions, offsets)
    loss, _ = layer.negative_log_likelihood(emissions, labels, offsets)
    paths = parts(layer.decode(emissions, offsets), offsets)
    best, best_scores = layer.n_best(emissions, offsets, n=3)
    marginals = parts(layer.marginals(emissions, offsets), offsets)
    for i, own in enumerate(parts(emissions, offsets)):
        every, scores = enumerated(layer, own)
        assert log_z[i] == pytest.approx(logsumexp(scores))
        true = labels[offsets[i] : offsets[i + 1]]
        assert loss[i] == pytest.approx(log_z[i] - score(layer, own, true))
        assert_array_equal(paths[i], every[scores.argmax()])
        order = np.argsort(-scores)[:3]
        assert_array_equal(np.reshape(best[i], (len(order), -1)), every[order])
        assert_allclose(best_scores[i], scores[order])
        p = np.exp(scores - log_z[i])
        for t, k in np.ndindex(len(own), N_LABELS):
            expected = sum(q for path, q in zip(every, p, strict=True) if path[t] == k)
            assert marginals[i][t, k] == pytest.approx(expected)


def by_differences(function, arrays, step=1e-6):
    """Return the gradient of a function of arrays by central differences."""
    gradients = []
    for array in arrays:
        gradient = np.empty(array.shape)
        for place in np.ndindex(array.shape):
            values = []
            for sign in (1, -1):
                old, array[place] = array[place], array[place] + sign * step
                values.append(function())
                array[place] = old
            gradient[place] = (values[0] - values[1]) / (2 * step)
        gradients.append(gradient)
    return gradients


@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 0.0, -0.5]])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_gradients_are_those_of_differences(rng, weight, n_jobs):
    layer, (emissions, labels, offsets) = layer_of(rng), batch(rng)
    factors = np.ones(4) if weight is None else np.array(weight)
    options = {"weight": weight, "n_jobs": n_jobs}
    functions = {
        "log Z": lambda: layer.log_partition(emissions, offsets, **options),
        "loss": lambda: layer.negative_log_likelihood(
            emissions, labels, offsets, **options
        ),
    }
    for function in functions.values():
        _, found = function()
        expected = by_differences(
            lambda function=function: factors @ function()[0], [emissions, *layer]
        )
        assert isinstance(found, LayerGradient)
        for own, other in zip(found, expected, strict=True):
            assert_allclose(own, other, atol=1e-7)


def test_one_sequence_needs_no_offsets(rng):
    layer, (emissions, labels, _) = layer_of(rng), batch(rng, (4,))
    alone, with_offsets = (
        layer.negative_log_likelihood(emissions, labels, offsets)
        for offsets in (None, [0, 4])
    )
    assert_allclose(alone[0], with_offsets[0])
    assert_allclose(alone[1].emissions, with_offsets[1].emissions)


def test_a_scheme_forbids(rng):
    names = ["B-P", "I-P", "O"]
    layer = ChainLayer.zeros(3).constrain("BIO", names)
    assert layer.start.tolist() == [0.0, -np.inf, 0.0]
    assert layer.transition[2].tolist() == [0.0, -np.inf, 0.0]
    emissions, labels, offsets = batch(rng, (5, 5))
    for path in parts(layer.decode(emissions, offsets), offsets):
        assert path[0] != 1
        assert not ((path[:-1] == 2) & (path[1:] == 1)).any()
    loss, gradient = layer.negative_log_likelihood(emissions, [1] * 10, offsets)
    assert loss.tolist() == [np.inf] * 2
    assert np.isfinite(gradient.emissions).all()
    every = [(a, b) for a in names for b in names]
    assert all(map(np.array_equal, layer, layer.constrain(every, names)))


def test_wrong_arguments_are_refused(rng):
    layer, (emissions, labels, offsets) = layer_of(rng), batch(rng)
    with pytest.raises(ValueError, match="transition has shape"):
        layer.decode(emissions[:, :2], offsets)
    with pytest.raises(ValueError, match="start and end have shapes"):
        layer._replace(start=np.zeros(2)).decode(emissions, offsets)
    with pytest.raises(ValueError, match="weight has shape .1,.; 4 items"):
        layer.log_partition(emissions, offsets, weight=[1.0])
    with pytest.raises(ValueError, match="weight has numbers that are not finite"):
        layer.log_partition(emissions, offsets, weight=[1.0, np.nan, 1.0, 1.0])
    with pytest.raises(ValueError, match="label"):
        layer.negative_log_likelihood(emissions, labels + N_LABELS, offsets)
    with pytest.raises(ValueError, match="labels must be from 0 to 2, got -1"):
        layer.negative_log_likelihood(emissions, 0 * labels - 1, offsets)


def test_training_through_torch_and_weights_of_torchcrf(rng):
    torch = pytest.importorskip("torch", reason="an optional package")
    layer, (emissions, labels, offsets) = layer_of(rng), batch(rng)

    class Loss(torch.autograd.Function):
        @staticmethod
        def forward(ctx, emissions, start, end, transition):
            layer = ChainLayer(*(w.detach().numpy() for w in (start, end, transition)))
            loss, gradient = layer.negative_log_likelihood(
                emissions.detach().numpy(), labels, offsets
            )
            ctx.save_for_backward(*map(torch.from_numpy, gradient))
            return torch.tensor(loss.sum())

        @staticmethod
        def backward(ctx, of_loss):
            return tuple(of_loss * tensor for tensor in ctx.saved_tensors)

    tensors = [torch.tensor(a, requires_grad=True) for a in (emissions, *layer)]
    Loss.apply(*tensors).backward()
    expected = [torch.tensor(a, requires_grad=True) for a in (emissions, *layer)]
    torch_loss(torch, *expected, labels, offsets).backward()
    for own, other in zip(tensors, expected, strict=True):
        assert_allclose(own.grad.numpy(), other.grad.numpy(), atol=1e-9)

    module = torch.nn.Module()
    for name, shape in zip(
        ("start_transitions", "end_transitions", "transitions"),
        (3, 3, (3, 3)),
        strict=True,
    ):
        setattr(module, name, torch.nn.Parameter(torch.zeros(shape)))
    assert layer.to_torchcrf(module) is module
    again = ChainLayer.from_torchcrf(module)
    for own, other in zip(again, layer, strict=True):
        assert_allclose(own, other, rtol=1e-6)
    with pytest.raises(ValueError, match="make it with 2 labels"):
        ChainLayer.zeros(2).to_torchcrf(module)


def torch_loss(torch, emissions, start, end, transition, labels, offsets):
    """The loss by torch alone, whose gradient is automatic."""
    total = emissions.sum() * 0
    for a, b in zip(offsets, offsets[1:], strict=False):
        if a == b:
            continue
        path = labels[a:b]
        alpha = start + emissions[a]
        true = start[path[0]] + emissions[a, path[0]]
        for t in range(a + 1, b):
            alpha = torch.logsumexp(alpha[:, None] + transition, dim=0) + emissions[t]
            true = true + transition[labels[t - 1], labels[t]] + emissions[t, labels[t]]
        total = total + torch.logsumexp(alpha + end, dim=0) - true - end[path[-1]]
    return total
