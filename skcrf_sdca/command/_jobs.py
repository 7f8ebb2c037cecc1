"""The answers of a model to sentences, by this process or by several others."""

import contextlib
import multiprocessing
import signal
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain

# In a process of a pool: the function that answers.
_answer = None


@contextlib.contextmanager
def answering(answer, tagger, jobs):
    """Yield a function that returns an answer to each sentence, by some processes.

    It is called with lists that have an entry for each sentence, and so is ``answer``,
    after the tagger; both must survive a pickle. The processes get the tagger itself:
    its file may be another one soon.
    """
    own = partial(answer, tagger)
    if jobs == 1:
        yield own
        return
    # A process that was forked has the locks of threads that it lacks.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _begin, (own,)) as pool:
        yield partial(_by_parts, pool, jobs)


def _by_parts(pool, jobs, *columns):
    """Return the answers to parts of lists, one part for each process, as one list."""
    size = -(-len(columns[0]) // jobs)
    begins = range(0, len(columns[0]), size)
    parts = ([column[b : b + size] for b in begins] for column in columns)
    return list(chain.from_iterable(pool.map(_of_part, *parts)))


def _begin(answer):
    """Make a process of a pool ready; Ctrl-C ends its parent, and so itself."""
    global _answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _answer = answer


def _of_part(*columns):
    return _answer(*columns)
