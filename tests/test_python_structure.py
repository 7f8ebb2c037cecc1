"""A structure in pure Python: couples.py, and its twin, which enumerates labellings.

It predicts, explains, draws, is trained by L-BFGS, saved and loaded, without a kernel.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from couples import CoupleCRF, Couples
from reference import all_paths
from samples import registered
from skcrf_sdca import LBFGSCRF, load_model, save_model
from skcrf_sdca.estimators.parameters import (
    EpochOptions,
    GraphSolverOptions,
    LossOptions,
    PenaltyOptions,
    RunOptions,
    ScoringOptions,
    StrengthOptions,
    UnknownOptions,
    parameters,
)
from skcrf_sdca.estimators.sequences import BaseCRF
from skcrf_sdca.estimators.solver_choice import SolverByName
from skcrf_sdca.estimators.tagger import Tagger
from skcrf_sdca.features.vectorizer import SequenceVectorizer
from skcrf_sdca.persistence import register
from skcrf_sdca.testing import sequence_checks

LABELS, ALPHA = ["a", "b", "c"], 0.05


@pytest.fixture(scope="module", autouse=True)
def couples():
    with registered(Couples, CoupleCRF):
        yield


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = [rng.choice(LABELS, size=n).tolist() for n in (1, 2, 4, 3, 5, 2)]
    codes = [codes_of(labels) for labels in y]
    return [np.eye(3)[c] + rng.normal(size=(len(c), 3)) for c in codes], y


@pytest.fixture(scope="module")
def crf(data, couples):
    return fitted(data, tol=1e-12)


def codes_of(labels):
    return np.array([LABELS.index(label) for label in labels])


def fitted(data, **parameters):
    crf = CoupleCRF(alpha=ALPHA, solver="lbfgs", max_iter=5000, random_state=0)
    return crf.set_params(**parameters).fit(*data)


def labellings(crf, x):
    """Return all labellings of a sequence, and their scores."""
    paths = all_paths(len(x), 3)
    local = x @ crf.coef_.T + crf.intercept_
    scores = local[np.arange(len(x)), paths].sum(axis=1)
    for t in range(0, len(x) - 1, 2):
        scores += crf.couple_[paths[:, t], paths[:, t + 1]]
    return paths, scores


def features(x, paths):
    """Return the features of labellings, in the order of coef, intercept, couple."""
    one_hot = np.eye(3)[paths]
    pairs = np.zeros((len(paths), 3, 3))
    for t in range(0, len(x) - 1, 2):
        np.add.at(pairs, (np.arange(len(paths)), paths[:, t], paths[:, t + 1]), 1.0)
    of_labels = np.einsum("stk,td->skd", one_hot, x).reshape(len(paths), -1)
    return np.hstack([of_labels, one_hot.sum(axis=1), pairs.reshape(len(paths), -1)])


def test_it_is_trained_to_the_optimum(crf, data):
    weights = np.concatenate([crf.coef_.ravel(), crf.intercept_, crf.couple_.ravel()])
    value, gradient = ALPHA / 2 * weights @ weights, ALPHA * weights
    for x, labels in zip(*data, strict=True):
        paths, scores = labellings(crf, x)
        right = (paths == codes_of(labels)).all(axis=1)
        p = np.exp(scores - logsumexp(scores))
        value -= np.log(p[right][0]) / 6
        gradient = gradient + (p - right) @ features(x, paths) / 6
    assert_allclose(crf.primal_objective_, value, rtol=1e-12)
    assert np.abs(gradient).max() < 1e-5
    assert crf.duality_gap_ < 1e-8


def test_answers_are_those_of_all_labellings(crf, data):
    X, y = data
    proba, best = crf.predict_proba(X), crf.predict_n_best(X, n=4)
    log_p, edges = crf.log_likelihood(X, y), crf.predict_edge_proba(X)
    entropy = crf.uncertainty(X, measure="entropy")
    for i, x in enumerate(X):
        paths, scores = labellings(crf, x)
        p = np.exp(scores - logsumexp(scores))
        assert_allclose(proba[i], np.einsum("s,stk->tk", p, np.eye(3)[paths]))
        order = np.argsort(-scores)[: len(best[i])]
        found = [labels for labels, _ in best[i]]
        assert found == [[LABELS[k] for k in path] for path in paths[order]]
        right = (paths == codes_of(y[i])).all(axis=1)
        assert_allclose(log_p[i], np.log(p[right][0]))
        assert_allclose(entropy[i], -p @ np.log(p), rtol=1e-10)
        if len(x) > 1:
            pairs = np.einsum("s,sj,sk->jk", p, *np.eye(3)[paths[:, :2].T])
            assert_allclose(edges[i][0], pairs)
    assert crf.predict(X).tolist() == [labels for [(labels, _), *_] in best]


def test_draws_are_of_the_distribution(crf, data):
    (x,) = [x for x in data[0] if len(x) == 3]
    paths, scores = labellings(crf, x)
    p = np.exp(scores - logsumexp(scores))
    drawn = [codes_of(labels) for [labels] in crf.sample([x], 4000, random_state=0)]
    numbers = np.array(drawn) @ [9, 3, 1]
    share = np.bincount(numbers, minlength=len(paths)) / 4000
    assert_allclose(share, p, atol=0.03)


def test_explanations_are_differences_of_scores(crf, data):
    x = data[0][2]
    explanation = crf.explain(x, 1, labels=["a"], reference="b")
    paths, scores = labellings(crf, x)
    a, b = (scores[paths[:, 1] == k].max() for k in range(2))
    assert_allclose(explanation.scores, [a - b])
    assert "<couple 0-1>" in str(explanation)
    assert set(crf.state_features()["feature"]) == {"x0", "x1", "x2", "<intercept>"}
    assert not hasattr(crf, "transition_features")


@pytest.mark.parametrize("parameters", [{"l1_ratio": 0.3}, {"loss": "softmax_margin"}])
def test_other_objectives_are_certified(data, parameters):
    crf = fitted(data, tol=1e-4, **parameters)
    assert crf.duality_gap_ <= 1e-4 * crf.primal_objective_


def test_soft_labels_are_trained(data):
    X, y = data
    certain = [[{label: 1.0} for label in labels] for labels in y]
    soft, hard = fitted((X, certain), tol=1e-9), fitted(data, tol=1e-9)
    assert_allclose(soft.couple_, hard.couple_, atol=1e-4)


def test_a_prior_and_a_start(crf, data):
    near = CoupleCRF(alpha=1e3, solver="lbfgs").fit(*data, prior=crf)
    assert_allclose(near.couple_, crf.couple_, atol=1e-2)
    again = CoupleCRF(alpha=ALPHA, solver="lbfgs", max_iter=2).fit(*data, init=crf)
    assert again.duality_gap_ < 1e-6


@pytest.mark.parametrize("solver", ["sdca", "oeg", "sag", "sgd"])
def test_solvers_that_visit_say_what_it_lacks(data, solver):
    with pytest.raises(
        ValueError,
        match=r"a structure with a compiled kernel .*'couples'.*: take solver=.lbfgs.$",
    ):
        fitted(data, solver=solver)
    # A loss that no solver takes without a kernel.
    both = 'take solver="lbfgs" with loss="log_loss" or solver="lbfgs" with loss="soft'
    with pytest.raises(ValueError, match=both):
        fitted(data, solver=solver, loss="hinge")


@pytest.mark.parametrize("in_tagger", [False, True])
def test_it_is_saved_and_loaded(data, in_tagger, tmp_path):
    X, y = [[["x"], ["y"]], [["y"]]], [["a", "b"], ["b"]]
    crf = CoupleCRF(alpha=ALPHA, solver="lbfgs")
    if in_tagger:
        crf = Tagger([("vectorizer", SequenceVectorizer()), ("crf", crf)])
    save_model(crf.fit(X, y), tmp_path / "couples.zip")
    loaded = load_model(tmp_path / "couples.zip")
    assert type(loaded) is type(crf)
    for mine, its in zip(crf.predict_proba(X), loaded.predict_proba(X), strict=True):
        assert_allclose(mine, its, rtol=0, atol=0)


CHECKS = sequence_checks(
    CoupleCRF(solver="lbfgs"),
    [[["x"], ["y"]], [["y"]], [["x"], ["x"], ["z"]]] * 4,
    [["a", "b"], ["b"], ["a", "c", "b"]] * 4,
)


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_it_passes_the_checks_of_sequences(check):
    check()


def test_an_argument_of_another_structure_is_refused(data):
    chain = LBFGSCRF().fit(*data)
    for name in ("init", "prior"):
        with pytest.raises(TypeError, match=f"{name} must be .* structure 'couples'"):
            CoupleCRF(solver="lbfgs").fit(*data, **{name: chain})


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("chain", "NewCRF"), "the package has a 'chain' of its own"),
        (("new", "LBFGSCRF"), "the package has a 'LBFGSCRF' of its own"),
    ],
)
def test_a_name_of_the_package_is_not_replaced(names, message):
    structure = type("New", (Couples,), {"name": names[0]})
    estimator = type(names[1], (CoupleCRF,), {"_structure": names[0]})
    with pytest.raises(ValueError, match=message):
        register(structure, estimator)


def test_an_estimator_of_another_structure_is_not_registered():
    with pytest.raises(ValueError, match="_structure='couples', .* named 'new'"):
        register(type("New", (Couples,), {"name": "new"}), CoupleCRF)


def test_the_fit_asks_for_no_parameter_that_the_estimator_does_not_have(crf, data):
    @parameters
    class FewCRF(
        RunOptions,
        ScoringOptions,
        EpochOptions,
        GraphSolverOptions,
        UnknownOptions,
        PenaltyOptions,
        LossOptions,
        StrengthOptions,
        SolverByName,
        BaseCRF,
    ):
        """No ``features``, ``cost`` or ``margin``.

        Parameters
        ----------
        {parameters}
        """

        _structure = "couples"
        fit, _blocks = CoupleCRF.fit, CoupleCRF._blocks

    few = FewCRF(alpha=ALPHA, solver="lbfgs", max_iter=5000, tol=1e-12, random_state=0)
    assert_array_equal(few.fit(*data).couple_, crf.couple_)
    by_margin = fitted(data, tol=1e-12, loss="softmax_margin")
    few.set_params(loss="softmax_margin").fit(*data)
    assert_array_equal(few.couple_, by_margin.couple_)
