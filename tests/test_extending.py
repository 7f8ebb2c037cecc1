"""Every seam by one more entry: a toy of each kind, used through an estimator.

Each toy is what the page "Extend the package" asks for: a class or a function, one
entry in a table, and a twin that enumerates in plain NumPy.
"""

import inspect
import re
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import logsumexp

import reference
import skcrf_sdca
from pairs import by_pairs
from samples import flat_weights, registered, seeded
from skcrf_sdca import (
    CRF,
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    SGDCRF,
    PassiveAggressiveCRF,
    load_model,
    save_model,
)
from skcrf_sdca._kernels.inference._inference import Inference
from skcrf_sdca._kernels.visits._item import Item
from skcrf_sdca._kernels.visits._visits import work_of_visit
from skcrf_sdca.data.graphs import Edges
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.estimators.parameters import POSITIVE, parameter, parameters
from skcrf_sdca.estimators.sequences import BaseCRF
from skcrf_sdca.estimators.solver_choice import SOLVERS
from skcrf_sdca.objective.losses import (
    LOG_LOSS,
    LOSSES,
    LogSumExp,
    Loss,
    LossOption,
    Maximum,
    new_loss,
)
from skcrf_sdca.objective.penalties import (
    L2,
    PENALTIES,
    READ,
    ElasticNet,
    Penalty,
    Proximal,
    check_read,
)
from skcrf_sdca.objective.problem import Problem
from skcrf_sdca.objective.targets import SoftLabels
from skcrf_sdca.persistence import ModelFormatError, register
from skcrf_sdca.solvers import parallel
from skcrf_sdca.solvers.base import NEEDS, EpochSolver, Solver, first_model
from skcrf_sdca.solvers.bcfw import BCFW
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.samplers import DUAL, SAMPLING_SCHEMES, SamplingScheme, SumTree
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.solvers.sdca_bound import SDCABound
from skcrf_sdca.solvers.sgd_methods import METHODS
from skcrf_sdca.structures import structure
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.chain.structure import Chain
from skcrf_sdca.structures.compiled_scores import CompiledScores
from skcrf_sdca.structures.form import dense_coef
from skcrf_sdca.structures.graph.structure import Graph
from skcrf_sdca.structures.registry import STRUCTURES
from skcrf_sdca.structures.scores import Scores
from skcrf_sdca.structures.structure import FixedScores, Structure

N_LABELS, N_FEATURES, ALPHA = 3, 2, 0.2


def drawn():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(length, N_FEATURES)) for length in (1, 2, 4, 3, 4)]
    return X, [rng.integers(N_LABELS, size=len(x)).tolist() for x in X]


@pytest.fixture
def data():
    return drawn()


def minimum(objective, size):
    """Return the minimiser of an objective, by a method that is not the package's."""
    found = minimize(objective, np.zeros(size), method="BFGS", options={"gtol": 1e-7})
    return found.x, found.fun


@pytest.fixture(scope="module")
def best_of_sparsemax():
    """The minimiser and the minimum of `sparsemax_objective`."""
    X, y = drawn_rows()
    size = N_LABELS * (N_FEATURES + 3 + N_LABELS)
    return minimum(lambda w: sparsemax_objective(w, X, y), size)


def variant(estimator, **attributes):
    """Return a subclass of an estimator with other entries of the tables."""
    return type(estimator.__name__, (estimator,), attributes)


# The page ---------------------------------------------------------------------------

PAGE = (Path(__file__).parents[1] / "docs" / "extending.rst").read_text()
COLUMNS = "part", "base", "entry", "names"
ROWS = re.findall(r"^(\w+) +``([\w.]+)`` +``([\w.]+)`` +(.*)$", PAGE, re.MULTILINE)
PARTS = {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in ROWS}


def quoted(part):
    """Return the names that the page has of what a part offers or needs."""
    return set(re.findall('"([^"]+)"', PARTS[part]["names"]))


def resolved(cell):
    """Return what a cell of the table names, without the name of the package."""
    module, _, name = cell.rpartition(".")
    return getattr(import_module(f"skcrf_sdca.{module}"), name)


