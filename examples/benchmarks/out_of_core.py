"""Train on more text than fits into memory: X and dual variables lie in files.

The script draws sequences from a known chain with 20 labels and sparse features, and
writes them to packed files part by part. Each fit runs in its own process, with one
thread, alpha="auto" and a gap of 1e-3 P(0), and prints a line for every pass. The small
data set is fitted in memory and from its file by all solvers, the large one from its
file by the solver that `CRF` chooses. A fit from a file has less memory for its data
than LIMIT, which the system enforces (RLIMIT_DATA), so that ``memory="auto"`` takes
files for the dual variables. The pages of X are dropped after every pass, so that each
pass reads the disk, as with a file that is larger than memory; those of the dual
variables stay in memory while there is some. The peak of resident memory includes these
pages.

Seconds are from opening the file to the fitted model. If they are more than the
processor seconds, the fit waited for the disk, or for other work on the machine. The
files of the fit are those of its dual variables; what it reads and writes is what the
system moves between memory and disk for it. The table is printed, and written as
out_of_core.csv.

    python examples/benchmarks/out_of_core.py [--quick] [--reads] [--unwatched TOKENS]

takes 9 GB of disk in the folders of ``--cache`` and of temporary files, and reads
/proc: Linux only. With ``--reads`` the table has passes over the small file alone, in
blocks in a fresh order, after the system has dropped its pages: mapped, as fits read
it, mapped with a request for the next block, or copied block by block. With
``--unwatched 10000000 30000000`` the table has the fits of files of so many tokens
alone, to the default tolerance and without callbacks: certificates wait, and the pages
of X stay where there is memory. There LIMIT is 18 bytes a token if that is more: a
hundred million tokens get 1.8 GB, and take 40 GB of disk.
"""

import mmap
import os
import re
import resource
import tempfile
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time, sleep

import numpy as np
from threadpoolctl import threadpool_limits

import runs
import tables
from skcrf_sdca import CRF, LBFGSCRF, OEGCRF, SDCACRF, PackedSequences
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.solvers.storage import FilesWarning

SMALL, LARGE = 10**6, 10**7
QUICK_SMALL, QUICK_LARGE = 5_000, 20_000
# Sequences of one part, with 25 tokens on average, and their features.
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
LEVEL = 1e-3
# Beside it a process with the package takes about 150 MB of anonymous memory.
LIMIT, LIMIT_PER_TOKEN = 3 * 10**8, 18
HEADER = (
    "solver",
    "X",
    "tokens",
    "file MiB",
    "anonymous MiB",
    "resident MiB",
    "files of the fit MiB",
    "passes",
    "gap / P(0)",
    "seconds",
    "processor s",
    "of the system s",
    "processor us/token",
    "read MiB",
    "written MiB",
)
READS = "mapped", "MADV_WILLNEED", "pread"
READ_HEADER = "pass over the file", "us/token", "processor us/token"
N_BLOCKS, N_READS, LINE = 100, 5, 64


@dataclass
class Files:
    """A data set on disk: packed sequences, and the labels of all positions."""

    X: Path
    y: Path


def make(folder, n_tokens):
    """Write a data set of about n_tokens; two processes make its parts."""
    files = Files(folder / f"{n_tokens}.packed", folder / f"{n_tokens}.npy")
    n_sequences = round(n_tokens / np.mean(LENGTH))
    sizes = np.diff([*range(0, n_sequences, PART), n_sequences])
    labels = []
    with ProcessPoolExecutor(2) as pool, PackedSequences.writer(files.X) as writer:
        for X, y in pool.map(make_part, range(len(sizes)), sizes):
            writer.append(X)
            labels.append(y)
    np.save(files.y, np.concatenate(labels))
    return files


def make_part(part, n_sequences):
    """Return packed sequences, and the labels of their positions."""
    _, _, model = make_chains(1, **CHAIN, random_state=0, return_model=True)
    X, y = make_chains(n_sequences, **CHAIN, random_state=part, model=model)
    return PackedSequences.from_sequences(X), np.concatenate(y).astype(np.int8)


