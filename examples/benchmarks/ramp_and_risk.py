"""Fit the losses of [Martins10, footnote 1] that are differences: ramp loss and risk.

With L(beta, gamma) of `skcrf_sdca.objective.losses`, margin gamma and temperature
1 / beta, the losses are

    L(beta, gamma) - L(beta, 0):    log E exp cost for beta = 1, a bound on the risk,
                                    max (score + cost) - max score, the ramp loss.

They are at most the largest cost, so that a wrong label in the data cannot move w far,
but P is not convex. The concave-convex procedure replaces the subtracted part by its
tangent at the last weights w', of slope v = sum_i c_i grad L_i(beta, 0)(w'):

    alpha/2 ||w||^2 - <v, w> = alpha/2 ||w - v / alpha||^2 - ||v||^2 / (2 alpha),

so that each step is a fit of L(beta, gamma) near the prior v / alpha, with its own
certificate. A step lowers P by Q(w') - Q(w), Q its objective. The run ends where
Q(w') - min Q is at most `tol` P(w'), by the dual of the step: at a stationary point,
which depends on the start, the minimum of the convex part.

The table has wrong letters in per cent, for random words of "ocr" whose labels are
replaced by random ones with some probability. alpha is chosen on other words with such
labels; the test set has none. "fall" and "|step|" are of the last step: the decrease of
P that was left, over P, and the change of w over |w|.

    python examples/benchmarks/ramp_and_risk.py [--first 300] [--loss risk]
        [--tol 1e-4] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA, or downloads the letters.
"""

import argparse
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import exact_blocks
import numpy as np

import tables
import tasks
from skcrf_sdca.objective.losses import new_loss
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.averaged import Averaged
from skcrf_sdca.solvers.bcfw import BCFW
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.solvers.proximal import ProximalPoint
from skcrf_sdca.structures.chain.structure import Chain
from skcrf_sdca.structures.structure import FixedScores

# A step ends when it has made this share of the decrease that it can make.
SHARE = 0.5
MAX_EPOCHS, MAX_STEPS = 100, 50
TOL = 5e-3
MARGIN = 1.0
# Temperature, margin, and whether the loss without the margin is subtracted.
LOSSES = {
    "log loss": (1.0, 0.0, False),
    "softmax-margin": (1.0, MARGIN, False),
    "risk": (1.0, MARGIN, True),
    "hinge": (0.0, MARGIN, False),
    "ramp": (0.0, MARGIN, True),
}
FLIPPED = (0.0, 0.2, 0.4)
# alpha n
STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0)
FIRST, QUICK_FIRST = 300, 12
HEADER = ["flipped", "loss", "alpha n", "errors", "steps", "epochs", "fall", "|step|"]


class Step(NamedTuple):
    """A step: P before it, the decrease left by the dual, |w - w'|, and its epochs."""

    primal: float
    fall: float
    length: float
    epochs: int


class Difference:
    """P(w) = alpha/2 ||w||^2 + sum_i c_i (L_i(beta, gamma)(w) - L_i(beta, 0)(w)).

    Parameters
    ----------
    X : PackedSequences
    labels : ndarray of shape (n_positions,), int32
    n_labels : int
    alpha : float
    temperature : float
        1 / beta; 0 for maxima.
    margin : float
        gamma, the cost of a wrong label.
    is_difference : bool, default=True
        False for P with L(beta, gamma) alone: it takes one step.
    """

    def __init__(
        self, X, labels, n_labels, alpha, temperature, margin, is_difference=True
    ):
        plain = new_loss("softmax_margin" if temperature else "hinge", temperature)
        cost = margin * (1.0 - np.eye(n_labels))
        loss = replace(plain, cost=cost) if margin else plain
        self.new_structure = partial(Chain, X, n_labels)
        self.new_problem = partial(Problem, targets=labels, alpha=alpha, loss=loss)
        self.convex = self.new_problem(self.new_structure())
        self.subtracted = None
        if is_difference:
            self.subtracted = self.new_problem(self.new_structure(), loss=plain)

    def primal(self, w):
        """Return P(w); w are weights of a solver, those of the model over its scale."""
        loss = self.convex.mean_loss(w)
        if self.subtracted is not None:
            loss -= self.subtracted.mean_loss(w)
        return self.convex.primal(w, loss)

    def prior(self, w):
        """Return v / alpha, v the gradient at w of what is subtracted."""
        problem = self.subtracted
        if problem is None:
            return np.zeros_like(w)
        if problem.loss.is_smooth:
            return -problem.expected_point(w)[0]
        scores = problem.scores(problem.new_parameters(w), 0, problem.n_sequences)
        best, _ = scores.viterbi()
        local = problem.structure.label_potentials(best).local
        tied = problem.structure.tied_labels(best, problem.weight)
        return -problem.dual_to_primal(local, tied)

    def near(self, prior):
        """Return the convex problem of the change of a prior."""
        structure = self.new_structure()
        n = self.convex.n_sequences
        scores = structure.scores(structure.new_parameters(prior), 0, n)
        structure.fixed = FixedScores(scores.local, scores.tied)
        return self.new_problem(structure)


