"""Count the oracle calls of rivals since 2018, beside SDCA, OEG and SAG-NUS*.

Each rival is in NumPy, by its own rule, with phi_i = f_i + alpha/2 ||w||^2 and a
uniform draw of i at each step.

SPS_max          step min(phi_i / ||grad||^2, most): the lower bound of phi_i is 0, as
                 in ALI-G [1]_ [2]_
DecSPS           the same, divided by sqrt(t + 1), and never longer than before [3]_
SPS+, dual       the same with phi_i - d_i: d_i is the part of sequence i in the dual
                 objective of the marginals that the last visits found, or 0 if it is
                 negative
SPS+, known      the same with phi_i at the optimum, which nobody knows, for d_i [4]_
L-SVRG           the gradient of a snapshot corrects the step; a coin of probability 1/n
                 takes a new snapshot [5]_
Casimir-SVRG     an epoch of SVRG for each proximal point, with momentum: the log loss
                 is the smoothed maximum already [6]_
AdamW            batches of 10, with decoupled decay alpha [7]_, a constant step
AdamW, 1e-3      as people take it
AdamW, linear    with steps that fall linearly to 0 at the last pass
Adam             the penalty is part of the gradient

The length of steps, or its limit, is the best of a grid, whose runs are not counted; in
units of 1 / mean(L_i), with the constants that SAG-NUS* finds, or absolute ones for
Adam. The strength of proximal points is the best of a grid, too. The table has oracle
calls over n to P - P* <= 1e-2 P* and 1e-3 P*, P* a certified bound, P / P* - 1 in per
cent at the end, and the length. Rivals make 40 passes at most, and solvers of the
package 120. With ``--loss hinge`` the objective is that of the structural SVM, and the
levels are 0.3 and 0.1: block-coordinate Frank-Wolfe solves it, and Casimir-SVRG and
SDCA see the softmax margin of some temperatures T.

    python examples/benchmarks/rivals.py [--task ocr] [--first 300] [--seeds 2]

needs the folder of corpora in SKCRF_SDCA_DATA.

References
----------
.. [1] Loizou, Vaswani, Laradji, Lacoste-Julien, "Stochastic Polyak step-size for SGD:
   an adaptive learning rate for fast convergence", AISTATS 2021.
.. [2] Berrada, Zisserman, Kumar, "Training neural networks for and by interpolation",
   ICML 2020.
.. [3] Orvieto, Lacoste-Julien, Loizou, "Dynamics of SGD with stochastic Polyak
   stepsizes: truly adaptive variants and convergence to exact solution", NeurIPS 2022.
.. [4] Garrigos, Gower, Schaipp, "Function value learning: adaptive learning rates based
   on the Polyak stepsize and function splitting in ERM", 2023.
.. [5] Kovalev, Horvath, Richtarik, "Don't jump through hoops and remove those loops:
   SVRG and Katyusha are better without the outer loop", ALT 2020.
.. [6] Pillutla, Roulet, Kakade, Harchaoui, "A smoother way to train structured
   prediction models", NeurIPS 2018.
.. [7] Loshchilov, Hutter, "Decoupled weight decay regularization", ICLR 2019.
"""

from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from starts import QUICK_FIRST

import tables
import tasks
from skcrf_sdca.objective.losses import new_loss
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.bcfw import BCFW
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.proximal import ProximalPoint
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.sdca import SDCA

FIRST, PASSES, QUICK_PASSES = 300, 40, 2
# Distances over P*, by the loss.
LEVELS = {"log_loss": (1e-2, 1e-3), "hinge": (0.3, 0.1)}
TIGHT, TEMPERATURES = 1e-6, (0.1, 0.03)


class Visit(NamedTuple):
    """f_i, target_i less the marginals mu_i of positions and of pairs, and H(mu_i)."""

    value: float
    local: np.ndarray
    tied: np.ndarray
    entropy: float


def inner(local, tied, scores):
    """Return the inner product of changes of marginals with scores."""
    return (local * scores.local).sum() + (tied.ravel() @ scores.tied.ravel())


