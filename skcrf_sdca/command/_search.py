"""`train --search` finds the penalty whose model is best on sentences kept aside.

alpha is the strength for the mean loss of a sentence, so that the same strength on all
n sentences as on n_part of them is alpha n_part / n: candidates are alpha n.
"""

import contextlib
import sys
from typing import NamedTuple

from sklearn.base import clone

from skcrf_sdca.metrics import flat_accuracy_score, span_f1_score

from ._schemes import scheme_of_readable

# alpha n, the largest first; a search ends where the score has fallen for this many.
STRENGTHS = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
MOST_FALLS = 2
L1_RATIOS = (0.0, 0.5)
# Without a file of its own, one sentence of so many is kept aside.
KEPT_ASIDE = 10
# Fits of the search end at this tolerance, if the final one has no larger one.
TOL = 0.01


class Found(NamedTuple):
    """A candidate, its score and the name of the score."""

    n_alpha: float
    l1_ratio: float
    score: float
    metric: str


def divided(X, y):
    """Return (X, y) to fit on and (X, y) kept aside, of every tenth sentence.

    Raise ValueError if there are too few sentences.
    """
    if len(X) < KEPT_ASIDE:
        raise ValueError(
            f"--search: there are {len(X)} sentences; give at least {KEPT_ASIDE}, or "
            "the sentences to compare with by --dev."
        )
    kept = slice(KEPT_ASIDE - 1, None, KEPT_ASIDE)

    def others(rows):
        return [row for i, row in enumerate(rows) if (i + 1) % KEPT_ASIDE]

    return (others(X), others(y)), (X[kept], y[kept])


def best_penalty(tagger, train, held_out, say):
    """Return the candidate whose model is best on held-out sentences; ``say`` each."""
    features, crf = tagger[0], tagger[-1]
    X = features.fit(train[0]).transform(train[0])
    X_held, y_held = features.transform(held_out[0]), held_out[1]
    metric, score = _score_of(train[1])
    tried = []
    for l1_ratio in L1_RATIOS:
        own = []
        for n_alpha in STRENGTHS:
            candidate = clone(crf).set_params(
                alpha=n_alpha / len(X), l1_ratio=l1_ratio, tol=max(TOL, crf.tol)
            )
            with contextlib.redirect_stdout(sys.stderr):
                candidate.set_params(verbose=0).fit(X, train[1])
            found = score(y_held, candidate.predict(X_held))
            own.append(Found(n_alpha, l1_ratio, found, metric))
            say(f"{n_alpha:g} / n, l1 ratio {l1_ratio:g}: {metric} {found:.4f}")
            best = max(range(len(own)), key=lambda k: own[k].score)
            if len(own) - 1 - best >= MOST_FALLS:
                break
        tried += own
    return max(tried, key=lambda one: one.score)


def _score_of(y):
    """Return the name of the score that fits labels, and its function."""
    scheme = scheme_of_readable(y)
    if scheme is None:
        return "accuracy", flat_accuracy_score

    def score(y_true, y_pred):
        return span_f1_score(y_true, y_pred, scheme=scheme, zero_division=0.0)

    return "span F1", score
