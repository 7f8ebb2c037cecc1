"""The one place where ``random_state`` becomes a generator."""

import numpy as np
from sklearn.utils import check_random_state


def as_generator(random_state):
    """Return a `numpy.random.Generator` for scikit-learn's ``random_state``.

    Parameters
    ----------
    random_state : int, RandomState instance or None
        As everywhere in scikit-learn.

    Returns
    -------
    rng : numpy.random.Generator
        Seeded by four draws from ``random_state``.
    """
    return np.random.default_rng(
        check_random_state(random_state).randint(2**31 - 1, size=4).tolist()
    )
