"""Inference on chains given their scores: every recursion behind one object.

`Chains` are the scores of chains laid end to end. The public functions of oracle.py and
decoding.py validate arrays and call it; training and prediction make one `Chains` for
each range of sequences, and call it directly.
"""

import numpy as np

from skcrf_sdca._kernels.inference import _chain_marginals, _spans
from skcrf_sdca._kernels.inference._chain_inference import ChainInference
from skcrf_sdca._kernels.math._sparse_transitions import layout_of_scores
from skcrf_sdca._kernels.math._transitions import all_transitions, layout_of
from skcrf_sdca.structures.chain.marginals import Marginals, by_pairs
from skcrf_sdca.structures.compiled_scores import CompiledScores


class Chains(CompiledScores):
    """Scores of n chains; labels that -inf or constraints forbid have probability 0.

    The transition scores have the shape of ``layout``, by default (n_labels, n_labels),
    indexed [from, to]. ``constraints`` are by default what `constraints_of` returns.
    ValueError if the layout has other numbers of labels or pairs.
    """

    def __init__(self, node_scores, transition, offsets, constraints=None, layout=None):
        self.node_scores, self.transition = node_scores, transition
        self.offsets, self.n_labels = offsets, node_scores.shape[1]
        self.layout = all_transitions(self.n_labels) if layout is None else layout
        shape = self.layout.shape
        if self.layout.n_labels != self.n_labels or transition.shape != shape:
            raise ValueError(
                f"transition is of shape {transition.shape}; {self.n_labels} labels "
                f"need {shape}"
            )
        if constraints is None:
            constraints = constraints_of(transition, self.layout)
        self.constraints = constraints or None

    @classmethod
    def without_positions(cls, transition, constraints, layout):
        """Return no chains, but the scores and constraints that all share."""
        node_scores = np.empty((0, layout.n_labels))
        offsets = np.zeros(1, dtype=np.int64)
        return cls(node_scores, transition, offsets, constraints, layout)

    def of_one(self, node_scores):
        """Return one chain with these node scores, and the transitions of these."""
        offsets = np.array([0, len(node_scores)])
        constraints = self.constraints or ()
        return Chains(node_scores, self.tied, offsets, constraints, self.layout)

    @classmethod
    def of_fitted(cls, transition, temperature):
        """Return the same, of fitted weights (n_labels, n_labels)."""
        layout = layout_of_scores(transition)
        scores = layout.compact(np.ascontiguousarray(transition))
        constraints = constraints_of(scores, layout)
        return cls.without_positions(scores / temperature, constraints, layout)

    def inference(self, begin, end):
        """Return the compiled inference on the chains begin <= i < end."""
        return ChainInference(
            self.offsets,
            self.n_labels,
            self.constraints,
            self.layout,
            begin,
            end,
            self._label_of_ties,
        )

    @property
    def _label_of_ties(self):
        """The label of each state, None if their numbers order equal scores."""
        return None

    @property
    def _bytes_of_place(self):
        return 8.0 * self.n_labels

    @property
    def local(self):
        """The potentials of single positions: the node scores."""
        return self.node_scores

    @property
    def tied(self):
        """The potentials that all positions share: the transition scores."""
        return self.transition

    def _new(self, local, tied, begin, end):
        offsets = self.offsets[begin : end + 1] - self.offsets[begin]
        chains = Chains(local, tied, offsets, self.constraints, self.layout)
        return chains.with_threads(self.n_jobs)

    def marginals(self):
        """Return the Marginals, and log Z."""
        out = Marginals.empty(self.offsets, self.n_labels, layout=self.layout)
        values = np.empty(len(self))
        self._over_ranges(
            _chain_marginals.marginals,
            out.node,
            values,
            out.edge_offsets,
            by_pairs(out.edge),
        )
        return out, values

    def log_node_marginals(self):
        """Return the logarithms of the node marginals, which do not underflow."""
        node, values = np.empty_like(self.node_scores), np.empty(len(self))
        self._over_ranges(_chain_marginals.log_node_marginals, node, values)
        return np.minimum(node, 0.0, out=node)

    def pair_marginals(self):
        """Return the edge marginals of all chains, and their bounds for each chain."""
        marginals, _ = self._with_every_pair().marginals()
        edge = np.minimum(marginals.edge, 1.0, out=marginals.edge)
        return marginals.layout.expand(edge, 0.0), marginals.edge_offsets

    def _with_every_pair(self):
        """Return the same with a score of every allowed pair, also of free ones."""
        if not self.layout.has_free:
            return self
        shape = self.n_labels, self.n_labels
        layout = layout_of(np.broadcast_to(self.layout.is_free, shape))
        fill = np.where(self.layout.is_free, 0.0, -np.inf)
        scores = layout.compact(self.layout.expand(self.transition, fill))
        chains = Chains(self.local, scores, self.offsets, self.constraints, layout)
        return chains.with_threads(self.n_jobs)

    def _allows_every_labelling(self):
        allows_all = self.layout.is_dense or self.layout.is_free is True
        return allows_all and not (self.transition == -np.inf).any()

    def span_probabilities(self, spans, labels):
        """Return the probability that each span has its labels; < 0 is unknown."""
        values = np.empty(len(spans))
        _spans.label_probabilities(self, spans, np.maximum(labels, 0), values)
        span_of_label = np.repeat(np.arange(len(spans)), spans[:, 2] - spans[:, 1])
        values[span_of_label[labels < 0]] = 0.0
        return np.minimum(values, 1.0)

    def typed_span_probabilities(self, spans, types, label_types, joins):
        """Return the probability that each span of a type stands where it is."""
        values = np.empty(len(spans))
        _spans.type_probabilities(self, spans, types, label_types, joins, values)
        return np.minimum(values, 1.0)


def constraints_of(transition, layout):
    """Return the start, end and transition masks of transition scores; () if trivial.

    A score of -inf forbids, and what is neither a pair of the layout nor free.
    """
    allowed = layout.expand(np.asarray(transition) != -np.inf, layout.is_free)
    if allowed.all():
        return ()
    anywhere = np.ones(layout.n_labels, dtype=bool)
    return anywhere, anywhere, allowed
