"""Probabilities of labels and of spans that agree with how often these are right."""

from collections.abc import Hashable, Iterable
from copy import copy
from dataclasses import KW_ONLY
from math import exp
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.checked_parameters import Choices
from skcrf_sdca._utils.constructors import constructed
from skcrf_sdca._utils.given_estimators import check_tagger
from skcrf_sdca._utils.last_step import before_last
from skcrf_sdca._utils.meta_estimators import SequenceMetaEstimator
from skcrf_sdca._utils.sklearn_private import validates_parameters
from skcrf_sdca._utils.typing import Labels, Sequences, SpanScheme
from skcrf_sdca.data.label_encoding import label_lists, plain_labels
from skcrf_sdca.data.sequence_lists import as_sequence_list
from skcrf_sdca.data.spans import TYPED, SpanForm, extract_spans, span_rows
from skcrf_sdca.metrics import flat_log_loss

__all__ = ["CalibratedSpans", "fit_temperature", "span_outcomes"]

# Of the temperature over the one of the fit, as logarithms: 1/50 and 50.
_BOUNDS = -3.9, 3.9


def fit_temperature(estimator: Any, X: Sequences, y: Labels) -> Any:
    """Return a copy of a fitted CRF whose probabilities fit held-out sequences.

    This is temperature scaling: the scores of all paths are divided by one number,
    ``temperature_``, with which the label probabilities have the least log loss on X
    and y. The weights and the best path of each sequence stay the same. A temperature
    above that of the fit, 1 for most losses, makes the model less sure.

    Parameters
    ----------
    estimator : CRF or Tagger
        Fitted, on other data than X and y; not changed.
    X, y : as in the ``fit`` of the estimator
        Sequences of other recordings, or other people, than those of the fit. All
        labels are known.

    Returns
    -------
    estimator : object
        All methods with probabilities follow its temperature, as do
        ``decoding="posterior"``, model files and
        :class:`skcrf_sdca.serving.Predictor`. Another fit forgets it.

    Raises
    ------
    TypeError, NotFittedError
        If the estimator is no fitted CRF or Tagger: of a search pass
        ``best_estimator_``.
    ValueError
        If it gives no probabilities, or y does not match X.

    See Also
    --------
    CalibratedSpans : The same for spans.

    Examples
    --------
    >>> from skcrf_sdca import LBFGSCRF
    >>> from skcrf_sdca.datasets import make_chains
    >>> from skcrf_sdca.selection import fit_temperature
    >>> X, y = make_chains(n_sequences=60, random_state=0)
    >>> crf = LBFGSCRF(alpha=1e-4).fit(X[:10], y[:10])    # far too sure
    >>> crf.temperature_
    1.0
    >>> cooler = fit_temperature(crf, X[10:40], y[10:40])
    >>> cooler.temperature_ > 1.0
    True
    >>> cooler.predict(X[40:]).tolist() == crf.predict(X[40:]).tolist()
    True
    """
    check_tagger(estimator, "predict_proba")
    check_is_fitted(estimator)
    X, last = before_last(estimator, as_sequence_list(X))
    if not hasattr(last, "temperature_"):
        raise TypeError(
            f"{type(last).__name__} has no temperature_: pass a CRF, or a Tagger that "
            "ends in one; of a search its best_estimator_."
        )
    y, found = label_lists(y, "y"), copy(last)
    labels = plain_labels(found.classes_)

    def loss(log_ratio):
        found.temperature_ = last.temperature_ * exp(log_ratio)
        return flat_log_loss(y, found.predict_proba(X), labels=labels)

    best = minimize_scalar(loss, bounds=_BOUNDS, method="bounded")
    # The least loss within the bounds may be no better than that of the fit.
    loss(best.x if best.fun < loss(0.0) else 0.0)
    if last is estimator:
        return found
    tagger = copy(estimator)
    tagger.steps = [*estimator.steps[:-1], (estimator.steps[-1][0], found)]
    return tagger


