"""The table of solvers, how estimators make theirs, and which solver suits a problem.

An estimator has the name of its solvers in the table. They take the parameters that
their constructors name. Errors and warnings say which other solvers would do.

The rule of ``solver="auto"``, one for all structures, is from measurements: the page
docs/dense_features.rst shows it, and ``examples/benchmarks/solver_choice.py`` and
``dense_tasks.py`` measure it.

Visits of single sequences make slow progress where the features of a sequence are large
beside the penalty: the epochs of dual ascent grow with R^2 / (alpha n), R^2 the sum of
the squared features over the positions of a sequence. SAG and L-BFGS know the curvature
of dense features. SAG gains where there are many sequences: L-BFGS takes a full pass
for each step.

A visit changes all labels of a sequence at once, by one step. So one or few long
sequences take many epochs of dual ascent whatever their features are, and L-BFGS does
not see where a sequence ends.
"""

import inspect
import os
from collections.abc import Mapping
from functools import cache, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from skcrf_sdca._utils.memory import may_fit, size_text
from skcrf_sdca._utils.messages import entry_of
from skcrf_sdca._utils.random import as_generator
from skcrf_sdca._utils.words import in_words, words
from skcrf_sdca.objective.penalties import PENALTIES
from skcrf_sdca.objective.problem import SAMPLE, Problem, largest
from skcrf_sdca.objective.targets import PartialLabels
from skcrf_sdca.solvers.averaged import Averaged
from skcrf_sdca.solvers.base import LARGE, check_needs, missing_needs
from skcrf_sdca.solvers.bcfw import BCFW
from skcrf_sdca.solvers.cccp import CCCP
from skcrf_sdca.solvers.dca import DCA
from skcrf_sdca.solvers.dual import DualSolver
from skcrf_sdca.solvers.lbfgs import LBFGS, QuasiNewton
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.owlqn import OWLQN
from skcrf_sdca.solvers.proximal import PROVIDED, ProximalPoint, accelerates
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.solvers.sdca_bound import SDCABound
from skcrf_sdca.solvers.sgd_methods import METHODS
from skcrf_sdca.solvers.state_file import read_state, solver_of
from skcrf_sdca.structures.chain.curvature import Curvature, Whitening
from skcrf_sdca.structures.weight_choice import AUTO, observed_weights

Table = Mapping[str, tuple[type, ...]]

# The solvers of each name: the first is taken, unless the loss or the penalty needs
# another.
SOLVERS: Table = {
    "sdca": (SDCA, SDCABound, BCFW),
    "oeg": (OEG,),
    "sag": (SAG,),
    "lbfgs": (LBFGS, OWLQN),
    "dca": (DCA,),
    **{name: (method,) for name, method in METHODS.items()},
}
# Before the choice by the data, there is one of these for every loss and penalty.
OF_CRF: Table = {**SOLVERS, AUTO: (SDCA, SDCABound, BCFW, LBFGS, OWLQN)}
# The same of estimators for which "oeg" stands for all that does not name a line
# search, and "sgd" for the default of its methods.
OF_ANY_STRUCTURE: Table = {
    **SOLVERS,
    "oeg": (OEG, BCFW),
    "sgd": SOLVERS["svrg"],
    AUTO: OF_CRF[AUTO],
}
# What users of chains may take, in the words of messages.
SUBGRADIENTS = 'SGDCRF with method="sgd"'
OF_CHAINS: Table = {
    "SDCACRF": SOLVERS["sdca"],
    "OEGCRF": SOLVERS["oeg"],
    "SAGNUSCRF": SOLVERS["sag"],
    "LBFGSCRF": SOLVERS["lbfgs"],
    "SGDCRF": SOLVERS["svrg"],
    # For a loss that the default method does not take.
    SUBGRADIENTS: SOLVERS["sgd"],
}

# Labels from which OEG takes less time and memory than SDCA with marginals of cliques,
# and the mean number of positions from which it does: in shorter sequences an epoch
# costs as much, and SDCA takes fewer.
MANY_LABELS, MANY_IN_SEQUENCE = 12, 5.0
# R^2 / (alpha n^2) of dense features from which L-BFGS is faster than SAG. And R^2 /
# (alpha n) from which it is faster than dual ascent, if SAG does not whiten them.
FEW_SEQUENCES, HUGE = 30.0, 1e3
# R^2 / (alpha n) of features that are mostly 0, as pixels, from which SAG is faster
# than dual ascent, if R^2 / (alpha n^2) is at most the second number.
PIXELS, MANY_SEQUENCES = 100.0, 0.1
# Positions for each weight from which L-BFGS is faster on dense features.
MANY_POSITIONS = 200
# T / n, T the mean number of places of n items, from which L-BFGS is faster than
# visits, on dense features and on others.
LONG_DENSE, LONG = 1.0, 100.0
# How many times the median the largest value of sparse features may be.
UNEVEN = 20.0


