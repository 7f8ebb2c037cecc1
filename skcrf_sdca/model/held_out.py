"""Held-out data of a fit: the score of every epoch, `patience`, and the best model.

Owns the score that is taken by default, and the names of the data in messages.
"""

import re
from collections.abc import Iterator
from numbers import Real

import numpy as np

from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.words import in_words, words
from skcrf_sdca.data.tagging_schemes import TAGGING_SCHEMES
from skcrf_sdca.metrics import get_scorer, span_f1_score
from skcrf_sdca.metrics._scorers import SpanScorer
from skcrf_sdca.model.fitted import fitted_format, set_fitted
from skcrf_sdca.solvers.monitor import Observer


def new_held_out(estimator, X, y, training):
    """Return the HeldOut of the arguments ``X_val`` and ``y_val`` of fit, or None.

    Raise ValueError or TypeError if one of them is missing or wrong, or if `patience`
    needs them.
    """
    if (X is None) != (y is None):
        given, missing = words().X_val, words().y_val
        if X is None:
            given, missing = missing, given
        raise ValueError(f"{given} is given without {missing}: pass both, or neither.")
    if X is not None:
        return HeldOut(estimator, X, y, training)
    if estimator.patience is not None:
        raise ValueError(
            f"patience={estimator.patience} needs held-out data: pass "
            f"{words().X_val} and {words().y_val} to fit, or set patience=None."
        )
    return None


class HeldOut:
    """Held-out sequences with their labels, and the score of a model on them."""

    def __init__(self, estimator, X, y, training):
        # Without callbacks: it is no fit that predicts here.
        self.model = type(estimator)(**estimator.get_params(deep=False))
        set_fitted(self.model, training.attributes)
        with _validation_data_names():
            self.X, self.y = _checked(self.model, X, y, training.constraints)
        self.scorer = _scorer_of(self.model)

    def score(self, attributes):
        """Return the score of the model that has these fitted attributes."""
        score = self.scorer(set_fitted(self.model, attributes), self.X, self.y)
        if not isinstance(score, Real) or np.isnan(score):
            raise ValueError(
                "scoring must give a number that can be compared, got a score "
                f"{described(score)}."
            )
        return float(score)


def _validation_data_names():
    """Call the data of checks and metrics as `fit` calls them."""
    y_val = words().y_val
    return in_words(X=words().X_val, y=y_val, y_true=y_val)


def _checked(model, X, y, constraints):
    """Return held-out data as the methods of the model take them at every epoch."""
    try:
        X = X() if callable(X) else X
        X, y = (list(part) if isinstance(part, Iterator) else part for part in (X, y))
        return model._held_out(X, y, constraints)
    except ValueError as error:
        # Some checks of scikit-learn do not say which data they are about.
        names = rf"\b({words().X}|{words().y})\b"
        if re.search(names, str(error)):
            raise
        raise ValueError(f"{words().X}: {error}") from error


def _scorer_of(model):
    if callable(model.scoring):
        return model.scoring
    own = model.scoring is None
    return _validation_data_names()(
        _default_scorer(model) if own else get_scorer(model.scoring)
    )


def _default_scorer(model):
    """Return the F1 of spans if the parameters name a tagging scheme, else accuracy."""
    scheme = getattr(model, "scheme", getattr(model, "transitions", None))
    is_table = not fitted_format(model).boundaries
    if is_table or not isinstance(scheme, str) or scheme not in TAGGING_SCHEMES:
        return type(model).score
    return SpanScorer(span_f1_score, 1, {"scheme": scheme, "zero_division": 0.0})


class BestEpoch(Observer):
    """Add the score on held-out data to each row; stop, and keep the best model.

    The fit ends after ``patience`` epochs without a better score; ``attributes`` are
    then the fitted attributes of the best one, which ``model_now(copy=True)`` returned.
    With None it does not end, and no model is kept.
    """

    def __init__(self, held_out, patience, model_now):
        self.held_out = held_out
        self.patience = patience
        self.model_now = model_now
        self.attributes = {}
        self._best = None

    def end_epoch(self, row):
        """Add the score to the row; return whether the fit is to stop."""
        row["val_score"] = self.held_out.score(self.model_now(copy=False))
        is_better = self._best is None or row["val_score"] > self._best["val_score"]
        if is_better:
            self._best = row
        if self.patience is None:
            return False
        if is_better:
            self.attributes = self.model_now(copy=True)
        return row["epoch"] - self._best["epoch"] >= self.patience
