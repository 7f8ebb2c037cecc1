"""Online steps for dependency trees whose rows of arcs are made at the visit.

A visit to a sentence moves the weights against the gradient g of its loss,

    w <- w - step g,    step = min(C, loss / ||g||^2),

as in _dca.pyx, where the average of the weights is explained too. The losses are those
of losses.py, with a cost of `margin` for each wrong head:

    loss = T log sum_y exp( (score(y) + cost(y)) / T ) - score(target).

For T > 0, g = sum over arcs of (marginal - target) f(arc), and so over siblings (h, m,
s) where trees have scores of these; for T = 0 the loss has the maximum, and g =
f(best) - f(target). The perceptron takes the best tree without costs, and the step C.
Weights are float32: reading them is most of the time of a visit.

With the n best trees, costs included, the step is that of n-best MIRA: see _mira.pyx.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, fabs, isfinite
from libc.stdlib cimport labs
from libc.string cimport memcpy

from ..features._arc_rows cimport ArcRows
from ..features._prefetch cimport prefetch
from ..features._sibling_rows cimport (
    SiblingRows,
    first_sibling,
    number_of_siblings,
    sibling_of,
)
from ..inference._projective_trees cimport SiblingTreeInference
from ..inference._spanning_trees cimport SpanningTreeInference
from ._mira cimport Multipliers

import numpy as np

# Arcs and siblings whose marginal differs less from the target have no gradient.
cdef double SMALLEST = 1e-5

# Work between two looks for Ctrl-C: some hundredths of a second.
cdef double WORK_BETWEEN_SIGNALS = 1e7

# Weights are asked for so many columns before they are moved.
cdef enum:
    AHEAD = 16


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
        As for `TreeSteps`.
    w : ndarray of shape (n_features,), float32
    largest : float
    siblings : SiblingRows, default=None
        As for `TreeSteps`.
    """
    cdef Py_ssize_t i, first
    cdef bint is_within = True
    cdef SiblingTreeInference trees = None if siblings is None else inference
    found = np.empty(rows.offsets[rows.offsets.shape[0] - 1], dtype=np.intc)
    cdef int[::1] heads = found
    with nogil:
        for i in range(rows.offsets.shape[0] - 1):
            first = rows.offsets[i]
            if first == rows.offsets[i + 1]:
                continue
            rows.take(i)
            inference.take(i)
            rows.set_scores(&w[0], &inference.arcs[0])
            if siblings is not None:
                siblings.set_scores(&w[0], &trees.siblings[0])
            is_within = are_within(&inference.arcs[0], inference.n_arcs, largest)
            if not is_within:
                break
            inference.set_best()
            memcpy(&heads[first], &inference.heads[0], rows.n * sizeof(int))
    return found if is_within else None


cdef bint are_within(
    const double* scores, Py_ssize_t n, double largest
) noexcept nogil:
    """Return whether all scores are within a limit, or -inf."""
    cdef Py_ssize_t a
    for a in range(n):
        if not (fabs(scores[a]) <= largest or scores[a] == -INFINITY):
            return False
    return True


