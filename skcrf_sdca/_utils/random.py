"""The one place where ``random_state`` becomes a generator."""

import numpy as np
from sklearn.utils import check_random_state


def as_generator(random_state, bound=2**32):
    """Return a `numpy.random.Generator` for scikit-learn's ``random_state``.

    Parameters
    ----------
    random_state : int, RandomState instance or None
        As everywhere in scikit-learn.
    bound : int, default=2**32
        The draws are below this. Data sets pass another bound than solvers, and both
        keep theirs: with another one the same seed would give other numbers.

    Returns
    -------
    rng : numpy.random.Generator
        Seeded by four draws from ``random_state``.
    """
    draws = check_random_state(random_state)
    return np.random.default_rng(draws.randint(bound, size=4, dtype=np.uint32))
