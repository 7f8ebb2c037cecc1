"""The parameters of a model: one flat vector, and its blocks as the kernels take them.

    a weight of each label, in one or more blocks | tied | coef (d, K)

coef may have weights for some labels of each feature only, see chain/observed.py. Owns
how the vector becomes the `Weights` of a model, by labels and features, and how these
become the vector.
"""

from copy import copy
from itertools import accumulate, pairwise
from math import prod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from skcrf_sdca._kernels.features._weights import SparseWeights
from skcrf_sdca._kernels.features._weights import Weights as CompiledWeights
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.words import words
from skcrf_sdca.structures.form import Block, Form, Weights, dense_coef

# For more columns than so many for each stored number, columns are counted anew: what
# counts them takes memory for each column.
SPARE_FEATURES = 16


class Parameters:
    """Weights of a model as one vector ``w`` and named views of it.

    ``w`` is not copied; by default it is zeros. A structure adds ``blocks``, and the
    lengths of their other axes to `_sizes`. If `tied` is not these blocks end to end,
    `_tied_of` and `_by_name` say what it is.

    Attributes
    ----------
    blocks : tuple of Block
        The blocks of weights by labels and features. For each that has the axis "label"
        alone, or "part", there is an attribute of its name.
    pairs : ObservedPairs or None
        The labels that each feature has weights for; None if all.
    w : ndarray of shape (n_weights,)
        `coef` is last, so that new features are appended.
    biases : ndarray of shape (n_weights - coef.size,)
        All weights but `coef`.
    tied : ndarray of shape tied_shape
        The weights of potentials that all cliques share.
    coef : ndarray of shape (n_features, n_labels)
        Or, with `pairs`, one number for each of them.
    """

    blocks: tuple[Block, ...]
    boundaries = True
    # The blocks as the kernels take them, of `for_rows`.
    _compiled: CompiledWeights | None = None

    w: Any
    biases: NDArray[np.float64]
    intercept: NDArray[np.float64]
    tied: NDArray[np.float64]
    coef: NDArray[np.float64]

    def __init__(self, n_features, n_labels, tied_shape, *, w=None, pairs=None):
        self.n_labels, self.tied_shape = n_labels, tied_shape
        self._set(n_features, w, pairs)

    def _set(self, n_features, w, pairs):
        self.n_features, self.pairs = n_features, pairs
        n_coef = n_features * self.n_labels if pairs is None else pairs.layout.size
        names = self._of_labels()
        sizes = [*(self.n_labels for _ in names), prod(self.tied_shape)]
        self.w = np.zeros(sum(sizes) + n_coef) if w is None else w
        # Slices, since np.split takes as long as the prediction of a short sequence.
        ends = list(accumulate(sizes, initial=0))
        for name, (begin, end) in zip(names, pairwise(ends), strict=False):
            setattr(self, name, self.w[begin:end])
        self.biases, coef = self.w[: ends[-1]], self.w[ends[-1] :]
        self.tied = self.w[ends[-2] : ends[-1]].reshape(self.tied_shape)
        self.coef = (
            coef if pairs is not None else coef.reshape(n_features, self.n_labels)
        )

    def _of_labels(self):
        return [b.name for b in self.blocks if b.axes in (("label",), ("part",))]

    def _tied_blocks(self):
        """Return names and shapes of the blocks in `tied`, in their order."""
        own, sizes = self._of_labels(), self._sizes()
        blocks = (b for b in self.blocks if not (b.is_matrix or b.name in own))
        return {b.name: tuple(sizes[axis] for axis in b.axes) for b in blocks}

    def _tied_of(self, weights):
        """Return the array `tied` of the Weights of a model."""
        parts = [np.ravel(weights[name]) for name in self._tied_blocks()]
        return np.concatenate([np.zeros(0), *parts]).reshape(self.tied_shape)

    def _by_name(self):
        """Return the weights in `tied` by the names of blocks."""
        shapes = self._tied_blocks()
        ends = list(accumulate(map(prod, shapes.values())))
        parts = np.split(self.tied.reshape(-1), ends[:-1])
        named = zip(shapes.items(), parts, strict=False)
        return {name: part.reshape(shape) for (name, shape), part in named}

    def _sizes(self):
        """Return the lengths of the axes of the blocks, by their names."""
        return {"label": self.n_labels, "feature": self.n_features}

    def coef_of_rows(self, values):
        """Return a number for each row of coef, in the shape of `coef`."""
        widths = self.n_labels if self.pairs is None else np.diff(self.pairs.places)
        return np.repeat(values, widths).reshape(self.coef.shape)

    def with_features(self, n_features, w, pairs=None):
        """Return parameters of other features, with the flat vector `w`."""
        other = copy(self)
        other._set(n_features, w, pairs)
        return other

    def for_rows(self, weights, X):
        """Take the Weights of a model, of the features in X, without a vector.

        Return these parameters, where ``w`` is None, and X on these features alone.
        """
        coef, X = used_features(weights["coef"], X)
        self.w, self.n_features, self.coef = None, len(coef), coef
        for name in self._of_labels():
            setattr(self, name, weights[name])
        self.tied = self._tied_of(weights)
        self._compiled = self.weights()
        return self, X

    def assign(self, weights):
        """Take Weights for these features and labels, which are finite.

        Weights without a place here are left out.
        """
        for name in self._of_labels():
            getattr(self, name)[:] = weights[name]
        self.tied[:] = self._tied_of(weights)
        if self.pairs is None:
            self.coef[:] = dense_coef(weights["coef"]).T
        else:
            features, labels = self.pairs.indices()
            coef = values_at(weights["coef"], labels, features)
            self.coef[self.pairs.exists] = coef

    def label_weights(self, constraints=None):
        """Return the Weights of the model, -inf where something is forbidden."""
        arrays = {name: getattr(self, name) for name in self._of_labels()}
        coef = self.coef.T if self.pairs is None else self.pairs.coef(self.coef)
        return self._allowed({"coef": coef, **arrays, **self._by_name()}, constraints)

    def _allowed(self, arrays, constraints):
        weights = Weights(Form.of_sizes(self.blocks, **self._sizes()), arrays)
        return weights if constraints is None else constraints.forbid(weights)

    def clear_boundaries(self):
        """Set the weights to 0 that do not exist without boundaries."""

    def weights(self):
        """Return the blocks as the kernels take them; they share memory with ``w``."""
        if self._compiled is not None:
            return self._compiled
        return CompiledWeights(self._blocks(), self.boundaries, self._layout())

    def sparse_weights(self, dual, threshold):
        """Return the blocks as weights derived from dual ones, see `SparseWeights`."""
        return SparseWeights(
            self._blocks(),
            self.boundaries,
            self._layout(),
            dual=dual.weights(),
            threshold=threshold,
        )

    def potentials(self, rows, offsets, begin, end, temperature=1.0):
        """Return scores of the items begin <= i < end, over a temperature.

        Raise MemoryError if these do not fit.

        Returns
        -------
        local, tied : ndarrays
        bounds : ndarray of shape (end - begin + 1,), int64
            Where the local scores of each item begin.
        """
        bounds, own = offsets[begin : end + 1] - offsets[begin], words()
        check_fits(
            8 * int(bounds[-1]) * self.n_labels,
            f"the scores of {bounds[-1]} {own.position}s and {self.n_labels} labels",
            f"cut long {own.sequence}s into shorter ones",
        )
        local, tied = np.empty((bounds[-1], self.n_labels)), self.tied
        self.weights().node_scores(rows, offsets, begin, end, local)
        if temperature != 1.0:
            local /= temperature
            tied = tied / temperature
        return local, tied, bounds

    def _blocks(self):
        """Return coef, intercept, start, end and tied."""
        # Only chains have a start and an end: these weights are unused.
        return self.coef, self.intercept, *np.zeros((2, self.n_labels)), self.tied

    def _layout(self):
        return None if self.pairs is None else self.pairs.layout


