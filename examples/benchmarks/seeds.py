"""Show how far seeds change a model at a tolerance, on CoNLL-2002 Dutch.

    python examples/benchmarks/seeds.py [--seeds 10] [--first 2000] [--tol 1e-3 1e-5]

SDCACRF and OEGCRF are fitted with each seed. Printed are the span F1 on testb, percent:
least, largest, standard deviation; and the labels that differ from the labels of a fit
to a gap of 1e-7 of the objective. The corpus is read from the folder SKCRF_SDCA_DATA or
downloaded; tasks.py makes the features.
"""

import argparse
from itertools import product

import numpy as np

from skcrf_sdca import OEGCRF, SDCACRF
from skcrf_sdca.metrics import span_f1_score
from tasks import load_split

OPTIMUM = {"tol": 1e-7, "max_iter": 1000, "random_state": 0}


def main():
    """Fit by all seeds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, help="training and test sentences (all)")
    parser.add_argument("--tol", type=float, nargs="+", default=[1e-3, 1e-5])
    options = parser.parse_args()
    task, test = load_split("ned", options.first)
    best = SDCACRF(**OPTIMUM).fit(task.X, task.y).predict(test.X)
    print(f"optimum: F1 {100 * span_f1_score(test.y, best):.2f}")
    best = np.concatenate(best)
    for estimator, tol in product((SDCACRF, OEGCRF), options.tol):
        f1, changed = [], []
        for seed in range(options.seeds):
            crf = estimator(tol=tol, max_iter=200, random_state=seed)
            predicted = crf.fit(task.X, task.y).predict(test.X)
            f1.append(100 * span_f1_score(test.y, predicted))
            changed.append(int(np.sum(np.concatenate(predicted) != best)))
        print(
            f"{estimator.__name__} tol={tol:g}: F1 {min(f1):.2f} to {max(f1):.2f}, "
            f"deviation {np.std(f1):.2f}, {min(changed)} to {max(changed)} of "
            f"{len(best)} labels differ",
            flush=True,
        )


if __name__ == "__main__":
    main()
