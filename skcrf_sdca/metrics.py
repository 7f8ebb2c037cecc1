"""Metrics on sequences of labels: by token, by sequence, by span.

Owns the comparison of two lists of label lists and the reading of spans from labels
such as "B-PER". It knows nothing of models: any predictions will do.

"flat" metrics join all sequences and call scikit-learn; "sequence" metrics ask whether
a whole sequence is right; "span" metrics compare spans, as conlleval does.
"""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from functools import lru_cache
from itertools import chain
from operator import eq
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    classification_report,
    f1_score,
    precision_score,
    recall_score,
)
from sklearn.utils import column_or_1d

__all__ = [
    "extract_spans",
    "flat_accuracy_score",
    "flat_classification_report",
    "flat_f1_score",
    "flat_precision_score",
    "flat_recall_score",
    "sequence_accuracy_score",
    "span_f1_score",
    "span_precision_recall_fscore",
]


def flat_accuracy_score(y_true, y_pred, *, sample_weight=None):
    """Return the share of tokens whose label is predicted right.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,), of label lists of shape (T_i,)
        True and predicted labels; sequences may be empty.
    sample_weight : array-like of shape (n,), default=None
        Weight of each sequence, the same for all its tokens.

    Returns
    -------
    accuracy : float
        In [0, 1].

    Raises
    ------
    ValueError
        If the numbers of sequences or the lengths of a sequence differ, or if there
        is no token (of positive weight).
    TypeError
        If an argument is not a list of label lists.

    Examples
    --------
    >>> from skcrf_sdca.metrics import flat_accuracy_score
    >>> flat_accuracy_score([["A", "B", "B"], ["A"]], [["A", "B", "A"], ["A"]])
    0.75
    """
    y_true, y_pred = _check_pair(y_true, y_pred)
    n_right = [sum(map(eq, *pair)) for pair in zip(y_true, y_pred, strict=True)]
    lengths = [len(labels) for labels in y_true]
    weight = _check_sample_weight(sample_weight, len(y_true))
    total = weight @ lengths if lengths else 0.0
    if total == 0:
        raise ValueError("Accuracy is undefined: there is no token to score.")
    return float(weight @ n_right / total)


def flat_precision_score(y_true, y_pred, *, sample_weight=None, **kwargs):
    """Return scikit-learn's ``precision_score`` of all tokens.

    Parameters
    ----------
    y_true, y_pred, sample_weight
        As for `flat_f1_score`.
    **kwargs
        For :func:`sklearn.metrics.precision_score`: `average`, `labels` and so on.

    Returns
    -------
    precision : float or ndarray of shape (n_labels,)

    Raises
    ------
    ValueError, TypeError
        As for `flat_f1_score`.

    Examples
    --------
    >>> from skcrf_sdca.metrics import flat_precision_score
    >>> y_true, y_pred = [["A", "B"], ["B"]], [["B", "B"], ["B"]]
    >>> round(flat_precision_score(y_true, y_pred, labels=["B"], average="micro"), 3)
    0.667
    """
    return _flat(precision_score, y_true, y_pred, sample_weight, **kwargs)


def flat_recall_score(y_true, y_pred, *, sample_weight=None, **kwargs):
    """Return scikit-learn's ``recall_score`` of all tokens.

    Parameters
    ----------
    y_true, y_pred, sample_weight
        As for `flat_f1_score`.
    **kwargs
        For :func:`sklearn.metrics.recall_score`: `average`, `labels` and so on.

    Returns
    -------
    recall : float or ndarray of shape (n_labels,)

    Raises
    ------
    ValueError, TypeError
        As for `flat_f1_score`.

    Examples
    --------
    >>> from skcrf_sdca.metrics import flat_recall_score
    >>> y_true, y_pred = [["A", "B"], ["B"]], [["B", "B"], ["B"]]
    >>> flat_recall_score(y_true, y_pred, average="macro")
    0.5
    """
    return _flat(recall_score, y_true, y_pred, sample_weight, **kwargs)


def flat_f1_score(y_true, y_pred, *, sample_weight=None, **kwargs):
    """Return scikit-learn's ``f1_score`` of all tokens.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,), of label lists of shape (T_i,)
        True and predicted labels; sequences may be empty.
    sample_weight : array-like of shape (n,), default=None
        Weight of each sequence, the same for all its tokens.
    **kwargs
        For :func:`sklearn.metrics.f1_score`: `average`, `labels` (to leave out "O",
        say), `zero_division` and so on.

    Returns
    -------
    f1 : float or ndarray of shape (n_labels,)

    Raises
    ------
    ValueError
        If the numbers of sequences or the lengths of a sequence differ, and what
        scikit-learn raises (no token at all; more than two labels and no `average`).
    TypeError
        If an argument is not a list of label lists.

    Examples
    --------
    >>> from skcrf_sdca.metrics import flat_f1_score
    >>> y_true, y_pred = [["A", "B"], ["B"]], [["B", "B"], ["B"]]
    >>> flat_f1_score(y_true, y_pred, average="weighted", labels=["B"])
    0.8
    """
    return _flat(f1_score, y_true, y_pred, sample_weight, **kwargs)


