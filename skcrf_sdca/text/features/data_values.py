"""Values that data define: lists of words, classes of words, and regular expressions.

Unlike functions they can be written to model files and to files of templates.
"""

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeAlias

from skcrf_sdca._utils.typing import FilePath
from skcrf_sdca.text.core.files import numbered_lines

from .values import WORD, Function, check_column

Table: TypeAlias = Mapping[str, str] | Iterable[str] | FilePath


def _check_name(name):
    if not isinstance(name, str) or not name:
        raise TypeError(f"name must be a str that is not empty; got {name!r}.")


class _Named(Function):
    """A value whose features have the name that the user gives."""

    name: str
    is_fixed = True

    @property
    def feature_name(self) -> str:
        """The text before "=" in features."""
        return self.name

    @property
    def _function_name(self):
        return self.name


@dataclass(frozen=True, repr=False)
class Lookup(_Named):
    """A template that says whether a word is in a list, or its class in a table.

    It is for lists of names (gazetteers), Brown clusters, lemmas and other tables of
    words. An entry of several words, such as "New York", is found in tokens that follow
    each other in a sentence, and each of them has the feature. Of entries that overlap
    the one that begins first is taken, and the longest one that begins there.

    Parameters
    ----------
    table : dict, iterable of str, str or path-like
        ``{word: class}``, or the words of a list. A str or a path names a file in UTF-8
        with a word on a line, or a word, a tab and its class. Blanks divide an entry
        into words.
    column : str, default="word"
        Name of the column whose values are looked up.
    name : str
        Name of the features: ``name`` of a word in a list, ``name=class`` of a word
        that has a class, none of other words.
    lower : bool, default=False
        Whether "Basel" and "BASEL" are looked up, and listed, as "basel".

    Attributes
    ----------
    table : tuple of (str, str or None)
        The words, in order, and their classes.

    Raises
    ------
    TypeError
        If a word, a class or a name is not a str.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> from skcrf_sdca.text import Lookup, TokenFeatures
    >>> templates = [
    ...     Lookup({"Basel", "Bern"}, name="city"),
    ...     Lookup({"runs": "run", "ran": "run"}, name="lemma"),
    ... ]
    >>> TokenFeatures(templates).transform([["She", "ran", "Basel"]])
    [[(), ('lemma=run',), ('city',)]]
    >>> state = Lookup({"New York": "US", "York": "GB"}, name="in")
    >>> TokenFeatures([state]).transform([["New", "York", "or", "York"]])
    [[('in=US',), ('in=US',), (), ('in=GB',)]]
    """

    table: Any
    column: str = WORD
    _: KW_ONLY
    name: str
    lower: bool = False
    _found: dict[str, str | None] = field(init=False, compare=False)
    # The entries of several words, by their first one, the longest first.
    _longer: dict[str, list[list[str]]] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Check the parameters, and read the table."""
        check_column(self.column)
        _check_name(self.name)
        rows = {}
        for word, kind in _rows(self.table):
            if not isinstance(word, str) or not isinstance(kind, (str, type(None))):
                raise TypeError(
                    f"table must have words of type str, and classes of type str; it "
                    f"has {word!r:.40}: {kind!r:.40}."
                )
            words = word.split()
            entry = " ".join(words) if len(words) > 1 else word
            rows[entry.lower() if self.lower else entry] = kind
        object.__setattr__(self, "table", tuple(sorted(rows.items())))
        object.__setattr__(self, "_found", rows)
        object.__setattr__(self, "_longer", _by_first_word(rows))

    @property
    def key(self) -> Hashable:
        """What values have in common that take the same texts of a column."""
        return self if self._longer else self.column

    def seen(self, words: list[str], lengths: Iterable[int]) -> list[str]:
        """Return the entry of several words that each token is part of, or its word.

        Parameters
        ----------
        words : list of str
            Values of the column, of the tokens of all sentences.
        lengths : iterable of int
            Numbers of tokens of the sentences.

        Returns
        -------
        list of str
        """
        if not self._longer:
            return words
        own = [word.lower() for word in words] if self.lower else words
        seen, begin = list(words), 0
        for length in lengths:
            t, end = begin, begin + length
            while t < end:
                n = self._n_matched(own, t, end)
                if n > 1:
                    seen[t : t + n] = n * [" ".join(own[t : t + n])]
                t += n
            begin = end
        return seen

    def _n_matched(self, words, begin, end):
        """Return how many words the longest entry has that begins here, 1 if none."""
        for entry in self._longer.get(words[begin], ()):
            last = begin + len(entry)
            if last <= end and words[begin:last] == entry:
                return len(entry)
        return 1

    def __call__(self, value: str) -> str | bool | None:
        """Return the class of a word, True if it has none, or None if it is not here.

        Parameters
        ----------
        value : str

        Returns
        -------
        str, bool or None
        """
        value = value.lower() if self.lower else value
        kind = self._found.get(value, False)
        return True if kind is None else kind or None

    def __repr__(self):
        """Return the expression that constructs it, with the size of its table."""
        column = "" if self.column == WORD else f", {self.column!r}"
        lower = ", lower=True" if self.lower else ""
        return f"Lookup(<{len(self.table)} words>{column}, name={self.name!r}{lower})"


def _by_first_word(entries):
    """Return the entries of several words by their first one, the longest first."""
    found: dict[str, list[list[str]]] = {}
    for entry in entries:
        words = entry.split()
        if len(words) > 1:
            found.setdefault(words[0], []).append(words)
    for own in found.values():
        own.sort(key=len, reverse=True)
    return found


def _rows(table):
    """Return the pairs of words and classes of what a user, or a model file, gives."""
    if isinstance(table, Mapping):
        return table.items()
    if isinstance(table, str) or hasattr(table, "__fspath__"):
        lines = (line for _, line in numbered_lines(table, "utf-8-sig"))
        parts = (line.strip().split("\t") for line in lines)
        return [(word, kind[0] if kind else None) for word, *kind in parts if word]
    rows = list(table)
    if all(isinstance(row, tuple) and len(row) == 2 for row in rows):
        return rows
    return [(word, None) for word in rows]


@dataclass(frozen=True)
class Regex(_Named):
    r"""A template of what a regular expression finds in a word, or whether it does.

    Parameters
    ----------
    pattern : str
        As for ``re``. The first match anywhere in the word counts; ``^``
        and ``$`` stand for the ends of the word.
    column : str, default="word"
        Name of the column.
    name : str
        Name of the features: ``name=match``, or with the first group of parentheses, if
        there is one, ``name=group``. There is none where nothing matches.
    test : bool, default=False
        Whether the feature is ``name`` alone, of words with a match.

    Raises
    ------
    TypeError
        If a parameter is of another type.
    ValueError
        If `pattern` is no regular expression.

    Examples
    --------
    >>> from skcrf_sdca.text import Regex, TokenFeatures
    >>> templates = [Regex(r"\d+", name="number"), Regex("^Mc", name="Mc", test=True)]
    >>> TokenFeatures(templates).transform([["McCoy", "A320"]])
    [[('Mc',), ('number=320',)]]
    """

    pattern: str
    column: str = WORD
    _: KW_ONLY
    name: str
    test: bool = False
    _compiled: Any = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check the parameters, and compile the pattern."""
        check_column(self.column)
        _check_name(self.name)
        if not isinstance(self.pattern, str):
            raise TypeError(f"pattern must be a str; got {self.pattern!r:.80}.")
        try:
            object.__setattr__(self, "_compiled", re.compile(self.pattern))
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(
                f"pattern={self.pattern!r:.80} is no regular expression: {error}."
            ) from error

    def __call__(self, value: str) -> str | bool | None:
        """Return the text that is found, or with `test` whether there is any.

        Parameters
        ----------
        value : str

        Returns
        -------
        str, bool or None
        """
        match = self._compiled.search(value)
        if self.test:
            return match is not None
        return match and match.group(1 if self._compiled.groups else 0)
