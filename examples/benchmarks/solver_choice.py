"""Seconds of the solver that an estimator chooses, beside the best of all solvers.

    python examples/benchmarks/solver_choice.py [--structure chain ...] [--limit 10]
        [--quick]

The shapes are chains of dense rows (recordings, sentences of word vectors) and of
sparse rows (text), chains of single rows, segments, and graphs with exact and with
tree-reweighted inference: from 2 weights to a million, from 1 item to 20,000, from 10
places to 100,000. The labels are drawn: runs of equal labels, whose mean length is
given, with a vector of means for each label, and noise.

Printed are, for each shape, processor seconds of all of ``fit`` with every solver,
until the certified gap is at most 1e-3 of the objective; the solver that the estimator
chooses; and its seconds over the least ones. A fit is ended, and its seconds are "inf",
when it takes longer than the limit, or much longer than the best before it. A line
after each structure has the largest ratio.
"""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from dense_tasks import fit_within
from graphs import grid
from quiet_fits import fitted

import tables
from skcrf_sdca import CRF, GraphCRF, PackedSequences, SegmentCRF

# A fit that takes so many times the seconds of the best before it is ended.
LOST = 2.0
NOISE, VOCABULARY_EXPONENT, WORDS = 1.5, 1.1, 10


class Shape(NamedTuple):
    """The numbers of a problem.

    Attributes
    ----------
    n, length : int
        Items, and places of each.
    n_features : int
        Of a place; of sparse rows the size of the vocabulary.
    n_labels : int
    run : float
        The mean length of runs of equal labels.
    n_alpha : float
        alpha n.
    """

    n: int
    length: int
    n_features: int
    n_labels: int
    run: float
    n_alpha: float


def paths(shape, rng):
    """Return the labels of all items, one below the other."""
    n_places = shape.n * shape.length
    states = rng.integers(shape.n_labels, size=n_places)
    begins = rng.random(n_places) < 1.0 / shape.run
    begins[:: shape.length] = True
    return states[np.maximum.accumulate(np.where(begins, np.arange(n_places), 0))]