class HasSolver:
    """Mixin for an estimator with a solver.

    A subclass names:

    _solvers : mapping of str to tuple of types
        As `SOLVERS`.
    _solver_name : str
        The key of its solvers; a property where parameters decide.
    _penalty : str
        A key of `PENALTIES`. What it is called with are the structure, the scale of
        the loss, and the parameters that it names.
    """

    _solvers: ClassVar[Table] = SOLVERS
    _solver_name: Any
    _penalty = "elastic_net"

    def _name_for(self, problem):
        """Return the name of the solvers for a problem."""
        return self._solver_name

    def _acceleration_of(self, name):
        solvers = entry_of(self._solvers, name, "solver")
        is_dual = issubclass(solvers[0], DualSolver)
        return getattr(self, "acceleration", "auto") if is_dual else None

    def _suited(self, name, structure, loss, penalty):
        """Return the solver with the fewest missing needs, and its arguments."""
        parts = structure, loss, penalty, PROVIDED[self._acceleration_of(name)]
        solvers = self._solvers[name]
        return min(solvers, key=lambda s: len(missing_needs(s, *parts))), parts

    def _checked_penalty(self, structure, loss):
        """Return the penalty; ValueError if no solver takes it with these."""
        new_penalty = entry_of(PENALTIES, self._penalty, "penalty")
        penalty = new_penalty(structure, loss.scale, **self._named_by(new_penalty))
        solver, parts = self._suited(self._solver_name, structure, loss, penalty)
        check_needs(solver, *parts)
        return penalty

    def _new_solver(self, problem):
        """Return the solver of a problem; MemoryError, with those that fit, if not."""
        name = self._name_for(problem)
        parts = problem.structure, problem.loss, problem.penalty
        solver, (*_, provided) = self._suited(name, *parts)
        try:
            return self._made_solver(solver, problem, self._acceleration_of(name))
        except MemoryError as error:
            others = advice_on_memory(problem, *self._choices(), provided)
            pairs = self._advice_on_pairs(problem)
            if not others and not pairs:
                raise
            others = others and f"; of the solvers, {others}"
            raise MemoryError(f"{error}{pairs}{others}") from error

    def _advice_on_pairs(self, problem):
        """Return which pairs with weights alone would fit, the end of a message."""
        return ""

    def _choices(self):
        """Return the solvers that users may choose, by name, and the name of this."""
        return OF_CHAINS, type(self).__name__

    def _options_of(self, solver):
        """Return the options of a solver, by name."""
        return self._named_by(solver)

    def _named_by(self, maker):
        """Return the parameters that a solver or a penalty takes, by name."""
        names = _options(maker) & _names_of_parameters(type(self))
        return {name: getattr(self, name) for name in names}

    def _made_solver(self, solver, problem, acceleration):
        options = self._options_of(solver)
        # An average is a dual point, from which w follows if the penalty has curvature.
        # Weights go to and fro where the loss is not smooth.
        is_rough = issubclass(solver, BCFW) and not problem.loss.is_smooth
        is_averaged = is_rough and problem.penalty.curvature > 0.0
        if accelerates(acceleration, problem):
            solver = partial(ProximalPoint, solver=solver)
        if is_averaged:
            solver = partial(Averaged, solver=solver)
        state = self._state_of_start(problem)
        if state is not None:
            self._check_same_form(state, problem.structure)
        rng = as_generator(self.random_state)
        if isinstance(problem.targets, PartialLabels):
            return CCCP(problem, rng, inner=solver, state=state, **options)
        return solver(problem, rng, state=state, **options)

    def _has_state(self):
        """Return whether there is the state of another fit."""
        is_kept = getattr(self, "_warm_state", None) is not None
        return is_kept or self._state_path() is not None

    def _state_path(self):
        """Return the path of a state in a file, None if there is no such file."""
        path = getattr(self, "checkpoint", None)
        return path if path is not None and os.path.exists(path) else None

    def _state_of_start(self, problem):
        """Return the state that a fit goes on from, None if it begins anew."""
        if not (self.warm_start and self._has_state()):
            return None
        path = self._state_path()
        return self._warm_state if path is None else read_state(path, problem)

    def _message_of(self, monitor):
        """Return the warning of a fit that ended above its target, or None."""
        message = monitor.convergence_message()
        return message and message + advice_on_convergence(monitor.solver)


