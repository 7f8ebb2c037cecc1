"""Checks of estimators and transformers of sequences, for tests of their authors.

`sklearn.utils.estimator_checks.check_estimator` tries an estimator on tables, whose
rows are chains of one item. `sequence_checks` asks the same questions on sequences:
what a clone, a second fit, a pickle, another order or a part of the sequences may
change, and what must raise an error.
"""

import math
import pickle
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from skcrf_sdca._utils.given_estimators import check_given

__all__ = ["SequenceCheck", "sequence_checks"]

# Methods that answer for each sequence of X; those that an estimator has are tried.
ANSWERS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "predict_edge_proba",
    "log_partition",
    "uncertainty",
    "transform",
)

# Answers to a part of X, and those of a second fit, may differ by their rounding.
RELATIVE, ABSOLUTE = 1e-6, 1e-9


class SequenceCheck(NamedTuple):
    """One check of one estimator; call it to run it.

    Parameters
    ----------
    name : str
        The key of the check.
    function : callable
        ``function(estimator, X, y)`` raises AssertionError if the check fails.
    estimator : estimator
        Clones of it are fitted.
    X, y : lists
        Sequences, and their labels or None.
    reason : str, default=None
        Why the check is expected to fail. Then it passes if it fails, and only then.

    Examples
    --------
    >>> from skcrf_sdca import LBFGSCRF
    >>> from skcrf_sdca.datasets import make_chains
    >>> from skcrf_sdca.testing import sequence_checks
    >>> X, y = make_chains(n_sequences=6, random_state=0)
    >>> check = sequence_checks(LBFGSCRF(), X, y)[0]
    >>> print(check)
    LBFGSCRF: clone
    >>> check()
    """

    name: str
    function: Callable[[Any, Any, Any], None]
    estimator: Any
    X: Any
    y: Any
    reason: str | None = None

    def __call__(self) -> None:
        """Run the check.

        Raises
        ------
        AssertionError
            If the check fails, or passes though it is expected to fail.
        Exception
            An error of the estimator, where there should be none.
        """
        arguments = clone(self.estimator), deepcopy(self.X), deepcopy(self.y)
        if self.reason is None:
            return self.function(*arguments)
        try:
            self.function(*arguments)
        except Exception:
            return None
        raise AssertionError(
            f"{self} passes, though it is expected to fail ({self.reason}); take "
            f"{self.name!r} out of expected_failures"
        )

    def __str__(self) -> str:
        """Return the class of the estimator, and the name of the check."""
        return f"{type(self.estimator).__name__}: {self.name}"


def sequence_checks(
    estimator: Any,
    X: Sequence[Any],
    y: Sequence[Any] | None = None,
    *,
    expected_failures: Mapping[str, str] | None = None,
) -> list[SequenceCheck]:
    """Return the checks of an estimator or a transformer of sequences.

    Parameters
    ----------
    estimator : estimator
        Not fitted. Seeds that it has, at any depth, are set to 0.
    X : list of sequences
        At least four, in the form that the estimator takes. Ten short ones are enough,
        and take about a second. One label at least should be in all parts of it.
    y : list of label lists, default=None
        None for a transformer that needs none.
    expected_failures : dict, default=None
        ``{name of a check: reason}``. These must fail.

    Returns
    -------
    checks : list of SequenceCheck

    Raises
    ------
    TypeError
        If the estimator is a class, or has no `fit`.
    ValueError
        If X has fewer than four sequences, or a name in ``expected_failures`` is none
        of a check.

    See Also
    --------
    sklearn.utils.estimator_checks.check_estimator : The checks on tables.

    Notes
    -----
    With pytest, ``@pytest.mark.parametrize("check", sequence_checks(MyCRF(), X, y),
    ids=str)`` before ``def test_my_crf(check): check()``.

    Examples
    --------
    >>> from skcrf_sdca import SequenceVectorizer
    >>> from skcrf_sdca.testing import sequence_checks
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "dogs"}]] * 3
    >>> for check in sequence_checks(SequenceVectorizer(), X):
    ...     check()
    """
    check_given(estimator, "fit")
    if len(X) < 4:
        raise ValueError(f"X has {len(X)} sequences; the checks need at least 4.")
    reasons = dict(expected_failures or {})
    if unknown := set(reasons) - set(CHECKS):
        raise ValueError(
            f"expected_failures has {sorted(unknown)}; the checks are {sorted(CHECKS)}"
        )
    return [
        SequenceCheck(name, function, estimator, X, y, reasons.get(name))
        for name, function in CHECKS.items()
    ]


def _seeded(estimator):
    """Return an estimator with all its seeds set to 0."""
    names = [n for n in estimator.get_params() if n.split("__")[-1] == "random_state"]
    return estimator.set_params(**dict.fromkeys(names, 0))


