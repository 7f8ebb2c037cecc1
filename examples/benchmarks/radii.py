"""Compare importance sampling of SDCA by two radii of sequences.

SDCA draws sequences by L_i = alpha + R_i / n, alone or times the gap. R_i is the
largest squared distance of the features of the known labelling from those of another
one. [LePriol18, appendix C] has

    R_i = ||F(x_i, y_i)||^2 + max_y ||F(x_i, y)||^2

for features that are not negative, where the second labelling repeats a label that y_i
lacks. `Structure.squared_radii` does not see the labels: it has two such labellings,
and so twice the second term. The table has the mean and the non-uniformity of R_i, and
the epochs to a gap of 1e-4 P, with the chance of a uniform draw of 0.2.

    python examples/benchmarks/radii.py [--task ocr] [--first 1000] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

import numpy as np
from scipy.sparse import csr_array
from starts import QUICK_FIRST

import tables
import tasks
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.samplers import non_uniformity
from skcrf_sdca.solvers.sdca import SDCA

FIRST, MAX_EPOCHS, LEVEL = 1000, 400, 1e-4
QUICK_EPOCHS = 5
HEADER = ["task", "radius", "draws", "mean R_i", "non-uniformity", "epochs"]


def counts(keys, columns, values, n):
    """Return the sums of squares of what is summed by key and column; n sequences.

    A key is a sequence, or a sequence and a label of it.
    """
    n_columns = columns.max(initial=0) + 1
    places, place = np.unique(keys * n_columns + columns, return_inverse=True)
    sums = np.bincount(place, values, len(places))
    return np.bincount(places // n_columns % n, sums**2, n)


def squared_norms(problem):
    """Return ||F(x_i, y_i)||^2 of each sequence, (n,)."""
    n, K = problem.n_sequences, problem.structure.n_labels
    y, rows = problem.targets.labels.astype(np.int64), csr_array(problem.data.X)
    owner = np.repeat(np.arange(n), problem.data.lengths)
    # A key has the sequence as its remainder by n.
    keys = y * n + owner
    sizes = np.diff(rows.indptr)
    found = counts(np.repeat(keys, sizes), rows.indices, rows.data, n)
    found += counts(keys, np.zeros_like(keys), np.ones(len(keys)), n)
    inside = owner[1:] == owner[:-1]
    pairs = (y[:-1] * K + y[1:])[inside]
    found += counts(owner[1:][inside], pairs, np.ones(len(pairs)), n)
    # The start and the end.
    return found + 2.0


def radii(problem):
    """Return R_i by name."""
    own = problem.structure.squared_radii()
    return {"any two labellings": own, "appendix C": squared_norms(problem) + own / 2}


def epochs_of(problem, sampling, max_epochs):
    """Return the epochs to the level as text."""
    solver = SDCA(problem, np.random.default_rng(0), sampling=sampling)
    monitor = FitMonitor(solver, max_iter=max_epochs, tol=LEVEL)
    last = monitor.run().rows[-1]
    reached = last["gap"] <= LEVEL * last["primal"]
    return f"{last['epoch']}" if reached else f"> {max_epochs}"


def rows(options):
    """Yield the rows of the table."""
    yield HEADER
    first, most = options.first or FIRST, MAX_EPOCHS
    if options.quick:
        first, most = QUICK_FIRST, QUICK_EPOCHS
    for name in options.task:
        problem = tasks.problem(tasks.load_random(name, first))
        title = tasks.TITLES[name]
        for draws in ("uniform", "gap"):
            epochs = epochs_of(problem, draws, most)
            yield [title, tables.NONE, draws, tables.NONE, tables.NONE, epochs]
        for radius, values in radii(problem).items():
            problem.structure.squared_radii = lambda values=values: values
            figures = f"{values.mean():.0f}", f"{non_uniformity(values):.2f}"
            for draws in ("importance", "gap_importance"):
                epochs = epochs_of(problem, draws, most)
                yield [title, radius, draws, *figures, epochs]


def main():
    """Print the table."""
    tables.stream(rows(tasks.parser(__doc__).parse_args()))


if __name__ == "__main__":
    main()
