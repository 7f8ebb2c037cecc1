"""The order in which tree-reweighted sums take the nodes of a graph.

Owns the choice of the order, the edge appearance probabilities that follow from it, and
the arrays of both that _reweighted.pyx reads. Maximum cardinality search from a node of
lowest degree, backwards: so every node but the first of each component has an edge to a
later one, an edge that separates two parts has the probability 1, and in a grid most
nodes have two edges to later ones. Where edges are weak, log Z_TRW exceeds log Z in
proportion to sum_e (1 / rho_e - 1), which is small where nodes have about as many edges
to later ones. Graphs of equal shape share one order.
"""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._kernels.inference._reweighted import ReweightedGraphs
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.words import words
from skcrf_sdca.structures.graph.junction_tree import edge_types


class Order(NamedTuple):
    """The order of one graph: nodes by step, and edges in the order of the steps.

    Attributes
    ----------
    node : ndarray of shape (V,), int32
    edge : ndarray of shape (E,), int32
    n_edges : ndarray of shape (V,), int32
        The edges of each step to nodes of later steps.
    leaves : ndarray of shape (E,), uint8
        Whether an edge goes from the node of the earlier step.
    appearance : ndarray of shape (E,)
    counting : ndarray of shape (V,)
        1 - sum of the appearances of all edges of a node.
    """

    node: NDArray[np.int32]
    edge: NDArray[np.int32]
    n_edges: NDArray[np.int32]
    leaves: NDArray[np.uint8]
    appearance: NDArray[np.float64]
    counting: NDArray[np.float64]


def order_of(n_nodes, ends):
    """Return the Order of one graph with edges of shape (E, 2).

    >>> import numpy as np
    >>> from skcrf_sdca.structures.graph.reweighting import order_of
    >>> ring = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> order = order_of(4, ring)
    >>> order.node, order.edge, order.appearance
    (array([2, 3, 1, 0], dtype=int32), array([1, 2, 3, 0], dtype=int32), \
array([0.5, 0.5, 1. , 1. ]))
    """
    node = np.array(_search(n_nodes, ends.tolist())[::-1], dtype=np.int32)
    step = np.empty(n_nodes, dtype=np.int32)
    step[node] = np.arange(n_nodes)
    steps = step[ends].reshape(-1, 2)
    edge = np.argsort(steps.min(axis=1), kind="stable")
    leaves = (steps[:, 0] < steps[:, 1])[edge]
    n_edges = np.bincount(steps.min(axis=1), minlength=n_nodes)
    appearance = 1.0 / n_edges[steps.min(axis=1)[edge]]
    later = node[steps.max(axis=1)[edge]]
    counting = -np.bincount(later, appearance, minlength=n_nodes).astype(np.float64)
    counting[node] += n_edges == 0
    # A node whose edges to earlier ones make a whole is not counted.
    counting[np.abs(counting) < 1e-12] = 0.0
    return Order(
        node,
        edge.astype(np.int32),
        n_edges.astype(np.int32),
        leaves.astype(np.uint8),
        appearance,
        counting,
    )


def _search(n_nodes, pairs):
    """Return the nodes of each component as maximum cardinality search finds them."""
    near = [[] for _ in range(n_nodes)]
    for a, b in pairs:
        near[a].append(b)
        near[b].append(a)
    found, is_found, n_edges = [], bytearray(n_nodes), [0] * n_nodes
    for first in sorted(range(n_nodes), key=lambda v: len(near[v])):
        # Most edges to nodes that are found first; then the first of these seen.
        frontier, seen = [(0, 0, first)], {first: 0}
        while frontier:
            *_, v = heappop(frontier)
            if is_found[v]:
                continue
            is_found[v] = True
            found.append(v)
            for u in near[v]:
                n_edges[u] += 1
                place = seen.setdefault(u, len(seen))
                if not is_found[u]:
                    heappush(frontier, (-n_edges[u], place, u))
    return found


NOTHING = order_of(0, np.empty((0, 2), dtype=np.int32))


def reweighted_graphs(offsets, edges, n_labels, place):
    """Return the ReweightedGraphs, if the marginals of edges fit into memory.

    Also return the number in ``edges`` of each of their edges.
    """
    orders, known = [], {}
    for i, n_nodes in enumerate(np.diff(offsets).tolist()):
        ends = edges.ends[edges.offsets[i] : edges.offsets[i + 1]]
        shape = n_nodes, ends.tobytes()
        if shape not in known:
            known[shape] = order_of(n_nodes, ends)
        orders.append(known[shape])
    joined = Order(*map(np.concatenate, zip(NOTHING, *orders, strict=True)))
    first = np.repeat(edges.offsets[:-1], np.diff(edges.offsets))
    order = first + joined.edge
    ends, features = edges.ends[order], edges.features[order]
    alike = np.column_stack([features, joined.appearance, joined.leaves])
    types = edge_types(alike, edges.offsets)
    most = int(np.diff(edges.offsets).max(initial=0))
    check_fits(
        24 * (most + types[1]) * n_labels**2,
        f"{words().X}: the marginals of {most} edges of one graph with {n_labels} "
        "labels",
        "cut large graphs into parts, or join labels that are rare",
    )
    found = ReweightedGraphs(
        n_labels,
        offsets,
        edges.offsets,
        node=joined.node,
        edge_bounds=np.append(0, np.cumsum(joined.n_edges, dtype=np.int64)),
        edge_from=ends[:, 0].copy(),
        edge_to=ends[:, 1].copy(),
        leaves=joined.leaves,
        appearance=joined.appearance,
        counting=joined.counting,
        edge_features=features,
        edge_kind=types,
        place=place,
    )
    return found, order
