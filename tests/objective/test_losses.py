"""Losses with a cost and a temperature: enumeration, and what users see of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression

import reference
from samples import flat_weights, peak_of, seeded
from skcrf_sdca import LBFGSCRF, SDCACRF
from skcrf_sdca.estimators.crfs import ESTIMATORS
from skcrf_sdca.objective import losses
from skcrf_sdca.objective.class_weights import LabelledPositions, weights_of_labels
from skcrf_sdca.objective.costs import cost_matrix
from skcrf_sdca.persistence import load_model, save_model

N_LABELS, N_FEATURES, ALPHA = 3, 2, 0.2
COST = np.array([[0.0, 1.0, 2.0], [0.5, 0.0, 1.0], [3.0, 1.0, 0.0]])
LOSSES = {
    "cold": {"loss": "log_loss", "temperature": 0.3},
    "hamming": {"loss": "softmax_margin"},
    "costs": {"loss": "softmax_margin", "cost": COST, "temperature": 2.0},
    "margin": {"loss": "softmax_margin", "margin": 5.0, "temperature": 0.2},
    "weights": {"loss": "softmax_margin", "class_weight": {1: 4.0, 2: 0.0}},
    "balanced": {"loss": "softmax_margin", "cost": COST, "class_weight": "balanced"},
    "log_weights": {"class_weight": {1: 4.0, 2: 0.0}, "temperature": 0.5},
    "log_balanced": {"class_weight": "balanced"},
}


def drawn():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(length, N_FEATURES)) for length in (1, 2, 4, 3, 4)]
    return X, [rng.integers(N_LABELS, size=len(x)).tolist() for x in X]


DATA, SAMPLE_WEIGHT = drawn(), np.array([1.0, 2.0, 0.5, 1.0, 3.0])


@pytest.fixture
def data():
    return drawn()


def label_weights(y, sample_weight, class_weight):
    """Return the weight of each label, written out."""
    labels = np.concatenate(y)
    of_position = np.repeat(sample_weight, [len(path) for path in y])
    if class_weight == "balanced":
        total = N_LABELS * np.bincount(labels, of_position, minlength=N_LABELS)
        return of_position.sum() / total
    return [(class_weight or {}).get(label, 1.0) for label in range(N_LABELS)]


def cost_of(weights, *, loss="log_loss", margin=1.0, cost=None, **others):
    """Return the matrix of the costs, written out."""
    matrix = np.zeros((N_LABELS, N_LABELS))
    if loss == "log_loss":
        return matrix
    for right in range(N_LABELS):
        for other in range(N_LABELS):
            if other != right:
                base = 1.0 if cost is None else cost[right][other]
                matrix[right, other] = margin * weights[right] * base
    return matrix


def sequence_weights(y, sample_weight, weights, loss="log_loss"):
    """Return c_i, written out."""
    if loss == "log_loss":
        means = [np.mean([weights[label] for label in path]) for path in y]
        sample_weight = sample_weight * means
    return sample_weight / sample_weight.sum()


def primal(weights, X, y, sample_weight, transition_mask=None, **loss):
    """P(w) by enumeration: tau log sum_y exp((score + cost) / tau) - score of y_i."""
    of_labels = label_weights(y, sample_weight, loss.get("class_weight"))
    cost, tau = cost_of(of_labels, **loss), loss.get("temperature", 1.0)
    c_all = sequence_weights(y, sample_weight, of_labels, loss.get("loss", "log_loss"))
    value = ALPHA / 2 * weights @ weights
    for x, path, c in zip(X, y, c_all, strict=True):
        paths = reference.all_paths(len(x), N_LABELS)
        scores = reference.all_features(x, N_LABELS) @ weights
        costs = cost[np.array(path), paths].sum(axis=1)
        if transition_mask is not None:
            allowed = transition_mask[paths[:, :-1], paths[:, 1:]].all(axis=1)
            scores = np.where(allowed, scores, -np.inf)
        target = reference.features(x, path, N_LABELS) @ weights
        value += c * (tau * logsumexp((scores + costs) / tau) - target)
    return value


@pytest.fixture(scope="module", params=LOSSES)
def optimum(request):
    """The parameters of a loss, its objective by enumeration, and the optimum."""
    loss = LOSSES[request.param]

    def objective(w):
        return primal(w, *DATA, SAMPLE_WEIGHT, **loss)

    X, y = DATA
    of_labels = label_weights(y, SAMPLE_WEIGHT, loss.get("class_weight"))
    name = loss.get("loss", "log_loss")
    mean_loss = reference.mean_loss(
        X,
        y,
        N_LABELS,
        tau=loss.get("temperature", 1.0),
        cost=cost_of(of_labels, **loss),
        sample_weight=sequence_weights(y, SAMPLE_WEIGHT, of_labels, name),
    )
    start = np.zeros(N_LABELS * (N_FEATURES + 3 + N_LABELS))
    best = reference.smooth_optimum(mean_loss, start, ALPHA)
    assert_allclose(best.fun, objective(best.x), rtol=1e-12)
    return loss, objective, best


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_optimum_is_that_of_the_loss(optimum, estimator):
    loss, objective, best = optimum
    crf = seeded(estimator, alpha=ALPHA, tol=1e-10, max_iter=3000, **loss)
    crf.fit(*DATA, sample_weight=SAMPLE_WEIGHT)
    weights = flat_weights(crf)
    assert_allclose(weights, best.x, rtol=0, atol=1e-4)
    assert_allclose(crf.primal_objective_, objective(weights), rtol=1e-10)
    history = crf.history_
    assert (history["primal"] - best.fun <= history["gap"] + 1e-9).all()
    assert_allclose(history["primal"] - history["dual"], history["gap"], atol=1e-9)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_with_forbidden_transitions(data, estimator):
    X, y = data
    mask = np.ones((N_LABELS, N_LABELS), dtype=bool)
    seen = {pair for path in y for pair in zip(path[:-1], path[1:], strict=True)}
    forbidden = next(p for p in np.ndindex(mask.shape) if p not in seen)
    mask[forbidden] = False
    loss = LOSSES["costs"]
    options = {"alpha": ALPHA, "tol": 1e-9, "max_iter": 3000, "transitions": mask}
    crf = seeded(estimator, **options, **loss).fit(X, y)
    weights = np.where(np.isfinite(flat_weights(crf)), flat_weights(crf), 0.0)
    value = primal(weights, X, y, np.ones(len(X)), mask, **loss)
    assert_allclose(crf.primal_objective_, value, rtol=1e-10)


def test_probabilities_are_those_of_the_scores_over_the_temperature(data, tmp_path):
    X, y = data
    crf = SDCACRF(random_state=0, **LOSSES["margin"]).fit(X, y)
    save_model(crf, tmp_path / "model")
    for model in (crf, load_model(tmp_path / "model")):
        assert model.temperature_ == 0.2
        (proba,) = model.predict_proba(X[2:3])
        nodes = (X[2] @ crf.coef_.T + crf.intercept_) / 0.2
        nodes[0] += crf.start_ / 0.2
        nodes[-1] += crf.end_ / 0.2
        expected = reference.node_marginals(nodes, crf.transition_ / 0.2)
        assert_allclose(proba, expected, rtol=1e-9)
        path = crf.predict(X[2:3])[0]
        best = reference.path_probabilities(nodes, crf.transition_ / 0.2).max()
        assert_allclose(np.exp(model.log_likelihood(X[2:3], [path])), best, rtol=1e-9)
        assert_allclose(model.predict_n_best(X[2:3], 1)[0][0][1], best, rtol=1e-9)


def test_a_class_weight_finds_more_of_a_rare_label():
    rng = np.random.default_rng(0)
    y = [rng.choice(["O", "NAME"], size=6, p=[0.92, 0.08]).tolist() for _ in range(300)]
    X = [[[label != (rng.random() < 0.1)] for label in map("O".__eq__, p)] for p in y]
    X = [np.array(x, dtype=float) for x in X]
    found = {}
    for weight in (None, "balanced"):
        crf = SDCACRF(loss="softmax_margin", class_weight=weight, random_state=0)
        predicted = np.concatenate(crf.fit(X, y).predict(X).tolist())
        names = np.concatenate(y) == "NAME"
        found[weight] = (predicted[names] == "NAME").mean()
    assert found["balanced"] > found[None] + 0.2


def test_labels_that_are_names():
    classes, counts = np.array(["B", "I", "O"]), np.array([1.0, 1.0, 4.0])
    cost = cost_matrix(classes, cost={("B", "O"): 3, ("O", "B"): 0}, margin=2)
    assert cost.tolist() == [[0, 2, 6], [2, 0, 2], [0, 2, 0]]
    weights = weights_of_labels({"B": 5.0}, classes, counts)
    cost = cost_matrix(classes, weights=weights)
    assert cost.tolist() == [[0, 5, 5], [1, 0, 1], [1, 1, 0]]


def test_balanced_rows_are_those_of_logistic_regression():
    rng = np.random.default_rng(0)
    y = rng.choice(3, size=90, p=[0.8, 0.15, 0.05])
    X = rng.normal(size=(90, 2)) + y[:, None]
    # The CRF penalises its intercept: to the other it is a feature.
    options = {"C": 0.3, "class_weight": "balanced", "fit_intercept": False}
    theirs = LogisticRegression(tol=1e-9, **options)
    with_ones = np.column_stack([X, np.ones(len(X))])
    expected = theirs.fit(with_ones, y).predict_proba(with_ones)
    crf = LBFGSCRF(1 / (0.3 * len(X)), class_weight="balanced", tol=1e-10)
    assert_allclose(crf.fit(X, y).predict_proba(X), expected, atol=1e-4)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_balanced_sequence_of_weight_two_counts_as_two(estimator, data):
    X, y = data
    options = {"alpha": ALPHA, "class_weight": "balanced", "tol": 1e-9}
    once = seeded(estimator, max_iter=3000, **options)
    twice = seeded(estimator, max_iter=3000, **options)
    once.fit(X, y, sample_weight=[2.0, 1.0, 1.0, 1.0, 1.0])
    twice.fit([X[0], *X], [y[0], *y])
    assert_allclose(flat_weights(once), flat_weights(twice), rtol=0, atol=1e-3)


def test_unknown_labels_have_no_weight_and_sets_their_mean():
    rows = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=bool)
    positions = LabelledPositions(np.array([0, 3, 4]), np.zeros(4, np.int32), rows)
    assert positions.means(np.array([4.0, 2.0, 9.0])).tolist() == [6.0, 1.0]
    assert positions.counts(3, np.array([2.0, 5.0])).tolist() == [1.0, 1.0, 2.0]
    soft = LabelledPositions(np.array([0, 2]), None, np.array([[0.5, 0.5], [1.0, 0.0]]))
    assert soft.means(np.array([4.0, 0.0])).tolist() == [3.0]


def test_partial_labels_weigh_their_sequence_by_what_is_known():
    X, y = [np.ones((2, 1))] * 3, [[0, {0, 1}], [1, None], [2, 2]]
    weight, options = {0: 3.0}, {"alpha": ALPHA, "tol": 1e-9}
    own = LBFGSCRF(class_weight=weight, **options).fit(X, y)
    # The set has the mean 2, the position without a label none.
    given = LBFGSCRF(**options).fit(X, y, sample_weight=[2.5, 1.0, 1.0])
    assert_allclose(flat_weights(own), flat_weights(given), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"cost": COST},
            'cost is not taken by loss="log_loss"; set loss="softmax_margin" or '
            'loss="hinge" or loss="smooth_hinge", or cost=None',
        ),
        ({"class_weight": {9: 1.0}}, "the label 9 is not"),
        ({"class_weight": {0: 0.0, 1: 0.0, 2: 0.0}}, "every sequence by 0"),
        ({"loss": "square"}, "The 'loss' parameter of LBFGSCRF must be a str among"),
        ({"temperature": 0.0}, "The 'temperature' parameter"),
        ({"margin": -1.0}, "The 'margin' parameter"),
        ({"loss": "softmax_margin", "cost": COST[:2]}, r"cost has shape \(2, 3\)"),
        ({"loss": "softmax_margin", "cost": -COST}, "cost must not hold negative"),
        ({"loss": "softmax_margin", "cost": COST + 1.0}, "the right label must cost 0"),
        ({"loss": "softmax_margin", "cost": {(0, 7): 1.0}}, "cost: the label 7 is not"),
        (
            {"loss": "softmax_margin", "cost": {"ab": 1.0}},
            "the key 'ab' must be",
        ),
        ({"loss": "softmax_margin", "class_weight": {9: 1.0}}, "the label 9 is not"),
        ({"loss": "softmax_margin", "class_weight": {0: np.inf}}, "class_weight must"),
    ],
)
def test_errors_name_the_argument(data, options, message):
    with pytest.raises(ValueError, match=message):
        LBFGSCRF(**options).fit(*data)


def test_errors_name_the_losses_of_the_table(data, monkeypatch):
    X, y, table = *data, losses.LOSSES
    monkeypatch.setitem(table, "of_cost", table["softmax_margin"])
    monkeypatch.setitem(table, "of_soft_labels", table["log_loss"])
    with pytest.raises(ValueError, match=r'set .* or loss="of_cost", or cost=None'):
        LBFGSCRF(cost=COST).fit(X, y)
    unknown = [[None, *labels[1:]] for labels in y]
    known = 'set loss="log_loss" or loss="of_soft_labels", or leave out'
    with pytest.raises(ValueError, match=known):
        LBFGSCRF(loss="softmax_margin").fit(X, unknown)
    monkeypatch.setitem(table, "of_scores", table["hinge"])
    scores = SDCACRF(loss="of_scores", max_iter=300, random_state=0, tol=0.5)
    given = "loss=.* or loss=.* or loss=.of_cost. or loss=.of_soft_labels.$"
    with pytest.raises(AttributeError, match=f"no probabilities; fit with {given}"):
        scores.predict_proba(X)
    with pytest.raises(ValueError, match='"residual" is not for loss="of_scores"'):
        scores.set_params(sampling="residual").fit(X, y)


def test_entropies_are_made_without_a_number_for_each_position():
    local, offsets = np.full((2**16, 2), 0.5), np.arange(0, 2**16 + 1, 2**8)
    loss = losses.new_loss("sparsemap")
    assert_allclose(loss.entropies(local, offsets), 2**8 / 4)
    assert peak_of(lambda: loss.entropies(local, offsets)) < 8 * len(local)
