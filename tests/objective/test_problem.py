"""The formulas of the objective against enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

import reference
from samples import make_problem, node_scores
from skcrf_sdca.objective.objective import EPS, ROUNDING
from skcrf_sdca.structures.chain import oracle

N_LABELS, N_FEATURES = 3, 2


class Case:
    """A tiny random problem, in the forms of the package and of the reference."""

    def __init__(self, seed, weighted, boundaries):
        rng = np.random.default_rng(seed)
        lengths = rng.integers(1, 5, size=4) if boundaries else np.ones(4, dtype=int)
        self.X = [rng.normal(size=(t, N_FEATURES)) for t in lengths]
        self.y = [rng.integers(N_LABELS, size=t) for t in lengths]
        self.alpha = 0.3
        self.weight = rng.random(4) if weighted else None
        self.boundaries = boundaries
        self.arguments = {"sample_weight": self.weight, "boundaries": boundaries}
        self.problem = make_problem(
            self.X, self.y, N_LABELS, self.alpha, **self.arguments
        )
        self.w = rng.normal(size=self.problem.new_parameters().w.shape)
        if not boundaries:
            self.w[N_LABELS : -N_FEATURES * N_LABELS] = 0.0


cases = st.builds(
    Case, st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([True, False])
)


@given(cases)
def test_primal_and_gradient(case):
    gradient, certificate = case.problem.certify_primal(case.w)
    arguments = (case.w, case.X, case.y, case.alpha, N_LABELS)
    assert_allclose(
        certificate.primal,
        reference.primal(*arguments, **case.arguments),
        rtol=1e-12,
    )
    expected = reference.gradient(*arguments, **case.arguments)
    assert_allclose(gradient, expected, rtol=1e-10, atol=1e-12)
    assert_allclose(certificate.gap, expected @ expected / (2 * case.alpha), rtol=1e-10)
    # The dual is lowered by the rounding of both objectives, and may be near 0.
    difference = certificate.primal - certificate.gap
    assert certificate.dual <= difference
    assert_allclose(
        certificate.dual, difference, rtol=0, atol=1e-12 * (1.0 + certificate.gap)
    )


@given(cases)
def test_dual_certificate(case):
    """At mu = p(. | w'): the primal point, primal, dual and gaps by enumeration."""
    problem = case.problem
    model = problem.new_parameters(case.w)
    scores = node_scores(problem, model)
    marginals, _ = oracle.marginals(scores, model.transition, problem.offsets)
    edge_total, entropy = marginals.renormalize(problem.weight)
    w = problem.dual_to_primal(marginals.node, edge_total)
    certificate = problem.certify_dual(w, w, marginals.node, edge_total, entropy)
    mu = [
        reference.path_probabilities(scores[b:e], model.transition)
        for b, e in zip(problem.offsets[:-1], problem.offsets[1:], strict=True)
    ]
    arguments = (case.X, case.y, case.alpha, N_LABELS)
    expected_w = reference.w_hat(mu, *arguments, **case.arguments)
    assert_allclose(w, expected_w, rtol=1e-10, atol=1e-12)
    primal = reference.primal(expected_w, *arguments, **case.arguments)
    dual = reference.dual(mu, *arguments, **case.arguments)
    assert_allclose(certificate.primal, primal, rtol=1e-10)
    assert_allclose(certificate.dual, dual, rtol=1e-10, atol=1e-12)
    assert_allclose(certificate.gap, primal - dual, rtol=1e-9, atol=1e-10)


def test_initial_primal_is_that_of_the_empty_model():
    problem = Case(0, weighted=True, boundaries=True).problem
    _, certificate = problem.certify_primal(problem.new_parameters().w)
    assert_allclose(certificate.primal, problem.initial_primal, rtol=1e-13)


@pytest.mark.parametrize("length", [1, 1000])
def test_what_is_no_more_than_rounding_is_the_optimum_of_a_single_label(length):
    """P(0) is 0, and scores that cancel leave some rounding of each position."""
    X, y = [np.ones((length, 2))], [np.zeros(length, dtype=int)]
    problem = make_problem(X, y, 1, 0.3)
    assert problem.initial_primal == 0.0
    certificates = [
        problem.certificate(share * ROUNDING * length, 0.0) for share in (0.9, 1.1)
    ]
    assert certificates[0].gap == 0.0
    assert certificates[1].gap == certificates[1].primal > 0.0


def test_a_weight_of_two_is_a_sequence_twice():
    case = Case(1, weighted=False, boundaries=True)
    X, y = case.X + case.X[:1], case.y + case.y[:1]
    doubled = make_problem(X, y, N_LABELS, case.alpha)
    weight = np.array([2.0, 1.0, 1.0, 1.0])
    weighted = make_problem(case.X, case.y, N_LABELS, case.alpha, sample_weight=weight)
    expected, certificate = doubled.certify_primal(case.w)
    gradient, other = weighted.certify_primal(case.w)
    assert_allclose(gradient, expected, rtol=1e-12, atol=1e-14)
    assert_allclose(other.primal, certificate.primal, rtol=1e-13)


def test_sparse_rows_give_what_dense_rows_give():
    case = Case(2, weighted=False, boundaries=True)
    X = [csr_array(x) for x in case.X]
    sparse = make_problem(X, case.y, N_LABELS, case.alpha)
    expected, certificate = case.problem.certify_primal(case.w)
    gradient, other = sparse.certify_primal(case.w)
    assert_allclose(gradient, expected, rtol=1e-12, atol=1e-14)
    assert_allclose(other.primal, certificate.primal, rtol=1e-13)


@pytest.mark.usefixtures("many_ranges")
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_change_no_bit(n_jobs):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(t, 5)) for t in rng.integers(0, 9, size=100)]
    y = rng.integers(4, size=sum(map(len, X)))
    w = None
    results = []
    for jobs in (None, n_jobs):
        problem = make_problem(X, [y], 4, 0.01, n_jobs=jobs)
        w = rng.normal(size=problem.new_parameters().w.shape) if w is None else w
        gradient, certificate = problem.certify_primal(w)
        results.append((gradient.tobytes(), certificate))
    assert results[0] == results[1]


