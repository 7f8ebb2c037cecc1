"""Print how many feature weights the duality gap proves to be 0, by l1 penalty and gap.

    python examples/benchmarks/screening.py [--first 300] [--epochs 300]

Let F_ij >= 0 be the sum of feature j over sequence i, n alpha l1_ratio = c1, and v_jk =
sum_i c_i (observed - expected count), so that the optimal w_jk is 0 where |v*_jk| is
less than c1 / n. With q_i the distribution of label paths at w, q*_i the optimal one,

    |v_jk - v*_jk| <= 1/2 sum_i c_i F_ij ||q_i - q*_i||_1
                   <= sqrt( 1/2 sum_i c_i F_ij^2  sum_i c_i KL(q*_i || q_i) ),

where the last sum is at most P(w) - P(w*) and so at most the gap. A weight is proven to
be 0 if |v_jk| and that bound together are less than c1 / n. This is done for conll2000
at the first epochs with gap / P at 1e-2, 1e-3, ...; "weights" are all of features.
"""

import argparse

import numpy as np

import tables
import tasks
from skcrf_sdca import SDCACRF
from skcrf_sdca.objective.penalties import elastic_net
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.monitor import FitMonitor, Observer
from skcrf_sdca.structures.chain.structure import Chain

STRENGTHS = (0.1, 0.1), (0.5, 0.05), (1.0, 0.1)
LEVELS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
HEADER = ["c1, c2", "gap / P", "epoch", "weights", "zero", "proven zero"]


def spread(problem):
    """Return sqrt(1/2 sum_i c_i F_ij^2) of each feature j."""
    X, lengths = problem.data.X, problem.data.lengths
    of_row = np.repeat(np.arange(len(lengths)), lengths)
    sums = X.tocoo()
    shape = (len(lengths), X.shape[1])
    entries = abs(sums.data), (of_row[sums.row], sums.col)
    counts = type(X)(entries, shape=shape)
    return np.sqrt(0.5 * counts.power(2).T @ problem.weight)


class Screening(Observer):
    """Adds a row to a table at each level of the gap; stops at the last."""

    def __init__(self, rows, name, problem, solver):
        self.rows, self.name = rows, name
        self.problem, self.solver = problem, solver
        self.spread, self.levels = spread(problem), list(LEVELS)

    def end_epoch(self, row):
        """Count the weights that are 0, and those proven to be."""
        relative = row["gap"] / row["primal"]
        if relative > self.levels[0]:
            return False
        while self.levels and relative <= self.levels[0]:
            del self.levels[0]
        w = self.solver.model.w
        point, *_ = self.problem.expected_point(w)
        v = np.abs(self.problem.new_parameters(point).coef)
        error = np.sqrt(row["gap"]) * self.spread / self.problem.strength
        proven = v + error[:, None] < self.problem.penalty.threshold
        coef = self.problem.new_parameters(w).coef
        counts = coef.size, coef.size - np.count_nonzero(coef), proven.sum()
        cells = [f"{relative:.1e}", str(row["epoch"]), *(f"{n:,}" for n in counts)]
        self.rows.append([self.name, *cells])
        print(*self.rows[-1], flush=True)
        return not self.levels


def main():
    """Print a line for each gap, and the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, help="the first sequences alone")
    parser.add_argument("--epochs", type=int, default=300)
    options = parser.parse_args()
    task = tasks.load("conll2000", options.first)
    names, labels = np.unique(np.concatenate(task.y), return_inverse=True)
    rows = [HEADER]
    for c1, c2 in STRENGTHS:
        problem = Problem(
            Chain(task.X, len(names)),
            labels.astype(np.int32),
            (c1 + 2.0 * c2) / len(task.X),
            penalty=elastic_net(c1 / (c1 + 2.0 * c2)),
        )
        solver = SDCACRF(acceleration=None, random_state=0)._new_solver(problem)
        observer = Screening(rows, f"{c1}, {c2}", problem, solver)
        FitMonitor(solver, max_iter=options.epochs, tol=0.0, observers=[observer]).run()
    tables.show(rows)


if __name__ == "__main__":
    main()
