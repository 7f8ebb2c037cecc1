"""An estimator with the interface of sklearn_crfsuite.CRF that fits one of ours.

It has all parameters and methods of that class. Some parameters have no effect.
"""

import os
import warnings
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from inspect import signature
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.checked_parameters import CheckedParameters, Choices
from skcrf_sdca._utils.doc_links import HasDocLink
from skcrf_sdca._utils.sequence_tags import of_sequences
from skcrf_sdca._utils.sklearn_private import (
    Interval,
    InvalidParameterError,
    validates_parameters,
)
from skcrf_sdca._utils.typing import (
    ClassWeight,
    Dataset,
    Decoding,
    Items,
    Labels,
    RandomState,
    Sequences,
    SolverName,
    SpanScheme,
)
from skcrf_sdca._utils.version_stamps import VersionStamped
from skcrf_sdca._utils.words import in_words
from skcrf_sdca.compat._algorithms import ALGORITHMS, DEFAULT
from skcrf_sdca.compat._conversion import BOUNDARIES, item_lists, read_as, to_crfsuite
from skcrf_sdca.compat._fileresource import state_of_pickle
from skcrf_sdca.compat._fitted_attributes import FittedAttributes
from skcrf_sdca.compat._label_lists import LabelLists, decoded_lists
from skcrf_sdca.compat._single import single_of
from skcrf_sdca.data.input_formats import format_of
from skcrf_sdca.estimators.crfs import CRF as AnyCRF
from skcrf_sdca.estimators.crfs import SDCACRF
from skcrf_sdca.estimators.online import PassiveAggressiveCRF
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.model.fitted import fitted_format, set_fitted, set_input
from skcrf_sdca.structures.scores import DECODERS, POSTERIOR, VITERBI

if TYPE_CHECKING:
    from skcrf_sdca._utils.sklearn_typing import EstimatorBase as BaseEstimator
else:
    from sklearn.base import BaseEstimator

# Parameters that have an effect on a fit with an objective only.
_OF_OBJECTIVE = {"c1", "c2", "tol", "solver"}


def penalty_of(c1, c2, n_sequences):
    """Return alpha and l1_ratio of the objective of CRFsuite; not both are 0."""
    total = c1 + 2.0 * c2
    return total / n_sequences, c1 / total


def _n_of_sum(y, n_sequences):
    """Return n in alpha: how many sequences have a label that is known, or no item."""
    lists = y if isinstance(y, (list, tuple, np.ndarray)) else ()
    unknown = (
        isinstance(labels, (list, tuple))
        and len(labels) > 0
        and all(label is None for label in labels)
        for labels in lists
    )
    # At least 1: the fit refuses a y without labels.
    return max(n_sequences - sum(unknown), 1)


# Messages and progress name the estimator that the user has.
_UNDER_ITS_NAME = {
    cls: type("CRF", (cls,), {}) for cls in (AnyCRF, PassiveAggressiveCRF)
}


