"""Compare ways to choose the sentences that are annotated next, by span F1.

    python examples/benchmarks/active_learning.py [--seeds 3] [--tokens 7000]

Of the first 4,000 Dutch sentences of CoNLL-2002, 100 are annotated at random. Each
round fits a model and annotates 50 more, until the tokens are as many as asked. The
table has the span F1 on 1,000 test sentences at some numbers of annotated tokens, by
linear interpolation between rounds, and the seconds of the choices of a run. Tokens
are counted, since long sentences take longer to annotate. A seed takes 40 seconds of
one core.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import SDCACRF
from skcrf_sdca.metrics import span_f1_score
from skcrf_sdca.selection import select_uncertain
from skcrf_sdca.structures.uncertainty import MEASURES
from tasks import load_split

FIRST, BATCH = 100, 50


def run(measure, seed, n_tokens, pool, test):
    """Return the annotated tokens and the F1 of each round, and the time to choose."""
    rng = np.random.default_rng(seed)
    lengths = np.array([len(labels) for labels in pool.y])
    left = rng.permutation(len(lengths))
    own, left, seconds, rows = left[:FIRST], left[FIRST:], 0.0, []
    while True:
        crf = SDCACRF(tol=0.01, random_state=0)
        crf.fit(pool.X[np.sort(own)], [pool.y[i] for i in np.sort(own)])
        f1 = span_f1_score(test[1], crf.predict(test[0]), zero_division=0.0)
        rows.append((lengths[own].sum(), f1))
        if rows[-1][0] >= n_tokens:
            return np.transpose(rows), seconds
        begin, batch = time.process_time(), np.arange(BATCH)
        if measure != "random":
            batch = select_uncertain(crf, pool.X[left], BATCH, measure=measure)
        seconds += time.process_time() - begin
        own, left = np.append(own, left[batch]), np.delete(left, batch)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=7000)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    pool, test = load_split("ned", 4000)
    test = test.X[:1000], test.y[:1000]
    at = np.linspace(0, options.tokens, 8)[2:].round(-2)
    head = "".join(f"{tokens:8.0f}" for tokens in at)
    print(f"{'tokens':>17}{head}{'choice':>9}")
    for measure in ("random", *MEASURES):
        found = [
            run(measure, seed, options.tokens, pool, test)
            for seed in range(options.seeds)
        ]
        f1 = np.mean([np.interp(at, *rows) for rows, _ in found], axis=0)
        cells = "".join(f"{100 * value:8.1f}" for value in f1)
        seconds = np.mean([spent for _, spent in found])
        print(f"{measure:>17}{cells}{seconds:7.1f} s", flush=True)


if __name__ == "__main__":
    main()
