"""Start the fuzz targets, limit their time and memory, and give them seeds.

A target is a program that runs under libFuzzer:

    python TARGET.py FOLDER [-max_total_time=SECONDS] [other options of libFuzzer]

FOLDER holds its corpus; the seeds are written to it first. If a file is passed instead,
only that input runs. The search is guided by the coverage of the package's Python code,
and of plain twins in place of the compiled code.
"""

import hashlib
import os
import pathlib
import resource
import sys
import time
import warnings

import atheris
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

# The plain twins and the damage to documents come from the tests.
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))

with atheris.instrument_imports(include=["skcrf_sdca", "twins", "inputs"]):
    import inputs  # noqa: F401
    import skcrf_sdca
    import twins  # noqa: F401
    from skcrf_sdca import compat, metrics, persistence, text

    # These packages import a module when one of its names is first asked for.
    for package in (skcrf_sdca, compat, metrics, persistence, text):
        for name in package.__all__:
            getattr(package, name)

# The address sanitizer, if it is loaded, makes all slower, keeps what is freed, and
# needs addresses for a shadow of all memory.
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
SECONDS = 100 if SANITIZED else 10
# libFuzzer checks the memory in use once a second; this limit also stops a large
# allocation that is never used.
ADDRESS_SPACE = resource.RLIM_INFINITY if SANITIZED else 4 << 30
MEGABYTES = 8192 if SANITIZED else 2048
OPTIONS = (
    "-timeout=100",
    f"-rss_limit_mb={MEGABYTES}",
    "-max_len=16384",
    "-len_control=0",
)


def run(target, seeds=(), **setup):
    """Fuzz until the time is up, or to the first finding.

    Parameters
    ----------
    target : callable
        Called with bytes; any error that it raises is a finding.
    seeds : iterable of bytes
        First inputs of the corpus.
    **setup
        Handed to ``atheris.Setup``.
    """
    program, corpus, *options = sys.argv
    if pathlib.Path(corpus).is_dir():
        add(seeds, corpus)
    warnings.simplefilter("error")
    for category in (ConvergenceWarning, DataConversionWarning):
        warnings.simplefilter("ignore", category)
    # Expected warnings: a cast to a shorter float overflows (its result is checked), an
    # archive has two members of one name, NumPy converts a masked number to NaN.
    for message in ("overflow encountered in cast", "Duplicate name", ".*masked"):
        warnings.filterwarnings("ignore", message)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    # If an option is passed twice, libFuzzer takes the last.
    atheris.Setup([program, corpus, *OPTIONS, *options], timed(target), **setup)
    atheris.Fuzz()


def add(seeds, folder):
    """Write seeds to a corpus; warnings while they are made are ignored."""
    with warnings.catch_warnings(action="ignore"):
        for seed in seeds:
            name = hashlib.sha1(seed).hexdigest()
            pathlib.Path(folder, name).write_bytes(seed)


def timed(target):
    """Return the target with a limit on its processor time, which other work leaves."""

    def run_timed(data):
        begin = time.process_time()
        target(data)
        assert time.process_time() - begin < SECONDS, "an input takes too long"

    return run_timed