class Losses:
    """The losses f_i of a problem, with their gradients as dense vectors.

    The problem is one of the weights w / T, T its temperature.

    Attributes
    ----------
    problem : Problem
    n_calls : int
        Oracle calls so far.
    """

    def __init__(self, problem):
        self.problem, self.n = problem, problem.n_sequences
        self.alpha, self.temperature = problem.alpha, problem.loss.scale
        self.one, self.n_calls = np.ones(self.n), 0
        labels, K = problem.targets.labels, problem.structure.n_labels
        self.pairs = np.zeros((self.n, K, K))
        for i, pairs in enumerate(self.pairs):
            y = labels[self.positions(i)]
            np.add.at(pairs, (y[:-1], y[1:]), 1.0)
        self.out = problem.new_parameters()

    def positions(self, i):
        """Return the positions of sequence i."""
        return slice(*self.problem.offsets[[i, i + 1]])

    def scores(self, w, i):
        """Return the scores of sequence i, with its costs."""
        parameters = self.problem.new_parameters(w / self.temperature)
        return self.problem.scores(parameters, i, i + 1)

    def visit(self, w, i):
        """Return the Visit of sequence i at w."""
        self.n_calls += 1
        scores = self.scores(w, i)
        local, tied, found = self.problem.loss.expectations(scores, self.one[i : i + 1])
        place, targets = self.positions(i), self.problem.targets
        value = found[0] - targets.score(scores, i, place.start)[0]
        value *= self.temperature
        targets.subtract(local, place.start, place.stop)
        tied = self.pairs[i] - tied.reshape(self.pairs[i].shape)
        return Visit(value, local, tied, value + inner(local, tied, scores))

    def features(self, i, local, tied, out):
        """Add the features of changes of marginals to parameters."""
        structure = self.problem.structure
        structure.add_features(out, i, i + 1, self.one, local)
        structure.add_tied_features(out, tied.reshape(out.tied.shape))

    def gradient(self, i, visit):
        """Return the gradient of f_i, which the next call overwrites."""
        self.out.w[:] = 0.0
        self.features(i, -visit.local, -visit.tied, self.out)
        return self.out.w

    def __call__(self, w, i):
        """Return f_i and its gradient, which the next call overwrites."""
        visit = self.visit(w, i)
        return visit.value, self.gradient(i, visit)

    def mean(self, w):
        """Return the gradient of P, with a call for each sequence."""
        self.n_calls += self.n
        point, *_ = self.problem.expected_point(w / self.temperature)
        return self.alpha * w - self.problem.strength * point


class Rival:
    """Weights that steps move; a subclass has its rule in `step`.

    ``length`` is what is chosen from a grid.
    """

    def __init__(self, losses, rng, length):
        self.losses, self.rng, self.n = losses, rng, losses.n
        self.alpha, self.length = losses.alpha, length
        self.w = losses.problem.new_parameters().w

    @property
    def point(self):
        """The weights to measure."""
        return self.w

    def epoch(self):
        """Make n steps."""
        for i in self.rng.integers(self.n, size=self.n):
            self.step(i)

    def phi(self, w, i):
        """Return phi_i and its gradient, which the next call overwrites."""
        value, gradient = self.losses(w, i)
        gradient += self.alpha * w
        return value + 0.5 * self.alpha * (w @ w), gradient

    def step(self, i):
        """Make a step with sequence i."""
        raise NotImplementedError


class Polyak(Rival):
    """SPS_max with the lower bound 0 of phi_i."""

    def step(self, i):
        """Make a step with sequence i."""
        value, gradient = self.phi(self.w, i)
        self.w -= self.limited(value - self.floor(i), gradient @ gradient) * gradient

    def floor(self, i):
        """Return what phi_i is to fall to."""
        return 0.0

    def limited(self, above, square):
        """Return the step."""
        return min(max(above, 0.0) / square, self.length) if square > 0.0 else 0.0


class DecSPS(Polyak):
    """Polyak's step, divided by sqrt(t + 1)."""

    t = 0

    def limited(self, above, square):
        """Return the step, never longer than the last one was before its division."""
        self.length = super().limited(above, square) or self.length
        self.t += 1
        return self.length / np.sqrt(self.t)


