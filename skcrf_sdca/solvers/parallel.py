"""Visits by parallel workers, each with a shard of the sequences [Ma15].

Every worker visits sequences of its shard in a thread of its own and moves local
weights, which are aggregated in rounds (`_kernels/visits/_rounds.pyx`). This module
divides the problem, chooses how long the rounds are, and runs the threads.
"""

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import numpy as np

from skcrf_sdca._kernels.features._local_weights import LocalWeights
from skcrf_sdca._kernels.visits._rounds import DualRounds
from skcrf_sdca._kernels.visits._sag_rounds import SAGRounds
from skcrf_sdca._kernels.visits._visits import work_of_visit
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.parallel import in_parts, n_threads
from skcrf_sdca.solvers.partition import FeaturePartition, equal_shards

# A worker with fewer sequences would wait for the others most of the time.
MIN_SHARD = 64

# Visits of the other workers in a round, about: more of them, which a worker does not
# see, take more epochs, and fewer let the workers wait for each other.
UNSEEN_VISITS = 20
# Of SAG, whose visits are shorter, and which aggregates two vectors, these are the
# visits of all workers in a round. An epoch has some rounds.
SAG_VISITS, FEWEST_SAG_ROUNDS = 40, 40
# A feature is frequent if this part of the sequences has it.
FREQUENT = 0.025
# The period of the rare features is one round for each RARE_PER_ROUND of them: their
# aggregation takes some hundredths of the time of the visits, whatever their number.
RARE_PER_ROUND = 1500
# Of more workers each sees less of the changes: for so many workers, and as many again,
# the period is shorter in proportion.
FEW_WORKERS = 8

# Where rows are made at the visit, all features are aggregated, so that rounds are
# longer: a round makes so many entries of rows for each feature, but an epoch has as
# many rounds at least.
AGGREGATED, FEWEST_ROUNDS = 8, 10

# See `DualRounds`.
MARGIN = 1.02
MEMORY = 0.95


