"""Twin of dependency trees in plain NumPy: all trees of short sentences are listed.

The score of a tree is the sum of the scores s[head(m), m] of its arcs, an array (n + 1,
n) whose row 0 is the root and whose row h is word h - 1.
"""

from functools import cache
from itertools import product

import numpy as np
from scipy.special import logsumexp


@cache
def trees(n, *, single_root):
    """Return the heads of all trees of n words, (n_trees, n); 0 is the root."""
    found = [heads for heads in product(range(n + 1), repeat=n) if _is_tree(heads)]
    found = np.array(found).reshape(-1, n)
    return found[(found == 0).sum(axis=1) == 1] if single_root else found


def _is_tree(heads):
    return all(_is_below_the_root(heads, m) for m in range(1, len(heads) + 1))


def _is_below_the_root(heads, m):
    for _ in heads:
        m = heads[m - 1]
        if m == 0:
            return True
    return False


def tree_scores(scores, *, single_root):
    """Return all trees, and their scores."""
    n = scores.shape[1]
    heads = trees(n, single_root=single_root)
    return heads, scores[heads, np.arange(n)].sum(axis=1)


def log_partition(scores, *, single_root):
    """Return log Z."""
    _, values = tree_scores(scores, single_root=single_root)
    return logsumexp(values) if (values > -np.inf).any() else -np.inf


def arc_marginals(scores, *, single_root):
    """Return the probability of each arc, and the entropy of trees."""
    heads, values = tree_scores(scores, single_root=single_root)
    log_p = values - logsumexp(values)
    p = np.exp(log_p)
    marginals = np.zeros(scores.shape)
    np.add.at(marginals, (heads, np.arange(heads.shape[1])), p[:, np.newaxis])
    return marginals, -(p[p > 0.0] @ log_p[p > 0.0])
