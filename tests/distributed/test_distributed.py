"""DistributedCRF in one process: it gives the model of a serial fit."""

import io
import os
import pickle
import signal
from functools import partial

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from samples import peak_of, small_disk
from skcrf_sdca import LBFGSCRF, DualityGapMonitor, PackedSequences, make_tagger
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.distributed import DistributedCRF, _estimator, _partition
from skcrf_sdca.distributed._checkpoint import load_weights
from skcrf_sdca.distributed._local import LocalCluster
from skcrf_sdca.distributed._partition import Partition
from skcrf_sdca.persistence import PackedCorpus, save_model
from skcrf_sdca.solvers.samplers import WINDOW
from skcrf_sdca.solvers.storage import SHARE
from skcrf_sdca.structures import structure
from skcrf_sdca.text import Suffix, TokenFeatures

METHODS = ("dual", "lbfgs")


@pytest.fixture(scope="module")
def chains():
    return make_chains(40, n_labels=3, n_features=8, length=(1, 6), random_state=0)


def cut(X, y, n_partitions):
    """Return partitions of different sizes."""
    bounds = np.linspace(0, np.sqrt(len(X)), n_partitions + 1) ** 2
    bounds = np.round(bounds).astype(int)
    pairs = zip(bounds[:-1], bounds[1:], strict=True)
    return [(X[b:e], y[b:e]) for b, e in pairs]


def distance(crf, other):
    names = ("coef_", "intercept_", "start_", "end_", "transition_")
    return max(np.abs(getattr(crf, n) - getattr(other, n)).max() for n in names)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_partitions", [1, 2, 5])
def test_reaches_the_optimum_of_one_fit(chains, method, n_partitions):
    X, y = chains
    serial = LBFGSCRF(tol=1e-12).fit(X, y)
    crf = DistributedCRF(method=method, tol=1e-9, random_state=0)
    crf.fit(cut(X, y, n_partitions))
    assert crf.n_partitions_ == n_partitions
    assert crf.alpha_ == pytest.approx(serial.alpha_, rel=1e-15)
    assert crf.gap_target_ == pytest.approx(1e3 * serial.gap_target_, rel=1e-12)
    assert crf.primal_objective_ == pytest.approx(serial.primal_objective_, rel=1e-7)
    assert distance(crf, serial) < 1e-3


@pytest.mark.parametrize("method", METHODS)
def test_the_certificate_is_true_after_every_epoch(chains, method):
    X, y = chains
    alpha = 1.0 / len(X)
    optimum = LBFGSCRF(alpha, tol=1e-12).fit(X, y).primal_objective_
    crf = DistributedCRF(alpha, method=method, random_state=0).fit(cut(X, y, 4))
    history = crf.history_
    assert (history["dual"] <= optimum + 1e-9).all()
    assert (history["primal"] >= optimum - 1e-9).all()
    np.testing.assert_allclose(
        history["gap"], history["primal"] - history["dual"], atol=1e-12
    )
    assert (np.diff(history["dual"]) >= 0.0).all()


def test_rounds_do_not_lower_the_dual(chains):
    X, y = chains
    crf = DistributedCRF(method="dual", n_rounds=1, random_state=0)
    crf.fit(cut(X, y, 8))
    # Strictly increasing: the reported value is the maximum, which alone would prove
    # nothing.
    assert (np.diff(crf.history_["dual"]) > 0.0).all()


def test_weights_of_sequences_count_across_partitions(chains):
    X, y = chains
    weight = np.random.default_rng(0).uniform(0.1, 3.0, size=len(X))
    serial = LBFGSCRF(tol=1e-12).fit(X, y, sample_weight=weight)
    parts = [(X[b], y[b], weight[b]) for b in (slice(15), slice(15, None))]
    for method in METHODS:
        crf = DistributedCRF(method=method, tol=1e-9, random_state=0).fit(parts)
        assert crf.alpha_ == pytest.approx(serial.alpha_, rel=1e-12)
        assert distance(crf, serial) < 1e-3


