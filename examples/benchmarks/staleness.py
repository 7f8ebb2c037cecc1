"""Measure what draws by gap gain, with gaps that are stale and with true ones.

Theorem 4 of [LePriol18] is for gaps that are all up to date: then the dual rises in a
visit by chi^2 times as much as with uniform draws, or by 1 + mix (chi^2 - 1) times if a
share 1 - mix of the draws is uniform. Visits record the gap of one sequence, so that
the others are stale. After each epoch of a run, n / 10 visits are made from the same
point in three ways: with uniform draws, with draws by the gaps as they were recorded,
and with draws by the true gaps. The table has medians over the epochs down to a gap of
1e-3 P: the gain of theorem 4 by the true gaps, what draws by true and by recorded gaps
gain over uniform ones, and the ratio of both, the constant of staleness. The last
column is chi^2 of the recorded gaps over chi^2 of the true ones.

    python examples/benchmarks/staleness.py [--task ocr] [--first 1000] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

import nonuniformity
import numpy as np

import tables
import tasks
from skcrf_sdca.solvers.samplers import non_uniformity
from skcrf_sdca.solvers.sdca import SDCA

MIX, PART, LEVEL, TRIES = 0.8, 10, 1e-3, 3
FIRST, SEEDS = 1000, 2
QUICK_FIRST, QUICK_EPOCHS, MAX_EPOCHS = 60, 3, 200
HEADER = ["task", "seed", "epochs", "theorem 4", "true gaps", "recorded"]
HEADER += ["staleness", "chi^2 ratio"]


def new_solver(problem, rng, sampling="gap", state=None):
    """Return SDCA without rounding of the dual variables."""
    options = {"sampling": sampling, "sampling_mix": MIX, "dual_dtype": "float64"}
    return SDCA(problem, rng, state=state, **options)


def rise(solver, dual, sampling, gaps, seed):
    """Return by how much D rises in visits from the solver's point, a mean of tries."""
    n = solver.problem.n_sequences
    risen = []
    for k in range(TRIES):
        rng = np.random.default_rng((seed, k))
        state = {key: np.copy(value) for key, value in solver.state().items()}
        other = new_solver(solver.problem, rng, sampling, state)
        other.steps[:] = solver.steps
        for i, gap in enumerate(gaps):
            other.kernel.sampler.set_value(i, gap)
        other.kernel.epoch(rng.random((max(n // PART, 1), 2)))
        risen.append(other.certify().dual - dual)
    return np.mean(risen)


def gains(problem, seed, max_epochs):
    """Return the columns of the table for each epoch."""
    solver = new_solver(problem, np.random.default_rng(seed))
    found = []
    for epoch in range(max_epochs):
        solver.epoch()
        certificate = solver.certify()
        if certificate.gap <= LEVEL * certificate.primal:
            break
        true, _ = nonuniformity.true_gaps(solver)
        of_point = solver, certificate.dual
        uniform = rise(*of_point, "uniform", true, epoch)
        by_true = rise(*of_point, "gap", true, epoch) / uniform
        by_recorded = rise(*of_point, "gap", solver.gaps, epoch) / uniform
        chi, recorded = non_uniformity(true) ** 2, non_uniformity(solver.gaps) ** 2
        theorem = 1.0 + MIX * (chi - 1.0)
        of_epoch = theorem, by_true, by_recorded, by_recorded / by_true, recorded / chi
        found.append(of_epoch)
    return np.array(found)


def rows(options):
    """Yield the rows of the table."""
    yield HEADER
    first = QUICK_FIRST if options.quick else options.first or FIRST
    for name in options.task:
        problem = tasks.problem(tasks.load_random(name, first))
        for seed in range(1 if options.quick else SEEDS):
            found = gains(problem, seed, QUICK_EPOCHS if options.quick else MAX_EPOCHS)
            cells = (f"{value:.2f}" for value in np.median(found, axis=0))
            yield [tasks.TITLES[name], f"{seed}", f"{len(found)}", *cells]


def main():
    """Print the table."""
    tables.stream(rows(tasks.parser(__doc__).parse_args()))


if __name__ == "__main__":
    main()
