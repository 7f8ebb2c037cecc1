"""How partitions are trained together: what is asked of them, round by round.

`Cluster` is what a machine room must offer; `CommonProblem` is the problem of all
partitions together, whose passes are sums over them; `CommonSolver` makes the epochs,
by one of two methods:

* "dual": rounds of CoCoA+, in which each partition visits a share of its sequences
  and sends what that adds to what(mu). D(mu) is known exactly after each, and the
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

from skcrf_sdca._kernels._vecmath import inner
from skcrf_sdca.distributed._partition import StateLostError
from skcrf_sdca.objective.problem import Certificate
from skcrf_sdca.solvers.base import Solver
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.structures.chain.parameters import ChainModel

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


class CommonProblem:
    """The problem of all partitions together, as `Loop` and `LBFGS` take it.

    Parameters
    ----------
    cluster : Cluster
        Whose partitions have begun.
    columns : list of ndarrays of int
        The features of each.
    sizes : dict
        ``n_sequences``, ``n_features``, ``n_labels``, ``alpha``, ``boundaries``,
        ``allowed``, ``mean_length`` and ``initial_primal``, as of `Problem`.

    Attributes
    ----------
    best_dual : float
        The largest D(mu) found so far.
    n_oracle_calls : int
        Of the visits of the dual method.
    traffic : Traffic
    """

    def __init__(self, cluster, columns, sizes):
        self.cluster = cluster
        self.columns = columns
        self.best_dual = -np.inf
        self.n_oracle_calls = 0
        self.traffic = Traffic()
        vars(self).update(sizes)

    def new_model(self, w=None):
        """Return a model of the problem's shape, with zero weights by default."""
        return ChainModel(
            self.n_features, self.n_labels, boundaries=self.boundaries, w=w
        )

    def _rows(self, model, columns):
        """Return the weights of some features and of all biases, as a flat vector."""
        rows = np.concatenate([model.biases, model.coef[columns].ravel()])
        self.traffic.sent += rows.nbytes
        return rows

    def _ask_at(self, method, w, *arguments):
        """Yield what the partitions answer to w and more arguments."""
        self.traffic.rounds += 1
        model = self.new_model(w)
        each = ((self._rows(model, c), *arguments) for c in self.columns)
        return self.cluster.map(method, each)

    def add_up(self, answers):
        """Return what(mu) and the total of the values of Sums of all partitions."""
        model, total = self.new_model(), 0.0
        with closing(answers):
            for columns, part in zip(self.columns, answers, strict=True):
                biases, rows = np.split(part.w, [model.biases.size])
                model.biases += biases
                # No partition has a feature twice.
                model.coef[columns] += rows.reshape(-1, self.n_labels)
                total += part.value
                self.n_oracle_calls += part.n_oracle_calls
                self.traffic.received += part.w.nbytes
        return model.w, total

    def _primal(self, w, loss):
        return loss + 0.5 * self.alpha * inner(w, w)

    def start_dual(self, seeds, options):
        """Let all partitions start at their labels; return what(mu)."""
        self.traffic.rounds += 1
        calls = ((seed, options) for seed in seeds)
        return self._take_dual(self.cluster.map("start_dual", calls))

    def visit(self, w, share):
        """Let all partitions visit a share of their sequences; return what(mu)."""
        return self._take_dual(self._ask_at("visit", w, share))

    def _take_dual(self, answers):
        w, entropy = self.add_up(answers)
        dual = entropy - 0.5 * self.alpha * inner(w, w)
        self.best_dual = max(self.best_dual, dual)
        return w

    def _certificate(self, primal):
        """Return what the largest dual says of a primal objective."""
        gap = max(primal - self.best_dual, 0.0)
        return Certificate(primal=primal, dual=self.best_dual, gap=gap)

    def certify(self, w):
        """Return the Certificate of w, from a pass for P(w)."""
        return self._certificate(self._primal(w, sum(self._ask_at("losses", w))))

    def certify_primal(self, w):
        """Return grad P(w) and a Certificate, as of `Problem.certify_primal`."""
        target, loss = self.add_up(self._ask_at("expect", w))
        gradient = np.subtract(w, target, out=target)
        gradient *= self.alpha
        primal = self._primal(w, loss)
        # The dual point p(. | x; w).
        dual = primal - inner(gradient, gradient) / (2.0 * self.alpha)
        self.best_dual = max(self.best_dual, dual)
        return gradient, self._certificate(primal)


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
    options : dict
        Of the dual solver.
    w : ndarray, default=None
        Where L-BFGS starts.
    on_loss : callable
        Called with the StateLostError that ends the dual method.
    """

    def __init__(
        self, problem, *, method, n_rounds, max_iter, seeds, options, on_loss, w=None
    ):
        self.problem = problem
        self.method = method
        self.n_rounds = n_rounds
        self.max_iter = max_iter
        self.seeds = seeds
        self.options = options
        self.on_loss = on_loss
        self.model = problem.new_model(w)
        self._now = self

    def run(self, end_epoch):
        """Make epochs until ``end_epoch()``, called after each, returns True."""
        if self.method == "dual" and self._run_dual(end_epoch):
            return
        self._run_lbfgs(end_epoch)

    def _run_dual(self, end_epoch):
        """Make dual epochs; return False if a partition has lost its state."""
        problem, n = self.problem, self.problem.n_sequences
        w = problem.start_dual(self.seeds, self.options)
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