WITHOUT_INFLUENCE = {
    "first": [0.0, 0.0, 1.0, 1.0, 2.0],
    "last": [1.0, 2.0, 1.0, 0.0, 0.0],
    "all but one": [0.0, 0.0, 2.0, 0.0, 0.0],
    "all but nothing": [1e-310, 1e-310, 1.0, 1.0, 2.0],
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("features", ["all", "observed"])
@pytest.mark.parametrize("weight", WITHOUT_INFLUENCE.values(), ids=WITHOUT_INFLUENCE)
def test_a_partition_of_weight_0_has_no_influence(weight, features, method):
    """It has features and labels, as those sequences have in one fit."""
    X = [[["a", "b"], ["c"]], [["d"]], [["a"], ["c"]], [["e"], ["b"]], [["f"], ["a"]]]
    y = [["A", "B"], ["C"], ["B", "A"], ["A", "D"], ["B", "B"]]
    serial = LBFGSCRF(tol=1e-12, features=features)
    serial.fit(X, y, sample_weight=weight)
    parts = [(X[b], y[b], weight[b]) for b in (slice(2), slice(2, 3), slice(3, None))]
    crf = DistributedCRF(method=method, tol=1e-9, features=features, random_state=0)
    crf.fit(parts)
    assert crf.n_partitions_ == sum(max(w) > 1e-300 for _, _, w in parts)
    assert crf.classes_.tolist() == serial.classes_.tolist()
    names = (model.vectorizer_.get_feature_names_out() for model in (crf, serial))
    assert list(next(names)) == list(next(names))
    assert crf.alpha_ == pytest.approx(serial.alpha_, rel=1e-15)
    assert crf.primal_objective_ == pytest.approx(serial.primal_objective_, rel=1e-7)
    assert crf.gap_target_ == pytest.approx(1e3 * serial.gap_target_, rel=1e-6)
    assert distance(crf, serial) < 1e-3


@pytest.mark.parametrize("method", METHODS)
def test_a_partition_of_empty_sequences_counts_as_in_one_fit(method):
    X, y = [[["a"], ["b"]], [["b"]], [], []], [["A", "B"], ["A"], [], []]
    for weight in ([1.0] * 4, [1.0, 2.0, 3.0, 0.0], [0.0, 0.0, 1.0, 1.0]):
        serial = LBFGSCRF(tol=1e-12).fit(X, y, sample_weight=weight)
        parts = [(X[b], y[b], weight[b]) for b in (slice(2, None), slice(2))]
        crf = DistributedCRF(method=method, tol=1e-9, random_state=0).fit(parts)
        assert crf.alpha_ == pytest.approx(serial.alpha_, rel=1e-15)
        assert crf.primal_objective_ == pytest.approx(
            serial.primal_objective_, rel=1e-7
        )
        assert distance(crf, serial) < 1e-3


def test_weights_that_sum_to_0_are_refused_as_by_one_fit(chains):
    X, y = chains
    zero = np.zeros(20)
    with pytest.raises(ValueError, match="zero everywhere") as one:
        LBFGSCRF().fit(X, y, sample_weight=np.zeros(40))
    with pytest.raises(ValueError, match="zero everywhere") as parts:
        DistributedCRF().fit([(X[:20], y[:20], zero), (X[20:], y[20:], zero)])
    assert str(parts.value) == str(one.value)
    half = np.full(20, 4e298)
    with pytest.raises(ValueError, match=r"sums to 1\.6e\+300: scale the weights"):
        DistributedCRF().fit([(X[:20], y[:20], half), (X[20:], y[20:], half)])


def read_mapped(path):
    """Return a partition whose arrays are memory-mapped files."""
    X = PackedSequences.open(path)
    return X, np.load(path.with_suffix(".npy"), mmap_mode="r")


WORDS = [
    [{"w": "a", "n": 2.0}, {"w": "b", "s": ["x", "y"]}],
    [{"w": "c", "v": np.array([1.0, 2.0])}],
    [{"w": "b", "t": True}, {"w": "d"}, {"w": "a", "v": np.array([0.5, 3.0])}],
    [{"u": {"w": "a"}}],
]
TAGS = [["A", "B"], ["B"], ["C", "A", "B"], ["A"]]


def test_features_get_the_numbers_of_one_fit():
    serial = LBFGSCRF(tol=1e-10).fit(WORDS, TAGS)
    crf = DistributedCRF(method="lbfgs", tol=1e-10)
    crf.fit([(WORDS[i : i + 1], TAGS[i : i + 1]) for i in range(4)])
    assert crf.vectorizer_.vocabulary_ == serial.vectorizer_.vocabulary_
    assert crf.classes_.tolist() == ["A", "B", "C"]
    assert distance(crf, serial) < 1e-4
    assert crf.predict(WORDS).tolist() == serial.predict(WORDS).tolist()


@pytest.mark.parametrize("method", METHODS)
def test_partitions_may_be_packed_corpora(tmp_path, method):
    paths = []
    for i in range(0, 4, 2):
        paths.append(tmp_path / str(i))
        with PackedCorpus.writer(paths[-1]) as corpus:
            for k in (i, i + 1):
                corpus.append(WORDS[k : k + 1], TAGS[k : k + 1])
    lists = [(WORDS[i : i + 2], TAGS[i : i + 2]) for i in range(0, 4, 2)]
    crf = DistributedCRF(method=method, random_state=0)
    expected = clone(crf).fit(lists)
    forms = [paths, list(map(str, paths)), list(map(PackedCorpus.open, paths))]
    for partitions in (*forms, [partial(PackedCorpus.open, own) for own in paths]):
        found = clone(crf).fit(partitions)
        assert found.vectorizer_.vocabulary_ == expected.vectorizer_.vocabulary_
        assert distance(found, expected) == 0.0
        assert found.predict(WORDS).tolist() == expected.predict(WORDS).tolist()
    tagger = found.to_estimator()
    assert tagger.predict(WORDS).tolist() == expected.predict(WORDS).tolist()


def test_corpora_of_other_templates_are_refused(tmp_path):
    tokens, labels = [["a", "b"]], [["A", "B"]]
    for name, template in {"a": Suffix(1), "b": Suffix(1), "c": Suffix(2)}.items():
        features = TokenFeatures([template])
        with PackedCorpus.writer(tmp_path / name, features=features) as corpus:
            corpus.append(tokens, labels)
    lists = features.transform(tokens), labels
    crf = DistributedCRF().fit([tmp_path / "a", lists, tmp_path / "b"])
    tagger = make_tagger(TokenFeatures([Suffix(1)]), crf.to_estimator())
    assert tagger.predict(tokens).tolist() == labels
    message = "partition 2 was packed with other templates or columns than partition 0"
    with pytest.raises(ValueError, match=message):
        crf.fit([tmp_path / "a", lists, tmp_path / "c"])


def test_a_corpus_that_is_no_partition_is_refused(tmp_path):
    with PackedCorpus.writer(tmp_path / "a") as corpus:
        corpus.append(WORDS, TAGS)
    (tmp_path / "a/labels.npy").write_bytes(b"")
    good = WORDS, TAGS
    with pytest.raises(ValueError, match=r"partition 1: .*labels.npy is not the file"):
        DistributedCRF().fit([good, tmp_path / "a"])
    with pytest.raises(FileNotFoundError, match="none"):
        DistributedCRF().fit([good, tmp_path / "none"])


def test_sparse_partitions_keep_their_own_columns_only(chains):
    X, y = chains
    sparse = [sp.csr_array(x * (x > 0.5)) for x in X]
    summary = Partition(0, (sparse[:1], y[:1])).describe()
    assert len(summary.columns) < sparse[0].shape[1]
    serial = LBFGSCRF(tol=1e-10).fit(sparse, y)
    crf = DistributedCRF(tol=1e-10).fit(cut(sparse, y, 6))
    assert distance(crf, serial) < 1e-4


@pytest.mark.parametrize("method", METHODS)
def test_partitions_may_be_mapped_files(chains, tmp_path, method):
    X, y = chains
    X = PackedSequences.from_sequences([sp.csr_array(x * (x > 0.5)) for x in X])
    codes = np.searchsorted(np.unique(np.concatenate(y)), np.concatenate(y))
    parts, readers = [], []
    for number, part in enumerate([slice(5), slice(5, None)]):
        path = tmp_path / f"{number}.packed"
        X[part].save(path)
        first, last = X.offsets[[part.start or 0, part.stop or -1]]
        parts.append((X[part], codes[first:last]))
        np.save(path.with_suffix(".npy"), codes[first:last])
        readers.append(partial(read_mapped, path))
    crf = DistributedCRF(method=method, random_state=0)
    here, there = (clone(crf).fit(p) for p in (parts, readers))
    np.testing.assert_array_equal(here.coef_, there.coef_)
    assert here.duality_gap_ == there.duality_gap_


def test_a_table_is_multinomial_regression():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), rng.integers(3, size=30)
    serial = LBFGSCRF(tol=1e-10).fit(X, y)
    crf = DistributedCRF(tol=1e-10).fit([(X[:9], y[:9]), (X[9:], y[9:])])
    assert distance(crf, serial) < 1e-4
    assert not crf.transition_.any()
    assert crf.predict(X).tolist() == serial.predict(X).tolist()


