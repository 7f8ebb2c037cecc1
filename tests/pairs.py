"""Tables of tests that have all pairs of values in place of all combinations."""

from itertools import combinations, product

import numpy as np


def pairwise_table(*factors, allowed=None):
    """Return rows in which every pair of values of two factors stands.

    A full product grows with each option, but a fault that needs three given values is
    rare. The rows are chosen one by one: the first of those with the most new pairs.

    Parameters
    ----------
    *factors : sequences
        The values of each factor.
    allowed : callable, default=None
        ``allowed(*row)`` returns whether a row is to be chosen. A pair that stands in
        no such row is left out. All rows, if None.

    Returns
    -------
    list of tuple
        In the order of the product.
    """
    codes = np.array(list(product(*(range(len(values)) for values in factors))))
    rows = [
        tuple(values[k] for values, k in zip(factors, row, strict=True))
        for row in codes.tolist()
    ]
    if allowed is not None:
        kept = [i for i, row in enumerate(rows) if allowed(*row)]
        codes, rows = codes[kept], [rows[i] for i in kept]
    pairs, first = [], 0
    for a, b in combinations(range(len(factors)), 2):
        pairs.append(first + codes[:, a] * len(factors[b]) + codes[:, b])
        first += len(factors[a]) * len(factors[b])
    pairs, is_new = np.array(pairs).T, np.zeros(first, dtype=bool)
    is_new[pairs] = True
    chosen = []
    while is_new.any():
        best = is_new[pairs].sum(axis=1).argmax()
        is_new[pairs[best]] = False
        chosen.append(best)
    return [rows[i] for i in sorted(chosen)]