def n_workers(n_jobs, n_sequences):
    """Return the number of workers of a solver.

    It is 1 for n_jobs=None in all contexts of joblib, which must not change the bits.
    """
    if n_jobs is None:
        return 1
    return max(1, min(n_threads(n_jobs), n_sequences // MIN_SHARD))


def make_parallel_visitor(problem, weights, n_workers, new_sampler, new_visitor):
    """Return a ParallelVisitor of a dual solver.

    ``weights`` are the Parameters that visits move, and the compiled Weights that
    follow them, see `moving_weights`. ``new_sampler(shard)`` is a Sampler of the
    sequences of a shard, and ``new_visitor(features, weights, sampler)`` a DualVisitor.
    """
    moved, following = weights
    division = Division(problem, n_workers)
    # Without a threshold no weights follow, and single weights have no rows.
    marked = problem.penalty.threshold > 0.0 and division.pairs is None
    local_weights = division.local_weights(moved, marked=marked)

    def visitor_of(worker, shard):
        local = division.parameters(moved, local_weights, worker)
        own = _weights_of_worker(local, problem.penalty.threshold)
        return new_visitor(division.features.of_thread(), own, new_sampler(shard))

    rounds = DualRounds(
        local_weights,
        margin=MARGIN,
        memory=MEMORY,
        **division.lengths_of_rounds(UNSEEN_VISITS * n_workers / (n_workers - 1)),
    )
    visitors = division.assigned(visitor_of)
    return ParallelVisitor(problem, division, visitors, rounds, following)


def make_parallel_sag(problem, weights, target, n_workers, new_visitor):
    """Return a ParallelSAG.

    ``weights`` are those of `make_parallel_visitor`, and ``target`` are the Parameters
    w_hat(mu). ``new_visitor(features, weights, target, shard)`` is a SAGWorker.
    """
    moved, following = weights
    division = Division(problem, n_workers, n_vectors=2)
    local_weights, local_targets = map(division.local_weights, (moved, target))

    def visitor_of(worker, shard):
        local = division.parameters(moved, local_weights, worker)
        own = _weights_of_worker(local, problem.penalty.threshold)
        local = division.parameters(target, local_targets, worker)
        return new_visitor(division.features.of_thread(), own, local.weights(), shard)

    visits = min(SAG_VISITS, problem.n_sequences // FEWEST_SAG_ROUNDS)
    rounds = SAGRounds(
        local_weights,
        local_targets=local_targets,
        **division.lengths_of_rounds(visits),
    )
    visitors = division.assigned(visitor_of)
    return ParallelSAG(problem, division, visitors, rounds, following)


def _weights_of_worker(local, threshold):
    """Return the Weights of a worker, whose visits move the Parameters ``local``."""
    if not threshold:
        return local.weights()
    model = local.with_features(local.n_features, np.zeros_like(local.w), local.pairs)
    return model.sparse_weights(local, threshold)


class Division:
    """The shards of workers, and the tiers and local rows of the features.

    Attributes
    ----------
    shards : list of ndarrays of intp
    partition : FeaturePartition
    features : DistinctFeatures
        With the rows of local weights.
    pairs : ObservedPairs or None
        The labels that each row has weights for; None if all.
    worker_of, index_in_shard : ndarrays of shape (n,), intp
        The worker of each sequence, and its place in the shard.
    """

    def __init__(self, problem, n_workers, n_vectors=1):
        self.problem = problem
        features = problem.structure.distinct_features()
        self.shards = equal_shards(problem.data.lengths, n_workers)
        self.partition = FeaturePartition(
            features,
            self.shards,
            FREQUENT * problem.n_sequences,
            apart=problem.structure.has_ragged_rows,
        )
        _check_memory(problem, self.partition, n_vectors)
        self.features, self.pairs = problem.structure.in_partition(
            features, self.partition
        )
        self.worker_of, self.index_in_shard = np.empty(
            (2, problem.n_sequences), dtype=np.intp
        )
        for worker, shard in enumerate(self.shards):
            self.worker_of[shard] = worker
            self.index_in_shard[shard] = np.arange(len(shard))

    def local_weights(self, model, *, marked=False):
        """Return the LocalWeights of Parameters."""
        return _local_weights(model, self.partition, marked)

    def parameters(self, model, local_weights, worker):
        """Return Parameters of the local weights of a worker."""
        own = local_weights.arrays[worker]
        return model.with_features(self.partition.n_rows, own, self.pairs)

    def assigned(self, visitor_of):
        """Return visitor_of(worker, shard) of all workers, with their shards."""
        visitors = list(map(visitor_of, range(len(self.shards)), self.shards))
        for shard, visitor in zip(self.shards, visitors, strict=True):
            visitor.assign_shard(shard, self.index_in_shard)
        return visitors

    def lengths_of_rounds(self, visits):
        """Return how many rows and how much work rounds have, as `Rounds` takes it.

        All workers together make about so many ``visits`` in a round.
        """
        problem, n_shared = self.problem, len(self.partition.shared)
        in_round = RARE_PER_ROUND * max(1, len(self.shards) // FEW_WORKERS)
        visits = _visits_of_round(problem, self.features, visits) // len(self.shards)
        mean_length = problem.offsets[-1] / problem.n_sequences
        mean_work = work_of_visit(mean_length, problem.structure.n_tied)
        return {
            "n_frequent": self.partition.n_frequent,
            "n_shared": n_shared,
            # The last visit of a round exceeds the work by half of it, in the mean.
            "work": int((max(1, visits) - 0.5) * mean_work),
            "period": 1 + (n_shared - self.partition.n_frequent) // in_round,
        }


def _visits_of_round(problem, features, visits):
    """Return about how many visits all workers together make in a round.

    They are ``visits`` of stored rows.
    """
    if problem.data.stores_rows:
        return visits
    made = features.rows.most_columns * problem.offsets[-1] / problem.n_sequences
    longer = AGGREGATED * problem.data.n_features / max(made, 1)
    most = problem.n_sequences // FEWEST_ROUNDS
    return max(visits, min(int(longer), most))


def _local_weights(model, partition, marked):
    """Return the LocalWeights of a model; with observed pairs, by single weights."""
    shared, private = partition.shared, partition.private
    n_labels, n_frequent, pairs = model.n_labels, partition.n_frequent, model.pairs
    if pairs is not None:
        n_labels, n_frequent = 1, len(pairs.places_of(shared[:n_frequent]))
        shared, private = pairs.places_of(shared), list(map(pairs.places_of, private))
    return LocalWeights(
        model.w,
        model.biases.size,
        n_labels,
        shared,
        n_frequent,
        private,
        apart=pairs is not None,
        marked=marked,
    )


def _check_memory(problem, partition, n_vectors):
    """Raise MemoryError if some vectors of local weights do not fit into memory."""
    n_workers = len(partition.private)
    n_coef, n_shared = problem.structure.n_coef_in(partition)
    if problem.penalty.threshold:
        # And the weights that follow them.
        n_vectors += 1
    local = 8 * n_vectors * n_workers * (n_coef + problem.structure.n_tied)
    aggregated = 8 * n_vectors * n_shared
    columns = 0
    if not problem.data.stores_rows:
        columns = 4 * n_workers * problem.data.n_features
    elif problem.data.is_sparse and problem.structure.new_array is np.zeros:
        columns = 4 * problem.data.X.nnz
    check_fits(
        local + aggregated + columns,
        f"local weights for {n_workers} threads",
        "take a smaller n_jobs",
    )


class ParallelVisitor:
    """The visitors of all workers, used like a single one.

    ``worker_of`` has the worker of each sequence. ``weights`` follow the weights that
    visits move, and are computed after them; None if visits move the weights. With
    ``in_turn`` one thread makes the visits of all workers, with the same bits: for the
    tests, and to count epochs for more workers than there are cores.
    """

    def __init__(self, problem, division, visitors, rounds, following):
        self.visitors, self.rounds = visitors, rounds
        self.partition, self.worker_of = division.partition, division.worker_of
        self.weights = following if problem.penalty.threshold else None
        self.in_turn = False
        self._code, self._codes = None, [None] * len(visitors)
        if self.weights is not None:
            self.set_factors(*problem.penalty.factors)

    @property
    def n_oracle_calls(self):
        """Marginalisations so far."""
        return sum(visitor.n_oracle_calls for visitor in self.visitors)

    @property
    def n_evaluations(self):
        """Steps tried in line searches so far."""
        return sum(visitor.n_evaluations for visitor in self.visitors)

    def weights_changed(self):
        """Tell the workers that the weights of the model were recomputed."""
        self._refresh()
        self.rounds.weights_changed()

    def set_factors(self, code, value, bias_factor):
        """Have visits move weights by factors, see `Weights.set_factors`."""
        if self.weights is not None:
            self.weights.set_factors(code, value, bias_factor)
        if code is not self._code:
            workers = range(len(self.visitors))
            self._codes = [self.partition.rows_of(code, worker) for worker in workers]
            self._code = code
        for visitor, own in zip(self.visitors, self._codes, strict=True):
            visitor.set_factors(own, value, bias_factor)

    def epoch(self, uniforms):
        """Make one visit for each row (coin, position) of uniform numbers."""
        parts = np.array_split(uniforms, len(self.visitors))
        self._run([(part, None) for part in parts])

    def epoch_in_order(self, order):
        """Visit the sequences; each worker visits its own ones in this order."""
        worker_of = self.worker_of[order]
        workers = range(len(self.visitors))
        self._run([(None, order[worker_of == worker]) for worker in workers])

    def _run(self, visits):
        """Make visits, given by (uniforms, order) of each worker."""
        if self.in_turn:
            self.rounds.run_in_turn(self.visitors, visits)
        else:
            self._run_threads(visits)
        self._refresh()

    def _refresh(self):
        """Compute the weights from those that visits move."""
        if self.weights is not None:
            in_parts(self.weights.refresh, len(self.visitors))

    def _run_threads(self, visits):
        self.rounds.begin()
        n_workers = len(self.visitors)
        with ThreadPoolExecutor(n_workers) as threads:
            try:
                calls = [
                    threads.submit(
                        copy_context().run, self._run_worker, worker, *visits[worker]
                    )
                    for worker in range(n_workers)
                ]
                for call in calls:
                    call.result()
            except BaseException:
                # Ctrl-C, or a thread that cannot be started.
                self.rounds.abort()
                raise

    def _run_worker(self, worker, uniforms, order):
        try:
            self.rounds.run(worker, self.visitors[worker], uniforms, order)
        except BaseException:
            # The other workers would wait for this one for ever.
            self.rounds.abort()
            raise


class ParallelSAG(ParallelVisitor):
    """The visitors of all workers of SAG, see `SAGKernel`."""

    @property
    def caution(self):
        """Divisor of every step."""
        return self.visitors[0].caution

    @caution.setter
    def caution(self, value):
        for visitor in self.visitors:
            visitor.caution = value