# Each annotated name is a parameter of the constructor, which stores it.
@dataclass(eq=False, repr=False, match_args=False)
class CRF(
    FittedAttributes, VersionStamped, HasDocLink, CheckedParameters, BaseEstimator
):
    """CRF with the parameters and methods of ``sklearn_crfsuite.CRF``.

    The fit minimises CRFsuite's objective, over all weights w::

        c1 ||w||_1 + c2 ||w||^2 + sum_i -log p(y_i | x_i; w)

    which is n times the objective of `skcrf_sdca.CRF` with
    ``alpha = (c1 + 2 * c2) / n`` and ``l1_ratio = c1 / (c1 + 2 * c2)``, for n
    sequences. That estimator minimises it, and bounds the error by the duality gap.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}, default=None
        The first two minimise this objective in CRFsuite; here they are the same, but
        that "l2sgd" takes no `c1`. None is "lbfgs". The others learn online, and have
        no objective: "ap" is ``PassiveAggressiveCRF(loss="perceptron")``, the averaged
        perceptron, "pa" the same with ``loss="hinge"``, and "arow" the latter with
        ``update="arow"``. Their marginals are those of the distribution exp(score) / Z.
    min_freq : float, default=None
        With ``all_possible_states=False``: keep a pair of a feature and a label only if
        the values of the feature at positions with the label sum to min_freq or more,
        as in CRFsuite. Else: keep a feature only if it is not zero at min_freq or more
        positions. (CRFsuite counts pairs there too, and transitions always.)
    all_possible_states : bool, default=None
        None or True: there is a weight for each pair of a feature and a label. False:
        only for those that the training data has. (In CRFsuite, None means False.)
    all_possible_transitions : bool, default=None
        None or True: there is a weight for each pair of labels. False: only for those
        that follow each other in the training data; other pairs are allowed. (In
        CRFsuite, None means False.)
    c1 : float, default=None
        Strength of the L1 penalty, >= 0; None means 0, as in CRFsuite. Above 0, most
        weights are exactly 0.
    c2 : float, default=None
        Strength of the L2 penalty, >= 0; None means 1, as in CRFsuite. It may be 0
        where `c1` is above 0.
    max_iterations : int, default=None
        Maximum number of passes over the data; None means 1000, and 100 for "ap", "pa"
        and "arow", as in CRFsuite. A fit with an objective usually stops earlier, see
        `tol`.
    c, averaging : float, bool, default=None
        For "ap" and "pa": the longest step, `C` of `PassiveAggressiveCRF`, where None
        means 1; and whether the weights are averaged, where None means True.
    variance, gamma : float, default=None
        For "arow": the first variance of every weight, and the r of the steps; None
        means 1. Only the ratio variance / gamma has an effect, the `C` of
        `PassiveAggressiveCRF`.
    num_memories, epsilon, period, delta, linesearch, max_linesearch, calibration_eta, \
calibration_rate, calibration_samples, calibration_candidates, calibration_max_trials, \
pa_type, error_sensitive, keep_tempfiles, trainer_cls
        Parameters of CRFsuite's optimisers and files. They have no effect here, and
        setting them is warned about.
    model_filename : str or path, default=None
        Path of a file of CRFsuite to which `fit` writes the model. Without a fit, the
        model that this file has predicts. Weights that CRFsuite does not know have the
        attributes "skcrf_sdca.intercept", "skcrf_sdca.start" and "skcrf_sdca.end" in
        it, see `crfsuite_features`; this package does not need these in X.
    verbose : bool, default=False
        Whether to print a line after every pass.
    tol : float, default=1e-3
        The fit stops when the objective is proven, by the duality gap, to be within
        this part of its minimum.
    solver : {"auto", "sdca", "oeg", "sag", "lbfgs"}, default="auto"
        The solver of `skcrf_sdca.CRF` that minimises the objective, for both values of
        `algorithm`: "auto" is the one that suits the data, which
        ``estimator_.solver_`` names. With `c1` above 0, "auto" is "sdca" or "oeg".
    class_weight : dict {label: weight} or "balanced", default=None
        Factors of the cost of missing each label. With one, the loss of "lbfgs" and
        "l2sgd" is the softmax margin, see `skcrf_sdca.CRF`. "ap" takes none.
    n_jobs : int, default=None
        Number of threads, as in `skcrf_sdca.CRF`; None means one.
    random_state : int, RandomState instance or None, default=0
        Determines the order of the visits. With the default, every fit has the same
        bits.
    decoding : {"viterbi", "posterior"}, default="viterbi"
        What `predict` and `score` return: the most probable labels of a sequence as a
        whole, as CRFsuite, or those with the largest expected number of right ones, see
        :doc:`/decoding`. It may be set after `fit`, too. ``tagger_`` and files of
        CRFsuite do not have it. "ap", "pa" and "arow" take "viterbi" alone.

    Attributes
    ----------
    estimator_ : skcrf_sdca.CRF, PassiveAggressiveCRF or SDCACRF (of a file)
        The fitted estimator, with all its methods and attributes (``predict_proba``,
        ``explain``, ``duality_gap_``, ``history_``, ``intercept_`` ...).
    classes_ : list
        The labels, sorted.
    attributes_ : list of str
        Names of the features; ``num_attributes_`` is their number.
    tagger_ : skcrf_sdca.compat.pycrfsuite.Tagger
        The model as python-crfsuite has it; ``size_`` is the size of its file in bytes.
        Labels must be str.
    modelfile : object
        ``modelfile.name`` is the path of a file of CRFsuite with the model:
        `model_filename`, or else a temporary file that is written when it is asked for,
        and removed with the model. Copy it to keep it. Labels must be str.
    training_log_ : object
        ``training_log_.iterations`` is a list of dicts, one for each epoch, with the
        keys num, loss and time; the loss is the objective divided by n.
    state_features_ : dict
        ``{(name, label): weight}``, without weights of 0. Computed at each access.
    transition_features_ : dict
        ``{(label, next label): weight}``, without weights of 0. Computed at each
        access.
    dev_score_ : float
        Token accuracy on ``X_dev`` at the end of the fit. Exists only after a fit with
        ``X_dev``.

    See Also
    --------
    skcrf_sdca.CRF : The estimator to use if compatibility with sklearn-crfsuite is
        not needed.
    from_crfsuite : Turns a model that CRFsuite trained into an estimator.

    Notes
    -----
    Unlike CRFsuite, the model has an intercept for each label, and weights for the
    first and the last label, with the same penalty. A feature such as "bias" or "BOS"
    has the same effect as one of these weights. If X has such features, each pair of
    equal weights acts as one weight with half the penalty. CRFsuite drops a feature
    whose values at a label sum to less than its min_freq of 0; here negative values are
    kept.

    Before a fit, all attributes but ``estimator_`` and ``dev_score_`` are None. Labels
    need not be str.

    Examples
    --------
    >>> from skcrf_sdca.compat import CRF
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "a"}, {"word": "dog"}]]
    >>> y = [["DET", "NOUN"], ["DET", "NOUN"]]
    >>> crf = CRF(algorithm="lbfgs", c2=0.1, max_iterations=100).fit(X, y)
    >>> crf.predict_single([{"word": "the"}, {"word": "dog"}])
    ['DET', 'NOUN']
    >>> max(crf.transition_features_, key=crf.transition_features_.get)
    ('DET', 'NOUN')
    """

    algorithm: Literal["lbfgs", "l2sgd", "ap", "pa", "arow"] | None = None
    min_freq: float | None = None
    all_possible_states: bool | None = None
    all_possible_transitions: bool | None = None
    c1: float | None = None
    c2: float | None = None
    max_iterations: int | None = None
    num_memories: Any = None
    epsilon: Any = None
    period: Any = None
    delta: Any = None
    linesearch: Any = None
    max_linesearch: Any = None
    calibration_eta: Any = None
    calibration_rate: Any = None
    calibration_samples: Any = None
    calibration_candidates: Any = None
    calibration_max_trials: Any = None
    pa_type: Any = None
    c: Any = None
    error_sensitive: Any = None
    averaging: Any = None
    variance: Any = None
    gamma: Any = None
    verbose: int = False
    model_filename: Any = None
    keep_tempfiles: Any = False
    trainer_cls: Any = None
    _: KW_ONLY
    tol: float = 1e-3
    solver: SolverName = "auto"
    class_weight: ClassWeight | None = None
    n_jobs: int | None = None
    random_state: RandomState = 0
    decoding: Decoding = "viterbi"

    _parameter_constraints: ClassVar[dict] = {
        "model_filename": [str, os.PathLike, None],
        "class_weight": [Choices({"balanced"}), dict, None],
        "algorithm": [Choices(ALGORITHMS.keys()), None],
        "c1": [Interval(Real, 0, None, closed="left"), None],
        "min_freq": [Interval(Real, 0, None, closed="left"), None],
        "all_possible_states": ["boolean", None],
        "all_possible_transitions": ["boolean", None],
        "c2": [Interval(Real, 0, None, closed="left"), None],
        "max_iterations": [Interval(Integral, 1, None, closed="left"), None],
        "verbose": ["verbose"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "solver": [Choices(set(get_args(SolverName)))],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "decoding": [Choices(set(DECODERS))],
    }

    def __setattr__(self, name, value):
        """Set an attribute; the fitted estimator follows the parameter `decoding`."""
        super().__setattr__(name, value)
        if name in ("decoding", "estimator_") and "estimator_" in vars(self):
            self.estimator_.decoding = self.decoding

    @validates_parameters
    def fit(
        self,
        X: Sequences,
        y: Labels,
        X_dev: Sequences | Callable[[], Sequences] | None = None,
        y_dev: Labels | None = None,
    ) -> Self:
        """Fit the model to labelled sequences.

        Parameters
        ----------
        X : iterable of n sequences
            All sequences are lists of T dicts, or all are lists of T lists of str. An
            item that is a str is the list of its characters, as in CRFsuite. Arrays and
            PackedSequences are possible, as in `skcrf_sdca.CRF`.
        y : list of n lists of T labels
            Labels in bytes are text in UTF-8, and become str.
        X_dev, y_dev : as X and y, default=None
            Held-out data, on which the model of every epoch is scored: the token
            accuracies are ``estimator_.history_["val_score"]``, and the last of them is
            ``dev_score_``. They do not change the fit.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError, TypeError
            If the value of a parameter is not supported, and as `skcrf_sdca.CRF.fit`.

        Warns
        -----
        UserWarning
            If a parameter without effect is set.
        ConvergenceWarning
            If the gap is above its target after `max_iterations` passes.
        """
        self._check_parameters()
        if (X_dev is None) != (y_dev is None):
            raise ValueError("pass both X_dev and y_dev, or neither.")
        y, y_dev = decoded_lists(y, "y"), decoded_lists(y_dev, "y_dev")
        estimator = self._fitted(item_lists(X), y, X_dev, y_dev)
        if self.model_filename:
            to_crfsuite(estimator, self.model_filename, **BOUNDARIES)
        for name in ("dev_score_", "_training_log"):
            self.__dict__.pop(name, None)
        self.estimator_ = estimator
        if X_dev is not None:
            self.dev_score_ = estimator.history_["val_score"][-1].item()
            if self.verbose:
                print(f"[CRF] token accuracy on X_dev: {self.dev_score_:.4f}")
        return self

    def __setstate__(self, state):
        """Set the attributes, also of a pickle of ``sklearn_crfsuite.CRF``."""
        if "modelfile" in state:
            # Older versions had fewer parameters.
            state = {**vars(CRF()), **state_of_pickle(state)}
        super().__setstate__(state)

    def predict(self, X: Sequences) -> LabelLists:
        """Return the most probable labels of every sequence.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        y : list of n lists of T labels
            NumPy and ``==`` also take it as the object array that sklearn-crfsuite 0.5
            returns.
        """
        return LabelLists(self._read(X, lambda crf, X: crf.predict(X)))

    def predict_single(self, xseq: Items) -> list[Any]:
        """Return the most probable labels of one sequence.

        Parameters
        ----------
        xseq : list of T dicts, or of T lists of str

        Returns
        -------
        y : list of T labels
        """
        found = None
        if self.decoding == VITERBI:
            found = self._of_single("predict", xseq)
        return found or self.predict([xseq])[0]

    def predict_marginals(self, X: Sequences) -> list[list[dict[Any, float]]]:
        """Return the probability of every label at every position, by name.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        marginals : list of n lists of T dicts {label: probability}
            Of "ap", "pa" and "arow", which give scores, the probabilities are those of
            the distribution exp(score) / Z.
        """
        found, classes = self._read(X, _marginals), self.classes_
        return [
            [dict(zip(classes, row, strict=True)) for row in proba.tolist()]
            for proba in found
        ]

    def predict_marginals_single(self, xseq: Items) -> list[dict[Any, float]]:
        """Return the probability of every label at every position of one sequence.

        Parameters
        ----------
        xseq : list of T dicts, or of T lists of str

        Returns
        -------
        marginals : list of T dicts {label: probability}
        """
        found = self._of_single("marginals", xseq)
        return found or self.predict_marginals([xseq])[0]

    def predict_spans(
        self,
        X: Dataset,
        *,
        scheme: SpanScheme | None = None,
        tokens: Iterable[Iterable[str]] | None = None,
    ) -> NDArray[Any]:
        """Return the spans of the predicted labels, with their probabilities.

        ``sklearn_crfsuite.CRF`` does not have this method; with it, a `Tagger` has
        `tag`.

        Parameters
        ----------
        X : as in `fit`
        scheme, tokens
            As in ``predict_spans`` of `skcrf_sdca.CRF`.

        Returns
        -------
        spans : ndarray of shape (n,)
            As of `skcrf_sdca.CRF`: lists of (type, begin, end, probability). Of "ap",
            "pa" and "arow" the probabilities are as in `predict_marginals`.

        Raises
        ------
        ValueError, TypeError
            As in `skcrf_sdca.CRF`.

        Examples
        --------
        >>> from skcrf_sdca.compat import CRF
        >>> X, y = [[["w=the"], ["w=Rhine"]]] * 9, [["O", "B-LOC"]] * 9
        >>> ((span,),) = CRF(c2=0.1).fit(X, y).predict_spans(X[:1])
        >>> span[:3]
        ('LOC', 1, 2)
        """

        def spans(crf, X):
            return _log_linear(crf).predict_spans(X, scheme=scheme, tokens=tokens)

        return self._read(X, spans)

    def __sklearn_tags__(self):
        """Return the tags: a classifier of sequences, and of no table."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags()
        tags.target_tags.required = True
        tags.input_tags.three_d_array = True
        return of_sequences(tags)

    def score(self, X: Sequences, y: Labels) -> float:
        """Return the fraction of positions whose label is predicted correctly.

        Parameters
        ----------
        X, y : as in `fit`

        Returns
        -------
        accuracy : float
        """
        y = decoded_lists(y, "y")
        return self._read(X, lambda crf, X: crf.score(X, y))

    def _of_single(self, method, xseq):
        """Return the answer of a SequenceTagger to a sequence, or None.

        None stands for what only the way of many sequences can answer, and for errors,
        whose place it knows.
        """
        estimator = self._model()
        single = None if estimator is None else single_of(estimator)
        if single is None:
            return None
        try:
            return getattr(single.tagger, method)(xseq, single.labels)
        except (TypeError, ValueError):
            return None

    def _read(self, X, answer):
        """Return ``answer(estimator, X)`` of the fitted estimator."""
        self._model()
        check_is_fitted(self)
        estimator = self.estimator_

        X = item_lists(X)
        if type(estimator) is SDCACRF:
            # A file has names of attributes, for items of both formats.
            found = format_of(X, default=fitted_format(estimator))
            if found.needs_vectorizer:
                read_as(estimator, found.name)
        return answer(estimator, X)

    # Type checkers know by themselves what does not exist.
    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Raise AttributeError, which names an attribute of `estimator_`."""
            within = vars(self).get("estimator_", AnyCRF)
            if hasattr(type(self), name) or not hasattr(within, name):
                # Raises the usual error, or the error of a property.
                return super().__getattribute__(name)
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}, but the "
                f"{_name_of(within)} within has it: use estimator_.{name} after a fit.",
                name=name,
                obj=self,
            )

    def _fitted(self, X, y, X_dev, y_dev):
        """Return the estimator behind this one, fitted."""
        vectorizer, input_format = None, format_of(X)
        observed = self.all_possible_states is False
        if not input_format.boundaries:
            raise TypeError("X must be a list of sequences, got a table of numbers.")
        if input_format.needs_vectorizer:
            min_freq = 1 if observed else max(1, int(np.ceil(self.min_freq or 0)))
            vectorizer = SequenceVectorizer(min_freq=min_freq)
            X = vectorizer.fit_transform(X)
            if X_dev is not None:
                X_dev = partial(_packed, X_dev, input_format, vectorizer)
        elif self.min_freq and not observed:
            raise ValueError(
                "min_freq needs dicts or lists of str, or all_possible_states=False; X "
                f"has {input_format.name}."
            )
        cls, parameters, words = self._within(_n_of_sum(y, len(X)), observed)
        trainer = _UNDER_ITS_NAME[cls](**parameters)
        with in_words(X_val="X_dev", y_val="y_dev", **words):
            trainer.fit(X, y, X_val=X_dev, y_val=y_dev)
        estimator = set_fitted(cls(**parameters), vars(trainer).copy())
        if vectorizer is not None:
            # The state that a fit on the dicts or strings themselves would have.
            own = {"vectorizer_": vectorizer, "_input_format": input_format.name}
            set_input(estimator, own)
            if estimator.min_count is not None:
                # CRFsuite forgets the features that no pair is left of.
                estimator.prune()
        return estimator

    def _within(self, n_sequences, observed):
        """Return the type of the estimator, its parameters, and words of messages."""
        every_pair = _or(self.all_possible_transitions, True)
        options = {
            "features": "observed" if observed else "all",
            "label_pairs": "all" if every_pair else "observed",
            "min_count": (self.min_freq or None) if observed else None,
            "class_weight": self.class_weight,
            "n_jobs": self.n_jobs,
            "random_state": self.random_state,
            "verbose": int(self.verbose),
            "decoding": self.decoding,
        }
        words = {"max_iter": "max_iterations"}
        if (online := self._algorithm.online) is not None:
            options |= {**online, **self._steps()}
            options["max_iter"] = _or(self.max_iterations, 100)
            return PassiveAggressiveCRF, options, words
        c1, c2 = self._strengths()
        alpha, l1_ratio = penalty_of(c1, c2, n_sequences)
        options |= {
            "alpha": alpha,
            "solver": self.solver,
            "loss": "log_loss" if self.class_weight is None else "softmax_margin",
            "l1_ratio": l1_ratio,
            "max_iter": _or(self.max_iterations, 1000),
            "tol": self.tol,
        }
        strength = f"c1 = {c1:.3g} and c2 = {c2:.3g}"
        own = {"alpha": "c2", "strength": strength, "alpha_n": "c1 + 2 c2"}
        return AnyCRF, options, own | words

    def _steps(self):
        """Return the parameters of the steps of an online algorithm."""
        if self.algorithm == "arow":
            C = _or(self.variance, 1.0) / _or(self.gamma, 1.0)
            return {"C": C, "average": False}
        average = "uniform" if _or(self.averaging, True) else False
        return {"C": _or(self.c, 1.0), "average": average}

    def _strengths(self):
        """Return c1 and c2."""
        return self.c1 or 0.0, _or(self.c2, 1.0)

    def _check_parameters(self):
        """Check the parameters that `_parameter_constraints` cannot check."""
        if self.algorithm == "l2sgd" and self.c1:
            raise InvalidParameterError(
                f"The 'c1' parameter of CRF must be 0 or None with algorithm='l2sgd', "
                f"got {self.c1}; use 'lbfgs'."
            )
        if self.algorithm == "ap" and self.class_weight is not None:
            raise InvalidParameterError(
                "The 'class_weight' parameter of CRF must be None with algorithm='ap', "
                "whose loss has no cost; use 'pa'."
            )
        if self._algorithm.online is not None and self.decoding == POSTERIOR:
            raise InvalidParameterError(
                f"The 'decoding' parameter of CRF must be {VITERBI!r} with algorithm="
                f"{self.algorithm!r}, which learns scores and no probabilities."
            )
        if self._algorithm.online is None and not any(self._strengths()):
            raise InvalidParameterError(
                "The 'c2' parameter of CRF must be above 0 if 'c1' is 0 or None. Got "
                f"{self.c2!r} instead."
            )
        self._check_steps()
        if is_set := self._without_effect():
            warnings.warn(
                f"without effect in skcrf_sdca.compat.CRF: {', '.join(is_set)}. A fit "
                "with an objective stops by tol.",
                UserWarning,
                stacklevel=4,
            )

    def _check_steps(self):
        """Check the parameters of the steps of an online algorithm."""
        for name in self._algorithm.steps:
            value = getattr(self, name)
            fits = value is None or (isinstance(value, Real) and value > 0.0)
            if name != "averaging" and not fits:
                raise InvalidParameterError(
                    f"The '{name}' parameter of CRF must be a number above 0 or None. "
                    f"Got {value!r:.40} instead."
                )

    def _without_effect(self):
        """Return the names of parameters that are set, and have no effect."""
        have_effect = set(self._parameter_constraints)
        if self._algorithm.online is not None:
            have_effect = have_effect - _OF_OBJECTIVE | {*self._algorithm.steps}
        return [
            name
            for name, parameter in signature(CRF).parameters.items()
            if name not in have_effect
            and _differs(getattr(self, name), parameter.default)
        ]

    @property
    def _algorithm(self):
        return ALGORITHMS[_or(self.algorithm, DEFAULT)]


def _differs(value, default):
    """Return whether a value is not a default, a constant; after a pickle too."""
    return type(value) is not type(default) or value != default


def _or(value, default):
    """Return a value, the default for None."""
    return default if value is None else value


def _marginals(crf, X):
    """Return predict_proba of an estimator, of scores those of exp(score) / Z."""
    return _log_linear(crf).predict_proba(X)


def _log_linear(crf):
    """Return an estimator, of scores alone as that of exp(score) / Z."""
    if crf.temperature_:
        return crf
    return set_fitted(type(crf)(), {**vars(crf), "temperature_": 1.0})


def _name_of(estimator):
    """Return the name of the class of an estimator, or of a class."""
    return (estimator if isinstance(estimator, type) else type(estimator)).__name__


def _packed(X, input_format, vectorizer):
    """Return the X of dicts or strings, or a function that returns it, packed."""
    X = item_lists(X() if callable(X) else X)
    crf = set_fitted(AnyCRF(), {"vectorizer_": vectorizer})
    return input_format.pack(X, crf)[0]
