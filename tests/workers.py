"""Problems with features of all tiers, for tests of parallel workers."""

from functools import cache

import numpy as np
import scipy.sparse as sp

from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.objective.penalties import elastic_net
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.structures.chain.observed import ObservedPairs
from skcrf_sdca.structures.chain.structure import Chain

N_LABELS = 3


def observed(rows):
    """Return sparse rows, of which many pairs of feature and label have no weight."""
    return sp.csr_array(rows)


@cache
def _drawn(form, n_sequences, seed):
    """Return packed sequences, the numbers of their labels, and their pairs."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 7, n_sequences)
    n = int(lengths.sum())
    labels = rng.integers(0, N_LABELS, n).astype(np.int32)
    dense = np.zeros((n, 60))
    dense[np.arange(n), labels] = 1.0
    dense[:, 3] = rng.normal(size=n)
    # Later features are rarer.
    for j in range(4, 60):
        dense[rng.random(n) < 1.0 / j, j] = 1.0
    pairs = None
    if form is observed:
        pairs = ObservedPairs.of_data(dense, labels, N_LABELS, min_count=5.0)
    X = PackedSequences(form(dense), np.append(0, np.cumsum(lengths)))
    return X, labels, pairs


def draw_problem(form, n_jobs=None, n_sequences=260, seed=0):
    """Return a problem with common, rare and unique features; lengths are 0 to 6."""
    X, labels, pairs = _drawn(form, n_sequences, seed)
    chains = Chain(X, N_LABELS, n_jobs=n_jobs, pairs=pairs)
    return Problem(chains, labels, "auto")


def draw_sparse(form, n_jobs=None, l1_ratio=0.7, **options):
    """Return a problem whose penalty has a threshold."""
    problem = draw_problem(form, n_jobs, **options)
    problem.penalty = elastic_net(l1_ratio)
    return problem


FORMS = {"dense": np.asarray, "sparse": sp.csr_array, "observed": observed}
