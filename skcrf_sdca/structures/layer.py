"""Layers of a network for every structure: scores in, values and their gradients out.

A `Layer` knows which labellings some items have, and no weights: each call takes the
scores that a network gives. It works on `Scores`, which all structures have, so that it
is written once. It knows no framework: scores and gradients are arrays of NumPy.
"""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skcrf_sdca._kernels.inference._passes import add_labels
from skcrf_sdca.structures.chain.oracle import as_labels, as_scores
from skcrf_sdca.structures.compiled_scores import CompiledScores

__all__ = ["Layer"]

# The scores as arrays, and the gradient of a sum with respect to each.
Arrays = tuple[NDArray[np.float64], ...]


class Layer:
    """Inference on a batch of items of one structure, with the scores of a network.

    The functions of ``skcrf_sdca.structures.layers`` make it. All items of a batch
    stand end to end. Methods take the score arrays in the order of ``shapes``, and
    return gradients in this order. A score of -inf forbids all labellings that have it;
    pairs of labels of graphs must have finite scores.

    Parameters
    ----------
    new_scores : callable
        ``new_scores(local, tied)`` returns the compiled scores of the items.
    shapes : dict of str to tuple of int
        The names and the shapes of the score arrays. The first array has a row for each
        position, and the others are scores that all positions share.
    n_jobs : int, default=None
        Threads.

    See Also
    --------
    skcrf_sdca.structures.chain.layer.ChainLayer : A chain that has weights of its own.

    Examples
    --------
    A sentence of two words has two trees with one word below the root. Rows of ``arcs``
    are the arcs from the root, the first word and the second word, to both words:

    >>> import numpy as np
    >>> from skcrf_sdca.structures.layers import dependency_layer
    >>> layer = dependency_layer([2])
    >>> layer.shapes
    {'arcs': (6, 1)}
    >>> arcs = np.log([[1.0], [3.0], [1.0], [1.0], [1.0], [1.0]])
    >>> log_z, (marginals,) = layer.log_partition(arcs)
    >>> np.exp(log_z).round(6), marginals.reshape(3, 2).round(6)
    (array([4.]), array([[0.25, 0.75],
           [0.  , 0.25],
           [0.75, 0.  ]]))
    """

    def __init__(
        self,
        new_scores: Callable[[Any, Any], CompiledScores],
        shapes: Mapping[str, tuple[int, ...]],
        *,
        n_jobs: int | None = None,
    ) -> None:
        self._new_scores = new_scores
        self.shapes, self.n_jobs = dict(shapes), n_jobs

    def scores(self, *scores: ArrayLike) -> CompiledScores:
        """Return the compiled scores of the items, which answer further questions.

        Parameters
        ----------
        *scores : array-likes of the shapes of ``shapes``
            In nats, finite or -inf.

        Returns
        -------
        scores : Scores
            With ``n_best(n)``, ``sample(uniform)``, ``entropies()`` and others.

        Raises
        ------
        ValueError
            If the number of arrays or a shape is another, or a score is NaN or +inf.
        """
        if len(scores) != len(self.shapes):
            raise ValueError(
                f"{len(scores)} arrays of scores were given; the layer takes "
                f"{len(self.shapes)}: {', '.join(self.shapes)}"
            )
        local, *others = (
            self._checked(own, name, shape)
            for own, (name, shape) in zip(scores, self.shapes.items(), strict=True)
        )
        tied = np.concatenate([np.zeros(0), *map(np.ravel, others)])
        return self._new_scores(local, tied).with_threads(self.n_jobs)

    def _checked(self, scores, name, shape):
        found = as_scores(scores, name, len(shape))
        if found.shape != shape:
            raise ValueError(
                f"{name} has shape {found.shape}; the items of this layer need {shape}"
            )
        return found

    def decode(self, *scores: ArrayLike) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """Return the labelling of highest score of each item.

        Parameters
        ----------
        *scores : as for `scores`

        Returns
        -------
        labels : ndarray of shape (n_positions,), int32
            The labels of all items, end to end.
        values : ndarray of shape (n,)
            The scores of these labellings, -inf for an item without a possible one.
        """
        return self.scores(*scores).viterbi()

    def log_partition(
        self, *scores: ArrayLike, weight: ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], Arrays]:
        """Return log Z of each item, and the gradient of their sum.

        Parameters
        ----------
        *scores : as for `scores`
        weight : array-like of shape (n,), default=None
            Factors of the terms of the sum; ones by default.

        Returns
        -------
        log_partition : ndarray of shape (n,)
        gradient : tuple of ndarrays
            Of sum_i weight_i log Z_i, with respect to each array of scores: the
            probabilities of labels, and the expected numbers of what is shared, times
            the weights.
        """
        found = self.scores(*scores)
        return self._value_and_gradient(found, found.expectations, weight)

    def sparse_marginals(
        self, *scores: ArrayLike, weight: ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], Arrays]:
        """Return the largest <mu, scores> + H(mu) of each item, and SparseMAP's mu.

        H(mu) = 1/2 <u, 1 - u>, with u the probabilities of labels, takes the place that
        the entropy has in log Z [1]_. The maximiser mu mixes few labellings, so that
        many probabilities are exactly 0. It is the gradient of the maximum. The label 0
        of arcs counts in u too: H(mu) of dependency trees without relations is twice
        that of arcs alone.

        Parameters
        ----------
        *scores, weight : as for `log_partition`

        Returns
        -------
        maximum : ndarray of shape (n,)
        gradient : tuple of ndarrays
            Of sum_i weight_i maximum_i: mu, times the weights.

        References
        ----------
        .. [1] Niculae, Martins, Blondel, Cardie, "SparseMAP: Differentiable Sparse
               Structured Inference", ICML 2018.

        Examples
        --------
        >>> import numpy as np
        >>> from skcrf_sdca.structures.layers import chain_layer
        >>> layer, transition = chain_layer([1], 3), np.zeros((3, 3))
        >>> _, (nodes, _) = layer.sparse_marginals([[1.0, 0.5, -1.0]], transition)
        >>> nodes.round(6)
        array([[0.75, 0.25, 0.  ]])
        """
        found = self.scores(*scores)
        return self._value_and_gradient(found, found.mixed_expectations, weight)

    def negative_log_likelihood(
        self, labels: ArrayLike, *scores: ArrayLike, weight: ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], Arrays]:
        """Return -log p(labels) of each item, and the gradient of their sum.

        Parameters
        ----------
        labels : array-like of int of shape (n_positions,)
            The true labels of all items, end to end, as `decode` returns labels.
        *scores, weight : as for `log_partition`

        Returns
        -------
        loss : ndarray of shape (n,)
        gradient : tuple of ndarrays
            Of sum_i weight_i loss_i: the marginals less the true labels.

        Raises
        ------
        ValueError
            As `scores`, and if the structure or a score of -inf forbids the labels of
            an item, which the message names.
        """
        found = self.scores(*scores)
        return self._loss_and_gradient(found, found.expectations, labels, weight)

    def sparsemap_loss(
        self, labels: ArrayLike, *scores: ArrayLike, weight: ArrayLike | None = None
    ) -> tuple[NDArray[np.float64], Arrays]:
        """Return the SparseMAP loss of each item, and the gradient of their sum.

        It is the maximum that `sparse_marginals` returns less the score of the labels:
        0 where mu is certain of the labels.

        Parameters
        ----------
        labels, *scores, weight : as for `negative_log_likelihood`

        Returns
        -------
        loss : ndarray of shape (n,)
        gradient : tuple of ndarrays

        Raises
        ------
        ValueError
            As `negative_log_likelihood`.
        """
        found = self.scores(*scores)
        return self._loss_and_gradient(found, found.mixed_expectations, labels, weight)

    def _value_and_gradient(self, scores, expectations, weight):
        weight = as_weight(weight, len(scores))
        local, tied, values = expectations(weight)
        local *= np.repeat(weight, np.diff(scores.offsets))[:, np.newaxis]
        return values, self._by_array(local, tied)

    def _loss_and_gradient(self, scores, expectations, labels, weight):
        weight = as_weight(weight, len(scores))
        labels = as_known_labels(labels, *scores.local.shape)
        of_labels = _scores_of(labels, scores)
        local, tied, values = expectations(weight)
        local[np.arange(len(labels)), labels] -= 1.0
        local *= np.repeat(weight, np.diff(scores.offsets))[:, np.newaxis]
        inference = scores.inference(0, len(scores))
        add_labels(inference, labels, -weight, tied.reshape(1, tied.size))
        return np.maximum(values - of_labels, 0.0), self._by_array(local, tied)

    def _by_array(self, local, tied):
        """Return local and tied numbers as arrays of the shapes."""
        first, *shapes = self.shapes.values()
        bounds = np.cumsum([prod(shape) for shape in shapes])
        parts = np.split(tied.ravel(), bounds)[: len(shapes)]
        others = (p.reshape(s) for p, s in zip(parts, shapes, strict=True))
        return local[:, local.shape[1] - first[1] :], *others


