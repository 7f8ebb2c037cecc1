"""Sizes are checked before memory is allocated, and errors name what would fit."""

import io
import re
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone

import graph_cases
from samples import peak_of, seeded
from skcrf_sdca import (
    LBFGSCRF,
    OEGCRF,
    SAGNUSCRF,
    SDCACRF,
    SGDCRF,
    DependencyCRF,
    GraphCRF,
    OnlineDependencyCRF,
    PassiveAggressiveCRF,
    SegmentCRF,
    TreeCRF,
)
from skcrf_sdca._kernels.features._features import RowLayout
from skcrf_sdca._kernels.features._observed import sorted_by_width
from skcrf_sdca._utils import mapped_arrays, memory
from skcrf_sdca.estimators.segments import LENGTHS_KEPT
from skcrf_sdca.metrics import flat_confusion_matrix
from skcrf_sdca.persistence import load_model, save_model
from skcrf_sdca.structures.chain.tuples import MOST_ORDER
from skcrf_sdca.text import ArcFeatures

WORDS = [[["a"], ["b"], ["b"]], [["b"]]]
ARCS = ArcFeatures(["h.word m.word"], columns=("word",), n_features=64)
SENTENCES, HEADS = [["dogs", "bark"], ["go", "home"]], [[2, 0], [0, 1]]
SPANS = [["B-X", "O", "O"], ["O"]]


# Advice that is no circle -------------------------------------------------------------


@pytest.fixture
def full_disk(monkeypatch):
    """Leave no place for dual variables in files."""
    monkeypatch.setattr(mapped_arrays, "free_space", lambda: 0)


OF_CHAINS = {
    cls.__name__: seeded(cls, max_iter=1)
    for cls in (SDCACRF, OEGCRF, SAGNUSCRF, LBFGSCRF, SGDCRF)
}
OF_CHAINS['SGDCRF with method="sgd"'] = seeded(SGDCRF, max_iter=1, method="sgd")


def of_solvers(estimator, *names):
    options = {"max_iter": 1, "random_state": 0}
    return {f'solver="{n}"': estimator(solver=n, **options) for n in names}


def chains():
    rng = np.random.default_rng(0)
    x = [csr_array(np.eye(30)[rng.integers(30, size=20)]) for _ in range(10)]
    return x, [rng.integers(8, size=20).tolist() for _ in x]


def graphs():
    return graph_cases.sample(30, n_labels=4)


def trees():
    rng = np.random.default_rng(0)
    heads = [[-1, 0, 1, 1, 2, 2, 0]] * 20
    # So many features that weights take more memory than the scores of a pass.
    x = [(rng.normal(size=(7, 60)), own) for own in heads]
    return x, [rng.integers(5, size=7).tolist() for _ in heads]


CHOICES = {
    "chains": (chains, OF_CHAINS),
    "segments": (
        chains,
        {
            name: crf.set_params(scheme=None, max_length=5)
            for name, crf in of_solvers(
                SegmentCRF, "oeg", "sag", "sgd", "lbfgs"
            ).items()
        },
    ),
    "graphs": (graphs, of_solvers(GraphCRF, "sdca", "oeg", "sag", "sgd", "lbfgs")),
    "trees": (trees, of_solvers(TreeCRF, "sdca", "oeg", "sag", "sgd", "lbfgs")),
}


def is_refused(crf, data):
    """Return the message of the MemoryError of a fit, or an empty one."""
    try:
        clone(crf).fit(*data)
    except MemoryError as error:
        return str(error)
    return ""


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("structure", CHOICES)
@pytest.mark.parametrize("loss", ["log_loss", "hinge"])
@pytest.mark.usefixtures("full_disk")
def test_every_solver_that_a_message_names_fits(structure, loss, monkeypatch):
    make, choices = CHOICES[structure]
    data, sizes = make(), 2 ** np.arange(10, 24, 2)
    choices = {name: clone(crf).set_params(loss=loss) for name, crf in choices.items()}
    takes = {}
    for name, crf in choices.items():
        try:
            clone(crf).fit(*data)
        except ValueError:
            # Not every solver takes the hinge.
            continue
        takes[name] = crf
    monkeypatch.setattr(memory, "SMALL", 0)
    n_advised = 0
    for size in sizes.tolist():
        monkeypatch.setattr(memory, "available_memory", lambda size=size: size)
        messages = {name: is_refused(crf, data) for name, crf in takes.items()}
        for message in messages.values():
            # Of graphs and segments a parameter names the solver.
            is_named = re.search("(SDCA|OEG|SAGNUS|LBFGS|SGD)CRF", message)
            assert structure == "chains" or not is_named
            named = re.search(r"of the solvers, these fit: (.*)$", message)
            for item in named[1].split(", ") if named else ():
                name = item.rsplit(" (", 1)[0]
                assert not messages[name], (size, message)
                n_advised += 1
            if "no other solver fits" in message:
                assert all(messages.values()), (size, message)
    # Of graphs and segments one solver takes the hinge.
    assert n_advised or (loss == "hinge" and structure != "chains")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.usefixtures("full_disk")
