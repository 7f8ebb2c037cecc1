"""Checks that the attributes of a fitted estimator agree with each other.

The attributes may come from files, and users may assign them. `check_fitted` checks all
of them after a model is loaded. `check_form` is called before every call of a kernel,
which would read beyond an array that is too short. It takes constant time, except that
it reads the indices of sparse coefficients, which scipy does not check. To predict one
sentence takes less: what follows from the attributes is kept while they are the same.
"""

from copy import copy
from functools import partial
from numbers import Integral
from operator import is_
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._kernels.features._features import RowLayout
from skcrf_sdca._kernels.features._weights import Weights as CompiledWeights
from skcrf_sdca._kernels.inference._sequence_tagger import SequenceTagger
from skcrf_sdca._utils.messages import lacking, required_attribute
from skcrf_sdca.data.feature_names import FeatureNames
from skcrf_sdca.data.input_formats import FORMATS
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.data.rows import checked_sparse
from skcrf_sdca.features.vectorizer import reading_of
from skcrf_sdca.objective.losses import (
    LOSSES,
    gives_few_labellings,
    gives_probabilities,
    losses_that,
    may_give_probabilities,
)
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.chain.constraints import Constraints
from skcrf_sdca.structures.chain.label_parts import LabelParts
from skcrf_sdca.structures.chain.parameters import ChainParameters, chain_blocks
from skcrf_sdca.structures.entropy import SHANNON
from skcrf_sdca.structures.form import Axis, Form
from skcrf_sdca.structures.scores import LARGEST_SCORE, check_weights

# Fitted attributes that only some input formats have.
OF_SOME_INPUTS = {"vectorizer_", "_feature_names", "feature_names_in_"}


class Memo:
    """What follows from the fitted attributes of a model.

    It is true while these are the same objects. The numbers in arrays may change in
    place, their shapes and types may not.
    """

    def __init__(self, model):
        attributes = vars(model)
        self.size = len(attributes)
        self.fitted = {n: v for n, v in attributes.items() if n.endswith("_")}
        self.chain = None
        # What the tagger of single sequences was made of, and the tagger.
        self.tagger = None, None

    def is_of(self, model):
        """Return whether the model has the same attributes still."""
        own, fitted = vars(model), self.fitted
        are_same = map(is_, map(own.get, fitted), fitted.values())
        return len(own) == self.size and all(are_same)


# Not an attribute of the model, which a prediction must not change.
_MEMOS: WeakKeyDictionary[Any, Memo] = WeakKeyDictionary()


