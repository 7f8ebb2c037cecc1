"""Reading graphs: the nodes as sequences, and the edges that join these, end to end.

Messages say graph and node. A graph is a tuple (nodes, edges) or (nodes, edges, edge
features), or an object of networkx, which is recognised by its attributes: networkx is
not imported. graph_data.py reads them for a fit; here is NumPy alone.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._utils.messages import described
from skcrf_sdca._utils.words import in_words, words
from skcrf_sdca.data.containers import is_graph, is_sparse

# The functions that read sequences call them graphs.
named_as_graphs = in_words(
    sequence="graph",
    item="node",
    position="node",
    imputer="SimpleImputer, on one array with the rows of all nodes",
)

# The attribute of nodes and edges of networkx that holds their features.
ATTRIBUTE = "features"


class Edges(NamedTuple):
    """The edges of n graphs, end to end.

    Graph i has the edges ``offsets[i]:offsets[i + 1]``. ``ends`` are the nodes [from,
    to], counted in their graph. ``features`` is a column of ones if edges have no
    features.
    """

    offsets: NDArray[np.int64]
    ends: NDArray[np.int32]
    features: NDArray[np.float64]

    @classmethod
    def of_lists(cls, ends, features, n_nodes):
        """Read the edges of each graph, given lists of array-likes.

        Raise ValueError or TypeError, with the graph and the edge, if an edge joins a
        node to itself or to one that is not there, or if the features are not finite
        numbers, as many for each edge.

        >>> from skcrf_sdca.data.graphs import Edges
        >>> Edges.of_lists([[[0, 1], [1, 2]], []], None, [3, 1]).offsets
        array([0, 2, 2])
        """
        pairs = [_ends(ends[i], i, n) for i, n in enumerate(n_nodes)]
        offsets = np.cumsum([0, *map(len, pairs)], dtype=np.int64)
        pairs = np.concatenate([np.empty((0, 2), dtype=np.int32), *pairs])
        if features is None:
            return cls(offsets, pairs, np.ones((len(pairs), 1)))
        rows = [
            _features(own, i, n)
            for i, (own, n) in enumerate(zip(features, np.diff(offsets), strict=True))
        ]
        return cls(offsets, pairs, _joined(rows))

    def of_width(self, n, model):
        """Return them if each edge has n features; ValueError with the model's name."""
        found = self.features.shape[1]
        if not len(self.ends):
            return self._replace(features=np.empty((0, n)))
        if found != n:
            raise ValueError(
                f"{words().X} has {found} features of each edge, but {model} is "
                f"expecting {n}, as in fit; edges without features have one."
            )
        return self


def nodes_and_rests(X):
    """Return the nodes of graphs and what follows them in each, or X and None.

    None says that X has no graphs, but sequences of tokens: edges are pairs of
    integers, and heads integers, as no token is.

    >>> from skcrf_sdca.data.graphs import nodes_and_rests
    >>> nodes_and_rests([(["a", "b"], [-1, 0])])
    ([['a', 'b']], [([-1, 0],)])
    >>> nodes_and_rests([("a", "b")])
    ([('a', 'b')], None)
    """
    if isinstance(X, Iterator):
        X = list(X)
    if not isinstance(X, (list, tuple, np.ndarray)) or not any(map(is_graph, X)):
        return X, None
    for i, graph in enumerate(X):
        if not is_graph(graph):
            raise TypeError(
                f"X mixes graphs and sequences: {i} is {described(graph)}; a graph is "
                "a tuple (tokens, edges) or (tokens, heads), with integers."
            )
    return [graph[0] for graph in X], [graph[1:] for graph in X]


def split_graphs(X):
    """Return the nodes, the edges and the features of edges of graphs, three lists.

    The last is None if no graph has features of edges. Raise ValueError or TypeError,
    which names the graph, if one is no graph, or only some have features of edges.
    """
    if hasattr(X, "adj") or isinstance(X, (str, bytes)) or not hasattr(X, "__iter__"):
        raise TypeError(f"{words().X} is {described(X)}; it must be a list of graphs")
    graphs = [_parts(graph, i) for i, graph in enumerate(X)]
    nodes, ends, features = ([graph[k] for graph in graphs] for k in range(3))
    with_features = [own is not None for own in features]
    if not any(with_features):
        return nodes, ends, None
    if not all(with_features):
        i = with_features.index(not with_features[0])
        has, other = ("none", "has some") if with_features[0] else ("some", "has none")
        raise ValueError(
            f"{words().X}: graph {i} has {has} of the features of edges, but graph 0 "
            f"{other}; all graphs must have them, or none. A graph is a tuple (nodes, "
            "edges) or (nodes, edges, edge_features), and a tree is a tuple (nodes, "
            "heads): nodes alone, such as the tokens of a sentence, are neither"
        )
    return nodes, ends, features


