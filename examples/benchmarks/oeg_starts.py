"""Compare starts of OEG at nodes alone and at nodes and edges, in NumPy.

[Schmidt15, footnote 9] sets the natural parameters of the parts with the correct label
to 3, and all others to 0. The parts are nodes and edges [Collins08]. The package keeps
one array for all edges of a sequence, so that it starts at the nodes alone. Here each
edge has parameters of its own: with eta_t the steps of a sequence, these are

    theta_edge = tied + prod_t (1 - eta_t) score (edges of the correct labels),

an array and a number for each sequence. Draws are uniform after a first pass in random
order; steps begin at 0.5, are halved 2 times at most in the first pass and 5 times
later, and grow by 1.05. The table has D of the start, and P - P* after 5, 10 and 20
epochs.

    python examples/benchmarks/oeg_starts.py [--task ocr] [--first 300] [--quick]

needs the folder of corpora in SKCRF_SDCA_DATA. Most of the time is for texts.
"""

import numpy as np
from scipy.sparse import csr_array
from starts import EPOCHS, problems

import tables
import tasks

FIRST = 300
FIRST_STEP, GROWTH = 0.5, 1.05
HALVINGS = {"first": 2, "later": 5}
# Scores of the correct labels at nodes and at edges.
STARTS = [(3.0, 0.0), (3.0, 3.0), (10.0, 0.0), (10.0, 10.0), (14.0, 0.0), (14.0, 14.0)]
HEADER = ["task", "nodes", "edges", "D of the start"]
HEADER += [f"after {epoch}" for epoch in EPOCHS]


def marginals(node, edge):
    """Return log Z of a chain, its node marginals and its edge marginals."""
    tops, edge_tops = node.max(axis=1), edge.max(axis=(1, 2))
    local = np.exp(node - tops[:, None])
    pairs = np.exp(edge - edge_tops[:, None, None])
    alpha, beta = np.empty_like(local), np.ones_like(local)
    log_z = tops.sum() + edge_tops.sum()
    for t in range(len(node)):
        alpha[t] = local[t] * (alpha[t - 1] @ pairs[t - 1] if t else 1.0)
        total = alpha[t].sum()
        alpha[t] /= total
        log_z += np.log(total)
    for t in range(len(node) - 1, 0, -1):
        beta[t - 1] = pairs[t - 1] @ (local[t] * beta[t])
        beta[t - 1] /= beta[t - 1].sum()
    of_nodes = alpha * beta
    of_nodes /= of_nodes.sum(axis=1, keepdims=True)
    of_edges = alpha[:-1, :, None] * pairs * (local[1:] * beta[1:])[:, None, :]
    of_edges /= of_edges.sum(axis=(1, 2), keepdims=True)
    return log_z, of_nodes, of_edges


class Sequence:
    """One sequence: its features, its natural parameters, and their expectations."""

    def __init__(self, rows, labels, n_labels, start):
        self.features = np.unique(rows.indices)
        self.x = rows[:, self.features].toarray()
        at_nodes, self.at_edges = start
        self.node = at_nodes * np.eye(n_labels)[labels]
        self.tied = np.zeros((n_labels, n_labels))
        self.step = FIRST_STEP
        edges = np.arange(len(labels) - 1), labels[:-1], labels[1:]
        self.correct = np.zeros((len(labels) - 1, n_labels, n_labels))
        self.correct[edges] = 1.0
        self.set(*self.expect(self.node, self.tied, self.at_edges))

    def expect(self, node, tied, at_edges):
        """Return the entropy, the node and the summed edge marginals."""
        edge = tied + at_edges * self.correct
        log_z, of_nodes, of_edges = marginals(node, edge)
        entropy = log_z - (of_nodes * node).sum() - (of_edges * edge).sum()
        return entropy, of_nodes, of_edges.sum(axis=0)

    def set(self, entropy, of_nodes, of_edges):
        """Keep expectations."""
        self.entropy, self.of_nodes, self.of_edges = entropy, of_nodes, of_edges

    def scores(self, p):
        """Return the scores of nodes and edges under the weights."""
        node = self.x @ p.coef[self.features] + p.intercept
        node[0] += p.start
        node[-1] += p.end
        return node, p.tied.reshape(self.tied.shape)

    def change(self, of_nodes, of_edges):
        """Return the features of a change of the expectations."""
        ends = of_nodes[0], of_nodes[-1]
        return self.x.T @ of_nodes, of_nodes.sum(axis=0), *ends, of_edges


