"""The cache of the fitted steps of a Tagger, on a `joblib.Memory`.

joblib hashes and writes the arguments of a call, and its result, in Python. With
sentences as lists of str this takes longer than to make the features again, and the
text of the arguments is as large as the result. Here joblib meets a digest in their
place, and bytes.
"""

import pickle
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
from joblib import Memory

__all__ = ["StepCache", "cached_steps"]


class _HasMemory(Protocol):
    memory: Any


@contextmanager
def cached_steps(pipeline: _HasMemory) -> Iterator[None]:
    """Let a pipeline cache its steps by a `StepCache` within this context.

    Its ``memory`` is as before at the end. What is neither a folder nor a
    `joblib.Memory`, or a Memory without a folder, stays what it is.
    """
    given = pipeline.memory
    memory = Memory(given, verbose=0, compress=1) if isinstance(given, str) else given
    if isinstance(memory, Memory) and memory.location is not None:
        pipeline.memory = StepCache(memory)
    try:
        yield
    finally:
        pipeline.memory = given


class StepCache:
    """What a Pipeline asks of a `joblib.Memory`.

    Parameters
    ----------
    memory : joblib.Memory

    Attributes
    ----------
    location : str
        The folder.
    """

    def __init__(self, memory: Memory) -> None:
        self.location = memory.location
        self._bytes_of = memory.cache(_result_in_bytes)

    def cache(self, function: Any, ignore: Iterable[str] = ()) -> Any:
        """Return a function that takes its results from the folder.

        Parameters
        ----------
        function : callable
            Of the top level of a module.
        ignore : iterable of str
            Keyword arguments that do not change the result.

        Returns
        -------
        cached : callable
        """
        ignored = frozenset(ignore)

        def cached(*args, **kwargs):
            return pickle.loads(self._bytes_of(_Call(function, args, kwargs, ignored)))

        return cached


class _Call:
    """A call that is hashed and printed as its digest."""

    def __init__(self, function, args, kwargs, ignored):
        self.function, self.args, self.kwargs = function, args, kwargs
        self._ignored = ignored

    @cached_property
    def digest(self):
        kept = {k: v for k, v in self.kwargs.items() if k not in self._ignored}
        try:
            content = pickle.dumps((self.function, self.args, kept))
        except (AttributeError, TypeError, pickle.PicklingError) as error:
            raise TypeError(
                "memory: a step, or what it takes, cannot be pickled and so not cached "
                f"({error}); use functions of a module and lists, or memory=None."
            ) from error
        return blake2b(content, digest_size=16).hexdigest()

    def __reduce__(self):
        return str, (self.digest,)

    def __repr__(self):
        return f"<call of {self.function.__name__}, {self.digest}>"


def _result_in_bytes(call):
    """Return the pickle of the result of a call, which joblib writes at once."""
    result = call.function(*call.args, **call.kwargs)
    return np.frombuffer(pickle.dumps(result), dtype=np.uint8)
