"""Every solver of every model on every objective: certificates, or a refusal.

A fit ends at a gap that is small enough, its primal is the enumerated objective of its
weights, and its dual is below the primal of another solver of the same objective.
Models, their solvers and the options of objectives are crossed by pairs. The other
solver is the first one of the model.
"""

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from matrix_models import ALPHA, CHAINS, LABELS, LAYOUT, MODELS, fitted
from pairs import by_pairs, pairwise_table


class Case(NamedTuple):
    """An objective, and where its fit starts."""

    loss: str = "log_loss"
    l1_ratio: float = 0.0
    targets: str = "known"
    start: str = "zero"

    @property
    def is_convex(self):
        """Whether the objective has one minimum, so that solvers agree."""
        return self.targets in ("known", "soft")


LOSSES = ("log_loss", "softmax_margin", "hinge")
L1_RATIOS = (0.0, 0.5, 1.0)
TARGETS = ("known", "unknown", "sets", "soft")
STARTS = ("zero", "init", "prior", "both")
PARAMETERS = {
    "log_loss": {"tol": 1e-3},
    "softmax_margin": {"loss": "softmax_margin", "tol": 1e-3},
    "hinge": {"loss": "hinge", "tol": 3e-2},
}
# A fault: the gap of these rises and falls, and stays above 0.05 for 2000 epochs.
SLOW = {("hinge", 1.0)}
# SVRG alone comes near without an L2 penalty in hundreds of epochs.
SLOW_OF_SGD = {("log_loss", 1.0), ("softmax_margin", 1.0)}


def known_of(label, t, targets):
    """Return what is known of a label, of position t of all."""
    other = LABELS[(LABELS.index(label) + 1) % len(LABELS)]
    if targets == "soft":
        return {label: 0.75, other: 0.25} if t % 2 else {label: 1.0}
    if t % 3 or targets == "known":
        return label
    return {label, other} if targets == "sets" else None


def labels_of(model, targets):
    """Return what is known of each item; nothing of one with unknown labels."""
    y, t = [], 0
    for i, labels in enumerate(model.labels()):
        row = [known_of(label, t + s, targets) for s, label in enumerate(labels)]
        y.append([None] * len(row) if targets == "unknown" and i == 1 else row)
        t += len(labels)
    return y


def target_score(own, known, classes):
    """Return log Z(Y) of labels, unknown ones or sets, or <q, scores> of soft ones."""
    if not isinstance(known[0], dict):
        return logsumexp(own.scores[own.agreeing(known, classes)])
    rows = np.array([[row.get(label, 0.0) for label in classes] for row in known])
    q = np.prod(rows[np.arange(len(rows)), own.codes], axis=1)
    return q @ own.scores / q.sum()


def loss_of(own, known, classes, loss):
    """Return the loss of an item."""
    scores = own.scores
    if loss != "log_loss":
        codes = [classes.index(label) for label in known]
        scores = scores + (own.codes != codes).sum(axis=1)
    value = scores.max() if loss == "hinge" else logsumexp(scores)
    return value - target_score(own, known, classes)


def objective(model, crf, case):
    """Return P(w) of a fitted model, enumerated."""
    y, classes = labels_of(model, case.targets), crf.classes_.tolist()
    w = model.weights(crf)
    if case.start in ("prior", "both"):
        w = w - model.weights(prior_of(model))
    penalty = (1 - case.l1_ratio) / 2 * w @ w + case.l1_ratio * abs(w).sum()
    losses = [
        loss_of(own, known, classes, case.loss)
        for own, known in zip(model.labellings(crf), y, strict=True)
        if any(label is not None for label in known)
    ]
    return ALPHA * penalty + np.mean(losses)


def prior_of(model):
    """Return a fitted model to be near, or to start at."""
    (name,) = (name for name, own in MODELS.items() if own is model)
    return fitted(name)


def fit(model, solver, case):
    """Return an estimator fitted to the objective of a case."""
    parameters = {**PARAMETERS[case.loss], "l1_ratio": case.l1_ratio}
    objective = case.loss, case.l1_ratio
    if objective in SLOW or (solver == "sgd" and objective in SLOW_OF_SGD):
        parameters["tol"] = 0.2
    y = labels_of(model, case.targets)
    near = {"init": ("init",), "prior": ("prior",), "both": ("init", "prior")}
    given = {name: prior_of(model) for name in near.get(case.start, ())}
    crf = model.new(solver, **parameters)
    return crf.fit(model.X, [row[0] for row in y] if model.is_table else y, **given)


