"""Partitions on the workers of a Dask cluster: where they are, and what if one is lost.

Each worker process holds its partitions, outside of what Dask manages; every call is a
task that must run there. Where a worker dies, its partitions are loaded again on
another one, told again all that lasts, and asked again.
"""

import asyncio
import logging
from collections import Counter, defaultdict
from concurrent import futures
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np
from dask.distributed import CancelledError, Future, KilledWorker, fire_and_forget, wait
from dask.distributed import TimeoutError as DaskTimeoutError
from distributed.comm import CommClosedError

from skcrf_sdca.distributed._method import Cluster
from skcrf_sdca.distributed._partition import Partition

_LOG = logging.getLogger("skcrf_sdca.distributed")

# Losses of one partition in a row, after which its data is to blame.
MOST_LOSSES = 3
# Seconds between two looks at whether a worker that is waited for is alive; for a
# scheduler to answer; for data to be sent to a worker.
POLL, PATIENCE, TRANSFER = 1.0, 30.0, 600.0

# What a transfer to or from a worker raises that has just died; CommClosedError and
# TimeoutError are OSErrors.
_GONE = (OSError, KeyError, CancelledError)
# What is sent ahead of a call.
_DATA = (np.ndarray, tuple, list)

_LOST = object()
# On a worker: {(fit, number): Partition}.
_HELD: dict[Any, Any] = {}


def _load(fit, number, source):
    """Hold a new partition on this worker."""
    _HELD[fit, number] = Partition(number, source)


def _ask(fit, number, method, *arguments):
    """Return the answer of a partition that this worker holds."""
    return _HELD[fit, number].ask(method, *arguments)


def _release(fit):
    """Let go of the partitions of a fit on this worker."""
    for key in [key for key in _HELD if key[0] == fit]:
        del _HELD[key]


def _has_ended(future):
    """Return whether a future has its result or its error after POLL seconds."""
    try:
        wait(future, timeout=POLL)
    except DaskTimeoutError:
        return False
    return True


