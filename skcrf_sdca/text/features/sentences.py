"""The features of few tokens, sentence by sentence.

These are the strings of patterns.py, whose arrays take longer than to make the strings
of a few tokens.
"""

from collections.abc import Iterator
from itertools import chain, product, starmap
from typing import Any

from skcrf_sdca.text.core.tokens import Tokens

from .patterns import joint, reach_of
from .templates import Feature, Part

# So many words are remembered with their texts, for each value, if all words of some
# sentences have at most so many characters.
MOST_WORDS, LONGEST_WORD = 2**11, 100


class SentenceFeatures:
    """The features of a TokenFeatures, ready for one sentence after the other.

    `features` are what `checked_features` returns, and `pad` has the words before and
    after a sentence, or is None. Threads may share it.

    Attributes
    ----------
    features : list of Feature
    read : list of str
        The names of the columns that they read.

    A column has the texts of a value at every place, or the joint texts of some: these
    are made of a column before and of a value, some places further.
    """

    def __init__(self, features: list[Feature], pad: tuple[str, str] | None) -> None:
        self.features = features
        self._values = list({p.value: None for f in features for p in f.parts})
        self.read = list({value.column: None for value in self._values})
        # The texts of words, of values that always have the same.
        self._known: list[dict[str, tuple[str | None, ...]] | None]
        self._known = [{} if value.is_fixed else None for value in self._values]
        self._columns = {(Part(v, 0),): i for i, v in enumerate(self._values)}
        self._joins: list[tuple[int, int, int]] = []
        reach = reach_of(features)
        # Of each feature its name, with "=" too, its column, and where that begins.
        self._features = [
            (name, f"{name}=", self._column(parts), reach + parts[0].place)
            for name, parts in features
        ]
        before, after = ((), ()) if pad is None else ((text,) for text in pad)
        self._before, self._after = reach * [before], reach * [after]

    def _column(self, parts):
        """Return the number of the column of some parts, of any places."""
        key = tuple(Part(value, place - parts[0].place) for value, place in parts)
        if key not in self._columns:
            *others, last = key
            join = self._column(others), self._column([last]), last.place
            self._columns[key] = len(self._columns)
            self._joins.append(join)
        return self._columns[key]

    def of(self, tokens: Tokens) -> Iterator[list[list[str]]]:
        """Yield the features of the tokens of each sentence."""
        columns = {name: tokens.column(name) for name in self.read}
        longest = max(map(len, chain.from_iterable(columns.values())), default=0)
        remembers, lengths = longest <= LONGEST_WORD, tokens.lengths.tolist()
        texts = [
            _texts_of(
                value,
                value.seen(columns[value.column], lengths),
                known if remembers else None,
            )
            for value, known in zip(self._values, self._known, strict=True)
        ]
        first = 0
        for length in lengths:
            own = [values[first : first + length] for values in texts]
            yield self._of_sentence(own, length)
            first += length

    def _of_sentence(self, texts, length):
        """Return the features, given the texts of each value of each token."""
        columns = [[*self._before, *own, *self._after] for own in texts]
        for head, tail, shift in self._joins:
            columns.append(_joined(columns[head], _shifted(columns[tail], shift)))
        rows: list[list[Any]] = [[] for _ in range(length)]
        for name, beginning, i, begin in self._features:
            own = columns[i][begin : begin + length]
            for row, texts in zip(rows, own, strict=True):
                for text in texts:
                    row.append(name if text is None else beginning + text)
        return rows


def _texts_of(value, words, known):
    """Return the texts of each word; the function is called once for equal ones.

    Words are looked up in `known`, and put there; None remembers nothing.
    """
    if known is None:
        known = {}
    elif len(known) > MOST_WORDS:
        # Other threads that read it then find their words anew.
        known.clear()
    found = []
    for word in words:
        texts = known.get(word)
        if texts is None:
            texts = known[word] = value.texts(word)
        found.append(texts)
    return found


def _shifted(column, k):
    """Return what is k places further; places without any are beyond all tokens."""
    return [*column[k:], *(k * [()])] if k >= 0 else [*(-k * [()]), *column[:k]]


def _joined(heads, tails):
    """Return the joint texts of two columns."""
    return [
        tuple(starmap(joint, product(head, tail)))
        for head, tail in zip(heads, tails, strict=True)
    ]
