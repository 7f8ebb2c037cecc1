"""One model over partitions of the data, on many machines.

Reading order: _partition.py (what one partition can do), _agreement.py (what they
agree on before a fit), _method.py (the rounds, over any cluster), _local.py and
_dask.py (two clusters), _checkpoint.py, _estimator.py.
"""

from skcrf_sdca.distributed._estimator import DistributedCRF

__all__ = ["DistributedCRF"]
