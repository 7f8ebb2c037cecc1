"""BaseCRF: what every estimator does around its solver.

Validate, encode, fit, predict, marginals, score. A fit computes everything first and
sets its attributes last, all at once: after an error the estimator is as before it.
"""

from abc import ABCMeta
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import ClassifierTags, check_array, check_random_state
from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    StrOptions,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_sample_weight,
    _get_feature_names,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from skcrf_sdca import data as packing
from skcrf_sdca import oracle
from skcrf_sdca._kernels._features import FeatureRows
from skcrf_sdca.callbacks import CallbackBridge, EpochPrinter
from skcrf_sdca.data import PackedSequences
from skcrf_sdca.features import SequenceVectorizer
from skcrf_sdca.model import node_scores
from skcrf_sdca.problem import Problem
from skcrf_sdca.solvers.base import Loop


class BaseCRF(CallbackSupportMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of the estimators: all of them but the parameters and the solver.

    A subclass names its solver and the parameters that the solver takes:

    _solver : type
        Called as ``_solver(problem, rng, state=..., **options)``.
    _solver_options : tuple of str
        Names of the parameters handed on.
    """

    _parameter_constraints: dict = {
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model to labelled sequences.

        Parameters
        ----------
        X : list, tuple, object array or generator of n sequences, or PackedSequences
            A sequence of T items is a list of T dicts (str -> str, number, bool, nested
            dict, list or set, or 1-D array), a list of T lists of str, an array of
            shape (T, n_features), or a scipy sparse matrix of that shape; one kind for
            all. A single array or sparse matrix of shape (n, n_features), with a 1-D y,
            is n chains of one node each: multinomial logistic regression.
        y : list of n lists of T labels, or array-like of shape (n,)
            Labels of one kind: str, int, bool or other sortable, hashable objects.
        sample_weight : array-like of shape (n,), default=None
            Weight of each sequence, not negative. Only ratios count, but for the value
            of ``alpha="auto"``.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError, TypeError
            If X and y do not fit together, hold NaN or infinity, or are of no known
            kind; the message names the argument, the sequence and the item.

        Warns
        -----
        ConvergenceWarning
            If the gap is above tol * P(0) after max_iter epochs.
        """
        self._check_parameters()
        X = packing.as_sequence_list(X)
        kind, data, vectorizer = self._pack(X)
        classes, labels = self._encode(y, data, kind)
        if sample_weight is not None:
            sample_weight = self._check_weight(sample_weight, data)
        problem = Problem(
            data,
            labels,
            len(classes),
            self._resolve_alpha(len(data), sample_weight),
            sample_weight=sample_weight,
            boundaries=kind != packing.TABLE,
            n_jobs=self.n_jobs,
        )
        context = self._init_callback_context(max_subtasks=self.max_iter)
        arguments = {"X": X, "y": y, "metadata": None}
        if sample_weight is not None:
            arguments["metadata"] = {"sample_weight": sample_weight}
        context.call_on_fit_task_begin(estimator=self, **arguments)

        solver = self._new_solver(problem)
        about_data = {
            "classes_": classes,
            "n_features_in_": data.n_features,
            "alpha_": problem.alpha,
            "_input_kind": kind,
        }
        if vectorizer is not None:
            about_data["vectorizer_"] = vectorizer
        if kind == packing.TABLE and (names := _get_feature_names(X)) is not None:
            about_data["feature_names_in_"] = names

        def fitted_attributes():
            return {**about_data, **_attributes_of(solver, loop)}

        observers = [CallbackBridge(self, context, arguments, fitted_attributes)]
        if self.verbose:
            observers.append(EpochPrinter(type(self).__name__))
        loop = Loop(
            solver, max_iter=self.max_iter, tol=self.tol, observers=observers
        ).run()
        self._forget_fit()
        for name, value in fitted_attributes().items():
            setattr(self, name, value)
        if self.warm_start:
            self._warm_state = solver.state()
        context.call_on_fit_task_end(
            estimator=self, **arguments, reconstruction_attributes=dict
        )
        return self

    def predict(self, X):
        """Return the most probable label path of every sequence (Viterbi).

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        y : ndarray of shape (n,)
            An object array of label lists; for one-node chains an array of labels.
        """
        kind, rows, offsets = self._rows(X)
        paths, _ = oracle.viterbi(*self._scores(rows, offsets), n_jobs=self.n_jobs)
        if kind == packing.TABLE:
            return self.classes_[paths]
        return packing.decode_labels(paths, self.classes_, offsets)

    def predict_proba(self, X):
        """Return the probability of every label at every position.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        proba : ndarray of shape (n,)
            An object array of arrays of shape (T, n_labels), in the order of
            ``classes_``; for one-node chains one array of shape (n, n_labels).
        """
        kind, rows, offsets = self._rows(X)
        node, _, _ = oracle.expectations(
            *self._scores(rows, offsets),
            np.zeros(len(offsets) - 1),
            n_jobs=self.n_jobs,
        )
        if kind == packing.TABLE:
            return node
        proba = np.empty(len(offsets) - 1, dtype=object)
        for i in range(len(proba)):
            proba[i] = node[offsets[i] : offsets[i + 1]]
        return proba

    def predict_marginals(self, X):
        """Return the node marginals: another name of `predict_proba`.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        proba : as from `predict_proba`
        """
        return self.predict_proba(X)

    def score(self, X, y, sample_weight=None):
        """Return the share of positions whose label is predicted right.

        Parameters
        ----------
        X, y : as in `fit`
            Labels that were not in `fit` count as wrong.
        sample_weight : array-like of shape (n,), default=None
            Weight of each sequence.

        Returns
        -------
        accuracy : float
        """
        X = packing.as_sequence_list(X)
        kind, rows, offsets = self._rows(X)
        lengths = np.diff(offsets)
        if kind == packing.TABLE:
            y = [[label] for label in column_or_1d(y)]
        labels = packing.encode_known_labels(y, lengths, self.classes_)
        paths, _ = oracle.viterbi(*self._scores(rows, offsets), n_jobs=self.n_jobs)
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, lengths, dtype=np.float64)
            weight = np.repeat(weight, lengths)
        return float(np.average(paths == labels, weights=weight))

    def _check_parameters(self):
        """Raise what `_parameter_constraints` cannot say."""
        for name in ("alpha", "max_iter", "tol"):
            if isinstance(getattr(self, name), bool):
                raise InvalidParameterError(
                    f"The {name!r} parameter of {type(self).__name__} must be a number, "
                    f"not a bool. Got {getattr(self, name)!r} instead."
                )
        if self.alpha != "auto" and not np.isfinite(self.alpha):
            raise InvalidParameterError(
                f"The 'alpha' parameter of {type(self).__name__} must be finite. "
                f"Got {self.alpha!r} instead."
            )

    def _pack(self, X):
        """Return (kind, PackedSequences, fitted SequenceVectorizer or None)."""
        kind = packing.input_kind(X)
        vectorizer = None
        if kind == packing.TABLE:
            rows = check_array(
                X,
                accept_sparse="csr",
                dtype=np.float64,
                order="C",
                estimator=self,
                input_name="X",
            )
            data = PackedSequences(rows, np.arange(rows.shape[0] + 1))
        elif kind in (packing.DICTS, packing.STRINGS):
            vectorizer = SequenceVectorizer()
            data = vectorizer.fit_transform(X)
        else:
            data = (
                X if kind == packing.PACKED else PackedSequences.from_sequences(list(X))
            )
        return kind, data, vectorizer

    def _encode(self, y, data, kind):
        """Return (classes, labels)."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is "
                "None."
            )
        if kind != packing.TABLE:
            return packing.encode_labels(y, data.lengths)
        y = column_or_1d(y, warn=True)
        check_consistent_length(data, y)
        check_classification_targets(y)
        classes, labels = np.unique(y, return_inverse=True)
        return classes, labels.astype(np.int32)

    def _check_weight(self, sample_weight, data):
        weight = _check_sample_weight(
            sample_weight, data, dtype=np.float64, ensure_non_negative=True
        )
        if not weight.sum() > 0:
            raise ValueError("sample_weight is zero for every sequence.")
        return weight

    def _resolve_alpha(self, n_sequences, sample_weight):
        if self.alpha != "auto":
            return float(self.alpha)
        return 1.0 / (n_sequences if sample_weight is None else sample_weight.sum())

    def _new_solver(self, problem):
        options = {name: getattr(self, name) for name in self._solver_options}
        seed = check_random_state(getattr(self, "random_state", 0)).randint(
            2**32, size=4, dtype=np.uint32
        )
        return self._solver(
            problem,
            np.random.default_rng(seed),
            state=getattr(self, "_warm_state", None) if self.warm_start else None,
            **options,
        )

    def _forget_fit(self):
        """Drop the attributes of an earlier fit that this one may not set."""
        for name in ("vectorizer_", "feature_names_in_", "_warm_state"):
            self.__dict__.pop(name, None)

    def _rows(self, X):
        """Validate X for prediction; return (kind, FeatureRows, offsets)."""
        check_is_fitted(self)
        X = packing.as_sequence_list(X)
        kind = packing.input_kind(X, default=self._input_kind)
        if self._input_kind == packing.TABLE:
            rows = validate_data(
                self,
                X,
                accept_sparse="csr",
                dtype=np.float64,
                order="C",
                reset=False,
            )
            data = PackedSequences(rows, np.arange(rows.shape[0] + 1))
        else:
            data = self._pack_like_fit(X, kind)
        if data.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {data.n_features} features, but {type(self).__name__} is "
                f"expecting {self.n_features_in_} features as input."
            )
        return self._input_kind, FeatureRows(data.X), data.offsets

    def _pack_like_fit(self, X, kind):
        if kind == packing.TABLE:
            raise ValueError(
                f"X is a single table, but {type(self).__name__} was fitted on "
                "sequences: wrap a single sequence in a list, [X]."
            )
        if kind == packing.PACKED:
            return X if isinstance(X, PackedSequences) else self._no_sequences()
        if hasattr(self, "vectorizer_"):
            return self.vectorizer_.transform(X)
        if kind != packing.ARRAYS:
            raise TypeError(
                f"X is made of {kind}, but {type(self).__name__} was fitted on arrays."
            )
        return PackedSequences.from_sequences(
            list(X), n_features=self.n_features_in_
        )

    def _no_sequences(self):
        return PackedSequences.from_sequences([], n_features=self.n_features_in_)

    def _scores(self, rows, offsets):
        """Return (node_scores, transition, offsets), as the oracle takes them."""
        blocks = (
            np.ascontiguousarray(self.coef_.T),
            self.intercept_,
            self.start_,
            self.end_,
            self.transition_,
        )
        scores = node_scores(rows, offsets, blocks, n_jobs=self.n_jobs)
        return scores, self.transition_, offsets

    def __sklearn_tags__(self):
        """Return the tags: a classifier of rows, sparse or dense, or of sequences."""
        tags = super().__sklearn_tags__()
        # Not estimator_type="classifier": that would make cv=3 look for strata in
        # ragged y, and fail.
        tags.classifier_tags = ClassifierTags()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.three_d_array = True
        tags.input_tags.dict = True
        tags.input_tags.string = True
        return tags


def _attributes_of(solver, loop):
    """Return the fitted attributes that the solver and its loop determine."""
    model = solver.problem.new_model(solver.model.w.copy())
    history = loop.history()
    return {
        "coef_": model.coef.T,
        "intercept_": model.intercept,
        "start_": model.start,
        "end_": model.end,
        "transition_": model.transition,
        "n_iter_": len(loop.rows),
        "primal_objective_": loop.rows[-1]["primal"],
        "dual_objective_": loop.rows[-1]["dual"],
        "duality_gap_": loop.rows[-1]["gap"],
        "history_": history,
    }
