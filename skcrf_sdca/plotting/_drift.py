"""DriftDisplay: the figures of new data over those of old data."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ._shared import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Ratios are shown from 1 / MOST to MOST; farther ones stand at the edge, as arrows.
MOST = 8.0
# Of a figure that has drifted, and of others; colour-blind people can tell them apart.
DRIFTED, OTHERS = "#d55e00", "#0072b2"


@dataclass
class DriftDisplay:
    """The figures of a `DriftReport`: new over old, on a logarithmic axis.

    Make it with `from_report`. What has drifted is orange, with its numbers.

    Parameters
    ----------
    report : DriftReport

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    skcrf_sdca.inspection.drift_report : Makes the report.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skcrf_sdca.inspection import Drift, DriftReport
    >>> from skcrf_sdca.plotting import DriftDisplay
    >>> rows = [Drift("spans", 67.0, 0.0, -31.0), Drift("label O", 920.0, 925.0, 1.5)]
    >>> display = DriftDisplay.from_report(DriftReport(rows, (300, 200), (9000, 6000)))
    >>> [tick.get_text() for tick in display.ax_.get_yticklabels()]
    ['spans', 'label O']
    >>> plt.close(display.figure_)
    """

    report: Any
    ax_: "Axes" = field(init=False)
    figure_: "Figure" = field(init=False)

    @classmethod
    def from_report(cls, report: Any, *, ax: "Axes | None" = None) -> Self:
        """Draw a report.

        Parameters
        ----------
        report : DriftReport
            As from :func:`skcrf_sdca.inspection.drift_report`.
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure.

        Returns
        -------
        display : DriftDisplay
        """
        return cls(report).plot(ax=ax)

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw the report.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; by default a new figure.

        Returns
        -------
        self : DriftDisplay
        """
        rows = self.report.rows
        ax = new_axes(ax)
        for place, row in enumerate(rows):
            self._draw(ax, place, row)
        ax.axvline(1.0, color="0.6", linewidth=1.0, zorder=0)
        ax.set_xscale("log", base=2)
        ax.set_xlim(1.0 / (1.3 * MOST), 1.3 * MOST)
        ticks = 2.0 ** np.arange(-3, 4)
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.set_yticks(range(len(rows)), [row.figure for row in rows])
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlabel("new data / old data")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax, place, row):
        """Draw the mark of a row, and its numbers if it has drifted."""
        ratio = _ratio(row)
        shown = min(max(ratio, 1.0 / MOST), MOST)
        marker = "<" if ratio < shown else ">" if ratio > shown else "o"
        colour = DRIFTED if row.has_drifted else OTHERS
        ax.plot([1.0, shown], [place, place], color=colour, linewidth=1.5)
        ax.plot(shown, place, marker=marker, color=colour, linestyle="none")
        if row.has_drifted:
            ax.annotate(
                f"{row.old:.3g} \N{RIGHTWARDS ARROW} {row.new:.3g}",
                (1.0, place),
                xytext=(8.0 if shown < 1.0 else -8.0, 0.0),
                textcoords="offset points",
                ha="left" if shown < 1.0 else "right",
                va="center",
                color=colour,
            )


def _ratio(row):
    """Return new over old; of two zeros 1."""
    if row.old == row.new:
        return 1.0
    return row.new / row.old if row.old else np.inf
