"""Tagged sentences as HTML: spans in colours, with their probabilities as tooltips."""

from collections.abc import Iterable
from html import escape
from itertools import chain, pairwise
from numbers import Real
from operator import itemgetter
from typing import Any

import numpy as np

from skcrf_sdca.data.containers import check_container
from skcrf_sdca.data.joined_tokens import joined
from skcrf_sdca.data.spans import TYPED, span_rows

__all__ = ["TaggedText"]

# Light enough for black text, and told apart by the colour-blind.
COLORS = ("#a6cee3", "#fdbf6f", "#b2df8a", "#cab2d6", "#fb9a99", "#ffff99", "#cccccc")
SENTENCE = '<div style="line-height: 2.2">{}</div>'
SPAN = (
    '<mark title="{title}" style="background: {color}; color: #000; padding: 0.2em '
    '0.3em; border-radius: 0.3em">{text} <small><b>{name}</b></small></mark>'
)


class TaggedText:
    """Sentences with their spans, which notebooks show in colours.

    The probability of a span is shown when the pointer is on it. Tokens and types are
    escaped: a token such as ``<b>`` is shown as it is.

    Parameters
    ----------
    tokens : list of n lists of str
        The words of the sentences.
    spans : list of n lists of (type, begin, end, ...)
        As ``predict_spans`` returns them, or `extract_spans`; the first number behind
        the three is the probability. They must not overlap.
    colors : dict, default=None
        Colours of types, such as ``{"PER": "#a6cee3"}`` or ``{"PER": "gold"}``. Other
        types have one of seven colours, by their order.

    Raises
    ------
    ValueError, TypeError
        If a span has not this form, is not within its sentence or overlaps another one.

    Examples
    --------
    >>> from skcrf_sdca.plotting import TaggedText
    >>> shown = TaggedText([["Ada", "wrote"]], [[("PER", 0, 1, 0.96)]])
    >>> print(shown)
    [Ada PER 0.96] wrote
    >>> "<mark" in shown.html
    True
    """

    def __init__(
        self,
        tokens: Iterable[Iterable[str]],
        spans: Iterable[Iterable[tuple[Any, ...]]],
        *,
        colors: dict[str, str] | None = None,
    ) -> None:
        check_container(tokens, "tokens")
        self.tokens = [list(own) for own in tokens]
        spans = [list(own) for own in spans]
        lengths = np.array([len(own) for own in self.tokens], dtype=np.int64)
        rows, bounds, types = span_rows(spans, lengths, TYPED)
        found = [
            (name, begin, end, _probability(span))
            for (_, begin, end), name, span in zip(
                rows.tolist(), types, chain.from_iterable(spans), strict=True
            )
        ]
        cuts = pairwise(bounds.tolist())
        self.spans = [sorted(found[b:e], key=itemgetter(1)) for b, e in cuts]
        for i, own in enumerate(self.spans):
            if any(after[1] < before[2] for before, after in pairwise(own)):
                raise ValueError(f"spans: two spans of sequence {i} overlap.")
        numbers = enumerate(sorted(set(types)))
        by_order = {name: COLORS[k % len(COLORS)] for k, name in numbers}
        self.colors = by_order | (colors or {})

    @property
    def html(self) -> str:
        """The sentences as HTML, each in a ``div``."""
        return "\n".join(SENTENCE.format(own) for own in self._sentences(_marked))

    def _repr_html_(self):
        return self.html

    def __repr__(self):
        """Return the sentences as text, the spans in brackets."""
        return "\n".join(self._sentences(_bracketed))

    def _sentences(self, write):
        """Yield the sentences; ``write`` writes a span, or words alone without one."""
        for tokens, spans in zip(self.tokens, self.spans, strict=True):
            parts, last = [], 0
            for name, begin, end, p in spans:
                parts += [write(word) for word in tokens[last:begin]]
                color = self.colors[name]
                parts.append(write(joined(tokens[begin:end]), name, p, color))
                last = end
            parts += [write(word) for word in tokens[last:]]
            yield joined(parts)


def _marked(text, name=None, p=None, color=None):
    if name is None:
        return escape(text)
    title = name if p is None else f"{name}: {p:.3f}"
    return SPAN.format(
        title=escape(title), color=escape(color), text=escape(text), name=escape(name)
    )


def _bracketed(text, name=None, p=None, color=None):
    if name is None:
        return text
    return f"[{text} {name}]" if p is None else f"[{text} {name} {p:.2f}]"


def _probability(span):
    """Return what stands behind type, begin and end, None if it is no number."""
    p = span[3] if len(span) > 3 else None
    return float(p) if isinstance(p, Real) else None
