"""Layers of a network for each structure: what is known of a batch makes a `Layer`."""

import numpy as np
from numpy.typing import ArrayLike

from skcrf_sdca._kernels.features._segment_rows import SegmentRows
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.messages import check_count
from skcrf_sdca._utils.words import in_words
from skcrf_sdca.data.graphs import Edges
from skcrf_sdca.data.tree_sizes import check_sentences
from skcrf_sdca.data.trees import TreeRules
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.dependency.scores import ArcScores
from skcrf_sdca.structures.graph.junction_tree import junction_trees
from skcrf_sdca.structures.graph.pairs import pair_places
from skcrf_sdca.structures.graph.scores import GraphScores
from skcrf_sdca.structures.layer import Layer
from skcrf_sdca.structures.segment.grammar import Grammar
from skcrf_sdca.structures.segment.scores import SegmentScores, check_segments_fit

__all__ = ["chain_layer", "dependency_layer", "graph_layer", "segment_layer"]

# Numbers of features of segments are int32.
MOST_SEGMENTS = int(np.iinfo(np.int32).max)


def chain_layer(
    lengths: ArrayLike, n_labels: int, *, n_jobs: int | None = None
) -> Layer:
    """Return the layer of chains of labels.

    Parameters
    ----------
    lengths : array-like of int of shape (n,)
        The number of positions of each chain.
    n_labels : int
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    layer : Layer
        Its scores are ``nodes`` (n_positions, n_labels) and ``transition``
        (n_labels, n_labels), indexed [from, to].

    Examples
    --------
    >>> from skcrf_sdca.structures.layers import chain_layer
    >>> chain_layer([2, 1], 3).shapes
    {'nodes': (3, 3), 'transition': (3, 3)}
    """
    check_count("n_labels", n_labels)
    offsets, pairs = _bounds(lengths, "lengths"), (n_labels, n_labels)

    def new_scores(local, tied):
        return Chains(local, tied.reshape(pairs), offsets)

    shapes = {"nodes": (int(offsets[-1]), n_labels), "transition": pairs}
    return Layer(new_scores, shapes, n_jobs=n_jobs)


def segment_layer(
    lengths: ArrayLike,
    labels: list[str],
    *,
    max_length: int,
    scheme: str | None = None,
    n_jobs: int | None = None,
) -> Layer:
    """Return the layer of segments that follow each other, a semi-Markov chain.

    Parameters
    ----------
    lengths : array-like of int of shape (n,)
        The number of tokens of each sequence.
    labels : list of str
        The labels of tokens.
    max_length : int
        The largest number M of tokens of a segment.
    scheme : str, default=None
        The tagging scheme of the labels, such as "BIO". None if each label is a
        type of segments: a segment is then a maximal run of its label.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    layer : Layer
        Its scores are ``tokens`` (n_tokens, n_labels); ``transition`` (K, K) of a
        type of segments after another, [from, to]; ``length`` (K, M), the scores of
        segments of 1, ..., M tokens; and ``segments`` (n_tokens, M, K), of single
        segments: [t, m - 1, k] is that of type k with m tokens that begins at t.

    Raises
    ------
    ValueError
        If an argument is wrong, a label is not of the scheme, or the batch has 2^31
        segments or more.
    MemoryError
        If the scores of all segments do not fit into memory.

    Examples
    --------
    >>> from skcrf_sdca.structures.layers import segment_layer
    >>> labels = ["B-P", "I-P", "O"]
    >>> layer = segment_layer([4], labels, max_length=3, scheme="BIO")
    >>> layer.shapes["tokens"], layer.shapes["segments"]
    ((4, 3), (4, 3, 2))
    """
    check_count("max_length", max_length)
    offsets = _bounds(lengths, "lengths")
    grammar = Grammar(labels, scheme, max_length)
    _check_batch_fits(int(offsets[-1]), grammar)
    rows = _row_of_each_segment(offsets, max_length)
    check_segments_fit(np.diff(offsets), grammar, rows)

    def new_scores(local, tied):
        return SegmentScores(local, tied, offsets, grammar, rows)

    n_tokens, n_types = int(offsets[-1]), grammar.n_types
    shapes = {
        "tokens": (n_tokens, len(labels)),
        "transition": (n_types, n_types),
        "length": (n_types, max_length),
        "segments": (n_tokens, max_length, n_types),
    }
    return Layer(new_scores, shapes, n_jobs=n_jobs)


