"""The pixels around each pixel of an image as features of it: ``ImageWindow``."""

from collections.abc import Iterable, Iterator
from itertools import product
from numbers import Integral
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.sklearn_private import Interval, StrOptions, validates_parameters
from skcrf_sdca._utils.words import words
from skcrf_sdca.data.images import image_graph, pixels_of
from skcrf_sdca.features.frames import NEAREST, ZERO
from skcrf_sdca.features.transformer import SequenceTransformer

__all__ = ["ImageWindow"]

# How NumPy calls the paddings.
_MODES: Final = {NEAREST: "edge", ZERO: "constant"}


class ImageWindow(SequenceTransformer):
    """Make graphs of images, whose pixels have those around them as features.

    What `SequenceWindow` does for the frames of a signal, this transformer does for the
    pixels of images. It returns the graphs of `skcrf_sdca.datasets.image_graph`, which
    `GraphCRF` takes.

    Parameters
    ----------
    size : int, default=1
        How many rows and columns of pixels on each side: k stands for a square of
        (2k + 1) x (2k + 1) pixels.
    span : int, default=None
        Size of a square over which the mean and the standard deviation of each channel
        are taken too, of the pixels that are in the image. None for neither.
    padding : {"nearest", "zero"}, default="nearest"
        What stands beyond the edges of the image: the nearest of its pixels, or zeros.
    n_neighbours : {4, 8}, default=4
        Of each pixel in the graph, as in `image_graph`.
    contrast : bool, default=False
        Whether edges of the graph have the contrasts of the pixels that they join, as
        in `image_graph`.

    Attributes
    ----------
    n_features_in_, n_features_out_ : int
        Number of channels of a pixel, and of features of a node.

    See Also
    --------
    SequenceWindow : The same for the frames of signals.
    skcrf_sdca.datasets.image_graph : The graph of one image, without a window.

    Notes
    -----
    A window takes (2k + 1)^2 times the memory of the images.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.features import ImageWindow
    >>> window = ImageWindow(1, span=1)
    >>> [(nodes, edges, edge_features)] = window.fit_transform([[[0.0, 1.0, 5.0]]])
    >>> nodes[1].round(1).tolist()
    [0.0, 1.0, 5.0, 0.0, 1.0, 5.0, 0.0, 1.0, 5.0, 2.0, 2.2]
    >>> window.get_feature_names_out()[3:].tolist()
    ['x0[0,-1]', 'x0[0,0]', 'x0[0,1]', 'x0[1,-1]', 'x0[1,0]', 'x0[1,1]', \
'mean(x0[-1:1,-1:1])', 'std(x0[-1:1,-1:1])']

    In a pipeline: pixels of a noisy disc.

    >>> from skcrf_sdca import GraphCRF, make_tagger
    >>> rows, columns = np.mgrid[-6:7, -6:7]
    >>> disc = (rows**2 + columns**2 < 16).astype(int)
    >>> rng = np.random.default_rng(0)
    >>> images = [disc + rng.normal(scale=0.7, size=disc.shape) for _ in range(4)]
    >>> y = [disc.ravel()] * 4
    >>> crf = GraphCRF(solver="lbfgs", inference="trw", alpha=0.1)
    >>> tagger = make_tagger(ImageWindow(1), crf).fit(images[:3], y[:3])
    >>> tagger.score(images[3:], y[3:]) > 0.9
    True
    """

    _parameter_constraints = {
        "size": [Interval(Integral, 0, None, closed="left")],
        "span": [Interval(Integral, 0, None, closed="left"), None],
        "padding": [StrOptions({NEAREST, ZERO})],
        # Checked by image_graph.
        "n_neighbours": "no_validation",
        "contrast": ["boolean"],
    }

    n_features_in_: int
    n_features_out_: int

    def __init__(
        self,
        size: int = 1,
        *,
        span: int | None = None,
        padding: Literal["nearest", "zero"] = NEAREST,
        n_neighbours: Literal[4, 8] = 4,
        contrast: bool = False,
    ) -> None:
        self.size = size
        self.span = span
        self.padding = padding
        self.n_neighbours = n_neighbours
        self.contrast = contrast

    @validates_parameters
    def fit(self, X: Iterable[ArrayLike], y: object = None) -> Self:
        """Check the parameters, and learn the number of channels.

        Parameters
        ----------
        X : iterable of images
            Arrays of shape (height, width) or (height, width, n_channels); the numbers
            of channels are the same, heights and widths need not be.
        y : None
            Ignored.

        Returns
        -------
        self : ImageWindow

        Raises
        ------
        ValueError
            If X has no image, or one of another shape, or a parameter is wrong.
        """
        images = _images(X)
        if not images:
            raise ValueError(f"{words().X} has 0 images; at least one is required.")
        self.n_features_in_ = _n_channels(images)
        self.n_features_out_ = n_blocks_of(self) * self.n_features_in_
        return self

    def fit_transform(self, X: Iterable[ArrayLike], y: object = None) -> list[Any]:
        """Fit, and return what `transform` returns.

        Parameters
        ----------
        X, y : as for `fit`

        Returns
        -------
        graphs : list of n graphs

        Raises
        ------
        ValueError
            As `fit`.
        """
        X = _images(X)
        return self.fit(X, y).transform(X)

    def transform(self, X: Iterable[ArrayLike]) -> list[Any]:
        """Return the graph of each image.

        Parameters
        ----------
        X : iterable of images
            As for `fit`; may be empty.

        Returns
        -------
        graphs : list of n graphs
            (nodes, edges, edge_features), as `image_graph` returns them, with
            `n_features_out_` features of each node. Pixel (i, j) is node i * width + j.

        Raises
        ------
        ValueError
            As `fit`, or if the images have another number of channels.
        """
        check_is_fitted(self)
        images = _images(X)
        if images and (n := _n_channels(images)) != self.n_features_in_:
            raise ValueError(
                f"{words().X} has images of {n} channels, but ImageWindow is expecting "
                f"{self.n_features_in_} channels as input."
            )
        return [self._graph(image) for image in images]

    def get_feature_names_out(
        self, input_features: Iterable[str] | None = None
    ) -> NDArray[np.object_]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the channels; by default "x0", "x1" and so on.

        Returns
        -------
        names : ndarray of object of shape (n_features_out_,)
            "x0[-1,0]" is channel "x0" of the pixel above, "x0[0,1]" of the one to the
            right, and "mean(x0[-2:2,-2:2])" a mean over 5 x 5 pixels.

        Raises
        ------
        ValueError
            If there are not `n_features_in_` names.
        """
        check_is_fitted(self)
        n = self.n_features_in_
        names = [f"x{j}" for j in range(n)]
        names = names if input_features is None else list(input_features)
        if len(names) != n:
            raise ValueError(
                f"input_features has {len(names)} names, but fit had {n} channels."
            )
        found = [pattern.format(name) for pattern in self._patterns() for name in names]
        return np.array(found, dtype=object)

    def _places(self):
        """Return the places of the window, (down, right)."""
        return list(product(range(-self.size, self.size + 1), repeat=2))

    def _patterns(self):
        """Return how the features of each block are named, with {} for the channel."""
        patterns = [f"{{}}[{down},{right}]" for down, right in self._places()]
        if self.span is not None:
            square = ",".join([f"{-self.span}:{self.span}"] * 2)
            patterns += [f"{of}({{}}[{square}])" for of in ("mean", "std")]
        return patterns

    def _graph(self, image):
        _, *edges = image_graph(
            image, n_neighbours=self.n_neighbours, contrast=self.contrast
        )
        n_pixels = image.shape[0] * image.shape[1]
        check_fits(
            n_pixels * self.n_features_out_ * image.itemsize,
            f"{self.n_features_out_} features of each of {n_pixels} pixels",
            "take a smaller size",
        )
        blocks = np.concatenate(list(self._blocks(image)), axis=2)
        return blocks.reshape(-1, self.n_features_out_), *edges

    def _blocks(self, image):
        """Yield the features of each pattern, of all pixels of an image."""
        height, width, _ = image.shape
        k = self.size
        padded = np.pad(image, [(k, k), (k, k), (0, 0)], mode=_MODES[self.padding])
        for down, right in self._places():
            rows = slice(k + down, k + down + height)
            yield padded[rows, k + right : k + right + width]
        if self.span is not None:
            yield from _moments(image, self.span)


def n_blocks_of(window: ImageWindow) -> int:
    """Return how many features a node has of each channel; check the neighbours."""
    image_graph(np.zeros((1, 1)), n_neighbours=window.n_neighbours)
    return (2 * window.size + 1) ** 2 + 2 * (window.span is not None)


def _images(X):
    """Return images as arrays of shape (height, width, n_channels)."""
    if isinstance(X, np.ndarray) and X.ndim == 2:
        raise ValueError(f"{words().X} is one image: wrap it in a list, [{words().X}].")
    X = list(X) if isinstance(X, Iterator) else X
    return [pixels_of(image, f"{words().X}: image {i}") for i, image in enumerate(X)]


def _n_channels(images):
    """Return the number of channels, which is the same of all images."""
    counts = [image.shape[2] for image in images]
    for i, n in enumerate(counts):
        if n != counts[0]:
            raise ValueError(
                f"{words().X}: image {i} has {n} channels, but image 0 has {counts[0]}."
            )
    return counts[0]


def _moments(image, k):
    """Yield mean and standard deviation over squares of size k, in the image alone."""
    ones = np.ones((*image.shape[:2], 1))
    counts = _sums(ones, k)
    # Around the mean of the image, so that squares lose no digits.
    middle = image.mean(axis=(0, 1))
    centred = image - middle
    mean = _sums(centred, k) / counts
    yield mean + middle
    variance = _sums(centred**2, k) / counts - mean**2
    yield np.sqrt(np.maximum(variance, 0.0))


def _sums(image, k):
    """Return the sums over squares of size k around each pixel, zeros beyond edges."""
    for axis in (0, 1):
        n = image.shape[axis]
        sums = np.cumsum(image, axis=axis)
        sums = np.concatenate([np.zeros_like(np.take(sums, [0], axis)), sums], axis)
        places, reach = np.arange(n), min(k, n)
        last = np.take(sums, np.minimum(places + reach + 1, n), axis)
        image = last - np.take(sums, np.maximum(places - reach, 0), axis)
    return image
