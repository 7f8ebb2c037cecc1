"""Compatibility with CRFsuite: its files, its models, its interface, its objective."""

import gc
import io
import json
import pickle
import shutil
import warnings
from itertools import pairwise, product
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import expon
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import make_scorer
from sklearn.model_selection import RandomizedSearchCV, cross_val_predict
from sklearn.utils._param_validation import InvalidParameterError

from skcrf_sdca import (
    LBFGSCRF,
    OEGCRF,
    SDCACRF,
    PackedSequences,
    PassiveAggressiveCRF,
    SequenceVectorizer,
    make_tagger,
)
from skcrf_sdca._utils.sklearn_versions import BEFORE_1_9
from skcrf_sdca._utils.typing import SolverName
from skcrf_sdca.compat import (
    CRF,
    crfsuite_features,
    from_crfsuite,
    metrics,
    scorers,
    to_crfsuite,
)
from skcrf_sdca.compat._conversion import BOUNDARIES
from skcrf_sdca.compat._model_file import (
    STATE,
    TRANSITION,
    WEIGHT,
    ModelFile,
    parse,
    serialise,
)
from skcrf_sdca.compat.pycrfsuite import ItemSequence, Tagger
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.estimators.crfs import CRF as AnyCRF
from skcrf_sdca.metrics import flat_f1_score
from skcrf_sdca.model.fitted import set_fitted
from skcrf_sdca.persistence import load_model, save_model
from skcrf_sdca.serving import Predictor
from skcrf_sdca.text import TokenFeatures

NAMES = {"intercept": "bias", "start": "BOS", "end": "EOS"}


def saved_and_loaded(crf):
    save_model(crf, file := io.BytesIO())
    return load_model(file.getvalue())


ALL = {"feature.possible_states": 1, "feature.possible_transitions": 1}


def random_sequences(n=40, *, n_labels=3, seed=0):
    """Return dicts with every type of value that CRFsuite reads, and labels."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for length in rng.integers(1, 7, n):
        labels = rng.integers(n_labels, size=length)
        X.append([random_item(rng, label) for label in labels])
        y.append(["BIOX"[label] for label in labels])
    return X, y


def random_item(rng, label):
    word = "é:::x y"[: rng.integers(1, 7)] + str((label + rng.integers(2)) % 3)
    return {
        "word": word,
        "a:b": word[:1],
        "upper": bool(rng.integers(2)),
        # Not negative: CRFsuite drops features whose sum is below its min_freq of 0.
        "length": float(rng.exponential()),
        "shapes": ["x", word[-1]],
        "near": {"left": word[-1], "set": {"u", word[-2:]}, "n": 2},
        "a name that is longer than a block of the hash": word,
    }


def as_strings(X):
    return [[[*map(str, item.values())] for item in sequence] for sequence in X]


def train(X, y, path, **params):
    """Train CRFsuite."""
    pycrfsuite = pytest.importorskip("pycrfsuite")
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.select("lbfgs")
    trainer.set_params(params)
    for sequence, labels in zip(X, y, strict=True):
        trainer.append(pycrfsuite.ItemSequence(sequence), labels)
    trainer.train(str(path))
    return trainer


def tagger_of(path):
    tagger = pytest.importorskip("pycrfsuite").Tagger()
    tagger.open(str(path))
    return tagger


def marginals(tagger, sequence, classes):
    tagger.set(sequence)
    return [[tagger.marginal(k, t) for k in classes] for t in range(len(sequence))]


def assert_same_predictions(estimator, tagger, X, X_tagger=None, *, atol=1e-9):
    X_tagger = X if X_tagger is None else X_tagger
    for sequence, labels, proba in zip(
        X_tagger, estimator.predict(X), estimator.predict_proba(X), strict=True
    ):
        assert tagger.tag(sequence) == labels
        expected = marginals(tagger, sequence, estimator.classes_)
        np.testing.assert_allclose(proba, expected, rtol=0, atol=atol)


@pytest.fixture(scope="module")
def model_path(tmp_path_factory):
    """Write a model file, by this package, with unusual names."""
    X, y = random_sequences()
    path = tmp_path_factory.mktemp("compat") / "model.crfsuite"
    crf = LBFGSCRF(tol=1e-2).fit(X, y)
    to_crfsuite(crf, path, **NAMES)
    return path


class TestModelFile:
    @given(
        labels=st.lists(st.text("abé: \n\x01", max_size=3), min_size=1, unique=True),
        attributes=st.lists(st.text("abé: \n\x01", max_size=40), unique=True),
        data=st.data(),
    )
    def test_round_trip(self, labels, attributes, data):
        cells = [(TRANSITION, i, k) for i, k in product(range(len(labels)), repeat=2)]
        cells += [
            (STATE, i, k)
            for i, k in product(range(len(attributes)), range(len(labels)))
        ]
        chosen = data.draw(st.lists(st.sampled_from(cells), unique=True, max_size=20))
        finite = st.floats(allow_nan=False, allow_infinity=False)
        weights = np.array([(*c, data.draw(finite)) for c in chosen], dtype=WEIGHT)
        again = parse(serialise(ModelFile(labels, attributes, weights)))
        assert again.labels == labels
        assert again.attributes == attributes
        np.testing.assert_array_equal(again.weights, weights)

    @pytest.mark.parametrize("params", [{}, ALL, {"c1": 0.3}], ids=str)
    def test_equals_what_crfsuite_writes(self, tmp_path, params):
        X, y = random_sequences()
        train(X, y, tmp_path / "m", **params)
        data = (tmp_path / "m").read_bytes()
        assert serialise(parse(data)) == data

    def test_the_tagger_finds_every_name(self, tmp_path):
        # So many names that most hash tables have collisions.
        attributes = [f"{'long ' * (i % 9)}{i}" for i in range(3000)]
        weights = np.zeros(3000, dtype=WEIGHT)
        weights["kind"], weights["source"] = STATE, np.arange(3000)
        weights["weight"] = np.arange(3000) / 1000
        path = tmp_path / "m"
        path.write_bytes(serialise(ModelFile(["A", "B"], attributes, weights)))
        tagger = tagger_of(path)
        tagger.set([[name] for name in attributes])
        found = [tagger.marginal("A", t) for t in range(3000)]
        expected = 1 / (1 + np.exp(-weights["weight"]))
        np.testing.assert_allclose(found, expected, rtol=1e-12)

    def test_truncated(self, model_path):
        data = model_path.read_bytes()
        for size in [*range(0, 3000, 7), *range(3000, len(data), 97), len(data) - 1]:
            with pytest.raises(ValueError, match="not a whole model file"):
                parse(data[:size])

    def test_damaged(self, model_path):
        """Any damage to the bytes raises the package's ValueError."""
        data = model_path.read_bytes()
        rng = np.random.default_rng(0)
        messages = []
        for _ in range(3000):
            broken = bytearray(data)
            # Half of them are where most of the structure lies.
            high = rng.choice([48, len(data)])
            for place in rng.integers(high, size=rng.integers(1, 4)):
                broken[place] = rng.choice([0, 255, 128, rng.integers(256)])
            try:
                from_crfsuite(bytes(broken))
            except ValueError as error:
                messages.append(str(error))
        assert len(messages) > 1000
        assert all("model" in message for message in messages)

    @pytest.mark.parametrize("data", [b"", b"lCRF", b"x" * 5000], ids=len)
    def test_of_other_kind(self, data):
        with pytest.raises(ValueError, match="not a whole model file"):
            from_crfsuite(data)

    def test_counts_are_not_trusted(self, model_path):
        """A count of 2^32 - 1 allocates nothing."""
        data = bytearray(model_path.read_bytes())
        for word in (5, 6, 7, 8, 9):
            broken = data.copy()
            broken[4 * word : 4 * word + 4] = b"\xff" * 4
            with pytest.raises(ValueError, match="not a whole model file"):
                parse(bytes(broken))

    @pytest.mark.parametrize("size", [0, 1, 3, 30, 2**32 - 1])
    def test_size_of_a_name(self, size):
        data = serialise(ModelFile(["A"], ["a"], np.zeros(0, dtype=WEIGHT)))
        record = np.array([0, 2], dtype="<u4").tobytes()
        broken = record[:4] + np.array([size], dtype="<u4").tobytes()
        with pytest.raises(ValueError, match="not a whole model file"):
            parse(data.replace(record + b"a\0", broken + b"a\0"))

    @pytest.mark.parametrize("weight", [np.nan, np.inf, -np.inf])
    def test_not_finite(self, weight):
        weights = np.array([(TRANSITION, 0, 0, weight)], dtype=WEIGHT)
        with pytest.raises(ValueError, match="not finite"):
            parse(serialise(ModelFile(["A"], [], weights)))

    @pytest.mark.parametrize("cell", [(STATE, 1, 0), (TRANSITION, 0, 1), (2, 0, 0)])
    def test_weight_of_nothing(self, cell):
        known = np.array([(STATE, 0, 0, 1.5)], dtype=WEIGHT).tobytes()
        data = serialise(ModelFile(["A"], ["a"], np.frombuffer(known, WEIGHT)))
        broken = np.array([(*cell, 1.5)], dtype=WEIGHT).tobytes()
        with pytest.raises(ValueError, match="has a name"):
            parse(data.replace(known, broken))

    @pytest.mark.parametrize("names", [(["A", "A"], []), (["A"], ["a", "a"])], ids=str)
    def test_equal_names(self, names):
        with pytest.raises(ValueError, match="are equal"):
            parse(serialise(ModelFile(*names, np.zeros(0, dtype=WEIGHT))))

    def test_not_utf8(self):
        data = serialise(ModelFile(["A"], ["é"], np.zeros(0, dtype=WEIGHT)))
        with pytest.raises(ValueError, match="UTF-8"):
            parse(data.replace("é".encode(), b"\xe9\xe9"))

    def test_no_labels(self):
        with pytest.raises(ValueError, match="no labels"):
            parse(serialise(ModelFile([], ["a"], np.zeros(0, dtype=WEIGHT))))