class DaskCluster(Cluster):
    """Partitions on the workers of a client.

    Parameters
    ----------
    client : dask.distributed.Client
    partitions : list or dask.bag.Bag
        Sources as `Partition` takes them; in their place futures or delayed values.

    Raises
    ------
    TypeError
        If partitions are neither, or the client is asynchronous.
    ConnectionError
        If the scheduler cannot be reached, or has no worker for a while.
    """

    def __init__(self, client, partitions):
        if client.asynchronous:
            raise TypeError("client must not be asynchronous: fit waits for answers")
        if hasattr(partitions, "to_delayed"):
            partitions = partitions.to_delayed()
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(
                "partitions must be a list or a dask Bag, got "
                f"{type(partitions).__name__}"
            )
        self.client = client
        self._fit = uuid4().hex
        self._sources = dict(enumerate(partitions))
        # Calls to repeat on a partition that is loaded again: [(method, arguments)].
        self._lasting = defaultdict(list)
        workers = self._workers()
        self._home = {
            number: self._first_home(source, workers[number % len(workers)])
            for number, source in self._sources.items()
        }
        try:
            loads = {number: self._submit_load(number) for number in self._sources}
            for number, future in loads.items():
                if self._wait(number, future) is _LOST:
                    self._reload(number)
        except BaseException:
            self.close()
            raise

    @property
    def n_partitions(self):
        """Number of partitions."""
        return len(self._sources)

    def map(self, method, arguments, *, lasting=False):
        """Yield the answers of all partitions to one call, in their order."""
        calls = dict(zip(self._sources, arguments, strict=True))
        asked = {
            number: self._submit(_ask, number, method, *own)
            for number, own in calls.items()
        }
        for number, own in calls.items():
            answer = self._wait(number, asked.pop(number))
            losses = 0
            while answer is _LOST:
                losses += 1
                self._reload(number, losses)
                answer = self._wait(number, self._submit(_ask, number, method, *own))
            if lasting:
                self._lasting[number].append((method, own))
            yield answer

    def keep(self, chosen):
        """Forget the partitions of which ``chosen``, one bool each, is False."""
        pairs = zip(list(self._sources), chosen, strict=True)
        for number in [number for number, keep in pairs if not keep]:
            del self._sources[number]

    def close(self):
        """Let the workers forget the partitions, without waiting for them."""
        if self.client.status != "running":
            return
        for home in set(self._home.values()):
            # Anywhere, if that one is gone: else it would wait for ever.
            done = self.client.submit(
                _release,
                self._fit,
                workers=[home],
                allow_other_workers=True,
                pure=False,
            )
            fire_and_forget(done)

    def _workers(self):
        """Return the addresses of the workers; ConnectionError if there is none."""
        try:
            found = self._ask_for_workers()
            if not found:
                # Those that have died may be started anew.
                self.client.wait_for_workers(1, timeout=PATIENCE)
                found = self._ask_for_workers()
        except Exception as error:
            raise ConnectionError(
                "the Dask scheduler is gone, or does not answer, or has no workers; "
                "start a cluster and fit again, with resume=True if there is a "
                "checkpoint"
            ) from error
        return sorted(found)

    def _ask_for_workers(self):
        """Return what the scheduler answers, not what the client remembers."""
        ask = partial(self.client.sync, self.client.scheduler.ncores)
        try:
            return ask(callback_timeout=PATIENCE)
        except DaskTimeoutError:
            # Where this process was stopped meanwhile, its time ran out unused.
            return ask(callback_timeout=PATIENCE)

    def _first_home(self, source, otherwise):
        """Return a worker that has the source, if one has."""
        if not isinstance(source, Future):
            return otherwise
        while not _has_ended(source):
            self._workers()
        holders = [a for held in self.client.who_has(source).values() for a in held]
        return otherwise if otherwise in holders or not holders else holders[0]

    def _submit_load(self, number):
        source, home = self._sources[number], self._home[number]
        if hasattr(source, "__dask_graph__"):
            # Held by the cluster only until it has been read.
            source = self.client.compute(source, workers=[home])
        return self._submit(_load, number, source)

    def _submit(self, function, number, *arguments):
        """Return the future of a call at a partition, or None if its worker is gone.

        Data is sent there first: Dask is slow where it is part of a call.
        """
        home = self._home[number]
        try:
            arguments = [
                self._sent(argument, home) if isinstance(argument, _DATA) else argument
                for argument in arguments
            ]
        except _GONE:
            return None
        return self.client.submit(
            function,
            self._fit,
            number,
            *arguments,
            workers=[home],
            allow_other_workers=False,
            pure=False,
        )

    def _sent(self, value, home):
        """Return the future of a value that is on a worker."""
        if home not in self._workers():
            raise CommClosedError
        send = partial(
            self.client.scatter,
            [value],
            workers=[home],
            hash=False,
            asynchronous=True,
        )
        return self.client.sync(send, callback_timeout=TRANSFER)[0]

    def _wait(self, number, future):
        """Return the result of a future, or _LOST if its worker is gone."""
        if future is None:
            return _LOST
        try:
            while not _has_ended(future):
                if not self._is_home_alive(number):
                    return _LOST
        except CancelledError:
            # ConnectionError if it was not a worker, but the scheduler.
            self._workers()
            return _LOST
        if future.status == "error":
            error = future.exception()
            if self._is_loss(number, error):
                return _LOST
            raise error
        return self._fetch(number, future)

    def _fetch(self, number, future):
        """Return the result of a future that has it, or _LOST."""
        # Not with a timeout: a transfer that is broken off can leave the client unable
        # to make any other.
        transfer = asyncio.run_coroutine_threadsafe(
            self.client.gather(future, asynchronous=True),
            self.client.loop.asyncio_loop,
        )
        while not futures.wait([transfer], timeout=POLL).done:
            if not self._is_home_alive(number):
                # It would wait for the worker.
                future.cancel()
                return _LOST
        try:
            return transfer.result()
        except _GONE:
            return _LOST

    def _is_home_alive(self, number):
        return self._home[number] in self._workers()

    def _is_loss(self, number, error):
        """Return whether an error says that the partition is not where it was."""
        if isinstance(error, KeyError):
            # Another process, started under the address of one that died.
            return (self._fit, number) in error.args
        return isinstance(error, (KilledWorker, CommClosedError))

    def _reload(self, number, losses=1):
        """Load a partition again, on the worker that has the fewest."""
        while True:
            if losses > MOST_LOSSES:
                raise ConnectionError(
                    f"partition {number} was lost {losses} times in a row, with the "
                    "worker that held it: has it the memory? Take smaller partitions"
                )
            lost, workers = self._home[number], self._workers()
            held = Counter(self._home[other] for other in self._sources)
            # Not the same one again, where there is another.
            self._home[number] = min(workers, key=lambda a: (a == lost, held[a], a))
            _LOG.warning(
                "partition %d is lost with worker %s; loading it again on %s",
                number,
                lost,
                self._home[number],
            )
            if self._repeat(number):
                return
            losses += 1

    def _repeat(self, number):
        """Load a partition and make its lasting calls; return whether all went well."""
        source = self._sources[number]
        if isinstance(source, Future) and source.status in ("cancelled", "lost"):
            raise ConnectionError(
                f"the data of partition {number} is lost with its worker; give a "
                "function or a delayed value that can read it again"
            )
        if self._wait(number, self._submit_load(number)) is _LOST:
            return False
        for method, own in self._lasting[number]:
            future = self._submit(_ask, number, method, *own)
            if self._wait(number, future) is _LOST:
                return False
        return True
