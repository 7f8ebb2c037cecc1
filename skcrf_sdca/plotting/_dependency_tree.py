"""Pictures of dependency trees as SVG, with the probabilities of arcs."""

from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skcrf_sdca._utils.messages import counted

__all__ = ["DependencyTree"]

# Sizes in pixels: of a character, between words, of a level of arcs, of lines of text.
CHARACTER, GAP, LEVEL, LINE, MARGIN = 8.0, 26.0, 26.0, 18.0, 12.0
# Where arcs leave a word, beside where the arc into it ends.
PORT = 5.0
# The highest arcs are flat: so many levels.
MOST_LEVELS = 12
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
    'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="14" '
    'role="img"><title>{title}</title><rect width="100%" height="100%" fill="#fff"/>\n'
    "{body}\n</svg>"
)
TEXT = (
    '<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{color}" '
    'font-size="{size}">{text}</text>'
)
PATH = (
    '<path d="{d}" fill="none" stroke="{color}" stroke-width="1.5" '
    'opacity="{opacity:.2f}"{dashes}><title>{title}</title></path>'
)
TIP = '<path d="M{x:.1f} {y:.1f}l-4 {up}7h8z" fill="{color}" opacity="{opacity:.2f}"/>'
# White behind the text of an arc.
GROUND = '<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="13" fill="#fff"/>'
# Of the text of arcs.
SMALL = 6.2
TREE, OTHER = "#1f5fa8", "#c0504d"


class _Arc(NamedTuple):
    """An arc to draw: of the tree above the words, or another one below them."""

    head: int
    word: int
    text: str
    probability: float | None


