"""The minimiser of pycrfsuite.Trainer for c1 > 0, beside OWL-QN."""

import numpy as np
import pytest

from skcrf_sdca.compat import _training
from skcrf_sdca.compat._orthants import FIRST_ITERATIONS
from skcrf_sdca.compat.pycrfsuite import Trainer
from skcrf_sdca.solvers.owlqn import OWLQN


def made(n=40):
    """Return sequences whose attributes are of all frequencies, and their labels."""
    rng = np.random.default_rng(0)
    labels = [rng.integers(4, size=5) for _ in range(n)]
    X = [
        [
            [f"{k if rng.random() < 0.5 else ''}{a}" for a in rng.zipf(1.3, 8) % n]
            for k in own
        ]
        for own in labels
    ]
    return X, [[str(k) for k in own] for own in labels]


class Counting:
    """A type of solvers that remembers those that it makes."""

    def __init__(self, solver_type):
        self.solver_type, self.made = solver_type, []

    def __call__(self, *args, **options):
        self.made.append(self.solver_type(*args, **options))
        return self.made[-1]


@pytest.fixture
def trained(monkeypatch):
    X, y = made()

    def train(solver_type, **params):
        counting = Counting(solver_type)
        monkeypatch.setattr(_training, "Orthants", counting)
        trainer = Trainer(params={"c1": 0.1, "c2": 0.01, **params}, verbose=False)
        for items, labels in zip(X, y, strict=True):
            trainer.append(items, labels)
        trainer.train("")
        (solver,) = counting.made
        return solver, trainer.logparser

    return train


ORTHANTS = _training.Orthants


def test_a_lower_objective_after_fewer_passes(trained):
    owlqn, expected = trained(OWLQN, delta=1e-7)
    own, found = trained(ORTHANTS, delta=1e-7)
    assert found.last_iteration["loss"] <= expected.last_iteration["loss"]
    assert 2 * own.n_oracle_calls < owlqn.n_oracle_calls
    assert np.count_nonzero(own.model.w) < 0.5 * own.model.w.size
    assert own.message == ""


def test_losses_fall_and_iterations_are_counted(trained):
    for limit in (1, FIRST_ITERATIONS, 2 * FIRST_ITERATIONS):
        _, log = trained(ORTHANTS, delta=0.0, max_iterations=limit)
        losses = [info["loss"] for info in log.iterations]
        assert (np.diff(losses) <= 1e-9 * losses[0]).all()
        assert [info["num"] for info in log.iterations] == [*range(1, limit + 1)]
