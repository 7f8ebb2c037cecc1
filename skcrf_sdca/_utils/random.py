"""The one place where ``random_state`` becomes a generator."""

import numpy as np
from sklearn.utils import check_random_state


def as_generator(random_state, bound=2**32):
    """Return a `numpy.random.Generator`, seeded by four draws from ``random_state``.

    The draws are below `bound`. Data sets and solvers pass different bounds; a change
    of either would give other numbers for the same seed.
    """
    draws = check_random_state(random_state)
    return np.random.default_rng(draws.randint(bound, size=4, dtype=np.uint32))
