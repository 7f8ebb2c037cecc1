"""Fits for a decreasing path of alpha, and the search for the penalty along such paths.

alpha is the strength for the mean loss of a sequence, so that the same strength on all
n sequences as on n_part of them is alpha n_part / n: a search compares alpha n, with
the sum of the sample weights in place of n if there are some.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY
from itertools import count, pairwise
from numbers import Real
from typing import Any, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.constructors import constructed
from skcrf_sdca._utils.folds import folds_of
from skcrf_sdca._utils.given_estimators import check_given
from skcrf_sdca._utils.last_step import parted
from skcrf_sdca._utils.messages import names_class
from skcrf_sdca._utils.meta_estimators import SequenceMetaEstimator
from skcrf_sdca._utils.sklearn_private import (
    Interval,
    StrOptions,
    safe_indexing,
    validates_parameters,
)
from skcrf_sdca._utils.typing import Dataset, Labels, Scoring, keeps_signature
from skcrf_sdca.data.label_names import named_lists
from skcrf_sdca.data.sequence_lists import as_sequence_list
from skcrf_sdca.estimators.base import (
    BaseFit,
    auto_strength,
    caller_level,
    training_data,
)
from skcrf_sdca.estimators.sequences import BaseCRF
from skcrf_sdca.metrics import get_scorer
from skcrf_sdca.metrics._scorers import scorer_of_labels
from skcrf_sdca.model.fitted import set_input

__all__ = ["CRFCV", "SearchBoundWarning", "alpha_path"]

Estimator = TypeVar("Estimator", bound=BaseFit)

# What a search compares by default: alpha n, over that of alpha="auto", and the elastic
# nets.
STRENGTHS = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
L1_RATIOS = (0.0, 0.5)
# A path ends where the score has fallen so many times in a row.
MOST_FALLS = 2
# Of a search by halving: the epochs of the first round, and that one candidate of so
# many goes on, with so many times the epochs.
FIRST_EPOCHS = 1
KEPT_ONE_OF = 3
# Fits of a search end at this tolerance, if the final one has no larger one.
SEARCH_TOL = 0.01


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
        Cloned, not changed; not a Pipeline. Its ``alpha``, ``warm_start`` and
        ``checkpoint`` do not matter.
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
    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca.selection import alpha_path
    >>> from skcrf_sdca.datasets import make_chains
    >>> X, y = make_chains(n_sequences=30, random_state=0)
    >>> path = alpha_path(SDCACRF(random_state=0), X, y, [0.01, 0.1, 1.0])
    >>> [crf.alpha for crf in path]
    [1.0, 0.1, 0.01]
    """
    alphas = _decreasing(alphas)
    check_given(estimator)
    if not isinstance(estimator, BaseFit):
        raise TypeError(
            "alpha_path takes an estimator of skcrf_sdca itself, got "
            f"{type(estimator).__name__}"
        )
    return list(_steps(estimator, _PathData.of(estimator, X, y, sample_weight), alphas))


class _PathData(NamedTuple):
    """The arguments of the fits of a path, and the attributes that X would give.

    ``auto`` is the alpha n that alpha="auto" stands for.
    """

    X: Any
    y: Any
    sample_weight: Any
    attributes: Any
    auto: float = 1.0

    @classmethod
    def of(cls, estimator, X, y, sample_weight=None):
        """Convert sequences once for all fits."""
        X = list(X) if isinstance(X, Iterator) else X
        y = list(y) if isinstance(y, Iterator) else y
        if not isinstance(estimator, BaseCRF):
            return cls(X, y, sample_weight, None)
        training = training_data(estimator, X, y, sample_weight)
        # A table packed would be a set of sequences, with weights for start and end.
        X = training.data if training.input_format.boundaries else training.X
        auto = auto_strength(estimator, training)
        return cls(X, y, sample_weight, training.attributes, auto)


def _steps(estimator, data, alphas):
    """Yield a fitted estimator for each of decreasing alphas, as `alpha_path`."""
    state = None
    for alpha in alphas:
        crf, state = _fitted(estimator, data, state, alpha=alpha)
        yield crf


def _fitted(estimator, data, state, **params):
    """Return a clone with parameters that was fitted from a state, and its state."""
    crf = clone(estimator).set_params(**params, warm_start=True)
    if "checkpoint" in crf.get_params(deep=False):
        # A file has one state, and that of another alpha starts each fit.
        crf.set_params(checkpoint=None)
    crf._warm_state = state
    crf.fit(data.X, data.y, sample_weight=data.sample_weight)
    state = vars(crf).pop("_warm_state")
    if data.attributes is not None:
        # The attributes of the conversion of X replace those of packed sequences.
        set_input(crf, data.attributes)
    return crf.set_params(warm_start=False), state


