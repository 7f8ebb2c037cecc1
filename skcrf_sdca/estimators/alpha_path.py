"""Fits for a decreasing path of alpha, each one started from the one before."""

from collections.abc import Iterable, Iterator
from numbers import Real
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from skcrf_sdca._utils.typing import Dataset, Labels
from skcrf_sdca.estimators.base import BaseFit, training_data
from skcrf_sdca.estimators.sequences import BaseCRF
from skcrf_sdca.model.fitted import set_input

Estimator = TypeVar("Estimator", bound=BaseFit)


def alpha_path(
    estimator: Estimator,
    X: Dataset,
    y: Labels,
    alphas: Iterable[float],
    *,
    sample_weight: ArrayLike | None = None,
) -> list[Estimator]:
    """Fit an estimator for every alpha, from the largest to the smallest.

    Each fit is a warm start from the state of the one before, which takes fewer oracle
    calls than as many cold fits. Sequences are converted once for all of them.

    Parameters
    ----------
    estimator : SDCACRF, SAGNUSCRF, OEGCRF, LBFGSCRF, SGDCRF, SegmentCRF or GraphCRF
        Cloned, not changed; not a Pipeline. Its ``alpha`` and ``warm_start`` do not
        matter.
    X, y : as in the ``fit`` of the estimator
    alphas : iterable of float
        Strengths of the regularisation, > 0, each once, in any order.
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    path : list of estimators
        One for each alpha, the largest first: fitted, independent of each other, with
        ``warm_start=False`` and without the state of the solver.

    Raises
    ------
    ValueError
        If alphas is empty or holds anything but distinct, positive, finite numbers; and
        what ``fit`` raises.
    TypeError
        If the estimator is not one of the package; and what ``fit`` raises.

    Warns
    -----
    ConvergenceWarning
        For every alpha whose fit ends above its tolerance.

    Notes
    -----
    At a smaller alpha SDCA starts from the mixture of its marginals and the labels that
    has the largest dual, OEG from its parameters, SAG and L-BFGS from their weights. So
    does a ``fit`` with ``warm_start=True`` after a change of alpha.

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
    if not isinstance(estimator, BaseFit):
        raise TypeError(
            "alpha_path takes an estimator of skcrf_sdca itself, got "
            f"{type(estimator).__name__}"
        )
    X = list(X) if isinstance(X, Iterator) else X
    y = list(y) if isinstance(y, Iterator) else y
    attributes = None
    if isinstance(estimator, BaseCRF):
        training = training_data(estimator, X, y, sample_weight)
        # A table packed would be a set of sequences, with weights for start and end.
        X = training.data if training.input_format.boundaries else training.X
        attributes = training.attributes
    path, state = [], None
    for alpha in alphas:
        crf = clone(estimator).set_params(alpha=alpha, warm_start=True)
        crf._warm_state = state
        crf.fit(X, y, sample_weight=sample_weight)
        state = vars(crf).pop("_warm_state")
        if attributes is not None:
            # The attributes of the conversion of X replace those of packed sequences.
            set_input(crf, attributes)
        path.append(crf.set_params(warm_start=False))
    return path


def _decreasing(alphas):
    """Return the alphas as floats, the largest first."""
    values = list(alphas) if np.iterable(alphas) else []
    are_valid = all(
        isinstance(value, Real) and not isinstance(value, bool) and 0 < value < np.inf
        for value in values
    )
    if not values or not are_valid or len(set(values)) < len(values):
        raise ValueError(
            f"alphas must be distinct, positive and finite numbers, at least one; got "
            f"{alphas!r}"
        )
    return sorted(map(float, values), reverse=True)
