"""Learn wide graphs by updates of single cliques, beside runs of message passing.

Hu and Obozinski (2018) [1]_ relax the constraints that marginals of edges agree with
those of nodes: no inference is run. The text of the paper was not available. So the
method is derived from its abstract and its title, for the P of
``GraphCRF(inference="trw")``. With the order of the nodes that the package takes,

    H_TRW = H_root + sum_e rho_e H(first end of e | last end of e),

is concave in beliefs of edges that do not agree. The augmented Lagrangian

    D(b) + 1/n sum_e ( <xi_e, A b_e - b_v> - beta/2 ||A b_e - b_v||^2 )

has beliefs b of nodes and edges, multipliers xi_e for the two ends of an edge, and A
b_e, the sums of the table of an edge. SDCA visits each clique in random order: the best
belief for the weights, where the entropies H(last end) are linearised, and an exact
line search. For nodes, which have no entropy, the best belief is a projection. After
each epoch xi_e takes a step of beta against A b_e - b_v.

The table has epochs of the cliques, or oracle calls / n, to P - P* <= 1e-2 P* and
1e-3 P*, and seconds of the processor, for each beta. A call has 100 sweeps of messages
at most, or one, which is as much work as an epoch of the cliques; P is that of 100. The
clique updates are in NumPy, and SDCA, OEG and SAG-NUS* are compiled.

    python examples/benchmarks/clique_updates.py [--n 8] [--side 8] [--quick]

References
----------
.. [1] Hu, Obozinski, "SDCA-powered inexact dual augmented Lagrangian method for fast
   CRF learning", AISTATS 2018.
"""

import argparse
import warnings
from functools import partial
from itertools import product
from time import process_time

import numpy as np
from dear_oracles import problem_of
from sklearn.exceptions import ConvergenceWarning
from wide_graphs import images

import tables
from skcrf_sdca import GraphCRF
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.structures.graph.reweighting import order_of

LEVELS, TIGHT, MOST, QUICK_MOST = (1e-2, 1e-3), 1e-5, 300, 3
STRENGTHS, SWEEPS = (1.0, 3.0, 10.0), (1, 100)
# Of a line search: steps, and the share of the slope at which it ends.
STEPS, ENOUGH = 8, 1e-2
SMALLEST = 1e-300
SOLVERS = {"SDCA": SDCA, "OEG": OEG, "SAG-NUS*": SAG}


def projection(x):
    """Return the nearest point of the simplex."""
    falling = np.sort(x)[::-1]
    excess = (np.cumsum(falling) - 1.0) / np.arange(1, len(x) + 1)
    return np.maximum(x - excess[np.count_nonzero(falling > excess) - 1], 0.0)


class CliqueUpdates:
    """The inexact dual augmented Lagrangian method on graphs without directed edges.

    Tables of edges have the labels of the first and the last end, in the order of the
    sums of the package. ``rho`` and ``kappa`` count the entropies of an edge and of its
    last end: an edge of each root has the entropy of the root, too.

    Parameters
    ----------
    problem : Problem
    X, y : lists
        Graphs as `GraphCRF.fit` takes them.
    rng : Generator
    beta : float

    Attributes
    ----------
    n_epochs : int
        Epochs of the cliques so far.
    """

    def __init__(self, problem, X, y, rng, beta):
        self.rng, self.beta, self.n_epochs = rng, beta, 0
        self.strength = problem.alpha * len(X)
        self.model = problem.new_parameters()
        self.place, K = self.model.place, len(self.model.place)
        self.x, self.y = np.concatenate([nodes for nodes, *_ in X]), np.concatenate(y)
        self.nodes = np.full((len(self.x), K), 1.0 / K)
        ends, kinds, rho, kappa, first = [], [], [], [], 0
        for nodes, own_ends, own_kinds in X:
            order = order_of(len(nodes), own_ends)
            pairs = own_ends[order.edge]
            pairs[order.leaves == 0] = pairs[order.leaves == 0, ::-1]
            root = order.node[order.n_edges == 0]
            kappa.append(-order.appearance)
            kappa[-1][[np.argmax(pairs[:, 1] == r) for r in root]] += 1.0
            ends.append(first + pairs)
            kinds.append(own_kinds[order.edge])
            rho.append(order.appearance)
            first += len(nodes)
        self.ends, self.kinds = np.concatenate(ends), np.concatenate(kinds)
        self.rho, self.kappa = np.concatenate(rho), np.concatenate(kappa)
        self.edges = np.full((len(self.ends), K, K), 1.0 / K**2)
        self.multipliers = np.zeros((len(self.ends), 2, K))
        self.at = [[] for _ in self.nodes]
        for e, pair in enumerate(self.ends):
            for end, v in enumerate(pair):
                self.at[v].append((e, end))
        one = np.eye(K)
        for v, label in enumerate(self.y):
            self.move_node(v, self.nodes[v] - one[label])
        for e, (a, b) in enumerate(self.y[self.ends]):
            self.move_edge(e, self.edges[e] - np.outer(one[a], one[b]))

    def move_node(self, v, change):
        """Move the weights by a change of the belief of a node."""
        change = change / self.strength
        self.model.coef -= np.outer(self.x[v], change)
        self.model.intercept -= change

    def move_edge(self, e, change):
        """Move the weights by a change of the belief of an edge."""
        tied = self.model.tied.reshape(len(self.kinds[e]), -1)
        tied -= np.outer(self.kinds[e], self.folded(change)) / self.strength

    def folded(self, change):
        """Return the sums of a table over pairs of labels that share a weight."""
        return np.bincount(self.place.ravel(), change.ravel())

    def sums(self, e):
        """Return A b_e."""
        return np.array([self.edges[e].sum(axis=1), self.edges[e].sum(axis=0)])

    def visit_node(self, v):
        """Move the belief of a node towards the best one."""
        scores = self.x[v] @ self.model.coef + self.model.intercept
        pull = sum(
            self.beta * self.edges[e].sum(axis=1 - end) - self.multipliers[e, end]
            for e, end in self.at[v]
        )
        quadratic = self.beta * len(self.at[v])
        change = projection((scores + pull) / quadratic) - self.nodes[v]
        slope = (scores + pull - quadratic * self.nodes[v]) @ change
        square = change @ change
        curvature = quadratic + (1.0 + self.x[v] @ self.x[v]) / self.strength
        if slope > 0.0:
            change *= min(slope / (curvature * square), 1.0)
            self.nodes[v] += change
            self.move_node(v, change)

    def visit_edge(self, e):
        """Move the belief of an edge towards the best one."""
        belief, rho, kappa = self.edges[e], self.rho[e], self.kappa[e]
        tied = self.model.tied.reshape(len(self.kinds[e]), -1)
        first, last = self.multipliers[e] - self.beta * (
            self.sums(e) - self.nodes[self.ends[e]]
        )
        linear = (self.kinds[e] @ tied)[self.place] + first[:, np.newaxis] + last
        of_last = np.log(np.maximum(belief.sum(axis=0), SMALLEST))
        best = (linear - kappa * of_last) / rho
        best = np.exp(best - best.max())
        change = best / best.sum() - belief
        own, folded = change.sum(axis=1), self.folded(change)
        at_last = change.sum(axis=0)
        curvature = self.beta * (own @ own + at_last @ at_last)
        squares = self.kinds[e] @ self.kinds[e]
        curvature += squares * (folded @ folded) / self.strength
        flat, rise = change.ravel(), linear.ravel() @ change.ravel()

        def slope(step):
            table = np.maximum(belief + step * change, SMALLEST)
            entropies = rho * (np.log(table).ravel() @ flat)
            entropies += kappa * (np.log(table.sum(axis=0)) @ at_last)
            return rise - step * curvature - entropies

        change *= searched(slope)
        self.edges[e] += change
        self.move_edge(e, change)

    def epoch(self):
        """Visit all cliques in random order, and move the multipliers."""
        n_nodes = len(self.nodes)
        for clique in self.rng.permutation(n_nodes + len(self.edges)):
            if clique < n_nodes:
                self.visit_node(clique)
            else:
                self.visit_edge(clique - n_nodes)
        for e, pair in enumerate(self.ends):
            self.multipliers[e] -= self.beta * (self.sums(e) - self.nodes[pair])
        self.n_epochs += 1


