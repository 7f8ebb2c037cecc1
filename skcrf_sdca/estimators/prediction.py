"""PredictionMixin: everything a fitted estimator answers.

Paths, probabilities, score. It needs the fitted attributes alone, and changes none.
All methods take X as `fit` does, raise ValueError or TypeError if its input format or
number of features differs from that in `fit`, and treat one-node chains, a 2-D X, row
by row. Those that scikit-learn knows take `lengths` too. Methods of probabilities are
not there if the loss gives none. Most lines are reference.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from skcrf_sdca._kernels._features import FeatureRows
from skcrf_sdca._utils.availability import available_if
from skcrf_sdca._utils.shared_docs import shared_docs
from skcrf_sdca._utils.typing import (
    Decoding,
    KnownLabels,
    Labels,
    RandomState,
    Sequences,
    SpanScheme,
)
from skcrf_sdca.data.label_encoding import decode_labels
from skcrf_sdca.data.label_names import names_of_classes
from skcrf_sdca.data.spans import extract_spans
from skcrf_sdca.estimators.answers import (
    accuracy,
    check_count,
    check_draws_fit,
    check_labellings_fit,
    n_best_labels,
    over_scores,
)
from skcrf_sdca.estimators.fitted import FittedAttributes, no_probabilities
from skcrf_sdca.estimators.span_queries import (
    Reading,
    TypedSpans,
    asked_spans,
    checked_tokens,
    scheme_of,
)
from skcrf_sdca.estimators.validation import (
    evaluation_labels,
    known_labels,
    prediction_data,
)
from skcrf_sdca.structures.chain.parameters import ChainParameters
from skcrf_sdca.structures.chain.tuple_scores import FittedTuples
from skcrf_sdca.structures.scores import DECODERS

SHARED = {
    "lengths": """
        lengths : array-like of int of shape (n,), default=None
            If X is one table, the number of rows of each sequence in it, as in `fit`.
            To methods without this parameter pass
            ``PackedSequences.from_lengths(X, lengths)``.
        """,
    "fitted": """
        >>> from skcrf_sdca import SDCACRF
        >>> X, y = [[["a"], ["b"]]] * 9, [["B", "I"]] * 9
        >>> crf = SDCACRF(tol=1e-8, random_state=0).fit(X, y)
        """,
}


@shared_docs(SHARED)
class PredictionMixin(FittedAttributes):
    """Answers of an estimator that has ``classes_`` and the fitted weights."""

    def predict(
        self,
        X: Sequences,
        lengths: ArrayLike | None = None,
        *,
        decoding: Decoding = "viterbi",
        known: KnownLabels | None = None,
    ) -> NDArray[Any]:
        """Return a label path for every sequence.

        Parameters
        ----------
        X : as in `fit`
        {lengths}
        decoding : {"viterbi", "posterior"}, default="viterbi"
            "viterbi" is the most probable path. "posterior" is the path with the
            largest expected number of right labels, of those without a forbidden
            transition; it may be an improbable one. Of equally good paths, the one with
            the lower label at the last position where they differ is returned, see
            :ref:`equal-scores`.
        known : list of n lists of T labels, default=None
            Labels that are known and kept, None where the label is free; for a table a
            list with one for each row. The others are decoded given these.

        Returns
        -------
        y : ndarray of shape (n,)
            An object array of label lists; for a table, with `lengths` or without, an
            array with the label of each row.

        Raises
        ------
        ValueError
            If `decoding` is unknown, `lengths` does not fit X, or `known` does not have
            the lengths of X, has a label that was not in `fit`, or is not possible
            because of forbidden transitions; the message names the sequence, and the
            position if it can.

        Examples
        --------
        {fitted}
        >>> crf.predict([[["a"], ["b"]]])
        array([list(['B', 'I'])], dtype=object)
        >>> crf.predict([[["a"], ["b"]]], known=[["I", None]])
        array([list(['I', 'I'])], dtype=object)
        """
        if not isinstance(decoding, str) or decoding not in DECODERS:
            raise ValueError(
                f"decoding must be one of {sorted(DECODERS)}, got {decoding!r}."
            )
        data, input_format = prediction_data(self, X, lengths)
        fixed = None
        if known is not None:
            fixed = known_labels(self, known, data, input_format)

        def decode(chains, begin, end):
            if fixed is not None:
                labels = fixed[data.offsets[begin] : data.offsets[end]]
                chains = chains.clamped(labels)
            paths, values = DECODERS[decoding](chains)
            if fixed is not None and not np.isfinite(values).all():
                raise ValueError(
                    f"known: sequence {begin + np.isfinite(values).argmin()} has no "
                    "possible path with these labels, for transitions are forbidden."
                )
            return input_format.labels(paths, self.classes_, chains.offsets)

        return self._over_chains(decode, data, proba=decoding == "posterior")

    def predict_n_best(self, X: Sequences, n: int) -> NDArray[Any]:
        """Return the n most probable label paths of every sequence, exactly.

        Parameters
        ----------
        X : as in `fit`
        n : int
            Paths wanted, at least 1.

        Returns
        -------
        paths : ndarray of shape (n_sequences,)
            An object array of lists of (labels, probability), best first, or of
            (labels, score) after a fit with the hinge loss; fewer than n where a
            sequence does not have so many possible paths. The first labels are those of
            `predict`, and ties are ordered as there: of two paths with equal scores
            that with the lower label at the last position where they differ comes
            first. For one-node chains labels is a label.

        Raises
        ------
        ValueError
            If n is not an integer of at least 1.
        MemoryError
            If so many paths clearly do not fit into memory.

        Examples
        --------
        {fitted}
        >>> ((first, second),) = crf.predict_n_best([[["a"], ["b"]]], 2)
        >>> first[0], first[1] > second[1]
        (['B', 'I'], True)
        """
        check_count("n", n)
        data, input_format = prediction_data(self, X)
        check_labellings_fit(self, n, data.lengths)

        def best(chains, begin, end):
            return n_best_labels(self, chains, n, input_format)

        return self._over_chains(best, data, proba=False)

    @available_if(no_probabilities)
    def sample(
        self, X: Sequences, n_draws: int = 1, random_state: RandomState = None
    ) -> NDArray[Any]:
        """Draw label paths of every sequence from p(y | x), exactly.

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
            If so many draws clearly do not fit into memory.

        Examples
        --------
        {fitted}
        >>> crf.sample([[["a"], ["b"]]], n_draws=100, random_state=0).shape
        (100, 1)
        """
        check_count("n_draws", n_draws)
        data, input_format = prediction_data(self, X)
        generator = check_random_state(random_state)
        check_draws_fit(n_draws, data, input_format)
        uniform = generator.random_sample((data.n_positions, n_draws))

        def draws(chains, begin, end):
            own = uniform[data.offsets[begin] : data.offsets[end]]
            paths, offsets = chains.sample(own).T, chains.offsets
            drawn = [input_format.labels(p, self.classes_, offsets) for p in paths]
            return np.stack(drawn, axis=1)

        return self._over_chains(draws, data).T

    @available_if(no_probabilities)
    def predict_proba(
        self, X: Sequences, lengths: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Return the probability of every label at every position.

        Parameters
        ----------
        X : as in `fit`
        {lengths}

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
        return self._rows_of(X, lengths, lambda chains: chains.node_marginals()[0])

    @available_if(no_probabilities)
    def predict_log_proba(
        self, X: Sequences, lengths: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Return the logarithm of the probability of every label at every position.

        It is computed in logarithms: finite where the probability is too small for a
        float, so that `predict_proba` returns 0, and -inf where a label is forbidden.

        Parameters
        ----------
        X : as in `fit`
        {lengths}

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
        return self._rows_of(X, lengths, lambda chains: chains.log_node_marginals())

    @available_if(no_probabilities)
    def predict_edge_proba(self, X: Sequences) -> NDArray[Any]:
        """Return the probability of every pair of labels at neighbouring positions.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        proba : ndarray of shape (n,)
            An object array of arrays of shape (max(T - 1, 0), n_labels, n_labels), in
            the order of ``classes_``: entry [t, j, k] is the probability of label j at
            position t and label k at t + 1. For one-node chains, which have no edges,
            one array of shape (n, 0, n_labels, n_labels).

        Examples
        --------
        {fitted}
        >>> (proba,) = crf.predict_edge_proba([[["a"], ["b"]]])
        >>> proba.round(2).tolist()
        [[[0.04, 0.91], [0.01, 0.04]]]
        """
        data, input_format = prediction_data(self, X)

        def probabilities(chains, begin, end):
            return input_format.pair_rows(*chains.pair_marginals())

        return self._over_chains(probabilities, data)

    @available_if(no_probabilities)
    def predict_spans(
        self,
        X: Sequences,
        *,
        scheme: SpanScheme | None = None,
        tokens: Iterable[Iterable[str]] | None = None,
    ) -> NDArray[Any]:
        """Return the spans of the most probable label paths, with their probabilities.

        Parameters
        ----------
        X : as in `fit`
        scheme : str, default=None
            "BIO", "IOB1", "IO", "BIOES" or "BILOU": the meaning of the prefixes, see
            :func:`skcrf_sdca.metrics.extract_spans`. By default the scheme that the
            parameter ``transitions`` names, and else "BIO", which also reads labels in
            IOB1 and IO.
        tokens : list of n lists of T str, default=None
            The words of X. With them, each span has a text.

        Returns
        -------
        spans : ndarray of shape (n,)
            An object array of lists of (type, begin, end, probability), in order; with
            `tokens` of (type, begin, end, probability, text), where the text is the
            tokens begin <= t < end, joined by blanks. The spans are those that
            `extract_spans` finds in the labels of `predict`. The probability of a span
            is that of `span_proba`, the sum over all label paths that have it.

        Raises
        ------
        ValueError, TypeError
            If the labels are not of the scheme, or `tokens` does not have the lengths
            of X.

        See Also
        --------
        span_proba : The probabilities of any spans.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF
        >>> words = [["Ada", "Lovelace", "wrote"], ["Ada", "wrote"]]
        >>> X = [[[word] for word in sentence] for sentence in words]
        >>> y = [["B-PER", "I-PER", "O"], ["B-PER", "O"]]
        >>> crf = SDCACRF(alpha=0.01, random_state=0).fit(X, y)
        >>> (spans,) = crf.predict_spans(X[:1], tokens=words[:1])
        >>> for span_type, begin, end, probability, text in spans:
        ...     print(span_type, begin, end, round(probability, 2), text)
        PER 0 2 0.96 Ada Lovelace
        """
        data, _ = prediction_data(self, X)
        if scheme is None:
            scheme = scheme_of(getattr(self, "transitions", None))
        names = names_of_classes(self, self.classes_)
        reading, names = Reading.of(names, scheme), np.array(names, dtype=object)
        words = None if tokens is None else checked_tokens(tokens, data.lengths)

        def spans(chains, begin, end):
            paths, _ = chains.viterbi()
            labels = decode_labels(paths, names, chains.offsets).tolist()
            found = extract_spans(labels, scheme)
            asked = TypedSpans(found, data.lengths[begin:end], reading)
            proba = asked.probabilities(chains, 0, end - begin)
            rows = [
                [(*span, p) for span, p in zip(own, values.tolist(), strict=True)]
                for own, values in zip(found, proba, strict=True)
            ]
            return np.fromiter(rows, dtype=object, count=len(rows))

        spans_of = self._over_chains(spans, data)
        if words is not None:
            for i, own in enumerate(spans_of):
                texts = [" ".join(words[i][b:e]) for _, b, e, _ in own]
                spans_of[i] = [(*s, t) for s, t in zip(own, texts, strict=True)]
        return spans_of

    @available_if(no_probabilities)
    def span_proba(
        self,
        X: Sequences,
        spans: Iterable[Iterable[tuple[Any, ...]]],
        *,
        scheme: SpanScheme | None = None,
    ) -> NDArray[Any]:
        """Return the probability of spans as a whole, exactly.

        It is the sum of p(y | x) over all label paths y that have the span, and not a
        product of the probabilities of its labels.

        Parameters
        ----------
        X : as in `fit`
        spans : list of n lists of spans
            The positions of a span are begin <= t < end, of its sequence. A span is
            (type, begin, end), as :func:`skcrf_sdca.metrics.extract_spans` returns it,
            where the type is a str: it is there if `extract_spans` finds it in y. With
            "BIO" that means labels of the type, of which only the first begins a span,
            and neither a label before nor one after that belongs to the same span.
            Without `scheme` all spans may be (labels, begin, end) instead, with a list
            of a label for each position: such a span is there if these labels stand at
            these positions.
            Both may have begin and end first. What follows these three is ignored: the
            spans of `predict_spans` may be given.
        scheme : str, default=None
            "BIO", "IOB1", "IO", "BIOES" or "BILOU": what the prefixes of the labels
            mean. By default that of `predict_spans`.

        Returns
        -------
        proba : ndarray of shape (n,)
            An object array of arrays of shape (n_spans_i,). 0 for a label or a type
            that was not in `fit`.

        Raises
        ------
        ValueError, TypeError
            If a span does not have this form or is not within its sequence, which the
            message names with the sequence, or if the labels are not of the scheme.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF
        >>> from skcrf_sdca.metrics import extract_spans
        >>> X, y = [[["a"], ["b"]]] * 9, [["B-X", "I-X"]] * 9
        >>> crf = SDCACRF(random_state=0).fit(X, y)
        >>> spans = [extract_spans(labels) for labels in crf.predict(X[:1])]
        >>> spans
        [[('X', 0, 2)]]
        >>> (typed,) = crf.span_proba(X[:1], spans)
        >>> (labelled,) = crf.span_proba(X[:1], [[(["B-X", "I-X"], 0, 2)]])
        >>> bool(typed[0] > labelled[0])    # I-X I-X, too, is read as this span
        True
        """
        data, _ = prediction_data(self, X)
        asked = asked_spans(spans, data.lengths, self, scheme)
        return self._over_chains(asked.probabilities, data)

    @available_if(no_probabilities)
    def log_partition(self, X: Sequences) -> NDArray[np.float64]:
        """Return log Z of every sequence, the log of the sum of exp(score(x, y)).

        Scores are divided by ``temperature_``.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        log_partition : ndarray of shape (n,)
            In nats; 0 for an empty sequence.

        Examples
        --------
        {fitted}
        >>> crf.log_partition([[["a"], ["b"]], []]).round(1)
        array([2.8, 0. ])
        """
        data, _ = prediction_data(self, X)
        return self._over_chains(lambda chains, *_: chains.log_partition(), data)

    @available_if(no_probabilities)
    def log_likelihood(self, X: Sequences, y: Labels) -> NDArray[np.float64]:
        """Return log p(y | x) of every sequence: score(x, y) - log Z.

        Parameters
        ----------
        X, y : as in `fit`

        Returns
        -------
        log_likelihood : ndarray of shape (n,)
            In nats, at most 0. -inf where y has a label that was not in `fit`, or a
            forbidden transition; 0 for an empty sequence. Where some labels are not
            known, it is log p of those that are.

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
        data, input_format = prediction_data(self, X)
        labels, known = evaluation_labels(self, y, data, input_format)

        def values(chains, begin, end):
            own = slice(data.offsets[begin], data.offsets[end])
            mask = None if known is None else known[own] > 0.0
            return chains.log_likelihood(labels[own], mask)

        return self._over_chains(values, data)

    def score(
        self,
        X: Sequences,
        y: Labels,
        sample_weight: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
    ) -> float:
        """Return the share of positions whose label is predicted right.

        Parameters
        ----------
        X, y : as in `fit`
            Labels that were not in `fit` count as wrong; positions whose label is
            unknown are left out.
        sample_weight : array-like of shape (n,), default=None
            Weight of each sequence.
        {lengths}

        Returns
        -------
        accuracy : float

        Examples
        --------
        {fitted}
        >>> crf.score([[["a"], ["b"]]], [["B", "never seen"]])
        0.5
        """
        data, input_format = prediction_data(self, X, lengths)
        labels, weight = evaluation_labels(self, y, data, input_format, sample_weight)
        return accuracy(self._best_paths(data), labels, weight, "items")

    def _best_paths(self, data):
        """Return the label numbers of the most probable paths, end to end."""
        return self._over_chains(
            lambda chains, *_: chains.viterbi()[0], data, proba=False
        )

    def _best_path_with(self, data, t, labels):
        """Return the best path of one sequence that has one of the labels at t.

        It is empty if forbidden transitions leave no such path.
        """

        def best(chains, *_):
            path, (value,) = chains.restricted(t, labels).viterbi()
            return path if np.isfinite(value) else path[:0]

        return self._over_chains(best, data, proba=False)

    def _node_marginals(self, data):
        """Return the node marginals of all sequences, end to end."""
        return self._over_chains(lambda chains, *_: chains.node_marginals()[0], data)

    def _rows_of(self, X, lengths, values):
        """Return ``values(chains)``, a row for each position, in the form of X."""
        data, input_format = prediction_data(self, X, lengths)

        def rows(chains, begin, end):
            return input_format.rows(values(chains), chains.offsets)

        return self._over_chains(rows, data)

    def _fitted_parameters(self, data):
        """Return the parameters for the features in data, and its X on these alone."""
        weights = FittedTuples if self._has_tuples else ChainParameters
        return weights.of_fitted(self, data.X)

    def _over_chains(self, function, data, *, proba=True):
        """Return the results of all chains in one array.

        ``function(chains, begin, end)`` and ``proba`` are as for `over_scores`.
        """
        parameters, X = self._fitted_parameters(data)
        rows = FeatureRows(X)

        def scores(begin, end):
            chains = parameters.scores(
                rows, data.offsets, begin, end, temperature=self.temperature_ or 1.0
            )
            chains.check(begin)
            return chains

        return over_scores(self, function, scores, data.offsets, proba=proba)
