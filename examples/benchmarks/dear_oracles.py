"""Count calls and seconds of dual and primal solvers by the price of their oracle.

[LePriol18, sec. 7] expects SDCA to win where a call of the oracle is much dearer than
the entropy of a line search. The price of a task is the ratio of both, as SDCA pays
them near the optimum: a visit without its line search, over one evaluation of the
slope. Evaluations are timed by a line search that never ends, of 60 evaluations.

chain, order 2   Handwritten words and Dutch sentences, with pairs or triples of labels.
grid 2 to 6      Images of three colours, two to six pixels high, with junction trees.
tree             Parts of speech of English words, given the tree: messages on a tree.
arcs             Dependency trees of short English sentences by the matrix-tree theorem,
                 and projective ones by spans of words. Their marginals have no entropy
                 in closed form, so that SDCA has no line search.
trw 5 to 100     Images of two colours and 10 x 10 pixels, with at most so many sweeps
                 of tree-reweighted message passing.

alpha is 1 / n. The rows have oracle calls over n to P - P* <= 1e-3 P*, with P of 100
sweeps, and the seconds of the processor of these epochs; P* is a certified bound. Calls
are the same for any price, so that seconds at another one follow: "OEG from" and "SAG
from" are the prices from which the SDCA of fewest calls is faster than the OEG of
fewest calls, and than SAG-NUS*; 0 is always and inf is never. The tables and the
picture have medians over the seeds.

    python examples/benchmarks/dear_oracles.py [--task "tree, tags"] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA, and matplotlib.
"""

import warnings
from functools import partial
from time import process_time
from typing import NamedTuple

import numpy as np
import parsing
from graphs import grid
from scipy.ndimage import gaussian_filter
from wide_graphs import images

import figures
import runs
import tables
import tasks
from skcrf_sdca import LBFGSCRF, DependencyCRF, GraphCRF, TreeCRF
from skcrf_sdca.data.heads import crossing
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.proximal import ProximalPoint
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.text import ArcFeatures

LEVEL, TIGHT, MOST, QUICK_MOST = 1e-3, 5e-5, 200, 3
UNIFORM = {"sampling": "uniform"}
SOLVERS = {
    "SDCA": partial(SDCA, **UNIFORM),
    "SDCA-GAP": SDCA,
    "SDCA-GAP, metric": partial(ProximalPoint, solver=SDCA),
    "OEG": partial(OEG, **UNIFORM),
    "OEG-GAP": OEG,
    "OEG-GAP, metric": partial(ProximalPoint, solver=OEG),
    "SAG-NUS*": SAG,
}
HEADER = ["task", "seed", "solver", "calls", "seconds"]
SEEDS = {False: 2, True: 1}
# Of a picture in units of SAG-NUS*.
MARKERS = {
    "SDCA-GAP": {"marker": "o", "linestyle": ""},
    "SDCA-GAP, metric": {"marker": "D", "linestyle": "", "color": "#0072B2"},
    "OEG-GAP": {"marker": "s", "linestyle": ""},
    "OEG-GAP, metric": {"marker": "^", "linestyle": "", "color": "#D55E00"},
}
# Epochs that are timed, and how often.
TIMED, ROUNDS = 2, 3
N_PIXELS, N_COLOURS, NOISE, SMOOTHNESS = 48, 3, 0.8, 1.5
SIDE, SWEEPS = 10, (5, 10, 20, 50, 100)
N_ARC_FEATURES = 2**16


def problem_of(crf, X, y):
    """Return the training problem of an estimator."""
    found = []

    def monitor(solver, **options):
        found.append(solver.problem)
        return FitMonitor(solver, **options)

    crf.set_params(max_iter=1)._monitor = monitor
    crf.fit(X, y)
    return found[0]


def chains(name, first, seed, **options):
    """Return the problem of random sequences of a packed task."""
    task = tasks.load(name)
    chosen = np.random.default_rng(seed).choice(len(task.X), first, replace=False)
    task = tasks.part(task, chosen)
    crf = LBFGSCRF(task.alpha, **options)
    return problem_of(crf, task.X, task.y)


def grids(height, n, seed):
    """Return the problem of images of some colours, with a junction tree."""
    rng = np.random.default_rng([seed, height])
    shape = height, N_PIXELS // height
    ends, kinds = grid(*shape)
    X, y = [], []
    for _ in range(n):
        field = gaussian_filter(rng.normal(size=shape), SMOOTHNESS).ravel()
        colours = np.digitize(field, np.quantile(field, [1 / 3, 2 / 3]))
        seen = np.eye(N_COLOURS)[colours]
        X.append((seen + NOISE * rng.normal(size=seen.shape), ends, kinds))
        y.append(colours)
    return problem_of(GraphCRF(1.0 / n, solver="lbfgs"), X, y)


