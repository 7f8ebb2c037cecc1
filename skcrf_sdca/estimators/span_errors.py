"""The spans that a model gets wrong, the most certain mistakes first."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from skcrf_sdca._utils.given_estimators import check_tagger
from skcrf_sdca._utils.typing import Labels, Sequences, Span, SpanScheme
from skcrf_sdca.data.joined_tokens import joined
from skcrf_sdca.data.label_encoding import lists_as_long
from skcrf_sdca.data.label_names import named_lists
from skcrf_sdca.data.sequence_lists import as_sequence_list
from skcrf_sdca.data.spans import extract_spans
from skcrf_sdca.model.span_queries import checked_tokens

__all__ = ["SpanError", "span_errors"]

# (the types are equal, the bounds are equal) of two spans that overlap.
MISTAKES = {
    (True, False): "bounds",
    (False, True): "type",
    (False, False): "bounds and type",
}


class SpanError(NamedTuple):
    """A true span that was not predicted, a predicted one that is not true, or both.

    Parameters
    ----------
    sequence : int
        Its number in X.
    mistake : str
        "missed", "false", and for two spans that overlap "bounds", "type" or "bounds
        and type": what differs.
    true, predicted : (type, begin, end) or None
    p_true, p_predicted : float
        Their probabilities; 0 for None.
    text : str
        The tokens around, the spans in brackets; without tokens "".

    Examples
    --------
    >>> from skcrf_sdca.inspection import SpanError
    >>> SpanError(0, "missed", ("PER", 0, 1), None, 0.2, 0.0, "[Ada] met").mistake
    'missed'
    """

    sequence: int
    mistake: str
    true: Span | None
    predicted: Span | None
    p_true: float
    p_predicted: float
    text: str

    @property
    def surprise(self) -> float:
        """How sure the model was of the mistake: p_predicted, or 1 - p_true."""
        return 1.0 - self.p_true if self.predicted is None else self.p_predicted


def span_errors(
    estimator: Any,
    X: Sequences,
    y: Labels,
    *,
    tokens: Iterable[Iterable[str]] | None = None,
    scheme: SpanScheme = "BIO",
    window: int = 4,
) -> list[SpanError]:
    """Return the mistakes of a model in spans, the most certain ones first.

    They show mistakes in the annotation too: these are often among the first.

    Parameters
    ----------
    estimator : CRF or Tagger
        Fitted, with `predict_spans` and `span_proba`.
    X, y : as in the ``fit`` of the estimator
    tokens : list of n lists of T str, default=None
        The words of X, for ``text``.
    scheme : str, default="BIO"
        Of the labels.
    window : int, default=4
        Tokens in the text before and after the spans.

    Returns
    -------
    errors : list of SpanError
        By falling surprise, as the model sees it, and else in the order of X. A true
        span is beside the first wrong one that overlaps it.

    Raises
    ------
    ValueError, TypeError
        If y or `tokens` do not have the lengths of X, or the labels are not of the
        scheme; TypeError if the estimator has no probabilities of spans.
    NotFittedError
        If the estimator is not fitted.

    Examples
    --------
    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca.inspection import span_errors
    >>> words = [["Ada", "met", "Bob"], ["Bob", "ran"]] * 4
    >>> X = [[[word] for word in sentence] for sentence in words]
    >>> y = [["B-P", "O", "B-P"], ["B-P", "O"]] * 4
    >>> crf = SDCACRF(random_state=0).fit(X, y)
    >>> (error,) = span_errors(crf, X[:1], [["B-P", "O", "O"]], tokens=words[:1])
    >>> error.mistake, error.predicted, error.text
    ('false', ('P', 2, 3), 'Ada met [Bob]')
    """
    check_tagger(estimator, "predict_spans", "span_proba")
    X = as_sequence_list(X)
    # It checks X.
    found = estimator.predict_spans(X, scheme=scheme)
    lengths = np.array([_length(x) for x in X], dtype=np.int64)
    y = lists_as_long(named_lists(estimator, y), lengths, "y")
    asked = [extract_spans(list(labels), scheme) for labels in y]
    p_asked = estimator.span_proba(X, asked, scheme=scheme)
    words = [] if tokens is None else checked_tokens(tokens, lengths)
    errors = []
    for i, (own, values, ours) in enumerate(zip(asked, p_asked, found, strict=True)):
        expected = dict(zip(own, values.tolist(), strict=True))
        predicted = {tuple(span[:3]): span[3] for span in ours}
        for true, guess in _pairs(expected, predicted):
            p, q = expected.get(true, 0.0), predicted.get(guess, 0.0)
            text = _context(words[i], (true, guess), window) if words else ""
            error = SpanError(i, _mistake(true, guess), true, guess, p, q, text)
            errors.append(error)
    return sorted(errors, key=lambda error: -error.surprise)


def _length(sequence):
    return sequence.shape[0] if hasattr(sequence, "shape") else len(sequence)


def _pairs(true, predicted):
    """Yield pairs of a true span and a predicted one that overlap, or of one alone."""
    missed = [span for span in true if span not in predicted]
    for span in predicted:
        if span in true:
            continue
        touching = [own for own in missed if own[1] < span[2] and span[1] < own[2]]
        beside = touching[0] if touching else None
        if beside is not None:
            missed.remove(beside)
        yield beside, span
    for span in missed:
        yield span, None


def _mistake(true, predicted):
    if true is None or predicted is None:
        return "missed" if predicted is None else "false"
    return MISTAKES[true[0] == predicted[0], true[1:] == predicted[1:]]


def _context(words, pair, window):
    """Return the words around the spans, and these in brackets."""
    bounds = [span[1:] for span in pair if span is not None]
    begin, end = min(b for b, _ in bounds), max(e for _, e in bounds)
    marked = f"[{joined(words[begin:end])}]"
    before, after = words[max(begin - window, 0) : begin], words[end : end + window]
    return joined([*before, marked, *after])
