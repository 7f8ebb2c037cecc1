"""Print the epochs and seconds of the hinge loss to a gap, by gap and uniform sampling.

    python examples/benchmarks/hinge.py [--task ocr] [--n-alpha 1] [--epochs 100]

Each packed task is fitted by SDCACRF(loss="hinge"), with alpha = N_ALPHA / n, to gaps
of 0.1, 1e-2 and 1e-3 times P(w).
Then a block-coordinate Frank-Wolfe in plain NumPy, with uniform sampling, is run on the
first sequences alone, and its objective must agree. Seconds are valid only if the
machine had no other work.
"""

import argparse
from itertools import product
from time import perf_counter

import numpy as np
from quiet_fits import fitted

import packed
from skcrf_sdca import SDCACRF, DualityGapMonitor

LEVELS = (1e-1, 1e-2, 1e-3)


class PlainBCFW:
    """BCFW [Lacoste-Julien et al., ICML 2013] with the Hamming cost, in plain NumPy."""

    def __init__(self, X, offsets, y, n_labels, alpha):
        bounds = zip(offsets[:-1], offsets[1:], strict=True)
        self.X = [X[first:last] for first, last in bounds]
        self.y, self.K, self.n, self.alpha = y, n_labels, len(y), alpha
        self.coef = np.zeros((X.shape[1], n_labels))
        self.intercept, self.start, self.end = np.zeros((3, n_labels))
        self.transition = np.zeros((n_labels, n_labels))
        self.node = [np.eye(n_labels)[labels] for labels in y]
        self.edge = [self.counts(labels) for labels in y]

    def counts(self, path):
        """Return how often labels of a path go from one to another."""
        counts = np.zeros((self.K, self.K))
        np.add.at(counts, (path[:-1], path[1:]), 1.0)
        return counts

    def best(self, i):
        """Return scores with costs, the best path and its score."""
        scores = self.X[i] @ self.coef + self.intercept + 1.0
        scores[np.arange(len(scores)), self.y[i]] -= 1.0
        scores[0] += self.start
        scores[-1] += self.end
        reached, origins = scores[0], []
        for row in scores[1:]:
            sums = reached[:, None] + self.transition
            origins.append(sums.argmax(axis=0))
            reached = row + sums.max(axis=0)
        path = [reached.argmax()]
        for origin in reversed(origins):
            path.append(origin[path[-1]])
        return scores, np.array(path[::-1]), reached.max()

    def visit(self, i):
        """Move the marginals of sequence i towards the best path, and the weights."""
        scores, path, best = self.best(i)
        node = np.eye(self.K)[path] - self.node[i]
        edge = self.counts(path) - self.edge[i]
        expected = (self.node[i] * scores).sum()
        gap = best - expected - (self.edge[i] * self.transition).sum()
        if gap <= 1e-12 or not node.any():
            return
        used = np.unique(self.X[i].indices)
        rows = self.X[i][:, used].T @ node
        blocks = [rows, node.sum(axis=0), node[0], node[-1], edge]
        scale = 1.0 / (self.alpha * self.n)
        step = min(gap / (scale * sum((block**2).sum() for block in blocks)), 1.0)
        self.node[i] += step * node
        self.edge[i] += step * edge
        self.coef[used] -= step * scale * rows
        self.intercept -= step * scale * blocks[1]
        self.start -= step * scale * node[0]
        self.end -= step * scale * node[-1]
        self.transition -= step * scale * edge

    def certificate(self):
        """Return P(w) and the gap."""
        weights = self.coef, self.intercept, self.start, self.end, self.transition
        primal = self.alpha / 2 * sum((block**2).sum() for block in weights)
        gap = 0.0
        for i, labels in enumerate(self.y):
            scores, _, best = self.best(i)
            right = scores[np.arange(len(labels)), labels].sum()
            right += (self.counts(labels) * self.transition).sum()
            expected = (self.node[i] * scores).sum()
            expected += (self.edge[i] * self.transition).sum()
            primal += (best - right) / self.n
            gap += (best - expected) / self.n
        return primal, gap


def fit(X, labels, alpha, epochs, sampling="gap"):
    """Return a fit of a number of epochs."""
    crf = SDCACRF(alpha, loss="hinge", sampling=sampling, random_state=0)
    crf.set_params(max_iter=epochs).set_callbacks(DualityGapMonitor())
    return fitted(crf, X, labels)


def line(name, history):
    """Return the epochs and seconds to each level, as text."""
    text = f"{name:22s} P {history['primal'][-1]:.5f} gap {history['gap'][-1]:.1e}"
    for level in LEVELS:
        reached = np.flatnonzero(history["gap"] <= level * history["primal"])
        text += f"   {level:.0e}: "
        if len(reached):
            epoch, seconds = (history[c][reached[0]] for c in ("epoch", "seconds"))
            text += f"{epoch:4.0f} epochs {seconds:6.1f} s"
        else:
            text += "not reached"
    return text


def plain(X, y, n_labels, alpha, epochs, level=1e-3):
    """Run the plain BCFW to a gap; return its history."""
    twin = PlainBCFW(X.X.tocsr(), X.offsets, y, n_labels, alpha)
    rng, seconds, rows = np.random.default_rng(0), 0.0, []
    for epoch in range(1, epochs + 1):
        begin = perf_counter()
        for i in rng.integers(len(y), size=len(y)):
            twin.visit(i)
        seconds += perf_counter() - begin
        primal, gap = twin.certificate()
        rows.append((epoch, seconds, primal, gap))
        if gap <= level * primal:
            break
    names = "epoch", "seconds", "primal", "gap"
    return dict(zip(names, np.array(rows).T, strict=True))


def main():
    """Print a line for each task and sampling, and for the plain twin."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", action="append", choices=packed.NAMES)
    parser.add_argument("--n-alpha", type=float, nargs="+", default=(1.0,))
    parser.add_argument("--first", type=int, default=300, help="sequences of the twin")
    parser.add_argument("--epochs", type=int, default=100)
    options = parser.parse_args()
    for name in options.task or ("ocr", "conll2000"):
        task = packed.load(name)
        for n_alpha, sampling in product(options.n_alpha, ("gap", "uniform")):
            alpha = n_alpha / len(task.y)
            crf = fit(task.X, task.y, alpha, options.epochs, sampling)
            print(line(f"{name} {n_alpha:g} {sampling}", crf.history_), flush=True)
        n = options.first
        # A strength at which both come near to the optimum in these epochs.
        X, labels, alpha = task.X[:n], task.y[:n], 30.0 / n
        crf = fit(X, labels, alpha, options.epochs)
        print(line(f"{name}[:{n}] gap", crf.history_), flush=True)
        codes = [np.searchsorted(crf.classes_, path) for path in labels]
        found = plain(X, codes, len(crf.classes_), alpha, options.epochs)
        print(line(f"{name}[:{n}] plain NumPy", found), flush=True)
        off = found["primal"][-1] / crf.primal_objective_ - 1.0
        print(f"{name}[:{n}]: plain P / P - 1 = {off:.1e}", flush=True)


if __name__ == "__main__":
    main()
