"""Prune arcs for a parser of second order, by the probabilities of first order.

    python examples/benchmarks/pruned_arcs.py [--treebank tr_imst] [--sentences 2000]
        [--train]

[Martins10, sec. 5] prunes arcs before parsers of second order are trained. Here a
parser of projective trees with scores of arcs alone learns by log loss, and an arc is
kept if its probability is at least a part of that of the most probable arc to the same
word. The table has, on the development data, the arcs that are kept for each word, the
shares of siblings (of two kept arcs) and of right arcs that are kept, and the UAS of a
parser with siblings, learned by MIRA on all arcs, if its trees have kept arcs alone.
Then come the seconds of the processor: of both parsers to learn, and on these data of
sums of first order, and of scores and trees of second order.

With --train another parser of first order, `DependencyCRF`, learns from the arcs that
are kept, and from the right ones, to a gap of 1e-3 P of this problem. Arcs that are not
kept have no features. The table has the features that are stored, the epochs, seconds
of the processor of an epoch with its certificate, and the UAS of trees of kept arcs.
"""

import argparse
from time import process_time

import numpy as np
import parsing
import scipy.sparse as sp

import tables
from skcrf_sdca import DependencyCRF, OnlineDependencyCRF
from skcrf_sdca.data.heads import crossing
from skcrf_sdca.text import ArcFeatures

PARTS = (0.0, 1e-4, 1e-3, 1e-2, 1e-1)
HEADER = ["part", "arcs a word", "siblings", "right arcs", "UAS"]
TRAIN_HEADER = ["part", "features, 10^6", "epochs", "seconds of one", "gap / P", "UAS"]
BATCH = 100


def new_parser(templates, bits, **options):
    """Return a parser of projective trees."""
    features = ArcFeatures(templates, columns=parsing.COLUMNS, n_features=2**bits)
    return OnlineDependencyCRF(
        features=features, projective=True, random_state=0, **options
    )


class Timed:
    """Seconds of the processor by what they are spent on."""

    def __init__(self):
        self.seconds = {}

    def __call__(self, name, function, *arguments):
        """Return what a function returns, and count its seconds."""
        start = process_time()
        found = function(*arguments)
        self.seconds[name] = self.seconds.get(name, 0.0) + process_time() - start
        return found


def kept(proba, part):
    """Return the arcs (n + 1, n) that are kept: one to each word at least."""
    return proba >= part * proba.max(axis=0)


def share_of_siblings(masks):
    """Return the share of siblings (h, m, s) of which both arcs are kept, or s is h."""
    found = total = 0
    for mask in masks:
        n = mask.shape[1]
        own = mask[1:]
        # Of the words to one side of h, all pairs are siblings.
        for side in (np.tril(own, -1), np.triu(own, 1)):
            count = side.sum(axis=1)
            found += (count * (count + 1) // 2).sum()
        total += (n**3 - n) // 3
    return found / total


def trees(scores, masks):
    """Return the heads of the best trees of kept arcs."""
    for begin, own in zip(scores.offsets[:-1], masks, strict=True):
        scores.local[begin : begin + own.size, 1][~own.ravel()] = -np.inf
    labels, _ = scores.viterbi()
    return [
        labels[begin : begin + own.size].reshape(own.shape).argmax(axis=0)
        for begin, own in zip(scores.offsets[:-1], masks, strict=True)
    ]


def rows(first, second, X, y, timed):
    """Yield the rows of the table."""
    yield HEADER
    probas = timed("sums over trees", first.predict_proba, X)
    for part in PARTS:
        masks = [kept(proba, part) for proba in probas]
        right = np.concatenate(
            [
                mask[heads, np.arange(len(heads))]
                for mask, heads in zip(masks, y, strict=True)
            ]
        )
        hits = []
        for begin in range(0, len(X), BATCH):
            cut = slice(begin, begin + BATCH)
            packed = second._pack(X[cut], None)
            scores = timed(
                "scores with siblings", second._scores_of(packed), 0, len(X[cut])
            )
            found = timed("trees with siblings", trees, scores, masks[cut])
            pairs = zip(found, y[cut], strict=True)
            hits += [heads == gold for heads, gold in pairs]
        n_kept = sum(mask.sum() for mask in masks) / len(right)
        yield [
            f"{part:g}",
            f"{n_kept:.2f}",
            f"{100 * share_of_siblings(masks):.1f} %",
            f"{100 * right.mean():.2f} %",
            f"{100 * np.concatenate(hits).mean():.2f}",
        ]


def kept_arcs(first, X, y, part):
    """Return the pairs of arcs and a mask of those kept; y may be None."""
    pairs = []
    of_all = zip(first.features.transform(X), first.predict_proba(X), strict=True)
    for i, (rows, proba) in enumerate(of_all):
        mask = kept(proba, part)
        if y is not None:
            mask[y[i], np.arange(len(y[i]))] = True
        rows = sp.csr_array(sp.diags_array(1.0 * mask.ravel()) @ rows)
        rows.eliminate_zeros()
        pairs.append((rows, mask))
    return pairs


def training_rows(first, X, y, X_dev, y_dev):
    """Yield the rows of the table of training on kept arcs."""
    yield TRAIN_HEADER
    for part in PARTS:
        arcs = kept_arcs(first, X, y, part)
        model = DependencyCRF(10.0 / len(X), projective=True, random_state=0)
        start = process_time()
        model.fit(arcs, y)
        seconds = (process_time() - start) / model.n_iter_
        found = model.predict(kept_arcs(first, X_dev, None, part))
        hits = [heads == gold for heads, gold in zip(found, y_dev, strict=True)]
        yield [
            f"{part:g}",
            f"{sum(rows.nnz for rows, _ in arcs) / 1e6:.1f}",
            str(model.n_iter_),
            f"{seconds:.2f}",
            f"{model.duality_gap_ / model.primal_objective_:.1e}",
            f"{100 * np.concatenate(hits).mean():.2f}",
        ]


def without_crossing(X, y):
    """Return the sentences whose trees are projective."""
    pairs = [pair for pair in zip(X, y, strict=True) if crossing(pair[1]) is None]
    return map(list, zip(*pairs, strict=True))


def main():
    """Print the table and the seconds."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--treebank", default="en_ewt")
    parser.add_argument("--sentences", type=int, help="of each part")
    parser.add_argument("--bits", type=int, default=21, help="log2 of n_features")
    parser.add_argument("--train", action="store_true", help="on kept arcs")
    options = parser.parse_args()
    (X, y), (X_dev, y_dev) = (
        (tokens, [heads for heads, _ in trees])
        for tokens, trees in (
            parsing.read(options.treebank, part, options.sentences)
            for part in ("train", "dev")
        )
    )
    timed = Timed()
    first = new_parser(
        parsing.TEMPLATES, options.bits, loss="log_loss", C=0.05, max_iter=2
    )
    second = new_parser(parsing.TEMPLATES + parsing.SIBLINGS, options.bits, max_iter=3)
    timed("first order learns", first.fit, X, y)
    if options.train:
        X, y = without_crossing(X, y)
        tables.stream(training_rows(first, X, y, X_dev, y_dev))
        return
    timed("siblings learn", second.fit, X, y)
    tables.stream(rows(first, second, X_dev, y_dev, timed))
    for name, seconds in timed.seconds.items():
        runs = len(PARTS) if name.endswith("with siblings") else 1
        print(f"{name:24} {seconds / runs:.2f} s")


if __name__ == "__main__":
    main()
