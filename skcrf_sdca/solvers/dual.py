"""What the dual solvers share: visits of a kernel, and the certificate of their pair.

A dual solver holds marginals mu and w = what(mu). Each visit of its kernel moves both.
So that rounding does not gather, w is made anew from the marginals at the first of
every ten certificates, or at each at which rounded marginals are settled.
"""

from abc import abstractmethod
from functools import partial

from skcrf_sdca._kernels._features import DistinctFeatures
from skcrf_sdca.solvers.base import EpochSolver
from skcrf_sdca.solvers.parallel import make_parallel_visitor, n_workers


class DualSolver(EpochSolver):
    """A solver whose kernel moves marginals and weights together.

    Attributes
    ----------
    rng : numpy.random.Generator
    visitors : list of DualVisitor
        One for each worker.
    kernel : DualVisitor or ParallelVisitor
        The only visitor, or that of all workers.
    marginals : Marginals or SummedMarginals
        mu.
    entropy, gaps : ndarrays of shape (n,)
        H(mu_i), and the gap of each sequence when last visited.
    anew_every : int
        Certificates from one making of w to the next.
    n_certificates : int
        So far.
    """

    anew_every = 10
    n_certificates = 0

    def _make_kernel(self, kind, scheme, mix, **own):
        """Set visitors and kernel: visitors of a kind, with arguments of its own."""
        problem = self.problem

        def new_visitor(features, weights, sampler):
            return kind(
                features,
                weights,
                problem.offsets,
                problem.scale,
                self.gaps,
                sampler,
                allowed=problem.allowed,
                **own,
            )

        new_sampler = partial(scheme.make, problem, mix)
        count = n_workers(problem.n_jobs, problem.n_sequences)
        if count > 1:
            self.kernel = make_parallel_visitor(
                problem, self.model, count, new_sampler, new_visitor
            )
            self.visitors = self.kernel.visitors
        else:
            features = DistinctFeatures(problem.rows, problem.offsets)
            self.kernel = new_visitor(features, self.model.weights(), new_sampler())
            self.visitors = [self.kernel]

    def epoch(self):
        """Make n visits, to sequences that the sampler picks."""
        n = self.problem.n_sequences
        self.kernel.epoch(self.rng.random((n, 2)))
        self._count(n)

    def _count(self, n_visits):
        self.n_updates += n_visits
        self.n_oracle_calls = self.kernel.n_oracle_calls

    @abstractmethod
    def settle(self):
        """Make the marginals agree with each other; return the total of the edges."""

    def certify(self):
        """Certify the marginals and w, which is made anew when that is due."""
        edge_total = self.settle()
        if self.n_certificates % self.anew_every == 0:
            self.problem.dual_to_primal(
                self.marginals.node, edge_total, out=self.model.w
            )
            self.kernel.weights_changed()
        self.n_certificates += 1
        return self.problem.certify_dual(
            self.model.w, self.marginals.node, edge_total, self.entropy
        )

    def gap_estimate(self):
        """Return the mean of the gaps recorded at the last visits, without a pass.

        Once every sequence was visited it is within a factor of about 2 of the true gap
        [LePriol18, sec. 6.3], but below that where draws follow the gaps to the end:
        a sequence whose gap was nearly zero is hardly drawn again, and its gap grows
        unseen.
        """
        return self.problem.mean(self.gaps)
