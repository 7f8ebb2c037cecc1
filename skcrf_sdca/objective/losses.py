"""Losses: each is the conjugate of an entropy, less the score of the target.

With an entropy H of expectations mu that is 0 where they are those of one labelling, a
temperature tau, and a cost that adds up over positions,

    L_i(w) = tau F((s_i + cost_i) / tau) - s_i(y_i),    F(s) = max_mu <mu, s> + H(mu),
    cost_i(y) = sum_t cost[y_it, y_t],    cost[k, k] = 0,

where s_i(y) = score(x_i, y). The mu of the maximum is the gradient of F. With Shannon's
entropy F is log sum_y exp s(y), and the losses are the family L(beta, gamma) of
[Martins10, eq. 3], tau = 1 / beta. Log loss: no cost. Softmax-margin [Gimpel10]: with a
cost. Hinge, the loss of the structural SVM: with a cost and H = 0, where F is the
maximum. SparseMAP [Niculae18]: Gini's entropy of single labels and no cost, see
`SparseMAP`. Smooth hinge: the same with a cost. Entmax: Tsallis' entropy of the labels
of a row, see `Entmax`.

For tau > 0 nothing new has to be solved: with P of objective.py

    P_{tau, cost}(w; alpha) = tau P_{1, cost / tau}(w / tau; alpha tau),

so a solver sees F with cost / tau added to the node scores, and its weights are
multiplied by tau at the end. For the maximum nothing is scaled. A new loss is one entry
of `LOSSES`, and a `Loss` if its entropy is a new one.
"""

from abc import ABC, abstractmethod
from collections import ChainMap
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._utils.parallel import over_ranges
from skcrf_sdca._utils.ragged import sums_of_items
from skcrf_sdca.structures.entropy import GINI, SHANNON, TSALLIS, entmax15


@dataclass(frozen=True)
class Loss(ABC):
    """A loss: the conjugate F of its entropy, with a temperature and a cost.

    Attributes
    ----------
    name : str
    temperature : float, default=1.0
        tau; 0 for the maximum over all labellings.
    cost : ndarray of shape (n_labels, n_labels), default=None
        cost[y, k] of predicting label k where y is right; None is no cost.
    offers : frozenset of str
        Offers to solvers, see `skcrf_sdca.solvers.base.check_needs`.
    needs : frozenset of str
        What it needs of a structure, of the same names.
    entropy_index : float or None
        The index of the entropy, see entropy.py; None if the model has scores alone.
    """

    name: str
    temperature: float = 1.0
    cost: NDArray | None = None
    offers: ClassVar[frozenset[str]]
    needs: ClassVar[frozenset[str]] = frozenset()
    entropy_index: ClassVar[float | None] = None

    @abstractmethod
    def conjugate(self, scores):
        """Return F of each item, (n,), given Scores over the scale."""

    def expectations(self, scores, weight):
        """Return the gradient of F, and F: see `Scores.expectations`.

        A loss that offers "smooth loss" has it.
        """
        raise NotImplementedError(f"the loss {self.name!r} has no expectations")

    def conjugate_at_zero(self, structure):
        """Return F of each item where all scores are 0; None if that takes a pass."""
        return None

    def entropies(self, local, offsets):
        """Return H(mu) of each item, (n,), given the local expectations of all.

        A loss that offers "few labellings" has it.
        """
        raise NotImplementedError(f"the loss {self.name!r} has no entropies")

    @property
    def is_smooth(self):
        """Whether F has a gradient."""
        return "smooth loss" in self.offers

    @property
    def scale(self):
        """The scale of the problem that solvers see: the temperature, or 1 if 0."""
        return self.temperature if self.is_smooth else 1.0

    @property
    def temperature_of_labellings(self):
        """The tau of the probabilities of labellings, 0 if there are scores alone."""
        return 0.0 if self.entropy_index is None else self.temperature

    @property
    def scaled_cost(self):
        """The cost that is added to node scores: cost / scale, or None."""
        return None if self.cost is None else self.cost / self.scale


class LogSumExp(Loss):
    """The conjugate of Shannon's entropy: F = log Z, and p(y | x) as expectations."""

    offers = frozenset({"smooth loss", "log sum", "compiled loss"})
    entropy_index = SHANNON

    def conjugate(self, scores):
        """Return log Z of each item."""
        return scores.log_partition()

    def expectations(self, scores, weight):
        """Return expectations under p(y | x), and log Z."""
        return scores.expectations(weight)

    def conjugate_at_zero(self, structure):
        """Return the logarithm of the number of labellings of each item."""
        return structure.log_counts()


class Maximum(Loss):
    """The conjugate of no entropy: F is the largest score of a labelling."""

    offers = frozenset({"few labellings", "compiled loss"})

    def conjugate(self, scores):
        """Return the largest score of each item."""
        return scores.viterbi()[1]

    def entropies(self, local, offsets):
        """Return 0 for each item."""
        return np.zeros(len(offsets) - 1)


