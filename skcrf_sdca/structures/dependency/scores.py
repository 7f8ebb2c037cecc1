"""Inference on dependency trees given the scores of their arcs, behind one object."""

import numpy as np

from skcrf_sdca._kernels.inference._projective_trees import (
    ProjectiveTreeInference,
    SiblingTreeInference,
)
from skcrf_sdca._kernels.inference._spanning_trees import SpanningTreeInference
from skcrf_sdca._utils.ragged import split_rows
from skcrf_sdca.data.tree_sizes import check_trees_of_one
from skcrf_sdca.data.trees import TreeRules, are_arcs, sizes_of
from skcrf_sdca.structures.compiled_scores import CompiledScores
from skcrf_sdca.structures.scores import entropies_of_rows

ONE_ROOT = TreeRules()


def inference_on_trees(rules, offsets, n_states, allowed, begin=None, end=None):
    """Return the compiled inference on trees of TreeRules."""
    inference = SiblingTreeInference if rules.siblings else ProjectiveTreeInference
    if not rules.projective:
        inference = SpanningTreeInference
    return inference(offsets, n_states, allowed, rules.single_root, begin, end)


class ArcScores(CompiledScores):
    """Scores of the arcs of sentences; positions are arcs, see _spanning_trees.pyx.

    If the rules have siblings, these are positions behind the arcs of each sentence:
    see _projective_trees.pyx.

    The columns are those of the label 0, not in the tree, and of the relations. Arcs
    that are not ``allowed``, an ndarray of uint8 or None, have probability 0, and so
    have trees of other TreeRules than ``rules``.
    """

    def __init__(self, local, tied, offsets, allowed=None, rules=ONE_ROOT):
        self.local, self.tied, self.offsets = local, tied, offsets
        self.allowed, self.rules = allowed, rules

    @property
    def _bytes_of_place(self):
        # The heads of two trees, and two conditions; there are more arcs than words.
        # Those with relations are found without such lists.
        return 16.0 if self.local.shape[1] == 2 else None

    def _new(self, local, tied, begin, end):
        first, last = self.offsets[[begin, end]]
        allowed = None if self.allowed is None else self.allowed[first:last]
        offsets = self.offsets[begin : end + 1] - first
        return ArcScores(local, tied, offsets, allowed, self.rules)

    def n_best(self, n):
        """Return the n best trees of each sentence, and their scores."""
        longest = int(self.n_words.max(initial=0))
        check_trees_of_one(
            longest, self.rules, n, f"a sentence has {longest} words, and"
        )
        return super().n_best(n)

    def inference(self, begin, end):
        """Return the compiled inference on some of the sentences."""
        n_states = self.local.shape[1]
        return inference_on_trees(
            self.rules, self.offsets, n_states, self.allowed, begin, end
        )

    @property
    def n_words(self):
        """The number of words of each sentence, (n,)."""
        return sizes_of(np.diff(self.offsets), siblings=self.rules.siblings)

    @property
    def label_bounds(self):
        """Where the words of each sentence begin, (n + 1,)."""
        return np.append(0, np.cumsum(self.n_words))

    def label_entropies(self):
        """Return the entropy of the head and the relation of each word."""
        node, _ = self.node_marginals()
        parts = split_rows(entropies_of_rows(node[:, 1:]), self.offsets)
        of_words = [
            own[: n * (n + 1)].reshape(n + 1, n).sum(0)
            for own, n in zip(parts, self.n_words.tolist(), strict=True)
        ]
        return np.concatenate([np.zeros(0), *of_words])

    def posterior(self):
        """Return the trees with most right arcs in expectation, and log Z."""
        if not self.rules.siblings:
            return super().posterior()
        node, log_z = self.node_marginals()
        # Siblings are in the marginals of arcs, and have no scores beside these.
        node[~are_arcs(self.n_words)] = 0.0
        node[self.local == -np.inf] = -np.inf
        return self.with_scores(node).viterbi()[0], log_z

    def with_heads(self, word, heads):
        """Return scores of the one sentence that forbid other heads of a word.

        Words and heads are counted from 1; head 0 is the root.
        """
        local, n = self.local.copy(), int(self.n_words[0])
        forbidden = np.setdiff1d(np.arange(n + 1), heads)
        local[forbidden * n + word - 1, 1:] = -np.inf
        return self.with_scores(local)

    def best_with_heads(self, word, heads):
        """Return the labels of the best tree with one of these heads, empty if none."""
        return self.with_heads(word, heads).best_of_one()

    # Lawler's partition by words, not by arcs: each tree left has the same arcs as one
    # already found into the words before a word, and another arc there.
    def _parts_of(self, path, first, excluded):
        local, n_words = self.local.copy(), int(self.n_words[0])
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
