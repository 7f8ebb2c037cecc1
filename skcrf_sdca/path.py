"""Fits for a decreasing path of alpha, each one started from the one before."""

from collections.abc import Iterator
from copy import copy

import numpy as np
from sklearn.base import clone

from skcrf_sdca.kinds import as_sequence_list


def alpha_path(estimator, X, y, alphas, *, sample_weight=None):
    """Fit an estimator for every alpha, from the largest to the smallest.

    Each fit is a warm start from the state of the one before, which takes fewer oracle
    calls than as many cold fits. Dicts and strings are vectorized at every fit: make
    `PackedSequences` of them first, with `SequenceVectorizer`, to do it once.

    Parameters
    ----------
    estimator : SDCACRF, SAGNUSCRF, OEGCRF or LBFGSCRF
        Cloned, not changed. Its ``alpha`` and ``warm_start`` do not matter.
    X, y : as in the ``fit`` of the estimator
    alphas : array-like of shape (n_alphas,)
        Strengths of the regularisation, > 0, in any order.
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    path : list of n_alphas estimators
        Fitted, by decreasing alpha, each on its own; without the state of the solver.

    Raises
    ------
    ValueError
        If alphas is empty or not finite and positive; and what ``fit`` raises.

    Warns
    -----
    ConvergenceWarning
        For every alpha whose fit ends above its tolerance.

    Examples
    --------
    >>> from skcrf_sdca import SDCACRF, alpha_path
    >>> from skcrf_sdca.datasets import make_chains
    >>> X, y = make_chains(n_sequences=30, random_state=0)
    >>> path = alpha_path(SDCACRF(random_state=0), X, y, [0.01, 0.1, 1.0])
    >>> [crf.alpha for crf in path]
    [1.0, 0.1, 0.01]
    """
    alphas = _decreasing(alphas)
    X = as_sequence_list(X)
    y = list(y) if isinstance(y, Iterator) else y
    crf = clone(estimator).set_params(warm_start=True)
    path = []
    for alpha in alphas:
        crf.set_params(alpha=alpha).fit(X, y, sample_weight=sample_weight)
        fitted = copy(crf).set_params(warm_start=False)
        del fitted._warm_state
        path.append(fitted)
    return path


def _decreasing(alphas):
    """Return the alphas as floats, the largest first."""
    values = np.asarray(alphas)
    if values.ndim != 1 or len(values) == 0 or values.dtype.kind not in "iuf":
        raise ValueError(
            f"alphas must be a list of at least one number; got {alphas!r}"
        )
    if not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(f"alphas must be finite and greater than 0; got {alphas!r}")
    return sorted(map(float, values), reverse=True)
