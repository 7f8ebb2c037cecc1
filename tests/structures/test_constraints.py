"""Constraints on transitions: enumeration of the allowed paths, and every solver."""

import copy
import pickle
import re
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import logsumexp, xlogy
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils._param_validation import InvalidParameterError

import reference
from pairs import in_one_test
from samples import inconsistency, make_problem, make_solver, node_scores
from skcrf_sdca import LBFGSCRF, OEGCRF, SAGNUSCRF, SDCACRF, PackedSequences
from skcrf_sdca.selection import alpha_path
from skcrf_sdca.solvers.lbfgs import LBFGS
from skcrf_sdca.solvers.monitor import FitMonitor
from skcrf_sdca.solvers.oeg import OEG
from skcrf_sdca.solvers.sag import SAG
from skcrf_sdca.solvers.sdca import SDCA
from skcrf_sdca.structures.chain import oracle
from skcrf_sdca.structures.chain.constraints import Constraints, read_constraints

ESTIMATORS = {
    "SDCA": SDCACRF(random_state=0, max_iter=3000, dual_dtype="float32"),
    "SDCA, double": SDCACRF(random_state=0, max_iter=3000, dual_dtype="float64"),
    "OEG": OEGCRF(random_state=0, max_iter=3000),
    "SAG": SAGNUSCRF(random_state=0, max_iter=3000),
    "L-BFGS": LBFGSCRF(max_iter=3000),
}
BIO_LABELS = ["B-LOC", "B-PER", "I-LOC", "I-PER", "O"]


@pytest.fixture(params=sorted(ESTIMATORS))
def crf(request):
    return clone(ESTIMATORS[request.param])


def by_name(scheme, labels):
    """Return the constraints of a scheme on labels, without training labels."""
    nothing = np.zeros(0, dtype=int), np.zeros(1, dtype=int)
    return read_constraints(scheme, np.array(labels), *nothing)


def is_allowed(allowed, path):
    """Return whether a path of label numbers is allowed, step by step."""
    return bool(
        len(path) == 0
        or allowed.start[path[0]]
        and allowed.end[path[-1]]
        and all(allowed.transition[a, b] for a, b in zip(path, path[1:], strict=False))
    )


def are_allowed(allowed, length):
    """Return whether each path of a length is allowed, in the order of `all_paths`."""
    paths = reference.all_paths(length, len(allowed.start))
    return np.array([is_allowed(allowed, path) for path in paths])