class TestFromCrfsuite:
    @pytest.mark.parametrize("params", [{}, ALL, {"c1": 0.3}], ids=str)
    def test_predictions_on_dicts(self, tmp_path, params):
        X, y = random_sequences(n_labels=4)
        train(X, y, tmp_path / "m", **params)
        estimator = from_crfsuite(tmp_path / "m")
        X_new = random_sequences(seed=1)[0]
        assert estimator.classes_.tolist() == tagger_of(tmp_path / "m").labels()
        assert_same_predictions(estimator, tagger_of(tmp_path / "m"), X_new)

    def test_predictions_on_strings(self, tmp_path):
        X, y = random_sequences()
        train(as_strings(X), y, tmp_path / "m")
        estimator = from_crfsuite(str(tmp_path / "m"), input_format="strings")
        X_new = as_strings(random_sequences(seed=1)[0])
        assert_same_predictions(estimator, tagger_of(tmp_path / "m"), X_new)

    def test_ties_have_the_first_label_of_the_file(self, tmp_path):
        X = [[["w=the"], ["w=Basel"], ["w=is"]]] * 3
        train(X, [["O", "B-LOC", "O"]] * 3, tmp_path / "m")
        estimator = from_crfsuite(tmp_path / "m", input_format="strings")
        unknown = [[["w=New"]], [["w=New"], ["w=Basel"]], [["w=New"]] * 2]
        tagger = tagger_of(tmp_path / "m")
        predicted = estimator.predict(unknown).tolist()
        assert predicted == [tagger.tag(sequence) for sequence in unknown]
        assert predicted[0] == ["O"]
        assert saved_and_loaded(estimator).predict(unknown).tolist() == predicted
        # Labels that users give are found in this order, too.
        assert estimator.score([X[0]], [["O", "B-LOC", "O"]]) == 1.0
        ((best, _),) = estimator.predict_n_best(unknown[:1], n=1)[0]
        assert best == ["O"]

    def test_the_other_input_format_is_named(self, model_path):
        with pytest.raises(TypeError, match='takes input_format="strings"'):
            from_crfsuite(model_path).predict([[["a"]]])
        with pytest.raises(TypeError, match='takes input_format="dicts"'):
            from_crfsuite(model_path, input_format="strings").predict([[{"a": 1}]])
        with pytest.raises(TypeError, match="same input format.$"):
            SDCACRF().fit([[["a"]], [{"a": 1}]], [["A"], ["B"]])

    @pytest.mark.parametrize(
        ("input_format", "item_of"),
        [
            ("strings", list),
            ("strings", tuple),
            ("strings", set),
            ("strings", frozenset),
            ("strings", lambda names: [name.encode() for name in names]),
            ("strings", lambda names: {name.encode() for name in names}),
            ("dicts", lambda names: dict.fromkeys(names, 1.0)),
            ("dicts", lambda names: dict.fromkeys(names, True)),
            ("dicts", lambda names: {n.encode(): 1 for n in names}),
            ("dicts", lambda names: {"": [n.removeprefix(":") for n in names]}),
            ("dicts", lambda names: {"": {n[1:].encode() for n in names}}),
            ("dicts", lambda names: {"": {n[1:]: 1 for n in names}}),
            ("dicts", lambda names: {"": names[0][1:].encode()} if names else {}),
        ],
    )
    @pytest.mark.parametrize("seed", range(3))
    def test_items_and_ties_are_those_of_crfsuite(
        self, tmp_path, input_format, item_of, seed
    ):
        """Half of the paths tie; weights are binary fractions, so that both tie."""
        rng = np.random.default_rng(seed)
        labels, names = ["O", "C", "é", "A"], [f":{j}é" for j in range(5)]
        cells = product((STATE, TRANSITION), range(4), range(4))
        weights = [(*cell, rng.integers(-1, 2) / 2) for cell in cells]
        model = ModelFile(labels, names[:4], np.array(weights, dtype=WEIGHT))
        (tmp_path / "m").write_bytes(serialise(model))
        X = [
            [
                item_of(list(rng.choice(names, rng.integers(3), replace=False)))
                for _ in range(length)
            ]
            for length in rng.integers(1, 6, size=60)
        ]
        tagger = tagger_of(tmp_path / "m")
        expected = [tagger.tag(x) for x in X]
        estimator = from_crfsuite(tmp_path / "m", input_format=input_format)
        assert estimator.predict(X).tolist() == expected
        predictor = Predictor.from_estimator(estimator)
        assert [predictor.predict_one(x) for x in X] == expected
        by_file = CRF(model_filename=str(tmp_path / "m"))
        assert by_file.predict(X) == expected

    def test_one_label_and_no_attributes(self, tmp_path):
        train([[["a"]]], [["A"]], tmp_path / "m", **ALL)
        estimator = from_crfsuite(tmp_path / "m", input_format="strings")
        assert estimator.predict([[["a"], ["b"]], []]).tolist() == [["A", "A"], []]
        assert estimator.n_features_in_ == 0

    def test_sources(self, tmp_path):
        """Every source gives the same weights; a Tagger gives six decimals."""
        sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")
        X, y = random_sequences()
        crf = sklearn_crfsuite.CRF(c2=0.1).fit(X, y)
        path = crf.modelfile.name
        expected = from_crfsuite(path)
        with open(path, "rb") as file:
            data = file.read()
        for model, atol in (
            (data, 0),
            (bytearray(data), 0),
            (crf, 0),
            (tagger_of(path), 1e-6),
        ):
            found = from_crfsuite(model)
            np.testing.assert_array_equal(found.classes_, expected.classes_)
            for block in ("coef_", "transition_"):
                a, b = getattr(found, block), getattr(expected, block)
                np.testing.assert_allclose(a, b, rtol=0, atol=atol)
            assert found.predict(X).tolist() == expected.predict(X).tolist()
        assert crf.predict(X).tolist() == expected.predict(X).tolist()

    def test_not_fitted(self):
        sklearn_crfsuite = pytest.importorskip("sklearn_crfsuite")
        with pytest.raises(ValueError, match="not fitted"):
            from_crfsuite(sklearn_crfsuite.CRF())

    @pytest.mark.parametrize("model", [None, 3, [], SDCACRF()], ids=repr)
    def test_other_types(self, model):
        with pytest.raises(TypeError, match="model must be a path"):
            from_crfsuite(model)

    def test_no_file(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            from_crfsuite(tmp_path / "none")

    def test_input_format(self, model_path):
        with pytest.raises(ValueError, match="input_format"):
            from_crfsuite(model_path, input_format="arrays")

    def test_names_of_colons_alone(self):
        names = [":" * 10_000]
        weights = np.array([(STATE, 0, 1, 1.0)], dtype=WEIGHT)
        estimator = from_crfsuite(serialise(ModelFile(["A", "B"], names, weights)))
        for item in ({names[0]: 1}, {"": ":" * 9999}, {":": {":": ":" * 9996}}):
            assert estimator.predict([[item]]).tolist() == [["B"]]
        assert estimator.predict([[{":": "x"}]]).tolist() == [["A"]]

    def test_too_large_for_arrays(self):
        labels = [f"{i}" for i in range(50_000)]
        data = serialise(ModelFile(labels, [], np.zeros(0, dtype=WEIGHT)))
        with pytest.raises(ValueError, match="16 GiB"):
            from_crfsuite(data)

    def test_pickle_and_refit(self, model_path):
        X, y = random_sequences()
        estimator = from_crfsuite(model_path)
        again = pickle.loads(pickle.dumps(estimator))
        assert again.predict(X).tolist() == estimator.predict(X).tolist()
        assert estimator.fit(X, y).n_iter_ > 0


class TestToCrfsuite:
    @pytest.mark.parametrize("estimator", [SDCACRF, OEGCRF])
    def test_predictions(self, tmp_path, estimator):
        X, y = random_sequences()
        crf = estimator(random_state=0).fit(X, y)
        to_crfsuite(crf, tmp_path / "m", **NAMES)
        tagger = tagger_of(tmp_path / "m")
        assert_same_predictions(crf, tagger, X, crfsuite_features(X, **NAMES))

    @pytest.mark.parametrize("temperature", [0.4, 2.5])
    def test_probabilities_are_of_scores_over_the_temperature(
        self, tmp_path, temperature
    ):
        X, y = random_sequences()
        options = {"loss": "softmax_margin", "temperature": temperature}
        crf = LBFGSCRF(**options, tol=1e-2).fit(X, y)
        to_crfsuite(crf, tmp_path / "m", **NAMES)
        again = from_crfsuite(tmp_path / "m")
        found = again.predict_proba(crfsuite_features(X, **NAMES))
        for own, expected in zip(found, crf.predict_proba(X), strict=True):
            np.testing.assert_allclose(own, expected, rtol=0, atol=1e-12)

    def test_attributes_that_features_have_anyway(self, tmp_path):
        X, y = random_sequences()
        X = crfsuite_features(X, **NAMES)
        crf = CRF(c2=0.1).fit(X, y)
        to_crfsuite(crf, tmp_path / "m", **NAMES)
        assert_same_predictions(crf.estimator_, tagger_of(tmp_path / "m"), X)

    def test_strings_and_packed_sequences(self, tmp_path):
        X, y = random_sequences()
        X = as_strings(X)
        vectorizer = SequenceVectorizer()
        packed = vectorizer.fit_transform(X)
        unnamed = PackedSequences(packed.X, packed.offsets)
        crf = LBFGSCRF(tol=1e-3).fit(unnamed, y)
        with pytest.raises(ValueError, match="pass feature_names"):
            to_crfsuite(crf, tmp_path / "m", **NAMES)
        names = vectorizer.get_feature_names_out()
        to_crfsuite(crf, tmp_path / "n", **NAMES, feature_names=names)
        to_crfsuite(crf.fit(packed, y), tmp_path / "m", **NAMES)
        assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()
        tagger = tagger_of(tmp_path / "m")
        assert_same_predictions(crf, tagger, packed[:0], [])
        again = from_crfsuite(tmp_path / "m", input_format="strings")
        assert_same_predictions(again, tagger, crfsuite_features(X, **NAMES))
        expected = crf.predict_proba(packed)
        found = again.predict_proba(crfsuite_features(X, **NAMES))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)
        with pytest.raises(ValueError, match="feature_names has 1 names"):
            to_crfsuite(crf, tmp_path / "m", **NAMES, feature_names=["a"])

    def test_no_names_are_needed_where_there_are_no_weights(self, tmp_path):
        X, y = random_sequences()
        train(X, y, tmp_path / "a")
        to_crfsuite(from_crfsuite(tmp_path / "a"), tmp_path / "b")
        assert_same_predictions(
            from_crfsuite(tmp_path / "b"), tagger_of(tmp_path / "a"), X
        )

    def test_forbidden_labels(self, tmp_path):
        """Labels of weight -inf have probability 0, as by enumeration."""
        X, y = random_sequences(n_labels=4)
        crf = SDCACRF(random_state=0).fit(X, y)
        crf.transition_[0, 1] = crf.transition_[2, 2] = -np.inf
        crf.start_[1] = crf.end_[3] = -np.inf
        to_crfsuite(crf, tmp_path / "m", **NAMES)
        tagger = tagger_of(tmp_path / "m")
        again = from_crfsuite(tmp_path / "m")
        X_added = crfsuite_features(X, **NAMES)
        assert_same_predictions(again, tagger, X_added)
        found = again.predict_proba(X_added)
        rows = crf.vectorizer_.transform(X)
        for i, proba in enumerate(found):
            expected = enumerated_marginals(rows[i] @ crf.coef_.T, crf)
            np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("name", NAMES)
    def test_weights_without_a_name(self, tmp_path, name):
        X, y = random_sequences()
        crf = LBFGSCRF(tol=1e-2).fit(X, y)
        names = {**NAMES, name: None}
        with pytest.raises(ValueError, match=f"{name} is None"):
            to_crfsuite(crf, tmp_path / "m", **names)
        assert not (tmp_path / "m").exists()

    def test_equal_names(self, tmp_path):
        X, y = random_sequences()
        crf = LBFGSCRF(tol=1e-2).fit(X, y)
        with pytest.raises(ValueError, match="different names"):
            to_crfsuite(crf, tmp_path / "m", intercept="a", start="a", end="b")
        X = [[{"a": "b:c"}, {"a:b": "c"}]]
        crf = LBFGSCRF(tol=1e-2).fit(X, [["A", "B"]])
        with pytest.raises(ValueError, match="two features have the name 'a:b:c'"):
            to_crfsuite(crf, tmp_path / "m", **NAMES)

    @pytest.mark.parametrize("name", ["a\0b", "\ud800"], ids=ascii)
    def test_names_that_cannot_be_written(self, tmp_path, name):
        crf = LBFGSCRF(tol=1e-2).fit([[[name], ["a"]]], [["A", "B"]])
        with pytest.raises(ValueError, match="cannot be written"):
            to_crfsuite(crf, tmp_path / "m", **NAMES)

    def test_labels_that_are_not_str(self, tmp_path):
        crf = LBFGSCRF(tol=1e-2).fit([[["b"], ["a"]]], [[1, 2]])
        with pytest.raises(TypeError, match="labels must be str"):
            to_crfsuite(crf, tmp_path / "m", **NAMES)

    def test_other_objects(self, tmp_path):
        with pytest.raises(NotFittedError):
            to_crfsuite(SDCACRF(), tmp_path / "m")
        with pytest.raises(TypeError, match="estimator must be one of skcrf_sdca"):
            to_crfsuite(SequenceVectorizer(), tmp_path / "m")


def enumerated_marginals(node_scores, crf):
    """Return the node marginals of one chain, summed over all paths."""
    scores = node_scores + crf.intercept_
    scores[0] += crf.start_
    scores[-1] += crf.end_
    total = np.zeros_like(scores)
    length, n_labels = scores.shape
    for path in product(range(n_labels), repeat=length):
        edges = sum(crf.transition_[j, k] for j, k in pairwise(path))
        weight = np.exp(scores[np.arange(length), path].sum() + edges)
        total[np.arange(length), path] += weight
    return total / total[0].sum()


class TestFeatures:
    def test_dicts(self):
        X = [[{"a": 1}], [{"a": 1}, {"a": 2}, {}], []]
        assert crfsuite_features(X, **NAMES) == [
            [{"a": 1, "bias": 1.0, "BOS": 1.0, "EOS": 1.0}],
            [
                {"a": 1, "bias": 1.0, "BOS": 1.0},
                {"a": 2, "bias": 1.0},
                {"bias": 1.0, "EOS": 1.0},
            ],
            [],
        ]
        assert X[0] == [{"a": 1}]

    def test_strings(self):
        X = [[["a"], {"bias"}, ("a", "a")]]
        assert crfsuite_features(X, intercept="bias", end="EOS") == [
            [["a", "bias"], ["bias"], ["a", "a", "bias", "EOS"]]
        ]

    def test_numbers(self):
        with pytest.raises(TypeError, match="sequence 1 holds numbers"):
            crfsuite_features([[["a"]], np.eye(2)], **NAMES)


