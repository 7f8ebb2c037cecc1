"""The training problem on data in one place: sums over packed sequences.

Full passes go over ranges of sequences on threads, so that what they hold for every
position is small; the sums do not depend on the number of threads.
"""

from functools import cached_property

import numpy as np
from sklearn.utils.extmath import row_norms

from skcrf_sdca._kernels.math._vecmath import inner
from skcrf_sdca._utils.parallel import each_range, over_ranges, ranges
from skcrf_sdca.objective.losses import LOG_LOSS
from skcrf_sdca.objective.objective import EPS, ROUNDING, Objective, not_finite
from skcrf_sdca.objective.penalties import best_mix
from skcrf_sdca.objective.targets import Labels
from skcrf_sdca.structures.scores import LARGEST_SCORE

# Rows with less than this share of non-zeros (pixels) converge faster; their size is
# weighted by EASIER.
FULL, EASIER = 0.5, 0.001
# Positions, or values, that are read to estimate the size of features.
SAMPLE = 4096


def largest(*arrays):
    """Return the largest absolute value in some arrays, without copies of them."""
    return float(max(max(a.max(initial=0.0), -a.min(initial=0.0)) for a in arrays))


def _in_range(scores):
    """Return whether scores are numbers that predictions take too, or -inf."""
    if not scores.max(initial=0.0) <= LARGEST_SCORE:
        return False
    least = scores.min(initial=0.0)
    return least >= -LARGEST_SCORE or not np.any(
        (scores < -LARGEST_SCORE) & (scores > -np.inf)
    )


