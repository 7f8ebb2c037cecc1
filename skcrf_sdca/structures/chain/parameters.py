"""The parameters of a chain: one flat vector, its five named blocks, its scores.

Owns the feature map [LePriol18, App. B]:

    intercept (K) | start (K) | end (K) | transition (K, K), [from, to] | coef (d, K)

coef may have weights for some labels of each feature only, see observed.py, and
transition for the pairs of a TransitionLayout only. If labels have parts, K is the
number of parts in all blocks but transition, see label_parts.py.

    node_scores[t, k] = x_t . coef[:, k] + intercept[k]
                        + start[k] (t = 0) + end[k] (t = T - 1)
    score(x, y) = sum_t node_scores[t, y_t] + sum_{t > 0} transition[y_{t-1}, y_t]
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skcrf_sdca._kernels.inference._sequence_tagger import SequenceTagger
from skcrf_sdca._kernels.math._sparse_transitions import layout_of_scores
from skcrf_sdca._kernels.math._transitions import all_transitions
from skcrf_sdca.structures.chain.chains import Chains, constraints_of
from skcrf_sdca.structures.form import Block
from skcrf_sdca.structures.parameters import Parameters
from skcrf_sdca.structures.scores import LARGEST_SCORE


@cache
def chain_blocks(order=1, *, edge_features=False, parts=False):
    """Return the blocks of a chain: of tuples of up to order + 1 labels, and features.

    With ``edge_features`` some features have weights of pairs of labels, and with
    ``parts`` single labels have the weights of their parts.
    """
    axis = "part" if parts else "label"
    blocks = [
        Block("coef", (axis, "feature")),
        Block("intercept", (axis,)),
        Block("start", (axis,), forbids=not parts),
        Block("end", (axis,), forbids=not parts),
        Block("transition", ("label", "label"), forbids=True),
    ]
    for m in range(3, order + 2):
        axes = m * ("label",)
        blocks.append(Block(f"transition_{m}", axes, member_of="higher_transitions_"))
    if edge_features:
        blocks.append(Block("edge_coef", ("label", "label", "feature")))
    return tuple(blocks)


def names_of_transitions(blocks):
    """Return the names of the blocks of 2, 3, ... labels."""
    return [b.name for b in blocks if set(b.axes) == {"label"} and len(b.axes) > 1]


def transitions_of(weights):
    """Return the weights of tuples of 2, 3, ... labels, of the Weights of a chain."""
    return [weights[name] for name in names_of_transitions(weights.form.blocks)]


def pairs_with_features(weights):
    """Return which pairs of labels have weights of edge features, None without these.

    Returns
    -------
    mask : ndarray of bool of shape (n_labels, n_labels), or None
    """
    edge_coef = weights.get("edge_coef")
    if edge_coef is None:
        return None
    return np.diff(edge_coef.indptr).reshape(weights["transition"].shape) > 0


class ChainParameters(Parameters):
    """Weights of a linear-chain CRF.

    Without ``boundaries`` (chains of one node) the start, end and transition weights
    stay zero, and the model is multinomial logistic regression. The pairs of labels in
    ``layout``, by default all, have transition weights. With LabelParts the other
    weights are weights of parts.

    >>> from skcrf_sdca.structures.chain.parameters import ChainParameters
    >>> model = ChainParameters(n_features=128, n_labels=26)
    >>> model.w.shape
    (4082,)
    """

    blocks = chain_blocks()
    # What -inf forbids, of `of_fitted`.
    constraints: Any = None

    start: NDArray[np.float64]
    end: NDArray[np.float64]

    def __init__(
        self,
        n_features,
        n_labels,
        *,
        boundaries=True,
        w=None,
        pairs=None,
        layout=None,
        parts=None,
    ):
        self.boundaries, self.parts = boundaries, parts
        self.layout = all_transitions(n_labels) if layout is None else layout
        if parts is not None:
            n_labels, self.blocks = parts.n_parts, chain_blocks(parts=True)
        super().__init__(n_features, n_labels, self.layout.shape, w=w, pairs=pairs)

    @classmethod
    def of_fitted(cls, weights, X, parts=None):
        """Return what `for_rows` does, of the Weights and LabelParts of a model."""
        layout = layout_of_scores(weights["transition"])
        parameters = cls(0, layout.n_labels, layout=layout, parts=parts)
        parameters, X = parameters.for_rows(weights, X)
        parameters.constraints = constraints_of(parameters.tied, layout)
        return parameters, X

    @property
    def transition(self):
        """The transition weights."""
        return self.tied

    def lengthened(self, n_features):
        """Return the weights as parameters of more features, whose weights are 0.

        Their rows are appended in memory that lies behind ``w`` since the last growth,
        if there is enough: the results share memory.
        """
        n_new = (n_features - self.n_features) * self.n_labels
        return self.with_features(n_features, _lengthened(self.w, n_new))

    def _tied_of(self, weights):
        return self.layout.compact(np.ascontiguousarray(weights["transition"]))

    def _by_name(self):
        return {"transition": self.layout.expand(self.tied, 0.0)}

    def _sizes(self):
        own = super()._sizes()
        if self.parts is None:
            return own
        return own | {"label": self.layout.n_labels, "part": self.parts.n_parts}

    def potentials(self, rows, offsets, begin, end, temperature=1.0):
        """Return the scores of labels, as `Parameters.potentials`."""
        found = super().potentials(rows, offsets, begin, end, temperature)
        if self.parts is None:
            return found
        local, tied, bounds = found
        return self.parts.scores(local), tied, bounds

    def clear_boundaries(self):
        """Set the weights to 0 that do not exist without boundaries."""
        if not self.boundaries:
            for block in (self.start, self.end, self.transition):
                block[:] = 0.0

    def _blocks(self):
        return self.coef, self.intercept, self.start, self.end, self.tied

    def scores(self, rows, offsets, begin, end, constraints=None, temperature=1.0):
        """Return the Chains of `potentials`."""
        found = self.potentials(rows, offsets, begin, end, temperature)
        if constraints is None:
            constraints = self.constraints
        return Chains(*found, constraints, self.layout)

    def tagger(self, reading, temperature):
        """Return the SequenceTagger of these weights, which it shares.

        ``reading`` is how items are read, see there.
        """
        chains = self.no_chains(temperature)
        return SequenceTagger(
            reading, self.weights(), chains, temperature, LARGEST_SCORE
        )

    def no_chains(self, temperature):
        """Return no chains, but the scores and constraints that all share."""
        tied = self.tied / temperature
        return Chains.without_positions(tied, self.constraints, self.layout)


# Memory that is allocated when a vector grows, relative to its size.
ROOM = 1.5


def _lengthened(w, n_new):
    """Return a vector with zeros appended.

    A vector made here is the beginning of an array of zeros, so that others can follow
    where they are: to append often costs no more than to write once.
    """
    if not n_new:
        return w
    size, room = len(w) + n_new, w.base
    if not isinstance(room, np.ndarray) or not len(room) >= size:
        room = np.zeros(int(ROOM * size))
        room[: len(w)] = w
    return room[:size]
