"""Tagging schemes: what the labels of spans mean.

A table of the schemes and of their names answers three questions: which prefix and type
a label has, whether one label may follow another, and which prefixes a span gets.
"""

from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

from skcrf_sdca._utils.messages import nearest
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
    ends: str  # may end a span, before "O" or another type
    ends_again: str  # may end a span right before one of the same type
    has_prefixes: bool = True  # or labels are types, which are read as with "I-"

    @property
    def prefixes(self) -> str:
        """Prefixes of the scheme, those that begin a span first."""
        return "".join(dict.fromkeys(self.starts_again + self.continues))

    def prefixes_of_span(
        self, length: int, follows_same: bool = False, precedes_same: bool = False
    ) -> str:
        """Return the prefixes of a span, the only valid ones.

        `follows_same` and `precedes_same` tell whether a span of its type is right
        before it, or after it. If the scheme cannot tell the two apart, the result is
        shorter than `length`.
        """
        first = self.starts_again if follows_same else self.starts
        last = self.ends_again if precedes_same else self.ends
        if length == 1:
            return _common(first, last)
        inner = _common(self.continues, self.goes_on) * (length - 2)
        return _common(first, self.goes_on) + inner + _common(self.continues, last)

    def rest(self, label: str) -> str:
        """Return what follows the prefix of a label: "-PER" of "B-PER"."""
        if label == OUTSIDE:
            return ""
        return label[1:] if self.has_prefixes else f"-{label}"

    def label(self, prefix: str, rest: str) -> str:
        """Return the label of a prefix and of what `rest` returns.

        Raise ValueError for the types "" and "O", which alone are no label of a span.
        """
        if self.has_prefixes or prefix == OUTSIDE:
            return prefix + rest
        if rest in ("", "-", f"-{OUTSIDE}"):
            raise ValueError(
                f"a span of the type {rest[1:]!r} has no label in the scheme 'TYPES'; "
                "use another scheme."
            )
        return rest[1:]


def _common(some: str, others: str) -> str:
    """Return the prefixes that are in both; every use above has at most one."""
    return "".join(prefix for prefix in some if prefix in others)


def _begun(goes_on, continues, starts, ends, **others):
    """Return a scheme in which labels do not depend on spans that touch."""
    again = {"starts_again": starts, "ends_again": ends}
    return TaggingScheme(goes_on, continues, starts=starts, ends=ends, **again | others)


