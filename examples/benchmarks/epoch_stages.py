"""Measure the time of each stage of an SDCA epoch, and its operations.

Linux's sampling profiler ``perf`` observes this process while it makes epochs. Its
samples are summed over the functions of each stage. The table also has the arithmetic
operations of the stage (a multiplication and addition count as one operation, a
division or exponential as one), and the bytes that it must move from or to main memory.
Everything else that a visit uses fits into the second-level cache.

    python examples/benchmarks/epoch_stages.py [--task ocr] [--quick]

needs ``perf`` on the PATH, and the folder of corpora in SKCRF_SDCA_DATA.
"""

import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path
from time import process_time, sleep

import numpy as np
from threadpoolctl import threadpool_limits

import runs
import tables
import tasks
from skcrf_sdca import SDCACRF

# The functions of each stage, as patterns of the names that the profiler prints.
STAGES = {
    "scores": r"gather|prefetch|add_scores|score_nodes",
    "inference": r"row_times|scaled_|forward_backward|exp|set_transition|minimum",
    "direction": r"scale_matrix|aim|write_edge|dot",
    "line search": r"slope|newton",
    "move": r"move_(single|double)|memmove|memcpy",
    "update": r"scatter|axpy|sum_rows|move_coef|add_to|memset",
    "sampler": r"Sampler|Tree|draw|pick",
}
OTHER = "the rest"
HEADER = ["task", "stage", "s an epoch", "share %", "10^6 op.", "10^9 op. / s"]
HEADER += ["MB moved", "GB / s"]
WARM_UP = 3
SECONDS, QUICK_SECONDS = 10.0, 2.0


def n_distinct_features(problem):
    """Return the number of distinct features, summed over the sequences."""
    X = problem.data.X.tocoo()
    sequence = np.repeat(np.arange(problem.n_sequences), problem.data.lengths)
    return len(np.unique(sequence[X.row] * X.shape[1] + X.col))


def needs(problem, n_evaluations):
    """Return (operations, bytes) of an epoch for every stage.

    Uniform draws visit every sequence once on average. The entries of X are read, an
    index and a value; a distinct feature of a sequence has a row of n_labels weights,
    which is read for the scores and written back by the update.
    """
    n_labels = problem.structure.n_labels
    n_positions = len(problem.targets.labels)
    n_edges = n_positions - problem.n_sequences
    block = n_edges * n_labels**2
    entries = problem.data.X.nnz * n_labels
    rows = n_distinct_features(problem) * n_labels
    return {
        "scores": (entries, 12 * problem.data.X.nnz + 8 * rows),
        "inference": (2 * block + 6 * n_positions * n_labels, 0),
        # mu is read; the product with two vectors, difference, quotient and two sums.
        "direction": (6 * block, 4 * block),
        # logarithm (9), its argument, two sums, a quotient.
        "line search": (n_evaluations * 14 * block, 0),
        # the mixture and its divergence; mu is written.
        "move": (16 * block, 4 * block),
        "update": (entries + 2 * rows, 8 * rows),
    }


def profile(action, seconds):
    """Return {function: fraction of the samples} while the action is repeated."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "perf.data"
        command = ["perf", "record", "-q", "-F", "1999", "-o", file, "-p"]
        with subprocess.Popen([*command, str(os.getpid())]) as perf:
            sleep(0.5)
            end = process_time() + seconds
            while process_time() < end:
                action()
            perf.send_signal(signal.SIGINT)
        report = subprocess.run(
            ["perf", "report", "-i", file, "--stdio", "-F", "overhead,symbol", "-g"]
            + ["none"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    lines = re.findall(r"^\s*([\d.]+)%\s+\[.\]\s+(\S+)", report, flags=re.MULTILINE)
    return {name: float(percent) / 100.0 for percent, name in lines}


def stage_of(function):
    """Return the stage of a function."""
    for stage, pattern in STAGES.items():
        if re.search(pattern, function):
            return stage
    return OTHER


def rows_of(campaign, name):
    """Return the rows of one task."""
    problem = tasks.problem(campaign.load(name))
    crf = SDCACRF(sampling="uniform", acceleration=None, random_state=0)
    solver = crf._new_solver(problem)
    for _ in range(WARM_UP):
        solver.epoch()
    times, evaluations = [], solver.kernel.n_evaluations

    def epoch():
        begin = process_time()
        solver.epoch()
        times.append(process_time() - begin)

    shares = profile(epoch, QUICK_SECONDS if campaign.quick else SECONDS)
    seconds = sum(times) / len(times)
    evaluations = solver.kernel.n_evaluations - evaluations
    costs = needs(problem, evaluations / (len(times) * problem.n_sequences))
    by_stage = dict.fromkeys([*STAGES, OTHER], 0.0)
    for function, share in shares.items():
        by_stage[stage_of(function)] += share
    total = sum(by_stage.values())
    rows = [[tasks.TITLES[name], "all", f"{seconds:.3f}", "100", "", "", "", ""]]
    for stage, share in by_stage.items():
        rows.append([tasks.TITLES[name], stage])
        rows[-1] += cells(seconds * share / total, share / total, costs.get(stage))
    return rows


def cells(seconds, share, cost):
    """Return the cells of a stage."""
    texts = [f"{seconds:.3f}", f"{100.0 * share:.0f}"]
    for amount in cost or ():
        known = amount > 0
        texts.append(f"{amount / 1e6:,.0f}" if known else "")
        texts.append(f"{amount / seconds / 1e9:.1f}" if known and seconds > 0 else "")
    return texts + [""] * (6 - len(texts))


def main():
    """Print and write a row for each task and stage."""
    campaign = runs.start(__doc__, "results/stages.csv")
    rows = [HEADER]
    with threadpool_limits(1):
        for name in campaign.names:
            rows += rows_of(campaign, name)
    tables.show(rows)
    tables.write(rows, campaign.output)


if __name__ == "__main__":
    main()
