"""Inference on one linear chain: forward-backward, Viterbi.

A chain of T positions and K labels is given by node_scores (T, K) and transition
(K, K), indexed [from, to]; the probability of a path is proportional to the
exponential of its score. Owns the recursions, on pointers, with a Workspace that is
allocated once; the passes over many chains are in _passes.pyx. Both domains are here,
since each recursion falls back from one to the other, and that makes it long.

A score of -inf forbids. A Workspace can forbid too: the solvers keep their weights
finite, and have the workspace add the -inf of transitions, first and last labels that
are not allowed. What is forbidden gets a marginal of exactly 0, and log Z is -inf if
every path is forbidden.

Everything runs first in the scaled probability domain, where TK + K^2 exponentials
are enough. That is right as long as no exponential can underflow and later turn out to
have mattered, which a check of the scales alone would not see: the spread of the scores
at any position and the spread of the transitions must not exceed LARGEST_SPREAD
together. Then every forward and backward number is at least exp(-LARGEST_SPREAD) / K,
and keeps its relative precision.

With forbidden transitions the spreads count the allowed scores alone, and a label may
be reached only through labels that are themselves improbable. So the numbers are looked
at: no product of a step can underflow as long as the product of the smallest number
before it that is not 0, the smallest emission and the smallest exponential of a
transition is at least exp(-LARGEST_SPREAD). Then what is 0 is forbidden, or can be
reached only through what is.

Other chains are done in the log domain with row-wise maxima, which is right for any
scores but +inf: those with larger spreads, or with a -inf between the ends.
"""

from libc.math cimport INFINITY, NAN, exp, log
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from ..math._math cimport (
    finite_minimum,
    forbid,
    least_positive,
    log_softmax,
    logsumexp,
    maximum,
    softmax,
)
from ..math._transitions cimport FREE
from ..math._vecmath cimport ops

from ..math._transitions import all_transitions

import numpy as np

# exp(-600) / K is far above the smallest double, exp(-708).
cdef double LARGEST_SPREAD = 600.0
# The product of two numbers of this size has all its digits.
cdef double SMALL = 1e-100
# Backward numbers are at most the inverse of forward ones.
cdef double LARGEST_NUMBER = 1e260


cdef class Workspace:
    """Buffers for chains of up to ``max_length`` positions and ``n_labels`` labels.

    Parameters
    ----------
    max_length, n_labels : int
    constraints : tuple, default=None
        Bool arrays start (n_labels,), end (n_labels,) and transition (n_labels,
        n_labels); None if nothing is forbidden but by -inf in node scores.
    layout : TransitionLayout, default=None
        The pairs of labels that transition scores and edge marginals are of; by default
        all. What is no pair is forbidden.
    """

    def __cinit__(
        self, Py_ssize_t max_length, Py_ssize_t n_labels, constraints=None, layout=None
    ):
        cdef Py_ssize_t block, of_sums
        self.max_length, self.n_labels = max(max_length, 1), n_labels
        self.layout = all_transitions(n_labels) if layout is None else layout
        self.n_pairs = self.layout.size
        block = self.max_length * n_labels
        of_sums = self.n_pairs * (5 if self.layout.has_free else 4)
        of_sums += self.layout.buffer_size
        self.arena = <double*> malloc(
            (3 * block + self.max_length + 4 * n_labels + of_sums + 1)
            * sizeof(double)
        )
        if self.arena == NULL:
            raise MemoryError(
                f"no memory for the buffers of a chain of {max_length} positions and "
                f"{n_labels} labels"
            )
        self.emission = self.arena
        self.forward = self.emission + block
        self.message = self.forward + block
        self.scale = self.message + block
        self.row = self.scale + self.max_length
        self.buffer = self.row + n_labels
        self.first = self.buffer + self.layout.buffer_size
        self.last = self.first + n_labels
        self.exp_transition = self.last + n_labels
        self.edge = self.exp_transition + self.n_pairs + 1
        self.masked_transition = self.edge + self.n_pairs
        self.derived = self.masked_transition + self.n_pairs
        self.transition = NULL
        self.log_node = False
        self.is_constrained = constraints is not None
        if self.is_constrained:
            start, end, transition = constraints
            pairs = self.layout.compact(transition).reshape(-1)
            masks = np.concatenate([start, end, pairs])
            self.log_mask = np.where(masks, 0.0, -np.inf)

    def __dealloc__(self):
        free(self.arena)

    cdef void set_transition(self, const double* transition) noexcept nogil:
        """Take the transition scores of the next chains; the pointer is kept."""
        cdef double least
        cdef double* of_free = self.exp_transition + self.n_pairs
        self.keep_transition(transition)
        transition = self.transition
        self.transition_max = -INFINITY
        if self.n_pairs > 0:
            self.transition_max = extent(transition, self.n_pairs, &least, True)
        if self.transition_max == -INFINITY:
            # No pair has a score: chains of one position have no transition.
            self.transition_max = least = 0.0
        if self.layout.has_free:
            self.transition_max = max(self.transition_max, 0.0)
            least = min(least, 0.0)
        self.transition_spread = self.transition_max - least
        self.least_product = exp(self.transition_spread - LARGEST_SPREAD)
        ops.exp(transition, self.transition_max, self.exp_transition, self.n_pairs)
        if self.is_constrained:
            forbid(transition, self.exp_transition, self.n_pairs)
        self.is_transposed = False
        if self.layout.has_free:
            of_free[0] = exp(-self.transition_max)
            self.layout.set_excess(self.exp_transition, self.derived)

    cdef void keep_transition(self, const double* transition) noexcept nogil:
        """Take the transition scores as `set_transition` does, for `viterbi` alone."""
        cdef Py_ssize_t k
        self.transition = transition
        if self.is_constrained and self.layout.is_dense:
            for k in range(self.n_pairs):
                self.masked_transition[k] = (
                    transition[k] + self.log_mask[2 * self.n_labels + k]
                )
            self.transition = self.masked_transition

    cdef void take_ends(
        self, const double* node_scores, Py_ssize_t length
    ) noexcept nogil:
        """Add the log masks to copies of the first and the last row of node scores."""
        cdef Py_ssize_t k, n = self.n_labels
        cdef const double* start = &self.log_mask[0]
        cdef const double* end = start + n
        cdef const double* last = node_scores + (length - 1) * n
        for k in range(n):
            self.first[k] = node_scores[k] + start[k]
            self.last[k] = last[k] + end[k]
            if length == 1:
                self.first[k] += end[k]


