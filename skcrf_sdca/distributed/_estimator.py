"""DistributedCRF: one model over partitions of the data."""

from contextlib import closing
from dataclasses import field
from itertools import compress

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from skcrf_sdca._utils.sklearn_private import validates_parameters
from skcrf_sdca._utils.sklearn_versions import with_callbacks
from skcrf_sdca.data.input_formats import FORMATS, check_has_items
from skcrf_sdca.data.label_names import names_of_classes
from skcrf_sdca.data.label_runs import RunCounts
from skcrf_sdca.data.sample_weights import checked_weight
from skcrf_sdca.distributed._agreement import agree
from skcrf_sdca.distributed._checkpoint import Checkpoint, load_weights
from skcrf_sdca.distributed._local import LocalCluster
from skcrf_sdca.distributed._method import CoCoA, CommonProblem
from skcrf_sdca.distributed._partition import MEANS
from skcrf_sdca.estimators.crfs import LBFGSCRF
from skcrf_sdca.estimators.parameters import DistributedOptions, parameters
from skcrf_sdca.estimators.sequences import ChainCRF
from skcrf_sdca.model.fitted import set_fitted
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.structures.chain.constraints import FROM_DATA, OBSERVED, Constraints
from skcrf_sdca.structures.chain.observed import ObservedPairs
from skcrf_sdca.structures.chain.parameters import ChainParameters

# A partition with a smaller part of all weights moves no weight of the model.
LEAST_SHARE = 1e-200


