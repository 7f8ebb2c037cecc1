"""Words and characters of texts in any script, by the rules of Unicode (UAX 29).

What has no place of its own belongs to the character before it: marks such as accents
and vowel signs, joiners, soft hyphens, and what selects the form of an emoji.
"""

import re
from functools import cache
from itertools import groupby
from unicodedata import category

# The blocks of scripts without blanks between words, in which a token is a run of
# letters, or a single character. Tibetan has a mark between syllables.
_RUNS = {
    "Thai": "\u0e00-\u0e7f",
    "Lao": "\u0e80-\u0eff",
    "Burmese": "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f",
    "Khmer": "\u1780-\u17ff",
    "Tai": "\u1950-\u19df\u1a20-\u1aaf\uaa80-\uaadf",
    "Javanese": "\ua980-\ua9df",
    "Balinese": "\u1b00-\u1b7f",
    "Katakana": "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9d",
}
_SINGLE = {
    "Han": "\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff",
    "Hiragana": "\u3041-\u3096\u309d-\u309f\U0001b001-\U0001b122",
    "Tangut": "\U00017000-\U00018d8f",
    "Nushu": "\U0001b170-\U0001b2ff",
}
_UNSPACED = {**_RUNS, **_SINGLE, "Tibetan": "\u0f00-\u0fff"}

# What stays inside of a word, between letters and between digits. UAX 29 names hyphens
# as what a program may add, and the colon as what it may leave out.
_JOINING = r"'\u2018\u2019\uff07\-\u2010\u2011"
_IN_LETTERS = ".\u00b7\u0387\u055f\u05f4\u2024\u2027\ufe52\uff0e"
_IN_DIGITS = (
    ".,;\u037e\u0589\u060c\u060d\u066c\u07f8\u2024\u2044\ufe10\ufe14\ufe50\ufe52\ufe54"
    "\uff0c\uff0e\uff1b"
)
_DECIMAL_SEPARATOR = "\u066b"
_HEBREW = "\u05d0-\u05ea\u05ef-\u05f2\ufb1d\ufb1f-\ufb28\ufb2a-\ufb4f"
# What stands in words like a letter: signs of tones, of Armenian and of Hebrew, ties.
_LETTER_SIGNS = (
    "\u02c2-\u02c5\u02d2-\u02d7\u02de-\u02df\u02e5-\u02eb\u02ed\u02ef-\u02ff\u055a-\u055c"
    "\u055e\u058a\u05f3\u203f-\u2040\u2054\ua708-\ua716\ua720-\ua721\ua789-\ua78a\uab5b"
    "\ufe33-\ufe34\ufe4d-\ufe4f\uff3f"
)
# It separates words of Khmer and Thai, and is no white space to Python.
_ZERO_WIDTH_SPACE, _JOINER = "\u200b", "\u200d"
# What belongs to the character before it, and is no mark to Python.
_SOFT_HYPHEN, _HALFWIDTH_VOICE_MARKS = "\xad", "\uff9e\uff9f"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
# Vowels of Thai and Lao that stand behind a consonant, and signs of six scripts of
# India after which the next consonant has the same place.
_SPACING_VOWELS = "\u0e33\u0eb3"
_VIRAMAS = "\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d"


def word_pattern(text: str) -> re.Pattern[str]:
    """Return a pattern that finds the words of a text.

    >>> from skcrf_sdca.text.spans.words import word_pattern
    >>> word_pattern("Anna's e-mail").findall("Anna's e-mail")
    ["Anna's", 'e-mail']
    """
    return _plain_word() if _is_plain(text) else _any_word()


def character_pattern(text: str) -> re.Pattern[str]:
    """Return a pattern that finds the characters that people see in a text.

    >>> from skcrf_sdca.text.spans.words import character_pattern
    >>> len(character_pattern("e\u0301t").findall("e\u0301t"))
    2
    """
    return re.compile(r"\S") if _is_plain(text) else _any_character()


def unspaced_scripts(text: str) -> list[str]:
    """Return the names of the scripts of a text that have no blanks between words.

    >>> from skcrf_sdca.text.spans.words import unspaced_scripts
    >>> unspaced_scripts("\u0e44\u0e17\u0e22 and \u65e5\u672c")
    ['Thai', 'Han']
    """
    if _is_plain(text):
        return []
    return [name for name, own in _script_patterns().items() if own.search(text)]


def is_punctuation(word: str) -> bool:
    """Return whether all characters of a word are punctuation, as in CoNLL-X.

    Parameters
    ----------
    word : str

    Returns
    -------
    bool
        False for symbols, such as "$", and without a character.

    See Also
    --------
    skcrf_sdca.metrics.attachment_scores : Leaves words out by its mask.

    Examples
    --------
    >>> from skcrf_sdca.text import is_punctuation
    >>> is_punctuation("..."), is_punctuation("e.g.")
    (True, False)
    """
    return word != "" and all(category(char)[0] == "P" for char in word)