def recordings(shape, rng):
    """Return standardised dense rows and labels."""
    y = paths(shape, rng)
    means = rng.standard_normal((shape.n_labels, shape.n_features))
    noise = (
        NOISE
        * np.sqrt(shape.n_features)
        * rng.standard_normal((len(y), shape.n_features))
    )
    # A part of the noise is common to neighbours, and features are correlated.
    noise += np.roll(noise, 1, axis=0)
    mixing = rng.standard_normal((shape.n_features, shape.n_features))
    X = (means[y] + 0.5 * noise) @ mixing
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def words(shape, rng):
    """Return sparse rows of ones, and labels: the own words of labels, and others."""
    y = paths(shape, rng)
    size = max(shape.n_features - 1, 1)
    weight = 1.0 / np.arange(1, size + 1) ** VOCABULARY_EXPONENT
    drawn = rng.choice(size, p=weight / weight.sum(), size=(len(y), WORDS))
    # The label moves the numbers of the first words of a place.
    own = drawn[:, : WORDS // 3]
    own[:] = (own * shape.n_labels + y[:, None]) % size
    rows = np.repeat(np.arange(len(y)), WORDS)
    X = sp.coo_array(
        (np.ones(rows.size), (rows, drawn.ravel())), shape=(len(y), shape.n_features)
    ).tocsr()
    X.data[:] = 1.0
    return X, y


def chains(rows):
    """Return a function that makes chains of the rows that another makes."""

    def made(shape, rng):
        X, y = rows(shape, rng)
        bounds = np.arange(shape.n + 1) * shape.length
        return PackedSequences(X, bounds), np.split(y, bounds[1:-1])

    return made


def grids(shape, rng):
    """Return grids of two and more colours, which are noisy."""
    side = int(np.sqrt(shape.length))
    ends, kinds = grid(side, shape.length // side)
    X, y = [], []
    for _ in range(shape.n):
        size = side * (shape.length // side)
        coarse = rng.integers(shape.n_labels, size=size)
        labels = coarse[np.minimum(np.arange(size) // int(shape.run), size - 1)]
        seen = labels[:, None] + NOISE * rng.standard_normal((size, shape.n_features))
        X.append((seen, ends, kinds))
        y.append(labels)
    return X, y


def trees(shape, rng):
    """Return random trees with sparse rows."""
    X, y = words(shape, rng)
    items, paths_of = [], []
    for i in range(shape.n):
        place = slice(i * shape.length, (i + 1) * shape.length)
        later = np.arange(1, shape.length)
        heads = (rng.random(len(later)) * later).astype(int)
        items.append((X[place], np.column_stack([heads, later])))
        paths_of.append(y[place])
    return items, paths_of


class Family(NamedTuple):
    """An estimator, its solvers, the data it is measured on, and their shapes."""

    new: Callable[..., Any]
    solvers: tuple[str, ...]
    data: Callable[..., Any]
    shapes: tuple[Shape, ...]


def segments(**options):
    """Return the estimator of segments of signals."""
    return SegmentCRF(scheme=None, **options)


def wide(**options):
    """Return the estimator of wide graphs."""
    return GraphCRF(inference="trw", **options)


ALL = ("lbfgs", "oeg", "sdca", "sag")
FAMILIES = {
    "recordings": Family(
        CRF,
        ALL,
        chains(recordings),
        (
            Shape(1, 10, 1, 2, 3, 1),
            Shape(1, 2000, 6, 5, 50, 1),
            Shape(1, 2000, 6, 5, 50, 50),
            Shape(1, 100000, 6, 5, 50, 50),
            Shape(7, 2000, 18, 7, 100, 1),
            Shape(7, 2000, 18, 7, 100, 100),
            Shape(7, 2000, 90, 7, 100, 100),
            Shape(20, 1000, 6, 3, 30, 1),
            Shape(20, 1000, 6, 3, 30, 30),
            Shape(60, 800, 6, 5, 30, 1),
            Shape(60, 800, 6, 5, 30, 30),
            Shape(60, 800, 40, 15, 30, 30),
            Shape(200, 200, 20, 3, 10, 1),
            Shape(200, 200, 20, 3, 10, 10),
            Shape(200, 30, 5, 3, 3, 1),
            Shape(200, 100, 20, 8, 3, 3),
            Shape(1000, 100, 20, 5, 10, 1),
            Shape(1000, 100, 20, 5, 10, 10),
            Shape(1000, 20, 100, 15, 2, 1),
            Shape(1000, 20, 100, 15, 2, 10),
            Shape(1000, 20, 10, 4, 2, 1),
            Shape(5000, 20, 20, 5, 2, 1),
            Shape(5000, 10, 20, 15, 2, 2),
            Shape(20000, 5, 5, 3, 2, 1),
        ),
    ),
    "text": Family(
        CRF,
        ALL,
        chains(words),
        (
            Shape(1, 10, 10, 2, 3, 1),
            Shape(1, 1000, 1000, 5, 3, 1),
            Shape(1, 14000, 1000, 5, 3, 1),
            Shape(1, 14000, 30000, 10, 3, 10),
            Shape(4, 3500, 100, 5, 3, 1),
            Shape(4, 3500, 10000, 5, 3, 1),
            Shape(4, 3500, 60000, 15, 3, 1),
            Shape(4, 500, 5000, 5, 3, 1),
            Shape(10, 200, 5000, 5, 3, 1),
            Shape(10, 2000, 5000, 5, 3, 1),
            Shape(16, 1000, 20000, 15, 3, 1),
            Shape(16, 1000, 20000, 5, 3, 0.1),
            Shape(64, 500, 100, 5, 3, 1),
            Shape(64, 500, 20000, 5, 3, 1),
            Shape(100, 30, 100, 3, 3, 1),
            Shape(200, 25, 20000, 9, 3, 1),
            Shape(1000, 25, 50, 5, 3, 1),
            Shape(1000, 25, 50000, 9, 3, 1),
            Shape(1000, 25, 50000, 20, 3, 1),
            Shape(5000, 10, 100000, 9, 3, 1),
        ),
    ),
    "segments": Family(
        segments,
        ("lbfgs", "oeg", "sag"),
        chains(recordings),
        (
            Shape(1, 10, 1, 2, 3, 1),
            Shape(1, 1000, 6, 3, 10, 1),
            Shape(20, 15, 3, 3, 3, 1),
            Shape(20, 1000, 6, 3, 20, 1),
            Shape(20, 200, 6, 3, 10, 10),
            Shape(100, 50, 6, 3, 5, 1),
            Shape(400, 20, 6, 3, 5, 1),
            Shape(2000, 10, 6, 3, 3, 1),
        ),
    ),
    "segments of text": Family(
        segments,
        ("lbfgs", "oeg", "sag"),
        chains(words),
        (
            Shape(1, 1000, 1000, 3, 3, 1),
            Shape(4, 500, 5000, 4, 3, 1),
            Shape(16, 200, 5000, 4, 3, 1),
            Shape(100, 30, 5000, 4, 3, 1),
            Shape(400, 25, 20000, 5, 3, 1),
            Shape(1000, 15, 20000, 5, 3, 1),
        ),
    ),
    "wide graphs": Family(
        wide,
        ("lbfgs", "oeg", "sag"),
        grids,
        (
            Shape(1, 100, 1, 2, 10, 1),
            Shape(1, 2500, 2, 2, 10, 1),
            Shape(14, 900, 2, 2, 10, 1),
            Shape(14, 100, 2, 3, 10, 1),
            Shape(100, 36, 2, 2, 6, 1),
            Shape(400, 16, 2, 2, 4, 1),
        ),
    ),
    "graphs": Family(
        GraphCRF,
        ALL,
        grids,
        (
            Shape(1, 100, 1, 2, 10, 1),
            Shape(14, 100, 2, 2, 10, 1),
            Shape(14, 25, 10, 3, 5, 1),
            Shape(100, 36, 2, 2, 6, 1),
            Shape(400, 16, 2, 3, 4, 1),
            Shape(2000, 9, 4, 2, 3, 1),
        ),
    ),
    "trees": Family(
        GraphCRF,
        ALL,
        trees,
        (
            Shape(1, 2000, 2000, 5, 3, 1),
            Shape(4, 2000, 5000, 5, 3, 1),
            Shape(20, 200, 5000, 5, 3, 1),
            Shape(100, 30, 5000, 5, 3, 1),
            Shape(1000, 15, 20000, 5, 3, 1),
        ),
    ),
}


def seconds(crf, X, y, limit):
    """Return processor seconds of a fit, infinite if it had no certificate by then."""
    found = fit_within(crf, X, y, limit)
    return found if crf.duality_gap_ <= crf.gap_target_ else np.inf


def chosen(family, shape, X, y):
    """Return the solver that the estimator takes by itself."""
    crf = family.new(alpha=shape.n_alpha / shape.n, max_iter=1, random_state=0)
    fitted(crf, X, y)
    return getattr(crf, "solver_", crf.solver)


def measured(family, shape, limit):
    """Return the chosen solver, and the seconds of every solver by its name."""
    rng = np.random.default_rng(0)
    X, y = family.data(shape, rng)
    own, found = chosen(family, shape, X, y), {}
    for solver in family.solvers:
        best = min(found.values(), default=np.inf)
        crf = family.new(
            alpha=shape.n_alpha / shape.n, solver=solver, max_iter=1000, random_state=0
        )
        found[solver] = seconds(crf, X, y, min(limit, LOST * best + 0.2))
    return own, found


def row_of(name, shape, own, found):
    """Return a row of the table, and the ratio of the chosen solver to the best."""
    best = min(found.values())
    ratio = found[own] / best if np.isfinite(best) else np.nan
    cells = [f"{found[s]:.3f}" if s in found else tables.NONE for s in ALL]
    return [name, *map(str, shape), *cells, own, f"{ratio:.2f}"], ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--structure", nargs="+", choices=FAMILIES, default=FAMILIES)
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--quick", action="store_true", help="the first shape of each")
    options = parser.parse_args()
    print("structure", *Shape._fields, *ALL, "chosen", "ratio")
    for name in options.structure:
        family, ratios = FAMILIES[name], []
        for shape in family.shapes[: 1 if options.quick else None]:
            row, ratio = row_of(name, shape, *measured(family, shape, options.limit))
            ratios.append(ratio)
            print(*row, flush=True)
        print(f"{name}: the largest ratio of {len(ratios)} is {np.nanmax(ratios):.2f}")


if __name__ == "__main__":
    main()
