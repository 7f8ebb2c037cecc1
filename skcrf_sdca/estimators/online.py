"""PassiveAggressiveCRF: online learning by steps that need no step size."""

from numbers import Integral, Real
from typing import ClassVar, Literal

from skcrf_sdca._utils.sklearn_private import Interval, StrOptions
from skcrf_sdca._utils.typing import (
    ClassWeight,
    Cost,
    EdgeFeatures,
    Features,
    LabelNames,
    OnlineLossName,
    RandomState,
    Scoring,
    Transitions,
)
from skcrf_sdca.estimators.base import BaseCRF
from skcrf_sdca.estimators.callbacks import LossPrinter
from skcrf_sdca.estimators.parameter_docs import with_shared_docs
from skcrf_sdca.estimators.streams import OnlineMixin
from skcrf_sdca.objective.losses import ONLINE_LOSSES
from skcrf_sdca.solvers.dca import AVERAGES, DCA, UPDATES
from skcrf_sdca.solvers.monitor import LossMonitor


@with_shared_docs
class PassiveAggressiveCRF(OnlineMixin):
    """Linear-chain CRF trained online, by passive-aggressive steps [1]_.

    A visit to a sequence moves the weights just as far as its loss asks for::

        w <- w - step grad L_i(w),    step = min(C, L_i(w) / ||grad L_i(w)||^2)

    which is coordinate ascent of the dual at the newest sequence. There is no step size
    to tune. A few passes over the data give a good tagger, and `partial_fit` learns
    from a stream: chunks in their order give the weights of one epoch of `fit` with
    ``shuffle=False``. The model is the average of the weights after all visits. It is
    not the minimum of an objective, and has no certificate: see `SDCACRF` for that.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness: the longest step. That is 1 / (n * alpha) in the terms of
        `SDCACRF`. With ``update="arow"`` no step has a bound: C is the ratio of the
        first variance of a weight to the r of [5]_.
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
    update : {"max_loss", "prediction", "arow"}, default="max_loss"
        With "hinge" and ``n_best=1``: the labelling that a visit moves away from. It is
        the one of the largest loss, best with its cost, or the prediction, best without
        it [3]_. Both have a loss with the cost; "prediction" has one of 0 where the
        model is right, and a smaller one else. "arow" also moves away from the
        prediction, by steps of AROW [5]_: each weight has a variance, 1 at first, which
        falls with the squares of its gradients, and moves in proportion to it::

            w <- w - L Sigma g / (<g, Sigma g> + 1 / C)
            1 / Sigma <- 1 / Sigma + C g^2
    average : bool or {"polynomial", "uniform"}, default=True
        Whether the model is the average of the weights after every visit, or has the
        last weights. In the average "polynomial", which is that of True, the weights of
        the first v of m visits have the share (v / m)^4 [4]_, so that early ones are
        soon forgotten. In "uniform" all have the same share, as in the usual averaged
        perceptron.
    shuffle : bool, default=True
        Whether each epoch of `fit` visits the sequences in a new random order.
    max_iter : int, default=10
        Number of epochs; an epoch visits each sequence once.
    tol : float, default=0.0
        The fit ends before if the mean loss of the visits of an epoch is at most this:
        with the hinge and 0.0, if nothing is left to learn.
    {patience}
    {features}
    {order}
    {edge_features}
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
    .. [3] Crammer, Dekel, Keshet, Shalev-Shwartz, Singer, "Online Passive-Aggressive
       Algorithms", JMLR 2006, section 9.
    .. [4] Shamir, Zhang, "Stochastic Gradient Descent for Non-smooth Optimization:
       Convergence Results and Optimal Averaging Schemes", ICML 2013, with eta = 3.
    .. [5] Crammer, Kulesza, Dredze, "Adaptive Regularization of Weight Vectors", NIPS
       2009; diagonal variances.

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
        "update": [StrOptions({*UPDATES})],
        "average": ["boolean", StrOptions(AVERAGES.keys())],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
    }
    # `fit` and `partial_fit` have the same bits.
    _keeps_forbidden = True
    _other_vectors = ("squares",)
    _stream_values: ClassVar[dict[str, type]] = {"n_visits": int, "power": float}
    _solver = DCA
    _solver_options = ("C", "n_best", "update", "average", "shuffle")
    _monitor = LossMonitor
    _takes_prior: ClassVar[bool] = False
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
        update: Literal["max_loss", "prediction", "arow"] = "max_loss",
        average: bool | Literal["polynomial", "uniform"] = True,
        shuffle: bool = True,
        max_iter: int = 10,
        tol: float = 0.0,
        patience: int | None = None,
        scoring: Scoring | None = None,
        features: Features = "all",
        min_count: float | None = None,
        order: int = 1,
        edge_features: EdgeFeatures | None = None,
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
        self.update = update
        self.average = average
        self.shuffle = shuffle
        self.max_iter = max_iter
        self.tol = tol
        self.patience = patience
        self.scoring = scoring
        self.features = features
        self.min_count = min_count
        self.order = order
        self.edge_features = edge_features
        self.transitions = transitions
        self.label_names = label_names
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _choices(self):
        # No other estimator learns in this way.
        return {}, type(self).__name__

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