def split_trees(X):
    """Return the same three lists of trees, whose edges go from head to child.

    A tree is a tuple (nodes, heads) or (nodes, heads, edge features): the head of each
    node is another node, or -1 for a root; the row of features of an edge stands at its
    child, and the rows of roots are not read. Several roots make a forest.

    Raise ValueError or TypeError, with the tree and the node, if heads are not
    such integers, one for each node, or form a cycle.

    >>> from skcrf_sdca.data.graphs import split_trees
    >>> nodes, edges, _ = split_trees([([{"w": "a"}, {"w": "b"}], [-1, 0])])
    >>> edges[0].tolist()
    [[0, 1]]
    """
    nodes, heads, features = split_graphs(X)
    ends = []
    for i, own in enumerate(heads):
        head = _heads(own, i)
        (children,) = np.nonzero(head >= 0)
        ends.append(np.column_stack([head[children], children]))
        if features is not None:
            rows = np.asarray(features[i])
            if len(rows) != len(head):
                raise ValueError(
                    f"{words().X}: tree {i} has {len(head)} nodes, but {len(rows)} "
                    "rows of edge features; the row of a node is that of the edge from "
                    "its head"
                )
            features[i] = rows[children] if len(head) else rows
        if n_of(nodes[i]) != len(head):
            raise ValueError(
                f"{words().X}: tree {i} has {n_of(nodes[i])} nodes, but {len(head)} "
                "heads"
            )
    return nodes, ends, features


def n_of(nodes):
    """Return how many nodes there are, in a list, an array or a sparse matrix."""
    return nodes.shape[0] if hasattr(nodes, "shape") else len(nodes)


def _heads(heads, i):
    """Return the heads of the nodes of tree i, or raise."""
    head = np.asarray(heads)
    if head.size == 0:
        return np.empty(0, dtype=np.intp)
    if head.ndim != 1 or head.dtype.kind not in "iu":
        raise ValueError(
            f"{words().X}: the heads of tree {i} are an array of shape {head.shape} "
            f"and dtype {head.dtype}; they must be integers of shape (n_nodes,). A "
            "tree is a tuple (nodes, heads), such as (nodes, [-1, 0, 0]); of the "
            "column HEAD of CoNLL-U, heads are [int(head) - 1 for head in column]"
        )
    wrong = (head < -1) | (head >= len(head))
    if wrong.any():
        t = int(wrong.argmax())
        raise ValueError(
            f"{words().X}: tree {i}, node {t} has the head {head[t]}, but the tree has "
            f"the nodes 0 to {len(head) - 1}, and -1 stands for no head"
            f"{_counted_from_1(head)}"
        )
    t = _on_cycle(head)
    if t is not None:
        raise ValueError(
            f"{words().X}: tree {i}, node {t}: its heads form a cycle"
            f"{_counted_from_1(head)}"
        )
    return head


def _on_cycle(head):
    """Return the first node whose heads form a cycle, or None."""
    # Twice as far up at every turn: who is on a cycle never arrives.
    above = np.append(head, -1).astype(np.intp)
    for _ in range(len(head).bit_length()):
        above = above[above]
    return int((above >= 0).argmax()) if (above >= 0).any() else None


def _counted_from_1(head):
    """Return a hint if heads that are none would be some, were they less by 1."""
    within = head.min() == 0 and head.max() <= len(head)
    if not within or _on_cycle(head - 1) is not None:
        return ""
    return (
        ". Heads that count from 1, with 0 for the root, as in CoNLL-U, must be less "
        "by 1: [int(head) - 1 for head in heads]"
    )


def _parts(graph, i):
    """Return nodes, edges and features of edges, or None, of one graph."""
    if hasattr(graph, "nodes") and hasattr(graph, "edges") and hasattr(graph, "adj"):
        return _parts_of_networkx(graph, i)
    has_parts = isinstance(graph, (tuple, list)) and len(graph) in (2, 3)
    if not has_parts or isinstance(graph[0], str):
        raise TypeError(
            f"{words().X}: graph {i} is {described(graph)}; a graph is a tuple (nodes, "
            "edges) or (nodes, edges, edge_features), or one of networkx"
        )
    nodes, ends, features = (*graph, None) if len(graph) == 2 else graph
    return nodes, _ends_of_matrix(ends, i) if is_sparse(ends) else ends, features


