"""Entropies, and that of marginals that are mixed with labels, of any structure."""

import numpy as np

# Their indices in the family of Tsallis. The probabilities of scores are those of the
# largest <mu, scores> + H(mu).
SHANNON, TSALLIS, GINI = 1.0, 1.5, 2.0
INDICES = SHANNON, TSALLIS, GINI


def entmax15(scores):
    """Return the p of the largest <p, s> + 4/3 (1 - sum_k p_k^1.5), and its value.

    Each row of ``scores``, (n, K), is an s, and p = max(s / 2 - t, 0)^2, with t such
    that the sum is 1 [Peters, Niculae and Martins, ACL 2019]. Of the k largest numbers
    z of s / 2, with their mean and their sum of squared distances from it,

        t = mean - sqrt((1 - squares) / k)

    for the largest k whose z all exceed t. The value is -inf, and p is 0, for a row
    that is -inf.

    >>> import numpy as np
    >>> from skcrf_sdca.structures.entropy import entmax15
    >>> p, values = entmax15(np.array([[1.0, 1.0, -2.0]]))
    >>> p.round(6).tolist(), values.round(6).tolist()
    ([[0.5, 0.5, 0.0]], [1.390524])
    """
    largest = scores.max(axis=1, keepdims=True)
    possible = np.isfinite(largest)
    # t is at least largest / 2 - 1: lower scores count for nothing, whatever they are.
    z = 0.5 * np.maximum(scores - np.where(possible, largest, 0.0), -4.0)
    k = np.arange(1.0, z.shape[1] + 1.0)
    descending = -np.sort(-z, axis=1)
    mean = descending.cumsum(axis=1) / k
    squares = np.square(descending).cumsum(axis=1) - k * np.square(mean)
    t = mean - np.sqrt(np.maximum(1.0 - squares, 0.0) / k)
    size = (t < descending).sum(axis=1, keepdims=True)
    excess = np.maximum(z - np.take_along_axis(t, size - 1, axis=1), 0.0)
    # A step of Newton takes the rounding out of t.
    error = np.square(excess).sum(axis=1, keepdims=True) - 1.0
    step = np.where(excess > 0.0, 0.5 * error / excess.sum(axis=1, keepdims=True), 0.0)
    p = np.square(np.maximum(excess - step, 0.0)) * possible
    gain = 2.0 * (p * z).sum(axis=1) + 4.0 / 3.0 * (1.0 - (p**1.5).sum(axis=1))
    return p, largest[:, 0] + gain


def uniform_mixture_entropy(n, smoothing):
    """Return H of smoothing times a uniform distribution over n, the rest on one."""
    others = smoothing / n
    one = 1.0 - (n - 1) * others
    return -one * np.log(one) - (n - 1) * others * np.log(others)


def mixture_entropy(q, factor, entropy):
    """Return the entropy of mixtures of marginals with labels, as a function.

    With ``keep`` times the marginals and 1 - keep on the labels, keep multiplies all
    marginals but q, the marginals of the labels in all cliques and separators. Each
    entropy counts ``factor`` times, with the weight of its sequence; negative for
    separators. ``entropy`` is the weighted sum of H(mu_i) now, and the function returns
    it for a ``keep`` in [0, 1].
    """
    # Only here: whoever needs marginals alone is spared the import.
    from scipy.special import entr

    now = entropy - factor @ entr(q)
    wrong = factor @ (1.0 - q)

    def by_keep(keep):
        correct = factor @ entr(1.0 - keep * (1.0 - q))
        return keep * now + wrong * entr(keep) + correct

    return by_keep
