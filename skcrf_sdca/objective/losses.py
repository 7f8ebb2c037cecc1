"""Losses: the family L(beta, gamma) of [Martins10, eq. 3].

With the temperature tau = 1 / beta and a cost that adds up over positions,

    L_i(w) = tau log sum_y exp( (score(x_i, y) + cost_i(y)) / tau ) - score(x_i, y_i),
    cost_i(y) = sum_t cost[y_it, y_t],    cost[k, k] = 0,

log loss: no cost. Softmax-margin [Gimpel10]: with a cost. Hinge, the loss of the
structural SVM: with a cost and tau = 0, where log sum exp is the maximum.

For tau > 0 nothing new has to be solved: with P of objective.py

    P_{tau, cost}(w; alpha) = tau P_{1, cost / tau}(w / tau; alpha tau),

so a solver sees the log loss with cost / tau added to the node scores, and its weights
are multiplied by tau at the end. For tau = 0 nothing is scaled: a solver sees the
maximum itself. A new loss is one entry of `LOSSES`.
"""

from collections import ChainMap
from typing import NamedTuple

from numpy.typing import NDArray


class Loss(NamedTuple):
    """A loss of the family.

    Attributes
    ----------
    name : str
    temperature : float, default=1.0
        tau; 0 is the maximum over all labellings.
    cost : ndarray of shape (n_labels, n_labels), default=None
        cost[y, k] of predicting label k where y is right; None is no cost.
    """

    name: str
    temperature: float = 1.0
    cost: NDArray | None = None

    @property
    def offers(self):
        """Offers to solvers, see `skcrf_sdca.solvers.base.check_needs`."""
        return frozenset({"smooth loss" if self.is_smooth else "maximum"})

    @property
    def is_smooth(self):
        """Whether the loss is log sum exp, and not the maximum."""
        return self.temperature > 0.0

    @property
    def scale(self):
        """The scale of the problem that solvers see: the temperature, or 1 if 0."""
        return self.temperature if self.is_smooth else 1.0

    @property
    def scaled_cost(self):
        """The cost that is added to node scores: cost / scale, or None."""
        return None if self.cost is None else self.cost / self.scale


LOG_LOSS = Loss("log_loss")


class LossOption(NamedTuple):
    """Which other parameters a value of the parameter ``loss`` takes.

    ``class_weight`` are factors of costs, or weigh the loss of whole sequences.
    """

    takes_temperature: bool
    takes_cost: bool
    weighs_sequences: bool = False

    @property
    def takes(self):
        """The names of the parameters that not every loss takes."""
        names = {"cost", "class_weight"} if self.takes_cost else set()
        return names | ({"class_weight"} if self.weighs_sequences else set())


LOSSES = {
    "log_loss": LossOption(
        takes_temperature=True, takes_cost=False, weighs_sequences=True
    ),
    "softmax_margin": LossOption(takes_temperature=True, takes_cost=True),
    "hinge": LossOption(takes_temperature=False, takes_cost=True),
}
# Losses for online steps alone. The perceptron's loss, the hinge without a cost, is 0
# at w = 0: there is nothing to minimise.
STEP_LOSSES = {"perceptron": LossOption(takes_temperature=False, takes_cost=False)}
ONLINE_LOSSES = ChainMap(LOSSES, STEP_LOSSES)


def names_that_take(parameter):
    """Return the names of the losses that take a parameter of a cost."""
    return sorted(name for name, option in LOSSES.items() if parameter in option.takes)


def may_give_probabilities(name):
    """Return whether a value of the parameter ``loss`` gives more than scores.

    It is True for unknown values, which other checks refuse.
    """
    option = ONLINE_LOSSES.get(name) if isinstance(name, str) else None
    return option is None or option.takes_temperature


def new_loss(name, temperature=1.0, cost=None):
    """Return the Loss of a name of `ONLINE_LOSSES`.

    >>> from skcrf_sdca.objective.losses import new_loss
    >>> new_loss("log_loss", temperature=0.5)
    Loss(name='log_loss', temperature=0.5, cost=None)
    """
    option = ONLINE_LOSSES[name]
    return Loss(
        name,
        float(temperature) if option.takes_temperature else 0.0,
        cost if option.takes_cost else None,
    )
