"""Define the style of the figures: a colour for each solver, sizes, the legend.

The other scripts draw with this module; it runs nothing itself. It needs matplotlib.
"""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

# Okabe and Ito's colours, which colour-blind people can distinguish. Solvers with
# adaptive sampling have full lines.
LINES = {
    "SDCA": ("#56B4E9", "--"),
    "SDCA-GAP": ("#0072B2", "-"),
    "OEG": ("#E69F00", "--"),
    "OEG-GAP": ("#D55E00", "-"),
    "SAG": ("#CC79A7", "--"),
    "SAGA": ("#CC79A7", "-"),
    "SDCA, fixed step": ("#E69F00", "-"),
    "SAG-NUS*": ("#009E73", "-"),
    "L-BFGS": ("#000000", ":"),
    "SG": ("#999999", "--"),
    "averaged SG": ("#666666", "-"),
    "AdaGrad": ("#882255", "--"),
    "Pegasos": ("#AA7744", ":"),
    "SVRG": ("#882255", "-"),
    "SMD": ("#661100", "-."),
    "Hybrid": ("#117733", "--"),
    "10 SG": ("#999999", ":"),
    "SG / 10": ("#999999", "-."),
    "DCA": ("#E69F00", "-"),
    "MIRA": ("#882255", "-"),
    "perceptron": ("#117733", "-"),
    "bare pass": ("#000000", "-"),
}
STYLE = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.7,
    "legend.frameon": False,
    "figure.dpi": 110,
}
WIDTHS = {1: 6.0, 2: 9.0, 3: 11.0, 4: 11.5}
# Width of an entry of the legend, in inches.
LEGEND_ENTRY = 1.25
# The precision of the optimum; differences below it are noise.
FLOOR = 1e-8


def panels(n_rows, n_columns, *, height=3.2, **options):
    """Return a figure and its axes (n_rows, n_columns); options as for `subplots`."""
    plt.rcParams.update(STYLE)
    return plt.subplots(
        n_rows,
        n_columns,
        figsize=(WIDTHS[n_columns], height * n_rows + 0.5),
        layout="constrained",
        squeeze=False,
        **options,
    )


def shades(n):
    """Return n colours from dark to light, for the values of an ordered parameter."""
    return plt.get_cmap("viridis")(np.linspace(0.0, 0.85, n))


def curve(axis, x, y, label, **style):
    """Draw a curve; each solver has its own colour and dashes."""
    if label in LINES:
        colour, dashes = LINES[label]
        style = {"color": colour, "linestyle": dashes, **style}
    axis.plot(x, y, label=label, **style)


def log_scale(axis, lowest, highest):
    """Make the y axis logarithmic between two bounds; curves may leave it below."""
    axis.set_yscale("log", nonpositive="clip")
    axis.set_ylim(lowest, highest)


def save(figure, output, legend_entry=LEGEND_ENTRY):
    """Put one legend of all curves above the panels, and write the figure."""
    entries = {}
    for axis in figure.axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(
        entries.values(),
        entries,
        loc="outside upper center",
        ncols=int(figure.get_figwidth() / legend_entry),
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output)
    plt.close(figure)
    print(f"wrote {output}")
