"""Plain twins of the compiled code: short, slow and readable.

They share formulas with the package, but no code. In the solvers' twins sequences
are dense (T, d) arrays; the flat weights are laid out as in `reference.Params`.
"""

from collections import Counter
from collections.abc import Mapping, Set

import numpy as np
from scipy.special import entr, softmax, xlogy

from reference import (
    all_features,
    all_paths,
    edge_marginals,
    log_partition,
    node_marginals,
)


def unpack(w, n_features, n_labels):
    """Return coef, intercept, start, end, transition as views of the flat weights."""
    sizes = [n_labels, n_labels, n_labels, n_labels**2]
    intercept, start, end, transition, coef = np.split(w, np.cumsum(sizes))
    return (
        coef.reshape(n_features, n_labels),
        intercept,
        start,
        end,
        transition.reshape(n_labels, n_labels),
    )


def chain_features(x, node, edge):
    """Return the features expected under node and edge marginals, flat."""
    return np.concatenate(
        [node.sum(axis=0), node[0], node[-1], edge.sum(axis=0).ravel()]
        + [(x.T @ node).ravel()]
    )


def chain_entropy(node, edge):
    if len(node) == 1:
        return -xlogy(node, node).sum()
    return xlogy(node[1:-1], node[1:-1]).sum() - xlogy(edge, edge).sum()


def best_path(node_scores, transition):
    """Viterbi: (path, its score); ties go to the lowest label."""
    best, origins = node_scores[0], []
    for scores in node_scores[1:]:
        sums = best[:, np.newaxis] + transition
        origins.append(sums.argmax(axis=0))
        best = scores + sums.max(axis=0)
    path = [best.argmax()]
    for origin in reversed(origins):
        path.append(origin[path[-1]])
    return path[::-1], best.max()


def markov_chain(node, edge):
    """Return nodes and edges of the Markov chain that the rows of the edges define."""
    nodes, edges = [node[0]], []
    for rows in edge.astype(np.float64):
        edges.append(nodes[-1][:, None] * rows / rows.sum(axis=1, keepdims=True))
        nodes.append(edges[-1].sum(axis=0))
    return np.array(nodes), np.array(edges).reshape(-1, *edge.shape[1:])


class SDCATwin:
    """SDCA with safeguarded Newton line search and gap sampling."""

    def __init__(self, X, y, n_labels, alpha, *, mix, tolerance, smoothing):
        self.X, self.alpha, self.mix, self.tolerance = X, alpha, mix, tolerance
        self.n, self.n_labels, self.d = len(X), n_labels, X[0].shape[1]
        self.node, self.edge = [], []
        w = 0.0
        for x, labels in zip(X, y, strict=True):
            one_hot = np.eye(n_labels)[labels]
            pairs = np.einsum("tj,tk->tjk", one_hot[:-1], one_hot[1:])
            self.node.append((1 - smoothing) * one_hot + smoothing / n_labels)
            self.edge.append((1 - smoothing) * pairs + smoothing / n_labels**2)
            w = w + chain_features(x, one_hot, pairs)
            w = w - chain_features(x, self.node[-1], self.edge[-1])
        self.w = w / (alpha * self.n)
        self.gaps = np.full(self.n, 100.0)
        self.steps = np.full(self.n, 0.5)

    def epoch(self, uniforms):
        for coin, position in uniforms:
            if coin < self.mix:
                cumulated = np.cumsum(self.gaps)
                i = np.searchsorted(cumulated, position * cumulated[-1], side="right")
            else:
                i = int(position * self.n)
            self.visit(i)

    def visit(self, i):
        x, node, edge = self.X[i], self.node[i], self.edge[i]
        coef, intercept, start, end, transition = unpack(self.w, self.d, self.n_labels)
        scores = x @ coef + intercept
        scores[0] += start
        scores[-1] += end
        node_direction = node_marginals(scores, transition) - node
        edge_direction = edge_marginals(scores, transition) - edge
        expected = (node * scores).sum() + (edge * transition).sum()
        self.gaps[i] = max(
            log_partition(scores, transition) - expected - chain_entropy(node, edge),
            0.0,
        )
        v = -chain_features(x, node_direction, edge_direction) / (self.alpha * self.n)

        def slope_and_curvature(s):
            if len(node) == 1:
                terms = [(node, node_direction, -1.0)]
            else:
                inner = slice(1, -1)
                terms = [
                    (edge, edge_direction, -1.0),
                    (node[inner], node_direction[inner], 1.0),
                ]
            first = -self.alpha * self.n * (self.w + s * v) @ v
            second = -self.alpha * self.n * v @ v
            for p, direction, sign in terms:
                m = p + s * direction
                first += sign * (direction * np.log(m)).sum()
                second += sign * (direction**2 / m).sum()
            return first, second

        low, high, s = 0.0, 1.0, self.steps[i]
        while True:
            slope, curvature = slope_and_curvature(s)
            low, high = (s, high) if slope > 0 else (low, s)
            previous, s = s, s - slope / curvature
            moved = abs(s - previous)
            if low < s < high:
                border = min(s, 1 - s, previous, 1 - previous)
                error = min(moved, moved**2 / 2 / border if border > 0 else np.inf)
            else:
                s, error = (low + high) / 2, (high - low) / 2
            if error < self.tolerance:
                break
        self.node[i] = node + s * node_direction
        self.edge[i] = edge + s * edge_direction
        self.w = self.w + s * v
        self.steps[i] = s