def _is_plain(text):
    """Return whether each character has a place of its own, and the script has blanks.

    This is so of Latin, Greek and Cyrillic letters, punctuation and symbols. A pattern
    that looks for no others is faster.
    """
    return text.isascii() or not _not_plain().search(text)


@cache
def _not_plain():
    return re.compile(
        "[^\0-\xac\xae-\u02c1\u0370-\u0482\u048a-\u0530\u1e00-\u200a\u2010-\u2029"
        "\u202f-\u203e\u2041-\u2053\u2055-\u205f\u20a0-\u20cf\u2100-\u2bff]"
    )


@cache
def _plain_word():
    return re.compile(
        rf"\w++(?>(?:(?:[{_JOINING}]|(?<=\d)[{_IN_DIGITS}](?=\d)"
        rf"|(?<=[^\W\d])[{_IN_LETTERS}](?=[^\W\d]))\w++)*)|[^\w\s]"
    )


@cache
def _script_patterns():
    return {name: re.compile(f"[{own}]") for name, own in _UNSPACED.items()}


@cache
def _any_word():
    """Return the pattern of words of all scripts; the first call takes some time."""
    more = f"[{_extenders()}]*+"
    runs, unspaced = "".join(_RUNS.values()), "".join((_RUNS | _SINGLE).values())
    letter = rf"[^\W\d{unspaced}]"
    in_letters = rf"[{_IN_LETTERS}]{more}(?={letter})"
    units = (
        # A Hebrew letter keeps a quote after it, and a double one before another.
        rf"""[{_HEBREW}]++{more}(?:'{more}|"{more}(?=[{_HEBREW}])|{in_letters})?""",
        rf"(?>(?:[^\W\d{unspaced}{_HEBREW}]|[{_LETTER_SIGNS}])+){more}(?:{in_letters})?",
        rf"[\d{_DECIMAL_SEPARATOR}]++{more}(?:[{_IN_DIGITS}]{more}(?=\d))?",
    )
    joining = rf"[{_JOINING}]{more}(?=\d|{letter})"
    word = rf"(?>(?:(?:{'|'.join(units)})(?:{joining})?)+)"
    run = rf"(?>(?:(?=[{runs}])[^\W\d]{more})+)"
    return re.compile("|".join((word, run, _flag(more), _single(more, _emoji(more)))))


@cache
def _any_character():
    more = f"[{_extenders()}{_SPACING_VOWELS}]*+"
    conjunct = rf"(?:(?<=[{_VIRAMAS}])|(?<=[{_VIRAMAS}]{_JOINER}))[^\W\d]{more}"
    rest = (
        "(?:[\u1160-\u11a7\ud7b0-\ud7c6]++|[\uac00-\ud7a3][\u1160-\u11a7]*+)"
        "[\u11a8-\u11ff\ud7cb-\ud7fb]*+"
    )
    # The first consonants of a syllable are read once, also if no vowel follows.
    hangul = f"(?:[\u1100-\u115f\ua960-\ua97c]++(?>(?:{rest})?)|{rest}){more}"
    single = _single(more, f"{conjunct}|{_emoji(more)}")
    return re.compile("|".join((hangul, _flag(more), single)))


def _flag(more):
    """Return the pattern of the two letters of a flag."""
    return 2 * f"[\U0001f1e6-\U0001f1ff]{more}"


def _emoji(more):
    """Return the pattern of what goes on with an emoji after a joiner."""
    return rf"(?<={_JOINER})[^\w\s]{more}"


def _single(more, following):
    """Return the pattern of a single character and of what follows in its place."""
    return rf"[^\s{_ZERO_WIDTH_SPACE}]{more}(?>(?:{following})*)"


@cache
def _extenders():
    """Return the ranges of the characters that belong to the one before them."""
    # Beyond these there are only letters of Han, and planes that are not in use.
    codes = (*range(0x300, 0x20000), *range(0xE0000, 0xE0200))
    own = {c for c in map(chr, codes) if category(c) in {"Mn", "Mc", "Me", "Cf"}}
    own |= {_SOFT_HYPHEN, *_HALFWIDTH_VOICE_MARKS, *map(chr, _SKIN_TONES)}
    own.remove(_ZERO_WIDTH_SPACE)
    runs = groupby(enumerate(sorted(own)), lambda place: ord(place[1]) - place[0])
    bounds = ([c for _, c in run] for _, run in runs)
    return "".join(f"{run[0]}-{run[-1]}" for run in bounds)
