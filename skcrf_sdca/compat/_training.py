"""Fits the models of CRFsuite: weights of attributes and of transitions alone.

Owns the data that a trainer is given, and the fit of one model to them.
"""

from array import array
from time import perf_counter
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._kernels.features._attributes import decoded
from skcrf_sdca._utils.words import in_words
from skcrf_sdca.compat._conversion import checked_names
from skcrf_sdca.compat._crf import penalty_of
from skcrf_sdca.compat._items import ItemSequence
from skcrf_sdca.compat._model_file import STATE, TRANSITION, WEIGHT, ModelFile
from skcrf_sdca.compat._online_training import OnlineLearner
from skcrf_sdca.compat._orthants import Orthants
from skcrf_sdca.compat._training_log import label_scores
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.objective.penalties import elastic_net
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.solvers.monitor import CHECKED_LATER
from skcrf_sdca.structures.chain.observed import ObservedPairs, pair_counts
from skcrf_sdca.structures.chain.structure import Chain

# c1 + 2 c2 counts as at least this: without a penalty there may be no solution.
LEAST_PENALTY = 1e-10
# More iterations than this are never made.
MAX_ITERATIONS = 10**6


class Labelled(NamedTuple):
    """Packed sequences, and the numbers of the labels of their positions, int32."""

    data: PackedSequences
    labels: np.ndarray

    def scores(self, paths, labels):
        """Return the `label_scores` of predictions."""
        cuts = self.data.offsets[1:-1]
        right, predicted = np.split(self.labels, cuts), np.split(paths, cuts)
        return label_scores(list(labels), right, predicted)


class TrainingSet:
    """Labelled sequences in groups; attributes and labels are numbered as they come."""

    def __init__(self):
        self.attributes, self.labels = {}, {}
        self._numbers, self._values = array("i"), array("d")
        self._item_ends, self._y = array("q", [0]), array("i")
        self._lengths, self._groups = array("q"), array("q")

    def append(self, xseq, yseq, group):
        """Add a sequence; ValueError if there is not one label for each item."""
        items, labels = ItemSequence(xseq).attributes, list(map(decoded, yseq))
        if len(items) != len(labels):
            raise ValueError(
                f"The numbers of items and labels differ: |x| = {len(items)}, |y| = "
                f"{len(labels)}"
            )
        for label in labels:
            if not isinstance(label, str):
                raise TypeError(f"labels must be str, got {label!r:.40}.")
        known = self.attributes
        for item in items:
            self._numbers.extend([known.setdefault(n, len(known)) for n, _ in item])
            self._values.extend([value for _, value in item])
            self._item_ends.append(len(self._numbers))
        known = self.labels
        self._y.extend([known.setdefault(label, len(known)) for label in labels])
        self._lengths.append(len(labels))
        self._groups.append(group)

    def split(self, holdout):
        """Return all groups but one, and this group, as `Labelled`."""
        bounds, y = np.array(self._item_ends), np.array(self._y, dtype=np.int32)
        shape = len(y), len(self.attributes)
        X = sp.csr_array((self._values, self._numbers, bounds), shape=shape)
        X.sum_duplicates()
        lengths, held = np.array(self._lengths), np.array(self._groups) == holdout
        parts = []
        for chosen in (~held, held):
            (positions,) = np.nonzero(np.repeat(chosen, lengths))
            offsets = np.concatenate([[0], np.cumsum(lengths[chosen])])
            parts.append(Labelled(PackedSequences(X[positions], offsets), y[positions]))
        return parts


class CrfsuiteProblem(Problem):
    """The problem of CRFsuite: weights outside of the mask ``free`` stay 0.

    Their penalty is infinite but at 0, so that its conjugate has no part of them, and
    all certificates hold. ``slope`` is the norm of the last gradient.
    """

    def __init__(self, structure, labels, alpha, *, penalty, free):
        super().__init__(structure, labels, alpha, penalty=penalty)
        self.free = free

    def expected_point(self, w):
        """Return what `Problem.expected_point` does, 0 outside of the mask."""
        point, loss, largest = super().expected_point(w)
        point *= self.free
        return point, loss, largest

    def certify_primal(self, w):
        """Return what `Problem.certify_primal` does, and remember the slope."""
        gradient, certificate = super().certify_primal(w)
        self.slope = np.linalg.norm(gradient)
        return gradient, certificate


def new_problem(given, n_labels, params):
    """Return the CrfsuiteProblem of `Labelled` sequences, and its number of weights.

    ``params`` are parameters of CRFsuite, by their names.
    """
    all_states = params["feature.possible_states"] and not params["feature.minfreq"]
    pairs = None
    if not all_states:
        pairs = _observed_pairs(given, n_labels, params["feature.minfreq"])
    structure = Chain(given.data, n_labels, pairs=pairs)
    free = structure.new_parameters()
    free.coef[:] = 1.0
    free.transition[:] = _observed_transitions(given, n_labels, params)
    n_coef = free.coef.size if pairs is None else len(pairs)
    c1, c2 = params.get("c1", 0.0), params.get("c2", 1.0)
    c2 = max(c2, LEAST_PENALTY if not c1 else 0.0)
    alpha, l1_ratio = penalty_of(c1, c2, len(given.data))
    problem = CrfsuiteProblem(
        structure, given.labels, alpha, penalty=elastic_net(l1_ratio), free=free.w
    )
    return problem, int(n_coef + np.count_nonzero(free.transition))