def test_single_precision_is_advised_where_it_fits(monkeypatch):
    data, crf = chains(), SDCACRF(dual_dtype="float64", max_iter=1, random_state=0)
    monkeypatch.setattr(memory, "SMALL", 0)
    halves = []
    for size in range(50_000, 150_000, 1_000):
        monkeypatch.setattr(memory, "available_memory", lambda size=size: size)
        message = is_refused(crf, data)
        single = clone(crf).set_params(dual_dtype="float32")
        halves.append('dual_dtype="float32" takes half, and fits' in message)
        assert halves[-1] == bool(message and not is_refused(single, data))
    assert any(halves)
    assert not all(halves)


# Sizes that parameters ask for --------------------------------------------------------


@pytest.mark.slow
def test_the_best_labellings_of_a_graph_take_the_memory_of_the_labellings(monkeypatch):
    """The scores of a graph are not copied for each labelling."""
    X, y = [(np.zeros((60, 1)), [[t, t + 1] for t in range(59)])], [["a", "b"] * 30]
    crf = GraphCRF(max_iter=1, tol=1e9, random_state=0).fit(X, y)
    n = 300
    # Before, each of 60 parts of each labelling had 60 rows of scores.
    assert peak_of(lambda: crf.predict_n_best(X, n)) < n * (60 * 12 + 2000)
    monkeypatch.setattr(memory, "available_memory", lambda: 2**28)
    for n in (10**6, 10**30):
        with pytest.raises(MemoryError, match=rf"the n={n} best.*lower n"):
            crf.predict_n_best(X, n)


@pytest.mark.parametrize("max_length", [10**6, 10**9, 10**10, 2**63, 10**30])
def test_lengths_that_no_sequence_has_are_not_kept(max_length):
    crf = SegmentCRF(max_length=max_length, random_state=0)
    assert peak_of(lambda: crf.fit(WORDS, SPANS)) < 2**20
    assert crf.max_length_ == LENGTHS_KEPT
    few = SegmentCRF(max_length=LENGTHS_KEPT, random_state=0).fit(WORDS, SPANS)
    assert_array_equal(crf.coef_, few.coef_)
    assert few.max_length_ == LENGTHS_KEPT
    long = [[["b"]] * 1500], [["O"] * 1499 + ["B-X"]]
    crf.fit(WORDS + long[0], SPANS + long[1])
    assert crf.max_length_ == min(max_length, 1500)


@pytest.mark.parametrize("order", [MOST_ORDER + 1, 64, 10**6, 2**62, 10**30])
def test_an_order_that_arrays_cannot_have_is_refused(order):
    with pytest.raises(ValueError, match=rf"'order' .* range \[1, {MOST_ORDER}\]"):
        SDCACRF(order=order).fit(WORDS, [["A", "A", "A"], ["A"]])


def test_the_largest_order():
    y = [["A", "A", "A"], ["A"]]
    crf = SDCACRF(order=MOST_ORDER, random_state=0).fit(WORDS, y)
    assert crf.predict(WORDS).tolist() == y
    with pytest.raises(MemoryError, match="take a lower order"):
        SDCACRF(order=MOST_ORDER).fit(WORDS, SPANS)


@pytest.mark.parametrize("order", [10, 16, 40])
def test_weights_of_tuples_that_do_not_fit_are_refused_before_the_fit(order):
    """Few transitions make few tuples, but an array of weights has all labels."""
    y = [[f"L{k:02d}" for k in range(20)]]
    X = [[[label] for label in y[0]]]
    with pytest.raises(MemoryError, match=r"the weights of \d+ labels in a row, 20\^"):
        SDCACRF(order=order, transitions="observed").fit(X, y)