def test_the_page_names_the_bases_and_the_tables():
    assert list(PARTS) == ["loss", "penalty", "structure", "solver", "sampling"]
    bases = [resolved(row["base"]) for row in PARTS.values()]
    assert bases == [Loss, Penalty, Structure, Solver, SamplingScheme]
    entries = [resolved(row["entry"]) for row in PARTS.values()]
    assert entries == [LOSSES, PENALTIES, register, SOLVERS, SAMPLING_SCHEMES]


def test_the_page_lists_what_parts_offer_and_solvers_need():
    assert quoted("loss") == LogSumExp.offers | Maximum.offers
    penalties = L2(), ElasticNet(0.5, 0.1), Proximal
    assert quoted("penalty") == set().union(*(own.offers for own in penalties))
    table = Chain(PackedSequences(np.eye(2), [0, 1, 2]), 2, boundaries=False)
    levels = table.levels.union(*(own.levels for own in STRUCTURES.values()))
    assert quoted("structure") == levels
    assert quoted("loss") | quoted("penalty") | levels == set(NEEDS)
    every = {solver for solvers in SOLVERS.values() for solver in solvers}
    assert set().union(*(solver.needs for solver in every)) <= set(NEEDS)
    schemes = SAMPLING_SCHEMES.values()
    assert quoted("sampling") == set().union(*(own.solvers for own in schemes))


def test_the_penalties_that_the_page_gives_to_solvers_are_those_that_they_need():
    assert LBFGS.needs & quoted("penalty") == {"gradient"}
    for solver in (SDCA, SDCABound, OEG, BCFW, SAG):
        assert solver.needs & quoted("penalty") == {"curvature", "threshold"}


def names_of_methods(cls, code):
    """Return the names of the methods and properties that have some code."""
    functions = {name: getattr(own, "fget", own) for name, own in vars(cls).items()}
    return {
        name
        for name, own in functions.items()
        # A dataclass writes its special methods.
        if inspect.isfunction(own)
        and not name.startswith("__")
        and code in inspect.getsource(own)
    }


def test_the_text_of_structures_lists_their_methods():
    abstract, lacking = structure.__doc__.split("The others have a default")
    names = set(re.findall(r"`(\w+)`", abstract)) - {"Structure", "skcrf_sdca"}
    assert names == Structure.__abstractmethods__
    lacked = names_of_methods(Structure, "raise lacking(")
    # It has an answer of its own where all positions are in a part.
    assert set(re.findall(r"`(\w+)`", lacking)) - {"kept_in_parts"} == lacked
    for level in quoted("structure"):
        assert f'    "{level}" ' in abstract


def test_the_page_lists_what_losses_and_estimators_have():
    assert Loss.__abstractmethods__ == {"conjugate"}
    assert names_of_methods(Loss, "raise NotImplementedError") == {
        "expectations",
        "entropies",
    }
    assert "also has the method ``entropies``" in PAGE
    assert "``conjugate``, and, if it is smooth, the gradient of F: ``exp" in PAGE
    _, *takes = LossOption._fields
    names = "{}, {} and {} of an entry".format(*(f"``{name}``" for name in takes))
    assert f"{names} say which" in PAGE
    methods = {name: getattr(BaseCRF, name) for name in dir(BaseCRF)}
    lacked = {
        name
        for cls in BaseCRF.__mro__
        if cls.__module__.startswith("skcrf_sdca.")
        for name in names_of_methods(cls, "raise lacking(")
        if methods[name] is vars(cls)[name]
    }
    assert lacked == {"_blocks", "_fitted_parameters", "_joint_terms"}
    assert "(``_blocks``,\n``_fitted_parameters``)" in PAGE
    assert "(``_joint_terms``)" in PAGE


def test_the_page_lists_the_methods_of_solvers_and_scores():
    assert Solver.__abstractmethods__ == {"run", "certify", "state"}
    assert "A solver has ``run``, ``certify`` and ``state``" in PAGE
    assert EpochSolver.__abstractmethods__ == {"epoch", "certify", "state"}
    assert "or ``epoch`` in the place of ``run``" in PAGE
    lacked = names_of_methods(Scores, "raise lacking(")
    assert lacked == {"_new", "expectations", "viterbi"}
    assert "from ``expectations`` and ``viterbi``\nfollow log Z" in PAGE


# A loss with an entropy of its own: sparsemax, for items of one position -------------


