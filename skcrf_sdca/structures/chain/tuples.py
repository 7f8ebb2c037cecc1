"""Label tuples: the states of chains whose labels depend on more than one before them.

In a chain of order k the label at a position depends on the k labels before it. Its
states are tuples of labels that end with the label of the position: all tuples of k
labels, and shorter ones, which a sequence begins with. A label path is one path of
states, so that the recursions of the chain run on states as they are.

Of all tuples some may be ``observed`` alone. A state is then the longest of these that
the labels up to a position end with, at least the label itself: a chain of variable
order, as models of language with a lower order to fall back on [Cuong, Ye, Lee and
Chieu, "Conditional random field with high-order dependencies for sequence labeling and
segmentation", JMLR 2014]. Every label may still follow every label.

Owns the numbering of the tuples, by length and then in the order of their labels, and
the translation of labels, constraints, soft labels and costs to states. Tuples with a
forbidden transition in them do not exist. The weights of a fit are stored in the order
of the first labels. Predictions number by the last labels: then the lowest of equally
good states has the lowest label, if all tuples exist, and Viterbi decides ties as in a
chain of labels. Elsewhere it is told the labels of states.
"""

import numpy as np

from skcrf_sdca._kernels.math._sparse_transitions import SparseTransitions
from skcrf_sdca._kernels.math._transitions import TransitionLayout
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.structures.chain.constraints import Constraints

# Weights of order + 1 labels are an array with as many axes: NumPy indexes 63.
MOST_ORDER = 62


class LabelTuples:
    """The tuples of up to ``order`` labels whose transitions are allowed.

    ``constraints`` are constraints of labels, or None. Without ``longest_have_weights``
    there are no weights of order + 1 labels. ``by_last_label`` orders tuples of one
    length by their last labels, then by the labels before them, and so on; by default
    their first labels come first. ``observed`` (n, longest), int, has the tuples of two
    labels and more that exist, filled up with -1 on the left, and of ``order`` + 1
    labels the ones with a weight; by default all. With a tuple it has all tuples of
    neighbours in it.

    Attributes
    ----------
    tuples : ndarray of shape (n_states, order), int32
        The labels of each tuple, filled up with -1 on the left.
    label : ndarray of shape (n_states,), int32
        The last label of each tuple.
    suffix : ndarray of shape (n_states,), int32
        The number of each tuple without its first label; -1 for single labels.
    n_of_length : list of int
        The numbers of tuples of 1, 2, ... labels.
    constraints : Constraints
        Constraints of states. A sequence begins with a tuple of one label.
    layout : TransitionLayout
        The pairs of states that follow each other.
    has_weight : ndarray of shape (layout.size,), bool
        Whether a transition between states is one of order + 1 labels, is allowed, and
        has a weight.
    transition_tuples : ndarray of shape (n, order + 1), int32
        The labels of the transitions with a weight.

    Examples
    --------
    >>> from skcrf_sdca.structures.chain.tuples import LabelTuples
    >>> LabelTuples(n_labels=2, order=2).tuples.tolist()
    [[-1, 0], [-1, 1], [0, 0], [0, 1], [1, 0], [1, 1]]
    >>> LabelTuples(n_labels=2, order=2, by_last_label=True).tuples.tolist()
    [[-1, 0], [-1, 1], [0, 0], [1, 0], [0, 1], [1, 1]]
    >>> LabelTuples(n_labels=2, order=2, observed=[[-1, 0, 1]]).tuples.tolist()
    [[-1, 0], [-1, 1], [0, 1]]
    """

    def __init__(
        self,
        n_labels,
        order,
        constraints=None,
        *,
        longest_have_weights=True,
        by_last_label=False,
        observed=None,
    ):
        self.n_labels, self.order = n_labels, order
        self.by_last_label = by_last_label
        self.observed = None if observed is None else np.asarray(observed)
        self.labels_allowed = constraints
        if constraints is None:
            anywhere = np.ones(n_labels, dtype=bool)
            every = np.ones((n_labels, n_labels), dtype=bool)
            constraints = Constraints(anywhere, anywhere, every)
        self._check_states_fit(constraints.transition)
        check_weights_fit(n_labels, order)
        self._number(constraints.transition)
        self.constraints = self._constraints_of_states(constraints)
        self._set_layout(constraints.transition, longest_have_weights)

    def _set_layout(self, allowed, longest_have_weights):
        """Set which states follow each other, and which transitions have a weight."""
        self.layout = self._layout(allowed, longest_have_weights)
        sources, targets = self.layout.sources, self.layout.targets
        is_full = self.tuples[sources, 0] >= 0
        # A dense layout has pairs that are forbidden.
        allowed = self.constraints.transition[sources, targets]
        self.has_weight = is_full & allowed & longest_have_weights
        self.transition_tuples = np.column_stack(
            [self.tuples[sources], self.label[targets]]
        )[self.has_weight]

    def _number(self, allowed):
        """Set the tuples and their suffixes, given which labels follow each other."""
        levels = [np.arange(self.n_labels)[:, np.newaxis]]
        while len(levels) < self.order:
            if self.observed is None:
                level = _extended(levels[-1], allowed)
            else:
                level = self._observed_of(len(levels) + 1, allowed)
            levels.append(level[self._codes(level).argsort()])
        self.n_of_length = [len(level) for level in levels]
        self.tuples = np.full((sum(self.n_of_length), self.order), -1, dtype=np.int32)
        self.suffix = np.full(len(self.tuples), -1, dtype=np.int32)
        for length, level in enumerate(levels, start=1):
            rows = self.of_length(length)
            self.tuples[rows, -length:] = level
            if length > 1:
                self.suffix[rows] = self._numbers(level[:, 1:])
        self.label = self.tuples[:, -1].copy()

    def _check_states_fit(self, allowed):
        """Raise MemoryError if the tables of states clearly do not fit."""
        if self.observed is None:
            n_states, paths = 0.0, np.ones(self.n_labels)
            for _ in range(self.order):
                n_states += paths.sum()
                paths = paths @ allowed
        else:
            is_state = (self.observed >= 0).sum(axis=1) <= self.order
            n_states = float(self.n_labels + np.count_nonzero(is_state))
        # A mask and a number for each pair of states.
        check_fits(
            9.0 * n_states**2,
            f"the {n_states:.0f} tuples of up to {self.order} labels that "
            f"order={self.order} needs",
            'set label_pairs="observed", or take a lower order, or fewer transitions, '
            'such as transitions="observed"',
        )

    def _observed_of(self, length, allowed):
        """Return the observed tuples of a length that are allowed."""
        begins = self.observed.shape[1] - length
        rows = self.observed[:, begins:]
        is_longer = self.observed[:, begins - 1] >= 0 if begins else False
        rows = rows[(rows[:, 0] >= 0) & ~np.asarray(is_longer)]
        return rows[allowed[rows[:, :-1], rows[:, 1:]].all(axis=1)]

    def _layout(self, allowed, longest_have_weights):
        """Return the pairs of states that follow each other, with their scores."""
        if self.observed is not None:
            pairs = np.zeros((len(self), len(self)), dtype=bool)
            if longest_have_weights:
                rows = self._observed_of(self.order + 1, allowed)
                pairs[self._numbers(rows[:, :-1]), self._numbers(rows[:, 1:])] = True
            return SparseTransitions(pairs, self.constraints.transition)
        layout = self.constraints.layout()
        if longest_have_weights or layout.is_dense:
            return layout
        allowed = self.constraints.transition
        return TransitionLayout(len(self), allowed, without_scores=True)

    def __len__(self):
        """Return the number of states."""
        return len(self.tuples)

    @property
    def label_of_ties(self):
        """The label of each state, None if their numbers order equal scores as well."""
        is_ordered = self.by_last_label and self.observed is None
        return None if is_ordered else self.label

    def allow_every_path(self):
        """Return whether every label may follow every label."""
        return self.labels_allowed is None or bool(self.labels_allowed.transition.all())

    def weights_of_states(self, by_length):
        """Return the weight of each state, 0 for single labels.

        ``by_length`` has the weights of tuples of 2, 3, ... labels, arrays with an axis
        for each label.
        """
        weights = np.zeros(len(self))
        for m, values in zip(range(2, self.order + 1), by_length, strict=False):
            rows = self.of_length(m)
            weights[rows] = values[tuple(self.tuples[rows, -m:].T)]
        return weights

    def weights_of_transitions(self, by_length):
        """Return the weights of the transitions that may have one, 0 without any."""
        if len(by_length) < self.order:
            return 0.0
        return by_length[self.order - 1][tuple(self.transition_tuples.T)]

    def _constraints_of_states(self, constraints):
        """Return the Constraints of states, given the constraints of labels."""
        is_single = self.suffix < 0
        start = is_single & constraints.start[self.label]
        sources, targets = self.successors(constraints.transition)
        transition = np.zeros((len(self), len(self)), dtype=bool)
        transition[sources, targets] = True
        return Constraints(start, constraints.end[self.label], transition)

    def successors(self, allowed):
        """Return the pairs of states that follow each other: from, and to."""
        sources, labels = np.nonzero(allowed[self.label])
        longer = np.column_stack([self.tuples[sources], labels])
        return sources.astype(np.int32), self._longest(longer)

    def _longest(self, rows):
        """Return the number of the longest state that each row (n, any) ends with."""
        numbers = rows[:, -1].astype(np.int32)
        for length in range(2, min(self.order, rows.shape[1]) + 1):
            longer = self._numbers(rows[:, -length:])
            numbers = np.where(longer >= 0, longer, numbers)
        return numbers

    def _numbers(self, rows):
        """Return the numbers of tuples of one length (n, length), -1 if not allowed."""
        length = rows.shape[1]
        own = self.of_length(length)
        codes = self._codes(self.tuples[own, -length:])
        asked = self._codes(rows)
        if not len(codes):
            return np.full(len(rows), -1)
        numbers = np.minimum(np.searchsorted(codes, asked), len(codes) - 1)
        exists = (codes[numbers] == asked) & (rows >= 0).all(axis=1)
        return np.where(exists, own.start + numbers, -1)

    def _codes(self, rows):
        """Return a number for each tuple of one length, in the order of the tuples."""
        values = self.n_labels ** np.arange(rows.shape[1])
        return rows.astype(np.int64) @ (values if self.by_last_label else values[::-1])

    def of_length(self, length):
        """Return the numbers of the tuples of a length, a slice."""
        first = sum(self.n_of_length[: length - 1])
        return slice(first, first + self.n_of_length[length - 1])

    def states(self, labels, offsets):
        """Return the numbers of the tuples that label paths have at each position.

        They are -1 where one of the labels is unknown (-1), or a transition forbidden.
        """
        position = np.arange(len(labels)) - np.repeat(offsets[:-1], np.diff(offsets))
        rows = np.full((len(labels), self.order), -1, dtype=np.int32)
        exists = np.ones(len(labels), dtype=bool)
        for back in range(self.order):
            (t,) = np.nonzero(position >= back)
            rows[t, -1 - back] = labels[t - back]
            exists[t] &= labels[t - back] >= 0
            if back and self.labels_allowed is not None:
                before, after = labels[t - back], labels[t - back + 1]
                exists[t] &= self.labels_allowed.transition[before, after]
        return np.where(exists, self._longest(rows), -1).astype(np.int32)