def _fit(estimator, X, y, **options):
    """Fit a clone, which may stop early."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return _seeded(clone(estimator)).fit(X, y, **options)


def _methods(estimator):
    return [name for name in ANSWERS if callable(getattr(estimator, name, None))]


def _answers(fitted, X):
    """Return the answers of all methods, as lists with an entry for each sequence."""
    found = {name: getattr(fitted, name)(X) for name in _methods(fitted)}
    assert found, f"{fitted} has none of the methods {', '.join(ANSWERS)}"
    return {name: [_plain(one) for one in answer] for name, answer in found.items()}


def _plain(value):
    """Return what an answer holds as numbers, str and lists of them."""
    if sp.issparse(value):
        value = value.toarray()
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        value = sorted(value.items())
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(part) for part in value]
    return value


def _are_close(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_are_close, a, b))
    if isinstance(a, float) and isinstance(b, float):
        both_nan = math.isnan(a) and math.isnan(b)
        return both_nan or math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return a == b


def _check_same(answers, expected, what):
    for name, answer in answers.items():
        assert _are_close(answer, expected[name]), f"{name} gives other answers {what}"


def _raises(function, *arguments):
    """Return whether a call raises an error of the arguments."""
    try:
        function(*arguments)
    except (TypeError, ValueError):
        return True
    return False


def check_clone(estimator, X, y):
    """Check that the constructor keeps its parameters, and does nothing else."""
    again = clone(estimator)
    names = set(estimator.get_params(deep=False))
    set_by_init = {name for name in vars(again) if not name.startswith("_")}
    assert set_by_init <= names, f"__init__ sets {sorted(set_by_init - names)}"
    assert repr(again.get_params()) == repr(estimator.get_params())


def check_fit(estimator, X, y):
    """Check that fit returns self, keeps its parameters, and sets names with "_"."""
    before = repr(_seeded(estimator).get_params(deep=False))
    attributes = set(vars(estimator))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert estimator.fit(X, y) is estimator, "fit must return self"
    after = repr(estimator.get_params(deep=False))
    assert after == before, f"fit changes the parameters from {before} to {after}"
    learnt = set(vars(estimator)) - attributes
    named = [n for n in learnt if not n.startswith("_") and not n.endswith("_")]
    assert not named, f"fit sets {named}, whose names do not end with '_'"


def check_not_fitted(estimator, X, y):
    """Check that before a fit, every method raises NotFittedError."""
    if not get_tags(estimator).requires_fit:
        return
    for name in _methods(estimator):
        try:
            getattr(estimator, name)(X)
        except NotFittedError:
            continue
        raise AssertionError(f"{name} must raise NotFittedError before a fit")


def check_idempotent_fit(estimator, X, y):
    """Check that a second fit to the same data gives the same answers."""
    fitted = _fit(estimator, X, y)
    expected = _answers(fitted, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _check_same(_answers(fitted.fit(X, y), X), expected, "after a second fit")


def check_refit(estimator, X, y):
    """Check that a fit forgets the fit before it."""
    part = len(X) // 2
    fitted = _fit(estimator, X[:part], None if y is None else y[:part])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        again = _answers(fitted.fit(X, y), X)
    _check_same(again, _answers(_fit(estimator, X, y), X), "after a fit to other data")


def check_pickle(estimator, X, y):
    """Check that a pickle gives the same answers, also one of before the fit."""
    fitted = _fit(estimator, X, y)
    expected = _answers(fitted, X)
    copy = pickle.loads(pickle.dumps(fitted))
    _check_same(_answers(copy, X), expected, "from a pickle")
    unfitted = pickle.loads(pickle.dumps(estimator))
    _check_same(_answers(_fit(unfitted, X, y), X), expected, "from a pickle, fitted")


def check_data_unchanged(estimator, X, y):
    """Check that neither a fit nor an answer changes X or y."""
    before = pickle.dumps((X, y))
    fitted = _fit(estimator, X, y)
    assert pickle.dumps((X, y)) == before, "fit changes its data"
    _answers(fitted, X)
    assert pickle.dumps((X, y)) == before, "an answer changes X"


def check_answers_change_nothing(estimator, X, y):
    """Check that an answer sets no public attribute, and changes no other."""
    fitted = _fit(estimator, X, y)
    before = {name for name in vars(fitted) if not name.startswith("_")}
    expected = _answers(fitted, X)
    after = {name for name in vars(fitted) if not name.startswith("_")}
    assert after == before, f"an answer sets {sorted(after - before)}"
    _check_same(_answers(fitted, X), expected, "the second time")


def check_lengths(estimator, X, y):
    """Check that each sequence has an answer, and each item a label."""
    fitted = _fit(estimator, X, y)
    for name, answer in _answers(fitted, X).items():
        assert len(answer) == len(X), f"{name} has {len(answer)} answers for {len(X)}"
    if y is not None and hasattr(fitted, "predict"):
        lengths = [len(labels) for labels in fitted.predict(X)]
        expected = [len(labels) for labels in y]
        assert lengths == expected, "predict must return a label for each item"


def check_permutation(estimator, X, y):
    """Check that other sequences before it do not change the answer for a sequence."""
    fitted = _fit(estimator, X, y)
    order = np.random.default_rng(0).permutation(len(X))
    found = _answers(fitted, [X[i] for i in order])
    expected = {
        name: [answer[i] for i in order] for name, answer in _answers(fitted, X).items()
    }
    _check_same(found, expected, "if the sequences have another order")


def check_subset(estimator, X, y):
    """Check that a sequence alone has the answer that it has among others."""
    fitted = _fit(estimator, X, y)
    alone = [_answers(fitted, X[i : i + 1]) for i in range(len(X))]
    joined = {name: [one[name][0] for one in alone] for name in alone[0]}
    _check_same(joined, _answers(fitted, X), "for one sequence alone")


def check_containers(estimator, X, y):
    """Check that a tuple and a generator of sequences are as good as a list."""
    fitted = _fit(estimator, X, y)
    expected = _answers(fitted, X)
    for name in _methods(fitted):
        method = getattr(fitted, name)
        for given in (tuple(X), (sequence for sequence in X)):
            found = [_plain(one) for one in method(given)]
            container = type(given).__name__
            message = f"{name} of a {container} differs"
            assert _are_close(found, expected[name]), message


def check_empty(estimator, X, y):
    """Check that no sequences have no answers."""
    fitted = _fit(estimator, X, y)
    for name in _methods(fitted):
        answer = getattr(fitted, name)([])
        assert len(answer) == 0, f"{name}([]) has {len(answer)} answers"


def check_wrong_y(estimator, X, y):
    """Check that too few label lists, too few labels in one, and no y are errors."""
    if not get_tags(estimator).target_tags.required:
        return
    cases = {
        "y=None": None,
        "one label list too few in y": y[:-1],
        "one label too few in y": [y[0][:-1], *y[1:]],
    }
    for what, wrong in cases.items():
        fit = _seeded(clone(estimator)).fit
        assert _raises(fit, X, wrong), f"fit must raise ValueError for {what}"


def check_feature_names(estimator, X, y):
    """Check that the columns that a transformer makes have names of their own."""
    fitted = _fit(estimator, X, y)
    if not (hasattr(fitted, "get_feature_names_out") and hasattr(fitted, "transform")):
        return
    shape = getattr(fitted.transform(X)[0], "shape", None)
    if shape is None:
        return
    names = list(fitted.get_feature_names_out())
    assert all(isinstance(name, str) for name in names), "names must be str"
    assert len(set(names)) == len(names), "two features have one name"
    assert len(names) == shape[-1], f"{len(names)} names for {shape[-1]} features"


def check_transform_output(estimator, X, y):
    """Check that a Pipeline whose output is to be pandas gives the same answers."""
    expected = _answers(_fit(estimator, X, y), X)
    pipeline = make_pipeline(clone(estimator)).set_output(transform="pandas")
    found = _answers(_fit(pipeline, X, y), X)
    what = 'with transform_output="pandas"'
    _check_same(found, expected, what)
    with config_context(transform_output="pandas"):
        _check_same(_answers(_fit(estimator, X, y), X), expected, what)


def check_sample_weight(estimator, X, y):
    """Check that equal weights are as no weights."""
    if "sample_weight" not in signature(estimator.fit).parameters:
        return
    fitted = _fit(estimator, X, y)
    weighted = _fit(estimator, X, y, sample_weight=np.ones(len(X)))
    _check_same(_answers(weighted, X), _answers(fitted, X), "with weights of 1")


def check_score(estimator, X, y):
    """Check that a score is one finite number."""
    fitted = _fit(estimator, X, y)
    if y is not None and hasattr(fitted, "score"):
        score = fitted.score(X, y)
        assert np.ndim(score) == 0, "score must return one number"
        assert np.isfinite(score), f"the score is {score}"


CHECKS: dict[str, Callable[[Any, Any, Any], None]] = {
    "clone": check_clone,
    "fit": check_fit,
    "not_fitted": check_not_fitted,
    "idempotent_fit": check_idempotent_fit,
    "refit": check_refit,
    "pickle": check_pickle,
    "data_unchanged": check_data_unchanged,
    "answers_change_nothing": check_answers_change_nothing,
    "lengths": check_lengths,
    "permutation": check_permutation,
    "subset": check_subset,
    "containers": check_containers,
    "empty": check_empty,
    "wrong_y": check_wrong_y,
    "feature_names": check_feature_names,
    "transform_output": check_transform_output,
    "sample_weight": check_sample_weight,
    "score": check_score,
}