class Run:
    """OEG with uniform draws from one start."""

    def __init__(self, problem, start, rng):
        self.problem, self.rng, self.n = problem, rng, problem.n_sequences
        offsets, rows = problem.offsets, csr_array(problem.data.X)
        labels, n_labels = problem.targets.labels, problem.structure.n_labels
        self.sequences = [
            Sequence(rows[begin:end], labels[begin:end], n_labels, start)
            for begin, end in zip(offsets[:-1], offsets[1:], strict=True)
        ]
        self.p = problem.new_parameters()
        for sequence, begin, end in zip(
            self.sequences, offsets[:-1], offsets[1:], strict=True
        ):
            one_hot = np.eye(n_labels)[labels[begin:end]] - sequence.of_nodes
            edges = sequence.correct.sum(axis=0) - sequence.of_edges
            self.move(sequence, sequence.change(one_hot, edges))
        self.epochs = 0

    def move(self, sequence, features):
        """Add features to the weights."""
        coef, intercept, start, end, tied = features
        scale = 1.0 / (self.problem.alpha * self.n)
        np.add.at(self.p.coef, sequence.features, scale * coef)
        self.p.intercept[:] += scale * intercept
        self.p.start[:] += scale * start
        self.p.end[:] += scale * end
        self.p.tied[:] += scale * tied.reshape(self.p.tied.shape)

    def visit(self, i, halvings):
        """Visit a sequence: halve its step until the dual does not fall."""
        sequence = self.sequences[i]
        node, tied = sequence.scores(self.p)
        for _ in range(halvings + 1):
            step = sequence.step
            trial = (
                (1.0 - step) * sequence.node + step * node,
                (1.0 - step) * sequence.tied + step * tied,
                (1.0 - step) * sequence.at_edges,
            )
            entropy, of_nodes, of_edges = sequence.expect(*trial)
            moved = of_nodes - sequence.of_nodes, of_edges - sequence.of_edges
            features = sequence.change(*moved)
            norm = sum((part**2).sum() for part in features)
            rise = entropy - sequence.entropy + (moved[0] * node).sum()
            rise += (moved[1] * tied).sum() - norm / (2.0 * self.problem.alpha * self.n)
            if rise >= 0.0:
                sequence.node, sequence.tied, sequence.at_edges = trial
                sequence.set(entropy, of_nodes, of_edges)
                self.move(sequence, [-part for part in features])
                break
            sequence.step *= 0.5
        sequence.step = min(GROWTH * sequence.step, 1.9)

    def epoch(self):
        """Make n visits: in random order at first, then drawn."""
        later = self.epochs > 0
        draw = self.rng.integers(self.n, size=self.n)
        for i in draw if later else self.rng.permutation(self.n):
            self.visit(i, HALVINGS["later" if later else "first"])
        self.epochs += 1

    def dual(self):
        """Return D."""
        entropy = sum(sequence.entropy for sequence in self.sequences) / self.n
        return entropy - 0.5 * self.problem.alpha * self.p.w @ self.p.w

    def primal(self):
        """Return P."""
        return self.problem.certify_primal(self.p.w)[1].primal


def rows_of(title, problem, bound):
    """Yield the rows of a task."""
    for start in STARTS:
        run = Run(problem, start, np.random.default_rng(0))
        cells = [f"{run.dual():.1f}"]
        while run.epochs < EPOCHS[-1]:
            run.epoch()
            if run.epochs in EPOCHS:
                cells.append(f"{run.primal() - bound:.1e}")
        yield [title, *(f"{score:g}" for score in start), *cells]


def rows(options):
    """Yield the rows of the table."""
    yield HEADER
    options.first = options.first or FIRST
    for title, problem, bound in problems(options):
        yield from rows_of(title, problem, bound)


def main():
    """Print the table."""
    tables.stream(rows(tasks.parser(__doc__).parse_args()))


if __name__ == "__main__":
    main()