def flat_classification_report(
    y_true, y_pred, labels=None, *, sample_weight=None, **kwargs
):
    """Return scikit-learn's ``classification_report`` of all tokens.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,), of label lists of shape (T_i,)
        True and predicted labels; sequences may be empty.
    labels : array-like of shape (n_labels,), default=None
        Labels to report, in this order; all of them, sorted, by default.
    sample_weight : array-like of shape (n,), default=None
        Weight of each sequence, the same for all its tokens.
    **kwargs
        For :func:`sklearn.metrics.classification_report`: `digits`, `output_dict`.

    Returns
    -------
    report : str or dict

    Raises
    ------
    ValueError, TypeError
        As for `flat_f1_score`.

    Examples
    --------
    >>> from skcrf_sdca.metrics import flat_classification_report
    >>> y_true, y_pred = [["A", "B"], ["B"]], [["B", "B"], ["B"]]
    >>> report = flat_classification_report(y_true, y_pred, ["B"], output_dict=True)
    >>> report["B"]["recall"]
    1.0
    """
    return _flat(
        classification_report, y_true, y_pred, sample_weight, labels=labels, **kwargs
    )


def sequence_accuracy_score(y_true, y_pred, *, sample_weight=None):
    """Return the share of sequences all of whose labels are predicted right.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,), of label lists of shape (T_i,)
        True and predicted labels. An empty sequence is right: nothing in it is wrong.
    sample_weight : array-like of shape (n,), default=None
        Weight of each sequence.

    Returns
    -------
    accuracy : float
        In [0, 1].

    Raises
    ------
    ValueError
        If the numbers of sequences or the lengths of a sequence differ, or if there
        is no sequence (of positive weight).
    TypeError
        If an argument is not a list of label lists.

    Examples
    --------
    >>> from skcrf_sdca.metrics import sequence_accuracy_score
    >>> sequence_accuracy_score([["A", "B", "B"], ["A"]], [["A", "B", "A"], ["A"]])
    0.5
    """
    y_true, y_pred = _check_pair(y_true, y_pred)
    is_right = [all(map(eq, *pair)) for pair in zip(y_true, y_pred, strict=True)]
    weight = _check_sample_weight(sample_weight, len(y_true))
    if weight.sum() == 0:
        raise ValueError("Accuracy is undefined: there is no sequence to score.")
    return float(np.average(is_right, weights=weight))


class Scheme(NamedTuple):
    """How prefixes of labels delimit spans: strings of one-letter prefixes.

    A span also begins where a label of its type follows "O", another type or the end
    of a span, and it ends where the type changes: as conlleval reads its input, no
    sequence of labels is malformed.
    """

    inside: str  # begin nothing by themselves
    starts: str  # always begin a span
    ends: str  # always end one


SCHEMES = {
    "BIO": Scheme(inside="I", starts="B", ends=""),
    "IOB1": Scheme(inside="I", starts="B", ends=""),
    "BIOES": Scheme(inside="IE", starts="BS", ends="ES"),
    "BILOU": Scheme(inside="IL", starts="BU", ends="LU"),
}


def extract_spans(labels, scheme="BIO"):
    """Return the spans that a sequence of labels describes.

    Spans are read as conlleval reads them, without strictness: "I-X" after "O" or
    after another type begins a span.

    Parameters
    ----------
    labels : array-like of shape (T,), of str
        "O", or a prefix of the scheme with a type as in "B-PER"; "B" alone has type "".
    scheme : {"BIO", "IOB1", "BIOES", "BILOU"}, default="BIO"
        What the prefixes mean. "BIO" (also called IOB2) begins every span with "B",
        "IOB1" only one that touches another of its type: read without strictness
        they agree.

    Returns
    -------
    spans : list of (type, start, stop)
        In order; the labels of a span are ``labels[start:stop]``.

    Raises
    ------
    ValueError
        If the scheme is unknown, or a label does not belong to it.
    TypeError
        If `labels` is not a sequence of str.

    Examples
    --------
    >>> from skcrf_sdca.metrics import extract_spans
    >>> extract_spans(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"])
    [('PER', 0, 2), ('LOC', 3, 4), ('LOC', 4, 5)]
    """
    _check_scheme(scheme)
    return _spans(_label_list(labels, "labels"), scheme)


