"""Partitions on the workers of a Dask cluster: where they are, and how one is replaced.

Each worker process holds its partitions in its own memory, which Dask does not manage.
Every call is a task that must run on that worker. If the worker dies, its partitions
are loaded again on another one, the lasting calls are repeated there, and then the call
itself.

One thing is not in Dask's public interface: ``client.scheduler.ncores`` asks the
scheduler for its workers. The public methods return what the client remembers, or wait
without a limit for a scheduler that does not answer.
"""

import asyncio
import logging
from collections import Counter
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

# How often a partition may be loaded again for one call; then its data is to blame.
MOST_RELOADS = 3
# Seconds between two checks whether a worker is alive; for a scheduler to answer; for
# data to be sent to a worker.
POLL, PATIENCE, TRANSFER = 1.0, 30.0, 600.0

# The errors of a transfer to or from a worker that has just died; CommClosedError and
# TimeoutError are OSErrors.
_TRANSFER_ERRORS = (OSError, KeyError, CancelledError)

# On a worker: {(fit, number): Partition}.
_HELD: dict[Any, Any] = {}


class _LostError(Exception):
    """The worker of a partition is gone, and the partition with it."""


def _load(fit, number, source):
    """Hold a new partition on this worker."""
    _HELD[fit, number] = Partition(number, source)


def _ask(fit, number, method, *arguments):
    """Return the answer of a partition that this worker holds."""
    return _HELD[fit, number].ask(method, *arguments)


