"""Score models after one, two and three passes over the data, and at the certificate.

Of data larger than memory people make one or two passes. The table has the F1 of spans,
or the accuracy of letters and tags, on the test set: of draws by gap among all
sequences, and inside the window that moves over a file. It is written as
first_passes.csv.

    python examples/benchmarks/first_passes.py [--task ned] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

import warnings

import runs
import tables
import tasks
from skcrf_sdca import OEGCRF, SDCACRF
from skcrf_sdca.metrics import flat_accuracy_score, span_f1_score

PASSES = (1, 2, 3)
QUICK = 300


def score(crf, task, held_out):
    """Return the score of a fit on the test set, in percent, and its passes."""
    crf.fit(task.X, task.y)
    measure = span_f1_score if held_out.spans else flat_accuracy_score
    return 100.0 * measure(held_out.y, crf.predict(held_out.X)), crf.n_iter_


def row_of(task, held_out, solver, sampling):
    """Return the cells of a row."""
    row = [tasks.TITLES[task.name], solver.__name__, sampling]
    for passes in PASSES:
        # Smaller than the gap can be: the fit makes so many passes.
        crf = solver(sampling=sampling, max_iter=passes, tol=1e-12, random_state=0)
        row.append(f"{score(crf, task, held_out)[0]:.1f}")
    found, passes = score(solver(sampling=sampling, random_state=0), task, held_out)
    return [*row, f"{found:.1f}", str(passes)]


def main():
    """Fit, and print and write the table."""
    campaign = runs.start(
        __doc__, "results/first_passes.csv", names=("ned", "conll2000", "wsj", "ocr")
    )
    titles = "one pass", "two passes", "three passes", "certificate", "its passes"
    rows = [["Task", "Solver", "Draws", *titles]]
    warnings.simplefilter("ignore")
    for name in campaign.names:
        split = tasks.load_split(name, QUICK if campaign.quick else None)
        for solver in (SDCACRF, OEGCRF):
            for sampling in ("gap", "window"):
                rows.append(row_of(*split, solver, sampling))
                print(*rows[-1], flush=True)
    tables.show(rows)
    tables.write(rows, campaign.output)


if __name__ == "__main__":
    main()
