"""Measure starts and searches: OEG's first scores, SAG's first L, every search, SDCA's.

[Schmidt15, fig. 4] starts OEG with a score of 3 or 10 at the labels, and without the
pass in random order (here: with draws instead); it has the score at edges, too
(oeg_starts.py). Its text says that a first Lipschitz constant of SAG that is too small
does not matter. [LePriol18, sec. 6] also has SAG-NUS with a search at every visit, and
[footnote 4] a line search that begins at 0.5 and not at the last step; its appendix A.1
says that uniform marginals are a bad start of SDCA. Random ones are those of
independent positions, uniform on the simplex (report of 2017, algorithm 1).
The table has P - P* after 5, 10 and 20 epochs, and the oracle calls / n of 20 epochs.
There is a certificate after every epoch. With --first the sequences are random ones.

    python examples/benchmarks/starts.py [--task ocr] [--first 1500] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

import numpy as np

import tables
import tasks
from skcrf_sdca.solvers.dual import DualSolver
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.sdca import FIRST_STEP, SDCA

EPOCHS = (5, 10, 20)
QUICK_FIRST = 30
UNIFORM = {"sampling": "uniform"}
HEADER = ["task", "start or search", *(f"after {epoch}" for epoch in EPOCHS)]
HEADER += ["calls / n"]


def nothing(solver):
    """Change nothing."""


def skip_order(solver):
    """Let OEG draw from its first epoch on."""
    solver.visit = lambda n: visit_drawn(solver, n)


def visit_drawn(solver, n):
    """Make n visits of OEG as the sampler draws, with the halvings of later epochs."""
    solver.kernel.epoch(solver.rng.random((n, 2)))
    solver.n_updates += n
    solver.n_oracle_calls = solver.kernel.n_oracle_calls


def first_constant(value):
    """Return a change of SAG's first Lipschitz constant."""

    def change(solver):
        solver.lipschitz[:] = value

    return change


def reset_steps(solver):
    """Let SDCA's searches begin at 0.5."""
    solver.steps[:] = FIRST_STEP


def random_marginals(solver):
    """Let SDCA start at random marginals."""
    problem = solver.problem

    def scores_of(begin, end):
        scores = problem.scores(problem.new_parameters(), begin, end)
        # Shares of exponential variables are uniform on the simplex.
        scores.local[:] = np.log(solver.rng.exponential(size=scores.local.shape))
        return scores

    problem.structure.mix_marginals(solver.marginals, scores_of, solver.init_smoothing)
    # The weights follow from the marginals, which SDCA would mix with the labels.
    DualSolver.targets_changed(solver)


def oeg(init_score, at_first=nothing):
    """Return a variant of OEG with uniform draws."""
    options = {"init_score": init_score, "step_init": 0.5} | UNIFORM
    return OEG, options, at_first, nothing


# The solver, its options, what changes it at first, and before every epoch.
VARIANTS = {
    "OEG, 3": oeg(3.0),
    "OEG, 10": oeg(10.0),
    "OEG, 14": oeg(14.0),
    "OEG, 3, draws": oeg(3.0, skip_order),
    "OEG, 14, draws": oeg(14.0, skip_order),
    "SAG-NUS*": (SAG, {}, nothing, nothing),
    "SAG-NUS*, all searches": (SAG, {"line_search_skipping": False}, nothing, nothing),
    "SAG-NUS*, SAGA": (SAG, {"saga": True}, nothing, nothing),
    "SAG, SAGA": (SAG, {"saga": True} | UNIFORM, nothing, nothing),
    "SAG, L = 1e-4": (SAG, UNIFORM, first_constant(1e-4), nothing),
    "SAG, L = 1": (SAG, UNIFORM, nothing, nothing),
    "SAG, L = 1e4": (SAG, UNIFORM, first_constant(1e4), nothing),
    "SDCA-GAP, last step": (SDCA, {}, nothing, nothing),
    "SDCA-GAP, 0.5": (SDCA, {}, nothing, reset_steps),
    "SDCA-GAP, uniform": (SDCA, {"init_smoothing": 1.0}, nothing, nothing),
    "SDCA-GAP, random": (SDCA, {}, random_marginals, nothing),
}


def least(problem, tol):
    """Return a lower bound of P*, and tight."""
    solver = SDCA(problem, np.random.default_rng(1))
    monitor = FitMonitor(solver, max_iter=300, tol=tol)
    return monitor.run().rows[-1]["dual"]


def rows_of(problem, title, bound, names):
    """Yield the rows of a task."""
    for name in names:
        solver_class, options, at_first, before_epoch = VARIANTS[name]
        solver = solver_class(problem, np.random.default_rng(0), **options)
        at_first(solver)
        cells = []
        for epoch in range(1, EPOCHS[-1] + 1):
            before_epoch(solver)
            solver.epoch()
            distance = solver.certify().primal - bound
            if epoch in EPOCHS:
                cells.append(f"{distance:.1e}")
        calls = solver.n_oracle_calls / problem.n_sequences
        yield [title, name, *cells, f"{calls:.1f}"]


def problems(options):
    """Yield the title, the problem and P* of each task of the command line."""
    first = QUICK_FIRST if options.quick else options.first
    for task in options.task:
        problem = tasks.problem(tasks.load_random(task, first))
        yield (
            tasks.TITLES[task],
            problem,
            least(problem, 1e-2 if options.quick else 1e-6),
        )


def rows(options):
    """Yield the rows of the table."""
    yield HEADER
    for title, problem, bound in problems(options):
        yield from rows_of(problem, title, bound, options.variant)


def main():
    """Print the table."""
    parser = tasks.parser(__doc__)
    parser.add_argument("--variant", nargs="+", default=list(VARIANTS))
    tables.stream(rows(parser.parse_args()))


if __name__ == "__main__":
    main()
