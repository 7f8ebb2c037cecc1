"""Losses, estimators, problems and forms of input that several test modules use."""

import io
import os
import subprocess
import sys
import tracemalloc
from contextlib import contextmanager, redirect_stdout

import numpy as np
import pytest

import reference
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.estimators.crfs import ESTIMATORS
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.persistence._registry import CRFS, register
from skcrf_sdca.structures.chain.marginals import edge_ends
from skcrf_sdca.structures.chain.structure import Chain
from skcrf_sdca.structures.form import dense_coef
from skcrf_sdca.structures.registry import STRUCTURES

# Smooth losses of three labels: the options of an estimator, and the arguments of
# `reference.mean_loss` that mean the same.
COST = np.array([[0.0, 1.0, 0.3], [2.0, 0.0, 1.0], [0.5, 1.5, 0.0]])
LOSSES = {
    "log loss": ({}, {}),
    "softmax-margin": (
        {"loss": "softmax_margin", "cost": COST, "temperature": 0.5},
        {"tau": 0.5, "cost": COST},
    ),
}


@contextmanager
def registered(structure, estimator):
    """Register a structure and its estimator within a block."""
    tables = [(table, dict(table)) for table in (STRUCTURES, CRFS)]
    register(structure, estimator)
    try:
        yield
    finally:
        for table, before in tables:
            table.clear()
            table.update(before)


def name_of(estimator):
    return type(estimator).__name__


def seeded(estimator, **parameters):
    """Return an estimator of a class, with the seed 0 if it draws sequences."""
    if "random_state" in estimator().get_params():
        parameters = {"random_state": 0, **parameters}
    return estimator(**parameters)


def all_estimators(**parameters):
    """Return one estimator of each class, with the seed 0 and the same parameters."""
    return [seeded(estimator, **parameters) for estimator in ESTIMATORS]


def make_problem(X, y, n_labels, alpha="auto", *, sample_weight=None, **options):
    """Return the problem of chains with arrays X and label numbers y."""
    chains = Chain(PackedSequences.from_sequences(X), n_labels, **options)
    labels = np.concatenate(y).astype(np.int32)
    return Problem(chains, labels, alpha, sample_weight=sample_weight)


def make_solver(solver, problem, seed=0, **options):
    """Return a solver with a seed."""
    return solver(problem, np.random.default_rng(seed), **options)


def node_scores(problem, model):
    """Return the scores (n_positions, n_labels) of all sequences of a problem."""
    return problem.structure.scores(model, 0, problem.n_sequences).node_scores


def inconsistency(marginals):
    """Return the largest violation of the local polytope over all chains.

    It is zero for true marginals: none is negative, nodes sum to 1, and the edges sum
    to the nodes on their left and right.
    """
    to = edge_ends(marginals.offsets)
    node, edge = marginals.node, marginals.layout.expand(marginals.edge, 0.0)
    violations = [
        np.abs(node.sum(axis=1) - 1.0),
        np.abs(edge.sum(axis=2) - node[to - 1]),
        np.abs(edge.sum(axis=1) - node[to]),
        -node,
        -edge,
    ]
    return max(v.max(initial=0.0) for v in violations)


def params_of(crf):
    """Return the weights of a fitted estimator as the reference takes them."""
    names = reference.Params._fields
    blocks = {name: getattr(crf, f"{name}_") for name in names}
    return reference.Params(**blocks | {"coef": dense_coef(crf.coef_).T})


def flat_weights(crf):
    """Return the weights of a fitted estimator in the order of the reference."""
    return reference.flatten(params_of(crf))


def as_dicts(X):
    """Return arrays as dicts: column j is the feature f"f{j}"."""
    return [[{f"f{j}": value for j, value in enumerate(row)} for row in x] for x in X]


def as_strings(X):
    """Return arrays as lists of strings: the names of the columns above zero."""
    return [[[f"f{j}" for j in np.flatnonzero(row > 0)] for row in x] for x in X]


def peak_of(function):
    """Return the peak memory that Python and NumPy allocate in a call."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@contextmanager
def small_disk(n_bytes):
    """Let no file have more than some bytes."""
    resource = pytest.importorskip("resource", reason="needs limits of processes")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def until_it_fits(write, path, step):
    """Call a function for disks of more and more bytes, until none is full.

    While one is, the OSError must name the path, or a file in it, and nothing must
    stay in its folder. Return how often that was.
    """
    n_bytes = 0
    while True:
        try:
            with small_disk(n_bytes):
                write()
        except OSError as error:
            is_named = str(error.filename).startswith(str(path))
            assert is_named, error  # noqa: PT017
            assert list(path.parent.iterdir()) == []
        else:
            return n_bytes // step
        n_bytes += step


def printed_by(code):
    """Return what code prints here, and where strings have other hashes."""
    with redirect_stdout(io.StringIO()) as here:
        exec(code, {})
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    there = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return here.getvalue(), there.stdout
