"""The templates of features of arcs: what they are made of, and how they are read.

A template joins columns of the tokens at and around the head and the word of an arc.
Each gives two features: with the direction of the arc, and with its length too
[McDonald, Crammer, Pereira, "Online large-margin training of dependency parsers", ACL
2005].
"""

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, Self

# A part of a template: a column at the head h, the word m or its sibling s, or near it;
# or between.
_PART = re.compile(r"(?P<at>h|m|s|between)(?P<shift>[+-]1)?\.(?P<column>\S+)")
_FORM = (
    'a template joins parts by spaces, such as "h.word m.upos": h is the head and m '
    "the word, s the word's sibling, h-1, h+1, m-1 and m+1 their neighbours, and "
    "between each token between head and word"
)
# The nodes of templates of siblings, in the order of their parts.
_NODES = "hms"
# The defaults of ArcFeatures.
COLUMNS, N_FEATURES = ("word",), 2**20
# Templates of a word w and a tag t, by what they are of.
_ARCS = [
    *(part.format(at) for at in "hm" for part in ("{0}.w {0}.t", "{0}.w", "{0}.t")),
    "h.w h.t m.w m.t",
    "h.t m.w m.t",
    "h.w m.w m.t",
    "h.w h.t m.t",
    "h.w h.t m.w",
    "h.w m.w",
    "h.t m.t",
    "h.t between.t m.t",
    "h.t h+1.t m-1.t m.t",
    "h-1.t h.t m-1.t m.t",
    "h.t h+1.t m.t m+1.t",
    "h-1.t h.t m.t m+1.t",
    "h.t h+1.t m.t",
    "h-1.t h.t m.t",
    "h.t m-1.t m.t",
    "h.t m.t m+1.t",
]
_AROUND = [
    "{0}-1.t {0}.t {0}+1.t",
    "{0}-1.w {0}.t",
    "{0}.t {0}+1.w",
    "{0}-1.t {0}.w",
    "{0}.w {0}+1.t",
]
_CONTEXT = [part.format(at) for at in "hm" for part in _AROUND]
_SIBLINGS = ["m.w s.w", "m.t s.w", "m.w s.t", "m.t s.t", "h.t m.t s.t"]


def arc_templates(
    word: str = "word",
    tag: str = "upos",
    *,
    context: bool = False,
    siblings: bool = False,
) -> list[str]:
    """Return the templates of McDonald et al. (2005) for two columns of tokens.

    They read the words and tags of head and word, alone and together, the tags around
    them, and each tag between them.

    Parameters
    ----------
    word, tag : str
        The names of the columns.
    context : bool, default=False
        If True, ten more templates join the head alone, or the word alone, to the words
        and tags next to it. They are made once for each token, not for each arc, so
        that they take hardly any time; on English EWT a parser has 0.6 points more UAS
        with them.
    siblings : bool, default=False
        If True, five more templates join the word and its sibling, and the tags of
        both and of the head [1]_, for a parser with ``projective=True``. On English EWT
        :class:`~skcrf_sdca.OnlineDependencyCRF` has 0.9 points more UAS with them, and
        takes twice the time.

    Returns
    -------
    templates : list of str

    References
    ----------
    .. [1] McDonald, Pereira, "Online learning of approximate dependency parsing
       algorithms", EACL 2006.

    Examples
    --------
    >>> from skcrf_sdca.text import arc_templates
    >>> arc_templates()[:4]
    ['h.word h.upos', 'h.word', 'h.upos', 'm.word m.upos']
    >>> arc_templates(siblings=True)[-1]
    'h.upos m.upos s.upos'
    """
    templates = [*_ARCS, *_CONTEXT * context, *_SIBLINGS * siblings]
    names = {"w": word, "t": tag}
    return [
        re.sub(r"\.([wt])\b", lambda part: f".{names[part[1]]}", template)
        for template in templates
    ]


class ArcTemplates(NamedTuple):
    """Templates as the kernels take them, with the columns of tokens that they read.

    Attributes
    ----------
    columns : tuple of str
        The names of the columns of tokens.
    read : list of str
        Those that templates read, in the order in which these name them.
    arcs, siblings : list
        The templates of arcs, and those of siblings, by the numbers of columns.
    n_features : int
    """

    columns: tuple[str, ...]
    read: list[str]
    arcs: list[Any]
    siblings: list[Any]
    n_features: int

    @classmethod
    def of(
        cls,
        templates: Collection[str] | None = None,
        columns: Collection[str] = COLUMNS,
        n_features: int = N_FEATURES,
    ) -> Self:
        """Return those of ArcFeatures with these parameters, or raise ValueError.

        >>> from skcrf_sdca.text.features.arc_templates import ArcTemplates
        >>> ArcTemplates.of(["h.word m.upos", "h.word"], ["word", "upos"], 8).read
        ['word', 'upos']
        """
        templates = arc_templates() if templates is None else templates
        parts = [_read(str(template)) for template in templates]
        of_parts = chain.from_iterable(parts)
        read = list(dict.fromkeys(column for _, _, column in of_parts))
        arcs = [_layout(own, read) for own in parts if not _has_sibling(own)]
        siblings = [_sibling_layout(own, read) for own in parts if _has_sibling(own)]
        return cls(tuple(columns), read, arcs, siblings, int(n_features))


# Reading the templates would take a third of the time of parsing a short sentence.
@lru_cache(2**10)
def _read(template):
    """Return the parts of a template, or raise ValueError."""
    matches = [_PART.fullmatch(part) for part in template.split()]
    if not matches or None in matches:
        raise ValueError(f"templates: {template!r} is none; {_FORM}")
    parts = [(m["at"], int(m["shift"] or 0), m["column"]) for m in matches]
    between = [part for part in parts if part[0] == "between"]
    if len(between) > 1 or any(shift for _, shift, _ in between):
        raise ValueError(f"templates: {template!r} has tokens between twice; {_FORM}")
    if between and _has_sibling(parts):
        raise ValueError(f"templates: {template!r} has s and between; {_FORM}")
    return parts


def _has_sibling(parts):
    """Return whether a template is of a sibling."""
    return any(at == "s" for at, _, _ in parts)


def _layout(parts, names):
    """Return a template as ArcRows takes it, with the numbers of columns."""
    own = [
        (at == "h", shift, names.index(column))
        for at, shift, column in parts
        if at != "between"
    ]
    between = [names.index(column) for at, _, column in parts if at == "between"]
    return own, between[0] if between else -1


def _sibling_layout(parts, names):
    """Return a template as SiblingRows takes it, with the numbers of columns."""
    own = [
        (_NODES.index(at), shift, names.index(column)) for at, shift, column in parts
    ]
    return sorted(own, key=itemgetter(0))