def span_outcomes(
    y_true: Labels,
    spans: Iterable[Iterable[tuple[Hashable, ...]]],
    *,
    scheme: SpanScheme = "BIO",
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the probability of each predicted span, and whether it is right.

    `sklearn.calibration.calibration_curve`, `sklearn.metrics.brier_score_loss` and
    ``sklearn.metrics.log_loss`` take them, in the other order.

    Parameters
    ----------
    y_true : list of n label lists
    spans : list of n lists of (type, begin, end, probability, ...)
        As ``predict_spans`` returns them.
    scheme : str, default="BIO"
        Of the labels.

    Returns
    -------
    probabilities : ndarray of shape (n_spans,)
    is_right : ndarray of bool of shape (n_spans,)
        Whether y_true has a span of this type, begin and end.

    Raises
    ------
    ValueError, TypeError
        If the numbers of sequences differ, a label is not of the scheme, or a span has
        another form: labels have no probability.

    Examples
    --------
    >>> from skcrf_sdca.selection import span_outcomes
    >>> span_outcomes([["B-P", "O"]], [[("P", 0, 1, 0.9), ("Q", 1, 2, 0.3)]])
    (array([0.9, 0.3]), array([ True, False]))
    """
    labels = label_lists(y_true, "y_true")
    lengths = np.array([len(own) for own in labels], dtype=np.int64)
    rows, _, names = span_rows(spans, lengths, _WITH_PROBABILITY)
    true = [set(extract_spans(own, scheme)) for own in labels]
    is_right = [
        (name, begin, end) in true[i]
        for (i, begin, end), (name, _) in zip(rows.tolist(), names, strict=True)
    ]
    probabilities = np.array([p for _, p in names], dtype=np.float64)
    return probabilities, np.array(is_right, dtype=bool)


def _read_outcome(span):
    if len(span) < 4 or not isinstance(span[3], Real):
        raise TypeError("it has no probability")
    *place, name = TYPED.read(span)
    return *place, (name, float(span[3]))


_WITH_PROBABILITY = SpanForm(
    "(type, begin, end, probability), as predict_spans returns it", _read_outcome
)


@constructed
class CalibratedSpans(SequenceMetaEstimator):
    """Predict the spans of a fitted CRF, with calibrated probabilities.

    It is `sklearn.calibration.CalibratedClassifierCV` for the spans of sequences: of
    the spans with probability p, a share of p should be right. The spans and their
    order by probability do not change, except for ties.

    Parameters
    ----------
    estimator : CRF or Tagger
        Fitted, on other data than `fit` gets, and never fitted here.
    method : {"isotonic", "sigmoid"}, default="isotonic"
        A step function, for 1,000 spans or more, or the logistic function of
        a log(p / (1 - p)) + b, for few.
    scheme : str, default="BIO"
        Of the labels.

    Attributes
    ----------
    calibrator_ : IsotonicRegression or LogisticRegression
    n_spans_ : int
        Number of spans that it was fitted to.

    Examples
    --------
    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca.selection import CalibratedSpans
    >>> X = [[["Ada"], ["met"], ["Bob"]], [["Bob"], ["ran"]]] * 4
    >>> y = [["B-P", "O", "B-P"], ["O", "O"]] * 4
    >>> crf = SDCACRF(alpha=0.1, random_state=0).fit(X, y)
    >>> held_out = [["B-P", "O", "O"], ["O", "O"]] * 4
    >>> calibrated = CalibratedSpans(crf).fit(X, held_out)
    >>> calibrated.predict_spans(X[:1])[0][0]
    ('P', 0, 1, 1.0)
    """

    estimator: Any
    _: KW_ONLY
    method: Literal["isotonic", "sigmoid"] = "isotonic"
    scheme: SpanScheme = "BIO"

    _parameter_constraints = {
        "method": [Choices({"isotonic", "sigmoid"})],
        "scheme": [str],
    }

    @validates_parameters
    def fit(self, X: Sequences, y: Labels) -> Self:
        """Fit the calibrator to the spans that are predicted for held-out sequences.

        Parameters
        ----------
        X, y : as in the ``fit`` of the estimator

        Returns
        -------
        self : CalibratedSpans

        Raises
        ------
        ValueError
            If no span, or all or none of the spans are right: there is nothing to
            learn from.
        TypeError, NotFittedError
            If the estimator has no `predict_spans`, or is not fitted.
        """
        check_tagger(self.estimator, "predict_spans")
        spans = self.estimator.predict_spans(as_sequence_list(X), scheme=self.scheme)
        p, is_right = span_outcomes(y, spans, scheme=self.scheme)
        if len(set(is_right.tolist())) < 2:
            raise ValueError(
                f"{is_right.sum()} of the {len(p)} spans that are predicted for X are "
                "right; a calibrator needs some that are right and some that are not. "
                "Pass more held-out sequences"
            )
        inputs = _INPUTS[self.method](p)
        self.calibrator_ = _METHODS[self.method]().fit(inputs, is_right)
        self.n_spans_ = len(p)
        return self

    def predict_spans(
        self, X: Sequences, *, tokens: Iterable[Iterable[str]] | None = None
    ) -> NDArray[Any]:
        """Return the spans of the estimator, with calibrated probabilities.

        Parameters
        ----------
        X : as in `fit`
        tokens : list of n lists of str, default=None
            As for ``predict_spans`` of the estimator.

        Returns
        -------
        spans : ndarray of shape (n,)
            An object array of lists of (type, begin, end, probability), with `tokens`
            of (type, begin, end, probability, text).
        """
        check_is_fitted(self)
        spans = self.estimator.predict_spans(X, scheme=self.scheme, tokens=tokens)
        for i, own in enumerate(spans):
            spans[i] = [
                (*span[:3], p, *span[4:])
                for span, p in zip(own, self._calibrated(own), strict=True)
            ]
        return spans

    def _calibrated(self, spans):
        if not spans:
            return []
        inputs = _INPUTS[self.method](np.array([span[3] for span in spans]))
        if self.method == "isotonic":
            return self.calibrator_.predict(inputs).tolist()
        return self.calibrator_.predict_proba(inputs)[:, 1].tolist()


def _isotonic():
    return IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")


def _sigmoid():
    # Platt's method has no penalty.
    return LogisticRegression(C=1e6)


def _log_odds(p):
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return np.log(p / (1 - p))[:, np.newaxis]


_METHODS = {"isotonic": _isotonic, "sigmoid": _sigmoid}
_INPUTS = {"isotonic": lambda p: p, "sigmoid": _log_odds}