@pytest.mark.parametrize("transitions", ["observed", "BIO", [("B", "I"), ("O", "B")]])
def test_transitions_are_those_of_all_partitions(transitions):
    y = [["O", "B", "I"], ["B", "I"], ["O", "B"], ["B", "I"]]
    X = [[{"w": label} for label in labels] for labels in y]
    serial = LBFGSCRF(transitions=transitions, tol=1e-10).fit(X, y)
    crf = DistributedCRF(transitions=transitions, tol=1e-10, method="lbfgs")
    crf.fit(cut(X, y, 3))
    np.testing.assert_allclose(crf.transition_, serial.transition_, atol=1e-4)
    np.testing.assert_allclose(crf.start_, serial.start_, atol=1e-4)


def test_the_open_labels_are_the_frequent_ones_of_all_partitions():
    y = [["B", "B", "A"], ["B", "C", "A"], ["A", "A", "A"], ["C", "A", "C"]]
    X = [[["x"]] * 3 for _ in y]
    serial = LBFGSCRF(transitions="open").fit(X, y)
    crf = DistributedCRF(transitions="open").fit([(X[:1], y[:1]), (X[1:], y[1:])])
    forbidden = serial.transition_ == -np.inf
    assert forbidden.any()
    np.testing.assert_array_equal(crf.transition_ == -np.inf, forbidden)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("min_count", "form"), [(None, sp.csr_array), (3.0, np.asarray)]
)
def test_observed_pairs_are_those_of_all_partitions(chains, method, min_count, form):
    X, y = chains
    X = [form(x * (x > 2.0)) for x in X]
    options = {"features": "observed", "min_count": min_count}
    serial = LBFGSCRF(tol=1e-12, **options).fit(X, y)
    crf = DistributedCRF(method=method, tol=1e-9, random_state=0, **options)
    crf.fit(cut(X, y, 5))
    assert crf.coef_.nnz == (6 if min_count else 13)
    np.testing.assert_array_equal(crf.coef_.indices, serial.coef_.indices)
    assert crf.primal_objective_ == pytest.approx(serial.primal_objective_, rel=1e-7)
    assert distance(crf, serial) < 1e-3
    assert crf.to_estimator().get_params()["min_count"] == min_count


