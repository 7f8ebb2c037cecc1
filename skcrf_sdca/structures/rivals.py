"""Rivals: the best paths that have other labels at one position. It is NumPy alone."""

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray


class Rivals:
    """A label path, and the best of all paths that have another label at a position.

    ``best_path_with(labels)`` returns the best of all paths with one of these numbers
    of labels at the position: an empty array if all are forbidden. The path begins at
    the position ``first``: not 0 for a row of a table.
    """

    def __init__(
        self,
        path: NDArray[Any],
        best_path_with: Callable[[list[int]], NDArray[Any]],
        classes: list[Any],
        *,
        position: int,
        first: int,
    ) -> None:
        self.position = position
        self.first = first
        self.label = int(path[position - first])
        self._best_path_with = best_path_with
        self.classes = classes
        self._paths = {self.label: path}  # by the label at the position

    def choose(
        self, labels: list[int] | None, reference: int | None
    ) -> tuple[list[int], int | None]:
        """Return the labels to explain and the reference, by default the best other.

        The reference is None if no other label is possible. Raise ValueError for a
        label that is not, and say which are.
        """
        rival = reference
        if reference is None or reference == self.label:
            others = [k for k in range(len(self.classes)) if k != self.label]
            rival = self._find(others)
            reference = rival if None in (reference, rival) else reference
        if labels is None:
            labels = [k for k in (self.label, rival) if k is not None]
        if reference is not None:
            self._check_possible("reference", reference)
        for k in labels:
            self._check_possible("labels", k)
        return labels, reference

    def paths(
        self, labels: list[int], reference: int | None
    ) -> dict[int, NDArray[Any]]:
        """Return the paths of the labels and of the reference, as `choose` has them."""
        chosen = dict.fromkeys([*labels, reference])
        return {k: self._paths[k] for k in chosen if k is not None}

    def _find(self, labels):
        """Find the best path with one of these labels; return the label, or None."""
        path = self._best_path_with(labels)
        if not len(path):
            return None
        label = int(path[self.position - self.first])
        self._paths[label] = path
        return label

    def _check_possible(self, name, label):
        if label in self._paths or self._find([label]) is not None:
            return
        numbered = enumerate(self.classes)
        possible = [k for i, k in numbered if len(self._best_path_with([i]))]
        raise ValueError(
            f"{name}: forbidden transitions leave no path with the label "
            f"{self.classes[label]!r} at position {self.position}; possible labels "
            f"are {possible}."
        )
