"""Train parsers of second order by belief propagation, and by an upper bound of log Z.

    python examples/benchmarks/second_order_parsing.py [--task treebank random] \
[--treebank tr_imst] [--steps adagrad dca "sgd 0.1"] [--inference bp] \
[--sentences 500] [--longest 12] [--seeds 1]

The score of a non-projective tree is a sum over its arcs, consecutive siblings and
grandparents, and log Z takes exponential time. Smith and Eisner ("Dependency parsing by
belief propagation", EMNLP 2008) have a binary variable for each arc, and the factors

tree      all arcs: they form a tree with one root; sums by the matrix-tree theorem.
chains    the arcs of a head to one side: scores of children one after another.
pairs     two arcs, g -> h and h -> m: the score of a grandparent.

Martins et al. ("Learning structured classifiers with dual coordinate ascent", 2010)
train with it, and find P(y | x) > 1 for 15 % of the sentences. Here are

arcs      exact: arcs alone.
bp        loopy belief propagation. log Z is that of Bethe, no bound.
bound     an upper bound by Hölder's inequality, for weights that sum to 1 at each arc,

              log Z <= sum_f weight_f log Z_f(score_f / weight_f),

          where the factors share the scores of arcs. Shares move between factors until
          all have the same probabilities of arcs; any shares give a bound. In place of
          "pairs" the bound has

words     all arcs of a word: it has one head, and children with their grandparents.

treebank  UD English EWT, or another, sentences that are not long, from the folder
          SKCRF_SDCA_DATA.
          Steps minimise the losses log Z - score(y): AdaGrad, or the steps of DCA of
          the paper, the loss / |gradient|^2, or at most C, and 0 for negative losses,
          or its rival, plain SGD from some first steps, with |w|^2 / (2 C n) beside.
          The columns are the share of words with the right head, where trees have the
          largest sum of probabilities of arcs; the share of visits with P(y | x) > 1
          in the first and in the last epoch; in the last one, the share of visits where
          probabilities of factors differ by more than 0.01 in the end, and the mean
          loss; and seconds of the processor.
random    Five words with normal scores: the share of sentences whose best tree has
          P(y | x) > 1, the mean of log Z - the exact one, and the share where
          factors differ, by the deviation of the scores of siblings and grandparents.
          Nothing is trained.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable
from functools import cache, partial
from itertools import product
from time import process_time
from typing import NamedTuple

import numpy as np
import parsing
import scipy.sparse as sp
from parsing_losses import FIRST_STEPS
from scipy.special import expit, logsumexp

import tables
from skcrf_sdca.structures.dependency.scores import ArcScores
from skcrf_sdca.text import ArcFeatures

TEMPLATES = [
    "h.upos m.upos",
    "h.word m.upos",
    "h.upos m.word",
    "h.xpos m.xpos",
    "h.upos between.upos m.upos",
    "h-1.upos h.upos m.upos m+1.upos",
    "h.upos h+1.upos m-1.upos m.upos",
]
RATE = 0.1
# Probabilities of factors that differ by more have not converged.
TOLERANCE = 0.01
# Of messages, also of an arc that a factor is sure of.
LARGEST = 50.0
N_RANDOM_WORDS = 5
TREEBANK_HEADER = [
    "steps",
    "inference",
    "dev",
    "test",
    "P > 1",
    "at last",
    "open",
    "loss",
    "seconds",
]
RANDOM_HEADER = ["deviation", "inference", "P > 1", "error", "open"]


@cache
class Arcs:
    """The arcs of n words, and their pairs; triples are (h, m, s) and (g, h, m)."""

    def __init__(self, n_words):
        self.n_words = n_words
        head, word = np.indices((n_words + 1,) * 2).reshape(2, -1)
        self.ends = np.array([head, word])[:, (word > 0) & (head != word)]
        place = np.full((n_words + 1,) * 2, -1)
        place[tuple(self.ends)] = np.arange(self.ends.shape[1])
        a, b, c = triples = np.indices((n_words + 1,) * 3).reshape(3, -1)
        nearer = (a == c) | ((a < c) & (c < b)) | ((b < c) & (c < a))
        self.siblings = triples[:, (b > 0) & (a != b) & nearer]
        distinct = (a != b) & (b != c) & (a != c)
        self.grandparents = triples[:, (b > 0) & (c > 0) & distinct]
        g, h, m = self.grandparents
        self.pairs = np.array([place[g, h], place[h, m]])

    def cube(self, places, values):
        """Return arrays over heads and words, and words, of -inf but for places."""
        shape = (len(values),) + (self.n_words + 1,) * len(places)
        found = np.full(shape, -np.inf)
        found[:, *places] = values
        return found

    def parts(self, heads):
        """Return whether trees, (n_trees, n_words), have each arc, sibling, ..."""
        n = self.n_words
        has = np.zeros((len(heads), n + 1, n + 1), dtype=bool)
        has[np.arange(len(heads))[:, np.newaxis], heads, np.arange(1, n + 1)] = True
        h, m, s = self.siblings
        # Children of h that are not after a word.
        count = has.cumsum(axis=2)
        between = count[:, h, np.maximum(m, s) - 1] - count[:, h, np.minimum(m, s)]
        siblings = has[:, h, m] & ((s == h) | has[:, h, s]) & (between == 0)
        g, h, m = self.grandparents
        return has[:, *self.ends], siblings, has[:, g, h] & has[:, h, m]


class Sums(NamedTuple):
    """What a factor finds: all are sums of positive terms, exact if near 0 too."""

    log_z: np.ndarray
    on: np.ndarray  # probabilities of arcs
    off: np.ndarray  # 1 - on
    beside: np.ndarray | None  # probabilities of siblings or grandparents


def arc_scores(arcs, values):
    """Return the ArcScores of trees with values of arcs, (n_trees, n_arcs)."""
    head, word = arcs.ends
    n = arcs.n_words
    local = np.zeros((len(values), n + 1, n, 2))
    local[:, head, word - 1, 1] = values
    offsets = np.arange(len(values) + 1) * n * (n + 1)
    return ArcScores(local.reshape(-1, 2), np.zeros(0), offsets)


def best_trees(arcs, values):
    """Return the heads of the trees with the largest sum of values of arcs."""
    in_tree, _ = arc_scores(arcs, values).viterbi()
    return in_tree.reshape(-1, arcs.n_words + 1, arcs.n_words).argmax(axis=1)


def tree(arcs, scores, _):
    """Return the Sums over all trees."""
    head, word = arcs.ends
    mu, log_z = arc_scores(arcs, scores).node_marginals()
    on = mu[:, 1].reshape(len(scores), arcs.n_words + 1, arcs.n_words)
    off = (1.0 - np.eye(arcs.n_words + 1)) @ on
    return Sums(log_z, on[:, head, word - 1], off[:, head, word - 1], None)


def chains(arcs, scores, of_siblings):
    """Return the Sums over all sets of children of each head.

    With a child m and the one before it, or h, as s, where s is nearer to h,

        before[m] = log sum over s of exp(before[s] + pair[m, s]) + score[m],
        after[s] = log(1 + sum over m of exp(pair[m, s] + score[m] + after[m])).
    """
    # To the right, and to the left in the order of a mirror.
    score = arcs.cube(arcs.ends, scores)
    pair = arcs.cube(arcs.siblings, of_siblings)
    score = np.stack([score, score[:, ::-1, ::-1]])[..., np.newaxis]
    pair = np.stack([pair, pair[:, ::-1, ::-1, ::-1]]) + score
    h, m, _ = np.indices(pair.shape[2:], sparse=True)
    pair = np.where(h > m, -np.inf, pair)
    n = arcs.n_words + 1
    before = np.full(pair.shape[:-1], -np.inf)
    before[:, :, np.arange(n), np.arange(n)] = 0.0
    for m in range(1, n):
        found = np.logaddexp.reduce(before + pair[:, :, :, m], axis=-1)
        before[..., m] = np.logaddexp(before[..., m], found)
    after = np.zeros(pair.shape[:-1])
    for s in range(n - 2, -1, -1):
        found = np.logaddexp.reduce(pair[..., s] + after, axis=-1)
        after[..., s] = np.logaddexp(0.0, found)
    log_z = np.logaddexp.reduce(before, axis=-1, keepdims=True)
    on = np.exp(before + after - log_z)
    joined = before[:, :, :, np.newaxis] + pair + after[..., np.newaxis]
    joined = np.exp(joined - log_z[..., np.newaxis])
    # What is before a word, with what is after it, or nothing.
    behind = np.zeros(joined.shape)
    behind[..., :-1, :] = np.cumsum(joined[..., :0:-1, :], axis=-2)[..., ::-1, :]
    behind += np.exp(before - log_z)[..., np.newaxis, :]
    off = np.where(np.tri(n, k=-1), behind, 0.0).sum(axis=-1)
    to_left = np.tri(n, k=-1, dtype=bool)
    on, off = (np.where(to_left, p[1, :, ::-1, ::-1], p[0]) for p in (on, off))
    joined = joined[0] + joined[1, :, ::-1, ::-1, ::-1]
    return Sums(
        log_z.sum(axis=(0, 2, 3)),
        on[:, *arcs.ends],
        off[:, *arcs.ends],
        joined[:, *arcs.siblings],
    )


def pairs(arcs, scores, of_pairs):
    """Return the Sums over two arcs at a time; the first ones are those to heads."""
    first, second = np.split(scores, 2, axis=1)
    both = first + second + of_pairs
    log_z = np.logaddexp(np.logaddexp(0.0, first), np.logaddexp(second, both))
    neither, first, second, both = (
        np.exp(score - log_z) for score in (0.0, first, second, both)
    )
    on = np.hstack([first + both, second + both])
    off = np.hstack([neither + second, neither + first])
    return Sums(log_z.sum(axis=1), on, off, both)


def words(arcs, scores, of_grandparents):
    """Return the Sums over a head and all sets of children of each word.

    The first half of the scores is of the arcs as those to the word, and the second one
    as those of its children. No child is the head of the word.
    """
    into, out = (arcs.cube(arcs.ends, own) for own in np.split(scores, 2, axis=1))
    child = arcs.cube(arcs.grandparents, of_grandparents) + out[:, np.newaxis]
    head = into[:, :, 1:] + np.logaddexp(0.0, child).sum(axis=3)[:, :, 1:]
    log_z = logsumexp(head, axis=1, keepdims=True)
    p = np.zeros(into.shape)
    p[:, :, 1:] = np.exp(head - log_z)
    joined = p[..., np.newaxis] * expit(child)
    children, others = joined.sum(axis=1), (p[..., np.newaxis] * expit(-child)).sum(1)
    children[:, 0], others[:, 0] = expit(out[:, 0]), expit(-out[:, 0])
    on, off = [p, children], [(1.0 - np.eye(p.shape[1])) @ p, others]
    return Sums(
        log_z.sum(axis=(1, 2)) + np.logaddexp(0.0, out[:, 0]).sum(axis=1),
        np.hstack([own[:, *arcs.ends] for own in on]),
        np.hstack([own[:, *arcs.ends] for own in off]),
        joined[:, *arcs.grandparents],
    )


class Factor(NamedTuple):
    """Factors of one kind: how their sums are found, and of which arcs."""

    sums: Callable
    weight: float
    # The block of scores that they have beside those of arcs, if any.
    block: int | None = None

    def places(self, arcs):
        """Return the arcs that the factors have, in the order of their scores."""
        if self.sums is pairs:
            return arcs.pairs.ravel()
        return np.tile(np.arange(arcs.ends.shape[1]), 2 if self.sums is words else 1)


INFERENCES = {
    "arcs": [Factor(tree, 1.0)],
    "bp": [Factor(tree, 1.0), Factor(chains, 1.0, 1), Factor(pairs, 1.0, 2)],
    "bound": [Factor(tree, 0.4), Factor(chains, 0.3, 1), Factor(words, 0.15, 2)],
}


class Found(NamedTuple):
    """Approximate sums over the trees of sentences."""

    log_z: np.ndarray
    expected: list  # probabilities of arcs, siblings and grandparents
    is_open: np.ndarray


@cache
class Inference:
    """Sums over trees of n words by factors that send each other messages.

    Each factor f has own scores of its arcs, by which all factors shall have the same
    log-odds L_f of arcs. Messages are those of

        joint = score + sum_f weight_f (L_f - score_f),  score_f += joint - L_f,

    with damping. All weights are 1 in belief propagation. Where they sum to 1 at an
    arc, the sum of weight_f score_f remains its score, and the sum of log Z a bound.
    """

    def __init__(self, name, n_words):
        self.factors, self.arcs = INFERENCES[name], Arcs(n_words)
        self.places = [factor.places(self.arcs) for factor in self.factors]
        n_arcs = self.arcs.ends.shape[1]
        # From the scores of each factor to arcs, times its weight.
        self.to_arcs = [
            sp.csr_array(
                (np.full(len(place), factor.weight), (np.arange(len(place)), place)),
                (len(place), n_arcs),
            )
            for factor, place in zip(self.factors, self.places, strict=True)
        ]
        self.surplus = sum(matrix.sum(axis=0) for matrix in self.to_arcs) - 1.0

    def run(self, scores, n_iter, damping=0.5):
        """Return the Found of scores of arcs, siblings and grandparents."""
        joint = scores[0]
        own = [joint[:, place] for place in self.places]
        sums = self._sums(own, scores)
        for _ in range(n_iter if len(self.factors) > 1 else 0):
            messages = [
                message(found, old) for found, old in zip(sums, own, strict=True)
            ]
            target = scores[0] + self._at_arcs(messages)
            joint = damping * joint + (1.0 - damping) * target
            for old, sent, place in zip(own, messages, self.places, strict=True):
                old += (1.0 - damping) * (target[:, place] - sent - old)
            sums = self._sums(own, scores)
        return self._found(joint, sums)

    def _sums(self, own, scores):
        return [
            f.sums(self.arcs, score, f.block and scores[f.block] / f.weight)
            for f, score in zip(self.factors, own, strict=True)
        ]

    def _at_arcs(self, values):
        return sum(own @ m for own, m in zip(values, self.to_arcs, strict=True))

    def _found(self, joint, sums):
        found = list(zip(self.factors, sums, strict=True))
        # Bethe's formula, whose last term is 0 in the bound.
        log_z = sum(factor.weight * own.log_z for factor, own in found)
        log_z = log_z - np.logaddexp(0.0, joint) @ self.surplus
        mu = self._at_arcs([own.on for own in sums]) - self.surplus * expit(joint)
        beside = {factor.block: own.beside for factor, own in found}
        is_open = np.zeros(len(joint), dtype=bool)
        for own, place in zip(sums, self.places, strict=True):
            apart = np.abs(own.on - mu[:, place]).max(axis=1, initial=0.0)
            is_open |= apart > TOLERANCE
        return Found(log_z, [mu, beside.get(1, 0.0), beside.get(2, 0.0)], is_open)


def message(found, own):
    """Return what the log-odds of a factor have beside its own scores."""
    with np.errstate(divide="ignore"):
        odds = np.log(found.on) - np.log(found.off)
    return np.clip(odds - own, -LARGEST, LARGEST)


class Batch:
    """Sentences of equal length: features of arcs, tags of pairs, and trees."""

    def __init__(self, X, heads, features, tags):
        self.arcs = arcs = Arcs(len(X[0]))
        head, word = arcs.ends
        rows = head * arcs.n_words + word - 1
        self.rows = sp.vstack([own[rows] for own in features.transform(X)], "csr")
        self.heads = np.array(heads)
        self.gold = arcs.parts(self.heads)
        # The root has code 0, and the last code says that there is no nearer sibling.
        codes = np.array([[0, *(1 + tags.index(t[1]) for t in own)] for own in X])
        n_codes = len(tags) + 2
        self.places = []
        for a, b, c in (arcs.siblings, arcs.grandparents):
            third = np.where(a == c, n_codes - 1, codes[:, c])
            place = (codes[:, a] * n_codes + codes[:, b]) * n_codes + third
            self.places.append(4 * place + 2 * (a < b) + (b < c))

    def scores(self, weights):
        """Return the scores of arcs, siblings and grandparents."""
        of_arcs = (self.rows @ weights[0]).reshape(len(self.heads), -1)
        return [of_arcs, *(w[p] for w, p in zip(weights[1:], self.places, strict=True))]

    def losses(self, scores, found):
        """Return log Z - score(y)."""
        gold = zip(scores, self.gold, strict=True)
        return found.log_z - sum((score * has).sum(axis=1) for score, has in gold)

    def slopes(self, found, weights):
        """Return expected features less those of the trees."""
        change = [mu - has for mu, has in zip(found.expected, self.gold, strict=True)]
        pairs = zip(self.places, change[1:], weights[1:], strict=True)
        return [
            self.rows.T @ change[0].ravel(),
            *(np.bincount(p.ravel(), c.ravel(), len(w)) for p, c, w in pairs),
        ]


def batches(pairs, size, features, tags):
    """Return Batches of pairs of tokens and heads."""
    by_length = defaultdict(list)
    for pair in pairs:
        by_length[len(pair[0])].append(pair)
    return [
        Batch(*zip(*own[begin : begin + size], strict=True), features, tags)
        for own in by_length.values()
        for begin in range(0, len(own), size)
    ]


class Parser:
    """Weights of arcs, siblings and grandparents, and how they learn."""

    def __init__(self, inference, options, n_tags):
        self.inference, self.options = inference, options
        sizes = 2**options.bits, 4 * (n_tags + 2) ** 3, 4 * (n_tags + 2) ** 3
        self.weights = [np.zeros(size) for size in sizes]
        self.squares = [np.full(size, 1e-8) for size in sizes]
        blocks = [factor.block for factor in INFERENCES[inference]]
        self.used = [block or 0 for block in blocks]
        self.n_visits = 0

    def found(self, batch):
        """Return the scores of a batch, and what is inferred."""
        scores = batch.scores(self.weights)
        inference = Inference(self.inference, batch.arcs.n_words)
        options = self.options
        return scores, inference.run(scores, options.iterations, options.damping)

    def visit(self, batch, steps):
        """Make a step; return the losses before it, and which runs are open."""
        scores, found = self.found(batch)
        losses = batch.losses(scores, found)
        slopes = batch.slopes(found, self.weights)
        steps(self, losses, [slopes[block] for block in self.used])
        self.n_visits += len(losses)
        return losses, found.is_open

    def adagrad(self, losses, slopes):
        """Divide the slope of each weight by the root of the sum of squares."""
        for block, slope in zip(self.used, slopes, strict=True):
            self.squares[block] += slope**2
            self.weights[block] -= RATE * slope / np.sqrt(self.squares[block])

    def dca(self, losses, slopes):
        """Make the step of DCA [Martins10, eq. 16]; a batch is one sentence."""
        norm = sum(slope @ slope for slope in slopes)
        if losses[0] > 0.0 and norm > 0.0:
            step = min(self.options.C, losses[0] / norm)
            for block, slope in zip(self.used, slopes, strict=True):
                self.weights[block] -= step * slope

    def sgd(self, losses, slopes, eta):
        """Make a step on the loss + |w|^2 / (2 C n) of one sentence."""
        n = self.options.sentences
        step = eta / (1.0 + self.n_visits / n)
        for block, slope in zip(self.used, slopes, strict=True):
            self.weights[block] *= 1.0 - step / (self.options.C * n)
            self.weights[block] -= step * slope

    def score(self, batches):
        """Return the share of words whose heads are right."""
        right = []
        for batch in batches:
            heads = best_trees(batch.arcs, self.found(batch)[1].expected[0])
            right.append((heads == batch.heads).ravel())
        return np.concatenate(right).mean()


STEPS = {
    "adagrad": (Parser.adagrad, 16),
    "dca": (Parser.dca, 1),
    **{f"sgd {eta:g}": (partial(Parser.sgd, eta=eta), 1) for eta in FIRST_STEPS},
}


def read(part, options):
    """Return the tokens and heads of the sentences that are not long."""
    X, y = parsing.read(options.treebank, part)
    found = zip(X, (heads for heads, _ in y), strict=True)
    return [pair for pair in found if len(pair[0]) <= options.longest]


def batches_of(options, size, rng):
    """Return the tags, and the batches of random training data, and of dev and test."""
    parts = {part: read(part, options) for part in ("train", "dev", "test")}
    drawn = rng.choice(len(parts["train"]), options.sentences, replace=False)
    parts["train"] = [parts["train"][k] for k in drawn]
    tags = sorted({t[1] for pairs in parts.values() for X, _ in pairs for t in X})
    features = ArcFeatures(
        TEMPLATES, columns=parsing.COLUMNS, n_features=2**options.bits
    )
    sizes = size, 16, 16
    return tags, *(
        batches(own, n, features, tags)
        for own, n in zip(parts.values(), sizes, strict=True)
    )


def learn(parser, train, step, rng):
    """Yield the losses of each epoch before the steps, and which runs are open."""
    for _ in range(parser.options.epochs):
        order = rng.permutation(len(train))
        visits = [parser.visit(train[k], step) for k in order]
        yield [np.concatenate(own) for own in zip(*visits, strict=True)]


def compare(options, steps, seed):
    """Yield the rows of one kind of steps."""
    rng = np.random.default_rng(seed)
    step, size = STEPS[steps]
    tags, train, *held_out = batches_of(options, size, rng)
    for inference in options.inference:
        parser = Parser(inference, options, len(tags))
        began = process_time()
        epochs = list(learn(parser, train, step, rng))
        seconds = process_time() - began
        above = [np.mean(losses < -1e-9) for losses, _ in epochs]
        losses, is_open = epochs[-1]
        shares = above[0], above[-1], np.mean(is_open)
        yield [
            f"{steps}, seed {seed}",
            inference,
            *(f"{100 * parser.score(part):.2f}" for part in held_out),
            *(f"{100 * share:.1f} %" for share in shares),
            f"{losses.mean():.3f}",
            f"{seconds:.1f}",
        ]


def trees(n_words):
    """Return the heads of all trees of n words with one root, (n_trees, n_words)."""
    heads = np.array(list(product(range(n_words + 1), repeat=n_words)))
    heads = heads[(heads == 0).sum(axis=1) == 1]
    above = parents = np.pad(heads, ((0, 0), (1, 0)))
    for _ in range(n_words):
        above = np.take_along_axis(parents, above, axis=1)
    return heads[~above.any(axis=1)]


def of_random_scores(options, seed):
    """Yield the rows of sentences with random scores."""
    rng = np.random.default_rng(seed)
    parts = Arcs(N_RANDOM_WORDS).parts(trees(N_RANDOM_WORDS))
    unit = [rng.normal(size=(options.sentences, part.shape[1])) for part in parts]
    for deviation in (0.5, 1.0, 2.0, 4.0):
        scores = [unit[0], deviation * unit[1], deviation * unit[2]]
        of_trees = sum(s @ part.T for s, part in zip(scores, parts, strict=True))
        exact = logsumexp(of_trees, axis=1)
        for name in ("bp", "bound"):
            inference = Inference(name, N_RANDOM_WORDS)
            log_z, _, is_open = inference.run(
                scores, options.iterations, options.damping
            )
            above = np.mean(of_trees.max(axis=1) > log_z + 1e-9)
            error = np.mean(log_z - exact)
            yield [
                f"{deviation:g}",
                name,
                f"{100 * above:.1f} %",
                f"{error:.3f}",
                f"{100 * is_open.mean():.1f} %",
            ]


def new_options():
    """Return the ArgumentParser of what trains parsers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--treebank", default="en_ewt")
    parser.add_argument("--sentences", type=int, default=500)
    parser.add_argument("--longest", type=int, default=12, help="words of sentences")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=10, help="of messages")
    parser.add_argument("--damping", type=float, default=0.5)
    parser.add_argument("--C", type=float, default=0.1, help="the longest step of DCA")
    parser.add_argument("--bits", type=int, default=18, help="log2 of features of arcs")
    parser.add_argument("--seeds", type=int, default=1)
    return parser


def main():
    """Print the tables."""
    parser, tasks = new_options(), ["treebank", "random"]
    parser.description = __doc__.split("\n\n")[0]
    parser.add_argument("--task", nargs="+", choices=tasks, default=tasks)
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=list(STEPS))
    names = list(INFERENCES)
    parser.add_argument("--inference", nargs="+", choices=names, default=names)
    options = parser.parse_args()
    if "treebank" in options.task:
        tables.stream([TREEBANK_HEADER])
        for steps in options.steps:
            for seed in range(options.seeds):
                tables.stream(compare(options, steps, seed))
    if "random" in options.task:
        for seed in range(options.seeds):
            tables.stream([RANDOM_HEADER])
            tables.stream(of_random_scores(options, seed))


if __name__ == "__main__":
    main()