cdef inline const double* scores_at(
    Workspace work, const double* node_scores, Py_ssize_t t, Py_ssize_t length
) noexcept nogil:
    """Return the node scores at position t, with the log masks of the ends."""
    if work.is_constrained and t == 0:
        return work.first
    if work.is_constrained and t == length - 1:
        return work.last
    return node_scores + t * work.n_labels


cdef inline double extent(
    const double* x, Py_ssize_t n, double* least, bint may_forbid
) noexcept nogil:
    """Return the largest number, -inf if all are, and write the least.

    If -inf may forbid, the least number is sought among all others, inf for none.
    """
    cdef double largest = ops.extent(x, n, least)
    if may_forbid and least[0] == -INFINITY:
        least[0] = finite_minimum(x, n)
        if least[0] == INFINITY:
            return -INFINITY
    return largest


# Forward: forward_t[k] = emission_t[k] sum_j forward_{t-1}[j] E[j, k] / scale_t, with
# E = exp(transition - max) and emission_t = exp(node_scores_t - max); the scales and
# the maxima taken out add up to log Z.
cdef double scaled_forward(
    Workspace work,                 # in, out: emission, forward, scale
    const double* node_scores,      # in, (T, K)
    Py_ssize_t length,
) noexcept nogil:
    """Return log Z, or NaN where the scaled domain does not hold."""
    cdef Py_ssize_t t, k, n = work.n_labels
    cdef double shift, least, scale, product = 1.0, value = 0.0
    cdef bint is_end
    cdef const double* scores
    cdef double* emission
    cdef double* row
    for t in range(length):
        scores = scores_at(work, node_scores, t, length)
        emission = work.emission + t * n
        row = work.forward + t * n
        is_end = t == 0 or t == length - 1
        shift = extent(scores, n, &least, is_end)
        if not (shift - least + work.transition_spread <= LARGEST_SPREAD):
            return NAN
        ops.exp(scores, shift, emission, n)
        if is_end:
            forbid(scores, emission, n)
        if t == 0:
            for k in range(n):
                row[k] = 1.0
        else:
            if not products_hold(work, row - n, emission, 1.0):
                return NAN
            work.layout.forward(
                row - n, work.exp_transition, work.derived, work.buffer, row
            )
            shift += work.transition_max
        scale = ops.scale_row(emission, n, row)
        if scale == 0.0:
            return -INFINITY
        work.scale[t] = scale
        value += shift
        add_log(scale, &value, &product)
    return value + log(product)