def _observed_pairs(given, n_labels, least):
    """Return the ObservedPairs whose values sum to ``least`` or more.

    A pair occurs also where its value is 0, as of a bool that is False.
    """
    X, labels = given.data.X, given.labels
    if least > 0.0:
        return ObservedPairs.of_data(X, labels, n_labels, least)
    ones = sp.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)
    occurs = pair_counts(ones, labels, n_labels, with_values=False)
    is_less = pair_counts(X, labels, n_labels, with_values=True) < least
    return ObservedPairs.of_counts(occurs.astype(np.int8) - is_less.astype(np.int8))


def _observed_transitions(given, n_labels, params):
    """Return which pairs of labels have weights, as a mask."""
    least = params["feature.minfreq"]
    if params["feature.possible_transitions"] and not least:
        return np.ones((n_labels, n_labels), dtype=bool)
    y, follows = given.labels, np.ones(len(given.labels), dtype=bool)
    offsets = given.data.offsets
    follows[offsets[:-1][np.diff(offsets) > 0]] = False
    pairs = n_labels * y[:-1].astype(np.int64) + y[1:]
    counts = np.bincount(pairs[follows[1:]], minlength=n_labels**2)
    return (counts >= max(least, 1)).reshape(n_labels, n_labels)


def minimised(problem, held, labels, params, on_iteration):
    """Minimise the objective as CRFsuite does, and return the parameters.

    It ends by the parameters epsilon, delta with period, and max_iterations.
    ``on_iteration`` is called with the figures of each iteration, see `TrainingLog`, of
    which some are scores on the `Labelled` sequences ``held``.
    """
    solver_type = Orthants if params.get("c1") else LBFGS
    max_iter = min(params["max_iterations"], MAX_ITERATIONS)
    n, losses, clock = problem.n_sequences, [], [perf_counter()]
    scores_of = _scorer(problem, held, labels)

    def end_epoch():
        w = solver.model.w
        losses.append(n * solver.certify().primal)
        size, slope = np.linalg.norm(w), n * problem.slope
        info = {"num": len(losses), "loss": losses[-1], "feature_norm": float(size)}
        info |= {
            "error_norm": float(slope),
            "active_features": int(np.count_nonzero(w)),
        }
        info |= scores_of(solver.model)
        clock.append(perf_counter())
        on_iteration(info | {"time": clock[-1] - clock[-2]})
        if slope <= params.get("epsilon", 0.0) * max(size, 1.0):
            return True
        before, period = losses[: -params["period"]], params["period"]
        return bool(before) and (
            losses[-1 - period] - losses[-1] < params["delta"] * losses[-1]
        )

    with np.errstate(**CHECKED_LATER), in_words(alpha="c2"):
        solver = solver_type(problem, None, max_iter=max_iter)
        solver.run(end_epoch)
    return solver.model


def _scorer(problem, held, labels):
    """Return a function of parameters that returns scores on held-out sequences."""
    n = len(held.data)
    if not n:
        return lambda parameters: {"scores": {}}
    chain = Chain(held.data, len(labels), pairs=problem.structure.pairs)
    return lambda parameters: held.scores(
        chain.scores(parameters, 0, n).viterbi()[0], labels
    )


def model_of(parameters, labels, attributes):
    """Return the ModelFile of parameters, without attributes that have no weight."""
    weights, names = parameters.label_weights(), list(attributes)
    coef = sp.coo_array(sp.csc_array(weights["coef"]))
    coef.eliminate_zeros()
    to, source = coef.coords
    used, source = np.unique(source, return_inverse=True)
    parts = [(STATE, source, to, coef.data)]
    before, after = np.nonzero(weights["transition"])
    parts.append((TRANSITION, before, after, weights["transition"][before, after]))
    arrays = [np.zeros(len(part[-1]), dtype=WEIGHT) for part in parts]
    for found, part in zip(arrays, parts, strict=True):
        for field, values in zip(WEIGHT.names, part, strict=True):
            found[field] = values
    attributes = checked_names((names[i] for i in used), "feature")
    return ModelFile(checked_names(labels, "label"), attributes, np.concatenate(arrays))


def learned_online(problem, held, labels, algorithm, params, on_iteration):
    """Return the parameters of an online algorithm; see `minimised`."""
    scores_of = _scorer(problem, held, labels)

    def on_pass(number, loss, parameters, seconds):
        size = float(np.linalg.norm(parameters.w))
        info = {"num": number, "loss": float(loss), "feature_norm": size}
        on_iteration(info | scores_of(parameters) | {"time": seconds})

    return OnlineLearner(problem, algorithm, params).run(on_pass)