class Problem(Objective):
    """A training problem: the sequences of a structure, their targets, and alpha.

    Parameters
    ----------
    structure : Structure
        With the n sequences.
    targets : ndarray of shape (n_positions,), int32, or Targets
        An array is the labels of all positions.
    alpha : float or "auto"
        Strength of the regularisation, > 0; "auto" is 1/n, or 1 / sum(sample_weight).
    sample_weight : ndarray of shape (n,), default=None
        Not negative, with a positive sum; only their ratios count.
    loss : Loss, default=LOG_LOSS
    penalty : Penalty, default=None
        By default L2.

    Attributes
    ----------
    sample_weight, weight : ndarrays of shape (n,)
        As given, by default ones; and c_i, with the sum 1.
    feature_scale : ndarray of shape (n,)
        c_i / strength, the factor of the features of mu_i in w_hat(mu).
    tied_targets : ndarray
        sum_i c_i times the tied expectations of the targets.
    needs_total : bool
        Whether `compare` needs ``tied_total``.

    Raises
    ------
    ValueError
        If the targets do not fit the structure, or alpha is too small to divide by.
    """

    needs_total = True

    def __init__(
        self,
        structure,
        targets,
        alpha,
        *,
        sample_weight=None,
        loss=LOG_LOSS,
        penalty=None,
    ):
        self.structure = structure
        self.data = structure.data
        self.targets = Labels(targets) if isinstance(targets, np.ndarray) else targets
        self.targets.check(structure)
        weight = np.ones(len(self.data)) if sample_weight is None else sample_weight
        self.sample_weight = weight
        self.weight = weight / weight.sum()
        alpha = 1.0 / weight.sum() if alpha == "auto" else float(alpha)
        super().__init__(alpha, loss=loss, penalty=penalty)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            self.feature_scale = self.weight / self.strength
        if not np.isfinite(self.feature_scale).all():
            raise not_finite()
        lengths = self.data.lengths.astype(np.float64)
        self.mean_length = inner(self.weight, lengths)
        self.mean_squared_length = inner(self.weight, lengths**2)
        self.targets_changed()

    def targets_changed(self):
        """Sum the tied expectations of changed targets."""
        self.tied_targets = self.targets.tied_total(self.structure, self.weight)

    @cached_property
    def initial_primal(self):
        """P(0): the mean logarithm of the number of paths, without added scores."""
        if self.loss.cost is None and self.structure.fixed is None:
            values = self.loss.conjugate_at_zero(self.structure)
            if values is not None:
                return self.loss.scale * self.mean(values)
        zero = self.new_parameters().w
        return self.primal(zero, self.mean_loss(zero))

    @property
    def offsets(self):
        """Sequence i has the positions offsets[i]:offsets[i + 1]."""
        return self.data.offsets

    @property
    def constraints(self):
        """The constraints of labels, or None."""
        return self.structure.label_constraints

    @property
    def n_jobs(self):
        """Threads of full passes."""
        return self.structure.n_jobs

    @property
    def n_sequences(self):
        """Number of sequences n."""
        return len(self.weight)

    @cached_property
    def n_weighted(self):
        """Number of sequences with a weight above 0."""
        return np.count_nonzero(self.weight)

    def new_parameters(self, w=None):
        """Return parameters with the flat vector `w`, by default of zeros."""
        return self.structure.new_parameters(w)

    def kernel(self, weights, features, *, with_cost=True, structure=None):
        """Return the compiled structure of the problem, for one thread.

        ``structure`` replaces the problem's own with a preconditioned one, see
        `whitening`.
        """
        cost = self.loss.scaled_cost if with_cost else None
        structure = self.structure if structure is None else structure
        return structure.kernel(weights, features, self.targets.for_kernel(), cost)

    def curvature(self, w=None):
        """Return the curvature of P at w or 0, or None; see `Structure.curvature`."""
        return self.structure.curvature(self.weight, self.strength, w)

    def whitening(self):
        """Return the whitening of the features, or None; see `Structure.whitening`."""
        return self.structure.whitening(self.weight, self.strength)

    @cached_property
    def dense_size(self):
        """R^2 / (alpha n) of dense features, and whether most of them are 0.

        R^2 is the mean over sequences of the sum of the squared features. It is
        estimated from positions that lie evenly in the data.
        """
        X = self.data.X
        rows = X[:: max(len(X) // SAMPLE, 1)].astype(np.float64, copy=False)
        if not rows.size:
            return 0.0, False
        square = float(row_norms(rows, squared=True).mean())
        with np.errstate(over="ignore"):
            size = self.mean_length * square / (self.strength * self.n_weighted)
        return size, np.count_nonzero(rows) < FULL * rows.size

    @property
    def relative_size(self):
        """R^2 / (alpha n) of dense features, a thousandth if most of them are 0."""
        size, are_mostly_zero = self.dense_size
        return EASIER * size if are_mostly_zero else size

    def mean(self, values):
        """Return sum_i c_i values[i]."""
        return inner(self.weight, values)

    @cached_property
    def _sizes_of_rows(self):
        """The `sizes` of the data with the weights."""
        return self.data.sizes(self.weight, self.structure.stored_rows)

    @cached_property
    def feature_sizes(self):
        """The mean square of each feature where it is not 0, and how often it is not.

        The latter is sum_i c_i times the number of such positions of sequence i.
        """
        squares, counts, _ = self._sizes_of_rows
        return np.divide(
            squares, counts, out=np.ones_like(squares), where=squares > 0.0
        ), counts

    def _positions(self, begin, end):
        """Return first and last of the positions of sequences begin <= i < end."""
        return self.offsets[begin], self.offsets[end]

    def dual_to_primal(self, local, tied_total, out=None):
        """Return w_hat(mu) as a flat vector, ``out`` if given.

        ``local`` are the local expectations of mu, and ``tied_total`` is sum_i c_i
        times the tied expectations of mu_i.
        """
        parameters = self.new_parameters(out)
        parameters.w[:] = 0.0
        for begin, end in ranges(self.offsets):
            first, last = self._positions(begin, end)
            # Without a name, so that no two copies are in memory at a time.
            self._add_to_primal_point(
                parameters, begin, end, local[first:last].astype(np.float64)
            )
        self._add_tied_to_primal_point(parameters, tied_total)
        return parameters.w

    def _add_to_primal_point(self, parameters, begin, end, local):
        """Add the local part of w_hat(mu) of begin <= i < end; overwrites `local`."""
        self.targets.subtract(local, *self._positions(begin, end))
        self.structure.add_features(parameters, begin, end, self.feature_scale, local)

    def _add_tied_to_primal_point(self, parameters, tied_total):
        """Add the tied part of w_hat(mu)."""
        tied = (self.tied_targets - tied_total) / self.strength
        self.structure.add_tied_features(parameters, tied)

    def scores(self, parameters, begin, end):
        """Return the scores of begin <= i < end, with the costs; ValueError if huge."""
        scores = self.structure.scores(parameters, begin, end)
        for values in (scores.local, scores.tied):
            if not _in_range(values):
                raise not_finite()
        if self.loss.cost is not None:
            scores.local[:] += self._expected_cost(begin, end)
        return scores

    def _expected_cost(self, begin, end):
        """Return the scaled costs of the labels of begin <= i < end."""
        positions = self._positions(begin, end)
        cost = self.targets.expected_cost(self.loss.scaled_cost, *positions)
        if (costed := self.structure.costed(begin, end)) is not None:
            cost[~costed] = 0.0
        return cost

    def _losses(self, conjugate, scores, begin, end):
        """Return F_i - score_i(target_i) of begin <= i < end."""
        targets = self.targets.score(scores, begin, self.offsets[begin])
        return conjugate - targets

    # The gap is a difference of sums over a sequence of potentials. The features of mu
    # are summed with a relative error, which causes an error e of w: the gap lacks
    # alpha / 2 ||e||^2.
    def _rounding(self, largest_potential):
        """Return a bound on the rounding of a gap, see `certify_dual`."""
        of_sums = EPS * self.mean_length * largest_potential
        of_w = ROUNDING * self.mean_feature_norm / self.strength
        return self.loss.scale * (of_sums + 0.5 * self.strength * of_w**2)

    @property
    def _norm_sums(self):
        """sum_t ||x_t|| of all sequences."""
        return self._sizes_of_rows[2]

    @property
    def mean_feature_norm(self):
        """sum_i c_i sum_t ||x_t||."""
        return self.mean(self._norm_sums)

    @cached_property
    def _sizes(self):
        """N_i of all sequences, see `Objective`."""
        return self._norm_sums + 2.0 * self.data.lengths

    @property
    def mean_size(self):
        """sum_i c_i N_i."""
        return self.mean(self._sizes)

    @property
    def mean_squared_size(self):
        """sum_i c_i N_i^2."""
        return self.mean(self._sizes**2)

    def certify_dual(self, w, v, local, tied_total, entropy, largest_parameter=0.0):
        """Return the Certificate of mu and w = grad r*(v), with v = w_hat(mu).

        Its gap is tau sum_i c_i KL(mu_i || p(. | x_i; w)), or for tau = 0 the sum in
        objective.py. ``local`` and ``tied_total`` are mu, as for `dual_to_primal`;
        ``entropy`` has H(mu_i), or zeros for tau = 0, where D has no entropy, and
        ``largest_parameter`` is the size of the natural parameters that the entropies
        were computed from.
        """
        loss, _, gap, rounding = self.compare(
            w, local, tied_total, entropy, largest_parameter
        )
        return self.certificate(
            self.primal(w, loss),
            self.dual(v, self.mean_entropy(entropy, local, v)),
            self.loss.scale * gap,
            rounding,
        )

    def compare(self, w, local, tied_total, entropy, largest_parameter=0.0):
        """Compare any dual point mu with any primal point w, as `certify_dual` does.

        Returns
        -------
        loss : float
            The mean of log Z_i(w) - score_i(target_i).
        largest : float
            The largest potential at w.
        divergence : float
            The mean of KL(mu_i || p(. | x_i; w)), or of the gaps for tau = 0.
        rounding : float
            A bound on the rounding of a gap.
        """
        parameters = self.new_parameters(w)

        def run(begin, end):
            scores = self.scores(parameters, begin, end)
            conjugate = self.loss.conjugate(scores)
            losses = self._losses(conjugate, scores, begin, end)
            expected = self._local_inner(local, begin, end, scores.local)
            return losses, conjugate, expected, largest(scores.local, scores.tied)

        parts = over_ranges(run, self.offsets, self.n_jobs)
        losses, conjugate, expected, sizes = zip(*parts, strict=True)
        tied, fixed = parameters.tied, self.structure.fixed
        if fixed is not None:
            tied = tied + fixed.tied
        expected = sum(expected) + inner(tied_total.ravel(), tied.ravel())
        divergence = self.mean(np.concatenate(conjugate) - entropy) - expected
        loss, size = self.mean(np.concatenate(losses)), max(sizes)
        return loss, size, divergence, self._rounding(largest_parameter + size)

    def certify_kept(self, w, v, local, entropy, primal=None):
        """Certify a dual point far from the optimum, by its two objectives.

        It takes half the time of `certify_dual`, where the entropies are known; the gap
        has the rounding of P and D. ``primal`` is P(w), if it is known too.
        """
        return self.certificate(
            self.primal(w, self.mean_loss(w)) if primal is None else primal,
            self.dual_kept(v, local, entropy),
            rounding=self._rounding(0.0),
        )

    def dual_kept(self, v, local, entropy):
        """Return D(mu), with entropies of mu that are known, and v = w_hat(mu)."""
        return self.dual(v, self.mean_entropy(entropy, local, v))

    def mean_entropy(self, entropy, local, v):
        """Return the mean of H(mu_i), and `mean_added`."""
        return self.mean(entropy) + self.mean_added(local, v)

    def mean_added(self, local, v):
        """Return the mean of <scaled cost_i, mu_i> + <fixed_i, mu_i - target_i>.

        It is linear in mu - target. ``v`` is w_hat(mu), which fixed scores alone need.
        """
        added = 0.0
        if self.loss.cost is not None:

            def of_cost(begin, end):
                cost = self._expected_cost(begin, end)
                return self._local_inner(local, begin, end, cost)

            added += sum(over_ranges(of_cost, self.offsets, self.n_jobs))
        if self.structure.fixed is not None:
            added -= self._fixed_score(local, v)
        return added

    def _fixed_score(self, local, v):
        """Return the mean of <fixed_i, target_i - mu_i>."""
        fixed = self.structure.fixed

        def of_range(begin, end):
            first, last = self._positions(begin, end)
            change = local[first:last].astype(np.float64)
            self.targets.subtract(change, first, last)
            return self._weighted_inner(change, begin, end, fixed.local[first:last])

        # v has the sum of the tied changes over the strength.
        tied = np.ravel(self.new_parameters(v).tied)
        of_tied = self.strength * inner(tied, np.ravel(fixed.tied))
        return sum(over_ranges(of_range, self.offsets, self.n_jobs)) + of_tied

    def _local_inner(self, local, begin, end, scores):
        """Return sum_i c_i <local_i, scores_i> of begin <= i < end."""
        first, last = self._positions(begin, end)
        return self._weighted_inner(local[first:last], begin, end, scores)

    def _weighted_inner(self, values, begin, end, scores):
        """Return sum_i c_i <values_i, scores_i> of these sequences' values."""
        lengths = np.diff(self.offsets[begin : end + 1])
        weight = np.repeat(self.weight[begin:end], lengths)
        return float(np.einsum("t,tk,tk->", weight, values, scores))

    def expected_point(self, w):
        """Return w_hat(p(. | x; w)), the mean loss over tau, and the largest potential.

        The loss must be smooth.
        """
        parameters, point = self.new_parameters(w), self.new_parameters()
        tied_total = np.zeros_like(self.tied_targets)
        losses, sizes, excess = [], [], np.empty(len(self.data))

        def run(begin, end):
            scores = self.scores(parameters, begin, end)
            weight = self.weight[begin:end]
            local, tied, conjugate = self.loss.expectations(scores, weight)
            excess[begin:end] = scores.excess
            losses = self._losses(conjugate, scores, begin, end)
            return local, tied, losses, largest(scores.local, scores.tied)

        # Sums over ranges are made in their order: the bits do not depend on n_jobs.
        passes = each_range(run, self.offsets, self.n_jobs)
        for (begin, end), (local, tied, losses_of_range, size) in zip(
            ranges(self.offsets), passes, strict=True
        ):
            self._add_to_primal_point(point, begin, end, local)
            tied_total += tied
            losses.append(losses_of_range)
            sizes.append(size)
        self._add_tied_to_primal_point(point, tied_total)
        self.excess = self.mean(excess)
        return point.w, self.mean(np.concatenate(losses)), max(sizes)

    def mean_loss(self, w):
        """Return the mean loss over tau: sum_i c_i (log Z_i(w) - score_i(target_i))."""
        return self.evaluate(w)[0]

    def evaluate(self, w):
        """Return the mean loss over tau, and the largest potential."""
        parameters = self.new_parameters(w)

        def run(begin, end):
            scores = self.scores(parameters, begin, end)
            losses = self._losses(self.loss.conjugate(scores), scores, begin, end)
            return losses, largest(scores.local, scores.tied)

        parts = over_ranges(run, self.offsets, self.n_jobs)
        losses, sizes = zip(*parts, strict=True)
        return self.mean(np.concatenate(losses)), max(sizes)


class ProximalProblem(Problem):
    """A problem with a `Proximal` penalty, which visits are made for.

    Its certificates are certificates of ``plain``, the problem without the distance,
    for any w and mu. Every full pass calls ``look(conjugate, scores, begin, end)`` with
    the Scores of begin <= i < end and their F_i, and keeps the gaps that it returns in
    ``seen``, of shape (n,).
    """

    needs_total = False

    def __init__(self, plain, penalty):
        vars(self).update(vars(plain), plain=plain, penalty=penalty)
        self.seen = np.zeros(self.n_sequences)

    def _losses(self, conjugate, scores, begin, end):
        self.seen[begin:end] = self.look(conjugate, scores, begin, end)
        return super()._losses(conjugate, scores, begin, end)

    def compare(self, w, local, tied_total, entropy, largest_parameter=0.0):
        """Compare w with mu, see `Problem.compare`.

        ``tied_total`` is None where mu is what `look` reads, so that the mean of the
        gaps is the divergence. Marginals in single precision round what it reads.
        """
        if tied_total is not None:
            return super().compare(w, local, tied_total, entropy, largest_parameter)
        loss, size = self.evaluate(w)
        rounding = self._rounding(largest_parameter + size)
        return loss, size, self.mean(self.seen), rounding

    @property
    def _sizes_of_rows(self):
        return self.plain._sizes_of_rows

    def primal(self, w, loss):
        """Return P(w) of ``plain``, given the mean of log Z_i - score_i(target_i)."""
        return self.plain.primal(w, loss)

    def certify_dual(self, w, moved, *mu):
        """Return the Certificate of w and mu.

        ``moved`` is the `Proximal.moved_point` of w_hat(mu), and the other arguments
        are those of `Problem`.
        """
        v = self.penalty.dual_parts(moved)
        return self.plain.certify_pair(w, v, *self.compare(w, *mu))

    def dual_kept(self, moved, local, entropy):
        """Return D of mu mixed, given the `Proximal.moved_point` of w_hat(mu)."""
        plain, penalty = self.plain, self.penalty
        v = None if self.structure.fixed is None else penalty.dual_point(moved)
        gain = self.mean_entropy(entropy, local, v)
        parts = penalty.dual_parts(moved)
        mix, conjugate = best_mix(plain.penalty, parts, gain / self.strength)
        return plain.dual_of(conjugate, mix * gain)
