"""The interface of structures: what objective, solvers and estimators ask of one.

A structure says how the labels of a sequence depend on each other, which features there
are, and how to sum over all labellings. Nothing outside its own folder, and the
compiled kernels, names its cliques. What a structure can do is a set of levels, of
which solvers need some (see `skcrf_sdca.solvers.base.check_needs`):

    "argmax"          the labelling of highest score
    "log_partition"   log Z
    "expect"          expectations of what features need, in passes over all data
    "visit"           the same for one sequence at a time, compiled
    "direct"          marginals of cliques and separators, for an exact line search

Soft and partly known labels ask for more, see `Chain`: `zero_potentials`,
`soft_scores`, `kept_in_parts` and `parts`, and for "direct" `mix_marginals`.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

# So that the scores of paths of any length are finite. Digits are lost long before.
LARGEST_SCORE = 1e100


class Potentials(NamedTuple):
    """One number for each potential of every sequence: a score, or an expectation.

    Attributes
    ----------
    local : ndarray of shape (n_positions, n_labels)
        Those of single positions.
    tied : ndarray of shape (n, ...)
        Those that all cliques of a sequence share; expectations are sums over them.
    """

    local: NDArray[Any]
    tied: NDArray[Any]

    def tied_total(self, weight):
        """Return sum_i weight[i] tied[i]."""
        return np.einsum("i,i...->...", weight, self.tied)


class FixedScores(NamedTuple):
    """Scores of all sequences that no weight changes, such as those of a prior model.

    Attributes
    ----------
    local : ndarray of shape (n_positions, n_labels)
    tied : ndarray of the shape of the tied weights
    """

    local: NDArray[np.float64]
    tied: NDArray[np.float64]


def mixture_entropy(q, factor, entropy):
    """Return the entropy of mixtures of marginals with labels, as a function.

    With ``keep`` times the marginals and 1 - keep on the labels, all marginals but
    those of the labels are multiplied by keep.

    Parameters
    ----------
    q : ndarray
        The marginals of the labels, of all cliques and separators.
    factor : ndarray
        How often the entropy of each counts, with the weight of its sequence; negative
        for separators.
    entropy : float
        The weighted sum of H(mu_i) now.

    Returns
    -------
    by_keep : callable
        The weighted sum of H for a ``keep`` in [0, 1].
    """
    now = entropy - factor @ entr(q)
    wrong = factor @ (1.0 - q)

    def by_keep(keep):
        correct = factor @ entr(1.0 - keep * (1.0 - q))
        return keep * now + wrong * entr(keep) + correct

    return by_keep


class Structure(ABC):
    """Packed sequences whose labels depend on each other in one way.

    Parameters
    ----------
    data : PackedSequences
    n_labels : int
    boundaries : bool, default=True
        Whether there are weights beside those of single positions; False for rows of a
        table, each a sequence of one position.
    constraints : Constraints, default=None
        What is forbidden has probability 0 under every w.
    keeps_forbidden : bool, default=False
        Whether there are weights of what is forbidden too, which stay 0.
    n_jobs : int, default=None
        Threads of passes over all data.
    pairs : ObservedPairs, default=None
        The labels that each feature has weights for; None if all.
    fixed : FixedScores, default=None
        Added to the scores of every w.

    Attributes
    ----------
    name : str
    levels : frozenset of str
        What the structure can do, see above.
    n_tied : int
        How many potentials the cliques of a sequence share.
    sizes : dict of str to int
        The length of each axis of the arrays in a solver's state, by a letter.
    """

    name: ClassVar[str]
    levels: ClassVar[frozenset[str]]

    def __init__(
        self,
        data,
        n_labels,
        *,
        boundaries=True,
        constraints=None,
        keeps_forbidden=False,
        n_jobs=None,
        pairs=None,
        fixed=None,
    ):
        self.data = data
        self.n_labels = n_labels
        self.boundaries = boundaries
        self.constraints = constraints
        self.keeps_forbidden = keeps_forbidden
        self.n_jobs = n_jobs
        self.pairs = pairs
        self.fixed = fixed

    @property
    def offsets(self):
        """Sequence i has the positions offsets[i]:offsets[i + 1]."""
        return self.data.offsets

    # To objective and solvers the labels of a structure are its states: the labels of
    # users themselves, or in a chain of higher order tuples of them.

    @property
    def label_constraints(self):
        """The constraints of labels, or None."""
        return self.constraints

    def model_form(self):
        """Return what says which weights there are, by names.

        Two structures of as many labels and features, with the same form, have the same
        weights.
        """
        return {"constraints": self.constraints, "pairs": self.pairs}

    def target_states(self, labels):
        """Return the states of the labels of all positions: the labels."""
        return labels

    def kept_in_parts(self, kept):
        """Return which of the positions to keep are in `parts`: all."""
        return kept

    def label_rows_of_states(self, rows):
        """Return rows (n_positions, n_labels) of labels as those of states."""
        return rows

    def cost_of_states(self, cost):
        """Return a cost (n_labels, n_labels) as one of states."""
        return cost

    @property
    @abstractmethod
    def n_tied(self):
        """How many potentials the cliques of a sequence share."""

    @property
    def n_potentials(self):
        """How many numbers the Potentials of all sequences have."""
        n_local = self.data.n_positions * self.n_labels
        return n_local + len(self.data) * self.n_tied

    @abstractmethod
    def new_parameters(self, w=None):
        """Return parameters with the flat vector `w`, by default of zeros."""

    def curvature(self, weight, strength, w=None):
        """Return the curvature of P at w, None if it is not known or not used.

        Parameters
        ----------
        weight : ndarray of shape (n,)
            c_i.
        strength : float
            The strength of the L2 penalty.
        w : ndarray of shape (n_weights,), default=None
            None is w = 0.

        Returns
        -------
        curvature : object or None
            With ``times(u)``, which returns S u, and ``transposed_times(gradient)``,
            where S^T H S is near the identity, H the Hessian of P.
        """
        return None

    def whitening(self, weight, strength):
        """Return coordinates for steps along gradients of single sequences, or None.

        Parameters
        ----------
        weight, strength
            As for `curvature`.

        Returns
        -------
        whitening : object or None
            With ``structure``, the same with other features, ``rates``, and the maps
            of `Whitening`.
        """
        return None

    @abstractmethod
    def log_counts(self):
        """Return the logarithm of the number of allowed labellings of each sequence."""

    @abstractmethod
    def scores(self, parameters, begin, end):
        """Return the scores of the sequences begin <= i < end, the fixed ones added.

        Returns
        -------
        scores : object
            With the potentials ``local`` and ``tied``, ``log_partition()``,
            ``expectations(weight)`` (local, the weighted sum of tied ones, log Z),
            ``potential_expectations(local, tied)`` (writes both, returns log Z),
            ``viterbi()`` (best labels, their scores), and ``path_scores(labels)``.
        """

    @abstractmethod
    def label_potentials(self, labels):
        """Return the expectations of the distribution that is certain of labels."""

    @abstractmethod
    def tied_labels(self, labels, weight):
        """Return the weighted sum of the tied expectations of labels."""

    @abstractmethod
    def add_features(self, parameters, begin, end, factor, local):
        """Add factor[i] times the features of local changes of begin <= i < end."""

    @abstractmethod
    def add_tied_features(self, parameters, tied):
        """Add the features of a sum of tied changes."""
