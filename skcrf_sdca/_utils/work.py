"""Checks that the work on one item ends, before it begins.

Neither Ctrl-C nor another thread ends the work of the kernels on one item. It may grow
with a power of the length of the item. Only work that clearly takes hours is refused.
"""

# Steps of the kernels, each of a nanosecond or more: a quarter of an hour at least.
MOST_STEPS = 10**12


def check_ends(n_steps, need, advice):
    """Raise ValueError if one item clearly takes too many steps.

    The message begins with `need`, what is asked for, and ends with `advice`, a remedy
    for the user.
    """
    if n_steps > MOST_STEPS:
        raise ValueError(
            f"{need} would take some {float(n_steps):.0e} steps, of which a processor "
            f"makes at most 1e+09 in a second: {advice}"
        )
