"""Several CRFs whose marginals are averaged: voting and bagging of sequences."""

from abc import ABCMeta, abstractmethod
from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import ClassifierTags, check_random_state
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.constructors import constructed
from skcrf_sdca._utils.given_estimators import check_tagger
from skcrf_sdca._utils.meta_estimators import SequenceMetaEstimator
from skcrf_sdca._utils.sklearn_private import Interval, validates_parameters
from skcrf_sdca._utils.typing import Labels, RandomState, Sequences
from skcrf_sdca.data.label_encoding import encode_labels, plain_labels, widened
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.data.sequence_lists import as_sequence_list
from skcrf_sdca.metrics import flat_accuracy_score

__all__ = ["SequenceBagging", "SequenceVoting"]


class _MeanOfMarginals(SequenceMetaEstimator, metaclass=ABCMeta):
    """Base: predicts with the mean of the marginals of `estimators_`.

    A subclass fits them by `_jobs`.
    """

    estimators_: list[Any]
    classes_: NDArray[Any]

    @abstractmethod
    def _jobs(self, X, y):
        """Return pairs (estimator, numbers of its sequences, None for all)."""

    def _fit(self, X, y):
        X = as_sequence_list(X)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed.")
        y = list(y)
        if len(X) != len(y):
            raise ValueError(
                f"X has {len(X)} sequences, but y has {len(y)} label lists."
            )
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(_fitted)(estimator, X, y, chosen)
            for estimator, chosen in self._jobs(X, y)
        )
        self.classes_, _ = encode_labels(y, [len(labels) for labels in y])
        self.estimators_ = fitted
        return self

    def predict_proba(self, X: Sequences) -> NDArray[Any]:
        """Return the mean of the marginals of all estimators.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        proba : ndarray of shape (n,)
            An object array of arrays of shape (T, n_labels), columns in the order of
            ``classes_``. Labels that an estimator does not know have 0 there.
        """
        check_is_fitted(self)
        X = as_sequence_list(X)
        labels = plain_labels(self.classes_)
        weights = self._weights()
        total = [0.0] * len(X)
        for estimator, weight in zip(self.estimators_, weights, strict=True):
            columns = [labels.index(k) for k in plain_labels(estimator.classes_)]
            for i, table in enumerate(estimator.predict_proba(X)):
                total[i] += weight * widened(table, columns, len(labels))
        # Rounding may exceed 1.
        cut = (np.minimum(table, 1.0) for table in total)
        return np.fromiter(cut, dtype=object, count=len(total))

    def _weights(self):
        return np.full(len(self.estimators_), 1.0 / len(self.estimators_))

    def predict(self, X: Sequences) -> NDArray[np.object_]:
        """Return the label of largest mean marginal at each position.

        This maximises the expected number of correct labels. Transitions that the
        estimators forbid may occur, since each position is decided alone.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        labels : ndarray of shape (n,)
            An object array of label lists.
        """
        tables = self.predict_proba(X)
        labels = [plain_labels(self.classes_[table.argmax(axis=1)]) for table in tables]
        return np.fromiter(labels, dtype=object, count=len(labels))

    def score(self, X: Sequences, y: Labels) -> float:
        """Return the fraction of correct labels.

        Parameters
        ----------
        X, y : as in `fit`

        Returns
        -------
        accuracy : float
        """
        return flat_accuracy_score(y, self.predict(X))

    def __sklearn_tags__(self):
        """Return the tags: a classifier of sequences."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags()
        return tags


@constructed
class SequenceVoting(_MeanOfMarginals):
    """Let several CRFs vote by the mean of their marginals.

    It is `sklearn.ensemble.VotingClassifier(voting="soft")` for sequences.

    Parameters
    ----------
    estimators : list of tuples
        ``(name, estimator)``, each a CRF or a Pipeline that ends in one, with
        ``predict_proba``. Clones of them are fitted to all sequences.
    weights : array-like of shape (n_estimators,), default=None
        Not negative; by default all count alike.
    n_jobs : int, default=None
        Estimators to fit at the same time.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted clones.
    classes_ : ndarray of shape (n_labels,)
        The labels of y, sorted.

    See Also
    --------
    SequenceBagging : One estimator, on samples of the sequences.

    Examples
    --------
    >>> from skcrf_sdca import LBFGSCRF, SDCACRF
    >>> from skcrf_sdca.selection import SequenceVoting
    >>> from skcrf_sdca.datasets import make_chains
    >>> X, y = make_chains(n_sequences=20, random_state=0)
    >>> crfs = [("chain", SDCACRF(random_state=0)), ("order 2", LBFGSCRF(order=2))]
    >>> vote = SequenceVoting(crfs).fit(X, y)
    >>> vote.predict_proba(X)[0].sum(axis=1).round(6).tolist()[:2]
    [1.0, 1.0]
    """

    estimators: list[tuple[str, Any]]
    _: KW_ONLY
    weights: ArrayLike | None = None
    n_jobs: int | None = None

    def fit(self, X: Sequences, y: Labels) -> Self:
        """Fit all estimators.

        Parameters
        ----------
        X, y : as all estimators take them

        Returns
        -------
        self : SequenceVoting

        Raises
        ------
        ValueError
            If there is no estimator, or not one weight for each; and what ``fit`` of
            the estimators raises.
        TypeError
            If one of them is no estimator with `predict_proba`.
        """
        if not _are_pairs(self.estimators):
            raise ValueError(
                "estimators must be a list of tuples (name, estimator), at least one; "
                f"got {self.estimators!r}"
            )
        for name, estimator in self.estimators:
            check_tagger(
                estimator, "fit", "predict_proba", name=f"estimators: {name!r}"
            )
        weights = self.weights
        if weights is not None:
            weights = np.asarray(weights, dtype=np.float64)
            n = len(self.estimators)
            if weights.shape != (n,) or (weights < 0).any() or not weights.sum() > 0:
                raise ValueError(
                    f"weights must be {n} numbers, one for each estimator, of which "
                    f"none is negative and one is above 0; got {self.weights!r}"
                )
        return self._fit(X, y)

    def _jobs(self, X, y):
        return [(estimator, None) for _, estimator in self.estimators]

    def _weights(self):
        if self.weights is None:
            return super()._weights()
        weights = np.asarray(self.weights, dtype=np.float64)
        return weights / weights.sum()


@constructed
class SequenceBagging(_MeanOfMarginals):
    """Fit clones of a CRF to samples of the sequences, and let them vote.

    It is `sklearn.ensemble.BaggingClassifier` for sequences: whole sequences are drawn.

    Parameters
    ----------
    estimator : estimator
        A CRF or a Pipeline that ends in one, with ``predict_proba``.
    n_estimators : int, default=10
    max_samples : float, default=1.0
        Number of sequences of a sample, as a part of all, in (0, 1].
    bootstrap : bool, default=True
        Whether to draw with replacement.
    n_jobs : int, default=None
        Estimators to fit at the same time.
    random_state : int, RandomState instance or None, default=None
        Determines the samples, and the seeds of the estimators.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted clones.
    estimators_samples_ : list of ndarrays of int
        The numbers of the sequences of each.
    classes_ : ndarray of shape (n_labels,)
        The labels of y, sorted.

    See Also
    --------
    SequenceVoting : Several estimators, on all sequences.

    Examples
    --------
    >>> from skcrf_sdca import LBFGSCRF
    >>> from skcrf_sdca.selection import SequenceBagging
    >>> from skcrf_sdca.datasets import make_chains
    >>> X, y = make_chains(n_sequences=20, random_state=0)
    >>> bag = SequenceBagging(LBFGSCRF(), n_estimators=3, random_state=0).fit(X, y)
    >>> len(bag.estimators_), bag.score(X, y) > 0.5
    (3, True)
    """

    estimator: Any
    n_estimators: int = 10
    _: KW_ONLY
    max_samples: float = 1.0
    bootstrap: bool = True
    n_jobs: int | None = None
    random_state: RandomState = None

    _parameter_constraints = {
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_samples": [Interval(Real, 0, 1, closed="right")],
        "bootstrap": ["boolean"],
        "random_state": ["random_state"],
    }

    @validates_parameters
    def fit(self, X: Sequences, y: Labels) -> Self:
        """Fit clones of the estimator to samples of the sequences.

        Parameters
        ----------
        X, y : as the estimator takes them

        Returns
        -------
        self : SequenceBagging

        Raises
        ------
        ValueError
            What ``fit`` of the estimator raises.
        TypeError
            If it is no estimator with `predict_proba`.
        """
        check_tagger(self.estimator, "fit", "predict_proba")
        return self._fit(X, y)

    def _jobs(self, X, y):
        rng = check_random_state(self.random_state)
        size = max(1, round(self.max_samples * len(X)))
        chosen = [
            np.sort(rng.choice(len(X), size, replace=self.bootstrap))
            for _ in range(self.n_estimators)
        ]
        self.estimators_samples_ = chosen
        return [(_seeded(self.estimator, rng), own) for own in chosen]


def _are_pairs(estimators):
    if not isinstance(estimators, (list, tuple)) or not estimators:
        return False
    return all(isinstance(pair, tuple) and len(pair) == 2 for pair in estimators)


def _seeded(estimator, rng):
    """Return a clone with seeds of its own, if it has any."""
    seeded = clone(estimator)
    names = [n for n in seeded.get_params() if n.split("__")[-1] == "random_state"]
    return seeded.set_params(**{n: int(rng.randint(2**31 - 1)) for n in sorted(names)})


def _fitted(estimator, X, y, chosen):
    """Return a clone that is fitted to some of the sequences, all by default."""
    if chosen is None:
        return clone(estimator).fit(X, y)
    part = X[chosen] if isinstance(X, PackedSequences) else [X[i] for i in chosen]
    return clone(estimator).fit(part, [y[i] for i in chosen])
