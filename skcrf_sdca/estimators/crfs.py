"""The estimators of chains: ChainCRF and the solvers do the work.

Parameters are written in parameters.py, and attributes that several have in
model/attribute_docs.py.
"""

from dataclasses import field

from skcrf_sdca._utils.typing import RandomState
from skcrf_sdca.estimators.parameters import (
    ChainOptions,
    MemoryOptions,
    OEGOptions,
    RunOptions,
    SAGOptions,
    SDCAOptions,
    SolverOptions,
    parameters,
)
from skcrf_sdca.estimators.sequences import ChainCRF
from skcrf_sdca.estimators.sgd import SGDCRF
from skcrf_sdca.estimators.solver_choice import OF_CHAINS, OF_CRF, SolverByName
from skcrf_sdca.structures.weight_choice import AUTO


@parameters
class SDCACRF(RunOptions, SDCAOptions, ChainOptions, ChainCRF):
    """Linear-chain CRF trained by stochastic dual coordinate ascent [1]_.

    {objective}

    by exact maximisation of the dual along one sequence at a time. No step size needs
    tuning, and the fit stops on a certificate: ``duality_gap_`` bounds the distance of
    P(w) from its minimum. With ``loss="hinge"`` it is a structural SVM, trained by
    block-coordinate Frank-Wolfe [2]_ with gap sampling and pairwise steps [3]_; the
    model is the best of its points and of their averages.

    {of_chains}

    See Also
    --------
    OEGCRF : The same model by exponentiated gradient, in a fraction of the memory.
    LBFGSCRF : The same model by L-BFGS.

    Notes
    -----
    The dual variables take 4 * n_positions * n_labels^2 bytes, and twice as many in
    float64.

    With ``label_pairs="observed"`` they take 8 * (n_positions * n_labels + n * n_pairs)
    bytes, or half of it: ``dual_dtype="auto"`` is float32 where that is more than 128
    MiB and `tol` is not below 1e-3. The line search has a lower bound of the entropy in
    its place, see :doc:`/many_labels`; `line_search`, `step` and `init_smoothing` are
    ignored.

    Of the hinge they take 8 * (n_positions * n_labels + n * n_labels^2) bytes, and 4 *
    n_positions for each labelling that they mix, at most 64 of a sequence. A visit
    takes one Viterbi pass. Its step is exact: `line_search`, `line_search_tol`, `step`,
    `init_smoothing` and `dual_dtype` are ignored, and the fit starts at w = 0. As the
    loss is not smooth, the gap falls more slowly than for the other losses: a `tol`
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

    _solver_name = "sdca"


@parameters
class SAGNUSCRF(RunOptions, SAGOptions, ChainOptions, ChainCRF):
    """Linear-chain CRF trained by SAG with non-uniform sampling (SAG-NUS*) [1]_.

    {objective}

    by stochastic average gradient (SAG): each step follows the average, over all
    sequences, of their most recent gradients. The step size comes from the Lipschitz
    constants of the gradients, which a line search estimates at each visit. The
    marginals of the last visits are a dual point mu: the gap is P(w) - D(mu), near the
    optimum ``||grad P(w)||^2 / (2 alpha)`` if that is smaller. Far from the optimum it
    is larger than the bound of `SDCACRF`.

    Large dense features are whitened: the steps are made in coordinates in which their
    second moments are even, see :doc:`/dense_features`.

    {of_chains}

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

    _solver_name = "sag"


@parameters
class OEGCRF(RunOptions, OEGOptions, ChainOptions, ChainCRF):
    """Linear-chain CRF trained by online exponentiated gradient [1]_.

    {objective}

    by ascent of the dual along one sequence at a time, as `SDCACRF` does, but in
    natural parameters. These are about n_positions * n_labels + n * n_labels^2 numbers,
    whereas SDCA stores n_positions * n_labels^2. The fit stops on the same certificate.
    Their expectations are stored beside them up to 2 GiB, else derived at each visit.

    {of_chains}

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

    _solver_name = "oeg"


@parameters(max_iter=1000)
class LBFGSCRF(RunOptions, ChainOptions, ChainCRF):
    """Linear-chain CRF trained by L-BFGS: the reference of the other estimators.

    {objective}

    by the L-BFGS-B of scipy. The certificate is ``||grad P(w)||^2 / (2 alpha)``, which
    bounds P(w) - min P because P is strongly convex. With `l1_ratio` above 0, the
    algorithm is OWL-QN (Andrew and Gao, ICML 2007).

    {of_chains}

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

    random_state: RandomState = field(default=0, init=False)
    _solver_name = "lbfgs"


@parameters(max_iter=1000, features=AUTO, label_pairs=AUTO)
class CRF(
    RunOptions, ChainOptions, MemoryOptions, SolverOptions, SolverByName, ChainCRF
):
    """Linear-chain CRF trained by the solver that suits the data.

    {objective}

    by one of the solvers of `SDCACRF`, `OEGCRF`, `SAGNUSCRF` and `LBFGSCRF`, which all
    end at the same model. "auto" chooses by the form of the features, their size beside
    n * alpha, the number of labels, and the length of sequences: see
    :ref:`which-solver`. The parameters that only some of them have are at their
    defaults. With hundreds of labels the model has weights of observed pairs alone, see
    `label_pairs`, `features` and :doc:`/many_labels`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {solver_}
    {weights_}
    {fit_}

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

    solver_: str = field(init=False)

    _solvers = OF_CRF

    def _choices(self):
        choices, own = super()._choices()
        stochastic = {n: s for n, s in OF_CHAINS.items() if n.startswith("SGDCRF")}
        return {**choices, **stochastic}, own


ESTIMATORS = (SDCACRF, SAGNUSCRF, OEGCRF, LBFGSCRF, SGDCRF, CRF)
