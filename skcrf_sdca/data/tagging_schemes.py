"""Tagging schemes: what the labels of spans mean.

A table of the schemes and of their names answers three questions: which prefix and type
a label has, whether one label may follow another, and which prefixes a span gets.
"""

from typing import NamedTuple

from skcrf_sdca._utils.typing import SpanScheme

__all__ = ["get_scheme", "is_valid_pair", "parse_label"]

OUTSIDE = "O"


class TaggingScheme(NamedTuple):
    """What each prefix may do, as strings of one-letter prefixes.

    Two labels in a row belong to one span if they have the same type, the prefix of the
    first is in `goes_on` and the prefix of the second in `continues`. Everywhere else a
    span ends or begins, and the other fields tell for which prefixes that is valid.
    """

    goes_on: str  # may be followed by a label of their span
    continues: str  # may follow a label of their span
    starts: str  # may begin a span, after "O" or another type
    starts_again: str  # may begin a span right after one of the same type
    ends: str  # may end a span

    @property
    def prefixes(self) -> str:
        """Prefixes of the scheme, those that begin a span first."""
        return "".join(dict.fromkeys(self.starts_again + self.continues))

    def prefixes_of_span(self, length: int, follows_same: bool) -> str:
        """Return the prefixes of a span, the only valid ones.

        `follows_same` tells whether it directly follows a span of its type. If the
        scheme cannot tell the two apart, the result is shorter than `length`.
        """
        first = self.starts_again if follows_same else self.starts
        if length == 1:
            return _common(first, self.ends)
        inner = _common(self.continues, self.goes_on) * (length - 2)
        return _common(first, self.goes_on) + inner + _common(self.continues, self.ends)


def _common(some: str, others: str) -> str:
    """Return the prefixes that are in both; every use above has at most one."""
    return "".join(prefix for prefix in some if prefix in others)


_BIO = TaggingScheme("BI", "I", starts="B", starts_again="B", ends="BI")
_BIOES = TaggingScheme("BI", "IE", starts="BS", starts_again="BS", ends="ES")
_BILOU = TaggingScheme("BI", "IL", starts="BU", starts_again="BU", ends="LU")
_IN_CAPITALS = {
    "BIO": _BIO,
    "IOB2": _BIO,
    "IOB1": TaggingScheme("BI", "I", starts="I", starts_again="B", ends="BI"),
    "IO": TaggingScheme("I", "I", starts="I", starts_again="", ends="I"),
    "BIOES": _BIOES,
    "IOBES": _BIOES,
    "BILOU": _BILOU,
    "BILUO": _BILOU,
}
# By all names that a user may give.
TAGGING_SCHEMES = _IN_CAPITALS | {k.lower(): v for k, v in _IN_CAPITALS.items()}


def get_scheme(name: str, *, argument: str = "scheme") -> TaggingScheme:
    """Return a tagging scheme by its name.

    Parameters
    ----------
    name : str
        A name of the table below, in capitals or in small letters.
    argument : str, default="scheme"
        The name of the argument in the error message.

    Returns
    -------
    scheme : TaggingScheme

    Raises
    ------
    ValueError
        If there is no scheme of this name.

    Notes
    -----
    The labels of a span of two tokens and, after a token outside, of two spans of one
    token that touch, all of type X:

    ==================  =====================  =====================================
    name                labels                 meaning
    ==================  =====================  =====================================
    "BIO", "IOB2"       B-X I-X O B-X B-X      B begins every span
    "IOB1"              I-X I-X O I-X B-X      B only right after a span of its type
    "IO"                I-X I-X O I-X I-X      the spans that touch are read as one
    "BIOES", "IOBES"    B-X E-X O S-X S-X      E ends a span, S is a span of one
    "BILOU", "BILUO"    B-X L-X O U-X U-X      L ends a span, U is a span of one
    ==================  =====================  =====================================

    Examples
    --------
    >>> from skcrf_sdca.data.tagging_schemes import get_scheme
    >>> get_scheme("BIOES").ends
    'ES'
    """
    if not isinstance(name, str) or name not in TAGGING_SCHEMES:
        raise ValueError(
            f"{argument} must be one of {sorted(_IN_CAPITALS)}, or the same in small "
            f"letters; got {name!r}."
        )
    return TAGGING_SCHEMES[name]