def test_observed_pairs_of_words_and_of_no_feature():
    options = {"features": "observed", "tol": 1e-10}
    serial = LBFGSCRF(**options).fit(WORDS, TAGS)
    parts = [(WORDS[i : i + 1], TAGS[i : i + 1]) for i in range(4)]
    crf = DistributedCRF(**options).fit(parts)
    assert distance(crf, serial) < 1e-4
    assert not crf.set_params(min_count=100).fit(parts).coef_.nnz
    with pytest.raises(ValueError, match='min_count=100 needs features="observed"'):
        crf.set_params(features="all").fit(parts)


@pytest.mark.parametrize(
    "as_source",
    [
        lambda X, y: (X, y),
        lambda X, y: list(zip(X, y, strict=True)),
        lambda X, y: lambda: (X, y),
    ],
    ids=["tuple", "pairs", "function"],
)
def test_kinds_of_sources_and_empty_partitions(chains, as_source):
    X, y = chains
    parts = [as_source(X[b], y[b]) for b in (slice(20), slice(20, 20), slice(20, None))]
    crf = DistributedCRF(random_state=0).fit(parts)
    assert crf.n_partitions_ == 2
    assert crf.duality_gap_ <= crf.gap_target_


def framed(columns):
    return pandas.DataFrame(np.eye(2), columns=list(columns))