def graph_layer(
    n_nodes: list[int],
    edges: list[ArrayLike],
    n_labels: int,
    *,
    edge_features: list[ArrayLike] | None = None,
    n_jobs: int | None = None,
) -> Layer:
    """Return the layer of graphs, such as trees of nodes with labels.

    Inference is exact, by a junction tree of each graph: its time grows with
    ``n_labels ** (w + 1)``, where w is the treewidth, 1 for a tree.

    Parameters
    ----------
    n_nodes : list of int of length n
        The number of nodes of each graph.
    edges : list of n array-likes of int of shape (n_edges, 2)
        The two nodes of each edge, counted in their graph.
    n_labels : int
    edge_features : list of n array-likes, default=None
        Of shape (n_edges, n_features): factors of the scores of edges. Each edge
        has the feature 1 by default, so that all share one matrix of scores. With a
        feature of its own, as in ``np.eye``, each edge has a matrix of its own.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    layer : Layer
        Its scores are ``nodes`` (n_nodes_of_all, n_labels) and ``pairs``
        (n_features, n_labels, n_labels): an edge has the sum of its features times
        the score of its two labels, which must be finite.

    Examples
    --------
    >>> from skcrf_sdca.structures.layers import graph_layer
    >>> graph_layer([3], [[[0, 1], [0, 2]]], 2).shapes
    {'nodes': (3, 2), 'pairs': (1, 2, 2)}
    """
    check_count("n_labels", n_labels)
    offsets = _bounds(n_nodes, "n_nodes")
    for name, own in {"edges": edges, "edge_features": edge_features}.items():
        if own is not None and len(own) != len(offsets) - 1:
            raise ValueError(
                f"{name} has {len(own)} lists; {len(offsets) - 1} graphs need one each"
            )
    place = pair_places(n_labels, directed=True)
    with in_words(X="edges"):
        read = Edges.of_lists(edges, edge_features, np.diff(offsets).tolist())
        trees, _ = junction_trees(offsets, read, n_labels, place)

    def new_scores(local, tied):
        if not np.isfinite(tied).all():
            raise ValueError(
                "pairs must be finite: a score of -inf can forbid labels of nodes, and "
                "no pairs of labels"
            )
        return GraphScores(trees, local, tied, offsets, 0)

    shapes = {
        "nodes": (int(offsets[-1]), n_labels),
        "pairs": (read.features.shape[1], n_labels, n_labels),
    }
    return Layer(new_scores, shapes, n_jobs=n_jobs)


def dependency_layer(
    n_words: ArrayLike,
    n_relations: int = 1,
    *,
    projective: bool = False,
    single_root: bool = True,
    n_jobs: int | None = None,
) -> Layer:
    """Return the layer of dependency trees.

    Parameters
    ----------
    n_words : array-like of int of shape (n,)
        The number of words of each sentence.
    n_relations : int, default=1
    projective : bool, default=False
        Whether no arcs of a tree may cross.
    single_root : bool, default=True
        Whether one word alone of a tree is below the root.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    layer : Layer
        Its scores are ``arcs`` (n_arcs, n_relations). A sentence of m words has m
        (m + 1) arcs, which are the rows of an array (m + 1, m): from head h, 0 for
        the root, to each word. The labels of arcs are 0 for an arc that is not in
        the tree, and 1 + k for one with relation k:
        ``skcrf_sdca.data.trees.heads_of`` reads the heads of words.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.data.trees import heads_of
    >>> from skcrf_sdca.structures.layers import dependency_layer
    >>> layer = dependency_layer([3], projective=True)
    >>> arcs = np.array([[0, 5, 0], [0, 0, 0], [3, 0, 1], [0, 0, 0]], dtype=float)
    >>> heads_of(layer.decode(arcs.reshape(12, 1))[0])
    array([2, 0, 2])
    """
    check_count("n_relations", n_relations)
    rules = TreeRules(single_root, projective)
    sizes = np.diff(_bounds(n_words, "n_words"))
    with in_words(X="n_words"):
        check_sentences(sizes, rules)
    offsets = _bounds(sizes * (sizes + 1), "n_words")

    def new_scores(local, tied):
        # The label 0, of an arc that is not in the tree, has the score 0.
        local = np.hstack([np.zeros((len(local), 1)), local])
        return ArcScores(local, tied, offsets, None, rules)

    return Layer(new_scores, {"arcs": (int(offsets[-1]), n_relations)}, n_jobs=n_jobs)


def _bounds(sizes, name):
    """Return where the positions of each item begin, and the end."""
    sizes = np.asarray(sizes, dtype=None if np.size(sizes) else np.int64)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 0).any():
        raise ValueError(f"{name} must be integers >= 0, one for each item")
    return np.cumsum(np.append(0, sizes), dtype=np.int64)


def _check_batch_fits(n_tokens, grammar):
    """Raise ValueError or MemoryError if a batch has too many segments."""
    n_segments = n_tokens * grammar.max_length
    need = (
        f"the scores of the {n_segments} segments of up to {grammar.max_length} tokens"
    )
    advice = "take fewer sequences in a batch, or a smaller max_length"
    if n_segments > MOST_SEGMENTS:
        raise ValueError(
            f"{need} are more than the {MOST_SEGMENTS} of a batch: {advice}"
        )
    # Scores and gradients, and the rows of features while they are made.
    check_fits(16.0 * n_segments * (grammar.n_types + 2), need, advice)


def _row_of_each_segment(offsets, most):
    """Return SegmentRows in which each segment has one feature of its own.

    The number of the feature is begin * most + size - 1, with the token at which the
    segment begins.
    """
    ends = np.arange(1, offsets[-1] + 1)[:, np.newaxis]
    sizes = np.arange(most, 0, -1)
    first = np.repeat(offsets[:-1], np.diff(offsets))[:, np.newaxis]
    is_segment = ends - sizes >= first
    columns = ((ends - sizes) * most + sizes - 1)[is_segment].astype(np.int32)
    indptr = np.append(0, np.cumsum(is_segment)).astype(np.int32)
    n_features = int(offsets[-1]) * most
    return SegmentRows(indptr, columns, np.ones(len(columns)), n_features, most)
