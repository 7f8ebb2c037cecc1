"""Learning as the data comes: `partial_fit`.

OnlineMixin owns chunks that bring new labels and features, the average over all chunks,
and the weights as attributes, which are computed lazily. An error leaves the model as
it was before.
"""

import copy
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from skcrf_sdca._utils.availability import available_if
from skcrf_sdca._utils.messages import names_class
from skcrf_sdca._utils.random import as_generator
from skcrf_sdca._utils.sklearn_private import validates_parameters
from skcrf_sdca._utils.typing import Labels, Sequences, keeps_signature
from skcrf_sdca.data.feature_names import FeatureNames, check_same_names
from skcrf_sdca.data.label_encoding import encode_announced_labels, merged_classes
from skcrf_sdca.data.sequences import Known
from skcrf_sdca.estimators.sequences import ChainCRF
from skcrf_sdca.features.vectorizer import SequenceVectorizer, forget_from, grow
from skcrf_sdca.model.fitted import (
    check_form,
    fitted_format,
    fitted_weights,
    names_of_fit,
    set_fitted,
)
from skcrf_sdca.model.validation import TrainingData
from skcrf_sdca.structures.chain.constraints import FROM_DATA
from skcrf_sdca.structures.chain.parameters import chain_blocks
from skcrf_sdca.structures.chain.tuple_parameters import form_of_weights, parameters_of

# Attributes that are made lazily of the state of a stream.
_WEIGHTS = {block.attribute for block in chain_blocks(2, edge_features=True)}
_PUBLISHED = _WEIGHTS | {"n_nonzero_"}
# Parameters, with values that need all of the data at once.
_OF_ALL_DATA = {
    "features": {"observed"},
    "label_pairs": {"observed"},
    "transitions": set(FROM_DATA),
    "class_weight": {"balanced"},
    # They need the certificates of passes, and the number of sequences.
    "learning_rate": {"adaptive", "inverse_epochs"},
}


class _LazyAttribute:
    """An attribute with a default that the weights of a stream may replace.

    An attribute of the instance goes before it.
    """

    def __init__(self, default):
        self.default = default

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, estimator, owner=None):
        if estimator is None:
            return self.default
        if "n_nonzero_" not in vars(estimator):
            estimator._publish()
        return vars(estimator).get(self.name, self.default)


class StreamFormat(NamedTuple):
    """What the state of a stream has beside the scale of the loss and a VectorForm.

    Attributes
    ----------
    values : dict of str to type
        Numbers and names; "n_visits" is among them.
    others : tuple of str, default=()
        Vectors with a number for each weight, 0 for new weights.
    weights : tuple of str, default=("w", "total")
        Vectors in the unit of the weights; all but "w" may be None.
    """

    values: dict[str, type]
    others: tuple[str, ...] = ()
    weights: tuple[str, ...] = ("w", "total")

    @property
    def vectors(self):
        """The names of all vectors."""
        return (*self.weights, *self.others)