cdef inline void add_log(double scale, double* value, double* product) noexcept nogil:
    """Add log scale to value + log product: one logarithm for many scales.

    Each scale is at most K.
    """
    if scale < SMALL:
        value[0] += log(scale)
        return
    product[0] *= scale
    if not SMALL < product[0] < 1.0 / SMALL:
        value[0] += log(product[0])
        product[0] = 1.0


cdef bint products_hold(
    Workspace work,
    const double* row,          # in, (K,) forward or backward numbers
    const double* emission,     # in, (K,)
    double scale,
) noexcept nogil:
    """Return whether no product row * emission / scale * exp_transition underflows."""
    cdef double least
    if not work.is_constrained:
        return True
    least = least_positive(row, work.n_labels)
    least *= least_positive(emission, work.n_labels)
    return least >= scale * work.least_product


# Backward: message_t[k] = emission_t[k] backward_t[k] / scale_t,
#           backward_{t-1}[j] = sum_k E[j, k] message_t[k],   backward_{T-1} = 1;
# node_t = forward_t backward_t,  edge_t[j, k] = forward_{t-1}[j] E[j, k] message_t[k].
# For log node_t, logarithms are taken of the factors: the product may underflow.
cdef bint scaled_backward(
    Workspace work,         # in, out: message
    Py_ssize_t length,
    double* node,           # out, (T, K)
) noexcept nogil:
    """Fill node and the messages; return whether the scaled domain holds."""
    cdef Py_ssize_t t, k, n = work.n_labels
    cdef double* message
    cdef double* backward = work.row
    if not work.is_transposed:
        work.layout.set_transpose(work.exp_transition, work.derived)
        work.is_transposed = True
    for k in range(n):
        backward[k] = 1.0
    for t in range(length - 1, -1, -1):
        message = work.message + t * n
        if work.is_constrained:
            # No path leads there: what follows it is not bounded by a probability.
            for k in range(n):
                if work.forward[t * n + k] == 0.0:
                    backward[k] = 0.0
        ops.two_products(
            work.forward + t * n, work.emission + t * n, 1.0 / work.scale[t], backward,
            n, node + t * n, message,
        )
        if work.log_node:
            for k in range(n):
                node[t * n + k] = log(work.forward[t * n + k]) + log(backward[k])
        if t > 0:
            if not products_hold(
                work, backward, work.emission + t * n, work.scale[t]
            ):
                return False
            work.layout.backward(
                message, work.exp_transition, work.derived, work.buffer,
                backward,
            )
            if work.is_constrained and not maximum(backward, n) <= LARGEST_NUMBER:
                return False
    return True


cdef double finite_maximum(const double* x, Py_ssize_t n) noexcept nogil:
    """Return max_i x[i], or 0 if that is -inf."""
    cdef double value = maximum(x, n)
    return value if value > -INFINITY else 0.0


# forward_t[k] = node_scores_t[k] + logsumexp_j(forward_{t-1}[j] + transition[j, k]),
# each row of scores shifted to a maximum of 0, and each row to a log-sum of 0 (kept in
# scale), so that digits are not lost to large scores or on long chains.
cdef double log_forward(
    Workspace work,                 # in, out: forward, scale
    const double* node_scores,      # in, (T, K)
    Py_ssize_t length,
) noexcept nogil:
    """Return log Z; forward rows in the log domain."""
    cdef Py_ssize_t t, k, n = work.n_labels
    cdef double shift, value = 0.0
    cdef const double* scores
    cdef double* row
    for t in range(length):
        scores = scores_at(work, node_scores, t, length)
        shift = finite_maximum(scores, n)
        row = work.forward + t * n
        for k in range(n):
            row[k] = 0.0
        if t > 0:
            work.layout.log_sums(row - n, work.transition, True, work.buffer, row)
        for k in range(n):
            row[k] += scores[k] - shift
        work.scale[t] = logsumexp(row, n)
        if work.scale[t] == -INFINITY:
            return -INFINITY
        for k in range(n):
            row[k] -= work.scale[t]
        value += shift + work.scale[t]
    return value


