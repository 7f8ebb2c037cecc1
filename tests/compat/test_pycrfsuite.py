"""The interface of python-crfsuite: trainers, taggers, sequences of items, logs."""

import itertools
import json
import subprocess
import sys

import numpy as np
import numpy_alone
import pytest
from test_compat import random_sequences

from skcrf_sdca import LBFGSCRF
from skcrf_sdca.compat import from_crfsuite, metrics, pycrfsuite, to_crfsuite
from skcrf_sdca.compat._model_file import WEIGHT, ModelFile, serialise

X, Y = random_sequences(60, n_labels=4)
# A model of CRFsuite reaches its optimum to this.
TIGHT = {"epsilon": 1e-9, "delta": 1e-12, "c2": 0.3}
ALL = {"feature.possible_states": True, "feature.possible_transitions": True}
PARAMS = [{}, ALL, {"feature.minfreq": 3.0}, {"c1": 0.2}, {"c1": 2.0, "c2": 0.0}]


def trained(trainer, path="", holdout=-1, n_held_out=0):
    n = len(X) - n_held_out
    for i, (sequence, labels) in enumerate(zip(X, Y, strict=True)):
        trainer.append(sequence, labels, int(i >= n))
    trainer.train(str(path), holdout)
    return trainer


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("pycrfsuite") / "model"
    trained(pycrfsuite.Trainer("lbfgs", TIGHT, verbose=False), path)
    return path


@pytest.fixture
def tagger(path):
    with pycrfsuite.Tagger().open(path) as tagger:
        yield tagger


class TestItemSequence:
    def test_attributes(self):
        items = [
            {"a": {"b": "c", "d": 0.5, "e": ["x", b"y"], "f": {"g"}}, "h": True},
            ["é", b"z"],
            {},
            {"n": np.float32(2), b"k": False},
        ]
        sequence = pycrfsuite.ItemSequence(items)
        assert len(sequence) == 4
        assert repr(sequence) == "<ItemSequence of size 4>"
        assert sequence.items() == [
            {"a:b:c": 1.0, "a:d": 0.5, "a:e:x": 1.0, "a:e:y": 1.0, "a:f:g": 1.0}
            | {"h": 1.0},
            {"é": 1.0, "z": 1.0},
            {},
            {"n": 2.0, "k": 0.0},
        ]
        assert pycrfsuite.ItemSequence(sequence).items() == sequence.items()

    def test_an_item_that_is_a_str_is_its_characters(self):
        items = pycrfsuite.ItemSequence(["", "ab", {"c": 2}]).items()
        assert items == [{}, {"a": 1.0, "b": 1.0}, {"c": 2.0}]

    @pytest.mark.parametrize("bad", ["foo", [b"foo"], [[{"a": 1}]], [{1: 2}]], ids=str)
    def test_what_is_no_item(self, bad):
        with pytest.raises(ValueError, match="got"):
            pycrfsuite.ItemSequence(bad)

    @pytest.mark.parametrize("value", [None, (1, 2), object])
    def test_what_is_no_value(self, value):
        with pytest.raises(TypeError, match="attribute 'a' has a value of type"):
            pycrfsuite.ItemSequence([{"a": value}])

    def test_an_item_that_contains_itself(self):
        item = {}
        item["own"] = item
        with pytest.raises(RecursionError):
            pycrfsuite.ItemSequence([item])


