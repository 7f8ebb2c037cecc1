"""The problem of all partitions together, and the two methods that solve it.

A `Cluster` holds the partitions. `CommonProblem` is the objective: each pass is a sum
over the partitions. It is solved by one of two methods:

* "dual": rounds of CoCoA+ (`CoCoA`). In a round each partition visits some of its
  sequences and sends its part of w_hat(mu). D(mu) is known exactly after each round,
  and the epoch ends with a pass for P(w). The fewer the partitions are, the fewer
  epochs it needs.
* "lbfgs": L-BFGS, where a gradient takes one round and one pass. The number of
  iterations does not depend on the number of partitions.

Every dual point bounds the optimum from below, even if its partition has been lost
since: the gap is P(w) minus the largest D(mu) found so far.
"""

import logging
from abc import ABC, abstractmethod
from contextlib import closing

import numpy as np

from skcrf_sdca._kernels.math._vecmath import inner
from skcrf_sdca.distributed._partition import StateLostError
from skcrf_sdca.objective.objective import ROUNDING, LowerBound, Objective
from skcrf_sdca.solvers.base import Solver
from skcrf_sdca.solvers.lbfgs import LBFGS

_LOG = logging.getLogger("skcrf_sdca.distributed")


class Cluster(ABC):
    """The ``n_partitions`` partitions, in this process or on other machines."""

    @abstractmethod
    def map(self, method, arguments, *, lasting=False):
        """Yield the answers of all partitions to one call, in their order.

        ``method`` is the name of a method of `Partition`, and ``arguments`` has a tuple
        for each partition. A partition that is lost is loaded again, and asked again;
        calls that are ``lasting`` are repeated then.
        """

    @abstractmethod
    def n_beside(self):
        """Return, for each partition, how many its process has, itself included."""

    @abstractmethod
    def keep(self, chosen):
        """Forget the partitions whose bool in ``chosen`` is False."""

    def close(self):  # noqa: B027
        """Let go of the partitions."""

    def ask(self, method, *arguments, **options):
        """Return the list of answers to a call with the same arguments for all."""
        same = (arguments for _ in range(self.n_partitions))
        return list(self.map(method, same, **options))


