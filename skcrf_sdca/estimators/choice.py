"""Which solver suits a problem: the rule of ``CRF(solver="auto")``, from measurements.

The page docs/dense_features.rst shows the rule, and the figures behind it, which
``examples/benchmarks/dense_tasks.py`` measures.

Visits of single sequences make slow progress where the features of a sequence are large
beside the penalty: the epochs of dual ascent grow with R^2 / (alpha n), R^2 the sum of
the squared features over the positions of a sequence. L-BFGS takes a full pass for each
step, and knows the curvature of dense features.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms

from skcrf_sdca.structures.chain.curvature import MAX_FEATURES

# Labels from which OEG takes less time and memory than SDCA, on sparse features.
MANY_LABELS = 12
# R^2 / (alpha n) of dense features, from which SAG and L-BFGS take over.
LARGE, HUGE = 1e3, 1e5
# Positions that are read to estimate R^2.
SAMPLE = 4096


class Choice(NamedTuple):
    """A solver, one of the names of `CRF`, and why it was chosen."""

    solver: str
    reason: str


def choose(problem):
    """Return the Choice for a problem with a smooth loss and the penalty L2.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    choice : Choice
        It depends on the data, the number of labels and alpha, and not on the machine.
    """
    X, n_labels = problem.data.X, problem.structure.n_labels
    if sp.issparse(X) or X.shape[1] > MAX_FEATURES:
        solver = "oeg" if n_labels >= MANY_LABELS else "sdca"
        form = "sparse" if sp.issparse(X) else f"{X.shape[1]} dense"
        return Choice(solver, f"{form} features and {n_labels} labels")
    size = relative_size(problem)
    solver = "sdca" if size < LARGE else "sag" if size < HUGE else "lbfgs"
    return Choice(solver, f"dense features with R^2 / (alpha n) = {size:.2g}")


def relative_size(problem):
    """Return R^2 / (alpha n), with the mean R^2 of sequences, of dense features.

    It is estimated from positions that lie evenly in the data.
    """
    X = problem.data.X
    step = max(len(X) // SAMPLE, 1)
    square = row_norms(X[::step], squared=True).mean()
    per_sequence = problem.mean_length * float(square)
    return per_sequence / (problem.strength * np.sum(problem.weight > 0.0))