class FittedModel:
    """The types of the fitted attributes of every model, and what they say of it.

    A subclass says its ``_structure``, and the blocks of its weights.
    """

    _structure: ClassVar[str]
    # Why there are probabilities of single labels alone, if there are no others.
    _no_labellings: str | None = None
    # The parts of labels, and which label has which, a csr_array (n_labels, n_parts).
    parts_: NDArray[np.object_] | None = None
    label_features_: Any = None

    classes_: NDArray[Any]
    coef_: Any  # an array, or sparse
    intercept_: NDArray[np.float64]
    n_features_in_: int
    alpha_: float
    # Models that were not fitted here, by CRFsuite say, are log-linear.
    temperature_: float = 1.0
    entropy_index_: float = SHANNON
    n_iter_: int
    n_nonzero_: int
    primal_objective_: float
    dual_objective_: float
    duality_gap_: float
    gap_target_: float
    history_: dict[str, NDArray[Any]]
    _input_format: str  # the name of an InputFormat
    _feature_names: FeatureNames

    @staticmethod
    def _axes_of(fitted):
        """Return the axes of the weights, of an object with the fitted attributes."""
        has_names = hasattr(fitted, "vectorizer_") or names_of_fit(fitted) is not None
        names = partial(known_names, fitted) if has_names else None
        classes, parts = fitted.classes_, getattr(fitted, "parts_", None)
        of_parts = {}
        if parts is not None:
            of_parts["part"] = Axis(len(parts), parts.tolist, "parts of labels")
        return {
            "label": Axis(len(classes), partial(plain_labels, classes)),
            **of_parts,
            "feature": Axis(fitted.n_features_in_, names),
        }

    def _blocks(self):
        """Return the blocks of the weights."""
        raise lacking(self, "_blocks")

    def _form(self):
        """Return which weights there are."""
        return Form(self._axes_of(self), self._blocks())

    def _allowed_paths(self):
        """Return the Constraints, as `check_lengths` takes them, or None."""
        return None

    def _check_own_form(self):
        """Raise ValueError if attributes of this structure alone contradict."""

    def _check_is_fitted(self):
        """Raise NotFittedError, or ValueError if attributes do not agree."""
        memo = _MEMOS.get(self)
        if memo is not None and memo.is_of(self):
            return
        _MEMOS.pop(self, None)
        check_is_fitted(self)
        weights = check_form(self)
        if not any(map(sp.issparse, (*weights.values(), self.label_features_))):
            _MEMOS[self] = Memo(self)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the features of the data of `fit`, if these had names."""
        names = names_of_fit(self)
        if names is None:
            raise AttributeError(
                f"{type(self).__name__} has no feature_names_in_: the X of its fit had "
                "no names of features."
            )
        return np.asarray(names)

    @property
    def best_epoch_(self) -> int:
        """Epoch of the best score on the held-out data of `fit`, the first of equals.

        With `patience` the model is the one of this epoch.
        """
        best = np.argmax(self._val_scores)
        return int(self.history_["epoch"][best])

    @property
    def best_val_score_(self) -> float:
        """The best score on the held-out data of `fit`."""
        return float(np.max(self._val_scores))

    @property
    def _val_scores(self):
        scores = getattr(self, "history_", {}).get("val_score")
        if scores is None:
            raise AttributeError(
                f"{type(self).__name__} has no scores of epochs: pass X_val and y_val "
                "to fit."
            )
        return scores


def set_fitted(estimator, attributes):
    """Replace the fitted attributes of a model by others, all at once; return it.

    An interrupt finds the old fit or the new one.
    """
    public = (n for n in vars(estimator) if n.endswith("_") and not n.startswith("_"))
    return _replace(estimator, {"_warm_state", "_feature_names", *public}, attributes)


def set_input(estimator, attributes):
    """Replace the fitted attributes of the input format alone; return the estimator."""
    return _replace(estimator, OF_SOME_INPUTS, attributes)


def _replace(estimator, dropped, attributes):
    kept = {name: v for name, v in vars(estimator).items() if name not in dropped}
    estimator.__dict__ = {**kept, **attributes}
    _MEMOS.pop(estimator, None)
    return estimator


def no_probabilities(estimator):
    """Return why an estimator has no probabilities, None if it has, or may get, some.

    Before a fit the parameter ``loss`` decides.
    """
    if "classes_" in vars(estimator):
        # The hinge gives scores alone.
        if estimator.temperature_ > 0.0:
            return None
        why = "was fitted with a loss that gives"
    else:
        loss = getattr(estimator, "loss", None)
        if may_give_probabilities(loss):
            return None
        why = f'has loss="{loss}", which gives'
    return (
        f"{type(estimator).__name__} {why} scores, and no probabilities; fit with "
        f"{losses_that(gives_probabilities)}"
    )


def no_log_partition(estimator):
    """Return why an estimator has no log Z, None if it has, or may get, one."""
    if (why := no_probabilities(estimator)) or estimator.entropy_index_ == SHANNON:
        return why
    return (
        f"{type(estimator).__name__} was fitted with a loss that gives most labellings "
        "the probability 0, and has no log Z: take `support`, or fit with "
        f"{losses_that(lambda own: own.new.entropy_index == SHANNON)}"
    )


def no_support(estimator):
    """Return why an estimator has no support, None if it has, or may get, one.

    Before a fit the parameter ``loss`` decides.
    """
    index = estimator.entropy_index_
    if "classes_" not in vars(estimator):
        option = LOSSES.get(getattr(estimator, "loss", None))
        index = SHANNON if option is None else option.new.entropy_index
    if index not in (None, SHANNON):
        return None
    return (
        f"{type(estimator).__name__} gives every labelling a probability, or none: for "
        "few labellings with one fit with "
        f"{losses_that(gives_few_labellings)}"
    )


def no_labellings(estimator):
    """Return why an estimator has no distribution of labellings, None if it has."""
    return estimator._no_labellings


def no_draws(estimator):
    """Return why labellings of an estimator cannot be drawn, None if they can."""
    return no_labellings(estimator) or no_probabilities(estimator)


class FittedChain(NamedTuple):
    """What follows from the weights of a chain.

    Attributes
    ----------
    values : list of bytes
        The weights that may be -inf.
    constraints : Constraints or None
        None if they surely allow a path of every length.
    parameters : ChainParameters or None
        They share the memory of the attributes; None if there are weights beside those
        of ChainParameters, or the coefficients would be copied.
    """

    values: list[bytes]
    constraints: Constraints | None
    parameters: ChainParameters | None


class ChainModel(FittedModel):
    """A fitted model whose labels, or segments, follow each other in a chain."""

    start_: NDArray[np.float64]
    end_: NDArray[np.float64]
    transition_: NDArray[np.float64]
    # Weights of tuples of 3, 4, ... labels; models of order 1 have none.
    higher_transitions_: tuple[NDArray[np.float64], ...] = ()
    # Weights of edge features, a sparse array; None if there are none.
    edge_coef_: Any = None

    def _allowed_paths(self):
        """Return the Constraints, as `check_lengths` takes them, or None."""
        return self._chain().constraints

    def _chain(self):
        """Return the FittedChain; `_check_is_fitted` has checked the attributes."""
        scores = self._scores_that_forbid()
        values, memo = [array.tobytes() for array in scores], _MEMOS.get(self)
        if memo is not None and memo.chain is not None and memo.chain.values == values:
            return memo.chain
        constraints = Constraints.of_scores(*scores)
        if constraints.have_repeatable_label():
            constraints = None
        coef, parameters = self.coef_, None
        is_plain = not self._has_tuples and self.label_features_ is None
        if is_plain and not sp.issparse(coef) and coef.flags.f_contiguous:
            parameters, _ = ChainParameters.of_fitted(fitted_weights(self), None)
        chain = FittedChain(values, constraints, parameters)
        if memo is not None:
            memo.chain = chain
        return chain

    def _scores_that_forbid(self):
        """Return the start, end and transition weights of labels that may be -inf."""
        if self.label_features_ is None:
            return self.start_, self.end_, self.transition_
        anywhere = np.zeros(len(self.classes_))
        return anywhere, anywhere, self.transition_

    def _label_parts(self):
        """Return the LabelParts, or None."""
        if self.label_features_ is None:
            return None
        return LabelParts(self.parts_.tolist(), self.label_features_)

    def _check_own_form(self):
        matrix, parts = self.label_features_, self.parts_
        if matrix is None and parts is None:
            return
        if not isinstance(parts, np.ndarray) or parts.ndim != 1:
            raise ValueError("parts_ must be a one-dimensional array beside classes_.")
        shape = len(self.classes_), len(parts)
        if (
            not sp.issparse(matrix)
            or (matrix.format, matrix.shape, matrix.dtype) != ("csr", shape, np.float64)
            or not matrix.nnz
        ):
            raise ValueError(
                f"label_features_ must be a csr_array of shape {shape} and float64, "
                "for the labels and parts_."
            )
        checked_sparse(matrix, "label_features_")
        if not np.isfinite(matrix.data).all():
            raise ValueError("label_features_ must be finite.")

    def _tagger(self):
        """Return the SequenceTagger of a model of dicts or strings, or None."""
        memo, vectorizer = _MEMOS.get(self), vars(self).get("vectorizer_")
        if memo is None or vectorizer is None:
            return None
        chain = self._chain()
        if (
            chain.parameters is None
            or vectorizer.n_features_out_ != self.n_features_in_
        ):
            return None
        reading = reading_of(vectorizer)
        made_of, tagger = memo.tagger
        if made_of is None or not all(map(is_, made_of, (chain, *reading))):
            tagger = chain.parameters.tagger(reading, self.temperature_ or 1.0)
            memo.tagger = (chain, *reading), tagger
        return tagger

    @property
    def _has_tuples(self):
        """Whether there are weights of more than two labels, or edge features."""
        return bool(self.higher_transitions_) or self.edge_coef_ is not None

    def _blocks(self):
        n_higher, has_pairs = len(self.higher_transitions_), self.edge_coef_ is not None
        has_parts = self.parts_ is not None
        return chain_blocks(1 + n_higher, edge_features=has_pairs, parts=has_parts)


def sequence_tagger(estimator):
    """Return the SequenceTagger of a chain of order 1, None if it takes no items.

    It is true while the attributes are the same objects; sparse coefficients are
    copied, dense ones shared.
    """
    estimator._check_is_fitted()
    if not sp.issparse(estimator.coef_):
        return estimator._tagger()
    # From a row for each label to the labels of each feature.
    coef = sp.csc_array(estimator.coef_, dtype=np.float64)
    temperature = estimator.temperature_ or 1.0
    chains = Chains.of_fitted(estimator.transition_, temperature)
    layout = RowLayout(
        coef.shape[1],
        coef.shape[0],
        coef.indptr.astype(np.int64),
        coef.indices.astype(np.int32),
        np.ones(coef.nnz, dtype=bool),
    )
    ends = estimator.intercept_, estimator.start_, estimator.end_
    weights = CompiledWeights((coef.data, *ends, chains.tied), layout=layout)
    reading = reading_of(estimator.vectorizer_)
    return SequenceTagger(reading, weights, chains, temperature, LARGEST_SCORE)


def names_of_fit(estimator):
    """Return the names of the features of the data of fit, None if these had none.

    Names are computed lazily, see `FeatureNames`: test this for None, not whether
    ``feature_names_in_`` exists.
    """
    fitted = vars(estimator)
    # Older pickles hold the array.
    return fitted.get("feature_names_in_", fitted.get("_feature_names"))


def known_names(estimator):
    """Return the features' names, of its vectorizer or the data of fit, or None."""
    if hasattr(estimator, "vectorizer_"):
        return estimator.vectorizer_.get_feature_names_out()
    return names_of_fit(estimator)


