"""The features of few tokens, sentence by sentence.

These are the strings of _patterns.py, whose arrays take longer than to make the strings
of a few tokens.
"""

from collections.abc import Iterator
from functools import reduce
from itertools import product, starmap
from typing import Any

from ._patterns import joint, reach_of
from ._templates import Feature
from ._tokens import Tokens


class SentenceFeatures:
    """The features of a TokenFeatures, ready for one sentence after the other.

    `features` are what `checked_features` returns, and `pad` has the words before and
    after a sentence, or is None. Threads may share it.
    """

    def __init__(self, features: list[Feature], pad: tuple[str, str] | None) -> None:
        self._features = features
        self._reach = reach_of(features)
        self._values = dict.fromkeys(p.value for f in features for p in f.parts)
        before, after = ((), ()) if pad is None else ((text,) for text in pad)
        self._before, self._after = self._reach * [before], self._reach * [after]

    def of(self, tokens: Tokens) -> Iterator[list[tuple[str, ...]]]:
        """Yield the features of the tokens of each sentence; equal ones are one str."""
        texts = {
            value: _texts_of(value, tokens.column(value.column))
            for value in self._values
        }
        first = 0
        strings: dict[str, str] = {}
        for length in tokens.lengths.tolist():
            end = first + length
            padded = {
                value: [*self._before, *own[first:end], *self._after]
                for value, own in texts.items()
            }
            yield self._of_sentence(padded, length, strings)
            first = end

    def _of_sentence(self, padded, length, strings):
        """Return the features, given the texts of each value at all places."""
        rows: list[list[Any]] = [[] for _ in range(length)]
        for name, parts in self._features:
            places = (self._reach + place for _, place in parts)
            seen = (
                padded[value][begin : begin + length]
                for (value, _), begin in zip(parts, places, strict=True)
            )
            for row, texts in zip(rows, reduce(_joined, seen), strict=True):
                for text in texts:
                    string = name if text is None else f"{name}={text}"
                    row.append(strings.setdefault(string, string))
        return list(map(tuple, rows))


def _texts_of(value, words):
    """Return the texts of each word; the function is called once for equal ones."""
    texts = {word: value.texts(word) for word in dict.fromkeys(words)}
    return [texts[word] for word in words]


def _joined(heads, tails):
    """Join the texts of two parts, token by token."""
    return [
        tuple(starmap(joint, product(*both))) for both in zip(heads, tails, strict=True)
    ]
