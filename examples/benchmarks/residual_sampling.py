"""Compare residual sampling with the other schemes of SDCA on tables.

[LePriol18, eq. 49] draws row i in proportion to its residual, the l1 distance of mu_i
from p(. | x_i; w), times sqrt(1 + R_i / (n alpha)). A row of a table is a chain of one
node, and only there is the residual cheap. The data are a mixture of Gaussians in the
plane and the documents of multinomial.py. The table has the epochs until the gap is at
most 1e-3 P and 1e-6 P, as medians over seeds. alpha is 1 / n.

    python examples/benchmarks/residual_sampling.py [--quick]
"""

import argparse
import warnings

import multinomial
import numpy as np
from sklearn.exceptions import ConvergenceWarning

import tables
from skcrf_sdca import SDCACRF, DualityGapMonitor

SCHEMES = ("uniform", "residual", "gap", "importance", "gap_importance", "max")
LEVELS = (1e-3, 1e-6)
MAX_EPOCHS, SEEDS = 400, 3
QUICK_EPOCHS, QUICK_SEEDS = 5, 1
HEADER = ["data", "sampling", *(f"epochs to {level:.0e} P" for level in LEVELS)]


def mixture(n, n_classes=8, seed=0):
    """Return points of the plane, each near the centre of its class, and classes."""
    rng = np.random.default_rng(seed)
    centres = 3.0 * rng.normal(size=(n_classes, 2))
    y = rng.integers(n_classes, size=n)
    return centres[y] + rng.normal(size=(n, 2)), y


def epochs_to(history, level):
    """Return the first epoch whose gap is at most level * P, or infinity."""
    reached = np.flatnonzero(history["gap"] <= level * history["primal"])
    return history["epoch"][reached[0]] if len(reached) else np.inf


def row_of(name, X, y, scheme, max_epochs, n_seeds):
    """Return a row of the table."""
    found = []
    for seed in range(n_seeds):
        crf = SDCACRF(1.0 / len(y), sampling=scheme, acceleration=None)
        crf.set_params(tol=LEVELS[-1], max_iter=max_epochs, random_state=seed)
        history = crf.set_callbacks(DualityGapMonitor()).fit(X, y).history_
        found.append([epochs_to(history, level) for level in LEVELS])
    medians = np.median(found, axis=0)
    cells = [f"{m:g}" if np.isfinite(m) else f"> {max_epochs}" for m in medians]
    return [name, scheme, *cells]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a trial on few rows")
    quick = parser.parse_args().quick
    size = multinomial.QUICK_SIZE if quick else (2_000, 20_000)
    data = {
        "mixture": mixture(200 if quick else 3_000),
        "documents": multinomial.documents(*size),
    }
    limits = (QUICK_EPOCHS, QUICK_SEEDS) if quick else (MAX_EPOCHS, SEEDS)
    tables.stream([HEADER])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name, (X, y) in data.items():
            tables.stream(row_of(name, X, y, scheme, *limits) for scheme in SCHEMES)


if __name__ == "__main__":
    main()