def fitted_format(estimator):
    """Return the InputFormat of the data that an estimator was fitted on."""
    return FORMATS[estimator._input_format]


def form_with(model, attributes):
    """Return the Form of a model if it had these fitted attributes."""
    return set_fitted(copy(model), attributes)._form()


def fitted_weights(estimator):
    """Return the Weights of a fitted estimator."""
    return estimator._form().weights_of(estimator)


def check_form(estimator):
    """Return the Weights; ValueError if their shapes or types contradict."""
    classes = required_attribute(estimator, "classes_")
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or not len(classes):
        raise ValueError(
            "classes_ must be a one-dimensional array of at least one label."
        )
    n_features = required_attribute(estimator, "n_features_in_")
    if not isinstance(n_features, Integral) or n_features < 0:
        raise ValueError(f"n_features_in_ must be a number, got {n_features!r:.40}.")
    estimator._check_own_form()
    weights = fitted_weights(estimator)
    for block in weights.form.blocks:
        _check_weight(block, weights[block.name], weights.form.shape(block))
    return weights


def check_fitted(estimator):
    """Raise ValueError if a fitted attribute is wrong or contradicts another."""
    weights = check_form(estimator)
    labels = estimator.classes_.tolist()
    if len(set(labels)) != len(labels):
        raise ValueError("classes_ must hold every label once.")
    for block in weights.form.blocks:
        _check_values(block, weights[block.name])
    name, names = required_attribute(estimator, "_input_format"), tuple(FORMATS)
    if name not in names:
        raise ValueError(f"_input_format must be one of {names}, got {name!r:.40}.")
    _check_features(estimator, fitted_format(estimator))