@pytest.mark.parametrize("differ", [False, True])
def test_long_rows_are_sorted_as_short_ones(differ):
    rng = np.random.default_rng(0)
    widths = rng.integers(1, 4, size=500)
    bounds = np.concatenate([[0], np.cumsum(widths)])
    labels = np.concatenate([np.arange(width) for width in widths])
    layout = RowLayout(500, 3, bounds, labels.astype(np.int32), labels >= 0)
    dense = rng.random((60, 500)) * (
        rng.random((60, 500)) < np.linspace(0, 1, 60)[:, None]
    )
    X = csr_array(dense if differ else dense > 0, dtype=np.float64)
    X.indices = X.indices.astype(np.int32)
    assert np.diff(X.indptr).max() > 400 > 10 > np.diff(X.indptr).min()
    found = sorted_by_width(X, layout)
    for begin, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        order = np.argsort(-widths[X.indices[begin:end]], kind="stable")
        assert_array_equal(found.indices[begin:end], X.indices[begin:end][order])
        assert_array_equal(found.data[begin:end], X.data[begin:end][order])


@pytest.mark.parametrize("n_best", [10**6, 10**30])
def test_more_labellings_of_a_visit_than_fit_are_refused(n_best):
    crf = PassiveAggressiveCRF(loss="hinge", n_best=n_best, random_state=0)
    with pytest.raises(MemoryError, match=f"n_best={n_best} labellings.*smaller") as e:
        crf.fit(WORDS, SPANS)
    assert "solvers" not in str(e.value)


@pytest.mark.parametrize("n_best", [10**6, 10**9, 10**18, 2**63, 10**30])
def test_more_trees_of_a_visit_than_fit_are_refused(n_best):
    known = OnlineDependencyCRF(features=ARCS).fit(SENTENCES, HEADS)
    known.set_params(n_best=n_best)
    save_model(known, file := io.BytesIO())
    loaded = load_model(file.getvalue())
    assert loaded.predict(SENTENCES).tolist() == known.predict(SENTENCES).tolist()
    for learn in (clone(known).fit, known.partial_fit, loaded.partial_fit):
        with pytest.raises(
            MemoryError, match=f"n_best={n_best} labellings.*smaller n_best"
        ):
            learn(SENTENCES, HEADS)
    with pytest.raises(ValueError, match=f"{n_best} best trees.*fewer trees"):
        known.predict_n_best([["w"] * 50], n_best)


# Work that does not end --------------------------------------------------------------

ENDLESS = [["w"] * 2, ["w"] * 30_000]


@pytest.mark.parametrize("projective", [True, False])
def test_sentences_too_long_for_any_tree_are_refused(projective):
    """The cube of 30,000 words takes hours, which no Ctrl-C ends."""
    said = r"X: sentence 1 has 30000 words, and its best tree would take some 3e\+13"
    options = {"features": ARCS, "projective": projective}
    for parser in (OnlineDependencyCRF(**options), DependencyCRF(**options)):
        parser.fit(SENTENCES, HEADS)
        for ask in ("predict", "predict_proba", "uncertainty", "sample"):
            if hasattr(parser, ask):
                with pytest.raises(ValueError, match=said):
                    getattr(parser, ask)(ENDLESS)
        heads = [[0, 1], list(range(30_000))]
        with pytest.raises(ValueError, match=said):
            parser.fit(ENDLESS, heads)
        with pytest.raises(ValueError, match=said):
            parser.score(ENDLESS, heads)


def test_best_trees_that_take_too_long_are_refused():
    """Without projectivity each further tree takes a search for each of its arcs."""
    parser = OnlineDependencyCRF(features=ARCS, loss="log_loss").fit(SENTENCES, HEADS)
    assert len(parser.predict_n_best([["w"] * 20], 3)[0]) == 3
    said = "900 words, and its 2 best trees .* cut"
    with pytest.raises(ValueError, match=said):
        parser.predict_n_best([["w"] * 900], 2)
    with pytest.raises(ValueError, match=said):
        parser.uncertainty([["w"] * 900], measure="margin")
    with pytest.raises(ValueError, match="X: sentence 0 has 900 words.* 4 best trees"):
        OnlineDependencyCRF(features=ARCS, n_best=4).fit(
            [["w"] * 900], [list(range(900))]
        )


def test_tables_of_trees_that_do_not_fit_are_refused(little):
    parser = OnlineDependencyCRF(features=ARCS).fit(SENTENCES, HEADS)
    little(2**20)
    with pytest.raises(MemoryError, match="X: sentence 1 has 2000 words"):
        parser.predict([["w"], ["w"] * 2000])


def test_segments_of_every_length_that_take_too_long_are_refused():
    y = [["O"] * 3, ["B-X"] + ["I-X"] * 1_999]
    X = [[["a"]] * len(own) for own in y]
    crf = SegmentCRF(random_state=0, max_iter=1, tol=1e9).fit(X, y)
    assert crf.max_length_ == 2000
    crf.max_length_ = 2 * 10**6
    crf.length_ = np.zeros((len(crf.types_), crf.max_length_))
    with pytest.raises(ValueError, match="segments of up to 1000000 of 1000000 posit"):
        crf.predict([[["a"]] * 10**6])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("certify_every", [10**6, 10**30])