def _release(fit):
    """Delete the partitions of a fit on this worker."""
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

    ``partitions`` are a Bag, or a list of sources as `Partition` takes them, or of
    futures or delayed values of such. TypeError if they are neither, or if the client
    is asynchronous; ConnectionError if the scheduler cannot be reached, or has no
    worker for PATIENCE seconds.
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
        # The calls (function, *arguments) that are repeated where a partition is lost.
        self._lasting = {number: [] for number in range(len(partitions))}
        workers = self._workers()
        self._home = {
            number: self._first_home(source, workers[number % len(workers)])
            for number, source in enumerate(partitions)
        }
        loads = {number: (_load, source) for number, source in enumerate(partitions)}
        try:
            list(self._call(loads, lasting=True))
        except BaseException:
            self.close()
            raise

    @property
    def n_partitions(self):
        """Number of partitions."""
        return len(self._lasting)

    def map(self, method, arguments, *, lasting=False):
        """Yield the answers of all partitions to one call, in their order."""
        pairs = zip(list(self._lasting), arguments, strict=True)
        calls = {number: (_ask, method, *own) for number, own in pairs}
        yield from self._call(calls, lasting)

    def n_beside(self):
        """Return, for each partition, how many its worker has."""
        homes = [self._home[number] for number in self._lasting]
        held = Counter(homes)
        return [held[home] for home in homes]

    def keep(self, chosen):
        """Forget the partitions whose bool in ``chosen`` is False."""
        for number, keep in zip(list(self._lasting), chosen, strict=True):
            if not keep:
                del self._lasting[number]

    def close(self):
        """Let the workers delete the partitions, without waiting for them."""
        if self.client.status == "running":
            for home in set(self._home.values()):
                # On any worker if that one is gone: else the task would wait for ever.
                options = {"workers": [home], "allow_other_workers": True}
                done = self.client.submit(_release, self._fit, pure=False, **options)
                fire_and_forget(done)

    def _call(self, calls, lasting):
        """Make one call for each partition at the same time; yield the answers."""
        asked = {number: self._submit(number, *call) for number, call in calls.items()}
        for number, call in calls.items():
            try:
                answer = self._wait(number, asked.pop(number))
            except _LostError:
                answer = self._repeat(number, call)
            if lasting:
                self._lasting[number].append(call)
            yield answer

    def _repeat(self, number, call):
        """Load a lost partition on another worker; return its answer to a call."""
        calls = [*self._lasting[number], call]
        (_, source), *_ = calls
        for _ in range(MOST_RELOADS):
            if isinstance(source, Future) and source.status in ("cancelled", "lost"):
                raise ConnectionError(
                    f"the data of partition {number} is lost with its worker; give a "
                    "function or a delayed value that can read it again"
                )
            lost, workers = self._home[number], self._workers()
            held = Counter(self._home[other] for other in self._lasting)
            # The worker with the fewest partitions, and the same one only if alone.
            home = min(workers, key=lambda a: (a == lost, held[a], a))
            self._home[number] = home
            _LOG.warning(
                "partition %d is lost with worker %s; loading it again on %s",
                number,
                lost,
                home,
            )
            try:
                for each in calls:
                    answer = self._wait(number, self._submit(number, *each))
            except _LostError:
                continue
            return answer
        raise ConnectionError(
            f"partition {number} was lost {MOST_RELOADS + 1} times in a row, with the "
            "worker that held it: has it the memory? Take smaller partitions"
        )

    def _workers(self):
        """Return the addresses of the workers; ConnectionError if there is none."""
        try:
            found = self._ask_for_workers()
            if not found:
                # A cluster may replace workers that have died.
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
        ask = partial(self.client.sync, self.client.scheduler.ncores)
        try:
            return ask(callback_timeout=PATIENCE)
        except DaskTimeoutError:
            # This process may have been stopped while the time ran.
            return ask(callback_timeout=PATIENCE)

    def _first_home(self, source, otherwise):
        """Return a worker that has the source, if one has."""
        if not isinstance(source, Future):
            return otherwise
        while not _has_ended(source):
            self._workers()
        holders = [a for held in self.client.who_has(source).values() for a in held]
        return otherwise if otherwise in holders or not holders else holders[0]

    def _submit(self, number, function, *arguments):
        """Return the future of a call for a partition, or None if its worker is gone.

        Data is sent to the worker first, because Dask is slow with calls that hold it.
        """
        home = self._home[number]
        try:
            arguments = [self._sent(argument, home) for argument in arguments]
        except _TRANSFER_ERRORS:
            return None
        options = {"workers": [home], "allow_other_workers": False, "pure": False}
        return self.client.submit(function, self._fit, number, *arguments, **options)

    def _sent(self, value, home):
        """Return an argument of a call: the future of a value that is on a worker."""
        if hasattr(value, "__dask_graph__"):
            return self.client.compute(value, workers=[home])
        if not isinstance(value, (np.ndarray, tuple, list)):
            return value
        if home not in self._workers():
            raise CommClosedError
        options = {"workers": [home], "hash": False, "asynchronous": True}
        send = partial(self.client.scatter, [value], **options)
        return self.client.sync(send, callback_timeout=TRANSFER)[0]

    def _wait(self, number, future):
        """Return the result of a future; _LostError if its worker is gone."""
        if future is None:
            raise _LostError
        try:
            while not _has_ended(future):
                self._check_home(number)
        except CancelledError as error:
            # ConnectionError if the scheduler is gone, and not a worker.
            self._workers()
            raise _LostError from error
        if future.status == "error":
            error = future.exception()
            # KeyError: a new process has the address of one that died.
            is_new = isinstance(error, KeyError) and (self._fit, number) in error.args
            if is_new or isinstance(error, (KilledWorker, CommClosedError)):
                raise _LostError from error
            raise error
        return self._fetch(number, future)

    def _fetch(self, number, future):
        """Return the result of a future that has it."""
        # Not with a timeout: after a transfer that is broken off, the client may be
        # unable to make another one.
        transfer = asyncio.run_coroutine_threadsafe(
            self.client.gather(future, asynchronous=True), self.client.loop.asyncio_loop
        )
        while not futures.wait([transfer], timeout=POLL).done:
            try:
                self._check_home(number)
            except _LostError:
                # The transfer would wait for the worker.
                future.cancel()
                raise
        try:
            return transfer.result()
        except _TRANSFER_ERRORS as error:
            raise _LostError from error

    def _check_home(self, number):
        if self._home[number] not in self._workers():
            raise _LostError