class Candidate(NamedTuple):
    """A penalty, and the scores of its models on the held-out parts.

    Attributes
    ----------
    strength : float
        alpha n.
    l1_ratio : float
    scores : tuple of float
    round : int
        Of a search by halving, from 0: later rounds compare better fitted models.
    """

    strength: float
    l1_ratio: float
    scores: tuple[float, ...]
    round: int = 0

    @property
    def score(self) -> float:
        """The mean score."""
        return float(np.mean(self.scores))


class Part(NamedTuple):
    """What the models of a search are fitted on, and what they are scored on.

    The sequences of the fit are converted: what they are made of takes as much memory.

    Attributes
    ----------
    data : _PathData
    X_val, y_val : as in `fit`
    """

    data: _PathData
    X_val: Any
    y_val: Any

    @classmethod
    def of(cls, crf, X, y, sample_weight, X_val, y_val):
        """Convert the sequences of the fits once."""
        return cls(_PathData.of(crf, X, y, sample_weight), X_val, y_val)

    def fitted(self, crf: Any, strength: float, l1_ratio: float) -> Any:
        """Return a clone that was fitted with a penalty."""
        penalty = _penalty(self.data, strength, l1_ratio)
        model, _ = _fitted(crf, self.data, None, **penalty)
        return model


def candidates(
    crf: Any,
    parts: Sequence[Part],
    scorer: Callable[..., float],
    *,
    strengths: Iterable[float] | None = None,
    l1_ratios: Iterable[float] = L1_RATIOS,
    tol: float = SEARCH_TOL,
    search: str = "path",
) -> Iterator[Candidate]:
    """Yield the candidates that a search of `SEARCHES` tries, with their scores."""
    if strengths is not None:
        strengths = _decreasing(strengths, "strengths")
    l1_ratios = list(l1_ratios)
    if not l1_ratios or not all(0.0 <= ratio <= 1.0 for ratio in l1_ratios):
        raise ValueError(
            f"l1_ratios must be numbers in [0, 1], at least one; got {l1_ratios!r}"
        )
    crf = clone(crf).set_params(tol=max(tol, crf.tol))
    data = [part.data for part in parts]
    if strengths is None:
        auto = float(np.mean([own.auto for own in data]))
        strengths = [auto * strength for strength in STRENGTHS]

    def score(models):
        pairs = zip(models, parts, strict=True)
        return tuple(float(scorer(own, part.X_val, part.y_val)) for own, part in pairs)

    yield from SEARCHES[search](crf, data, score, strengths, l1_ratios)


def _along_paths(crf, data, score, strengths, l1_ratios):
    """Yield the candidates of a warm-started path for each l1 ratio.

    A path is left where `has_fallen` says so.
    """
    for l1_ratio in l1_ratios:
        crf.set_params(l1_ratio=l1_ratio)
        paths = [
            _steps(crf, own, [strength / _total(own) for strength in strengths])
            for own in data
        ]
        own = []
        for strength, *models in zip(strengths, *paths, strict=True):
            own.append(Candidate(strength, float(l1_ratio), score(models)))
            yield own[-1]
            if has_fallen(own):
                break


def has_fallen(tried: Sequence[Candidate]) -> bool:
    """Return whether the scores fall, and not only by the noise of the folds.

    Each of the last `MOST_FALLS` scores is below the one before, and the last is below
    the best by more than the standard error of their difference.

    >>> from skcrf_sdca.estimators.alpha_path import Candidate, has_fallen
    >>> def path(*scores):
    ...     return [Candidate(1.0, 0.0, own) for own in scores]
    >>> has_fallen(path((3.0,), (2.0,), (1.0,)))
    True
    >>> has_fallen(path((3.0,), (2.0,), (2.5,)))
    False
    >>> has_fallen(path((3.0, 1.0), (2.7, 1.1), (2.4, 1.2)))
    False
    """
    last = [one.score for one in tried[-MOST_FALLS - 1 :]]
    are_falling = len(last) > MOST_FALLS and all(b < a for a, b in pairwise(last))
    if not are_falling:
        return False
    best = max(tried, key=lambda one: one.score)
    losses = np.subtract(best.scores, tried[-1].scores)
    error = losses.std(ddof=1) / np.sqrt(len(losses)) if len(losses) > 1 else 0.0
    return bool(losses.mean() > error)


