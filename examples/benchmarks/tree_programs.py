"""Find trees of second order by the linear programs of Martins et al. (2009).

    python examples/benchmarks/tree_programs.py [--treebank tr_imst] [--steps dca]
        [--sentences 500] [--longest 12] [--held-out 500]

Martins, Smith and Xing ("Concise integer linear programming formulations for dependency
parsing", ACL 2009) have a variable in [0, 1] for each arc, pair of siblings and
grandparent. The root sends a unit of flow to each word along the arcs of a tree, which
says exactly which mixtures of arcs are mixtures of trees. Siblings are here the nearest
ones, as in second_order_parsing.py: the children of a head to one side are a path. Of
the grandparents g -> h -> m there are two forms:

pairs   each is at most both of its arcs, and at least their sum less 1: the paper's.
words   those with the arc h -> m sum to it, as h has one head.

Where the best point has no fractions, it is the best of all trees; else the tree is the
one with the largest sum of arcs, as in the paper. "exact" has integers. A parser learns
by belief propagation, which also finds trees by its probabilities of arcs ("bp"). The
table has the share of words of the development data with the right head, the shares of
points without fractions and of sentences with a best tree, and seconds of the processor
for a sentence.
"""

from functools import cache
from time import process_time

import numpy as np
import scipy.sparse as sp
import second_order_parsing as second
from scipy.optimize import Bounds, LinearConstraint, milp

import tables

HEADER = ["trees by", "UAS", "without fractions", "best", "ms"]
PROGRAMS = {"pairs": ("pairs", 0), "words": ("words", 0), "exact": ("words", 1)}
TOLERANCE = 1e-6


def ones(rows, n_rows):
    """Return the matrix that sums columns to their rows; those below 0 are left out."""
    kept = np.flatnonzero(rows >= 0)
    shape = n_rows, len(rows)
    return sp.csr_array((np.ones(len(kept)), (rows[kept], kept)), shape)


@cache
class Program:
    """The linear program of the trees of n words, with a form of grandparents."""

    def __init__(self, form, n_words):
        self.arcs = arcs = second.Arcs(n_words)
        self.place = np.full((n_words + 1,) * 2, -1)
        self.place[tuple(arcs.ends)] = np.arange(arcs.ends.shape[1])
        rows = self._trees() + self._siblings() + getattr(self, f"_{form}")()
        blocks = [own[:4] for own in rows]
        sizes = [max(b.shape[0] for b in own if b is not None) for own in blocks]
        low, high = np.repeat([own[4:] for own in rows], sizes, axis=0).T
        matrix = sp.block_array(blocks, format="csr")
        self.constraints = LinearConstraint(matrix, low, high)

    def _trees(self):
        """Return rows of arcs, siblings, grandparents and flows, with their bounds."""
        (head, word), n = self.arcs.ends, self.arcs.n_words
        out, into = ones(head, n + 1), ones(word, n + 1)
        every, words = sp.eye_array(len(head)), sp.eye_array(n)
        # Only word k keeps a unit of flow k, which arcs carry as far as they are there.
        kept, own = sp.kron(words, (into - out)[1:], format="csr"), np.eye(n).ravel()
        over = sp.kron(np.ones((n, 1)), every)
        return [
            (into[1:], None, None, None, 1.0, 1.0),
            (out[:1], None, None, None, 1.0, 1.0),
            (None, None, None, kept[own == 1.0], 1.0, 1.0),
            (None, None, None, kept[own == 0.0], 0.0, 0.0),
            (-over, None, None, sp.eye_array(n * len(head)), -np.inf, 0.0),
        ]

    def _siblings(self):
        h, m, s = self.arcs.siblings
        n_arcs, is_first = self.arcs.ends.shape[1], s == h
        after = ones(np.where(is_first, -1, self.place[h, s]), n_arcs)
        first = ones(np.where(is_first, 2 * h + (m > h), -1), 2 * self.arcs.n_words + 2)
        every = sp.eye_array(n_arcs)
        return [
            (-every, ones(self.place[h, m], n_arcs), None, None, 0.0, 0.0),
            (-every, after, None, None, -np.inf, 0.0),
            (None, first, None, None, -np.inf, 1.0),
        ]

    def _pairs(self):
        n_arcs, n_pairs = self.arcs.ends.shape[1], self.arcs.pairs.shape[1]
        upper, lower = (ones(own, n_arcs).T for own in self.arcs.pairs)
        every = sp.eye_array(n_pairs)
        return [
            (-upper, None, every, None, -np.inf, 0.0),
            (-lower, None, every, None, -np.inf, 0.0),
            (upper + lower, None, -every, None, -np.inf, 1.0),
        ]

    def _words(self):
        n_arcs, below = self.arcs.ends.shape[1], self.arcs.ends[0] > 0
        lower = ones(self.arcs.pairs[1], n_arcs)[below]
        every = sp.eye_array(n_arcs, format="csr")[below]
        return [self._pairs()[0], (-every, None, lower, None, 0.0, 0.0)]

    def solve(self, scores, are_integers):
        """Return the values of arcs, siblings and grandparents at the best point."""
        cost = np.zeros(self.constraints.A.shape[1])
        of_parts = np.concatenate(scores)
        cost[: len(of_parts)] = -of_parts
        integers = np.zeros(len(cost))
        integers[: len(scores[0])] = are_integers
        found = milp(
            cost,
            integrality=integers,
            bounds=Bounds(0.0, 1.0),
            constraints=self.constraints,
        )
        ends = np.cumsum([len(own) for own in scores])
        return np.split(found.x, ends)[:3]


