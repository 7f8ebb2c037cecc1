"""What a reader knows of a source, what it guesses, and what it leaves out or repairs.

Each reader fills a `Reading`. `read_corpus` warns of its messages, and the command
prints it first.
"""

import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any

from skcrf_sdca._utils.messages import counted
from skcrf_sdca.text.core.answers import answers

# Sequences that are counted at once.
_AT_ONCE = 64
# Tokens that are kept, to ask whether a column tells the label.
_N_KEPT = 20_000
# What may be guessed of columns.
_OF_COLUMNS = {"word", "features"}
# Bounds of what is odd in the counts.
_MANY_SENTENCES, _FEW_TOKENS, _MANY_LABELS = 10, 20, 20
# Tokens of a sentence that are many, and of one that is alone.
_MANY_TOKENS, _MANY_OF_ONE = 2000, 500


_TAG = re.compile(r"O|[BIESLU]-\w+")
# What separates or encloses columns, or a tag after another column: no label has it.
_STRANGE = re.compile(rf'[\t"]|\s({_TAG.pattern})$')


class ReadingWarning(UserWarning):
    """Warns that what was read is odd, or that some of it was left out or repaired.

    See Also
    --------
    read_corpus : Warns of it, and returns a description of what was read.

    Examples
    --------
    >>> import warnings
    >>> from skcrf_sdca.text import ReadingWarning, read_corpus
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", ReadingWarning)
    ...     X, y = read_corpus([("Anna left", [(1, 4, "PER")])])
    >>> [str(warning.message)[:15] for warning in caught]
    ['1 span left out']
    """


def as_argument(name: str, value: str | None = None) -> str:
    """Return how messages name an argument of a function, or give it a value."""
    return f"{name}=" if value is None else f"{name}={value!r}"