class OnlineMixin(ChainCRF):
    """`partial_fit` for an estimator whose solver makes visits of single sequences.

    The solver takes ``state`` and ``stream``, and has ``learn``, ``averaged``,
    ``n_visits`` and ``mean_loss``, as `DCA`. A subclass has the StreamFormat of its
    state as ``_stream``.
    """

    n_visits_: int
    loss_: float

    higher_transitions_ = _LazyAttribute(())
    edge_coef_ = _LazyAttribute(None)

    _stream: ClassVar[StreamFormat]

    @available_if(lambda self: self._no_stream())
    @keeps_signature(names_class)
    @validates_parameters
    def partial_fit(
        self,
        X: Sequences,
        y: Labels,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
    ) -> Self:
        """Learn from one more chunk of a stream: a single pass in the order of X.

        After a `fit` the stream goes on from its weights, with a new average, unless
        ``warm_start=True`` kept the old one; and likewise after `prune`, `sparsify` and
        `constrain`, or if weights were assigned. Transitions that `constrain` forbade
        are allowed again, unless `transitions` forbids them, and the penalty is around
        0, also after a fit with ``prior``. Arrays of weights are read-only: assign a
        changed copy.

        Parameters
        ----------
        X : as in `fit`
            In the input format of the first chunk. There may be features that earlier
            chunks do not have: other strings and keys, or more columns after the known
            ones. Their weights were 0 so far. Those that `edge_features` names are edge
            features, and stay so if the parameter is changed; a name may match none in
            a chunk.
        y : as in `fit`
            One label at each position.
        classes : array-like of labels, default=None
            New labels that may occur from this chunk on; known ones may be among them.
            The first chunk takes the labels of y if it is None.
        sample_weight : array-like of shape (n,), default=None
            Factor of the longest step `C`, or of the gradient, for each sequence.
        lengths : array-like of int of shape (n,), default=None
            As in `fit`.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError, TypeError
            As `fit`; and for a label that neither `classes` nor earlier chunks have, a
            chunk without sequences, with fewer features or of another input format, for
            another `order` than in the model, and for edge features if the model
            has none or the other way round. The model is then as it was before.
        AttributeError
            The estimator has no `partial_fit` if a parameter needs all data at once:
            ``features="observed"``, ``label_pairs="observed"``, ``transitions``
            "observed" or "open",
            ``class_weight="balanced"``, ``method`` "svrg" or "hybrid",
            ``learning_rate="adaptive"``; and with `label_features`.

        Examples
        --------
        >>> from skcrf_sdca import PassiveAggressiveCRF
        >>> crf = PassiveAggressiveCRF()
        >>> crf = crf.partial_fit([[["the"], ["dog"]]], [["DET", "NOUN"]])
        >>> crf = crf.partial_fit([[["dogs"], ["bark"]]], [["NOUN", "VERB"]], ["VERB"])
        >>> crf.classes_.tolist(), crf.coef_.shape
        (['DET', 'NOUN', 'VERB'], (3, 4))
        """
        # Parameters may have changed since the first chunk.
        self._validate_params()
        if "classes_" in vars(self):
            self._check_same_order()
        with self._restored_vocabulary():
            training = self._chunk(X, y, classes, sample_weight, lengths)
            # Labels are added to a matrix of transitions.
            problem = self._new_problem(
                training, alpha=self._alpha_of_chunk(training), keeps_forbidden=True
            )
            solver = self._learn(problem, training)
        state = {
            **solver.state(),
            "scale": problem.loss.scale,
            "form": problem.structure.vector_form(),
        }
        return set_fitted(
            self,
            {
                **training.attributes,
                **self._attributes_of_chunk(solver),
                "temperature_": problem.loss.temperature,
                "n_visits_": solver.n_visits,
                "loss_": solver.mean_loss,
                "_warm_state": state,
            },
        )

    def _chunk(self, X, y, classes, sample_weight, lengths):
        """Return the TrainingData of a chunk; the vectorizer learns its features."""
        known = Known(
            self,
            lambda input_format: vars(self).get("vectorizer_", SequenceVectorizer()),
            grow=grow,
            check=partial(_check_same_format, self),
            encode=partial(_labels_of_chunk, self, classes),
        )
        training = TrainingData.of(self._read(X, y, known, lengths), sample_weight)
        names = training.attributes.pop("_feature_names", None)
        if (names := _grown_names(self, names, training.data)) is not None:
            training.attributes["_feature_names"] = names
        return self._with_own_training(replace(training, is_chunk=True), None)

    def _no_stream(self):
        """Return why there is no `partial_fit`, or None: a parameter needs all data."""
        for name, values in _OF_ALL_DATA.items():
            given = getattr(self, name, None)
            if isinstance(given, str) and given in values:
                return (
                    f'partial_fit cannot work with {name}="{given}", which needs all '
                    "of the data at once: set it to another value."
                )
        if self.label_features is not None or self.label_features_ is not None:
            return "partial_fit cannot work with label_features: set it to None."
        return None

    def _check_same_order(self):
        """Raise ValueError if the parameters ask for other weights than there are."""
        form = self._vector_form()
        order, has_more = form.order, form.pair_columns is not None
        if order != self.order or has_more != (self.edge_features is not None):
            known = "with" if has_more else "without"
            raise ValueError(
                f"partial_fit goes on from a model of order={order} {known} edge "
                "features: set `order` and `edge_features` so, or take a new estimator."
            )

    def _structure_options(self, training):
        name, options = super()._structure_options(training)
        own = options.get("pair_features")
        if training.is_chunk and "classes_" in vars(self) and own is not None:
            columns = np.union1d(self._vector_form().pair_columns, own.columns)
            options["pair_features"] = own._replace(columns=columns)
        return name, options

    def _alpha_of_chunk(self, training):
        """Return the alpha of the objective that steps on a chunk follow."""
        return self.alpha

    def _attributes_of_chunk(self, solver):
        """Return the fitted attributes that only some of the estimators have."""
        return {}

    def _steps_so_far(self):
        """Return the entries about steps, for a stream that begins at weights."""
        return {"n_visits": 0}

    @contextmanager
    def _restored_vocabulary(self):
        """Let the vectorizer forget what a chunk added, if an error ends it."""
        vectorizer = vars(self).get("vectorizer_")
        n_features = vectorizer and vectorizer.n_features_out_
        try:
            yield
        except BaseException:
            if vectorizer is not None and vectorizer.n_features_out_ > n_features:
                forget_from(vectorizer, n_features)
            raise

    def _learn(self, problem, training):
        """Visit the sequences of a chunk; return the solver."""
        (cls,) = self._solvers[self._solver_name]
        solver = cls(
            problem,
            as_generator(self.random_state),
            state=self._grown_state(problem, training),
            stream=True,
            **self._options_of(cls),
        )
        solver.learn()
        return solver

    def _grown_state(self, problem, training):
        """Return the state to go on from, with the labels and features of a chunk."""
        if "classes_" not in vars(self):
            return None
        state, scale = self._own_state(), problem.loss.scale
        classes = training.attributes["classes_"]
        labels, form = np.searchsorted(classes, self.classes_), self._vector_form()

        def grown(w, factor=1.0):
            if factor != 1.0 or not w.flags.writeable:
                w = w * factor
            return problem.structure.grown(self._parameters(w, form), labels).w

        factors = dict.fromkeys(self._stream.weights, state["scale"] / scale)
        factors |= dict.fromkeys(self._stream.others, 1.0)
        vectors = {
            name: grown(state[name], factor)
            for name, factor in factors.items()
            if state.get(name) is not None
        }
        return {**state, **vectors}

    def _own_state(self):
        """Return the state of the stream so far, or one that begins at the weights."""
        state = stream_state(self)
        if state is not None:
            return state
        weights = check_form(self)
        parameters = self._parameters(None)
        parameters.assign(weights.finite())
        return {"w": parameters.w, "total": None, "scale": 1.0, **self._steps_so_far()}

    def _vector_form(self):
        """Return the VectorForm of the weights."""
        state = stream_state(self)
        if state is not None:
            return state["form"]
        return form_of_weights(fitted_weights(self))

    def _parameters(self, w, form=None):
        """Return parameters with a vector `w`, of a VectorForm, by default the own."""
        return parameters_of(
            self._vector_form() if form is None else form,
            self.n_features_in_,
            len(self.classes_),
            boundaries=fitted_format(self).boundaries,
            w=w,
        )

    def __getattr__(self, name):
        """Make the weights after a `partial_fit`, when one of them is first read."""
        if name not in _PUBLISHED or not self._publish():
            # Raises the usual error, or the error of a property.
            return super().__getattribute__(name)
        return vars(self)[name]

    def _publish(self):
        """Make the weights of the state; return whether there is one."""
        state = vars(self).get("_warm_state")
        if state is None or "scale" not in state:
            return False
        (solver,) = self._solvers[self._solver_name]
        w = solver.averaged(state)
        w *= state["scale"]
        form, n_nonzero = state["form"], int(np.count_nonzero(w))
        weights = self._parameters(w, form).label_weights(form.constraints)
        weights = publish(state, weights.attributes())
        # An attribute that was assigned before goes before it.
        self.__dict__ = {**weights, "n_nonzero_": n_nonzero, **vars(self)}
        return True

    def _attributes_of_run(self, solver, fitted):
        attributes = super()._attributes_of_run(solver, fitted)
        if attributes:
            state = attributes["_warm_state"]
            state["scale"] = solver.problem.loss.scale
            # With patience the weights belong to the best epoch, not to the state.
            if self.patience is None:
                publish(state, fitted)
        return attributes

    def __getstate__(self):
        """Return the attributes: of weights that a stream determines, the state alone.

        Where the weights were changed since, the state is left out.
        """
        known = vars(self)
        state, is_stream = known.get("_warm_state"), stream_state(self) is not None
        if "classes_" in known and not is_stream and "n_nonzero_" not in known:
            # Some weights were assigned before the others were read.
            self._publish()
        attributes = super().__getstate__()
        if state is None:
            return attributes
        del attributes["_warm_state"]
        if is_stream:
            attributes = {n: v for n, v in attributes.items() if n not in _PUBLISHED}
        if is_stream or not state["form"].has_every_weight:
            kept = {name: v for name, v in state.items() if name != "published"}
            attributes["_warm_state"] = kept
        return attributes

    def __copy__(self):
        """Return a deep copy: chunks change the arrays of the state in place."""
        return copy.deepcopy(self)

    def __sklearn_is_fitted__(self):
        """Return whether there are weights."""
        return "classes_" in vars(self)


