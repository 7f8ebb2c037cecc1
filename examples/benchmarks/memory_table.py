"""Measure the sizes of the tasks, and the memory of each method.

The first table has the sizes of each task: n sequences, N positions, K labels, d
features, the number of weights W, the objective of zero weights and the optimum. The
second table has the memory of each method, by formula and as the peak of a whole fit
beyond the data. The formulas, in bytes and without the weights themselves, are:

    SDCA      marginals of the nodes and edges       8 (N K + (N - n) K^2)
    OEG       marginals, summed over edges, and
              parameters in single precision        12 (N K + n K^2)
    SAG       marginals, summed over edges           8 (N K + n K^2)
    L-BFGS    20 vectors of weights                  8 * 20 W
    full      a gradient of each sequence            8 n W

"full" is stochastic average gradient without the structure of the CRF, which no program
runs. The third table has the ways to keep less of [Schmidt15, sec. 6], over "full": the
numbers of a gradient that are not 0 (sparse), the marginals of nodes and edges, and
those of nodes with sums over edges (mixed), as here. With gradients of batches of
sequences, the nodes and the sums of a batch would take 8 (N K + n / batch K^2) bytes.
The tables are printed, and written as tasks.csv, memory.csv and sag_memory.csv. The
last needs no fit; with --formulas it is the only one.

    python examples/benchmarks/memory_table.py [--task ocr] [--formulas] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

import numpy as np

import runs
import tables
import tasks

SIZES = ["task", "n", "N", "K", "d", "weights W", "P(0)", "P*"]
MEMORY = ["task", "W", "full"]
# The solver whose peak is shown beside each formula.
MEASURED = {"SDCA": "SDCA-GAP", "OEG": "OEG-GAP", "SAG": "SAG-NUS*", "L-BFGS": "L-BFGS"}
MEMORY += [f"{method}{what}" for method in MEASURED for what in ("", " peak")]
BATCH = 10
SAG_MEMORY = ["task", "sparse", "marginals", "mixed", "mixed in MiB", "batches in MiB"]


def kept(problem, n_weights):
    """Return the bytes that each method stores."""
    n, n_labels = problem.n_sequences, problem.structure.n_labels
    n_positions = len(problem.targets.labels)
    nodes, matrix = n_positions * n_labels, n_labels**2
    return {
        "SDCA": 8 * nodes + 4 * (n_positions - n) * matrix,
        "OEG": 12 * (nodes + n * matrix),
        "SAG": 8 * (nodes + n * matrix),
        "L-BFGS": 8 * 20 * n_weights,
        "full": 8 * n * n_weights,
    }


def rows_of(campaign, name):
    """Return the row of the sizes and the row of the memory of one task."""
    task = campaign.load(name)
    problem = tasks.problem(task)
    n_weights = len(problem.new_parameters().w)
    counts = (
        problem.n_sequences,
        len(problem.targets.labels),
        problem.structure.n_labels,
        task.X.n_features,
        n_weights,
    )
    sizes = [f"{count:,}" for count in counts]
    sizes += [f"{problem.initial_primal:.4f}", f"{campaign.optimum(task):.8f}"]
    formulas = kept(problem, n_weights)
    memory = [tables.size(8 * n_weights), tables.size(formulas["full"])]
    for method, label in MEASURED.items():
        peak = campaign.fit(task, runs.SOLVERS[label]).memory
        memory += [tables.size(formulas[method]), tables.size(peak)]
    return [tasks.TITLES[name], *sizes], [tasks.TITLES[name], *memory]


def sag_row(campaign, name):
    """Return the row of one task of the ways to keep the gradients of SAG."""
    task = campaign.load(name)
    problem = tasks.problem(task)
    n, n_labels = problem.n_sequences, problem.structure.n_labels
    n_positions, matrix = len(problem.targets.labels), n_labels**2
    distinct = problem.structure.distinct_features()
    n_distinct = distinct.n_sequences_with(np.arange(n)).sum()
    full = n * len(problem.new_parameters().w)
    nodes = n_positions * n_labels
    mixed = nodes + n * matrix
    sizes = (
        n_distinct * n_labels + n * (3 * n_labels + matrix),
        nodes + (n_positions - n) * matrix,
        mixed,
    )
    in_bytes = (8 * mixed, 8 * (nodes + n * matrix / BATCH))
    cells = [f"{size / full:.1e}" for size in sizes] + list(map(tables.size, in_bytes))
    return [tasks.TITLES[name], *cells]


def write_sag(campaign):
    """Print and write the table of SAG."""
    rows = [SAG_MEMORY, *(sag_row(campaign, name) for name in campaign.names)]
    tables.show(rows)
    tables.write(rows, campaign.output.with_stem("sag_memory"))


def main():
    """Print and write the tables."""
    parser = runs.parser(__doc__, "results/memory.csv")
    parser.add_argument("--formulas", action="store_true", help="make no fit")
    arguments = parser.parse_args()
    campaign = runs.Campaign(arguments)
    write_sag(campaign)
    if arguments.formulas:
        return
    rows = [rows_of(campaign, name) for name in campaign.names]
    sizes, memory = zip(*rows, strict=True)
    print("\nsizes")
    tables.show([SIZES, *sizes])
    print("\nmemory in MiB")
    tables.show([MEMORY, *memory])
    tables.write([SIZES, *sizes], campaign.output.with_stem("tasks"))
    tables.write([MEMORY, *memory], campaign.output)


if __name__ == "__main__":
    main()
