"""SequenceAnswers: what a fitted estimator of sequences adds to the `Answers`.

Its X may be a table with `lengths`, and its labels may describe spans. One-node
chains, a 2-D X, are treated row by row. `ChainAnswers` are those of chains.
"""

import inspect
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skcrf_sdca._kernels.features._features import FeatureRows
from skcrf_sdca._utils.availability import available_if
from skcrf_sdca._utils.messages import lacking
from skcrf_sdca._utils.typing import (
    Dataset,
    Decoding,
    F,
    KnownLabels,
    Labels,
    SpanScheme,
)
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.data.label_names import names_of_classes
from skcrf_sdca.data.label_reading import scheme_of
from skcrf_sdca.data.packed import rows_of
from skcrf_sdca.model.answers import Answers
from skcrf_sdca.model.compression import ConstrainingMixin, TrimmingMixin
from skcrf_sdca.model.fitted import fitted_weights, no_probabilities
from skcrf_sdca.model.inspection import ChainInspection, SequenceInspection
from skcrf_sdca.model.span_queries import (
    LabelSpans,
    Reading,
    checked_tokens,
    is_typed,
    with_first,
    with_texts,
)
from skcrf_sdca.structures.chain.fitted_tuples import FittedTuples
from skcrf_sdca.structures.chain.parameters import ChainParameters
from skcrf_sdca.structures.mixed_scores import with_entropy
from skcrf_sdca.structures.scores import DECODERS, VITERBI

LENGTHS = """\
lengths : array-like of int of shape (n,), default=None
    If X is one table, the number of rows of each sequence in it, as in `fit`.
    To methods without this parameter pass
    ``PackedSequences.from_lengths(X, lengths)``.
"""


def with_lengths(method: Callable[..., Any], after: str = "X") -> Callable[[F], F]:
    """Return a decorator that takes the docstring of a method without `lengths`.

    The parameter is described behind the one named ``after``.
    """

    def decorator(function):
        # With python -OO there are no docstrings.
        if method.__doc__ is not None:
            doc = inspect.cleandoc(method.__doc__)
            entry = re.search(rf"^{after} :.*\n(?: .*\n)*", doc, re.MULTILINE)
            function.__doc__ = f"{doc[: entry.end()]}{LENGTHS}{doc[entry.end() :]}"
        return function

    return decorator