class OEGTwin:
    """OEG of [Schmidt15, footnote 9], with a natural parameter for each labelling.

    ``at_nodes`` and ``at_edges`` are the first parameters of the correct ones.
    """

    def __init__(self, X, y, n_labels, alpha, *, at_nodes, at_edges, first_step):
        self.features = [all_features(x, n_labels) for x in X]
        self.scale = 1 / (alpha * len(X))
        self.theta, self.steps, self.w = [], np.full(len(X), first_step), 0.0
        for x, labels, features in zip(X, y, self.features, strict=True):
            equal = all_paths(len(x), n_labels) == labels
            pairs = equal[:, :-1] & equal[:, 1:]
            self.theta.append(at_nodes * equal.sum(1) + at_edges * pairs.sum(1))
            moved = features[equal.all(axis=1)][0] - softmax(self.theta[-1]) @ features
            self.w = self.w + self.scale * moved

    def dual(self, p, w):
        """Return n D, but for the entropies of other sequences."""
        return entr(p).sum() - w @ w / (2 * self.scale)

    def visit(self, i, max_halvings):
        features, step, old = self.features[i], self.steps[i], softmax(self.theta[i])
        before = self.dual(old, self.w)
        for halving in range(max_halvings + 1):
            theta = (1 - step) * self.theta[i] + step * features @ self.w
            p = softmax(theta)
            w = self.w - self.scale * (p - old) @ features
            if self.dual(p, w) >= before:
                self.theta[i], self.w = theta, w
                break
            step = step / 2 if halving < max_halvings else step
        self.steps[i] = np.clip(1.05 * step, 0.05, 1.9)


