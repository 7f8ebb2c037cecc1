"""Spans above a probability that is chosen on held-out sequences, for the best F score.

Owns the choice of spans that may overlap, and of the threshold.
"""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.doc_links import HasDocLink
from skcrf_sdca._utils.sequence_tags import TakesLabels
from skcrf_sdca._utils.sklearn_private import Interval, validates_parameters
from skcrf_sdca._utils.typing import Labels, Sequences, SpanScheme
from skcrf_sdca._utils.version_stamps import VersionStamped
from skcrf_sdca.data.label_encoding import label_lists
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


class TunedSpans(
    VersionStamped, HasDocLink, TakesLabels, MetaEstimatorMixin, BaseEstimator
):
    """Spans of a fitted CRF that are more probable than a tuned threshold.

    `sklearn.model_selection.TunedThresholdClassifierCV` for the spans of sequences. The
    most probable label path leaves out a span that is less probable than the path
    without it, although each false span may cost less than each missed one. Here all
    spans are candidates, each with its exact probability p, and those spans are
    predicted that do not overlap and have the largest sum of p - t. With
    t = F / (1 + beta^2) this is the largest F, if probabilities are right; `fit` takes
    the t with the best F on held-out sequences.

    Parameters
    ----------
    estimator : CRF or Tagger
        Fitted, on other data than `fit` gets, and never fitted here.
    beta : float, default=1.0
        Weight of recall in the F score, > 0: a beta of 2 counts it more, 0.5 less::

            F = (1 + beta^2) P R / (beta^2 P + R)
    scheme : str, default="BIO"
        Of the labels.
    threshold : float, default=None
        Value of t, in [0, 1]; None is the one that `fit` finds. With a number the spans
        can be predicted without a `fit`.

    Attributes
    ----------
    threshold_ : float
        The t with the best F, whatever `threshold` is.
    curve_ : ThresholdCurve
        ``threshold``, and ``precision``, ``recall`` and ``score``, the F score, of the
        held-out sequences.

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
    >>> from skcrf_sdca import SDCACRF, TunedSpans
    >>> X = [[["Ada"], ["met"], ["Bob"]], [["Bob"], ["ran"]], [["met"], ["Bob"]]] * 4
    >>> y = [["B-P", "O", "B-P"], ["O", "O"], ["O", "O"]] * 4
    >>> crf = SDCACRF(alpha=0.1, random_state=0).fit(X, y)
    >>> tuned = TunedSpans(crf, beta=2.0).fit(X, y)
    >>> len(crf.predict_spans(X[:1])[0]), len(tuned.predict_spans(X[:1])[0])
    (1, 2)
    >>> tuned.predict(X[:1])
    array([list(['B-P', 'O', 'B-P'])], dtype=object)
    """

    _parameter_constraints = {
        "beta": [Interval(Real, 0, None, closed="neither")],
        "scheme": [str],
        "threshold": [Interval(Real, 0, 1, closed="both"), None],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        beta: float = 1.0,
        scheme: SpanScheme = "BIO",
        threshold: float | None = None,
    ) -> None:
        self.estimator = estimator
        self.beta = beta
        self.scheme = scheme
        self.threshold = threshold

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
        """
        found, lengths = self._candidates(X)
        y = label_lists(named_lists(self.estimator, y), "y")
        if [len(labels) for labels in y] != lengths:
            raise ValueError("y must have a label for each item of each sequence of X.")
        true = [set(extract_spans(list(labels), self.scheme)) for labels in y]
        n_true = sum(map(len, true))
        if not n_true:
            raise ValueError(
                "y has no span, so that there is nothing to find; pass more held-out "
                "sequences"
            )
        counts = np.array([_counts(found, true, t) for t in THRESHOLDS], dtype=float)
        correct, predicted = counts.T
        share = self.beta**2
        score = (1.0 + share) * correct / (predicted + share * n_true)
        precision = correct / np.maximum(predicted, 1.0)
        self.curve_ = ThresholdCurve(THRESHOLDS, precision, correct / n_true, score)
        best = len(score) - 1 - int(np.argmax(score[::-1]))
        self.threshold_ = float(THRESHOLDS[best])
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
        labels = spans_to_labels(spans, lengths, self.scheme)
        return np.fromiter(labels, dtype=object, count=len(labels))

    def _spans(self, X):
        """Return the spans of each sequence, and the lengths."""
        threshold = self.threshold
        if threshold is None:
            check_is_fitted(self)
            threshold = self.threshold_
        found, lengths = self._candidates(X)
        return [_chosen(own, threshold) for own in found], lengths

    def _candidates(self, X):
        """Return all spans of `LEAST` probability, and the length of each sequence.

        The spans of each sequence are sorted by their end.
        """
        X, crf = as_sequence_list(X), self.estimator
        if isinstance(crf, Pipeline):
            X, crf = crf[:-1].transform(X) if len(crf) > 1 else X, crf[-1]
        names = names_of_classes(crf, crf.classes_)
        reading = LabelReading.of(names, self.scheme)
        tables = crf.predict_proba(X)
        asked = [_possible_spans(table, reading) for table in tables]
        values = crf.span_proba(X, asked, scheme=self.scheme)
        found = [
            [(*span, p) for span, p in zip(own, row.tolist(), strict=True) if p > LEAST]
            for own, row in zip(asked, values, strict=True)
        ]
        return found, [len(table) for table in tables]


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

    ``spans`` are sorted by their end; so is the result.
    """
    spans = [span for span in spans if span[3] > threshold]
    ends = [_end(span) for span in spans]
    if all(other[1] >= span[2] for span, other in pairwise(spans)):
        return spans
    best, taken = [0.0], []
    for k, (_, begin, _, p) in enumerate(spans):
        before = bisect_right(ends, begin, hi=k)
        with_it = best[before] + p - threshold
        taken.append((with_it > best[k], before))
        best.append(max(best[k], with_it))
    chosen, k = [], len(spans)
    while k:
        is_taken, before = taken[k - 1]
        if is_taken:
            chosen.append(spans[k - 1])
        k = before if is_taken else k - 1
    return chosen[::-1]


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
