"""Labels that have parts, which share weights.

The score of label k at a position is the sum over its parts p of M[k, p] x . W_p, so a
model with the emission weights W of parts is the model with the emission weights M W of
labels, whose penalty is the penalty of W. A part of "NOUN|Case=Nom" is "Case=Nom", and
the label itself may be one: factored features of morphological tags, as of Mueller,
Schmid and Schuetze, "Efficient higher-order CRFs for morphological tagging" (EMNLP
2013). Intercept, start and end are weights of parts too, and transitions are weights of
labels.
"""

from collections.abc import Hashable, Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from skcrf_sdca._kernels.visits._tying import (
    PartTying,
    scores_of_parts,
    shares_of_parts,
)
from skcrf_sdca.structures.chain.observed import possible_labels


class LabelParts:
    """Which label has which part, and how much of it.

    Parameters
    ----------
    names : list of str
        The P parts.
    matrix : csr_array of shape (K, P)
        M, finite. Every label has a part.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.structures.chain.label_parts import LabelParts
    >>> parts = LabelParts.of({"NOUN": {"N": 1}, "NOUN|Pl": {"N": 1, "Pl": 1}})
    >>> parts.names
    ['N', 'Pl']
    >>> parts.scores(np.array([[1.0, 0.5]]))
    array([[1. , 1.5]])
    """

    def __init__(self, names: list[str], matrix: Any) -> None:
        self.names = names
        self.matrix = sp.csr_array(matrix, dtype=np.float64)
        self.matrix.indices = self.matrix.indices.astype(np.int32, copy=False)
        self.matrix.indptr = self.matrix.indptr.astype(np.int32, copy=False)

    @classmethod
    def of(cls, parts: Mapping[Hashable, Any]) -> "LabelParts":
        """Return the parts of labels, in their order.

        Parameters
        ----------
        parts : dict of label to dict of str to float
        """
        weighted = list(parts.values())
        names = sorted(set().union(*weighted))
        number = {name: p for p, name in enumerate(names)}
        bounds = np.cumsum([0, *map(len, weighted)])
        columns = [number[name] for own in weighted for name in own]
        values = [float(value) for own in weighted for value in own.values()]
        shape = len(weighted), len(names)
        matrix = sp.csr_array((values, columns, bounds), shape=shape)
        matrix.sort_indices()
        return cls(names, matrix)

    @property
    def n_parts(self) -> int:
        """The number of parts P."""
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        """Return whether the labels have the same parts."""
        if not isinstance(other, LabelParts) or self.names != other.names:
            return False
        own, its = self.matrix, other.matrix
        return own.shape == its.shape and (own != its).nnz == 0

    __hash__ = None  # type: ignore[assignment]

    def scores(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of labels (n, K) of the scores of parts (n, P)."""
        scores = np.empty((len(raw), self.matrix.shape[0]))
        scores_of_parts(self.matrix, raw, scores)
        return scores

    def shares(self, change: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the change of parts (n, P) of a change of labels (n, K)."""
        shared = np.empty((len(change), self.n_parts))
        shares_of_parts(self.matrix, np.ascontiguousarray(change), shared)
        return shared

    def of_labels(self, labels: NDArray[Any]) -> Any:
        """Return which parts the labels of positions have, a csr_array.

        ``labels`` are as for `observed.pair_counts`.
        """
        return sp.csr_array(
            possible_labels(labels, self.matrix.shape[0]) @ abs(self.matrix)
        )

    def tying(self, longest: int) -> PartTying:
        """Return the compiled map of chains of up to ``longest`` positions."""
        return PartTying(self.matrix, longest)


# The name of the rule by which a label has the parts between its separators.
BY_NAME = "parts"
SEPARATOR = "|"


def parts_of_name(name: str) -> list[str]:
    """Return the parts of a joint label: it, after a =, and what is between its |.

    So the label "NOUN" and the part "NOUN" of other labels are two parts.

    >>> from skcrf_sdca.structures.chain.label_parts import parts_of_name
    >>> parts_of_name("NOUN|Case=Nom"), parts_of_name("ADP")
    (['=NOUN|Case=Nom', 'NOUN', 'Case=Nom'], ['=ADP', 'ADP'])
    """
    return list(dict.fromkeys([f"={name}", *name.split(SEPARATOR)]))


def read_label_parts(given: Any, labels: list[Any], names: list[Any]) -> LabelParts:
    """Return the LabelParts that the parameter `label_features` says.

    Parameters
    ----------
    given : "parts", callable or mapping
        A callable takes the name of a label, and a mapping has labels.
    labels, names : list
        The labels of a fit, and their names.

    Raises
    ------
    ValueError, TypeError
        If a label has no parts, or not in this form.
    """
    if isinstance(given, Mapping):
        for label in labels:
            if label not in given:
                raise ValueError(
                    f"label_features has no parts of the label {label!r}; add them to "
                    "the mapping"
                )
        found = [given[label] for label in labels]
    elif callable(given):
        found = [given(name) for name in names]
    else:
        for label in names:
            if not isinstance(label, str):
                raise TypeError(
                    f'label_features="{given}" is for labels that are str, and y has '
                    f"{label!r}; pass a function or a mapping"
                )
        found = list(map(parts_of_name, names))
    return LabelParts.of(
        {label: _checked(label, own) for label, own in zip(labels, found, strict=True)}
    )


def _checked(label, own):
    """Return the parts of a label as a dict of str to float, without zeros."""
    fault = ValueError(
        f"label_features: the parts of the label {label!r} must be a list of str, or a "
        "dict of str to finite numbers, with at least one that is not 0; they are "
        f"{own!r:.80}"
    )
    if isinstance(own, str) or not isinstance(own, Iterable):
        raise fault
    weighted = dict(own) if isinstance(own, Mapping) else dict.fromkeys(own, 1.0)
    for part, value in weighted.items():
        if not isinstance(part, str) or not isinstance(value, Real):
            raise fault
    weighted = {part: float(value) for part, value in weighted.items() if value != 0}
    if not weighted or not np.isfinite(list(weighted.values())).all():
        raise fault
    return weighted
