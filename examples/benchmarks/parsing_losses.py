"""Table 1 and figure 4 of Martins et al. (2010) on a part of UD English EWT.

    python examples/benchmarks/parsing_losses.py [--sentences 500] [--epochs 10]

Non-projective, arc-factored parsers with the losses L(beta, gamma), learned by dual
coordinate ascent (DCA, Algorithm 1 of the paper) and, with beta = 1 and gamma = 0, by
stochastic gradient descent. C is the best of four on the development data, by UAS
without punctuation after the last pass, and so is the first step of SGD after one pass.
Learning is written here in NumPy, since the package has no such family of online
losses for trees; inference is that of the package. The rows of arcs are stored.
"""

import argparse
import os
import re
from pathlib import Path
from time import process_time

import numpy as np

import tables
from skcrf_sdca import OnlineDependencyCRF
from skcrf_sdca.structures.dependency.scores import ArcScores
from skcrf_sdca.text import ArcFeatures, arc_templates, read_conllu

COLUMNS = ("word", "xpos")
FEATURES = ArcFeatures(arc_templates(*COLUMNS), columns=COLUMNS, n_features=2**18)
LOSSES = [(1, 0), (1, 1), (1, 3), (1, 5), (3, 1), (5, 1), (np.inf, 1)]
GRID = (0.001, 0.01, 0.1, 1.0)


def read(part, n_sentences, longest=40):
    """Return tokens, heads, and which words are no punctuation."""
    path = Path(os.environ["SKCRF_SDCA_DATA"]) / "ud" / f"en_ewt.{part}.conllu.gz"
    _, sentences = read_conllu(path, label=None, return_sentences=True)
    digits = re.compile("[0-9]")
    sentences = [s for s in sentences if len(s.words) <= longest][:n_sentences]
    X = [[(digits.sub("0", t["word"]), t["xpos"]) for t in s.words] for s in sentences]
    words = [t["upos"] != "PUNCT" for s in sentences for t in s.words]
    return X, [s.tree[0] for s in sentences], np.array(words)


class Item:
    """The arcs of a sentence, and its loss."""

    def __init__(self, rows, heads):
        n = len(heads)
        self.bounds = np.array([0, n * (n + 1)])
        self.columns, places = np.unique(rows.indices, return_inverse=True)
        self.places = places.astype(np.int32)
        self.values, self.sizes = rows.data.astype(np.float32), np.diff(rows.indptr)
        self.arc = np.repeat(np.arange(n * (n + 1), dtype=np.int32), self.sizes)
        self.target = np.zeros(n * (n + 1))
        self.target[np.asarray(heads) * n + np.arange(n)] = 1.0

    def loss(self, w, beta, gamma):
        """Return the loss, and its gradient with respect to the weights of columns."""
        n_arcs = len(self.target)
        weights = w[self.columns][self.places] * self.values
        scores = np.bincount(self.arc, weights, minlength=n_arcs)
        right = scores @ self.target
        scale = 1.0 if np.isinf(beta) else beta
        local = np.zeros((n_arcs, 2))
        local[:, 1] = scale * (scores + gamma * (1.0 - self.target))
        arcs = ArcScores(local, np.zeros(0), self.bounds)
        if np.isinf(beta):
            labels, (value,) = arcs.viterbi()
            found = (labels > 0).astype(float)
        else:
            value = arcs.log_partition()[0] / beta
            found = arcs.node_marginals()[0][:, 1]
        change = np.repeat(found - self.target, self.sizes) * self.values
        return value - right, np.bincount(self.places, change)