def span_precision_recall_fscore(
    y_true, y_pred, *, scheme="BIO", types=None, average="micro", zero_division="warn"
):
    """Return precision, recall and F1 of spans, and the number of true spans.

    A predicted span is correct if a true one has the same type, start and stop:

        precision = n_correct / n_predicted,    recall = n_correct / n_true,
        F1 = 2 n_correct / (n_predicted + n_true)

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,), of label lists of shape (T_i,)
        True and predicted labels, see `extract_spans`.
    scheme : {"BIO", "IOB1", "BIOES", "BILOU"}, default="BIO"
        See `extract_spans`.
    types : sequence of str, default=None
        Types to count, in this order; all that occur, sorted, by default.
    average : {"micro", None}, default="micro"
        "micro" counts the spans of all types together, the "overall" of conlleval.
        None gives one value for each type.
    zero_division : {"warn", 0.0, 1.0, np.nan}, default="warn"
        Value of a ratio without a denominator: precision without predicted spans,
        recall without true ones, F1 without either. "warn" is 0.0 with a warning.

    Returns
    -------
    precision, recall, f1 : float, or ndarray of shape (n_types,)
    support : int, or ndarray of shape (n_types,)
        Number of true spans.

    Raises
    ------
    ValueError
        If the numbers of sequences or the lengths of a sequence differ, if an option
        is unknown, or if a label does not belong to the scheme.
    TypeError
        If an argument is not a list of label lists.

    Warns
    -----
    UndefinedMetricWarning
        See `zero_division`.

    Examples
    --------
    >>> from skcrf_sdca.metrics import span_precision_recall_fscore
    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"]]
    >>> y_pred = [["B-PER", "O", "O", "B-LOC"]]
    >>> span_precision_recall_fscore(y_true, y_pred)
    (0.5, 0.5, 0.5, 2)
    >>> precision, _, _, support = span_precision_recall_fscore(
    ...     y_true, y_pred, types=["LOC", "PER"], average=None
    ... )
    >>> precision, support
    (array([1., 0.]), array([1, 1]))
    """
    _check_zero_division(zero_division)
    n = _span_counts(y_true, y_pred, scheme, types, average)
    precision = _ratio("Precision", n.correct, n.predicted, zero_division)
    recall = _ratio("Recall", n.correct, n.true, zero_division)
    f1 = _ratio("F1", 2 * n.correct, n.predicted + n.true, zero_division)
    if average is None:
        return precision, recall, f1, n.true
    return precision.item(), recall.item(), f1.item(), n.true.item()


def span_f1_score(
    y_true, y_pred, *, scheme="BIO", types=None, average="micro", zero_division="warn"
):
    """Return the F1 score of spans, 2 n_correct / (n_predicted + n_true).

    Parameters
    ----------
    y_true, y_pred, scheme, types, average, zero_division
        As for `span_precision_recall_fscore`. Only F1 itself is warned about: without
        predicted spans, but with true ones, it is 0.0 and well defined.

    Returns
    -------
    f1 : float, or ndarray of shape (n_types,)

    Raises
    ------
    ValueError, TypeError
        As for `span_precision_recall_fscore`.

    Warns
    -----
    UndefinedMetricWarning
        If there are neither true nor predicted spans; see `zero_division`.

    Examples
    --------
    >>> from skcrf_sdca.metrics import span_f1_score
    >>> span_f1_score([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]], types=["PER"])
    1.0
    """
    _check_zero_division(zero_division)
    n = _span_counts(y_true, y_pred, scheme, types, average)
    f1 = _ratio("F1", 2 * n.correct, n.predicted + n.true, zero_division)
    return f1 if average is None else f1.item()


class _Counts(NamedTuple):
    """Numbers of spans, ndarrays of shape (n_types,), or (1,) over all types."""

    correct: np.ndarray
    predicted: np.ndarray
    true: np.ndarray


def _span_counts(y_true, y_pred, scheme, types, average):
    _check_scheme(scheme)
    if average not in ("micro", None):
        raise ValueError(f"average must be 'micro' or None, got {average!r}.")
    correct, predicted, true = Counter(), Counter(), Counter()
    for pair in zip(*_check_pair(y_true, y_pred), strict=True):
        true_spans, pred_spans = (_spans(labels, scheme) for labels in pair)
        correct.update(span[0] for span in set(true_spans).intersection(pred_spans))
        predicted.update(span[0] for span in pred_spans)
        true.update(span[0] for span in true_spans)
    if types is None:
        types = sorted(true.keys() | predicted.keys())
    counts = [
        np.array([counter[name] for name in types], dtype=np.int64)
        for counter in (correct, predicted, true)
    ]
    if average == "micro":
        counts = [count.sum(keepdims=True) for count in counts]
    return _Counts(*counts)


