"""Measure the seconds of the fastest solvers, and of L-BFGS, to one duality gap.

Seconds are of the processor, without certificates. Each run is in a process of its own,
and stops at the gap. The table is printed, and written as a CSV file.

    python examples/benchmarks/seconds_to_gap.py [--task ocr] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

import runs
import tables
import tasks

LEVEL = 1e-4
SOLVERS = ("SDCA-GAP", "OEG-GAP", "SAG-NUS*", "L-BFGS")
HEADER = ["Task", *SOLVERS, "SDCA-GAP: speed-up over L-BFGS"]


def row_of(campaign, name):
    """Return the row of a task."""
    task, seconds = campaign.load(name), []
    for label in SOLVERS:
        run = campaign.fit(task, runs.SOLVERS[label], target=LEVEL)
        epoch = run.first(run.history["gap"], LEVEL)
        seconds.append(None if epoch is None else run.history["seconds"][epoch])
    cells = [tables.NONE if value is None else f"{value:.3g}" for value in seconds]
    first, last = seconds[0], seconds[-1]
    reached = first is not None and last is not None
    ratio = f"{last / first:.2g}" if reached else tables.NONE
    return [tasks.TITLES[name], *cells, ratio]


def main():
    """Print and write the table."""
    names = tasks.NAMES
    campaign = runs.start(__doc__, "results/seconds_to_gap.csv", names=names)
    rows = [HEADER, *(row_of(campaign, name) for name in campaign.names)]
    tables.show(rows)
    tables.write(rows, campaign.output)


if __name__ == "__main__":
    main()