def draw_sequences(allowed, n, n_features, length, seed):
    """Return X and y with random features and random allowed paths."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    while len(y) < n:
        path = draw_path(allowed, rng.integers(*length, endpoint=True), rng)
        if path is not None:
            y.append(path)
            X.append(rng.normal(size=(len(path), n_features)) + np.eye(9)[path, :1])
    return X, y


def draw_path(allowed, length, rng):
    """Return an allowed path of this length, or None if the random walk is stuck."""
    path = []
    for _ in range(length):
        nexts = allowed.transition[path[-1]] if path else allowed.start
        if not nexts.any():
            return None
        path.append(int(rng.choice(np.flatnonzero(nexts))))
    return path if is_allowed(allowed, path) else None


# --- chains with scores of -inf


MASKS = {
    "left to right": np.triu(np.ones((3, 3), dtype=bool)),
    "self-loops only": np.eye(3, dtype=bool),
    "a cycle": np.roll(np.eye(3, dtype=bool), 1, axis=1),
    "a cycle with a chord": np.array([[0, 1, 0], [0, 0, 1], [1, 1, 0]], dtype=bool),
    "nothing": np.zeros((3, 3), dtype=bool),
    "strictly to the right": np.triu(np.ones((3, 3), dtype=bool), 1),
    "one only at the end": np.array([[0, 0, 0], [1, 1, 1], [1, 1, 1]], dtype=bool),
    "one only at the start": np.array([[0, 1, 1], [0, 1, 1], [0, 1, 1]], dtype=bool),
    "both": np.array([[0, 0, 0], [1, 1, 0], [1, 1, 0]], dtype=bool),
    "BIO": by_name("BIO", ["B-X", "I-X", "O"]).transition,
    "all but one": np.array([[1, 1, 1], [1, 1, 0], [1, 1, 1]], dtype=bool),
}


def wall(mask):
    return np.where(mask, 0.0, -np.inf)


def compare_with_enumeration(node_scores, transition):
    """Assert that the oracle agrees with enumeration, and that zeros are exact."""
    with np.errstate(invalid="ignore"):
        scores = reference.path_scores(node_scores, transition)
        expected = logsumexp(scores)
    marginals, (log_z,) = oracle.marginals(node_scores, transition)
    assert oracle.log_partition(node_scores, transition)[0] == log_z
    path, (best,) = oracle.viterbi(node_scores, transition)
    node, edge = marginals[0]
    if expected == -np.inf:
        assert log_z == best == -np.inf
        assert not node.any()
        assert not edge.any()
        return
    size = 1.0 + np.abs(scores[scores > -np.inf]).max()
    assert_allclose(log_z, expected, rtol=0, atol=1e-13 * size)
    probabilities = np.exp(scores - expected)
    true_node, true_edge = reference.marginals_of(probabilities, *node_scores.shape)
    assert_allclose(node, true_node, rtol=0, atol=1e-13 * size)
    assert_allclose(edge, true_edge, rtol=0, atol=1e-13 * size)
    # Relative precision: zeros are exact, and tiny values are precise.
    assert_allclose(node, true_node, rtol=1e-12 * size, atol=1e-280)
    possible, _ = reference.marginals_of(scores > -np.inf, *node_scores.shape)
    assert not node[possible == 0].any()
    assert not edge[:, transition == -np.inf].any()
    own = reference.path_scores(node_scores, transition)[
        (reference.all_paths(*node_scores.shape) == path).all(axis=1)
    ]
    assert_allclose(own, scores.max(), rtol=0, atol=1e-13 * size)
    assert_allclose(best, scores.max(), rtol=0, atol=1e-13 * size)


@st.composite
def forbidding_chains(draw):
    """Draw chains of scores with -inf in the transitions and at the ends."""
    node, transition = draw(reference.chains(max_length=5, max_labels=3, max_abs=300))
    n_labels = len(transition)
    entries = st.booleans() | st.just(True)
    bits = draw(st.lists(entries, min_size=n_labels**2, max_size=n_labels**2))
    masks = [mask[:n_labels, :n_labels] for mask in MASKS.values()]
    mask = draw(st.sampled_from([*masks, np.reshape(bits, (n_labels,) * 2)]))
    ends = draw(st.lists(entries, min_size=2 * n_labels, max_size=2 * n_labels))
    node[0] += wall(ends[:n_labels])
    node[-1] += wall(ends[n_labels:])
    return node, transition + wall(mask)


@given(forbidding_chains())
def test_chains_with_walls(chain):
    compare_with_enumeration(*chain)


@given(forbidding_chains(), st.data())
def test_chains_with_walls_anywhere(chain, data):
    node, transition = chain
    t = data.draw(st.integers(0, len(node) - 1))
    k = data.draw(st.integers(0, len(transition) - 1))
    node[t, k] = -np.inf
    compare_with_enumeration(node, transition)


# Spreads of scores within the limit of the scaled domain, near it and above it.
@pytest.mark.parametrize("spread", [30.0, 59.0, 85.0, 119.0, 199.0, 299.0, 599.0])
@pytest.mark.parametrize("name", sorted(MASKS))
def test_forbidden_transitions_and_wide_spreads(name, spread):
    rng = np.random.default_rng(0)
    mask = MASKS[name]
    for trial in range(10):
        share = trial % 5 / 4
        length = 7 if trial % 9 == 0 else int(rng.integers(1, 6))
        node = share * spread * rng.integers(0, 2, size=(length, 3))
        transition = (1.0 - share) * spread * rng.integers(0, 2, size=(3, 3))
        if trial % 2:
            node[0] += wall(rng.random(3) < 0.6)
            node[-1] += wall(rng.random(3) < 0.6)
        compare_with_enumeration(node, transition + wall(mask))


def test_an_impossible_chain_among_others():
    """Only the marginals of the impossible chain are 0."""
    transition = wall(np.roll(np.eye(2, dtype=bool), 1, axis=1))
    node = np.zeros((6, 2)) + np.log([[0.25, 0.75]])
    node[[0, 3, 5], 1] = node[[2, 4], 0] = -np.inf
    offsets = [0, 3, 3, 5, 6]
    marginals, log_z = oracle.marginals(node, transition, offsets)
    assert log_z[0] == -np.inf
    assert not marginals[0][0].any()
    assert not marginals[0][1].any()
    assert_allclose(log_z[1:], [0.0, np.log(0.25 * 0.75), np.log(0.25)], rtol=1e-14)
    assert_allclose(marginals[2][0], np.eye(2), rtol=1e-14)


# --- what is allowed


REGEXES = {
    "BIO": "(O|B{0}(I{0})*|B{1}(I{1})*)*",
    "IOB1": "(O|I{0}([IB]{0})*|I{1}([IB]{1})*)*",
    "BIOES": "(O|S{0}|S{1}|B{0}(I{0})*E{0}|B{1}(I{1})*E{1})*",
    "BILOU": "(O|U{0}|U{1}|B{0}(I{0})*L{0}|B{1}(I{1})*L{1})*",
    "BMES": "(O|S{0}|S{1}|B{0}(M{0})*E{0}|B{1}(M{1})*E{1})*",
    "IOE2": "(O|(I{0})*E{0}|(I{1})*E{1})*",
}


@pytest.mark.parametrize("scheme", sorted(REGEXES))
def test_schemes_are_their_grammars(scheme):
    """Checked on all sequences of up to four labels of two types; one type is empty."""
    prefixes = sorted(set(re.sub("[^A-Z]", "", REGEXES[scheme])) - {"O"})
    labels = sorted(["O", *prefixes, *(f"{p}-LOC" for p in prefixes)])
    spelt = [label.replace("-LOC", "1") if label[1:] else label for label in labels]
    spelt = [s if s == "O" or s[1:] else s + "0" for s in spelt]
    allowed = by_name(scheme, labels)
    grammar = re.compile(REGEXES[scheme].format(0, 1))
    for length in range(1, 5):
        for path in reference.all_paths(length, len(labels)):
            text = "".join(spelt[k] for k in path)
            assert is_allowed(allowed, path) == bool(grammar.fullmatch(text)), text


def test_types_may_hold_the_separator():
    allowed = by_name("BIO", ["B-A-1", "I-A-1", "I-A"])
    assert allowed.transition[0].tolist() == [True, True, False]


LABELS, OFFSETS = np.array([0, 1, 1, 2, 0, 1]), np.array([0, 3, 3, 6])


def read(transitions):
    return read_constraints(transitions, np.array(["a", "b", "c"]), LABELS, OFFSETS)


def test_observed():
    allowed = read("observed")
    assert allowed.start.tolist() == [True, False, True]
    assert allowed.end.tolist() == [False, True, False]
    assert allowed.transition.astype(int).tolist() == [[0, 1, 0], [0, 1, 0], [1, 0, 0]]


def test_mask():
    mask = np.array([[1, 1, 0], [1, 1, 1], [1, 0, 0]], dtype=bool)
    allowed = read(mask)
    assert allowed.start.all()
    assert allowed.end.all()
    assert (allowed.transition == mask).all()
    mask[:] = False
    assert allowed.transition.any()


PAIRS = [("a", "b"), ("b", "b"), ("c", "a")]


def test_pairs():
    allowed = read(PAIRS)
    assert allowed.start.all()
    assert allowed.end.all()
    assert (allowed.transition == read("observed").transition).all()
    assert read(set(PAIRS)) == allowed
    assert read([*map(list, PAIRS), ("a", "not in y")]) == allowed
    ends = [(None, "a"), (None, "c"), ("b", None)]
    assert read(PAIRS + ends) == read("observed")
    assert read(PAIRS + ends[:2]) != read("observed")
    assert read(PAIRS + ends[:2]).end.all()


def test_nothing_forbidden_is_none():
    assert read(None) is None
    assert read(np.ones((3, 3), dtype=bool)) is None


def test_what_is_allowed_is_read_only():
    for mask in read("observed"):
        with pytest.raises(ValueError, match="read-only"):
            mask[:] = True


@pytest.mark.parametrize(
    ("transitions", "message"),
    [
        (
            "BIO",
            "y, by transitions='BIO': Label 'a' is not of the scheme 'BIO': it must be",
        ),
        (np.ones((3, 3)), r"shape \(3, 3\) and dtype float64; a mask must be"),
        (np.ones((2, 2), dtype=bool), r"a mask must be of shape \(3, 3\)"),
        ([("a", "b", "c")], r"\('a', 'b', 'c'\), which is not a pair"),
        (["ab"], "'ab', which is not a pair"),
        ([(None, None)], r"\(None, None\), which is not a pair"),
        ([("a", "b"), ("c", "a")], "sequence 0, item 2: 'b' follows 'b', which"),
        ([*PAIRS, (None, "a")], "sequence 2, item 0: 'c' begins the sequence"),
        ([*PAIRS, ("a", None)], "sequence 0, item 2: 'b' ends the sequence"),
        ([], "sequence 0, item 1: 'b' follows 'a'"),
    ],
)
def test_malformed_or_broken(transitions, message):
    with pytest.raises(ValueError, match=message):
        read(transitions)


def test_labels_that_are_not_strings_are_of_no_scheme():
    with pytest.raises(ValueError, match=r"transitions='BIO': .* must be str .* got 0"):
        read_constraints("BIO", np.array([0, 1]), np.array([0]), np.array([0, 1]))


@st.composite
def random_allowed(draw, max_labels=4):
    """Draw constraints on up to `max_labels` labels, with a start and an end."""
    n_labels = draw(st.integers(1, max_labels))
    size = n_labels * (n_labels + 2)
    bits = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    start, end, transition = np.split(bits, [n_labels, 2 * n_labels])
    start[draw(st.integers(0, n_labels - 1))] = True
    end[draw(st.integers(0, n_labels - 1))] = True
    return Constraints(start, end, transition.reshape(n_labels, n_labels))


@given(random_allowed(max_labels=3))
def test_counts_lengths_and_uniform_marginals(allowed):
    lengths = np.array([3, 0, 1, 4, 1, 2, 3])
    counts = np.array([are_allowed(allowed, n).sum() if n else 1 for n in lengths])
    with np.errstate(divide="ignore"):
        expected = np.log(counts)
    assert_allclose(allowed.log_counts(lengths), expected, rtol=1e-13, atol=1e-14)
    assert (allowed.possible_lengths(4)[lengths] == (counts > 0)).all()
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    marginals = allowed.uniform_marginals(offsets, dtype=np.float32)
    assert marginals.edge.dtype == np.float32
    for i, length in enumerate(lengths):
        node, edge = marginals[i]
        if counts[i] == 0:
            assert not node.any()
        elif length > 0:
            uniform = are_allowed(allowed, length) / counts[i]
            expected = reference.marginals_of(uniform, length, len(allowed.start))
            assert_allclose(node, expected[0], rtol=1e-13)
            edge = marginals.layout.expand(edge, 0.0)
            assert_allclose(edge, expected[1], rtol=1e-7)


@given(random_allowed(max_labels=3))
def test_a_label_that_may_stand_alone_and_repeat_makes_all_lengths_possible(allowed):
    alone = [
        all(is_allowed(allowed, [k] * n) for n in (1, 2))
        for k in range(len(allowed.start))
    ]
    assert allowed.have_repeatable_label() == any(alone)
    assert allowed.possible_lengths(9).all() or not any(alone)


def test_lengths_of_a_long_cycle():
    allowed = Constraints(
        np.array([True, False, False]), np.array([False, False, True]), MASKS["a cycle"]
    )
    possible = allowed.possible_lengths(9)
    assert np.flatnonzero(possible).tolist() == [0, 3, 6, 9]


# --- fits


def brute_force(X, y, allowed, alpha):
    """Return the optimum over all weights, by enumeration of the allowed paths."""
    n_labels = len(allowed.start)
    features = [reference.all_features(x, n_labels) for x in X]
    features = [
        f[are_allowed(allowed, len(x))] for f, x in zip(features, X, strict=True)
    ]
    truth = [reference.features(x, p, n_labels) for x, p in zip(X, y, strict=True)]

    def objective(w):
        value, gradient = alpha / 2 * w @ w, alpha * w
        for rows, own in zip(features, truth, strict=True):
            scores = rows @ w
            log_z = logsumexp(scores)
            value += (log_z - own @ w) / len(X)
            gradient = gradient + (np.exp(scores - log_z) @ rows - own) / len(X)
        return value, gradient

    options = {"gtol": 1e-10, "ftol": 0.0, "maxiter": 1000}
    zero = np.zeros(len(truth[0]))
    return minimize(objective, zero, jac=True, method="L-BFGS-B", options=options)


RULES = {
    "BIO": ("BIO", by_name("BIO", BIO_LABELS)),
    "left to right": (
        np.triu(np.ones((3, 3), dtype=bool)),
        Constraints(np.ones(3, bool), np.ones(3, bool), MASKS["left to right"]),
    ),
    "pairs": (
        [(None, 0), (0, 1), (1, 0), (1, 2), (2, 0), (0, None), (2, None)],
        Constraints(
            np.array([True, False, False]),
            np.array([True, False, True]),
            np.array([[0, 1, 0], [1, 0, 1], [1, 0, 0]], dtype=bool),
        ),
    ),
}


def named(y, allowed):
    """Return paths as lists of label names."""
    names = BIO_LABELS if len(allowed.start) == 5 else range(len(allowed.start))
    return [[names[k] for k in path] for path in y]


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_estimator_reaches_the_optimum_of_enumeration(crf, rule):
    transitions, allowed = RULES[rule]
    X, y = draw_sequences(allowed, n=12, n_features=2, length=(1, 4), seed=0)
    crf.set_params(alpha=0.05, transitions=transitions)
    crf.set_params(tol=1e-9 / initial_primal(X, allowed)).fit(X, named(y, allowed))
    optimum = brute_force(X, y, allowed, 0.05)
    assert crf.duality_gap_ <= 1e-9
    assert -1e-10 <= crf.primal_objective_ - optimum.fun <= 1e-9
    expected = reference.unflatten(optimum.x, 2, len(allowed.start))
    # A gap leaves ||w - w*|| <= sqrt(2 gap / alpha).
    assert_allclose(crf.coef_.T, expected.coef, rtol=0, atol=3e-4)
    for name, mask in zip(("start", "end", "transition"), allowed, strict=True):
        weights = getattr(expected, name)
        masked = np.where(mask, weights, -np.inf)
        assert_allclose(getattr(crf, f"{name}_"), masked, rtol=0, atol=3e-4)
        assert_allclose(weights[~mask], 0.0, atol=1e-12)


def initial_primal(X, allowed):
    """Return the mean logarithm of the number of allowed paths."""
    return np.mean([np.log(are_allowed(allowed, len(x)).sum()) for x in X])


def test_predictions_are_allowed_and_those_of_the_enumeration(crf):
    transitions, allowed = RULES["BIO"]
    X, y = draw_sequences(allowed, n=30, n_features=3, length=(1, 6), seed=1)
    crf.set_params(transitions=transitions).fit(X, named(y, allowed))
    rng = np.random.default_rng(2)
    others = [5.0 * rng.normal(size=(length, 3)) for length in [1, 2, 3, 4, 4, 4]]
    proba = crf.predict_proba(others)
    for x, labels, marginals in zip(others, crf.predict(others), proba, strict=True):
        scores = x @ crf.coef_.T + crf.intercept_
        scores[0] += crf.start_
        scores[-1] += crf.end_
        paths = reference.path_scores(scores, crf.transition_)
        paths[~are_allowed(allowed, len(x))] = -np.inf
        best = reference.all_paths(*scores.shape)[paths.argmax()]
        assert crf.classes_[best].tolist() == labels
        probabilities = np.exp(paths - logsumexp(paths))
        node, _ = reference.marginals_of(probabilities, *scores.shape)
        assert_allclose(marginals, node, rtol=0, atol=1e-13)
        assert not marginals[node == 0].any()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@given(random_allowed(), st.integers(0, 2**32 - 1), st.sampled_from(sorted(ESTIMATORS)))
def test_any_rule_is_kept(allowed, seed, name):
    rng = np.random.default_rng(seed)
    paths = [draw_path(allowed, int(rng.integers(1, 7)), rng) for _ in range(40)]
    y = [path for path in paths if path is not None]
    if not y:
        return
    X = [rng.normal(size=(len(path), 2)) for path in y]
    labels = np.unique(np.concatenate(y))
    seen = Constraints(
        allowed.start[labels],
        allowed.end[labels],
        allowed.transition[np.ix_(labels, labels)],
    )
    pairs = [tuple(labels[pair]) for pair in np.argwhere(seen.transition)]
    pairs += [(None, k) for k in labels[seen.start]]
    pairs += [(k, None) for k in labels[seen.end]]
    crf = clone(ESTIMATORS[name]).set_params(transitions=pairs, alpha=0.1)
    # Random data may converge slowly: then only the certificate must hold.
    crf.set_params(tol=1e-9, max_iter=100).fit(X, y)
    history = crf.history_
    assert (history["gap"] >= 0).all()
    assert_allclose(
        history["gap"], history["primal"] - history["dual"], rtol=0, atol=1e-5
    )
    exact = clone(ESTIMATORS["L-BFGS"]).set_params(**common_parameters(crf))
    exact.set_params(max_iter=3000).fit(X, y)
    distance = crf.primal_objective_ - exact.primal_objective_
    assert -1e-7 <= distance <= crf.duality_gap_ + 1e-9
    for length in range(1, 6):
        others = rng.normal(size=(3, length, 2)) * 10.0
        if not seen.possible_lengths(length)[length]:
            with pytest.raises(ValueError, match="X: sequence 0 is of length"):
                crf.predict(list(others))
            continue
        for path in crf.predict(list(others)):
            assert is_allowed(allowed, path)
        assert np.isfinite(np.concatenate(list(crf.predict_proba(list(others))))).all()


def common_parameters(crf):
    return {name: getattr(crf, name) for name in ("alpha", "tol", "transitions")}


# --- solvers


def draw_problem(n=20, alpha=0.05):
    """Return a problem under BIO, and its constraints."""
    transitions, allowed = RULES["BIO"]
    X, y = draw_sequences(allowed, n=n, n_features=3, length=(1, 6), seed=3)
    return make_problem(X, y, 5, alpha, constraints=allowed), allowed


SINGLE, DOUBLE = {"dual_dtype": "float32"}, {"dual_dtype": "float64"}
WHOLE_STEPS = {"line_search": "fixed", "step": 1.0}
SOLVERS = {
    "sdca": partial(make_solver, SDCA, **DOUBLE),
    "sdca, single": partial(make_solver, SDCA, **SINGLE),
    "sdca, whole steps": partial(make_solver, SDCA, **DOUBLE, **WHOLE_STEPS),
    "sdca, single, whole steps": partial(make_solver, SDCA, **SINGLE, **WHOLE_STEPS),
    "oeg": partial(make_solver, OEG),
    "sag": partial(make_solver, SAG),
    "saga": partial(
        make_solver, SAG, sampling="uniform", line_search_skipping=False, saga=True
    ),
    "lbfgs": partial(make_solver, LBFGS, max_iter=5),
}


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_weights_and_marginals_of_what_is_forbidden_stay_zero(name):
    problem, allowed = draw_problem()
    solver = SOLVERS[name](problem)
    FitMonitor(solver, max_iter=5, tol=0.0).run()
    solver.certify()
    model, (start, end, transition) = solver.model, allowed
    assert model.transition[transition].any()
    assert not model.start[~start].any()
    assert not model.end[~end].any()
    assert not model.transition[~transition].any()
    if hasattr(solver, "marginals"):
        edges = getattr(solver.marginals, "edge", None)
        edges = solver.marginals.tied if edges is None else edges
        assert not edges[:, ~transition].any()
        assert not solver.marginals.local[problem.offsets[:-1]][:, ~start].any()
        assert not solver.marginals.local[problem.offsets[1:] - 1][:, ~end].any()


# With the small alpha the scores need the log domain.
@pytest.mark.parametrize("alpha", [0.05, 1e-4])
@pytest.mark.parametrize("name", ["sdca", "sdca, single", "oeg"])
def test_the_certificate_is_that_of_the_allowed_paths(name, alpha):
    """P(w), and the gap as the mean of KL(mu_i || p(. | x_i; w)), by enumeration."""
    problem, allowed = draw_problem(n=6, alpha=alpha)
    changes = {"init_score": 1.0} if name == "oeg" else {"init_smoothing": 0.5}
    solver = SOLVERS[name](problem, **changes)
    solver.kernel.epoch_in_order(np.arange(2))
    certificate = solver.certify()
    model = solver.model
    scores = node_scores(problem, model)
    assert (np.ptp(scores, axis=1).max() > 600.0) == (alpha < 0.01)
    losses, gaps = [], []
    for i in range(6):
        part = slice(*problem.offsets[i : i + 2])
        length = problem.data.lengths[i]
        mask = are_allowed(allowed, length)
        paths = reference.path_scores(scores[part], model.transition)
        log_p = paths - logsumexp(paths[mask])
        own = (reference.all_paths(length, 5) == problem.targets.labels[part]).all(
            axis=1
        )
        losses.append(-log_p[own].item())
        if name != "oeg":
            mu = reference.path_distribution(*solver.marginals[i])
            assert not mu[~mask].any()
            gaps.append(xlogy(mu, mu).sum() - mu @ log_p)
    primal = problem.alpha / 2 * model.w @ model.w + np.mean(losses)
    assert_allclose(certificate.primal, primal, rtol=1e-12)
    gap = np.mean(gaps) if gaps else certificate.primal - certificate.dual
    digits = 1e-5 if "single" in name else 1e-11
    assert_allclose(certificate.gap, gap, rtol=digits)
    assert certificate.gap > 1e-3


def test_the_objective_of_the_empty_model():
    problem, allowed = draw_problem()
    counts = [are_allowed(allowed, length).sum() for length in problem.data.lengths]
    assert_allclose(problem.initial_primal, np.mean(np.log(counts)), rtol=1e-13)
    zero = problem.new_parameters().w
    assert_allclose(problem.certify_primal(zero)[1].primal, problem.initial_primal)
    loop = FitMonitor(SOLVERS["sdca"](problem), max_iter=100, tol=1e-3).run()
    assert loop.target == 1e-3 * loop.rows[-1]["primal"]
    assert loop.rows[-1]["gap"] <= loop.target < loop.rows[-2]["gap"]


@pytest.mark.parametrize("smoothing", [1e-6, 0.5, 1.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sdca_starts_from_labels_and_all_allowed_paths(smoothing, dtype):
    problem, allowed = draw_problem()
    changes = {"init_smoothing": smoothing, "dual_dtype": dtype}
    solver = SOLVERS["sdca"](problem, **changes)
    assert inconsistency(solver.marginals) < 1e-6
    labels = np.eye(5)[problem.targets.labels]
    uniform = allowed.uniform_marginals(problem.offsets)
    node = smoothing * uniform.node + (1.0 - smoothing) * labels
    assert_allclose(solver.marginals.local, node, rtol=0, atol=1e-6)
    if smoothing == 1.0:
        entropy = allowed.log_counts(problem.data.lengths)
        assert_allclose(solver.entropy, entropy, rtol=1e-6)


@pytest.mark.parametrize("name", ["sdca", "sdca, single", "oeg"])
def test_the_dual_does_not_fall(name):
    solver = SOLVERS[name](draw_problem()[0])
    last = -np.inf
    for _ in range(15):
        solver.epoch()
        dual = solver.certify().dual
        assert dual >= last - 1e-6
        last = dual


# --- estimators


def bio_data(n=20, seed=4):
    _, allowed = RULES["BIO"]
    X, y = draw_sequences(allowed, n=n, n_features=3, length=(1, 6), seed=seed)
    return X, named(y, allowed)


X, Y = bio_data()


def test_fitted_attributes_forbid(crf):
    crf.set_params(transitions="BIO").fit(X, Y)
    allowed = by_name("BIO", crf.classes_)
    for name, mask in zip(("start", "end", "transition"), allowed, strict=True):
        scores = getattr(crf, f"{name}_")
        assert (np.isneginf(scores) == ~mask).all()
        assert np.isfinite(scores[mask]).all()


def test_what_forbids_nothing_changes_no_bit(crf):
    expected = clone(crf).fit(X, Y)
    crf.set_params(transitions=np.ones((5, 5), dtype=bool)).fit(X, Y)
    for name in ("coef_", "start_", "end_", "transition_"):
        assert getattr(crf, name).tobytes() == getattr(expected, name).tobytes()


def test_labels_that_break_the_rule_leave_the_estimator_as_it_was(crf):
    crf.set_params(transitions="BIO").fit(X, Y)
    before = copy.deepcopy(vars(crf))
    y = copy.deepcopy(Y)
    i = next(i for i, labels in enumerate(y) if len(labels) > 2)
    y[i][:3] = ["O", "B-PER", "I-LOC"]
    message = (
        f"y: sequence {i}, item 2: 'I-LOC' follows 'B-PER', which transitions='BIO' "
        "does not allow. Repair them: skcrf_sdca.text.repair_labels(y, 'BIO'); or fit "
        "without `transitions`, and call the method `constrain` after the fit. "
        "transitions='observed' allows what y has."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        crf.fit(X, y)
    crf.set_params(transitions=[("O", "O")])
    with pytest.raises(ValueError, match="Correct the labels, or allow it; or fit"):
        crf.fit(X, y)
    assert vars(crf).keys() == before.keys()
    assert crf.coef_.tobytes() == before["coef_"].tobytes()


@in_one_test("value", ["Bio", "IOB3", 3, True, 0.5])
def test_values_of_another_kind(crf, value):
    with pytest.raises(InvalidParameterError, match="'transitions' parameter"):
        crf.set_params(transitions=value).fit(X, Y)


def test_lengths_without_a_path_are_named(crf):
    y = [["a", "b"], ["a", "b", "a", "b"]]
    rule = [("a", "b"), ("b", "a"), (None, "a"), ("b", None)]
    rows = [np.eye(4)[: len(labels), :2] for labels in y]
    crf.set_params(transitions=rule).fit(rows, y)
    assert crf.predict(rows).tolist() == y
    empty = np.zeros((0, 2))
    assert crf.predict([empty, rows[0]]).tolist() == [[], ["a", "b"]]
    for method in (crf.predict, crf.predict_proba):
        with pytest.raises(ValueError, match="X: sequence 1 is of length 3, and of "):
            method([rows[0], np.zeros((3, 2))])
    with pytest.raises(ValueError, match="X: sequence 0 is of length 1"):
        crf.score([np.zeros((1, 2))], [["a"]])


def test_one_label_that_must_not_repeat(crf):
    """With K = 1 the only possible chains have one node."""
    crf.set_params(transitions=[(None, "a")]).fit([np.ones((1, 2))] * 3, [["a"]] * 3)
    assert crf.predict([np.zeros((1, 2))]).tolist() == [["a"]]
    with pytest.raises(ValueError, match="of length 2"):
        crf.predict([np.zeros((2, 2))])


def test_a_single_allowed_path(crf):
    """P(0) is 0, and so is every gap."""
    rule = [(None, "a"), ("a", "b"), ("b", "a"), ("b", None)]
    rows = [np.random.default_rng(i).normal(size=(4, 2)) for i in range(5)]
    crf.set_params(transitions=rule).fit(rows, [["a", "b", "a", "b"]] * 5)
    assert abs(crf.primal_objective_) < 1e-5
    assert crf.predict(rows[:1]).tolist() == [["a", "b", "a", "b"]]


def test_chains_of_one_node(crf):
    """Chains of one node have no start, end or transition: no label is forbidden."""
    table = np.concatenate([x[:1] for x in X])
    y = [labels[0] for labels in Y]
    expected = clone(crf).fit(table, y)
    crf.set_params(transitions="observed").fit(table, y)
    assert_allclose(crf.coef_, expected.coef_, rtol=0, atol=1e-2)
    assert crf.predict(table).shape == (len(y),)
    assert set(crf.predict(table)) <= {"O", "B-LOC", "B-PER"}


def test_every_kind_of_input(crf):
    crf.set_params(transitions="BIO", tol=1e-8, alpha=1 / 20).fit(X, Y)
    packed = PackedSequences.from_sequences([*X, np.empty((0, 3))])
    dicts = [[dict(zip("abc", row, strict=True)) for row in x] for x in X] + [[]]
    for sequences in (packed, dicts):
        other = clone(crf).set_params(alpha=1 / 21).fit(sequences, [*Y, []])
        assert other.predict(sequences).tolist() == [*crf.predict(X).tolist(), []]
        # The empty sequence counts: the weights of the losses are 1/21, not 1/20.
        primal = other.primal_objective_ * 21 / 20
        assert_allclose(primal, crf.primal_objective_, rtol=0, atol=1e-6)


def test_weights_are_repetitions(crf):
    crf.set_params(transitions="BIO", alpha=0.05, tol=1e-10)
    repeated = clone(crf).fit(X + X[:5], Y + Y[:5])
    crf.fit(X, Y, sample_weight=[2.0] * 5 + [1.0] * 15)
    assert_allclose(
        crf.primal_objective_, repeated.primal_objective_, rtol=0, atol=1e-8
    )


def test_copies_and_searches(crf):
    crf.set_params(transitions=by_name("BIO", BIO_LABELS).transition).fit(X, Y)
    again = clone(crf).fit(X, Y)
    assert again.coef_.tobytes() == crf.coef_.tobytes()
    same = pickle.loads(pickle.dumps(crf))
    assert same.predict(X).tolist() == crf.predict(X).tolist()
    assert "transitions" in repr(crf)
    search = GridSearchCV(crf, {"transitions": [None, "BIO"]}, cv=2)
    search.set_params(error_score="raise").fit(X, Y)
    assert search.best_params_["transitions"] in (None, "BIO")


def test_warm_starts_keep_the_rule(crf):
    crf.set_params(transitions="BIO", warm_start=True, tol=1e-8, alpha=0.1).fit(X, Y)
    crf.set_params(alpha=0.01).fit(X, Y)
    cold = clone(crf).set_params(warm_start=False).fit(X, Y)
    assert_allclose(crf.primal_objective_, cold.primal_objective_, rtol=0, atol=1e-6)
    assert (np.isneginf(crf.transition_) == np.isneginf(cold.transition_)).all()
    for other in (None, "observed"):
        coef = crf.coef_.tobytes()
        crf.set_params(transitions=other)
        with pytest.raises(ValueError, match="the same allowed transitions"):
            crf.fit(X, Y)
        assert crf.coef_.tobytes() == coef
    # The same rule, passed in another form.
    pairs = np.argwhere(np.isfinite(cold.transition_))
    rule = [tuple(cold.classes_[pair]) for pair in pairs]
    rule += [(None, label) for label in ("B-LOC", "B-PER", "O")]
    crf.set_params(transitions=rule).fit(X, Y)


def test_a_path_of_alphas_keeps_the_rule(crf):
    crf.set_params(transitions="BIO", tol=1e-9)
    for fitted in alpha_path(crf, X, Y, [0.3, 0.03]):
        cold = clone(crf).set_params(alpha=fitted.alpha).fit(X, Y)
        assert_allclose(
            fitted.primal_objective_, cold.primal_objective_, rtol=0, atol=1e-7
        )
        assert np.isneginf(fitted.start_).sum() == 2


@pytest.mark.parametrize(
    ("new", "n_jobs"),
    [(LBFGSCRF, (1, 2)), (SAGNUSCRF, (2, 2)), (SDCACRF, (2, 2)), (OEGCRF, (2, 2))],
)
def test_threads_change_no_bit(new, n_jobs):
    sequences, y = bio_data(n=2500, seed=5)
    fits = []
    for n in n_jobs:
        crf = new(transitions="BIO", max_iter=2, tol=0.0, n_jobs=n)
        if "random_state" in crf.get_params():
            crf.set_params(random_state=0)
        with pytest.warns(ConvergenceWarning):
            fits.append(crf.fit(sequences, y))
    assert fits[0].coef_.tobytes() == fits[1].coef_.tobytes()
    assert fits[0].predict(X).tolist() == fits[1].predict(X).tolist()


@pytest.mark.parametrize("scheme", ["BIO", "IOB1"])
def test_a_fitted_model_is_constrained_to_the_odds_of_what_is_left(crf, scheme):
    X_free = [np.eye(5)[[i, (i + 1) % 5, (i + 3) % 5]] for i in range(5)]
    y_free = [[BIO_LABELS[k] for k in x.argmax(axis=1)] for x in X_free]
    crf.fit(X_free, y_free)
    before = {
        path: np.exp(crf.log_likelihood(X_free[:1], [path])[0])
        for path in product(BIO_LABELS, repeat=3)
    }
    assert crf.constrain(scheme) is crf
    allowed = by_name(scheme, BIO_LABELS)
    index = {label: k for k, label in enumerate(BIO_LABELS)}
    left = {
        p: v for p, v in before.items() if is_allowed(allowed, [index[k] for k in p])
    }
    for path in before:
        expected = left.get(path, 0.0) / sum(left.values())
        value = np.exp(crf.log_likelihood(X_free[:1], [path])[0])
        assert_allclose(value, expected, rtol=1e-9, atol=1e-300)


@in_one_test("seed", range(20))
def test_usable_labels_are_those_of_allowed_paths(seed):
    rng, n = np.random.default_rng(seed), 3
    masks = rng.random(n) < 0.4, rng.random(n) < 0.4, rng.random((n, n)) < 0.3
    constraints, expected = Constraints(*masks), np.zeros(n, dtype=bool)
    # Each label is reached within n steps, and the end within n more.
    for length in range(1, 2 * n):
        for path in reference.all_paths(length, n):
            if is_allowed(constraints, path):
                expected[list(path)] = True
    np.testing.assert_array_equal(constraints.usable(), expected)


def test_constraining_needs_no_labels_but_names_what_is_wrong():
    crf = LBFGSCRF().fit([np.eye(3)], [["O", "B-X", "I-X"]])
    with pytest.raises(ValueError, match="before fit"):
        crf.constrain("observed")
    with pytest.raises(ValueError, match="scheme must be one of"):
        crf.constrain("Bio")
    with pytest.raises(ValueError, match="leaves no path with the label 'B-X'"):
        crf.constrain("BIOES")
    with pytest.raises(ValueError, match="fit anew"):
        crf.constrain(None)
    assert np.isfinite(crf.transition_).all()


# --- open labels


def test_open_labels_pass_to_all_others():
    """What makes up half of the labels is open; the others are as observed."""
    classes = np.array(["a", "b", "c", "d"])
    labels, offsets = np.array([0, 0, 1, 0, 2, 0, 3, 1]), np.array([0, 3, 5, 8])
    allowed = read_constraints("open", classes, labels, offsets)
    assert allowed.start.tolist() == [True, False, False, False]
    assert allowed.end.tolist() == [True, True, True, False]
    expected = np.zeros((4, 4), dtype=bool)
    expected[0] = expected[:, 0] = expected[3, 1] = True
    assert_array_equal(allowed.transition, expected)


@given(random_allowed(), st.integers(0, 2**32 - 1))
def test_with_open_labels_every_length_has_a_path(allowed, seed):
    rng = np.random.default_rng(seed)
    paths = [draw_path(allowed, int(rng.integers(1, 7)), rng) for _ in range(10)]
    paths = [path for path in paths if path is not None]
    if not paths:
        return
    labels, offsets = np.concatenate(paths), np.cumsum([0, *map(len, paths)])
    found = read_constraints("open", np.arange(4), labels, offsets)
    assert found is None or found.possible_lengths(8).all()


def test_a_fitted_model_cannot_open_labels():
    crf = SDCACRF(random_state=0).fit([[["a"], ["b"]]], [["x", "y"]])
    with pytest.raises(ValueError, match="transitions='open' needs the labels of the"):
        crf.constrain("open")
