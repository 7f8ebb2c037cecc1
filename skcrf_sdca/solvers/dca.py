"""Online dual coordinate ascent [Martins10]: its weights, their average, its epochs."""

from contextlib import contextmanager
from typing import ClassVar

import numpy as np

from skcrf_sdca._kernels.visits._dca import (
    ARowKernel,
    DCAKernel,
    KBestKernel,
    PredictionKernel,
)
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca.objective.losses import STEP_LOSSES
from skcrf_sdca.solvers.base import EpochSolver, first_model

# The p of _dca.pyx of each average.
AVERAGES = {"polynomial": 4.0, "uniform": 1.0}
DEFAULT_AVERAGE = "polynomial"


class DCA(EpochSolver):
    """Passes over sequences, each visit a step that needs no step size.

    The problem has one label at every position, and its alpha has no effect. The
    options are parameters of `PassiveAggressiveCRF`. The state has ``w``, ``total``,
    which is None without an average, ``n_visits``, and ``power``, the p of the average.
    With another ``average`` a new one begins. For "arow" the state may have
    ``squares``. With ``stream`` the sequences are a chunk of a stream, for `learn`: the
    arrays of the state are then not copied, but changed in place.

    Attributes
    ----------
    w, total : ndarrays of shape (n_weights,)
        The weights that visits move, and the sum that gives their average.
    squares : ndarray of shape (n_weights,) or None
        With "arow" one over the variance of each weight, less 1.
    mean_loss : float
        Mean loss over the visits of the last epoch, each at the weights that it found.
    """

    needs: ClassVar[frozenset[str]] = frozenset(
        {"argmax", "expect", "visit", "compiled loss", "identity"}
    )
    mean_loss = np.nan

    def __init__(
        self,
        problem,
        rng,
        *,
        C=1.0,
        average=True,
        shuffle=True,
        n_best=1,
        update="max_loss",
        state=None,
        stream=False,
    ):
        _check_options(problem.loss.name, n_best, update)
        self.problem = problem
        self.rng = rng
        self.shuffle = shuffle
        self._set_state(state, average, update, copy=not stream)
        self.kernel = self._new_kernel(C, n_best, update)

    def _set_state(self, state, average, update, *, copy):
        if state is None:
            state = {"w": self.problem.new_parameters().w, "total": None}
        elif copy:
            state = {**state, "w": first_model(self.problem, state).w}
            for name in ("total", "squares"):
                vector = state.get(name)
                state[name] = None if vector is None else vector.copy()
        average = DEFAULT_AVERAGE if average is True else average
        self.power = AVERAGES[average] if average else 0.0
        self.w, self.total = state["w"], state["total"] if average else None
        self._visits_before = state.get("n_visits", 0)
        if average and (self.total is None or state["power"] != self.power):
            # Also of weights in single precision.
            self.total, self._visits_before = np.zeros(len(self.w)), 0
        self.squares = state.get("squares") if update == "arow" else None
        if update == "arow" and self.squares is None:
            self.squares = np.zeros_like(self.w)

    def _check_memory(self, n_best):
        structure = self.problem.structure
        n_local = structure.longest_labelling
        # Beside the products: the potentials of each labelling, its labels twice, of 4
        # bytes, and the lists in which it is found.
        check_fits(
            8 * n_best * (n_best + 3 * n_local + structure.n_tied),
            f"the products of n_best={n_best} labellings with each other",
            "take a smaller n_best",
        )

    def _new_kernel(self, C, n_best, update):
        problem, loss = self.problem, self.problem.loss
        weights, total = (
            None if w is None else problem.new_parameters(w).weights()
            for w in (self.w, self.total)
        )
        features = problem.structure.distinct_features()
        arguments = (
            problem.kernel(weights, features),
            problem.offsets,
            C / loss.scale * problem.sample_weight,
        )
        options = {"total": total, "power": self.power, "n_visits": self._visits_before}
        if n_best > 1:
            self._check_memory(n_best)
            return KBestKernel(*arguments, n_best=n_best, **options)
        if update != "max_loss":
            prediction = problem.kernel(weights, features, with_cost=False)
            options["prediction"] = prediction
        if update == "arow":
            vectors = {"w": self.w, "sum_of_changes": self.total}
            return ARowKernel(*arguments, squares=self.squares, **vectors, **options)
        if update == "prediction":
            return PredictionKernel(*arguments, **options)
        return DCAKernel(
            *arguments,
            smooth=loss.is_smooth,
            fixed_step=loss.name in STEP_LOSSES,
            **options,
        )

    @staticmethod
    def averaged(state):
        """Return the weights of the model of a `state`: a copy, or their average.

        See _dca.pyx for the formula.
        """
        if state["total"] is None or not state["n_visits"]:
            return state["w"].copy()
        average = np.divide(
            state["total"], -(float(state["n_visits"]) ** state["power"])
        )
        return np.add(average, state["w"], out=average)

    @property
    def model(self):
        """Parameters with a copy of the weights, or of their average."""
        return self.problem.new_parameters(self.averaged(self.state()))

    @property
    def n_visits(self):
        """Visits so far, the visits of the state included."""
        return int(self.kernel.n_visits)

    @property
    def n_updates(self):
        """Visits of this run that changed the weights."""
        return self.kernel.n_updates

    @property
    def n_oracle_calls(self):
        """Marginalisations, or best labellings, of one sequence in this run."""
        return self.kernel.n_oracle_calls

    def epoch(self):
        """Visit every sequence once, in a random order if they are shuffled."""
        n = self.problem.n_sequences
        self._visit(self.rng.permutation(n) if self.shuffle else np.arange(n))

    def learn(self):
        """Visit the sequences of a chunk once, in their order.

        After an error the state is as before. Both take time in proportion to the
        features of the chunk.
        """
        with _restored_after_error(self.problem, self.w, self.total, self.squares):
            self._visit(np.arange(self.problem.n_sequences))

    def _visit(self, order):
        n, before = len(order), self.kernel.sum_of_losses
        try:
            self.kernel.epoch_in_order(order.astype(np.intp))
        except ValueError as error:
            # Made features are 0 or 1.
            is_given = self.problem.data.stores_rows
            scales = "scale the features in X, or " if is_given else ""
            raise ValueError(
                "steps have led to scores that are not finite: "
                f"{scales}take a smaller C"
            ) from error
        change = self.kernel.sum_of_losses - before
        self.mean_loss = self.problem.loss.scale * change / n

    def certify(self):
        """Certify the weights, of a smooth loss, for the alpha of the problem."""
        return self.problem.certify_primal(self.model.w)[1]

    def state(self):
        """Return the weights, the squares, and the terms of the average."""
        return {
            "w": self.w,
            "total": self.total,
            "squares": self.squares,
            "n_visits": self.n_visits,
            "power": self.power,
        }


def _check_options(loss, n_best, update):
    """Raise ValueError for options that do not fit the loss or each other."""
    for name, value, default in (("n_best", n_best, 1), ("update", update, "max_loss")):
        if value != default and loss != "hinge":
            raise ValueError(
                f'{name}={value!r} is for loss="hinge", not "{loss}": leave it at '
                f"{default!r}."
            )
    if n_best > 1 and update != "max_loss":
        raise ValueError(
            f'n_best={n_best} and update="{update}" choose other labellings: leave '
            'n_best at 1, or update at "max_loss".'
        )


@contextmanager
def _restored_after_error(problem, *vectors):
    """Put back the weights that visits of the problem change, if an error ends them."""
    rows = problem.structure.seen_coef()
    models = [problem.new_parameters(w) for w in vectors if w is not None]
    kept = [(model.biases.copy(), model.coef[rows].copy()) for model in models]
    try:
        yield
    except BaseException:
        for model, (biases, coef) in zip(models, kept, strict=True):
            model.biases[:] = biases
            model.coef[rows] = coef
        raise