class TestCRF:
    def test_objective_is_that_of_crfsuite(self, tmp_path):
        """c2 of CRFsuite is alpha n / 2: the optimal values are equal."""
        X, y = random_sequences(60)
        # CRFsuite has no intercept, start and end: here they are attributes.
        X_added = crfsuite_features(X, **NAMES)
        c2 = 0.3
        trainer = train(
            X_added, y, tmp_path / "m", c2=c2, epsilon=1e-9, delta=1e-12, **ALL
        )
        crf = CRF(c2=c2, tol=1e-12).fit(X, y)
        found = crf.estimator_.primal_objective_ * len(X)
        assert crf.estimator_.alpha_ == 2 * c2 / len(X)
        assert found == pytest.approx(trainer.logparser.last_iteration["loss"], 1e-6)
        # The weights of state features agree too, matched by their names.
        weights = tagger_of(tmp_path / "m").info().state_features
        found = crf.state_features_
        assert found.keys() <= weights.keys()
        for key, weight in found.items():
            assert weights[key] == pytest.approx(weight, abs=1e-4)

    def test_predictions(self):
        X, y = random_sequences()
        X[3], y[3] = [], []
        crf = CRF(algorithm="lbfgs", c1=0, c2=1, max_iterations=100).fit(X, y)
        inner = crf.estimator_
        predicted = crf.predict(X)
        assert predicted.tolist() == inner.predict(X).tolist()
        assert [crf.predict_single(sequence) for sequence in X] == predicted.tolist()
        found = crf.predict_marginals(X)
        assert found[0] == crf.predict_marginals_single(X[0])
        assert found[3] == []
        assert list(found[0][0]) == crf.classes_ == ["B", "I", "O"]
        proba = inner.predict_proba(X)
        np.testing.assert_array_equal([list(p.values()) for p in found[0]], proba[0])
        assert crf.score(X, y) == inner.score(X, y)

    def test_decoding(self, tmp_path):
        """A path that is most often right as a whole has fewer right labels."""
        rng = np.random.default_rng(0)
        y = [np.repeat(rng.integers(3, size=40), 5).tolist() for _ in range(9)]
        X = [[[*map(str, rng.integers(k, k + 3, 2))] for k in own] for own in y]
        crf = CRF(c2=0.5).fit(X[:6], y[:6])
        whole = crf.predict(X[6:]), crf.score(X[6:], y[6:])
        assert crf.set_params(decoding="posterior").predict(X[6:]) != whole[0]
        assert crf.score(X[6:], y[6:]) > whole[1]
        inner = CRF(c2=0.5, decoding="posterior").fit(X[:6], y[:6]).estimator_
        assert crf.predict(X[6:]).tolist() == inner.predict(X[6:]).tolist()
        assert crf.predict_single(X[6]) == crf.predict(X[6:])[0]
        save_model(crf, tmp_path / "m")
        for again in (load_model(tmp_path / "m"), pickle.loads(pickle.dumps(crf))):
            assert again.predict(X[6:]) == crf.predict(X[6:])
        found = Predictor.load(tmp_path / "m").predict_one(X[6])
        assert found == crf.predict_single(X[6])
        crf.decoding = "viterbi"
        assert crf.predict(X[6:]) == whole[0]
        assert crf.predict_single(X[6]) == whole[0][0]

    @pytest.mark.parametrize("algorithm", ["ap", "pa", "arow"])
    def test_scores_alone_have_no_posterior(self, algorithm):
        crf = CRF(algorithm=algorithm, decoding="posterior")
        with pytest.raises(InvalidParameterError, match="'decoding' .*'viterbi' with"):
            crf.fit([[["a"]]], [["A"]])

    def test_decoding_of_a_file(self, tmp_path):
        X, y = random_sequences()
        CRF(c2=0.1, model_filename=tmp_path / "m").fit(X, y)
        crf = CRF(model_filename=tmp_path / "m", decoding="posterior")
        expected = from_crfsuite(tmp_path / "m").predict(X, decoding="posterior")
        assert crf.predict(X) == expected.tolist()

    @pytest.mark.parametrize("algorithm", ["lbfgs", "ap"])
    def test_spans(self, algorithm):
        X, y = [[["w=the"], ["w=Rhine"]]] * 9, [["O", "B-LOC"]] * 9
        crf = CRF(algorithm=algorithm).fit(X, y)
        (found,) = crf.predict_spans(X[:1])
        proba = crf.predict_marginals_single(X[0])[1]["B-LOC"]
        assert found == [("LOC", 1, 2, pytest.approx(proba))]
        (found,) = crf.predict_spans(X[:1], scheme="BIO", tokens=[["the", "Rhine"]])
        assert [span[-1] for span in found] == ["Rhine"]

    @pytest.mark.parametrize("algorithm", ["lbfgs", "ap"])
    def test_a_tagger_takes_text(self, algorithm):
        X, y = [["in", "Basel"], ["left", "."]] * 9, [["O", "B-LOC"], ["O", "O"]] * 9
        tagger = make_tagger(TokenFeatures(), CRF(algorithm=algorithm)).fit(X, y)
        tagged = tagger.tag("They  left.\nNow in Basel.")
        assert [(s.type, s.begin, s.end, s.text) for s in tagged.spans] == [
            ("LOC", 19, 24, "Basel")
        ]
        assert tagged.sentences[0].labels == ["O"] * 3
        assert 0.5 < tagged.spans[0].probability <= 1.0
        tagger.fit(X, [["out", "place"], ["out", "out"]] * 9)
        assert tagger.tag("in Basel").sentences[0].labels == ["out", "place"]

    def test_strings_arrays_and_packed(self):
        X, y = random_sequences()
        strings = as_strings(X)
        crf = CRF(c2=0.1).fit(iter(strings), y)
        packed = SequenceVectorizer().fit_transform(strings)
        for other in (packed, [packed[i] for i in range(len(packed))]):
            again = CRF(c2=0.1).fit(other, y)
            assert again.predict(other).tolist() == crf.predict(strings).tolist()
        assert crf.num_attributes_ == packed.n_features == len(crf.attributes_)

    def test_weights_by_name(self):
        X = [[["a"], ["b"]], [["a"]]]
        crf = CRF().fit(X, [["X", "Y"], ["X"]])
        inner = crf.estimator_
        assert crf.state_features_["b", "Y"] == inner.coef_[1, 1]
        assert crf.transition_features_["X", "Y"] == inner.transition_[0, 1]
        inner.transition_[1] = 0.0
        assert set(crf.transition_features_) == {("X", "X"), ("X", "Y")}

    def test_min_freq(self):
        X = [[["a"], ["b"]], [["a", "c"]]]
        y = [["X", "Y"], ["X"]]
        assert CRF(min_freq=1.5).fit(X, y).attributes_ == ["a"]
        assert CRF(min_freq=0).fit(X, y).attributes_ == ["a", "b", "c"]
        packed = PackedSequences(np.eye(3), [0, 2, 3])
        with pytest.raises(ValueError, match="min_freq"):
            CRF(min_freq=2).fit(packed, y)

    def test_defaults_are_those_of_crfsuite(self):
        X, y = random_sequences()
        crf = CRF().fit(X, y)
        assert crf.estimator_.alpha_ == 2 / len(X)
        np.testing.assert_array_equal(
            CRF().fit(X, y).estimator_.coef_, crf.estimator_.coef_
        )

    def test_signature_is_that_of_sklearn_crfsuite(self):
        other = pytest.importorskip("sklearn_crfsuite").CRF()
        own = CRF().get_params()
        assert {**own, **other.get_params()} == own
        assert own.keys() - other.get_params() == {
            "tol",
            "solver",
            "n_jobs",
            "random_state",
            "class_weight",
            "decoding",
        }

    @pytest.mark.parametrize(
        "params",
        [
            {"algorithm": "gis"},
            {"c1": -0.1},
            {"c1": "x"},
            {"c2": 0},
            {"c2": -1},
            {"max_iterations": 0},
            {"class_weight": "frequent"},
            {"decoding": "best"},
            {"min_freq": -1},
            {"solver": "newton"},
        ],
        ids=str,
    )
    def test_what_is_refused(self, params):
        crf = CRF().fit([[["a"]]], [["A"]])
        before = vars(crf).copy()
        (name,) = params
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of CRF"):
            crf.set_params(**params).fit([[["a"]]], [["A"]])
        assert vars(crf) == {**before, **params}

    @pytest.mark.parametrize(
        ("name", "value"),
        [("epsilon", 1), ("keep_tempfiles", 1)],
    )
    def test_what_has_no_effect(self, name, value):
        with pytest.warns(UserWarning, match=f"without effect.*: {name}") as caught:
            CRF(**{name: value}).fit([[["a"]]], [["A"]])
        assert caught[0].filename == __file__

    def test_max_iterations(self):
        X, y = random_sequences()
        message = "at c1 = 0 and c2 = 1: increase max_iterations, tol or c2, or"
        with pytest.warns(UserWarning, match=message):
            crf = CRF(max_iterations=2).fit(X, y)
        assert crf.estimator_.n_iter_ == 2
        assert type(crf.estimator_) is AnyCRF

    @pytest.mark.parametrize("solver", get_args(SolverName)[1:])
    def test_a_solver_can_be_asked_for(self, solver):
        X, y = random_sequences()
        crf = CRF(solver=solver).fit(X, y)
        assert crf.estimator_.solver_ == solver
        best = CRF(tol=1e-8).fit(X, y).estimator_.primal_objective_
        np.testing.assert_allclose(crf.estimator_.primal_objective_, best, rtol=1e-3)

    def test_the_solver_suits_the_data(self, capsys):
        X, y = make_chains(n_sequences=20, n_features=4, random_state=0)
        large = [30.0 * rows for rows in X]
        crf = CRF(c2=0.5, max_iterations=3, verbose=True)
        with pytest.warns(ConvergenceWarning):
            crf.fit(large, y)
        assert crf.estimator_.solver_ == "lbfgs"
        first = capsys.readouterr().out.splitlines()[0]
        assert first.startswith("CRF: solver lbfgs, dense features of the size")
        crf.set_params(c1=0.1, max_iterations=100).fit(X, y)
        assert crf.estimator_.solver_ == "sdca"

    def test_errors_name_the_parameters_of_crfsuite(self):
        X = [[{"a": 1e200}, {"a": -1e200}]]
        with pytest.raises(ValueError, match="scale the .* or take a larger c2$"):
            CRF(c2=1e-300).fit(X, [["A", "B"]])

    @pytest.mark.parametrize(
        ("algorithm", "loss"), [("ap", "perceptron"), ("pa", "hinge")]
    )
    def test_online_algorithms(self, algorithm, loss):
        X, y = random_sequences()
        crf = CRF(algorithm, c=0.5, averaging=False, max_iterations=3)
        own = PassiveAggressiveCRF(
            0.5, loss=loss, average=False, max_iter=3, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            crf.fit(X, y)
        assert type(crf.estimator_) is PassiveAggressiveCRF
        assert crf.estimator_.get_params() == own.get_params()
        assert crf.predict(X).tolist() == own.fit(X, y).predict(X).tolist()
        loaded = saved_and_loaded(crf)
        assert loaded.predict(X) == crf.predict(X)

    def test_online_algorithms_have_no_penalty(self):
        with pytest.warns(UserWarning, match="without effect.*: c1, c2, tol"):
            CRF("ap", c1=0.1, c2=0.1, tol=0.1).fit([[["a"]]], [["A"]])
        with pytest.raises(InvalidParameterError, match="'c' parameter of CRF"):
            CRF("pa", c=-1.0).fit([[["a"]]], [["A"]])

    def test_l2sgd_takes_no_c1(self):
        X, y = random_sequences()
        assert CRF(algorithm="l2sgd", c1=0).fit(X, y).score(X, y) > 0.5
        with pytest.raises(InvalidParameterError, match="'c1' .* algorithm='l2sgd'"):
            CRF(algorithm="l2sgd", c1=0.1).fit(X, y)

    def test_metrics_and_scorers(self):
        X, y = random_sequences()
        crf = CRF().fit(X, y)
        accuracy = metrics.flat_accuracy_score(y, crf.predict(X))
        assert scorers.flat_accuracy(crf, X, y) == accuracy == crf.score(X, y)
        whole = np.mean([a == b for a, b in zip(y, crf.predict(X), strict=True)])
        assert scorers.sequence_accuracy(crf, X, y) == pytest.approx(whole)

    def test_held_out_data(self, capsys):
        X, y = random_sequences()
        crf = CRF(verbose=True).fit(X[:30], y[:30], X[30:], y[30:])
        assert crf.dev_score_ == crf.score(X[30:], y[30:])
        assert f"X_dev: {crf.dev_score_:.4f}" in capsys.readouterr().out
        assert not hasattr(crf.fit(X, y), "dev_score_")
        with pytest.raises(ValueError, match="both X_dev and y_dev"):
            crf.fit(X, y, X_dev=X)

    def test_what_is_not_a_list_of_sequences(self):
        with pytest.raises(TypeError, match="table of numbers"):
            CRF().fit(np.eye(3), ["A", "B", "A"])
        with pytest.raises(ValueError, match="0 items"):
            CRF().fit([], [])
        with pytest.raises(ValueError, match="2 items in X, but 1 labels in y"):
            CRF().fit([[["a"], ["b"]]], [["A"]])

    @pytest.mark.parametrize(
        "name",
        [
            "classes_",
            "attributes_",
            "num_attributes_",
            "state_features_",
            "transition_features_",
            "tagger_",
            "size_",
            "modelfile",
            "training_log_",
        ],
    )
    def test_not_fitted(self, name):
        assert getattr(CRF(), name) is None
        assert getattr(CRF(model_filename="no such file"), name) is None
        with pytest.raises(NotFittedError):
            CRF().predict([])

    def test_predictions_are_lists_and_arrays(self):
        """Programs for version 0.3 of sklearn-crfsuite and for 0.5 read them."""
        X, y = random_sequences(5)
        predicted = CRF(c2=0.01).fit(X, y).predict(X)
        lists = predicted.tolist()
        assert type(lists) is list
        assert json.loads(json.dumps(predicted)) == lists
        assert [*predicted, ["B"]] == predicted + [["B"]]
        assert bool(predicted)
        assert (predicted == lists).all()
        assert not predicted != lists
        assert predicted != [*lists[1:], lists[0]]
        assert not (predicted == lists[:-1]).any()
        assert (predicted == np.array(predicted)).all()
        one = CRF(c2=0.01).fit(X[:1], y[:1]).predict(X[:1])
        assert (one == one[0]).all()
        assert np.asarray(predicted).shape == (5,)
        assert np.asarray(CRF().fit(X, y).predict(X[:2] * 2)).dtype == object

    def test_bytes_are_text(self):
        X = [[{"w": "é".encode(), b"n": {"b": [b"c"]}}, {"w": "a"}], [[b"x"], ["y"]]]
        text = [[{"w": "é", "n": {"b": ["c"]}}, {"w": "a"}], [["x"], ["y"]]]
        for found, expected in zip(X, text, strict=True):
            crf = CRF().fit([found], [["A", "B"]], [found], [["A", "B"]])
            assert crf.attributes_ == CRF().fit([expected], [["A", "B"]]).attributes_
            assert crf.predict([found]) == crf.predict([expected]) == [["A", "B"]]
            assert crf.score([found], [["A", "B"]]) == 1.0
            assert crf.predict_marginals([found]) == crf.predict_marginals([expected])

    @pytest.mark.parametrize(
        "as_given",
        [
            list,
            iter,
            lambda y: np.array(y, dtype=object),
            lambda y: list(map(np.array, y)),
        ],
        ids=["list", "iterator", "object array", "arrays"],
    )
    def test_labels_in_bytes_are_text(self, as_given, tmp_path):
        X, y = (
            [[{"w": "a"}, {"w": "b"}], [{"w": "b"}] * 2] * 3,
            [["O", "é"], ["é"] * 2] * 3,
        )
        in_bytes = [[label.encode() for label in labels] for labels in y]
        kept = tmp_path / "m"
        expected = CRF(model_filename=kept).fit(X, y, X, y)
        crf = CRF().fit(X, as_given(in_bytes), X, as_given(in_bytes))
        assert crf.classes_ == crf.tagger_.labels() == ["O", "é"]
        assert crf.predict(X) == expected.predict(X) == y
        assert crf.score(X, as_given(in_bytes)) == crf.dev_score_ == 1.0
        assert Path(crf.modelfile.name).read_bytes() == kept.read_bytes()
        with pytest.raises(ValueError, match=r"b'.xff' is not UTF-8, as the names"):
            CRF().fit(X[:1], [["O", b"\xff"]])

    @pytest.mark.parametrize("as_given", [list, tuple, np.array])
    def test_an_item_that_is_a_str_is_its_characters(self, as_given):
        X, y = [as_given(["ab", "b"]), as_given(["", "ab"])], [["A", "B"], ["O", "A"]]
        as_lists = [[list(item) for item in sequence] for sequence in X]
        crf = CRF(c2=0.01).fit(X, y, X, y)
        assert crf.attributes_ == ["a", "b"]
        assert crf.predict(X) == crf.predict(as_lists) == y
        assert crf.predict_single(X[0]) == crf.tagger_.tag(X[0]) == y[0]
        assert crf.score(X, y) == crf.dev_score_ == 1.0
        assert crfsuite_features(X[:1], start="C") == [[["a", "b", "C"], ["b"]]]

    def test_errors_name_the_item(self):
        crf = CRF().fit([[{"a": "b"}]], [["A"]])
        for call in (crf.predict, lambda X: CRF().fit(X, [["A"]])):
            with pytest.raises(TypeError, match="value of type object"):
                call([[{"a": object()}]])
        with pytest.raises(ValueError, match="sequence 0, item 1: .* is not UTF-8"):
            crf.predict([[{}, {"a": b"\xff"}]])

    def test_the_perceptron_learns_from_mistakes_without_a_loss(self):
        """All labellings have the score 0 at the first visit, and so the loss 0."""
        X, y = random_sequences(1)
        crf = CRF("ap").fit(X, y)
        assert crf.estimator_.history_["loss"][0] == 0.0
        assert crf.estimator_.n_iter_ > 1
        assert crf.score(X, y) == 1.0

    @pytest.mark.parametrize("algorithm", ["ap", "pa", "arow"])
    def test_marginals_of_scores(self, algorithm):
        X, y = random_sequences()
        crf = CRF(algorithm, max_iterations=3).fit(X, y)
        inner = crf.estimator_
        weights = {n: v for n, v in vars(inner).items() if n[-1] == "_" != n[0]}
        chain = LBFGSCRF()
        fitted = {**weights, "_input_format": "dicts", "temperature_": 1.0}
        set_fitted(chain, fitted)
        found = crf.predict_marginals(X)
        for rows, proba in zip(found, chain.predict_proba(X), strict=True):
            np.testing.assert_array_equal([list(row.values()) for row in rows], proba)
        assert inner.temperature_ == 0.0

    def test_the_tagger_and_its_size(self, tmp_path):
        X, y = random_sequences()
        crf = CRF(c2=0.1).fit(X, y)
        tagger = crf.tagger_
        assert tagger is crf.tagger_
        assert tagger.labels() == crf.classes_
        assert [tagger.tag(sequence) for sequence in X] == crf.predict(X)
        to_crfsuite(crf, tmp_path / "m", **BOUNDARIES)
        assert crf.size_ == (tmp_path / "m").stat().st_size
        assert crf.fit(X[:5], y[:5]).tagger_ is not tagger
        again = pickle.loads(pickle.dumps(crf))
        assert again.tagger_.tag(X[0]) == crf.tagger_.tag(X[0])

    def test_the_file_of_the_model(self, tmp_path):
        X, y = random_sequences()
        crf = CRF(c2=0.1).fit(X, y)
        path = Path(crf.modelfile.name)
        assert crf.modelfile.name == str(path)
        assert path.stat().st_size == crf.size_
        # What users do with it.
        tagger = Tagger()
        tagger.open(str(path))
        assert tagger.tag(X[0]) == crf.predict_single(X[0])
        assert from_crfsuite(crf).predict(X).tolist() == crf.predict(X)
        assert Path(crf.fit(X[:5], y[:5]).modelfile.name) != path
        gc.collect()
        assert not path.exists()
        moved = tmp_path / "moved"
        shutil.move(crf.modelfile.name, moved)
        assert CRF(model_filename=moved).predict(X) == crf.predict(X)
        again = pickle.loads(pickle.dumps(crf))
        del crf
        gc.collect()
        assert Path(again.modelfile.name).read_bytes() == moved.read_bytes()
        kept = CRF(c2=0.1, model_filename=tmp_path / "m").fit(X, y)
        assert kept.modelfile.name == str(tmp_path / "m")
        assert CRF(model_filename=tmp_path / "m").modelfile.name == kept.modelfile.name

    @pytest.mark.parametrize("algorithm", ["lbfgs", "ap"])
    def test_training_log(self, algorithm):
        X, y = random_sequences()
        crf = CRF(algorithm, c1=0.1 if algorithm == "lbfgs" else None).fit(X, y)
        log, history = crf.training_log_, crf.estimator_.history_
        losses = history["primal" if algorithm == "lbfgs" else "loss"]
        assert [info["loss"] for info in log.iterations] == losses.tolist()
        times = [info["time"] for info in log.iterations]
        np.testing.assert_allclose(np.cumsum(times), history["seconds"])
        assert log.last_iteration["num"] == crf.estimator_.n_iter_

    def test_features_without_weights_have_no_name_in_a_file(self):
        X, y = random_sequences()
        crf = CRF(c1=1.0).fit(X, y)
        named = {name for name, _ in crf.state_features_}
        assert named < set(crf.attributes_)
        assert (
            named
            <= set(crf.tagger_.info().attributes)
            <= named | {*BOUNDARIES.values()}
        )

    @pytest.mark.parametrize("algorithm", ["lbfgs", "ap"])
    def test_model_file(self, tmp_path, algorithm):
        X, y = random_sequences()
        path = str(tmp_path / "m")
        crf = CRF(algorithm, model_filename=path).fit(X, y)
        loaded = CRF(model_filename=path)
        assert loaded.classes_ == crf.classes_
        assert loaded.state_features_ == crf.state_features_
        assert loaded.predict(X) == crf.predict(X)
        assert loaded.score(X, y) == crf.score(X, y)
        strings = [
            [list(item) for item in sequence]
            for sequence in (ItemSequence(x).items() for x in X)
        ]
        loaded.predict(strings)
        assert loaded.predict(X) == crf.predict(X)
        expected = crf.predict_marginals(X)
        for rows, own in zip(expected, loaded.predict_marginals(X), strict=True):
            assert own == [pytest.approx(row, abs=1e-9) for row in rows]
        assert saved_and_loaded(loaded).predict(X) == crf.predict(X)
        # CRFsuite reads the file, and needs the attributes in its input.
        added = crfsuite_features(X, **BOUNDARIES)
        tagger = tagger_of(path)
        assert [tagger.tag(sequence) for sequence in added] == crf.predict(X)

    def test_class_weight(self):
        X, y = random_sequences(200)
        weight = {"B": 1.0, "I": 20.0, "O": 1.0}
        for algorithm in ("lbfgs", "pa"):
            plain = CRF(algorithm, max_iterations=100).fit(X, y)
            crf = CRF(algorithm, max_iterations=100, class_weight=weight).fit(X, y)
            counts = [
                sum(labels.count("I") for labels in c.predict(X)) for c in (plain, crf)
            ]
            assert counts[1] > counts[0]
        assert CRF(class_weight=weight).fit(X, y).estimator_.loss == "softmax_margin"
        with pytest.raises(InvalidParameterError, match="'class_weight' .* 'ap'|'ap'"):
            CRF("ap", class_weight=weight).fit(X, y)

    def test_sequence_accuracy_of_sequences_of_other_lengths(self):
        assert metrics.sequence_accuracy_score([], []) == 0.0
        assert metrics.sequence_accuracy_score([[1, 2], [3]], [[3], [3]]) == 0.5

    def test_pickle_and_clone(self):
        X, y = random_sequences()
        crf = CRF(c2=0.1).fit(X, y)
        again = pickle.loads(pickle.dumps(crf))
        assert again.predict_marginals(X) == crf.predict_marginals(X)
        assert clone(crf).get_params() == crf.get_params()
        assert repr(crf) == "CRF(c2=0.1)"

    def test_search_as_in_the_tutorial(self):
        X, y = random_sequences()
        labels = list(CRF().fit(X, y).classes_)
        labels.remove("O")
        search = RandomizedSearchCV(
            CRF(algorithm="lbfgs", max_iterations=100, all_possible_transitions=True),
            {"c1": expon(scale=0.5), "c2": expon(scale=0.05)},
            cv=3,
            n_iter=2,
            random_state=0,
            scoring=make_scorer(flat_f1_score, average="weighted", labels=labels),
        ).fit(X, y)
        assert 0 < search.best_score_ <= 1
        assert cross_val_predict(CRF(), X, y, cv=2).shape == (len(X),)

    def test_display_and_completion_make_no_dict_of_weights(self, monkeypatch):
        crf = CRF().fit([[["a"]]], [["A"]])
        monkeypatch.delattr("skcrf_sdca.compat._fitted_attributes._by_name")
        # Fitted attributes are displayed from scikit-learn 1.9 on.
        assert ("duality_gap_" in crf._repr_html_()) is not BEFORE_1_9
        assert repr(crf) == "CRF()"
        assert {"state_features_", "estimator_", "predict"} <= {*dir(crf)}

    def test_what_the_estimator_within_has_is_named(self):
        crf = CRF()
        for name in ("explain", "predict_proba"):
            with pytest.raises(AttributeError, match=f"use estimator_.{name}"):
                getattr(crf, name)
        crf.fit([[["a"]]], [["A"]])
        with pytest.raises(AttributeError, match="use estimator_.coef_"):
            crf.coef_  # noqa: B018
        with pytest.raises(AttributeError, match="has no attribute 'weights'$"):
            crf.weights  # noqa: B018
        assert pickle.loads(pickle.dumps(crf)).predict([[["a"]]]).tolist() == [["A"]]

    def test_features_whose_names_collide_stay_two_features(self):
        X = [[{"a": "b:c"}, {"a:b": "c"}]]
        crf = CRF().fit(X, [["A", "B"]])
        assert crf.attributes_ == ["a:b:c", "a:b:c"]
        assert crf.num_attributes_ == 2
        assert len(crf.state_features_) == 2
        assert crf.predict(X).tolist() == [["A", "B"]]

    def test_display(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert "CRF" in CRF().fit([[["a"]]], [["A"]])._repr_html_()
