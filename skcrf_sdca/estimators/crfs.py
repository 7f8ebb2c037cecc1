"""The estimators: parameters and documentation; BaseCRF and the solvers do the work.

It is long because each estimator has the whole of its reference.
"""

from numbers import Real
from typing import ClassVar, Literal

from skcrf_sdca._utils.sklearn_private import Interval, StrOptions
from skcrf_sdca._utils.typing import Alpha, DualSampling, RandomState, Transitions
from skcrf_sdca.estimators.base import BaseCRF
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.samplers import schemes_for
from skcrf_sdca.solvers.sdca import SDCA


class SDCACRF(BaseCRF):
    """Linear-chain CRF trained by stochastic dual coordinate ascent [1]_.

    Minimises, over all weights w (coefficients, intercept, start, end, transition)::

        P(w) = alpha/2 ||w||^2 + 1/n sum_i -log p(y_i | x_i; w)

    by exact maximisation of the dual along one sequence at a time. No step size needs
    tuning, and the fit stops on a certificate: ``duality_gap_`` bounds the distance of
    P(w) from its minimum.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Strength of the regularisation; "auto" is 1/n, or 1 over the sum of the sample
        weights. In the terms of CRFsuite, ``c2 = n * alpha / 2``.
    max_iter : int, default=100
        Epochs at most; an epoch visits n sequences.
    tol : float, default=1e-4
        The fit stops when the duality gap is at most tol * P(0), where P(0) = mean
        length * log(n_labels) is the objective of the empty model; with `transitions`,
        the mean logarithm of the number of allowed paths.
    transitions : str, ndarray or list of pairs, default=None
        Which label may follow which; everything by default. Anything else has
        probability 0, in training and in prediction.

        * "BIO", "IOB1", "BIOES" or "BILOU": what the scheme allows, for labels such as
          "B-PER" and "O". It also says which labels may begin and end a sequence.
        * "observed": the transitions, first and last labels that y has.
        * a bool array of shape (n_labels, n_labels), [from, to], in the order of
          ``classes_``: True is allowed.
        * pairs (from, to) of labels that are allowed. Where (None, label) is among
          them, only labels so named may begin a sequence, and with (label, None) end
          it. Pairs with labels that y does not have are ignored.

        Labels in y that break the rule are an error.
    sampling : {"gap", "gap_importance", "importance", "uniform", "max"}, default="gap"
        What the next sequence is drawn by: its duality gap when last visited, its
        radius ("importance"), their product, nothing, or always the largest gap.
    sampling_mix : float in [0, 1], default=0.8
        Share of draws made so; the others are uniform.
    line_search : {"newton", "fixed"}, default="newton"
        Exact line search, or the same `step` at every visit.
    line_search_tol : float, default=1e-3
        The line search ends when its step moves by less.
    step : float in (0, 1], default=None
        The step of ``line_search="fixed"``; not used otherwise.
    init_smoothing : float in (0, 1], default=1e-6
        Share of the uniform distribution over the allowed paths in the first marginals,
        the rest being the labels themselves. Larger shares start further from the
        optimum.
    dual_dtype : {"auto", "float32", "float64"}, default="auto"
        Precision of the stored edge marginals, which are nearly all of the memory. The
        certificate is exact with both, but in float32 rounding keeps the gap above some
        1e-15 / (n * alpha) nats a position: "auto" is float32 for n * alpha >= 1e-3.
    warm_start : bool, default=False
        Keep the dual variables, and start the next fit from them. It needs the same
        sequences; alpha, for one, may differ.
    n_jobs : int, default=None
        Threads; None is one. More than one visit the sequences side by side, each those
        of its own share: the last bits of the result depend on their number, and on
        nothing else. A thread has at least 64 sequences.
    random_state : int, RandomState instance or None, default=None
        Determines the order of the visits. Pass an int for the same bits at every fit.
    verbose : int, default=0
        1 prints a line every epoch.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels, sorted.
    coef_ : ndarray of shape (n_labels, n_features_in_)
    intercept_, start_, end_ : ndarrays of shape (n_labels,)
    transition_ : ndarray of shape (n_labels, n_labels)
        Score of label [from, to]; like ``start_`` and ``end_``, -inf where
        `transitions` forbids.
    n_features_in_ : int
        Features of a position, after vectorizing.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only after a fit on a data frame.
    vectorizer_ : SequenceVectorizer
        Only after a fit on dicts or strings.
    alpha_ : float
        The value of alpha that was used.
    n_iter_ : int
        Epochs made.
    primal_objective_, dual_objective_, duality_gap_ : float
        P(w), D(mu) and their difference at the end, in nats a sequence.
    gap_target_ : float
        tol * P(0), the gap at which the fit ends.
    history_ : dict of ndarrays of shape (n_iter_,)
        Per epoch: epoch, updates and oracle_calls (divided by n), seconds (without the
        certificates), primal, dual, gap.

    See Also
    --------
    OEGCRF : The same model by exponentiated gradient, in a fraction of the memory.
    LBFGSCRF : The same model by L-BFGS.

    Notes
    -----
    The dual takes 4 * n_positions * n_labels^2 bytes, twice that in float64.

    References
    ----------
    .. [1] Le Priol, Piche, Lacoste-Julien, "Adaptive Stochastic Dual Coordinate Ascent
       for Conditional Random Fields", UAI 2018, arXiv:1712.08577.

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
        "sampling": [StrOptions(schemes_for("dual"))],
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

    def __init__(
        self,
        alpha: Alpha = "auto",
        *,
        max_iter: int = 100,
        tol: float = 1e-4,
        transitions: Transitions | None = None,
        sampling: DualSampling = "gap",
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
        self.max_iter = max_iter
        self.tol = tol
        self.transitions = transitions
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


class SAGNUSCRF(BaseCRF):
    """Linear-chain CRF trained by stochastic average gradient, not uniform [1]_.

    Minimises, over all weights w (coefficients, intercept, start, end, transition)::

        P(w) = alpha/2 ||w||^2 + 1/n sum_i -log p(y_i | x_i; w)

    by steps along the average of the last gradients seen of all sequences. The step
    size comes from the Lipschitz constants of the gradients, which a search along the
    gradient of the visited sequence finds. The certificate is the gap of strong
    convexity, ``||grad P(w)||^2 / (2 alpha)``, which bounds P(w) - min P, and is looser
    than that of `SDCACRF`: by orders of magnitude far from the optimum.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Strength of the regularisation; "auto" is 1/n, or 1 over the sum of the sample
        weights. In the terms of CRFsuite, ``c2 = n * alpha / 2``.
    max_iter : int, default=100
        Epochs at most; an epoch visits n sequences.
    tol : float, default=1e-4
        The fit stops when the duality gap is at most tol * P(0), where P(0) = mean
        length * log(n_labels) is the objective of the empty model; with `transitions`,
        the mean logarithm of the number of allowed paths.
    transitions : str, ndarray or list of pairs, default=None
        Which label may follow which; everything by default. Anything else has
        probability 0, in training and in prediction.

        * "BIO", "IOB1", "BIOES" or "BILOU": what the scheme allows, for labels such as
          "B-PER" and "O". It also says which labels may begin and end a sequence.
        * "observed": the transitions, first and last labels that y has.
        * a bool array of shape (n_labels, n_labels), [from, to], in the order of
          ``classes_``: True is allowed.
        * pairs (from, to) of labels that are allowed. Where (None, label) is among
          them, only labels so named may begin a sequence, and with (label, None) end
          it. Pairs with labels that y does not have are ignored.

        Labels in y that break the rule are an error.
    sampling : {"lipschitz", "uniform"}, default="lipschitz"
        "lipschitz" is SAG-NUS*: a constant for each sequence, by which the next one is
        drawn among those seen. "uniform" is SAG: one constant, uniform draws.
    sampling_mix : float in [0, 1), default=0.5
        Share of draws by constant; the others are uniform.
    line_search_skipping : bool, default=True
        Whether r searches in a row that left the constant of a sequence as it was let
        the next 2^(r - 1) searches of this sequence be skipped.
    saga : bool, default=False
        Whether to take the unbiased steps of SAGA, a third as long.
    warm_start : bool, default=False
        Keep weights, gradients and constants, and start the next fit from them. It
        needs the same sequences; alpha, for one, may differ.
    n_jobs : int, default=None
        Threads of the certificate and of prediction; None is one.
    random_state : int, RandomState instance or None, default=None
        Determines the order of the visits. Pass an int for the same bits at every fit.
    verbose : int, default=0
        1 prints a line every epoch.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels, sorted.
    coef_ : ndarray of shape (n_labels, n_features_in_)
    intercept_, start_, end_ : ndarrays of shape (n_labels,)
    transition_ : ndarray of shape (n_labels, n_labels)
        Score of label [from, to]; like ``start_`` and ``end_``, -inf where
        `transitions` forbids.
    n_features_in_ : int
        Features of a position, after vectorizing.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only after a fit on a data frame.
    vectorizer_ : SequenceVectorizer
        Only after a fit on dicts or strings.
    alpha_ : float
        The value of alpha that was used.
    n_iter_ : int
        Epochs made.
    primal_objective_, dual_objective_, duality_gap_ : float
        P(w), P(w) - gap and the gap at the end, in nats a sequence.
    gap_target_ : float
        tol * P(0), the gap at which the fit ends.
    history_ : dict of ndarrays of shape (n_iter_,)
        Per epoch: epoch, updates and oracle_calls (divided by n; each forward pass of a
        search is half a call), seconds (without the certificates), primal, dual, gap.

    See Also
    --------
    SDCACRF : The same model by dual coordinate ascent with an exact line search.

    Notes
    -----
    The gradients are kept as marginals: 8 * (n_positions * n_labels + n * n_labels^2)
    bytes.

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
        "sampling": [StrOptions(schemes_for("sag"))],
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
        max_iter: int = 100,
        tol: float = 1e-4,
        transitions: Transitions | None = None,
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
        self.max_iter = max_iter
        self.tol = tol
        self.transitions = transitions
        self.sampling = sampling
        self.sampling_mix = sampling_mix
        self.line_search_skipping = line_search_skipping
        self.saga = saga
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


