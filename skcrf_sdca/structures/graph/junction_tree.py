"""Junction trees: the order in which the nodes of a graph are eliminated, by min-fill.

Owns the choice of the order, and the arrays of it that _junction_tree.pyx reads. Nodes
with at most one neighbour go first, so that trees need no search; then always the node
whose neighbours lack the fewest edges among each other. Graphs of equal shape share one
tree.
"""

from heapq import heapify, heappop, heappush
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._kernels.inference._junction_tree import MOST_AXES, JunctionTrees
from skcrf_sdca._utils.memory import available_memory, check_fits
from skcrf_sdca._utils.words import words

ADVICE = (
    'set inference="trw" (a convex surrogate with its own certificate), remove edges, '
    "join labels that are rare, or keep a forest of the edges (TreeCRF) or a chain "
    "(CRF)"
)


class Tree(NamedTuple):
    """The junction tree of one graph; steps, nodes and edges are counted in it.

    `JunctionTrees` takes these arrays. Each ``n_`` counts the entries of each step in
    the arrays after it, which have them end to end.
    """

    node: NDArray[np.int32]
    parent: NDArray[np.int32]
    n_axes: NDArray[np.int32]
    separator: NDArray[np.int32]
    n_children: NDArray[np.int32]
    child: NDArray[np.int32]
    n_exponents: NDArray[np.int32]
    exponent: NDArray[np.int32]
    n_edges: NDArray[np.int32]
    edge: NDArray[np.int32]
    edge_axis: NDArray[np.int32]
    edge_leaves: NDArray[np.uint8]


class TooWideError(Exception):
    """A clique has more nodes than the limit: ``n_nodes``."""

    def __init__(self, n_nodes):
        self.n_nodes = n_nodes


def elimination(n_nodes, pairs, most_axes):
    """Return the nodes in the order of their elimination, and their separators.

    The pairs are the edges. TooWideError if a node has more than ``most_axes``
    neighbours when it is eliminated.

    >>> from skcrf_sdca.structures.graph.junction_tree import elimination
    >>> elimination(3, [(0, 1), (1, 2)], most_axes=9)
    ([0, 2, 1], [[1], [1], []])
    """
    near = [set() for _ in range(n_nodes)]
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    order, separators = [], []
    _peel(near, order, separators)
    done = set(order)
    core = [v for v in range(n_nodes) if v not in done]
    versions = dict.fromkeys(core, 0)
    heap = [(_fill(near, v, most_axes), len(near[v]), v, 0) for v in core]
    heapify(heap)
    while heap:
        _, degree, v, version = heappop(heap)
        if versions.get(v) != version:
            continue
        if degree > most_axes:
            raise TooWideError(degree + 1)
        del versions[v]
        separator = near[v]
        order.append(v)
        separators.append(sorted(separator))
        for u in _eliminate(near, v, separator):
            versions[u] += 1
            fill = _fill(near, u, most_axes)
            heappush(heap, (fill, len(near[u]), u, versions[u]))
    return order, separators


def _peel(near, order, separators):
    """Eliminate nodes with at most one neighbour as long as there are any."""
    queue = [v for v, own in enumerate(near) if len(own) <= 1]
    gone = bytearray(len(near))
    for v in queue:
        if gone[v]:
            continue
        gone[v] = True
        order.append(v)
        separators.append(list(near[v]))
        for u in near[v]:
            near[u].discard(v)
            if len(near[u]) <= 1:
                queue.append(u)
        near[v] = set()


def _fill(near, v, most_axes):
    """Return how many pairs of neighbours of a node are not joined, twice.

    A node with too many neighbours comes last: a hub is not counted at every step.
    """
    own = near[v]
    if len(own) > most_axes:
        return len(own) ** 2
    return sum(len(own) - 1 - len(near[u] & own) for u in own)


def _eliminate(near, v, separator):
    """Join the neighbours of a node and remove it; return whose `_fill` may change."""
    changed = set(separator)
    for u in separator:
        near[u].discard(v)
    for u in separator:
        for other in separator - near[u] - {u}:
            near[u].add(other)
            near[other].add(u)
            changed |= near[u] & near[other]
    return changed