def learn(items, step, n_epochs, seed=0):
    """Yield the average weights after each pass, and the mean loss of its visits.

    ``step(loss, gradient, visits)`` returns the step, and how much the weights shrink.
    """
    rng, visits = np.random.default_rng(seed), 0
    w, lag = np.zeros(FEATURES.n_features), np.zeros(FEATURES.n_features)
    for _ in range(n_epochs):
        losses = 0.0
        for i in rng.permutation(len(items)):
            item = items[i]
            own, shrink, value = step(item, w, visits)
            losses += value
            if shrink != 1.0:
                lag -= visits * (1.0 - shrink) * w
                w *= shrink
            w[item.columns] += own
            lag[item.columns] += visits * own
            visits += 1
        yield w - lag / visits, losses / len(items)


def dca(C, beta, gamma):
    """Return the step of DCA: as long as the loss asks for, at most C."""

    def step(item, w, visits):
        loss, gradient = item.loss(w, beta, gamma)
        norm = gradient @ gradient
        length = min(C, max(loss, 0.0) / norm) if norm > 0.0 else 0.0
        return -length * gradient, 1.0, loss

    return step


def sgd(C, eta, n):
    """Return the step of SGD on the log loss, with steps eta / (1 + epochs)."""

    def step(item, w, visits):
        loss, gradient = item.loss(w, 1.0, 0.0)
        own = eta / (1.0 + visits / n)
        return -own * gradient, 1.0 - own / (C * n), loss

    return step


class Scorer:
    """UAS without punctuation of weights, by the compiled parser."""

    def __init__(self, X, heads, words):
        self.X, self.heads, self.words = X, np.concatenate(heads), words
        self.parser = OnlineDependencyCRF(features=FEATURES)
        self.parser.fit(X[:2], heads[:2])

    def __call__(self, w):
        """Return the UAS, in percent."""
        self.parser.coef_ = w[np.newaxis].copy()
        found = np.concatenate(self.parser.predict(self.X))
        return 100.0 * float((found == self.heads)[self.words].mean())


def table_1(items, dev, test, n_epochs):
    """Return rows of beta, gamma, the best C, and UAS of both parts."""
    rows = [("beta", "gamma", "best C", "UAS, dev", "UAS, test", "UAS, dev, by C")]
    for beta, gamma in LOSSES:
        found = {}
        for C in GRID:
            *_, (w, _) = learn(items, dca(C, beta, gamma), n_epochs)
            found[C] = dev(w), test(w)
        C = max(found, key=found.get)
        by_C = " ".join(f"{own:.2f}" for own, _ in found.values())
        uas, on_test = found[C]
        row = f"{beta:g}", f"{gamma}", f"{C:g}", f"{uas:.2f}", f"{on_test:.2f}", by_C
        print(*row, f"{process_time():.0f} s", flush=True)
        rows.append(row)
    return rows


def figure_4(items, dev, n_epochs, C=0.1):
    """Return rows of the UAS after each pass of DCA and of SGD on the log loss."""
    n = len(items)
    first = {eta: dev(next(learn(items, sgd(C, eta, n), 1))[0]) for eta in GRID}
    eta = max(first, key=first.get)
    print("SGD after one pass:", {eta: f"{uas:.2f}" for eta, uas in first.items()})
    curves = (
        learn(items, dca(C, 1.0, 0.0), n_epochs),
        learn(items, sgd(C, eta, n), n_epochs),
    )
    rows = [("pass", "DCA", f"SGD, eta {eta:g}")]
    for k, both in enumerate(zip(*curves, strict=True), start=1):
        rows.append((f"{k}", *(f"{dev(w):.2f}" for w, _ in both)))
    return rows


def main():
    """Print the table, and the curves."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--epochs", type=int, default=10)
    options = parser.parse_args()
    X, heads, _ = read("train", options.sentences)
    pairs = zip(FEATURES.transform(X), heads, strict=True)
    items = [Item(rows, own) for rows, own in pairs]
    dev, test = (Scorer(*read(part, None)) for part in ("dev", "test"))
    print(f"{len(items)} sentences: {process_time():.0f} s to read", flush=True)
    tables.show(figure_4(items, dev, options.epochs))
    tables.show(table_1(items, dev, test, options.epochs))


if __name__ == "__main__":
    main()