BAD = [
    ([], ValueError, "hold no sequences"),
    ([[], []], ValueError, "hold no sequences"),
    ([([[], []], [[], []])] * 2, ValueError, "X has 4 sequences and 0 items"),
    (
        [(WORDS, TAGS), ([[]], [["A"]])],
        ValueError,
        "partition 1: Sequence 0 has 0 items",
    ),
    ([(WORDS, TAGS), ([[]], [[]], [-1.0])], ValueError, "partition 1: Negative"),
    ([(WORDS, TAGS), (WORDS[1:2], [[None]])], ValueError, "partition 1: y has 1"),
    (
        [(WORDS, TAGS), (WORDS[1:2] * 2, [["A"], [None]])],
        ValueError,
        "partition 1: y has labels that are not known",
    ),
    (
        [(WORDS, TAGS), (WORDS[1:2] * 2, [["A"], [{"A", "B"}]])],
        ValueError,
        "partition 1: y has labels that are not known",
    ),
    ([[], (WORDS, TAGS), (WORDS[1:2], [[1]])], TypeError, "partition 2 has labels of"),
    ("ab", TypeError, "must be a list"),
    ([(WORDS, TAGS), 3], TypeError, "partition 1: a partition must be a tuple"),
    ([(WORDS, TAGS), (WORDS, TAGS[:3])], ValueError, "partition 1: X has 4 sequences"),
    ([(WORDS, TAGS), ([np.eye(2)], [["A", "B"]])], ValueError, "partition 1 has input"),
    ([(WORDS, TAGS), (WORDS[1:2], [[1]])], TypeError, "partition 1 has labels of type"),
    (
        [([np.eye(2)], [["A", "B"]]), ([np.eye(3)], [["A", "B", "A"]])],
        ValueError,
        "partition 1 has this number of features",
    ),
    (
        [([[{"v": np.ones(2)}]], [["A"]]), ([[{"v": np.ones(3)}]], [["A"]])],
        ValueError,
        "partition 1 has 3 numbers in the array 'v'",
    ),
    (
        [([framed("ab")], [["A", "B"]]), ([framed("ba")], [["A", "B"]])],
        ValueError,
        "partition 1 and partition 0 differ in the names of features",
    ),
    (
        [([framed("ab")], [["A", "B"]]), ([np.eye(2)], [["A", "B"]])],
        ValueError,
        "partition 1 and partition 0 differ in the names of features",
    ),
]


@pytest.mark.parametrize(("partitions", "error", "message"), BAD)
def test_errors_name_the_partition_and_leave_the_state(partitions, error, message):
    crf = DistributedCRF().fit([(WORDS, TAGS)])
    before = dict(vars(crf))
    with pytest.raises(error, match=message):
        crf.fit(partitions)
    assert vars(crf) == before


def test_labels_that_break_the_transitions_name_the_partition():
    good, bad = ([[{"w": "a"}]], [["O"]]), ([[{"w": "a"}]], [["I"]])
    with pytest.raises(ValueError, match="partition 1: y: sequence 0, item 0"):
        DistributedCRF(transitions="BIO").fit([good, bad])


def test_the_result_is_an_ordinary_estimator(chains):
    X, y = chains
    crf = DistributedCRF(random_state=0).fit(cut(X, y, 3))
    again = pickle.loads(pickle.dumps(crf))
    plain = crf.to_estimator()
    assert type(plain) is LBFGSCRF
    assert set(vars(plain)) == set(vars(LBFGSCRF().fit(X, y)))
    for other in (again, plain, pickle.loads(pickle.dumps(plain))):
        assert other.predict(X).tolist() == crf.predict(X).tolist()
        assert other.duality_gap_ == crf.duality_gap_
    assert set(crf.history_) == set(plain.history_)


def test_callbacks_and_verbose_follow_the_epochs(chains, capsys):
    X, y = chains
    monitor = DualityGapMonitor()
    crf = DistributedCRF(verbose=1).set_callbacks(monitor)
    crf.fit(cut(X, y, 3))
    rows = monitor.get_logs().data
    assert [row["gap"] for row in rows] == crf.history_["gap"].tolist()
    assert len(capsys.readouterr().out.splitlines()) == crf.n_iter_


def test_a_fit_that_ends_too_early_says_so(chains):
    X, y = chains
    with pytest.warns(ConvergenceWarning, match="after 2 epochs"):
        DistributedCRF(max_iter=2).fit(cut(X, y, 3))