class Sparsemax(Loss):
    """The conjugate of H(p) = 1/2 - ||p||^2 / 2, whose p have zeros [Martins16]."""

    offers = frozenset({"smooth loss"})

    def conjugate(self, scores):
        """Return max_p <p, scores> + H(p) of each item."""
        return self.expectations(scores, None)[2]

    def expectations(self, scores, weight):
        """Return the p of the maximum, no tied expectations, and the maximum."""
        s = scores.local
        if len(s) != len(scores):
            raise ValueError("X: sparsemax is for sequences of one position.")
        # The largest scores s_1, ..., s_k of the support have 1 + k s_k > their sum.
        descending = -np.sort(-s, axis=1)
        excess = descending.cumsum(axis=1) - 1.0
        size = np.arange(1, s.shape[1] + 1)
        k = (size * descending > excess).sum(axis=1, keepdims=True)
        p = np.maximum(s - np.take_along_axis(excess, k - 1, axis=1) / k, 0.0)
        values = (p * s).sum(axis=1) + (1.0 - (p * p).sum(axis=1)) / 2.0
        return p, np.zeros_like(scores.tied), values


SPARSEMAX = LossOption(Sparsemax, takes_temperature=True, takes_cost=True)
COST = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.0], [3.0, 1.0, 0.0]])
TAU = 2.0


