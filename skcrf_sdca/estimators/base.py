"""BaseCRF: what every estimator does around its solver.

A fit computes everything first and sets its attributes last, all at once: after an
error the estimator is as before it. The methods of a fitted estimator are in
prediction.py.
"""

import sys
import warnings
from abc import ABCMeta
from collections.abc import Callable, Iterator
from functools import partial
from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import ClassifierTags

from skcrf_sdca._utils.messages import names_class
from skcrf_sdca._utils.random import as_generator
from skcrf_sdca._utils.sklearn_private import (
    Interval,
    InvalidParameterError,
    StrOptions,
    validates_parameters,
)
from skcrf_sdca._utils.typing import Labels, Sequences, keeps_signature
from skcrf_sdca._version import VersionStamped
from skcrf_sdca.data.containers import as_sequence_list
from skcrf_sdca.data.label_runs import NoChainsWarning, no_chains_message
from skcrf_sdca.data.tagging_schemes import TAGGING_SCHEMES
from skcrf_sdca.estimators.callbacks import CallbackBridge, EpochPrinter
from skcrf_sdca.estimators.choice import advice
from skcrf_sdca.estimators.compression import TrimmingMixin
from skcrf_sdca.estimators.edge_features import numbers_of
from skcrf_sdca.estimators.fitted import check_fitted
from skcrf_sdca.estimators.held_out import BestEpoch, new_held_out
from skcrf_sdca.estimators.inspection import InspectionMixin
from skcrf_sdca.estimators.prediction import PredictionMixin
from skcrf_sdca.estimators.prior import Prior
from skcrf_sdca.estimators.starting_model import starting_weights
from skcrf_sdca.estimators.validation import training_data
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.metrics import SCORERS
from skcrf_sdca.objective.costs import cost_matrix
from skcrf_sdca.objective.losses import (
    LOSSES,
    ONLINE_LOSSES,
    names_with_cost,
    new_loss,
)
from skcrf_sdca.objective.penalties import PENALTIES
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.objective.targets import PartialLabels, SoftLabels
from skcrf_sdca.solvers.averaged import Averaged
from skcrf_sdca.solvers.base import check_needs, missing_needs
from skcrf_sdca.solvers.cccp import CCCP
from skcrf_sdca.solvers.dual import DualSolver
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.proximal import PROVIDED, ProximalPoint, accelerates
from skcrf_sdca.structures import STRUCTURES
from skcrf_sdca.structures.chain.constraints import FROM_DATA
from skcrf_sdca.structures.chain.observed import ObservedPairs
from skcrf_sdca.structures.chain.tuple_structure import TupleChain

# Of a weight in a sparse array: the number, and the index of its feature.
BYTES_OF_SPARSE = 12

_INSIDE = ("skcrf_sdca.", "sklearn.")