class SolverByName(HasSolver):
    """Mixin for an estimator whose parameter ``solver`` names its solver.

    "auto" is the one that suits the data, see `choose`. A subclass may name:

    _dual : str or None
        The dual solver that "auto" takes, by the number of labels if it is None.
    """

    _solvers: ClassVar[Table] = OF_ANY_STRUCTURE
    _dual: ClassVar[str | None] = None

    @property
    def _solver_name(self):
        return self.solver

    def _choices(self):
        (names,) = self._parameter_constraints["solver"]
        choices = {
            f'solver="{name}"': solvers
            for name, solvers in self._solvers.items()
            if name in names.options and name != AUTO
        }
        return choices, f'solver="{self.solver}"'

    def _chosen(self, problem):
        """Return the Choice for a problem."""
        if self.solver != AUTO:
            return Choice(self.solver, "asked for")
        if (name := self._solver_of_state()) is not None:
            return Choice(name, "the state of the last fit")
        return choose(problem, self._dual)

    def _solver_of_state(self):
        """Return the solver whose state a fit goes on from, None if it begins anew."""
        if not self.warm_start:
            return None
        if (path := self._state_path()) is not None:
            return solver_of(path)
        state = getattr(self, "_warm_state", None) or {}
        return state.get("solver")

    def _name_for(self, problem):
        return self._chosen(problem).solver

    def _new_solver(self, problem):
        if self.verbose:
            own, (name, reason) = type(self).__name__, self._chosen(problem)
            print(f"{own}: solver {name}, {reason}", flush=True)
            if observed := observed_weights(problem):
                print(f"{own}: {observed}", flush=True)
        return super()._new_solver(problem)

    def _attributes_of_run(self, solver, fitted):
        name = self._chosen(solver.problem).solver
        found = super()._attributes_of_run(solver, fitted)
        if "_warm_state" in found:
            found["_warm_state"]["solver"] = name
        return {**found, "solver_": name}

    def _message_of(self, monitor):
        with in_words(lbfgs='solver="lbfgs"'):
            return super()._message_of(monitor)


class Choice(NamedTuple):
    """A solver, one of the names of `CRF`, and why it was chosen."""

    solver: str
    reason: str


def choose(problem, dual=None):
    """Return the Choice for a problem.

    Parameters
    ----------
    problem : Problem
    dual : str, default=None
        The dual solver that is taken. By default, for chains, the one for the number of
        labels and of positions, and SAG beside it, which whitens their features.

    Returns
    -------
    choice : Choice
        It depends on the data, the number of labels and alpha, and not on the machine.
    """
    may_be_sag = dual is None
    if dual is None:
        dual = _dual_for(problem)
    if "few labellings" in problem.loss.offers:
        return Choice(dual, "a loss whose expectations mix few labellings")
    if "log sum" not in problem.loss.offers:
        return Choice("lbfgs", "a loss that is no log sum exp")
    labels = f"{problem.structure.n_labels} labels"
    if may_be_sag and _are_short(problem):
        own, length = words(), problem.mean_length
        labels += f", {own.sequence}s of {length:.1f} {own.position}s"
    if "gradient" not in problem.penalty.offers:
        return Choice(dual, f"a penalty with L1, {labels}")
    form = _form(problem)
    reason = f"{form} features, {labels}"
    if _suits_full_passes(problem, is_dense=form != "sparse"):
        n, length = problem.n_weighted, problem.mean_length
        long = f"{n} {words().sequence}s of {length:.0f} {words().position}s"
        return Choice("lbfgs", f"{reason}, {long}")
    if may_be_sag and Curvature.suits(problem.structure):
        return _by_size(problem, dual)
    return Choice(dual, reason)


def _dual_for(problem):
    """Return the dual solver of chains."""
    # Without marginals of cliques SDCA has a bound of the entropy in their place.
    has_cliques = "direct" in problem.structure.levels
    is_small = problem.structure.n_labels < MANY_LABELS or not has_cliques
    mixes_few = "few labellings" in problem.loss.offers
    return "sdca" if is_small or mixes_few or _are_short(problem) else "oeg"


