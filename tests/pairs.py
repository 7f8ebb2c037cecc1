"""Cases of tests: pairs of values in place of all combinations, and many in one test.

A test of pytest costs 2 ms of the processor before it does anything: every process
collects it, and reports it to another.
"""

import functools
import inspect
from itertools import chain, combinations, product

import numpy as np
import pytest


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


def by_pairs(factors, allowed=None):
    """Parametrize a test by the rows of `pairwise_table`.

    Parameters
    ----------
    factors : dict of str to list
        The name of an argument -> its values. Of names with commas between them, each
        value has a tuple.
    allowed : callable, default=None
        As for `pairwise_table`.
    """
    names = ",".join(factors)
    rows = [
        tuple(
            chain(*(v if "," in k else (v,) for k, v in zip(factors, row, strict=True)))
        )
        for row in pairwise_table(*map(list, factors.values()), allowed=allowed)
    ]
    return pytest.mark.parametrize(names, rows)


def in_one_test(names, cases):
    """Give a test its arguments as ``pytest.mark.parametrize``, all cases in one test.

    It ends at the first case that fails, and a note of the error says which it is. It
    is skipped if a case is, after all others. ValueError if there is no case.
    """
    cases = list(cases)
    if not cases:
        raise ValueError(f"no case of {names!r}")
    one, names = isinstance(names, str), (names,) if isinstance(names, str) else names

    def decorate(test):
        @functools.wraps(test)
        def run(**others):
            skipped = None
            for case in cases:
                own = dict(zip(names, (case,) if one else case, strict=True))
                try:
                    test(**own, **others)
                except pytest.skip.Exception as error:
                    skipped = error
                except BaseException as error:
                    error.add_note(f"The case is {own}.")
                    raise
            if skipped:
                raise skipped

        signature = inspect.signature(test)
        others = [p for p in signature.parameters.values() if p.name not in names]
        run.__signature__ = signature.replace(parameters=others)
        return run

    return decorate
