"""Draw what a chain and a segment model score, for the page on segments.

python examples/benchmarks/segments_picture.py [docs/images/segments.png]
"""

import sys

from matplotlib.patches import FancyBboxPatch

import figures

WORDS = ["Ada", "Lovelace", "met", "Charles", "Babbage", "in", "London"]
LABELS = ["B-PER", "I-PER", "O", "B-PER", "I-PER", "O", "B-LOC"]
SPANS = [(0, 2, "PER"), (2, 3, "O"), (3, 5, "PER"), (5, 6, "O"), (6, 7, "LOC")]
COLOURS = {"PER": "#56B4E9", "LOC": "#E69F00", "O": "#dddddd"}
OUTPUT = "docs/images/segments.png"


def box(axis, begin, end, name, colour):
    """Draw a box over the items begin <= t < end."""
    axis.add_patch(
        FancyBboxPatch(
            (begin + 0.12, 0.5),
            end - begin - 0.24,
            0.55,
            boxstyle="round,pad=0.02",
            facecolor=colour,
            edgecolor="#444444",
        )
    )
    axis.text((begin + end) / 2, 0.775, name, ha="center", va="center")


def link(axis, left, right):
    """Draw the transition between two boxes that meet."""
    options = {"arrowstyle": "-|>", "color": "#D55E00", "linewidth": 1.6}
    axis.annotate("", (right, 0.775), (left, 0.775), arrowprops=options)


def draw(axis, title, spans):
    """Draw boxes over the words; a box has a name, and a colour by its type."""
    for t, word in enumerate(WORDS):
        axis.text(t + 0.5, 0.12, word, ha="center", va="center")
    for begin, end, name in spans:
        box(axis, begin, end, name, COLOURS[name.partition("\n")[0].split("-")[-1]])
        if begin:
            link(axis, begin - 0.13, begin + 0.13)
    axis.set(xlim=(0, len(WORDS)), ylim=(0, 1.2))
    axis.axis("off")
    axis.set_title(title, loc="left")


def main():
    """Draw both models, and write the picture."""
    output = sys.argv[1] if len(sys.argv) > 1 else OUTPUT
    figure, axes = figures.panels(2, 1, height=1.5)
    items = [(t, t + 1, label) for t, label in enumerate(LABELS)]
    draw(axes[0, 0], "chain: transitions of items", items)
    segments = [(b, e, f"{name}\nlength {e - b}") for b, e, name in SPANS]
    draw(axes[1, 0], "segments: lengths, and transitions of segments", segments)
    figure.set_size_inches(8.0, 3.6)
    figure.savefig(output)


if __name__ == "__main__":
    main()