cdef class TreeSteps:
    """Visits to sentences, one after another.

    Parameters
    ----------
    rows : ArcRows
    inference : SpanningTreeInference
        Of the arcs of the same sentences.
    heads : ndarray of shape (n_tokens,), intc
        The heads of all words, 0 for the root.
    C : float
        The longest step.
    temperature : float
        T.
    margin : float
        The cost of a wrong head.
    fixed_step : bool
        Whether every step is C, as the perceptron takes it.
    w : ndarray of shape (n_features,), float32
        The weights, changed in place.
    total : ndarray of shape (n_features,), float64, or None
        The sum that gives their average.
    power : float
        The p of the average.
    n_visits : int
        Visits so far.
    siblings : SiblingRows, default=None
        If trees have scores of siblings too. The inference is a SiblingTreeInference
        then.
    n_best : int, default=1
        The trees of a step; with more than 1 T is 0, and the step not fixed.
    """

    cdef ArcRows rows
    cdef SpanningTreeInference inference
    cdef SiblingRows siblings               # None for arcs alone
    cdef SiblingTreeInference trees         # the inference with siblings
    cdef const int[::1] heads
    cdef double C
    cdef double temperature
    cdef double margin
    cdef bint fixed_step
    cdef float[::1] w
    cdef double[::1] total
    cdef double power
    cdef readonly double n_visits
    cdef readonly double sum_of_losses      # of the visits of this object
    cdef readonly Py_ssize_t n_updates
    # The gradient, and the columns that it has.
    cdef float[::1] gradient                # (n_features,)
    cdef unsigned char[::1] is_touched
    cdef int[::1] touched
    cdef Py_ssize_t n_touched
    cdef int[::1] columns                   # of one arc
    cdef readonly Py_ssize_t n_best
    cdef Multipliers multipliers            # of the n best trees

    def __init__(
        self, rows, inference, heads, *, C, temperature, margin, fixed_step,
        w, total, power, n_visits, siblings=None, n_best=1,
    ):
        self.rows, self.inference, self.heads = rows, inference, heads
        if siblings is not None:
            self.siblings, self.trees = siblings, inference
        self.C, self.temperature, self.margin = C, temperature, margin
        self.fixed_step = fixed_step
        self.w, self.total, self.power, self.n_visits = w, total, power, n_visits
        self.gradient = np.zeros(len(w), dtype=np.float32)
        self.is_touched = np.zeros(len(w), dtype=np.uint8)
        self.touched = np.zeros(len(w), dtype=np.intc)
        most = self.rows.most_columns
        if siblings is not None:
            most = max(most, self.siblings.most_columns)
        self.columns = np.empty(most, dtype=np.intc)
        self.n_best = n_best
        self.multipliers = Multipliers(n_best)
        if n_best > 1:
            inference.allow_n_best(n_best)

    def epoch_in_order(self, const Py_ssize_t[::1] order):
        """Visit sentences in this order; ValueError if scores are not finite."""
        cdef Py_ssize_t k = 0
        cdef double work
        cdef bint is_finite = True
        while is_finite and k < order.shape[0]:
            work = WORK_BETWEEN_SIGNALS
            with nogil:
                while is_finite and k < order.shape[0] and work > 0.0:
                    is_finite = self.visit(order[k])
                    work -= self.work_of_visit()
                    k += 1
            PyErr_CheckSignals()
        if not is_finite:
            raise ValueError("scores are not finite")

    cdef double work_of_visit(self) noexcept nogil:
        """Return the work of the last visit, in numbers of arcs."""
        cdef double n = self.rows.n
        return self.n_best * (n + 1.0) ** 2 * (n + self.columns.shape[0])

    cdef bint visit(self, Py_ssize_t i) noexcept nogil:
        """Visit sentence i; return False if a number is not finite."""
        cdef double loss, norm
        cdef const int* heads
        self.n_visits += 1.0
        self.rows.take(i)
        self.inference.take(i)
        if self.rows.n == 0:
            return True
        heads = &self.heads[self.rows.offsets[i]]
        self.rows.set_scores(&self.w[0], &self.inference.arcs[0])
        if self.siblings is not None:
            self.siblings.set_scores(&self.w[0], &self.trees.siblings[0])
        loss = self.set_loss(heads)
        if not isfinite(loss):
            return False
        # A target that is no tree of this kind may be better than all that are: it has
        # no loss. The perceptron moves away from any wrong tree.
        if loss <= 0.0 and not self.fixed_step:
            return True
        self.sum_of_losses += max(loss, 0.0)
        if self.n_best > 1:
            self.set_gradient_of_trees(heads, loss)
        else:
            self.set_gradient(heads)
        self.n_updates += self.n_touched > 0
        if self.n_best > 1:
            self.move(1.0)
            return True
        norm = self.squared_norm()
        # Where trees have the same features, there is nothing to move.
        self.move(
            self.C if self.fixed_step or norm == 0.0
            else min(self.C, loss / norm)
        )
        return True

    cdef void set_gradient_of_trees(self, const int* heads, double loss) noexcept nogil:
        """Write the sum of the gradients of the n best trees with their weights.

        ``loss`` is the one of the best tree.
        """
        cdef Py_ssize_t k, j, n
        cdef double best, product
        n = self.inference.list_trees(self.n_best)
        best = self.inference.listed.values[0]
        for k in range(n):
            self.multipliers.gains[k] = self.inference.listed.values[k] - best + loss
            self.take_tree(k, heads, 1.0, True)
            for j in range(k, n):
                product = self.take_tree(j, heads, 1.0, False)
                self.multipliers.products[k, j] = product
                self.multipliers.products[j, k] = product
            self.forget()
        self.multipliers.ascend(n, self.C)
        for k in range(n):
            if self.multipliers.values[k] > 0.0:
                self.take_tree(k, heads, self.multipliers.values[k], True)

    cdef double take_tree(
        self, Py_ssize_t k, const int* heads, double factor, bint adds
    ) noexcept nogil:
        """Take the gradient of one of the n best trees, as `take_columns`."""
        return self.take_difference(
            &self.inference.listed.heads[k, 0], heads, factor, adds
        )

    cdef double set_loss(self, const int* heads) noexcept nogil:
        """Find the best tree, or the marginals; return the loss."""
        cdef Py_ssize_t m, n = self.rows.n
        cdef double target = 0.0
        cdef double* arcs = &self.inference.arcs[0]
        for m in range(n):
            target += arcs[heads[m] * n + m]
            # All arcs have the cost, but the right ones.
            arcs[heads[m] * n + m] -= self.margin
        if self.trees is not None:
            target += self.trees.sibling_spans.score_of_siblings(n, heads)
        target -= self.margin * n
        if self.temperature == 0.0:
            return self.inference.set_best() - target
        if self.temperature != 1.0:
            self.divide(arcs, n * (n + 1))
            if self.trees is not None:
                self.divide(&self.trees.siblings[0], number_of_siblings(n))
        return self.temperature * self.inference.set_marginals() - target

    cdef void divide(self, double* scores, Py_ssize_t n) noexcept nogil:
        """Divide scores by the temperature."""
        cdef Py_ssize_t k
        for k in range(n):
            scores[k] /= self.temperature

    cdef void set_gradient(self, const int* heads) noexcept nogil:
        """Write the gradient of the loss."""
        cdef Py_ssize_t h, m, n = self.rows.n
        cdef double change
        if self.temperature == 0.0:
            self.take_difference(&self.inference.heads[0], heads, 1.0, True)
            return
        for h in range(n + 1):
            for m in range(n):
                change = self.inference.marginals[h * n + m] - (heads[m] == h)
                if fabs(change) > SMALLEST:
                    self.take(h, m, change, True)
        if self.siblings is not None:
            self.add_siblings(heads)

    cdef void add_siblings(self, const int* heads) noexcept nogil:
        """Add the expected features of siblings, less those of the target."""
        cdef Py_ssize_t h, m, s, k, first, own, n = self.rows.n
        cdef double change
        for m in range(1, n + 1):
            own = sibling_of(heads, m)
            for h in range(1, n + 1):
                # No sibling is more probable than its arc.
                if (
                    self.inference.marginals[h * n + m - 1] <= SMALLEST
                    and heads[m - 1] != h
                ):
                    continue
                first = first_sibling(n, h, m)
                for k in range(labs(h - m)):
                    s = k + (h if h < m else m + 1)
                    change = self.trees.sibling_spans.of_siblings[first + k]
                    change -= heads[m - 1] == h and s == own
                    if fabs(change) > SMALLEST:
                        self.take_sibling(h, m, s, change, True)

    cdef double take_difference(
        self, const int* found, const int* heads, double factor, bint adds
    ) noexcept nogil:
        """Take a factor of the features of a tree, less those of the target."""
        cdef Py_ssize_t m
        cdef double total = 0.0
        for m in range(self.rows.n):
            if found[m] != heads[m]:
                total += self.take(found[m], m, factor, adds)
                total += self.take(heads[m], m, -factor, adds)
        if self.siblings is not None:
            total += self.take_siblings(found, heads, factor, adds)
        return total

    cdef double take_siblings(
        self, const int* found, const int* heads, double factor, bint adds
    ) noexcept nogil:
        """Take the features of siblings that differ."""
        cdef Py_ssize_t m, s, own
        cdef double total = 0.0
        for m in range(1, self.rows.n + 1):
            s, own = sibling_of(found, m), sibling_of(heads, m)
            if found[m - 1] != heads[m - 1] or s != own:
                total += self.take_sibling(found[m - 1], m, s, factor, adds)
                total += self.take_sibling(heads[m - 1], m, own, -factor, adds)
        return total

    cdef double take_sibling(
        self, Py_ssize_t h, Py_ssize_t m, Py_ssize_t s, double factor, bint adds
    ) noexcept nogil:
        """Take the features of a sibling; words below the root have none."""
        if h == 0:
            return 0.0
        return self.take_columns(
            self.siblings.row(h, m, s, &self.columns[0]), factor, adds
        )

    cdef double take(
        self, Py_ssize_t h, Py_ssize_t m, double factor, bint adds
    ) noexcept nogil:
        """Take the features of an arc."""
        return self.take_columns(
            self.rows.row(h, m + 1, &self.columns[0]), factor, adds
        )

    cdef double take_columns(
        self, Py_ssize_t n, double factor, bint adds
    ) noexcept nogil:
        """Take the columns made last times a factor.

        They are added to the gradient, or their product with it is returned.
        """
        cdef Py_ssize_t r
        cdef int column
        cdef double total = 0.0
        for r in range(n):
            prefetch(&self.gradient[self.columns[r]])
            prefetch(&self.is_touched[self.columns[r]])
        for r in range(n):
            column = self.columns[r]
            if not adds:
                total += factor * self.gradient[column]
                continue
            if not self.is_touched[column]:
                self.is_touched[column] = True
                self.touched[self.n_touched] = column
                self.n_touched += 1
            self.gradient[column] += <float> factor
        return total

    cdef void forget(self) noexcept nogil:
        """Set the gradient to 0."""
        cdef Py_ssize_t r
        for r in range(self.n_touched):
            self.gradient[self.touched[r]] = 0.0
            self.is_touched[self.touched[r]] = False
        self.n_touched = 0

    cdef double squared_norm(self) noexcept nogil:
        """Return the squared norm of the gradient."""
        cdef Py_ssize_t r
        cdef double norm = 0.0
        for r in range(self.n_touched):
            norm += (<double> self.gradient[self.touched[r]]) ** 2
        return norm

    cdef void move(self, double step) noexcept nogil:
        """Move the weights, and forget the gradient."""
        cdef Py_ssize_t r
        cdef int column
        cdef double change, share = 0.0
        if self.total is not None:
            share = (self.n_visits - 1.0) ** self.power
        for r in range(self.n_touched):
            # Numbers past the last one are columns of earlier visits.
            column = self.touched[min(r + AHEAD, self.touched.shape[0] - 1)]
            prefetch(&self.w[column])
            if self.total is not None:
                prefetch(&self.total[column])
            column = self.touched[r]
            change = -step * self.gradient[column]
            self.gradient[column], self.is_touched[column] = 0.0, False
            self.w[column] += <float> change
            if self.total is not None:
                self.total[column] += share * change
        self.n_touched = 0