def _by_halving(crf, data, score, strengths, l1_ratios):
    """Yield all candidates after few epochs, and the best of each round after more."""
    left = [(strength, ratio) for ratio in l1_ratios for strength in strengths]
    epochs = [FIRST_EPOCHS]
    for number in count():
        found = []
        for strength, ratio in left:
            models = [_after(crf, own, strength, ratio, epochs) for own in data]
            found.append(Candidate(strength, float(ratio), score(models), number))
            del models
            yield found[-1]
        n_kept = len(found) // KEPT_ONE_OF
        if n_kept < 2:
            return
        best = sorted(found, key=lambda one: -one.score)[:n_kept]
        left = [one[:2] for one in best]
        epochs.append(epochs[-1] * KEPT_ONE_OF)


def _after(crf, data, strength, l1_ratio, epochs):
    """Return an estimator after some rounds, of so many epochs each.

    The rounds before are fitted again, from the start: they are a small part of the
    epochs, and the state of each candidate takes as much memory as a fit.
    """
    params = _penalty(data, strength, l1_ratio)
    model, state = None, None
    with warnings.catch_warnings():
        # It is left early on purpose.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for n_epochs in epochs:
            model = None  # Its weights are in memory no longer.
            model, state = _fitted(crf, data, state, max_iter=n_epochs, **params)
    return model


def _penalty(data, strength, l1_ratio):
    return {"alpha": strength / _total(data), "l1_ratio": l1_ratio}


# The order in which penalties are tried, and how long each is fitted.
SEARCHES: Mapping[str, Callable[..., Iterator[Candidate]]] = {
    "path": _along_paths,
    "halving": _by_halving,
}


def best_candidate(tried: Iterable[Candidate]) -> Candidate:
    """Return the best candidate of the last round, the first of equal ones."""
    return max(tried, key=lambda one: (one.round, one.score))


class SearchBoundWarning(UserWarning):
    """The best strength of a search is the largest or the smallest that it tried.

    A better one may lie beyond it: pass more strengths in this direction.

    Examples
    --------
    >>> import warnings
    >>> from skcrf_sdca.selection import SearchBoundWarning
    >>> warnings.simplefilter("ignore", SearchBoundWarning)   # the edge is meant
    """


def bound_message(
    tried: Iterable[Candidate],
    advice: str = "Add strengths {way} to {beyond:g} or beyond",
) -> str | None:
    """Return the text of a SearchBoundWarning, or None if the best is inside.

    A strength whose neighbour has the same score is inside. ``advice`` says how to try
    the alpha n ``beyond`` the bound, in the ``way`` up or down.

    >>> from skcrf_sdca.estimators.alpha_path import Candidate, bound_message
    >>> tried = [Candidate(s, 0.0, (10.0 - s,)) for s in (3.0, 1.0, 0.3)]
    >>> bound_message(tried)[:58]
    'the best alpha n, 0.3, is the smallest of the strengths: a'
    >>> bound_message([*tried, Candidate(0.1, 0.0, (1.0,))])
    """
    tried = list(tried)
    best = best_candidate(tried)
    own = {one.strength: one.score for one in tried if one.l1_ratio == best.l1_ratio}
    strengths = sorted(own)
    at = strengths.index(best.strength)
    neighbour = {0: 1, len(strengths) - 1: -2}.get(at)
    if len(strengths) < 2 or neighbour is None:
        return None
    if own[strengths[neighbour]] == best.score:
        return None
    word, way = ("smallest", "down") if at == 0 else ("largest", "up")
    beyond = best.strength * (0.1 if at == 0 else 10.0)
    return (
        f"the best alpha n, {best.strength:g}, is the {word} of the strengths: a "
        f"{word.replace('est', 'er')} one may be better. "
        f"{advice.format(way=way, beyond=beyond)}"
    )


def _total(data):
    """Return the sum of the sample weights, or the number of sequences."""
    return len(data.y) if data.sample_weight is None else np.sum(data.sample_weight)


