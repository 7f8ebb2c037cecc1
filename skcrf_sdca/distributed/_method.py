"""How partitions are trained together: what is asked of them, round by round.

`Cluster` is what a machine room must offer; `CommonProblem` is the problem of all
partitions together, whose passes are sums over them; `CommonSolver` makes the epochs,
by one of two methods:

* "dual": rounds of CoCoA+, in which each partition visits a share of its sequences
  and sends what that adds to w_hat(mu). D(mu) is known exactly after each, and the
  epoch ends with a pass for P(w). Few partitions need few epochs so.
* "lbfgs": L-BFGS on sums of gradients, a round and a pass each. How many it takes does
  not depend on the number of partitions.

Any dual point bounds the optimum from below, also one whose partition has been lost
since: the gap is P(w) less the largest D found so far.
"""

from abc import ABC, abstractmethod
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from skcrf_sdca.distributed._partition import StateLostError
from skcrf_sdca.objective.objective import Objective
from skcrf_sdca.solvers.base import Solver
from skcrf_sdca.solvers.lbfgs import LBFGS

METHODS = ("lbfgs", "dual")


class Cluster(ABC):
    """Partitions, wherever they are.

    Attributes
    ----------
    n_partitions : int
    """

    @abstractmethod
    def map(self, method, arguments, *, lasting=False):
        """Yield the answers of all partitions to one call, in their order.

        A partition that is lost is loaded again, and asked again.

        Parameters
        ----------
        method : str
            Of `Partition`.
        arguments : iterable of tuple
            Of each partition, in their order.
        lasting : bool, default=False
            Whether a partition that is loaded again must have been asked this.
        """

    @abstractmethod
    def keep(self, chosen):
        """Forget the partitions of which ``chosen``, one bool each, is False."""

    def close(self):  # noqa: B027
        """Let go of the partitions."""

    def ask(self, method, *arguments, **options):
        """Return the list of answers to a call with the same arguments for all."""
        same = (arguments for _ in range(self.n_partitions))
        return list(self.map(method, same, **options))


@dataclass
class Traffic:
    """What has gone over the wire for the fit itself.

    Attributes
    ----------
    rounds : int
        Calls that all partitions answer.
    sent, received : int
        Bytes of weights to, and of sums from, the partitions.
    """

    rounds: int = 0
    sent: int = 0
    received: int = 0


class CommonProblem(Objective):
    """The objective of all partitions together: sums over what they answer.

    Parameters
    ----------
    cluster : Cluster
        Whose partitions have begun.
    columns : list of ndarrays of int
        The features of each.
    alpha : float
    parameters : ChainParameters
        Of the shape of the model.

    Attributes
    ----------
    best_dual : float
        The largest D(mu) found so far.
    n_oracle_calls : int
        Of the visits of the dual method.
    traffic : Traffic
    """

    constraints = None

    def __init__(self, cluster, columns, alpha, parameters):
        super().__init__(alpha)
        self.parameters = parameters
        self.cluster = cluster
        self.columns = columns
        self.best_dual = -np.inf
        self.n_oracle_calls = 0
        self.traffic = Traffic()

    def new_parameters(self, w=None):
        """Return parameters with the flat vector `w`, by default of zeros."""
        w = np.zeros_like(self.parameters.w) if w is None else w
        return self.parameters.with_features(self.parameters.n_features, w)

    def _rows(self, model, columns):
        """Return the weights of some features and of all biases, as a flat vector."""
        rows = np.concatenate([model.biases, model.coef[columns].ravel()])
        self.traffic.sent += rows.nbytes
        return rows

    def _ask_at(self, method, w, *arguments):
        """Yield what the partitions answer to w and more arguments."""
        self.traffic.rounds += 1
        model = self.new_parameters(w)
        each = ((self._rows(model, c), *arguments) for c in self.columns)
        return self.cluster.map(method, each)

    def add_up(self, answers):
        """Return w_hat(mu) and the total of the values of Sums of all partitions."""
        model, total = self.new_parameters(), 0.0
        with closing(answers):
            for columns, part in zip(self.columns, answers, strict=True):
                biases, rows = np.split(part.w, [model.biases.size])
                model.biases += biases
                # No partition has a feature twice.
                model.coef[columns] += rows.reshape(-1, model.n_labels)
                total += part.value
                self.n_oracle_calls += part.n_oracle_calls
                self.traffic.received += part.w.nbytes
        return model.w, total

    def start_dual(self, seeds):
        """Let all partitions start at their labels; return w_hat(mu)."""
        self.traffic.rounds += 1
        calls = ((seed,) for seed in seeds)
        return self._take_dual(self.cluster.map("start_dual", calls))

    def visit(self, w, share):
        """Let all partitions visit a share of their sequences; return w_hat(mu)."""
        return self._take_dual(self._ask_at("visit", w, share))

    def _take_dual(self, answers):
        w, entropy = self.add_up(answers)
        self.best_dual = max(self.best_dual, self.dual(w, entropy))
        return w

    def certificate(self, primal, dual, gap=None):
        """Return the Certificate of a primal objective and the largest dual so far."""
        self.best_dual = max(self.best_dual, dual)
        return super().certificate(primal, self.best_dual, primal - self.best_dual)

    def certify(self, w):
        """Return the Certificate of w, from a pass for P(w)."""
        loss = sum(self._ask_at("losses", w))
        return self.certificate(self.primal(w, loss), self.best_dual)

    def expected_point(self, w):
        """Return w_hat(p(. | x; w)), and the mean loss at w."""
        return self.add_up(self._ask_at("expect", w))