# Refusals -----------------------------------------------------------------------------


class Refusal(NamedTuple):
    """Which combinations are refused, why, and what the error says.

    An empty set stands for every value.

    Attributes
    ----------
    reason : str
        "mathematics: ...", or `LAYOUT` for what is missing without a reason in it.
    message : str
    families, solvers, losses, l1_ratios, targets, starts : set
    """

    reason: str
    message: str
    families: frozenset = frozenset()
    solvers: frozenset = frozenset()
    losses: frozenset = frozenset()
    l1_ratios: frozenset = frozenset()
    targets: frozenset = frozenset()
    starts: frozenset = frozenset()

    def concerns(self, family, solver, case):
        """Return whether it is about this combination."""
        sets, values = self[2:], (family, solver, *case)
        return all(v in own or not own for own, v in zip(sets, values, strict=True))


WITH_COST = frozenset({"softmax_margin", "hinge"})
HINGE = frozenset({"hinge"})
FROM_WEIGHTS = frozenset({"init", "both"})
REFUSALS = [
    Refusal(
        "mathematics: a step of SAG needs a strongly convex penalty",
        "needs a strongly convex penalty",
        solvers=frozenset({"sag"}),
        l1_ratios=frozenset({1.0}),
    ),
    Refusal(
        "mathematics: the steps are those of a smooth loss",
        "a loss with temperature > 0",
        solvers=frozenset({"sag", "sgd", "lbfgs"}),
        losses=HINGE,
    ),
    # The other families take block-coordinate Frank-Wolfe for "oeg".
    Refusal(
        LAYOUT,
        "a loss with temperature > 0",
        families=frozenset({"chains"}),
        solvers=frozenset({"oeg"}),
        losses=HINGE,
    ),
    Refusal(
        "mathematics: a cost is that of one right label",
        "needs one label at every",
        losses=WITH_COST,
        targets=frozenset({"unknown", "sets", "soft"}),
    ),
    Refusal(
        "mathematics: weights do not say which labellings of the hinge are active",
        "init is not taken: the solver (Averaged|BCFW)",
        losses=HINGE,
        starts=FROM_WEIGHTS,
    ),
]


NO_LARGEST = Refusal(
    "mathematics: the hinge needs a labelling of largest score, and not one near it",
    "a loss with temperature > 0",
)


def refusal_of(model, solver, case):
    """Return the messages of the refusals of a combination, None if there is none."""
    found = [own for own in REFUSALS if own.concerns(model.family, solver, case)]
    if case.loss == "hinge" and not model.takes_hinge:
        found.append(NO_LARGEST)
    return "|".join(own.message for own in found) or None


def check_certificate(model, crf, case):
    """Check what one fit says of itself against the enumerated objective."""
    primal, gap = crf.primal_objective_, crf.duality_gap_
    assert -1e-12 <= gap <= crf.gap_target_
    assert_allclose(primal - crf.dual_objective_, gap, rtol=0, atol=1e-9)
    assert crf.history_["gap"][-1] == gap
    assert crf.history_["epoch"][-1] == crf.n_iter_
    expected = objective(model, crf, case)
    if case.is_convex:
        assert_allclose(primal, expected, rtol=0, atol=1e-9)
    else:
        # An upper bound of the objective, which touches it where labels are completed.
        assert expected <= primal + 1e-9


OPTIONS = (LOSSES, L1_RATIOS, TARGETS, STARTS)


def is_solved(name, *options):
    """Return whether a solver of a model takes an objective."""
    model = MODELS[name]
    messages = [refusal_of(model, solver, Case(*options)) for solver in model.solvers]
    return None in messages


def solves(name, solver, *options):
    """Return whether a model has a solver, which takes an objective."""
    model = MODELS[name]
    has = solver in model.solvers
    return has and refusal_of(model, solver, Case(*options)) is None


@by_pairs(
    {
        "name": MODELS,
        "solver": CHAINS,
        "loss": LOSSES,
        "l1_ratio": L1_RATIOS,
        "targets": TARGETS,
        "start": STARTS,
    },
    allowed=solves,
)
def test_solvers_certify_one_optimum_or_refuse(
    name, solver, loss, l1_ratio, targets, start
):
    model, case, fits = MODELS[name], Case(loss, l1_ratio, targets, start), []
    for own in model.solvers:
        message = refusal_of(model, own, case)
        if message is not None:
            with pytest.raises(ValueError, match=message):
                fit(model, own, case)
        elif own == solver or not fits:
            fits.append(fit(model, own, case))
            check_certificate(model, fits[-1], case)
    if case.is_convex and fits:
        lowest = min(crf.primal_objective_ for crf in fits)
        assert max(crf.dual_objective_ for crf in fits) <= lowest + 1e-9


