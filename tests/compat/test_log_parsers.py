"""The modules of python-crfsuite that read the text of logs and of models."""

import importlib
from fractions import Fraction

import numpy_alone
import pytest
from test_compat import random_sequences

from skcrf_sdca.compat import pycrfsuite

X, Y = random_sequences(20, n_labels=4)
# A log of CRFsuite: progress and calibration, an epoch, held-out labels.
LOG = [
    *("Holdout group: 2\n", "\n", "Feature generation\n", "type: CRF1d\n"),
    *("0", ".", ".", ".", ".", "1", ".", "10", "\n", "Number of features: 12\n"),
    *("Seconds required: 0.250\n", "\n", "Stochastic Gradient Descent (SGD)\n"),
    *("c2: 1.000000\n", "Trial #1 (eta = 0.100000): ", "11.135476 (worse)\n"),
    *("Seconds required: 0.000\n", "\n"),
    *("***** Epoch #1 *****\n", "Loss: 11.089910\n", "Feature L2-norm: 0.018107\n"),
    *("Feature norm: 1.500000\n", "Error norm: 2.500000\n", "Active features: 9\n"),
    *("Line search trials: 3\n", "Line search step: 0.125000\n"),
    "Seconds required for this iteration: 0.125\n",
    "Performance by label (#match, #model, #ref) (precision, recall, F1):\n",
    "    C: (1, 2, 1) (0.5000, 1.0000, 0.6667)\n",
    "    X: y: (0, 0, 0) (******, ******, ******)\n",
    "Macro-average precision, recall, F1: (0.375000, 0.500000, 0.416667)\n",
    *("Item accuracy: 3 / 4 (0.7500)\n", "Instance accuracy: 1 / 2 (0.5000)\n", "\n"),
    *("***** Iteration #2 *****\n", "Loss: 10.5\n", "\n"),
    *("SGD terminated with the maximum number of iterations\n", "Loss: 10.989029\n"),
    *("Total seconds required for training: 0.500\n", "\n", "Storing the model\n"),
    *("Writing labels\n", "Seconds required: 0.750\n", "\n"),
]


def parsed(log, parser=None):
    """Return the parser of a log, and the events that its lines complete."""
    if parser is None:
        parser = pycrfsuite._logparser.TrainLogParser()
    return parser, [event for line in log if (event := parser.feed(line)) is not None]


def messages(module, algorithm, holdout):
    """Return the lines of a training."""
    lines = []

    class Listener(module.BaseTrainer):
        def message(self, message):
            lines.append(message)

    trainer = Listener(algorithm, {"max_iterations": 3})
    for i, (sequence, labels) in enumerate(zip(X, Y, strict=True)):
        trainer.append(sequence, labels, i % 2)
    trainer.train("", holdout)
    return lines, trainer