def test_traffic_is_counted(chains):
    X, y = chains
    crf = DistributedCRF(method="lbfgs").fit(cut(X, y, 4))
    n_weights = sum(
        getattr(crf, n).size
        for n in ("coef_", "intercept_", "start_", "end_", "transition_")
    )
    a_round = 4 * 8 * n_weights
    assert crf.traffic_["sent"] == crf.traffic_["rounds"] * a_round
    assert crf.traffic_["received"] == crf.traffic_["sent"]


class Forgetful(LocalCluster):
    """A cluster that loses its second partition at a call of one method."""

    method, calls_left = "visit", 7

    def map(self, method, arguments, *, lasting=False):
        arguments = list(arguments)
        if method == self.method:
            self.calls_left -= 1
        if self.calls_left == 0:
            self.calls_left = -1
            self.partitions[1].end_dual()
        yield from super().map(method, arguments, lasting=lasting)


@pytest.fixture
def storages(monkeypatch):
    """Return the list of where partitions put their dual variables."""
    found, start = [], Partition.start_dual

    def start_dual(partition, *arguments):
        sums = start(partition, *arguments)
        found.append(partition.solver.storage)
        return sums

    monkeypatch.setattr(Partition, "start_dual", start_dual)
    return found


def test_partitions_draw_inside_windows_of_their_own(chains, storages):
    X, y = chains
    serial = LBFGSCRF(tol=1e-12).fit(X, y)
    crf = DistributedCRF(method="dual", tol=1e-9, memory=200, random_state=0)
    crf.fit(cut(X, y, 3))
    assert all(storage.in_files and storage.window <= WINDOW for storage in storages)
    assert crf.primal_objective_ == pytest.approx(serial.primal_objective_, rel=1e-7)
    crf.set_params(memory="1 GB").fit(cut(X, y, 3))
    assert [storage.in_files for storage in storages] == 3 * [True] + 3 * [False]
    with pytest.raises(ValueError, match=r"partition 0: memory='all' is no size"):
        crf.set_params(memory="all").fit(cut(X, y, 3))


def test_partitions_of_one_process_share_its_memory(chains, storages, monkeypatch):
    X, y = chains
    halves = [(X, y), (X, y)]
    crf = DistributedCRF(method="dual", max_iter=1, tol=1.0, random_state=0)
    crf.set_params(memory=1).fit(halves)
    needed = storages[0].needed
    monkeypatch.setattr(_partition, "available_memory", lambda: 1.5 * needed / SHARE)
    crf.set_params(memory="auto").fit(halves[:1]).fit(halves)
    assert [storage.in_files for storage in storages[2:]] == [False, True, True]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_partitions_in_files_take_the_memory_of_a_window(n_jobs, tmp_path, monkeypatch):
    monkeypatch.setattr(structure, "BLOCK", 2**12)
    rng = np.random.default_rng(0)
    rows = sp.csr_array(rng.random((2**16, 1)) < 0.5, dtype=float)
    PackedSequences(rows, np.arange(0, 2**16 + 1, 2**8)).save(tmp_path / "X")
    labels = rng.integers(4, size=2**16)

    def read():
        return PackedSequences.open(tmp_path / "X"), labels

    crf = DistributedCRF(method="dual", max_iter=1, tol=1.0, n_jobs=n_jobs)
    crf.fit([read])
    in_memory = peak_of(lambda: crf.set_params(memory=None).fit([read]))
    in_files = peak_of(lambda: crf.set_params(memory="1 kB").fit([read]))
    # The natural parameters and expectations of each position.
    assert in_files < in_memory - 10 * labels.size


@pytest.mark.parametrize("memory", [None, 200])
def test_a_lost_dual_state_does_not_change_the_optimum(
    memory, chains, monkeypatch, caplog
):
    X, y = chains
    serial = LBFGSCRF(tol=1e-12).fit(X, y)
    monkeypatch.setattr(_estimator, "LocalCluster", Forgetful)
    crf = DistributedCRF(method="dual", n_rounds=3, tol=1e-9, random_state=0)
    crf.set_params(memory=memory).fit(cut(X, y, 3))
    assert "partition 1 has lost its dual state" in caplog.text
    assert distance(crf, serial) < 1e-3
    assert (crf.history_["dual"] <= serial.primal_objective_ + 1e-9).all()


