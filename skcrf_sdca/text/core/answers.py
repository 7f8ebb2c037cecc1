"""Columns of tokens that tell the label: features that no new text has."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from skcrf_sdca.data.tagging_schemes import OUTSIDE, are_labels

# A column tells the label if it leaves at most such a share untold of the labels that
# are not the commonest one; or such a share of where the spans are.
_UNTOLD, _UNTOLD_SPANS = 0.1, 0.05
_FEW_TOKENS = 100
_NOTHING = {"_", "-", "", OUTSIDE}


def answers(
    columns: Mapping[str, Sequence[str]], labels: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield the names of columns of tokens that tell their labels, and why they do.

    >>> from skcrf_sdca.text.core.answers import answers
    >>> columns = {"pos": ["NNP", "VBD"] * 2, "fine": ["B-per.ind", "O"] * 2}
    >>> list(answers(columns, ["B-per", "O"] * 2))
    [('fine', 'has labels of the same types')]
    """
    types = _types(labels)
    for name, values in columns.items():
        own = _types(values)
        if own and not types:
            yield name, "has labels of spans, and the label is none of these"
        elif any(_are_related(a, b) for a in own for b in types):
            yield name, "has labels of the same types"
        elif len(labels) > _FEW_TOKENS and _tells(values, labels, bool(types)):
            yield name, "tells the label"


def _types(values):
    """Return the types of labels of spans; none if some value is no such label."""
    found = set(values) - _NOTHING
    return {x.partition("-")[2] for x in found} if are_labels(found) else set()


def _are_related(some, other):
    """Return whether two types are one, or one is a part of the other."""
    short, long = sorted((some.lower(), other.lower()), key=len)
    return long.startswith(short) and not long[len(short) :][:1].isalnum()


def _tells(values, labels, are_spans):
    outside = [label in _NOTHING for label in labels]
    return _untold(values, labels) < _UNTOLD or (
        are_spans and _untold(values, outside) < _UNTOLD_SPANS
    )


def _untold(values, labels):
    """Return the share of labels that the values do not tell.

    A value tells the label that it has most often, if it has it twice: the value of one
    token alone tells nothing of others. The share is of the labels that are not the
    commonest one, and may be larger than 1.
    """
    others = len(labels) - max(Counter(labels).values())
    told: Counter[str] = Counter()
    for (value, _), n in Counter(zip(values, labels, strict=True)).items():
        told[value] = max(told[value], n)
    right = sum(n for n in told.values() if n > 1)
    return (len(labels) - right) / others if others else 1.0
