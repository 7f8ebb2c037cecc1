"""Inference on dependency trees given the scores of their arcs, behind one object."""

import numpy as np

from skcrf_sdca._kernels.inference._projective_trees import (
    ProjectiveTreeInference,
    SiblingTreeInference,
    sibling_marginals,
)
from skcrf_sdca._kernels.inference._spanning_trees import SpanningTreeInference
from skcrf_sdca._utils.ragged import split_rows
from skcrf_sdca.data.dependencies import TreeKind, sizes_of, words_of
from skcrf_sdca.data.tree_sizes import check_trees_of_one
from skcrf_sdca.structures.compiled_scores import CompiledScores
from skcrf_sdca.structures.scores import entropies_of_rows, expected

ONE_ROOT = TreeKind()


def inference_on_trees(kind, offsets, n_states, allowed, begin=None, end=None):
    """Return the compiled inference on trees of a TreeKind."""
    inference = ProjectiveTreeInference if kind.projective else SpanningTreeInference
    return inference(offsets, n_states, allowed, kind.single_root, begin, end)


def sibling_inference(kind, offsets, siblings, bounds, begin=None, end=None):
    """Return the compiled inference on projective trees with scores of siblings."""
    return SiblingTreeInference(
        offsets, 2, None, kind.single_root, siblings, bounds, begin, end
    )


class ArcScores(CompiledScores):
    """Scores of the arcs of sentences; positions are arcs, see _spanning_trees.pyx.

    The columns are those of the label 0, not in the tree, and of the relations. Arcs
    that are not ``allowed``, an ndarray of uint8 or None, have probability 0, and so
    have trees of another TreeKind than ``kind``.
    """

    def __init__(self, local, tied, offsets, allowed=None, kind=ONE_ROOT):
        self.local, self.tied, self.offsets = local, tied, offsets
        self.allowed, self.kind = allowed, kind

    @property
    def _bytes_of_place(self):
        # The heads of two trees, and two conditions; there are more arcs than words.
        # Those with relations are found without such lists.
        return 16.0 if self.local.shape[1] == 2 else None

    def _new(self, local, tied, begin, end):
        first, last = self.offsets[[begin, end]]
        allowed = None if self.allowed is None else self.allowed[first:last]
        offsets = self.offsets[begin : end + 1] - first
        return ArcScores(local, tied, offsets, allowed, self.kind)

    def n_best(self, n):
        """Return the n best trees of each sentence, and their scores."""
        longest = words_of(np.diff(self.offsets).max(initial=0))
        check_trees_of_one(
            longest, self.kind, n, f"a sentence has {longest} words, and"
        )
        return super().n_best(n)

    def inference(self, begin, end):
        """Return the compiled inference on some of the sentences."""
        n_states = self.local.shape[1]
        return inference_on_trees(
            self.kind, self.offsets, n_states, self.allowed, begin, end
        )

    @property
    def label_bounds(self):
        """Where the words of each sentence begin, (n + 1,)."""
        return np.append(0, np.cumsum(sizes_of(np.diff(self.offsets))))

    def label_entropies(self):
        """Return the entropy of the head and the relation of each word."""
        node, _ = self.node_marginals()
        of_arcs = split_rows(entropies_of_rows(node[:, 1:]), self.offsets)
        of_words = [own.reshape(-1, words_of(len(own)) or 1).sum(0) for own in of_arcs]
        return np.concatenate([np.zeros(0), *of_words])

    def with_heads(self, word, heads):
        """Return scores of the one sentence that forbid other heads of a word.

        Words and heads are counted from 1; head 0 is the root.
        """
        local, n = self.local.copy(), words_of(len(self.local))
        forbidden = np.setdiff1d(np.arange(n + 1), heads)
        local[forbidden * n + word - 1, 1:] = -np.inf
        return self.with_scores(local)

    # Lawler's partition by words, not by arcs: each tree left has the same arcs as one
    # already found into the words before a word, and another arc there.
    def _parts_of(self, path, first, excluded):
        local, n_words = self.local.copy(), words_of(len(path))
        (arcs,) = np.nonzero(path)
        arcs = arcs[np.argsort(arcs % n_words)]
        for arc in arcs[:first]:
            local[arc, np.arange(local.shape[1]) != path[arc]] = -np.inf
        for place in excluded:
            local[place] = -np.inf
        for m in range(first, n_words):
            place = arcs[m], path[arcs[m]]
            others = (*excluded, place) if m == first else (place,)
            own = local[arcs[m]].copy()
            local[place] = -np.inf
            best, (score,) = self.with_scores(local).viterbi()
            if score > -np.inf:
                yield m, others, best, score
            local[arcs[m]] = own
            local[arcs[m], np.arange(len(own)) != path[arcs[m]]] = -np.inf


class SiblingScores(ArcScores):
    """Scores of arcs, and of the siblings of words, see _eisner.pyx.

    ``siblings`` are arrays (n, n, n) of sentences of n words, end to end, which begin
    at ``bounds``.
    """

    def __init__(self, local, offsets, kind, siblings, bounds):
        super().__init__(local, np.zeros(0), offsets, kind=kind)
        self.siblings, self.bounds = siblings, bounds

    def _new(self, local, tied, begin, end):
        first = self.bounds[begin]
        return SiblingScores(
            local,
            self.offsets[begin : end + 1] - self.offsets[begin],
            self.kind,
            self.siblings[first : self.bounds[end]],
            self.bounds[begin : end + 1] - first,
        )

    def inference(self, begin, end):
        """Return the compiled inference on some of the sentences."""
        return sibling_inference(
            self.kind, self.offsets, self.siblings, self.bounds, begin, end
        )

    def sibling_marginals(self):
        """Return the probabilities of siblings, in the form of their scores.

        They are 0 where s is neither between h and m nor h.
        """
        found = np.zeros_like(self.siblings)
        self._over_ranges(sibling_marginals, found)
        return found

    def _mean_score(self, local, tied):
        of_siblings = expected(self.sibling_marginals(), self.siblings)
        return super()._mean_score(local, tied) + of_siblings

    def posterior(self):
        """Return the trees with most right arcs in expectation, and log Z."""
        node, log_z = self.node_marginals()
        node[self.local == -np.inf] = -np.inf
        # Siblings are in the marginals of arcs, and have no scores beside these.
        arcs = ArcScores(node, self.tied, self.offsets, kind=self.kind)
        return arcs.viterbi()[0], log_z
