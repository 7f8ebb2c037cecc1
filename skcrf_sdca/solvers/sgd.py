"""Stochastic gradient: the step sizes, means and certificates of all methods.

All make proximal steps against gradients of single sequences, see _sgd.pyx. The other
methods are subclasses, in sgd_methods.py and svrg.py.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import ClassVar, NamedTuple

import numpy as np

from skcrf_sdca._kernels.visits._sgd import SGDKernel
from skcrf_sdca._kernels.visits._steps import ScaledSteps
from skcrf_sdca._utils.words import words
from skcrf_sdca.objective.objective import LowerBound
from skcrf_sdca.solvers.base import EpochSolver, first_model
from skcrf_sdca.solvers.samplers import SAMPLING_SCHEMES
from skcrf_sdca.structures.scores import LARGEST_SCORE


def by_penalty(eta0, problem):
    """Return how fast steps fall that know the strength s of the penalty: eta0 s."""
    return eta0 * problem.strength


def by_visits(eta0, problem):
    """Return how fast steps fall with the number of visits: 1."""
    return 1.0


def by_epochs(eta0, problem):
    """Return how fast steps fall with the number of epochs: 1 / n."""
    return 1.0 / problem.n_sequences


class LearningRate(NamedTuple):
    """Schedule of the step sizes eta0 (1 + fall t)^-power after t visits.

    Attributes
    ----------
    power : float
    fall : callable
        Returns the number ``fall`` for eta0 and the problem.
    adaptive : bool
        Whether eta0 is halved where the objective has not fallen.
    streams : bool
        Whether a stream has it: without the objective, and the number of sequences.
    """

    power: float
    fall: Callable[..., float] = by_penalty
    adaptive: bool = False
    streams: bool = True


LEARNING_RATES = {
    "optimal": LearningRate(1.0),
    "invscaling": LearningRate(0.75),
    "inverse": LearningRate(1.0, by_visits),
    "inverse_sqrt": LearningRate(0.5, by_visits),
    "inverse_epochs": LearningRate(1.0, by_epochs, streams=False),
    "constant": LearningRate(0.0),
    "adaptive": LearningRate(0.0, adaptive=True, streams=False),
}
# Calibration: number of sequences, and maximal number of trials per direction.
SAMPLE = 600
MAX_TRIALS = 60
# A step size below this multiple of the first trial counts as no step.
SHORTEST = 1e-6
# Number of times that a trial evaluates the objective.
LOOKS = 3


class SGD(EpochSolver):
    """Stochastic gradient, in random order without repetitions in an epoch.

    The options are parameters of `SGDCRF`. A run starts from the model that a state
    found. With ``stream`` the sequences are a chunk of a stream, for `learn`: a run
    continues the weights and the mean of the state, the visits are in the order of the
    sequences, the gradient of a sequence has its sample weight as a factor, and
    ``eta0="auto"`` takes the step size of the state.

    Attributes
    ----------
    current : Parameters
        The weights that visits move; ``model`` may have their mean.
    sums : ndarray of shape (n_weights,) or None
        For means the sum of t w_t over visits t.
    late_mean : bool
        Tail averaging: the mean is restarted, before an epoch or a chunk, when the
        number of visits has doubled.
    n_ends : int
        With a mean, the number of parts of an epoch whose last weights count for all
        their visits; a chunk of a stream is one part. With 0 every visit counts itself.
    eta0 : float or "auto"
        A number from the first epoch on.
    mean_loss : float
        Mean loss over the visits of the last chunk, each at the weights that it found.
    found : object
        The last evaluation of a method on all sequences, or None.
    learning_rates : tuple of str
        Keys of `LEARNING_RATES` that the method takes; the first is the default.
    averages : tuple of bool
        Whether the method returns the mean of its weights; the first is the default.
    fixed_eta0 : bool
        Whether there is no choice of the first step.
    streams : bool
        Whether the method can learn from a stream, without a second visit.
    """

    learning_rates: ClassVar[tuple[str, ...]] = (
        "adaptive",
        "optimal",
        "invscaling",
        "constant",
        "inverse_sqrt",
        "inverse_epochs",
    )
    averages: ClassVar[tuple[bool, ...]] = (False, True)
    fixed_eta0 = False
    streams = True
    needs: ClassVar[frozenset[str]] = frozenset(
        {"expect", "argmax", "visit", "compiled loss", "threshold"}
    )
    last_primal = np.inf
    n_certificates = 0
    calls = 0.0
    late_mean = False
    n_ends = 0
    kernel = found = None
    mean_loss = np.nan

    def __init__(
        self,
        problem,
        rng,
        *,
        method="sgd",
        learning_rate="auto",
        eta0="auto",
        average="auto",
        certify_every=1,
        state=None,
        stream=False,
    ):
        self.problem, self.rng, self.stream = problem, rng, stream
        self.lower_bound = LowerBound()
        self.certify_every = certify_every
        self.method, rates = method, self.learning_rates
        if stream:
            rates = [name for name in rates if LEARNING_RATES[name].streams]
        rate = _option("learning_rate", learning_rate, rates, method)
        self.rate = LEARNING_RATES[rate]
        self.average = _option("average", average, self.averages, method)
        if self.fixed_eta0:
            _option("eta0", eta0, ("auto",), method)
            eta0 = 1.0 / problem.strength
        self.eta0, self.is_calibrated = eta0, eta0 == "auto"
        self._set_state(state or {})
        self.features = problem.structure.distinct_features()
        self.paths = None
        if not problem.loss.is_smooth:
            self.paths = np.zeros(problem.data.n_positions, dtype=np.intc)
            self.mean_added, self.v = 0.0, np.zeros_like(self.model.w)

    def _set_state(self, state):
        """Start from the state of an earlier run, or from w = 0 if it is empty."""
        problem = self.problem
        self.current = problem.new_parameters()
        self.first_step = self.first_counted = state.get("n_visits", 0)
        total = None
        if self.stream and state:
            total = state["total"]
            if self.eta0 == "auto" and state.get("method") == self.method:
                self.eta0 = state["eta0"]
        elif state:
            state = {**state, "w": self.averaged(state)}
        if state:
            self.current = first_model(problem, state)
        self.model, self.sums = self.current, None
        if self.average:
            self.model = problem.new_parameters(self.current.w.copy())
            self.sums = np.zeros_like(self.model.w)
            if total is not None:
                self.sums[:], self.first_counted = total, state["first_counted"]

    @staticmethod
    def averaged(state):
        """Return the weights of the model of a `state`: a copy, or their mean."""
        if state["total"] is None or state["n_visits"] == state["first_counted"]:
            return state["w"].copy()
        return state["total"] / sum_of_counts(state["first_counted"], state["n_visits"])

    def new_kernel(self, w, eta0, *, trial=False):
        """Return a kernel that moves w, by steps of a first size; a trial is new."""
        steps = self.new_steps(w, eta0, trial=trial)
        steps.count = 0 if trial else self.first_step
        return self.kernel_of(steps, SGDKernel, paths=self.paths)

    def new_steps(self, w, eta0, *, trial):
        """Return the steps of the method."""
        return self.steps_of(
            w,
            eta0,
            ScaledSteps,
            power=self.rate.power,
            fall=self.rate.fall(eta0, self.problem),
            capacity=self.problem.n_sequences,
            total=None if trial else self.sums,
        )

    def steps_of(self, w, eta0, steps_class, **options):
        """Return steps of a class of _steps.pyx, which move w."""
        problem = self.problem
        return steps_class(
            w,
            problem.new_parameters(w).weights(),
            self.features,
            strength=problem.strength,
            penalty=problem.penalty,
            eta0=eta0,
            **options,
        )

    def kernel_of(self, steps, kernel_class, **options):
        """Return a kernel of a class of _sgd.pyx, with steps."""
        problem = self.problem
        return kernel_class(
            problem.kernel(steps.weights, self.features),
            problem.offsets,
            self.feature_scale,
            SAMPLING_SCHEMES["uniform"].make(problem, 0.0),
            steps=steps,
            strength=problem.strength,
            **options,
        )

    @property
    def n_oracle_calls(self):
        """Marginalisations, or best labellings, the calibration included."""
        return self.calls + (self.kernel.n_oracle_calls if self.kernel else 0)

    def epoch(self):
        """Visit every sequence once; before the first time, choose the step size."""
        if self.kernel is None:
            self.begin()
        order = self.rng.permutation(self.problem.n_sequences)
        self.visit(order)
        self.n_updates += len(order)

    def learn(self):
        """Visit the sequences of a chunk once, in their order.

        ValueError if the weights are then no numbers; the state given is unchanged.
        """
        if self.kernel is None:
            self.begin()
        n = self.problem.n_sequences
        self.visit(np.arange(n, dtype=np.intp))
        vectors = [v for v in self.state().values() if isinstance(v, np.ndarray)]
        is_finite = all(np.isfinite(v).all() for v in vectors)
        if not is_finite or not np.all(np.abs(self.current.w) <= LARGEST_SCORE):
            raise self.not_finite()
        self.mean_loss = self.problem.loss.scale * self.kernel.sum_of_losses / n

    @property
    def feature_scale(self):
        """The factor of the features of each sequence over n, see `Visitor`."""
        problem = self.problem
        if self.stream:
            return problem.sample_weight / (problem.strength * problem.n_sequences)
        return problem.feature_scale

    @property
    def n_visits(self):
        """Visits so far, the visits of the state included."""
        return self.first_step if self.kernel is None else int(self.kernel.count)

    def begin(self):
        """Choose the step size, and make the kernel."""
        if self.eta0 == "auto":
            n = self.problem.n_sequences
            order = self.rng.permutation(n)[:SAMPLE]
            # One for all trials: a new one would take longer than the visits.
            self.eta0 = self.calibrated(order, np.empty_like(self.current.w))
        self.kernel = self.new_kernel(self.current.w, self.eta0)

    def calibrated(self, order, w):
        """Return the step size that is best for one visit to each of some sequences.

        Overwrites ``w``.
        """
        first = self.first_eta0()
        eta0 = least(lambda eta0: self.after(order, eta0, w), first)
        if eta0 >= SHORTEST * first or np.isinf(self.after(order, first, w)):
            return eta0
        # No step lowers the objective, for w = 0 is near the optimum: at a prior, say.
        return first

    def first_eta0(self):
        """Return the step size that is tried first."""
        return 1.0 / (
            self.problem.strength + self.problem.structure.squared_radii().mean()
        )

    # The last of a few visits may lead the weights far away.
    def after(self, order, eta0, w):
        """Return the objective on some sequences after visits to them, from w = 0.

        It is the median of the objectives after each third of the visits, and infinite
        if the weights are then no numbers. Weights near the optimum would ask for steps
        of no length. Overwrites ``w``.
        """
        try:
            found = [
                self.problem.regularised(w, kernel.mean_loss(order))
                for kernel in self.trial(np.array_split(order, LOOKS), eta0, w)
            ]
        except ValueError:
            return np.inf
        return float(np.median(found))

    def trial(self, parts, eta0, w):
        """Visit sequences from w = 0; yield the kernel after each part of them.

        Raises ValueError if a score is not finite. Overwrites ``w``.
        """
        w[:] = 0.0
        kernel = self.new_kernel(w, eta0, trial=True)
        try:
            for part in parts:
                kernel.epoch_in_order(part)
                yield kernel
        finally:
            self.calls += kernel.n_oracle_calls

    def visit(self, order):
        """Visit the sequences in the given order."""
        n_visits = self.n_visits
        if self.average and self.late_mean and n_visits >= 2 * self.first_counted:
            self.sums[:], self.first_counted = 0.0, n_visits
        if not (self.average and self.n_ends):
            self.visit_in_order(order)
            return
        for part in np.array_split(order, 1 if self.stream else self.n_ends):
            before = self.n_visits
            self.visit_in_order(part)
            self.sums += sum_of_counts(before, self.n_visits) * self.current.w

    def visit_in_order(self, order):
        """Visit the sequences in the given order; ValueError names the step size."""
        try:
            self.kernel.epoch_in_order(order)
        except ValueError as error:
            raise self.not_finite() from error

    def not_finite(self):
        """Return the error to raise where the steps have led too far."""
        smaller = "a smaller one" if self.is_calibrated else 'a smaller one, or "auto"'
        return ValueError(
            f"the scores are not finite after steps with eta0={self.kernel.eta0}: take "
            f"{smaller}; scale the features in X, or take a larger {words().alpha}"
        )

    def certify(self):
        """Certify the weights, or their mean, by the best dual point so far."""
        if self.average:
            self.model.w[:] = self.averaged(self.state())
        found = self.certificate_of(self.model.w)
        if self.rate.adaptive and found.primal >= self.last_primal:
            self.kernel.eta0 *= 0.5
        self.last_primal = found.primal
        self.lower_bound.add(found.dual, found.dual_rounding)
        # A difference of objectives has the rounding of both, a gap has not.
        below = self.problem.certify_below(
            found.primal, self.lower_bound, found.dual_rounding
        )
        return min(found, below, key=attrgetter("gap"))

    def certificate_of(self, w):
        """Return the Certificate of weights alone, or with the labellings found."""
        if self.problem.loss.is_smooth:
            return self.problem.certify_primal(w)[1]
        return self.certify_labellings(w)

    # The labellings of an epoch are a dual point without entropy, and so is any mean of
    # such points: v, and the added costs and fixed scores, are linear in mu.
    def certify_labellings(self, w):
        """Certify weights by a mean, over epochs, of the labellings of the visits."""
        problem = self.problem
        mu = problem.structure.label_potentials(self.paths)
        self.n_certificates += 1
        share = 2.0 / (self.n_certificates + 1.0)
        v = problem.dual_to_primal(mu.local, mu.tied_total(problem.weight))
        self.v += share * (v - self.v)
        self.mean_added += share * (problem.mean_added(mu.local, v) - self.mean_added)
        loss, size = problem.evaluate(w)
        divergence = loss + problem.strength * (w @ self.v) - self.mean_added
        return problem.certify_pair(w, self.v, loss, size, divergence)

    def start_at(self, w, unseen=None):
        """Start from weights."""
        self.current.w[:] = self.model.w[:] = w
        self.found = None

    def targets_changed(self):
        """Forget the objectives of other targets."""
        self.lower_bound, self.last_primal = LowerBound(), np.inf
        self.found = None

    def state(self):
        """Return the weights, their sum, the numbers of visits, and the step size.

        The sum is None without a mean, and counts the visits after ``first_counted``.
        The step size is one of the ``method`` named.
        """
        return {
            "w": self.current.w,
            "total": self.sums if self.average else None,
            "n_visits": self.n_visits,
            "first_counted": self.first_counted,
            "method": self.method,
            "eta0": self.eta0 if self.kernel is None else self.kernel.eta0,
        }


def sum_of_counts(first, last):
    """Return the sum of t over first < t <= last."""
    return 0.5 * (last * (last + 1.0) - first * (first + 1.0))


def least(objective, first):
    """Return the step size, first times a power of 2, of least objective.

    It is made four times as long while the objective falls, or else as short; and at
    the end twice, or half as long if that is better.
    """
    best, value = first, objective(first)
    for factors, most in (((4.0, 0.25), MAX_TRIALS), ((2.0, 0.5), 1)):
        begin = best
        for factor in factors:
            for _ in range(most if best == begin else 0):
                tried = objective(factor * best)
                # Where both are infinite, a smaller step is needed.
                if not (tried < value or (np.isinf(value) and factor < 1.0)):
                    break
                best, value = factor * best, tried
    return best


def _option(name, value, values, method):
    """Return the value of an option, "auto" for the first; ValueError for others."""
    if value == "auto":
        return values[0]
    if value not in values:
        raise ValueError(
            f"{name}={_shown(value)} is not for method={_shown(method)}: choose one of "
            + ", ".join(map(_shown, dict.fromkeys(["auto", *values])))
        )
    return value


def _shown(value):
    return f'"{value}"' if isinstance(value, str) else str(value)