class DependencyTree:
    """A picture of a dependency tree, which notebooks show.

    Arcs go from heads to words, with their relations and probabilities. Arcs that are
    not in the tree are drawn below the words, if their probability is large. It is SVG,
    and needs no other package.

    Parameters
    ----------
    words : list of n str
        The words of the sentence.
    tree : list of n heads, or tuple (heads, relations)
        As `predict` of a parser returns it: words are counted from 1, 0 is the root.
    proba : array-like of shape (n + 1, n), default=None
        Probabilities of arcs [head, word], as ``predict_proba`` of a parser.
    tags : list of n str, default=None
        Shown below the words, such as parts of speech.
    least : float, default=0.1
        Arcs that are not in the tree are drawn if their probability is at least this.

    Raises
    ------
    ValueError
        If lengths or shapes differ, or a head is not 0 to n.

    Examples
    --------
    >>> from skcrf_sdca.plotting import DependencyTree
    >>> tree = [2, 0, 2], ["nsubj", "root", "obj"]
    >>> shown = DependencyTree(["dogs", "chase", "cats"], tree)
    >>> print(shown)
    1 dogs  <- 2 chase  nsubj
    2 chase <- 0 root   root
    3 cats  <- 2 chase  obj
    >>> shown.svg[:4], "nsubj" in shown.svg
    ('<svg', True)
    """

    def __init__(
        self,
        words: Iterable[str],
        tree: Any,
        *,
        proba: ArrayLike | None = None,
        tags: Iterable[str] | None = None,
        least: float = 0.1,
    ) -> None:
        self.words = list(words)
        heads, relations = tree if isinstance(tree, tuple) else (tree, None)
        self.heads = [int(head) for head in heads]
        self.relations = None if relations is None else list(relations)
        self.tags = None if tags is None else list(tags)
        self.proba = None if proba is None else np.asarray(proba, dtype=np.float64)
        self.least = least
        self._check()

    def _check(self):
        """Raise ValueError if the parts do not go together."""
        n = len(self.words)
        parts = {"heads": self.heads, "relations": self.relations, "tags": self.tags}
        for name, own in parts.items():
            if own is not None and len(own) != n:
                raise ValueError(
                    f"there are {counted(n, 'word')}, but {name} has {len(own)}."
                )
        for m, head in enumerate(self.heads, start=1):
            if not 0 <= head <= n or head == m:
                raise ValueError(
                    f"tree: word {m} has the head {head}; it must be 0, for the root, "
                    f"or another word from 1 to {n}."
                )
        if self.proba is not None and self.proba.shape != (n + 1, n):
            raise ValueError(
                f"proba has the shape {self.proba.shape}; for {counted(n, 'word')} it "
                f"must be {(n + 1, n)}: heads, and words."
            )

    @property
    def svg(self) -> str:
        """The picture, a text in the language SVG."""
        above, below = self._arcs_of_tree(), self._other_arcs()
        levels = _levels(above), _levels(below)
        centres, width = _places(self._columns())
        top = MARGIN + LINE + LEVEL * max(levels[0].values(), default=1)
        bottom = top + LINE * (2 if self.tags is None else 3)
        drawn = [_drawn(a, centres, top, levels[0][a], TREE, up=True) for a in above]
        drawn += [_drawn(a, centres, bottom, levels[1][a], OTHER) for a in below]
        # Texts stand on all arcs.
        parts = [line for line, _ in drawn] + [text for _, text in drawn]
        parts += self._texts(centres, top)
        depth = LEVEL * max(levels[1].values(), default=0)
        height = bottom + depth + (MARGIN + LINE if below else 0.0)
        title = escape(" ".join(self.words))
        return SVG.format(
            width=width, height=height, title=title, body="\n".join(parts)
        )

    def _repr_html_(self):
        return f'<div style="overflow-x: auto">{self.svg}</div>'

    def __repr__(self):
        """Return a line of each word, with its head and its relation."""
        names = ["root", *self.words]
        width = max(map(len, names))
        lines = []
        for arc in self._arcs_of_tree():
            word, head = names[arc.word], names[arc.head]
            line = f"{arc.word} {word:{width}} <- {arc.head} {head:{width}}"
            lines.append(f"{line}  {arc.text}".rstrip())
        return "\n".join(lines)

    def _columns(self):
        """Return the length of the longest text at each word."""
        texts = [self.words, self.tags or [""] * len(self.words)]
        # Labels of arcs are smaller, and stand between words.
        texts.append(
            [arc.text[: len(arc.text) * 3 // 4] for arc in self._arcs_of_tree()]
        )
        return [max(map(len, own)) for own in zip(*texts, strict=True)]

    def _arcs_of_tree(self):
        """Return the arcs of the tree, in the order of the words."""
        arcs = []
        for m, head in enumerate(self.heads, start=1):
            p = None if self.proba is None else float(self.proba[head, m - 1])
            name = "" if self.relations is None else self.relations[m - 1]
            text = name if p is None else f"{name} {p:.2f}".strip()
            arcs.append(_Arc(head, m, text, p))
        return arcs

    def _other_arcs(self):
        """Return the probable arcs that are not in the tree."""
        if self.proba is None:
            return []
        return [
            _Arc(head, m + 1, f"{self.proba[head, m]:.2f}", float(self.proba[head, m]))
            for head, m in np.argwhere(self.proba >= self.least).tolist()
            if self.heads[m] != head
        ]

    def _texts(self, centres, top):
        """Yield the words and their tags."""
        for k, word in enumerate(self.words):
            at = {"x": centres[k + 1]}
            yield TEXT.format(
                y=top + LINE, color="#000", size=14, text=escape(word), **at
            )
            if self.tags is not None:
                tag = escape(self.tags[k])
                yield TEXT.format(
                    y=top + 2 * LINE, color="#666", size=11, text=tag, **at
                )


def _places(lengths):
    """Return the centre of each word, 1 to n, and the width of the picture."""
    widths = [CHARACTER * max(length, 1) for length in lengths]
    centres, x = [0.0], MARGIN
    for width in widths:
        centres.append(x + width / 2)
        x += width + GAP
    return centres, max(x - GAP + MARGIN, 2 * MARGIN)


def _levels(arcs):
    """Return the height of each arc, from 1: above all arcs that are within it."""
    levels: dict[_Arc, int] = {}
    for arc in sorted(arcs, key=lambda arc: abs(arc.head - arc.word)):
        if arc.head == 0:
            continue
        low, high = sorted(arc[:2])
        within = [
            level
            for other, level in levels.items()
            if low <= min(other[:2]) and max(other[:2]) <= high
        ]
        levels[arc] = min(max(within, default=0) + 1, MOST_LEVELS)
    # The root stands above all.
    highest = max(levels.values(), default=0) + 1
    return levels | {arc: highest for arc in arcs if arc.head == 0}


def _drawn(arc, centres, y, level, color, *, up=False):
    """Return an arc that begins and ends at the height y, and its text."""
    sign = -1.0 if up else 1.0
    end, far = centres[arc.word], y + sign * LEVEL * level
    p = 1.0 if arc.probability is None else arc.probability
    opacity = 0.35 + 0.65 * p
    y0 = y + sign * 2.0
    if arc.head == 0:
        d, middle, text_y = f"M{end:.1f} {far:.1f}L{end:.1f} {y0:.1f}", end, far
    else:
        begin = centres[arc.head]
        begin += PORT if end > begin else -PORT
        # The control points of a curve that reaches the height far.
        peak = y0 + (far - y0) * 4.0 / 3.0
        d = f"M{begin:.1f} {y0:.1f}C{begin:.1f} {peak:.1f} {end:.1f} {peak:.1f} "
        d += f"{end:.1f} {y0:.1f}"
        middle, text_y = (begin + end) / 2, far
    style = {"color": color, "opacity": opacity}
    title = f"{arc.head} to {arc.word} {arc.text}".strip()
    dashes = "" if up else ' stroke-dasharray="4 3"'
    line = PATH.format(d=d, title=escape(title), dashes=dashes, **style)
    line += TIP.format(x=end, y=y0, up="-" if up else "", **style)
    return line, _label(arc.text, middle, text_y, color)


def _label(text, x, y, color):
    """Return the text of an arc, on white ground, around a point."""
    if not text:
        return ""
    width = SMALL * len(text)
    ground = GROUND.format(x=x - width / 2, y=y - 7.0, width=width)
    return ground + TEXT.format(x=x, y=y + 4.0, color=color, size=11, text=escape(text))
