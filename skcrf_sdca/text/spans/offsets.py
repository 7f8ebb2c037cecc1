"""Tokens of raw text, and spans by the characters of the text.

Annotation tools and other libraries say where a name begins and ends in the text. Here
are a tokenizer that keeps these offsets, and the two directions between spans of
characters and spans of tokens.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from skcrf_sdca._utils.messages import alternatives, described, nearest
from skcrf_sdca._utils.typing import Span
from skcrf_sdca.data.spans import TYPED
from skcrf_sdca.text.spans.words import character_pattern, word_pattern

Offsets: TypeAlias = list[tuple[int, int]]

# The names of patterns, and what returns the pattern for a text.
PATTERNS: dict[str, Callable[[str], re.Pattern[str]]] = {
    "words": word_pattern,
    "characters": character_pattern,
    "blanks": lambda text: re.compile(r"\S+"),
}
TOKEN = "words"


def check_pattern(pattern: Any, name: str = "tokens") -> None:
    """Raise TypeError or ValueError if this cuts no text, as `tokenize` does.

    A name that is written wrongly would be a regular expression that finds nothing.
    """
    if not isinstance(pattern, str):
        raise TypeError(
            f"{name} is {described(pattern)}; it must be 'words', 'characters', "
            "'blanks' or a regular expression."
        )
    if pattern in PATTERNS:
        return
    if pattern.isalpha() and nearest(pattern, PATTERNS) is not None:
        raise ValueError(
            f"{name}: there is no {pattern!r}{alternatives(pattern, PATTERNS)}."
        )
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{name}: no regular expression: {error}.") from error


def tokenize(text: str, pattern: str = TOKEN) -> tuple[list[str], Offsets]:
    r"""Split a text into tokens, and say where they are.

    Parameters
    ----------
    text : str
    pattern : {"words", "characters", "blanks"} or str
        What the tokens are, or a regular expression that finds them:

        * "words": words and numbers, and what people see as a single other character,
          by the word boundaries of Unicode (UAX 29). Marks, joiners and soft hyphens
          belong to the character before them, and an emoji is one token. Words keep
          their hyphens and apostrophes, and a dot between letters, as in "e.g"; numbers
          keep the dots and commas between digits.
        * "characters": what people see as one character, whatever it consists of.
        * "blanks": what stands between blanks.

        Some scripts have no blanks between words. By "words" a run of letters of Thai,
        Lao, Burmese, Khmer or Katakana is one token, a character of Han or Hiragana is
        one, and a syllable of Tibetan. For words proper, use a tokenizer of the
        language, and `token_offsets`.

    Returns
    -------
    tokens : list of str
    offsets : list of (begin, end)
        The characters of each token, ``text[begin:end]``.

    Raises
    ------
    TypeError
        If `text` is no str.
    re.error
        If the pattern is no regular expression.

    See Also
    --------
    token_offsets : The offsets of tokens of another tokenizer.

    Examples
    --------
    >>> from skcrf_sdca.text import tokenize
    >>> tokenize("Anna's in Basel.")
    (["Anna's", 'in', 'Basel', '.'], [(0, 6), (7, 9), (10, 15), (15, 16)])
    >>> tokenize("e\u0301te\u0301", "characters")[1]
    [(0, 2), (2, 3), (3, 5)]
    """
    if not isinstance(text, str):
        raise TypeError(f"text is {described(text)}; it must be a str.")
    found = PATTERNS.get(pattern, lambda text: re.compile(pattern))(text)
    offsets = [match.span() for match in found.finditer(text)]
    tokens = [text[begin:end] for begin, end in offsets]
    if "" in tokens:
        return [*filter(None, tokens)], [(b, e) for b, e in offsets if b < e]
    return tokens, offsets


def token_offsets(text: str, tokens: Iterable[str]) -> Offsets:
    """Return where tokens are in the text that they come from.

    Parameters
    ----------
    text : str
    tokens : iterable of str
        The tokens, in their order; anything may be between them.

    Returns
    -------
    offsets : list of (begin, end)
        The characters of each token, ``text[begin:end]``.

    Raises
    ------
    ValueError
        If a token is not in the text after the token before, or is empty.

    Examples
    --------
    >>> from skcrf_sdca.text import token_offsets
    >>> token_offsets("in  Basel.", ["in", "Basel", "."])
    [(0, 2), (4, 9), (9, 10)]
    """
    offsets, end = [], 0
    for t, token in enumerate(tokens):
        begin = text.find(token, end) if token else -1
        if begin < 0:
            raise ValueError(
                f"tokens: item {t}, {token!r:.40}, is not in the text from character "
                f"{end} on, {text[end : end + 40]!r}."
            )
        end = begin + len(token)
        offsets.append((begin, end))
    return offsets


def align_spans(
    spans: Iterable[tuple[Any, ...]], offsets: Sequence[tuple[int, int]]
) -> tuple[list[Span], list[tuple[Any, ...]]]:
    """Convert spans of characters to spans of tokens.

    Parameters
    ----------
    spans : iterable of (type, begin, end) or (begin, end, type)
        The characters of each span; what follows these three is ignored.
    offsets : sequence of (begin, end)
        The characters of each token, in order.

    Returns
    -------
    aligned : list of (type, begin, end)
        The tokens of each span that begins where a token begins and ends where one
        ends, in the order of ``spans``: ready for `spans_to_labels`.
    unaligned : list of tuple
        The other spans, as they were given. A tokenizer that splits more finely would
        meet their bounds.

    Raises
    ------
    TypeError, ValueError
        If a span has another form.

    See Also
    --------
    char_spans : The other way round.

    Examples
    --------
    >>> from skcrf_sdca.text import align_spans, spans_to_labels, tokenize
    >>> tokens, offsets = tokenize("Anna Meier lives in Basel.")
    >>> spans, rest = align_spans([(0, 10, "PER"), (20, 25, "LOC")], offsets)
    >>> spans, rest
    ([('PER', 0, 2), ('LOC', 4, 5)], [])
    >>> spans_to_labels(spans, len(tokens))
    ['B-PER', 'I-PER', 'O', 'O', 'B-LOC', 'O']
    >>> align_spans([("PER", 0, 3)], offsets)
    ([], [('PER', 0, 3)])
    """
    begins = {begin: t for t, (begin, _) in enumerate(offsets)}
    ends = {end: t + 1 for t, (_, end) in enumerate(offsets)}
    aligned, unaligned = [], []
    for s, span in enumerate(spans):
        try:
            begin, end, name = TYPED.read(span)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"spans: span {s} is {span!r:.80}; it must be {TYPED.words}: {error}."
            ) from error
        first, last = begins.get(begin), ends.get(end)
        if first is None or last is None or last <= first:
            unaligned.append(span)
        else:
            aligned.append((name, first, last))
    return aligned, unaligned


def char_spans(
    spans: Iterable[tuple[Any, ...]], offsets: Sequence[tuple[int, int]]
) -> list[tuple[Any, ...]]:
    """Convert spans of tokens to spans of characters.

    Parameters
    ----------
    spans : iterable of (type, begin, end, ...)
        Spans of tokens, as ``predict_spans`` and ``extract_spans`` return them for one
        sequence.
    offsets : sequence of (begin, end)
        The characters of each token.

    Returns
    -------
    spans : list of (type, begin, end, ...)
        The same, with the characters in the place of the tokens: ``text[begin:end]`` is
        the text of a span.

    Raises
    ------
    TypeError, ValueError
        If a span has another form, or is beyond the tokens.

    Examples
    --------
    >>> from skcrf_sdca.text import char_spans, tokenize
    >>> text = "Anna Meier lives in Basel."
    >>> tokens, offsets = tokenize(text)
    >>> [(_, begin, end, _)] = char_spans([("PER", 0, 2, 0.9)], offsets)
    >>> text[begin:end]
    'Anna Meier'
    """
    found = []
    for s, span in enumerate(spans):
        kind, begin, end, *others = span
        if not 0 <= begin < end <= len(offsets):
            raise ValueError(
                f"spans: span {s} goes from {begin} to {end}, but 0 <= begin < end <= "
                f"{len(offsets)}, the number of tokens, is needed."
            )
        found.append((kind, offsets[begin][0], offsets[end - 1][1], *others))
    return found
