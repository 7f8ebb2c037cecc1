"""Features of all tokens at once, as arrays of codes.

To save time and memory, a function is called once for each distinct word, equal runs of
words are joined once, and each feature string is made once and shared by all tokens
that have it.
"""

from itertools import product, starmap

import numpy as np

from .templates import Part

# A place is before a sequence, after it, or one of its tokens. The first two numbers
# are also the codes at these places; the codes of words begin at the third.
_BEFORE, _AFTER, _TOKEN = range(3)


def numbered_strings(features, tokens, pad):
    """Return the feature strings of all tokens, as indices into the distinct ones.

    `pad` has the words before and after a sequence; with None there are no features
    there. The strings of token i are ``strings[numbers[offsets[i]:offsets[i + 1]]]``.
    """
    patterns = Patterns(tokens, reach_of(features), pad)
    found = [patterns.seen_by_tokens(feature) for feature in features]
    counts = [pattern.counts[codes] for pattern, codes in found]
    offsets = np.zeros(len(tokens) + 1, dtype=np.int64)
    np.cumsum(sum(counts, start=offsets[1:]), out=offsets[1:])

    strings, slots = [], offsets[:-1].copy()
    numbers = np.empty(offsets[-1], dtype=np.int64)
    for feature, (pattern, codes), n_here in zip(features, found, counts, strict=True):
        firsts = pattern.firsts + len(strings)
        for j in range(pattern.counts.max(initial=0)):
            has = n_here > j
            numbers[slots[has] + j] = firsts[codes[has]] + j
        slots += n_here
        strings += pattern.strings(feature.name)
    return np.array(strings, dtype=object), numbers, offsets


def reach_of(features):
    """Return the largest distance between a token and a part of its features."""
    return max((abs(part.place) for f in features for part in f.parts), default=0)


class Pattern:
    """The values of some parts, in fixed distances from each other, at every place.

    If the first part is at place i, ``texts[codes[i]]`` are the texts after "=" in the
    features, see `Function.texts`.
    """

    def __init__(self, codes, texts):
        self.codes = codes
        self.texts = texts
        self.counts = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        self.firsts = self.counts.cumsum() - self.counts

    def strings(self, name):
        """Return the feature strings with this name, in the order of their codes."""
        return [
            name if text is None else f"{name}={text}"
            for texts in self.texts
            for text in texts
        ]


class Patterns:
    """The patterns of some tokens; each is computed when it is first needed.

    The places are the tokens of all sequences, concatenated, and `reach` further places
    before and after each sequence: as many as a feature looks ahead or back.
    """

    def __init__(self, tokens, reach, pad):
        self._tokens = tokens
        lengths = np.full((tokens.lengths.size, 3), reach)
        lengths[:, 1] = tokens.lengths
        order = np.tile([_BEFORE, _TOKEN, _AFTER], tokens.lengths.size)
        self._kinds = np.repeat(order, lengths.ravel())
        self._places = np.flatnonzero(self._kinds == _TOKEN)
        self._outside = [(), ()] if pad is None else [(text,) for text in pad]
        self._columns = {}
        self._patterns = {}

    def seen_by_tokens(self, feature):
        """Return the pattern of a feature, and its code for each token."""
        first = feature.parts[0].place
        parts = tuple(Part(value, place - first) for value, place in feature.parts)
        pattern = self._pattern(parts)
        return pattern, pattern.codes[self._places + first]

    def _pattern(self, parts):
        if parts not in self._patterns:
            *others, last = parts
            self._patterns[parts] = (
                self._joined(self._pattern(tuple(others)), last)
                if others
                else self._single(last.value)
            )
        return self._patterns[parts]

    def _single(self, value):
        words, codes = self._column(value)
        return Pattern(codes, [*self._outside, *map(value.texts, words)])

    def _joined(self, head, last):
        """Return a pattern extended by one part."""
        tail = self._pattern((Part(last.value, 0),))
        k = last.place
        # No token reaches the places that wrap around the ends.
        shifted = np.concatenate((tail.codes[k:], tail.codes[:k]))
        keys = head.codes * len(tail.texts) + shifted
        keys, codes = np.unique(keys, return_inverse=True)
        heads, tails = (half.tolist() for half in np.divmod(keys, len(tail.texts)))
        texts = [
            tuple(starmap(joint, product(head.texts[i], tail.texts[j])))
            for i, j in zip(heads, tails, strict=True)
        ]
        return Pattern(codes, texts)

    def _column(self, value):
        """Return the distinct words that a value sees, and the codes of all places."""
        if value.key not in self._columns:
            numbers, tokens = {}, self._tokens
            codes = self._kinds.copy()
            codes[self._places] = [
                numbers.setdefault(word, len(numbers) + _TOKEN)
                for word in value.seen(tokens.column(value.column), tokens.lengths)
            ]
            self._columns[value.key] = list(numbers), codes
        return self._columns[value.key]


def joint(a, b):
    """Join two texts by "|", without those that are None."""
    return b if a is None else a if b is None else f"{a}|{b}"
