"""Grammar: the labels of the tokens of a segment, and which types may follow others.

It is a bijection between segmentations and label lists: so labels are the targets of
training and the answers of a model, and labels have the local potentials.
"""

from typing import NamedTuple

import numpy as np

from skcrf_sdca.data.tagging_schemes import OUTSIDE, get_scheme, parse_label


class Segments(NamedTuple):
    """The segments of sequences laid end to end, in order."""

    begin: np.ndarray
    end: np.ndarray
    type: np.ndarray
    follows: np.ndarray  # bool: not the first of its sequence


def _read(names, scheme):
    """Return the labels as pairs (prefix, type) of a scheme, and its rules for spans.

    These are the prefixes of a single token and of the first, the inner and the last of
    several, and whether two spans of one type may touch.
    """
    if scheme is None:
        return [("", name) for name in names], [""] * 4, False
    rule = get_scheme(scheme)
    if rule.starts_again not in ("", rule.starts) or rule.ends_again != rule.ends:
        raise ValueError(
            f"scheme={scheme!r} is not taken: there the labels of a span depend on the "
            "span beside it; convert y to BIO, by skcrf_sdca.text.convert_labels."
        )
    prefixes = [rule.prefixes_of_span(1), *rule.prefixes_of_span(3)]
    parsed = [parse_label(name, scheme) for name in names]
    return parsed, prefixes, bool(rule.starts_again)


