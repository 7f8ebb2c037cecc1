"""Compare the seconds to a distance from the optimum with the trainers of CRFsuite.

All use the same data, objective and weights (crfsuite.py) and one thread, in turns in
the same run. The table has medians over the rounds. A level is (P - P*) / P(0). There
are two kinds of levels: given ones, which CRFsuite's "lbfgs" may reach or not, and the
one that its "l2sgd" has reached after its epochs. For the latter, we evaluate P at the
weights that it returns.

The seconds of CRFsuite are those that it logs for its iterations, without and with the
calibration of "l2sgd". The time to make its features is not counted. Ours are the
seconds of the solver without certificates, and of all of `fit`, which also
prepares the data and computes the certificates. The ratios divide CRFsuite's
seconds, with calibration, by both. CRFsuite and all of `fit` are measured by the clock
of the processor, the solver alone by that on the wall, which other work slows.

    python examples/benchmarks/time_to_optimum.py [--task ned] [--rounds 3] [--quick]

needs python-crfsuite and the folder of corpora in SKCRF_SDCA_DATA.
"""

import warnings
from dataclasses import dataclass
from time import process_time

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import crfsuite
import runs
import tables
import tasks
from skcrf_sdca import OEGCRF, SAGNUSCRF, SDCACRF, DualityGapMonitor

NAMES = ("conll2000", "ned")
ESTIMATORS = (SDCACRF, OEGCRF, SAGNUSCRF)
LEVELS = (1e-4,)
HEADER = ["task", "CRFsuite", "level", "s", "with calibration", "estimator"]
HEADER += ["epochs", "solver s", "fit s", "ratio to solver", "to fit"]


@dataclass
class Leg:
    """A level that a trainer of CRFsuite reached; NaN seconds if it did not."""

    trainer: str
    level: float
    seconds: float
    calibration: float = 0.0


class Race:
    """CRFsuite and our estimators on one task.

    Parameters
    ----------
    task : Task
    optimum : float
        P*.
    levels : sequence of float
        Levels that "lbfgs" should reach.
    """

    def __init__(self, task, optimum, levels):
        self.task = task
        self.problem = tasks.problem(task)
        self.optimum = optimum
        self.levels = levels
        self.epochs = {}

    def level(self, primal):
        """Return (P - P*) / P(0)."""
        return (primal - self.optimum) / self.problem.initial_primal

    def lbfgs(self, max_iterations):
        """Return the legs of "lbfgs", and the iterations to the last level."""
        training = crfsuite.train(self.problem, "lbfgs", max_iterations)
        at = self.level(training.losses)
        self._tell("lbfgs", training, at[-1])
        needed = [_first(at, level) for level in self.levels]
        legs = [
            Leg("lbfgs", level, training.seconds[:n].sum() if n else np.nan)
            for level, n in zip(self.levels, needed, strict=True)
        ]
        return legs, max(needed) if all(needed) else max_iterations

    def l2sgd(self, n_epochs):
        """Return the leg of "l2sgd"."""
        training = crfsuite.train(self.problem, "l2sgd", n_epochs)
        best = np.argmin(training.losses)
        level = self._tell("l2sgd", training, self.level(training.losses[best]))
        seconds = training.seconds[: best + 1].sum()
        return Leg("l2sgd", level, seconds, training.calibration)

    def _tell(self, trainer, training, logged):
        """Return the level at the weights of a trainer; also print its own level."""
        _, certificate = self.problem.certify_primal(training.w)
        level = self.level(certificate.primal)
        print(
            f"{self.task.name} {trainer}: {len(training.losses)} iterations, "
            f"{training.seconds.sum():.1f} s, level {level:.3e}, logged {logged:.3e}",
            flush=True,
        )
        return level

    def fit(self, estimator, level):
        """Return the epochs to a level, the seconds of the solver, and of the fit."""
        epochs = self._epochs(estimator, level)
        crf = self._new(estimator, level, epochs)
        begin = process_time()
        crf.fit(self.task.X, self.task.y)
        seconds = process_time() - begin
        return epochs, crf.history_["seconds"][-1], seconds

    def _new(self, estimator, level, max_iter):
        # The gap bounds the distance: if the gap is at the level, P is too. The draws
        # follow the gaps of certificates, and their epochs depend on tol.
        tol = level * self.problem.initial_primal / self.optimum
        return estimator(self.task.alpha, tol=tol, max_iter=max_iter, random_state=0)

    def _epochs(self, estimator, level):
        """Return the epochs to a level, from one longer fit."""
        if (estimator, level) not in self.epochs:
            crf = self._new(estimator, level, runs.ENOUGH)
            crf.set_callbacks(DualityGapMonitor()).fit(self.task.X, self.task.y)
            reached = self.level(crf.history_["primal"])
            self.epochs[estimator, level] = _first(reached, level)
        return self.epochs[estimator, level]


def _first(values, level):
    """Return the number, from 1, of the first value of at most level, or None."""
    reached = np.flatnonzero(values <= level)
    return int(reached[0]) + 1 if len(reached) else None


def measure(race, arguments):
    """Return the records of the rounds by trainer, index of the level and estimator."""
    records = {}
    n_iterations = arguments.iterations
    for _ in range(1 if arguments.quick else arguments.rounds):
        legs, n_iterations = race.lbfgs(n_iterations)
        for place, leg in enumerate([*legs, race.l2sgd(arguments.epochs)]):
            theirs = leg.seconds + leg.calibration
            for estimator in ESTIMATORS:
                ours = race.fit(estimator, leg.level)
                ratios = theirs / ours[1], theirs / ours[2]
                record = (leg.level, leg.seconds, theirs, *ours, *ratios)
                key = leg.trainer, place, estimator.__name__
                records.setdefault(key, []).append(record)
                tables.show([row_of(race.task.name, key, [record])])
    return records


def row_of(task, key, records):
    """Return the row of the table: medians over the records of the rounds."""
    trainer, _, estimator = key
    level, theirs, calibrated, epochs, *ours = np.median(records, axis=0)
    row = [task, trainer, f"{level:.2e}"]
    row += [_text(theirs), _text(calibrated), estimator]
    return [*row, f"{epochs:.0f}", *map(_text, ours)]


def _text(number):
    return tables.NONE if np.isnan(number) else f"{number:.2f}"


def main():
    """Race on every requested task, and print one table."""
    parser = runs.parser(__doc__, names=NAMES)
    add = parser.add_argument
    add("--level", type=float, action="append", help=f"repeatable; default {LEVELS}")
    add("--rounds", type=int, default=3, help="not of a quick trial, which has one")
    add("--iterations", type=int, default=200, help="of lbfgs, at most")
    add("--epochs", type=int, default=60, help="of l2sgd, at most")
    arguments = parser.parse_args()
    campaign = runs.Campaign(arguments)
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = [HEADER]
    with threadpool_limits(1):
        for name in campaign.names:
            task = campaign.load(name)
            race = Race(task, campaign.optimum(task), arguments.level or LEVELS)
            for key, records in measure(race, arguments).items():
                rows.append(row_of(name, key, records))
    tables.show(rows)


if __name__ == "__main__":
    main()