class SparseMAP(Loss):
    """The conjugate of Gini's entropy H(mu) = 1/2 <u, 1 - u>.

    u are the local expectations of mu, the probabilities of single labels. The mu of
    the maximum mixes few labellings, and u has zeros. With one label at every position,
    H is sum_t (1 - ||u_t||^2) / 2, so that tau F(s / tau) is up to a constant the
    maximum of <mu, s> - tau / 2 ||u||^2; for rows of a table it is sparsemax.

    F is a maximum itself, which has been found up to a gap of Frank-Wolfe,

        F(s) <= <mu, s> + H(mu) + max_y <certain(y) - mu, s + 1/2 - u>,

    where 1/2 - u is added to local scores. This bound stands for F: the P of a
    certificate is at least P(w), and its gap at least P(w) - min P.
    """

    offers = frozenset({"smooth loss", "few labellings"})
    needs = frozenset({"argmax", "visit"})
    entropy_index = GINI

    def conjugate(self, scores):
        """Return upper bounds of F of each item."""
        return scores.mixed_bounds()

    def expectations(self, scores, weight):
        """Return expectations under mu, and the bounds of F."""
        return scores.mixed_expectations(weight)

    def entropies(self, local, offsets):
        """Return 1/2 <u, 1 - u> of each item."""

        def of_range(begin, end):
            u = local[offsets[begin] : offsets[end]]
            of_positions = u.sum(axis=1) - np.einsum("tk,tk->t", u, u)
            return 0.5 * sums_of_items(of_positions, offsets[begin : end + 1])

        return np.concatenate(over_ranges(of_range, offsets))


class Entmax(Loss):
    """The conjugate of Tsallis' entropy of index 1.5, for rows of a table.

    H(p) = 4/3 (1 - sum_k p_k^1.5), between Shannon's and Gini's: p has zeros, fewer
    than that of `SparseMAP`. It is no quadratic and no logarithm, so that full passes
    minimise it. For labellings H would be a sum over all of them, which no messages
    make: see docs/losses.rst.
    """

    offers = frozenset({"smooth loss"})
    needs = frozenset({"rows"})
    entropy_index = TSALLIS

    def conjugate(self, scores):
        """Return F of each row."""
        return entmax15(scores.local)[1]

    def expectations(self, scores, weight):
        """Return p, tied expectations of 0, and F."""
        p, values = entmax15(scores.local)
        return p, np.zeros_like(scores.tied), values


LOG_LOSS = LogSumExp("log_loss")


class LossOption(NamedTuple):
    """The Loss of a value of the parameter ``loss``, and what parameters it takes.

    ``class_weight`` are factors of costs, or weigh the loss of whole sequences.
    """

    new: type[Loss]
    takes_temperature: bool
    takes_cost: bool
    weighs_sequences: bool = False

    @property
    def takes(self):
        """The names of the parameters that not every loss takes."""
        names = {"cost", "class_weight"} if self.takes_cost else set()
        return names | ({"class_weight"} if self.weighs_sequences else set())

    @property
    def needs_labels(self):
        """Whether it needs a label at every position, for want of a sum over labels."""
        return self.takes_cost or "log sum" not in self.new.offers


LOSSES = {
    "log_loss": LossOption(
        LogSumExp, takes_temperature=True, takes_cost=False, weighs_sequences=True
    ),
    "softmax_margin": LossOption(LogSumExp, takes_temperature=True, takes_cost=True),
    "hinge": LossOption(Maximum, takes_temperature=False, takes_cost=True),
    "sparsemap": LossOption(SparseMAP, takes_temperature=True, takes_cost=False),
    "smooth_hinge": LossOption(SparseMAP, takes_temperature=True, takes_cost=True),
    "entmax15": LossOption(Entmax, takes_temperature=True, takes_cost=False),
}
# Losses for online steps alone. The perceptron's loss, the hinge without a cost, is 0
# at w = 0: there is nothing to minimise.
STEP_LOSSES = {
    "perceptron": LossOption(Maximum, takes_temperature=False, takes_cost=False)
}
ONLINE_LOSSES = ChainMap(LOSSES, STEP_LOSSES)


def losses_that(holds):
    """Return the values of ``loss`` for whose LossOption something holds, for messages.

    >>> from skcrf_sdca.objective.losses import losses_that
    >>> losses_that(lambda option: option.takes_cost)
    'loss="softmax_margin" or loss="hinge" or loss="smooth_hinge"'
    """
    return " or ".join(f'loss="{name}"' for name, own in LOSSES.items() if holds(own))


def gives_probabilities(option):
    """Return whether a LossOption gives more than scores."""
    return option.new.entropy_index is not None


def gives_few_labellings(option):
    """Return whether most labellings have the probability 0 by a LossOption."""
    return option.new.entropy_index not in (None, SHANNON)


def may_give_probabilities(name):
    """Return whether a value of the parameter ``loss`` gives more than scores.

    It is True for unknown values, which other checks refuse.
    """
    option = ONLINE_LOSSES.get(name) if isinstance(name, str) else None
    return option is None or gives_probabilities(option)


def new_loss(name, temperature=1.0, cost=None):
    """Return the Loss of a name of `ONLINE_LOSSES`.

    >>> from skcrf_sdca.objective.losses import new_loss
    >>> new_loss("log_loss", temperature=0.5)
    LogSumExp(name='log_loss', temperature=0.5, cost=None)
    """
    option = ONLINE_LOSSES[name]
    return option.new(
        name,
        float(temperature) if option.takes_temperature else 0.0,
        cost if option.takes_cost else None,
    )
