"""Learning as the data comes: `partial_fit`, and the estimator for streams.

OnlineMixin owns what a stream needs: chunks that bring new labels and features, the
average over all chunks, and the weights as attributes, which are made when somebody
looks. A chunk costs time in proportion to its own size, and an error leaves the model
as it was before.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from skcrf_sdca._utils.random import as_generator
from skcrf_sdca._utils.sklearn_private import (
    Interval,
    StrOptions,
    validates_parameters,
)
from skcrf_sdca._utils.typing import (
    ClassWeight,
    Cost,
    Features,
    LabelNames,
    Labels,
    OnlineLossName,
    RandomState,
    Scoring,
    Sequences,
    Transitions,
)
from skcrf_sdca.data.containers import as_sequence_list
from skcrf_sdca.estimators.base import BaseCRF
from skcrf_sdca.estimators.callbacks import LossPrinter
from skcrf_sdca.estimators.fitted import check_form, fitted_format
from skcrf_sdca.estimators.parameter_docs import with_shared_docs
from skcrf_sdca.estimators.validation import chunk_data
from skcrf_sdca.objective.losses import ONLINE_LOSSES
from skcrf_sdca.solvers.dca import DCA, averaged
from skcrf_sdca.solvers.monitor import LossMonitor
from skcrf_sdca.structures.chain.constraints import FROM_DATA
from skcrf_sdca.structures.chain.parameters import (
    MAY_FORBID,
    WEIGHTS,
    ChainParameters,
    dense_coef,
)

# Attributes that are made of the state of a stream when somebody looks.
_PUBLISHED = (*WEIGHTS, "n_nonzero_")
# Attributes of a fit that a chunk makes untrue.
_OF_FIT = ("alpha_", "history_", "n_iter_")
# Parameters, with values that need all of the data at once.
_OF_ALL_DATA = {
    "features": {"observed"},
    "transitions": set(FROM_DATA),
    "class_weight": {"balanced"},
}


class OnlineMixin(BaseCRF):
    """`partial_fit` for an estimator whose solver makes visits of single sequences.

    The solver takes ``state`` and ``copy``, and has ``w``, ``total``, ``n_visits`` and
    ``mean_loss``, as `DCA`.
    """

    n_visits_: int
    loss_: float

    # Labels are added to a matrix of transitions.
    _keeps_forbidden: ClassVar[bool] = True

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

        Chunks in their order give the weights that one epoch of `fit` on all of the
        data gives with ``shuffle=False``. After a `fit` the stream goes on from its
        weights, with a new average, unless ``warm_start=True`` kept the old one; and
        likewise after `prune`, `sparsify`, `densify` and `constrain`.

        Parameters
        ----------
        X : as in `fit`
            In the input format of the first chunk. There may be features that earlier
            chunks do not have: other strings and keys, or more columns after the known
            ones. Their weights were 0 so far.
        y : as in `fit`
            One label at each position.
        classes : array-like of labels, default=None
            New labels that may occur from this chunk on; known ones may be among them.
            The first chunk takes the labels of y if it is None.
        sample_weight : array-like of shape (n,), default=None
            Factor of `C` for each sequence.
        lengths : array-like of int of shape (n,), default=None
            As in `fit`.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError, TypeError
            As `fit`; and for a label that neither `classes` nor earlier chunks have, a
            chunk without sequences, with fewer features or of another input format, and
            for parameters that need all data at once (``features="observed"``,
            ``transitions`` "observed" or "open", ``class_weight="balanced"``). The
            model is then as it was before.

        Examples
        --------
        >>> from skcrf_sdca import PassiveAggressiveCRF
        >>> crf = PassiveAggressiveCRF()
        >>> crf = crf.partial_fit([[["the"], ["dog"]]], [["DET", "NOUN"]])
        >>> crf = crf.partial_fit([[["dogs"], ["bark"]]], [["NOUN", "VERB"]], ["VERB"])
        >>> crf.classes_.tolist(), crf.coef_.shape
        (['DET', 'NOUN', 'VERB'], (3, 4))
        """
        self._check_for_stream()
        X = as_sequence_list(X)
        y = list(y) if isinstance(y, Iterator) else y
        with self._vocabulary_kept():
            training = chunk_data(self, X, y, classes, sample_weight, lengths)
            solver = self._learn(self._new_problem(training), training)
        problem = solver.problem
        stale = (*_PUBLISHED, *_OF_FIT)
        kept = {name: v for name, v in vars(self).items() if name not in stale}
        self.__dict__ = {
            **kept,
            **training.attributes,
            "temperature_": problem.loss.temperature,
            "n_visits_": solver.n_visits,
            "loss_": solver.mean_loss,
            "_warm_state": {
                **solver.state(),
                "scale": problem.loss.scale,
                "constraints": problem.constraints,
                "pairs": None,
            },
        }
        return self

    def _check_for_stream(self):
        """Raise ValueError if a parameter needs all data at once."""
        for name, values in _OF_ALL_DATA.items():
            given = getattr(self, name, None)
            if isinstance(given, str) and given in values:
                raise ValueError(
                    f'partial_fit cannot work with {name}="{given}", which needs all '
                    "of the data at once: set it to another value."
                )

    @contextmanager
    def _vocabulary_kept(self):
        """Let the vectorizer forget what a chunk added, if an error ends it."""
        vectorizer = vars(self).get("vectorizer_")
        n_features = vectorizer and vectorizer.n_features_out_
        try:
            yield
        except BaseException:
            if vectorizer is not None and vectorizer.n_features_out_ > n_features:
                vectorizer._forget_from(n_features)
            raise

    def _learn(self, problem, training):
        """Visit the sequences of a chunk; return the solver."""
        options = {name: getattr(self, name) for name in self._solver_options}
        options |= {"shuffle": False, "copy": False}
        solver = self._solver(
            problem,
            as_generator(self.random_state),
            state=self._grown_state(problem, training),
            **options,
        )
        with _restored_after_error(problem, solver.w, solver.total):
            solver.epoch()
        return solver

    def _grown_state(self, problem, training):
        """Return the state to go on from, with the labels and features of a chunk."""
        if "classes_" not in vars(self):
            return None
        state, scale = self._own_state(), problem.loss.scale
        classes = training.attributes["classes_"]
        labels = np.searchsorted(classes, self.classes_)

        def grown(w):
            if w is None:
                return None
            if state["scale"] != scale or not w.flags.writeable:
                w = w * (state["scale"] / scale)
            model = self._parameters(w)
            return model.grown(training.data.n_features, len(classes), labels).w

        return {**state, "w": grown(state["w"]), "total": grown(state["total"])}

    def _stream_state(self):
        """Return what the next `partial_fit` goes on from, None if the weights alone.

        It is the state of the solver, and the ``scale`` of the loss that its weights
        have.
        """
        state = vars(self).get("_warm_state")
        if state is None or state["pairs"] is not None or not self._is_current(state):
            return None
        return state

    def _own_state(self):
        """Return the state of the stream so far, or one that begins at the weights."""
        state = self._stream_state()
        if state is not None:
            return state
        check_form(self)
        parameters = self._parameters(None)
        parameters.coef[:] = dense_coef(self.coef_).T
        parameters.intercept[:] = self.intercept_
        for name in MAY_FORBID:
            weights = getattr(self, name)
            block = getattr(parameters, name.removesuffix("_"))
            block[:] = np.where(weights == -np.inf, 0.0, weights)
        return {"w": parameters.w, "total": None, "n_visits": 0, "scale": 1.0}

    def _parameters(self, w):
        return ChainParameters(
            self.n_features_in_,
            len(self.classes_),
            boundaries=fitted_format(self).boundaries,
            w=w,
        )

    def _is_current(self, state):
        """Return whether the weights are those of a state, and none was assigned."""
        published = state.get("published", {})
        return all(vars(self).get(name) is published.get(name) for name in WEIGHTS)

    def __getattr__(self, name):
        """Make the weights after a `partial_fit`, when somebody first looks."""
        state = vars(self).get("_warm_state")
        if name not in _PUBLISHED or state is None or "scale" not in state:
            # Raises the usual error, or that of a property.
            return super().__getattribute__(name)
        w = averaged(state["w"], state["total"], state["n_visits"])
        w *= state["scale"]
        weights = self._parameters(w).attributes(state["constraints"])
        n_nonzero = int(np.count_nonzero(w))
        # Of two threads that look, both take what the first has made.
        weights = state.setdefault("published", weights)
        vars(self).update(weights, n_nonzero_=n_nonzero)
        return vars(self)[name]

    def _attributes_of_run(self, solver):
        attributes = super()._attributes_of_run(solver)
        if attributes:
            attributes["_warm_state"]["scale"] = solver.problem.loss.scale
        return attributes

    def _set_fitted(self, fitted):
        if "_warm_state" in fitted:
            published = {name: fitted[name] for name in WEIGHTS}
            fitted["_warm_state"]["published"] = published
        return super()._set_fitted(fitted)

    def __getstate__(self):
        """Return the attributes: of weights that a stream determines, the state alone.

        Where the weights were changed since, the state is left out.
        """
        attributes, state = super().__getstate__(), vars(self).get("_warm_state")
        if state is None:
            return attributes
        del attributes["_warm_state"]
        is_stream = self._stream_state() is not None
        if is_stream:
            attributes = {n: v for n, v in attributes.items() if n not in _PUBLISHED}
        if is_stream or state["pairs"] is not None:
            kept = {name: v for name, v in state.items() if name != "published"}
            attributes["_warm_state"] = kept
        return attributes

    def __sklearn_is_fitted__(self):
        """Return whether there are weights."""
        return "classes_" in vars(self)