class SequenceAnswers(SequenceInspection, TrimmingMixin):
    """Answers of an estimator of sequences."""

    @with_lengths(Answers.predict)
    def predict(
        self,
        X: Dataset,
        lengths: ArrayLike | None = None,
        *,
        decoding: Decoding | None = None,
        known: KnownLabels | None = None,
    ) -> NDArray[Any]:
        """As `Answers.predict`, of a table with `lengths` too."""
        decoding = self._decoding(decoding)
        if lengths is None and known is None and decoding == VITERBI:
            found = self._labels_of_one(X)
            if found is not None:
                return found
        return self._predict(self._packed(X, lengths), decoding, known)

    @available_if(no_probabilities)
    @with_lengths(Answers.predict_proba)
    def predict_proba(
        self, X: Dataset, lengths: ArrayLike | None = None
    ) -> NDArray[Any]:
        """As `Answers.predict_proba`, of a table with `lengths` too."""
        chains = self._chains_of_one(X) if lengths is None else None
        if chains is not None:
            node, log_z = chains.node_marginals()
            if log_z[0] > -np.inf:
                return np.fromiter([node], dtype=object, count=1)
        return self._rows(self._packed(X, lengths))

    @available_if(no_probabilities)
    @with_lengths(Answers.predict_log_proba)
    def predict_log_proba(
        self, X: Dataset, lengths: ArrayLike | None = None
    ) -> NDArray[Any]:
        """As `Answers.predict_log_proba`, of a table with `lengths` too."""
        return self._rows(self._packed(X, lengths), log=True)

    @with_lengths(Answers.score, after="sample_weight")
    def score(
        self,
        X: Dataset,
        y: Labels,
        sample_weight: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
    ) -> float:
        """As `Answers.score`, of a table with `lengths` too."""
        return self._score(self._packed(X, lengths), y, sample_weight)

    @available_if(no_probabilities)
    def predict_spans(
        self,
        X: Dataset,
        *,
        scheme: SpanScheme | None = None,
        tokens: Iterable[Iterable[str]] | None = None,
    ) -> NDArray[Any]:
        """Return the spans of the predicted labels, with their probabilities.

        Parameters
        ----------
        X : as in `fit`
        scheme : str, default=None
            "BIO", "IOB1", "IO", "BIOES" or "BILOU": the meaning of the prefixes, see
            :func:`skcrf_sdca.metrics.extract_spans`. By default the scheme that the
            parameter ``transitions`` names, and else "BIO", which also reads labels in
            IOB1 and IO. A `SegmentCRF` takes the scheme of its fit alone; without one
            all its segments are spans.
        tokens : list of n lists of T str, default=None
            The words of X. With them, each span has a text.

        Returns
        -------
        spans : ndarray of shape (n,)
            An object array of lists of (type, begin, end, probability), in order; with
            `tokens` of (type, begin, end, probability, text), where the text is the
            tokens begin <= t < end, joined by blanks, or without
            them in Chinese, Japanese and Thai. The spans are those that
            `extract_spans` finds in the labels of `predict`. The probability of a span
            is the same as in `span_proba`, the sum over all label paths that have it.

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
        spans, lengths = self._spans_of_one(X, scheme) or (None, None)
        packed = self._packed(X) if spans is None else None
        lengths = lengths if packed is None else packed.data.lengths
        words = None if tokens is None else checked_tokens(tokens, lengths)
        spans = self._spans(packed, scheme) if spans is None else spans
        if words is not None:
            spans[:] = with_texts(spans, words)
        return spans

    @available_if(no_probabilities)
    def span_proba(
        self,
        X: Dataset,
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
            "BIO" that means labels of the type, only the first of which begins a span,
            and neither a label before nor one after that belongs to the same span.
            Without `scheme` all spans may be (labels, begin, end) instead, with a list
            of a label for each position: such a span is there if these labels stand at
            these positions.
            Both may have begin and end first. Further entries are ignored: the
            spans of `predict_spans` may be given. A `SegmentCRF` takes (type, begin,
            end).
        scheme : str, default=None
            "BIO", "IOB1", "IO", "BIOES" or "BILOU": what the prefixes of the labels
            mean. By default as in `predict_spans`.

        Returns
        -------
        proba : ndarray of shape (n,)
            An object array of arrays of shape (n_spans_i,). 0 for a label or a type
            that was not in `fit`, and for a span longer than ``max_length_``.

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
        packed = self._packed(X)
        asked = self._asked_spans(spans, packed.data.lengths, scheme)
        return self._over(asked.probabilities, packed)

    def _spans(self, packed, scheme):
        """Return the spans (type, begin, end, probability) of each sequence."""
        reading, decode = self._reading(scheme), DECODERS[self._decoding()]

        def spans(scores, begin, end):
            found = reading.found(decode(scores)[0], scores.offsets)
            asked = reading.asked(found, packed.data.lengths[begin:end])
            proba = asked.probabilities(scores, 0, end - begin)
            rows = [
                [(*span, p) for span, p in zip(own, values.tolist(), strict=True)]
                for own, values in zip(found, proba, strict=True)
            ]
            return np.fromiter(rows, dtype=object, count=len(rows))

        return self._over(spans, packed)

    def _spans_of_one(self, X, scheme):
        """Return the same of one sequence and its length, or None if no faster."""
        chains = self._chains_of_one(X)
        if chains is None or self._decoding() != VITERBI:
            return None
        path, (score,) = chains.viterbi()
        if score == -np.inf:
            return None
        spans = self._reading(scheme).spans_of(path, chains)
        return np.fromiter([spans], dtype=object, count=1), np.array([len(path)])

    def _chains_of_one(self, X):
        """Return the scores of one sequence, or None if that is no faster."""

    def _labels_of_one(self, X):
        """Return what `predict` does of one sequence, or None if that is no faster."""

    def _reading(self, scheme):
        """Return how labels are read as spans, by default as `transitions` says."""
        if scheme is None:
            scheme = scheme_of(getattr(self, "transitions", None))
        return Reading.of(names_of_classes(self, self.classes_), scheme)

    def _asked_spans(self, spans, lengths, scheme):
        """Return the spans that a user asks about, by what names the first of them.

        Without a scheme the name may be labels.
        """
        spans, first = with_first(spans)
        if scheme is None and not is_typed(first):
            return LabelSpans(spans, lengths, self.classes_)
        return self._reading(scheme).asked(spans, lengths)

    def _kept(self, X, packed):
        return packed.data if packed.input_format.boundaries else X

    def _scores_of(self, packed):
        parameters, X = self._fitted_parameters(packed.data)
        rows, temperature = FeatureRows(X), self.temperature_ or 1.0
        known = rows, packed.data.offsets
        return partial(parameters.scores, *known, temperature=temperature)

    def _fitted_parameters(self, data):
        """Return the parameters for the features in data, and its X on these alone."""
        raise lacking(self, "_fitted_parameters")


class ChainAnswers(ChainInspection, ConstrainingMixin, SequenceAnswers):
    """Answers of chains: those of sequences, and what the weights of a chain tell."""

    def _labels_of_one(self, X):
        """Return what `predict` does of one sequence of dicts or strings, or None.

        The arrays of many sequences would take ten times as long. None stands for what
        only their way can answer, and for errors, whose place it knows.
        """
        found = self._of_one(
            X, lambda of: of.predict(X[0], plain_labels(self.classes_))
        )
        return None if found is None else np.fromiter([found], dtype=object, count=1)

    def _chains_of_one(self, X):
        scores = self._of_one(X, lambda tagger: tagger.scores(X[0]))
        if scores is None:
            return None
        parameters = self._chain().parameters
        chains = parameters.no_chains(self.temperature_).of_one(scores)
        return with_entropy(chains, self.entropy_index_)

    def _of_one(self, X, answer):
        """Return an answer of the SequenceTagger if X is one sequence, or None."""
        if type(X) is not list or len(X) != 1:
            return None
        self._check_is_fitted()
        tagger = self._tagger()
        if tagger is None:
            return None
        try:
            return answer(tagger)
        except (TypeError, ValueError):
            return None

    def _fitted_parameters(self, data):
        known = self._chain().parameters
        if known is not None:
            return known, rows_of(data)
        weights = fitted_weights(self)
        if self._has_tuples:
            return FittedTuples.of_fitted(weights, data.X)
        return ChainParameters.of_fitted(weights, data.X, self._label_parts())
