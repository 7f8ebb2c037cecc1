"""Entropies, and that of marginals that are mixed with labels, of any structure."""

import numpy as np

# Their indices in the family of Tsallis. The probabilities of scores are those of the
# largest <mu, scores> + H(mu).
SHANNON, GINI = 1.0, 2.0


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
