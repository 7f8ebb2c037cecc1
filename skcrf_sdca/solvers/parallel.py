"""Dual ascent by parallel workers, each with a shard of the sequences [Ma15].

Every worker visits sequences of its shard in a thread of its own and moves local
weights, which are aggregated in rounds (`_kernels/visits/_rounds.pyx`). This module
divides the problem, chooses how long the rounds are, and runs the threads.
"""

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import numpy as np

from skcrf_sdca._kernels.features._local_weights import LocalWeights
from skcrf_sdca._kernels.visits._rounds import Rounds
from skcrf_sdca._kernels.visits._visits import work_of_visit
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.parallel import in_parts, n_threads
from skcrf_sdca.solvers.partition import FeaturePartition, equal_shards

# A worker with fewer sequences would wait for the others most of the time.
MIN_SHARD = 64

# Visits in a round, about and of all workers together: more of them take more epochs,
# fewer let the workers wait for each other.
ROUND_VISITS = 20
# A feature is frequent if this part of the sequences has it.
FREQUENT = 0.025
# The period of the rare features is one round for each RARE_PER_ROUND of them: their
# aggregation takes some hundredths of the time of the visits, whatever their number.
RARE_PER_ROUND = 1500

# Where rows are made at the visit, all features are aggregated, so that rounds are
# longer: a round makes so many entries of rows for each feature, but an epoch has as
# many rounds at least.
AGGREGATED, FEWEST_ROUNDS = 8, 10

# See `Rounds`.
MARGIN = 1.02
MEMORY = 0.95


def n_workers(n_jobs, n_sequences):
    """Return the number of workers of a dual solver.

    It is 1 for n_jobs=None in all contexts of joblib, which must not change the bits.
    """
    if n_jobs is None:
        return 1
    return max(1, min(n_threads(n_jobs), n_sequences // MIN_SHARD))


def make_parallel_visitor(problem, weights, n_workers, new_sampler, new_visitor):
    """Return a ParallelVisitor of a problem.

    ``weights`` are the Parameters that visits move, and the compiled Weights that
    follow them, see `moving_weights`. ``new_sampler(shard)`` is a Sampler of the
    sequences of a shard, and ``new_visitor(features, weights, sampler)`` a DualVisitor.
    """
    moved, following = weights
    features = problem.structure.distinct_features()
    shards = equal_shards(problem.data.lengths, n_workers)
    partition = FeaturePartition(
        features,
        shards,
        FREQUENT * problem.n_sequences,
        apart=problem.structure.has_ragged_rows,
    )
    _check_memory(problem, partition)
    features, pairs = problem.structure.in_partition(features, partition)
    local_weights = _local_weights(moved, partition)
    worker_of, index_in_shard = np.empty((2, problem.n_sequences), dtype=np.intp)
    visitors = []
    for worker, shard in enumerate(shards):
        worker_of[shard], index_in_shard[shard] = worker, np.arange(len(shard))
        local = moved.with_features(
            partition.n_rows, local_weights.arrays[worker], pairs
        )
        own = _weights_of_worker(local, problem.penalty.threshold)
        visitor = new_visitor(features.of_thread(), own, new_sampler(shard))
        visitor.assign_shard(shard, index_in_shard)
        visitors.append(visitor)
    rounds = _rounds(problem, features, local_weights, partition)
    if not problem.penalty.threshold:
        return ParallelVisitor(visitors, worker_of, rounds, partition)
    kernel = ParallelVisitor(visitors, worker_of, rounds, partition, following)
    kernel.set_factors(*problem.penalty.factors)
    return kernel


def _weights_of_worker(local, threshold):
    """Return the Weights of a worker, whose visits move the Parameters ``local``."""
    if not threshold:
        return local.weights()
    model = local.with_features(local.n_features, np.zeros_like(local.w), local.pairs)
    return model.sparse_weights(local, threshold)


def _rounds(problem, features, local_weights, partition):
    """Return the Rounds of the workers of a partition."""
    visits = _visits_of_round(problem, features) // local_weights.n_workers
    n_frequent, n_shared = partition.n_frequent, len(partition.shared)
    mean_length = problem.offsets[-1] / problem.n_sequences
    mean_work = int(work_of_visit(mean_length, problem.structure.n_tied))
    return Rounds(
        local_weights,
        n_frequent=n_frequent,
        n_shared=n_shared,
        work=max(1, visits) * mean_work,
        period=1 + (n_shared - n_frequent) // RARE_PER_ROUND,
        margin=MARGIN,
        memory=MEMORY,
    )


def _visits_of_round(problem, features):
    """Return about how many visits all workers together make in a round."""
    if problem.data.stores_rows:
        return ROUND_VISITS
    made = features.rows.most_columns * problem.offsets[-1] / problem.n_sequences
    visits = AGGREGATED * problem.data.n_features / max(made, 1)
    most = problem.n_sequences // FEWEST_ROUNDS
    return max(ROUND_VISITS, min(int(visits), most))


def _local_weights(model, partition):
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
    )


def _check_memory(problem, partition):
    """Raise MemoryError if the local weights do not fit into memory."""
    n_workers = len(partition.private)
    n_coef, n_shared = problem.structure.n_coef_in(partition)
    local = 8 * n_workers * (n_coef + problem.structure.n_tied)
    if problem.penalty.threshold:
        # And those that follow them.
        local *= 2
    aggregated = 8 * n_shared
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
    """The visitors of all workers, used like a single DualVisitor.

    ``worker_of`` has the worker of each sequence. ``weights`` follow the weights that
    visits move, and are computed after them; None if visits move the weights. With
    ``in_turn`` one thread makes the visits of all workers, with the same bits: for the
    tests, and to count epochs for more workers than there are cores.
    """

    def __init__(self, visitors, worker_of, rounds, partition, weights=None):
        self.visitors = visitors
        self.partition = partition
        self.worker_of = worker_of
        self.rounds = rounds
        self.weights = weights
        self.in_turn = False

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
        for worker, visitor in enumerate(self.visitors):
            local = None if code is None else self.partition.rows_of(code, worker)
            visitor.set_factors(local, value, bias_factor)

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