@pytest.mark.parametrize("largest", [1.0, 1e9])
def test_bounds_of_rounding_are_sums_over_the_sequences(largest):
    """The marginals of sequence i are wrong by ROUNDING + EPS 2 S T_i, relatively."""
    rng = np.random.default_rng(0)
    lengths, weight = np.array([1, 2, 5, 30, 200]), np.array([3.0, 1.0, 0.5, 2.0, 1.0])
    X = [rng.normal(size=(t, N_FEATURES)) for t in lengths]
    y = [rng.integers(N_LABELS, size=t) for t in lengths]
    problem = make_problem(X, y, N_LABELS, 0.3, sample_weight=weight)
    c = weight / weight.sum()
    scores = 2.0 * largest * lengths
    relative = ROUNDING + EPS * scores
    # Without curvature expected scores have the error, else features and a distance.
    bound = problem.gap_rounding(0.0, None, largest)
    assert_allclose(bound, c @ (scores * relative), rtol=1e-12)
    sizes = np.array([np.linalg.norm(x, axis=1).sum() + 2.0 * len(x) for x in X])
    of_features = c @ (sizes * (ROUNDING + EPS * largest * sizes))
    bound = problem.gap_rounding(0.0, 0.25, largest)
    assert_allclose(bound, 0.25 * of_features, rtol=1e-12)
    assert bound >= 0.25 * c @ (sizes * relative)
    assert_allclose(
        problem.primal_rounding(5.0, largest), c @ (EPS * scores) + 5.0 * ROUNDING
    )


@pytest.mark.parametrize("as_rows", [np.asarray, csr_array])
def test_sizes_of_features_are_means_where_they_are_not_zero(as_rows):
    X = [np.array([[2.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), np.array([[4.0, 0.0, -3.0]])]
    weight = np.array([3.0, 1.0])
    problem = make_problem(
        [as_rows(x) for x in X], [[0, 1], [0]], N_LABELS, sample_weight=weight
    )
    squares, counts = problem.feature_sizes
    # 3/4 of the first sequence and 1/4 of the second; the feature 1 does not occur.
    assert_allclose(counts, [1.0, 0.0, 1.0])
    assert_allclose(squares, [0.75 * 4.0 + 0.25 * 16.0, 1.0, 0.75 + 0.25 * 9.0])