class Watch(threading.Thread):
    """Records peaks of this process: its anonymous memory, and its unnamed files."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peak = self.files = 0
        self.start()

    def run(self):
        """Measure twenty times per second."""
        while True:
            self.peak = max(self.peak, runs.status("RssAnon"))
            self.files = max(self.files, unnamed_files())
            sleep(0.05)


def unnamed_files():
    """Return the bytes of the mapped files that have no name."""
    maps = Path("/proc/self/maps").read_text()
    spans = re.findall(r"^(\w+)-(\w+) rw-s .*\(deleted\)$", maps, re.MULTILINE)
    return sum(int(end, 16) - int(begin, 16) for begin, end in spans)


def used():
    """Return the seconds used so far by clock, processor, system; bytes read, written.

    The bytes are those of the disk.
    """
    moved = re.findall(r"^\w+_bytes: (\d+)", Path("/proc/self/io").read_text(), re.M)
    times = perf_counter(), process_time(), os.times().system
    return np.array([*times, *map(int, moved[:2])])


class Callback:
    """A callback of scikit-learn that does nothing, to be overridden."""

    def setup(self, estimator, context):
        """Do nothing."""

    teardown = setup

    def on_fit_task_begin(self, estimator, context, **arguments):
        """Do nothing."""


class StopAtGap(Callback):
    """Ends a fit at a gap."""

    def __init__(self, gap):
        self.gap = gap

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        """Return whether the gap is reached."""
        return fitted_estimator.duality_gap_ <= self.gap


class Forget(Callback):
    """Drops the pages of a mapped file after each pass.

    Parameters
    ----------
    path : Path
    arrays : iterable of ndarray
        Arrays that are mapped from the file.
    """

    def __init__(self, path, arrays):
        self.path = path
        self.mapped = [mapping(array) for array in arrays]

    def on_fit_task_end(self, estimator, context, **arguments):
        """Drop the pages; never stop."""
        for mapped in self.mapped:
            mapped.madvise(mmap.MADV_DONTNEED)
        forget(self.path)
        return False


def mapping(array):
    """Return the mapped file of an array."""
    while not isinstance(array, mmap.mmap):
        array = array.base
    return array


def forget(path):
    """Make the system drop the pages of a file."""
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def read(path, way, rng):
    """Return the seconds, also of the processor, of a pass over a file in blocks."""
    forget(path)
    begin = np.array([perf_counter(), process_time()])
    with open(path, "rb", buffering=0) as file:
        mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        size = len(mapped) // N_BLOCKS // mmap.PAGESIZE * mmap.PAGESIZE
        firsts = size * rng.permutation(N_BLOCKS)
        block = np.empty(size, dtype=np.uint8)
        for first, later in zip(firsts, [*firsts[1:], None], strict=True):
            if way == "pread":
                os.preadv(file.fileno(), [block], first)
            else:
                block = np.frombuffer(mapped, np.uint8, size, first)
            if way == "MADV_WILLNEED" and later is not None:
                mapped.madvise(mmap.MADV_WILLNEED, later, size)
            block[::LINE].sum()
    return np.array([perf_counter(), process_time()]) - begin


def read_rows(path, n_tokens):
    """Return a row for each way to read a file: medians of passes, made in turns."""
    rng = np.random.default_rng(0)
    times = [[read(path, way, rng) for way in READS] for _ in range(N_READS)]
    micro = 1e6 * np.median(times, axis=0) / n_tokens
    return [
        [way, *(f"{own:.3f}" for own in row)]
        for way, row in zip(READS, micro, strict=True)
    ]


def fit(files, n_tokens, crf, from_file, watched=True):
    """Fit, and return the row of the table."""
    forget(files.X)
    if from_file:
        more = 0 if watched else LIMIT_PER_TOKEN * n_tokens
        limit = max(LIMIT, more) + runs.status("VmData")
        resource.setrlimit(resource.RLIMIT_DATA, (limit, resource.RLIM_INFINITY))
    watch = Watch()
    begin = used()
    X = PackedSequences.open(files.X, mmap_mode="r" if from_file else None)
    y = np.load(files.y, mmap_mode="r")
    initial = X.n_positions / len(X) * np.log(CHAIN["n_labels"])
    callbacks = [StopAtGap(LEVEL * initial)]
    if from_file:
        callbacks.append(Forget(files.X, [X.X.data, X.X.indices]))
    if watched:
        crf.set_params(tol=0.0, verbose=1).set_callbacks(*callbacks)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", FilesWarning)
        crf.fit(X, y)
    seconds, processor, system, *moved = used() - begin
    is_dual = "non_uniformity" in crf.history_
    passes = crf.n_iter_ if is_dual else crf.history_["oracle_calls"][-1]
    return [
        getattr(crf, "solver_", crf._solver_name),
        "in a file" if from_file else "in memory",
        f"{X.n_positions:,}",
        tables.size(files.X.stat().st_size),
        tables.size(watch.peak),
        tables.size(runs.status("VmHWM")),
        tables.size(watch.files),
        f"{passes:.0f}",
        f"{crf.duality_gap_ / initial:.1e}",
        f"{seconds:.1f}",
        f"{processor:.1f}",
        f"{system:.1f}",
        f"{1e6 * processor / X.n_positions:.1f}",
        *map(tables.size, moved),
    ]


def main():
    """Make the data, fit, and print the table and the ratios."""
    parser = runs.parser(__doc__, "results/out_of_core.csv", names=())
    parser.add_argument("--reads", action="store_true", help="passes over a file alone")
    parser.add_argument("--unwatched", type=int, nargs="+", help="sizes of files alone")
    arguments = parser.parse_args()
    campaign = runs.Campaign(arguments)
    small, large = (QUICK_SMALL, QUICK_LARGE) if campaign.quick else (SMALL, LARGE)
    campaign.cache.mkdir(parents=True, exist_ok=True)
    if arguments.reads:
        with tempfile.TemporaryDirectory(dir=campaign.cache) as name:
            path = make(Path(name), small).X
            tables.show([list(READ_HEADER), *read_rows(path, small)])
        return
    rows = [list(HEADER)]
    solvers = LBFGSCRF(), SDCACRF(random_state=0), OEGCRF(random_state=0)
    fits = [(small, solver, place) for solver in solvers for place in (False, True)]
    chosen = CRF(random_state=0), True
    fits.append((large, *chosen))
    if arguments.unwatched:
        fits = [(size, *chosen, False) for size in arguments.unwatched]
    with tempfile.TemporaryDirectory(dir=campaign.cache) as name:
        files = {size: make(Path(name), size) for size in {size for size, *_ in fits}}
        for n_tokens, *how in fits:
            rows.append(
                campaign.pool.submit(fit, files[n_tokens], n_tokens, *how).result()
            )
    tables.show(rows)
    if not arguments.unwatched:
        tables.write(rows, campaign.output)


if __name__ == "__main__":
    main()