class KnownPolyak(Polyak):
    """Polyak's step to the value of phi_i at the optimum, which ``at`` has."""

    at = None

    def floor(self, i):
        """Return phi_i at the optimum."""
        return self.at[i]


class DualPolyak(Polyak):
    """Polyak's step to the dual objective of the marginals of the last visits.

    With v = w_hat(mu), the part of sequence i is H(mu_i) + <mu_i - target_i, scores of
    v> + alpha/2 ||v||^2. Before its first visit mu_i is the target.
    """

    def __init__(self, losses, *others):
        super().__init__(losses, *others)
        self.v = losses.problem.new_parameters()
        self.kept = {}

    def floor(self, i):
        """Return the part of sequence i in the dual objective."""
        found = 0.5 * self.alpha * (self.v.w @ self.v.w)
        if i in self.kept:
            _, local, tied, entropy = self.kept[i]
            found += entropy - inner(local, tied, self.losses.scores(self.v.w, i))
        return max(found, 0.0)

    def step(self, i):
        """Make a step, and keep the marginals."""
        losses, w = self.losses, self.w
        visit = losses.visit(w, i)
        above = visit.value + 0.5 * self.alpha * (w @ w) - self.floor(i)
        gradient = losses.gradient(i, visit) + self.alpha * w
        w -= self.limited(above, gradient @ gradient) * gradient
        local, tied = visit.local, visit.tied
        if i in self.kept:
            local, tied = local - self.kept[i].local, tied - self.kept[i].tied
        share = 1.0 / (self.alpha * self.n)
        losses.features(i, share * local, share * tied, self.v)
        self.kept[i] = visit


class LooplessSVRG(Rival):
    """SVRG whose snapshot is renewed by a coin."""

    def __init__(self, losses, *others):
        super().__init__(losses, *others)
        self.renew()

    def renew(self):
        """Take a snapshot."""
        self.snapshot = self.w.copy()
        self.mean = self.losses.mean(self.snapshot)

    def corrected(self, i):
        """Return the gradient of phi_i, corrected by the snapshot."""
        found = self.mean + self.alpha * (self.w - self.snapshot)
        found -= self.losses(self.snapshot, i)[1]
        found += self.losses(self.w, i)[1]
        return found

    def step(self, i):
        """Make a step, and toss the coin."""
        self.w -= self.length * self.corrected(i)
        if self.rng.random() < 1.0 / self.n:
            self.renew()


class CasimirSVRG(LooplessSVRG):
    """An epoch of SVRG for each proximal point, from extrapolated centres.

    kappa is ``strength`` times alpha; for a constant kappa the momentum is constant.
    """

    strength = 1.0

    def __init__(self, losses, *others):
        Rival.__init__(self, losses, *others)
        self.solved = self.w.copy()

    @property
    def point(self):
        """The last proximal point."""
        return self.solved

    def epoch(self):
        """Solve a proximal point by n steps, and extrapolate."""
        self.renew()
        kappa, root = self.strength * self.alpha, (1.0 + self.strength) ** -0.5
        for i in self.rng.integers(self.n, size=self.n):
            away = self.w - self.snapshot
            self.w -= self.length * (self.corrected(i) + kappa * away)
        last, self.solved = self.solved, self.w.copy()
        self.w += (1.0 - root) / (1.0 + root) * (self.solved - last)


