"""Targets: the known labels of each sequence, as a path or a distribution.

With soft labels q_i the loss is log Z_i - <q_i, scores_i>: the objective does not
contain the entropy of q_i, which no weight changes, and the certificates of
objective.py hold unchanged. In solvers/cccp.py soft labels stand for labels that are
only partly known.
"""

from functools import partial
from typing import Protocol

import numpy as np

from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.parallel import over_ranges


class Targets(Protocol):
    """Distributions q_i over labellings; the loss compares the model with them.

    ``given`` is the array they come from: labels, possible labels, or probabilities.
    """

    def check(self, structure):
        """Raise ValueError if these are not targets of the structure's sequences."""

    def score(self, scores, begin, first):
        """Return <q_i, scores_i> of the sequences that have these scores.

        The first of them is sequence ``begin``, which starts at position ``first``.
        """

    def subtract(self, local, first, last):
        """Replace local expectations at first <= t < last by q's less these."""

    def tied_total(self, structure, weight):
        """Return sum_i weight[i] times the tied expectations of q_i."""

    def potentials(self, structure):
        """Return the expectations of all q_i."""

    def expected_cost(self, cost, first, last):
        """Return the cost of each label at first <= t < last, expected under q."""

    def for_kernel(self):
        """Return the targets as the structure's compiled kernel takes them."""

    # First points of dual solvers: near q, where w_hat is near 0.

    def smoothed_marginals(self, structure, smoothing, dtype):
        """Return the marginals of q, mixed with uniform ones."""

    def shrink(self, marginals, *, keep):
        """Replace marginals by keep times these and 1 - keep times q's marginals."""

    def entropy_by_keep(self, marginals, weight, entropy):
        """Return the mean entropy after `shrink`, or a bound below, as a function."""

    def natural_parameters(self, structure, init_score):
        """Return natural parameters in single precision of a distribution near q.

        The possible labels exceed the others by ``init_score``.
        """


class Labels:
    """One label path for each sequence, in an int32 array: q_i is one-hot."""

    # H(q_i)
    entropy = 0.0

    def __init__(self, labels):
        self.labels = self.given = labels

    def check(self, structure):
        """Raise ValueError if there is not one label for each position."""
        shape, n_labels = (structure.data.n_positions,), structure.n_labels
        labels = self.labels
        in_range = labels.min(initial=0) >= 0 and labels.max(initial=0) < n_labels
        if labels.shape != shape or not in_range:
            raise ValueError(
                f"labels must have shape {shape} and be in 0..{n_labels - 1}; got "
                f"shape {labels.shape}"
            )

    def score(self, scores, begin, first):
        """Return the scores of the label paths."""
        n_positions = len(scores.local)
        return scores.path_scores(self.labels[first : first + n_positions])

    def subtract(self, local, first, last):
        """Replace local expectations by one-hot labels less these, in place."""
        np.negative(local, out=local)
        local[np.arange(last - first), self.labels[first:last]] += 1.0

    def tied_total(self, structure, weight):
        """Return the weighted sum of the tied expectations of the labels."""
        return structure.tied_labels(self.labels, weight)

    def potentials(self, structure):
        """Return one-hot labels, as expectations of the structure."""
        return structure.label_potentials(self.labels)

    def expected_cost(self, cost, first, last):
        """Return the rows of the cost for the labels."""
        return cost[self.labels[first:last]]

    def for_kernel(self):
        """Return the labels."""
        return self.labels

    def smoothed_marginals(self, structure, smoothing, dtype):
        """Return one-hot marginals, mixed with uniform ones."""
        return structure.uniform_marginals(self.labels, smoothing, dtype)

    def smoothed_totals(self, structure, tied_labels, weight, smoothing):
        """Return `uniform_totals` of `smoothed_marginals`, None if unknown."""
        return structure.uniform_totals(tied_labels, weight, smoothing)

    def shrink(self, marginals, *, keep):
        """Mix marginals with one-hot ones, in place."""
        marginals.shrink_to_labels(self.labels, keep=keep)

    def entropy_by_keep(self, marginals, weight, entropy):
        """Return the mean entropy after `shrink` as a function of ``keep``."""
        return marginals.entropy_by_keep(self.labels, weight, entropy)

    def natural_parameters(self, structure, init_score):
        """Return ``init_score`` for the labels, 0 elsewhere."""
        theta = structure.zero_potentials(np.float32)
        theta.set_labels(self.labels, init_score)
        return theta


class Heads(Labels):
    """The heads of the words of all sentences, end to end, as targets."""

    def check(self, structure):
        """Raise ValueError if there is not one head for each word."""
        n_words = int(structure.data.word_offsets[-1])
        if self.labels.shape != (n_words,):
            raise ValueError(f"{len(self.labels)} heads for {n_words} words")

    def tied_total(self, structure, weight):
        """Return no numbers: no cliques share potentials."""
        return np.zeros(0)


class SoftLabels:
    """A distribution over the labellings of each sequence, given by scores.

    q_i is proportional to the exponential of the scores, which ``scores_of(begin,
    end)`` returns for begin <= i < end; the labellings that scores of -inf, or the
    constraints, forbid have probability 0.

    Attributes
    ----------
    expected : Potentials
        The expectations of q_i.
    log_partition, entropy : ndarrays of shape (n,)
        log Z of the scores, -inf where every labelling is forbidden, and H(q_i).
    """

    def __init__(self, structure, scores_of):
        n, n_labels = len(structure.data), structure.n_labels
        check_fits(
            8 * structure.n_potentials,
            f"the soft labels of {n} sequences with {n_labels} labels",
            "join labels that are rare, or leave out sequences without known labels",
        )
        self.structure = structure
        self.expected = structure.zero_potentials(np.float64)
        self.log_partition, self.entropy = np.empty(n), np.empty(n)
        self.set_scores(scores_of)

    def set_scores(self, scores_of):
        """Take other scores; the arrays stay where they are."""
        self.scores_of = scores_of
        over_ranges(self._set_range, self.structure.offsets, self.structure.n_jobs)

    def _set_range(self, begin, end):
        first, last = self.structure.offsets[[begin, end]]
        scores, (local, tied) = self.scores_of(begin, end), self.expected
        self.log_partition[begin:end] = scores.potential_expectations(
            local[first:last], tied[begin:end]
        )
        np.copyto(scores.local, 0.0, where=local[first:last] == 0.0)
        self.entropy[begin:end] = np.maximum(
            self.log_partition[begin:end] - self.score(scores, begin, first), 0.0
        )

    def check(self, structure):
        """Raise ValueError if these are soft labels of other sequences."""
        if structure is not self.structure:
            raise ValueError("the soft labels are those of another structure")

    def score(self, scores, begin, first):
        """Return the scores expected under q."""
        lengths = np.diff(scores.offsets)
        n, n_positions = len(lengths), len(scores.local)
        local = self.expected.local[first : first + n_positions]
        by_position = np.einsum("tk,tk->t", local, scores.local)
        sequence = np.repeat(np.arange(n), lengths)
        values = np.bincount(sequence, weights=by_position, minlength=n)
        tied = self.expected.tied[begin : begin + n].reshape(n, -1)
        return values + tied @ scores.tied.ravel()

    def subtract(self, local, first, last):
        """Replace local expectations by q's less these, in place."""
        np.subtract(self.expected.local[first:last], local, out=local)

    def tied_total(self, structure, weight):
        """Return the weighted sum of the tied expectations."""
        return self.expected.tied_total(weight)

    def potentials(self, structure):
        """Return the expectations of q."""
        return self.expected

    def expected_cost(self, cost, first, last):
        """Raise ValueError: only known labels have a cost."""
        raise ValueError("soft labels have no cost; take the log loss")

    def for_kernel(self):
        """Return the expectations of q."""
        return self.expected

    def smoothed_marginals(self, structure, smoothing, dtype):
        """Return the marginals of q, mixed with uniform ones."""
        any_labels = np.zeros(structure.data.n_positions, dtype=np.int32)
        marginals = structure.uniform_marginals(any_labels, 1.0, dtype)
        self.shrink(marginals, keep=smoothing)
        return marginals

    def smoothed_totals(self, structure, tied_labels, weight, smoothing):
        """Return None: the entropy of a mixture with q takes a pass."""
        return None

    def shrink(self, marginals, *, keep):
        """Mix marginals with the marginals of q, in place."""
        self.structure.mix_marginals(marginals, self.scores_of, keep)

    def entropy_by_keep(self, marginals, weight, entropy):
        """Return a lower bound of the concave entropy."""
        now, of_targets = weight @ entropy, weight @ self.entropy
        return lambda keep: keep * now + (1.0 - keep) * of_targets

    def natural_parameters(self, structure, init_score):
        """Return the scores, raised to at least the best less ``init_score``."""
        theta = structure.zero_potentials(np.float32)

        def fill(begin, end):
            first, last = structure.offsets[[begin, end]]
            scores = self.scores_of(begin, end)
            least = scores.local.max(axis=1, keepdims=True) - init_score
            theta.local[first:last] = np.maximum(scores.local, least)
            theta.tied[begin:end] = scores.tied

        over_ranges(fill, structure.offsets, structure.n_jobs)
        return theta

    @classmethod
    def of_positions(cls, structure, probabilities):
        """Return soft labels of positions that are independent.

        ``probabilities`` are of shape (n_positions, n_labels). Labellings that the
        structure forbids get the probability 0, and the probabilities of the others are
        divided by their sum.
        """
        soft = cls(structure, partial(structure.soft_scores, probabilities))
        soft.given = probabilities
        return soft


class PartialLabels(SoftLabels):
    """Labels that are only partly known: soft labels that some weights complete.

    Y_i are the labellings that agree with the known labels. The loss is

        L_i(w) = log Z_i(w) - log Z_i(w; Y_i),

    the second sum over Y_i alone: not convex. With q_i = p(. | Y_i; w'), the soft
    labels completed by weights w',

        L_i(w) <= log Z_i(w) - <q_i, scores_i> - H(q_i),    with equality at w = w'.

    ``possible``, of shape (n_positions, n_labels), says which labels are possible at
    each position, and ``allowed`` which states of the structure.
    """

    def __init__(self, structure, possible):
        self.possible = self.given = possible
        self.allowed = structure.label_rows_of_states(possible)
        super().__init__(structure, partial(self._scores, structure.new_parameters()))

    def known_parts(self):
        """Return the parts of the sequences in which every label is known.

        These are a structure, its labels (states), and the sequence of each part.
        """
        known = np.count_nonzero(self.possible, axis=1) == 1
        known = self.structure.kept_in_parts(known)
        structure, sequence = self.structure.parts(known)
        labels = self.possible[known].argmax(axis=1).astype(np.int32)
        return structure, structure.target_states(labels), sequence

    def complete(self, parameters):
        """Make the E-step: q_i = p(. | Y_i; w) of the model with these parameters."""
        own = self.structure.new_parameters(parameters.w.copy())
        self.set_scores(partial(self._scores, own))

    def _scores(self, parameters, begin, end):
        first, last = self.structure.offsets[[begin, end]]
        scores = self.structure.scores(parameters, begin, end)
        np.copyto(scores.local, -np.inf, where=~self.allowed[first:last])
        return scores