def parse_label(label: str, scheme: SpanScheme = "BIO") -> tuple[str, str | None]:
    """Split a label into its prefix and its type.

    Parameters
    ----------
    label : str
        "O", or a prefix of the scheme, with a type as in "B-PER" or alone. The type is
        all that follows the first "-", whatever its characters.
    scheme : str, default="BIO"
        Name of the scheme, see `get_scheme`.

    Returns
    -------
    prefix : str
        One letter, "O" outside spans.
    type : str or None
        None outside spans, "" for a prefix alone.

    Raises
    ------
    ValueError
        If the scheme is unknown, or the label does not belong to it.
    TypeError
        If the label is not a str.

    Examples
    --------
    >>> from skcrf_sdca.data.tagging_schemes import parse_label
    >>> parse_label("B-PER"), parse_label("I"), parse_label("O")
    (('B', 'PER'), ('I', ''), ('O', None))
    """
    known = get_scheme(scheme).prefixes
    if not isinstance(label, str):
        raise TypeError(
            f"Labels of spans must be str such as 'B-PER', got {label!r}; replace "
            "numbers of labels by their names."
        )
    if label == OUTSIDE:
        return OUTSIDE, None
    prefix, _, span_type = label.partition("-")
    if len(prefix) != 1 or prefix not in known:
        forms = ", ".join(f"'{letter}-...'" for letter in known)
        raise ValueError(
            f"Label {label!r} is not of the scheme {scheme!r}: it must be 'O', {forms}."
        )
    return prefix, span_type


def is_valid_pair(
    previous: str | None, following: str | None, scheme: SpanScheme = "BIO"
) -> bool:
    """Tell whether a label may follow another in a scheme.

    Parameters
    ----------
    previous : str or None
        A label of the scheme; None stands for the start of the sequence.
    following : str or None
        The label after it; None stands for the end of the sequence.
    scheme : str, default="BIO"
        Name of the scheme, see `get_scheme`.

    Returns
    -------
    valid : bool
        Starts and ends of sequences are like "O". A sequence is valid if all its pairs
        are, with its start and its end.

    Raises
    ------
    ValueError, TypeError
        If the scheme is unknown, or a label does not belong to it.

    Notes
    -----
    What may follow; X and Y are different types, Z is either of them:

    =========  ================  =======================  =====================
    scheme     at the start, O   B-X or I-X               E-X, S-X, L-X or U-X
    =========  ================  =======================  =====================
    BIO, IOB2  O, B-Z, end       I-X, B-Z, O, end         not in the scheme
    IOB1       O, I-Z, end       I-X, B-X, I-Y, O, end    not in the scheme
    IO         O, I-Z, end       I-Z, O, end              not in the scheme
    BIOES      O, B-Z, S-Z, end  I-X, E-X                 O, B-Z, S-Z, end
    BILOU      O, B-Z, U-Z, end  I-X, L-X                 O, B-Z, U-Z, end
    =========  ================  =======================  =====================

    Examples
    --------
    >>> from skcrf_sdca.data.tagging_schemes import is_valid_pair
    >>> is_valid_pair("O", "I-PER"), is_valid_pair("O", "I-PER", scheme="IOB1")
    (False, True)
    >>> is_valid_pair("B-PER", None, scheme="BIOES")
    False
    """
    rule = get_scheme(scheme)
    pair = [OUTSIDE if label is None else label for label in (previous, following)]
    (first, first_type), (second, second_type) = (parse_label(p, scheme) for p in pair)
    is_same = first_type == second_type
    if is_same and first in rule.goes_on and second in rule.continues:
        return True
    starts = rule.starts_again if is_same else rule.starts
    return first in OUTSIDE + rule.ends and second in OUTSIDE + starts