@pytest.mark.parametrize("name", MODELS)
def test_an_objective_that_no_solver_takes_is_refused(name):
    model = MODELS[name]
    rows = pairwise_table(
        list(model.solvers),
        *OPTIONS,
        allowed=lambda solver, *row: not is_solved(name, *row),
    )
    for solver, *row in rows:
        case = Case(*row)
        with pytest.raises(ValueError, match=refusal_of(model, solver, case)):
            fit(model, solver, case)


@pytest.mark.parametrize("name", MODELS)
def test_costs_and_the_temperature_are_those_of_the_enumerated_objective(name):
    model, (first, second, *_) = MODELS[name], LABELS
    options = {
        "loss": "softmax_margin",
        "temperature": 0.5,
        "margin": 2.0,
        "cost": {(first, second): 0.25},
        "class_weight": {second: 3.0},
    }
    crf = model.new("lbfgs", **options)
    y = model.labels()
    crf.fit(model.X, [row[0] for row in y] if model.is_table else y)
    classes = crf.classes_.tolist()
    cost = 2.0 * (1.0 - np.eye(len(classes)))
    cost[classes.index(first), classes.index(second)] *= 0.25
    cost[classes.index(second)] *= 3.0
    losses = []
    for own, labels in zip(model.labellings(crf), y, strict=True):
        codes = [classes.index(label) for label in labels]
        scores = own.scores + cost[codes, own.codes].sum(axis=1)
        target = target_score(own, labels, classes)
        losses.append(0.5 * logsumexp(scores / 0.5) - target)
    w = model.weights(crf)
    expected = ALPHA / 2.0 * w @ w + np.mean(losses)
    assert_allclose(crf.primal_objective_, expected, rtol=0, atol=1e-9)
    assert -1e-12 <= crf.duality_gap_ <= crf.gap_target_


@pytest.mark.parametrize("name", MODELS)
def test_class_weights_of_the_log_loss_are_weights_of_items(name):
    model, (first, *_) = MODELS[name], LABELS
    y = model.labels()
    flat = [label for labels in y for label in labels]
    balanced = {own: len(flat) / (len(set(flat)) * flat.count(own)) for own in {*flat}}
    for given, weights in (({first: 5.0}, {first: 5.0}), ("balanced", balanced)):
        crf = model.new("lbfgs", class_weight=given).fit(model.X, model.y)
        of_items = [
            np.mean([weights.get(own, 1.0) for own in v]) if v else 1.0 for v in y
        ]
        own = model.new("lbfgs").fit(model.X, model.y, sample_weight=of_items)
        assert_allclose(model.weights(crf), model.weights(own), rtol=0, atol=1e-9)
        assert -1e-12 <= crf.duality_gap_ <= crf.gap_target_


def test_every_refusal_is_of_a_combination_of_the_matrix():
    combinations = [
        (model.family, solver, Case(*options))
        for model, *options in product(MODELS.values(), *OPTIONS)
        for solver in model.solvers
    ]
    for refusal in REFUSALS:
        assert any(refusal.concerns(*combination) for combination in combinations)
        assert refusal.reason == LAYOUT or refusal.reason.startswith("mathematics: ")


# Solvers of others that a family or a model does not have.
NO_SOLVER = {
    ("segments", "sdca"): "mathematics: it needs marginals of all segments",
    ("reweighted graphs", "sgd"): "SVRG asks for best labellings, which are not exact",
}


def test_a_model_has_every_solver_but_those_named():
    solvers = {"sdca", "oeg", "sag", "lbfgs", "sgd"}
    for name, model in MODELS.items():
        missing = {s for f, s in NO_SOLVER if f in (name, model.family)}
        assert solvers - set(model.solvers) == missing
        for solver in missing:
            owner = model.new("crf" if "crf" in model.solvers else "oeg")
            message = "The 'solver' parameter of|needs a structure with (m|a proven b)"
            with pytest.raises(ValueError, match=message):
                owner.set_params(solver=solver).fit(model.X, model.y)
