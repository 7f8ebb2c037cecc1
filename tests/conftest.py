"""Fixtures that more than one test module uses."""

import contextlib
import gc
import multiprocessing
import os

# SciPy reads this at import; without it scikit-learn skips some of its checks.
os.environ["SCIPY_ARRAY_API"] = "1"
# BLAS reads this when NumPy is imported, here and in the processes that tests start.
# Products here are small: more threads of BLAS would spin, on cores of other workers.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import warnings
from pathlib import Path

import hypothesis
import pytest
from _pytest.runner import runtestprotocol

from skcrf_sdca._utils import parallel as _parallel

# Its kernel is compiled by the test that imports it.
collect_ignore = ["toy"]

# A deadline for each example would fail on a machine that is busy. A few examples are
# enough, since every run draws others.
hypothesis.settings.register_profile("ours", deadline=None, max_examples=20)
hypothesis.settings.load_profile("ours")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect the tests without the garbage collector, in three fifths of the time.

    Modules and tests are not garbage until the process ends.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


class _Child:
    """A process that runs tests one after the other, as long as none of them ends it.

    To copy this process for each test would take 50 ms of the processor a test.
    """

    def __init__(self, items):
        self._pipe, theirs = multiprocessing.Pipe()
        with warnings.catch_warnings():
            # Other threads, for example those of BLAS, are idle.
            warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            try:
                self._pipe.close()
                self._serve(items, theirs)
            finally:
                os._exit(0)
        theirs.close()

    @staticmethod
    def _serve(items, pipe):
        while (numbers := pipe.recv()) is not None:
            item, nextitem = (None if i is None else items[i] for i in numbers)
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
            pipe.send([report._to_json() for report in reports])

    def reports(self, *numbers):
        """Run an item before another one, of these numbers; None if it dies."""
        try:
            self._pipe.send(numbers)
            return [pytest.TestReport._from_json(own) for own in self._pipe.recv()]
        except (EOFError, ConnectionError):
            return None

    def end(self):
        """End the process, and return its exit code, below 0 of a signal."""
        with contextlib.suppress(ConnectionError):
            self._pipe.send(None)
        self._pipe.close()
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


_CHILD = pytest.StashKey()


def _survives(item):
    return item.get_closest_marker("survives") is not None and hasattr(os, "fork")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Run a test marked `survives` in a child process; it fails if the child dies.

    So a crash fails that test, by its name, and the other tests still run, the marked
    ones that follow it in a file in one child. On systems without fork, a crash ends
    the test process.
    """
    if not _survives(item):
        return None
    # Create it in the parent, so that the children share it.
    item.config._tmp_path_factory.getbasetemp()
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports_of_a_child(item, nextitem):
        item.ihook.pytest_runtest_logreport(report=report)
    # The child tears down its copy; of what earlier tests set up here, this goes.
    item.session._setupstate.teardown_exact(nextitem)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _reports_of_a_child(item, nextitem):
    stash, items = item.session.stash, item.session.items
    child = stash.get(_CHILD, None) or _Child(items)
    number = items.index(item)
    reports = child.reports(number, nextitem and items.index(nextitem))
    goes_on = nextitem and _survives(nextitem) and nextitem.path == item.path
    stash[_CHILD] = child if reports and goes_on else None
    code = 0 if stash[_CHILD] else child.end()
    if reports:
        return reports
    died = f"the process died, with {code} (below 0: of that signal)"
    location, keywords = item.location, {item.name: 1}
    return [pytest.TestReport(item.nodeid, location, keywords, "failed", died, "call")]


@pytest.fixture(scope="session")
def data_folder():
    """Folder of the real corpora; tests that need it are skipped without it."""
    folder = os.environ.get("SKCRF_SDCA_DATA")
    if not folder:
        pytest.skip("set SKCRF_SDCA_DATA to the folder of the corpora to run this test")
    path = Path(folder)
    if not path.is_dir():
        pytest.skip(f"SKCRF_SDCA_DATA={folder} is not a folder")
    return path


@pytest.fixture(scope="module")
def many_ranges():
    """Cut even tiny data into many ranges, so that threads have something to share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_parallel, "MIN_POSITIONS", 1)
        yield