class CommonSolver(Solver):
    """Epochs of all partitions together.

    A dual epoch is n visits in some rounds; an epoch of L-BFGS is an iteration. If a
    partition loses its dual state, L-BFGS goes on from the weights of the last round.

    Parameters
    ----------
    problem : CommonProblem
    method : str
        "dual" or "lbfgs".
    n_rounds : int
        Rounds of an epoch of the dual method.
    max_iter : int
    seeds : list of int
        Of the dual solver of each partition.
    w : ndarray, default=None
        Where L-BFGS starts.
    on_loss : callable
        Called with the StateLostError that ends the dual method.
    """

    def __init__(self, problem, *, method, n_rounds, max_iter, seeds, on_loss, w=None):
        self.problem = problem
        self.method = method
        self.n_rounds = n_rounds
        self.max_iter = max_iter
        self.seeds = seeds
        self.on_loss = on_loss
        self.model = problem.new_parameters(w)
        self._now = self

    def run(self, end_epoch):
        """Make epochs until ``end_epoch()``, called after each, returns True."""
        if self.method == "dual" and self._run_dual(end_epoch):
            return
        self._run_lbfgs(end_epoch)

    def _run_dual(self, end_epoch):
        """Make dual epochs; return False if a partition has lost its state."""
        problem, n = self.problem, self.problem.n_sequences
        w = problem.start_dual(self.seeds)
        while True:
            try:
                for _ in range(self.n_rounds):
                    w = problem.visit(w, 1.0 / self.n_rounds)
            except StateLostError as error:
                self.on_loss(error)
                problem.cluster.ask("end_dual")
                self.model.w[:] = w
                return False
            self.model.w[:] = w
            self.n_updates += n
            self.n_oracle_calls = problem.n_oracle_calls
            if end_epoch():
                problem.cluster.ask("end_dual")
                return True

    def _run_lbfgs(self, end_epoch):
        start = {"w": self.model.w}
        inside = LBFGS(self.problem, None, max_iter=self.max_iter, state=start)
        made, called = self.n_updates, self.n_oracle_calls

        def on_iteration():
            self.model.w[:] = inside.model.w
            self.n_updates = made + inside.n_updates
            self.n_oracle_calls = called + inside.n_oracle_calls
            return end_epoch()

        self._now = inside
        inside.run(on_iteration)
        self.message = inside.message

    def certify(self):
        """Return the Certificate of the current weights."""
        if self._now is self:
            return self.problem.certify(self.model.w)
        return self._now.certify()

    def state(self):
        """Return the weights."""
        return {"w": self.model.w}
