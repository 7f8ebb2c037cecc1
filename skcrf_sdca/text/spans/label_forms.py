"""Forms of labels of spans: other separators, suffixes, brackets, and "B-PER" for all.

A form is named by an example, and a table says how it is read.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain
from typing import Any, overload

from skcrf_sdca._utils.typing import LabelLists
from skcrf_sdca.data.spans import label_sequences
from skcrf_sdca.data.tagging_schemes import OUTSIDE

_PREFIX = (
    r"(?P<prefix>[BIESLUMW]|begin|beginning|inside|in|intermediate|end|last|single|"
    r"singleton|unit|middle|whole)"
)
_OUTSIDE = {
    *("o", "0", "out", "outside", "other", "none", "_", "-", "<other>", "i-<other>")
}
_SEPARATORS = "-_.:/|"


def _letter_form(pattern, labels):
    """Return labels that each match a pattern, or None if one does not."""
    found = []
    for label in labels:
        match = pattern.fullmatch(label)
        if label.lower() in _OUTSIDE:
            found.append(OUTSIDE)
        elif match is None:
            return None
        else:
            parts = match.groupdict()
            letter = (parts.get("prefix") or "I")[0].upper()
            found.append("-".join(filter(None, [letter, parts.get("type")])))
    return found


_GROBID = re.compile(r"(?:(?P<begins>I)-)?<(?P<type>[^<>]+)>")


def _grobid(labels):
    """Return labels such as "I-<title>", which begins a span, and "<title>"."""
    found = [_GROBID.fullmatch(label) for label in labels]
    if None in found:
        return None
    return [
        OUTSIDE
        if label.lower() in _OUTSIDE
        else f"{'B' if match['begins'] else 'I'}-{match['type']}"
        for label, match in zip(labels, found, strict=True)
    ]


_BRACKET = re.compile(r"(?:\((?P<type>[^()*]+))?\*?(?P<end>\)?)")


def _bracket(labels):
    """Return labels such as "(PER*", "*" and "*)" of CoNLL-2005 and OntoNotes."""
    found, current = [], None
    for label in labels:
        match = _BRACKET.fullmatch(label)
        if match is None or not label:
            return None
        begins = match["type"] is not None
        current = match["type"] if begins else current
        found.append(
            OUTSIDE if current is None else f"{'B' if begins else 'I'}-{current}"
        )
        current = None if match["end"] else current
    return found


def _letters(form):
    """Return the reader of a form such as "B_PER" or "PER_B"."""
    separator = re.escape(form.strip("BPER"))
    parts = [_PREFIX, rf"(?:{separator}(?P<type>.+))?"]
    if form.endswith("B"):
        parts = [rf"(?:(?P<type>.+){separator})?", _PREFIX]
    return partial(_letter_form, re.compile("".join(parts), re.IGNORECASE))


_FORMS: Mapping[str, Callable[[list[str]], list[str] | None]] = {
    **{form: _letters(form) for form in (f"B{s}PER" for s in _SEPARATORS)},
    **{form: _letters(form) for form in (f"PER{s}B" for s in _SEPARATORS)},
    "I-<PER>": _grobid,
    "(PER*": _bracket,
}


@overload
def unify_labels(labels: Iterable[str], form: str = ...) -> list[str]: ...


@overload
def unify_labels(labels: LabelLists, form: str = ...) -> list[list[str]]: ...


def unify_labels(labels: Any, form: str = "auto") -> Any:
    """Write labels of spans as "B-PER" and "O", whatever their separators and names.

    Parameters
    ----------
    labels : array-like of shape (T,), of str, or list of n such sequences
        Labels in one of the forms.
    form : str, default="auto"
        The form of the labels, named by an example: the first label of a person in
        "B-PER", "B_PER", "B.PER", "B:PER", "B/PER", "B|PER"; in "PER-B", "PER_B" and so
        on, with the prefix at the end; in "I-<PER>", where "<PER>" goes on with a span,
        as in files of GROBID; in ``(PER*``, where ``*`` goes on with it and ``*)`` ends
        it, as in OntoNotes. "auto" takes the first of them that all labels have.

    Returns
    -------
    unified : list of str, or list of n such lists
        In the form of `labels`. Prefixes are large letters of the schemes, also for
        "begin" or "inside"; small letters of types stay. "o", "OUT", "other", "_", "-"
        and "<other>" become "O".

    Raises
    ------
    ValueError
        If no form, or not the given one, has all labels; the message names the first
        label that the form does not have.
    TypeError
        If `labels` is not a sequence of str, or a list of such sequences.

    See Also
    --------
    convert_labels : Converts labels to another tagging scheme.

    Examples
    --------
    >>> from skcrf_sdca.text import unify_labels
    >>> unify_labels(["PER_B", "PER_I", "OUT"])
    ['B-PER', 'I-PER', 'O']
    >>> unify_labels([["I-<title>", "<title>", "<other>"]])
    [['B-title', 'I-title', 'O']]
    """
    sequences, is_one = label_sequences(labels)
    if form != "auto" and form not in _FORMS:
        raise ValueError(f"form must be 'auto' or among {[*_FORMS]}, got {form!r}.")
    distinct = list(dict.fromkeys(chain.from_iterable(sequences)))
    names = [*_FORMS] if form == "auto" else [form]
    read = next((_FORMS[n] for n in names if _FORMS[n](distinct) is not None), None)
    if read is None:
        wrong = next(x for x in distinct if _FORMS[names[0]]([x]) is None)
        raise ValueError(
            f"labels has {wrong!r:.40}, which is not of the form {names[0]!r}; all "
            f"labels must have one of the forms {[*_FORMS]}, or be as 'O'. Labels that "
            "are types alone are of the scheme 'TYPES'."
        )
    found = [read(list(own)) for own in sequences]
    return found[0] if is_one else found
