"""BaseFit: the fit of every estimator, whatever the data are.

Reads the data, makes the problem and its solver, runs it with its callbacks, and sets
the fitted attributes: last, all at once, so that after an error the estimator is as
before. Sequences are in sequences.py, graphs in graphs.py.
"""

import sys
import warnings
from dataclasses import replace
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca._utils.label_estimator import LabelEstimator
from skcrf_sdca._utils.last_step import parted
from skcrf_sdca._utils.messages import entry_of, lacking
from skcrf_sdca._utils.words import in_words, words
from skcrf_sdca.data.label_runs import NoChainsWarning, no_chains_message
from skcrf_sdca.data.sequences import Known
from skcrf_sdca.estimators.callbacks import CallbackBridge, EpochPrinter
from skcrf_sdca.estimators.solver_choice import HasSolver
from skcrf_sdca.features.vectorizer import SequenceVectorizer, grow
from skcrf_sdca.model.fitted import FittedModel, check_fitted, set_fitted
from skcrf_sdca.model.held_out import BestEpoch, new_held_out
from skcrf_sdca.model.start import Prior, check_model, first_point
from skcrf_sdca.model.validation import TrainingData, on_own_features
from skcrf_sdca.objective.class_weights import (
    LabelledPositions,
    weights_of_labels,
    weights_of_sequences,
)
from skcrf_sdca.objective.costs import cost_matrix
from skcrf_sdca.objective.losses import (
    ONLINE_LOSSES,
    gives_probabilities,
    losses_that,
    may_give_probabilities,
    new_loss,
)
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.objective.targets import PartialLabels, SoftLabels
from skcrf_sdca.solvers.monitor import CHECKED_LATER, FitMonitor
from skcrf_sdca.solvers.state_file import StateFile
from skcrf_sdca.solvers.storage import FilesWarning
from skcrf_sdca.structures.chain.observed import ObservedPairs
from skcrf_sdca.structures.entropy import SHANNON
from skcrf_sdca.structures.registry import STRUCTURES
from skcrf_sdca.structures.scores import POSTERIOR, VITERBI
from skcrf_sdca.structures.weight_choice import AUTO, OBSERVED, are_many_weights

# Of a weight in a sparse array: the number, and the index of its feature.
BYTES_OF_SPARSE = 12

_INSIDE = ("skcrf_sdca.", "sklearn.")


# What a warm start needs to be the same, by the names of VectorForm.
OF_FORM = {
    "constraints": "allowed transitions",
    "pairs": '`features`, and with features="observed" the same pairs of feature and '
    "label,",
    "label_pairs": '`label_pairs`, and with label_pairs="observed" the same pairs of '
    "labels,",
    "label_tuples": '`label_pairs`, and with label_pairs="observed" the same labels in '
    "a row,",
    "parts": "`label_features`",
    "order": "`order` and `edge_features`",
    "pair_columns": "`order` and `edge_features`",
}