class TestTagger:
    def test_equals_from_crfsuite(self, path, tagger):
        estimator = from_crfsuite(path)
        assert tagger.labels() == estimator.classes_.tolist()
        assert [tagger.tag(x) for x in X] == estimator.predict(X).tolist()
        for x, p, score in zip(
            X, estimator.predict_proba(X), estimator.log_likelihood(X, Y), strict=True
        ):
            tagger.set(x)
            found = [[row[k] for k in tagger.labels()] for row in tagger.marginals()]
            np.testing.assert_allclose(found, p, rtol=0, atol=1e-12)
            y = Y[X.index(x)]
            assert tagger.probability(y) == pytest.approx(np.exp(score))
            assert tagger.marginal(y[0], 0) == found[0][tagger.labels().index(y[0])]

    def test_equals_the_tagger_of_python_crfsuite(self, path, tagger, tmp_path):
        theirs = pytest.importorskip("pycrfsuite").Tagger()
        theirs.open(str(path))
        assert theirs.labels() == tagger.labels()
        for x in [*X, [["unknown"]], [{}] * 3]:
            y = tagger.tag(x)
            assert theirs.tag(x) == y
            assert tagger.probability(y) == pytest.approx(theirs.probability(y), 1e-9)
            for label in tagger.labels():
                own = tagger.marginal(label, 0)
                assert own == pytest.approx(theirs.marginal(label, 0), 1e-9)
        found, expected = tagger.info(), theirs.info()
        for name in ("header", "labels", "attributes"):
            assert getattr(found, name) == getattr(expected, name)
        for name in ("transitions", "state_features"):
            table = getattr(found, name)
            assert table == pytest.approx(getattr(expected, name), abs=1e-6)
        for name, each in (("own", tagger), ("theirs", theirs)):
            each.dump(str(tmp_path / name))
        assert (tmp_path / "own").read_text() == (tmp_path / "theirs").read_text()

    def test_no_probability_is_above_one_by_rounding(self, tmp_path):
        """Scores are so large that the best path is alone, and log Z rounded."""
        crf = LBFGSCRF(alpha=1e-3, tol=0.1).fit(X, Y)
        crf.coef_ *= 50.0
        to_crfsuite(crf, tmp_path / "m", intercept="bias", start="BOS", end="EOS")
        with pycrfsuite.Tagger().open(tmp_path / "m") as tagger:
            found = [tagger.probability(tagger.tag(x)) for x in X]
        assert max(found) == 1.0

    def test_the_current_sequence(self, tagger):
        assert tagger.tag() == []
        assert tagger.tag([]) == []
        assert tagger.probability([]) == 0.0
        tagger.set(pycrfsuite.ItemSequence(X[0]))
        assert tagger.tag() == tagger.tag(X[0])
        assert sum(tagger.marginal(k, 0) for k in tagger.labels()) == pytest.approx(1)

    def test_attributes_with_the_same_name_add_up(self, tagger):
        twice = tagger.marginals() if tagger.set([{"upper": 2}]) else tagger.marginals()
        tagger.set([["upper", "upper"]])
        assert tagger.marginals() == twice

    def test_wrong_arguments(self, tagger):
        tagger.set(X[0])
        with pytest.raises(ValueError, match="numbers of items and labels differ"):
            tagger.probability(["B"] * 99)
        with pytest.raises(RuntimeError, match="label identifier: Z"):
            tagger.probability(["Z"] * len(X[0]))
        with pytest.raises(RuntimeError, match="label identifier: Z"):
            tagger.marginal("Z", 0)
        for position in (-1, len(X[0])):
            with pytest.raises(ValueError, match="no position"):
                tagger.marginal("B", position)

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_values_that_are_not_finite(self, tagger, value):
        with pytest.raises(ValueError, match="item 1 has features so large"):
            tagger.tag([{"upper": 1}, {"upper": value}])
        for algorithm in ("lbfgs", "ap"):
            trainer = pycrfsuite.Trainer(algorithm, verbose=False)
            trainer.append([{"upper": value}], ["A"])
            with pytest.raises(ValueError, match="X contains"):
                trainer.train("")

    def test_bad_files(self, path, tmp_path):
        data = path.read_bytes()
        tagger = pycrfsuite.Tagger()
        with pytest.raises(FileNotFoundError):
            tagger.open(str(tmp_path / "none"))
        for bad in (b"", b"foo", b"lCRFfoo", b"lCRFfoo" * 100, data[:-1], data + b"x"):
            (tmp_path / "bad").write_bytes(bad)
            with pytest.raises(ValueError, match="not a whole model file"):
                tagger.open(str(tmp_path / "bad"))
            with pytest.raises(ValueError, match="not a whole model file"):
                tagger.open_inmemory(bad)
        with tagger.open_inmemory(data) as opened:
            assert opened is tagger
            assert opened.tag(X[0])

    def test_closed(self, capsys, path):
        tagger = pycrfsuite.Tagger()
        with tagger.open(path):
            tagger.dump()
            assert "LABELS = {" in capsys.readouterr().out
        for call in (tagger.labels, tagger.tag, lambda: tagger.set([["a"]])):
            with pytest.raises(ValueError, match="not opened"):
                call()
        for call in (
            lambda: tagger.probability(["B"]),
            lambda: tagger.marginal("B", 0),
        ):
            with pytest.raises(ValueError, match="not opened"):
                call()
        for call in (tagger.info, tagger.dump):
            with pytest.raises(RuntimeError, match="closed"):
                call()
        tagger.close()

    def test_weights_in_any_order(self):
        cells = [(0, 1, 1, 2.0), (1, 0, 1, 3.0), (0, 0, 0, 1.0), (0, 1, 0, -1.0)]
        weights = np.array(cells, dtype=WEIGHT)
        data = serialise(ModelFile(["A", "B"], ["a", "b"], weights))
        tagger = pycrfsuite.Tagger()
        tagger.open_inmemory(data)
        assert tagger.info().state_features == {
            ("a", "A"): 1.0,
            ("b", "B"): 2.0,
            ("b", "A"): -1.0,
        }
        assert tagger.tag([["a"], ["b"]]) == ["A", "B"]


class TestTrainer:
    @pytest.mark.parametrize("params", PARAMS, ids=str)
    def test_the_model_is_that_of_crfsuite(self, tmp_path, params):
        theirs = pytest.importorskip("pycrfsuite")
        taggers, params = [], {**TIGHT, **params}
        for library in (theirs, pycrfsuite):
            trainer = library.Trainer("lbfgs", params, verbose=False)
            trained(trainer, tmp_path / "m")
            # The tagger of python-crfsuite reads both files.
            tagger = theirs.Tagger()
            tagger.open(str(tmp_path / "m"))
            taggers.append((tagger, trainer))
        (expected, a), (found, b) = taggers
        loss = a.logparser.last_iteration["loss"]
        assert b.logparser.last_iteration["loss"] == pytest.approx(loss, 1e-6)
        n_features = a.logparser.featgen_num_features
        assert b.logparser.featgen_num_features == n_features
        assert found.labels() == expected.labels()
        assert [found.tag(x) for x in X] == [expected.tag(x) for x in X]
        for name in ("state_features", "transitions"):
            own, right = (getattr(t.info(), name) for t in (found, expected))
            for key in own.keys() | right.keys():
                # Without an L2 part several weights have the least objective.
                atol = 1e-3 if params["c2"] else 0.1
                assert own.get(key, 0.0) == pytest.approx(right.get(key, 0.0), abs=atol)

    @pytest.mark.parametrize("least", [0.0, 0.5, 1.5])
    def test_pairs_of_value_zero_have_weights(self, tmp_path, least):
        """False and 0.0 occur; a sum below feature.minfreq is none of a weight."""
        values = [[True, 2.0], [False, 0.0], [False, -1.0], [True, 1.0]]
        items = [{"upper": a, "size": b} for a, b in values]
        x, y = [items[:2], items[2:]], [["A", "B"], ["B", "A"]]
        found = []
        for library in (pycrfsuite, pytest.importorskip("pycrfsuite")):
            params = {**TIGHT, "c1": 0.01, "c2": 0.01, "feature.minfreq": least}
            trainer = library.Trainer("lbfgs", params, verbose=False)
            for own in zip(x, y, strict=True):
                trainer.append(*own)
            trainer.train(str(tmp_path / "m"))
            log = trainer.logparser
            found.append((log.featgen_num_features, log.last_iteration["loss"]))
        assert found[0] == (found[1][0], pytest.approx(found[1][1], 1e-5))

    def test_l2sgd_minimises_the_same_objective(self, tmp_path):
        losses = [
            trained(
                pycrfsuite.Trainer(name, {"delta": 1e-10}, verbose=False)
            ).logparser.last_iteration["loss"]
            for name in ("lbfgs", "l2sgd")
        ]
        assert losses[0] == pytest.approx(losses[1], 1e-6)

    @pytest.mark.parametrize(
        ("algorithm", "params"),
        [
            ("ap", {}),
            ("pa", {}),
            ("pa", {"type": 0, "averaging": False}),
            ("pa", {"type": 2, "c": 0.3, "error_sensitive": False}),
            ("arow", {}),
            ("arow", {"variance": 2.0, "gamma": 3.0, **ALL}),
        ],
        ids=str,
    )
    def test_online_algorithms_are_those_of_crfsuite(self, tmp_path, algorithm, params):
        """Of one sequence, for which there is no order of visits."""
        theirs, infos = pytest.importorskip("pycrfsuite"), []
        for library in (theirs, pycrfsuite):
            trainer = library.Trainer(algorithm, {**params}, verbose=False)
            trainer.set("max_iterations", 7)
            # Values that are binary fractions, so that both have the same ties.
            xseq = [{**item, "length": 0.5} for item in itertools.chain(*X[:9])]
            trainer.append(xseq, [*itertools.chain(*Y[:9])])
            trainer.train(str(tmp_path / "m"))
            tagger = theirs.Tagger()
            tagger.open(str(tmp_path / "m"))
            infos.append((tagger.info(), trainer.logparser.iterations))
        (expected, their_passes), (found, passes) = infos
        for name in ("state_features", "transitions"):
            own, right = getattr(found, name), getattr(expected, name)
            for key in own.keys() | right.keys():
                weight = right.get(key, 0.0)
                assert own.get(key, 0.0) == pytest.approx(weight, abs=2e-6)
        for a, b in zip(passes, their_passes, strict=True):
            assert a["loss"] == pytest.approx(b["loss"], abs=1e-6)
            if algorithm != "pa":
                # CRFsuite says there the norm before the average.
                assert a["feature_norm"] == pytest.approx(b["feature_norm"], abs=1e-6)

    @pytest.mark.parametrize("algorithm", ["ap", "pa", "arow"])
    def test_online(self, tmp_path, algorithm):
        params = {"max_iterations": 30, "feature.minfreq": 2}
        trainer = pycrfsuite.Trainer(algorithm, params, verbose=False)
        trained(trainer, tmp_path / "m", holdout=1, n_held_out=20)
        tagger = pycrfsuite.Tagger()
        tagger.open(tmp_path / "m")
        predicted = [tagger.tag(x) for x in X]
        assert metrics.flat_accuracy_score(Y[:40], predicted[:40]) > 0.45
        info = trainer.logparser.last_iteration
        accuracy = metrics.flat_accuracy_score(Y[40:], predicted[40:])
        assert info["item_accuracy_float"] == pytest.approx(accuracy)
        theirs = pytest.importorskip("pycrfsuite").Tagger()
        theirs.open(str(tmp_path / "m"))
        assert predicted == [theirs.tag(x) for x in X]

    def test_online_algorithms_end(self):
        x, y = [["a"], ["b"]], ["A", "B"]
        for algorithm, n_passes in (("ap", 100), ("arow", 2)):
            trainer = pycrfsuite.Trainer(algorithm, verbose=False)
            trainer.append(x, y)
            trainer.train("")
            assert len(trainer.logparser.iterations) == n_passes
            trainer.set("epsilon", 10.0)
            trainer.train("")
            assert len(trainer.logparser.iterations) == 1

    def test_held_out_sequences(self, tmp_path, capsys):
        theirs = pytest.importorskip("pycrfsuite")
        infos = []
        for library in (theirs, pycrfsuite):
            trainer = library.Trainer("lbfgs", TIGHT)
            trained(trainer, tmp_path / "m", holdout=1, n_held_out=20)
            infos.append(trainer.logparser.last_iteration)
        expected, found = infos
        assert expected.keys() - found.keys() <= {
            "linesearch_trials",
            "linesearch_step",
        }
        for name in ("item_accuracy", "instance_accuracy"):
            assert found[name] == expected[name]
        for name in ("avg_precision", "avg_recall", "avg_f1"):
            assert found[name] == pytest.approx(expected[name], abs=1e-6)
        for label, score in expected["scores"].items():
            assert found["scores"][label] == pytest.approx(tuple(score), abs=1e-4)
        # The lines of the last iteration are those of CRFsuite.
        logs = capsys.readouterr().out.split("Performance by label")[-1]
        assert logs.count("accuracy: ") == 2

    @pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow"])
    def test_parameters_are_those_of_python_crfsuite(self, algorithm):
        theirs = pytest.importorskip("pycrfsuite").Trainer(algorithm)
        own = pycrfsuite.Trainer(algorithm)
        assert own.params() == theirs.params()
        assert own.get_params() == theirs.get_params()
        for name in own.params():
            assert own.help(name)
            # A str that says a number is one.
            own.set(
                name, str(theirs.get(name)).replace("True", "1").replace("False", "0")
            )
        assert own.get_params() == theirs.get_params()

    def test_wrong_parameters(self):
        trainer = pycrfsuite.Trainer()
        assert trainer.get("c2") == 1.0
        for call in (trainer.get, trainer.help, lambda name: trainer.set(name, 1)):
            with pytest.raises(ValueError, match="Parameter not found: foo"):
                call("foo")
        with pytest.raises(ValueError, match="c2 must be a number, got 'abc'"):
            trainer.set("c2", "abc")
        for arguments in (("foo",), ("lbfgs", "tree")):
            with pytest.raises(ValueError, match="Bad arguments"):
                trainer.select(*arguments)
        trainer.set("c2", 5)
        trainer.select("Passive-Aggressive")
        assert "c2" not in trainer.params()
        trainer.select("lbfgs")
        assert trainer.get("c2") == 1.0

    def test_labels_in_bytes_are_text(self, tmp_path):
        trainer = pycrfsuite.Trainer(verbose=False)
        trainer.append([["a"], ["b"]], [b"O", "é".encode()])
        trainer.train(str(tmp_path / "m"))
        with pycrfsuite.Tagger().open(tmp_path / "m") as tagger:
            assert tagger.tag([["a"], ["b"]]) == tagger.labels() == ["O", "é"]
            found = tagger.probability([b"O", "é".encode()])
            assert found == tagger.probability(["O", "é"]) > 0.25
            assert tagger.marginal(b"O", 0) == tagger.marginal("O", 0)
            with pytest.raises(ValueError, match=r"b'.xff' is not UTF-8, as the names"):
                tagger.marginal(b"\xff", 0)

    def test_wrong_data(self, tmp_path):
        trainer = pycrfsuite.Trainer(verbose=False)
        with pytest.raises(ValueError, match="differ: |x| = 1, |y| = 2"):
            trainer.append([["a"]], ["A", "B"])
        with pytest.raises(TypeError, match="labels must be str, got 1"):
            trainer.append([["a"]], [1])
        with pytest.raises(TypeError, match="model must be a path"):
            trainer.train(None)
        with pytest.raises(FileNotFoundError):
            trained(trainer, tmp_path / "no folder" / "m")
        trainer.clear()
        trainer.append([["a"], ["b"]], ["A", "B"])
        trainer.train(tmp_path / "m")
        assert from_crfsuite(tmp_path / "m").classes_.tolist() == ["A", "B"]

    @pytest.mark.parametrize("algorithm", ["lbfgs", "ap"])
    def test_what_cannot_be_written(self, tmp_path, algorithm):
        for x, y, what in (("a\0b", "A", "feature"), ("a", "\ud800", "label")):
            trainer = pycrfsuite.Trainer(algorithm, ALL, verbose=False)
            trainer.append([[x], [x]], [y, "B"])
            with pytest.raises(ValueError, match=f"{what} .* cannot be written"):
                trainer.train(str(tmp_path / "m"))
        assert not (tmp_path / "m").exists()

    def test_messages_name_the_parameters(self):
        trainer = pycrfsuite.Trainer(params={"c2": 1e-300}, verbose=False)
        trainer.append([{"a": 1e300}, {"a": -1e300}], ["A", "B"])
        with pytest.raises(ValueError, match="scale the features .* larger c2"):
            trainer.train("")

    def test_no_iterations(self, tmp_path):
        trainer = pycrfsuite.Trainer("ap", {"max_iterations": 0}, verbose=False)
        trained(trainer, tmp_path / "m")
        assert from_crfsuite(tmp_path / "m").predict([[{}]]).tolist() == [[Y[0][0]]]

    def test_no_data(self, tmp_path):
        events = []

        class Listener(pycrfsuite.Trainer):
            def on_prepare_error(self, log):
                events.append(log)

        trainer = Listener()
        trainer.append([], [])
        trainer.train(str(tmp_path / "m"))
        assert (tmp_path / "m").exists()
        assert "c1: 0.0" in events[0]

    def test_messages(self, tmp_path, capsys):
        class Collector(pycrfsuite.Trainer):
            """Does not call the constructor."""

            def __init__(self):
                self.lines = []

            def message(self, message):
                self.lines.append(message)

        trainer = trained(Collector())
        assert "type: CRF1d\n" in trainer.lines
        assert trainer.lines == trainer.logparser.log
        assert capsys.readouterr().out == ""
        trained(pycrfsuite.Trainer(verbose=False))
        assert capsys.readouterr().out == ""
        trained(pycrfsuite.Trainer())
        own = capsys.readouterr().out
        trained(pycrfsuite.BaseTrainer())
        of_base = capsys.readouterr().out
        for text in (own, of_base):
            assert text.startswith("Feature generation\ntype: CRF1d\n")
            assert "0....1....2" in text
            assert "***** Iteration #1 *****\nLoss: " in text
            assert text.endswith("\n\n")

    def test_events(self):
        seen = []

        class Listener(pycrfsuite.Trainer):
            def on_iteration(self, log, info):
                seen.append(
                    (info["num"], info["loss"], f"Loss: {info['loss']:f}" in log)
                )

            def on_featgen_progress(self, log, percent):
                seen.append(percent)

            on_start = on_end = on_featgen_end = on_prepared = lambda self, log: None
            on_optimization_end = on_end

        trainer = trained(Listener())
        assert seen[:51] == [*range(0, 102, 2)]
        log = trainer.logparser
        assert [(i["num"], i["loss"], True) for i in log.iterations] == seen[51:]
        names = [name for name, _, _ in log.events if name != "featgen_progress"]
        assert names[:3] == ["start", "featgen_end", "prepared"]
        assert names[-2:] == ["optimization_end", "end"]
        assert log.last_log.startswith("Storing the model\n")
        assert min(log.featgen_seconds, log.training_seconds, log.storing_seconds) > 0

    def test_an_error_of_a_message_ends_the_training(self, tmp_path):
        class Broken(pycrfsuite.Trainer):
            def on_iteration(self, log, info):
                raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            trained(Broken(), tmp_path / "m")
        assert not (tmp_path / "m").exists()

    def test_iterations_end(self):
        few = trained(pycrfsuite.Trainer(params={"max_iterations": 3}, verbose=False))
        assert len(few.logparser.iterations) == 3
        early = trained(
            pycrfsuite.Trainer(params={"delta": 0.5, "period": 2}, verbose=False)
        )
        assert 3 <= len(early.logparser.iterations) < 10


