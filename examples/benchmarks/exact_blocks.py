"""Compare DCA's closed step with the exact solution of its subproblem, on "ocr".

[Martins10, algorithm 1] is stated for the minimum of ||w - w_t||^2 / 2 + C f_i(w), and
run with one step min(C, f_i / ||g||^2) along the gradient g, which is a bound of it.
Here the minimum is found by L-BFGS from w_t, in dense NumPy. The table has the wrong
tokens of the test set in per cent, of the weights and of their mean, in which those
after t visits count t^4 times as in PassiveAggressiveCRF.

    python examples/benchmarks/exact_blocks.py [--n-sequences 400] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA, or downloads the letters.
"""

import argparse

import numpy as np
from numpy_chains import Chains
from scipy.optimize import minimize
from starts import QUICK_FIRST

import tables
import tasks

PASSES = (1, 3, 10)
POWER = 4.0
STRENGTHS = (0.01, 0.1, 1.0)
HEADER = ["C", "update", "weights", *(f"after {passes}" for passes in PASSES)]
HEADER += ["calls / n"]


def split_of(n):
    """Return n random words of the training set as a task, and the test set.

    The first ones are of a few words.
    """
    task, held_out = tasks.load_split("ocr")
    chosen = np.random.default_rng(0).choice(len(task.X), n, replace=False)
    y = [task.y[i] for i in chosen]
    return tasks.Task(task.name, task.X[chosen], y, 1.0 / n, optimum=None), held_out


def closed(chains, w, i, C):
    """Return the weights after the step of DCA."""
    loss, gradient = chains.loss_and_gradient(w, i)
    norm = gradient @ gradient
    return w - min(C, loss / norm) * gradient if norm > 0.0 else w


def exact(chains, w, i, C):
    """Return the weights of the minimum of the subproblem."""

    def objective(new):
        loss, gradient = chains.loss_and_gradient(new, i)
        change = new - w
        return 0.5 * change @ change + C * loss, change + C * gradient

    return minimize(objective, w, jac=True, method="L-BFGS-B").x


UPDATES = {"closed step": closed, "exact": exact}


def rows_of(task, held_out, C, update):
    """Return the rows of the weights and of their mean."""
    chains, rng = Chains(task), np.random.default_rng(0)
    w = chains.problem.new_parameters().w
    mean, visits, cells = w.copy(), 0, {"last": [], "mean": []}
    for epoch in range(1, PASSES[-1] + 1):
        for i in rng.permutation(len(chains.X)):
            w = UPDATES[update](chains, w, i, C)
            visits += 1
            mean += min(1.0, (POWER + 1.0) / (visits + POWER)) * (w - mean)
        for name, found in (("last", w), ("mean", mean)):
            errors = held_out.errors(chains.problem.new_parameters(found))
            if epoch in PASSES:
                cells[name].append(f"{100.0 * errors['token_error']:.1f}")
    calls = f"{chains.n_calls / len(chains.X):.0f}"
    return [[f"{C:g}", update, name, *cells[name], calls] for name in cells]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-sequences", type=int, default=400, help="of the training")
    parser.add_argument("--quick", action="store_true", help="a trial on few sequences")
    options = parser.parse_args()
    split = split_of(QUICK_FIRST if options.quick else options.n_sequences)
    tables.stream([HEADER])
    for C in STRENGTHS:
        for update in UPDATES:
            tables.stream(rows_of(*split, C, update))


if __name__ == "__main__":
    main()