class BaseFit(HasSolver, FittedModel, LabelEstimator):
    """Base of all estimators: a fit, but for its data and its structure.

    A subclass names its solver, see `HasSolver`, and may set:

    _structure : str
        A key of `STRUCTURES`.
    _keeps_forbidden : bool
        Whether forbidden transitions have weights, of 0, see `Structure`.
    _takes_prior : bool
        Whether there is an objective, for `prior` to enter.
    _monitor : type
        A subclass of FitMonitor, for fits with other figures.
    _data_words : str
        How messages call the data of a VectorForm.
    """

    _structure: ClassVar[str]
    _data_words: ClassVar[str] = "data"
    _keeps_forbidden: ClassVar[bool] = False
    _takes_prior: ClassVar[bool] = True

    _monitor = FitMonitor

    vectorizer_: SequenceVectorizer

    def _fit(self, X, y, X_val, y_val, init, prior, **given):
        """Fit the model; ``given`` are the other arguments of `fit`, by their names."""
        # Of a Tagger it is the CRF that has weights.
        (_, init), (_, prior) = parted(init), parted(prior)
        near = None if prior is None else self._checked_prior(prior)
        training = training_data(self, X, y, prior=near, **given)
        if not training.input_format.boundaries and (
            message := no_chains_message(training.labels)
        ):
            warnings.warn(message, NoChainsWarning, stacklevel=caller_level())
        held_out = new_held_out(self, X_val, y_val, training)
        weights = None if near is None else near.weights(training)
        problem = self._named(self._new_problem)(training, weights)
        if init is not None:
            check_model(init, "init", self._structure)
            self._check_start(init)
        self._run_on(
            training,
            problem,
            start=first_point(init, prior, training, problem),
            prior=weights,
            held_out=held_out,
            X=training.X,
            y=training.y,
            metadata={n: v for n, v in given.items() if v is not None} or None,
        )
        self._check_answers(training)
        return self

    def _read(self, X, y, known, lengths=None):
        """Return the Data of X and y, given what is Known before."""
        raise lacking(self, "_read")

    def _with_own_training(self, training, prior):
        """Return TrainingData with what only some estimators read of it and a Prior."""
        return training

    def _checked_prior(self, model):
        """Return the argument `prior` as a Prior."""
        if not self._takes_prior:
            raise ValueError(
                f"prior is not taken by {type(self).__name__}, which has no objective; "
                "set prior=None, or call partial_fit of a copy of a model that has it"
            )
        if self.warm_start:
            raise ValueError(
                "prior is not taken with warm_start=True, whose state is that of a fit "
                "without one; set warm_start=False"
            )
        near = Prior(model, self._structure)
        self._check_places(near)
        return near

    def _check_start(self, init):
        """Raise ValueError if the fit cannot start at the weights of a model."""

    def _further_labels(self):
        """Return labels beside those in y, and the parameter that has them, or None."""

    def _check_places(self, prior):
        """Raise ValueError if the fit has no place for weights of a Prior."""

    def _check_answers(self, training):
        """Warn of what the fitted model answers for its TrainingData."""

    def _new_problem(self, training, prior=None, *, alpha=None, keeps_forbidden=None):
        """Return the problem of the parameters, but for others that are not None.

        ``prior`` are PriorWeights.
        """
        if keeps_forbidden is None:
            keeps_forbidden = self._keeps_forbidden
        name, own_options = self._structure_options(training)
        structure = entry_of(STRUCTURES, name, "structure")
        loss = self._new_loss(training)
        n_labels = len(training.attributes["classes_"])
        made = structure(
            training.data,
            n_labels,
            pairs=self._pairs(training, n_labels),
            boundaries=training.input_format.boundaries,
            constraints=training.constraints,
            keeps_forbidden=keeps_forbidden,
            n_jobs=self.n_jobs,
            **own_options,
        )
        with in_words(choices=self._choices):
            penalty = self._checked_penalty(made, loss)
        if loss.cost is not None:
            loss = replace(loss, cost=made.cost_of_states(loss.cost))
        if prior is not None:
            made.fixed = prior.fixed_scores(made, loss.scale)
        weight = self._sequence_weight(training)
        alpha = self.alpha if alpha is None else alpha
        if alpha == AUTO:
            total = len(training.data) if weight is None else weight.sum()
            alpha = self._auto_strength(training) / total
        return Problem(
            made,
            self._targets(training, made),
            alpha,
            sample_weight=weight,
            loss=loss,
            penalty=penalty,
        )

    def _auto_strength(self, training):
        """Return the alpha n that alpha="auto" stands for."""
        return 1.0

    def _given(self, name, default=None):
        """Return a parameter, or the default if this estimator has none of the name."""
        return getattr(self, name, default)

    def _structure_options(self, training):
        """Return the key of the structure, and the parameters that it alone takes."""
        return self._structure, {}

    def _run_on(self, training, problem, *, start=None, **arguments):
        """Make the solver of a problem, at the Start that `init` gives, and run it."""
        with np.errstate(**CHECKED_LATER):
            solver = self._new_solver(problem)
            self._tell_of_files(solver)
            if start is not None:
                self._check_no_state()
                solver.start_at(*start)
        observers = []
        if (path := self._given("checkpoint")) is not None:
            observers = [StateFile(path, solver, self._name_for(problem))]
        return self._run(solver, training.attributes, observers=observers, **arguments)

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
        """Run a solver to its end, and set the fitted attributes; return self.

        ``attributes`` are those known before the run. PriorWeights are added to the
        weights of the solver, HeldOut scores the model of every epoch, and observers
        follow the run after the callbacks, which take the arguments ``X``, ``y`` and
        ``metadata``.
        """
        context = self._init_callback_context(max_subtasks=self.max_iter)
        context.call_on_fit_task_begin(estimator=self, **arguments)
        monitor = self._monitor(solver, max_iter=self.max_iter, tol=self.tol)

        def attributes_now():
            # A copy, since the solver continues to change its weights.
            return attributes | fit_attributes(monitor, prior, copy=True)

        def model_now(*, copy):
            return attributes | model_attributes(monitor, prior, copy=copy)

        best = held_out and BestEpoch(held_out, self.patience, model_now)
        if best:
            # First, since the others see the score that it adds.
            monitor.observers.append(best)
        bridge = CallbackBridge(self, context, arguments, attributes_now)
        monitor.observers.append(bridge)
        if self.verbose:
            printer = EpochPrinter(type(self).__name__, monitor.described)
            monitor.observers.append(printer)
        monitor.observers += observers
        monitor.run()
        kept = best.attributes if best else {}
        fitted = attributes | fit_attributes(monitor, prior) | kept
        set_fitted(self, fitted | self._attributes_of_run(solver, fitted))
        if message := self._message_of(monitor):
            warnings.warn(message, ConvergenceWarning, stacklevel=caller_level())
        context.call_on_fit_task_end(
            estimator=self, **arguments, reconstruction_attributes=dict
        )
        return self

    def _tell_of_files(self, solver):
        """Warn if the fit has chosen files for the dual variables of a solver."""
        # None is that of estimators without the parameter.
        is_chosen = self._given("memory") in (None, AUTO)
        if is_chosen and solver.dual and solver.dual.storage.in_files:
            advice = "give `memory`, or set TMPDIR to another folder"
            message = f"{solver.dual.storage.described()}; {advice}"
            warnings.warn(message, FilesWarning, stacklevel=caller_level())

    def _attributes_of_run(self, solver, fitted):
        """Return the attributes beside ``fitted`` that only some estimators have."""
        if not self.warm_start or self._given("checkpoint") is not None:
            return {}
        form = solver.problem.structure.vector_form()
        return {"_warm_state": {**solver.state(), "form": form}}

    def _check_no_state(self):
        """Raise ValueError for `init` beside the state of a warm start."""
        if self.warm_start and self._has_state():
            raise ValueError(
                "init and warm_start=True both say where to start; leave out init, or "
                "set warm_start=False"
            )

    def _check_same_form(self, state, structure):
        """Raise ValueError if the state of a warm start is that of another model."""
        form = structure.vector_form()
        # A state without a form is refused by the solver.
        for name in form.differences(state.get("form", form)):
            # Weights alone are those of any data.
            if name != "data" or "offsets" in state:
                what = OF_FORM.get(name, self._data_words)
                raise ValueError(
                    f"warm_start=True needs the same {what} as in the last fit; set "
                    "warm_start=False to fit with others"
                )

    def _new_loss(self, training):
        option = ONLINE_LOSSES[self.loss]
        for name in ("cost", "class_weight"):
            if self._given(name) is not None and name not in option.takes:
                takes = losses_that(lambda own, name=name: name in own.takes)
                raise ValueError(
                    f'{name} is not taken by loss="{self.loss}"; set {takes}, or '
                    f"{name}=None"
                )
        is_posterior = self._given("decoding") == POSTERIOR
        if is_posterior and not may_give_probabilities(self.loss):
            raise ValueError(
                f'decoding="{POSTERIOR}" needs probabilities, and loss="{self.loss}" '
                f'gives scores alone; set decoding="{VITERBI}", or '
                f"{losses_that(gives_probabilities)}"
            )
        if option.needs_labels and training.label_rows is not None:
            raise ValueError(
                f'loss="{self.loss}" needs one label at every {words().position} of '
                f"y; set {losses_that(lambda own: not own.needs_labels)}, or leave out "
                f"the {words().sequence}s with unknown labels"
            )
        if not option.takes_cost:
            return new_loss(self.loss, self._given("temperature", 1.0))
        cost = cost_matrix(
            training.attributes["classes_"],
            cost=self._given("cost"),
            margin=self._given("margin", 1.0),
            weights=self._label_weights(training),
        )
        return new_loss(self.loss, self._given("temperature", 1.0), cost)

    def _sequence_weight(self, training):
        """Return the weight of the loss of each sequence, None if all are alike."""
        weighs = ONLINE_LOSSES[self.loss].weighs_sequences
        if self._given("class_weight") is None or not weighs:
            return training.sample_weight
        weights = self._label_weights(training)
        return weights_of_sequences(
            _labelled(training), weights, training.sample_weight
        )

    def _label_weights(self, training):
        """Return the weights of labels by `class_weight`."""
        class_weight, counts = self._given("class_weight"), None
        classes = training.attributes["classes_"]
        if isinstance(class_weight, str):
            counts = _labelled(training).counts(len(classes), training.sample_weight)
        return weights_of_labels(class_weight, classes, counts)

    def _pairs(self, training, n_labels):
        """Return the pairs of feature and label with weights, None if all."""
        if not self._counts_pairs(training):
            return None
        rows = training.label_rows
        labels = training.labels if rows is None else rows
        min_count = self._given("min_count")
        return ObservedPairs.of_data(training.data.X, labels, n_labels, min_count)

    def _counts_pairs(self, training=None):
        """Return whether only observed pairs have weights; check `min_count`.

        Without TrainingData "auto" is all.
        """
        features, min_count = self._given("features"), self._given("min_count")
        if features != OBSERVED and min_count is not None:
            raise ValueError(
                f'min_count={min_count} needs features="observed", got '
                f'features="{features}"; set min_count=None to keep all pairs'
            )
        if features == AUTO and training is not None and not training.is_chunk:
            n_labels, parts = len(training.attributes["classes_"]), training.parts
            n_columns = n_labels if parts is None else parts.n_parts
            return are_many_weights(training.data, n_columns)
        return features == OBSERVED

    def _targets(self, training, structure):
        """Return the targets of a structure: labels, or what is known of them."""
        if training.label_rows is None:
            return structure.target_states(training.labels)
        rows = training.label_rows
        if rows.dtype == bool:
            return PartialLabels(structure, rows)
        return SoftLabels.of_positions(structure, structure.label_rows_of_states(rows))

    def __setstate__(self, state):
        """Take the attributes; ValueError if those of a fit do not agree."""
        super().__setstate__(state)
        if hasattr(self, "classes_") or hasattr(self, "coef_"):
            check_fitted(self)


