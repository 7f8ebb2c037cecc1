"""Count the oracle calls of rivals since 2018, beside SDCA, OEG and SAG-NUS*.

The rules are those of stochastic_rules.py. They were compared with the published code
of [1]_ and [6]_, and of others for [3]_; the rest are from abstracts of the papers.

SPS_max, ALI-G   step min(phi_i / (c ||grad||^2), most), with c = 1/2 [1]_ or 1 [2]_:
                 the lower bound of phi_i is 0
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
Adam. The strength of proximal points is the best of a grid, too. The tables have oracle
calls over n to levels of P / P* - 1, for all seeds, and P / P* - 1 in per cent at the
end of runs that do not reach the last level; P* is a certified bound. Rivals make 40
passes at most, and solvers of the package 120.

The second table is of the structural SVM: block-coordinate Frank-Wolfe solves it, and
Casimir-SVRG and SDCA see the softmax margin of some temperatures T. Its P* is bounded
by the marginals of ever lower temperatures; the script prints how tight the bound is.

    python examples/benchmarks/rivals.py [--task ocr] [--loss hinge] [--seeds 2]

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

from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from single_losses import SingleLosses
from starts import QUICK_FIRST
from stochastic_rules import (
    Adam,
    CasimirSVRG,
    DecSPS,
    DualPolyak,
    KnownPolyak,
    LooplessSVRG,
    Polyak,
)

import tables
import tasks
from skcrf_sdca.objective.losses import new_loss
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.bcfw import BCFW
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.proximal import ProximalPoint
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.sdca import SDCA

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
PASSES, QUICK_PASSES = 40, 2
TIGHT, TEMPERATURES = 1e-6, (0.1, 0.03)
# For a bound of the hinge.
FALLING, LOOSE, MOST_ITERATIONS = (0.1, 0.03, 0.01, 0.003, 0.001), 3e-4, 3000


def with_metric(solver):
    """Return a solver and the same in the metric of proximal points, by name."""
    name = f"{solver.__name__}-GAP"
    return {name: solver, f"{name}, metric": partial(ProximalPoint, solver=solver)}


OURS = {**with_metric(SDCA), **with_metric(OEG), "SAG-NUS*": SAG}
# What SVRG calls in a pass: so many passes are made by ours.
CALLS = 3

# The rules, and the lengths to choose from.
OF_POLYAK, OF_SVRG = (0.03, 0.1, 0.3, np.inf), (0.3, 1.0, 3.0)
CASIMIR = [partial(CasimirSVRG, strength=kappa) for kappa in (1.0, 10.0)], OF_SVRG
RIVALS = {
    "SPS_max, ALI-G": ([partial(Polyak, share=0.5), Polyak], OF_POLYAK),
    "DecSPS": ([DecSPS], (1.0, 3.0, 10.0)),
    "SPS+, dual": ([DualPolyak], OF_POLYAK),
    "SPS+, known": ([KnownPolyak], OF_POLYAK),
    "L-SVRG": ([LooplessSVRG], OF_SVRG),
    "Casimir-SVRG": CASIMIR,
}
# The same with absolute lengths.
OF_ADAM, ADAMW = (1e-3, 3e-3, 1e-2, 3e-2), partial(Adam, decay=1.0)
RIVALS_OF_ADAM = {
    "AdamW": ([ADAMW], OF_ADAM),
    "AdamW, 1e-3": ([ADAMW], OF_ADAM[:1]),
    "AdamW, linear": ([partial(ADAMW, epochs=PASSES)], OF_ADAM),
    "Adam": ([Adam], OF_ADAM),
}


def unit_of(problem):
    """Return 1 / mean(L_i) of weights that are not divided by the temperature."""
    sag = SAG(problem, np.random.default_rng(1))
    for _ in range(5):
        sag.epoch()
    return problem.loss.scale / sag.lipschitz.mean()


def choices(problem, rule, unit):
    """Return each choice of a rule: what it sees, how to make it, and a length."""
    makes, lengths = rule
    return [(problem, make, length * unit) for make, length in product(makes, lengths)]


class Race:
    """A problem, a lower bound of its optimum, and how far runs come."""

    def __init__(self, problem, bound, levels, passes):
        self.problem, self.bound = problem, bound
        self.levels, self.passes, self.n = levels, passes, problem.n_sequences

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
        losses, rng = SingleLosses(seen), np.random.default_rng(seed)
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

    def of_rival(self, of_rule, seeds):
        """Yield what `found` does of the best choice, for each seed."""
        first = [self.rival(*choice, 0) for choice in of_rule]
        # The calls to the last level count first, then the distance at the end.
        best = min(range(len(first)), key=lambda k: first[k][1:])
        yield first[best]
        for seed in seeds[1:]:
            yield self.rival(*of_rule[best], seed)


def of_log_loss(problem, passes, levels):
    """Return the race, our solvers, and the choices of each rival."""
    best = OURS["SDCA-GAP, metric"](problem, np.random.default_rng(1))
    bound = FitMonitor(best, max_iter=500, tol=TIGHT).run().rows[-1]["dual"]
    unit = unit_of(problem)
    known = partial(KnownPolyak, optimum=best.model.w)
    rules = RIVALS | {"SPS+, known": ([known], OF_POLYAK)}
    rivals = {name: choices(problem, rule, unit) for name, rule in rules.items()}
    for name, rule in RIVALS_OF_ADAM.items():
        rivals[name] = choices(problem, rule, 1.0)
    ours = {name: (problem, make) for name, make in OURS.items()}
    return Race(problem, bound, levels, passes), ours, rivals


def least_hinge(with_loss, temperatures):
    """Return a lower bound of P* of the structural SVM; print how tight it is.

    The marginals that minimise the softmax margin of a temperature are a point of the
    dual of the hinge, too.
    """
    hinge, found = with_loss("hinge", 0.0), []
    w = hinge.new_parameters().w
    for temperature in temperatures:
        smooth = with_loss("softmax_margin", temperature)
        state = {"w": w / temperature}
        solver = LBFGS(smooth, None, max_iter=MOST_ITERATIONS, state=state)
        FitMonitor(solver, max_iter=MOST_ITERATIONS, tol=LOOSE).run()
        scores = smooth.scores(solver.model, 0, hinge.n_sequences)
        local, *_ = scores.expectations(hinge.weight)
        point, *_ = smooth.expected_point(solver.model.w)
        w = temperature * solver.model.w
        nothing = np.zeros(hinge.n_sequences)
        found.append(hinge.certify_kept(w, temperature * point, local, nothing))
    bound = max(certificate.dual for certificate in found)
    least = min(certificate.primal for certificate in found)
    print(f"P* of the hinge is between {bound:.6f} and {least:.6f}", flush=True)
    return bound


def of_hinge(problem, passes, levels):
    """Return the same for the structural SVM."""
    cost = 1.0 - np.eye(problem.structure.n_labels)

    def with_loss(name, temperature):
        loss = new_loss(name, temperature, cost)
        labels = problem.targets.labels
        return Problem(problem.structure, labels, problem.alpha, loss=loss)

    hinge = with_loss("hinge", 0.0)
    bound = least_hinge(with_loss, FALLING if passes == PASSES else FALLING[:1])
    ours = {name: (hinge, make) for name, make in with_metric(BCFW).items()}
    rivals = {}
    for temperature in TEMPERATURES:
        smooth, end = with_loss("softmax_margin", temperature), f", T = {temperature:g}"
        ours[f"SDCA-GAP, metric{end}"] = smooth, OURS["SDCA-GAP, metric"]
        rivals[f"Casimir-SVRG{end}"] = choices(smooth, CASIMIR, unit_of(smooth))
    return Race(hinge, bound, levels, passes), ours, rivals


class Table(NamedTuple):
    """How to make the race of a loss, its levels, tasks, and number of sequences."""

    make: Callable
    levels: tuple
    tasks: tuple
    first: int


TABLES = {
    "log_loss": Table(of_log_loss, (1e-2, 1e-3), ("ocr", "ned"), 300),
    "hinge": Table(of_hinge, (0.3, 0.1), ("ocr",), 100),
}


def cells(found):
    """Return cells of one task: calls of each seed to each level, and distances."""
    *calls, ends = zip(*found, strict=True)
    missed = [not np.isfinite(last) for last in calls[-1]]
    numbers = [[f"{own:.0f}".replace("inf", "no") for own in to] for to in calls]
    percent = [f"{float(f'{100.0 * end:.2g}'):g} %" for end in ends]
    return [
        *(tables.NONE if set(to) == {"no"} else ", ".join(to) for to in numbers),
        ", ".join(percent) if any(missed) else tables.NONE,
    ]


def rows(options, loss):
    """Return the table of a loss, whose rows have all tasks; print each as it comes."""
    make, levels, own, first = TABLES[loss]
    passes = QUICK_PASSES if options.quick else PASSES
    seeds = range(1 if options.quick else options.seeds)
    header, found = ["method"], {}
    for task in options.task or own:
        first_level, *others = (f"{level:g}" for level in levels)
        header += [f"{tasks.TITLES[task]}, {first_level}", *others, "at the end"]
        size = QUICK_FIRST if options.quick else options.first or first
        problem = tasks.problem(tasks.load_random(task, size))
        race, ours, rivals = make(problem, passes, levels)
        for name in (*ours, *rivals):
            if name in ours:
                runs = [race.package(*ours[name], seed) for seed in seeds]
            else:
                runs = race.of_rival(rivals[name], seeds)
            own = cells(runs)
            found.setdefault(name, [name]).extend(own)
            tables.stream([[tasks.TITLES[task], name, *own]])
    return [header, *found.values()]


def main():
    """Write the tables."""
    parser = tasks.parser(__doc__)
    parser.set_defaults(task=None)
    parser.add_argument("--loss", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--output", type=Path, help="folder; default: docs/results")
    options = parser.parse_args()
    for loss in options.loss:
        table = rows(options, loss)
        if not options.quick:
            tables.write(table, (options.output or RESULTS) / f"rivals_{loss}.csv")


if __name__ == "__main__":
    main()
