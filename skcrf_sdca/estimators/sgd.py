"""SGDCRF: stochastic gradient methods, with a choice of their steps."""

from skcrf_sdca.estimators.parameters import (
    ChainOptions,
    RunOptions,
    SGDOptions,
    parameters,
)
from skcrf_sdca.estimators.streams import OnlineMixin, StreamFormat
from skcrf_sdca.solvers.cccp import CCCP
from skcrf_sdca.solvers.sgd_methods import METHODS


@parameters
class SGDCRF(RunOptions, SGDOptions, ChainOptions, OnlineMixin):
    """Linear-chain CRF trained by stochastic gradient methods.

    {objective}

    by steps against the gradient of one sequence at a time, as scikit-learn's
    :class:`~sklearn.linear_model.SGDClassifier` does. These methods need a step size,
    which is calibrated, and come near to the optimum rather than to it. For a model
    that is certified to be optimal, :class:`SDCACRF` needs fewer epochs, and nothing
    to tune.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {weights_}
    {n_iter_}
    n_visits_ : int
        Sequences visited so far, which step sizes count.
    loss_ : float
        After `partial_fit`: mean loss of the visits of the last chunk, each sequence at
        the weights before its visit. A stream has no certificate, and no `history_`.
    {certificate_}
    {best_epoch_}
    history_ : dict of ndarrays of shape (n_certificates,)
        One value per certificate: epoch, updates and oracle_calls (divided by n, the
        calibration included), seconds (without the certificates), primal, dual,
        gap; with ``X_val`` also val_score.
    eta0_ : float
        The step size, given or calibrated.

    See Also
    --------
    SDCACRF : The same model by dual coordinate ascent with an exact line search.
    SAGNUSCRF : The same model by stochastic average gradient.

    Notes
    -----
    The penalty, L2 or elastic net, is part of each step as its proximal operator::

        w <- soft(w - eta g, eta alpha l1_ratio) / (1 + eta alpha (1 - l1_ratio))

    with g the gradient of the loss of one sequence, and eta the step size times the
    temperature. The steps that a weight misses while its feature does not occur are
    made up for in closed form, so that a visit costs in proportion to the features of
    its sequence.

    `partial_fit` learns from a stream, by every method that visits each sequence once:
    all but "svrg" and "hybrid". One pass in chunks gives the weights of one pass over
    all of the data in their order, but for rounding, if `alpha` and `eta0` are numbers;
    the means of "adagrad", "smd" and "pegasos" depend on where the chunks end.
    With "auto", alpha is one over the number of sequences so far, also in a fit before,
    and the step size is calibrated on the first chunk, which should
    have some hundred sequences. `learning_rate` cannot be
    "adaptive", which needs certificates ("auto" is then "optimal" for "sgd"), nor
    "inverse_epochs". The mean of the weights, the squares of
    "adagrad" and the gains of "smd" go on over all chunks. A chunk takes a pass over
    all weights, which the penalty shrinks.

    "smd" needs the product of the Hessian of the loss of a sequence with a vector. It
    is a difference of expectations at scores that are moved by some 1e-4, and has
    twelve digits. Its constants are mu = 0.1 and lambda = 0.99, and the penalty is in
    the proximal step above rather than in the gradient.

    The hinge loss has subgradients. The dual point of its certificate is a mean over
    epochs of the labellings that the visits found.

    References
    ----------
    .. [1] Johnson and Zhang, "Accelerating Stochastic Gradient Descent using Predictive
       Variance Reduction", NIPS 2013.
    .. [2] Lacoste-Julien, Schmidt, Bach, "A simpler approach to obtaining an O(1/t)
       convergence rate for the projected stochastic subgradient method",
       arXiv:1212.2002.
    .. [3] Duchi, Hazan, Singer, "Adaptive Subgradient Methods for Online Learning and
       Stochastic Optimization", JMLR 2011.
    .. [4] Shalev-Shwartz, Singer, Srebro, Cotter, "Pegasos: Primal Estimated
       sub-GrAdient SOlver for SVM", Mathematical Programming 2011.
    .. [5] Friedlander and Schmidt, "Hybrid Deterministic-Stochastic Methods for Data
       Fitting", SIAM Journal on Scientific Computing 2012.
    .. [6] Vishwanathan, Schraudolph, Schmidt, Murphy, "Accelerated Training of
       Conditional Random Fields with Stochastic Gradient Methods", ICML 2006.
    .. [7] McMahan, Streeter, "Adaptive Bound Optimization for Online Convex
       Optimization", COLT 2010.

    Examples
    --------
    >>> from skcrf_sdca import SGDCRF
    >>> from skcrf_sdca.datasets import make_chains
    >>> X, y = make_chains(n_sequences=30, random_state=0)
    >>> crf = SGDCRF(random_state=0).fit(X, y)
    >>> crf.coef_.shape
    (3, 5)

    A stream of two chunks:

    >>> crf = SGDCRF(method="asgd", random_state=0).partial_fit(X[:20], y[:20])
    >>> crf.partial_fit(X[20:], y[20:]).n_visits_
    30
    """

    _stream = StreamFormat(
        {"n_visits": int, "first_counted": int, "method": str, "eta0": float},
        others=("squares", "gains"),
        weights=("w", "total", "trace"),
    )

    @property
    def _solver_name(self):
        return self.method

    # A state has all transitions, since `partial_fit` may go on from it.
    @property
    def _keeps_forbidden(self):
        return self.warm_start

    def _attributes_of_run(self, solver, fitted):
        inner = solver.inner if isinstance(solver, CCCP) else solver
        found = {**super()._attributes_of_run(solver, fitted), **_steps(inner)}
        return {**found, "n_visits_": inner.state()["n_visits"]}

    def _options_of(self, solver):
        options = super()._options_of(solver)
        # A fit ends at a certificate, and the first is not beyond max_iter.
        every = min(self.certify_every, self.max_iter)
        return {**options, "certify_every": every}

    def _no_stream(self):
        method = METHODS.get(self.method) if isinstance(self.method, str) else None
        if method is None or method.streams:
            return super()._no_stream()
        names = ", ".join(f'"{name}"' for name, m in METHODS.items() if m.streams)
        return (
            f'partial_fit cannot work with method="{self.method}", which comes back to '
            f"the same sequences: choose one of {names}."
        )

    def _alpha_of_chunk(self, training):
        if self.alpha != "auto":
            return self.alpha
        before = 1.0 / self.alpha_ if "alpha_" in vars(self) else 0.0
        return 1.0 / (before + len(training.data))

    def _attributes_of_chunk(self, solver):
        return {"alpha_": solver.problem.alpha, **_steps(solver)}

    def _steps_so_far(self):
        steps = {"n_visits": getattr(self, "n_visits_", 0)}
        if hasattr(self, "eta0_"):
            steps |= {"eta0": self.eta0_, "method": self._method_of_steps}
        return steps


def _steps(solver):
    """Return the step size of a solver, and its method, as attributes."""
    return {"eta0_": float(solver.eta0), "_method_of_steps": solver.method}
