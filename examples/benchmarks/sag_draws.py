"""Compare draws by gap with draws by Lipschitz constants, for SAG, SAGA, OEG and SDCA.

SAG keeps the marginals mu_i of the last visit, so that its gap costs nothing,

    g_i = KL(mu_i || p(. | x_i; w)) = log Z_i(w) - <mu_i, scores_i> - H(mu_i),

the Bregman distance of the loss at w from its tangent at the weights of that visit. So
g_i is at least the squared norm of the change of the gradient since then, over 2 L_i:
draws by sqrt(L_i g_i) are draws by a bound of this norm. SAG and SAGA are in NumPy
here, with a search at every visit. They draw sequences that were seen by L_i, g_i or
sqrt(L_i g_i) with probability 0.5, with the step of SAG-NUS*, the mean of 1 / max L and
1 / mean L, or with the safe step 1 / max L. OEG and SDCA draw by L_i = alpha + R_i / n,
g_i and g_i L_i with probability 0.8. The table has P / P* - 1 in per cent where the
oracle calls are first 10, 20 and 40 n.

    python examples/benchmarks/sag_draws.py [--task ocr] [--first 200] [--seed 0]

needs the folder of corpora in SKCRF_SDCA_DATA.
"""

import numpy as np
from oeg_starts import Sequence, marginals
from scipy.sparse import csr_array
from starts import QUICK_FIRST, least

import tables
import tasks
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.sdca import SDCA

FIRST, MIX, DECAY, SMALLEST = 200, 0.5, 0.9, 1e-8
CALLS, QUICK_CALLS = (10, 20, 40), (2,)
VALUES = {
    "L": lambda L, gaps: L,
    "gap": lambda L, gaps: gaps,
    "root": lambda L, gaps: np.sqrt(L * gaps),
}
DUAL = {"L": "importance", "gap": "gap", "gap L": "gap_importance"}


class Item(Sequence):
    """A sequence with the marginals of its last visit, first those of its labels."""

    def __init__(self, rows, labels, n_labels):
        super().__init__(rows, labels, n_labels, (0.0, 0.0))
        self.labels = labels
        self.of_labels = np.eye(n_labels)[labels], self.correct.sum(axis=0)
        self.set(0.0, *self.of_labels)

    def log_z(self, node, tied):
        """Return log Z, and the node and the summed edge marginals."""
        edge = np.broadcast_to(tied, self.correct.shape)
        log_z, of_nodes, of_edges = marginals(node, edge)
        return log_z, of_nodes, of_edges.sum(axis=0)

    def features_scores(self, of_nodes, of_edges):
        """Return the scores of all nodes and edges by features as weights."""
        node = self.x @ (self.x.T @ of_nodes) + of_nodes.sum(axis=0)
        node[0] += of_nodes[0]
        node[-1] += of_nodes[-1]
        return node, of_edges


def inner(first, second):
    """Return the inner product of two pairs of node and edge numbers."""
    return (first[0] * second[0]).sum() + (first[1] * second[1]).sum()


class Run:
    """SAG or SAGA with one way to draw and one step."""

    def __init__(self, problem, draws, *, saga, safe, seed):
        self.problem, self.n, self.alpha = problem, problem.n_sequences, problem.alpha
        self.values, self.saga, self.safe = VALUES[draws], saga, safe
        self.rng = np.random.default_rng(seed)
        offsets, rows = problem.offsets, csr_array(problem.data.X)
        labels, n_labels = problem.targets.labels, problem.structure.n_labels
        self.items = [
            Item(rows[begin:end], labels[begin:end], n_labels)
            for begin, end in zip(offsets[:-1], offsets[1:], strict=True)
        ]
        self.p, self.total = problem.new_parameters(), problem.new_parameters()
        self.L, self.gaps = np.zeros(self.n), np.zeros(self.n)
        self.known = np.zeros(self.n, dtype=bool)
        self.n_calls = 0.0

    def probabilities(self):
        """Return the probability of each sequence in the next draw."""
        scores = np.where(self.known, self.values(self.L, self.gaps), 0.0)
        if not scores.sum() > 0.0:
            return np.full(self.n, 1.0 / self.n)
        return MIX * scores / scores.sum() + (1.0 - MIX) / self.n

    def add(self, parameters, item, features, factor):
        """Add features of a sequence to a vector."""
        coef, intercept, start, end, tied = features
        np.add.at(parameters.coef, item.features, factor * coef)
        parameters.intercept[:] += factor * intercept
        parameters.start[:] += factor * start
        parameters.end[:] += factor * end
        parameters.tied[:] += factor * tied.reshape(parameters.tied.shape)

    def search(self, i, scores, log_z, gradient):
        """Search for L_i along the gradient of f_i [Schmidt15, algorithm 2]."""
        item = self.items[i]
        if self.known[i]:
            value = DECAY * self.L[i]
        else:
            value = 0.5 * self.L[self.known].mean() if self.known.any() else 1.0
        along = item.features_scores(*gradient)
        norm, of_labels = inner(gradient, along), inner(item.of_labels, along)
        while norm > SMALLEST:
            trial = [s - a / value for s, a in zip(scores, along, strict=True)]
            self.n_calls += 0.5
            change = item.log_z(*trial)[0] - log_z + of_labels / value
            if change <= -0.5 * norm / value + 1e-13 * (1.0 + abs(log_z)):
                break
            value *= 2.0
        self.L[i], self.known[i] = value, True

    def visit(self):
        """Visit the sequence that is drawn."""
        probabilities = self.probabilities()
        i = self.rng.choice(self.n, p=probabilities)
        item = self.items[i]
        scores = item.scores(self.p)
        log_z, *mu = item.log_z(*scores)
        self.n_calls += 1.0
        kept = item.of_nodes, item.of_edges
        gap = log_z - inner(kept, scores) - item.entropy
        gradient = [m - q for m, q in zip(mu, item.of_labels, strict=True)]
        self.search(i, scores, log_z, gradient)
        self.gaps[i] = max(gap, 0.0)
        change = item.change(*(m - k for m, k in zip(mu, kept, strict=True)))
        item.set(log_z - inner(mu, scores), *mu)
        self.move(item, change, self.n * probabilities[i])

    def move(self, item, change, density):
        """Step by the gradients that are kept, and against the penalty."""
        L = self.L[self.known]
        slow, fast = 1.0 / (L.max() + self.alpha), 1.0 / (L.mean() + self.alpha)
        step = slow if self.safe else 0.5 * (slow + fast)
        mean = self.total.w / self.n
        self.add(self.total, item, change, 1.0)
        if not self.saga:
            mean = self.total.w / self.known.sum()
        self.p.w *= 1.0 - step * self.alpha
        self.p.w -= step * mean
        if self.saga:
            self.add(self.p, item, change, -step / density)

    def epoch(self):
        """Make n visits."""
        for _ in range(self.n):
            self.visit()

    def primal(self):
        """Return P."""
        return self.problem.certify_primal(self.p.w)[1].primal


def cells(solver, n, primal, calls, bound, levels):
    """Return P / P* - 1 in per cent where the calls first reach each level."""
    found = []
    while len(found) < len(levels):
        solver.epoch()
        while len(found) < len(levels) and calls() >= levels[len(found)] * n:
            found.append(f"{100.0 * (primal() / bound - 1.0):.3f}")
    return found


def rows_of(title, problem, bound, levels, seed):
    """Yield the rows of a task."""
    n = problem.n_sequences
    for saga in (False, True):
        for draws in VALUES:
            for safe in (False, True):
                run = Run(problem, draws, saga=saga, safe=safe, seed=seed)
                of_run = n, run.primal, lambda run=run: run.n_calls
                names = "SAGA" if saga else "SAG", draws, "safe" if safe else "NUS*"
                yield [title, *names, *cells(run, *of_run, bound, levels)]
    for name, solver_class in {"OEG": OEG, "SDCA": SDCA}.items():
        for draws, sampling in DUAL.items():
            solver = solver_class(
                problem, np.random.default_rng(seed), sampling=sampling
            )

            def primal(solver=solver):
                return solver.certify().primal

            of_run = n, primal, lambda solver=solver: solver.n_oracle_calls
            yield [title, name, draws, "own", *cells(solver, *of_run, bound, levels)]


def rows(options):
    """Yield the rows of the table."""
    levels = QUICK_CALLS if options.quick else CALLS
    yield ["task", "method", "draws", "step", *(f"{calls} n calls" for calls in levels)]
    first = QUICK_FIRST if options.quick else options.first or FIRST
    for name in options.task:
        problem = tasks.problem(tasks.load_random(name, first))
        bound = least(problem, 1e-2 if options.quick else 1e-6)
        yield from rows_of(tasks.TITLES[name], problem, bound, levels, options.seed)


def main():
    """Print the table."""
    parser = tasks.parser(__doc__)
    parser.add_argument("--seed", type=int, default=0)
    tables.stream(rows(parser.parse_args()))


if __name__ == "__main__":
    main()
