"""The log of a training: its text, its figures, and the scores of held-out sequences.

The text has the lines of CRFsuite, for programs that read these.
"""

from fractions import Fraction
from typing import Any, NamedTuple, Self

import numpy as np


class LabelScore(NamedTuple):
    """How often a label was predicted and right (match), predicted, and is right.

    A log of CRFsuite has no shares, None, of a label that is neither.
    """

    match: int
    model: int
    ref: int
    precision: float | None
    recall: float | None
    f1: float | None


class TrainingLog:
    """The log of a training.

    Attributes
    ----------
    log : list of str
        All lines.
    events : list of (str, int, int)
        Names of events, and where their lines begin and end in ``log``.
    iterations : list of dict
        The figures of each iteration: num, loss, time, active_features, feature_norm
        and error_norm where they are known; and of held-out sequences item_accuracy,
        instance_accuracy (fractions; with ``_float`` numbers), avg_precision,
        avg_recall, avg_f1, and scores, ``{label: LabelScore}``.
    featgen_percent, featgen_num_features : int
        How much of the data has been read; number of weights.
    featgen_seconds, training_seconds, storing_seconds : float
    """

    featgen_percent = -2
    featgen_num_features: int | None = None
    featgen_seconds: float | None = None
    training_seconds: float | None = None
    storing_seconds: float | None = None

    def __init__(self) -> None:
        self.log: list[str] = []
        self.events: list[tuple[str, int, int]] = []
        self.iterations: list[dict[str, Any]] = []

    @classmethod
    def of_history(cls, history: Any) -> Self:
        """Return a log without text, of the ``history_`` of a fit."""
        log, seconds = cls(), np.diff(history.get("seconds", ()), prepend=0.0)
        nothing = np.empty(0)
        losses = history.get("primal", history.get("loss", nothing))
        epochs = history.get("epoch", nothing)
        columns = zip(epochs.tolist(), losses.tolist(), seconds.tolist(), strict=True)
        log.iterations = [
            {"num": i, "loss": loss, "time": time, "scores": {}}
            for i, loss, time in columns
        ]
        return log

    @property
    def last_iteration(self) -> dict[str, Any] | None:
        """The figures of the last iteration, None before the first."""
        return self.iterations[-1] if self.iterations else None

    @property
    def last_log(self) -> str:
        """The text of the last event."""
        _, begin, end = self.events[-1]
        return "".join(self.log[begin:end])

    def add_event(self, name: str, end: int | None = None) -> None:
        """Add an event, whose lines follow those of the event before, to `end`."""
        begin = self.events[-1][2] if self.events else 0
        self.events.append((name, begin, len(self.log) if end is None else end))


def label_scores(labels, right, predicted):
    """Return figures of held-out sequences, as in `TrainingLog`.

    ``right`` and ``predicted`` are lists of arrays of label numbers, of which only
    those of ``right`` may be -1, for a label that is not known.
    """
    n_labels = len(labels)
    y, z = (np.concatenate([np.empty(0, int), *a]) for a in (right, predicted))
    match, model, ref = (
        np.bincount(a[a >= 0], minlength=n_labels) for a in (y[y == z], z, y)
    )
    precision, recall = match / np.maximum(model, 1), match / np.maximum(ref, 1)
    f1 = 2 * match / np.maximum(model + ref, 1)
    columns = (a.tolist() for a in (match, model, ref, precision, recall, f1))
    whole = sum(np.array_equal(a, b) for a, b in zip(right, predicted, strict=True))
    shares = {
        "item_accuracy": Fraction(int(match.sum()), len(y) or 1),
        "instance_accuracy": Fraction(whole, len(right) or 1),
    }
    rows = zip(labels, *columns, strict=True)
    return {
        "scores": {label: LabelScore(*row) for label, *row in rows},
        "avg_precision": precision.mean().item(),
        "avg_recall": recall.mean().item(),
        "avg_f1": f1.mean().item(),
        **shares,
        **{f"{name}_float": float(share) for name, share in shares.items()},
    }


_FIGURES = {
    "loss": "Loss: {:f}",
    "feature_norm": "Feature norm: {:f}",
    "error_norm": "Error norm: {:f}",
    "active_features": "Active features: {}",
    "time": "Seconds required for this iteration: {:.3f}",
}


def iteration_text(info):
    """Return the text of an iteration, given its figures."""
    lines = [f"***** Iteration #{info['num']} *****"]
    lines += [text.format(info[n]) for n, text in _FIGURES.items() if n in info]
    if info["scores"]:
        names = "precision, recall, F1"
        lines.append(f"Performance by label (#match, #model, #ref) ({names}):")
        lines += [
            f"    {label}: ({a}, {b}, {c}) ({precision:.4f}, {recall:.4f}, {f1:.4f})"
            for label, (a, b, c, precision, recall, f1) in info["scores"].items()
        ]
        means = [f"{info[f'avg_{n}']:f}" for n in ("precision", "recall", "f1")]
        lines.append(f"Macro-average {names}: ({', '.join(means)})")
        for title, name in (("Item", "item"), ("Instance", "instance")):
            share = info[f"{name}_accuracy"]
            numbers = f"{share.numerator} / {share.denominator}"
            lines.append(f"{title} accuracy: {numbers} ({float(share):.4f})")
    return "\n".join([*lines, "", ""])
