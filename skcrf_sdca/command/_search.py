"""`train --search` finds the penalty whose model is best on sentences kept aside."""

import contextlib
import sys
import warnings
from typing import NamedTuple

from sklearn.base import clone

from skcrf_sdca._utils.messages import counted
from skcrf_sdca.estimators.alpha_path import (
    Part,
    SearchBoundWarning,
    best_candidate,
    bound_message,
    candidates,
)
from skcrf_sdca.metrics._scorers import scorer_of_labels

# Without a file of its own, one sentence of so many is kept aside.
KEPT_ASIDE = 10


# The penalty without a search, as alpha times the number of sentences, and l1 ratio.
DEFAULT = 1.0, 0.0

BEYOND = "Compare it with a fit by --alpha, {beyond:g} / n or beyond"


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
            f"--search: {counted(len(X), 'sentence')} are too few; give at least "
            f"{KEPT_ASIDE}, or the sentences to compare with by --dev."
        )
    kept = slice(KEPT_ASIDE - 1, None, KEPT_ASIDE)

    def others(rows):
        return [row for i, row in enumerate(rows) if (i + 1) % KEPT_ASIDE]

    return (others(X), others(y)), (X[kept], y[kept])


def best_penalty(tagger, train, held_out, search, say):
    """Return the candidate whose model is best on held-out sentences; ``say`` each.

    ``search`` is one of SEARCHES of `alpha_path`. It judges by fits that end early. So
    the best one and the default are fitted to the end, and the better is returned;
    SearchBoundWarning if no candidate was beyond it.
    """
    features, crf = tagger[0], clone(tagger[-1])
    crf.set_params(verbose=0, checkpoint=None, warm_start=False)
    X = features.fit(train[0]).transform(train[0])
    metric, scorer = scorer_of_labels(train[1])
    held_out = features.transform(held_out[0]), held_out[1]
    part, tried = Part.of(crf, X, train[1], None, *held_out), []
    del X
    with contextlib.redirect_stdout(sys.stderr):
        for one in candidates(crf, [part], scorer, search=search):
            tried.append(one)
            say(_told(one.strength, one.l1_ratio, metric, one.score))
        last = {best_candidate(tried)[:2]: None, DEFAULT: None}
        for strength, l1_ratio in last:
            score = float(scorer(part.fitted(crf, strength, l1_ratio), *held_out))
            last[strength, l1_ratio] = score
            say(f"{_told(strength, l1_ratio, metric, score)}, fitted to the end")
    best = max(last, key=last.__getitem__)
    if best == best_candidate(tried)[:2] and (message := bound_message(tried, BEYOND)):
        warnings.warn(message, SearchBoundWarning, stacklevel=2)
    return Found(*best, last[best], metric)


def _told(strength, l1_ratio, metric, score):
    """Return a penalty and the score of its model, for a message."""
    return f"{strength:g} / n, l1 ratio {l1_ratio:g}: {metric} {score:.4f}"
