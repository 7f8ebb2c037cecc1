"""Measure models with fewer weights: size of the file, span F1, speed of prediction.

    python examples/benchmarks/small_models.py [--task ned] [--rounds 9] [--quick]

The full model has the L2 penalty c2 = 0.5, which is alpha = 1/n. The others are the
full model after `prune`, models with an l1 penalty, and models without rare features.
Each is stored with a dense and with a sparse ``coef_`` (`sparsify`). For both forms,
the table has the MB of the file by `save_model`, and the speed of `predict` from
feature strings: the median seconds of the full model divided by the seconds of this
one. For the smaller form, it has the MB of the file by joblib, without and with
compression. The tables are printed and written as CSV files, and the sizes are drawn
with F1.

The corpora are read from the folder SKCRF_SDCA_DATA or downloaded; tasks.py
makes the features. The script needs matplotlib.
"""

from copy import deepcopy
from functools import partial
from io import BytesIO
from time import perf_counter

import joblib
import numpy as np

import figures
import runs
import tables
from skcrf_sdca import save_model
from skcrf_sdca.compat import CRF
from skcrf_sdca.metrics import span_f1_score
from tasks import TEXTS, TITLES, WITH_SPANS

FULL = {"c2": 0.5}
THRESHOLDS = 0.01, 0.03, 0.1, 0.2, 0.3
L1 = 0.1, 0.5, 1.0
MIN_FREQ = 2, 3, 5
JOBLIB = joblib.dump, partial(joblib.dump, compress=3)
HEADER = ["model", "weights", "F1", "dense MB", "sparse MB", "joblib MB"]
HEADER += ["compressed MB", "dense speed", "sparse speed"]
COLOURS = {
    "full": "#000000",
    "prune": "#0072B2",
    "l1": "#D55E00",
    "min_freq": "#009E73",
}


def fitted(X, y, **parameters):
    """Return an SDCACRF with the parameters of CRFsuite, and its vectorizer."""
    return CRF(**parameters).fit(X, y).estimator_


def models(X, y):
    """Yield kind, name and estimator of every model."""
    full = fitted(X, y, **FULL)
    yield "full", "full", full
    for threshold in THRESHOLDS:
        yield "prune", f"prune({threshold:g})", deepcopy(full).prune(threshold)
    for c1 in L1:
        yield "l1", f"c1 = {c1:g}", fitted(X, y, c1=c1, c2=0.1).prune()
    for n in MIN_FREQ:
        yield "min_freq", f"min_freq = {n}", fitted(X, y, **FULL, min_freq=n)


def forms(crf):
    """Return the estimator with dense and with sparse weights."""
    return [deepcopy(crf).densify(), deepcopy(crf).sparsify()]


def megabytes(write, crf):
    """Return the size of the file that a function writes."""
    write(crf, file := BytesIO())
    return len(file.getvalue()) / 1e6


def median_seconds(crfs, X, rounds):
    """Return the median seconds of `predict` of each estimator, measured in turns."""
    seconds = np.empty((rounds, len(crfs)))
    for row in seconds:
        for column, crf in enumerate(crfs):
            start = perf_counter()
            crf.predict(X)
            row[column] = perf_counter() - start
    return np.median(seconds, axis=0)


def measured(name, first, rounds):
    """Return the table of a task, and (MB, F1) of the smaller form by kind of model."""
    read, test, features = TEXTS[name]
    X, y = read(subset="train")
    X_test, y_test = read(subset=test)
    X, X_test = features.transform(X[:first]), features.transform(X_test[:first])
    y, y_test = y[:first], y_test[:first]
    rows, points, crfs = [], {}, []
    for kind, title, crf in models(X, y):
        both = forms(crf)
        crfs += both
        sizes = [megabytes(save_model, form) for form in both]
        smaller = both[np.argmin(sizes)]
        f1 = span_f1_score(y_test, crf.predict(X_test))
        points.setdefault(kind, []).append((min(sizes), f1))
        print(title, f"{f1:.4f}", flush=True)
        sizes += [megabytes(write, smaller) for write in JOBLIB]
        weights = np.count_nonzero(both[0].coef_)
        rows.append([title, f"{weights:,}", f"{f1:.4f}"])
        rows[-1] += [f"{size:.2f}" for size in sizes]
    seconds = median_seconds(crfs, X_test, rounds)
    speeds = (seconds[0] / seconds).reshape(len(rows), -1)
    for row, pair in zip(rows, speeds, strict=True):
        row += [f"{speed:.1f}" for speed in pair]
    return [HEADER, *rows], points


def draw(axis, points):
    """Draw the F1 of each model by the size of its smaller file."""
    for kind, both in points.items():
        style = {"color": COLOURS[kind], "marker": "o", "markersize": 5}
        axis.plot(*np.transpose(both), label=kind, **style)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set_xlabel("MB of the file by save_model")


def main():
    """Measure the tasks; print and write a table of each, and draw all."""
    parser = runs.parser(__doc__, "images/small_models.png", names=WITH_SPANS)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    campaign = runs.Campaign(arguments)
    figure, axes = figures.panels(1, len(campaign.names))
    for axis, name in zip(axes[0], campaign.names, strict=True):
        table, points = measured(name, campaign.first, arguments.rounds)
        tables.show(table)
        output = campaign.output
        tables.write(table, output.with_name(f"{output.stem}_{name}.csv"))
        draw(axis, points)
        axis.set_title(TITLES[name])
    axes[0, 0].set_ylabel("F1 of spans")
    figures.save(figure, campaign.output)


if __name__ == "__main__":
    main()
