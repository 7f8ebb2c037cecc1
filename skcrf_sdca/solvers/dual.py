"""What the dual solvers share: visits of a kernel, and the certificate of their pair.

A dual solver holds marginals mu and w = what(mu). Each visit of its kernel moves both,
and each certificate makes w anew from the marginals, so that rounding does not gather.
"""

from abc import abstractmethod

from skcrf_sdca.solvers.base import EpochSolver


class DualSolver(EpochSolver):
    """A solver whose kernel moves marginals and weights together.

    Attributes
    ----------
    rng : numpy.random.Generator
    kernel : Visitor
    marginals : Marginals or SummedMarginals
        mu.
    entropy, gaps : ndarrays of shape (n,)
        H(mu_i), and the gap of each sequence when last visited.
    """

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
        """Make w anew from the marginals and certify it."""
        edge_total = self.settle()
        _, certificate = self.problem.certify_dual(
            self.marginals.node, edge_total, self.entropy, out=self.model.w
        )
        return certificate

    def gap_estimate(self):
        """Return the mean of the gaps recorded at the last visits, without a pass.

        Once every sequence was visited it is within a factor of about 2 of the true gap
        [LePriol18, sec. 6.3], but below that where draws follow the gaps to the end:
        a sequence whose gap was nearly zero is hardly drawn again, and its gap grows
        unseen.
        """
        return self.problem.mean(self.gaps)