def test_a_checkpoint_is_taken_up(chains, tmp_path):
    X, y = chains
    path = tmp_path / "fit.npz"
    short = DistributedCRF(max_iter=8, checkpoint=path, checkpoint_every=3)
    with pytest.warns(ConvergenceWarning):
        short.fit(cut(X, y, 3))
    whole = DistributedCRF(tol=1e-9).fit(cut(X, y, 3))
    # The data may be partitioned in another way.
    rest = DistributedCRF(tol=1e-9, checkpoint=path).fit(cut(X, y, 4), resume=True)
    assert rest.history_["primal"][0] < short.primal_objective_
    assert distance(rest, whole) < 1e-3
    assert [p.name for p in tmp_path.iterdir()] == ["fit.npz"]


def test_a_full_disk_leaves_the_checkpoint_before(chains, tmp_path):
    X, y = chains
    crf = DistributedCRF(checkpoint=tmp_path / "fit.npz").fit(cut(X, y, 3))
    before = crf.checkpoint.read_bytes()
    with (
        pytest.warns(UserWarning, match=r"no checkpoint was written: .*fit\.npz"),
        small_disk(100),
    ):
        again = clone(crf).set_params(tol=1e-6).fit(cut(X, y, 3))
    assert again.duality_gap_ <= again.gap_target_
    assert crf.checkpoint.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["fit.npz"]


class KillAt(DualityGapMonitor):
    """Kill this process after an epoch."""

    def __init__(self, epoch):
        super().__init__()
        self.epoch = epoch

    def on_fit_task_end(self, estimator, context, **options):
        if context.task_name == "epoch" and context.task_id == self.epoch:
            os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fit_that_is_killed_goes_on_from_its_checkpoint(chains, tmp_path):
    X, y = chains
    whole = DistributedCRF(tol=1e-9).fit(cut(X, y, 3))
    path = tmp_path / "fit.npz"
    crf = DistributedCRF(tol=1e-9, checkpoint=path, checkpoint_every=2)
    child = os.fork()
    if child == 0:
        crf.set_callbacks(KillAt(9)).fit(cut(X, y, 3))
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    rest = crf.fit(cut(X, y, 3), resume=True)
    assert rest.history_["primal"][0] < whole.history_["primal"][5]
    assert distance(rest, whole) < 1e-3


def test_bad_checkpoints_are_refused(chains, tmp_path):
    X, y = chains
    with pytest.raises(ValueError, match="needs the file"):
        DistributedCRF().fit(cut(X, y, 3), resume=True)
    path = tmp_path / "fit.npz"
    with pytest.raises(FileNotFoundError):
        DistributedCRF(checkpoint=path).fit(cut(X, y, 3), resume=True)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="is no checkpoint"):
        DistributedCRF(checkpoint=path).fit(cut(X, y, 3), resume=True)
    DistributedCRF(checkpoint=path).fit(cut(X, y, 3))
    with pytest.raises(ValueError, match="resume with the same data"):
        DistributedCRF(checkpoint=path).fit(cut(X[1:], y[1:], 3), resume=True)


def npz(save=np.savez, **arrays):
    """Return the bytes of an archive of arrays."""
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def forged(good, **replaced):
    """Return the bytes of a checkpoint with other arrays; None leaves one out."""
    with np.load(io.BytesIO(good)) as file:
        arrays = {**file, **replaced}
    return npz(**{name: a for name, a in arrays.items() if a is not None})


# What is in the place of a checkpoint, made from the bytes of a good one.
NO_CHECKPOINTS = {
    "empty": lambda good: b"",
    "text": lambda good: b"nothing of the kind",
    "cut": lambda good: good[:-30],
    "without its beginning": lambda good: good[40:],
    "an array": lambda good: good[good.index(b"\x93NUMPY") :],
    "a pickle": lambda good: pickle.dumps({"w": [0.0], "sizes": [1, 2, 3]}),
    "compressed": lambda good: npz(np.savez_compressed, w=np.zeros(4)),
    "other arrays": lambda good: npz(x=np.zeros(4)),
    "one more array": lambda good: forged(good, more=np.zeros(2)),
    "no sizes": lambda good: forged(good, sizes=None),
    "no weights": lambda good: forged(good, w=None),
    "objects": lambda good: forged(good, w=np.array([{}, []], dtype=object)),
    "single precision": lambda good: forged(good, w=np.zeros(42, np.float32)),
    "integers": lambda good: forged(good, w=np.zeros(42, np.int64)),
    "few weights": lambda good: forged(good, w=np.zeros(3)),
    "a scalar": lambda good: forged(good, w=np.float64(1.0)),
    "rows": lambda good: forged(good, w=np.zeros((6, 7))),
    "two sizes": lambda good: forged(good, sizes=np.array([40, 8])),
    "sizes of floats": lambda good: forged(good, sizes=np.array([40.0, 8.0, 3.0])),
    "other sizes": lambda good: forged(good, sizes=np.array([41, 8, 3])),
    "NaN": lambda good: forged(good, w=np.full(42, np.nan)),
    "infinity": lambda good: forged(good, w=np.full(42, np.inf)),
}