class TestTrainLogParser:
    def test_a_log_of_crfsuite(self):
        log, events = parsed(LOG)
        progress = ["featgen_progress"] * 8
        ends = ["iteration"] * 2 + ["optimization_end", "end"]
        assert events == ["start", *progress, "featgen_end", "prepared", *ends]
        assert [name for name, _, _ in log.events] == events
        assert log.featgen_percent == 14
        assert log.featgen_num_features == 12
        seconds = log.featgen_seconds, log.training_seconds, log.storing_seconds
        assert seconds == (0.25, 0.5, 0.75)
        first, last = log.iterations
        assert last is log.last_iteration
        assert last == {"num": 2, "scores": {}, "loss": 10.5}
        scores = first.pop("scores")
        assert first == {
            **{"num": 1, "loss": 11.08991, "feature_norm": 1.5, "error_norm": 2.5},
            **{"active_features": 9, "linesearch_trials": 3, "linesearch_step": 0.125},
            **{"time": 0.125, "avg_precision": 0.375, "avg_recall": 0.5},
            **{"avg_f1": 0.416667, "item_accuracy": Fraction(3, 4)},
            **{"item_accuracy_float": 0.75, "instance_accuracy": Fraction(1, 2)},
            **{"instance_accuracy_float": 0.5},
        }
        assert scores == {
            "C": (1, 2, 1, 0.5, 1.0, 0.6667),
            "X: y": (0, 0, 0, None, None, None),
        }
        assert log.last_log == "".join(LOG[-4:])
        # Each line is one of an event, in their order.
        cuts = [0, *(end for _, _, end in log.events)]
        assert [begin for _, begin, _ in log.events] == cuts[:-1]
        assert cuts[-1] == len(LOG) == len(log.log)
        prepared = next(e for e in log.events if e[0] == "prepared")
        assert LOG[prepared[2]] == "***** Epoch #1 *****\n"

    def test_an_error_before_the_first_iteration(self):
        at = LOG.index("***** Epoch #1 *****\n")
        log, events = parsed([*LOG[:at], "L-BFGS terminated with error code (-1)\n"])
        assert events[-1] == "prepare_error"
        assert log.last_iteration is None

    @pytest.mark.parametrize("algorithm", ["lbfgs", "ap"])
    def test_the_log_of_the_own_trainer(self, algorithm):
        lines, trainer = messages(pycrfsuite, algorithm, 1)
        log, events = parsed(lines)
        assert events.count("iteration") == 3
        assert log.featgen_percent == trainer.logparser.featgen_percent == 100
        for found, expected in zip(
            log.iterations, trainer.logparser.iterations, strict=True
        ):
            scores, right = found.pop("scores"), expected.pop("scores")
            assert found == pytest.approx(expected, abs=1e-3)
            assert scores.keys() == right.keys()
            for label, score in scores.items():
                assert score == pytest.approx(right[label], abs=1e-4)

    @pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa", "arow"])
    @pytest.mark.parametrize("holdout", [-1, 1])
    def test_equals_the_parser_of_python_crfsuite(self, algorithm, holdout):
        peer = pytest.importorskip("pycrfsuite")
        lines, _ = messages(peer, algorithm, holdout)
        own, events = parsed(lines)
        theirs, expected = parsed(lines, peer._logparser.TrainLogParser())
        assert events == expected
        names = {*vars(theirs)} - {"state"}
        assert {n: getattr(own, n) for n in names} == {
            n: vars(theirs)[n] for n in names
        }


class TestDumpParser:
    def test_reads_what_the_tagger_writes(self, tmp_path):
        trainer = pycrfsuite.Trainer(verbose=False)
        items = [{"a": " b --> c: 1.0"}, {"": 2.0, " x": "}"}]
        trainer.append(items, ["A: B", "C"])
        trainer.train(str(tmp_path / "m"))
        with pycrfsuite.Tagger().open(tmp_path / "m") as tagger:
            tagger.dump(tmp_path / "m.txt")
            info = tagger.info()
        parser = pycrfsuite._dumpparser.CRFsuiteDumpParser()
        for line in (tmp_path / "m.txt").read_text().splitlines(keepends=True):
            parser.feed(line)
        found = parser.result
        assert type(found) is type(info)
        for name in ("header", "labels", "attributes"):
            assert getattr(found, name) == getattr(info, name) != {}
        for name in ("transitions", "state_features"):
            assert len(getattr(info, name)) > 0
            assert getattr(found, name) == pytest.approx(getattr(info, name), abs=1e-6)

    @pytest.mark.parametrize("lines", [["x"], ["LABELS = {\n", "  (0) a --> b: 1\n"]])
    def test_what_is_no_dump(self, lines):
        *before, wrong = lines
        parser = pycrfsuite._dumpparser.CRFsuiteDumpParser()
        for line in before:
            parser.feed(line)
        with pytest.raises(ValueError, match="a dump of CRFsuite has no such line"):
            parser.feed(wrong)


ALIAS = """
import sys, skcrf_sdca.compat
sys.meta_path[0].known.add("pycrfsuite")
sys.modules["pycrfsuite"] = skcrf_sdca.compat.pycrfsuite
import pycrfsuite._dumpparser, pycrfsuite._logparser
from pycrfsuite._pycrfsuite import CRFSUITE_VERSION, ItemSequence, Tagger
assert Tagger is pycrfsuite.Tagger
print(pycrfsuite._logparser.TrainLogParser().feed("x"), end="")
"""


def test_the_modules_need_numpy_alone():
    assert numpy_alone.printed(ALIAS) == "start"


def test_the_private_module_has_what_the_package_has():
    private = importlib.import_module("skcrf_sdca.compat.pycrfsuite._pycrfsuite")
    for name in (*pycrfsuite.__all__, "BaseTrainer", "CRFSuiteError"):
        assert getattr(private, name) is getattr(pycrfsuite, name)
    with pytest.raises(AttributeError, match="has no attribute 'no'"):
        private.no  # noqa: B018
