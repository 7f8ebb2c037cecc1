"""Compare DCA, SG and L-BFGS for several C: span F1 by passes, [Martins10] figure 3.

C is 1 / (alpha n). SG has steps eta0 / (1 + t / n), with the calibrated eta0, whose
passes count. The table has the F1 on the test data, in per cent, at the last epoch (or
iteration of L-BFGS) within some passes.

    python examples/benchmarks/several_c.py [--task ned] [--first 4000] [--quick]

needs the corpora in the folder SKCRF_SDCA_DATA, or downloads them.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import tables
import tasks
from skcrf_sdca import LBFGSCRF, SGDCRF, PassiveAggressiveCRF

STRENGTHS = (0.01, 0.1, 1.0, 10.0)
PASSES = (2, 5, 10)
QUICK_FIRST, QUICK_PASSES = 100, (2, 3)
HEADER = ["task", "C", "method"]


def estimators(C, n, max_iter):
    """Return the estimators by their titles."""
    options = {"max_iter": max_iter, "tol": 0.0, "scoring": "span_f1"}
    seeded = {**options, "random_state": 0}
    alpha = 1.0 / (C * n)
    schedule = {"method": "sgd", "learning_rate": "inverse_epochs"}
    return {
        "DCA": PassiveAggressiveCRF(C=C, **seeded),
        "SG": SGDCRF(alpha, **schedule, **seeded),
        "L-BFGS": LBFGSCRF(alpha, **options),
    }


def rows_of(name, first, all_passes):
    """Yield the rows of a task."""
    task, test = tasks.load_split(name, first)
    for C in STRENGTHS:
        for title, crf in estimators(C, len(task.X), all_passes[-1]).items():
            crf.fit(task.X, task.y, X_val=test.X, y_val=test.y)
            history = crf.history_
            cells = []
            for passes in all_passes:
                within = np.flatnonzero(history["oracle_calls"] <= passes)
                scores = 100.0 * history["val_score"][within]
                cells.append(f"{scores[-1]:.1f}" if len(scores) else tables.NONE)
            yield [tasks.TITLES[name], f"{C:g}", title, *cells]


def main():
    """Print the table."""
    parser = tasks.parser(__doc__)
    parser.set_defaults(task=["ned"])
    options = parser.parse_args()
    first = QUICK_FIRST if options.quick else options.first
    passes = QUICK_PASSES if options.quick else PASSES
    warnings.simplefilter("ignore", ConvergenceWarning)
    tables.stream([[*HEADER, *(f"F1 after {n}" for n in passes)]])
    for name in options.task:
        tables.stream(rows_of(name, first, passes))


if __name__ == "__main__":
    main()
