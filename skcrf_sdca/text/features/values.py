"""Values of single tokens: columns, and functions of columns.

Owns the meaning of the results of functions, the functions of words that the package
provides, and the names of functions in files.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Set
from dataclasses import KW_ONLY, dataclass
from itertools import chain
from types import NoneType
from typing import Any

import numpy as np

from skcrf_sdca._utils.messages import lacking
from skcrf_sdca._utils.places import is_int
from skcrf_sdca._utils.shared_docs import shared_docs

# For functions of other columns, the name of the column is part of the feature name.
WORD = "word"

_DOCS = {
    "word": """
        Parameters
        ----------
        word : str

        Returns
        -------
        bool
        """,
    "affix": """
        Parameters
        ----------
        length : int
            Number of characters, which is part of the feature name, as in
            ``prefix3=tho`` or ``suffix3=ght``.
        column : str, default="word"
            Name of the column.

        Raises
        ------
        TypeError
            If ``column`` is not a str.
        ValueError
            If `length` is not an int of at least 1.
        """,
}


def check_column(column):
    """Raise TypeError if the name of a column is not a str."""
    if not isinstance(column, str):
        raise TypeError(f"column must be a str; got {column!r}.")


class Value:
    """What features have of a token: see `Column` and `Function`."""

    column: str

    @property
    def key(self) -> Hashable:
        """What values have in common that take the same texts of a column."""
        return self.column

    def seen(self, words: list[str], lengths: Iterable[int]) -> list[str]:
        """Return what `texts` takes of each token: by default the values of the column.

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
        return words


@dataclass(frozen=True)
class Column(Value):
    """The value of a column; in templates the name of the column stands for it."""

    column: str
    is_fixed = True

    def __post_init__(self) -> None:
        """Check the name."""
        check_column(self.column)

    @property
    def feature_name(self) -> str:
        """The text before "=" in features."""
        return self.column

    def texts(self, value: str) -> tuple[str, ...]:
        """Return the text after "=": the value of the column."""
        return (value,)


class Function(Value):
    """A function of a column; instances of subclasses are called with a str."""

    @property
    def is_fixed(self) -> bool:
        """Whether a word always has the same texts, so that they can be remembered."""
        return False

    def __call__(self, value: str) -> Any:
        """Return the result for a value of the column."""
        raise lacking(self, "__call__")

    @property
    def _function_name(self):
        raise lacking(self, "_function_name")

    @property
    def feature_name(self) -> str:
        """The text before "=" in features."""
        name = self._function_name
        return name if self.column == WORD else f"{self.column}.{name}"

    def texts(self, value: str) -> tuple[str | None, ...]:
        """Return the texts after "=" in the features of a token.

        Parameters
        ----------
        value : str
            Value of the column.

        Returns
        -------
        tuple of str or None
            One entry for each feature; None is a feature without "=".
        """
        try:
            result = self(value)
        except Exception as error:
            error.add_note(f"It was raised by {self!r} for {value!r}.")
            raise
        if isinstance(result, str):
            return (result,)
        if result is None or isinstance(result, (bool, np.bool_)):
            return (None,) if result else ()
        if isinstance(result, (list, tuple, Set)):
            if all(isinstance(item, str) for item in result):
                # The order of a set changes between runs.
                return tuple(sorted(result) if isinstance(result, Set) else result)
        raise TypeError(
            f"{self!r} returned {result!r:.40} for {value!r}; it must return a str, a "
            "bool, None, or a list of str."
        )