def tree_of(n_nodes, ends, most_axes):
    """Return the Tree of one graph with edges of shape (E, 2)."""
    pairs = ends.tolist()
    order, separators = elimination(n_nodes, pairs, most_axes)
    steps = [0] * n_nodes
    for step, node in enumerate(order):
        steps[node] = step
    # The axes: the node that is eliminated last comes first.
    for separator in separators:
        separator.sort(key=lambda v: -steps[v])
    parent = [steps[separator[-1]] if separator else -1 for separator in separators]
    children = [[] for _ in range(n_nodes)]
    exponents = []
    for step, above in enumerate(parent):
        exponents.append([])
        if above >= 0:
            children[above].append(step)
            place = {v: p for p, v in enumerate(reversed(separators[step]))}
            exponents[-1] = [place.get(v, -1) for v in separators[above]]
    edges, axes = [[] for _ in range(n_nodes)], [[] for _ in range(n_nodes)]
    leaves = [steps[one] < steps[other] for one, other in pairs]
    for e, (one, other) in enumerate(pairs):
        node, above = (one, other) if leaves[e] else (other, one)
        edges[steps[node]].append(e)
        axes[steps[node]].append(separators[steps[node]].index(above))
    n_edges, edge = _counted(edges)
    return Tree(
        np.array(order, dtype=np.int32),
        np.array(parent, dtype=np.int32),
        *_counted(separators),
        *_counted(children),
        *_counted(exponents),
        n_edges,
        edge,
        _counted(axes)[1],
        np.array(leaves, dtype=np.uint8)[edge],
    )


def _counted(lists):
    """Return the lengths of lists, and the lists end to end, int32."""
    flat = list(chain.from_iterable(lists))
    counts = np.fromiter(map(len, lists), dtype=np.int32, count=len(lists))
    return counts, np.array(flat, dtype=np.int32)


def junction_trees(offsets, edges, n_labels, place):
    """Return the JunctionTrees of graphs, if their tables fit into memory.

    Also return the number in ``edges`` of each edge of the trees. A MemoryError names
    the graph, its treewidth in the order that was found, and the bytes.
    """
    trees = _trees(offsets, edges, n_labels)
    first = np.repeat(edges.offsets[:-1], np.diff(edges.offsets))
    order = first + _joined(trees, "edge")
    ends = edges.ends[order]
    bounds = {
        name: _bounds(trees, name)
        for name in ("n_axes", "n_children", "n_exponents", "n_edges")
    }
    parent, features = _joined(trees, "parent"), edges.features[order]
    types = edge_types(features, edges.offsets)
    # Scores, exponentials and sums, each in two orders.
    check_fits(
        48 * types[1] * n_labels**2,
        f"{words().X}: the scores of {types[1]} edges of one graph, whose features "
        f"differ, with {n_labels} labels,",
        "round the features of edges, so that more are equal, or join labels that are "
        "rare",
    )
    is_narrow = narrow_steps(offsets, parent, bounds["n_axes"], bounds["n_edges"])
    found = JunctionTrees(
        n_labels,
        offsets,
        edges.offsets,
        node=_joined(trees, "node"),
        parent=parent,
        separator=(_joined(trees, "separator"), bounds["n_axes"]),
        child=(_joined(trees, "child"), bounds["n_children"]),
        exponent=(_joined(trees, "exponent"), bounds["n_exponents"]),
        is_narrow=is_narrow,
        edge_bounds=bounds["n_edges"],
        edge_from=ends[:, 0].copy(),
        edge_to=ends[:, 1].copy(),
        edge_axis=_joined(trees, "edge_axis"),
        edge_leaves=_joined(trees, "edge_leaves"),
        edge_features=features,
        edge_kind=types,
        place=place,
    )
    return found, order