class Grammar:
    """How segments of each type are labelled, and how long they may be.

    In a tagging scheme every span is a segment of its type, with the labels that the
    scheme gives to its first, inner and last tokens, and every token outside of spans
    is a segment of the type "O". Without one every label is a type, and a segment is a
    maximal run of its label. Two segments of one type may follow each other unless they
    could not be told from one.

    The labels 0, ..., L - 1 have these names; no segment has more than M =
    ``max_length`` tokens.

    Attributes
    ----------
    types : list
        The K types of segments, in the order of their first labels.
    single, first, inside, last : ndarrays of shape (K,), intc
        The label of a segment of one token, and the labels of longer ones; -1 where
        there is none, so that segments which need it are forbidden.
    label_types : ndarray of shape (L,), intc
        The type of the segments that a label belongs to.
    joins : ndarray of shape (L, L), bool
        Whether two labels, one after the other, are of one segment.
    transition : ndarray of shape (K, K), bool
        Which type may follow which, [from, to].
    length : ndarray of shape (K, M), bool
        Whether a segment of the type may have the length 1, ..., M.

    Raises
    ------
    ValueError, TypeError
        If the scheme is unknown or has no fixed labels of a segment, or a name is not
        of the scheme.
    """

    def __init__(self, names, scheme, max_length):
        self.names, self.scheme = list(names), scheme
        self.max_length = max_length
        self.n_labels = len(self.names)
        parsed, prefixes, touching = _read(self.names, scheme)
        types = dict.fromkeys(name for _, name in parsed)
        self._types = {name: k for k, name in enumerate(types)}
        self.types = [OUTSIDE if name is None else name for name in types]
        n_types = self.n_types = len(types)
        number = {label: j for j, label in enumerate(parsed)}
        self.single, self.first, self.inside, self.last = (
            np.array([number.get((p, name), -1) for name in types], dtype=np.intc)
            for p in prefixes
        )
        self.label_types = np.array(
            [self._types[name] for _, name in parsed], dtype=np.intc
        )
        self.transition = np.ones((n_types, n_types), dtype=bool)
        self.length = np.zeros((n_types, max_length), dtype=bool)
        self.length[:, 0] = self.single >= 0
        ends = (self.first >= 0) & (self.last >= 0)
        self.length[:, 1:2] = ends[:, np.newaxis]
        self.length[:, 2:] = (ends & (self.inside >= 0))[:, np.newaxis]
        if not touching:
            np.fill_diagonal(self.transition, False)
        k = self.outside
        if k >= 0:
            self.single[k] = number["O", None]
            self.length[k], self.length[k, 0] = False, True
            self.transition[k, k] = True
        self.joins = self._joins()

    def _joins(self):
        """Return which labels go on with the segment of the label before."""
        labels = np.arange(self.n_labels)
        own = self.label_types
        goes_on = (labels == self.first[own]) | (labels == self.inside[own])
        continues = (labels == self.inside[own]) | (labels == self.last[own])
        return np.equal.outer(own, own) & np.logical_and.outer(goes_on, continues)

    @property
    def n_tied(self):
        """How many potentials transitions and lengths have."""
        return self.n_types * (self.n_types + self.max_length)

    @property
    def allowed(self):
        """Which tied potentials are of something allowed, (n_tied,)."""
        return np.concatenate([self.transition.ravel(), self.length.ravel()])

    def forbid(self, weights):
        """Return the Weights of segments, -inf where something is forbidden."""
        allowed = {"transition": self.transition, "length": self.length}
        masked = {k: np.where(v, weights[k], -np.inf) for k, v in allowed.items()}
        return weights.replaced(**masked)

    @property
    def longest(self):
        """The largest allowed length of each type, (K,), intc; at least 1."""
        longest = self.max_length - self.length[:, ::-1].argmax(axis=1)
        return np.where(self.length.any(axis=1), longest, 1).astype(np.intc)

    @property
    def outside(self):
        """The type of tokens outside of spans, or -1."""
        return -1 if self.scheme is None else self._types.get(None, -1)

    def type_numbers(self, names):
        """Return the number of each type of a span, -1 if there is none."""
        return np.array([self._types.get(name, -1) for name in names], dtype=np.int64)

    def check(self, labels, offsets, max_length=None):
        """Raise ValueError for the first label that no segment has where it stands.

        The message names the sequence and the item; so it does for a segment of more
        than `max_length` tokens.
        """
        segments = self.segments(labels, offsets)
        begin, end, own = segments.begin, segments.end, segments.type
        size = end - begin
        wrong = np.zeros(len(labels), dtype=bool)
        first = np.where(size == 1, self.single[own], self.first[own])
        wrong[begin] = labels[begin] != first
        wrong[end - 1] |= (size > 1) & (labels[end - 1] != self.last[own])
        inner = np.ones(len(labels), dtype=bool)
        inner[begin] = inner[end - 1] = False
        wrong |= inner & (labels != self.inside[np.repeat(own, size)])
        long = np.zeros_like(wrong)
        if max_length is not None:
            long[begin] = size > max_length
        if not (wrong | long).any():
            return
        t = int((wrong | long).argmax())
        i = int(np.searchsorted(offsets, t, side="right")) - 1
        place = f"y: sequence {i}, item {t - offsets[i]}"
        if not wrong[t]:
            count = int(size[np.searchsorted(begin, t)])
            raise ValueError(
                f"{place}: a segment of {count} items begins, longer than max_length="
                f"{max_length}; raise max_length, or set it to None"
            )
        s = int(np.searchsorted(begin, t, side="right")) - 1
        where = (
            "begins" if t == begin[s] else "ends" if t == end[s] - 1 else "is inside"
        )
        where = "is alone in" if size[s] == 1 else where
        raise ValueError(
            f"{place}: {self.names[labels[t]]!r} {where} a span, which the scheme "
            f"{self.scheme!r} does not allow; correct the labels, for example by "
            "skcrf_sdca.text.repair_labels"
        )

    def __eq__(self, other):
        """Return whether both allow the same segmentations of the same labels."""
        own = self.names, self.scheme, self.max_length
        return isinstance(other, Grammar) and own == (
            other.names,
            other.scheme,
            other.max_length,
        )

    __hash__ = None  # type: ignore[assignment]

    def segments(self, labels, offsets):
        """Return the Segments that labels, end to end, are read as."""
        joined = np.zeros(len(labels) + 1, dtype=bool)
        joined[1:-1] = self.joins[labels[:-1], labels[1:]]
        joined[offsets] = False
        begin = np.flatnonzero(~joined[:-1])
        end = np.append(begin[1:], len(labels))[: len(begin)]
        follows = ~np.isin(begin, offsets)
        return Segments(begin, end, self.label_types[labels[begin]], follows)

    def longest_of(self, labels, offsets):
        """Return the largest number of tokens of a segment of labels, < 0 if unknown.

        Only sequences without unknown labels count; 0 if there are none.
        """
        known, lengths = np.append(0, np.cumsum(labels >= 0)), np.diff(offsets)
        whole = np.diff(known[offsets]) == lengths
        labels = labels[np.repeat(whole, lengths)]
        offsets = np.append(0, np.cumsum(lengths[whole]))
        segments = self.segments(labels, offsets)
        return int((segments.end - segments.begin).max(initial=0))

    def is_trivial(self):
        """Return whether sequences of every length have a segmentation, seen fast."""
        alone = self.length[:, 0]
        return bool((alone & self.transition.diagonal()).any() or alone.sum() > 1)

    def possible_lengths(self, longest):
        """Return whether there is a segmentation of 0, ..., longest tokens."""
        ended = np.zeros((longest + 1, self.n_types), dtype=bool)
        reached = np.zeros_like(ended)
        reached[0] = True
        for t in range(1, longest + 1):
            before = reached[max(t - self.max_length, 0) : t][::-1]
            ended[t] = (before & self.length.T[: len(before)]).any(axis=0)
            reached[t] = ended[t] @ self.transition
        possible = ended.any(axis=1)
        possible[0] = True
        return possible