@dataclass(frozen=True)
class Apply(Function):
    """A template of a user's function, which is called once for each distinct word.

    ======================== ==========================================================
    the function returns     features
    ======================== ==========================================================
    str                      ``name=value``
    bool                     ``name`` if True, none if False
    None                     none
    list, tuple or set of    ``name=item`` for each item
    str
    ======================== ==========================================================

    Parameters
    ----------
    function : callable
        Takes a str. To be pickled or used in another process, the function must be
        importable there: a method such as ``str.lower``, or a function in a module.
    column : str, default="word"
        Column whose values are passed to the function.
    name : str, default=None
        Name of the features. By default ``function.__name__``, preceded by the name of
        the column unless that is ``"word"``: ``lower``, ``lemma.lower``.

    Raises
    ------
    TypeError
        If ``function`` cannot be called, or a name is not a str.
    ValueError
        If ``function`` has no name, such as a lambda, and ``name`` is None.

    Examples
    --------
    >>> from skcrf_sdca.text import Apply, TokenFeatures
    >>> def endings(word):
    ...     return [word[-n:] for n in (1, 2)]
    >>> TokenFeatures([Apply(str.lower), Apply(endings)]).transform([["Dogs"]])
    [[('lower=dogs', 'endings=s', 'endings=gs')]]
    """

    function: Callable
    column: str = WORD
    _: KW_ONLY
    name: str | None = None

    def __post_init__(self) -> None:
        """Check that the function can be called and has a name."""
        check_column(self.column)
        if not (callable(self.function) and isinstance(self.function, Hashable)):
            raise TypeError(
                f"function must be callable and hashable; got {self.function!r}."
            )
        if not isinstance(self.name, (str, NoneType)):
            raise TypeError(f"name must be a str or None; got {self.name!r}.")
        if self.name is None and not self._function_name.isidentifier():
            raise ValueError(f"{self.function!r} has no name: give it one with name=.")

    def __call__(self, value: str) -> Any:
        """Return the result of the function."""
        return self.function(value)

    def __repr__(self):
        """Return the expression that constructs it, with the name of the function."""
        name = getattr(self.function, "__qualname__", repr(self.function))
        column = "" if self.column == WORD else f", {self.column!r}"
        given = "" if self.name is None else f", name={self.name!r}"
        return f"Apply({name}{column}{given})"

    def __getstate__(self):
        """Return the parameters, with the name of a function of `FUNCTIONS`.

        skops does not keep methods of str, and need not trust functions by their names.
        """
        name = function_name(self.function)
        return vars(self) if name is None else {**vars(self), "function": name}

    def __setstate__(self, state):
        """Set the parameters, if they are valid.

        Raises
        ------
        TypeError, ValueError
            If they are not, or the name of the function is not known.
        """
        function = state["function"]
        if isinstance(function, str):
            if function not in FUNCTIONS:
                raise ValueError(
                    f"the function {function!r:.40} of Apply is not known; a file can "
                    f"name {', '.join(FUNCTIONS)}."
                )
            state = {**state, "function": FUNCTIONS[function]}
        vars(self).update(state)
        self.__post_init__()

    @property
    def feature_name(self) -> str:
        """The text before "=" in features."""
        return super().feature_name if self.name is None else self.name

    @property
    def is_fixed(self) -> bool:
        """Whether the function is one that a file can name."""
        return function_name(self.function) is not None

    @property
    def _function_name(self):
        return getattr(self.function, "__name__", "")


_RUNS = re.compile(r"(.)\1+", flags=re.DOTALL)


@dataclass(frozen=True)
class Shape(Function):
    """A template of the shape of a word: capitals become X, other letters x, digits d.

    Parameters
    ----------
    column : str, default="word"
        Name of the column.
    compact : bool, default=False
        Whether to replace each run of equal characters of the shape by one of them. The
        name of the feature is then ``compact_shape``.

    Raises
    ------
    TypeError
        If ``column`` is not a str, or ``compact`` is not a bool.

    Examples
    --------
    >>> from skcrf_sdca.text import Shape
    >>> Shape()("McDonald-747")
    'XxXxxxxx-ddd'
    >>> Shape(compact=True)("McDonald-747")
    'XxXx-d'
    """

    column: str = WORD
    _: KW_ONLY
    compact: bool = False
    is_fixed = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_column(self.column)
        if not isinstance(self.compact, (bool, np.bool_)):
            raise TypeError(f"compact must be a bool; got {self.compact!r}.")

    def __call__(self, value: str) -> str:
        """Return the shape of a str."""
        shape = "".join(
            "X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c
            for c in value
        )
        return _RUNS.sub(r"\1", shape) if self.compact else shape

    @property
    def _function_name(self):
        return "compact_shape" if self.compact else "shape"


@dataclass(frozen=True)
class _Affix(Function):
    length: int
    column: str = WORD
    is_fixed = True

    def __post_init__(self):
        check_column(self.column)
        if not is_int(self.length) or self.length < 1:
            raise ValueError(
                f"length must be an int of at least 1; got {self.length!r}."
            )

    def texts(self, value: str) -> tuple[str | None, ...]:
        """Return the text after "=": no other result has to be looked for.

        Parameters
        ----------
        value : str
            Value of the column.

        Returns
        -------
        tuple of str
        """
        return (self(value),)

    @property
    def _function_name(self):
        return f"{type(self).__name__.lower()}{self.length}"