class BaseCRF(
    PredictionMixin,
    InspectionMixin,
    TrimmingMixin,
    VersionStamped,
    CallbackSupportMixin,
    BaseEstimator,
    metaclass=ABCMeta,
):
    """Base of the estimators: all of them but the parameters and the solver.

    A subclass names its solver and the parameters that the solver takes:

    _solver : type
        Called as ``_solver(problem, rng, state=..., **options)``.
    _solver_options : tuple of str
        Names of the parameters handed on.
    _other_solvers : tuple of (type, tuple of str)
        The same of more solvers, for problems that ``_solver`` cannot take.
    _monitor, _printer : type
        Subclasses of FitMonitor and EpochPrinter, for fits with other figures.
    _keeps_forbidden : bool
        Whether forbidden transitions have weights, of 0, see `Structure`.
    _takes_prior : bool
        Whether there is an objective, for `prior` to enter.
    _structure, _penalty : str
        Keys of `STRUCTURES` and `PENALTIES`; the latter are called with `l1_ratio` and
        the temperature of the loss.
    """

    _keeps_forbidden: ClassVar[bool] = False
    _takes_prior: ClassVar[bool] = True
    _structure = "chain"
    _penalty = "elastic_net"
    _monitor = FitMonitor
    _printer = EpochPrinter
    _other_solvers: ClassVar[tuple[tuple[type, tuple[str, ...]], ...]] = ()

    vectorizer_: SequenceVectorizer

    _parameter_constraints: ClassVar[dict] = {
        "alpha": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "scoring": [StrOptions(set(SCORERS)), callable, None],
        "loss": [StrOptions(LOSSES.keys())],
        "temperature": [Interval(Real, 0, None, closed="neither")],
        "margin": [Interval(Real, 0, None, closed="left")],
        "cost": ["array-like", dict, None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "features": [StrOptions({"all", "observed"})],
        "min_count": [Interval(Real, 0, None, closed="neither"), None],
        "edge_features": ["array-like", StrOptions({"all"}), None],
        "order": [Interval(Integral, 1, None, closed="left")],
        "transitions": [StrOptions({*TAGGING_SCHEMES, *FROM_DATA}), "array-like", None],
        "label_names": [list, tuple, dict, None],
        "unknown_label": "no_validation",
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    @keeps_signature(names_class)
    @validates_parameters
    @keeps_signature(with_callbacks)
    def fit(
        self,
        X: Sequences,
        y: Labels,
        sample_weight: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
        *,
        X_val: Sequences | Callable[[], Sequences] | None = None,
        y_val: Labels | None = None,
        init: "BaseCRF | None" = None,
        prior: "BaseCRF | None" = None,
    ) -> Self:
        """Fit the model to labelled sequences.

        Parameters
        ----------
        X : list, tuple, object array or generator of n sequences, or PackedSequences
            A sequence of T items is a list of T dicts (str -> str, number, bool, nested
            dict, list or set, or 1-D array), a list of T lists of str, an array of
            shape (T, n_features), a data frame or scipy sparse matrix of that shape, or
            a 1-D array of T floats, one feature; all sequences have the same input
            format, and all frames the same columns in the same order. A table, a single
            array, data frame or sparse matrix of shape (n_rows, n_features), with a 1-D
            y, is cut into sequences by `lengths`; without them it is n_rows chains of
            one node each: multinomial logistic regression.
        y : list of n lists of T labels, or array-like of shape (n_rows,)
            Labels of one type: str, int, bool or other sortable, hashable objects;
            floats must be whole numbers. None, and the parameter `unknown_label`, stand
            for a label that is not known, a set of labels for one of these, and a dict
            {label: probability} for a soft label. Beside PackedSequences also one
            array with the labels of all positions.
        sample_weight : array-like of shape (n,), default=None
            Weight of each sequence, not negative. Only ratios count, but for the value
            of ``alpha="auto"``.
        lengths : array-like of int of shape (n,), default=None
            If X is one table, the number of rows of each sequence in it, in their
            order, as in hmmlearn. They sum to n_rows.
        X_val, y_val : as X and y, default=None
            Held-out data. The model of every epoch is scored on them, see `scoring`;
            the scores are ``history_["val_score"]``. Unless `patience` is set, the
            fit is the same as without them. Labels that are not in y count as wrong.
            X_val may be a function of no argument that returns the sequences. With
            `lengths`, an X_val that is one table is one sequence; if it holds several,
            pass ``PackedSequences.from_lengths(X_val, lengths_val)``.
        init : estimator, default=None
            A fitted CRF to start from, for example a `PassiveAggressiveCRF` or a model
            of another alpha. Features and labels are matched by name, features without
            names by number; what `init` does not know starts at 0. Only the way to the
            solution changes: the objective and its certificate stay the same.
        prior : estimator, default=None
            A fitted CRF that the weights shall stay near, for example of another domain
            with more data [1]_. With its weights w_0 the fit minimises::

                P(w) = alpha r(w - w_0) + 1/n sum_i L_i(w)

            where r is the penalty: ``1/2 ||w - w_0||^2`` for L2. The objectives, the
            gap and the tolerance are those of this P. The larger alpha, the nearer the
            weights are to w_0. The model has the labels and features of both: features
            that X lacks keep their weights, and what `prior` does not know has w_0 = 0.
            Features are matched as for `init`; with packed X, features that X does not
            know are left out. With ``transitions=None`` what `prior` forbids stays
            forbidden, unless y has it. "observed" and "open" allow what `prior` allows
            too. A scheme, a mask or a list of pairs decides alone. If `prior` has
            another temperature, its scores count, and not its probabilities. `prior` is
            not changed.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError, TypeError
            If X, y and `lengths` do not fit together, X or y has NaN or infinity or no
            known format, or y breaks ``transitions``; the message names the argument,
            the sequence and the item. The same for X_val and y_val, of which one alone
            is an error. ValueError or TypeError if `init` is not a fitted CRF with
            features of the same kind, if ``warm_start=True`` has a state already, and
            for a solver that does not start from weights: those of ``loss="hinge"``, of
            unknown labels, and of `PassiveAggressiveCRF`. The same for a `prior` that
            is not a fitted CRF with the input format of X, for ``warm_start=True``
            with a `prior`, and for `PassiveAggressiveCRF`, which has no objective.

        Warns
        -----
        ConvergenceWarning
            If the gap is above tol * primal after max_iter epochs. A fit that
            `patience` ends does not warn.
        NoChainsWarning
            If X is a table without `lengths`, and long runs of equal labels in y
            suggest that it is a recording whose rows follow each other.

        References
        ----------
        .. [1] Chelba, Acero, "Adaptation of maximum entropy capitalizer: little data
           can help a lot", Computer Speech and Language 20, 2006.

        Examples
        --------
        >>> from skcrf_sdca import SDCACRF
        >>> X = [[{"word": "the"}, {"word": "Rhine"}], [{"word": "Basel"}]]
        >>> y = [["O", "LOC"], ["LOC"]]
        >>> crf = SDCACRF(random_state=0).fit(X, y)
        >>> bool(crf.duality_gap_ <= crf.gap_target_)
        True

        One table with the rows of two sequences:

        >>> table, labels = [[0.1], [0.3], [2.1], [0.2], [1.9]], [0, 0, 1, 0, 1]
        >>> crf = SDCACRF(random_state=0).fit(table, labels, lengths=[3, 2])
        >>> crf.predict(table, lengths=[3, 2])
        array([0, 0, 1, 0, 1])

        Adapted to another domain, in which there are other words and one label more:

        >>> news = SDCACRF(random_state=0).fit(X, y)
        >>> emails = [[{"word": "dear"}, {"word": "Ann"}]]
        >>> crf = SDCACRF(random_state=0).fit(emails, [["O", "PER"]], prior=news)
        >>> crf.classes_.tolist(), crf.n_features_in_
        (['LOC', 'O', 'PER'], 5)
        """
        X = as_sequence_list(X)
        y = list(y) if isinstance(y, Iterator) else y
        near = None if prior is None else self._checked_prior(prior)
        training = training_data(self, X, y, sample_weight, lengths, near)
        if not training.input_format.boundaries and (
            message := no_chains_message(training.labels)
        ):
            warnings.warn(message, NoChainsWarning, stacklevel=caller_level())
        if init is not None or prior is not None:
            self._check_pairs_only("init and prior are")
        held_out = new_held_out(self, X_val, y_val, training)
        weights = None if near is None else near.weights(training)
        problem = self._new_problem(training, weights)
        first = None if init is None else starting_weights(init, training, problem)
        if first is not None and prior is not None:
            first -= starting_weights(prior, training, problem, "prior")
        solver = self._new_solver(problem)
        if init is not None:
            self._check_no_state()
            solver.start_at(first)
        given = {"sample_weight": sample_weight, "lengths": lengths}
        metadata = {name: v for name, v in given.items() if v is not None} or None
        data = {"X": X, "y": y, "metadata": metadata}
        return self._run(
            solver, training.attributes, prior=weights, held_out=held_out, **data
        )

    def _run(
        self,
        solver,
        attributes,
        *,
        prior=None,
        held_out=None,
        observers=(),
        **arguments,
    ):
        """Run a solver to its end, and set the fitted attributes.

        Parameters
        ----------
        solver : Solver
        attributes : dict
            Fitted attributes that are known before the run.
        prior : PriorWeights, default=None
            They are added to the weights of the solver.
        held_out : HeldOut, default=None
            Scores the model of every epoch.
        observers : iterable of Observer, default=()
            They follow the run too, after the callbacks and ``verbose``.
        **arguments
            ``X``, ``y`` and ``metadata``, as callbacks take them.

        Returns
        -------
        self : object
        """
        context = self._init_callback_context(max_subtasks=self.max_iter)
        context.call_on_fit_task_begin(estimator=self, **arguments)
        monitor = self._monitor(solver, max_iter=self.max_iter, tol=self.tol)

        def all_of(found):
            return {**attributes, **(found if prior is None else prior.added_to(found))}

        def attributes_now():
            # A copy, since the solver continues to change its weights.
            return all_of(fit_attributes(monitor, copy=True))

        def model_now(*, copy):
            return all_of(model_attributes(monitor, copy=copy))

        best = held_out and BestEpoch(held_out, self.patience, model_now)
        if best:
            # First, since the others see the score that it adds.
            monitor.observers.append(best)
        bridge = CallbackBridge(self, context, arguments, attributes_now)
        monitor.observers.append(bridge)
        if self.verbose:
            printer = self._printer(type(self).__name__, self.tol)
            monitor.observers.append(printer)
        monitor.observers += observers
        monitor.run()
        own = self._attributes_of_run(solver)
        kept = best.attributes if best else {}
        self._set_fitted({**all_of(fit_attributes(monitor)), **kept, **own})
        if message := self._message_of(monitor):
            warnings.warn(message, ConvergenceWarning, stacklevel=caller_level())
        context.call_on_fit_task_end(
            estimator=self, **arguments, reconstruction_attributes=dict
        )
        return self

    def _message_of(self, monitor):
        """Return the warning of a fit that ended above its target, or None."""
        message = monitor.convergence_message()
        return message and message + advice(monitor.solver)

    def _attributes_of_run(self, solver):
        """Return the fitted attributes that only some of the estimators have."""
        if not self.warm_start:
            return {}
        structure = solver.problem.structure
        return {
            "_warm_state": {
                **solver.state(),
                "constraints": structure.constraints,
                "pairs": structure.pairs,
            }
        }

    def _checked_prior(self, model):
        """Return the argument `prior` as a Prior."""
        if not self._takes_prior:
            raise ValueError(
                f"prior is not taken by {type(self).__name__}, which has no objective; "
                "set prior=None, or call partial_fit of a copy of the prior"
            )
        if self.warm_start:
            raise ValueError(
                "prior is not taken with warm_start=True, whose state is that of a fit "
                "without one; set warm_start=False"
            )
        return Prior(model)

    def _check_pairs_only(self, what):
        """Raise ValueError if the parameters ask for weights of label tuples."""
        order = getattr(self, "order", 1)
        if order != 1 or getattr(self, "edge_features", None) is not None:
            raise ValueError(
                f"{what} not possible with order={order} and edge features; set "
                "order=1 and edge_features=None"
            )

    def _check_no_state(self):
        """Raise ValueError for `init` beside the state of a warm start."""
        if self.warm_start and getattr(self, "_warm_state", None) is not None:
            raise ValueError(
                "init and warm_start=True both say where to start; leave out init, or "
                "set warm_start=False"
            )

    def _set_fitted(self, fitted):
        """Replace the fitted attributes by others, all at once; return self.

        An interrupt finds the old fit or the new one.
        """
        names = "_feature_names", "feature_names_in_"
        tuples = "higher_transitions_", "edge_coef_"
        dropped = "vectorizer_", "_warm_state", "n_visits_", "loss_", *names, *tuples
        kept = {name: v for name, v in vars(self).items() if name not in dropped}
        self.__dict__ = {**kept, **fitted}
        return self

    def _validate_params(self):
        """Raise InvalidParameterError; called by scikit-learn before `fit`."""
        check_finite_numbers(self)
        super()._validate_params()

    def _new_problem(self, training, prior=None, *, alpha=None, keeps_forbidden=None):
        """Return the problem of the parameters, but for others that are not None.

        ``prior`` are PriorWeights.
        """
        if keeps_forbidden is None:
            keeps_forbidden = self._keeps_forbidden
        name, own_options = self._structure_options(training)
        structure = STRUCTURES[name]
        loss = self._new_loss(training)
        penalty = PENALTIES[self._penalty](self.l1_ratio, loss.scale)
        parts = structure, loss, penalty, PROVIDED[self._acceleration]
        check_needs(self._solver_of(*parts)[0], *parts)
        n_labels = len(training.attributes["classes_"])
        chains = structure(
            training.data,
            n_labels,
            pairs=self._pairs(training, n_labels),
            boundaries=training.input_format.boundaries,
            constraints=training.constraints,
            keeps_forbidden=keeps_forbidden,
            n_jobs=self.n_jobs,
            **own_options,
        )
        if loss.cost is not None:
            loss = loss._replace(cost=chains.cost_of_states(loss.cost))
        if prior is not None:
            chains.fixed = prior.fixed_scores(chains, loss.scale)
        return Problem(
            chains,
            self._targets(training, chains),
            self.alpha if alpha is None else alpha,
            sample_weight=training.sample_weight,
            loss=loss,
            penalty=penalty,
        )

    def _structure_options(self, training):
        """Return the key of the structure, and the parameters that it alone takes."""
        order = getattr(self, "order", 1)
        edge_features = getattr(self, "edge_features", None)
        if order == 1 and edge_features is None:
            return self._structure, {}
        options = {"order": order}
        if edge_features is not None:
            options["edge_columns"] = numbers_of(edge_features, training)
            if self._counts_pairs():
                options["edge_counts"] = training.labels, self.min_count
        return TupleChain.name, options

    def _pairs(self, training, n_labels):
        """Return the pairs of feature and label with weights, None if all."""
        if not self._counts_pairs():
            return None
        rows = training.label_rows
        labels = training.labels if rows is None else rows
        return ObservedPairs.of_data(training.data.X, labels, n_labels, self.min_count)

    def _counts_pairs(self):
        """Return whether only observed pairs have weights; check `min_count`."""
        if self.features == "all" and self.min_count is not None:
            raise ValueError(
                f'min_count={self.min_count} needs features="observed", got '
                'features="all"; set min_count=None to keep all pairs'
            )
        return self.features == "observed"

    def _targets(self, training, chains):
        if training.label_rows is None:
            return chains.target_states(training.labels)
        rows = chains.label_rows_of_states(training.label_rows)
        if rows.dtype == bool:
            return PartialLabels(chains, rows)
        return SoftLabels.of_positions(chains, rows)

    def _new_loss(self, training):
        if not ONLINE_LOSSES[self.loss].takes_cost:
            for name in ("cost", "class_weight"):
                if getattr(self, name) is not None:
                    raise ValueError(
                        f"{name} is taken by loss={names_with_cost()} only, got "
                        f'loss="{self.loss}"; set the loss, or {name}=None'
                    )
            return new_loss(self.loss, self.temperature)
        if training.label_rows is not None:
            raise ValueError(
                f'loss="{self.loss}" needs one label at every position of y; set '
                'loss="log_loss", or leave out the sequences with unknown labels'
            )
        cost = cost_matrix(
            training.attributes["classes_"],
            training.labels,
            cost=self.cost,
            margin=self.margin,
            class_weight=self.class_weight,
        )
        return new_loss(self.loss, self.temperature, cost)

    def _solver_of(self, *parts):
        """Return the solver of which least needs are missing, and its parameters.

        It is the first that the parts of the problem, those of `check_needs`, suit.
        """
        solvers = (self._solver, self._solver_options), *self._other_solvers
        return min(solvers, key=lambda pair: len(missing_needs(pair[0], *parts)))

    @property
    def _span_scheme(self):
        """The tagging scheme of the labels, if it is known, or another value."""
        return self.transitions

    @property
    def _acceleration(self):
        return getattr(self, "acceleration", None)

    def _new_solver(self, problem):
        solver, names = self._solver_of(
            problem.structure,
            problem.loss,
            problem.penalty,
            PROVIDED[self._acceleration],
        )
        if accelerates(self._acceleration, problem):
            solver = partial(ProximalPoint, solver=solver)
        elif not problem.loss.is_smooth and issubclass(solver, DualSolver):
            solver = partial(Averaged, solver=solver)
        options = {name: getattr(self, name) for name in names}
        state = getattr(self, "_warm_state", None) if self.warm_start else None
        if state is not None:
            _check_same_model(state, problem.structure)
        rng = as_generator(getattr(self, "random_state", 0))
        if isinstance(problem.targets, PartialLabels):
            return CCCP(problem, rng, inner=solver, state=state, **options)
        return solver(problem, rng, state=state, **options)

    def __setstate__(self, state):
        """Take the attributes; ValueError if those of a fit do not agree."""
        super().__setstate__(state)
        if hasattr(self, "classes_") or hasattr(self, "coef_"):
            check_fitted(self)

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


def check_finite_numbers(estimator):
    """Raise InvalidParameterError for numbers that the constraints let through.

    They take a bool for a number, and fail on numbers beyond those of NumPy.

    Parameters
    ----------
    estimator : BaseEstimator
        With ``_parameter_constraints``.
    """
    for name, value in estimator.get_params(deep=False).items():
        constraints = estimator._parameter_constraints.get(name, ["boolean"])
        is_switch = "boolean" in constraints or "verbose" in constraints
        if not is_switch and isinstance(value, Real) and not _is_finite(value):
            raise InvalidParameterError(
                f"The {name!r} parameter of {type(estimator).__name__} must be a "
                f"finite number. Got {value!r:.40} instead."
            )


def _is_finite(value):
    """Return whether this is a number of Python or NumPy, but no infinity."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return False
    try:
        return not np.isinf(float(value))
    except OverflowError:
        return False


def _check_same_model(state, structure):
    """Raise ValueError if the state of a warm start is that of another model."""
    if state.get("constraints") != structure.constraints:
        raise ValueError(
            "warm_start=True needs the same allowed transitions as in the last fit; "
            "set warm_start=False to fit with others"
        )
    if state.get("pairs") != structure.pairs:
        raise ValueError(
            "warm_start=True needs the same `features`, and with "
            'features="observed" the same pairs of feature and label, as in the last '
            "fit; set warm_start=False to fit with others"
        )


def fit_attributes(monitor, *, copy=False):
    """Return what a solver and its monitor determine, as attributes of the estimator.

    Those of the model, and those of the run up to now.

    Parameters
    ----------
    monitor : FitMonitor
    copy : bool, default=False
        Whether the weights are copied.
    """
    return {
        **model_attributes(monitor, copy=copy),
        "n_iter_": monitor.rows[-1]["epoch"],
        "history_": monitor.history(),
    }


def model_attributes(monitor, *, copy=False):
    """Return the weights and their certificate, as attributes of the estimator."""
    problem, w = monitor.solver.problem, monitor.solver.model.w
    weights = problem.solution(w.copy() if copy else w).attributes(problem.constraints)
    n_nonzero = int(np.count_nonzero(w))
    makes_zeros = "gradient" not in problem.penalty.offers
    if makes_zeros and BYTES_OF_SPARSE * n_nonzero < w.nbytes:
        weights["coef_"] = sp.csr_array(weights["coef_"])
    return {
        **weights,
        "n_nonzero_": n_nonzero,
        "alpha_": problem.alpha,
        "temperature_": problem.loss.temperature,
        **monitor.figures(),
    }


def caller_level():
    """Return the stacklevel of the line outside that made the caller be called.

    Past the wrappers of fit, what calls it in this package, and scikit-learn's tools.
    """
    frame, level = sys._getframe(1), 1
    while frame and frame.f_globals.get("__name__", "").startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    return level
