"""Compare OEG with gap sampling, which the papers did not try, with other solvers.

The table has the epochs and seconds of OEG with gap sampling, of uniform OEG and of
SDCA-GAP until the duality gap is at most 1e-3, 1e-6 and 1e-9. A level that was not
reached has no number, so that a solver that stalls is visible. Seconds are of one core,
without certificates. The table is printed, and written as a CSV file.

    python examples/benchmarks/oeg_sampling.py [--task ocr] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

import runs
import tables
import tasks

LABELS = "OEG", "OEG-GAP", "SDCA-GAP"
LEVELS = (1e-3, 1e-6, 1e-9)
MAX_EPOCHS = 400
HEADER = ["task", "solver"]
HEADER += [f"{what} to {level:.0e}" for what in ("epochs", "s") for level in LEVELS]


def cells(run):
    """Return the epochs and the seconds of the levels, as text."""
    epochs = [run.first(run.history["gap"], level) for level in LEVELS]
    columns = {"epoch": "{:.0f}", "seconds": "{:.1f}"}
    return [
        tables.NONE if epoch is None else form.format(run.history[column][epoch])
        for column, form in columns.items()
        for epoch in epochs
    ]


def main():
    """Print and write a row for each task and solver."""
    campaign = runs.start(__doc__, "results/oeg_sampling.csv")
    n_epochs = None if campaign.quick else MAX_EPOCHS
    rows = [HEADER]
    for name in campaign.names:
        task = campaign.load(name)
        for label in LABELS:
            solver = runs.SOLVERS[label]
            run = campaign.fit(task, solver, epochs=n_epochs, target=LEVELS[-1])
            rows.append([tasks.TITLES[name], label, *cells(run)])
    tables.show(rows)
    tables.write(rows, campaign.output)


if __name__ == "__main__":
    main()
