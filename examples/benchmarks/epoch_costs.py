"""What an epoch of each solver costs, in passes of the oracle over the data.

A bare pass makes the node scores of all sequences from their features and the marginals
from the scores, at the weights that the solver has. The epochs and the passes are timed
in turns, after a few epochs to warm up; printed are the medians and their ratio, the
ratio that is promised, and the calls of the oracle in an epoch, divided by n.

SAG and SAG-NUS are measured without their searches for Lipschitz constants, and OEG
with steps so short that the first trial of each visit is taken. SAG-NUS visits long
sequences more often than a pass does, and so does SDCA with its own draws, by gap; all
others here draw uniformly.

    python examples/benchmarks/epoch_costs.py [--task ocr] [--rounds 9] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

import runs
import tables
import tasks
from skcrf_sdca import OEGCRF, SAGNUSCRF, SDCACRF
from skcrf_sdca.structures.chain import oracle
from skcrf_sdca.structures.chain.parameters import range_scores

SOLVERS = {
    "SAG": SAGNUSCRF(sampling="uniform", random_state=0),
    "SAG-NUS*": SAGNUSCRF(random_state=0),
    "OEG": OEGCRF(sampling="uniform", step_init=0.05, random_state=0),
    "SDCA": SDCACRF(sampling="uniform", random_state=0),
    "SDCA by gap": SDCACRF(random_state=0),
}
PROMISES = {"SAG-NUS*": 2.0, "OEG": 4.0}
WARM_UP = 3
HEADER = ["task", "solver", "epoch s", "pass s", "ratio", "promised", "calls / n"]


def bare_pass(problem, model):
    """Ask the oracle for what the gradient of every sequence needs."""
    weights, n = model.weights(), problem.n_sequences
    scores, _ = range_scores(problem.rows, problem.offsets, weights, 0, n)
    oracle.expectations(scores, model.transition, problem.offsets, problem.weight)


def seconds(action, *arguments):
    """Return the seconds of a call; the processor's, which other work leaves alone."""
    begin = process_time()
    action(*arguments)
    return process_time() - begin


def measure(solver, n_rounds):
    """Return the median seconds of an epoch and of a pass, and the calls an epoch."""
    for _ in range(WARM_UP):
        solver.epoch()
    if hasattr(solver, "constants"):
        # More searches than there will be visits.
        np.asarray(solver.constants.to_skip)[:] = np.iinfo(np.int32).max
    calls = solver.n_oracle_calls
    times = [
        (seconds(solver.epoch), seconds(bare_pass, solver.problem, solver.model))
        for _ in range(n_rounds)
    ]
    calls = (solver.n_oracle_calls - calls) / (n_rounds * solver.problem.n_sequences)
    return *np.median(times, axis=0), calls


def main():
    """Print a row for each task and solver."""
    parser = runs.parser(__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    campaign = runs.Campaign(arguments)
    rows = [HEADER]
    with threadpool_limits(1):
        for name in campaign.names:
            problem = tasks.problem(campaign.load(name))
            for label, crf in SOLVERS.items():
                solver = crf._new_solver(problem)
                epoch, one_pass, calls = measure(solver, arguments.rounds)
                ratio, promise = epoch / one_pass, PROMISES.get(label)
                numbers = [f"{x:.3f}" for x in (epoch, one_pass, ratio)]
                promised = f"{promise:.1f}" if promise else tables.NONE
                rows.append([name, label, *numbers, promised, f"{calls:.2f}"])
    tables.show(rows)


if __name__ == "__main__":
    main()