def _ratio(name, numerator, denominator, zero_division):
    """Divide; where the denominator is 0, give `zero_division`."""
    undefined = denominator == 0
    value = 0.0 if zero_division == "warn" else float(zero_division)
    if zero_division == "warn" and undefined.any():
        warnings.warn(
            f"{name} is undefined and set to 0.0 where there are no spans to divide "
            "by. Use `zero_division` to choose the value.",
            UndefinedMetricWarning,
            stacklevel=3,
        )
    return np.where(undefined, value, numerator / np.maximum(denominator, 1))


def _spans(labels, scheme):
    spans = []
    current, start = None, 0
    # The final "O" closes a span that reaches the end.
    for t, label in enumerate(chain(labels, ["O"])):
        begins, ends, span_type = _parsed(label, scheme)
        if current is not None and (begins or span_type != current):
            spans.append((current, start, t))
            current = None
        if current is None:
            current, start = span_type, t
        if ends:
            spans.append((current, start, t + 1))
            current = None
    return spans


@lru_cache(maxsize=4096)
def _parsed(label, scheme):
    """Return (begins a span, ends a span, its type or None outside) of a label."""
    if not isinstance(label, str):
        raise TypeError(f"Labels of spans must be str such as 'B-PER', got {label!r}.")
    if label == "O":
        return False, False, None
    prefix, _, span_type = label.partition("-")
    inside, starts, ends = SCHEMES[scheme]
    if len(prefix) != 1 or prefix not in inside + starts:
        known = ", ".join(f"'{letter}-...'" for letter in starts + inside)
        raise ValueError(
            f"Label {label!r} is not of the scheme {scheme!r}: it must be 'O', {known}."
        )
    return prefix in starts, prefix in ends, span_type


def _flat(metric, y_true, y_pred, sample_weight, **kwargs):
    y_true, y_pred = _check_pair(y_true, y_pred)
    if sample_weight is not None:
        sample_weight = np.repeat(
            _check_sample_weight(sample_weight, len(y_true)),
            [len(labels) for labels in y_true],
        )
    flat = (list(chain.from_iterable(y)) for y in (y_true, y_pred))
    return metric(*flat, sample_weight=sample_weight, **kwargs)


def _check_pair(y_true, y_pred):
    """Return both as lists of lists of equal lengths."""
    y_true, y_pred = _label_lists(y_true, "y_true"), _label_lists(y_pred, "y_pred")
    if len(y_true) != len(y_pred):
        raise ValueError(
            f"y_true has {len(y_true)} sequences, but y_pred has {len(y_pred)}."
        )
    for i, (true, pred) in enumerate(zip(y_true, y_pred, strict=True)):
        if len(true) != len(pred):
            raise ValueError(
                f"Sequence {i} has {len(true)} labels in y_true, but {len(pred)} in "
                "y_pred."
            )
    return y_true, y_pred


def _label_lists(y, name):
    return [
        _label_list(labels, f"{name}: sequence {i}")
        for i, labels in enumerate(_label_list(y, name))
    ]


def _label_list(labels, what):
    # A str is iterable, but its characters are not labels.
    if not isinstance(labels, Iterable) or isinstance(
        labels, (str, bytes, Mapping, Set)
    ):
        raise TypeError(
            f"{what} is of type {type(labels).__name__}, but a list is needed: y is a "
            "list of label lists, one for each sequence."
        )
    return list(labels)


def _check_sample_weight(sample_weight, n):
    if sample_weight is None:
        return np.ones(n)
    weight = column_or_1d(sample_weight, dtype=np.float64)
    if len(weight) != n:
        raise ValueError(
            f"sample_weight has {len(weight)} entries, but there are {n} sequences."
        )
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    return weight


def _check_scheme(scheme):
    if scheme not in SCHEMES:
        raise ValueError(f"scheme must be one of {sorted(SCHEMES)}, got {scheme!r}.")


def _check_zero_division(zero_division):
    known = ("warn", 0, 1)
    if not any(zero_division == value for value in known) and not (
        isinstance(zero_division, float) and np.isnan(zero_division)
    ):
        raise ValueError(
            f"zero_division must be 'warn', 0.0, 1.0 or nan, got {zero_division!r}."
        )
