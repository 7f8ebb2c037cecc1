"""DistributedCRF on the workers of a Dask cluster, some of which die."""

import os
import signal
from functools import partial
from threading import Timer
from time import monotonic, sleep

import numpy as np
import pytest

from skcrf_sdca import LBFGSCRF, DualityGapMonitor
from skcrf_sdca.datasets import make_chains
from skcrf_sdca.distributed import DistributedCRF
from skcrf_sdca.persistence import PackedCorpus

distributed = pytest.importorskip("distributed", reason="needs the extra 'distributed'")

# They start the processes of a cluster.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


# Few rounds, since a round is slow on a busy machine.
ALPHA = 1.0


def read(part, n_partitions):
    """Return a partition of chains, in whichever process this runs."""
    X, y = make_chains(30, n_labels=3, n_features=8, random_state=0)
    return X[part::n_partitions], y[part::n_partitions]


def readers(n_partitions):
    return [partial(read, part, n_partitions) for part in range(n_partitions)]


@pytest.fixture(scope="module")
def client():
    """Client of a cluster of two processes."""
    options = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(n_workers=2, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def serial():
    return LBFGSCRF(ALPHA, tol=1e-10).fit(*read(0, 1))


def assert_same_optimum(crf, serial):
    optimum = serial.primal_objective_
    assert crf.primal_objective_ == pytest.approx(optimum, rel=1e-6)
    assert (crf.history_["dual"] <= optimum + 1e-9).all()
    assert crf.duality_gap_ <= crf.gap_target_


def test_reaches_the_serial_optimum(client, serial):
    crf = DistributedCRF(ALPHA, tol=1e-8)
    assert_same_optimum(crf.fit(readers(2), client=client), serial)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", ["lbfgs", "dual"])
def test_the_bits_do_not_depend_on_where_partitions_are(client, method):
    crf = DistributedCRF(ALPHA, method=method, n_rounds=3, max_iter=3, random_state=0)
    there = crf.fit(readers(3), client=client).coef_
    np.testing.assert_array_equal(there, crf.fit(readers(3)).coef_)


def test_bags_futures_and_delayed_values(client, serial):
    dask = pytest.importorskip("dask")
    bag = pytest.importorskip("dask.bag")
    pairs = list(zip(*read(0, 1), strict=True))
    forms = [
        bag.from_sequence(pairs, npartitions=2),
        client.scatter([read(0, 2), read(1, 2)]),
        [dask.delayed(read)(part, 2) for part in range(2)],
    ]
    for partitions in forms:
        crf = DistributedCRF(ALPHA, tol=1e-8)
        crf.fit(partitions, client=client)
        assert_same_optimum(crf, serial)


def kill_at(monkeypatch, client, method, call, *, everyone):
    """Kill all workers, or one that has a partition, just before a call of a method."""
    from skcrf_sdca.distributed._dask import DaskCluster

    pids = client.run(os.getpid)
    ask, calls = DaskCluster.map, []

    def map(self, asked, arguments, *, lasting=False):
        calls.append(asked)
        if asked == method and calls.count(method) == call:
            for address, pid in pids.items():
                if everyone or address == self._home[0]:
                    os.kill(pid, signal.SIGKILL)
        return ask(self, asked, arguments, lasting=lasting)

    monkeypatch.setattr(DaskCluster, "map", map)
    return calls


@pytest.mark.parametrize(
    ("name", "method", "everyone"),
    [("lbfgs", "expect", True), ("dual", "visit", False)],
)
def test_workers_that_die_change_nothing(
    client, serial, monkeypatch, caplog, name, method, everyone
):
    calls = kill_at(monkeypatch, client, method, 5, everyone=everyone)
    crf = DistributedCRF(ALPHA, method=name, tol=1e-8, n_rounds=2, random_state=0)
    crf.fit(readers(3), client=client)
    assert calls.count(method) >= 5
    assert "partition 0 is lost with worker" in caplog.text
    assert_same_optimum(crf, serial)


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """Return the folders of three partitions, which all workers can read."""
    folder = tmp_path_factory.mktemp("corpora")
    paths = [folder / str(part) for part in range(3)]
    for part, path in enumerate(paths):
        X, y = read(part, 3)
        with PackedCorpus.writer(path) as corpus:
            corpus.append([strings(x) for x in X], y)
    return paths


def strings(sequence):
    return [[f"f{j}" for j in np.flatnonzero(row > 0)] for row in sequence]


@pytest.fixture(scope="module")
def of_strings():
    X, y = read(0, 1)
    return LBFGSCRF(ALPHA, tol=1e-10).fit([strings(x) for x in X], y)


@pytest.mark.parametrize(
    ("name", "method", "everyone"),
    [("lbfgs", "expect", True), ("dual", "visit", False)],
)
def test_workers_that_die_read_their_corpora_again(
    client, corpora, of_strings, monkeypatch, caplog, name, method, everyone
):
    kill_at(monkeypatch, client, method, 5, everyone=everyone)
    crf = DistributedCRF(ALPHA, method=name, tol=1e-8, n_rounds=2, random_state=0)
    # The dual variables lie in files of the workers.
    crf.set_params(memory=500).fit(corpora, client=client)
    assert "partition 0 is lost with worker" in caplog.text
    assert_same_optimum(crf, of_strings)


def test_a_worker_that_stops_for_a_while_is_waited_for(client, corpora, monkeypatch):
    from skcrf_sdca.distributed._dask import DaskCluster

    (pid, *_), rounds = client.run(os.getpid).values(), []
    ask = DaskCluster.map

    def map(self, asked, arguments, *, lasting=False):
        rounds.append(asked)
        if rounds.count("expect") == 3 and asked == "expect":
            os.kill(pid, signal.SIGSTOP)
            Timer(3.0, os.kill, (pid, signal.SIGCONT)).start()
        return ask(self, asked, arguments, lasting=lasting)

    crf = DistributedCRF(ALPHA, tol=1e-4)
    expected = crf.fit(corpora).coef_
    monkeypatch.setattr(DaskCluster, "map", map)
    np.testing.assert_array_equal(crf.fit(corpora, client=client).coef_, expected)
    assert rounds.count("expect") > 3


def test_a_cluster_without_workers_is_an_error(monkeypatch):
    from skcrf_sdca.distributed import _dask

    monkeypatch.setattr(_dask, "PATIENCE", 1.0)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(ConnectionError, match="or has no workers"),
    ):
        DistributedCRF().fit(readers(2), client=client)