def searched(slope):
    """Return the step in [0, 1] to the root of a falling slope, by false position."""
    low, at_low = 0.0, slope(0.0)
    high, at_high = 1.0, slope(1.0)
    if at_low <= 0.0 or at_high >= 0.0:
        return float(at_low > 0.0)
    enough = ENOUGH * at_low
    for _ in range(STEPS):
        step = low + (high - low) * at_low / (at_low - at_high)
        found = slope(step)
        if abs(found) <= enough:
            break
        if found > 0.0:
            low, at_low, at_high = step, found, 0.5 * at_high
        else:
            high, at_high, at_low = step, found, 0.5 * at_low
    return step


def found(problem, bound, run, most, counter, n=1):
    """Return the counts over n and seconds to each level, and the last P / P* - 1.

    ``counter`` is the name of an attribute of ``run``.
    """
    reached, seconds, distance, count = [], 0.0, np.inf, 0.0
    while count < most and len(reached) < len(LEVELS):
        began = process_time()
        run.epoch()
        seconds += process_time() - began
        w = run.model.w
        distance = problem.primal(w, problem.mean_loss(w)) / bound - 1.0
        new = sum(distance <= level for level in LEVELS) - len(reached)
        count = getattr(run, counter) / n
        reached += [(count, seconds)] * new
    return reached + [(np.inf, np.inf)] * (len(LEVELS) - len(reached)), distance


def cells(reached, distance):
    """Return the cells of a row."""
    return [
        *(f"{count:.1f} / {seconds:.2f}" for count, seconds in reached),
        f"{100.0 * distance:.2g} %",
    ]


def rows(n, side, seed, most):
    """Yield the rows of a seed."""
    X, y = images(n, side, np.random.default_rng(seed))
    new = partial(problem_of, GraphCRF(1.0 / n, inference="trw", solver="lbfgs"), X, y)
    problem = new()
    tight = OEG(problem, np.random.default_rng(1))
    bound = FitMonitor(tight, max_iter=most, tol=TIGHT).run().rows[-1]["dual"]
    for (name, make), sweeps in product(SOLVERS.items(), SWEEPS):
        seen = new()
        seen.structure.trees.most_sweeps = sweeps
        run = make(seen, np.random.default_rng(seed))
        of_run = found(problem, bound, run, most, "n_oracle_calls", n)
        yield [f"{name}, sweeps <= {sweeps}", f"{seed}", *cells(*of_run)]
    for beta in STRENGTHS:
        run = CliqueUpdates(problem, X, y, np.random.default_rng(seed), beta)
        of_run = found(problem, bound, run, most, "n_epochs")
        yield [f"cliques, beta = {beta:g}", f"{seed}", *cells(*of_run)]


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=8, help="images")
    parser.add_argument("--side", type=int, default=8, help="pixels")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="a trial on few images")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    tables.stream([["method", "seed", *(f"{at:g} P*" for at in LEVELS), "at the end"]])
    n, side, most = options.n, options.side, MOST
    if options.quick:
        n, side, most = 2, 4, QUICK_MOST
    for seed in range(1 if options.quick else options.seeds):
        tables.stream(rows(n, side, seed, most))


if __name__ == "__main__":
    main()
