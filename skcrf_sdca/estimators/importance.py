"""How much of a score depends on each group of features, by permuting their values."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.given_estimators import check_tagger
from skcrf_sdca._utils.last_step import before_last
from skcrf_sdca._utils.typing import Labels, RandomState, Sequences
from skcrf_sdca.data.packed import PackedSequences

__all__ = ["group_importance"]


def group_importance(
    estimator: Any,
    X: Sequences,
    y: Labels,
    *,
    groups: Callable[[str], str] | None = None,
    scoring: Callable[[Any, Any, Any], float] | None = None,
    n_repeats: int = 5,
    random_state: RandomState = None,
) -> Bunch:
    """Return how much the score falls if a group of features is shuffled.

    It is `sklearn.inspection.permutation_importance` for sequences. All features of a
    group, such as "word:the", "word:cat" ..., are taken from another position, drawn at
    random from all positions of X; the other features stay. The model is not fitted
    again.

    Parameters
    ----------
    estimator : CRF, or Pipeline that ends in one
        Fitted.
    X, y : as in the ``fit`` of the estimator
        Held-out data: on training data the importances are those for the fit.
    groups : callable, default=None
        ``groups(name)`` returns the group of a feature. By default the name up to the
        first ":" or "=", which is the key of a dict and the name of a template.
        Features without names are called "x0", "x1" ...
    scoring : callable, default=None
        ``scoring(estimator, X, y)``, such as those of ``skcrf_sdca.metrics``. By
        default the accuracy, ``estimator.score``.
    n_repeats : int, default=5
        Permutations of each group.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    result : Bunch
        ``groups``, a list of n_groups names in the order of the features;
        ``importances`` of shape (n_groups, n_repeats), score of X minus score with the
        group shuffled; ``importances_mean`` and ``importances_std`` of shape
        (n_groups,); and the ``score`` of X.

    Notes
    -----
    A group is not important if others say the same: of two equal groups each has 0.

    Examples
    --------
    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca.inspection import group_importance
    >>> X = [[{"word": w, "length": 1.0} for w in "abba"]] * 8
    >>> y = [[w.upper() for w in "abba"]] * 8
    >>> crf = SDCACRF(random_state=0).fit(X, y)
    >>> found = group_importance(crf, X, y, random_state=0)
    >>> found.groups
    ['word', 'length']
    >>> found.importances_mean[1].item()
    0.0
    """
    check_tagger(estimator, "score")
    check_is_fitted(estimator)
    packed, crf = _packed_for(estimator, X)
    names = packed.feature_names
    names = [f"x{j}" for j in range(packed.X.shape[1])] if names is None else names
    numbers: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        numbers.setdefault((groups or _key)(name), []).append(j)
    score = scoring or (lambda crf, X, y: crf.score(X, y))
    rng = check_random_state(random_state)
    best = score(crf, packed, y)
    importances = np.empty((len(numbers), n_repeats))
    for row, columns in zip(importances, numbers.values(), strict=True):
        for repeat in range(n_repeats):
            row[repeat] = best - score(crf, _shuffled(packed, columns, rng), y)
    return Bunch(
        groups=list(numbers),
        importances=importances,
        importances_mean=importances.mean(axis=1),
        importances_std=importances.std(axis=1),
        score=best,
    )


def _key(name):
    return re.split("[:=]", name, maxsplit=1)[0]


def _packed_for(estimator, X):
    """Return X as PackedSequences, and the estimator that takes them."""
    X, estimator = before_last(estimator, X)
    vectorizer = getattr(estimator, "vectorizer_", None)
    if isinstance(X, PackedSequences):
        return X, estimator
    if vectorizer is not None:
        return vectorizer.transform(X), estimator
    return PackedSequences.from_sequences(X), estimator


def _shuffled(packed, columns, rng):
    """Return packed sequences with some columns of another position."""
    order = rng.permutation(packed.X.shape[0])
    if sp.issparse(packed.X):
        inside = np.zeros(packed.X.shape[1])
        inside[columns] = 1.0
        rows = packed.X @ sp.diags_array(1.0 - inside)
        rows = sp.csr_array(rows + (packed.X @ sp.diags_array(inside))[order])
    else:
        rows = packed.X.copy()
        rows[:, columns] = packed.X[np.ix_(order, columns)]
    names = packed.feature_names
    return PackedSequences(rows, packed.offsets, feature_names=names)
