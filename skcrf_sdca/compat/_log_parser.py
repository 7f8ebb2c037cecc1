"""Reads the text of the log of CRFsuite, line by line, into a TrainingLog."""

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from skcrf_sdca.compat._training_log import LabelScore, TrainingLog

# Figure of an iteration -> the beginning of its line, and its type.
_FIGURES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "loss": ("Loss: ", float),
    "feature_norm": ("Feature norm: ", float),
    "error_norm": ("Error norm: ", float),
    "active_features": ("Active features: ", int),
    "linesearch_trials": ("Line search trials: ", int),
    "linesearch_step": ("Line search step: ", float),
    "time": ("Seconds required for this iteration: ", float),
}
_SHARES = {"Item accuracy": "item_accuracy", "Instance accuracy": "instance_accuracy"}
_HEAD = re.compile(r"\*{5} (?:Iteration|Epoch) #(\d+) \*{5}$")
_SHARE = re.compile(r"(.+): (\d+) / (\d+)")
_MEANS = re.compile(r"Macro-average precision, recall, F1: \((.+), (.+), (.+)\)")
_LABEL = re.compile(r"    (.+): \((\d+), (\d+), (\d+)\) \((.+), (.+), (.+)\)")
# What CRFsuite writes of a label that is neither predicted nor right.
_UNDEFINED = "*" * 6


class TrainLogParser(TrainingLog):
    """A training log that is read from the lines of CRFsuite.

    Its attributes are those of `TrainingLog`, as far as the lines have been read.
    """

    # The method that reads the next line: ``_read_<stage>``.
    state = "beginning"

    def feed(self, line: str) -> str | None:
        """Read the next line; return the name of the event that it completes.

        Parameters
        ----------
        line : str
            With its line break; the numbers and dots of the progress are lines of
            their own.

        Returns
        -------
        event : str or None
            "start", "featgen_progress", "featgen_end", "prepared", "prepare_error",
            "iteration", "optimization_end" or "end".
        """
        self.log.append(line)
        event = getattr(self, f"_read_{self.state}")(line.rstrip("\n"))
        if event is not None:
            # The line that completes these two begins the next event.
            is_next = event in ("prepared", "optimization_end")
            self.add_event(event, len(self.log) - is_next)
        return event

    def _read_beginning(self, line):
        self._read_head(line)
        return "start"

    def _read_head(self, line):
        self.state = "data" if line == "Feature generation" else "head"

    def _read_data(self, line):
        if line == "." or line.isdigit():
            self.featgen_percent += 2
            return "featgen_progress"
        name, _, value = line.partition(": ")
        if name == "Number of features":
            self.featgen_num_features = int(value)
        if name == "Seconds required":
            self.featgen_seconds = float(value)
            self.state = "options"
            return "featgen_end"
        return None

    def _read_options(self, line):
        if self._begins_iteration(line):
            return "prepared"
        if "terminated with error" in line:
            self.state = "training"
            return "prepare_error"
        return None

    def _read_iteration(self, line):
        if not line:
            self.state = "training"
            return "iteration"
        if not self._begins_iteration(line):
            figures = self.iterations[-1]
            figures |= _figures_of(line)
            if found := _LABEL.match(line):
                label, *values = found.groups()
                figures["scores"][label] = _label_score(values)
        return None

    def _read_training(self, line):
        if line.startswith("Total seconds required for training: "):
            self.training_seconds = float(line.rpartition(": ")[2])
        if line == "Storing the model":
            self.state = "storing"
            return "optimization_end"
        self._begins_iteration(line)
        return None

    def _read_storing(self, line):
        if line.startswith("Seconds required: "):
            self.storing_seconds = float(line.rpartition(": ")[2])
        return None if line else "end"

    def _begins_iteration(self, line):
        """Return whether a line is the head of an iteration, and begin it then."""
        found = _HEAD.match(line)
        if found:
            self.state = "iteration"
            self.iterations.append({"num": int(found[1]), "scores": {}})
        return found is not None


def _figures_of(line):
    """Return {name: figure} of the figures that a line of an iteration has."""
    for name, (begin, read) in _FIGURES.items():
        if line.startswith(begin):
            return {name: read(line.removeprefix(begin))}
    if found := _MEANS.match(line):
        names = "avg_precision", "avg_recall", "avg_f1"
        return dict(zip(names, map(float, found.groups()), strict=True))
    found = _SHARE.match(line)
    if found is None or found[1] not in _SHARES:
        return {}
    name, share = _SHARES[found[1]], Fraction(int(found[2]), int(found[3]))
    return {name: share, f"{name}_float": float(share)}


def _label_score(values):
    counts, shares = map(int, values[:3]), values[3:]
    return LabelScore(
        *counts, *(None if share == _UNDEFINED else float(share) for share in shares)
    )
