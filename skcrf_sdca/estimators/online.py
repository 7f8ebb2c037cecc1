"""PassiveAggressiveCRF: online learning by steps that need no step size."""

from typing import ClassVar

from skcrf_sdca.estimators.parameters import PassiveAggressiveOptions, parameters
from skcrf_sdca.estimators.streams import OnlineMixin, StreamFormat
from skcrf_sdca.solvers.monitor import LossMonitor


@parameters
class PassiveAggressiveCRF(PassiveAggressiveOptions, OnlineMixin):
    """Linear-chain CRF trained online, by passive-aggressive steps [1]_.

    A visit to a sequence moves the weights just as far as its loss requires::

        w <- w - step grad L_i(w),    step = min(C, L_i(w) / ||grad L_i(w)||^2)

    which is coordinate ascent of the dual at the newest sequence. There is no step size
    to tune. A few passes over the data give a good tagger, and `partial_fit` learns
    from a stream: chunks in their order give the weights of one epoch of `fit` with
    ``shuffle=False``. The model is the average of the weights after all visits. It is
    not the minimum of an objective, and has no certificate: see `SDCACRF` for that.

    Parameters
    ----------
    {parameters}

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

    # `fit` and `partial_fit` have the same bits.
    _keeps_forbidden = True
    _stream = StreamFormat({"n_visits": int, "power": float}, others=("squares",))
    _solver_name = "dca"
    _monitor = LossMonitor
    _takes_prior: ClassVar[bool] = False
    # Read by Problem, ignored by the updates.
    alpha = "auto"
    l1_ratio = 0.0

    def _choices(self):
        # No other estimator learns in this way.
        return {}, type(self).__name__

    def _auto_strength(self, training):
        return 1.0

    def _attributes_of_run(self, solver, fitted):
        alpha = solver.problem.alpha / self.C
        return {**super()._attributes_of_run(solver, fitted), "alpha_": alpha}

    def _targets(self, training, chains):
        if training.label_rows is not None:
            raise ValueError(
                "PassiveAggressiveCRF needs one label at every position of y: leave "
                "out the sequences with unknown or soft labels, or take SDCACRF."
            )
        return super()._targets(training, chains)
