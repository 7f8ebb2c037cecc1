"""One partition of the data, on one machine: its sequences, and their part of a fit.

A `Partition` holds its sequences, and an ordinary Problem on the features that they
have. In the terms of objective.py, partition p of P has sequences with weights c_i that
sum to C_p. Its problem has the weights c_i / C_p and

    alpha_p = alpha / (P C_p),

so that feature_scale_i = P c_i / alpha: a visit moves the partition's copy of w by P
times its change of w_hat(mu). This is the local problem of CoCoA+ [1]_: the changes
that all partitions make at the same time can be added up, and the dual does not fall. A
partition receives rows of w for its own features, and sends sums over its sequences.

References
----------
.. [1] Ma et al., "Adding vs. Averaging in Distributed Primal-Dual Optimization", ICML
   2015, arXiv:1502.03508.
"""

import copy
import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from skcrf_sdca._utils.memory import available_memory
from skcrf_sdca.data.label_encoding import flat_labels, without_unknown_labels
from skcrf_sdca.data.label_runs import RunCounts
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.rows import on_own_columns
from skcrf_sdca.data.sample_weights import checked_weight
from skcrf_sdca.data.sequence_lists import as_sequence_list
from skcrf_sdca.estimators.base import training_data
from skcrf_sdca.estimators.crfs import OEGCRF
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.persistence import PackedCorpus
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.storage import SHARE
from skcrf_sdca.structures.chain.constraints import label_counts, read_constraints
from skcrf_sdca.structures.chain.observed import pair_counts
from skcrf_sdca.structures.chain.structure import Chain
from skcrf_sdca.structures.weight_choice import AUTO


class Summary(NamedTuple):
    """A partition as the others must know it: its number, and the weight of its data.

    ``attributes`` are as in `TrainingData`, with the partition's own vocabulary and
    classes, or None if no sequence has an item. ``columns`` are the features that the
    partition has, where they are numbered already. ``runs`` are the RunCounts, and
    ``templates`` the parameters of the TokenFeatures of a PackedCorpus, or None.
    """

    number: int
    attributes: dict | None
    columns: np.ndarray | None
    n_sequences: int
    weight: float
    runs: RunCounts | None = None
    templates: dict | None = None


# Attributes of an `Objective` that are weighted means over the sequences.
MEANS = (
    "mean_length",
    "mean_squared_length",
    "mean_size",
    "mean_squared_size",
    "initial_primal",
)


class Sums(NamedTuple):
    """The sums of a pass over a partition.

    ``w`` is the partition's part of w_hat(mu), for its own features, ``value`` its part
    of the losses, or of the entropies, and ``largest`` the largest potential at w, or
    natural parameter of mu.
    """

    w: np.ndarray
    value: float
    largest: float
    n_oracle_calls: float = 0.0


class StateLostError(RuntimeError):
    """A partition has lost its dual state: it was loaded again."""