def new_solver(problem, rng, change, state):
    """Return a solver that starts at weights, or at the state of the last solver.

    Dual solvers cannot start at weights: a dual point near the optimum of one step can
    be far from the optimum of another. So smooth losses take L-BFGS.
    """
    if problem.loss.is_smooth:
        return LBFGS(problem, rng, max_iter=MAX_EPOCHS, state={"w": change})
    solver = partial(ProximalPoint, solver=BCFW)
    return Averaged(problem, rng, solver=solver, state=state)


def run(solver, is_enough):
    """Run a solver until a Certificate is enough; return it, and the epochs."""
    found = []

    def end_epoch():
        found.append(solver.certify())
        return len(found) == MAX_EPOCHS or is_enough(found[-1])

    solver.run(end_epoch)
    return solver.certify(), len(found)


def fit(difference, rng, *, tol=TOL, max_steps=MAX_STEPS):
    """Return weights of a stationary point of P, and the Steps to it.

    The first step minimises the convex part.
    """
    problem, zero = difference.convex, difference.convex.new_parameters().w
    solver = new_solver(problem, rng, zero, None)
    found, epochs = run(solver, lambda found: found.gap <= tol * found.primal)
    w, state = solver.model.w.copy(), None
    steps = [Step(problem.initial_primal, found.gap, np.linalg.norm(w), epochs)]
    while difference.subtracted is not None and len(steps) < max_steps:
        step, w, state = next_step(difference, rng, w, state, tol)
        steps.append(step)
        if step.fall <= tol * step.primal or not step.length:
            break
    return w, steps


def next_step(difference, rng, w, state, tol):
    """Make a step; return it, the weights after it, and the state of its solver."""
    prior, primal = difference.prior(w), difference.primal(w)
    problem = difference.near(prior)
    change = w - prior
    start = problem.primal(change, problem.mean_loss(change))

    def is_enough(found):
        left = start - found.dual
        return left <= tol * primal or start - found.primal >= SHARE * left

    solver = new_solver(problem, rng, change, state)
    found, epochs = run(solver, is_enough)
    new = prior + solver.model.w if found.primal < start else w
    step = Step(primal, start - found.dual, np.linalg.norm(new - w), epochs)
    return step, new, solver.state()


def flip(labels, n_labels, probability, rng):
    """Return labels, each replaced by a random one with some probability."""
    random = rng.integers(n_labels, size=len(labels), dtype=labels.dtype)
    return np.where(rng.random(len(labels)) < probability, random, labels)


def split_of(n):
    """Return two parts of n random words, their labels, their number, and the test set.

    The parts are PackedSequences and int32 arrays.
    """
    task, held_out = exact_blocks.split_of(2 * n)
    half = task.X.offsets[n]
    names, labels = np.unique(np.concatenate(task.y), return_inverse=True)
    labels = labels.astype(np.int32)
    parts = (task.X[:n], labels[:half]), (task.X[n:], labels[half:])
    return (*parts, len(names)), tasks.HeldOut(held_out.X, held_out.y, names, False)


def fits(data, held_out, name, tol):
    """Yield for each alpha the errors on the two other sets, and cells of the table."""
    (X, labels), (X_val, y_val), n_labels = data
    sequences = np.split(y_val, X_val.offsets[1:-1])
    validation = tasks.HeldOut(X_val, sequences, np.arange(n_labels), False)
    for strength in STRENGTHS:
        difference = Difference(X, labels, n_labels, strength / len(X), *LOSSES[name])
        w, steps = fit(difference, np.random.default_rng(0), tol=tol)
        model, last = difference.convex.solution(w), steps[-1]
        errors = [
            100.0 * s.errors(model)["token_error"] for s in (validation, held_out)
        ]
        numbers = [f"{len(steps)}", f"{sum(step.epochs for step in steps)}"]
        numbers.append(f"{last.fall / difference.primal(w):.1e}")
        numbers.append(f"{last.length / np.linalg.norm(w):.1e}")
        yield *errors, [f"{strength:g}", f"{errors[1]:.1f}", *numbers]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=FIRST, help="random words")
    parser.add_argument("--loss", nargs="+", default=list(LOSSES), choices=LOSSES)
    parser.add_argument("--tol", type=float, default=TOL)
    parser.add_argument("--quick", action="store_true", help="a trial on few words")
    options = parser.parse_args()
    n = QUICK_FIRST if options.quick else options.first
    (*parts, n_labels), held_out = split_of(n)
    tables.stream([HEADER])
    for probability in FLIPPED:
        rng = np.random.default_rng(0)
        flipped = [(X, flip(y, n_labels, probability, rng)) for X, y in parts]
        for name in options.loss:
            found = fits((*flipped, n_labels), held_out, name, options.tol)
            *_, cells = min(found)
            tables.stream([[f"{probability:g}", name, *cells]])


if __name__ == "__main__":
    main()
