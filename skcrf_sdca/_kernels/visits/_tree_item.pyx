"""Sentences whose rows of arcs are made at the visit, as an Item.

A labelling of a sentence is the heads of its words. Scores go from the rows of arcs
into the inference, and features are made of those arcs alone that two trees have not in
common, or whose marginals differ from the target: nothing is kept for the other arcs.
The target may have arcs that cross, and the trees of the inference none: it may then
have a higher score than all of these.
"""

from libc.math cimport INFINITY, fabs
from libc.stdlib cimport labs
from libc.string cimport memcpy

from ..features._arc_rows cimport ArcRows
from ..features._made_rows cimport DistinctMadeFeatures, MadeRows
from ..features._sibling_rows cimport SiblingRows, first_sibling, sibling_of
from ..features._single_weights cimport SingleSums, SingleWeights
from ..inference._inference cimport Values
from ..inference._projective_trees cimport SiblingTreeInference
from ..inference._spanning_trees cimport SpanningTreeInference
from ._item cimport Item

from skcrf_sdca._kernels.visits._tying import ArcTying

import numpy as np

# Arcs and siblings whose marginal differs less from the target have no gradient.
cdef double SMALLEST = 1e-5

# The work of a column of an arc, in that of a position: see `Visitor.work_of`.
cdef double WORK_OF_COLUMN = 0.4


def best_heads(
    ArcRows rows, SpanningTreeInference inference, const float[::1] w, double largest,
    SiblingRows siblings=None,
):
    """Return the heads of the best trees of all sentences, end to end.

    Scores take the memory of one sentence. Return None if one of an arc is beyond
    ``largest``, or no number.

    Parameters
    ----------
    rows : ArcRows
    inference : SpanningTreeInference
        Of the arcs of the same sentences; with siblings, a SiblingTreeInference.
    w : ndarray of shape (n_features,), float32
    largest : float
    siblings : SiblingRows, default=None
        If trees have scores of siblings too.
    """
    cdef Py_ssize_t i, first
    cdef bint is_within = True
    found = np.empty(rows.offsets[rows.offsets.shape[0] - 1], dtype=np.intc)
    cdef int[::1] heads = found
    with nogil:
        for i in range(rows.offsets.shape[0] - 1):
            first = rows.offsets[i]
            if first == rows.offsets[i + 1]:
                continue
            rows.take(i)
            inference.take(i)
            set_scores(rows, siblings, inference, &w[0])
            is_within = are_within(&inference.arcs[0], inference.n_arcs, largest)
            if not is_within:
                break
            inference.set_best()
            memcpy(&heads[first], &inference.heads[0], rows.n * sizeof(int))
    return found if is_within else None


cdef void set_scores(
    ArcRows rows, SiblingRows siblings, SpanningTreeInference inference, const float* w
) noexcept nogil:
    """Write the scores of the arcs, and siblings, that the inference takes."""
    rows.set_scores(w, &inference.arcs[0])
    if siblings is not None:
        siblings.set_scores(w, &(<SiblingTreeInference> inference).siblings[0])


cdef bint are_within(
    const double* scores, Py_ssize_t n, double largest
) noexcept nogil:
    """Return whether all scores are within a limit, or -inf."""
    cdef Py_ssize_t a
    for a in range(n):
        if not (fabs(scores[a]) <= largest or scores[a] == -INFINITY):
            return False
    return True


