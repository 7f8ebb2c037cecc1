"""Train on more than fits into memory: from a file, with the dual variables on disk.

Sequences from one known chain, 20 labels and sparse features, are made part by part and
written to packed files; each fit runs in a process of its own, to a gap of 1e-3 P(0).
The small data set is fitted in memory and from its file, the large one from its file
with at most 4 GB of memory: the system refuses the process more (RLIMIT_DATA). Pages of
files are not counted there, since the system takes them back when it needs them; the
resident peak has them too. Where the seconds are more than those of the processor, the
fit waited: for the disk, or, on a machine that is not its own, for others. Printed, and
written as out_of_core.csv.

    python examples/benchmarks/out_of_core.py [--quick]

takes some 8 GB of disk in the folder of ``--cache``, and reads /proc: Linux only.
"""

import resource
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time, sleep

import numpy as np
from threadpoolctl import threadpool_limits

import runs
import tables
from skcrf_sdca import OEGCRF, PackedSequences
from skcrf_sdca.datasets import make_chains

SMALL, LARGE = 10**6, 10**7
QUICK_SMALL, QUICK_LARGE = 5_000, 20_000
# Sequences that are made at once, 25 tokens long on average, and their features.
PART = 4_000
LENGTH = (15, 35)
N_FEATURES, PER_TOKEN = 2_000, 10
CHAIN = {
    "n_labels": 20,
    "n_features": N_FEATURES,
    "density": PER_TOKEN / N_FEATURES,
    "weight_scale": PER_TOKEN**-0.5,
    "length": LENGTH,
}
TOL = 1e-3
LIMIT = 4 * 10**9
HEADER = (
    "data",
    "tokens",
    "file MiB",
    "anonymous MiB",
    "resident MiB",
    "epochs",
    "gap / P(0)",
    "seconds",
    "processor s",
    "us/token",
    "us/token/epoch",
)


@dataclass
class Files:
    """A data set on disk: packed sequences, and the labels of all positions."""

    X: Path
    y: Path


def make(folder, n_tokens):
    """Write a data set of about so many tokens, in the memory of one part."""
    files = Files(folder / f"{n_tokens}.packed", folder / f"{n_tokens}.npy")
    _, _, model = make_chains(1, **CHAIN, random_state=0, return_model=True)
    n_sequences = round(n_tokens / np.mean(LENGTH))
    labels = []
    with PackedSequences.writer(files.X) as writer:
        for part, begin in enumerate(range(0, n_sequences, PART)):
            size = min(PART, n_sequences - begin)
            X, y = make_chains(size, **CHAIN, random_state=part, model=model)
            writer.append(PackedSequences.from_sequences(X))
            labels.append(np.concatenate(y).astype(np.int8))
    np.save(files.y, np.concatenate(labels))
    return files


class Watch(threading.Thread):
    """Looks for the peak of the anonymous memory of this process."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peak = 0
        self.start()

    def run(self):
        """Look twenty times a second."""
        while True:
            self.peak = max(self.peak, runs.status("RssAnon"))
            sleep(0.05)


def fit(files, on_disk):
    """Fit, and return the measured numbers as a row of the table, but for its name."""
    if on_disk:
        resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, resource.RLIM_INFINITY))
    watch = Watch()
    mode = {"scratch": files.X.parent} if on_disk else {"mmap_mode": None}
    X = PackedSequences.open(files.X, **mode)
    y = np.load(files.y, mmap_mode="r")
    crf = OEGCRF(tol=TOL, random_state=0, verbose=1)
    with threadpool_limits(1):
        begin = perf_counter(), process_time()
        crf.fit(X, y)
        seconds, processor = perf_counter() - begin[0], process_time() - begin[1]
    micro = 1e6 * seconds / X.n_positions
    share = crf.duality_gap_ * TOL / crf.gap_target_
    return [
        f"{X.n_positions:,}",
        tables.size(files.X.stat().st_size),
        tables.size(watch.peak),
        tables.size(runs.status("VmHWM")),
        f"{crf.n_iter_}",
        f"{share:.1e}",
        f"{seconds:.1f}",
        f"{processor:.1f}",
        f"{micro:.1f}",
        f"{micro / crf.n_iter_:.2f}",
    ]


def main():
    """Make the data, fit, and print the table and the ratios."""
    campaign = runs.start(__doc__, "results/out_of_core.csv", names=())
    small, large = (QUICK_SMALL, QUICK_LARGE) if campaign.quick else (SMALL, LARGE)
    campaign.cache.mkdir(parents=True, exist_ok=True)
    rows = [list(HEADER)]
    with tempfile.TemporaryDirectory(dir=campaign.cache) as name:
        for n_tokens in (small, large):
            files = make(Path(name), n_tokens)
            for on_disk in (False, True) if n_tokens == small else (True,):
                row = campaign.pool.submit(fit, files, on_disk).result()
                rows.append(["on disk" if on_disk else "in memory", *row])
    tables.show(rows)
    for i, unit in ((-2, "token"), (-1, "token and epoch")):
        ratio = float(rows[-1][i]) / float(rows[1][i])
        print(f"seconds a {unit}: {ratio:.2f} times those in memory")
    tables.write(rows, campaign.output)


if __name__ == "__main__":
    main()
