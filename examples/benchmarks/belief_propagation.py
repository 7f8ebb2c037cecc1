"""Train by loopy belief propagation, and count impossible probabilities.

    python examples/benchmarks/belief_propagation.py [--task names random] \
[--alpha 1 0.1] [--quick]

The fixed points of belief propagation are those of Bethe's free energy, which is no
bound of log Z, and not convex. Martins et al. ("Learning structured classifiers with
dual coordinate ascent", 2010) train parsers with it, and find P(y | x) > 1 for 15 % of
the sentences; second_order_parsing.py has parsers. Here belief propagation, in NumPy,
is in the place of the inference of `GraphCRF`, with the same features and penalty, and
L-BFGS minimises the loss as if its marginals were the gradient. Beside it are exact
inference and tree-reweighted inference (trw), whose losses are never negative.

names    CoNLL-2002 Dutch names, with an edge between a capitalised word and its next
         occurrence in the sentence, as in graphs.py. The corpus is read from the folder
         SKCRF_SDCA_DATA or downloaded.
snakes   Snakes of 10 cells in grids of 3 x 14, as in graphs.py, without edge colours.
images   Images of 12 x 12 pixels in two colours, as in wide_graphs.py.
random   Complete graphs of 6 nodes with two labels, and scores from a normal
         distribution: the share of graphs whose best labelling has P(y | x) > 1, and of
         runs that did not converge, by the deviation of the scores of edges. Nothing is
         trained.
trees    Grids, cliques and random graphs with two labels and normal scores: the means
         of log Z_TRW - log Z with the spanning trees of `GraphCRF`, and with uniform
         ones, where messages converge. Nothing is trained.
fronts   Grids: the microseconds of a sweep of trw on one core, and of a front of nodes
         that several cores could sum at a time; and how many times faster 2 and 16
         cores could be at best, and if they wait a microsecond for each other after
         each front, on the way up and down. Nothing is trained.

The columns of the others are alpha n; the score on the test part by the labels of
largest marginals, accuracy or, for "names", F1 of spans; the share of the training
graphs with a negative loss, P(y | x) > 1, and the largest such share on the way; the
share of runs that did not converge; and seconds of the processor.
"""

import argparse
import warnings
from itertools import combinations, product
from time import process_time

import numpy as np
import scipy.sparse as sp
from graphs import accuracy, dutch_models, grid, snake_models, spans
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components
from scipy.special import logsumexp, softmax, xlogy
from sklearn.exceptions import ConvergenceWarning
from wide_graphs import images

import tables
from skcrf_sdca import GraphCRF
from skcrf_sdca.data.graphs import Edges
from skcrf_sdca.structures.graph.pairs import pair_places
from skcrf_sdca.structures.graph.reweighted import ReweightedGraph
from skcrf_sdca.structures.graph.reweighting import order_of
from skcrf_sdca.structures.graph.structure import Graph

HEADER = [
    "task",
    "alpha n",
    "inference",
    "score",
    "P > 1",
    "at most",
    "open",
    "seconds",
]
# Nodes of the random graphs.
N_NODES = 6
STRUCTURES = Graph, ReweightedGraph
DAMPING, MOST_SWEEPS, TOLERANCE = 0.5, 100, 1e-6
# Of fronts: sweeps that are timed, how often, and seconds of waiting for other cores.
SWEEPS, ROUNDS, WAIT = 10, 5, 1e-6