def sentences(n, seed):
    """Return random sentences of 5 to 20 words, with their trees."""
    pairs = zip(*parsing.read("en_ewt", "train"), strict=True)
    pairs = [pair for pair in pairs if 5 <= len(pair[0]) <= 20]
    chosen = np.random.default_rng(seed).choice(len(pairs), n, replace=False)
    return [pairs[i] for i in chosen]


def trees(n, seed):
    """Return the problem of tags, given trees."""
    X, y = [], []
    for tokens, (heads, _) in sentences(n, seed):
        nodes = [[word, f"suffix={word[-3:]}"] for word, *_ in tokens]
        X.append((nodes, np.array(heads) - 1))
        y.append([upos for _, upos, _ in tokens])
    return problem_of(TreeCRF(1.0 / n, solver="lbfgs"), X, y)


def arcs(projective, n, seed):
    """Return the problem of dependency trees."""
    read = sentences(n, seed)
    if projective:
        read = [pair for pair in read if crossing(np.array(pair[1][0])) is None]
    X, y = [tokens for tokens, _ in read], [heads for _, (heads, _) in read]
    features = ArcFeatures(
        parsing.TEMPLATES, columns=parsing.COLUMNS, n_features=N_ARC_FEATURES
    )
    options = {"features": features, "projective": projective, "solver": "lbfgs"}
    return problem_of(DependencyCRF(1.0 / len(X), **options), X, y)


def swept(sweeps, n, seed):
    """Return the problem of images with at most so many sweeps."""
    X, y = images(n, SIDE, np.random.default_rng(seed))
    problem = problem_of(GraphCRF(1.0 / n, inference="trw", solver="lbfgs"), X, y)
    problem.structure.trees.most_sweeps = sweeps
    return problem


# How to make the problem with a seed: a function of the number of items, and this one.
TASKS = {
    "chain, letters": (partial(chains, "ocr"), 200),
    "chain, names": (partial(chains, "ned"), 500),
    "order 2, letters": (partial(chains, "ocr", order=2), 60),
    "order 2, names": (partial(chains, "ned", order=2), 300),
    **{f"grid, width {h}": (partial(grids, h), 30) for h in (2, 3, 4, 5, 6)},
    "tree, tags": (trees, 300),
    "arcs": (partial(arcs, False), 60),
    "projective arcs": (partial(arcs, True), 60),
    **{f"trw, {s} sweeps": (partial(swept, s), 20) for s in SWEEPS},
}
QUICK_ITEMS = 12


def solvers_of(problem):
    """Return the solvers that a problem takes."""
    direct = "direct" in problem.structure.levels
    return {k: v for k, v in SOLVERS.items() if direct or not k.startswith("SDCA")}


def least(problem, most):
    """Return a certified lower bound of P*, by OEG."""
    solver = SOLVERS["OEG-GAP, metric"](problem, np.random.default_rng(1))
    monitor = FitMonitor(solver, max_iter=most, tol=TIGHT)
    return monitor.run().rows[-1]["dual"]


class Price(NamedTuple):
    """Seconds of one evaluation of the slope, and of a visit without its search."""

    evaluation: float
    call: float


def timed(problem, state, tolerance):
    """Return the seconds, and the evaluations, of some visits with uniform draws."""
    solver = SDCA(
        problem,
        np.random.default_rng(0),
        state={name: np.copy(values) for name, values in state.items()},
        line_search_tol=tolerance,
        **UNIFORM,
    )
    begin = process_time()
    for _ in range(TIMED):
        solver.epoch()
    return process_time() - begin, solver.kernel.n_evaluations


def price(problem, state):
    """Return the Price near the point of a state, by the fastest of some rounds."""
    (usual, few), (longer, many) = (
        min(timed(problem, state, tolerance) for _ in range(ROUNDS))
        for tolerance in (1e-3, 0.0)
    )
    evaluation = (longer - usual) / (many - few)
    visits = TIMED * problem.n_sequences
    return Price(evaluation, (usual - few * evaluation) / visits)


class Run(NamedTuple):
    """Calls over n and seconds to the level; infinity if it was not reached."""

    calls: float
    seconds: float


def run(problem, exact, bound, solver, most):
    """Return the Run of a solver; P is that of the problem ``exact``."""
    seconds = 0.0
    for _ in range(most):
        begin = process_time()
        solver.epoch()
        seconds += process_time() - begin
        solver.certify_epoch(LEVEL)
        w = solver.model.w
        if exact.primal(w, exact.mean_loss(w)) - bound <= LEVEL * bound:
            return Run(solver.n_oracle_calls / problem.n_sequences, seconds)
    return Run(np.inf, np.inf)