class OEGCRF(BaseCRF):
    """Linear-chain CRF trained by online exponentiated gradient [1]_.

    Minimises, over all weights w (coefficients, intercept, start, end, transition)::

        P(w) = alpha/2 ||w||^2 + 1/n sum_i -log p(y_i | x_i; w)

    by ascent of the dual along one sequence at a time, as `SDCACRF`, but in natural
    parameters: the memory of the dual is of the order of n_positions * n_labels +
    n * n_labels^2 numbers, where SDCA holds n_positions * n_labels^2. The fit stops on
    the same certificate.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Strength of the regularisation; "auto" is 1/n, or 1 over the sum of the sample
        weights. In the terms of CRFsuite, ``c2 = n * alpha / 2``.
    max_iter : int, default=100
        Epochs at most; an epoch visits n sequences.
    tol : float, default=1e-4
        The fit stops when the duality gap is at most tol * P(0), where P(0) = mean
        length * log(n_labels) is the objective of the empty model; with `transitions`,
        the mean logarithm of the number of allowed paths.
    transitions : str, ndarray or list of pairs, default=None
        Which label may follow which; everything by default. Anything else has
        probability 0, in training and in prediction.

        * "BIO", "IOB1", "BIOES" or "BILOU": what the scheme allows, for labels such as
          "B-PER" and "O". It also says which labels may begin and end a sequence.
        * "observed": the transitions, first and last labels that y has.
        * a bool array of shape (n_labels, n_labels), [from, to], in the order of
          ``classes_``: True is allowed.
        * pairs (from, to) of labels that are allowed. Where (None, label) is among
          them, only labels so named may begin a sequence, and with (label, None) end
          it. Pairs with labels that y does not have are ignored.

        Labels in y that break the rule are an error.
    sampling : {"gap", "gap_importance", "importance", "uniform", "max"}, default="gap"
        What the next sequence is drawn by: its duality gap when last visited, its
        radius ("importance"), their product, nothing, or always the largest gap.
    sampling_mix : float in [0, 1], default=0.8
        Share of draws made so; the others are uniform.
    step_init : float in (0, 1], default=0.7
        First step of every sequence. A visit halves it while the dual would fall, and
        leaves it 5 % larger to the next [2]_.
    init_score : float, default=14.0
        Natural parameter of the correct label of each node at the start; the others
        are 0.
    warm_start : bool, default=False
        Keep the dual variables, and start the next fit from them. It needs the same
        sequences; alpha, for one, may differ.
    n_jobs : int, default=None
        Threads; None is one. More than one visit the sequences side by side, each those
        of its own share: the last bits of the result depend on their number, and on
        nothing else. A thread has at least 64 sequences.
    random_state : int, RandomState instance or None, default=None
        Determines the order of the visits. Pass an int for the same bits at every fit.
    verbose : int, default=0
        1 prints a line every epoch.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels, sorted.
    coef_ : ndarray of shape (n_labels, n_features_in_)
    intercept_, start_, end_ : ndarrays of shape (n_labels,)
    transition_ : ndarray of shape (n_labels, n_labels)
        Score of label [from, to]; like ``start_`` and ``end_``, -inf where
        `transitions` forbids.
    n_features_in_ : int
        Features of a position, after vectorizing.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only after a fit on a data frame.
    vectorizer_ : SequenceVectorizer
        Only after a fit on dicts or strings.
    alpha_ : float
        The value of alpha that was used.
    n_iter_ : int
        Epochs made.
    primal_objective_, dual_objective_, duality_gap_ : float
        P(w), D(mu) and their difference at the end, in nats a sequence.
    gap_target_ : float
        tol * P(0), the gap at which the fit ends.
    history_ : dict of ndarrays of shape (n_iter_,)
        Per epoch: epoch, updates and oracle_calls (divided by n; every trial of a step
        is a call, and the forward pass that makes the gap is half a call), seconds
        (without the certificates), primal, dual, gap.

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
        "sampling": [StrOptions(schemes_for("dual"))],
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
        max_iter: int = 100,
        tol: float = 1e-4,
        transitions: Transitions | None = None,
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
        self.max_iter = max_iter
        self.tol = tol
        self.transitions = transitions
        self.sampling = sampling
        self.sampling_mix = sampling_mix
        self.step_init = step_init
        self.init_score = init_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


class LBFGSCRF(BaseCRF):
    """Linear-chain CRF trained by L-BFGS: the reference of the other estimators.

    Minimises, over all weights w (coefficients, intercept, start, end, transition)::

        P(w) = alpha/2 ||w||^2 + 1/n sum_i -log p(y_i | x_i; w)

    by the L-BFGS-B of scipy. The certificate is the gap of strong convexity,
    ``||grad P(w)||^2 / (2 alpha)``, which bounds P(w) - min P.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Strength of the regularisation; "auto" is 1/n, or 1 over the sum of the sample
        weights. In the terms of CRFsuite, ``c2 = n * alpha / 2``.
    max_iter : int, default=1000
        Iterations at most.
    tol : float, default=1e-4
        The fit stops when the duality gap is at most tol * P(0), where P(0) = mean
        length * log(n_labels) is the objective of the empty model; with `transitions`,
        the mean logarithm of the number of allowed paths.
    transitions : str, ndarray or list of pairs, default=None
        Which label may follow which; everything by default. Anything else has
        probability 0, in training and in prediction.

        * "BIO", "IOB1", "BIOES" or "BILOU": what the scheme allows, for labels such as
          "B-PER" and "O". It also says which labels may begin and end a sequence.
        * "observed": the transitions, first and last labels that y has.
        * a bool array of shape (n_labels, n_labels), [from, to], in the order of
          ``classes_``: True is allowed.
        * pairs (from, to) of labels that are allowed. Where (None, label) is among
          them, only labels so named may begin a sequence, and with (label, None) end
          it. Pairs with labels that y does not have are ignored.

        Labels in y that break the rule are an error.
    warm_start : bool, default=False
        Start the next fit from the weights of the last.
    n_jobs : int, default=None
        Threads; None is one.
    verbose : int, default=0
        1 prints a line every iteration.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels, sorted.
    coef_ : ndarray of shape (n_labels, n_features_in_)
    intercept_, start_, end_ : ndarrays of shape (n_labels,)
    transition_ : ndarray of shape (n_labels, n_labels)
        Score of label [from, to]; like ``start_`` and ``end_``, -inf where
        `transitions` forbids.
    n_features_in_ : int
        Features of a position, after vectorizing.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only after a fit on a data frame.
    vectorizer_ : SequenceVectorizer
        Only after a fit on dicts or strings.
    alpha_ : float
        The value of alpha that was used.
    n_iter_ : int
        Iterations made.
    primal_objective_, dual_objective_, duality_gap_ : float
        P(w), P(w) - gap and the gap at the end, in nats a sequence.
    gap_target_ : float
        tol * P(0), the gap at which the fit ends.
    history_ : dict of ndarrays of shape (n_iter_,)
        Per iteration: epoch, updates and oracle_calls (divided by n), seconds, primal,
        dual, gap.

    See Also
    --------
    SDCACRF : The same model by dual coordinate ascent: much faster where there are many
        sequences, slower where there are a few long ones.

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

    def __init__(
        self,
        alpha: Alpha = "auto",
        *,
        max_iter: int = 1000,
        tol: float = 1e-4,
        transitions: Transitions | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.transitions = transitions
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose
