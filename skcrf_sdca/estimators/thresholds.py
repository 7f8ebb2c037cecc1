"""Spans above a probability that is chosen on held-out sequences, for the best F score.

Owns the choice of spans that may overlap, and of the threshold.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.constructors import constructed
from skcrf_sdca._utils.given_estimators import check_tagger
from skcrf_sdca._utils.last_step import before_last, parted
from skcrf_sdca._utils.meta_estimators import SequenceMetaEstimator
from skcrf_sdca._utils.sklearn_private import Interval, validates_parameters
from skcrf_sdca._utils.typing import Labels, Sequences, SpanScheme
from skcrf_sdca.data.label_encoding import lists_as_long
from skcrf_sdca.data.label_names import named_lists, names_of_classes
from skcrf_sdca.data.label_reading import LabelReading
from skcrf_sdca.data.sequence_lists import as_sequence_list
from skcrf_sdca.data.spans import extract_spans
from skcrf_sdca.model.span_queries import checked_tokens, with_texts
from skcrf_sdca.text import spans_to_labels

__all__ = ["TunedSpans"]

# Spans that are less probable are never predicted: their number grows with the square
# of the length of a sequence.
LEAST = 0.02
# Thresholds that are compared.
THRESHOLDS = np.concatenate([[LEAST], np.arange(0.05, 1.0, 0.05)])


class ThresholdCurve(NamedTuple):
    """Scores of held-out sequences by threshold.

    Attributes
    ----------
    threshold, precision, recall, score : ndarrays of shape (n_thresholds,)
    """

    threshold: NDArray[np.float64]
    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    score: NDArray[np.float64]


@constructed
class TunedSpans(SequenceMetaEstimator):
    """Predict the spans of a fitted CRF that are more probable than a tuned threshold.

    It is `sklearn.model_selection.TunedThresholdClassifierCV` for the spans of
    sequences. The most probable label path leaves out a span that is less probable than
    the path without it, although each false span may cost less than each missed one.
    Here all spans are candidates, each with its exact probability p, and those spans
    are predicted that do not overlap and have the largest sum of p - t. With
    t = F / (1 + beta^2) this is the largest F, if probabilities are right; `fit` takes
    the t with the best F on held-out sequences.

    Parameters
    ----------
    estimator : CRF or Tagger
        Fitted, on other data than `fit` gets, and never fitted here.
    beta : float, default=1.0
        Weight of recall in the F score, > 0: a beta of 2 counts it more, 0.5 less::

            F = (1 + beta^2) P R / (beta^2 P + R)
    scheme : str or None, default="BIO"
        Of the labels. None is for a :class:`~skcrf_sdca.SegmentCRF` without a scheme:
        spans are its segments but for those of the label "O".
    threshold : float or dict, default=None
        Value of t, in [0, 1], or one for each span type, {type: t}; None is what `fit`
        finds. With it the spans can be predicted without a `fit`.
    by_type : bool, default=False
        Whether `fit` chooses a threshold for each type, by the F score of its spans
        alone. A type without a span in y has the one of all types.

    Attributes
    ----------
    threshold_ : float or dict
        The t with the best F, whatever `threshold` is; of each type if `by_type`.
    curve_ : ThresholdCurve
        ``threshold``, and ``precision``, ``recall`` and ``score``, the F score, of the
        held-out sequences, with one threshold for all types.

    See Also
    --------
    CalibratedSpans : Makes probabilities right, and keeps the spans.

    Notes
    -----
    A span with a probability below 0.02 is never predicted. The number of candidates
    grows with the square of the length of a passage in which every token is of one type
    with that probability.

    Examples
    --------
    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca.selection import TunedSpans
    >>> X = [[["Ada"], ["met"], ["Bob"]], [["Bob"], ["ran"]], [["met"], ["Bob"]]] * 4
    >>> y = [["B-P", "O", "B-P"], ["O", "O"], ["O", "O"]] * 4
    >>> crf = SDCACRF(alpha=0.1, random_state=0).fit(X, y)
    >>> tuned = TunedSpans(crf, beta=2.0).fit(X, y)
    >>> len(crf.predict_spans(X[:1])[0]), len(tuned.predict_spans(X[:1])[0])
    (1, 2)
    >>> tuned.predict(X[:1])
    array([list(['B-P', 'O', 'B-P'])], dtype=object)
    """

    estimator: Any
    _: KW_ONLY
    beta: float = 1.0
    scheme: SpanScheme | None = "BIO"
    threshold: float | Mapping[str, float] | None = None
    by_type: bool = False

    _parameter_constraints = {
        "beta": [Interval(Real, 0, None, closed="neither")],
        "scheme": [str, None],
        "threshold": [Interval(Real, 0, 1, closed="both"), dict, None],
        "by_type": ["boolean"],
    }

    @validates_parameters
    def fit(self, X: Sequences, y: Labels) -> Self:
        """Choose the threshold with the best F score on held-out sequences.

        Of equally good thresholds it is the largest.

        Parameters
        ----------
        X, y : as in the ``fit`` of the estimator

        Returns
        -------
        self : TunedSpans

        Raises
        ------
        ValueError
            If y has no span, or not the lengths of X.
        TypeError, NotFittedError
            If the estimator has no probabilities of spans, or is not fitted.
        """
        found, lengths = self._candidates(X)
        y = lists_as_long(named_lists(self.estimator, y), lengths, "y")
        true = [set(extract_spans(list(labels), self._label_scheme)) for labels in y]
        if not any(true):
            raise ValueError(
                "y has no span, so that there is nothing to find; pass more held-out "
                "sequences"
            )
        curve = _curve(found, true, self.beta)
        threshold = self._by_type(found, true, _best(curve)) if self.by_type else None
        self.curve_ = curve
        self.threshold_ = _best(curve) if threshold is None else threshold
        return self

    def predict_spans(
        self, X: Sequences, *, tokens: Iterable[Iterable[str]] | None = None
    ) -> NDArray[Any]:
        """Return the spans above the threshold, with their probabilities.

        Parameters
        ----------
        X : as in `fit`
        tokens : list of n lists of str, default=None
            As for ``predict_spans`` of the estimator.

        Returns
        -------
        spans : ndarray of shape (n,)
            An object array of lists of (type, begin, end, probability), in order, with
            `tokens` of (type, begin, end, probability, text).
        """
        spans, lengths = self._spans(X)
        if tokens is not None:
            tokens = checked_tokens(tokens, np.array(lengths, dtype=np.int64))
            spans = with_texts(spans, tokens)
        return np.fromiter(spans, dtype=object, count=len(spans))

    def predict(self, X: Sequences) -> NDArray[np.object_]:
        """Return the labels of the spans above the threshold, in the scheme.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        labels : ndarray of shape (n,)
            An object array of lists of str.
        """
        spans, lengths = self._spans(X)
        # Two segments of one type may touch, which their types do not show.
        labels = spans_to_labels(spans, lengths, self.scheme or "BIO")
        if self.scheme is None:
            labels = [[label.partition("-")[2] or label for label in x] for x in labels]
        return np.fromiter(labels, dtype=object, count=len(labels))

    def _spans(self, X):
        """Return the spans of each sequence, and the lengths."""
        threshold = self.threshold
        if threshold is None:
            check_is_fitted(self)
            threshold = self.threshold_
        found, lengths = self._candidates(X)
        if isinstance(threshold, Mapping):
            threshold = _checked(threshold, {span[0] for own in found for span in own})
        return [_chosen(own, threshold) for own in found], lengths

    def _candidates(self, X):
        """Return all spans of `LEAST` probability, and the length of each sequence.

        The spans of each sequence are sorted by their end.
        """
        check_tagger(parted(self.estimator)[1], "predict_proba", "span_proba")
        X, crf = before_last(self.estimator, as_sequence_list(X))
        tables = crf.predict_proba(X)
        names = names_of_classes(crf, crf.classes_)
        reading = LabelReading.of(names, self._label_scheme)
        asked = [_possible_spans(table, reading) for table in tables]
        values = crf.span_proba(X, asked, scheme=self.scheme)
        found = [
            [(*span, p) for span, p in zip(own, row.tolist(), strict=True) if p > LEAST]
            for own, row in zip(asked, values, strict=True)
        ]
        return found, [len(table) for table in tables]

    def _by_type(self, found, true, usual):
        """Return a threshold for each type, the usual one where y has no span of it."""
        names = sorted({span[0] for spans in [*found, *true] for span in spans})
        threshold = dict.fromkeys(names, usual)
        for name in {span[0] for spans in true for span in spans}:
            own = _of_type(found, name), list(map(set, _of_type(true, name)))
            threshold[name] = _best(_curve(*own, self.beta))
        return threshold

    @property
    def _label_scheme(self):
        """The scheme of the labels: those of segments without one are types."""
        return "TYPES" if self.scheme is None else self.scheme


def _curve(found, true, beta):
    """Return the scores by threshold of candidates, beside the true spans."""
    n_true = sum(map(len, true))
    counts = np.array([_counts(found, true, t) for t in THRESHOLDS], dtype=float)
    correct, predicted = counts.T
    share = beta**2
    score = (1.0 + share) * correct / (predicted + share * n_true)
    precision = correct / np.maximum(predicted, 1.0)
    return ThresholdCurve(THRESHOLDS, precision, correct / n_true, score)


def _best(curve):
    """Return the threshold with the best score, the largest of equally good ones."""
    best = len(curve.score) - 1 - int(np.argmax(curve.score[::-1]))
    return float(curve.threshold[best])


def _of_type(spans, name):
    """Return the spans of a type of each sequence."""
    return [[span for span in own if span[0] == name] for own in spans]


def _possible_spans(table, reading):
    """Return the spans whose tokens are all of their type with `LEAST` probability.

    No other span is more probable than that. They are sorted by their end.
    """
    spans = []
    for name, k in reading.types.items():
        may_be = np.zeros(len(table) + 2, dtype=bool)
        may_be[1:-1] = table[:, reading.label_types == k].sum(axis=1) > LEAST
        changes = np.flatnonzero(may_be[1:] != may_be[:-1])
        for first, last in changes.reshape(-1, 2).tolist():
            spans += [
                (name, begin, end)
                for end in range(first + 1, last + 1)
                for begin in range(first, end)
            ]
    return sorted(spans, key=_end)


def _chosen(spans, threshold):
    """Return the spans without an overlap that have the largest sum of p - threshold.

    ``spans`` are sorted by their end; so is the result. The threshold is a number, or
    one of each type.
    """
    pairs = [(span, span[3] - _threshold_of(threshold, span[0])) for span in spans]
    pairs = [(span, excess) for span, excess in pairs if excess > 0.0]
    spans = [span for span, _ in pairs]
    ends = [_end(span) for span in spans]
    if all(other[1] >= span[2] for span, other in pairwise(spans)):
        return spans
    best, taken = [0.0], []
    for k, ((_, begin, _, _), excess) in enumerate(pairs):
        before = bisect_right(ends, begin, hi=k)
        with_it = best[before] + excess
        taken.append((with_it > best[k], before))
        best.append(max(best[k], with_it))
    chosen, k = [], len(spans)
    while k:
        is_taken, before = taken[k - 1]
        if is_taken:
            chosen.append(spans[k - 1])
        k = before if is_taken else k - 1
    return chosen[::-1]


def _checked(threshold, types):
    """Return thresholds by type; ValueError if a type has none in [0, 1]."""
    for name in types:
        if not 0.0 <= threshold.get(name, -1.0) <= 1.0:
            raise ValueError(
                f"threshold has {threshold.get(name)} for the type {name!r}; it must "
                "have a number in [0, 1] for each type."
            )
    return threshold


def _threshold_of(threshold, span_type):
    return threshold[span_type] if isinstance(threshold, Mapping) else threshold


def _counts(found, true, threshold):
    """Return how many of the chosen spans are right, and how many there are."""
    chosen = [
        (span[:3] in right)
        for own, right in zip(found, true, strict=True)
        for span in _chosen(own, threshold)
    ]
    return sum(chosen), len(chosen)


def _end(span):
    return span[2]