class SAGTwin:
    """SAG, SAG-NUS* and SAGA of [Schmidt15, Alg. 1], with dense gradients.

    The penalty is alpha / 2 sum_j rates_j w_j^2.
    """

    rates = 1.0

    def __init__(self, X, y, n_labels, alpha, *, mix, own, skipping, saga):
        self.X, self.alpha, self.mix, self.saga = X, alpha, mix, saga
        self.n, self.n_labels = len(X), n_labels
        self.own, self.skipping = own, skipping
        self.y = [np.asarray(labels) for labels in y]
        n_weights = X[0].shape[1] * n_labels + 3 * n_labels + n_labels**2
        self.w, self.sum = np.zeros(n_weights), np.zeros(n_weights)
        self.gradients = np.zeros((self.n, n_weights))
        self.L = np.ones(self.n)
        self.seen = np.zeros(self.n, dtype=bool)
        self.successes = np.zeros(self.n, dtype=int)
        self.to_skip = np.zeros(self.n, dtype=int)

    def loss(self, i, w):
        """Return f_i and its gradient."""
        x, labels = self.X[i], self.y[i]
        coef, intercept, start, end, transition = unpack(w, x.shape[1], self.n_labels)
        scores = x @ coef + intercept
        scores[0] += start
        scores[-1] += end
        path = scores[np.arange(len(x)), labels].sum()
        path += transition[labels[:-1], labels[1:]].sum()
        node = node_marginals(scores, transition)
        edge = edge_marginals(scores, transition)
        one_hot = np.eye(self.n_labels)[labels]
        pairs = np.einsum("tj,tk->tjk", one_hot[:-1], one_hot[1:])
        gradient = chain_features(x, node, edge) - chain_features(x, one_hot, pairs)
        return log_partition(scores, transition) - path, gradient

    def probabilities(self):
        L = np.where(self.seen, self.L, 0.0)
        if not self.own or L.sum() == 0.0:
            return np.full(self.n, 1 / self.n)
        return self.mix * L / L.sum() + (1 - self.mix) / self.n

    def pick(self, coin, position):
        L = np.where(self.seen, self.L, 0.0)
        if self.own and coin < self.mix and L.sum() > 0:
            return int(np.searchsorted(np.cumsum(L), position * L.sum(), side="right"))
        return int(position * self.n)

    def search(self, i, loss, gradient):
        if self.to_skip[i] > 0:
            self.to_skip[i] -= 1
            if not self.own:
                self.L *= 2 ** (-1 / self.n)
            return
        if not self.own:
            L = self.L[0] * 2 ** (-1 / self.n)
        elif self.seen[i]:
            L = 0.9 * self.L[i]
        else:
            L = 0.5 * self.L[self.seen].mean() if self.seen.any() else 1.0
        first, squared = L, gradient @ gradient
        if squared <= 1e-8:
            L = max(L, 1e-6) if self.own else L
        else:
            while self.loss(i, self.w - gradient / L)[0] >= loss - squared / (2 * L):
                L *= 2
            self.successes[i] = self.successes[i] + 1 if first == L else 0
            if self.skipping and self.successes[i]:
                self.to_skip[i] = 2 ** (self.successes[i] - 1)
        self.L[i if self.own else slice(None)] = L

    def step(self):
        L = self.L[self.seen]
        largest, mean = max(L.max(), self.alpha), max(L.mean(), self.alpha)
        return (1 / (largest + self.alpha) + 1 / (mean + self.alpha)) / 2

    def epoch(self, uniforms):
        for coin, position in uniforms:
            i = self.pick(coin, position)
            probability = self.probabilities()[i]
            loss, gradient = self.loss(i, self.w)
            self.search(i, loss, gradient)
            self.seen[i] = True
            change = gradient - self.gradients[i]
            mean = self.sum / self.n
            self.sum = self.sum + change
            self.gradients[i] = gradient
            step = self.step()
            if self.saga:
                direction = mean + change / (self.n * probability)
            else:
                direction = self.sum / self.seen.sum()
            shrink = 1 - step * self.alpha * self.rates
            self.w = shrink * self.w - step * direction


# str() would remove NULs at the end of a NumPy str.
def plain(name):
    """Return the text of a name, which bytes have in UTF-8."""
    return name.decode() if isinstance(name, bytes) else str.__str__(name)


class VectorizerTwin:
    """SequenceVectorizer: features by name, rows as sorted lists of (number, value)."""

    def __init__(self, min_freq=1, dtype=np.float64):
        self.min_freq, self.dtype = min_freq, dtype

    def fit_transform(self, items):
        every = dict.fromkeys(f for item in items for f, _ in self.entries(item))
        counts = Counter(f for item in items for f in self.sums(item))
        kept = [feature for feature in every if counts[feature] >= self.min_freq]
        self.numbers = {feature: number for number, feature in enumerate(kept)}
        return self.transform(items)

    def transform(self, items):
        numbers = self.numbers
        return [
            sorted((numbers[f], v) for f, v in self.sums(item).items() if f in numbers)
            for item in items
        ]

    def sums(self, item):
        sums = {}
        for feature, value in self.entries(item):
            sums[feature] = sums.get(feature, 0.0) + float(self.dtype(value))
        return {feature: value for feature, value in sums.items() if value != 0}

    def entries(self, item):
        """Yield (table, key, what) and the value of each entry, in order."""
        if not isinstance(item, Mapping):
            names = sorted(map(plain, item)) if isinstance(item, Set) else item
            yield from ((("numeric", plain(name), None), 1.0) for name in names)
            return
        for key, value in item.items():
            if isinstance(value, Mapping):
                prefix = plain(key)
                inner = {f"{prefix}:{plain(k)}": v for k, v in value.items()}
                yield from self.entries(inner)
            elif isinstance(value, np.ndarray):
                for i, component in enumerate(value.tolist()):
                    yield ("vectors", plain(key), i), component
            elif isinstance(value, (str, bytes, list, tuple, Set)):
                is_one = isinstance(value, (str, bytes))
                strings = map(plain, [value] if is_one else value)
                for string in sorted(strings) if isinstance(value, Set) else strings:
                    yield ("categorical", plain(key), string), 1.0
            elif value != 0:
                yield ("numeric", plain(key), None), float(value)
