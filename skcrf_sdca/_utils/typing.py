"""Names of the types that more than one public function takes.

They say what a type checker can know of an argument. That all items have one format, or
labels as many as items, is found when the data is read: see input_formats.py.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


class HasShape(Protocol):
    """Rows: an array, a sparse matrix, a data frame, PackedSequences."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""


# The items of one sequence: dicts, lists or sets of str, or rows of numbers.
Items: TypeAlias = (
    Sequence[Mapping[str, Any]]
    | Sequence[Collection[str]]
    | Sequence[Sequence[float]]
    | HasShape
)
Sequences: TypeAlias = Iterable[Items] | HasShape
# Label lists; labels themselves where each row of a table is a chain of one node.
Labels: TypeAlias = (
    Iterable[Sequence[Hashable]] | Iterable[HasShape] | Iterable[Hashable] | HasShape
)
# As Labels, with None where a label is free.
KnownLabels: TypeAlias = Labels
Transitions: TypeAlias = (
    str | HasShape | Iterable[tuple[Hashable, Hashable]] | Iterable[Sequence[Hashable]]
)

FilePath: TypeAlias = str | PathLike[str]
RandomState: TypeAlias = int | np.random.RandomState | None

Alpha: TypeAlias = float | Literal["auto"]
DualSampling: TypeAlias = Literal[
    "gap", "gap_importance", "importance", "uniform", "max"
]
Decoding: TypeAlias = Literal["viterbi", "posterior"]
SpanScheme: TypeAlias = Literal["BIO", "IOB2", "IOB1", "BIOES", "BILOU"]
Average: TypeAlias = Literal["micro", "macro", "weighted"] | None
ZeroDivision: TypeAlias = float | Literal["warn"]


def keeps_signature(decorator: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return a decorator, which for type checkers leaves functions what they are.

    Those of scikit-learn have no types, and what they decorate would lose its own.
    """
    return decorator
