"""Marginals of many chains laid end to end: the dual variables of the problem.

Owns their layout, their entropy, and the starting point of the dual solvers.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from skcrf_sdca._kernels.inference import _chain_marginals
from skcrf_sdca._kernels.math._transitions import TransitionLayout, all_transitions
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.parallel import over_ranges
from skcrf_sdca._utils.ragged import sums_of_items
from skcrf_sdca.structures.entropy import mixture_entropy, uniform_mixture_entropy


def edge_offsets(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where the edges of each sequence begin, as offsets (n + 1,) int64.

    A sequence of T positions has T - 1 edges, an empty one none.
    """
    n_edges = np.maximum(np.diff(offsets) - 1, 0)
    return np.concatenate([[0], np.cumsum(n_edges)]).astype(np.int64)


def edge_ends(offsets: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the position that each edge leads to, an int array (n_edges,).

    All positions but the first of each sequence, in order; the edge comes from the
    position before. The first sequence may begin at any position.
    """
    first = offsets[0]
    leads_here = np.ones(offsets[-1] - first, dtype=bool)
    leads_here[offsets[:-1][np.diff(offsets) > 0] - first] = False
    return first + np.flatnonzero(leads_here)


def by_pairs(edge: NDArray[Any]) -> NDArray[Any]:
    """Return edges (n_edges, ...) as rows of one number for each pair of labels."""
    return edge.reshape(len(edge), int(np.prod(edge.shape[1:])))


def smoothed_entropy(
    lengths: NDArray[np.integer[Any]], n_labels: int, smoothing: float
) -> NDArray[np.float64]:
    """Return H of `Marginals.smoothed` for each length, in nats."""
    # H is the sum over edges less the sum over inner nodes, which have two edges.
    of_edge, of_node = (
        uniform_mixture_entropy(n, smoothing) for n in (n_labels**2, n_labels)
    )
    n_edges = np.maximum(lengths - 1, 0)
    return n_edges * of_edge + (np.minimum(lengths, 1) - n_edges) * of_node


class Marginals:
    """Node and edge marginals of n chains.

    Parameters
    ----------
    node : ndarray of shape (n_positions, n_labels)
        ``node[t, k]`` is the probability of label k at position t.
    edge : ndarray of shape (n_edges, n_labels, n_labels), float32 or float64
        ``edge[t, j, k]`` is the probability of label j followed by label k;
        `renormalize` corrects the rounding of float32. With a layout of fewer pairs of
        labels the shape is (n_edges, layout.size).
    offsets : ndarray of shape (n + 1,), int64
        Chain i has the positions ``offsets[i]:offsets[i + 1]``, and the edges
        ``edge_offsets[i]:edge_offsets[i + 1]``.
    layout : TransitionLayout, default=None
        The pairs of labels that have edge marginals; by default all.

    Raises
    ------
    ValueError
        If node or edge do not have this shape.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.structures.chain.marginals import Marginals
    >>> uniform = Marginals.smoothed(
    ...     np.array([0, 1, 0]), np.array([0, 3]), n_labels=2, smoothing=1.0
    ... )
    >>> uniform.entropy() / np.log(2)
    array([3.])
    """

    def __init__(
        self,
        node: NDArray[np.float64],
        edge: NDArray[Any],
        offsets: NDArray[np.int64],
        layout: TransitionLayout | None = None,
    ) -> None:
        self.node = node
        self.edge = edge
        self.offsets = offsets
        self.edge_offsets = edge_offsets(offsets)
        n_labels = node.shape[-1]
        self.layout = all_transitions(n_labels) if layout is None else layout
        edge_shape = (self.edge_offsets[-1], *self.layout.shape)
        if node.shape != (offsets[-1], n_labels) or edge.shape != edge_shape:
            raise ValueError(
                f"node and edge have shapes {node.shape} and {edge.shape}; the offsets "
                f"need {(int(offsets[-1]), n_labels)} and {edge_shape}"
            )

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that a warm start needs."""
        return {"node": self.node, "edge": self.edge}

    def part(self, begin: int, end: int, offsets: NDArray[np.int64]) -> Self:
        """Return the marginals of begin <= i < end, as views."""
        own, bounds = offsets[begin : end + 1], self.edge_offsets[[begin, end]]
        node, edge = self.node[own[0] : own[-1]], self.edge[bounds[0] : bounds[1]]
        return type(self)(node, edge, own - own[0], self.layout)

    def tied_scores(self, tied: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return <tied expectations, tied scores> of all sequences."""
        edges = by_pairs(self.edge)
        values = np.einsum("ep,p->e", edges, tied.ravel())
        return sums_of_items(values, self.edge_offsets)

    @property
    def local(self) -> NDArray[np.float64]:
        """Marginals of single positions: the nodes."""
        return self.node

    @classmethod
    def empty(
        cls,
        offsets: NDArray[np.int64],
        n_labels: int,
        *,
        dtype: DTypeLike = np.float64,
        layout: TransitionLayout | None = None,
        new: Callable[..., NDArray[Any]] | None = None,
    ) -> Self:
        """Return marginals of the right shapes whose values are not set.

        The edges have this ``dtype``. They are made by ``new``, or in memory:
        MemoryError if they clearly do not fit.
        """
        n_edges = int(edge_offsets(offsets)[-1])
        layout = all_transitions(n_labels) if layout is None else layout
        if new is None:
            new = np.empty
            check_fits(
                n_edges * layout.size * np.dtype(dtype).itemsize,
                f"the marginals of {n_edges} edges between {n_labels} labels",
                "take fewer or shorter sequences at once",
            )
        return cls(
            new((int(offsets[-1]), n_labels), np.float64),
            new((n_edges, *layout.shape), dtype),
            offsets,
            layout,
        )

    @classmethod
    def smoothed(
        cls,
        labels: NDArray[np.integer[Any]],
        offsets: NDArray[np.int64],
        *,
        n_labels: int,
        smoothing: float,
        dtype: DTypeLike = np.float64,
    ) -> Self:
        """Return smoothing * uniform + (1 - smoothing) * one-hot at the labels.

        Parameters
        ----------
        labels : ndarray of shape (n_positions,), int
        offsets : ndarray of shape (n + 1,), int64
        n_labels : int
        smoothing : float in (0, 1]
            0 is not allowed: the slope of the entropy is infinite at one-hot marginals.
        dtype : dtype, default=float64
            Precision of the edges.
        """
        marginals = cls.empty(offsets, n_labels, dtype=dtype)
        marginals.smooth(labels, smoothing)
        return marginals

    def smooth(
        self,
        labels: NDArray[np.integer[Any]],
        smoothing: float,
        *,
        n_jobs: int | None = None,
    ) -> None:
        """Write the marginals of `smoothed`, on ``n_jobs`` threads."""
        n_labels, first = self.node.shape[1], self.edge_offsets

        def fill(b, e):
            self.node[self.offsets[b] : self.offsets[e]] = smoothing / n_labels
            self.edge[first[b] : first[e]] = smoothing / n_labels**2

        over_ranges(fill, self.offsets, n_jobs)
        self._add_labels(labels, 1.0 - smoothing)

    def __len__(self) -> int:
        """Return the number of chains n."""
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return (node, edge) of chain i, as views."""
        return (
            self.node[self.offsets[i] : self.offsets[i + 1]],
            self.edge[self.edge_offsets[i] : self.edge_offsets[i + 1]],
        )

    def copy(self) -> "Marginals":
        """Return marginals with arrays of their own."""
        return Marginals(self.node.copy(), self.edge.copy(), self.offsets, self.layout)

    def shrink_to_labels(
        self, labels: NDArray[np.integer[Any]], *, keep: float
    ) -> None:
        """Mix the marginals: keep * marginals + (1 - keep) * one-hot at the labels.

        Parameters
        ----------
        labels : ndarray of shape (n_positions,), int
        keep : float in (0, 1]
        """
        self.node *= keep
        self.edge *= keep
        self._add_labels(labels, 1.0 - keep)

    def _add_labels(self, labels, share):
        """Add a share of the one-hot marginals at the labels."""
        edge = by_pairs(self.edge)

        def add(begin, end):
            first, last = self.offsets[[begin, end]]
            self.node[np.arange(first, last), labels[first:last]] += share
            edge[self._label_pairs(labels, begin, end)] += share

        over_ranges(add, self.offsets)

    def _label_pairs(self, labels, begin, end):
        """Return the index of the edge marginals of paths, of begin <= i < end."""
        to = edge_ends(self.offsets[begin : end + 1])
        pairs = self.layout.place_of(labels[to - 1], labels[to])
        return np.arange(*self.edge_offsets[[begin, end]]), pairs

    def entropy_by_keep(
        self,
        labels: NDArray[np.integer[Any]],
        weight: NDArray[np.float64],
        entropy: NDArray[np.float64],
    ) -> Callable[[float], float]:
        """Return sum_i weight[i] H(mu_i) as a function of keep (`shrink_to_labels`).

        The time of an evaluation does not grow with n_labels: the mixture keeps the
        proportions of all labels but the correct one, so that the entropy of a node or
        edge is derived from H(1), its entropy now, and q, the probability of the
        correct label or pair. With h(x) = -x log x,

            H(keep) = keep (H(1) - h(q)) + (1 - q) h(keep) + h(1 - keep (1 - q)).

        Parameters
        ----------
        labels : ndarray of shape (n_positions,), int
        weight : ndarray of shape (n,)
        entropy : ndarray of shape (n,)
            H(mu_i) now.

        Returns
        -------
        by_keep : callable
            Takes a float in [0, 1] and returns a float, in nats.
        """
        to = edge_ends(self.offsets)
        n_nodes = len(self.node)
        q = np.concatenate(
            [
                by_pairs(self.edge)[self._label_pairs(labels, 0, len(self))],
                self.node[np.arange(n_nodes), labels],
            ]
        )
        # H is the sum over edges less the sum over inner nodes, which have two edges.
        n_edges_at = np.bincount(np.concatenate([to - 1, to]), minlength=n_nodes)
        of_node = np.repeat(weight, np.diff(self.offsets))
        factor = np.concatenate([of_node[to], of_node * (1 - n_edges_at)])
        return mixture_entropy(q, factor, weight @ entropy)

    def renormalize(
        self, weight: NDArray[np.float64], *, n_jobs: int | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Write the node marginals of the Markov chain that the edges define.

        Edges are kept. With row-normalised edges and the first node they define a
        Markov chain, whose node marginals are written; these differ from the old nodes
        by rounding only.

        Parameters
        ----------
        weight : ndarray of shape (n,)
        n_jobs : int, default=None
            Number of threads.

        Returns
        -------
        edge_total : ndarray of shape (n_labels, n_labels), or (layout.size,)
            sum_i weight[i] sum_t edge marginals of the Markov chain.
        entropy : ndarray of shape (n,)
            See `entropy`.
        """
        if np.shape(weight) != (len(self),):
            raise ValueError(f"{np.shape(weight)} weights for {len(self)} chains")
        values = np.empty(len(self))

        def run(b, e):
            total = np.zeros(self.layout.shape)
            _chain_marginals.renormalize(
                self.node,
                by_pairs(self.edge),
                self.layout,
                self.offsets,
                self.edge_offsets,
                weight,
                b,
                e,
                total.reshape(-1),
                values,
            )
            return total

        totals = over_ranges(run, self.offsets, n_jobs)
        return np.sum(totals, axis=0), values

    def entropy(self, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return H(mu_i) of every chain, an array of shape (n,), in nats.

        H is the sum of the edge entropies less the sum of the entropies of the inner
        nodes; for a chain of one node it is the entropy of that node.
        """
        marginals = Marginals(self.node.copy(), self.edge, self.offsets, self.layout)
        return marginals.renormalize(np.ones(len(self)), n_jobs=n_jobs)[1]
