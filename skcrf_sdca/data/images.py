"""Graphs of images: pixels are nodes, and edges join those beside each other."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Steps (rows, columns) to the later of two neighbours, by the number of neighbours.
STEPS = {4: [(0, 1), (1, 0)], 8: [(0, 1), (1, 0), (1, 1), (1, -1)]}


def image_graph(
    image: ArrayLike, *, n_neighbours: int = 4, contrast: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
    """Return the graph of an image, an element of X for `GraphCRF`.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, n_channels)
        The values of pixels, the features of nodes. Others may be channels.
    n_neighbours : {4, 8}, default=4
        Whether edges go along rows and columns alone, or along both diagonals too.
    contrast : bool, default=False
        Whether edges have a second feature for each direction: exp(-d^2 / m), with d
        the distance between the values of both ends and m the mean of d^2 over all
        edges; 1 if m is 0. Edges between pixels alike have a value near 1.

    Returns
    -------
    nodes : ndarray of shape (height * width, n_channels)
        Pixel (i, j) is node i * width + j.
    edges : ndarray of shape (n_edges, 2)
        From the left to the right, and from above to below.
    edge_features : ndarray of shape (n_edges, n_neighbours / 2 or n_neighbours)
        Of each direction 1 where the edge has it: row, column, and with 8 neighbours
        falling and rising diagonal; then the contrasts of the same.

    Raises
    ------
    ValueError
        If the image is of another shape, or n_neighbours is not 4 or 8.

    Examples
    --------
    >>> from skcrf_sdca.datasets import image_graph
    >>> nodes, edges, features = image_graph([[0.0, 1.0], [0.0, 1.0]])
    >>> edges.tolist(), features.tolist()
    ([[0, 1], [2, 3], [0, 2], [1, 3]], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    """
    values = pixels_of(image)
    if n_neighbours not in STEPS:
        raise ValueError(f"n_neighbours must be 4 or 8, got {n_neighbours!r}")
    height, width = values.shape[:2]
    nodes = values.reshape(height * width, -1)
    number = np.arange(height * width).reshape(height, width)
    ends = [_ends(number, *step) for step in STEPS[n_neighbours]]
    edges = np.concatenate(ends)
    features = np.repeat(np.eye(len(ends)), [len(own) for own in ends], axis=0)
    if contrast:
        squares = ((nodes[edges[:, 0]] - nodes[edges[:, 1]]) ** 2).sum(axis=1)
        mean = squares.mean() if len(squares) else 0.0
        alike = np.exp(-squares / mean) if mean > 0.0 else np.ones(len(squares))
        features = np.hstack([features, features * alike[:, np.newaxis]])
    return nodes, edges, features


def pixels_of(image, name="image"):
    """Return an image as an array of shape (height, width, n_channels).

    Raise ValueError, which begins with a name, if it is none.

    >>> from skcrf_sdca.data.images import pixels_of
    >>> pixels_of([[0.0, 1.0]]).shape
    (1, 2, 1)
    """
    values = np.asarray(image, dtype=np.float64)
    if values.ndim not in (2, 3) or values.size == 0:
        raise ValueError(
            f"{name} is an array of shape {values.shape}; it must be of shape (height, "
            "width) or (height, width, n_channels), with at least one pixel"
        )
    return values.reshape(*values.shape[:2], -1)


def _ends(number, down, right):
    """Return the edges (n, 2) that go so far down and to the right."""
    first = number[
        : len(number) - down, max(-right, 0) : number.shape[1] - max(right, 0)
    ]
    last = number[down:, max(right, 0) : number.shape[1] + min(right, 0)]
    return np.column_stack([first.ravel(), last.ravel()])
