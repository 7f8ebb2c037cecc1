"""All partitions in one process: for tests, and to try a fit without a cluster."""

from skcrf_sdca.distributed._method import Cluster
from skcrf_sdca.distributed._partition import Partition


class LocalCluster(Cluster):
    """Partitions in this process, asked one after the other."""

    def __init__(self, sources):
        self.partitions = [Partition(p, source) for p, source in enumerate(sources)]

    @property
    def n_partitions(self):
        """Number of partitions."""
        return len(self.partitions)

    def map(self, method, arguments, *, lasting=False):
        """Yield the answers of all partitions to one call, in their order."""
        for partition, own in zip(self.partitions, arguments, strict=True):
            yield partition.ask(method, *own)

    def n_beside(self):
        """Return, for each partition, how many its process has: all."""
        return [self.n_partitions] * self.n_partitions

    def keep(self, chosen):
        """Forget the partitions whose bool in ``chosen`` is False."""
        pairs = zip(self.partitions, chosen, strict=True)
        self.partitions = [partition for partition, keep in pairs if keep]