def _check_weight(block, weight, shape):
    """Raise ValueError if the array of a block is none of float64 and this shape."""
    name = block.attribute
    sparse = block.is_matrix and sp.issparse(weight) and weight.format == "csr"
    if not sparse and not isinstance(weight, np.ndarray):
        raise ValueError(
            f"{name} must be an array, or coef_ a sparse one in CSR, got "
            f"{type(weight).__name__}."
        )
    if weight.shape != shape or weight.dtype != np.float64:
        raise ValueError(
            f"{name} has shape {weight.shape} and dtype {weight.dtype}; with classes_ "
            f"and n_features_in_ as they are it must have {shape} and float64."
        )
    if sparse:
        checked_sparse(weight, name)
    elif len(shape) == 1 and not weight.flags.c_contiguous:
        raise ValueError(f"{name} must be contiguous: assign a copy of it.")


def _check_values(block, weight):
    numbers = weight.data if sp.issparse(weight) else weight
    check_weights(block.attribute, numbers, forbids=block.forbids)


def _check_features(estimator, input_format):
    """Check the vectorizer and the names of the features."""
    n_features = estimator.n_features_in_
    if hasattr(estimator, "vectorizer_") != input_format.needs_vectorizer:
        raise ValueError("vectorizer_ must be there after a fit on dicts or strings.")
    if input_format.needs_vectorizer:
        vectorizer = estimator.vectorizer_
        if required_attribute(vectorizer, "input_format_") != input_format.name:
            raise ValueError(f"vectorizer_ was not fitted on {input_format.name}.")
        if required_attribute(vectorizer, "n_features_out_") != n_features:
            raise ValueError(
                f"vectorizer_ has {vectorizer.n_features_out_} features, but "
                f"n_features_in_ is {n_features}."
            )
    names = names_of_fit(estimator)
    if names is not None and np.shape(names) != (n_features,):
        raise ValueError(f"feature_names_in_ must hold {n_features} names.")