def drawn_rows():
    """Return items of one position, and labels that follow from them but for a few."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, N_FEATURES))
    y = np.where(rng.random(40) < 0.2, rng.integers(N_LABELS, size=40), X[:, 0] > 0)
    return [x[np.newaxis] for x in X], [[label] for label in y]


def largest_over_supports(s):
    """Return max_p <p, s> + 1/2 - ||p||^2 / 2, where p is of one of all supports."""
    values = []
    for support in product([False, True], repeat=len(s)):
        own = s[np.array(support)]
        p = own - (own.sum() - 1.0) / max(len(own), 1)
        if len(own) and (p >= 0.0).all():
            values.append(p @ own + (1.0 - p @ p) / 2.0)
    return max(values)


def sparsemax_objective(weights, X, y):
    """P(w) by enumeration of labels and of supports."""
    value = ALPHA / 2 * weights @ weights
    for x, (label,) in zip(X, y, strict=True):
        scores = reference.all_features(x, N_LABELS) @ weights
        largest = TAU * largest_over_supports((scores + COST[label]) / TAU)
        value += (largest - scores[label]) / len(X)
    return value


@pytest.mark.parametrize("solver", ["lbfgs", "auto"])
def test_a_loss(solver, best_of_sparsemax, monkeypatch):
    monkeypatch.setitem(LOSSES, "sparsemax", SPARSEMAX)
    options = {"loss": "sparsemax", "temperature": TAU, "cost": COST, "tol": 1e-12}
    X, y = drawn_rows()
    crf = CRF(ALPHA, solver=solver, max_iter=1000, **options).fit(X, y)
    weights = flat_weights(crf)
    best, value = best_of_sparsemax
    assert_allclose(weights, best, rtol=0, atol=1e-5)
    assert_allclose(crf.primal_objective_, value, rtol=1e-10)
    assert_allclose(crf.primal_objective_, sparsemax_objective(weights, X, y))
    gap = crf.history_["gap"]
    assert (crf.history_["primal"] - value <= gap + 1e-9).all()
    assert_allclose(crf.history_["primal"] - crf.history_["dual"], gap, atol=1e-9)


def test_a_loss_goes_with_a_sparse_penalty(monkeypatch):
    monkeypatch.setitem(LOSSES, "sparsemax", SPARSEMAX)
    X, y = drawn_rows()
    options = {"loss": "sparsemax", "temperature": TAU, "l1_ratio": 0.5, "tol": 1e-8}
    crf = LBFGSCRF(alpha=ALPHA / 4, max_iter=1000, cost=COST, **options).fit(X, y)
    assert crf.duality_gap_ <= 1e-8 * crf.primal_objective_
    assert 0 < np.count_nonzero(flat_weights(crf)) < flat_weights(crf).size


def test_a_loss_without_log_z_is_refused_where_log_z_is_used(data, monkeypatch):
    monkeypatch.setitem(LOSSES, "sparsemax", SPARSEMAX)
    X, y = drawn_rows()
    message = 'needs .*a loss .*: take loss="log_loss" or loss="softmax_margin"'
    stochastic = [partial(SGDCRF, method=method) for method in METHODS]
    for estimator in (SDCACRF, OEGCRF, SAGNUSCRF, PassiveAggressiveCRF, *stochastic):
        with pytest.raises(ValueError, match=message):
            estimator(loss="sparsemax").fit(X, y)
    crf = LBFGSCRF(loss="sparsemax", alpha=ALPHA).fit(X, y)
    assert not hasattr(crf, "predict_proba")
    assert crf.score(X, y) > 0.7
    with pytest.raises(ValueError, match="sequences of one position"):
        LBFGSCRF(loss="sparsemax", alpha=ALPHA).fit(*data)


def test_a_loss_that_solvers_cannot_smooth_is_refused(data, monkeypatch):
    hinge = LossOption(Maximum, takes_temperature=False, takes_cost=True)
    monkeypatch.setitem(LOSSES, "maximum", hinge)
    message = (
        'LBFGS needs a loss with temperature > 0; .*: take loss="log_loss" or '
        'loss="softmax_margin" or loss="sparsemap" or loss="smooth_hinge" or SDCACRF '
        'or SGDCRF with method="sgd"$'
    )
    with pytest.raises(ValueError, match=message):
        LBFGSCRF(loss="maximum").fit(*data)


# A penalty with a parameter: r(w) = sum_j d_j / 2 w_j^2, d_j the weight of a feature --


class FeatureWeighted:
    """An L2 penalty that weighs features: the larger d_j, the smaller the weights."""

    name = "feature_weighted"
    offers = frozenset({"gradient", "curvature"})

    def __init__(self, structure, scale, *, feature_weight):
        # Quadratic penalties are the same for every scale.
        parameters = structure.new_parameters()
        parameters.w[:] = 1.0
        d = np.broadcast_to(feature_weight, structure.data.n_features)
        parameters.coef[:] = parameters.coef_of_rows(structure.by_rows_of_coef(d))
        self.d = parameters.w
        self.curvature = self.d.min()

    def value(self, w):
        return 0.5 * w @ (self.d * w)

    def conjugate(self, v):
        return 0.5 * v @ (v / self.d)

    def primal_point(self, v):
        return v / self.d

    def gap(self, w, v, out=None):
        value = self.value(w - v / self.d)
        np.subtract(self.d * w, v, out=out)
        return value


@parameters
class FeatureWeightedCRF(LBFGSCRF):
    """L-BFGS with a penalty that weighs features.

    Parameters
    ----------
    {parameters}
    """

    feature_weight: Any = parameter(POSITIVE, "array-like", default=1.0)
    """float or array-like of shape (n_features,)

    The weight d_j of each feature in the penalty.
    """

    _penalty = "feature_weighted"


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_a_penalty_of_the_structure_and_a_parameter(data, temperature, monkeypatch):
    options = {"loss": "softmax_margin", "temperature": temperature}
    monkeypatch.setitem(PENALTIES, "feature_weighted", FeatureWeighted)
    X, y = data
    # The same as to divide the features by the roots of their weights.
    d = np.array([4.0, 0.25])
    toy = FeatureWeightedCRF(alpha=ALPHA, tol=1e-12, max_iter=1000, **options)
    crf = toy.set_params(feature_weight=d).fit(X, y)
    plain = LBFGSCRF(alpha=ALPHA, tol=1e-12, max_iter=1000, **options)
    plain.fit([x / np.sqrt(d) for x in X], y)
    assert_allclose(crf.coef_, plain.coef_ / np.sqrt(d), rtol=0, atol=1e-5)
    assert_allclose(crf.transition_, plain.transition_, rtol=0, atol=1e-5)
    assert_allclose(crf.primal_objective_, plain.primal_objective_, rtol=1e-9)
    assert crf.duality_gap_ < 1e-8
    assert toy.get_params()["feature_weight"] is d


@pytest.mark.parametrize(
    "options", [{"features": "observed"}, {"edge_features": "all"}, {"order": 2}]
)
def test_a_penalty_of_features_knows_the_weights_of_each(data, options, monkeypatch):
    monkeypatch.setitem(PENALTIES, "feature_weighted", FeatureWeighted)
    X = [np.where(x > 0.0, x, 0.0) for x in data[0]]
    common = {"alpha": ALPHA, "tol": 1e-12, "max_iter": 1000, **options}
    d = np.array([4.0, 0.25])
    crf = FeatureWeightedCRF(feature_weight=d, **common).fit(X, data[1])
    plain = LBFGSCRF(**common).fit([x / np.sqrt(d) for x in X], data[1])
    assert_allclose(crf.primal_objective_, plain.primal_objective_, rtol=1e-9)
    scaled = dense_coef(plain.coef_) / np.sqrt(d)
    assert_allclose(dense_coef(crf.coef_), scaled, rtol=0, atol=1e-5)


def test_an_estimator_with_a_penalty_is_saved_once_it_is_registered(
    data, monkeypatch, tmp_path
):
    monkeypatch.setitem(PENALTIES, "feature_weighted", FeatureWeighted)
    path = tmp_path / "model.zip"
    crf = FeatureWeightedCRF(feature_weight=np.array([4.0, 0.25])).fit(*data)
    how = r"register\(structure, FeatureWeightedCRF\) first"
    with pytest.raises(TypeError, match=f"cannot be saved so: .*{how}"):
        save_model(crf, path)
    with registered(Chain, FeatureWeightedCRF):
        save_model(crf, path)
        loaded = load_model(path)
    assert_allclose(loaded.feature_weight, crf.feature_weight, rtol=0)
    assert_allclose(loaded.coef_, crf.coef_, rtol=0)
    with pytest.raises(ModelFormatError, match=f"has no place in it; .*{how}"):
        load_model(path)


class Weighted:
    """An L2 penalty that counts the biases ten times as much."""

    name = "weighted"
    offers = frozenset({"gradient"})

    def factors(self, w):
        return np.where(np.arange(len(w)) < len(w) - N_LABELS * N_FEATURES, 10.0, 1.0)

    def value(self, w):
        return 0.5 * w @ (self.factors(w) * w)

    def conjugate(self, v):
        return 0.5 * v @ self.primal_point(v)

    def primal_point(self, v):
        return v / self.factors(v)

    def gap(self, w, v, out=None):
        value = self.value(w - self.primal_point(v))
        np.subtract(self.factors(w) * w, v, out=out)
        return value


def test_a_penalty(data, monkeypatch):
    monkeypatch.setitem(PENALTIES, "weighted", lambda *_: Weighted())
    toy = variant(LBFGSCRF, _penalty="weighted")
    crf = toy(alpha=ALPHA, tol=1e-12, max_iter=1000).fit(*data)
    weights = flat_weights(crf)

    def objective(w):
        ridge = reference.primal(w, *data, ALPHA, N_LABELS) - ALPHA / 2 * w @ w
        return ridge + ALPHA * Weighted().value(w)

    best, value = minimum(objective, len(weights))
    assert_allclose(weights, best, rtol=0, atol=1e-5)
    history = crf.history_
    assert (history["primal"] - value <= history["gap"] + 1e-9).all()


def test_a_penalty_that_dual_solvers_cannot_take_is_refused(data, monkeypatch):
    monkeypatch.setitem(PENALTIES, "weighted", lambda *_: Weighted())
    with pytest.raises(
        ValueError, match="SDCA needs the penalty L2 or elastic net; .*'weighted'"
    ):
        variant(SDCACRF, _penalty="weighted")().fit(*data)


OF_THRESHOLD = {
    "curvature": 1.0,
    "threshold": 0.0,
    "moved_point": abs,
    "dual_point": abs,
}


@pytest.mark.parametrize(
    ("offers", "lacking", "message"),
    [
        ((), {"gap": None}, "no function `gap`"),
        ((), {"value": None}, "no function `value`"),
        ((), {"conjugate": None}, "no function `conjugate`"),
        ((), {"primal_point": None}, "no function `primal_point`"),
        (("curvature",), {}, "no number `curvature`, though it offers 'curvature'"),
        (("curvature",), {"curvature": len}, "no number `curvature`"),
        (("threshold",), {"curvature": 1.0}, "no number `threshold`"),
        (("threshold",), {"curvature": 1.0, "threshold": 0.0}, "`moved_point`"),
        (("threshold", "curvature"), OF_THRESHOLD, "no tuple `factors`, though"),
    ],
)
def test_a_penalty_has_what_is_read_of_it(data, offers, lacking, message, monkeypatch):
    own = {"offers": Weighted.offers | set(offers), **lacking}
    monkeypatch.setitem(PENALTIES, "weighted", lambda *_: variant(Weighted, **own)())
    with pytest.raises(NotImplementedError, match=message):
        variant(LBFGSCRF, _penalty="weighted")().fit(*data)


def test_the_protocol_of_penalties_names_all_that_is_read():
    root = Path(skcrf_sdca.__file__).parent
    folders = "objective", "solvers", "structures", "estimators"
    text = " ".join(p.read_text() for f in folders for p in (root / f).rglob("*.py"))
    # What only a Proximal has, of which ProximalPoint is the solver.
    of_proximal = {"center", "kappa", "move", "dual_parts"}
    found = set(re.findall(r"penalty\.(\w+)", text)) - of_proximal
    of_protocol = {n for n in {*vars(Penalty), *Penalty.__annotations__} if n[0] != "_"}
    checked = {name for _, _, names in READ for name in names}
    assert found | {"name", "offers"} == of_protocol == checked | {"name", "offers"}


@pytest.mark.parametrize("penalty", [L2(), ElasticNet(0.5, 0.1), ElasticNet(0.0, 1.0)])
def test_the_penalties_of_the_package_have_what_is_read_of_them(penalty):
    check_read(penalty)


def test_the_gap_of_a_penalty_is_that_of_fenchel_and_young():
    w, v = np.random.default_rng(0).normal(size=(2, 11))
    for penalty in (L2(), Weighted()):
        gap = penalty.value(w) + penalty.conjugate(v) - w @ v
        assert_allclose(penalty.gap(w, v), gap, rtol=1e-12)
        assert_allclose(penalty.gap(penalty.primal_point(v), v), 0.0, atol=1e-12)


# A structure: positions that do not depend on each other ------------------------------


class Independent(Chain):
    """Sequences whose labels are independent, given the features."""

    name = "independent"
    levels = frozenset({"argmax", "log_partition", "expect"})

    def __init__(self, data, n_labels, **options):
        super().__init__(data, n_labels, **options | {"boundaries": False})

    def scores(self, parameters, begin, end):
        chains = super().scores(parameters, begin, end)
        return IndependentScores(chains.node_scores, chains.transition, chains.offsets)


class IndependentScores(Chains):
    """Scores of positions, summed over labels in plain NumPy."""

    def log_partition(self):
        by_position = logsumexp(self.node_scores, axis=1)
        return np.array([part.sum() for part in self.split(by_position)])

    def expectations(self, weight):
        local = np.exp(self.node_scores - logsumexp(self.node_scores, axis=1)[:, None])
        return local, np.zeros_like(self.transition), self.log_partition()

    def path_scores(self, labels):
        chosen = self.node_scores[np.arange(len(labels)), labels]
        return np.array([part.sum() for part in self.split(chosen)])

    def split(self, values):
        return np.split(values, self.offsets[1:-1])


class IndependentCRF(LBFGSCRF):
    """The estimator of the structure, which one call registers."""

    _structure = "independent"


@pytest.fixture
def independent():
    with registered(Independent, IndependentCRF):
        yield


def test_a_structure(data, independent):
    crf = IndependentCRF(alpha=ALPHA, tol=1e-12, max_iter=1000).fit(*data)
    weights = flat_weights(crf)

    def objective(w):
        return reference.primal(w, *data, ALPHA, N_LABELS, boundaries=False)

    best, value = minimum(objective, len(weights))
    assert_allclose(weights, best, rtol=0, atol=1e-5)
    assert_allclose(crf.primal_objective_, value, rtol=1e-9)
    scores = [x @ crf.coef_.T + crf.intercept_ for x in data[0]]
    expected = [crf.classes_[s.argmax(axis=1)].tolist() for s in scores]
    assert crf.predict(data[0]).tolist() == expected


def test_a_structure_without_a_kernel_is_refused_by_solvers_that_visit(
    data, independent
):
    message = "a structure with a compiled kernel .*: take LBFGSCRF$"
    with pytest.raises(ValueError, match=message):
        variant(SDCACRF, _structure="independent")().fit(*data)


class Pairs(Scores):
    """Scores which add nothing to their base."""

    def __init__(self, n):
        self.local, self.tied = np.zeros((2 * n, 2)), np.zeros((2, 2))
        self.offsets = np.arange(0, 2 * n + 1, 2)


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (lambda scores: scores.n_best(2), "_new"),
        (lambda scores: scores.log_partition(), "expectations"),
        (lambda scores: scores.viterbi(), "viterbi"),
        (lambda scores: scores.expectations(np.ones(3)), "expectations"),
        (lambda scores: scores.only(0), "_new"),
    ],
)
def test_scores_name_what_they_lack(answer, name):
    with pytest.raises(NotImplementedError, match=f"Pairs has no `{name}`"):
        answer(Pairs(3))


def test_compiled_scores_name_what_they_lack():
    with pytest.raises(NotImplementedError, match="Uncompiled has no `inference`"):
        type("Uncompiled", (Pairs, CompiledScores), {})(3).viterbi()


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("_structure", "there is no structure 'chian'; did you mean 'chain'"),
        ("_penalty", "there is no penalty 'chian'; there are 'elastic_net'"),
        ("_solver_name", "there is no solver 'chian'; there are "),
    ],
)
def test_a_name_that_is_in_no_table(data, attribute, message):
    with pytest.raises(ValueError, match=message):
        variant(LBFGSCRF, **{attribute: "chian"})().fit(*data)


class Bare(Chain):
    """Chains whose visits have an inference without any method."""

    name = "bare"

    def kernel(self, weights, features, targets, cost=None):
        inference = Inference(self.offsets, self.n_labels, self.n_tied)
        return Item(features, weights, inference, targets, cost=cost)


@pytest.fixture
def bare(data, monkeypatch):
    """Return a function that fits an estimator of the structure without inference."""
    monkeypatch.setitem(STRUCTURES, "bare", Bare)
    monkeypatch.setattr(parallel, "MIN_SHARD", 1)

    def fit(estimator, **parameters):
        seeded(variant(estimator, _structure="bare"), **parameters).fit(*data)

    return fit


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(
    ("estimator", "parameters"),
    [
        (SDCACRF, {}),
        (SDCACRF, {"loss": "hinge"}),
        (OEGCRF, {}),
        (SAGNUSCRF, {}),
    ],
)
def test_visits_name_what_an_inference_lacks(bare, estimator, parameters, n_jobs):
    with pytest.raises(NotImplementedError, match="compiled Inference has no "):
        bare(estimator, max_iter=2, n_jobs=n_jobs, **parameters)


@pytest.mark.parametrize("method", METHODS)
def test_stochastic_gradients_name_what_an_inference_lacks(bare, method):
    with pytest.raises(NotImplementedError, match="compiled Inference has no "):
        bare(SGDCRF, method=method, max_iter=2)


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_online_learning_names_what_an_inference_lacks(bare, loss):
    with pytest.raises(NotImplementedError, match="compiled Inference has no "):
        bare(PassiveAggressiveCRF, loss=loss, max_iter=2)


def test_a_structure_without_n_best_does_not_have_0_labellings(bare):
    with pytest.raises(NotImplementedError, match="Inference has no n_best"):
        bare(PassiveAggressiveCRF, loss="hinge", n_best=2, max_iter=2)


# A structure without tied potentials: the nodes of graphs without edges --------------


def graphs_without_edges(X, n_labels, fixed, n_jobs):
    """Return graphs of three nodes each, which no edges join."""
    bounds = np.arange(0, len(X) + 1, 3)
    no_edges = Edges(
        np.zeros(len(bounds), dtype=np.int64),
        np.zeros((0, 2), dtype=np.int32),
        np.zeros((0, 0)),
    )
    graphs = Graph(PackedSequences(X, bounds), n_labels, edges=no_edges, n_jobs=n_jobs)
    if fixed is not None:
        graphs.fixed = FixedScores(fixed, np.zeros(0))
    return graphs


def rows_of_table(X, n_labels, fixed):
    """Return the same nodes as rows of a table."""
    data = PackedSequences(X, np.arange(len(X) + 1))
    rows = Chain(data, n_labels, boundaries=False)
    if fixed is not None:
        rows.fixed = FixedScores(fixed, np.zeros((n_labels, n_labels)))
    return rows


HINGE = new_loss("hinge", cost=1.0 - np.eye(N_LABELS))


@by_pairs(
    {
        "solver,loss,penalty": [
            (LBFGS, LOG_LOSS, L2()),
            (SDCA, LOG_LOSS, L2()),
            (SDCA, LOG_LOSS, ElasticNet(1.0, 0.05)),
            (OEG, LOG_LOSS, L2()),
            (SAG, LOG_LOSS, L2()),
            (BCFW, HINGE, L2()),
        ],
        "with_more": [None, "fixed", "soft"],
        "n_jobs": [None, 2],
    }
)
def test_a_structure_without_tied_potentials(
    solver, loss, penalty, with_more, n_jobs, monkeypatch
):
    monkeypatch.setattr(parallel, "MIN_SHARD", 1)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, N_FEATURES))
    labels = rng.integers(N_LABELS, size=60).astype(np.int32)
    fixed = rng.normal(size=(60, N_LABELS)) if with_more == "fixed" else None
    soft = rng.dirichlet(np.ones(N_LABELS), size=60)

    def minimum_of(structure, alpha):
        targets = labels
        if with_more == "soft" and loss is LOG_LOSS:
            targets = SoftLabels.of_positions(structure, soft)
        problem = Problem(structure, targets, alpha, loss=loss, penalty=penalty)
        rng = np.random.default_rng(0)
        fit = FitMonitor(solver(problem, rng), max_iter=200, tol=1e-6)
        return fit.run().solver.certify()

    graphs = graphs_without_edges(X, N_LABELS, fixed, n_jobs)
    assert graphs.n_tied == 0
    # Of 20 graphs the mean, of 60 nodes: a third of the losses, and of the penalty.
    found = minimum_of(graphs, ALPHA)
    of_nodes = minimum_of(rows_of_table(X, N_LABELS, fixed), ALPHA / 3)
    gaps = found.gap + 3 * of_nodes.gap
    assert gaps <= 1e-3 * found.primal
    assert_allclose(found.primal, 3 * of_nodes.primal, rtol=0, atol=gaps)


def test_every_visit_is_work():
    assert work_of_visit(7.0, 9) == 11 * 9
    assert work_of_visit(7.0, 0) == 11


# A solver: gradient descent, certified every second epoch -----------------------------


class GradientDescent(EpochSolver):
    """Steps of one length along the full gradient."""

    certify_every = 2

    def __init__(self, problem, rng, *, step=0.2, state=None):
        self.problem = problem
        self.step = step
        self.model = problem.new_parameters()
        if state is not None:
            self.model = first_model(problem, state)

    def epoch(self):
        gradient, _ = self.problem.certify_primal(self.model.w)
        self.model.w -= self.step * gradient
        self.n_updates += 1
        self.n_oracle_calls += self.problem.n_sequences

    def certify(self):
        return self.problem.certify_primal(self.model.w)[1]

    def state(self):
        return {"w": self.model.w}


def test_a_solver(data):
    toy = variant(LBFGSCRF, _solvers={"lbfgs": (GradientDescent,)})
    crf = toy(alpha=ALPHA, tol=1e-8, max_iter=2000, warm_start=True).fit(*data)
    best = LBFGSCRF(alpha=ALPHA, tol=1e-12).fit(*data)
    assert_allclose(flat_weights(crf), flat_weights(best), rtol=0, atol=1e-3)
    assert_allclose(np.diff(crf.history_["epoch"]), 2)
    assert crf.n_iter_ == crf.history_["epoch"][-1] == 2 * len(crf.history_["epoch"])
    assert crf.fit(*data).n_iter_ == 2


# A sampling scheme: by length ---------------------------------------------------------


def test_a_sampling_scheme(data, monkeypatch):
    def lengths(problem):
        return problem.data.lengths.astype(float)

    by_length = SamplingScheme(SumTree, lengths, DUAL)
    monkeypatch.setitem(SAMPLING_SCHEMES, "length", by_length)
    crf = SDCACRF(alpha=ALPHA, sampling="length", tol=1e-8, random_state=0).fit(*data)
    best = LBFGSCRF(alpha=ALPHA, tol=1e-12).fit(*data)
    assert_allclose(flat_weights(crf), flat_weights(best), rtol=0, atol=1e-3)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="'sampling' parameter of SDCACRF must be"):
        crf.fit(*data)