def _ends_of_matrix(matrix, i):
    """Return the edges of an adjacency matrix; a symmetric one has each edge twice."""
    # Whoever has a matrix has SciPy.
    import scipy.sparse as sp

    n_rows, n_columns = matrix.shape
    if n_rows != n_columns:
        raise ValueError(
            f"{words().X}: the edges of graph {i} are a sparse matrix of shape "
            f"{matrix.shape}; an adjacency matrix is square, a row for each node"
        )
    entries = sp.csr_array(matrix)
    entries.eliminate_zeros()
    is_symmetric = ((entries != 0) != (entries != 0).T).nnz == 0
    found = (sp.triu(entries) if is_symmetric else entries).tocoo()
    order = np.lexsort((found.col, found.row))
    return np.column_stack([found.row, found.col])[order]


def _parts_of_networkx(graph, i):
    """Return the parts of a graph of networkx, the nodes in its order."""
    number = {node: k for k, node in enumerate(graph.nodes)}
    nodes = [values.get(ATTRIBUTE) for _, values in graph.nodes(data=True)]
    lacking = next((k for k, own in enumerate(nodes) if own is None), None)
    if lacking is not None:
        raise ValueError(
            f"{words().X}: graph {i}, node {list(number)[lacking]!r} has no attribute "
            f'"{ATTRIBUTE}", a dict or a row of numbers'
        )
    edges = list(graph.edges(data=True))
    ends = [(number[a], number[b]) for a, b, _ in edges]
    features = [values.get(ATTRIBUTE) for *_, values in edges]
    known = [own is not None for own in features]
    if any(known) and not all(known):
        a, b, _ = edges[known.index(False)]
        raise ValueError(
            f'{words().X}: graph {i}, edge {(a, b)!r} has no attribute "{ATTRIBUTE}", '
            "but others have it"
        )
    if not any(known):
        return nodes, ends, None
    return nodes, ends, np.array([np.atleast_1d(own) for own in features])


def _ends(ends, i, n_nodes):
    """Return the ends of the edges of graph i, int32, or raise."""
    pairs = np.asarray(ends)
    if pairs.size == 0:
        return np.empty((0, 2), dtype=np.int32)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        are_heads = pairs.shape == (n_nodes,) and pairs.dtype.kind in "iu"
        raise ValueError(
            f"{words().X}: the edges of graph {i} are an array of shape {pairs.shape} "
            f"and dtype {pairs.dtype}; they must be integers of shape (n_edges, 2)"
            + (". TreeCRF takes the head of each node" if are_heads else "")
        )
    wrong = ((pairs < 0) | (pairs >= n_nodes)).any(axis=1)
    if wrong.any():
        e = int(wrong.argmax())
        raise ValueError(
            f"{words().X}: graph {i}, edge {e} joins {pairs[e].tolist()}, but the "
            f"graph has the nodes 0 to {n_nodes - 1}"
        )
    loops = pairs[:, 0] == pairs[:, 1]
    if loops.any():
        e = int(loops.argmax())
        raise ValueError(
            f"{words().X}: graph {i}, edge {e} joins node {pairs[e, 0]} to itself; "
            "leave it out, features of a node say the same"
        )
    return pairs.astype(np.int32)


def _features(features, i, n):
    """Return the features of the edges of graph i, None if there are none, or raise."""
    try:
        rows = np.asarray(features, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{words().X}: the edge features of graph {i} are no dense array of "
            f"numbers: {error}"
        ) from None
    if n == 0 and rows.size == 0:
        return rows if rows.ndim == 2 and rows.shape[1] else None
    if rows.ndim != 2 or len(rows) != n:
        raise ValueError(
            f"{words().X}: the edge features of graph {i} are of shape {rows.shape}; "
            f"with {n} edges they must be of shape ({n}, n_edge_features)"
        )
    right = np.isfinite(rows).all(axis=1)
    if not right.all():
        raise ValueError(
            f"{words().X}: graph {i}, edge {int(right.argmin())} has features that are "
            "NaN or infinite"
        )
    return rows


def _joined(rows):
    """Return the features of the edges of all graphs, or raise."""
    widths = [None if own is None else own.shape[1] for own in rows]
    known = [width for width in widths if width is not None]
    width = known[0] if known else 1
    wrong = next((i for i, w in enumerate(widths) if w not in (None, width)), None)
    if wrong is not None or width == 0:
        i = wrong if wrong is not None else 0
        raise ValueError(
            f"{words().X}: graph {i} has {widths[i]} features of each edge; all graphs "
            "must have the same number, at least 1, and the first with edges has "
            f"{width}"
        )
    return np.concatenate([np.empty((0, width)), *(o for o in rows if o is not None)])