cdef class TreeItem(Item):
    """Sentences under weights in single precision.

    Parameters
    ----------
    own : DistinctMadeFeatures
    weights : SingleWeights
        Changed in place.
    inference : SpanningTreeInference
        Of the arcs, and siblings, of the same sentences.
    heads : ndarray of shape (n_words,), intc
        The heads of the words of all sentences, 0 for the root.
    margin : float
        The cost of a wrong head.
    """

    cdef MadeRows made
    cdef SingleSums single                  # the sums
    cdef const float[::1] w
    cdef SpanningTreeInference trees
    cdef SiblingTreeInference second        # the same, None without siblings
    cdef double margin
    # Of the sentence that was set last.
    cdef const int* heads
    cdef double right                       # the score of the target
    # The expectations are those of trees with shares, or the marginals for no trees.
    cdef Py_ssize_t n_trees
    cdef const int* found
    cdef const double* values
    cdef double total
    cdef double certain                     # 1, the share of a single tree

    def __init__(
        self, DistinctMadeFeatures own, SingleWeights weights, inference, heads, margin
    ):
        # Scores and changes are those of arcs: nothing is tied.
        super().__init__(own, weights, inference, heads, tying=ArcTying(1, 1))
        self.made, self.single, self.trees = own.own, self.sums, inference
        self.w = weights.w
        if self.made.siblings is not None:
            self.second = inference
        self.margin, self.certain = margin, 1.0
        self.most_local = self.made.arcs.longest
        self.work_of_position = WORK_OF_COLUMN * self.made.most_columns

    cdef void set_item(self, Py_ssize_t i) noexcept nogil:
        """Take sentence i: write the scores of arcs and siblings, with all costs."""
        cdef Py_ssize_t m, n
        cdef double* arcs = &self.trees.arcs[0]
        self.trees.take(i)
        self.item, self.first, self.length = i, self.trees.first, self.trees.length
        if self.length == 0:
            return
        self.made.take(i)
        set_scores(self.made.arcs, self.made.siblings, self.trees, &self.w[0])
        n = self.made.arcs.n
        self.heads = &self.labels[self.made.arcs.offsets[i]]
        self.right = 0.0
        for m in range(n):
            self.right += arcs[self.heads[m] * n + m]
            # All arcs have the cost, but the right ones.
            arcs[self.heads[m] * n + m] -= self.margin
        if self.second is not None:
            self.right += self.second.sibling_spans.score_of_siblings(n, self.heads)
        self.right -= self.margin * n

    cdef double argmax(self, Values potentials, int* labels) noexcept nogil:
        """Write the heads of the best tree; return its score, less that of all costs.
        """
        cdef double value = self.trees.set_best()
        memcpy(labels, &self.trees.heads[0], self.made.arcs.n * sizeof(int))
        return value

    def allow_n_best(self, Py_ssize_t n):
        """Make the buffers for the n best trees."""
        self.inference.allow_n_best(n)
        self.work_of_position *= n

    cdef Py_ssize_t n_best(
        self, Values potentials, double* scores, int* labels
    ) noexcept nogil:
        """Write the heads of the best trees, and their scores, best first."""
        cdef Py_ssize_t r, n = self.trees.listed.values.shape[0]
        n = self.trees.list_trees(n)
        for r in range(n):
            scores[r] = self.trees.listed.values[r]
            memcpy(
                labels + r * self.most_local, &self.trees.listed.heads[r, 0],
                self.made.arcs.n * sizeof(int),
            )
        return n

    cdef double target_score(self, Values potentials) noexcept nogil:
        """Return the score of the target, less the costs of all words."""
        return self.right

    cdef double expect(self, Values potentials, Values out) noexcept nogil:
        """Take the marginals as expectations; return log Z."""
        self.n_trees = 0
        return self.trees.set_marginals()

    cdef void set_certain(self, const int* labels, Values out) noexcept nogil:
        """Take a tree, whose heads are kept where they are, as expectations."""
        self.set_mixture(labels, &self.certain, 1, 1.0)

    cdef void set_mixture(
        self, const int* labels, const double* values, Py_ssize_t n, double total
    ) noexcept nogil:
        """Take the mean of n trees as expectations; nothing is copied."""
        self.found, self.values, self.n_trees = labels, values, n
        self.total = total

    cdef void set_gradient(self) noexcept nogil:
        """Do nothing: `sum_features` takes the change by trees."""

    cdef void sum_features(self) noexcept nogil:
        """Sum the features of the expectations, less those of the target."""
        cdef Py_ssize_t r
        self.single.start(self.item)
        if self.n_trees == 0:
            self.add_marginals()
        for r in range(self.n_trees):
            if self.values[r] != 0.0:
                self.take_tree(
                    self.found + r * self.most_local, self.values[r] / self.total, True
                )

    cdef void write_products(
        self, const int* labels, Py_ssize_t n, double[:, ::1] products
    ) noexcept nogil:
        """Write the inner products of the features of trees, less those of the target.
        """
        cdef Py_ssize_t r, s
        for s in range(n):
            self.set_certain(labels + s * self.most_local, self.expected)
            self.sum_features()
            for r in range(s, n):
                products[r, s] = self.take_tree(
                    labels + r * self.most_local, 1.0, False
                )
                products[s, r] = products[r, s]

    cdef void add_marginals(self) noexcept nogil:
        """Add the expected features of arcs and siblings, less those of the target."""
        cdef Py_ssize_t h, m, n = self.made.arcs.n
        cdef double change
        for h in range(n + 1):
            for m in range(n):
                change = self.trees.marginals[h * n + m] - (self.heads[m] == h)
                if fabs(change) > SMALLEST:
                    self.take(h, m + 1, change, True)
        if self.second is not None:
            self.add_siblings()

    cdef void add_siblings(self) noexcept nogil:
        """Add the expected features of siblings, less those of the target."""
        cdef Py_ssize_t h, m, s, k, first, own, n = self.made.arcs.n
        cdef double change
        for m in range(1, n + 1):
            own = sibling_of(self.heads, m)
            for h in range(1, n + 1):
                # No sibling is more probable than its arc.
                if (
                    self.trees.marginals[h * n + m - 1] <= SMALLEST
                    and self.heads[m - 1] != h
                ):
                    continue
                first = first_sibling(n, h, m)
                for k in range(labs(h - m)):
                    s = k + (h if h < m else m + 1)
                    change = self.second.sibling_spans.of_siblings[first + k]
                    change -= self.heads[m - 1] == h and s == own
                    if fabs(change) > SMALLEST:
                        self.take_sibling(h, m, s, change, True)

    cdef double take_tree(
        self, const int* found, double factor, bint adds
    ) noexcept nogil:
        """Take a factor of the features of a tree, less those of the target.

        They are added to the sums, or their product with these is returned.
        """
        cdef Py_ssize_t m, s, own
        cdef double total = 0.0
        for m in range(1, self.made.arcs.n + 1):
            if found[m - 1] != self.heads[m - 1]:
                total += self.take(found[m - 1], m, factor, adds)
                total += self.take(self.heads[m - 1], m, -factor, adds)
        if self.second is None:
            return total
        for m in range(1, self.made.arcs.n + 1):
            s, own = sibling_of(found, m), sibling_of(self.heads, m)
            if found[m - 1] != self.heads[m - 1] or s != own:
                total += self.take_sibling(found[m - 1], m, s, factor, adds)
                total += self.take_sibling(self.heads[m - 1], m, own, -factor, adds)
        return total

    cdef double take_sibling(
        self, Py_ssize_t h, Py_ssize_t m, Py_ssize_t s, double factor, bint adds
    ) noexcept nogil:
        """Take the features of a sibling; words below the root have none."""
        if h == 0:
            return 0.0
        return self.take_columns(
            self.made.siblings.row(h, m, s, &self.made.made[0]), factor, adds
        )

    cdef double take(
        self, Py_ssize_t h, Py_ssize_t m, double factor, bint adds
    ) noexcept nogil:
        """Take the features of an arc."""
        return self.take_columns(
            self.made.arcs.row(h, m, &self.made.made[0]), factor, adds
        )

    cdef double take_columns(
        self, Py_ssize_t n, double factor, bint adds
    ) noexcept nogil:
        """Take the columns made last."""
        if not adds:
            return factor * self.single.columns_inner(n)
        self.single.add_columns(n, factor)
        return 0.0