@parameters
class DistributedCRF(DistributedOptions, ChainCRF):
    """Linear-chain CRF over partitions of the data, on the workers of a Dask cluster.

    The fit minimises the same objective as the other estimators, over the sequences of
    all partitions, to the same certificate: ``duality_gap_`` bounds the distance of
    P(w) from its minimum, however the data is partitioned. Sequences, features and dual
    variables stay with their partition. Only the weights of the features that a
    partition has, and sums of the same size, are sent.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    traffic_ : dict
        ``rounds``, and the bytes ``sent`` to and ``received`` from the partitions.
    n_partitions_ : int
        Number of partitions in which sequences with items have a weight above 0.
    {weights_}
    {n_iter_}
    {certificate_}
    history_ : dict of ndarrays of shape (n_iter_,)
        As in `OEGCRF`.

    See Also
    --------
    skcrf_sdca.LBFGSCRF, skcrf_sdca.OEGCRF : The same model on one machine.

    Notes
    -----
    When a worker is lost, this is logged to
    ``logging.getLogger("skcrf_sdca.distributed")``.

    References
    ----------
    .. [1] Ma et al., "Adding vs. Averaging in Distributed Primal-Dual Optimization",
       ICML 2015, arXiv:1502.03508.

    Examples
    --------
    Without a client all partitions are in this process:

    >>> from skcrf_sdca.datasets import make_chains
    >>> from skcrf_sdca.distributed import DistributedCRF
    >>> X, y = make_chains(n_sequences=30, random_state=0)
    >>> partitions = [(X[:10], y[:10]), (X[10:20], y[10:20]), (X[20:], y[20:])]
    >>> crf = DistributedCRF().fit(partitions)
    >>> crf.n_partitions_
    3
    >>> bool(crf.duality_gap_ <= crf.gap_target_)
    True
    """

    max_iter: int = 500
    warm_start: bool = field(default=False, init=False)
    traffic_: dict[str, int] = field(init=False)
    n_partitions_: int = field(init=False)

    def _takes_tables(self):
        return False

    @validates_parameters
    @with_callbacks
    def fit(self, partitions, y=None, *, client=None, resume=False):
        """Fit the model to labelled sequences in partitions.

        Parameters
        ----------
        partitions : list or dask.bag.Bag
            Each partition is ``(X, y)`` or ``(X, y, sample_weight)`` as other
            estimators take them, a list of pairs (sequence, labels), a function of no
            argument that returns one of these, called where the partition will be, or
            a future or delayed value of one. A Bag holds pairs (sequence, labels).
            Empty partitions are left out. The sum of `sample_weight` runs over all
            partitions: a partition whose weights are all 0 adds features and labels
            alone.
        y : None
            Ignored: the labels are in the partitions.
        client : dask.distributed.Client, default=None
            Client of the cluster. Without it all is done in this process.
        resume : bool, default=False
            Whether to start from the weights in the file `checkpoint`.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError, TypeError
            As other estimators do, naming the partition too; and if the file of
            ``resume=True`` is damaged, or no checkpoint of these partitions.
        ConnectionError
            If the scheduler of the cluster is gone, or all its workers stay away.
        ImportError
            If there is a client, but no dask.

        Warns
        -----
        ConvergenceWarning
            If the gap is above tol * primal after max_iter epochs.
        """
        if resume and self.checkpoint is None:
            raise ValueError("resume=True needs the file of the parameter `checkpoint`")
        with closing(_cluster(partitions, client)) as cluster:
            problem, attributes = self._agree(cluster)
            solver = self._new_common_solver(problem, resume)
            observers = []
            if self.checkpoint is not None:
                every = self.checkpoint_every
                observers.append(Checkpoint(self.checkpoint, every, solver))
            data = {"X": None, "y": None, "metadata": None}
            return self._run(solver, attributes, observers=observers, **data)

    def _attributes_of_run(self, solver, fitted):
        problem = solver.problem
        return {
            "n_partitions_": problem.cluster.n_partitions,
            "traffic_": problem.traffic,
        }

    def to_estimator(self):
        """Return the fitted model as an ordinary `LBFGSCRF`.

        Returns
        -------
        crf : LBFGSCRF
            Fitted, with the attributes of this estimator, and none of the cluster.
        """
        known = LBFGSCRF().get_params()
        common = {k: v for k, v in self.get_params().items() if k in known}
        crf = LBFGSCRF(**common)
        own = {"traffic_", "n_partitions_", *self.get_params()}
        fitted = {name: v for name, v in vars(self).items() if name not in own}
        return set_fitted(crf, fitted)

    def _agree(self, cluster):
        """Let the partitions agree; return the problem and the attributes."""
        summaries, weight, n_sequences = _summaries(cluster)
        attributes, columns, codes = agree(summaries)
        classes = attributes["classes_"]
        alpha = self.alpha
        if alpha == "auto":
            runs = [s.runs for s in summaries if s.runs is not None]
            counts = RunCounts(*np.sum(runs, axis=0).tolist())
            alpha = counts.strength(attributes["n_features_in_"]) / weight
        constraints = self._common_constraints(cluster, classes, codes)
        pairs = self._common_pairs(cluster, columns, attributes)
        # The others add features and labels alone.
        chosen = [summary.weight > LEAST_SHARE * weight for summary in summaries]
        cluster.keep(chosen)
        columns = rows = list(compress(columns, chosen))
        of_each = [None] * cluster.n_partitions
        if pairs is not None:
            of_each = map(pairs.of_features, columns)
            rows = list(map(pairs.places_of, columns))
        about = constraints, alpha, weight, cluster.n_partitions, self.n_jobs
        calls = ((own, *about) for own in of_each)
        parts = cluster.map("begin", calls, lasting=True)
        means = np.sum([np.zeros(len(MEANS)), *parts], axis=0)
        problem = CommonProblem(
            cluster,
            rows,
            alpha,
            ChainParameters(
                attributes["n_features_in_"],
                len(classes),
                boundaries=FORMATS[attributes["_input_format"]].boundaries,
                layout=constraints and constraints.layout(),
                pairs=pairs,
            ),
            n_sequences=n_sequences,
            means=dict(zip(MEANS, means, strict=True)),
            constraints=constraints,
        )
        return problem, attributes

    def _common_pairs(self, cluster, columns, attributes):
        """Return the pairs of feature and label with weights, None if all."""
        if not self._counts_pairs():
            return None
        shape = attributes["n_features_in_"], len(attributes["classes_"])
        total = sp.csr_array(shape)
        counts = cluster.ask("count_pairs", self.min_count is not None)
        for own, found in zip(columns, counts, strict=True):
            found = found.tocoo()
            places = own[found.row], found.col
            total = total + sp.csr_array((found.data, places), shape=shape)
        return ObservedPairs.of_counts(total, self.min_count)

    def _common_constraints(self, cluster, classes, codes):
        """Let the partitions take the classes; return the Constraints, or None."""
        transitions = self.transitions
        from_data = isinstance(transitions, str) and transitions in FROM_DATA
        rule = OBSERVED if from_data else transitions, names_of_classes(self, classes)
        calls = ((classes, own, *rule) for own in codes)
        found = list(cluster.map("encode", calls, lasting=True))
        if not from_data:
            return found[0]
        # A partition without Constraints has observed everything.
        if any(constraints is None for constraints in found):
            return None
        masks = (np.logical_or.reduce(masks) for masks in zip(*found, strict=True))
        counts = np.sum(cluster.ask("count_labels"), axis=0)
        constraints = FROM_DATA[transitions](Constraints(*masks), counts)
        return None if constraints.is_trivial() else constraints

    def _new_common_solver(self, problem, resume):
        if self.method == "dual" and not resume:
            rng = check_random_state(self.random_state)
            seeds = rng.randint(2**31, size=problem.cluster.n_partitions).tolist()
            return CoCoA(
                problem,
                n_rounds=self.n_rounds,
                max_iter=self.max_iter,
                seeds=seeds,
                memory=self.memory,
            )
        # A checkpoint has weights only: no dual point from which CoCoA+ could go on.
        state = {"w": load_weights(self.checkpoint, problem)} if resume else None
        return LBFGS(problem, None, max_iter=self.max_iter, state=state)


def _summaries(cluster):
    """Let the partitions read their sequences, and forget those without an item.

    Return the Summary of each of the others, and the weight and the number of all
    sequences. ValueError if a fit does not take them.
    """
    found = cluster.ask("describe", lasting=True)
    sequences = [summary for summary in found if summary is not None]
    if not sequences:
        raise ValueError("partitions hold no sequences; at least one is required.")
    n_sequences = sum(summary.n_sequences for summary in sequences)
    chosen = [s is not None and s.attributes is not None for s in found]
    check_has_items(n_sequences, sum(chosen))
    weights = [summary.weight for summary in sequences]
    checked_weight(weights, weights)
    cluster.keep(chosen)
    return list(compress(found, chosen)), sum(weights), n_sequences


def _cluster(partitions, client):
    """Return the partitions in this process, or on the workers of a client."""
    if client is None:
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(
                f"partitions must be a list, got {type(partitions).__name__}; a Bag "
                "needs a client"
            )
        return LocalCluster(partitions)
    # Dask, with its distributed scheduler, is optional.
    from skcrf_sdca.distributed._dask import DaskCluster

    return DaskCluster(client, partitions)