class Graphs:
    """Graphs laid end to end."""

    def __init__(self, X):
        sizes = np.array([nodes.shape[0] for nodes, *_ in X])
        first = np.append(0, np.cumsum(sizes))
        self.nodes = sp.vstack([sp.csr_array(nodes) for nodes, *_ in X], format="csr")
        self.ends = np.concatenate(
            [ends + begin for (_, ends, _), begin in zip(X, first, strict=False)]
        ).T
        self.kinds = np.concatenate([kinds for *_, kinds in X])
        self.graph = np.repeat(np.arange(len(X)), sizes)
        self.n_graphs, self.cuts = len(X), first[1:-1]

    def scores(self, of_nodes, of_edges):
        """Return the scores of nodes, (V, K), and of edges, (E, K, K)."""
        pairs = np.einsum("ef,fjk->ejk", self.kinds, of_edges)
        return self.nodes @ of_nodes, pairs

    def sums(self, of_nodes, of_edges):
        """Return sums over the nodes and edges of each graph."""
        return np.bincount(self.graph, of_nodes, self.n_graphs) + np.bincount(
            self.graph[self.ends[0]], of_edges, self.n_graphs
        )


class BeliefPropagation:
    """Sums over the graphs by messages, which the next run begins with.

    With the share of spanning trees that each edge is in as ``appearance``, they are
    tree-reweighted, and log Z is an upper bound where messages converge.
    """

    def __init__(self, graphs, n_labels, appearance=1.0, most_sweeps=MOST_SWEEPS):
        self.graphs, self.most_sweeps = graphs, most_sweeps
        self.appearance = np.broadcast_to(appearance, graphs.ends.shape[1])
        # Into the second ends of the edges, and into the first ones.
        self.messages = np.zeros((2, graphs.ends.shape[1], n_labels))
        self.degree = np.bincount(
            graphs.ends.ravel(), np.tile(self.appearance, 2), len(graphs.graph)
        )

    def run(self, local, pairs):
        """Send messages; return marginals, log Z of each graph, and which are open.

        The message of an edge from u to v is log sum exp over y_u of the scores of u,
        the edge and all messages into u but for the one from v.
        """
        first, second = self.graphs.ends
        energies, pairs = pairs, pairs / self.appearance[:, np.newaxis, np.newaxis]
        for _ in range(self.most_sweeps):
            node = self.beliefs(local)
            out = np.stack(
                [
                    logsumexp(
                        pairs + (node[first] - self.messages[1])[:, :, np.newaxis], 1
                    ),
                    logsumexp(
                        pairs + (node[second] - self.messages[0])[:, np.newaxis], 2
                    ),
                ]
            )
            out -= out.max(axis=2, keepdims=True)
            change = np.abs(out - self.messages).max(axis=(0, 2), initial=0.0)
            self.messages += (1.0 - DAMPING) * (out - self.messages)
            if change.max(initial=0.0) < TOLERANCE:
                break
        node = self.beliefs(local)
        joined = pairs + (node[first] - self.messages[1])[:, :, np.newaxis]
        joined += (node[second] - self.messages[0])[:, np.newaxis]
        of_nodes = softmax(node, axis=1)
        of_edges = softmax(joined, axis=(1, 2))
        entropy = -xlogy(of_nodes, of_nodes).sum(axis=1) * (1 - self.degree)
        energy = (of_nodes * local).sum(axis=1)
        free = (of_edges * energies).sum(axis=(1, 2))
        free -= self.appearance * xlogy(of_edges, of_edges).sum(axis=(1, 2))
        log_z = self.graphs.sums(entropy + energy, free)
        is_open = np.zeros(self.graphs.n_graphs, dtype=bool)
        is_open[self.graphs.graph[first[change >= TOLERANCE]]] = True
        return of_nodes, of_edges, log_z, is_open

    def beliefs(self, local):
        """Return the scores of nodes with all messages into them."""
        node = local.copy()
        messages = self.messages * self.appearance[:, np.newaxis]
        np.add.at(node, self.graphs.ends[1], messages[0])
        np.add.at(node, self.graphs.ends[0], messages[1])
        return node


class Training:
    """The objective of a fit, and how often P(y | x) > 1 on the way."""

    def __init__(self, X, y, alpha):
        self.graphs, self.alpha = Graphs(X), alpha
        self.classes, self.labels = np.unique(np.concatenate(y), return_inverse=True)
        k = len(self.classes)
        self.shapes = (
            (self.graphs.nodes.shape[1], k),
            (self.graphs.kinds.shape[1], k, k),
        )
        self.inference = BeliefPropagation(self.graphs, k)
        self.above_one, self.open = [], []

    def split(self, w):
        """Return the weights of nodes and of edges as arrays."""
        of_nodes, of_edges = self.shapes
        cut = np.prod(of_nodes)
        return w[:cut].reshape(of_nodes), w[cut:].reshape(of_edges)

    def objective(self, w):
        """Return alpha / 2 |w|^2 + the mean loss, and its slope by the marginals."""
        graphs, labels = self.graphs, self.labels
        local, pairs = graphs.scores(*self.split(w))
        mu, mu_pairs, log_z, is_open = self.inference.run(local, pairs)
        nodes, edges = np.arange(len(local)), np.arange(len(pairs))
        of_pairs = edges, *labels[graphs.ends]
        loss = log_z - graphs.sums(local[nodes, labels], pairs[of_pairs])
        self.above_one.append(np.mean(loss < -1e-9))
        self.open.append(np.mean(is_open))
        mu[nodes, labels] -= 1.0
        mu_pairs[of_pairs] -= 1.0
        of_edges = np.einsum("ef,ejk->fjk", graphs.kinds, mu_pairs)
        slope = np.append((graphs.nodes.T @ mu).ravel(), of_edges.ravel())
        value = self.alpha / 2 * (w @ w) + loss.mean()
        return value, self.alpha * w + slope / graphs.n_graphs

    def fit(self, max_iter):
        """Return the weights of nodes and of edges where L-BFGS ends."""
        found = minimize(
            self.objective,
            np.zeros(sum(map(np.prod, self.shapes))),
            method="L-BFGS-B",
            jac=True,
            options={"maxiter": max_iter},
        )
        return self.split(found.x)


def propagated(train, test, alpha, max_iter):
    """Return predictions, shares of P > 1 at the end and at most, and of open runs."""
    training = Training(*train, alpha)
    weights = training.fit(max_iter)
    seen = Graphs(test[0])
    inference = BeliefPropagation(seen, len(training.classes))
    mu, *_ = inference.run(*seen.scores(*weights))
    predicted = np.split(training.classes[mu.argmax(axis=1)], seen.cuts)
    shares = training.above_one[-1], max(training.above_one), training.open[-1]
    return predicted, shares


def fitted(inference, train, test, alpha):
    """Return the predictions of a GraphCRF, whose losses are not negative."""
    crf = GraphCRF(
        inference=inference, directed=True, alpha=alpha, solver="lbfgs", tol=1e-3
    ).fit(*train)
    return crf.predict(test[0], decoding="posterior"), (0.0, 0.0, 0.0)


def load(task, rng, quick):
    """Return the training and the test part, and how they are scored."""
    if task == "images":
        n, side = (3, 5) if quick else (30, 12)
        return images(n, side, rng), images(n, side, rng), accuracy
    if task == "snakes":
        models = snake_models(rng, 10 if quick else 30)
        wanted, score = "directions", accuracy
    else:
        models = dutch_models(20 if quick else 1000, 8.0)
        wanted, score = "skip edges", spans
    train, test = next(parts for name, _, parts in models if name == wanted)
    return train, test, score


def compare(task, alphas, rng, quick):
    """Yield the rows of a task."""
    train, test, score = load(task, rng, quick)
    max_iter = 10 if quick else 100
    for n_alpha in alphas:
        alpha = n_alpha / len(train[1])
        runs = {
            "exact": lambda alpha=alpha: fitted("exact", train, test, alpha),
            "trw": lambda alpha=alpha: fitted("trw", train, test, alpha),
            "bp": lambda alpha=alpha: propagated(train, test, alpha, max_iter),
        }
        for name, run in runs.items():
            began = process_time()
            predicted, shares = run()
            seconds = process_time() - began
            yield [
                task,
                f"{n_alpha:g}",
                name,
                f"{score(test[1], predicted):.4f}",
                *(f"{100 * share:.1f} %" for share in shares),
                f"{seconds:.1f}",
            ]


def of_random_graphs(n, rng):
    """Return the rows of the table of graphs with random scores."""
    labels = np.array(list(product(range(2), repeat=N_NODES)))
    first, second = ends = np.array(list(combinations(range(N_NODES), 2))).T
    graphs = Graphs([(np.empty((N_NODES, 0)), ends.T, np.empty((len(first), 0)))] * n)
    local = rng.normal(size=(n, N_NODES, 2))
    unit = rng.normal(size=(n, len(first), 2, 2))
    rows = [["deviation", "P > 1", "open"]]
    for deviation in (0.5, 1.0, 2.0, 4.0):
        pairs = deviation * unit
        of_nodes = local[:, np.arange(N_NODES), labels].sum(axis=2)
        of_edges = pairs[:, np.arange(len(first)), labels[:, first], labels[:, second]]
        best = (of_nodes + of_edges.sum(axis=2)).max(axis=1)
        inference = BeliefPropagation(graphs, 2)
        *_, log_z, is_open = inference.run(
            local.reshape(-1, 2), pairs.reshape(-1, 2, 2)
        )
        shares = np.mean(best > log_z + 1e-9), np.mean(is_open)
        rows.append([f"{deviation:g}", *(f"{100 * share:.1f} %" for share in shares)])
    return rows


def uniform_appearance(n_nodes, ends):
    """Return the share of all spanning trees that have each edge: its resistance."""
    incidence = np.zeros((len(ends), n_nodes))
    incidence[np.arange(len(ends)), ends[:, 0]] = 1.0
    incidence[np.arange(len(ends)), ends[:, 1]] = -1.0
    inverse = np.linalg.pinv(incidence.T @ incidence)
    return np.einsum("ev,vu,eu->e", incidence, inverse, incidence)


def above_log_z(n_nodes, ends, n, rng):
    """Return log Z_TRW - log Z by the package's trees, and by uniform ones.

    Scores of nodes and edges are normal, and graphs have two labels.
    """
    n_edges, offsets = len(ends), np.array([0, n_nodes])
    place = pair_places(2, True)
    edges = Edges.of_lists([ends], [np.eye(n_edges)], [n_nodes])
    forms = [kind.arrange(offsets, edges, 2, place)[0] for kind in STRUCTURES]
    found = []
    for _ in range(n):
        local, tied = rng.normal(size=(n_nodes, 2)), rng.normal(size=4 * n_edges)
        log_z, ours = (
            kind.scores_type(form, local, tied, offsets, 0).log_partition()[0]
            for kind, form in zip(STRUCTURES, forms, strict=True)
        )
        graphs = Graphs([(np.empty((n_nodes, 0)), ends, np.empty((n_edges, 0)))])
        uniform = BeliefPropagation(
            graphs, 2, uniform_appearance(n_nodes, ends), most_sweeps=2000
        )
        *_, (theirs,), (is_open,) = uniform.run(
            local, tied.reshape(n_edges, 4)[:, place]
        )
        if not is_open:
            found.append([ours - log_z, theirs - log_z])
    return found


def random_edges(n_nodes, share, rng):
    """Return the edges of a connected graph that has each pair by chance."""
    while True:
        pairs = np.array(list(combinations(range(n_nodes), 2)))
        ends = pairs[rng.random(len(pairs)) < share]
        adjacency = sp.coo_array((np.ones(len(ends)), ends.T), (n_nodes, n_nodes))
        if connected_components(adjacency, directed=False)[0] == 1:
            return ends


