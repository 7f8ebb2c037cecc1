"""The class of ``sklearn_crfsuite.trainer``, a trainer whose log is short."""

from typing import Any

from skcrf_sdca.compat._trainer import Trainer

__all__ = ["LinePerIterationTrainer"]

# The figures of a line, as far as an iteration has them.
_FIGURES = {
    "time": "{:<5.2f}",
    "loss": "{:<8.2f}",
    "active_features": "{:<5}",
    "avg_precision": "{:.3f}",
    "avg_recall": "{:.3f}",
    "avg_f1": "{:.3f}",
    "item_accuracy_float": "{:.3f}",
    "instance_accuracy_float": "{:.3f}",
    "feature_norm": "{:<8.2f}",
}


class LinePerIterationTrainer(Trainer):
    """Trainer that prints a line for each iteration.

    Parameters
    ----------
    algorithm, params, verbose
        As of `skcrf_sdca.compat.pycrfsuite.Trainer`.

    Examples
    --------
    >>> from skcrf_sdca.compat.trainer import LinePerIterationTrainer
    >>> trainer = LinePerIterationTrainer("ap", {"max_iterations": 1})
    >>> trainer.logparser is None
    True
    """

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        """Print the figures of an iteration in one line.

        Parameters
        ----------
        log : str
        info : dict
        """
        shown = [
            f"{name.removesuffix('_float')}={form.format(info[name])}"
            for name, form in _FIGURES.items()
            if name in info
        ]
        print(f"Iter {info['num']:<3}", *shown)