def values_at(coef, rows, columns):
    """Return the values of a matrix, dense or sparse, at some places."""
    # Of a sparse matrix such a selection is a matrix of one row.
    coef = sp.csr_matrix(coef) if sp.issparse(coef) else coef
    return np.ravel(coef[rows, columns])


def _without_empty_columns(*matrices):
    """Return CSR arrays of the same columns without those that are empty in all."""
    indices = np.concatenate([matrix.indices for matrix in matrices])
    used, place = np.unique(indices, return_inverse=True)
    ends = np.cumsum([matrix.nnz for matrix in matrices])[:-1]
    parts = np.split(place.astype(np.int32), ends)
    return [
        sp.csr_array((own.data, part, own.indptr), shape=(own.shape[0], len(used)))
        for own, part in zip(matrices, parts, strict=True)
    ]


def used_features(coef, X):
    """Return the coefficients of the features in X, and X on these features alone.

    Of sparse coefficients and rows only the features in X are taken: scores are the
    same to the last bit, in memory that does not grow with the vocabulary.
    """
    if sp.issparse(coef) and sp.issparse(X):
        if X.shape[1] > SPARE_FEATURES * (coef.nnz + X.nnz):
            coef, X = _without_empty_columns(coef, X)
        used = np.zeros(X.shape[1], dtype=bool)
        used[X.indices] = True
        indices = (np.cumsum(used, dtype=np.int32) - 1)[X.indices]
        shape = (X.shape[0], np.count_nonzero(used))
        X = sp.csr_array((X.data, indices, X.indptr), shape=shape)
        coef = coef[:, used]
    return np.ascontiguousarray(dense_coef(coef).T), X