@constructed
class CRFCV(SequenceMetaEstimator):
    """CRF whose penalty is found by the score on folds, or on held-out sequences.

    It is `sklearn.linear_model.ElasticNetCV` for sequences. Each fold has a path of
    fits from the strongest penalty to the weakest, each of which starts at the solution
    of the one before, and which ends where the mean score falls twice in a row, by more
    than the standard error of its difference from the best over the folds. Then the
    estimator is fitted to all sequences with the best penalty. An alpha of n_part
    sequences is made one of n: alpha n_part / n.

    It has the methods and fitted attributes of the best estimator, such as
    ``predict_spans`` and ``classes_``.

    Parameters
    ----------
    estimator : CRF or Tagger
        Cloned, not changed: any estimator that `alpha_path` takes, or a Tagger whose
        last step is one.
    strengths : tuple of float, default=None
        Values of alpha n. By default 10, 3, 1, 0.3, 0.1, 0.03 and 0.01 times that of
        ``alpha="auto"``, which is 1 but for recordings. In the terms of CRFsuite, c1 =
        alpha n l1_ratio and c2 = alpha n (1 - l1_ratio) / 2.
    l1_ratios : tuple of float, default=(0.0, 0.5)
        Values of the parameter ``l1_ratio``.
    cv : int, splitter or iterable of (train, test), default=3
        As in scikit-learn, such as ``StratifiedSequenceKFold(3)``. With `groups` in
        `fit` a number is that of the folds of ``GroupKFold``. Not used with ``X_val``
        in `fit`.
    scoring : str or callable, default=None
        A name that :func:`skcrf_sdca.metrics.get_scorer` takes, or a function of
        (estimator, X, y). By default the F1 of spans if the labels can be read in a
        tagging scheme, else the accuracy: the share of the positions of all held-out
        sequences whose label `predict` gives, by the `decoding` of the estimator;
        positions whose label is not known do not count. For probabilities take
        "neg_log_loss".
    search_tol : float, default=0.01
        Tolerance of the fits of the search, if the estimator has no larger one.
    search : {"path", "halving"}, default="path"
        The order in which penalties are tried. "path" goes from strong to weak ones, as
        said above. "halving" fits all of them for one epoch, the best third of these
        for three more, and so on. The first epochs are made again in each round, so
        that no more than one fit is in memory.

    Attributes
    ----------
    best_estimator_ : estimator
        Fitted to all of X.
    best_params_ : dict
        Its ``alpha`` and ``l1_ratio``.
    best_strength_ : float
        alpha n.
    best_score_ : float
        The mean score of the best candidate.
    cv_results_ : dict of ndarrays
        ``strength``, ``l1_ratio``, ``mean_test_score``, ``std_test_score`` and
        ``split0_test_score``, ... of all candidates that were tried, and ``round``, the
        round of a search by halving.
    scorer_ : callable

    See Also
    --------
    skcrf_sdca.selection.alpha_path : The fits of one path.
    sklearn.model_selection.GridSearchCV : Searches over other parameters, with cold
        fits.

    Examples
    --------
    >>> from skcrf_sdca import CRFCV, SDCACRF
    >>> from skcrf_sdca.datasets import load_digit_sequences
    >>> data = load_digit_sequences(n_train=60, n_test=60)
    >>> search = CRFCV(SDCACRF(random_state=0), l1_ratios=(0.0,))
    >>> search = search.fit(data.X_train, data.y_train)
    >>> search.best_strength_ <= 1.0
    True
    >>> search.predict(data.X_test)[0] == search.best_estimator_.predict(data.X_test)[0]
    True
    """

    estimator: Any
    _: KW_ONLY
    strengths: Sequence[float] | None = None
    l1_ratios: Sequence[float] = L1_RATIOS
    cv: Any = 3
    scoring: Scoring | None = None
    search_tol: float = SEARCH_TOL
    search: Literal["path", "halving"] = "path"

    _parameter_constraints = {
        "strengths": ["array-like", None],
        "l1_ratios": ["array-like"],
        "cv": ["cv_object"],
        "scoring": [str, callable, None],
        "search_tol": [Interval(Real, 0, None, closed="left")],
        "search": [StrOptions(set(SEARCHES))],
    }

    @keeps_signature(names_class)
    @validates_parameters
    def fit(
        self,
        X: Dataset,
        y: Labels,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        X_val: Dataset | None = None,
        y_val: Labels | None = None,
    ) -> Self:
        """Find the penalty, and fit the estimator with it.

        Parameters
        ----------
        X, y : as in the ``fit`` of the estimator
        sample_weight : array-like of shape (n,), default=None
            Weight of each sequence.
        groups : array-like of shape (n,), default=None
            Of each sequence, such as the person of a recording: those of one group are
            in one fold.
        X_val, y_val : as X and y, default=None
            Held-out sequences that all candidates are scored on, in place of folds.
            The final fit does not use them.

        Returns
        -------
        self : CRFCV

        Raises
        ------
        ValueError, TypeError
            If strengths are not distinct and positive, if `X_val` comes without
            `y_val` or with `groups`, and what ``fit`` of the estimator raises.

        Warns
        -----
        SearchBoundWarning
            If the best strength is the largest or the smallest.
        """
        X, y = as_sequence_list(X), as_sequence_list(y, name="y")
        weight = None if sample_weight is None else np.asarray(sample_weight)
        scorer = get_scorer(self.scoring or scorer_of_labels(self._label_names(y))[1])
        crf = self._last_step()
        parts = self._parts(crf, X, y, weight, groups, X_val, y_val)
        tried = list(
            candidates(
                crf,
                parts,
                scorer,
                strengths=self.strengths,
                l1_ratios=self.l1_ratios,
                tol=self.search_tol,
                search=self.search,
            )
        )
        best, n = best_candidate(tried), len(y) if weight is None else weight.sum()
        params = {"alpha": best.strength / n, "l1_ratio": best.l1_ratio}
        self._refit(X, y, weight, params)
        self.scorer_, self.best_params_ = scorer, params
        self.best_strength_, self.best_score_ = best.strength, best.score
        self.cv_results_ = _results(tried)
        if message := bound_message(tried):
            warnings.warn(message, SearchBoundWarning, stacklevel=caller_level())
        return self

    def predict(self, X: Dataset) -> NDArray[Any]:
        """Return the labels that the best estimator predicts.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        labels : as the estimator returns them
        """
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    def score(self, X: Dataset, y: Labels) -> float:
        """Return the score that the search compared, of the best estimator.

        Parameters
        ----------
        X, y : as in `fit`

        Returns
        -------
        score : float
        """
        check_is_fitted(self, "best_estimator_")
        return float(self.scorer_(self.best_estimator_, X, y))

    def __getattr__(self, name: str) -> Any:
        """Return a method or a fitted attribute of the best estimator."""
        best = vars(self).get("best_estimator_")
        if best is None or name.startswith("_"):
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}"
                + ("; fit it first" if best is None else "")
            )
        return getattr(best, name)

    def _last_step(self):
        _, crf = parted(self.estimator)
        check_given(crf)
        if not isinstance(crf, BaseFit) or "alpha" not in crf.get_params():
            raise TypeError(
                "estimator must be one of skcrf_sdca that has alpha, or a Tagger that "
                f"ends in one, got {type(crf).__name__}"
            )
        return crf

    def _label_names(self, y):
        """Return label lists by their names, if the estimator has some."""
        return named_lists(self.estimator, y)

    def _parts(self, crf, X, y, weight, groups, X_val, y_val):
        """Return the parts of the search, with the features of their estimator."""
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val must both be given, or none of them.")
        if X_val is not None and groups is not None:
            raise ValueError("groups are for folds; leave out groups, or X_val, y_val.")
        if X_val is not None:
            return [self._part(crf, X, y, weight, X_val, list(y_val))]
        parts = []
        for train, test in folds_of(self.cv, groups).split(X, y, groups):
            own = None if weight is None else weight[train]
            X_train, y_train = (safe_indexing(data, train) for data in (X, y))
            held_out = (safe_indexing(data, test) for data in (X, y))
            parts.append(self._part(crf, X_train, y_train, own, *held_out))
        return parts

    def _part(self, crf, X, y, weight, X_val, y_val):
        """Return a part of the search, for which the steps learn from its X alone."""
        steps, _ = parted(self.estimator)
        if steps is not None:
            steps = clone(steps)
            X, X_val = steps.fit_transform(X, y), steps.transform(X_val)
        return Part.of(crf, X, y, weight, X_val, y_val)

    def _refit(self, X, y, weight, params):
        """Fit the estimator with a penalty to all sequences."""
        prefix = ""
        if isinstance(self.estimator, Pipeline):
            prefix = f"{self.estimator.steps[-1][0]}__"
        best = clone(self.estimator)
        best.set_params(**{f"{prefix}{name}": value for name, value in params.items()})
        given = {} if weight is None else {f"{prefix}sample_weight": weight}
        self.best_estimator_ = best.fit(X, y, **given)


def _results(tried):
    """Return the candidates as columns."""
    scores = np.array([one.scores for one in tried])
    columns = {f"split{k}_test_score": own for k, own in enumerate(scores.T)}
    return {
        "strength": np.array([one.strength for one in tried]),
        "l1_ratio": np.array([one.l1_ratio for one in tried]),
        "mean_test_score": scores.mean(axis=1),
        "std_test_score": scores.std(axis=1),
        "round": np.array([one.round for one in tried]),
        **columns,
    }


def _decreasing(alphas, name="alphas"):
    """Return strengths, called `name`, as floats, the largest first."""
    values = list(alphas) if np.iterable(alphas) else []
    are_valid = all(
        isinstance(value, Real) and not isinstance(value, bool) and 0 < value < np.inf
        for value in values
    )
    if not values or not are_valid or len(set(values)) < len(values):
        raise ValueError(
            f"{name} must be distinct, positive and finite numbers, at least one; got "
            f"{alphas!r}"
        )
    return sorted(map(float, values), reverse=True)
