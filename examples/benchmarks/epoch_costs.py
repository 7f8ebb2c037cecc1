"""Measure an epoch of each solver, in passes of the oracle over the data.

A bare pass computes the node scores of all sequences from their features, and the
marginals from the scores, for the current weights of the solver. Epochs and passes are
timed in turns, after a few epochs to warm up. The table has their medians, the ratio of
these, the promised ratio, and the oracle calls of an epoch divided by n.

SAG and SAG-NUS are measured without their searches for Lipschitz constants, and OEG
with steps so short that each visit accepts its first trial. SAG-NUS, and SDCA with
draws by gap, visit long sequences more often than a pass does. All others draw
uniformly here.

    python examples/benchmarks/epoch_costs.py [--task ocr] [--rounds 9] [--quick]

With ``--metric`` the table has the visits of an epoch, plain and in the metric of
proximal points. With ``--fit`` it has all of a fit to the default tolerance beside its
epochs: how many, how many of them were certified, and the seconds of both.

Seconds are those of the processor in the program itself. What the system takes to find
new pages of memory is not in them, since it depends on the other programs: a fit of
CoNLL-2000 by SDCA took up to 1.2 s of it.

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

import gc
from functools import partial
from resource import RUSAGE_SELF, getrusage

import numpy as np
from threadpoolctl import threadpool_limits

import runs
import tables
import tasks
from skcrf_sdca import OEGCRF, SAGNUSCRF, SDCACRF, SGDCRF
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.sgd_methods import METHODS

SOLVERS = {
    "SAG": SAGNUSCRF(sampling="uniform", random_state=0),
    "SAG-NUS*": SAGNUSCRF(random_state=0),
    "OEG": OEGCRF(
        sampling="uniform", step_init=0.05, acceleration=None, random_state=0
    ),
    "SDCA": SDCACRF(sampling="uniform", acceleration=None, random_state=0),
    "SDCA by gap": SDCACRF(acceleration=None, random_state=0),
    **{method: SGDCRF(method=method, random_state=0) for method in METHODS},
}
PROMISES = {"SAG-NUS*": 2.0, "OEG": 4.0}
WARM_UP = 3
METRIC_HEADER = ["task", "alpha n", "plain ms", "metric ms", "ratio"]
FIT_HEADER = ["task", "solver", "penalty", "epochs", "certified", "epochs s", "fit s"]
FIT_HEADER += ["ratio"]
N_ALPHAS = 1.0, 0.2
# Penalties of a fit: c1 and c2, as CRFsuite names them.
PENALTIES = {"alpha n = 1": (0.0, 0.5), "c1 = c2 = 0.1": (0.1, 0.1)}
FITS = {"SDCA": SDCACRF, "OEG": OEGCRF}
HEADER = ["task", "solver", "epoch s", "pass s", "ratio", "promised", "calls / n"]


def bare_pass(problem, model):
    """Make the oracle calls that the gradients of all sequences need."""
    chains = problem.structure.scores(model, 0, problem.n_sequences)
    chains.expectations(problem.weight)


def user_time():
    """Return the processor seconds of this program, without those of the system."""
    return getrusage(RUSAGE_SELF).ru_utime


def seconds(action, *arguments):
    """Return the seconds of a call by `user_time`."""
    begin = user_time()
    action(*arguments)
    return user_time() - begin


def measure(solver, n_rounds):
    """Return the median seconds of an epoch and of a pass, and the calls per epoch."""
    for _ in range(WARM_UP):
        solver.epoch()
    if hasattr(solver, "constants"):
        # More searches than there will be visits.
        np.asarray(solver.constants.to_skip)[:] = np.iinfo(np.int32).max
    calls = solver.n_oracle_calls
    times = [
        (seconds(solver.epoch), seconds(bare_pass, solver.problem, solver.model))
        for _ in range(n_rounds)
    ]
    calls = (solver.n_oracle_calls - calls) / (n_rounds * solver.problem.n_sequences)
    return *np.median(times, axis=0), calls


def visits_in_metric(problem, n_rounds):
    """Return the milliseconds of the visits of an epoch, plain and in the metric.

    Both fits begin at the start, and their epochs are made in turns. The first one does
    not count.
    """
    crf = SDCACRF(sampling="uniform", random_state=0)
    plain = crf.set_params(acceleration=None)._new_solver(problem)
    outer = crf.set_params(acceleration="auto")._new_solver(problem)
    times = []
    for _ in range(n_rounds + 1):
        outer.solver.move_center(outer._kappa(), outer.model.w)
        times.append((seconds(plain.epoch), seconds(outer.solver.epoch)))
        plain.certify()
        outer.certify()
    return 1e3 * np.mean(times[1:], axis=0)


def metric_rows(task, n_rounds):
    """Return rows of the table of `visits_in_metric`."""
    for n_alpha in N_ALPHAS:
        task.alpha = n_alpha / len(task.y)
        plain, metric = visits_in_metric(tasks.problem(task), n_rounds)
        figures = f"{plain:.0f}", f"{metric:.0f}", f"{metric / plain:.3f}"
        yield [task.name, f"{n_alpha:g}", *figures]


def fit_seconds(crf, task):
    """Return the seconds of all of a fit, and of its epochs."""
    # The monitor charges its clock with the epochs alone.
    crf._monitor = partial(FitMonitor, clock=user_time)
    return seconds(crf.fit, task.X, task.y), crf.history_["seconds"][-1]


def fit_rows(task, n_rounds):
    """Return rows of fits, which are made in turns."""
    n, fits = len(task.y), {}
    for penalty, (c1, c2) in PENALTIES.items():
        strength = {"alpha": (c1 + 2.0 * c2) / n, "l1_ratio": c1 / (c1 + 2.0 * c2)}
        for name, estimator in FITS.items():
            fits[name, penalty] = estimator(random_state=0, **strength)
    times = {key: [] for key in fits}
    # The garbage collector is not to search the corpus and the modules during a fit.
    gc.collect()
    gc.freeze()
    for _ in range(n_rounds):
        for key, crf in fits.items():
            times[key].append(fit_seconds(crf, task))
    for (name, penalty), crf in fits.items():
        whole, epochs = np.median(times[name, penalty], axis=0)
        counts = str(crf.n_iter_), str(len(crf.history_["epoch"]))
        figures = f"{epochs:.2f}", f"{whole:.2f}", f"{whole / epochs:.2f}"
        yield [task.name, name, penalty, *counts, *figures]


def main():
    """Print a row for each task and solver."""
    parser = runs.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--metric", action="store_true")
    parser.add_argument("--fit", action="store_true")
    arguments = parser.parse_args()
    campaign = runs.Campaign(arguments)
    others = {"metric": (METRIC_HEADER, metric_rows), "fit": (FIT_HEADER, fit_rows)}
    asked = [own for name, own in others.items() if getattr(arguments, name)]
    header, rows_of = asked[0] if asked else (HEADER, None)
    rows = [header]
    with threadpool_limits(1):
        for name in campaign.names:
            task = campaign.load(name)
            if rows_of is not None:
                rows += rows_of(task, arguments.rounds)
                continue
            problem = tasks.problem(task)
            for label, crf in SOLVERS.items():
                solver = crf._new_solver(problem)
                epoch, one_pass, calls = measure(solver, arguments.rounds)
                ratio, promise = epoch / one_pass, PROMISES.get(label)
                numbers = [f"{x:.3f}" for x in (epoch, one_pass, ratio)]
                promised = f"{promise:.1f}" if promise else tables.NONE
                rows.append([name, label, *numbers, promised, f"{calls:.2f}"])
    tables.show(rows)


if __name__ == "__main__":
    main()
