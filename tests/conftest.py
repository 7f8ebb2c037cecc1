"""Fixtures that more than one test module uses."""

import os

# Read by scipy when it is imported; without it scikit-learn skips some of its checks.
os.environ["SCIPY_ARRAY_API"] = "1"

from pathlib import Path

import hypothesis
import pytest

from skcrf_sdca import _parallel

# A deadline for an example would be a timed test, on machines that are shared.
hypothesis.settings.register_profile("no deadline", deadline=None)
hypothesis.settings.load_profile("no deadline")


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
