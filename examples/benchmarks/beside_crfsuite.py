"""Draw the picture of the README: F1 and distance from the optimum by seconds.

CRFsuite and SDCACRF learn the Dutch names of CoNLL-2002, with the same features, the
same objective and the same weights (crfsuite.py), on one core. Each point is a fit of
its own that ends after some epochs, or iterations of "lbfgs". Seconds are processor
seconds: of CRFsuite those of its iterations, and of the calibration of "l2sgd", and of
SDCACRF those of all of `fit`. The picture is drawn from the table that the last
measurement has written; ``--fresh`` measures anew.

    python examples/benchmarks/beside_crfsuite.py [--fresh] [--quick]

needs matplotlib and python-crfsuite, and the corpus in the folder SKCRF_SDCA_DATA or
downloaded.
"""

import csv
import warnings
from time import process_time

from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import crfsuite
import figures
import runs
import tables
import tasks
from skcrf_sdca import SDCACRF
from skcrf_sdca.metrics import span_f1_score

TASK = "ned"
HEADER = ["method", "epochs", "seconds", "F1", "distance"]
EPOCHS = {
    "CRFsuite, lbfgs": (5, 10, 20, 30, 40, 60, 80, 110),
    "CRFsuite, l2sgd": (1, 2, 5, 10, 20, 40),
    "skcrf_sdca": (1, 2, 3, 4, 6, 8),
}
COLOURS = {
    "CRFsuite, lbfgs": "#767676",
    "CRFsuite, l2sgd": "#C78500",
    "skcrf_sdca": "#2B83C6",
}
# The optimum is known to this gap, relative to the objective.
EXACT = 1e-7


class Race:
    """The task, its optimum, and the fits of both packages."""

    def __init__(self, campaign):
        self.task, self.held_out = campaign.load_split(TASK)
        self.problem = tasks.problem(self.task)
        exact = SDCACRF(self.task.alpha, tol=EXACT, max_iter=1000, random_state=0)
        self.optimum = exact.fit(self.task.X, self.task.y).history_["dual"][-1]

    def row(self, method, n_epochs):
        """Return the row of a fit."""
        algorithm = method.partition(", ")[2]
        if algorithm:
            seconds, primal, f1 = self._trained(algorithm, n_epochs)
        else:
            seconds, primal, f1 = self._fitted(n_epochs)
        distance = primal / self.optimum - 1.0
        return [method, f"{n_epochs}", f"{seconds:.2f}", f"{f1:.4f}", f"{distance:.2e}"]

    def _trained(self, algorithm, n_epochs):
        training = crfsuite.train(self.problem, algorithm, n_epochs)
        _, certificate = self.problem.certify_primal(training.w)
        errors = self.held_out.errors(self.problem.new_parameters(training.w))
        seconds = training.seconds.sum() + training.calibration
        return seconds, certificate.primal, 1.0 - errors["span_error"]

    def _fitted(self, n_epochs):
        crf = SDCACRF(self.task.alpha, tol=0.0, max_iter=n_epochs, random_state=0)
        begin = process_time()
        crf.fit(self.task.X, self.task.y)
        seconds = process_time() - begin
        f1 = span_f1_score(self.held_out.y, crf.predict(self.held_out.X))
        return seconds, crf.history_["primal"][-1], f1


def measured(campaign):
    """Return the rows of all fits; a trial has two fits of each method."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        race = Race(campaign)
        return [
            race.row(method, n)
            for method, numbers in EPOCHS.items()
            for n in numbers[: 2 if campaign.quick else None]
        ]


def draw(table):
    """Return a picture of F1 and of the distance from the optimum by seconds."""
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    figure, ((left, right),) = figures.panels(1, 2)
    # It is shown small, beside code.
    figure.set_size_inches(6.6, 3.0)
    for method, colour in COLOURS.items():
        own = [row for row in rows if row["method"] == method]
        seconds, f1, distance = (
            [float(row[name]) for row in own] for name in ("seconds", "F1", "distance")
        )
        style = {"color": colour, "marker": "o", "markersize": 4, "label": method}
        left.plot(seconds, [100.0 * value for value in f1], **style)
        right.plot(seconds, distance, **style)
    left.set_title("F1 of names, new text")
    right.set_title("Distance from the optimum")
    right.set_yscale("log")
    for axis in (left, right):
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_xlabel("processor seconds")
    return figure


def main():
    """Measure if there is no table, or if asked to; draw the table."""
    arguments = runs.parser(__doc__, "images/beside_crfsuite.png", names=())
    campaign = runs.Campaign(arguments.parse_args())
    name = campaign.output.with_suffix(".csv").name
    table = campaign.output.parents[1] / "results" / name
    if campaign.fresh or not table.exists():
        rows = [HEADER, *measured(campaign)]
        tables.show(rows)
        tables.write(rows, table)
    figures.save(draw(table), campaign.output)


if __name__ == "__main__":
    main()
