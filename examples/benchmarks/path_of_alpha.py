"""Oracle calls and seconds of a path of alpha, by warm starts and by cold fits.

For each task and estimator five values of alpha, from 10 / n to 1 / n, with the default
tolerance: calls of the oracle (divided by n) and seconds of the epochs, summed over the
fits of `alpha_path` and over as many cold fits. L-BFGS is measured on the letters only:
on the others it takes many times as long as the rest.

    python examples/benchmarks/path_of_alpha.py [--task ocr] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import runs
import tables
from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF, alpha_path

ESTIMATORS = [
    SDCACRF(random_state=0, max_iter=300),
    OEGCRF(random_state=0, max_iter=300),
    SAGNUSCRF(random_state=0, max_iter=300),
    LBFGSCRF(),
]
FACTORS = np.geomspace(10.0, 1.0, 5)
HEADER = ["task", "estimator", "path calls", "cold calls", "path s", "cold s", "ratio"]


def totals(fits):
    """Return the oracle calls and the seconds of some fits together."""
    columns = "oracle_calls", "seconds"
    return [sum(crf.history_[column][-1] for crf in fits) for column in columns]


def main():
    """Print a row for each task and estimator."""
    campaign = runs.start(__doc__, names=("ocr", "conll2000", "ned"))
    # A fit above its tolerance would show in the calls of both.
    warnings.simplefilter("error", ConvergenceWarning)
    rows = [HEADER]
    for name in campaign.names:
        task = campaign.load(name)
        alphas = FACTORS * task.alpha
        for estimator in ESTIMATORS:
            if isinstance(estimator, LBFGSCRF) and name != "ocr":
                continue
            path = alpha_path(estimator, task.X, task.y, alphas)
            cold = [
                clone(estimator).set_params(alpha=alpha).fit(task.X, task.y)
                for alpha in alphas
            ]
            (calls, seconds), (cold_calls, cold_seconds) = totals(path), totals(cold)
            numbers = (calls, cold_calls, seconds, cold_seconds)
            cells = [f"{number:.1f}" for number in numbers]
            ratio = f"{calls / cold_calls:.2f}"
            rows.append([name, type(estimator).__name__, *cells, ratio])
            print(*rows[-1], flush=True)
    print()
    tables.show(rows)


if __name__ == "__main__":
    main()
