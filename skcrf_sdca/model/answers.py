"""Answers: everything that a fitted model says of data, whatever its structure is.

Labellings, probabilities, score. It needs the fitted attributes alone, and changes
none. All methods take X as `fit` does, and raise ValueError or TypeError if its input
format or number of features differs from that in `fit`. Methods of probabilities are
not there if the loss gives none. Scores of ranges of the items are made on threads,
for a part of the positions at a time.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from skcrf_sdca._utils.availability import available_if
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.messages import check_count, lacking
from skcrf_sdca._utils.parallel import over_ranges
from skcrf_sdca._utils.shared_docs import shared_docs
from skcrf_sdca._utils.typing import (
    Dataset,
    Decoding,
    KnownLabels,
    Labels,
    RandomState,
    Uncertainty,
)
from skcrf_sdca._utils.words import place, words
from skcrf_sdca.model.fitted import (
    FittedModel,
    no_draws,
    no_labellings,
    no_log_partition,
    no_probabilities,
    no_support,
)
from skcrf_sdca.model.validation import (
    evaluation_labels,
    held_out_labels,
    known_labels,
    packed_for,
)
from skcrf_sdca.structures.mixed_scores import with_entropy
from skcrf_sdca.structures.scores import DECODERS, POSTERIOR, VITERBI, numbers_of_paths
from skcrf_sdca.structures.uncertainty import MEASURES

# Bytes of an answer beside its labels: of a labelling with its probability; of a draw
# for all items, and of its list for each.
BYTES_OF_LABELLING, BYTES_OF_DRAW, BYTES_OF_LIST = 144, 200, 72


SHARED = {
    "fitted": """
        >>> from skcrf_sdca import SDCACRF
        >>> X, y = [[["a"], ["b"]]] * 9, [["B", "I"]] * 9
        >>> crf = SDCACRF(tol=1e-8, random_state=0).fit(X, y)
        """
}


@shared_docs(SHARED)
class Answers(FittedModel):
    """Answers of an estimator that has ``classes_`` and the fitted weights.

    A structure adds `_scores_of`, and `_pack` if X has more than rows of features.
    """

    def _packed(self, X, lengths=None):
        """Return X validated, with the fields of `Packed`."""
        self._check_is_fitted()
        return self._pack(X, self._allowed_paths(), lengths)

    def _pack(self, X, allowed, lengths=None):
        """Return the same, given the features and labels of a fit."""
        return packed_for(self, X, allowed, lengths)

    def _held_out(self, X, y, allowed):
        """Return held-out X and y as methods take them again and again."""
        packed = self._pack(X, allowed)
        y = self._named(held_out_labels)(self, y, packed.data, packed.input_format)
        return self._kept(X, packed), y

    def _kept(self, X, packed):
        return packed

    def _scores_of(self, packed):
        """Return a function of (begin, end): the Scores of these items.

        They are divided by the temperature.
        """
        raise lacking(self, "_scores_of")

    @staticmethod
    def _named(function):
        """Return a function whose errors say how the items of X are called."""
        return function

    def predict(
        self,
        X: Dataset,
        *,
        decoding: Decoding | None = None,
        known: KnownLabels | None = None,
    ) -> NDArray[Any]:
        """Return the labels of every sequence, or graph.

        Parameters
        ----------
        X : as in `fit`
        decoding : {"viterbi", "posterior"}, default=None
            By default the parameter of this name decides. "viterbi" is the most
            probable labelling. "posterior" is the labelling with the largest expected
            number of right labels, of those without a forbidden transition; it may be
            an improbable one. Of equally good labellings, the one
            with the lower label at the last position where they differ is returned; the
            last position of a graph is the node that is eliminated last, see
            :ref:`equal-scores`.
        known : list of n lists of T labels, default=None
            Labels that are known and kept, None where the label is free; for a table a
            list with one for each row. The others are decoded given these.

        Returns
        -------
        y : ndarray of shape (n,)
            An object array of label lists; for a table an array with the label of each
            row.

        Raises
        ------
        ValueError
            If `decoding` is unknown, or `known` does not have the lengths of X, has a
            label that was not in `fit`, or is not possible because of forbidden
            transitions; the message names the item, and the position if it can.

        Examples
        --------
        {fitted}
        >>> crf.predict([[["a"], ["b"]]])
        array([list(['B', 'I'])], dtype=object)
        >>> crf.predict([[["a"], ["b"]]], known=[["I", None]])
        array([list(['I', 'I'])], dtype=object)
        """
        return self._predict(self._packed(X), decoding, known)

    @available_if(no_labellings)
    def predict_n_best(self, X: Dataset, n: int) -> NDArray[Any]:
        """Return the n most probable labellings of every sequence, or graph, exactly.

        For a graph, each labelling takes as many searches as there are nodes.

        Parameters
        ----------
        X : as in `fit`
        n : int
            Labellings wanted, at least 1.

        Returns
        -------
        labellings : ndarray of shape (n_items,)
            An object array of lists of (labels, probability), best first, or of
            (labels, score) after a fit with the hinge loss; fewer than n where an item
            does not have as many possible labellings. The first labels are equal to
            `predict`, and labellings with equal scores are ordered as there. After a
            fit with ``loss="sparsemap"`` or ``"smooth_hinge"`` they are the first n of
            `support`, and the most probable one need not have the largest score. For
            one-node chains labels is a label.

        Raises
        ------
        ValueError
            If n is not an integer of at least 1.
        MemoryError
            If the labellings clearly do not fit into memory.

        Examples
        --------
        {fitted}
        >>> ((first, second),) = crf.predict_n_best([[["a"], ["b"]]], 2)
        >>> first[0], first[1] > second[1]
        (['B', 'I'], True)
        """
        check_count("n", n)
        packed = self._packed(X)
        self._named(check_labellings_fit)(self, n, packed.data.lengths)

        def best(scores, begin, end):
            return n_best_labels(self, scores, n, packed.input_format)

        return self._over(best, packed, proba=False)

    @available_if(no_support)
    def support(self, X: Dataset) -> NDArray[Any]:
        """Return all labellings of every sequence, or graph, with a probability.

        After a fit with ``loss="sparsemap"``, ``"smooth_hinge"`` or, of a table,
        ``"entmax15"`` there are few of these: they show the alternatives between which
        the model does not decide.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        labellings : ndarray of shape (n_items,)
            An object array of lists of (labels, probability), the most probable first;
            probabilities have the sum 1. For one-node chains labels is a label.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF
        >>> X, y = [[["a"], ["b"]]] * 9, [["B", "I"]] * 8 + [["I", "I"]]
        >>> crf = SDCACRF(loss="sparsemap", random_state=0).fit(X, y)
        >>> (labellings,) = crf.support([[["a"], ["b"]]])
        >>> [(labels, round(p, 1)) for labels, p in labellings[:2]]
        [(['B', 'I'], 0.9), (['I', 'I'], 0.1)]
        """
        packed = self._packed(X)

        def all_of(scores, begin, end):
            return n_best_labels(self, scores, None, packed.input_format)

        return self._over(all_of, packed)

    @available_if(no_draws)
    def sample(
        self, X: Dataset, n_draws: int = 1, random_state: RandomState = None
    ) -> NDArray[Any]:
        """Draw labellings of every sequence, or graph, from p(y | x), exactly.

        Parameters
        ----------
        X : as in `fit`
        n_draws : int, default=1
            Independent draws, at least 1.
        random_state : int, RandomState instance or None, default=None
            Pass an int for the same draws at every call.

        Returns
        -------
        y : ndarray of shape (n_draws, n)
            Each row is as from `predict`: label lists, or for one-node chains labels.

        Raises
        ------
        ValueError
            If `n_draws` is not an integer of at least 1.
        MemoryError
            If the draws clearly do not fit into memory.

        Examples
        --------
        {fitted}
        >>> crf.sample([[["a"], ["b"]]], n_draws=100, random_state=0).shape
        (100, 1)
        """
        check_count("n_draws", n_draws)
        packed = self._packed(X)
        data, input_format = packed.data, packed.input_format
        generator = check_random_state(random_state)
        self._named(check_draws_fit)(n_draws, data, input_format)
        uniform = generator.random_sample((data.n_positions, n_draws))

        def draws(scores, begin, end):
            own = uniform[data.offsets[begin] : data.offsets[end]]
            paths, offsets = scores.sample(own).T, scores.offsets
            drawn = [input_format.labels(p, self.classes_, offsets) for p in paths]
            return np.stack(drawn, axis=1)

        return self._over(draws, packed).T

    @available_if(no_probabilities)
    def predict_proba(self, X: Dataset) -> NDArray[Any]:
        """Return the probability of every label at every position, or node.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        proba : ndarray of shape (n,)
            An object array of arrays of shape (T, n_labels), in the order of
            ``classes_``; for a table one array of shape (n_rows, n_labels).

        Examples
        --------
        {fitted}
        >>> (proba,) = crf.predict_proba([[["a"], ["b"]]])
        >>> crf.classes_.tolist(), proba.round(1).tolist()
        (['B', 'I'], [[0.9, 0.1], [0.1, 0.9]])
        """
        return self._rows(self._packed(X))

    @available_if(no_probabilities)
    def predict_log_proba(self, X: Dataset) -> NDArray[Any]:
        """Return the logarithm of the probability of every label at every position.

        It is computed in logarithms: finite where the probability is too small for a
        float, so that `predict_proba` returns 0, and -inf where a label is forbidden.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        log_proba : ndarray of shape (n,)
            An object array of arrays of shape (T, n_labels), in the order of
            ``classes_``; for a table one array of shape (n_rows, n_labels).

        Examples
        --------
        {fitted}
        >>> (log_proba,) = crf.predict_log_proba([[["a"], ["b"]]])
        >>> crf.classes_.tolist(), log_proba.round(1).tolist()
        (['B', 'I'], [[-0.1, -3.0], [-3.0, -0.1]])
        """
        return self._rows(self._packed(X), log=True)

    @available_if(no_probabilities)
    def predict_edge_proba(self, X: Dataset) -> NDArray[Any]:
        """Return the probability of every pair of labels that neighbours have.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        proba : ndarray of shape (n,)
            An object array of arrays of shape (max(T - 1, 0), n_labels, n_labels), in
            the order of ``classes_``: entry [t, j, k] is the probability of label j at
            position t and label k at t + 1. Of a graph the arrays have a row for each
            edge: j is the label of its first node, and k of its second. For
            one-node chains, which have no edges, one array of shape
            (n, 0, n_labels, n_labels).

        Examples
        --------
        {fitted}
        >>> (proba,) = crf.predict_edge_proba([[["a"], ["b"]]])
        >>> proba.round(2).tolist()
        [[[0.04, 0.91], [0.01, 0.04]]]
        """
        packed = self._packed(X)

        def pairs(scores, begin, end):
            found = self._pair_marginals(scores, packed, begin, end)
            return packed.input_format.pair_rows(*found)

        return self._over(pairs, packed)

    @available_if(no_log_partition)
    def log_partition(self, X: Dataset) -> NDArray[np.float64]:
        """Return log Z of every sequence, or graph: of the sum of exp(score(x, y)).

        Scores are divided by ``temperature_``.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        log_partition : ndarray of shape (n,)
            In nats; 0 for an item without positions.

        Examples
        --------
        {fitted}
        >>> crf.log_partition([[["a"], ["b"]], []]).round(1)
        array([2.8, 0. ])
        """
        return self._over(lambda scores, *_: scores.log_partition(), self._packed(X))

    @available_if(no_log_partition)
    def log_likelihood(self, X: Dataset, y: Labels) -> NDArray[np.float64]:
        """Return log p(y | x) of every sequence, or graph: score(x, y) - log Z.

        Parameters
        ----------
        X, y : as in `fit`

        Returns
        -------
        log_likelihood : ndarray of shape (n,)
            In nats, at most 0. -inf where y has a label that was not in `fit`, or a
            forbidden transition; 0 for an item without positions. Where some labels are
            not known, it is log p of those that are.

        Raises
        ------
        ValueError, TypeError
            If y does not have the lengths of X, or labels of another type than in
            `fit`.

        Examples
        --------
        {fitted}
        >>> X, y = [[["a"], ["b"]], [["a"]]], [["B", "I"], ["never seen"]]
        >>> crf.log_likelihood(X, y).round(1)
        array([-0.1, -inf])
        """
        packed = self._packed(X)
        labels, known = self._evaluation_labels(packed, y)

        def values(scores, begin, end):
            own = slice(*packed.data.offsets[[begin, end]])
            mask = None if known is None else known[own] > 0.0
            return scores.log_likelihood(labels[own], mask)

        return self._over(values, packed)

    @available_if(no_probabilities)
    def uncertainty(
        self, X: Dataset, *, measure: Uncertainty = "mnlp"
    ) -> NDArray[np.float64]:
        """Return how unsure the model is of every sequence, or graph.

        Parameters
        ----------
        X : as in `fit`
        measure : str, default="mnlp"
            With p the probabilities of labellings y of an item x with T positions, and
            y* and y' the most probable ones:

            * "mnlp": -log p(y*) / T, in nats for each position (the maximum normalised
              log-probability of Shen et al. [1]_).
            * "entropy": -sum_y p(y) log p(y), over all labellings, exactly, in nats
              (Settles and Craven [2]_).
            * "token_entropy": the mean over positions of the entropy of the label.
            * "least_confidence": 1 - p(y*).
            * "margin": 1 - (p(y*) - p(y')).

            "entropy", "least_confidence" and "margin" grow with T, the others do not.

        Returns
        -------
        uncertainty : ndarray of shape (n,)
            At least 0, the larger the less sure; 0 for an item without positions, but
            for "margin".

        Raises
        ------
        ValueError
            If the measure is unknown.

        See Also
        --------
        skcrf_sdca.selection.select_uncertain : Chooses a batch to annotate.

        References
        ----------
        .. [1] Shen et al., "Deep active learning for named entity recognition", ICLR
           2018.
        .. [2] Settles, Craven, "An analysis of active learning strategies for sequence
           labeling tasks", EMNLP 2008.

        Examples
        --------
        {fitted}
        >>> crf.uncertainty([[["a"], ["b"]], [["never seen"]]]).round(2)
        array([0.05, 0.69])
        """
        if not isinstance(measure, str) or measure not in MEASURES:
            raise ValueError(
                f"measure must be one of {sorted(MEASURES)}, got {measure!r}."
            )
        values_of = MEASURES[measure]
        return self._over(lambda scores, *_: values_of(scores), self._packed(X))

    def score(
        self, X: Dataset, y: Labels, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the share of positions, or nodes, whose label is predicted right.

        Parameters
        ----------
        X, y : as in `fit`
            Labels that were not in `fit` count as wrong; positions whose label is
            unknown are left out.
        sample_weight : array-like of shape (n,), default=None
            Weight of each item.

        Returns
        -------
        accuracy : float

        Examples
        --------
        {fitted}
        >>> crf.score([[["a"], ["b"]]], [["B", "never seen"]])
        0.5
        """
        return self._score(self._packed(X), y, sample_weight)

    def _predict(self, packed, decoding, known):
        """Return what `predict` returns."""
        decoding = self._decoding(decoding)
        data, input_format = packed.data, packed.input_format
        fixed = None
        if known is not None:
            fixed = self._known_labels(packed, known)

        def decode(scores, begin, end):
            if fixed is not None:
                scores = scores.clamped(fixed[data.offsets[begin] : data.offsets[end]])
            paths, values = DECODERS[decoding](scores)
            if fixed is not None and not np.isfinite(values).all():
                i = begin + np.isfinite(values).argmin()
                raise ValueError(
                    f"{place('known', i)} has no possible path with these labels, for "
                    "transitions are forbidden."
                )
            return input_format.labels(paths, self.classes_, scores.offsets)

        return self._over(decode, packed, proba=decoding == POSTERIOR)

    def _decoding(self, given=None):
        """Return the key of DECODERS that a call gives, or else the parameter."""
        # Not all estimators have it, and a pickle of an earlier version may lack it.
        name = vars(self).get("decoding", VITERBI) if given is None else given
        if not isinstance(name, str) or name not in DECODERS:
            raise ValueError(
                f"decoding must be one of {sorted(DECODERS)}, got {name!r}."
            )
        return name

    def _known_labels(self, packed, known):
        """Return the number of the label that each position must keep, -1 if free."""
        own = self._named(known_labels)
        return own(self, known, packed.data, packed.input_format)

    def _rows(self, packed, *, log=False):
        """Return what `predict_proba` returns, or `predict_log_proba`."""

        def rows(scores, begin, end):
            if log:
                values = scores.log_node_marginals()
            else:
                values, _ = scores.node_marginals()
            return packed.input_format.rows(values, scores.offsets)

        return self._over(rows, packed)

    def _score(self, packed, y, sample_weight):
        """Return what `score` returns."""
        labels, weight = self._evaluation_labels(packed, y, sample_weight)
        found = self._predicted_paths(packed)
        return self._named(accuracy)(found, labels, weight)

    def _evaluation_labels(self, packed, y, sample_weight=None):
        """Return the label numbers of y, and the weight of each position or None."""
        own = self._named(evaluation_labels)
        return own(self, y, packed.data, packed.input_format, sample_weight)

    def _predicted_paths(self, packed):
        """Return the label numbers that `predict` finds, end to end."""
        (found,) = self._decoded(packed, self._decoding())
        return found

    def _decoded(self, packed, *names):
        """Return the label numbers of all positions by each of some decodings."""
        decoders = [DECODERS[name] for name in names]
        found = self._over(
            lambda scores, *_: np.column_stack([of(scores)[0] for of in decoders]),
            packed,
            proba=POSTERIOR in names,
        )
        return found.T

    def _pair_marginals(self, scores, packed, begin, end):
        """Return the marginals of pairs, and where the pairs of each item begin."""
        return scores.pair_marginals()

    def _over(self, function, packed, *, proba=True):
        """Return ``function(scores, begin, end)`` of ranges of items, in one array.

        It is called on threads: one may build Python objects while another computes.
        ``proba`` says whether it takes probabilities of the scores. Raise ValueError if
        there are none, after a fit with the hinge loss.
        """
        if proba and (why := no_probabilities(self)):
            raise ValueError(why)
        scores_of = self._scores_of(packed)

        @self._named
        def run(begin, end):
            scores = with_entropy(scores_of(begin, end), self.entropy_index_)
            scores.check(begin)
            return function(scores, begin, end)

        # Without items the one call is for the type and shape of the result.
        parts = over_ranges(run, packed.data.offsets, self.n_jobs) or [run(0, 0)]
        return np.concatenate(parts) if len(parts) > 1 else parts[0]


def check_labellings_fit(estimator, n, lengths):
    """Raise MemoryError if the n best labellings of all sequences do not fit.

    ``lengths``, of shape (n_sequences,), are the lengths of the sequences.
    """
    widths = numbers_of_paths(n, len(estimator.classes_), lengths)
    check_fits(
        float((widths * (8.0 * lengths + BYTES_OF_LABELLING)).sum()),
        f"the n={n} best labellings of each of {len(lengths)} {words().sequence}s",
        f"lower n, or predict fewer {words().sequence}s at a time",
    )


def check_draws_fit(n_draws, data, input_format):
    """Raise MemoryError if n_draws for PackedSequences do not fit.

    ``input_format`` is the format of the answers.
    """
    n_lists = len(data) if input_format.boundaries else 0
    # The random numbers, and the labels: as numbers, and as pointers to the same.
    n_bytes = 24 * data.n_positions + BYTES_OF_LIST * n_lists + BYTES_OF_DRAW
    check_fits(
        int(n_draws) * n_bytes,
        f"{n_draws} draws of {data.n_positions} labels",
        f"draw fewer at a time (n_draws), or of fewer {words().sequence}s",
    )


def n_best_labels(estimator, scores, n, input_format):
    """Return the n best labellings of each item of some scores, with their values.

    An object array of lists of (labels, probability), or of (labels, score) if the
    model has no probabilities. None for n is all labellings with a probability.
    """
    has_none = no_probabilities(estimator) is not None
    find = scores.n_best if has_none else scores.n_best_probabilities
    all_paths, all_values = find(n)
    found = []
    for paths, values in zip(all_paths, all_values, strict=True):
        labels = input_format.path_labels(paths, estimator.classes_)
        found.append(list(zip(labels, values.tolist(), strict=True)))
    return np.fromiter(found, dtype=object, count=len(found))


def accuracy(found, labels, weight):
    """Return the share of label numbers that are right; ValueError if there are none.

    ``weight`` has one number for each, or is None.
    """
    if not len(labels):
        raise ValueError(
            f"{words().X} has 0 {words().item}s: there is nothing to score."
        )
    return float(np.average(found == labels, weights=weight))
