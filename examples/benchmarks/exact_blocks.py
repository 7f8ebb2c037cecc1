"""Compare DCA's closed step with the exact solution of its subproblem, on "ocr".

[Martins10, algorithm 1] is stated for the minimum of ||w - w_t||^2 / 2 + C f_i(w), and
run with one step min(C, f_i / ||g||^2) along the gradient g, which is a bound of it.
Here the minimum is found by L-BFGS from w_t, in dense NumPy. Between the two are the
half-spaces of eq. 17: f_i is at least 0 and its tangents at the weights of the last
visits to the sequence, and the largest of these takes the place of f_i. With the
tangent at w_t alone the minimum is the one step. The table has the wrong tokens of the
test set in per cent, of the weights and of their mean, in which those after t visits
count t^4 times as in PassiveAggressiveCRF.

    python examples/benchmarks/exact_blocks.py [--update exact] [--n-sequences 400]
        [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA, or downloads the letters.
"""

import argparse
from collections import defaultdict, deque
from functools import partial

import numpy as np
from scipy.optimize import minimize
from single_losses import SingleLosses
from starts import QUICK_FIRST

import tables
import tasks

PASSES = (1, 3, 10)
POWER = 4.0
STRENGTHS = (0.01, 0.1, 1.0)
# Of the steps to the minimum with half-spaces, and of their rise.
N_STEPS, SMALLEST = 1000, 1e-10
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


class HalfSpaces:
    """The minimum with the last tangents of f_i in place of f_i.

    With tangents a_j . w + b_j it is w_t - sum_j s_j a_j, where s maximises

        sum_j s_j (a_j . w_t + b_j) - ||sum_j s_j a_j||^2 / 2

    over all s >= 0 of the sum C; the first tangent is 0.
    """

    def __init__(self, n_tangents):
        self.last = defaultdict(lambda: deque(maxlen=n_tangents))

    def __call__(self, chains, w, i, C):
        """Return the weights after a visit."""
        loss, gradient = chains.loss_and_gradient(w, i)
        own = self.last[i]
        own.append((gradient, loss - gradient @ w))
        slopes, constants = zip((np.zeros_like(w), 0.0), *own, strict=True)
        slopes = np.array(slopes)
        return w - shares(slopes @ slopes.T, slopes @ w + constants, C) @ slopes


def shares(squares, values, C):
    """Return the s of half-spaces, by exact steps along pairs of them."""
    s = np.zeros(len(values))
    s[0] = C
    for _ in range(N_STEPS):
        rise = values - squares @ s
        j, k = rise.argmax(), np.where(s > 0.0, rise, np.inf).argmin()
        norm = squares[j, j] + squares[k, k] - 2.0 * squares[j, k]
        if rise[j] - rise[k] <= SMALLEST or not norm > 0.0:
            break
        step = min((rise[j] - rise[k]) / norm, s[k])
        s[j] += step
        s[k] -= step
    return s


def exact(chains, w, i, C):
    """Return the weights of the minimum of the subproblem."""

    def objective(new):
        loss, gradient = chains.loss_and_gradient(new, i)
        change = new - w
        return 0.5 * change @ change + C * loss, change + C * gradient

    return minimize(objective, w, jac=True, method="L-BFGS-B").x


# Each makes a new update: half-spaces are kept from visit to visit.
UPDATES = {
    "one": partial(HalfSpaces, 1),
    "half-spaces": partial(HalfSpaces, 4),
    "exact": lambda: exact,
}


def rows_of(task, held_out, C, update):
    """Return the rows of the weights and of their mean."""
    chains, rng, step = (
        SingleLosses(tasks.problem(task)),
        np.random.default_rng(0),
        UPDATES[update](),
    )
    w = chains.problem.new_parameters().w
    mean, visits, cells = w.copy(), 0, {"last": [], "mean": []}
    for epoch in range(1, PASSES[-1] + 1):
        for i in rng.permutation(chains.n):
            w = step(chains, w, i, C)
            visits += 1
            mean += min(1.0, (POWER + 1.0) / (visits + POWER)) * (w - mean)
        for name, found in (("last", w), ("mean", mean)):
            errors = held_out.errors(chains.problem.new_parameters(found))
            if epoch in PASSES:
                cells[name].append(f"{100.0 * errors['token_error']:.1f}")
    calls = f"{chains.n_calls / chains.n:.0f}"
    return [[f"{C:g}", update, name, *cells[name], calls] for name in cells]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", nargs="+", choices=UPDATES, default=list(UPDATES))
    parser.add_argument("--n-sequences", type=int, default=400, help="of the training")
    parser.add_argument("--quick", action="store_true", help="a trial on few sequences")
    options = parser.parse_args()
    split = split_of(QUICK_FIRST if options.quick else options.n_sequences)
    tables.stream([HEADER])
    for C in STRENGTHS:
        for update in options.update:
            tables.stream(rows_of(*split, C, update))


if __name__ == "__main__":
    main()
