"""Which solver suits a problem: the rule of ``CRF(solver="auto")``, from measurements.

The page docs/dense_features.rst shows the rule, and the figures behind it, which
``examples/benchmarks/dense_tasks.py`` measures.

Visits of single sequences make slow progress where the features of a sequence are large
beside the penalty: the epochs of dual ascent grow with R^2 / (alpha n), R^2 the sum of
the squared features over the positions of a sequence. SAG and L-BFGS know the curvature
of dense features. SAG gains where there are many sequences: L-BFGS takes a full pass
for each step.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._utils.words import words
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.base import LARGE
from skcrf_sdca.solvers.lbfgs import QuasiNewton
from skcrf_sdca.structures.chain.curvature import Curvature, Whitening

# Labels from which OEG takes less time and memory than SDCA.
MANY_LABELS = 12
# R^2 / (alpha n^2) of dense features from which L-BFGS is faster than SAG. And R^2 /
# (alpha n) from which it is faster than dual ascent, if SAG does not whiten them.
FEW_SEQUENCES, HUGE = 30.0, 1e3
# R^2 / (alpha n) of features that are mostly 0, as pixels, from which SAG is faster
# than dual ascent, if R^2 / (alpha n^2) is at most the second number.
PIXELS, MANY_SEQUENCES = 100.0, 0.1
# How many times the median the largest value of sparse features may be.
UNEVEN = 20.0


class Choice(NamedTuple):
    """A solver, one of the names of `CRF`, and why it was chosen."""

    solver: str
    reason: str


def choose(problem):
    """Return the Choice for a problem.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    choice : Choice
        It depends on the data, the number of labels and alpha, and not on the machine.
    """
    X, n_labels = problem.data.X, problem.structure.n_labels
    if "smooth loss" not in problem.loss.offers:
        return Choice("sdca", "a loss that is not smooth")
    dual = "oeg" if n_labels >= MANY_LABELS else "sdca"
    if "gradient" not in problem.penalty.offers:
        return Choice(dual, f"a penalty with L1, {n_labels} labels")
    if not Curvature.suits(problem.structure):
        form = "sparse" if sp.issparse(X) else f"{X.shape[1]} dense"
        return Choice(dual, f"{form} features, {n_labels} labels")
    size, n_sequences = problem.relative_size, np.count_nonzero(problem.weight)
    whitens = Whitening.suits(problem.structure)
    if size < (LARGE if whitens else HUGE):
        raw, are_mostly_zero = problem.dense_size
        of_pixels = are_mostly_zero and PIXELS <= raw <= MANY_SEQUENCES * n_sequences
        solver = "sag" if of_pixels else dual
    elif whitens and size < FEW_SEQUENCES * n_sequences:
        solver = "sag"
    else:
        solver = "lbfgs"
    reason = (
        f"dense features of the size {size:.2g} beside alpha, {n_labels} labels, "
        f"{n_sequences} sequences"
    )
    return Choice(solver, reason)


def advice(solver):
    """Return what else a warning of no convergence says, or an empty string.

    Parameters
    ----------
    solver : Solver
        That made the fit.
    """
    problem = solver.problem
    if isinstance(solver, QuasiNewton) or not isinstance(problem, Problem):
        return ""
    X = problem.data.X
    if sp.issparse(X):
        sizes = np.abs(X.data)
        usual = float(np.median(sizes)) if sizes.size else 0.0
        if not sizes.max(initial=0.0) > UNEVEN * usual > 0.0:
            return ""
        return (
            f"; values in X go up to {sizes.max():.2g}, and most are {usual:.2g}: "
            "divide the features that have large ones by their size"
        )
    if (size := problem.relative_size) < LARGE:
        return ""
    return (
        f"; the features are large, R^2 / ({words().alpha_n}) = {size:.2g}: "
        f"standardise them, or take {words().lbfgs}, whose steps do not depend on "
        "their scale"
    )