ONLY_TAGS = """
import json, sys
import skcrf_sdca.compat
sys.modules["pycrfsuite"] = skcrf_sdca.compat.pycrfsuite
import pycrfsuite
items = pycrfsuite.ItemSequence(json.loads(sys.argv[2]))
with pycrfsuite.Tagger().open(sys.argv[1]) as tagger:
    labels = tagger.tag(items)
    answers = tagger.probability(labels), tagger.marginal(labels[0], 0)
    tagger.info(), tagger.dump(sys.argv[1] + ".txt"), tagger.marginals()
print(json.dumps([labels, answers]))
"""


def test_a_program_that_only_tags_needs_numpy_alone(tagger, path):
    items = json.dumps(pycrfsuite.ItemSequence(X[0]).items())
    labels, answers = json.loads(numpy_alone.printed(ONLY_TAGS, path, items))
    assert labels == tagger.tag(X[0])
    expected = tagger.probability(labels), tagger.marginal(labels[0], 0)
    np.testing.assert_allclose(answers, expected, rtol=1e-12)


SCRIPT = """
import sys
import skcrf_sdca.compat
sys.modules["pycrfsuite"] = skcrf_sdca.compat.pycrfsuite
"""
NLTK = """
from nltk.tag import CRFTagger
folder = sys.argv[1]
import nltk
nltk.data.path.insert(0, folder)
sentences = [[("the", "D"), ("cat", "N"), ("sat", "V")], [("a", "D"), ("Dog", "N")]]
tagger = CRFTagger()
tagger.train(sentences, folder + "/model")
assert tagger.tag(["a", "cat"]) == [("a", "D"), ("cat", "N")]
assert tagger.accuracy(sentences) == 1.0
"""
USADDRESS = """
import usaddress
found, kind = usaddress.tag("123 Main St. Suite 100 Chicago, IL")
assert kind == "Street Address", kind
assert found["PlaceName"] == "Chicago", found
"""


@pytest.mark.parametrize(
    ("module", "script"), [("nltk", NLTK), ("usaddress", USADDRESS)]
)
def test_programs_for_pycrfsuite(tmp_path, module, script):
    pytest.importorskip(module)
    done = subprocess.run(
        [sys.executable, "-P", "-c", SCRIPT + script, str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
