"""Fixtures that more than one test module uses."""

import gc
import os

# SciPy reads this at import; without it scikit-learn skips some of its checks.
os.environ["SCIPY_ARRAY_API"] = "1"
# BLAS reads this when NumPy is imported, here and in the processes that tests start.
# Products here are small: more threads of BLAS would spin, on cores of other workers.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pickle
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


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Run a test marked `survives` in a child process; it fails if the child dies.

    So a crash fails that test, by its name, and the other tests still run. On systems
    without fork, a crash ends the test process.
    """
    if item.get_closest_marker("survives") is None or not hasattr(os, "fork"):
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
    receiver, sender = os.pipe()
    with warnings.catch_warnings():
        # Other threads, for example those of BLAS, are idle.
        warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
            with os.fdopen(sender, "wb") as pipe:
                pickle.dump([report._to_json() for report in reports], pipe)
        finally:
            os._exit(0)
    os.close(sender)
    with os.fdopen(receiver, "rb") as pipe:
        sent = pipe.read()
    _, status = os.waitpid(child, 0)
    if status == 0 and sent:
        return [pytest.TestReport._from_json(report) for report in pickle.loads(sent)]
    code = os.waitstatus_to_exitcode(status)
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
