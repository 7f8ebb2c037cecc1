"""The algorithms of CRFsuite: their parameters, and what learns online in their place.

Both faces, `CRF` and `Trainer`, read names, defaults and effects here.
"""

from typing import Any, NamedTuple, TypeAlias

# Name -> default, and help.
Parameters: TypeAlias = dict[str, tuple[Any, str]]


class Algorithm(NamedTuple):
    """An algorithm of CRFsuite.

    Attributes
    ----------
    title : str
        What the log calls it.
    parameters : dict of str to (object, str)
    online : dict, default=None
        Parameters of the `PassiveAggressiveCRF` that `CRF` fits in its place; None for
        an algorithm that minimises the objective.
    steps : tuple of str, default=()
        The parameters from which its `C` comes.
    """

    title: str
    parameters: Parameters
    online: dict[str, Any] | None = None
    steps: tuple[str, ...] = ()


_NO_EFFECT = "(has no effect here)"
_C2 = (1.0, "Strength of the L2 penalty, c2 ||w||^2.")
_PERIOD = (10, "Iterations between the objectives that delta compares.")
_PASSES: Parameters = {
    "max_iterations": (100, "Largest number of passes over the data."),
    "epsilon": (0.0, "End where the mean loss of a pass is smaller."),
}
OF_ALL: Parameters = {
    "feature.minfreq": (0.0, "Leave out weights of pairs that are rarer."),
    "feature.possible_states": (
        False,
        "Have weights of all pairs of an attribute and a label, also not observed.",
    ),
    "feature.possible_transitions": (
        False,
        "Have weights of all pairs of labels, also not observed.",
    ),
}
_OF_LBFGS: Parameters = {
    "c1": (0.0, "Strength of the L1 penalty, c1 ||w||_1."),
    "c2": _C2,
    "max_iterations": (2**31 - 1, "Largest number of iterations."),
    "num_memories": (6, f"Steps that L-BFGS remembers {_NO_EFFECT}."),
    "epsilon": (1e-5, "End where the gradient is smaller, relative to weights."),
    "period": _PERIOD,
    "delta": (1e-5, "End where the objective falls by less, relative to it."),
    "linesearch": ("MoreThuente", f"Name of the line search {_NO_EFFECT}."),
    "max_linesearch": (20, f"Trials of a line search {_NO_EFFECT}."),
}
_CALIBRATION = {"eta": 0.1, "rate": 2.0, "samples": 1e3, "candidates": 10}
_OF_L2SGD: Parameters = {
    "c2": _C2,
    "max_iterations": (1000, "Largest number of iterations."),
    "period": _PERIOD,
    "delta": (1e-6, "End where the objective falls by less, relative to it."),
    **{
        f"calibration.{name}": (value, f"Search for a step size {_NO_EFFECT}.")
        for name, value in [*_CALIBRATION.items(), ("max_trials", 20)]
    },
}
_OF_PA: Parameters = {
    "type": (1, "Steps without a bound (0), up to c (1), or damped by 1/(2c) (2)."),
    "c": (1.0, "Longest step."),
    "error_sensitive": (True, "Whether more wrong labels have a larger loss."),
    "averaging": (True, "Whether the weights are averaged over all visits."),
    **_PASSES,
}
_OF_AROW: Parameters = {
    "variance": (1.0, "First variance of all weights."),
    "gamma": (1.0, "Trade-off between the loss and the change of weights."),
    **_PASSES,
}
_HINGE = {"loss": "hinge"}
ALGORITHMS = {
    "lbfgs": Algorithm("L-BFGS optimization", _OF_LBFGS),
    "l2sgd": Algorithm("L-BFGS optimization", _OF_L2SGD),
    "ap": Algorithm(
        "Averaged perceptron", _PASSES, {"loss": "perceptron"}, ("averaging", "c")
    ),
    "pa": Algorithm("Passive Aggressive", _OF_PA, _HINGE, ("averaging", "c")),
    "arow": Algorithm(
        "Adaptive Regularization of Weights (AROW)",
        _OF_AROW,
        {**_HINGE, "update": "arow"},
        ("gamma", "variance"),
    ),
}
DEFAULT = "lbfgs"
ALIASES = {"averaged-perceptron": "ap", "passive-aggressive": "pa"}
