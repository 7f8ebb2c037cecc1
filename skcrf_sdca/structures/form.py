"""Which weights a model has: named blocks of numbers, along named axes.

Every structure says once which blocks its models have. What checks, stores, adds or
matches weights by names goes by the `Form` of a model, whatever its structure.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from math import prod
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.messages import required_attribute


class Axis(NamedTuple):
    """The entries of one axis of weights.

    The function ``names`` returns their names; without names, entries are matched by
    their number. Messages call them ``words``.

    >>> from skcrf_sdca.structures.form import Axis
    >>> Axis(2, lambda: "ab").numbers_in(Axis(2, lambda: "cb"))
    array([-1,  1])
    """

    size: int
    names: Callable[[], Iterable[Any]] | None = None
    words: str = "features"

    def numbers_in(self, other, argument="init"):
        """Return the number that each entry has in another axis, -1 if none.

        Raise ValueError if entries cannot be matched; ``argument`` is the argument of
        `fit` that has the other axis.
        """
        if (self.names is None) != (other.names is None):
            has, has_not = ("X", argument)[:: 1 if other.names is None else -1]
            raise ValueError(
                f"{argument}: the {self.words} of {has} have names, those of {has_not} "
                "have none, so that they cannot be matched; fit both on inputs of "
                "the same format."
            )
        if self.names is not None:
            number = {name: i for i, name in enumerate(other.names())}
            found = map(number.get, self.names(), repeat(-1))
            return np.fromiter(found, dtype=np.intp, count=self.size)
        if self.size != other.size:
            raise ValueError(
                f"{argument} has {other.size} {self.words} and X has {self.size}; "
                f"{self.words} without names are matched by their number."
            )
        return np.arange(self.size)


@dataclass(frozen=True)
class Block:
    """One array of the weights of a model.

    Attributes
    ----------
    name : str
        Name of the array in a file.
    axes : tuple of str
        The last may be "feature": then all others are one axis of a matrix, which may
        be sparse.
    forbids : bool, default=False
        Whether weights may be -inf, which forbids.
    member_of : str, default=None
        The fitted attribute, a tuple, that the array is in. By default the array is
        itself an attribute, its name with an underscore.
    """

    name: str
    axes: tuple[str, ...]
    forbids: bool = False
    member_of: str | None = None

    @cached_property
    def attribute(self):
        """The name of the fitted attribute."""
        return self.member_of or f"{self.name}_"

    @cached_property
    def is_matrix(self):
        """Whether there is a weight for each feature of positions, perhaps sparse."""
        return self.axes[-1] == "feature"


class Form(NamedTuple):
    """The weights that a model has: its axes by name, and its blocks."""

    axes: Mapping[str, Axis]
    blocks: tuple[Block, ...]

    @classmethod
    def of_sizes(cls, blocks, **sizes):
        """Return the form of blocks along axes without names."""
        return cls({name: Axis(size) for name, size in sizes.items()}, blocks)

    def shape(self, block):
        """Return the shape of the array of a block."""
        sizes = tuple([self.axes[axis].size for axis in block.axes])
        return (prod(sizes[:-1]), sizes[-1]) if block.is_matrix else sizes

    def weights_of(self, model):
        """Return the Weights that a model has as attributes; nothing is copied.

        Raise ValueError if an attribute is missing.
        """
        arrays, taken = {}, {}
        for block in self.blocks:
            value = required_attribute(model, block.attribute)
            if block.member_of is not None:
                n = taken[block.member_of] = taken.get(block.member_of, -1) + 1
                value = value[n]
            arrays[block.name] = value
        return Weights(self, arrays)


class VectorForm(NamedTuple):
    """The form of a solver's vector of weights, for given labels and features.

    Attributes
    ----------
    order : int, default=1
    pair_columns : ndarray of int, default=None
        The features that have weights for pairs of neighbouring labels.
    data : object, default=None
        Further data that the dual variables belong to, beside sequences.
    constraints : Constraints or Grammar, default=None
        The constraints of labels.
    pairs : ObservedPairs, default=None
        The labels that each feature has weights for; None if all.
    label_pairs : ndarray of shape (n_labels, n_labels), bool, default=None
        The pairs of labels that have a weight; None if all.
    label_tuples : ndarray of shape (n, longest), int, default=None
        In chains of higher order, the tuples of labels with a weight; None if all.
    parts : LabelParts, default=None
        The parts of labels that have weights; None if labels have them.
    """

    order: int = 1
    pair_columns: NDArray[np.intp] | None = None
    data: Any = None
    constraints: Any = None
    pairs: Any = None
    label_pairs: NDArray[np.bool_] | None = None
    label_tuples: NDArray[np.int_] | None = None
    parts: Any = None

    @property
    def has_every_weight(self):
        """Whether all pairs of features and labels, and of labels, have a weight."""
        chosen = self.pairs, self.label_pairs, self.label_tuples, self.parts
        return all(own is None for own in chosen)

    def differences(self, other):
        """Return the names of what differs in another form."""
        pairs = zip(self._fields, self, other, strict=True)
        return [name for name, own, its in pairs if not _are_equal(own, its)]


def _are_equal(one, other):
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return one == other


class Weights(dict[str, Any]):
    """The weights of a model: an array, or a sparse matrix, by the name of its block.

    >>> import numpy as np
    >>> from skcrf_sdca.structures.form import Axis, Block, Form, Weights
    >>> form = Form({"label": Axis(2, lambda: "ab")}, (Block("start", ("label",)),))
    >>> weights = Weights(form, {"start": np.array([1.0, 2.0])})
    >>> weights.matched({"label": Axis(3, lambda: "bca")})["start"]
    array([2., 0., 1.])
    """

    def __init__(self, form, arrays):
        super().__init__({block.name: arrays[block.name] for block in form.blocks})
        self.form = form

    def attributes(self):
        """Return the weights by the names of fitted attributes."""
        found: dict[str, Any] = {}
        for block in self.form.blocks:
            array = self[block.name]
            if block.member_of is None:
                found[block.attribute] = array
            else:
                found[block.attribute] = (*found.get(block.attribute, ()), array)
        return found

    def replaced(self, **arrays):
        """Return the weights with other arrays of some blocks."""
        return Weights(self.form, {**self, **arrays})

    def of_blocks(self, chosen):
        """Return the weights of the blocks for which ``chosen(block)`` holds."""
        blocks = tuple(filter(chosen, self.form.blocks))
        return Weights(self.form._replace(blocks=blocks), self)

    def finite(self):
        """Return the weights with 0 where something is forbidden."""
        forbid = [block.name for block in self.form.blocks if block.forbids]
        allowed = {n: np.where(self[n] == -np.inf, 0.0, self[n]) for n in forbid}
        return self.replaced(**allowed)

    def of_columns(self, columns):
        """Return the weights of some features of positions, or of all for None."""
        if columns is None:
            return self
        matrices = [block.name for block in self.form.blocks if block.is_matrix]
        return self.replaced(**{name: self[name][:, columns] for name in matrices})

    def matched(self, axes=None, argument="init", *, new=0.0, **numbers):
        """Return these weights along other axes, matched by names.

        ``numbers`` has, for some axes, the numbers of their entries here, -1 for none;
        ``axes`` has the other axes of the blocks. Entries without a number have the
        weight ``new``, or 0 in matrices. Messages name the ``argument`` of `fit` that
        has these weights.
        """
        known = {name for block in self.form.blocks for name in block.axes}
        new_axes = {name: Axis(len(number)) for name, number in numbers.items()}
        new_axes |= axes or {}
        for name in known - numbers.keys():
            own = self.form.axes[name]
            numbers[name] = new_axes[name].numbers_in(own, argument)
        form, arrays = Form(new_axes, self.form.blocks), {}
        for block in form.blocks:
            array, number = self[block.name], [numbers[name] for name in block.axes]
            if block.is_matrix:
                sizes = [self.form.axes[name].size for name in block.axes[:-1]]
                row = _numbers_of_tuples(number[:-1], sizes)
                arrays[block.name] = _selected(array, row, number[-1])
                continue
            out = np.full([len(n) for n in number], new)
            known = [np.flatnonzero(n >= 0) for n in number]
            places = (n[k] for n, k in zip(number, known, strict=True))
            out[np.ix_(*known)] = array[np.ix_(*places)]
            arrays[block.name] = out
        return Weights(form, arrays)

    def plus(self, other, columns=None):
        """Return the sum of the weights of two models with the same labels.

        If only one of both has a block of features, the sum has it as it is; further
        blocks come from ``other``. The other weights belong to the features ``columns``
        of positions; None if all.
        """
        blocks = (*other.form.blocks, *self.form.blocks)
        kept = {b.name: b for b in blocks if b.is_matrix or b.name in other}
        n_features, sums = self.form.axes["feature"].size, {}
        for name, block in kept.items():
            own, found = self.get(name), other.get(name)
            if block.is_matrix:
                sums[name] = _sum_of_matrices(own, found, columns, n_features)
            else:
                sums[name] = found if own is None else found + own
        return Weights(Form(self.form.axes, tuple(kept.values())), sums)

    @property
    def n_nonzero(self):
        """How many weights are neither 0 nor -inf."""
        return sum(map(_count_weights, self.values()))


def _numbers_of_tuples(numbers, sizes):
    """Return the numbers of all tuples of entries of some axes, -1 if one has none."""
    rows = np.zeros(1, dtype=np.intp)
    for number, size in zip(numbers, sizes, strict=True):
        known = (rows >= 0)[:, np.newaxis] & (number >= 0)
        rows = np.where(known, rows[:, np.newaxis] * size + number, -1).ravel()
    return rows


def _selected(matrix, row, column):
    """Return a matrix of these rows and columns, 0 where a number is -1."""
    (rows,), (columns,) = np.nonzero(row >= 0), np.nonzero(column >= 0)
    block = matrix[row[rows]][:, column[columns]]
    if sp.issparse(block):
        block = block.tocoo()
        places = rows[block.row], columns[block.col]
        return sp.csr_array((block.data, places), shape=(len(row), len(column)))
    selected = np.zeros((len(column), len(row))).T
    selected[np.ix_(rows, columns)] = block
    return selected


def _sum_of_matrices(own, found, columns, n_columns):
    """Return the sum of two matrices, or None; one may have some columns alone."""
    if found is not None and own is not None:
        if not sp.issparse(own) or not sp.issparse(found):
            total = dense_coef(own).copy(order="F")
            total[:, slice(None) if columns is None else columns] += dense_coef(found)
            return total
    if found is not None and columns is not None:
        indices = columns.astype(found.indices.dtype)[found.indices]
        shape = found.shape[0], n_columns
        found = sp.csr_array((found.data, indices, found.indptr), shape=shape)
    if own is None or found is None:
        return own if found is None else found
    return found + own


def of_labels(weights, labels, parts=None):
    """Return the weights of some labels, by their numbers.

    ``parts`` says which label has which part, a matrix (n_labels, n_parts), if the rows
    of the weights belong to parts.
    """
    return weights[labels] if parts is None else parts[labels] @ weights


def dense_coef(coef):
    """Return coefficients dense, in the memory layout that they have after fit."""
    if not sp.issparse(coef):
        return coef
    n_labels, n_features = coef.shape
    check_fits(
        coef.dtype.itemsize * n_labels * n_features,
        f"dense weights of {n_labels} labels and {n_features} features",
        "take fewer features (n_features), or prune() the model",
    )
    return coef.toarray(order="F")


def _count_weights(array):
    if sp.issparse(array):
        return int(np.count_nonzero(array.data))
    return int(np.count_nonzero(array) - np.count_nonzero(array == -np.inf))