def _extended(level, allowed):
    """Return the tuples that are one allowed label longer."""
    row, label = np.nonzero(allowed[level[:, -1]])
    return np.column_stack([level[row], label])


def neighbours_with_weights(by_length, has_edge, longest):
    """Return the tuples whose weight is not 0, and all tuples of neighbours in them.

    ``by_length`` has the weights of tuples of 2, 3, ... labels, arrays with an axis for
    each label. The rows have up to ``longest`` labels, as the observed tuples of
    `LabelTuples`. A pair of labels with edge weights, by the mask ``has_edge`` or None,
    is one of them.
    """
    pairs = by_length[0]
    if has_edge is not None:
        pairs = np.where(has_edge & (pairs == 0.0), 1.0, pairs)
    found = np.empty((0, longest), dtype=int)
    for values in reversed((pairs, *by_length[1:])):
        # Of flat arrays this takes a third of the time.
        places = np.unravel_index(np.flatnonzero(values), values.shape)
        length = values.ndim
        own = np.column_stack(places)[values[places] != -np.inf]
        rows = np.full((len(own), longest), -1)
        rows[:, longest - length :] = own
        longer = found[np.count_nonzero(found >= 0, axis=1) == length + 1]
        without_first, without_last = longer.copy(), np.roll(longer, 1, axis=1)
        without_first[:, longest - length - 1 : longest - length] = -1
        without_last[:, : longest - length] = -1
        found = np.vstack([found, rows, without_first, without_last])
    return np.unique(found, axis=0)


def check_weights_fit(n_labels, length):
    """Raise MemoryError if the weights of all tuples of a length clearly do not fit."""
    check_fits(
        8 * n_labels**length,
        f"the weights of {length} labels in a row, {n_labels}^{length},",
        "take a lower order, or join labels that are rare",
    )