def priced_from(sdca, rival, unit, of_task):
    """Return the price from which SDCA is faster than a rival.

    ``unit`` is the seconds of an evaluation for each of n visits.
    """
    if not sdca.calls < rival.calls:
        return np.inf
    if np.isinf(rival.calls):
        return 0.0
    dearer = (sdca.seconds - rival.seconds) / (rival.calls - sdca.calls)
    return max(of_task + dearer / unit, 0.0)


class Found(NamedTuple):
    """What a task showed; prices are NaN without SDCA."""

    runs: dict
    price: float
    from_oeg: float
    from_sag: float


def measure(name, seed, quick):
    """Run all solvers on a task, and print a row for each."""
    make, n = TASKS[name]
    n, most = (QUICK_ITEMS, QUICK_MOST) if quick else (n, MOST)
    problem = make(n, seed)
    exact = swept(SWEEPS[-1], n, seed) if name.startswith("trw") else problem
    bound, ended, paid = least(exact, most), {}, None
    for solver_name, new_solver in solvers_of(problem).items():
        solver = new_solver(problem, np.random.default_rng(seed))
        ended[solver_name] = found = run(problem, exact, bound, solver, most)
        tables.stream([[name, f"{seed}", solver_name, *map(cell, found)]])
        if solver_name == "SDCA":
            paid = price(problem, solver.state())
    if paid is None:
        return Found(ended, *(np.nan,) * 3)
    sdca, oeg = (
        min(own for key, own in ended.items() if key.startswith(kind))
        for kind in ("SDCA", "OEG")
    )
    at = paid.evaluation * problem.n_sequences, paid.call / paid.evaluation
    rivals = oeg, ended["SAG-NUS*"]
    return Found(ended, at[1], *(priced_from(sdca, rival, *at) for rival in rivals))


def cell(value):
    """Return a number with three digits, or NONE for NaN."""
    return tables.NONE if np.isnan(value) else f"{value:.3g}"


def median(seeds):
    """Return the Found of the medians over seeds; a missing solver has NaN."""
    missing = Run(np.nan, np.nan)
    of_seeds = {key: [own.runs.get(key, missing) for own in seeds] for key in SOLVERS}
    runs = {key: Run(*np.median(own, axis=0)) for key, own in of_seeds.items()}
    return Found(runs, *np.median([own[1:] for own in seeds], axis=0))


def tables_of(found):
    """Return the tables of calls and of seconds; ``found`` is by task."""
    calls = [["Task", "Price", *SOLVERS]]
    seconds = [["Task", *SOLVERS, "OEG from", "SAG from"]]
    for name, (of_solvers, of_calls, *since) in found.items():
        runs = of_solvers.values()
        calls.append([name, *map(cell, (of_calls, *(own.calls for own in runs)))])
        seconds.append([name, *map(cell, (*(own.seconds for own in runs), *since))])
    return calls, seconds


def draw(found):
    """Return the picture: calls and seconds in units of those of SAG-NUS*."""
    figure, axes = figures.panels(1, 2, sharey=True)
    prices = [own.price for own in found.values()]
    for column, axis in enumerate(axes[0]):
        for key, style in MARKERS.items():
            pairs = [(own.runs[key], own.runs["SAG-NUS*"]) for own in found.values()]
            ratios = [own[column] / sag[column] for own, sag in pairs]
            figures.curve(axis, prices, ratios, key, **style)
        axis.axhline(1.0, color="#009E73", label="SAG-NUS*")
        axis.set_xscale("log")
        axis.set_xlim(5.0, 500.0)
        figures.log_scale(axis, 0.1, 10.0)
        axis.set_xlabel("price of a call, in evaluations of the entropy")
        axis.set_ylabel(f"{Run._fields[column]} over those of SAG-NUS*")
    return figure


def main():
    """Print the rows, and write the tables and the picture."""
    campaign = runs.start(__doc__, "images/dear_oracles.png", names=tuple(TASKS))
    warnings.simplefilter("ignore")
    tables.stream([HEADER])
    seeds = range(SEEDS[campaign.quick])
    found = {
        name: median([measure(name, seed, campaign.quick) for seed in seeds])
        for name in campaign.names
    }
    name = campaign.output.with_suffix(".csv").name
    table = campaign.output.parents[1] / "results" / name
    of_seconds = table.with_stem(f"{table.stem}_seconds")
    for rows, output in zip(tables_of(found), (table, of_seconds), strict=True):
        tables.show(rows)
        tables.write(rows, output)
    figures.save(draw(found), campaign.output)


if __name__ == "__main__":
    main()