# message_t[k] = node_scores_t[k] + backward_t[k] - scale_t,
# backward_{t-1}[j] = logsumexp_k(transition[j, k] + message_t[k]),  backward_{T-1} = 0.
# The sum of exp(forward_t + backward_t) is 1, but for digits lost to huge scores: it is
# made so.
cdef void log_backward(
    Workspace work,                 # in: forward, scale; out: message
    const double* node_scores,      # in, (T, K)
    Py_ssize_t length,
    double* node,                   # out, (T, K)
) noexcept nogil:
    cdef Py_ssize_t t, k, n = work.n_labels
    cdef double shift
    cdef const double* scores
    cdef double* message
    cdef double* backward = work.emission
    for k in range(n):
        backward[k] = 0.0
    for t in range(length - 1, -1, -1):
        scores = scores_at(work, node_scores, t, length)
        shift = finite_maximum(scores, n)
        message = work.message + t * n
        for k in range(n):
            node[t * n + k] = work.forward[t * n + k] + backward[k]
            message[k] = scores[k] - shift + backward[k] - work.scale[t]
        if work.log_node:
            log_softmax(node + t * n, n)
        else:
            softmax(node + t * n, n)
        if t > 0:
            work.layout.log_sums(
                message, work.transition, False, work.buffer, backward
            )


cdef void write_edge(
    Workspace work,         # in: forward, message
    Py_ssize_t t,
    double* edge,           # out, one number for each pair
) noexcept nogil:
    """Write the marginals of the edge from position t - 1 to t, but of free pairs."""
    cdef Py_ssize_t p
    cdef double shift
    cdef const double* forward = work.forward + (t - 1) * work.n_labels
    cdef const double* message = work.message + t * work.n_labels
    if not work.in_logs:
        work.layout.scale(forward, work.exp_transition, message, work.buffer, edge)
        return
    work.layout.log_scale(forward, work.transition, message, edge)
    if work.layout.has_free:
        shift = log_total(work, t)
        for p in range(work.n_pairs):
            edge[p] = exp(edge[p] - shift)
    else:
        softmax(edge, work.n_pairs)


cdef double log_total(Workspace work, Py_ssize_t t) noexcept nogil:
    """Return the log-sum of forward + transition + message over all pairs: about 0."""
    cdef Py_ssize_t k, n = work.n_labels
    cdef double* reached = work.row
    work.layout.log_sums(
        work.forward + (t - 1) * n, work.transition, True, work.buffer, reached
    )
    for k in range(n):
        reached[k] += work.message[t * n + k]
    return logsumexp(reached, n)


cdef void write_edge_matrix(
    Workspace work,         # in: forward, message
    Py_ssize_t t,
    double* edge,           # out, (K, K)
) noexcept nogil:
    """Write the marginals of an edge as a matrix, 0 for what is forbidden."""
    cdef Py_ssize_t p, n = work.n_labels
    if work.layout.is_dense:
        write_edge(work, t, edge)
        return
    write_edge(work, t, work.edge)
    memset(edge, 0, n * n * sizeof(double))
    if work.layout.has_free:
        write_free(work, t, edge)
    for p in range(work.n_pairs):
        edge[work.layout.from_labels[p] * n + work.layout.to_labels[p]] = work.edge[p]


cdef void write_free(
    Workspace work,         # in: forward, message
    Py_ssize_t t,
    double* edge,           # out, (K, K)
) noexcept nogil:
    """Write the marginals of the free pairs of an edge."""
    cdef Py_ssize_t j, k, n = work.n_labels
    cdef const double* forward = work.forward + (t - 1) * n
    cdef const double* message = work.message + t * n
    cdef double of_free = work.exp_transition[work.n_pairs]
    cdef double shift = log_total(work, t) if work.in_logs else 0.0
    for j in range(n):
        for k in range(n):
            if work.layout.place(j, k) != FREE:
                continue
            if work.in_logs:
                edge[j * n + k] = exp(forward[j] + message[k] - shift)
            else:
                edge[j * n + k] = forward[j] * of_free * message[k]


cdef void write_origins(
    Workspace work,         # in: forward
    Py_ssize_t t,
    Py_ssize_t k,
    double* out,            # out, (K,)
) noexcept nogil:
    """Write numbers in proportion to p(label at t - 1 | label k at t)."""
    cdef Py_ssize_t j, place, n = work.n_labels
    cdef const double* forward = work.forward + (t - 1) * n
    cdef double score
    for j in range(n):
        place = work.layout.place(j, k)
        if work.in_logs:
            score = 0.0 if place == FREE else -INFINITY
            out[j] = forward[j] + (work.transition[place] if place >= 0 else score)
        else:
            place = work.n_pairs if place == FREE else place
            out[j] = forward[j] * work.exp_transition[place] if place >= 0 else 0.0
    if work.in_logs:
        softmax(out, n)