class Adam(Rival):
    """Adam on batches; ``decay`` is 1 where that of AdamW takes the penalty's place."""

    decay, is_linear = 0.0, False
    batch, betas, epsilon = 10, (0.9, 0.999), 1e-8

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.moments, self.t, self.passes = np.zeros((2, len(self.w))), 0, 0

    def epoch(self):
        """Make a step for each batch of a permutation."""
        batches = np.array_split(self.rng.permutation(self.n), self.n // self.batch)
        for k, batch in enumerate(batches):
            left = PASSES - self.passes - k / len(batches)
            self.step(batch, self.length * (left / PASSES if self.is_linear else 1.0))
        self.passes += 1

    def step(self, batch, length):
        """Make a step with a batch."""
        gradient = (1.0 - self.decay) * self.alpha * self.w
        for i in batch:
            gradient += self.losses(self.w, i)[1] / len(batch)
        self.t += 1
        for moment, beta, new in zip(
            self.moments, self.betas, (gradient, gradient**2), strict=True
        ):
            moment *= beta
            moment += (1.0 - beta) * new
        first, second = (
            moment / (1.0 - beta**self.t)
            for moment, beta in zip(self.moments, self.betas, strict=True)
        )
        self.w *= 1.0 - length * self.decay * self.alpha
        self.w -= length * first / (np.sqrt(second) + self.epsilon)


class AdamW(Adam):
    """Adam with decoupled decay."""

    decay = 1.0


class LinearAdamW(AdamW):
    """AdamW with steps that fall to 0."""

    is_linear = True


def with_strength(strength):
    """Return CasimirSVRG with a kappa."""
    return type("Casimir", (CasimirSVRG,), {"strength": strength})


# The rules, and the lengths to choose from.
OF_POLYAK, OF_SVRG = (0.03, 0.1, 0.3, np.inf), (0.3, 1.0, 3.0)
OF_ADAM = 1e-3, 3e-3, 1e-2, 3e-2
CASIMIR = [with_strength(strength) for strength in (1.0, 10.0)], OF_SVRG
RIVALS = {
    "SPS_max": ([Polyak], OF_POLYAK),
    "DecSPS": ([DecSPS], (1.0, 3.0, 10.0)),
    "SPS+, dual": ([DualPolyak], OF_POLYAK),
    "SPS+, known": ([KnownPolyak], OF_POLYAK),
    "L-SVRG": ([LooplessSVRG], OF_SVRG),
    "Casimir-SVRG": CASIMIR,
    "AdamW": ([AdamW], OF_ADAM),
    "AdamW, 1e-3": ([AdamW], (1e-3,)),
    "AdamW, linear": ([LinearAdamW], OF_ADAM),
    "Adam": ([Adam], OF_ADAM),
}


def with_metric(solver):
    """Return a solver and the same in the metric of proximal points, by name."""
    name = f"{solver.__name__}-GAP"
    return {name: solver, f"{name}, metric": partial(ProximalPoint, solver=solver)}


OURS = {**with_metric(SDCA), **with_metric(OEG), "SAG-NUS*": SAG}
OF_HINGE = with_metric(BCFW)
# What SVRG calls in a pass: so many passes are made by ours.
CALLS = 3


def unit_of(problem):
    """Return 1 / mean(L_i) of weights that are not divided by the temperature."""
    sag = SAG(problem, np.random.default_rng(1))
    for _ in range(5):
        sag.epoch()
    return problem.loss.scale / sag.lipschitz.mean()


class Race:
    """A problem, its optimum, and how far runs come."""

    def __init__(self, problem, best, levels, passes):
        self.problem, self.levels, self.passes = problem, levels, passes
        self.n = problem.n_sequences
        solver = best(problem, np.random.default_rng(1))
        row = FitMonitor(solver, max_iter=500, tol=TIGHT).run().rows[-1]
        self.bound, self.optimum = row["dual"], solver.model.w

    def found(self, epoch, point, n_calls, passes):
        """Return the calls over n to each level, inf without, and the last distance."""
        calls = []
        for _ in range(passes):
            epoch()
            primal = self.problem.primal(point(), self.problem.mean_loss(point()))
            distance = primal / self.bound - 1.0
            reached = sum(distance <= level for level in self.levels)
            calls += [n_calls() / self.n] * (reached - len(calls))
            is_far = not primal < 2.0 * self.problem.initial_primal
            if reached == len(self.levels) or is_far:
                break
        return *calls, *[np.inf] * (len(self.levels) - len(calls)), distance

    def rival(self, seen, make, length, seed):
        """Return what `found` does for a rival, which sees a smooth problem."""
        losses, rng = Losses(seen), np.random.default_rng(seed)
        try:
            run = make(losses, rng, length)
            of_run = run.epoch, lambda: run.point, lambda: losses.n_calls
            return self.found(*of_run, self.passes)
        except ValueError:
            # Weights whose scores are too large.
            return (np.inf,) * (len(self.levels) + 1)

    def package(self, seen, make, seed):
        """Return what `found` does for a solver of the package."""
        run, scale = make(seen, np.random.default_rng(seed)), seen.loss.scale

        def epoch():
            run.epoch()
            run.certify()

        of_run = epoch, lambda: scale * run.model.w, lambda: run.n_oracle_calls
        return self.found(*of_run, CALLS * self.passes)

    def rows(self, name, choices, seeds):
        """Yield the rows of the best choice: a problem, a rule and a length."""
        first = [self.rival(*choice, 0) for choice in choices]
        # The calls to the last level count first, then the distance at the end.
        best = min(range(len(first)), key=lambda k: first[k][1:])
        for seed in range(seeds):
            found = self.rival(*choices[best], seed) if seed else first[best]
            yield [name, f"{seed}", *cells(found), f"{choices[best][-1]:g}"]


def cells(found):
    """Return cells of numbers of calls, and of a distance in per cent."""
    *calls, distance = found
    cells = [f"{own:.1f}" if np.isfinite(own) else tables.NONE for own in calls]
    return [*cells, f"{100.0 * distance:.2g}"]


def of_log_loss(problem, passes):
    """Return the race, our solvers, and the choices of each rival."""
    levels, unit = LEVELS["log_loss"], unit_of(problem)
    race = Race(problem, OURS["SDCA-GAP, metric"], levels, passes)
    losses, w = Losses(problem), race.optimum
    KnownPolyak.at = [
        losses.visit(w, i).value + 0.5 * losses.alpha * (w @ w) for i in range(race.n)
    ]
    choices = {}
    for name, (makes, lengths) in RIVALS.items():
        units = 1.0 if issubclass(makes[0], Adam) else unit
        choices[name] = [
            (problem, make, length * units) for make, length in product(makes, lengths)
        ]
    return race, {name: (problem, make) for name, make in OURS.items()}, choices


def of_hinge(problem, passes):
    """Return the same for the structural SVM."""
    cost = 1.0 - np.eye(problem.structure.n_labels)

    def with_loss(name, temperature):
        loss = new_loss(name, temperature, cost)
        labels = problem.targets.labels
        return Problem(problem.structure, labels, problem.alpha, loss=loss)

    hinge, best = with_loss("hinge", 0.0), OF_HINGE["BCFW-GAP, metric"]
    race = Race(hinge, best, LEVELS["hinge"], passes)
    ours = {name: (hinge, make) for name, make in OF_HINGE.items()}
    choices = {}
    for temperature in TEMPERATURES:
        smooth = with_loss("softmax_margin", temperature)
        unit = unit_of(smooth)
        ours[f"SDCA-GAP, metric, T = {temperature:g}"] = (
            smooth,
            OURS["SDCA-GAP, metric"],
        )
        choices[f"Casimir-SVRG, T = {temperature:g}"] = [
            (smooth, make, length * unit) for make, length in product(*CASIMIR)
        ]
    return race, ours, choices


RACES = {"log_loss": of_log_loss, "hinge": of_hinge}


def rows(options):
    """Yield the rows of the table."""
    levels = (f"{level:g} P*" for level in LEVELS[options.loss])
    yield ["task", "method", "seed", *levels, "at the end", "length"]
    first = QUICK_FIRST if options.quick else options.first or FIRST
    passes = QUICK_PASSES if options.quick else PASSES
    seeds = range(1 if options.quick else options.seeds)
    for task in options.task:
        title = tasks.TITLES[task]
        problem = tasks.problem(tasks.load_random(task, first))
        race, ours, choices = RACES[options.loss](problem, passes)
        for name, own in ours.items():
            for seed in seeds:
                found = race.package(*own, seed)
                yield [title, name, f"{seed}", *cells(found), tables.NONE]
        chosen = options.rival or choices
        for name, of_rival in ((name, choices[name]) for name in chosen):
            for row in race.rows(name, of_rival, len(seeds)):
                yield [title, *row]


def main():
    """Print the table."""
    parser = tasks.parser(__doc__)
    parser.add_argument("--loss", choices=RACES, default="log_loss")
    parser.add_argument("--rival", nargs="+", help="only these, as the table has them")
    parser.add_argument("--seeds", type=int, default=2)
    tables.stream(rows(parser.parse_args()))


if __name__ == "__main__":
    main()