@shared_docs(_DOCS)
class Prefix(_Affix):
    """A template of the first characters of a word, or of all if it has fewer.

    {affix}

    Examples
    --------
    >>> from skcrf_sdca.text import Prefix
    >>> Prefix(3)("thought"), Prefix(3)("in")
    ('tho', 'in')
    """

    def __call__(self, value: str) -> str:
        """Return the prefix of a str."""
        return value[: self.length]


@shared_docs(_DOCS)
class Suffix(_Affix):
    """A template of the last characters of a word, or of all if it has fewer.

    {affix}

    Examples
    --------
    >>> from skcrf_sdca.text import Suffix
    >>> Suffix(3)("thought"), Suffix(3)("in")
    ('ght', 'in')
    """

    def __call__(self, value: str) -> str:
        """Return the suffix of a str."""
        return value[-self.length :]


@shared_docs(_DOCS)
def is_capitalized(word: str) -> bool:
    """Return whether a word begins with a capital letter.

    {word}

    Examples
    --------
    >>> from skcrf_sdca.text import is_capitalized
    >>> is_capitalized("Basel"), is_capitalized("iPod")
    (True, False)
    """
    return word[:1].isupper()


@shared_docs(_DOCS)
def has_digit(word: str) -> bool:
    """Return whether a word has a digit.

    {word}

    Examples
    --------
    >>> from skcrf_sdca.text import has_digit
    >>> has_digit("A4"), has_digit("four")
    (True, False)
    """
    return any(map(str.isdigit, word))


@shared_docs(_DOCS)
def has_hyphen(word: str) -> bool:
    """Return whether a word has a hyphen.

    {word}

    Examples
    --------
    >>> from skcrf_sdca.text import has_hyphen
    >>> has_hyphen("well-known"), has_hyphen("known")
    (True, False)
    """
    return "-" in word


# Functions that files name: each takes a str and returns a str or a bool, never a list,
# from which a Joint could make any number of features.
_STR_METHODS = (
    *(str.capitalize, str.casefold, str.lower, str.swapcase, str.title, str.upper),
    *(str.lstrip, str.rstrip, str.strip),
    *(str.isalnum, str.isalpha, str.isascii, str.isdecimal, str.isdigit),
    *(str.isidentifier, str.islower, str.isnumeric, str.isprintable, str.isspace),
    *(str.istitle, str.isupper),
)
_OWN = (has_digit, has_hyphen, is_capitalized)
FUNCTIONS = {function.__qualname__: function for function in (*_STR_METHODS, *_OWN)}


# Methods of data that files hold with the data: kinds, types, methods.
_METHODS = {
    "set": ((set, frozenset), "__contains__"),
    "dict": (dict, "get"),
    "regex": (re.Pattern, "findall"),
}


def as_data(function):
    """Return (kind, data) of a method of a set, dict or regular expression, or None."""
    owner = getattr(function, "__self__", None)
    method = getattr(function, "__name__", "")
    for kind, (types, name) in _METHODS.items():
        if isinstance(owner, types) and method == name:
            return _data_of(kind, owner)
    return None


def _data_of(kind, owner):
    if kind == "regex":
        return (kind, [owner.pattern, owner.flags]) if owner.groups == 0 else None
    rows = [list(row) for row in owner.items()] if kind == "dict" else list(owner)
    texts = chain.from_iterable(rows) if kind == "dict" else rows
    return (kind, sorted(rows)) if all(type(t) is str for t in texts) else None


def from_data(kind, data):
    """Return the method from what `as_data` returned; ValueError if it is none."""
    if kind == "regex":
        try:
            return re.compile(*data).findall
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"Apply: {data!r:.80} is no pattern: {error}") from error
    if kind == "dict":
        return dict(data).get
    if kind == "set":
        return frozenset(data).__contains__
    raise ValueError(f"Apply: data of the kind {kind!r:.40} are not known")


def function_name(function):
    """Return the name of a function in `FUNCTIONS`, None if it is not there."""
    return next((name for name in FUNCTIONS if FUNCTIONS[name] is function), None)
