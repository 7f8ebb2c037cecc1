"""Fixtures that more than one test module uses."""

import os

# Read by scipy when it is imported; without it scikit-learn skips some of its checks.
os.environ["SCIPY_ARRAY_API"] = "1"

import pickle
import warnings
from pathlib import Path

import hypothesis
import pytest
from _pytest.runner import runtestprotocol

from skcrf_sdca._utils import parallel as _parallel

# A deadline for an example would be a timed test, on machines that are shared.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Run a test marked `survives` in a child; it fails if the child dies.

    So a crash is a failure of that test, by its name, and the others go on. Where there
    is no fork, it ends the process.
    """
    if item.get_closest_marker("survives") is None or not hasattr(os, "fork"):
        return None
    # Children must not each make one of their own.
    item.config._tmp_path_factory.getbasetemp()
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports_of_a_child(item, nextitem):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _reports_of_a_child(item, nextitem):
    receiver, sender = os.pipe()
    with warnings.catch_warnings():
        # The threads that may be there, of BLAS, wait for work.
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