def _trees(offsets, edges, n_labels):
    """Return the Tree of each graph; MemoryError if one does not fit."""
    available = available_memory()
    most_axes = MOST_AXES - 2
    if available is not None and n_labels > 1:
        fits = int(np.log(max(available / 8, 1.0)) / np.log(n_labels))
        most_axes = min(max(fits - 1, 1), most_axes)
    known = {}
    trees = []
    for i, n_nodes in enumerate(np.diff(offsets).tolist()):
        ends = edges.ends[edges.offsets[i] : edges.offsets[i + 1]]
        shape = n_nodes, ends.tobytes()
        if shape not in known:
            try:
                known[shape] = tree_of(n_nodes, ends, most_axes)
            except TooWideError as error:
                raise MemoryError(
                    _refusal(i, n_nodes, n_labels, error.n_nodes)
                    + f"; cliques of {most_axes + 1} nodes are the most that fit: "
                    f"{ADVICE}"
                ) from None
            _check_fits(i, known[shape], n_labels)
        trees.append(known[shape])
    return trees


def _refusal(i, n_nodes, n_labels, clique):
    n_bytes = 8.0 * float(n_labels) ** min(clique, 100)
    return (
        f"{words().X}: graph {i} of {n_nodes} nodes has a treewidth of {clique - 1} or "
        f"more in the order that min-fill finds: a clique of {clique} nodes with "
        f"{n_labels} labels has a table of {n_bytes:.3g} bytes ({n_bytes / 2**30:.3g} "
        "GiB)"
    )


def _check_fits(i, tree, n_labels):
    """Raise MemoryError if the tables of all cliques of a graph do not fit."""
    # Python's integers do not wrap around.
    counts = np.bincount(tree.n_axes).tolist()
    messages = sum(count * n_labels**axes for axes, count in enumerate(counts))
    widest = len(counts)
    check_fits(
        (8 * n_labels + 12) * messages + 8 * n_labels**widest,
        f"{words().X}: the tables of graph {i}, of {len(tree.node)} nodes, of "
        f"treewidth {widest - 1} in the order that min-fill finds, and with {n_labels} "
        "labels,",
        ADVICE,
    )


def _joined(trees, name):
    """Return one field of all trees, end to end."""
    empty = np.empty(0, dtype=np.uint8 if name == "edge_leaves" else np.int32)
    return np.concatenate([empty, *(getattr(tree, name) for tree in trees)])


def _bounds(trees, name):
    """Return where the entries of each step begin, and the end."""
    return np.cumsum(np.append(0, _joined(trees, name)), dtype=np.int64)


def edge_types(features, offsets):
    """Return the types of edges, as `JunctionTrees` takes them: integers from 0.

    Edges of one type have equal features. Each graph has types of its own if all graphs
    together have more types than the largest graph has edges. Also return the largest
    number of types, at least 1, and whether all graphs share the types.
    """
    if len(features) == 0:
        return np.zeros(0, dtype=np.int32), 1, True
    rows = np.ascontiguousarray(features)
    rows = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    known, types = np.unique(rows, return_inverse=True)
    n_edges = np.diff(offsets)
    if len(known) <= n_edges.max():
        return types.astype(np.int32), len(known), True
    graph = np.repeat(np.arange(len(n_edges)), n_edges)
    of_graph, types = np.unique(graph * len(known) + types, return_inverse=True)
    first = np.searchsorted(of_graph, np.arange(len(n_edges) + 1) * len(known))
    types = types - first[graph]
    return types.astype(np.int32), int(np.diff(first).max()), False


def narrow_steps(offsets, parent, separator_bounds, edge_bounds):
    """Return which steps need no table: (N,) uint8."""
    n_axes = np.diff(separator_bounds)
    above = parent + np.repeat(offsets[:-1], np.diff(offsets))
    widest_below = np.zeros(len(n_axes), dtype=np.int64)
    has_above = parent >= 0
    np.maximum.at(widest_below, above[has_above], n_axes[has_above])
    narrow = (n_axes <= 1) & (np.diff(edge_bounds) == n_axes) & (widest_below <= 1)
    return narrow.astype(np.uint8)