def _labelled(training):
    """Return the positions of TrainingData with their labels."""
    offsets, rows = training.data.offsets, training.label_rows
    return LabelledPositions(offsets, training.labels, rows)


def training_data(estimator, X, y, sample_weight, lengths=None, prior=None):
    """Validate and pack the arguments of fit.

    With a Prior the features of X follow the features of its vectorizer, the labels of
    both are sorted, and the data are packed on the features that they have.

    The estimator is named in messages and asked for its ``transitions`` and the
    like, but not changed. The errors are as in its `fit`.
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None."
        )
    known = Known(estimator, lambda input_format: SequenceVectorizer())
    if (further := estimator._further_labels()) is not None:
        known = known._replace(classes=further[0], argument=further[1])
    if prior is not None:
        known = Known(estimator, prior.new_vectorizer, prior.classes, grow=grow)
    training = TrainingData.of(estimator._read(X, y, known, lengths), sample_weight)
    if prior is not None:
        training = on_own_features(training)
    return estimator._with_own_training(training, prior)


def auto_strength(estimator, training):
    """Return the alpha n that alpha="auto" of an estimator stands for, on its data."""
    return estimator._auto_strength(training)


def fit_attributes(monitor, prior=None, *, copy=False):
    """Return the attributes of the model, and those of the run up to now."""
    return {
        **model_attributes(monitor, prior, copy=copy),
        "n_iter_": monitor.rows[-1]["epoch"],
        "history_": monitor.history(),
    }


def model_attributes(monitor, prior=None, *, copy=False):
    """Return the weights, PriorWeights added, and their certificate, as attributes."""
    problem, w = monitor.solver.problem, monitor.solver.model.w
    solution = problem.solution(w.copy() if copy else w)
    weights = solution.label_weights(problem.constraints)
    n_nonzero = int(np.count_nonzero(w))
    makes_zeros = "gradient" not in problem.penalty.offers
    if makes_zeros and BYTES_OF_SPARSE * n_nonzero < w.nbytes:
        weights = weights.replaced(coef=sp.csr_array(weights["coef"]))
    if prior is not None:
        weights = prior.added_to(weights)
        n_nonzero = weights.n_nonzero
    return {
        **weights.attributes(),
        "n_nonzero_": n_nonzero,
        "alpha_": problem.alpha,
        "temperature_": problem.loss.temperature_of_labellings,
        **_index_of_entropy(problem.loss),
        **monitor.figures(),
    }


def _index_of_entropy(loss):
    is_usual = loss.entropy_index in (None, SHANNON)
    return {} if is_usual else {"entropy_index_": loss.entropy_index}


def caller_level():
    """Return the stacklevel of the line outside that made the caller be called.

    Past the wrappers of fit, what calls it in this package, and scikit-learn's tools.
    """
    frame, level = sys._getframe(1), 1
    while frame and frame.f_globals.get("__name__", "").startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    return level
