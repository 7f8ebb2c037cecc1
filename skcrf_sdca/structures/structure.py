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
    "rows"            sequences that are rows of a table, whose labels are all there is

Every structure has the abstract methods and properties of `Structure`:

    sizes             `n_tied`, `log_counts`
    weights           `new_parameters`, `scores`, `add_features`

The others have a default that is right for any structure, or belong to something that
not all structures can do, and raise NotImplementedError until a structure has them:

    "visit"           `kernel`, `inference`, `distinct_features`, `in_partition`,
                      `n_coef_in`
    "direct"          `marginal_axes`, `uniform_marginals`, `mix_marginals`,
                      `marginals_of`, `size_of_marginals`, `describe_marginals`
    soft labels       `soft_scores`
    partly known      `parts`, and `kept_in_parts` if not all positions are in them
    a prior           `fixed_scores`
    partial_fit       `grown`
"""

from abc import ABC, abstractmethod
from contextlib import nullcontext
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from skcrf_sdca._utils.memory import BLOCK
from skcrf_sdca._utils.messages import lacking
from skcrf_sdca.structures.form import VectorForm


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

    def set_labels(self, labels, value):
        """Set the local potential of the label of each position to a value.

        Positions are numbered block by block, since `local` may lie in a file.
        """
        for begin in range(0, len(labels), BLOCK):
            block = labels[begin : begin + BLOCK]
            self.local[begin : begin + BLOCK][np.arange(len(block)), block] = value

    def part(self, begin, end, offsets):
        """Return those of begin <= i < end; sequence i begins at offsets[i]."""
        local = self.local[offsets[begin] : offsets[end]]
        return Potentials(local, self.tied[begin:end])

    def tied_scores(self, tied):
        """Return <tied[i], tied scores> of all sequences."""
        n, size = len(self.tied), tied.size
        return np.einsum("ip,p->i", self.tied.reshape(n, size), tied.reshape(size))


class FixedScores(NamedTuple):
    """Scores of all sequences that no weight changes, such as those of a prior model.

    Attributes
    ----------
    local : ndarray of shape (n_positions, n_labels)
    tied : ndarray of the shape of the tied weights
    """

    local: NDArray[np.float64]
    tied: NDArray[np.float64]

    def at(self, positions):
        """Return the scores of some positions, a mask or numbers."""
        return FixedScores(self.local[positions], self.tied)


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

    Attributes
    ----------
    fixed : FixedScores or None
        Added to the scores of every w.
    stored_rows : FeatureRows or None
        The rows of the data as they are, if they were made.
    new_array : callable
        Returns zeros, as `numpy.zeros` does, for what a solver keeps of all sequences:
        in memory, or in a file.
    name : str
    levels : frozenset of str
        What the structure can do, see above.
    n_tied : int
        How many potentials the cliques of a sequence share.
    sizes : dict of str to int
        The length of each axis of the arrays in a solver's state, by a letter.
    potential_axes : tuple of two str
        The axes of Potentials, letters of ``sizes``.
    """

    name: ClassVar[str]
    # Whether visits leave out labels but 0 that are improbable, see _sdca_bound.pyx.
    prunes_visits: ClassVar[bool] = False
    stored_rows: Any = None
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
    ):
        self.data = data
        self.n_labels = n_labels
        self.boundaries = boundaries
        self.constraints = constraints
        self.keeps_forbidden = keeps_forbidden
        self.n_jobs = n_jobs
        self.pairs = pairs
        self.fixed = None
        self.new_array = np.zeros

    @property
    def offsets(self):
        """Sequence i has the positions offsets[i]:offsets[i + 1]."""
        return self.data.offsets

    # To objective and solvers the labels of a structure are its states: the labels of
    # users themselves, or in a chain of higher order tuples of them.

    @property
    def is_table(self):
        """Whether every sequence is a row of a table: a position, and nothing else."""
        return not self.boundaries

    def squared_radii(self):
        """Return bounds of squared distances between labellings, by all features.

        Two paths of one label each, which disagree everywhere, give the bound
        R_i = 2 (||sum_t |x_t|||^2 + T^2 + 2 + (T - 1)^2), the last two terms for chains
        only, see `squared_radii_of_ties`. A chain of order 1 attains it where no
        feature is negative. [LePriol18, App. C] has the known labels for one of the
        two, which is at least half as much.

        Returns
        -------
        radii : ndarray of shape (n,)
        """
        n, n_positions = len(self.data), self.data.n_positions
        positions = np.ones(n_positions), np.arange(n_positions), self.offsets
        sums = sp.csr_array(positions, shape=(n, n_positions)) @ abs(self.data.X)
        # Cut where a square would overflow: the order of magnitude is all that counts.
        values = sums.data if sp.issparse(sums) else sums
        np.minimum(values, 1e100, out=values)
        squares = sums.power(2) if sp.issparse(sums) else sums**2
        radii = np.asarray(squares.sum(axis=1)).ravel()
        radii += self.data.lengths.astype(np.float64) ** 2
        return 2.0 * (radii + self.squared_radii_of_ties())

    def squared_radii_of_ties(self):
        """Return bounds of squared distances between labellings, by features of ties.

        Returns
        -------
        radii : ndarray of shape (n,)
            At least half the squared distance of the features of two labellings of a
            sequence, without those of positions. Of a chain these are the start, the
            end, and T - 1 pairs of neighbours. 0 for a table. Tuples and segments have
            more features, which are left out: there it is a size and no bound.
        """
        lengths = self.data.lengths.astype(np.float64)
        if self.is_table:
            return np.zeros(len(lengths))
        return np.where(lengths > 0, 2.0 + np.maximum(lengths - 1.0, 0.0) ** 2, 0.0)

    @property
    def label_constraints(self):
        """The constraints of labels, or None."""
        return self.constraints

    def vector_form(self):
        """Return the VectorForm: which numbers the vector of weights has.

        Two structures of as many labels and features, with the same form, have the same
        weights.
        """
        return VectorForm(constraints=self.constraints, pairs=self.pairs)

    def check_weights(self, weights, argument):  # noqa: B027
        """Raise ValueError if the model has no place for Weights.

        ``argument`` is the argument of `fit` that has them, for the message.
        """

    @property
    def n_classes(self):
        """How many labels of users there are, of which states are made."""
        return self.n_labels

    def target_states(self, labels):
        """Return the states of the labels of all positions: the labels."""
        return labels

    def kept_in_parts(self, kept):
        """Return which of the positions to keep are in `parts`: all.

        Parameters
        ----------
        kept : ndarray of shape (n_positions,), bool

        Returns
        -------
        kept : ndarray of shape (n_positions,), bool
        """
        return kept

    def parts(self, kept):
        """Return what is left of the sequences at the positions to keep.

        Parameters
        ----------
        kept : ndarray of shape (n_positions,), bool
            As `kept_in_parts` returns it.

        Returns
        -------
        structure : Structure
            The same model on these positions, in their order.
        sequence : ndarray of shape (n_parts,), intp
            The sequence that each of its sequences is a part of.
        """
        raise lacking(self, "parts")

    def by_rows_of_coef(self, values):
        """Return for each row of coef the value of its feature in X."""
        return values

    def label_rows_of_states(self, rows):
        """Return rows (n_positions, n_labels) of labels as those of states."""
        return rows

    def costed(self, begin, end):
        """Return which positions of begin <= i < end have a cost, None if all have.

        Returns
        -------
        costed : ndarray of bool, or None
        """
        return None

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

    @property
    def longest_labelling(self):
        """How many numbers a visit keeps for each of the n best labellings."""
        return int(self.data.lengths.max(initial=0)) * self.n_labels

    @property
    def sizes(self):
        """The length of each axis of the arrays in a solver's state, by a letter.

        Axes: n sequences, T positions, K labels, P tied potentials.
        """
        n_positions = self.data.n_positions
        sizes = {"n": len(self.data), "T": n_positions, "K": self.n_labels}
        return sizes | {"P": self.n_tied}

    @property
    def potential_axes(self):
        """The axes of ``local`` and ``tied`` of Potentials, letters of `sizes`.

        Two str: those of ``tied`` begin with that of sequences.
        """
        return "TK", "nP"

    def zero_potentials(self, dtype):
        """Return Potentials of zeros, of a dtype."""
        sizes = self.sizes
        shapes = [[sizes[axis] for axis in axes] for axes in self.potential_axes]
        return Potentials(*(self.new_array(shape, dtype) for shape in shapes))

    def copied(self, values, dtype=None):
        """Return a copy of an array where `new_array` makes it, of its own dtype."""
        copy = self.new_array(values.shape, dtype or values.dtype)
        copy[:] = values
        return copy

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

    def grown(self, parameters, labels):
        """Return weights of fewer features and labels as parameters of these.

        Parameters
        ----------
        parameters : Parameters
            Of a structure of the same class, with at most these features and labels.
        labels : ndarray of int
            The number that each of their labels has here.

        Returns
        -------
        parameters : Parameters
            The weights of what is new are 0.
        """
        raise lacking(self, "grown")

    def seen_coef(self):
        """Return an index of the numbers in ``coef`` that visits may change: all.

        A structure may leave out features that its data do not have.
        """
        return slice(None)

    def fixed_scores(self, weights):
        """Return the FixedScores that the weights of a prior model give.

        Parameters
        ----------
        weights : Weights
            Finite ones, for all pairs of a feature and a label.
        """
        raise lacking(self, "fixed_scores")

    def soft_scores(self, probabilities, begin, end):
        """Return the scores whose distribution is that of soft labels.

        What the structure forbids has probability 0.

        Parameters
        ----------
        probabilities : ndarray of shape (n_positions, n_labels)
            Those of the labels of all positions, see `label_rows_of_states`.
        begin, end : int
            The sequences begin <= i < end.

        Returns
        -------
        scores : object
            As `scores` returns it.
        """
        raise lacking(self, "soft_scores")

    @abstractmethod
    def log_counts(self):
        """Return the logarithm of the number of allowed labellings of each sequence."""

    @abstractmethod
    def scores(self, parameters, begin, end):
        """Return the scores of the sequences begin <= i < end, the fixed ones added.

        Returns
        -------
        scores : Scores
        """

    def label_potentials(self, labels):
        """Return the expectations of the distribution that is certain of labels."""
        certain = self.zero_potentials(np.float64)
        self._certain_scores(labels).potential_expectations(*certain)
        return certain

    def tied_labels(self, labels, weight):
        """Return the weighted sum of the tied expectations of labels."""
        return self._certain_scores(labels).expectations(weight)[1]

    def _certain_scores(self, labels):
        """Return the Scores that forbid all other labels."""
        zero = self.scores(self.new_parameters(), 0, len(self.data))
        return zero.clamped(labels)

    @abstractmethod
    def add_features(self, parameters, begin, end, factor, local):
        """Add factor[i] times the features of local changes of begin <= i < end."""

    def add_tied_features(self, parameters, tied):
        """Add the features of a sum of tied changes."""
        parameters.tied += tied

    def without_trace(self):
        """Let passes in a ``with`` statement change nothing for later inference.

        Exact inference keeps nothing of the passes before. A structure whose iterations
        begin where the last ones ended restores where that was.
        """
        return nullcontext()

    # Of the level "visit".

    def kernel(self, weights, features, targets, cost=None):
        """Return the compiled items of one thread, which changes weights.

        Parameters
        ----------
        weights : Weights
            The compiled ones of parameters.
        features : DistinctFeatures
            As `distinct_features` or `in_partition` returns them.
        targets : ndarray of shape (n_positions,), int32, or Potentials
            States, or the expectations of soft labels.
        cost : ndarray of shape (n_labels, n_labels), default=None
            Added to the local scores, cost[target, label].

        Returns
        -------
        kernel : skcrf_sdca._kernels.visits._item.Item
        """
        raise lacking(self, "kernel")

    def inference(self):
        """Return a new compiled `Inference` on all items."""
        raise lacking(self, "inference")

    def distinct_features(self):
        """Return the DistinctFeatures of each sequence, as visits need them."""
        raise lacking(self, "distinct_features")

    def in_partition(self, features, partition):
        """Return the features with the rows of local weights, and their pairs.

        Parameters
        ----------
        features : DistinctFeatures
            May be changed.
        partition : FeaturePartition
            Of these.

        Returns
        -------
        features : DistinctFeatures
        pairs : ObservedPairs or None
            The labels that each row has weights for; None if all.
        """
        raise lacking(self, "in_partition")

    @property
    def has_ragged_rows(self):
        """Whether features have weights of some labels only, in rows of that length."""
        return self.pairs is not None

    def n_coef_in(self, partition):
        """Return how many weights of features workers have.

        Parameters
        ----------
        partition : FeaturePartition

        Returns
        -------
        n_local, n_shared : int
            At most, of the features of one worker, and of shared ones.
        """
        raise lacking(self, "n_coef_in")

    # Of the level "direct".

    @property
    def marginal_axes(self):
        """The axes of the arrays in ``state()`` of marginals, letters of `sizes`.

        A dict of the names of the arrays to str.
        """
        raise lacking(self, "marginal_axes")

    def uniform_marginals(self, labels, smoothing, dtype):
        """Return the marginals of cliques and separators, uniform mixed with labels.

        Parameters
        ----------
        labels : ndarray of shape (n_positions,), int32
            States.
        smoothing : float
            The weight of the uniform distribution over what is allowed, in (0, 1].
        dtype : str
            That of the marginals of cliques, "float32" or "float64".

        Returns
        -------
        marginals : Marginals or GraphMarginals
        """
        raise lacking(self, "uniform_marginals")

    def uniform_totals(self, tied_labels, weight, smoothing):
        """Return what `renormalize` does of `uniform_marginals`, None if unknown.

        Parameters
        ----------
        tied_labels : ndarray
            What the method `tied_labels` returns of the labels and the weight.
        weight : ndarray of shape (n,)
        smoothing : float
            As for `uniform_marginals`.

        Returns
        -------
        total, entropy : ndarrays, or None
        """
        return None

    def mix_marginals(self, marginals, scores_of, keep):
        """Replace marginals by keep times these, and 1 - keep times those of scores.

        Parameters
        ----------
        marginals : Marginals or GraphMarginals
            Changed in place.
        scores_of : callable
            ``scores_of(begin, end)`` returns the scores of begin <= i < end.
        keep : float
            In [0, 1].
        """
        raise lacking(self, "mix_marginals")

    def marginals_of(self, state, dtype):
        """Return a copy of the marginals whose ``state()`` is part of a solver's state.

        Parameters
        ----------
        state : dict of str to ndarray
        dtype : str
            As for `uniform_marginals`.
        """
        raise lacking(self, "marginals_of")

    def size_of_marginals(self, dtype):
        """Return the bytes of marginals of this type, and of the buffers of a visit."""
        raise lacking(self, "size_of_marginals")

    def describe_marginals(self, dtype):
        """Return what `size_of_marginals` is the size of, for a message."""
        raise lacking(self, "describe_marginals")