class Partition:
    """Sequences with their labels, and the state of a fit that belongs to them.

    Messages name the number. The source is ``(X, y)`` or ``(X, y, sample_weight)``, a
    list of pairs (sequence, labels), a PackedCorpus or its path, or a function of no
    argument that returns one of these.
    """

    def __init__(self, number, source):
        self.number = number
        self.source = source
        self.problem = None
        self.solver = None

    def ask(self, method, *arguments):
        """Return the answer to a call; errors about the data name the partition."""
        try:
            return getattr(self, method)(*arguments)
        except (TypeError, ValueError) as error:
            error_class = TypeError if isinstance(error, TypeError) else ValueError
            raise error_class(f"partition {self.number}: {error}") from error

    def describe(self):
        """Load the sequences; return a Summary, or None if there are none."""
        (X, y, sample_weight), corpus = _load(self.source)
        # The data is held only packed.
        self.source = None
        if X is None:
            return None
        X = as_sequence_list(X)
        if all(map(_is_empty, X)):
            flat_labels(y, np.zeros(len(X), dtype=np.int64))
            weight = _total(checked_weight(sample_weight, X, is_part=True), X)
            return Summary(self.number, None, None, len(X), weight)
        y = list(y) if isinstance(y, Iterator) else y
        # An estimator for the messages, and without `transitions`.
        training = training_data(OEGCRF(), X, y, None)
        if _has_unknown_labels(training, y):
            raise ValueError(
                "y has labels that are not known: DistributedCRF needs every label"
            )
        data, attributes, templates = training.data, training.attributes, None
        if corpus is not None:
            attributes |= corpus.input_attributes()
            # The vectorizer has the names.
            del attributes["_feature_names"]
            templates = corpus.features and corpus.features.get_params()
        self._sample_weight = checked_weight(sample_weight, data, is_part=True)
        columns = np.arange(data.n_features)
        if data.is_sparse:
            X, columns = on_own_columns(data.X)
            data = PackedSequences(X, data.offsets)
        self._data, self._labels = data, training.labels
        self._boundaries = training.input_format.boundaries
        weight = _total(self._sample_weight, data)
        runs = RunCounts.of(data, self._labels, self._sample_weight)
        known = attributes, columns, len(data), weight, runs, templates
        return Summary(self.number, *known)

    def encode(self, classes, codes, transitions, names):
        """Take the common classes; return the Constraints of `transitions`, or None.

        ``codes`` has the number in ``classes`` of each class of the partition; a
        tagging scheme reads ``names``, see `read_constraints`.
        """
        self._n_labels = len(classes)
        self._labels = codes[self._labels].astype(np.int32)
        coded = classes, self._labels, self._data.offsets
        return read_constraints(transitions, *coded, names=names)

    def count_labels(self):
        """Return the number of positions of each label."""
        return label_counts(self._labels, self._n_labels)

    def count_pairs(self, with_values):
        """Return `pair_counts` of the features that the partition has."""
        return pair_counts(
            self._data.X, self._labels, self._n_labels, with_values=with_values
        )

    def begin(self, pairs, constraints, alpha, total_weight, n_partitions, n_jobs):
        """Make the problem; return the partition's part of each of `MEANS`.

        ``pairs`` are the ObservedPairs of the partition's features, None if all have
        weights; ``alpha`` and ``total_weight`` are of the whole problem.
        """
        weight = self._sample_weight
        self.share = _total(weight, self._data) / total_weight
        self._n_partitions = n_partitions
        structure = Chain(
            self._data,
            self._n_labels,
            boundaries=self._boundaries,
            constraints=constraints,
            n_jobs=n_jobs,
            pairs=pairs,
        )
        alpha = alpha / (n_partitions * self.share)
        self.problem = Problem(structure, self._labels, alpha, sample_weight=weight)
        return [self.share * getattr(self.problem, name) for name in MEANS]

    def losses(self, w):
        """Return the partition's part of the losses at w."""
        return self.share * self.problem.mean_loss(w)

    def expect(self, w):
        """Return Sums of mu = p(. | x; w): its part of w_hat(mu), and the losses."""
        part, loss, largest = self.problem.expected_point(w)
        part /= self._n_partitions
        return Sums(part, self.share * loss, largest)

    def start_dual(self, seed, memory, n_beside):
        """Start the dual solver at the labels; return Sums, with the entropies.

        Beyond ``memory`` its dual variables lie in files, as those of `OEGCRF`. "auto"
        is an equal part for each of the ``n_beside`` partitions of this process.
        """
        available = available_memory()
        if memory == AUTO and available is not None:
            memory = max(SHARE * available / n_beside, 1)
        # Threads would cut the sequences once more, and change the model.
        alone = copy.copy(self.problem)
        alone.structure = copy.copy(self.problem.structure)
        alone.structure.n_jobs = None
        self.solver = OEG(alone, np.random.default_rng(seed), memory=memory)
        return self._dual_sums(self.solver.kernel.n_oracle_calls)

    def visit(self, w, fraction):
        """Visit a fraction of the sequences, starting from w; return Sums after that.

        StateLostError if no dual was started since the partition was loaded.
        """
        if self.solver is None:
            raise StateLostError(f"partition {self.number} has lost its dual state")
        self.solver.model.w[:] = w
        before = self.solver.kernel.n_oracle_calls
        self.solver.visit(max(round(fraction * self.problem.n_sequences), 1))
        return self._dual_sums(before)

    def end_dual(self):
        """Forget the dual state."""
        self.solver = None

    def _dual_sums(self, calls_before):
        solver, problem = self.solver, self.problem
        w = problem.dual_to_primal(solver.marginals.local, solver.renormalize())
        w /= self._n_partitions
        entropy = self.share * problem.mean(solver.entropy)
        calls = solver.kernel.n_oracle_calls - calls_before
        return Sums(w, entropy, solver.largest_parameter(), calls)


def _total(weight, data):
    """Return the sum of the weights of sequences, which are 1 if there are none."""
    return float(len(data) if weight is None else weight.sum())


def _is_empty(sequence):
    """Return whether a sequence of any format has no items."""
    if hasattr(sequence, "shape"):
        return sequence.shape[:1] == (0,)
    return isinstance(sequence, (list, tuple)) and not sequence


def _has_unknown_labels(training, y):
    """Return whether there is not one label at some position of y."""
    classes, data = training.attributes["classes_"], training.data
    if training.label_rows is not None or len(classes) > 1:
        return training.label_rows is not None
    # The only label of a partition need not be the only one of all.
    lists = training.input_format.label_lists(y, data)
    return without_unknown_labels(lists, data.lengths, classes)[1] is not None


def _load(source):
    """Return X, y and sample_weight, all None if there is no sequence.

    And the PackedCorpus that they are from, or None.
    """
    if callable(source):
        source = source()
    if isinstance(source, (str, os.PathLike)):
        source = PackedCorpus.open(source)
    if isinstance(source, PackedCorpus):
        return (source.X, source.y, None), source
    return _of_lists(source), None


def _of_lists(source):
    """Return X, y and sample_weight, all None if there is no sequence."""
    nothing = None, None, None
    if isinstance(source, tuple) and len(source) in (2, 3):
        X, y, weight = (*source, None)[:3]
        X = as_sequence_list(X)
        # A table may be sparse: then it has no length.
        empty = X.shape[0] == 0 if hasattr(X, "shape") else len(X) == 0
        return nothing if empty else (X, y, weight)
    if isinstance(source, list) and all(map(_is_pair, source)):
        return (*map(list, zip(*source, strict=True)), None) if source else nothing
    raise TypeError(
        "a partition must be a tuple (X, y) or (X, y, sample_weight), a list of pairs "
        "(sequence, labels), a PackedCorpus or its path, or a function that returns "
        f"one of these; got {type(source).__name__}"
    )


def _is_pair(value):
    return isinstance(value, (tuple, list)) and len(value) == 2