def no_file():
    raise FileNotFoundError("part-7")


def test_errors_of_readers_come_as_they_are(client):
    with pytest.raises(FileNotFoundError, match="part-7"):
        DistributedCRF().fit([no_file], client=client)


def test_workers_keep_nothing(client):
    DistributedCRF(ALPHA, tol=1e-2).fit(readers(3), client=client)

    def held():
        from skcrf_sdca.distributed._dask import _HELD

        return len(_HELD)

    # The workers are told to stop; the caller does not wait for them.
    deadline = monotonic() + 30.0
    while any(client.run(held).values()):
        assert monotonic() < deadline
        sleep(0.05)


@pytest.fixture
def cluster_of_threads():
    """Cluster of threads; to close its scheduler does not affect other tests."""
    options = {"n_workers": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster:
        yield cluster


def test_a_scheduler_that_is_gone_is_an_error(cluster_of_threads):
    with distributed.Client(cluster_of_threads) as client:
        cluster_of_threads.close()
        with pytest.raises(ConnectionError, match="scheduler is gone"):
            DistributedCRF().fit(readers(2), client=client)


class CloseAfter(DualityGapMonitor):
    """Close a cluster after the second epoch."""

    def __init__(self, cluster):
        super().__init__()
        self.cluster = cluster

    def on_fit_task_end(self, estimator, context, **options):
        if context.task_name == "epoch" and context.task_id == 1:
            self.cluster.close()


def test_a_scheduler_that_is_lost_in_the_middle_is_an_error(
    cluster_of_threads,
):
    with distributed.Client(cluster_of_threads) as client:
        crf = DistributedCRF(ALPHA, tol=1e-8)
        crf.set_callbacks(CloseAfter(cluster_of_threads))
        with pytest.raises(ConnectionError, match="scheduler is gone"):
            crf.fit(readers(2), client=client)
        assert not hasattr(crf, "coef_")