class Reading:
    """How a source is read, and what was read, guessed, left out and repaired.

    Parameters
    ----------
    encoding : str
        The encoding of bytes.
    labelled : bool
        Whether labels are read.
    option : callable
        Returns how an option is written for whoever asks, and one with a value:
        `as_argument`, or the command's own.

    Attributes
    ----------
    tokens : str or None
        How texts were cut into tokens, as in `tokenize`; None if the source has tokens.
        A `Tagger` that is told so cuts new texts as those of its training.
    n_sentences, n_tokens, longest : int
        How many there are, and the tokens of the longest sentence.
    labels : Counter
        The labels, and None for tokens without one.
    taken : dict of str to str
        What was taken for the format, the word, the label and so on.
    guesses : dict of str to str
        The option that says otherwise, for each of these that was guessed.
    names : list of str or None
        The names of the columns, if tokens are tuples; None for what is no feature.

    Examples
    --------
    >>> from skcrf_sdca.text.core.reading import Reading
    >>> reading = Reading()
    >>> reading.take("format", "columns", option="format")
    >>> reading.take("word", "column 1")
    >>> reading.note("line", "left out: it is a comment", "line 3")
    >>> print(reading)
    columns (format= says otherwise): 0 sentences, 0 tokens, 0 labels; word: column 1
    >>> reading.messages()[0]
    '1 line left out: it is a comment; the first is line 3.'
    """

    def __init__(
        self,
        encoding: str = "utf-8-sig",
        labelled: bool = True,
        option: Callable[..., str] = as_argument,
    ) -> None:
        self.encoding, self.labelled, self.option = encoding, labelled, option
        self.n_sentences = self.n_tokens = self.longest = 0
        self.labels: Counter[Any] = Counter()
        self.taken: dict[str, str] = {}
        self.guesses: dict[str, str] = {}
        self.names: Sequence[str | None] = ()
        # How many texts were cut into words, and how many have each of these scripts.
        self.n_texts, self.unspaced = 0, Counter[str]()
        self._n_noted: Counter[tuple[str, str]] = Counter()
        self._firsts: dict[tuple[str, str], tuple[str, str]] = {}
        self._odd: dict[str, None] = {}
        self._kept: list[Any] = []
        self._n_kept = 0

    def take(self, role: str, found: str, *, option: str | None = None) -> None:
        """Say what was taken for a role; `option` says otherwise, if it was guessed."""
        self.taken[role] = found
        self.guesses.pop(role, None)
        if option is not None:
            self.guesses[role] = option

    def note(
        self, noun: str, what: str, first: str, cure: str = "", n: int = 1
    ) -> None:
        """Count n more things of which `what` is said, such as "left out: ..."."""
        if n:
            self._n_noted[noun, what] += n
            self._firsts.setdefault((noun, what), (first, cure))

    def odd(self, message: str) -> None:
        """Keep a message on any other odd thing, once."""
        self._odd[message] = None

    def count_scripts(self, unspaced: Iterable[str]) -> None:
        """Count a text, and the scripts in it that have no blanks between words."""
        self.n_texts += 1
        self.unspaced.update(unspaced)

    def counted(self, sequences: Iterable[Any]) -> Iterator[Any]:
        """Yield sequences with `tokens` and `labels`, and count these."""
        found: list[Any] = []
        for sequence in sequences:
            found.append(sequence)
            if len(found) == _AT_ONCE:
                self._count(found)
                found = []
            yield sequence
        self._count(found)

    def _count(self, found):
        lengths = [len(sequence.tokens) for sequence in found]
        self.n_sentences += len(found)
        self.n_tokens += sum(lengths)
        self.longest = max(self.longest, *lengths, 0)
        if self.labelled:
            labels = (sequence.labels or () for sequence in found)
            self.labels.update(chain.from_iterable(labels))
            if not _OF_COLUMNS.isdisjoint(self.guesses) and self._n_kept < _N_KEPT:
                self._kept += found
                self._n_kept += sum(lengths)

    @property
    def tokens(self) -> str | None:
        """What cut the texts, as in `tokenize`; None if the source has tokens."""
        return self.taken.get("tokens")

    @property
    def n_labels(self) -> int:
        """The number of different labels; None is none."""
        return len(self.labels) - (None in self.labels)

    def messages(self) -> list[str]:
        """Return what users are to be warned of."""
        noted = []
        for (noun, what), (first, cure) in self._firsts.items():
            n = _counted(self._n_noted[noun, what], noun)
            noted.append(f"{n} {what}; the first is {first}. {cure}".rstrip())
        odd = (f"{text}{self._otherwise(role)}." for text, role in _odd_counts(self))
        return [*noted, *self._odd, *odd, *self._answers()]

    def _answers(self):
        """Yield messages on words that are none, and on features that tell the label.

        Both are columns that were taken for something else than they are.
        """
        columns: dict[str, list[str]] = {}
        for token in chain.from_iterable(own.tokens for own in self._kept):
            is_dict = isinstance(token, Mapping)
            items = token.items() if is_dict else zip(self.names, token, strict=True)
            for name, value in items:
                columns.setdefault(name, []).append(value)
        words = columns.pop("word", [])
        if len(words) > _FEW_TOKENS and (what := _no_words(words)):
            n = _counted(len(words), "word")
            yield f"the first {n} {what}{self._otherwise('word')}."
        columns.pop(None, None)
        labels = chain.from_iterable(own.labels for own in self._kept)
        texts = ["" if label is None else str(label) for label in labels]
        of_all = {name: x for name, x in columns.items() if len(x) == len(texts)}
        for name, why in answers(of_all, texts):
            yield (
                f"the column {name} is a feature, but new text may not have it: it "
                f"{why}{self._otherwise('features')}."
            )

    def warn(self) -> None:
        """Warn of the messages, in the name of the caller of the caller."""
        for message in self.messages():
            warnings.warn(message, ReadingWarning, stacklevel=3)

    def _otherwise(self, role):
        option = self.guesses.get(role)
        return f"; {self.option(option)} says otherwise" if option else ""

    def __str__(self) -> str:
        """Return one line: the format, the counts, and what was taken for the roles."""
        counts = [
            _counted(self.n_sentences, "sentence"),
            _counted(self.n_tokens, "token"),
        ]
        if self.labelled:
            counts.append(_counted(self.n_labels, "label"))
        if self.labels[None]:
            counts.append(f"{_counted(self.labels[None], 'token')} without a label")
        taken = {role: f"{role}: {found}" for role, found in self.taken.items()}
        start = self.taken.get("format", "read") + self._alternative("format")
        roles = [role for role in taken if role != "format"]
        for role, following in zip_longest(roles, roles[1:]):
            # Several roles in a row may have one option.
            if self.guesses.get(role) != self.guesses.get(following):
                taken[role] += self._alternative(role)
        found = ", ".join(taken[role] for role in roles)
        return f"{start}: {', '.join(counts)}{'; ' * bool(found)}{found}"

    def _alternative(self, role):
        option = self.guesses.get(role)
        return f" ({self.option(option)} says otherwise)" if option else ""