_BIO = _begun("BI", "I", starts="B", ends="BI")
_BIOES = _begun("BI", "IE", starts="BS", ends="ES")
_BILOU = _begun("BI", "IL", starts="BU", ends="LU")
_BMES = _begun("BM", "ME", starts="BS", ends="ES")
_BMEWO = _begun("BM", "ME", starts="BW", ends="EW")
_IO = _begun("I", "I", starts="I", ends="I", starts_again="")
_IN_CAPITALS = {
    "BIO": _BIO,
    "IOB2": _BIO,
    "IOB1": _begun("BI", "I", starts="I", ends="BI", starts_again="B"),
    "IOE1": _begun("I", "IE", starts="IE", ends="I", ends_again="E"),
    "IOE2": _begun("I", "IE", starts="IE", ends="E"),
    "IO": _IO,
    "TYPES": _IO._replace(has_prefixes=False),
    "BIOES": _BIOES,
    "IOBES": _BIOES,
    "BILOU": _BILOU,
    "BILUO": _BILOU,
    "BMES": _BMES,
    "BMESO": _BMES,
    "BMEWO": _BMEWO,
}
# By all names that a user may give.
TAGGING_SCHEMES = _IN_CAPITALS | {k.lower(): v for k, v in _IN_CAPITALS.items()}
# Of all schemes.
_PREFIXES = frozenset(chain.from_iterable(x.prefixes for x in _IN_CAPITALS.values()))


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
    "TYPES"             X X O X X              the same, by types without a prefix
    "IOE2"              I-X E-X O E-X E-X      E ends every span
    "IOE1"              I-X I-X O E-X I-X      E only right before a span of its type
    "BIOES", "IOBES"    B-X E-X O S-X S-X      E ends a span, S is a span of one
    "BILOU", "BILUO"    B-X L-X O U-X U-X      L ends a span, U is a span of one
    "BMES", "BMESO"     B-X E-X O S-X S-X      as "BIOES", with M in the place of I
    "BMEWO"             B-X E-X O W-X W-X      as "BMES", with W in the place of S
    ==================  =====================  =====================================

    Examples
    --------
    >>> from skcrf_sdca.data.tagging_schemes import get_scheme
    >>> get_scheme("BIOES").ends
    'ES'
    """
    if not isinstance(name, str) or name not in TAGGING_SCHEMES:
        meant = nearest(name, _IN_CAPITALS)
        hint = "." if meant is None else f"; did you mean {meant!r}?"
        raise ValueError(
            f"{argument} must be one of {sorted(_IN_CAPITALS)}, or the same in small "
            f"letters; got {name!r}{hint}"
        )
    return TAGGING_SCHEMES[name]


def parse_label(label: str, scheme: SpanScheme = "BIO") -> tuple[str, str | None]:
    """Split a label into its prefix and its type.

    Parameters
    ----------
    label : str
        "O", or a prefix of the scheme, with a type as in "B-PER" or alone. The type is
        all that follows the first "-", whatever its characters. In the scheme "TYPES"
        every other label is a type.
    scheme : str, default="BIO"
        Name of the scheme, see `get_scheme`.

    Returns
    -------
    prefix : str
        One letter, "O" outside spans; "I" of a type in the scheme "TYPES".
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
    rule = get_scheme(scheme)
    if not isinstance(label, str):
        raise TypeError(
            f"Labels of spans must be str such as 'B-PER', got {label!r}; replace "
            "numbers of labels by their names."
        )
    if label == OUTSIDE:
        return OUTSIDE, None
    if not rule.has_prefixes:
        return rule.prefixes, label
    prefix, _, span_type = label.partition("-")
    if len(prefix) != 1 or prefix not in rule.prefixes:
        forms = ", ".join(f"'{letter}-...'" for letter in rule.prefixes)
        message = (
            f"Label {label!r} is not of the scheme {scheme!r}: it must be 'O', {forms}."
        )
        if "-" not in label:
            message += (
                " Labels that are types, such as 'PER' in place of 'I-PER', are of the "
                "scheme 'TYPES'."
            )
        if len(prefix) != 1 or not prefix.isupper():
            message += (
                " text.unify_labels writes labels such as 'PER_B', 'PER-B' or 'b-PER' "
                "in this form."
            )
        raise ValueError(message)
    return prefix, span_type


def labels_come_first(first: Iterable[str], last: Iterable[str]) -> bool:
    """Tell whether the first of two columns has labels of spans, and the last has not.

    Each label has a prefix of some scheme, with a type, or is "O", and not all are "O".

    >>> from skcrf_sdca.data.tagging_schemes import labels_come_first
    >>> labels_come_first(["B-PER", "O"], ["Anna", "lives"])
    True
    >>> labels_come_first(["O", "O"], ["Anna", "lives"])
    False
    """
    found = set(first)
    has_spans = not found <= {OUTSIDE}
    return has_spans and are_labels(found) and not are_labels(last)


def are_labels(values: Iterable[str]) -> bool:
    """Tell whether all values have a prefix of some scheme and a type, or are "O".

    >>> from skcrf_sdca.data.tagging_schemes import are_labels
    >>> are_labels(["B-PER", "O"]), are_labels(["B", "Anna"])
    (True, False)
    """
    parts = (value.partition("-") for value in values if value != OUTSIDE)
    return all(prefix in _PREFIXES and own_type for prefix, _, own_type in parts)


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
    What may follow; X and Y are different types, Z is either of them. M-X is as I-X,
    and W-X as S-X:

    =========  ================  =======================  =====================
    scheme     at the start, O   B-X or I-X               E-X, S-X, L-X or U-X
    =========  ================  =======================  =====================
    BIO, IOB2  O, B-Z, end       I-X, B-Z, O, end         not in the scheme
    IOB1       O, I-Z, end       I-X, B-X, I-Y, O, end    not in the scheme
    IO         O, I-Z, end       I-Z, O, end              not in the scheme
    IOE2       O, I-Z, E-Z, end  I-X, E-X                 O, I-Z, E-Z, end
    IOE1       O, I-Z, E-Z, end  I-X, E-X, I-Y, E-Y, O,   I-X, E-X
                                 end
    BIOES      O, B-Z, S-Z, end  I-X, E-X                 O, B-Z, S-Z, end
    BILOU      O, B-Z, U-Z, end  I-X, L-X                 O, B-Z, U-Z, end
    BMES       O, B-Z, S-Z, end  M-X, E-X                 O, B-Z, S-Z, end
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
    ends = rule.ends_again if is_same else rule.ends
    return first in OUTSIDE + ends and second in OUTSIDE + starts
