"""Measure the epochs, calls, updates and seconds of every solver to several gaps.

A row has the cost of a solver until its certificate reached the gap. The certificates
of SAG and L-BFGS are looser bounds than the certificates of the others. Therefore the
row also has the calls and seconds until P - P* itself was as small. Calls and updates
are divided by the number of sequences. Seconds are of one core, without certificates.
Memory is the peak of the whole fit beyond the data. A level that was not reached has no
number. The tables are printed, and written as one CSV file for each task. Small tables
have one column of these files at one level, for all tasks; --summaries makes them from
files that are there, without a fit.

    python examples/benchmarks/convergence_table.py [--task ocr] [--quick] [--summaries]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

import csv

import runs
import tables
import tasks

LEVELS = (1e-2, 1e-3, 1e-4, 1e-6)
# The quantity that must reach the level, the history column to report, its format.
COLUMNS = {
    "epochs": ("gap", "epoch", "{:.0f}"),
    "calls / n": ("gap", "oracle_calls", "{:.1f}"),
    "updates / n": ("gap", "updates", "{:.1f}"),
    "seconds": ("gap", "seconds", "{:.2f}"),
    "calls / n to P - P*": ("distance", "oracle_calls", "{:.1f}"),
    "seconds to P - P*": ("distance", "seconds", "{:.2f}"),
}
HEADER = ["solver", "gap", *COLUMNS, "peak MiB"]
# Small tables: the column, and the level.
SUMMARIES = {"updates": ("updates / n", 1e-4), "calls": ("calls / n to P - P*", 1e-4)}
# Columns for which the best solver is printed.
COMPARED = "epochs", "calls / n", "seconds"


def costs(run, optimum, level):
    """Return the number of each column at the level, None if it was not reached."""
    values = {"gap": run.history["gap"], "distance": run.history["primal"] - optimum}
    numbers = {}
    for column, (criterion, quantity, _) in COLUMNS.items():
        epoch = run.first(values[criterion], level)
        numbers[column] = None if epoch is None else run.history[quantity][epoch]
    return numbers


def texts(numbers):
    """Return the numbers of a row as text."""
    formats = [form for _, _, form in COLUMNS.values()]
    return [
        tables.NONE if value is None else form.format(value)
        for value, form in zip(numbers.values(), formats, strict=True)
    ]


def fewest(costs_of):
    """Return a line with the best solver for each compared column."""
    parts = []
    for column in COMPARED:
        known = {k: c[column] for k, c in costs_of.items() if c[column] is not None}
        if known:
            parts.append(f"fewest {column}: {min(known, key=known.get)}")
    return ", ".join(parts) or "not reached"


def summarise(campaign):
    """Write the small tables of the tasks whose files are there."""
    output, found = campaign.output, {}
    for name in tasks.NAMES:
        file = output.with_stem(f"{output.stem}_{name}")
        if file.is_file():
            with file.open(newline="", encoding="utf-8") as lines:
                found[name] = list(csv.DictReader(lines))
    for title, (column, level) in SUMMARIES.items():
        rows = [["Solver", *(tasks.TITLES[name] for name in found)]]
        for label in runs.SOLVERS:
            cells = []
            for table in found.values():
                (cell,) = (
                    row[column]
                    for row in table
                    if row["solver"] == label and float(row["gap"]) == level
                )
                cells.append(f"{float(cell):.0f}" if cell else tables.NONE)
            # L-BFGS makes one update in a pass.
            if set(cells) != {"0"}:
                rows.append([label, *cells])
        tables.write(rows, output.with_stem(f"{output.stem}_{title}"))


def main():
    """Print and write a table for each task, and small tables."""
    output = "results/convergence.csv"
    parser = runs.parser(__doc__, output)
    parser.add_argument("--summaries", action="store_true", help="make no fit")
    arguments = parser.parse_args()
    campaign = runs.Campaign(arguments)
    if not arguments.summaries:
        write_tables(campaign)
    summarise(campaign)


def write_tables(campaign):
    """Print and write a table for each task."""
    for name in campaign.names:
        task = campaign.load(name)
        optimum = campaign.optimum(task)
        fits = {k: campaign.fit(task, solver) for k, solver in runs.SOLVERS.items()}
        rows, best = [HEADER], []
        for level in LEVELS:
            costs_of = {k: costs(run, optimum, level) for k, run in fits.items()}
            for label, numbers in costs_of.items():
                peak = tables.size(fits[label].memory)
                rows.append([label, f"{level:.0e}", *texts(numbers), peak])
            best.append(f"gap {level:.0e}: {fewest(costs_of)}")
        print(f"\n{tasks.TITLES[name]}")
        tables.show(rows)
        print("\n".join(best))
        output = campaign.output
        tables.write(rows, output.with_stem(f"{output.stem}_{name}"))


if __name__ == "__main__":
    main()
