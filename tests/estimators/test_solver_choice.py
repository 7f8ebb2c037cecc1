"""CRF chooses a solver; each of them gives the model of its own estimator."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from skcrf_sdca import (
    CRF,
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    DependencyCRF,
    GraphCRF,
    SegmentCRF,
    TreeCRF,
    load_model,
    save_model,
)
from skcrf_sdca.datasets import image_graph, make_chains
from skcrf_sdca.persistence import ModelFormatError
from skcrf_sdca.selection import alpha_path
from skcrf_sdca.structures.chain import curvature
from skcrf_sdca.text import ArcFeatures

X, Y = make_chains(n_sequences=20, n_features=4, random_state=0)
SOLVERS = {"sdca": SDCACRF, "oeg": OEGCRF, "sag": SAGNUSCRF, "lbfgs": LBFGSCRF}
SPARSE = [sp.csr_array(rows) for rows in X]


@pytest.mark.parametrize("name", SOLVERS)
def test_the_bits_are_those_of_the_estimator_of_the_solver(name):
    options = {} if name == "lbfgs" else {"random_state": 0}
    single = SOLVERS[name](0.1, max_iter=30, tol=1e-2, **options).fit(X, Y)
    crf = CRF(0.1, solver=name, max_iter=30, tol=1e-2, random_state=0).fit(X, Y)
    assert crf.solver_ == name
    assert_array_equal(crf.coef_, single.coef_)
    assert_array_equal(crf.history_["gap"], single.history_["gap"])


UNFINISHED = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fitted(X, y=Y, **options):
    return CRF(max_iter=3, random_state=0, **options).fit(X, y)


@UNFINISHED
@pytest.mark.parametrize(("factor", "name"), [(1, "sdca"), (3, "sag"), (6, "lbfgs")])
def test_dense_features_are_chosen_for_by_their_size(factor, name):
    assert fitted([factor * rows for rows in X], alpha=0.05).solver_ == name


@UNFINISHED
def test_alpha_counts_as_the_features_do():
    assert fitted(X, alpha=0.05 / 3**2).solver_ == "sag"


@UNFINISHED
def test_few_sequences_are_not_for_sag():
    large = [3.0 * rows for rows in X]
    assert fitted(large, alpha=0.05).solver_ == "sag"
    assert fitted(large[:8], Y[:8], alpha=0.05 * 20 / 8).solver_ == "lbfgs"


@UNFINISHED
@pytest.mark.parametrize(("factor", "name"), [(3, "sdca"), (6, "lbfgs")])
def test_features_that_are_not_whitened_are_not_for_sag(monkeypatch, factor, name):
    monkeypatch.setattr(curvature, "MAX_LOCAL_FEATURES", 3)
    assert fitted([factor * rows for rows in X], alpha=0.05).solver_ == name


@UNFINISHED
def test_pixels_are_not_for_sag():
    pixels = [6.0 * rows * (rows > 0.5) for rows in X]
    assert fitted(pixels, alpha=0.01).solver_ == "sdca"


@UNFINISHED
def test_pixels_of_many_sequences_are_for_sag():
    pixels = [rows * (rows > 0.5) for rows in X] * 100
    labels = [*Y] * 100
    square = np.mean([(rows**2).sum() for rows in pixels])
    for size, name in [(30.0, "sdca"), (150.0, "sag"), (600.0, "sdca")]:
        assert fitted(pixels, labels, alpha=square / (2000 * size)).solver_ == name


@UNFINISHED
def test_sparse_features_are_chosen_for_by_the_labels():
    assert fitted(SPARSE).solver_ == "sdca"
    positions = iter(range(10**6))
    labels = [[next(positions) % 12 for _ in path] for path in Y]
    assert fitted(SPARSE, labels).solver_ == "oeg"


@UNFINISHED
@pytest.mark.parametrize("l1_ratio", [0.0, 0.5])
@pytest.mark.parametrize(("length", "name"), [(1, "sdca"), (4, "sdca"), (5, "oeg")])
def test_short_sequences_of_many_labels_are_for_sdca(capsys, length, name, l1_ratio):
    words = [[[f"w{13 * i + t}"] for t in range(length)] for i in range(24)]
    labels = [[(i + t) % 12 for t in range(length)] for i in range(24)]
    crf = CRF(l1_ratio=l1_ratio, max_iter=1, random_state=0, verbose=1)
    assert crf.fit(words, labels).solver_ == name
    what = "a penalty with L1" if l1_ratio else "sparse features"
    short = f", sequences of {length}.0 positions" if name == "sdca" else ""
    first = capsys.readouterr().out.splitlines()[0]
    assert first == f"CRF: solver {name}, {what}, 12 labels{short}"


@UNFINISHED
def test_few_long_sequences_are_for_lbfgs(capsys):
    rows, labels = sp.vstack(SPARSE * 40, format="csr"), [*np.concatenate(Y)] * 40
    for n_sequences, n_alpha, name in [
        (1, 1.0, "lbfgs"),
        (1, 100.0, "lbfgs"),
        (4, 1.0, "lbfgs"),
        (8, 1.0, "lbfgs"),
        (10, 1.0, "sdca"),
        (20, 1e-3, "sdca"),
    ]:
        cuts = np.linspace(0, len(labels), n_sequences + 1).astype(int)
        parts = list(pairwise(cuts))
        x = [rows[begin:end] for begin, end in parts]
        y = [labels[begin:end] for begin, end in parts]
        crf = CRF(n_alpha / n_sequences, max_iter=1, random_state=0, verbose=1)
        assert crf.fit(x, y).solver_ == name
        first, length = capsys.readouterr().out.splitlines()[0], cuts[1]
        long = f", {n_sequences} sequences of {length} positions"
        reason = f"sparse features, 3 labels{long if name == 'lbfgs' else ''}"
        assert first == f"CRF: solver {name}, {reason}"


@UNFINISHED
def test_a_penalty_with_l1_is_chosen_for_by_the_labels():
    """Dense rows that would ask for L-BFGS, which does not take the penalty."""
    large = [1e3 * rows for rows in X]
    crf = CRF(0.1, l1_ratio=0.5, max_iter=2, random_state=0)
    assert crf.fit(large, Y).solver_ == "sdca"
    positions = iter(range(10**6))
    labels = [[next(positions) % 12 for _ in path] for path in Y]
    assert crf.fit(large, labels).solver_ == "oeg"


@UNFINISHED
@pytest.mark.parametrize("options", [{"loss": "hinge"}, {"l1_ratio": 1.0}])
def test_few_labels_with_another_loss_or_penalty_have_sdca(options):
    crf = CRF(0.1, max_iter=20, tol=1e-2, random_state=0, **options).fit(X, Y)
    single = SDCACRF(0.1, max_iter=20, tol=1e-2, random_state=0, **options).fit(X, Y)
    assert crf.solver_ == "sdca"
    assert_array_equal(crf.intercept_, single.intercept_)


def test_the_chosen_solver_goes_on_where_its_own_estimator_warns():
    alpha = 1e-6 / len(Y)
    crf = CRF(alpha, random_state=0).fit(SPARSE, Y)
    assert crf.solver_ == "sdca"
    assert crf.duality_gap_ <= crf.gap_target_
    with pytest.warns(ConvergenceWarning, match="after 100 epochs"):
        SDCACRF(alpha, random_state=0).fit(SPARSE, Y)


def test_a_solver_that_does_not_take_the_loss_is_refused():
    with pytest.raises(ValueError, match="OEG needs a loss with temperature > 0"):
        CRF(solver="oeg", loss="hinge").fit(X, Y)


@UNFINISHED
def test_the_choice_is_printed(capsys):
    fitted(SPARSE, verbose=1)
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "CRF: solver sdca, sparse features, 3 labels"


def test_a_warning_names_what_helps_large_features():
    large = [30.0 * rows for rows in X]
    helps = r"R\^2 / \(alpha n\) = 3.6e\+04: standardise them, or take LBFGSCRF"
    with pytest.warns(ConvergenceWarning, match=helps):
        SDCACRF(0.05, max_iter=2, random_state=0).fit(large, Y)
    for crf, rows in [
        (LBFGSCRF(0.05, max_iter=2), large),
        (SDCACRF(0.05, max_iter=2, tol=1e-9, random_state=0), X),
        (SDCACRF(0.05, max_iter=2, random_state=0), [sp.csr_array(x) for x in large]),
    ]:
        with pytest.warns(ConvergenceWarning) as found:
            crf.fit(rows, Y)
        assert "standardise" not in str(found[0].message)


@UNFINISHED
def test_a_warm_start_keeps_the_solver():
    crf = CRF(0.05, warm_start=True, random_state=0).fit(X, Y)
    assert crf.solver_ == "sdca"
    crf.set_params(alpha=0.05 / 3**2, max_iter=3).fit(X, Y)
    assert crf.solver_ == "sdca"
    cold = CRF(0.05 / 3**2, max_iter=3, random_state=0).fit(X, Y)
    assert cold.solver_ == "sag"


def test_a_path_of_alphas():
    path = alpha_path(CRF(random_state=0), X, Y, [1.0, 0.1])
    assert [crf.solver_ for crf in path] == ["sdca", "sdca"]
    exact = LBFGSCRF(0.1, tol=1e-9).fit(X, Y)
    assert_allclose(path[1].primal_objective_, exact.primal_objective_, rtol=1e-3)


def test_a_saved_model_keeps_its_solver(tmp_path):
    crf = CRF(solver="lbfgs").fit(X, Y)
    save_model(crf, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert type(loaded) is CRF
    assert (loaded.solver, loaded.solver_) == ("lbfgs", "lbfgs")
    assert_array_equal(loaded.predict_proba(X[:1])[0], crf.predict_proba(X[:1])[0])
    crf.solver_ = "newton"
    save_model(crf, tmp_path / "model")
    with pytest.raises(ModelFormatError, match="solver must be one of sdca, oeg"):
        load_model(tmp_path / "model")


def test_another_fit_forgets_the_solver():
    crf = OEGCRF().fit(X, Y)
    assert not hasattr(crf, "solver_")


def test_the_warning_of_sparse_features_of_uneven_size_says_so():
    X = [
        [{"w": word, "length": 30.0 * len(word)} for word in "a list of words".split()]
    ]
    y = [list("abab")]
    crf = CRF(max_iter=2, tol=1e-6, random_state=0)
    with pytest.warns(ConvergenceWarning, match="go up to 1.5e\\+02, and most are 1"):
        crf.set_params(max_iter=1).fit(
            [[*X[0], {"w": "b"}, {"w": "c"}]], [[*y[0], "a", "b"]]
        )
    with pytest.warns(ConvergenceWarning) as found:
        crf.fit([[{"w": word} for word in "abcd"]], y)
    assert "go up to" not in str(found[0].message)


def recordings(n_sequences, length, n_features=2, seed=0):
    """Return standardised frames of a signal, and slowly changing states."""
    rng = np.random.default_rng(seed)
    y = [np.repeat(rng.integers(3, size=length // 10), 10) for _ in range(n_sequences)]
    X = [s[:, None] + 1.5 * rng.standard_normal((len(s), n_features)) for s in y]
    return X, y


@UNFINISHED
def test_recordings_are_for_lbfgs_at_a_large_alpha_too():
    frames, states = recordings(20, 200)
    for n_alpha in (1.0, 100.0):
        crf = CRF(n_alpha / 20, max_iter=2, random_state=0).fit(frames, states)
        assert crf.solver_ == "lbfgs"


@UNFINISHED
def test_many_positions_for_each_weight_are_for_lbfgs():
    frames, states = recordings(300, 20)
    assert fitted(frames, states).solver_ == "lbfgs"
    assert fitted(frames[:60], states[:60]).solver_ != "lbfgs"


@UNFINISHED
def test_sentences_keep_their_solver():
    """Sparse rows of many sentences, whatever alpha is."""
    words = [sp.csr_array(rows > 0.5).astype(float) for rows in X]
    for n_alpha in (1e-2, 1.0, 1e2):
        assert fitted(words, alpha=n_alpha / len(words)).solver_ == "sdca"


def grids(n_graphs, side, seed=0):
    """Return noisy images of two colours as graphs, and the colours."""
    rng = np.random.default_rng(seed)
    edges = image_graph(np.zeros((side, side)))[1]
    y = [np.repeat(rng.integers(2, size=side), side) for _ in range(n_graphs)]
    nodes = [s[:, None] + 1.5 * rng.standard_normal((len(s), 2)) for s in y]
    return [(own, edges) for own in nodes], y


@pytest.mark.parametrize("inference", ["exact", "trw"])
def test_few_large_graphs_converge_by_default(inference):
    graphs, colours = grids(3, 7)
    crf = GraphCRF(inference=inference, random_state=0).fit(graphs, colours)
    assert crf.solver_ == "lbfgs"
    assert crf.duality_gap_ <= crf.gap_target_


def test_segments_of_recordings_converge_by_default():
    frames, states = recordings(4, 200)
    crf = SegmentCRF(scheme=None, random_state=0).fit(frames, states)
    assert crf.solver_ == "lbfgs"
    assert crf.duality_gap_ <= crf.gap_target_


@UNFINISHED
def test_segments_are_not_for_sag_which_does_not_whiten_their_features():
    frames, states = recordings(30, 20, n_features=6)
    large = [2.0 * rows for rows in frames]
    assert fitted(large, states).solver_ == "sag"
    crf = SegmentCRF(scheme=None, max_iter=3, random_state=0).fit(large, states)
    assert crf.solver_ == "oeg"


@UNFINISHED
def test_each_structure_chooses_by_the_same_numbers(capsys):
    words = [[{"w": str(int(v > 0))} for v in rows[:, 0]] for rows in X]
    y = [["O" if label else "B" for label in path] for path in Y]
    spans = SegmentCRF(max_iter=1, random_state=0, verbose=1).fit(words, y)
    assert spans.solver_ == "oeg"
    out = capsys.readouterr().out
    assert out.startswith("SegmentCRF: solver oeg, sparse features, 2 labels\n")
    trees = [(nodes, np.arange(len(nodes)) - 1) for nodes in words]
    assert TreeCRF(max_iter=1, random_state=0).fit(trees, y).solver_ == "oeg"
    heads = [list(range(len(nodes))) for nodes in words[:3]]
    parser = DependencyCRF(features=ArcFeatures(["h.word m.word"]), max_iter=1)
    sentences = [[token["w"] for token in nodes] for nodes in words[:3]]
    assert parser.fit(sentences, heads).solver_ == "sdca"


@pytest.mark.parametrize("solver", ["oeg", "sdca"])
def test_a_loss_that_is_not_smooth_has_the_solver_of_its_structure(solver):
    graphs, colours = grids(3, 3)
    cls = {"oeg": GraphCRF, "sdca": CRF}[solver]
    data = (graphs, colours) if cls is GraphCRF else (X, Y)
    crf = cls(loss="hinge", tol=0.1, random_state=0).fit(*data)
    assert crf.solver_ == solver


def test_a_saved_graph_model_keeps_its_solver(tmp_path):
    crf = GraphCRF(random_state=0).fit(*grids(2, 3))
    save_model(crf, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert (loaded.solver, loaded.solver_) == ("auto", "lbfgs")
