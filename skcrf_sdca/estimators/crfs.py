"""The estimators: parameters and documentation; BaseCRF and the solvers do the work.

The parts of their reference that several share are in parameter_docs.py.
"""

from collections.abc import Hashable
from numbers import Real
from typing import ClassVar, Literal

from skcrf_sdca._utils.sklearn_private import Interval, StrOptions
from skcrf_sdca._utils.typing import (
    Acceleration,
    Alpha,
    ClassWeight,
    Cost,
    DualSampling,
    EdgeFeatures,
    Features,
    LabelNames,
    LossName,
    RandomState,
    Scoring,
    SDCASampling,
    SolverName,
    Transitions,
)
from skcrf_sdca.estimators.base import BaseCRF
from skcrf_sdca.estimators.choice import Choice, choose
from skcrf_sdca.estimators.parameter_docs import with_shared_docs
from skcrf_sdca.estimators.sgd import SGDCRF
from skcrf_sdca.solvers.bcfw import BCFW
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.owlqn import OWLQN
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.samplers import SchemeNames
from skcrf_sdca.solvers.sdca import SDCA


@with_shared_docs
class SDCACRF(BaseCRF):
    """Linear-chain CRF trained by stochastic dual coordinate ascent [1]_.

    {objective}

    by exact maximisation of the dual along one sequence at a time. No step size needs
    tuning, and the fit stops on a certificate: ``duality_gap_`` bounds the distance of
    P(w) from its minimum. With ``loss="hinge"`` it is a structural SVM, trained by
    block-coordinate Frank-Wolfe [2]_ with gap sampling [3]_; the model is the best of
    its points and of their averages.

    Parameters
    ----------
    {alpha}
    {loss}
    {l1_ratio}
    {max_iter}
    {tol}
    {patience}
    {features}
    {order}
    {edge_features}
    {transitions}
    {label_names}
    {unknown_label}
    {acceleration}
    {dual_sampling}
    line_search : {"newton", "fixed"}, default="newton"
        Exact line search by Newton's method, or the same `step` at every visit.
    line_search_tol : float, default=1e-3
        The line search ends when the step changes by less than this.
    step : float in (0, 1], default=None
        The step of ``line_search="fixed"``; ignored otherwise.
    init_smoothing : float in (0, 1], default=1e-6
        Weight of the uniform distribution over the allowed label paths in the initial
        marginals; the correct labels have the remaining weight. A larger value starts
        further from the optimum.
    dual_dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of the stored edge marginals, which take most of the memory. The
        certificate is exact with both, but rounding in float32 keeps the gap above
        about 1e-15 / (n * alpha) nats per position: "auto" is float32 for
        n * alpha >= 1e-3.
    {dual_warm_start}
    {dual_n_jobs}
    {random_state}
    {verbose}

    Attributes
    ----------
    {weights_}
    {n_iter_}
    {certificate_}
    {best_epoch_}
    history_ : dict of ndarrays of shape (n_iter_,)
        One value per epoch: epoch, updates and oracle_calls (divided by n), seconds
        (without the certificates), primal, dual, gap; with ``X_val`` also val_score.

    See Also
    --------
    OEGCRF : The same model by exponentiated gradient, in a fraction of the memory.
    LBFGSCRF : The same model by L-BFGS.

    Notes
    -----
    The dual variables take 4 * n_positions * n_labels^2 bytes, and twice as many in
    float64.

    Of the hinge they take 8 * (n_positions * n_labels + n * n_labels^2) bytes, and a
    visit one Viterbi pass. Its step is exact: `line_search`, `line_search_tol`, `step`,
    `init_smoothing` and `dual_dtype` are ignored, and the fit starts at w = 0. As the
    loss is not smooth, the gap falls more slowly than that of the other losses: a `tol`
    of 1e-2 is often enough.

    References
    ----------
    .. [1] Le Priol, Piche, Lacoste-Julien, "Adaptive Stochastic Dual Coordinate Ascent
       for Conditional Random Fields", UAI 2018, arXiv:1712.08577.
    .. [2] Lacoste-Julien, Jaggi, Schmidt, Pletscher, "Block-Coordinate Frank-Wolfe
       Optimization for Structural SVMs", ICML 2013.
    .. [3] Osokin et al., "Minding the Gaps for Block Frank-Wolfe Optimization of
       Structured SVMs", ICML 2016.

    Examples
    --------
    >>> from skcrf_sdca import SDCACRF
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "a"}, {"word": "dog"}]]
    >>> y = [["DET", "NOUN"], ["DET", "NOUN"]]
    >>> crf = SDCACRF(random_state=0).fit(X, y)
    >>> crf.predict([[{"word": "the"}, {"word": "dog"}]])
    array([list(['DET', 'NOUN'])], dtype=object)
    >>> bool(crf.duality_gap_ < 1e-3)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **BaseCRF._parameter_constraints,
        "acceleration": [StrOptions({"auto", "proximal_point"}), None],
        "sampling": [StrOptions(SchemeNames("sdca"))],
        "sampling_mix": [Interval(Real, 0, 1, closed="both")],
        "line_search": [StrOptions({"newton", "fixed"})],
        "line_search_tol": [Interval(Real, 0, 1, closed="neither")],
        "step": [Interval(Real, 0, 1, closed="right"), None],
        "init_smoothing": [Interval(Real, 0, 1, closed="right")],
        "dual_dtype": [StrOptions({"auto", "float32", "float64"})],
        "random_state": ["random_state"],
    }
    _solver = SDCA
    _solver_options = (
        "sampling",
        "sampling_mix",
        "line_search",
        "line_search_tol",
        "step",
        "init_smoothing",
        "dual_dtype",
    )
    _other_solvers = ((BCFW, ("sampling", "sampling_mix")),)

    def __init__(
        self,
        alpha: Alpha = "auto",
        *,
        loss: LossName = "log_loss",
        temperature: float = 1.0,
        margin: float = 1.0,
        cost: Cost | None = None,
        class_weight: ClassWeight | None = None,
        l1_ratio: float = 0.0,
        max_iter: int = 100,
        tol: float = 1e-3,
        patience: int | None = None,
        scoring: Scoring | None = None,
        features: Features = "all",
        min_count: float | None = None,
        order: int = 1,
        edge_features: EdgeFeatures | None = None,
        transitions: Transitions | None = None,
        label_names: LabelNames | None = None,
        unknown_label: Hashable = None,
        acceleration: Acceleration = "auto",
        sampling: SDCASampling = "gap",
        sampling_mix: float = 0.8,
        line_search: Literal["newton", "fixed"] = "newton",
        line_search_tol: float = 1e-3,
        step: float | None = None,
        init_smoothing: float = 1e-6,
        dual_dtype: Literal["auto", "float32", "float64"] = "auto",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.temperature = temperature
        self.margin = margin
        self.cost = cost
        self.class_weight = class_weight
        self.l1_ratio = l1_ratio
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
        self.unknown_label = unknown_label
        self.acceleration = acceleration
        self.sampling = sampling
        self.sampling_mix = sampling_mix
        self.line_search = line_search
        self.line_search_tol = line_search_tol
        self.step = step
        self.init_smoothing = init_smoothing
        self.dual_dtype = dual_dtype
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


@with_shared_docs
class SAGNUSCRF(BaseCRF):
    """Linear-chain CRF trained by SAG with non-uniform sampling (SAG-NUS*) [1]_.

    {objective}

    by stochastic average gradient (SAG): each step follows the average, over all
    sequences, of their most recent gradients. The step size comes from the Lipschitz
    constants of the gradients, which a line search estimates at each visit. The
    marginals of the last visits are a dual point mu: the gap is P(w) - D(mu), near the
    optimum ``||grad P(w)||^2 / (2 alpha)`` if that is smaller. Far from the optimum it
    is larger than that of `SDCACRF`.

    Large dense features are whitened: the steps are made in coordinates in which their
    second moments are even, see :doc:`/dense_features`.

    Parameters
    ----------
    {alpha}
    {loss}
    {l1_ratio}
    {max_iter}
    {tol}
    {patience}
    {features}
    {order}
    {edge_features}
    {transitions}
    {label_names}
    {unknown_label}
    sampling : {"lipschitz", "uniform"}, default="lipschitz"
        "lipschitz" is SAG-NUS*: each sequence has a Lipschitz constant, and sequences
        that were visited before are sampled in proportion to theirs. "uniform" is SAG:
        one constant for all sequences, and uniform sampling.
    sampling_mix : float in [0, 1), default=0.5
        Probability of sampling by the constants; otherwise the next sequence is sampled
        uniformly.
    line_search_skipping : bool, default=True
        Whether to skip the next 2^(r - 1) line searches of a sequence after r searches
        in a row that did not change its constant.
    saga : bool, default=False
        Whether to take the unbiased steps of SAGA, which are a third as long.
    warm_start : bool, default=False
        Keep weights, gradients and constants, and start the next fit from them. The
        next fit needs the same sequences and `transitions`; alpha, for example, may
        differ.
    n_jobs : int, default=None
        Number of threads for the certificate and for prediction; None means one.
    {random_state}
    {verbose}

    Attributes
    ----------
    {weights_}
    {n_iter_}
    {certificate_}
    {best_epoch_}
    history_ : dict of ndarrays of shape (n_iter_,)
        One value per epoch: epoch, updates and oracle_calls (divided by n; each forward
        pass of a line search is half a call), seconds (without the certificates),
        primal, dual, gap; with ``X_val`` also val_score.

    See Also
    --------
    SDCACRF : The same model by dual coordinate ascent with an exact line search.

    Notes
    -----
    The gradients are stored as marginals, in 8 * (n_positions * n_labels +
    n * n_labels^2) bytes. Whitened features take 8 * n_positions * n_features more.

    References
    ----------
    .. [1] Schmidt et al., "Non-Uniform Stochastic Average Gradient Method for Training
       Conditional Random Fields", AISTATS 2015, arXiv:1504.04406.

    Examples
    --------
    >>> from skcrf_sdca import SAGNUSCRF
    >>> from skcrf_sdca.datasets import make_chains
    >>> X, y = make_chains(n_sequences=30, random_state=0)
    >>> crf = SAGNUSCRF(random_state=0).fit(X, y)
    >>> crf.coef_.shape
    (3, 5)
    """

    _parameter_constraints: ClassVar[dict] = {
        **BaseCRF._parameter_constraints,
        "sampling": [StrOptions(SchemeNames("sag"))],
        "sampling_mix": [Interval(Real, 0, 1, closed="left")],
        "line_search_skipping": ["boolean"],
        "saga": ["boolean"],
        "random_state": ["random_state"],
    }
    _solver = SAG
    _solver_options = ("sampling", "sampling_mix", "line_search_skipping", "saga")

    def __init__(
        self,
        alpha: Alpha = "auto",
        *,
        loss: LossName = "log_loss",
        temperature: float = 1.0,
        margin: float = 1.0,
        cost: Cost | None = None,
        class_weight: ClassWeight | None = None,
        l1_ratio: float = 0.0,
        max_iter: int = 100,
        tol: float = 1e-3,
        patience: int | None = None,
        scoring: Scoring | None = None,
        features: Features = "all",
        min_count: float | None = None,
        order: int = 1,
        edge_features: EdgeFeatures | None = None,
        transitions: Transitions | None = None,
        label_names: LabelNames | None = None,
        unknown_label: Hashable = None,
        sampling: Literal["lipschitz", "uniform"] = "lipschitz",
        sampling_mix: float = 0.5,
        line_search_skipping: bool = True,
        saga: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.temperature = temperature
        self.margin = margin
        self.cost = cost
        self.class_weight = class_weight
        self.l1_ratio = l1_ratio
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
        self.unknown_label = unknown_label
        self.sampling = sampling
        self.sampling_mix = sampling_mix
        self.line_search_skipping = line_search_skipping
        self.saga = saga
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


@with_shared_docs
class OEGCRF(BaseCRF):
    """Linear-chain CRF trained by online exponentiated gradient [1]_.

    {objective}

    by ascent of the dual along one sequence at a time, as `SDCACRF` does, but in
    natural parameters. These are about n_positions * n_labels + n * n_labels^2 numbers,
    whereas SDCA stores n_positions * n_labels^2. The fit stops on the same certificate.

    Parameters
    ----------
    {alpha}
    {loss}
    {l1_ratio}
    {max_iter}
    {tol}
    {patience}
    {features}
    {order}
    {edge_features}
    {transitions}
    {label_names}
    {unknown_label}
    {acceleration}
    {dual_sampling}
    step_init : float in (0, 1], default=0.7
        First step size of every sequence. A visit halves the step size until the dual
        does not fall, and the next visit starts from one that is 5 % larger [2]_.
    init_score : float, default=14.0
        Initial natural parameter of the correct label at each position; those of the
        other labels are 0.
    {dual_warm_start}
    {dual_n_jobs}
    {random_state}
    {verbose}

    Attributes
    ----------
    {weights_}
    {n_iter_}
    {certificate_}
    {best_epoch_}
    history_ : dict of ndarrays of shape (n_iter_,)
        One value per epoch: epoch, updates and oracle_calls (divided by n; each trial
        of a step size is a call, and the forward pass that computes the gap is half a
        call), seconds (without the certificates), primal, dual, gap; with ``X_val``
        also val_score.

    See Also
    --------
    SDCACRF : The same model by dual coordinate ascent with an exact line search.

    References
    ----------
    .. [1] Collins, Globerson, Koo, Carreras, Bartlett, "Exponentiated Gradient
       Algorithms for Conditional Random Fields and Max-Margin Markov Networks", JMLR
       2008.
    .. [2] Schmidt et al., "Non-Uniform Stochastic Average Gradient Method for Training
       Conditional Random Fields", AISTATS 2015, arXiv:1504.04406, footnote 9.

    Examples
    --------
    >>> from skcrf_sdca import OEGCRF
    >>> from skcrf_sdca.datasets import make_chains
    >>> X, y = make_chains(n_sequences=30, random_state=0)
    >>> crf = OEGCRF(random_state=0).fit(X, y)
    >>> crf.coef_.shape
    (3, 5)
    """

    _parameter_constraints: ClassVar[dict] = {
        **BaseCRF._parameter_constraints,
        "acceleration": [StrOptions({"auto", "proximal_point"}), None],
        "sampling": [StrOptions(SchemeNames("oeg"))],
        "sampling_mix": [Interval(Real, 0, 1, closed="both")],
        "step_init": [Interval(Real, 0, 1, closed="right")],
        "init_score": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }
    _solver = OEG
    _solver_options = ("sampling", "sampling_mix", "step_init", "init_score")

    def __init__(
        self,
        alpha: Alpha = "auto",
        *,
        loss: LossName = "log_loss",
        temperature: float = 1.0,
        margin: float = 1.0,
        cost: Cost | None = None,
        class_weight: ClassWeight | None = None,
        l1_ratio: float = 0.0,
        max_iter: int = 100,
        tol: float = 1e-3,
        patience: int | None = None,
        scoring: Scoring | None = None,
        features: Features = "all",
        min_count: float | None = None,
        order: int = 1,
        edge_features: EdgeFeatures | None = None,
        transitions: Transitions | None = None,
        label_names: LabelNames | None = None,
        unknown_label: Hashable = None,
        acceleration: Acceleration = "auto",
        sampling: DualSampling = "gap",
        sampling_mix: float = 0.8,
        step_init: float = 0.7,
        init_score: float = 14.0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.temperature = temperature
        self.margin = margin
        self.cost = cost
        self.class_weight = class_weight
        self.l1_ratio = l1_ratio
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
        self.unknown_label = unknown_label
        self.acceleration = acceleration
        self.sampling = sampling
        self.sampling_mix = sampling_mix
        self.step_init = step_init
        self.init_score = init_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


@with_shared_docs
class LBFGSCRF(BaseCRF):
    """Linear-chain CRF trained by L-BFGS: the reference of the other estimators.

    {objective}

    by the L-BFGS-B of scipy. The certificate is ``||grad P(w)||^2 / (2 alpha)``, which
    bounds P(w) - min P because P is strongly convex. With `l1_ratio` above 0, the
    algorithm is OWL-QN (Andrew and Gao, ICML 2007).

    Parameters
    ----------
    {alpha}
    {loss}
    {l1_ratio}
    max_iter : int, default=1000
        Maximum number of iterations.
    {tol}
    {patience}
    {features}
    {order}
    {edge_features}
    {transitions}
    {label_names}
    {unknown_label}
    warm_start : bool, default=False
        Start the next fit from the weights of this one.
    n_jobs : int, default=None
        Number of threads; None means one.
    verbose : int, default=0
        1 prints a line every iteration.

    Attributes
    ----------
    {weights_}
    n_iter_ : int
        Number of iterations.
    {certificate_}
    {best_epoch_}
    history_ : dict of ndarrays of shape (n_iter_,)
        One value per iteration: epoch, updates and oracle_calls (divided by n),
        seconds, primal, dual, gap; with ``X_val`` also val_score.

    See Also
    --------
    SDCACRF : The same model by dual coordinate ascent, which is much faster on many
        sequences, and slower on a few long ones.

    Examples
    --------
    >>> from skcrf_sdca import LBFGSCRF
    >>> from skcrf_sdca.datasets import make_chains
    >>> X, y = make_chains(n_sequences=30, random_state=0)
    >>> crf = LBFGSCRF().fit(X, y)
    >>> crf.transition_.shape
    (3, 3)
    """

    _parameter_constraints: ClassVar[dict] = BaseCRF._parameter_constraints
    _solver = LBFGS
    _solver_options = ("max_iter",)
    _other_solvers = ((OWLQN, ("max_iter",)),)

    def __init__(
        self,
        alpha: Alpha = "auto",
        *,
        loss: LossName = "log_loss",
        temperature: float = 1.0,
        margin: float = 1.0,
        cost: Cost | None = None,
        class_weight: ClassWeight | None = None,
        l1_ratio: float = 0.0,
        max_iter: int = 1000,
        tol: float = 1e-3,
        patience: int | None = None,
        scoring: Scoring | None = None,
        features: Features = "all",
        min_count: float | None = None,
        order: int = 1,
        edge_features: EdgeFeatures | None = None,
        transitions: Transitions | None = None,
        label_names: LabelNames | None = None,
        unknown_label: Hashable = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.temperature = temperature
        self.margin = margin
        self.cost = cost
        self.class_weight = class_weight
        self.l1_ratio = l1_ratio
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
        self.unknown_label = unknown_label
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose


# The estimators by the names of their solvers.
SOLVERS = {"sdca": SDCACRF, "oeg": OEGCRF, "sag": SAGNUSCRF, "lbfgs": LBFGSCRF}


@with_shared_docs
class CRF(BaseCRF):
    """Linear-chain CRF trained by the solver that suits the data.

    {objective}

    by one of the solvers of `SDCACRF`, `OEGCRF`, `SAGNUSCRF` and `LBFGSCRF`, which all
    end at the same model. "auto" chooses by the form of the features, their size beside
    n * alpha, and the number of labels: see :doc:`/dense_features`. The parameters that
    only some of them have are at their defaults.

    Parameters
    ----------
    solver : {"auto", "sdca", "oeg", "sag", "lbfgs"}, default="auto"
        The solver. ``loss="hinge"`` is for "sdca", which "auto" takes then; with
        `l1_ratio` above 0 it takes "sdca" or "oeg", by the number of labels.
    {alpha}
    {loss}
    {l1_ratio}
    max_iter : int, default=1000
        Maximum number of epochs; an epoch visits n sequences, or is one iteration of
        L-BFGS.
    {tol}
    {patience}
    {features}
    {order}
    {edge_features}
    {transitions}
    {label_names}
    {unknown_label}
    warm_start : bool, default=False
        Keep the state of the solver, and start the next fit from it, as the estimators
        of the single solvers do; "auto" keeps the solver then.
    {dual_n_jobs}
    {random_state}
    {verbose}

    Attributes
    ----------
    solver_ : {"sdca", "oeg", "sag", "lbfgs"}
        The solver of the fit.
    {weights_}
    {n_iter_}
    {certificate_}
    {best_epoch_}
    history_ : dict of ndarrays of shape (n_iter_,)
        One value per epoch: epoch, updates and oracle_calls (divided by n), seconds
        (without the certificates of "sdca", "oeg" and "sag"), primal, dual, gap; with
        ``X_val`` also val_score.

    See Also
    --------
    SDCACRF, OEGCRF, SAGNUSCRF, LBFGSCRF : One solver each, with all its parameters.

    Examples
    --------
    >>> from skcrf_sdca import CRF
    >>> from skcrf_sdca.datasets import make_chains
    >>> X, y = make_chains(n_sequences=30, random_state=0)
    >>> crf = CRF(random_state=0).fit(X, y)
    >>> crf.solver_
    'sdca'
    """

    _parameter_constraints: ClassVar[dict] = {
        **BaseCRF._parameter_constraints,
        "solver": [StrOptions({"auto", *SOLVERS})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        alpha: Alpha = "auto",
        *,
        solver: SolverName = "auto",
        loss: LossName = "log_loss",
        temperature: float = 1.0,
        margin: float = 1.0,
        cost: Cost | None = None,
        class_weight: ClassWeight | None = None,
        l1_ratio: float = 0.0,
        max_iter: int = 1000,
        tol: float = 1e-3,
        patience: int | None = None,
        scoring: Scoring | None = None,
        features: Features = "all",
        min_count: float | None = None,
        order: int = 1,
        edge_features: EdgeFeatures | None = None,
        transitions: Transitions | None = None,
        label_names: LabelNames | None = None,
        unknown_label: Hashable = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.solver = solver
        self.loss = loss
        self.temperature = temperature
        self.margin = margin
        self.cost = cost
        self.class_weight = class_weight
        self.l1_ratio = l1_ratio
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
        self.unknown_label = unknown_label
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _single(self, name):
        """Return an estimator of one solver, with the parameters of this one."""
        cls = SOLVERS[name]
        own = {key: value for key, value in vars(self).items() if key in _names(cls)}
        single = cls(**own)
        single._warm_state = getattr(self, "_warm_state", None)
        return single

    def _chosen(self, problem):
        """Return the Choice for a problem."""
        if self.solver != "auto":
            return Choice(self.solver, "asked for")
        state = getattr(self, "_warm_state", None) if self.warm_start else None
        if state is not None and "solver" in state:
            return Choice(str(state["solver"]), "the state of the last fit")
        return choose(problem)

    @property
    def _acceleration(self):
        # That of the estimator that takes all problems, for the check before a choice.
        return self._single(
            "sdca" if self.solver == "auto" else self.solver
        )._acceleration

    def _solver_of(self, *parts):
        name = "sdca" if self.solver == "auto" else self.solver
        return self._single(name)._solver_of(*parts)

    def _new_solver(self, problem):
        name, reason = self._chosen(problem)
        if self.verbose:
            print(f"CRF: solver {name}, {reason}", flush=True)
        return self._single(name)._new_solver(problem)

    def _attributes_of_run(self, solver):
        name = self._chosen(solver.problem).solver
        found = super()._attributes_of_run(solver)
        if "_warm_state" in found:
            found["_warm_state"]["solver"] = name
        return {**found, "solver_": name}


def _names(cls):
    """Return the names of the parameters of an estimator."""
    return cls().get_params()


ESTIMATORS = (SDCACRF, SAGNUSCRF, OEGCRF, LBFGSCRF, SGDCRF, CRF)