@contextmanager
def _restored_after_error(problem, *vectors):
    """Put back the weights that visits of the problem change, if an error ends them."""
    X, rows = problem.data.X, slice(None)
    if sp.issparse(X):
        seen = np.zeros(X.shape[1], dtype=bool)
        seen[X.indices] = True
        rows = np.flatnonzero(seen)
    models = [problem.new_parameters(w) for w in vectors if w is not None]
    kept = [(model.biases.copy(), model.coef[rows].copy()) for model in models]
    try:
        yield
    except BaseException:
        for model, (biases, coef) in zip(models, kept, strict=True):
            model.biases[:] = biases
            model.coef[rows] = coef
        raise


@with_shared_docs
class PassiveAggressiveCRF(OnlineMixin):
    """Linear-chain CRF trained online, by passive-aggressive steps [1]_.

    A visit to a sequence moves the weights just as far as its loss asks for::

        w <- w - step grad L_i(w),    step = min(C, L_i(w) / ||grad L_i(w)||^2)

    which is coordinate ascent of the dual at the newest sequence. There is no step size
    to tune. A few passes over the data give a good tagger, and `partial_fit` learns
    from a stream. The model is the average of the weights after all visits. It is not
    the minimum of an objective, and has no certificate: see `SDCACRF` for that.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness: the longest step. That is 1 / (n * alpha) in the terms of
        `SDCACRF`.
    loss : {"log_loss", "softmax_margin", "hinge", "perceptron"}, default="log_loss"
        The first three are those of `SDCACRF`. With "hinge" a visit is one of 1-best
        MIRA, the passive-aggressive algorithm PA-I: other labels are to have a score
        that is lower by their cost. With "perceptron" it is the averaged structured
        perceptron: a step `C` where the prediction is wrong. These two give scores, and
        no probabilities.
    temperature : float, default=1.0
        As of `SDCACRF`; "hinge" and "perceptron" ignore it.
    margin, cost, class_weight : float, array-like or dict, str or dict
        The cost of "hinge" and "softmax_margin", as of `SDCACRF`.
    n_best : int, default=1
        With "hinge": a visit looks at so many labellings, those of the highest scores
        with their costs, and moves the weights until each of them has a loss of 0 or
        its step is `C`. That is k-best MIRA [2]_, 1-best MIRA for 1. Other losses take
        1 only.
    average : bool, default=True
        Whether the model is the average of the weights after every visit, or has the
        last weights.
    shuffle : bool, default=True
        Whether each epoch of `fit` visits the sequences in a new random order.
    max_iter : int, default=10
        Number of epochs; an epoch visits each sequence once.
    tol : float, default=0.0
        The fit ends before if the mean loss of the visits of an epoch is at most this:
        with the hinge and 0.0, if nothing is left to learn.
    {patience}
    {features}
    {transitions}
    {label_names}
    warm_start : bool, default=False
        Keep the weights before their average, and start the next fit from them.
    n_jobs : int, default=None
        Number of threads for prediction; None means one.
    {random_state}
    {verbose}

    Attributes
    ----------
    {weights_}
    {n_iter_}
    n_visits_ : int
        Sequences visited so far, counted by the average.
    loss_ : float
        Mean loss of the visits of the last epoch or chunk, each sequence at the weights
        before its visit. Of a stream it is a loss on data not seen before.
    {best_epoch_}
    history_ : dict of ndarrays of shape (n_iter_,)
        One value per epoch: epoch, updates (visits that changed the weights) and
        oracle_calls (divided by n), seconds, loss; with ``X_val`` also val_score. Not
        after `partial_fit`, as ``n_iter_`` and ``alpha_``.

    See Also
    --------
    SDCACRF : The optimum of an objective, with a certificate.

    References
    ----------
    .. [1] Martins et al., "Learning Structured Classifiers with Dual Coordinate
       Ascent", CMU-ML-10-109, 2010.
    .. [2] McDonald, Crammer, Pereira, "Online Large-Margin Training of Dependency
       Parsers", ACL 2005.

    Examples
    --------
    >>> from skcrf_sdca import PassiveAggressiveCRF
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "a"}, {"word": "dog"}]]
    >>> y = [["DET", "NOUN"], ["DET", "NOUN"]]
    >>> crf = PassiveAggressiveCRF(random_state=0).fit(X, y)
    >>> crf.predict([[{"word": "the"}, {"word": "dog"}]])
    array([list(['DET', 'NOUN'])], dtype=object)
    """

    _parameter_constraints: ClassVar[dict] = {
        **BaseCRF._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions(ONLINE_LOSSES.keys())],
        "n_best": [Interval(Integral, 1, None, closed="left")],
        "average": ["boolean"],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
    }
    _solver = DCA
    _solver_options = ("C", "n_best", "average", "shuffle")
    _monitor = LossMonitor
    _printer = LossPrinter
    # What the problem has, and the steps do not look at.
    alpha = "auto"
    l1_ratio = 0.0

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: OnlineLossName = "log_loss",
        temperature: float = 1.0,
        margin: float = 1.0,
        cost: Cost | None = None,
        class_weight: ClassWeight | None = None,
        n_best: int = 1,
        average: bool = True,
        shuffle: bool = True,
        max_iter: int = 10,
        tol: float = 0.0,
        patience: int | None = None,
        scoring: Scoring | None = None,
        features: Features = "all",
        min_count: float | None = None,
        transitions: Transitions | None = None,
        label_names: LabelNames | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.temperature = temperature
        self.margin = margin
        self.cost = cost
        self.class_weight = class_weight
        self.n_best = n_best
        self.average = average
        self.shuffle = shuffle
        self.max_iter = max_iter
        self.tol = tol
        self.patience = patience
        self.scoring = scoring
        self.features = features
        self.min_count = min_count
        self.transitions = transitions
        self.label_names = label_names
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _attributes_of_run(self, solver):
        alpha = solver.problem.alpha / self.C
        return {**super()._attributes_of_run(solver), "alpha_": alpha}

    def _targets(self, training, chains):
        if training.label_rows is not None:
            raise ValueError(
                "PassiveAggressiveCRF needs one label at every position of y: leave "
                "out the sequences with unknown or soft labels, or take SDCACRF."
            )
        return super()._targets(training, chains)
