"""One item under given weights: what solvers visit, whatever its structure.

An Item holds all that visits of one item need: its potentials under the weights, with
costs and fixed scores, its target, the change of its expectations, and the features of
the change. How the labels depend on each other is known to its Inference alone, and how
weights are shared to its Tying. A visit makes some calls for an item, none for a label.

Every thread has an Item of its own, since it owns the buffers of the current item.
"""

from libc.math cimport fabs
from libc.string cimport memcpy, memset

from ..features._features cimport DistinctFeatures
from ..inference._inference cimport DirectInference, Inference, Values, begin_of_local
from ..math._line_search cimport Segment
from ._tying cimport TiedChange, Tying
from ..math._vecmath cimport addressable, ops
from ..features._weights cimport Weights

import numpy as np


cdef class Item:
    """Items of one structure under given weights.

    Parameters
    ----------
    features : DistinctFeatures
    weights : Weights
        Changed in place.
    inference : Inference
    targets : ndarray of shape (N,), int32, or Potentials
        Labels, or the expectations of soft labels, which are read at every visit.
    tying : Tying, default=None
        By default the tying of a chain.
    cost : ndarray of shape (K, K), default=None
        Added to the local scores: cost[y, k] for label k where the target is y. Not
        with soft labels.
    fixed : FixedScores, default=None
        Added to the scores of the weights.
    """

    def __init__(
        self, DistinctFeatures features, Weights weights, Inference inference, targets,
        *, Tying tying=None, cost=None, fixed=None,
    ):
        self.rows, self.weights = features.rows, weights
        self.sums = weights.new_sums(features)
        self.inference, self.direct = inference, None
        self.tying = Tying() if tying is None else tying
        self.cost = cost
        if isinstance(targets, tuple):
            self.labels, (self.soft_local, soft_tied) = None, targets
            self.soft_tied = addressable(soft_tied.reshape(len(soft_tied), -1))
        else:
            self.labels = targets
        self.n_labels, self.n_tied = inference.n_labels, inference.n_tied
        self.most_local = inference.most_local
        n_columns = self.tying.n_columns(self.n_labels)
        if (weights.n_labels, weights.n_tied) != (n_columns, self.n_tied):
            raise ValueError(
                f"{weights.n_labels} labels and {weights.n_tied} tied weights for "
                f"{n_columns} labels and {self.n_tied} tied potentials"
            )
        if self.n_labels > n_columns:
            # They are sums of labels, before they are sums of parts.
            self.sums.node = np.empty(self.n_labels)
        self.fixed_local = self.fixed_tied = None
        if fixed is not None:
            self.fixed_local = fixed.local
            self.fixed_tied = addressable(fixed.tied.reshape(-1))
            self.tied = np.empty(max(self.n_tied, 1))
        self.change = np.empty(self.most_local)
        self.work_of_position = 1.0
        self.potentials, self.expected = self.new_values(), self.new_values()

    cdef int check(self) except -1:
        """Raise NotImplementedError if the inference lacks what was asked of it."""
        return self.inference.check()

    cdef Py_ssize_t first_local(self, Py_ssize_t i) noexcept nogil:
        """Return where the local values of item i begin among all local values."""
        return begin_of_local(self.inference, i)

    cdef void take_item(self, Py_ssize_t i) noexcept nogil:
        """Take item i, without its potentials under the weights."""
        self.inference.take(i)
        self.item, self.first = i, self.inference.first
        self.length, self.n_local = self.inference.length, self.inference.n_local

    cdef void set_item(self, Py_ssize_t i) noexcept nogil:
        """Take item i, and write its potentials under the weights, with all costs."""
        cdef Py_ssize_t t, n = self.n_labels
        self.take_item(i)
        if self.length == 0:
            return
        self.weights.score_nodes(
            self.rows, self.first, self.length,
            self.tying.before(self.potentials.local),
        )
        self.tying.complete(self.length, self.potentials.local)
        self.potentials.tied = <double*> &self.weights.transition[0]
        if self.cost is not None:
            for t in range(self.inference.n_costed):
                ops.axpy(
                    1.0, &self.cost[self.labels[self.first + t], 0],
                    self.potentials.local + t * n, n,
                )
        if self.fixed_local is not None:
            ops.axpy(
                1.0, &self.fixed_local[self.first, 0], self.potentials.local,
                self.n_local,
            )
            memcpy(
                &self.tied[0], &self.weights.transition[0],
                self.n_tied * sizeof(double),
            )
            ops.axpy(1.0, &self.fixed_tied[0], &self.tied[0], self.n_tied)
            self.potentials.tied = &self.tied[0]

    cdef double argmax(self, Values potentials, int* labels) noexcept nogil:
        """Write the labelling of highest score under any potentials; return its score.
        """
        self.inference.set_tied(potentials.tied, False)
        return self.inference.argmax(potentials, labels)

    def allow_n_best(self, Py_ssize_t n):
        """Make the buffers for n labellings of `n_best`.

        Raises
        ------
        NotImplementedError
            If the inference has no `n_best`.
        """
        self.inference.allow_n_best(n)
        self.n_best_labels = np.empty(n * self.most_local, dtype=np.intc)
        self.one = self.new_values()
        self.local = np.empty((n, self.most_local))
        self.tied_scores = np.empty((n, max(self.n_tied, 1)))

    cdef Py_ssize_t n_best(
        self, Values potentials, double* scores, int* labels
    ) noexcept nogil:
        """Write the n labellings of highest score and these scores, best first.

        Labellings stand ``most_local`` numbers apart. Returns how many there are.
        """
        cdef Py_ssize_t r, found, n = self.n_best_labels.shape[0] // self.most_local
        self.inference.set_tied(potentials.tied, False)
        found = self.inference.n_best(potentials, n, scores, &self.n_best_labels[0])
        for r in range(found):
            memcpy(
                labels + r * self.most_local, &self.n_best_labels[r * self.length],
                self.length * sizeof(int),
            )
        return found

    cdef void set_certain(self, const int* labels, Values out) noexcept nogil:
        """Write the expectations of the distribution that is certain of a labelling."""
        memset(out.local, 0, self.n_local * sizeof(double))
        memset(out.tied, 0, self.n_tied * sizeof(double))
        self.inference.add_local_labels(labels, 1.0, out.local)
        self.inference.add_tied_labels(labels, 1.0, out.tied)

    cdef void write_products(
        self, const int* labels, Py_ssize_t n,
        double[:, ::1] products,                # out
    ) noexcept nogil:
        """Write the inner products of g_r, the features of n labellings less those of
        the target. Follows `allow_n_best`.
        """
        cdef Py_ssize_t r, s
        for s in range(n):
            self.set_certain(labels + s * self.most_local, self.expected)
            self.set_gradient()
            self.sum_features()
            self.change_scores(self.scores_under(s))
            for r in range(s + 1):
                products[r, s] = self.change_inner(self.scores_under(r))
                products[s, r] = products[r, s]

    cdef Values scores_under(self, Py_ssize_t r) noexcept nogil:
        """Return the buffers of potentials under g_r as weights."""
        return Values(&self.local[r, 0], &self.tied_scores[r, 0])

    cdef void set_mixture(
        self, const int* labels, const double* values, Py_ssize_t n, double total
    ) noexcept nogil:
        """Take as expectations the mean of n labellings, whose values have this total.
        """
        cdef Py_ssize_t r
        cdef double share
        cdef Values out = self.expected
        memset(out.local, 0, self.n_local * sizeof(double))
        memset(out.tied, 0, self.n_tied * sizeof(double))
        for r in range(n):
            if values[r] == 0.0:
                continue
            self.set_certain(labels + r * self.most_local, self.one)
            share = values[r] / total
            ops.axpy(share, self.one.local, out.local, self.n_local)
            ops.axpy(share, self.one.tied, out.tied, self.n_tied)

    cdef double log_partition(self, Values potentials) noexcept nogil:
        """Return log Z of the item with any potentials."""
        self.inference.set_tied(potentials.tied, True)
        return self.inference.log_partition(potentials)

    cdef double expect(self, Values potentials, Values out) noexcept nogil:
        """Write the expectations under any potentials; return log Z.

        Tied expectations are not written if ``out.tied`` is NULL.
        """
        self.inference.set_tied(potentials.tied, True)
        return self.inference.expect(potentials, out)

    cdef void set_change(self, Values to, Values start) noexcept nogil:
        """Take the change of expectations to - start."""
        cdef Py_ssize_t k
        ops.change(
            to.local, start.local, self.length, self.n_labels, &self.change[0],
            &self.sums.node[0],
        )
        for k in range(self.n_tied):
            self.sums.edge[k] = to.tied[k] - start.tied[k]

    cdef void set_gradient(self) noexcept nogil:
        """Take the change expected - target, the gradient of the item's loss."""
        cdef const int* labels
        if self.labels is None:
            self.set_change(self.expected, self.soft_target())
            return
        labels = &self.labels[self.first]
        memcpy(&self.change[0], self.expected.local, self.n_local * sizeof(double))
        memcpy(&self.sums.edge[0], self.expected.tied, self.n_tied * sizeof(double))
        self.inference.add_local_labels(labels, -1.0, &self.change[0])
        self.inference.add_tied_labels(labels, -1.0, &self.sums.edge[0])
        self.sum_change()

    cdef double target_score(self, Values potentials) noexcept nogil:
        """Return the score of the target under any potentials, expected if soft."""
        if self.labels is None:
            return self.inner(self.soft_target(), potentials)
        return self.inference.labels_score(&self.labels[self.first], potentials)

    cdef Values soft_target(self) noexcept nogil:
        """Return the expectations of the soft labels."""
        return Values(&self.soft_local[self.first, 0], &self.soft_tied[self.item, 0])

    cdef void copy_target(self, Values out) noexcept nogil:
        """Write the expectations of the target."""
        if self.labels is None:
            self.copy_values(self.soft_target(), out)
        else:
            self.set_certain(&self.labels[self.first], out)

    cdef void sum_change(self) noexcept nogil:
        """Sum the local change over positions."""
        cdef Py_ssize_t t, n = self.n_labels
        memset(&self.sums.node[0], 0, n * sizeof(double))
        for t in range(self.length):
            ops.axpy(1.0, &self.change[t * n], &self.sums.node[0], n)

    cdef void sum_features(self) noexcept nogil:
        """Sum the features of the change, for ``sums`` to measure and to add."""
        cdef TiedChange shared = self.tying.share(
            self.length, &self.change[0], self.sums
        )
        self.sums.set(self.item, self.first, self.length, shared.local)
        self.sums.first_node, self.sums.last_node = shared.first, shared.last

    cdef void change_scores(self, Values out) noexcept nogil:
        """Write the potentials under the summed features of the change as weights."""
        self.sums.score_nodes(self.length, self.tying.before(out.local))
        self.tying.complete(self.length, out.local)
        memcpy(out.tied, &self.sums.edge[0], self.n_tied * sizeof(double))

    cdef double change_inner(self, Values potentials) noexcept nogil:
        """Return <change, potentials>."""
        return self.inner(Values(&self.change[0], &self.sums.edge[0]), potentials)

    cdef double residual(self) noexcept nogil:
        """Return the sum of the absolute values of the change, local ones only."""
        cdef Py_ssize_t k
        cdef double total = 0.0
        for k in range(self.n_local):
            total += fabs(self.change[k])
        return total

    cdef void add_change(self, Weights out, double step) noexcept nogil:
        """Add step times the features of the change to weights."""
        cdef TiedChange shared = self.tying.share(
            self.length, &self.change[0], self.sums
        )
        self.rows.add_features(
            self.first, self.first + self.length, step, shared.local,
            self.weights.n_labels, <double*> out.coef_pointer(),
        )
        out.add_to_blocks(
            step, shared.first, shared.last, &self.sums.node[0], &self.sums.edge[0]
        )

    def keep_marginals(self, marginals):
        """Take the marginals of all items, for `set_direction` and `apply_step`.

        Parameters
        ----------
        marginals : Marginals or GraphMarginals
            Changed in place.

        Raises
        ------
        NotImplementedError
            If the inference has no level 4.
        """
        if not isinstance(self.inference, DirectInference):
            raise self.inference.lack_of("keep_marginals")
        self.direct = self.inference
        self.direct.keep_marginals(marginals)

    cdef double set_direction(self, Segment* segment) noexcept nogil:
        """Describe the segment from the item's marginals to those under the weights.

        Follows `expect`. Writes the cliques, the separators and the linear term of the
        segment, takes the direction as the change, and returns <marginals, scores>.
        """
        cdef double value
        if self.direct is None:
            return self.inference.lacks(b"keep_marginals")
        value = self.direct.set_direction(
            self.potentials, self.expected, segment,
            Values(&self.change[0], &self.sums.edge[0]),
        )
        self.sum_change()
        segment.linear = self.change_inner(self.potentials)
        return value

    cdef void apply_step(self, double step) noexcept nogil:
        """Move the item's marginals by the step that the line search has written."""
        self.direct.apply_step(step, Values(&self.change[0], &self.sums.edge[0]))

    cdef double inner(self, Values a, Values b) noexcept nogil:
        """Return <a, b> of two values of the item."""
        return (
            ops.dot(a.local, b.local, self.n_local)
            + ops.dot(a.tied, b.tied, self.n_tied)
        )

    cdef void copy_values(self, Values values, Values out) noexcept nogil:
        """Copy values of the item."""
        memcpy(out.local, values.local, self.n_local * sizeof(double))
        memcpy(out.tied, values.tied, self.n_tied * sizeof(double))

    cdef Values new_values(self):
        """Return buffers for the values of any item."""
        cdef double[::1] local = np.zeros(self.most_local)
        cdef double[::1] tied = np.zeros(max(self.n_tied, 1))
        cdef Values values
        self.buffers = (self.buffers, local, tied)
        values.local, values.tied = &local[0], &tied[0]
        return values