class CommonProblem(Objective):
    """The objective of all partitions together: sums over what they answer.

    Parameters
    ----------
    cluster : Cluster
        Its partitions have begun.
    rows : list of ndarrays of int
        The rows of coef that each partition has; with pairs, the single weights.
    alpha : float
    parameters : ChainParameters
        They have the shape of the model.
    n_sequences : int
    means : dict of float
        The attributes `MEANS` of `Problem`, which are attributes here too.
    constraints : Constraints or None
    """

    def __init__(
        self, cluster, rows, alpha, parameters, *, n_sequences, means, constraints
    ):
        super().__init__(alpha)
        self.parameters = parameters
        self.cluster = cluster
        self.rows = rows
        self.n_sequences = n_sequences
        vars(self).update(means)
        self.constraints = constraints
        self.lower_bound = LowerBound()
        self.n_oracle_calls = 0
        # Calls that all partitions answer, and bytes of weights and of sums.
        self.traffic = {"rounds": 0, "sent": 0, "received": 0}

    def new_parameters(self, w=None):
        """Return parameters with the flat vector `w`, by default of zeros."""
        w = np.zeros_like(self.parameters.w) if w is None else w
        shape = self.parameters
        return shape.with_features(shape.n_features, w, shape.pairs)

    def _part(self, model, rows):
        """Return the weights in some rows and all biases, as a flat vector."""
        part = np.concatenate([model.biases, model.coef[rows].ravel()])
        self.traffic["sent"] += part.nbytes
        return part

    def _ask_at(self, method, w, *arguments):
        """Yield the answers of the partitions to w and more arguments."""
        self.traffic["rounds"] += 1
        model = self.new_parameters(w)
        each = ((self._part(model, rows), *arguments) for rows in self.rows)
        return self.cluster.map(method, each)

    def add_up(self, answers):
        """Return w_hat(mu), and the total value and the largest number of all Sums."""
        model, total, largest = self.new_parameters(), 0.0, 0.0
        with closing(answers):
            for rows, part in zip(self.rows, answers, strict=True):
                biases, coef = np.split(part.w, [model.biases.size])
                model.biases += biases
                # No partition has a feature twice.
                model.coef[rows] += coef.reshape(len(rows), *model.coef.shape[1:])
                total += part.value
                largest = max(largest, part.largest)
                self.n_oracle_calls += part.n_oracle_calls
                self.traffic["received"] += part.w.nbytes
        return model.w, total, largest

    def start_dual(self, seeds, memory):
        """Let all partitions start at their labels; return w_hat(mu).

        ``memory`` is what the dual variables of each, and its data in a file, may take.
        """
        self.traffic["rounds"] += 1
        each = zip(seeds, self.cluster.n_beside(), strict=True)
        calls = ((seed, memory, n_beside) for seed, n_beside in each)
        return self._take_dual(self.cluster.map("start_dual", calls))

    def visit(self, w, fraction):
        """Let all partitions visit a fraction of their sequences; return w_hat(mu)."""
        return self._take_dual(self._ask_at("visit", w, fraction))

    def _take_dual(self, answers):
        w, entropy, largest = self.add_up(answers)
        dual = self.dual(w, entropy)
        rounding = self._rounding_of(dual, w, largest)
        self.lower_bound.add(dual - rounding, rounding)
        return w

    def _rounding_of(self, dual, w, largest):
        """Return a bound on the rounding of D(mu), given w_hat(mu)."""
        of_point = ROUNDING * self.mean_size * np.sqrt(inner(w, w))
        return of_point + self.primal_rounding(dual, largest)

    def certificate(self, primal, dual, gap=None, rounding=0.0, dual_rounding=0.0):
        """Return the Certificate of a primal objective and the largest dual so far."""
        bound = self.lower_bound
        bound.add(dual, dual_rounding)
        gap = bound.gap(primal)
        return super().certificate(primal, bound.value, gap, bound.rounding)

    def certify(self, w):
        """Return the Certificate of w, from a pass for P(w)."""
        loss = sum(self._ask_at("losses", w))
        return self.certificate(self.primal(w, loss), -np.inf)

    def expected_point(self, w):
        """Return w_hat(p(. | x; w)), the mean loss at w, and the largest potential."""
        return self.add_up(self._ask_at("expect", w))


class CoCoA(Solver):
    """The dual method: an epoch is n visits, in some rounds.

    If a partition loses its dual state, L-BFGS makes at most ``max_iter`` iterations
    from the weights of the last round. An epoch has ``n_rounds``, and each partition a
    seed of its dual solver, and ``memory`` for it.
    """

    def __init__(self, problem, *, n_rounds, max_iter, seeds, memory):
        self.problem = problem
        self.memory = memory
        self.n_rounds = n_rounds
        self.max_iter = max_iter
        self.seeds = seeds
        self.model = problem.new_parameters()
        self._lbfgs = None

    def run(self, end_epoch):
        """Make epochs until ``end_epoch()``, called after each, returns True."""
        w = self.problem.start_dual(self.seeds, self.memory)
        done = False
        while not done:
            try:
                for _ in range(self.n_rounds):
                    w = self.problem.visit(w, 1.0 / self.n_rounds)
            except StateLostError as error:
                _LOG.warning("%s; L-BFGS goes on from w", error)
                break
            finally:
                self.model.w[:] = w
            self.n_updates += self.problem.n_sequences
            self.n_oracle_calls = self.problem.n_oracle_calls
            done = end_epoch()
        self.problem.cluster.ask("end_dual")
        if not done:
            self._run_lbfgs(end_epoch)

    def _run_lbfgs(self, end_epoch):
        lbfgs = LBFGS(self.problem, None, max_iter=self.max_iter, state=self.state())
        n_updates, n_oracle_calls = self.n_updates, self.n_oracle_calls

        def on_iteration():
            self.model.w[:] = lbfgs.model.w
            self.n_updates = n_updates + lbfgs.n_updates
            self.n_oracle_calls = n_oracle_calls + lbfgs.n_oracle_calls
            return end_epoch()

        self._lbfgs = lbfgs
        lbfgs.run(on_iteration)
        self.message = lbfgs.message

    def certify(self):
        """Return the Certificate of the current weights."""
        if self._lbfgs is not None:
            return self._lbfgs.certify()
        return self.problem.certify(self.model.w)

    def state(self):
        """Return the weights."""
        return {"w": self.model.w}
