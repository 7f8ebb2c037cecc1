"""Compare both searches of CRFCV with GridSearchCV over the same penalties, on names.

    python examples/benchmarks/penalty_search.py [--first 3000]

It prints processor seconds, the alpha and l1_ratio that each finds, the mean F1 of
spans on three folds, and the F1 on 2,500 test sentences of CoNLL-2002 Dutch; last
alpha="auto". The grid takes one and a half minutes of one core.
"""

import argparse
import time
import warnings

from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from skcrf_sdca import CRFCV, SDCACRF
from skcrf_sdca.estimators.alpha_path import L1_RATIOS, STRENGTHS
from skcrf_sdca.metrics import get_scorer, span_f1_score
from tasks import load_split

FOLDS = 3


def main():
    """Print a line for each search."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=3000)
    warnings.simplefilter("ignore", ConvergenceWarning)
    train, test = load_split("ned", parser.parse_args().first)
    n_part, crf = len(train.y) * (FOLDS - 1) / FOLDS, SDCACRF(random_state=0)
    grid = {"alpha": [s / n_part for s in STRENGTHS], "l1_ratio": L1_RATIOS}
    searches = {
        "CRFCV": CRFCV(crf, cv=FOLDS),
        "CRFCV, halving": CRFCV(crf, cv=FOLDS, search="halving"),
        "GridSearchCV": GridSearchCV(
            crf, grid, cv=FOLDS, scoring=get_scorer("span_f1")
        ),
        'alpha="auto"': crf,
    }
    for name, search in searches.items():
        begin = time.process_time()
        search.fit(train.X, train.y)
        seconds = time.process_time() - begin
        f1 = span_f1_score(test.y[:2500], search.predict(test.X[:2500]))
        found = getattr(search, "best_params_", ""), getattr(search, "best_score_", "")
        print(f"{name:>16}{seconds:7.1f} s  test {100 * f1:.2f}", *found, flush=True)


if __name__ == "__main__":
    main()
