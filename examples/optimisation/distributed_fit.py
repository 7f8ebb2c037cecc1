"""
Fit one model on a Dask cluster
===============================

This example writes labelled sequences to four files. The workers of a Dask cluster on
this machine read the files, and train one model on all of them, to the same certificate
as a fit in one process. If a worker dies during the fit, other workers read its files
again.

The picture shows the objective and its lower bound, which meet at the optimum: on the
cluster and in one process alike. No sequence leaves the worker that has read it: each
round sends the weights and receives their gradient, here 7 KiB. The example needs
``pip install "skcrf-sdca[distributed,plot]"``, takes fifteen seconds, most of them to
start processes, and prints::

    on the cluster: 15 epochs, objective 3.6687, gap 2.1e-03, at most 3.7e-03
    in one process: 17 epochs, objective 3.6697, gap 2.1e-03, at most 3.7e-03
    16 rounds, 108 KiB sent and received
    accuracy 0.851, without the cluster

.. image:: /images/examples/distributed_fit.png
"""

import pickle
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from dask.distributed import Client, LocalCluster

from skcrf_sdca import LBFGSCRF
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.distributed import DistributedCRF

N_FILES = 4
X_ALL, Y_ALL = make_chains(500, n_labels=4, n_features=20, random_state=0)
N_TRAIN = 400


def write(folder):
    """Write the files and return their paths."""
    X, y = X_ALL[:N_TRAIN], Y_ALL[:N_TRAIN]
    paths = [Path(folder) / f"part-{part}.pickle" for part in range(N_FILES)]
    for part, path in enumerate(paths):
        path.write_bytes(pickle.dumps((X[part::N_FILES], y[part::N_FILES])))
    return paths


def read(path):
    """Return X and y of a file; the worker that stores them calls this."""
    return pickle.loads(path.read_bytes())


def fit():
    """Return a model that a cluster of two processes has fitted."""
    with TemporaryDirectory() as folder:
        partitions = [partial(read, path) for path in write(folder)]
        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
        with LocalCluster(**options) as cluster, Client(cluster) as client:
            crf = DistributedCRF(checkpoint=Path(folder) / "fit.npz")
            return crf.fit(partitions, client=client)


def draw(models):
    """Write a picture of the objective and its lower bound by epochs."""
    figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for (name, model), color in zip(models.items(), ("C0", "C1"), strict=True):
        epochs = model.history_["epoch"]
        ax.plot(epochs, model.history_["primal"], "o-", color=color, label=name)
        ax.plot(epochs, model.history_["dual"], ".--", color=color)
    best = models["in one process"].primal_objective_
    ax.set(ylim=(0.3 * best, 2.2 * best), xlabel="epochs", ylabel="objective")
    ax.set_title("Objective (full) and its lower bound (dashed)")
    ax.legend(frameon=False)
    ax.grid(alpha=0.3)
    figure.savefig("distributed_fit.png", dpi=150)


def main():
    """Fit on a cluster and in one process, and use both models without the cluster."""
    models = {"on the cluster": fit()}
    models["in one process"] = LBFGSCRF().fit(X_ALL[:N_TRAIN], Y_ALL[:N_TRAIN])
    for name, crf in models.items():
        print(
            f"{name}: {crf.n_iter_} epochs, objective {crf.primal_objective_:.4f}, "
            f"gap {crf.duality_gap_:.1e}, at most {crf.gap_target_:.1e}"
        )
    crf, test = models["on the cluster"], (X_ALL[N_TRAIN:], Y_ALL[N_TRAIN:])
    sent = sum(crf.traffic_[way] for way in ("sent", "received")) / 1024
    print(f"{crf.traffic_['rounds']} rounds, {sent:.0f} KiB sent and received")
    print(f"accuracy {crf.to_estimator().score(*test):.3f}, without the cluster")
    draw(models)


if __name__ == "__main__":
    main()

# sphinx_gallery_thumbnail_path = 'images/examples/distributed_fit.png'
