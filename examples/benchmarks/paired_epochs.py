"""Compare the seconds of epochs, of predictions and of the import in two checkouts.

    python paired_epochs.py OLD NEW [--tasks ocr conll2000 ned] [--repeats 5]

OLD and NEW are checkouts whose kernels are built in place. Their processes alternate.
Each makes some epochs of every estimator in one thread, on a packed task from the
folder of corpora in SKCRF_SDCA_DATA. Seconds come from the history, which does not
count certificates. Printed are medians over all epochs but the first, and the ratio
NEW / OLD of the medians.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from statistics import median

CHILD = """
import json, os, sys, time, warnings
started = time.perf_counter()
import skcrf_sdca
seconds = {"import": [time.perf_counter() - started]}
import numpy as np
from scipy.sparse import csr_array
warnings.simplefilter("ignore")
with np.load(os.path.join(os.environ["SKCRF_SDCA_DATA"], "packed", sys.argv[1])) as f:
    shape = len(f["indptr"]) - 1, int(f["n_features"])
    X = csr_array((np.ones(len(f["indices"])), f["indices"], f["indptr"]), shape=shape)
    X = skcrf_sdca.PackedSequences(X, f["offsets"])
    y = f["labels"]
for name in ("SDCACRF", "OEGCRF", "SAGNUSCRF", "LBFGSCRF"):
    crf = getattr(skcrf_sdca, name)(max_iter=int(sys.argv[2]), tol=0.0)
    if "random_state" in crf.get_params():
        crf.set_params(random_state=0)
    crf.fit(X, y)
    seconds[name] = np.diff(crf.history_["seconds"]).tolist()
seconds["predict"] = []
for _ in range(5):
    started = time.perf_counter()
    crf.predict(X)
    seconds["predict"].append(time.perf_counter() - started)
print(json.dumps(seconds))
"""


def run(checkout, task, n_epochs):
    """Return the seconds that one process takes, by what it does."""
    environment = {**os.environ, "PYTHONPATH": os.path.abspath(checkout)}
    command = [sys.executable, "-c", CHILD, f"{task}.npz", str(n_epochs)]
    answer = subprocess.run(
        command, env=environment, cwd="/", check=True, capture_output=True, text=True
    )
    return json.loads(answer.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--tasks", nargs="+", default=["ocr", "conll2000", "ned"])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=4)
    arguments = parser.parse_args()
    print(f"{'task':10} {'what':10} {'old s':>9} {'new s':>9} {'ratio':>6}")
    for task in arguments.tasks:
        taken = {"old": defaultdict(list), "new": defaultdict(list)}
        for _ in range(arguments.repeats):
            for which, kept in taken.items():
                seconds = run(getattr(arguments, which), task, arguments.epochs)
                for what, values in seconds.items():
                    kept[what] += values
        for what in taken["old"]:
            old, new = (median(taken[which][what]) for which in ("old", "new"))
            print(f"{task:10} {what:10} {old:9.4f} {new:9.4f} {new / old:6.3f}")


if __name__ == "__main__":
    main()
