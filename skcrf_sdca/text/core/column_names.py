"""The names that columns and fields have in files and tables of other programs.

A table of names for each role: words, their labels, their sentence, and so on. Small
and large letters, blanks and signs make no difference: "Ner_Tags" is "nertags".
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

ROLES: Mapping[str, tuple[str, ...]] = {
    "word": (
        *("word", "token", "form", "words", "tokens", "orth", "originaltext"),
        *("text", "sentence", "content"),
    ),
    "pos": ("pos", "postag", "postags", "partofspeech"),
    "label": (
        *("label", "nertags", "nertag", "ner", "tag", "tags", "labels", "iob", "bio"),
        *("biotags", "iobtags", "entitytag", "entity", "slots", "target", "targets"),
        "namedentities",
    ),
    "sentence": (
        *("sentence", "sentenceid", "sentid", "sentenceno", "sentenceidx", "sent"),
        *("sentencenumber", "sentencenum", "sentenceindex", "sentno", "sentidx"),
        # Where sentences have no column, their documents may have one.
        *("sequenceid", "seqid", "exampleid", "textid", "docid", "documentid", "doc"),
        "document",
    ),
    "text": (
        "text",
        "sentence",
        "content",
        "raw",
        "sent",
        "body",
        "data",
        "textcontent",
        "fulltext",
    ),
    "spans": (
        *("spans", "entities", "ents", "labels", "label", "annotations"),
        *("annotation", "textsegmentannotations"),
    ),
    "begin": (
        *("start", "begin", "startoffset", "startchar", "startidx", "from", "idx"),
        *("beginoffset", "startpos", "startposition", "offset", "characteroffsetbegin"),
    ),
    "end": (
        *("end", "stop", "endoffset", "endchar", "endidx", "to"),
        *("endpos", "endposition", "characteroffsetend"),
    ),
    "length": ("length",),
    "surface": ("text", "value", "word", "mention", "surface"),
    "type": (
        *("label", "labels", "type", "entity", "entitytype", "tag", "category"),
        *("displayname", "entitygroup", "value", "categ", "cat", "class"),
    ),
}
_NO_LETTERS = re.compile(r"[\W_]+")


def plain_name(name: object) -> str:
    """Return a name in small letters, without blanks and signs; "#" is a number.

    >>> from skcrf_sdca.text.core.column_names import plain_name
    >>> plain_name("Sentence #"), plain_name("ner_tags")
    ('sentenceno', 'nertags')
    """
    return _NO_LETTERS.sub("", str(name).replace("#", "no")).lower()


def candidates(names: Iterable[object], role: str) -> list[object]:
    """Return those of some names that a role may have, the likeliest first.

    >>> from skcrf_sdca.text.core.column_names import candidates
    >>> candidates(["Sentence #", "Word", "POS", "Tag"], "label")
    ['Tag']
    """
    names = list(names)
    return [names[k] for k in _places(tuple(map(str, names)), role)]


@lru_cache(maxsize=4096)
def _places(names, role):
    """Return where the names that a role may have are; many records have the same."""
    known, plain = ROLES[role], list(map(plain_name, names))
    found = [k for k, name in enumerate(plain) if name in known]
    return sorted(found, key=lambda k: known.index(plain[k]))
