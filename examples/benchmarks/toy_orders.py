"""Count the passes of coordinate descent by the order of its visits, on small problems.

    python examples/benchmarks/toy_orders.py [--quick]

The quadratics are x' A x / 2 of n variables, with ones on the diagonal of A: "common"
is the matrix of Sun and Ye, where every two variables have the same product, as all
sequences have that share one feature; "rare" has random products of a few variables, as
rare features give; "mixed" is the mean of both. A visit minimises over one variable. A
run ends where the quadratic is at most TOL times its first value. In rounds, every one
of WORKERS variables is visited with the values of the last round, and the sum of the
moves is made in the step that is best for it.

The chains are made, and fitted by plain SDCA to a gap of 1e-3 P(w); "common" have a
frequent feature with large values. Each cell has the passes with two seeds. The table
is written as toy_orders.csv.
"""

import numpy as np
import visit_orders

import runs
import tables
from skcrf_sdca import PackedSequences
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.structures.chain.structure import Chain

N, TOL, MOST, SEEDS = 60, 1e-6, 3000, (0, 1)
COMMON = 0.8
INSIDE, WORKERS = 12, 4
QUICK_N = 10
# Of chains.
N_CHAINS, N_LABELS, N_FEATURES, SIZE = 300, 3, 40, 3.0


def common(n, rng):
    """Return the matrix of Sun and Ye."""
    return (1.0 - COMMON) * np.eye(n) + COMMON


def rare(n, rng):
    """Return a matrix of random products, with few that are not 0."""
    rows = rng.normal(size=(n, n)) * (rng.random((n, n)) < 3.0 / n)
    A = rows.T @ rows + 0.1 * np.eye(n)
    scale = np.sqrt(np.diag(A))
    return A / np.outer(scale, scale)


def mixed(n, rng):
    """Return the mean of both."""
    return 0.5 * (common(n, rng) + rare(n, rng))


def fixed(n, rng, gaps):
    """Yield the same permutation in every pass."""
    order = rng.permutation(n)
    while True:
        yield from order


def permutation(n, rng, gaps):
    """Yield a fresh permutation in every pass."""
    while True:
        yield from rng.permutation(n)


def replacement(n, rng, gaps):
    """Yield draws with replacement."""
    while True:
        yield rng.integers(n)


def by_gap(n, rng, gaps):
    """Yield draws by what the last visits have gained, 0.8 of them."""
    while True:
        yield drawn(np.arange(n), rng, gaps)


def window(n, rng, gaps):
    """Yield draws by gap in a window that slides over a fresh permutation."""
    inside = list(rng.permutation(n)[:INSIDE])
    while True:
        for entering in rng.permutation(n):
            inside = [*inside[1:], entering]
            yield drawn(np.array(inside), rng, gaps)


def drawn(variables, rng, gaps):
    """Return one of some variables, by gap with a probability of 0.8."""
    share = gaps[variables]
    if rng.random() >= 0.8 or not share.sum() > 0.0:
        return rng.choice(variables)
    return rng.choice(variables, p=share / share.sum())


ORDERS = {
    "by gap": by_gap,
    "with replacement": replacement,
    "fresh permutation": permutation,
    "same permutation": fixed,
    "window of a fifth": window,
}


def passes(A, order, seed, n_workers=1):
    """Return the passes until the quadratic is small, visits made in rounds."""
    n, rng = len(A), np.random.default_rng(seed)
    x = rng.normal(size=n)
    gradient, gaps = A @ x, np.full(n, 1e3)
    least = TOL * (x @ gradient)
    draws = order(n, rng, gaps)
    for visit in range(0, MOST * n, n_workers):
        chosen = list({next(draws) for _ in range(n_workers)})
        gaps[chosen] = 0.5 * gradient[chosen] ** 2
        move = np.zeros(n)
        move[chosen] = -gradient[chosen]
        change = A @ move
        curvature = move @ change
        step = -(gradient @ move) / curvature if curvature > 0.0 else 0.0
        x += step * move
        gradient += step * change
        if x @ gradient <= least:
            return -(-(visit + n_workers) // n)
    return None


def chains(size, seed):
    """Return a problem of made chains, whose first feature is in all positions."""
    X, y = make_chains(
        N_CHAINS,
        n_labels=N_LABELS,
        n_features=N_FEATURES,
        density=0.05,
        random_state=seed,
    )
    X = [np.column_stack([np.full(rows.shape[0], size), rows.toarray()]) for rows in X]
    structure = Chain(PackedSequences.from_sequences(X), N_LABELS)
    return Problem(structure, np.concatenate(y).astype(np.int32), 1.0 / N_CHAINS)


def cell(found):
    """Return the cell of the passes of all seeds."""
    return ", ".join(f"> {MOST}" if n is None else str(n) for n in found)


def main():
    """Count, and print and write the table."""
    campaign = runs.start(__doc__, "results/toy_orders.csv", names=())
    n = QUICK_N if campaign.quick else N
    rounds = f"permutation, {WORKERS} at once"
    rows = [["Problem", *ORDERS, rounds]]
    for name, matrix in {"common": common, "rare": rare, "mixed": mixed}.items():
        matrices = [matrix(n, np.random.default_rng(seed)) for seed in SEEDS]
        pairs = list(zip(matrices, SEEDS, strict=True))
        row = [f"quadratic, {name}"]
        for order in ORDERS.values():
            row.append(cell([passes(A, order, seed) for A, seed in pairs]))
        row.append(cell([passes(A, permutation, seed, WORKERS) for A, seed in pairs]))
        rows.append(row)
        print(*row, sep="  ", flush=True)
    for name, size in {"common": SIZE, "rare": 0.0}.items():
        row = [f"chains, {name}"]
        for order in ORDERS:
            make = visit_orders.ORDERS[order](SDCA)
            solvers = (
                make(chains(size, seed), np.random.default_rng(seed)) for seed in SEEDS
            )
            row.append(", ".join(map(visit_orders.passes, solvers)))
        rows.append([*row, tables.NONE])
        print(*row, sep="  ", flush=True)
    tables.show(rows)
    tables.write(rows, campaign.output)


if __name__ == "__main__":
    main()
