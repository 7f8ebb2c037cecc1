"""The chain as a Structure: passes over data, marginals, and the compiled kernel."""

import numpy as np
from scipy.sparse import issparse

from skcrf_sdca._kernels.inference._chain_inference import ChainInference
from skcrf_sdca._kernels.math._transitions import all_transitions
from skcrf_sdca._utils.memory import check_fits
from skcrf_sdca._utils.parallel import over_ranges
from skcrf_sdca.data.packed import PackedSequences
from skcrf_sdca.structures.chain.chains import Chains
from skcrf_sdca.structures.chain.curvature import Curvature, LocalCurvature, Whitening
from skcrf_sdca.structures.chain.marginals import (
    Marginals,
    edge_offsets,
    smoothed_entropy,
)
from skcrf_sdca.structures.chain.parameters import ChainParameters
from skcrf_sdca.structures.structure import Structure
from skcrf_sdca.structures.token_rows import CompiledRows


class Chain(CompiledRows, Structure):
    """Linear chains: node scores at every position, and one transition matrix.

    Labels may have ``parts``, LabelParts, which then have the weights of features.
    MemoryError if the weights clearly do not fit into memory.
    """

    name = "chain"
    levels = frozenset({"argmax", "log_partition", "expect", "visit", "direct"})

    def __init__(self, data, n_labels, *, parts=None, **options):
        self.label_parts = parts
        super().__init__(data, n_labels, **options)
        if self.is_table:
            self.levels = self.levels | {"rows"}
        self.layout = self._layout()
        self.rows = self._feature_rows()
        self._check_memory()

    def _layout(self):
        """Return the layout of the pairs that are stored and visited."""
        allowed = None if self.constraints is None else self.constraints.transition
        if self.keeps_forbidden or allowed is None:
            return all_transitions(self.n_labels)
        return self.constraints.layout()

    def _check_memory(self):
        n_features, n_labels = self.rows.n_features, self.n_labels
        longest = int(self.data.lengths.max(initial=0))
        n_coef = n_features * self.n_columns
        if self.pairs is not None:
            n_coef = self.pairs.layout.size
        all_pairs = 'set features="observed", ' if self.pairs is None else ""
        # The weights, also of transitions, and buffers for them and for one chain.
        n_numbers = n_coef + 3 * n_labels * longest + 5 * self.n_tied
        check_fits(
            8 * n_numbers,
            f"a model of {n_labels} labels and {n_features} features",
            f"{all_pairs}join labels that are rare (are all values in y labels?) or "
            "take fewer features",
        )

    @property
    def sizes(self):
        """Axes: those of all structures, and E edges."""
        return super().sizes | {"E": edge_offsets(self.offsets)[-1]}

    @property
    def n_columns(self):
        """How many weights a feature may have: the labels, or their parts."""
        parts = self.label_parts
        return self.n_labels if parts is None else parts.n_parts

    def vector_form(self):
        """Return what says which numbers the vector of weights has."""
        return super().vector_form()._replace(parts=self.label_parts)

    @property
    def n_tied(self):
        """Pairs of labels, each with a transition weight."""
        return self.layout.size

    @property
    def _pair_axes(self):
        return "KK" if len(self.layout.shape) == 2 else "P"

    @property
    def marginal_axes(self):
        """The axes of the arrays of `Marginals.state`, letters of `sizes`."""
        return {"node": "TK", "edge": "E" + self._pair_axes}

    @property
    def potential_axes(self):
        """The axes of Potentials, letters of `sizes`."""
        return "TK", "n" + self._pair_axes

    def new_parameters(self, w=None):
        """Return ChainParameters with the flat vector `w`, by default of zeros."""
        return ChainParameters(
            self.rows.n_features,
            self.n_labels,
            boundaries=self.boundaries,
            w=w,
            pairs=self.pairs,
            layout=self.layout,
            parts=self.label_parts,
        )

    def add_features(self, parameters, begin, end, factor, local):
        """Add factor[i] times the features of local changes of begin <= i < end."""
        if self.label_parts is not None:
            local = self.label_parts.shares(local)
        super().add_features(parameters, begin, end, factor, local)

    def _tying(self):
        if self.label_parts is None:
            return None
        return self.label_parts.tying(int(self.data.lengths.max(initial=1)))

    def curvature(self, weight, strength, w=None):
        """Return a Curvature for dense rows of not too many features, else None.

        Not where labels have parts.
        """
        if self.label_parts is not None:
            return None
        if w is None:
            suits = Curvature.suits(self)
            return Curvature(self, weight, strength) if suits else None
        if not LocalCurvature.suits(self):
            return None
        return LocalCurvature(self, weight, strength, self.new_parameters(w))

    def whitening(self, weight, strength):
        """Return a Whitening for dense rows of few features, else None.

        Not where labels have parts.
        """
        suits = self.label_parts is None and Whitening.suits(self)
        return Whitening(self, weight, strength) if suits else None

    def with_rows(self, X):
        """Return the same structure with other features, as many for each position."""
        return self.with_data(PackedSequences(X, self.offsets))

    def log_counts(self):
        """Return the logarithm of the number of allowed paths of each sequence."""
        lengths = self.data.lengths
        if self.constraints is None:
            return lengths * np.log(self.n_labels)
        return self.constraints.log_counts(lengths)

    def grown(self, parameters, labels):
        """Return weights of fewer features and labels as parameters of these.

        ``labels`` has the number of each of their labels here.
        """
        if parameters.n_labels == self.n_labels:
            return parameters.lengthened(self.data.n_features)
        return self._matched(parameters, labels, self.n_labels)

    def _matched(self, parameters, labels, n_labels):
        """Return weights as parameters of these features, and of more labels."""
        label = np.full(n_labels, -1)
        label[labels] = np.arange(len(labels))
        feature = np.arange(self.data.n_features)
        weights = parameters.label_weights()
        feature[weights["coef"].shape[1] :] = -1
        grown = self.new_parameters()
        grown.assign(weights.matched(label=label, feature=feature))
        return grown

    def seen_coef(self):
        """Return an index of the numbers in `coef` of the features that data have."""
        if not issparse(self.data.X):
            return slice(None)
        X = self.data.X if self.pairs is None else self._sparse_rows()
        seen = np.zeros(X.shape[1], dtype=bool)
        seen[X.indices] = True
        (features,) = np.nonzero(seen)
        return features if self.pairs is None else self.pairs.places_of(features)

    @property
    def _tied_shape(self):
        return self.layout.shape

    def _new_scores(self, local, tied, offsets, begin, end):
        return Chains(local, tied, offsets, self.constraints, self.layout)

    def parts(self, kept):
        """Return the chains at the positions to keep, and the sequence of each.

        There is one for each run of neighbouring positions. They may begin and end with
        every label.
        """
        begins = kept.copy()
        begins[1:] &= ~kept[:-1]
        first = self.offsets[:-1][np.diff(self.offsets) > 0]
        begins[first] |= kept[first]
        (positions,) = np.nonzero(kept)
        bounds = np.append(np.flatnonzero(begins[positions]), len(positions))
        chains = self.at(positions, bounds)
        chains.constraints = self._parts_constraints()
        (begins,) = np.nonzero(begins)
        return chains, np.searchsorted(self.offsets, begins, side="right") - 1

    def _parts_constraints(self):
        """Return the constraints, but that parts begin and end with every label."""
        if self.constraints is None:
            return None
        anywhere = np.ones(self.n_labels, dtype=bool)
        return self.constraints._replace(start=anywhere, end=anywhere)

    def add_tied_features(self, parameters, tied):
        """Add the features of a sum of edge changes."""
        if self.boundaries:
            parameters.tied += tied

    def uniform_marginals(self, labels, smoothing, dtype):
        """Return uniform marginals over the allowed paths, mixed with labels.

        ``smoothing`` in (0, 1] is the weight of the uniform ones; at 0 the slope of the
        entropy is infinite. The marginals of cliques have this ``dtype``.
        """
        if self.constraints is None:
            marginals = Marginals.empty(
                self.offsets, self.n_labels, dtype=dtype, new=self.new_array
            )
            marginals.smooth(labels, smoothing, n_jobs=self.n_jobs)
            return marginals
        marginals = self.constraints.uniform_marginals(
            self.offsets, layout=self.layout, dtype=dtype, new=self.new_array
        )
        marginals.shrink_to_labels(labels, keep=smoothing)
        return marginals

    def uniform_totals(self, tied_labels, weight, smoothing):
        """Return what `renormalize` does of `uniform_marginals`, None if unknown.

        It is unknown where paths are forbidden.
        """
        if self.constraints is not None:
            return None
        lengths = self.data.lengths
        share = smoothing / self.n_tied * (weight @ np.maximum(lengths - 1, 0))
        total = share + (1.0 - smoothing) * tied_labels
        return total, smoothed_entropy(lengths, self.n_labels, smoothing)

    def mix_marginals(self, marginals, scores_of, keep):
        """Mix marginals, with weight keep, and marginals by scores, in place.

        ``scores_of(begin, end)`` returns the Chains of begin <= i < end.
        """

        def mix(begin, end):
            others, _ = scores_of(begin, end).marginals()
            for values, other, bounds in (
                (marginals.node, others.node, marginals.offsets),
                (marginals.edge, others.edge, marginals.edge_offsets),
            ):
                own = values[bounds[begin] : bounds[end]]
                own *= keep
                other *= 1.0 - keep
                own += other

        over_ranges(mix, self.offsets, self.n_jobs)

    def marginals_of(self, state, dtype):
        """Return a copy of the marginals that `Marginals.state` returned."""
        node, edge = self.copied(state["node"]), self.copied(state["edge"], dtype)
        return Marginals(node, edge, self.offsets, self.layout)

    def size_of_marginals(self, dtype):
        """Return the bytes of marginals of this type, and of the buffers of a visit."""
        size, n_edges = np.dtype(dtype).itemsize, int(self.sizes["E"])
        longest = int(self.data.lengths.max())
        # The buffers are the target, ratio and moved edges.
        of_edges = n_edges * size + max(longest - 1, 0) * (2 * size + 4)
        return 8 * self.data.n_positions * self.n_labels + of_edges * self.n_tied

    def describe_marginals(self, dtype):
        """Return a description of the marginals and their size, for a message."""
        n_edges = int(self.sizes["E"])
        return f"{n_edges} edges with {self.n_tied} transitions in {dtype}"

    def inference(self):
        """Return the compiled inference on all chains."""
        return ChainInference(
            self.offsets,
            self.n_labels,
            self.constraints,
            self.layout,
            label_of=self._label_of_ties(),
        )

    def _label_of_ties(self):
        """Return the label of each state, None if their numbers order equal scores."""
        return None
