"""Twin of dependency trees in plain NumPy: all trees of short sentences are listed.

The score of a tree is the sum of the scores s[head(m), m] of its arcs, an array (n + 1,
n) whose row 0 is the root and whose row h is word h - 1.
"""

from functools import cache
from itertools import combinations, product

import numpy as np
from scipy.special import logsumexp


@cache
def trees(n, *, single_root=True, projective=False):
    """Return the heads of all trees of n words, (n_trees, n); 0 is the root."""
    found = [heads for heads in product(range(n + 1), repeat=n) if _is_tree(heads)]
    if projective:
        found = [heads for heads in found if _is_projective(heads)]
    found = np.array(found, dtype=int).reshape(len(found), n)
    return found[(found == 0).sum(axis=1) == min(n, 1)] if single_root else found


def _is_tree(heads):
    return all(_is_below_the_root(heads, m) for m in range(1, len(heads) + 1))


def _is_projective(heads):
    """Whether all words between a head and its word are below the head."""
    above = [_above(heads, m) for m in range(len(heads) + 1)]
    return all(
        h in above[u]
        for m, h in enumerate(heads, start=1)
        for u in range(min(h, m) + 1, max(h, m))
    )


def _above(heads, m):
    found = []
    while m > 0:
        m = heads[m - 1]
        found.append(m)
    return found


def _is_below_the_root(heads, m):
    for _ in heads:
        m = heads[m - 1]
        if m == 0:
            return True
    return False


def tree_scores(scores, **kind):
    """Return all trees, and their scores."""
    n = scores.shape[1]
    heads = trees(n, **kind)
    return heads, scores[heads, np.arange(n)].sum(axis=1)


def log_partition(scores, **kind):
    """Return log Z."""
    _, values = tree_scores(scores, **kind)
    return logsumexp(values) if (values > -np.inf).any() else -np.inf


def arc_marginals(scores, **kind):
    """Return the probability of each arc, and the entropy of trees."""
    heads, values = tree_scores(scores, **kind)
    log_p = values - logsumexp(values)
    p = np.exp(log_p)
    return _sum_of_arcs(heads, p), -(p[p > 0.0] @ log_p[p > 0.0])


def _sum_of_arcs(heads, p):
    """Return the sum of p over the trees that have each arc."""
    n = heads.shape[1]
    sums = np.zeros((n + 1, n))
    np.add.at(sums, (heads, np.arange(n)), p[:, np.newaxis])
    return sums


def siblings(heads):
    """Return of each word the nearest word between it and its head with that head.

    It is the head itself where there is none.
    """
    found = []
    for m, h in enumerate(heads, start=1):
        step = 1 if h > m else -1
        others = [s for s in range(m + step, h, step) if heads[s - 1] == h]
        found.append(others[0] if others else h)
    return found


def are_siblings(n):
    """Return which (h, m, s) of words counted from 0 are siblings, (n, n, n) of bool.

    s is between h and m, or h.
    """
    h, m, s = np.ogrid[:n, :n, :n]
    between = (np.minimum(h, m) < s) & (s < np.maximum(h, m))
    return (h != m) & ((s == h) | between)


def labels_with_siblings(heads):
    """Return the labels of the arcs and the siblings of a tree, 1 for those in it."""
    n = len(heads)
    arcs, found = np.zeros((n + 1, n), dtype=int), np.zeros((n, n, n), dtype=int)
    for m, (h, s) in enumerate(zip(heads, siblings(heads), strict=True)):
        arcs[h, m] = 1
        if h > 0:
            found[h - 1, m, s - 1] = 1
    return np.append(arcs.ravel(), found[are_siblings(n)])


def sibling_scores(scores, siblings_of, **kind):
    """Return all projective trees, and their scores with those of siblings.

    ``siblings_of`` is an array (n, n, n) ``[h, m, s]`` of words counted from 0; words
    below the root have none.
    """
    heads, values = tree_scores(scores, projective=True, **kind)
    for k, own in enumerate(heads.tolist()):
        for m, (h, s) in enumerate(zip(own, siblings(own), strict=True)):
            if h > 0:
                values[k] += siblings_of[h - 1, m, s - 1]
    return heads, values


def marginals_with_siblings(scores, siblings_of, **kind):
    """Return log Z of the same, and the probabilities of arcs and of siblings."""
    heads, values = sibling_scores(scores, siblings_of, **kind)
    log_z = logsumexp(values)
    p, sums = np.exp(values - log_z), np.zeros(siblings_of.shape)
    for own, p_own in zip(heads.tolist(), p, strict=True):
        for m, (h, s) in enumerate(zip(own, siblings(own), strict=True)):
            if h > 0:
                sums[h - 1, m, s - 1] += p_own
    return log_z, _sum_of_arcs(heads, p), sums


def best_step(losses, gradients, C):
    """Return the change of n-best MIRA: all sets of trees with a weight are tried."""
    # The last one is the target.
    losses = np.append(losses, 0.0)
    gradients = np.vstack([gradients, np.zeros(gradients.shape[1])])
    found, change = -np.inf, None
    for size in range(1, len(losses) + 1):
        for own in map(list, combinations(range(len(losses)), size)):
            g, ones = gradients[own], np.ones((size, 1))
            system = np.block([[g @ g.T, ones], [ones.T, np.zeros((1, 1))]])
            alpha = np.linalg.lstsq(system, np.append(losses[own], C))[0][:-1]
            value = alpha @ losses[own] - (alpha @ g) @ (alpha @ g) / 2
            if (alpha > -1e-9).all() and value > found and np.isclose(alpha.sum(), C):
                found, change = value, alpha @ g
    return change
