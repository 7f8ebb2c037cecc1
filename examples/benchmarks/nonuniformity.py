"""Measure the non-uniformity of the gaps, what theory makes of it, and fresh gaps.

The non-uniformity of the gaps g_i of the sequences is their quadratic mean over their
mean [LePriol18, eq. 25]:

    chi^2 = n sum_i g_i^2 / (sum_i g_i)^2,

between 1, for equal gaps, and n, if only one is not 0. With gaps that are all up to
date, the rate of gap sampling is chi^2 times the rate of uniform sampling
(theorem 4). Visits record a gap only of the sequence visited; "every 10" also computes
all gaps anew after every tenth epoch, as [Osokin16] does, by one pass over the data.
The table has chi^2 of the true gaps and of those that visits recorded, the square of
`non_uniformity` in ``history_`` (medians over the epochs), the epochs to three gaps,
and the mean of the recorded gaps over the true gap at the end. With --first the
sequences are random ones.

    python examples/benchmarks/nonuniformity.py [--task ocr] [--first 2000] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

import numpy as np

import tables
import tasks
from skcrf_sdca.solvers.samplers import non_uniformity
from skcrf_sdca.solvers.sdca import SDCA

# Sampling, its share of the draws, and epochs from one pass for all gaps to the next.
RUNS = {
    "uniform": ("uniform", 0.8, None),
    "gap": ("gap", 0.8, None),
    "gap, every 10": ("gap", 0.8, 10),
    "gap, every 1": ("gap", 0.8, 1),
    "gap always": ("gap", 1.0, None),
    "gap always, every 10": ("gap", 1.0, 10),
}
LEVELS = (1e-2, 1e-4, 1e-6)
MAX_EPOCHS, QUICK_EPOCHS, QUICK_FIRST = 120, 3, 100
HEADER = [
    "task",
    "sampling",
    "chi^2",
    "recorded",
    *(f"to {level:.0e}" for level in LEVELS),
]
HEADER += ["recorded / true"]


def true_gaps(solver):
    """Return KL(mu_i || p(. | x_i; w)) of every chain of an SDCA run, and their mean.

    The kept edge marginals are of single precision: the mean is of a certificate.
    """
    problem, marginals = solver.problem, solver.marginals
    certificate = solver.certify()
    scores = problem.scores(solver.model, 0, problem.n_sequences)
    inner = np.einsum("tk,tk->t", marginals.node, scores.local)
    gaps = scores.log_partition() - solver.entropy
    gaps -= sums(inner, marginals.offsets)
    edges = marginals.edge.reshape(len(marginals.edge), -1)
    of_edges = edges @ np.ravel(scores.tied).astype(edges.dtype)
    gaps -= sums(of_edges.astype(np.float64), marginals.edge_offsets)
    return np.maximum(gaps, 0.0), certificate.gap


def sums(values, offsets):
    """Return the sums of values between offsets."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    return np.diff(total[offsets])


def run(problem, sampling, mix, every, n_epochs):
    """Return chi, true and recorded, and gaps by epoch, and the last recorded gap.

    The last is the mean of the recorded gaps over the true one.
    """
    rng = np.random.default_rng(0)
    solver = SDCA(problem, rng, sampling=sampling, sampling_mix=mix)
    chi, means, ratio = [], [], np.nan
    for epoch in range(1, n_epochs + 1):
        solver.epoch()
        gaps, mean = true_gaps(solver)
        ratio = problem.mean(solver.gaps) / mean
        chi.append((non_uniformity(gaps), solver.columns["non_uniformity"]))
        means.append(mean)
        if mean <= LEVELS[-1]:
            break
        if every and epoch % every == 0:
            for i, gap in enumerate(gaps):
                solver.kernel.sampler.set_value(i, gap)
            solver.gaps[:] = gaps
    return np.array(chi), np.array(means), ratio


def row_of(problem, title, name, n_epochs):
    """Return a row of the table."""
    chi, gaps, ratio = run(problem, *RUNS[name], n_epochs)
    # Below the second level gaps of single precision are rounding.
    seen = gaps > LEVELS[1]
    cells = [f"{np.median(values[seen] ** 2):.1f}" for values in chi.T]
    for level in LEVELS:
        reached = np.flatnonzero(gaps <= level)
        cells.append(f"{reached[0] + 1}" if len(reached) else f"> {n_epochs}")
    return [title, name, *cells, f"{ratio:.2f}"]


def main():
    """Print the table."""
    options = tasks.parser(__doc__).parse_args()
    first = QUICK_FIRST if options.quick else options.first
    n_epochs = QUICK_EPOCHS if options.quick else MAX_EPOCHS
    tables.stream([HEADER])
    for task in options.task:
        problem = tasks.problem(tasks.load_random(task, first))
        title = tasks.TITLES[task]
        tables.stream(row_of(problem, title, name, n_epochs) for name in RUNS)


if __name__ == "__main__":
    main()
