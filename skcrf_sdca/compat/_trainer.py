"""Trains model files, with the interface of ``pycrfsuite.Trainer``.

Owns the messages of a training; the algorithms are in _algorithms.py.
"""

import os
from collections.abc import Mapping
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from skcrf_sdca._utils.files import atomic_write
from skcrf_sdca._utils.typing import FilePath
from skcrf_sdca.compat._algorithms import ALGORITHMS, ALIASES, DEFAULT, OF_ALL
from skcrf_sdca.compat._model_file import WEIGHT, ModelFile, serialise
from skcrf_sdca.compat._training import (
    TrainingSet,
    learned_online,
    minimised,
    model_of,
    new_problem,
)
from skcrf_sdca.compat._training_log import TrainingLog, iteration_text

_NO_MODEL = ModelFile([], [], np.zeros(0, dtype=WEIGHT))


class CRFSuiteError(Exception):
    """Raised by CRFsuite for codes that this package has no use of."""


class BaseTrainer:
    """Trainer of model files of CRFsuite, whose `message` prints all lines.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}, default=None
        None is "lbfgs".
    params : dict, default=None
        Parameters of the algorithm, see `params` and `help`.
    verbose : bool, default=True
        Whether messages are printed.
    """

    verbose: bool = True
    logparser: Any = None
    # These are there before the constructor, which a subclass need not call.
    _algorithm = DEFAULT
    _event: str | None = None

    @cached_property
    def _data(self):
        """The sequences."""
        return TrainingSet()

    @property
    def _known(self):
        """Name -> default and help of the parameters of the algorithm."""
        return {**OF_ALL, **ALGORITHMS[self._algorithm].parameters}

    @cached_property
    def _params(self):
        """Name -> value of the parameters."""
        return {name: default for name, (default, _) in self._known.items()}

    def __init__(
        self,
        algorithm: str | None = None,
        params: Mapping[str, Any] | None = None,
        verbose: bool = True,
    ) -> None:
        if algorithm is not None:
            self.select(algorithm)
        if params is not None:
            self.set_params(params)
        self.verbose = verbose

    def message(self, message: str) -> None:
        """Take a line of the log; by default print it if `verbose` is set.

        Parameters
        ----------
        message : str
        """
        if self.verbose:
            print(message, end="")

    def append(self, xseq: Any, yseq: Any, group: int = 0) -> None:
        """Add a labelled sequence to the data.

        Parameters
        ----------
        xseq : ItemSequence, or what it takes
        yseq : list of str
            One label for each item. Bytes are text in UTF-8.
        group : int, default=0
            Number of the group of the sequence, see `train`.
        """
        self._data.append(xseq, yseq, group)

    def clear(self) -> None:
        """Forget all sequences."""
        self.__dict__.pop("_data", None)

    def select(self, algorithm: str, type: str = "crf1d") -> None:
        """Select an algorithm, with its default parameters.

        Parameters
        ----------
        algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}
            "lbfgs" and "l2sgd" minimise the same objective, both by L-BFGS. Also
            "averaged-perceptron" for "ap" and "passive-aggressive" for "pa".
        type : {"crf1d"}, default="crf1d"
        """
        name = ALIASES.get(algorithm.lower(), algorithm.lower())
        if name not in ALGORITHMS or type != "crf1d":
            raise ValueError(f"Bad arguments: {algorithm=}, {type=}")
        self._algorithm = name
        self.__dict__.pop("_params", None)

    def params(self) -> list[str]:
        """Return the names of the parameters of the algorithm."""
        return list(self._params)

    def get_params(self) -> dict[str, Any]:
        """Return the parameters, a dict {name: value}."""
        return dict(self._params)

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Set parameters.

        Parameters
        ----------
        params : dict
        """
        for name, value in params.items():
            self.set(name, value)

    def get(self, name: str) -> Any:
        """Return the value of a parameter.

        Parameters
        ----------
        name : str
        """
        self._check(name)
        return self._params[name]

    def set(self, name: str, value: Any) -> None:
        """Set a parameter.

        Parameters
        ----------
        name : str
        value : number, bool or str
            A str that says a number is one.
        """
        self._check(name, f" = {value}")
        kind = type(self._known[name][0])
        try:
            number = value if kind is str else float(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"Parameter {name} must be a number, got {value!r:.40}."
            ) from None
        self._params[name] = kind(number)

    def help(self, name: str) -> str:
        """Return what a parameter does.

        Parameters
        ----------
        name : str
        """
        self._check(name)
        return self._known[name][1]

    def train(self, model: FilePath, holdout: int = -1) -> None:
        """Train a model, and write its file.

        Parameters
        ----------
        model : str or path
            Path of the file; an empty one writes none.
        holdout : int, default=-1
            Number of a group of held-out sequences: the others are the training data,
            and each iteration is scored on these.

        Raises
        ------
        OSError
            If the file cannot be written.
        ValueError
            If weights or scores are not finite.
        """
        if not isinstance(model, (str, os.PathLike)):
            raise TypeError(f"model must be a path, got {model!r:.40}.")
        self.logparser = log = TrainingLog()
        held, problem = self._read(holdout)
        begin = perf_counter()
        found = _NO_MODEL if problem is None else self._fitted(held, problem)
        log.training_seconds = perf_counter() - begin
        took = f"Total seconds required for training: {log.training_seconds:.3f}\n\n"
        self._say("optimization_end", took)
        begin = perf_counter()
        if model:
            with atomic_write(model) as file:
                file.write(serialise(found))
        log.storing_seconds = perf_counter() - begin
        counts = {
            "features": (len(found.weights), log.featgen_num_features),
            "attributes": (len(found.attributes), len(self._data.attributes)),
            "labels": (len(found.labels), len(self._data.labels)),
        }
        lines = [f"Number of active {n}: {a} ({b})\n" for n, (a, b) in counts.items()]
        took = f"Seconds required: {log.storing_seconds:.3f}\n\n"
        self._say("end", f"Storing the model\n{''.join(lines)}{took}")

    def _read(self, holdout):
        """Return the held-out data and the problem.

        The problem is None if there are no items. Send the messages on the way.
        """
        log, begin, params = self.logparser, perf_counter(), self._params
        group = f"Holdout group: {holdout + 1}\n\n" if holdout >= 0 else ""
        options = "".join(f"{name}: {_shown(params[name])}\n" for name in OF_ALL)
        self._say("start", f"{group}Feature generation\ntype: CRF1d\n{options}")
        given, held = self._data.split(holdout)
        problem, n_weights = None, 0
        if len(given.labels):
            problem, n_weights = new_problem(given, len(self._data.labels), params)
        for percent in range(0, 102, 2):
            log.featgen_percent = percent
            self._say("featgen_progress", "." if percent % 10 else f"{percent // 10}")
        log.featgen_num_features = n_weights
        log.featgen_seconds = perf_counter() - begin
        took = f"Seconds required: {log.featgen_seconds:.3f}\n\n"
        self._say("featgen_end", f"\nNumber of features: {n_weights}\n{took}")
        own = "".join(
            f"{n}: {_shown(v)}\n" for n, v in params.items() if n not in OF_ALL
        )
        event = "prepare_error" if problem is None else "prepared"
        self._say(event, f"{ALGORITHMS[self._algorithm].title}\n{own}\n")
        return held, problem

    def _fitted(self, held, problem):
        """Return the ModelFile of the data."""
        labels, params = self._data.labels, self._params
        if "c2" in params:
            found = minimised(problem, held, labels, params, self._iterated)
        else:
            found = learned_online(
                problem, held, labels, self._algorithm, params, self._iterated
            )
        return model_of(found, labels, self._data.attributes)

    def _iterated(self, info):
        self.logparser.iterations.append(info)
        self._say("iteration", iteration_text(info))

    def _say(self, event, text):
        """Send the lines of an event; the last completes it."""
        *lines, last = text.splitlines(keepends=True)
        self._event = None
        for line in lines:
            self.logparser.log.append(line)
            self.message(line)
        self.logparser.log.append(last)
        self.logparser.add_event(event)
        self._event = event
        self.message(last)

    def _check(self, name, value=""):
        if name not in self._known:
            raise ValueError(f"Parameter not found: {name}{value}")


def _shown(value):
    """Return a parameter as the log has it."""
    if isinstance(value, bool):
        return str(int(value))
    return f"{value:f}" if isinstance(value, float) else str(value)


class Trainer(BaseTrainer):
    """Trainer of model files of CRFsuite.

    All algorithms have the weights that CRFsuite has. "lbfgs" and "l2sgd" minimise its
    objective; "ap", "pa" and "arow" visit the sequences in another order. By default
    each event of the log is printed; subclasses override the methods ``on_...``, or
    `message`.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}, default=None
        None is "lbfgs".
    params : dict, default=None
        Parameters of the algorithm, see `params` and `help`.
    verbose : bool, default=True
        Whether events are printed.

    Attributes
    ----------
    logparser : TrainingLog or None
        The log of the last training: ``iterations``, ``last_iteration``, ``log`` ...

    Examples
    --------
    >>> import os, tempfile
    >>> from skcrf_sdca.compat import pycrfsuite
    >>> trainer = pycrfsuite.Trainer("lbfgs", {"c2": 0.1}, verbose=False)
    >>> trainer.append([{"word": "the"}, {"word": "Rhine"}], ["O", "LOC"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trainer.train(os.path.join(folder, "model"))
    ...     with pycrfsuite.Tagger().open(os.path.join(folder, "model")) as tagger:
    ...         tagger.tag([{"word": "Rhine"}])
    ['LOC']
    """

    def message(self, message: str) -> None:
        """Take a line of the log; call the method of an event that it completes.

        Parameters
        ----------
        message : str
        """
        event, log = self._event, self.logparser
        if event is None or not self.verbose:
            return
        given = {
            "featgen_progress": (log.featgen_percent,),
            "iteration": (log.last_iteration,),
        }
        getattr(self, f"on_{event}")(log.last_log, *given.get(event, ()))

    def on_start(self, log: str) -> None:
        """Take the text of the beginning; by default print it, as all these methods.

        Parameters
        ----------
        log : str
        """
        print(log, end="")

    def on_featgen_progress(self, log: str, percent: int) -> None:
        """Take a sign of progress.

        Parameters
        ----------
        log : str
        percent : int
        """
        print(log, end="")

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        """Take the text and the figures of an iteration, see ``logparser.iterations``.

        Parameters
        ----------
        log : str
        info : dict
        """
        print(log, end="")

    on_featgen_end = on_prepared = on_prepare_error = on_start
    on_optimization_end = on_end = on_start