cdef void sum_edges(
    Workspace work,         # in: forward, message
    Py_ssize_t length,
    double* edge_sum,       # out, one number for each pair
) noexcept nogil:
    """Write the edge marginals, summed over positions."""
    cdef Py_ssize_t t, p, n = work.n_labels
    memset(edge_sum, 0, work.n_pairs * sizeof(double))
    if work.in_logs:
        for t in range(1, length):
            write_edge(work, t, work.edge)
            ops.axpy(1.0, work.edge, edge_sum, work.n_pairs)
        return
    work.layout.add_outer(
        work.forward, work.message + n, length - 1, work.buffer, edge_sum
    )
    for p in range(work.n_pairs):
        edge_sum[p] *= work.exp_transition[p]


cdef double log_partition(
    Workspace work, const double* node_scores, Py_ssize_t length
) noexcept nogil:
    """Return log Z of one chain: a forward pass only. 0 for T = 0."""
    cdef double value
    if work.is_constrained and length > 0:
        work.take_ends(node_scores, length)
    value = scaled_forward(work, node_scores, length)
    work.in_logs = value != value
    return log_forward(work, node_scores, length) if work.in_logs else value


cdef double forward_backward(
    Workspace work,                 # in, out; its transition has been set
    const double* node_scores,      # in, (T, K)
    Py_ssize_t length,
    double* node,                   # out, (T, K)
    double* edge,                   # out, (T - 1, pairs), or NULL
    double* edge_sum,               # out, one number for each pair, or NULL
) noexcept nogil:
    """Fill the marginals of one chain; return log Z, NaN if a score is +inf.

    The edges can be had one by one with `write_edge` until the next chain, unless log Z
    is -inf: then all marginals are 0.
    """
    cdef Py_ssize_t t, k, n = work.n_labels
    cdef double value = log_partition(work, node_scores, length)
    if value == -INFINITY:
        for k in range(length * n):
            node[k] = -INFINITY if work.log_node else 0.0
        if edge != NULL:
            memset(edge, 0, (length - 1) * work.n_pairs * sizeof(double))
        if edge_sum != NULL:
            memset(edge_sum, 0, work.n_pairs * sizeof(double))
        return value
    if not work.in_logs and not scaled_backward(work, length, node):
        work.in_logs = True
        # log Z is still taken from the forward pass, as `log_partition` takes it.
        log_forward(work, node_scores, length)
    if work.in_logs:
        log_backward(work, node_scores, length, node)
    if edge != NULL:
        for t in range(1, length):
            write_edge(work, t, edge + (t - 1) * work.n_pairs)
    if edge_sum != NULL:
        sum_edges(work, length, edge_sum)
    return value


# The max-plus twin of the forward recursion:
# reached_t[k] = max_j(best_{t-1}[j] + transition[j, k]),
# best_t[k] = node_scores_t[k] + reached_t[k],   best_0 = node_scores_0.
# Which j reached a label is looked up on the way back, for the labels of the path
# alone: the first whose sum is the maximum, so that ties go to the lowest label.
cdef double viterbi(
    Workspace work,
    const double* node_scores,      # in, (T, K)
    Py_ssize_t length,
    int* path,                      # out, (T,)
) noexcept nogil:
    """Fill the path of highest score and return that score, -inf if there is none."""
    cdef Py_ssize_t t, k, n = work.n_labels
    cdef const double* scores
    cdef double* row
    cdef double* reached
    cdef double* last = work.forward + (length - 1) * n
    if length == 0:
        return 0.0
    if work.is_constrained:
        work.take_ends(node_scores, length)
    scores = scores_at(work, node_scores, 0, length)
    memcpy(work.forward, scores, n * sizeof(double))
    for t in range(1, length):
        scores = scores_at(work, node_scores, t, length)
        row = work.forward + t * n
        reached = work.message + t * n
        work.layout.best(row - n, work.transition, work.buffer, reached)
        for k in range(n):
            row[k] = reached[k] + scores[k]
    path[length - 1] = 0
    for k in range(1, n):
        if last[k] > last[path[length - 1]]:
            path[length - 1] = <int> k
    for t in range(length - 1, 0, -1):
        path[t - 1] = work.layout.origin(
            work.forward + (t - 1) * n, work.transition, path[t],
            work.message[t * n + path[t]],
        )
    return last[path[length - 1]]
