"""Table 1 and figure 4 of Martins et al. (2010) on UD English EWT, or other treebanks.

    python examples/benchmarks/parsing_losses.py [--treebank tr_imst]
        [--sentences 500] [--epochs 10] [--figure]

Non-projective, arc-factored parsers with the losses L(beta, gamma), learned by dual
coordinate ascent (DCA, Algorithm 1 of the paper), which is `OnlineDependencyCRF` with
the uniform average. C is the best of three on the development data, by UAS without
punctuation after the last pass. The losses with beta = 3 and 5 are left out: DCA with
(beta, gamma) and C has the same steps as with (1, beta gamma) and beta C.

``--figure`` prints the UAS after each pass of DCA, with beta = 1 and gamma = 0, beside
stochastic gradient descent, whose first step is the best of four after one pass. The
package has no such method for trees, so SGD is written here in NumPy, and stores the
rows of arcs: it is for parts of the treebank.
"""

import argparse
from time import process_time

import numpy as np
import parsing

import tables
from skcrf_sdca import OnlineDependencyCRF
from skcrf_sdca.metrics import attachment_scores
from skcrf_sdca.structures.dependency.scores import ArcScores
from skcrf_sdca.text import ArcFeatures

FEATURES = ArcFeatures(parsing.TEMPLATES, columns=parsing.COLUMNS, n_features=2**20)
# beta and gamma; C.
LOSSES = [(1, 0), (1, 1), (1, 3), (1, 5), (np.inf, 1)]
GRID = (0.01, 0.1, 1.0)
FIRST_STEPS = (0.001, 0.01, 0.1, 1.0)


def read(treebank, part, n_sentences):
    """Return tokens, heads, and a mask of the words that are no punctuation."""
    X, trees = parsing.read(treebank, part, n_sentences)
    mask = [[upos != "PUNCT" for _, upos, _ in sentence] for sentence in X]
    return X, [heads.tolist() for heads, _ in trees], mask


def new_parser(C, beta, gamma, n_epochs):
    """Return a parser with a loss of the family."""
    is_hinge = np.isinf(beta)
    return OnlineDependencyCRF(
        C,
        features=FEATURES,
        loss="hinge" if is_hinge else "softmax_margin",
        temperature=1.0 if is_hinge else 1.0 / beta,
        margin=gamma,
        average="uniform",
        max_iter=n_epochs,
        random_state=0,
    )


def uas(parser, X, heads, mask):
    """Return the UAS without punctuation, in percent."""
    return 100.0 * attachment_scores(heads, parser.predict(X), mask=mask).uas


def table_1(X, heads, dev, test, n_epochs):
    """Yield rows of beta, gamma, the best C, UAS of both parts, and seconds so far."""
    by_C = (f"dev, C={C:g}" for C in GRID)
    yield ["beta", "gamma", "best C", "UAS, dev", "UAS, test", *by_C, "seconds"]
    for beta, gamma in LOSSES:
        found = {}
        for C in GRID:
            parser = new_parser(C, beta, gamma, n_epochs).fit(X, heads)
            found[C] = uas(parser, *dev), uas(parser, *test)
        C = max(found, key=found.get)
        scores = [*found[C], *(own for own, _ in found.values())]
        cells = [f"{score:.2f}" for score in scores]
        yield [f"{beta:g}", f"{gamma}", f"{C:g}", *cells, f"{process_time():.0f}"]


class Item:
    """The arcs of a sentence, and its log loss."""

    def __init__(self, rows, heads):
        n = len(heads)
        self.bounds = np.array([0, n * (n + 1)])
        self.columns, places = np.unique(rows.indices, return_inverse=True)
        self.places = places.astype(np.int32)
        self.values, self.sizes = rows.data.astype(np.float32), np.diff(rows.indptr)
        self.arc = np.repeat(np.arange(n * (n + 1), dtype=np.int32), self.sizes)
        self.target = np.zeros(n * (n + 1))
        self.target[np.asarray(heads) * n + np.arange(n)] = 1.0

    def gradient(self, w):
        """Return the gradient of the loss with respect to the weights of columns."""
        weights = w[self.columns][self.places] * self.values
        local = np.zeros((len(self.target), 2))
        local[:, 1] = np.bincount(self.arc, weights, minlength=len(self.target))
        marginals = ArcScores(local, np.zeros(0), self.bounds).node_marginals()[0][:, 1]
        change = np.repeat(marginals - self.target, self.sizes) * self.values
        return np.bincount(self.places, change)


def sgd(items, C, eta, n_epochs):
    """Yield the average weights after each pass, with steps eta / (1 + passes)."""
    rng, visits, n = np.random.default_rng(0), 0, len(items)
    w, lag = np.zeros(FEATURES.n_features), np.zeros(FEATURES.n_features)
    for _ in range(n_epochs):
        for i in rng.permutation(n):
            item, step = items[i], eta / (1.0 + visits / n)
            own = -step * item.gradient(w)
            lag -= visits * step / (C * n) * w
            w *= 1.0 - step / (C * n)
            w[item.columns] += own
            lag[item.columns] += visits * own
            visits += 1
        yield w - lag / visits


def dca(X, heads, C, n_epochs):
    """Yield the parser after each pass of DCA on the log loss."""
    parser, rng = new_parser(C, 1.0, 0.0, 1), np.random.default_rng(0)
    for _ in range(n_epochs):
        order = rng.permutation(len(X))
        yield parser.partial_fit([X[i] for i in order], [heads[i] for i in order])


def figure_4(X, heads, dev, n_epochs, C=0.1):
    """Yield rows of the UAS after each pass of DCA and of SGD on the log loss."""
    pairs = zip(FEATURES.transform(X), heads, strict=True)
    items = [Item(rows, own) for rows, own in pairs]
    other = new_parser(C, 1.0, 0.0, 1).fit(X[:2], heads[:2])

    def of_weights(w):
        other.coef_ = w[np.newaxis].copy()
        return uas(other, *dev)

    first = {eta: of_weights(next(sgd(items, C, eta, 1))) for eta in FIRST_STEPS}
    eta = max(first, key=first.get)
    print("SGD after one pass:", {eta: f"{own:.2f}" for eta, own in first.items()})
    yield ["pass", "DCA", f"SGD, eta {eta:g}"]
    curves = dca(X, heads, C, n_epochs), sgd(items, C, eta, n_epochs)
    for k, (parser, w) in enumerate(zip(*curves, strict=True), start=1):
        yield [f"{k}", f"{uas(parser, *dev):.2f}", f"{of_weights(w):.2f}"]


def main():
    """Print the table, or the curves."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--treebank", default="en_ewt")
    parser.add_argument("--sentences", type=int, help="of each part")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--figure", action="store_true", help="figure 4")
    options = parser.parse_args()
    parts = (
        read(options.treebank, part, options.sentences)
        for part in ("train", "dev", "test")
    )
    (X, heads, _), dev, test = parts
    print(f"{len(X)} sentences", flush=True)
    if options.figure:
        tables.stream(figure_4(X, heads, dev, options.epochs))
    else:
        tables.stream(table_1(X, heads, dev, test, options.epochs))


if __name__ == "__main__":
    main()