@pytest.fixture
def checkpoint(tmp_path):
    """A good checkpoint, the estimator that goes on from it, and its partitions."""
    partitions = [make_chains(3, n_labels=2, n_features=2, random_state=0)[:2]]
    crf = DistributedCRF(checkpoint=tmp_path / "fit.npz").fit(partitions)
    return crf.checkpoint, crf, partitions


def check_refused(crf, partitions):
    """Check that the checkpoint is refused with advice, and stays as it is."""
    path, before = crf.checkpoint, vars(crf).copy()
    content = path.read_bytes() if path.is_file() else None
    with pytest.raises(ValueError, match="as `checkpoint`, or delete this") as error:
        crf.fit(partitions, resume=True)
    assert str(path) in str(error.value)
    assert content is None or path.read_bytes() == content
    assert vars(crf) == before


@pytest.mark.parametrize("damage", NO_CHECKPOINTS.values(), ids=NO_CHECKPOINTS)
def test_what_is_no_checkpoint_is_refused_by_its_path(chains, tmp_path, damage):
    crf = DistributedCRF(checkpoint=tmp_path / "fit.npz").fit([chains])
    good = crf.checkpoint.read_bytes()
    with np.load(io.BytesIO(good)) as file:
        assert (file["w"].shape, file["sizes"].tolist()) == ((42,), [40, 8, 3])
    crf.checkpoint.write_bytes(damage(good))
    check_refused(crf, [chains])


def test_a_folder_is_refused_as_a_checkpoint(chains, tmp_path):
    check_refused(DistributedCRF(checkpoint=tmp_path), [chains])


def test_a_model_is_refused_as_a_checkpoint(checkpoint):
    path, crf, partitions = checkpoint
    with pytest.raises(TypeError, match=r"save what its to_estimator\(\) returns"):
        save_model(crf, path)
    save_model(crf.to_estimator(), path)
    check_refused(crf, partitions)


def test_every_cut_checkpoint_is_refused(checkpoint):
    path, crf, partitions = checkpoint
    good = path.read_bytes()
    for end in range(0, len(good), 5):
        path.write_bytes(good[:end])
        check_refused(crf, partitions)


def test_a_flipped_bit_is_refused_or_leaves_the_weights(checkpoint, monkeypatch):
    path, crf, partitions = checkpoint
    good, found = path.read_bytes(), []

    def spy(*arguments):
        found.append(load_weights(*arguments))
        raise FloatingPointError

    monkeypatch.setattr(_estimator, "load_weights", spy)
    with pytest.raises(FloatingPointError):
        crf.fit(partitions, resume=True)
    (weights,) = found
    for i in range(0, len(good), 3):
        path.write_bytes(good[:i] + bytes([good[i] ^ 1 << i % 8]) + good[i + 1 :])
        with pytest.raises((FloatingPointError, ValueError), match="delete this|^$"):
            crf.fit(partitions, resume=True)
    assert all(np.array_equal(w, weights) for w in found)
    assert 1 < len(found) < len(good) // 6


@pytest.mark.parametrize("method", ["lbfgs", "dual"])
def test_the_model_does_not_depend_on_threads(method, many_ranges):
    # Enough sequences for two threads.
    partitions = cut(*make_chains(n_sequences=300, random_state=0)[:2], 2)
    crf = DistributedCRF(method=method, max_iter=5, random_state=0)
    one, two = (clone(crf).set_params(n_jobs=n) for n in (1, 2))
    for model in (one, two):
        with pytest.warns(ConvergenceWarning):
            model.fit(partitions)
    assert distance(one, two) == 0.0