def _check_same_format(estimator, found):
    """Raise TypeError if a chunk has another format than those before."""
    if "_input_format" in vars(estimator) and found is not fitted_format(estimator):
        raise TypeError(
            f"X holds sequences of the input format {found.name}, but the chunks "
            f"before were {fitted_format(estimator).name}; all must have the same."
        )


def _grown_names(estimator, names, data):
    """Return the names of the features of a chunk and those before it, or None.

    Raise ValueError if the chunk has fewer features, or other names.
    """
    n_known = vars(estimator).get("n_features_in_", 0)
    if data.n_features < n_known:
        raise ValueError(
            f"X has {data.n_features} features, but {type(estimator).__name__} is "
            f"expecting {n_known} features as input, or more."
        )
    known = names_of_fit(estimator)
    if names is None:
        return known if data.n_features == n_known else None
    if known is not None:
        check_same_names(names.first(n_known), FeatureNames.of(known))
    return names


def _labels_of_chunk(estimator, classes, input_format, y, data):
    """Return classes and label numbers, and None: all labels must be known."""
    known = vars(estimator).get("classes_")
    if known is None and classes is None:
        unknown_label = getattr(estimator, "unknown_label", None)
        known, *_ = input_format.encode_labels(y, data, unknown_label)
    if classes is not None:
        known = merged_classes(known, classes)
    lists = input_format.label_lists(y, data)
    return known, encode_announced_labels(lists, data.lengths, known), None


def stream_format(cls):
    """Return the StreamFormat of a type of estimators, None if it has no streams."""
    return getattr(cls, "_stream", None)


def stream_state(estimator):
    """Return what the next `partial_fit` goes on from, None if the weights alone.

    It is the state of the solver, the ``scale`` of the loss that its weights have, and
    the VectorForm of these.
    """
    own = vars(estimator)
    state = own.get("_warm_state")
    is_stream = state is not None and stream_format(type(estimator)) is not None
    if not is_stream or not state["form"].has_every_weight:
        return None
    published = state.get("published", {})
    is_current = all(own.get(name) is published.get(name) for name in _WEIGHTS)
    return state if is_current else None


def publish(state, attributes):
    """Let the weights among fitted attributes be the weights of a state; return them.

    They become read-only: a change in place would not reach the state.
    """
    weights = {name: attributes[name] for name in _WEIGHTS & attributes.keys()}
    for value in weights.values():
        for array in value if isinstance(value, tuple) else (value,):
            (array.data if sp.issparse(array) else array).flags.writeable = False
    # Of two threads at once, both take the weights of the first.
    return state.setdefault("published", weights)
