"""Draw the chains of docs/higher_order.rst: python docs/draw_higher_order.py."""

from pathlib import Path

import matplotlib.pyplot as plt

N = 4
LABEL, OBSERVED, ARC = "#4477aa", "#bbbbbb", "#222222"


def draw(axes, title, *, order=1, edge_features=False):
    """Draw one chain: labels above, observations below."""
    for t in range(N):
        axes.plot([t, t], [0, 1], color=ARC, zorder=1)
        axes.scatter(t, 1, s=420, color=LABEL, zorder=3)
        axes.scatter(t, 0, s=420, color=OBSERVED, zorder=3)
        axes.text(t, 1, f"$y_{t}$", ha="center", va="center", color="white", zorder=4)
        axes.text(t, 0, f"$x_{t}$", ha="center", va="center", zorder=4)
        if t > 0:
            axes.plot([t - 1, t], [1, 1], color=ARC, zorder=1)
        if t > 1 and order > 1:
            bend = {"arrowstyle": "-", "connectionstyle": "arc3,rad=-0.4"}
            axes.annotate(
                "", (t, 1), (t - 2, 1), arrowprops={**bend, "color": ARC}, zorder=1
            )
        if t > 0 and edge_features:
            arrow = {"arrowstyle": "->", "color": "#ee6677", "shrinkA": 9}
            axes.annotate("", (t - 0.5, 0.98), (t, 0), arrowprops=arrow)
    axes.set_title(title, fontsize=10)
    axes.set_xlim(-0.4, N - 0.6)
    axes.set_ylim(-0.35, 1.75)
    axes.axis("off")


def main():
    """Write docs/images/higher_order.png."""
    figure, (first, second, edges) = plt.subplots(1, 3, figsize=(9, 2.3))
    draw(first, "order=1")
    draw(second, "order=2", order=2)
    draw(edges, "edge_features=[...]", edge_features=True)
    figure.tight_layout()
    figure.savefig(Path(__file__).parent / "images" / "higher_order.png", dpi=150)


if __name__ == "__main__":
    main()
