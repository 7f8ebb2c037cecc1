"""Which label may follow which, and which may begin and end a sequence.

Owns the reading of the parameter ``transitions``, and `Constraints`, the allowed
transitions: for checks of labels, for scores that -inf forbids, and for the uniform
distribution over the allowed paths, where the dual solvers start.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from skcrf_sdca._kernels.math._transitions import layout_of
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.words import place
from skcrf_sdca.data.label_encoding import plain_labels
from skcrf_sdca.data.label_reading import NAME_THEM
from skcrf_sdca.data.tagging_schemes import is_valid_pair, parse_label
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.chain.marginals import Marginals, edge_ends

OBSERVED = "observed"
OPEN = "open"
# The most frequent labels that make up this part of all positions are open.
OPEN_SHARE = 0.5


class Constraints(NamedTuple):
    """The labels that may begin, follow each other, and end.

    Attributes
    ----------
    start, end : ndarrays of shape (n_labels,), bool
        Whether a sequence may begin, and end, with the label.
    transition : ndarray of shape (n_labels, n_labels), bool
        Whether one label may follow another, [from, to].
    """

    start: np.ndarray
    end: np.ndarray
    transition: np.ndarray

    def __eq__(self, other):
        """Return whether the same is allowed."""
        return isinstance(other, Constraints) and all(map(np.array_equal, self, other))

    def __ne__(self, other):
        """Return whether something else is allowed."""
        return not self == other

    __hash__ = None  # type: ignore[misc]

    @classmethod
    def of_scores(cls, start, end, transition):
        """Return what scores allow: -inf forbids."""
        return cls(*(scores != -np.inf for scores in (start, end, transition)))

    @classmethod
    def of_weights(cls, weights):
        """Return what the Weights of a chain allow, all that may forbid."""
        # Parts of labels forbid no label at the ends.
        anywhere = np.zeros(len(weights["transition"]))
        return cls.of_scores(*(weights.get(name, anywhere) for name in cls._fields))

    def forbid(self, weights):
        """Return the Weights of a chain, -inf where something is forbidden."""
        masks = dict(zip(self._fields, self.log_masks(), strict=True))
        names = [block.name for block in weights.form.blocks if block.forbids]
        return weights.replaced(**{name: weights[name] + masks[name] for name in names})

    def check_of_parts(self, argument):
        """Raise ValueError if labels are forbidden at the ends of a sequence.

        Where labels have parts, these have the weights at the ends.
        """
        if not (self.start.all() and self.end.all()):
            raise ValueError(
                f"{argument} forbids labels at the ends of a sequence, and with "
                "label_features only transitions can be forbidden; pass a mask, or "
                "pairs of labels"
            )

    def is_trivial(self):
        """Return whether nothing is forbidden."""
        return all(mask.all() for mask in self)

    def have_repeatable_label(self):
        """Return whether a label, such as O, is a path of any length by itself."""
        return bool((self.start & self.end & self.transition.diagonal()).any())

    def usable(self):
        """Return whether each label is in an allowed path of some length."""
        after, before = self.start.copy(), self.end.copy()
        for _ in range(len(after)):
            after |= self.transition[after].any(axis=0)
            before |= self.transition[:, before].any(axis=1)
        return after & before

    def log_masks(self):
        """Return 0 where allowed and -inf elsewhere: start, end and transition."""
        return tuple(np.where(mask, 0.0, -np.inf) for mask in self)

    def forbid_weights(self, start, end, transition):
        """Return weights of starts, ends and transitions, -inf where forbidden."""
        return tuple(map(np.add, (start, end, transition), self.log_masks()))

    def layout(self):
        """Return the TransitionLayout of the allowed transitions."""
        return layout_of(self.transition)

    def zero_scores(self, lengths, layout=None):
        """Return Chains of the lengths, all of whose scores are 0."""
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        layout = self.layout() if layout is None else layout
        zeros = np.zeros((offsets[-1], len(self.start))), np.zeros(layout.shape)
        return Chains(*zeros, offsets, self, layout)

    def log_counts(self, lengths):
        """Return the logarithm of the number of allowed paths of each length."""
        distinct, which = np.unique(lengths, return_inverse=True)
        return self.zero_scores(distinct).log_partition()[which]

    def possible_lengths(self, longest):
        """Return for each length, 0 to the longest, whether any path is allowed."""
        possible = np.ones(longest + 1, dtype=bool)
        reached = self.start
        for length in range(1, longest + 1):
            possible[length] = (reached & self.end).any()
            following = self.transition[reached].any(axis=0)
            if np.array_equal(following, reached):
                possible[length:] = possible[length]
                break
            reached = following
        return possible

    def uniform_marginals(self, offsets, *, layout=None, dtype=np.float64, new=None):
        """Return the marginals of the uniform distribution over the allowed paths.

        ``new`` is as for `Marginals.empty`.
        """
        layout, n_labels = layout or self.layout(), len(self.start)
        out = Marginals.empty(offsets, n_labels, dtype=dtype, layout=layout, new=new)
        lengths = np.diff(offsets)
        for length in np.unique(lengths[lengths > 0]):
            one, _ = self.zero_scores([length], layout).marginals()
            (chains,) = np.nonzero(lengths == length)
            out.node[offsets[chains, np.newaxis] + np.arange(length)] = one.node
            out.edge[out.edge_offsets[chains, np.newaxis] + np.arange(length - 1)] = (
                one.edge
            )
        return out


def read_constraints(
    transitions, classes, labels, offsets, *, rows=None, names=None, allowed=None
):
    """Return the constraints that the parameter `transitions` asks for, or None.

    ``labels`` are the training labels of all positions, as numbers of the classes;
    where a label is unknown (-1), ``rows`` (n_positions, n_labels) marks the possible
    ones. A tagging scheme reads ``names``, one for each class, or the classes
    themselves. Without explicit `transitions`, transitions of the prior (``allowed``)
    and transitions in the labels are permitted; if `transitions` is None, the prior's
    alone. Raise ValueError or TypeError if `transitions` is malformed, or the labels
    break it.

    Examples
    --------
    >>> import numpy as np
    >>> from skcrf_sdca.structures.chain.constraints import read_constraints
    >>> classes = np.array(["B-PER", "I-PER", "O"])
    >>> labels, offsets = np.array([0, 1, 2]), np.array([0, 3])
    >>> read_constraints("BIO", classes, labels, offsets).transition
    array([[ True,  True,  True],
           [ True,  True,  True],
           [ True, False,  True]])
    """
    if transitions is None:
        if allowed is None:
            return None
        transitions = OBSERVED
    check_fits(
        8 * len(classes) ** 2,
        f"the transitions between {len(classes)} labels",
        "join labels that are rare (are all values in y labels?)",
    )
    advice = "Correct the labels, or allow it"
    known = plain_labels(classes)
    names = known if names is None else names
    if isinstance(transitions, str):
        name = f"transitions={transitions!r}"
        advice = f"Repair them: skcrf_sdca.text.repair_labels(y, {transitions!r})"
        if transitions in FROM_DATA:
            observed = _observed(labels, offsets, len(classes))
            counts = label_counts(labels, len(classes))
            constraints = FROM_DATA[transitions](observed, counts)
            if allowed is not None:
                constraints = Constraints(*map(np.logical_or, constraints, allowed))
        else:
            constraints = _by_scheme(transitions, names)
    else:
        name = "`transitions`"
        read = _by_mask if hasattr(transitions, "__array__") else _by_pairs
        constraints = read(transitions, known)
    if rows is None:
        shown = map(_shown, known, names)
        _check_labels(constraints, name, advice, list(shown), labels, offsets)
    else:
        _check_possible(constraints, name, rows > 0, offsets)
    for mask in constraints:
        mask.setflags(write=False)
    return None if constraints.is_trivial() else constraints


def _shown(label, name):
    return repr(label) if label == name else f"{label!r} ({name!r})"


def check_lengths(constraints, lengths):
    """Raise ValueError if no path is allowed of the length of a sequence."""
    if constraints.is_trivial() or len(lengths) == 0:
        return
    possible = constraints.possible_lengths(lengths.max())[lengths]
    if not possible.all():
        i = int(possible.argmin())
        raise ValueError(
            f"{place('X', i)} is of length {lengths[i]}, and of that length the "
            "transitions of the model allow no path of labels; leave the sequence out, "
            "or fit with other `transitions`."
        )


def _ends(offsets):
    """Return the first and the last position of every sequence that has any."""
    used = np.diff(offsets) > 0
    return offsets[:-1][used], offsets[1:][used] - 1


def _observed(labels, offsets, n_labels):
    start, end = np.zeros((2, n_labels), dtype=bool)
    transition = np.zeros((n_labels, n_labels), dtype=bool)
    first, last = (labels[ends] for ends in _ends(offsets))
    to = edge_ends(offsets)
    to = to[(labels[to - 1] >= 0) & (labels[to] >= 0)]
    start[first[first >= 0]] = True
    end[last[last >= 0]] = True
    transition[labels[to - 1], labels[to]] = True
    return Constraints(start, end, transition)


def label_counts(labels, n_labels):
    """Return the number of positions of each label; -1 is not known."""
    return np.bincount(labels[labels >= 0], minlength=n_labels)


def _with_open_labels(observed, counts):
    """Return observed transitions, and the ones that touch an open label."""
    start, end, transition = (mask.copy() for mask in observed)
    order = np.argsort(-counts, kind="stable")
    before = np.cumsum(counts[order]) - counts[order]
    is_open = order[before < OPEN_SHARE * counts.sum()]
    start[is_open] = end[is_open] = True
    transition[is_open] = transition[:, is_open] = True
    return Constraints(start, end, transition)


# Name -> function of the observed Constraints of the training labels, and of their
# counts, that returns the allowed ones.
FROM_DATA = {OBSERVED: lambda observed, counts: observed, OPEN: _with_open_labels}


def _by_scheme(scheme, names):
    for name in names:
        try:
            parse_label(name, scheme)
        except (TypeError, ValueError) as error:
            advice = "" if isinstance(name, str) else f" {NAME_THEM}"
            raise ValueError(
                f"y, by transitions={scheme!r}: {error}{advice}"
            ) from error
    return Constraints(
        start=np.array([is_valid_pair(None, name, scheme) for name in names]),
        end=np.array([is_valid_pair(name, None, scheme) for name in names]),
        transition=np.array(
            [[is_valid_pair(a, b, scheme) for b in names] for a in names]
        ),
    )


def _by_mask(mask, classes):
    mask = np.asarray(mask)
    shape = len(classes), len(classes)
    if mask.dtype != bool or mask.shape != shape:
        raise ValueError(
            f"transitions is an array of shape {mask.shape} and dtype {mask.dtype}; a "
            f"mask must be of shape {shape}, [from, to] in the order of the sorted "
            "labels, and of dtype bool. Give pairs of labels as a list of tuples."
        )
    anywhere = np.ones(len(classes), dtype=bool)
    return Constraints(anywhere, anywhere.copy(), mask.copy())


def _by_pairs(pairs, classes):
    if not isinstance(pairs, Iterable):
        raise TypeError(
            "transitions must be the name of a scheme, a mask or a list of pairs of "
            f"labels, got {pairs!r:.40}."
        )
    pairs = list(pairs)
    n = len(classes)
    # The last row is for the start, the last column for the end.
    number = {label: k for k, label in enumerate(classes)} | {None: n}
    given = np.zeros((n + 1, n + 1), dtype=bool)
    for pair in pairs:
        is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2
        if not is_pair or pair[0] is pair[1] is None or not _hashable(pair):
            raise ValueError(
                f"transitions holds {pair!r}, which is not a pair (from, to) of "
                "labels; (None, label) is a start, and (label, None) an end."
            )
        source, target = (number.get(label) for label in pair)
        if source is not None and target is not None:
            given[source, target] = True
    any_start = all(source is not None for source, _ in pairs)
    any_end = all(target is not None for _, target in pairs)
    return Constraints(given[n, :n] | any_start, given[:n, n] | any_end, given[:n, :n])


def _hashable(pair):
    try:
        hash(tuple(pair))
    except TypeError:
        return False
    return True


def _check_labels(constraints, name, advice, shown, labels, offsets):
    """Raise ValueError for the first label that is not allowed where it is.

    `shown` are the texts of the classes for the message.
    """
    first, last = _ends(offsets)
    to = edge_ends(offsets)
    broken = np.zeros((3, len(labels)), dtype=bool)
    broken[0, first] = ~constraints.start[labels[first]]
    broken[1, to] = ~constraints.transition[labels[to - 1], labels[to]]
    broken[2, last] = ~constraints.end[labels[last]]
    if not broken.any():
        return
    t = int(broken.any(axis=0).argmax())
    i = int(np.searchsorted(offsets, t, side="right")) - 1
    label, before = shown[labels[t]], shown[labels[t - 1]]
    rule = int(broken[:, t].argmax())
    fault = (
        f"{label} begins the sequence",
        f"{label} follows {before}",
        f"{label} ends the sequence",
    )[rule]
    raise ValueError(
        f"{place('y', i, item=t - offsets[i])}: {fault}, which {name} does not "
        f"allow. {advice}; or fit without `transitions`, and call the method "
        "`constrain` after the fit. transitions='observed' allows what y has."
    )


def _check_possible(constraints, name, possible, offsets):
    """Raise ValueError for the first sequence in which no possible path is allowed."""
    lengths = np.diff(offsets)
    reached = np.ones((len(lengths), len(constraints.start)), dtype=bool)
    blocked = np.full(len(lengths), -1)
    for t in range(lengths.max(initial=0)):
        (i,) = np.nonzero(lengths > t)
        before = reached[i] @ constraints.transition if t else constraints.start
        reached[i] = possible[offsets[i] + t] & before
        reached[i[lengths[i] == t + 1]] &= constraints.end
        blocked[i[(blocked[i] < 0) & ~reached[i].any(axis=1)]] = t
    if (blocked >= 0).any():
        i = int((blocked >= 0).argmax())
        raise ValueError(
            f"{place('y', i, item=blocked[i])}: no path of labels that agrees with y "
            f"up to this item is allowed by {name}. Correct the labels, or allow more; "
            "or fit without `transitions`, and call the method `constrain` after the "
            "fit."
        )