def scores_of(arcs, scores, heads):
    """Return the scores of trees, one of each sentence."""
    pairs = zip(scores, arcs.parts(heads), strict=True)
    return sum((score * has).sum(axis=1) for score, has in pairs)


def answers(parser, batch):
    """Yield for each method its name, trees, points without fractions, and seconds."""
    began = process_time()
    scores, found = parser.found(batch)
    heads = second.best_trees(batch.arcs, found.expected[0])
    yield "bp", heads, np.full(len(heads), np.nan), process_time() - began
    for name, (form, are_integers) in PROGRAMS.items():
        program, began = Program(form, batch.arcs.n_words), process_time()
        points = [program.solve(own, are_integers) for own in zip(*scores, strict=True)]
        arcs = np.array([own[0] for own in points])
        whole = np.abs(arcs - arcs.round()).max(axis=1) < TOLERANCE
        yield name, second.best_trees(batch.arcs, arcs), whole, process_time() - began


def table(parser, held_out):
    """Yield the rows of the table."""
    right, whole, best, seconds = ({n: [] for n in ("bp", *PROGRAMS)} for _ in range(4))
    for batch in held_out:
        scores, of_trees = batch.scores(parser.weights), {}
        for name, heads, own, time in answers(parser, batch):
            right[name].append((heads == batch.heads).ravel())
            whole[name].append(own)
            seconds[name].append(time)
            of_trees[name] = scores_of(batch.arcs, scores, heads)
        for name, own in of_trees.items():
            best[name].append(own > of_trees["exact"] - TOLERANCE)
    n = sum(len(batch.heads) for batch in held_out)
    for name, own in right.items():
        shares = (np.concatenate(part[name]).mean() for part in (whole, best))
        yield [
            name,
            f"{100 * np.concatenate(own).mean():.2f}",
            *(tables.NONE if np.isnan(s) else f"{100 * s:.1f} %" for s in shares),
            f"{1e3 * sum(seconds[name]) / n:.1f}",
        ]


def main():
    """Learn, and print the table."""
    parser = second.new_options()
    parser.description = __doc__.split("\n\n")[0]
    parser.add_argument("--steps", choices=second.STEPS, default="adagrad")
    parser.add_argument("--held-out", type=int, default=500, help="sentences")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    step, size = second.STEPS[options.steps]
    tags, train, held_out, _ = second.batches_of(options, size, rng)
    learner = second.Parser("bp", options, len(tags))
    for losses, _ in second.learn(learner, train, step, rng):
        print(f"mean loss {losses.mean():.3f}", flush=True)
    rng.shuffle(held_out)
    sizes = np.cumsum([len(batch.heads) for batch in held_out])
    held_out = held_out[: np.searchsorted(sizes, options.held_out) + 1]
    tables.stream([HEADER])
    tables.stream(table(learner, held_out))


if __name__ == "__main__":
    main()
