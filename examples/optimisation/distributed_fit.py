"""
Fit one model on a Dask cluster
===============================

This example writes labelled sequences to four files. The workers of a Dask cluster on
this machine read the files, and train one model on all of them, to the same certificate
as a fit in one process. If a worker dies during the fit, other workers read its files
again.

It needs ``pip install "skcrf-sdca[distributed]"``.
"""

import pickle
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from dask.distributed import Client, LocalCluster

from skcrf_sdca.datasets import make_chains
from skcrf_sdca.distributed import DistributedCRF

N_FILES = 4


def write(folder):
    """Write the files and return their paths."""
    X, y = make_chains(400, n_labels=4, n_features=20, random_state=0)
    paths = [Path(folder) / f"part-{part}.pickle" for part in range(N_FILES)]
    for part, path in enumerate(paths):
        path.write_bytes(pickle.dumps((X[part::N_FILES], y[part::N_FILES])))
    return paths


def read(path):
    """Return X and y of a file; the worker that stores them calls this."""
    return pickle.loads(path.read_bytes())


def main():
    """Fit on a cluster of two processes, and use the model without the cluster."""
    with TemporaryDirectory() as folder:
        partitions = [partial(read, path) for path in write(folder)]
        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            crf = DistributedCRF(verbose=1, checkpoint=Path(folder) / "fit.npz")
            crf.fit(partitions, client=client)
    print(f"gap {crf.duality_gap_:.1e}, at most {crf.gap_target_:.1e}: {crf.traffic_}")
    X, y = make_chains(100, n_labels=4, n_features=20, random_state=0)
    print(f"accuracy {crf.to_estimator().score(X, y):.3f}, without the cluster")


if __name__ == "__main__":
    main()