def _are_short(problem):
    """Return whether sequences of many labels are short."""
    is_large = problem.structure.n_labels >= MANY_LABELS
    return is_large and problem.mean_length < MANY_IN_SEQUENCE


def _form(problem):
    """Return the form of the features, in words."""
    data = problem.data
    if not data.stores_rows or sp.issparse(data.X):
        return "sparse"
    return f"{data.X.shape[1]} dense"


def _suits_full_passes(problem, *, is_dense):
    """Return whether L-BFGS is faster than visits, by the numbers of a problem."""
    n, length = problem.n_weighted, problem.mean_length
    if length >= (LONG_DENSE if is_dense else LONG) * n:
        return True
    if not is_dense:
        return False
    _, are_mostly_zero = problem.dense_size
    n_weights = problem.new_parameters().w.size
    return not are_mostly_zero and n * length >= MANY_POSITIONS * n_weights


def _by_size(problem, dual):
    """Return the Choice for chains with dense features, by their size beside alpha."""
    size, n_sequences = problem.relative_size, problem.n_weighted
    whitens = Whitening.suits(problem.structure)
    if size < (LARGE if whitens else HUGE):
        raw, are_mostly_zero = problem.dense_size
        of_pixels = are_mostly_zero and PIXELS <= raw <= MANY_SEQUENCES * n_sequences
        solver = "sag" if of_pixels else dual
    elif whitens and size < FEW_SEQUENCES * n_sequences:
        solver = "sag"
    else:
        solver = "lbfgs"
    reason = (
        f"dense features of the size {size:.2g} beside alpha, "
        f"{problem.structure.n_labels} labels, {n_sequences} sequences"
    )
    return Choice(solver, reason)


def advice_on_convergence(solver):
    """Return what else a warning of no convergence says, or an empty string.

    Parameters
    ----------
    solver : Solver
        That made the fit.
    """
    problem = solver.problem
    if isinstance(solver, QuasiNewton) or not isinstance(problem, Problem):
        return ""
    if not problem.data.stores_rows:
        return ""
    X = problem.data.X
    if sp.issparse(X):
        # Without a copy of all values, which may lie in a file.
        some = np.abs(X.data[:: max(X.nnz // SAMPLE, 1)])
        usual = float(np.median(some)) if some.size else 0.0
        most = largest(X.data)
        if not most > UNEVEN * usual > 0.0:
            return ""
        return (
            f"; values in X go up to {most:.2g}, and most are {usual:.2g}: "
            "divide the features that have large ones by their size"
        )
    if (size := problem.relative_size) < LARGE:
        return ""
    return (
        f"; the features are large, R^2 / ({words().alpha_n}) = {size:.2g}: "
        f"standardise them, or take {words().lbfgs}, whose steps do not depend on "
        "their scale"
    )


def advice_on_memory(problem, choices, refused, provided=frozenset()):
    """Return the solvers that fit into memory, as the end of a message.

    ``choices`` has the solvers, a tuple of types by name, that a user can take instead
    of the one called ``refused``; ``provided`` is as for `check_needs`. The text is
    empty if there is no other solver.
    """
    parts = problem.structure, problem.loss, problem.penalty, provided
    n_weights = problem.new_parameters().w.size
    sizes = {}
    for name, solvers in choices.items():
        suited = [solver for solver in solvers if not missing_needs(solver, *parts)]
        if name != refused and suited:
            sizes[name] = suited[0].n_bytes(problem, n_weights)
    if "SGDCRF" in sizes:
        del sizes[SUBGRADIENTS]
    if not sizes:
        return ""
    fitting = [name for name in sizes if may_fit(sizes[name])]
    if not fitting:
        least = min(sizes, key=sizes.get)
        return f"no other solver fits, the least is {_with_size(least, sizes)}"
    return "these fit: " + ", ".join(_with_size(name, sizes) for name in fitting)


def _with_size(name, sizes):
    return f"{name} ({size_text(sizes[name])})"


# Every chunk of a stream asks both.
@cache
def _names_of_parameters(estimator):
    return frozenset(estimator._get_param_names())


@cache
def _options(maker):
    """Return the names of the options that a constructor, or a function, has."""
    classes = getattr(maker, "__mro__", ())
    makers = [vars(cls).get("__init__", object) for cls in classes] or [maker]
    arguments = (a for m in makers for a in inspect.signature(m).parameters.values())
    return {a.name for a in arguments if a.kind is a.KEYWORD_ONLY}
