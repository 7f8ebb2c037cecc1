"""Compare variants of SAG and SAGA in dense NumPy.

Each L_i is found by the search of [Schmidt15, algorithm 2] at every visit, from `decay`
times the last one; it begins with 0.5 mean(L), or with 1 in the SAG-NUS of 2013
[Schmidt15, sec. 5], which halves, and draws by L_i with probability m / n, where m
sequences were seen. SAGA has the step of proposition 1, for uniform draws (a), or for
draws by L_i to step and uniform ones to remember (b). Its first epoch is a pass in
random order, which finds all L_i. With the draws and steps of SAG-NUS [footnote 10] its
update is unbiased: the change of a gradient counts 1 / (n p_i). In batches, one
gradient is kept for several sequences [sec. 7], as if their mean were one loss. The
table has P / P* - 1 in per cent by oracle calls.

    python examples/benchmarks/sag_variants.py [--first 300] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from single_losses import SingleLosses
from starts import QUICK_FIRST, least

import tables
import tasks

CALLS = (10, 20, 40)
FIRST = 300
# No search along a gradient whose square is smaller [Schmidt15, sec. 5].
SMALLEST = 1e-8
HEADER = ["variant", *(f"{calls} n calls" for calls in CALLS), "epochs"]


@dataclass
class Variant:
    """How the constants begin and fall, how sequences are drawn, and the step."""

    decay: float = 0.9
    first: float | None = None
    grows: bool = False
    saga: str | None = None
    batch: int = 1


VARIANTS = {
    "SAG-NUS, a search at every visit": Variant(),
    "SAG-NUS, begins with 1": Variant(first=1.0),
    "SAG-NUS, halves": Variant(decay=0.5),
    "SAG-NUS, draws grow": Variant(grows=True),
    "SAG-NUS of 2013": Variant(decay=0.5, first=1.0, grows=True),
    "SAG-NUS, batches of 3": Variant(batch=3),
    "SAG-NUS, batches of 10": Variant(batch=10),
    "SAGA, draws and steps of SAG-NUS": Variant(saga="alike"),
    "SAGA, one uniform draw": Variant(saga="one"),
    "SAGA, two draws": Variant(saga="two"),
}


class Batches:
    """Losses of batches of chains, whose mean is the mean of the losses of chains."""

    def __init__(self, chains, size):
        self.chains = chains
        n = chains.n
        self.members = np.array_split(np.arange(n), -(-n // size))
        self.scale = len(self.members) / n

    def loss(self, w, batch):
        """Return the loss of a batch."""
        return self.scale * sum(self.chains.loss(w, i) for i in self.members[batch])

    def loss_and_gradient(self, w, batch):
        """Return the loss of a batch and its gradient."""
        found = [self.chains.loss_and_gradient(w, i) for i in self.members[batch]]
        losses, gradients = zip(*found, strict=True)
        return self.scale * sum(losses), self.scale * sum(gradients)


class Run:
    """One variant on some chains: weights, gradients that are kept, constants."""

    def __init__(self, chains, variant, rng):
        self.chains, self.variant, self.rng = chains, variant, rng
        self.losses = Batches(chains, variant.batch)
        self.n, self.alpha = len(self.losses.members), chains.problem.alpha
        self.w = chains.problem.new_parameters().w
        self.kept = np.zeros((self.n, len(self.w)))
        self.total = np.zeros_like(self.w)
        self.lipschitz, self.known = np.zeros(self.n), np.zeros(self.n, dtype=bool)
        self.epochs = 0

    def searched(self, i):
        """Return the gradient of f_i, after a search for L_i along it."""
        losses, variant = self.losses, self.variant
        loss, gradient = losses.loss_and_gradient(self.w, i)
        if self.known[i]:
            value = variant.decay * self.lipschitz[i]
        else:
            known = self.lipschitz[self.known]
            value = variant.first or (0.5 * known.mean() if len(known) else 1.0)
        norm = gradient @ gradient
        while norm > SMALLEST:
            least = loss - 0.5 * norm / value
            if losses.loss(self.w - gradient / value, i) <= least + 1e-13 * (1 + loss):
                break
            value *= 2.0
        self.lipschitz[i], self.known[i] = value, True
        return gradient

    def remember(self, i, gradient):
        """Keep a gradient."""
        self.total += gradient - self.kept[i]
        self.kept[i] = gradient

    def draw(self):
        """Return a sequence: by L_i with the probability of the variant."""
        seen = self.lipschitz[self.known]
        share = len(seen) / self.n if self.variant.grows else 0.5
        if self.variant.saga == "two":
            share = 1.0
        if self.variant.saga == "one" or not len(seen) or self.rng.random() >= share:
            return self.rng.integers(self.n)
        return self.rng.choice(self.n, p=self.lipschitz / seen.sum())

    def density(self, i):
        """Return n times the probability of a draw of SAG-NUS."""
        if not self.known.any():
            return 1.0
        return 0.5 + 0.5 * self.n * self.lipschitz[i] / self.lipschitz.sum()

    def sag(self, i):
        """Make a visit of SAG, or of SAGA with its draw and step."""
        density = self.density(i)
        gradient = self.searched(i)
        of_saga = (gradient - self.kept[i]) / density + self.total / self.n
        self.remember(i, gradient)
        seen = self.lipschitz[self.known]
        step = 0.5 / (seen.max() + self.alpha) + 0.5 / (seen.mean() + self.alpha)
        self.move(step, of_saga if self.variant.saga else self.total / len(seen))

    def saga(self, i):
        """Make a visit of SAGA, with one draw or two."""
        gradient = self.searched(i)
        change, mean = gradient - self.kept[i], self.total / self.n
        if self.variant.saga == "one" or self.epochs == 0:
            factor, step = 1.0, 0.25 / (self.lipschitz.max() + self.alpha)
            self.remember(i, gradient)
        else:
            average = self.lipschitz.mean()
            factor, step = average / self.lipschitz[i], 0.25 / (average + self.alpha)
            other = self.rng.integers(self.n)
            self.remember(other, self.searched(other))
        self.move(step, factor * change + mean)

    def move(self, step, gradient):
        """Step against a gradient of the losses and against the penalty."""
        self.w *= 1.0 - step * self.alpha
        self.w -= step * gradient

    def epoch(self):
        """Make n visits; SAGA by the proposition makes the first ones in order."""
        by_proposition = self.variant.saga in ("one", "two")
        visit = self.saga if by_proposition else self.sag
        in_order = by_proposition and self.epochs == 0
        for i in self.rng.permutation(self.n):
            visit(i if in_order else self.draw())
        self.epochs += 1

    def primal(self):
        """Return P."""
        return self.chains.problem.certify_primal(self.w)[1].primal


def row_of(task, name, bound):
    """Return a row of the table: P where the calls are first above a level."""
    losses = SingleLosses(tasks.problem(task))
    run = Run(losses, VARIANTS[name], np.random.default_rng(0))
    cells = []
    while len(cells) < len(CALLS):
        run.epoch()
        if run.chains.n_calls >= CALLS[len(cells)] * len(task.X):
            cells.append(f"{100.0 * (run.primal() / bound - 1.0):.3f}")
    return [name, *cells, f"{run.epochs}"]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=FIRST, help="random sequences")
    parser.add_argument("--quick", action="store_true", help="a trial on few sequences")
    options = parser.parse_args()
    task = tasks.load_random("ocr", QUICK_FIRST if options.quick else options.first)
    bound = least(tasks.problem(task), 1e-2 if options.quick else 1e-6)
    tables.stream([HEADER])
    tables.stream(row_of(task, name, bound) for name in VARIANTS)


if __name__ == "__main__":
    main()
