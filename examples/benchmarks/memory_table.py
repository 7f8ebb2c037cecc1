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

"full" is stochastic average gradient without the structure of the CRF, which nobody
runs. The tables are printed, and written as tasks.csv and memory.csv.

    python examples/benchmarks/memory_table.py [--task ocr] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

import runs
import tables
import tasks

SIZES = ["task", "n", "N", "K", "d", "weights W", "P(0)", "P*"]
MEMORY = ["task", "W", "full"]
# The solver whose peak is shown beside each formula.
MEASURED = {
    "SDCA": "SDCA-GAP",
    "OEG": "OEG-GAP",
    "SAG": "SAG-NUS*",
    "L-BFGS": "L-BFGS",
}
MEMORY += [f"{method}{what}" for method in MEASURED for what in ("", " peak")]


def kept(problem, n_weights):
    """Return the bytes that each method stores."""
    n, n_labels = problem.n_sequences, problem.n_labels
    n_positions = len(problem.labels)
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
    n_weights = len(problem.new_model().w)
    counts = (
        problem.n_sequences,
        len(problem.labels),
        problem.n_labels,
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


def main():
    """Print and write both tables."""
    campaign = runs.start(__doc__, "results/memory.csv")
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