def of_trees(n, rng):
    """Return the rows of the table of trees."""
    rows = [["graph", "graphs", "trw", "uniform trees"]]
    for side in (3, 4, 6):
        found = above_log_z(side**2, grid(side, side)[0], n, rng)
        rows.append([f"grid {side} x {side}", found])
    pairs = np.array(list(combinations(range(N_NODES), 2)))
    rows.append(["clique", above_log_z(N_NODES, pairs, n, rng)])
    for n_nodes, share in ((6, 0.5), (10, 0.3), (20, 0.15)):
        found = []
        for _ in range(n):
            ends = random_edges(n_nodes, share, rng)
            found += above_log_z(n_nodes, ends, 1, rng)
        rows.append([f"random, {n_nodes} nodes", found])
    return [rows[0]] + [
        [name, str(len(found)), *(f"{own:.3f}" for own in np.mean(found, axis=0))]
        for name, found in rows[1:]
    ]


def fronts(n_nodes, ends):
    """Return how many nodes may be summed at a time, in the order of trw."""
    step = np.argsort(order_of(n_nodes, ends).node)
    steps, front = np.sort(step[ends], axis=1), np.zeros(n_nodes, dtype=int)
    for first, last in steps[np.argsort(steps[:, 0], kind="stable")]:
        front[last] = max(front[last], front[first] + 1)
    return np.bincount(front)


def seconds_of_sweep(side, n_labels, rng):
    """Return the seconds of a sweep over a grid with normal scores on one core."""
    (ends, kinds), offsets = grid(side, side), np.array([0, side**2])
    edges = Edges.of_lists([ends], [kinds], [side**2])
    local = rng.normal(size=(side**2, n_labels))
    tied = 3.0 * rng.normal(size=kinds.shape[1] * n_labels**2)
    found = []
    for _ in range(ROUNDS):
        for sweeps in (1, 1 + SWEEPS):
            form = ReweightedGraph.arrange(
                offsets, edges, n_labels, pair_places(n_labels, True)
            )[0]
            form.most_sweeps = sweeps
            scores = ReweightedGraph.scores_type(form, local, tied, offsets, 0)
            began = process_time()
            scores.log_partition()
            found.append(process_time() - began)
    return (min(found[1::2]) - min(found[::2])) / SWEEPS


def of_fronts(sides, rng):
    """Yield the rows of the table of fronts."""
    gains = [f"{cores} cores{wait}" for cores in (2, 16) for wait in ("", ", waiting")]
    yield ["grid", "labels", "fronts", "us a sweep", "us a front", *gains]
    for side, n_labels in product(sides, (2, 11)):
        widths = fronts(side**2, grid(side, side)[0])
        seconds = seconds_of_sweep(side, n_labels, rng)
        cells = []
        for cores in (2, 16):
            share = np.ceil(widths / cores).sum() / widths.sum()
            waiting = 2.0 * len(widths) * WAIT / seconds
            cells += [f"{1.0 / share:.1f}", f"{1.0 / (share + waiting):.1f}"]
        of_front = 1e6 * seconds / (2.0 * len(widths))
        times = f"{1e6 * seconds:.0f}", f"{of_front:.2f}"
        yield [f"{side} x {side}", str(n_labels), str(len(widths)), *times, *cells]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    tasks = ["names", "snakes", "images", "random", "trees", "fronts"]
    parser.add_argument("--task", nargs="+", choices=tasks, default=tasks)
    parser.add_argument("--alpha", nargs="+", type=float, default=[1.0, 0.1, 0.01])
    parser.add_argument("--quick", action="store_true", help="few small graphs")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    for task in arguments.task:
        rng = np.random.default_rng(arguments.seed)
        if task == "random":
            tables.show(of_random_graphs(200 if arguments.quick else 1000, rng))
        elif task == "trees":
            tables.show(of_trees(3 if arguments.quick else 50, rng))
        elif task == "fronts":
            sides = (4,) if arguments.quick else (12, 60, 200)
            tables.stream(of_fronts(sides, rng))
        else:
            rows = compare(task, arguments.alpha, rng, arguments.quick)
            tables.show([HEADER, *rows])


if __name__ == "__main__":
    main()