def test_no_certificate_is_beyond_max_iter(certify_every):
    crf = SGDCRF(max_iter=3, certify_every=certify_every, random_state=0)
    assert crf.fit(WORDS, SPANS).history_["epoch"].tolist() == [3]


@pytest.mark.parametrize("order", [16, 33, MOST_ORDER])
def test_models_of_every_order_are_saved_and_loaded(order, tmp_path):
    y = [["A", "A", "A"], ["A"]]
    crf = SDCACRF(order=order, random_state=0).fit(WORDS, y)
    save_model(crf, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert len(again.higher_transitions_) == order - 1
    assert again.predict(WORDS).tolist() == y


# Tables of labels ---------------------------------------------------------------------


@pytest.fixture
def little(monkeypatch):
    """Return a function that leaves so many bytes."""
    monkeypatch.setattr(memory, "SMALL", 0)

    def leave(n_bytes):
        monkeypatch.setattr(memory, "available_memory", lambda: n_bytes)

    return leave


def refused(function, message, *arguments):
    """Check that a call is refused without the memory that it asks for."""

    def call():
        with pytest.raises(MemoryError, match=message):
            function(*arguments)

    assert peak_of(call) < 2**22


@pytest.mark.parametrize("options", [{"transitions": "observed"}, {"loss": "hinge"}])
def test_tables_of_all_pairs_of_labels(options, little):
    """These are made before the model whose size is compared."""
    little(2**22)
    y = [list(range(2000)), [0, 1]]
    x = [np.ones((2000, 1)), np.ones((2, 1))]
    refused(SDCACRF(**options).fit, "between 2000 labels|costs of 2000 labels", x, y)


def test_rows_of_labels_that_are_not_known(little):
    little(2**22)
    y = [[*range(1000), None]]
    refused(OEGCRF().fit, "what y says of 1000 labels", [np.ones((1001, 1))], y)


def test_confusion_matrices_of_many_labels(little):
    little(2**22)
    y = [list(range(2000))]
    refused(flat_confusion_matrix, "confusion matrix of 2000 labels", y, y)


def test_marginals_of_the_edges_of_graphs(little):
    crf = GraphCRF(random_state=0).fit(*graph_cases.sample(edge_features=False))
    # No graph has large tables; all together have many edges.
    few = [(np.ones((2, 3)), [[0, 1]])] * 500
    little(8 * 9 * 500 - 1)
    with pytest.raises(MemoryError, match="marginals of 500 edges between 3 labels"):
        crf.predict_edge_proba(few)


def test_scores_of_tuples(little):
    X, y = [np.ones((30, 2))], [[0, 1, 2] * 10]
    crf = LBFGSCRF(order=3).fit(X, y)
    little(8 * 3000 * 39 - 1)
    with pytest.raises(MemoryError, match="scores of 3000 positions and 39 tuples"):
        crf.predict([np.ones((3000, 2))])


def visits(n_best):
    rng = np.random.default_rng(0)
    X, y = [rng.normal(size=(40, 2))], [rng.integers(8, size=40).tolist()]
    crf = PassiveAggressiveCRF(loss="hinge", n_best=n_best, max_iter=1, random_state=0)
    return partial(crf.fit, X, y)


def segmentations(n):
    X, y = chains()
    crf = SegmentCRF(scheme=None, max_length=5, max_iter=1, random_state=0)
    return partial(crf.fit(X, y).predict_n_best, X[:1], n)


def cliques(n_nodes):
    y = [list(range(5))]
    crf = GraphCRF(max_iter=1, solver="lbfgs")
    crf.fit([(np.ones((5, 2)), [(i, i + 1) for i in range(4)])], y)
    ends = [(i, j) for j in range(n_nodes) for i in range(j)]
    return partial(crf.predict, [(np.ones((n_nodes, 2)), ends)])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("new", "few", "many", "home"),
    [
        (visits, 2, 400, "solvers.dca"),
        (segmentations, 2, 400, "structures.scores"),
        (cliques, 2, 7, "structures.graph.junction_tree"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_as_much_memory_is_asked_for_as_is_taken(new, few, many, home, monkeypatch):
    """The lists of visits are not seen here, some 8 bytes of a label and a path."""
    few, many = new(few), new(many)
    few()
    asked = []
    monkeypatch.setattr(f"skcrf_sdca.{home}.check_fits", lambda n, *_: asked.append(n))
    taken = peak_of(many) - peak_of(few)
    assert 0.9 * taken < max(asked) - asked[-1] < 1.4 * taken