def as_weight(weight: ArrayLike | None, n: int) -> NDArray[np.float64]:
    """Return the weights of n items, ones by default.

    Raises
    ------
    ValueError
        If there is not one finite weight for each item.
    """
    if weight is None:
        return np.ones(n)
    weight = np.ascontiguousarray(weight, dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(f"weight has shape {weight.shape}; {n} items need {(n,)}")
    if not np.isfinite(weight).all():
        raise ValueError("weight has numbers that are not finite: NaN or infinity")
    return weight


def as_known_labels(labels: ArrayLike, n: int, n_labels: int) -> NDArray[np.int32]:
    """Return n labels of n_labels as the kernels take them.

    Raises
    ------
    ValueError
        If there are more or fewer than n, or one is not from 0 to n_labels - 1.
    """
    found = as_labels(labels, n, n_labels)
    if found.min(initial=0) < 0:
        raise ValueError(
            f"labels must be from 0 to {n_labels - 1}, got {np.min(labels)}"
        )
    return found


def _scores_of(labels, scores):
    """Return the score of the labels of each item; ValueError if they are forbidden."""
    values = scores.path_scores(labels)
    if not (values > -np.inf).all():
        raise ValueError(
            f"labels: those of item {values.argmin()} are forbidden, by the structure "
            "or by a score of -inf; correct the labels or the scores"
        )
    return values