def _no_words(words):
    """Return what tells that many words are none, or None."""
    if all(map(str.isdecimal, words)):
        return f"are numbers such as {words[0]}"
    tags = [word for word in words if _TAG.fullmatch(word)]
    if 2 * len(tags) > len(words):
        return f"are labels such as {max(tags, key=len)}"
    if begin := os.path.commonprefix(words):
        return f"begin with {begin!r:.80}"
    if all(word[-1:].isdecimal() for word in words):
        return f"end with numbers, such as {words[0]!r:.80}"
    return None


def _counted(n, noun):
    """Return a large number with its noun, as in "14,987 sentences"."""
    return counted(n, noun).replace(str(n), f"{n:,}", 1)


def _odd_counts(reading):
    """Yield what is odd in the counts, and what may have been guessed wrongly."""
    n = reading.n_tokens
    if n == 0:
        yield "nothing was read: there is no token", "format"
    # A name here and there does not make a text one of its script.
    scripts = [s for s, n in reading.unspaced.items() if 10 * n > reading.n_texts]
    if scripts:
        words, characters = (
            reading.option("tokens", value) for value in ("words", "characters")
        )
        yield (
            f"the texts have {', '.join(scripts)}, without blanks between words: a run "
            "of such letters is a token, a character of Han and Hiragana, a syllable "
            f"of Tibetan. Give {words} if that is meant, {characters} for characters, "
            "or read the tokens of a tokenizer",
            "tokens",
        )
    if reading.longest == 1 and reading.n_sentences > _MANY_SENTENCES:
        yield f"all {reading.n_sentences:,} sentences have one token", "format"
    if reading.n_sentences == 1 and n > _MANY_OF_ONE:
        yield f"the only sentence has {n:,} tokens", "format"
    elif reading.longest > _MANY_TOKENS:
        yield f"a sentence has {reading.longest:,} tokens", "format"
    if reading.labelled and n:
        yield from _odd_labels(reading)


def _odd_labels(reading):
    """Yield what is odd in the counts of labels."""
    n, labels = reading.n_tokens, reading.labels
    if labels[""]:
        yield f"{labels['']:,} of {_counted(n, 'token')} have the label ''", "label"
    elif reading.n_labels == 1 and n > _FEW_TOKENS:
        only = next(label for label in labels if label is not None)
        yield f"all {n:,} tokens have one label, {only!r:.80}", "label"
    if reading.n_labels == 0:
        yield "no token has a label", "label"
    elif labels[None] > n / 2 and n > _FEW_TOKENS:
        yield f"{labels[None]:,} of {_counted(n, 'token')} have no label", "label"
    if found := [x for x in labels if isinstance(x, str) and _STRANGE.search(x)]:
        few = f"{counted(len(found), 'label')} with a sign that labels have not"
        yield f"{few}, such as {found[0]!r:.80}", "label"
    if reading.n_labels > max(_MANY_LABELS, n / 10):
        few = f"{reading.n_labels:,} labels of {n:,} tokens are more than a tenth"
        yield few, "label"
