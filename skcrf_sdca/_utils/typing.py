"""Names of types that several public functions take.

They state what a type checker can check. When the data is read, the package also checks
that all items have the same type, and that there are as many labels as items.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])


class HasShape(Protocol):
    """Something with rows: an array, sparse matrix, data frame or PackedSequences."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""


# The items of one sequence: dicts, lists or sets of str, or rows of numbers. A tuple
# may also hold the parts of a sequence, which a SequenceUnion in a Tagger takes.
Items: TypeAlias = (
    Sequence[Mapping[str, Any]]
    | Sequence[Collection[str]]
    | Sequence[Sequence[float]]
    | tuple[Any, ...]
    | HasShape
)
Sequences: TypeAlias = Iterable[Items] | HasShape
# Tuples (nodes, edges) or (nodes, edges, edge features), or graphs of networkx.
Graphs: TypeAlias = Iterable[Any]
# What the methods of a fitted model take, as its `fit` does.
Dataset: TypeAlias = Sequences | Graphs
# Label lists, or labels themselves if each row of a table is a chain of one node.
Labels: TypeAlias = (
    Iterable[Sequence[Hashable]] | Iterable[HasShape] | Iterable[Hashable] | HasShape
)
# Labels with None where a label is unknown.
KnownLabels: TypeAlias = Labels
Transitions: TypeAlias = (
    str | HasShape | Iterable[tuple[Hashable, Hashable]] | Iterable[Sequence[Hashable]]
)

LabelPairs: TypeAlias = Literal["auto", "all", "observed"]
# The parts of a label: their names, or factors of their weights by name.
Parts: TypeAlias = Iterable[str] | Mapping[str, float]
LabelFeatures: TypeAlias = (
    Literal["parts"] | Callable[[Any], Parts] | Mapping[Any, Parts]
)
LabelNames: TypeAlias = Sequence[str] | Mapping[Any, str]

FilePath: TypeAlias = str | PathLike[str]


class SupportsRead(Protocol):
    """A file that is open for reading bytes."""

    def read(self) -> bytes:
        """Return the bytes from the position to the end."""


class SupportsWrite(Protocol):
    """A file that is open for writing bytes."""

    def write(self, data: bytes, /) -> Any:
        """Write bytes at the position."""


# As text: NumPy imports its generators lazily.
RandomState: TypeAlias = "int | np.random.RandomState | None"

Alpha: TypeAlias = float | Literal["auto"]
LossName: TypeAlias = Literal[
    "log_loss", "softmax_margin", "hinge", "sparsemap", "smooth_hinge", "entmax15"
]
OnlineLossName: TypeAlias = LossName | Literal["perceptron"]
Cost: TypeAlias = HasShape | Sequence[Sequence[float]] | Mapping[Any, float]
ClassWeight: TypeAlias = Literal["balanced"] | Mapping[Any, float]
Acceleration: TypeAlias = Literal["auto", "proximal_point"] | None
DualSampling: TypeAlias = Literal[
    "gap", "window", "gap_importance", "importance", "uniform", "max"
]
EdgeFeatures: TypeAlias = Literal["all"] | Sequence[str] | Sequence[int] | HasShape
GraphInference: TypeAlias = Literal["exact", "trw"]
GraphSolver: TypeAlias = Literal["auto", "oeg", "sdca", "sag", "sgd", "lbfgs"]
Features: TypeAlias = Literal["auto", "all", "observed"]
SDCASampling: TypeAlias = DualSampling | Literal["residual"]
SolverName: TypeAlias = Literal["auto", "sdca", "oeg", "sag", "lbfgs"]
# The name of a scorer, or a function of (estimator, X, y).
Scoring: TypeAlias = str | Callable[..., float]
Decoding: TypeAlias = Literal["viterbi", "posterior"]
Uncertainty: TypeAlias = Literal[
    "mnlp", "entropy", "token_entropy", "least_confidence", "margin"
]
# What a function of (sequence, begin, end) returns of a segment.
SegmentFeatures: TypeAlias = Callable[
    [Any, int, int], Mapping[str, Any] | Iterable[str]
]
SpanScheme: TypeAlias = (
    Literal["BIO", "IOB2", "IOB1", "IOE2", "IOE1", "IO", "TYPES"]
    | Literal["BIOES", "IOBES", "BILOU", "BILUO", "BMES", "BMESO", "BMEWO"]
    | Literal["bio", "iob2", "iob1", "ioe2", "ioe1", "io", "types"]
    | Literal["bioes", "iobes", "bilou", "biluo", "bmes", "bmeso", "bmewo"]
)
# Several label lists; one is Iterable[str], and so is a str.
LabelLists: TypeAlias = (
    Iterable[list[str]] | Iterable[tuple[str, ...]] | Iterable[NDArray[Any]]
)
Span: TypeAlias = tuple[str, int, int]
Average: TypeAlias = Literal["micro", "macro", "weighted"] | None
Normalize: TypeAlias = Literal["true", "pred", "all"] | None
ZeroDivision: TypeAlias = float | Literal["warn"]


def keeps_signature(decorator: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return a decorator; type checkers see that it keeps the type of a function.

    The decorators of scikit-learn have no types, so that decorated functions would lose
    theirs.
    """
    return decorator
