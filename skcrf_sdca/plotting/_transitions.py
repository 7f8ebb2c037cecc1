"""TransitionDisplay: the weights of transitions as a heat map.

Owns its colours, which colour-blind people can tell apart: positive weights are blue,
negative ones red.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import KW_ONLY, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skcrf_sdca._utils.constructors import constructed
from skcrf_sdca._utils.given_estimators import check_given
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.structures.form import of_labels

from ._shared import fitted_crf_of, new_axes, rotation_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

# With more labels the cells are too small for values.
_MAX_VALUES = 12


@constructed
class TransitionDisplay:
    """The weights of transitions, from label to label, as a heat map.

    Make it with `from_estimator`.

    Parameters
    ----------
    transition : array-like of shape (n_labels, n_labels)
        Indexed [from, to]; -inf if forbidden.
    start, end : array-like of shape (n_labels,), default=None
        Weights of the first and of the last label, drawn as a row above and as a column
        on the right.
    labels : list of length n_labels, default=None
        Names of the labels; by default numbers.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    im_ : matplotlib AxesImage
    text_ : ndarray of matplotlib Text or None
        The values in the cells, if they are written; None for cells without a value.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skcrf_sdca import SDCACRF
    >>> from skcrf_sdca.datasets import make_chains
    >>> from skcrf_sdca.plotting import TransitionDisplay
    >>> X, y = make_chains(n_sequences=30, random_state=0)
    >>> crf = SDCACRF(random_state=0).fit(X, y)
    >>> display = TransitionDisplay.from_estimator(crf)
    >>> display.im_.get_array().shape
    (4, 4)
    >>> plt.close(display.figure_)
    """

    transition: ArrayLike
    _: KW_ONLY
    start: ArrayLike | None = None
    end: ArrayLike | None = None
    labels: Sequence[Hashable] | None = None
    ax_: "Axes" = field(init=False)
    figure_: "Figure" = field(init=False)
    im_: "AxesImage" = field(init=False)
    text_: NDArray[np.object_] | None = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        labels: Iterable[Hashable] | None = None,
        boundaries: bool = True,
        feature: int = 0,
        **options: Any,
    ) -> Self:
        """Draw the transitions of a fitted estimator.

        Parameters
        ----------
        estimator : fitted CRF, or Pipeline or search that contains one
        labels : list of labels, default=None
            Labels to draw, in this order; by default all. Of a `SegmentCRF` these are
            types of segments.
        boundaries : bool, default=True
            Whether to draw the weights of start and end, which chains have.
        feature : int, default=0
            The feature of edges whose weights are drawn, in a model of graphs.
        **options
            Passed on to `plot`.

        Returns
        -------
        display : TransitionDisplay

        Raises
        ------
        ValueError
            If a label was not seen in `fit`.
        IndexError
            If edges have no such feature.
        NotFittedError
            If the estimator is not fitted.
        TypeError
            If it has no transitions.
        """
        crf = fitted_crf_of(estimator, "classes_")
        # Types of segments and graphs have no weights of start and end.
        known = plain_labels(getattr(crf, "types_", crf.classes_))
        boundaries &= not hasattr(crf, "types_") and hasattr(crf, "start_")
        if hasattr(crf, "transition_"):
            transition = crf.transition_
        else:
            check_given(crf, "edge_coef_")
            transition = crf.edge_coef_[feature]
        labels = known if labels is None else list(labels)
        unknown = [label for label in labels if label not in known]
        if unknown:
            raise ValueError(
                f"labels: {unknown[0]!r} is not among the labels of fit, {known}."
            )
        codes = [known.index(label) for label in labels]
        parts = crf.label_features_
        display = cls(
            transition[np.ix_(codes, codes)],
            start=of_labels(crf.start_, codes, parts) if boundaries else None,
            end=of_labels(crf.end_, codes, parts) if boundaries else None,
            labels=labels,
        )
        return display.plot(**options)

    def plot(
        self,
        *,
        include_values: bool | None = None,
        values_format: str = "z.1f",
        cmap: "str | Colormap" = "RdBu",
        colorbar: bool = True,
        ax: "Axes | None" = None,
        im_kw: dict[str, Any] | None = None,
        text_kw: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the heat map; forbidden transitions are hatched.

        Parameters
        ----------
        include_values : bool, default=None
            Whether to write the weights into the cells; by default if there are at most
            12 labels.
        values_format : str, default="z.1f"
            Format of the weights; the "z" is for 0.0 in place of -0.0.
        cmap : str or matplotlib Colormap, default="RdBu"
            Its middle is for weight 0.
        colorbar : bool, default=True
        ax : matplotlib Axes, default=None
            By default the axes of a new figure, whose size depends on the number of
            labels.
        im_kw, text_kw : dict, default=None
            Options of matplotlib's ``imshow``, and of ``text`` for the values.

        Returns
        -------
        display : TransitionDisplay
        """
        cells, rows, columns = self._cells()
        ax = new_axes(ax, side=1.8 + 0.42 * len(columns) ** 0.92)
        finite = cells[np.isfinite(cells)]
        scale = np.abs(finite).max(initial=0.0) or 1.0
        look = {"cmap": cmap, "vmin": -scale, "vmax": scale, **(im_kw or {})}
        self.im_ = ax.imshow(np.ma.masked_invalid(cells), **look)
        self._draw_frame(ax, rows, columns)
        _hatch(ax, np.argwhere(cells == -np.inf))
        small = max(cells.shape) <= _MAX_VALUES + 1
        self.text_ = None
        if small if include_values is None else include_values:
            self.text_ = self._write(ax, cells, values_format, text_kw or {})
        if colorbar:
            bar = ax.figure.colorbar(self.im_, ax=ax, label="weight", shrink=0.8)
            bar.outline.set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _cells(self):
        """Return the weights with start and end, and the names of rows and columns."""
        cells = np.asarray(self.transition, dtype=float)
        labels = range(len(cells)) if self.labels is None else self.labels
        rows, columns = list(map(str, labels)), list(map(str, labels))
        if self.end is not None:
            cells = np.column_stack([cells, self.end])
            columns.append("end")
        if self.start is not None:
            # There is no weight from start to end: the cell is blank.
            start = np.full(cells.shape[1], np.nan)
            start[: len(rows)] = self.start
            cells = np.vstack([start, cells])
            rows.insert(0, "start")
        return cells, rows, columns

    def _draw_frame(self, ax, rows, columns):
        """Draw the names of rows and columns, and lines next to start and end."""
        ax.set_xticks(range(len(columns)), columns, rotation=rotation_of(columns))
        ax.set_yticks(range(len(rows)), rows)
        ax.xaxis.tick_top()
        ax.xaxis.set_label_position("top")
        ax.set(xlabel="to", ylabel="from")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        ax.set_xticks(np.arange(1, len(columns)) - 0.5, minor=True)
        ax.set_yticks(np.arange(1, len(rows)) - 0.5, minor=True)
        ax.grid(which="minor", color="white", linewidth=1)
        ax.tick_params(which="minor", length=0)
        apart = {"color": "white", "linewidth": 5}
        if self.start is not None:
            ax.axhline(0.5, **apart)
        if self.end is not None:
            ax.axvline(len(columns) - 1.5, **apart)

    def _write(self, ax, cells, values_format, options):
        """Write the weights into the cells, in black on light cells and in white."""
        written = np.full(cells.shape, None, dtype=object)
        for i, j in np.argwhere(np.isfinite(cells)):
            red, green, blue, _ = self.im_.to_rgba(cells[i, j])
            is_light = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
            look = {"ha": "center", "va": "center", "fontsize": "small"}
            look |= {"color": "black" if is_light else "white", **options}
            written[i, j] = ax.text(j, i, format(cells[i, j], values_format), **look)
        return written


def _hatch(ax, cells):
    """Hatch some cells [row, column] of a heat map."""
    from matplotlib.patches import Rectangle

    for i, j in cells:
        corner = (j - 0.5, i - 0.5)
        look = {"facecolor": "#f2f2f2", "edgecolor": "#b5b5b5", "linewidth": 0}
        ax.add_patch(Rectangle(corner, 1, 1, hatch="////", zorder=1.5, **look))
