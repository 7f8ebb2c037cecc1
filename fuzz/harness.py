"""What the targets share: how they are started, limited, and given their seeds.

A target is a program that is handed to libFuzzer:

    python TARGET.py FOLDER [-max_total_time=SECONDS] [other options of libFuzzer]

FOLDER holds its corpus; the seeds are put there first. A file in its place is tried
alone. The search is guided by coverage of the package's Python code, and of the plain
twins that stand for what is compiled.
"""

import hashlib
import pathlib
import resource
import sys
import time
import warnings

import atheris
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

# The plain twins and the damage done to documents are those of the tests.
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))

with atheris.instrument_imports(include=["skcrf_sdca", "twins", "inputs"]):
    import inputs  # noqa: F401
    import skcrf_sdca.persistence  # noqa: F401
    import twins  # noqa: F401

SECONDS = 10
# libFuzzer looks at memory that is used, once a second; this also stops what is only
# asked for.
ADDRESS_SPACE = 4 << 30
OPTIONS = ("-timeout=100", "-rss_limit_mb=2048", "-max_len=16384", "-len_control=0")


def run(target, seeds=(), **setup):
    """Fuzz until the time is up, or to the first finding.

    Parameters
    ----------
    target : callable
        Called with bytes; whatever it raises is a finding.
    seeds : iterable of bytes
        Inputs to begin with.
    **setup
        Handed to ``atheris.Setup``.
    """
    program, corpus, *options = sys.argv
    if pathlib.Path(corpus).is_dir():
        add(seeds, corpus)
    warnings.simplefilter("error")
    for category in (ConvergenceWarning, DataConversionWarning):
        warnings.simplefilter("ignore", category)
    # A cast to a shorter float may overflow: the result is looked at. An archive may
    # have two members of one name. A masked number is NaN to NumPy.
    for message in ("overflow encountered in cast", "Duplicate name", ".*masked"):
        warnings.filterwarnings("ignore", message)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    # Of an option that is there twice, libFuzzer takes the last.
    atheris.Setup([program, corpus, *OPTIONS, *options], timed(target), **setup)
    atheris.Fuzz()


def add(seeds, folder):
    """Put seeds into a corpus; it does not matter what making them warns of."""
    with warnings.catch_warnings(action="ignore"):
        for seed in seeds:
            name = hashlib.sha1(seed).hexdigest()
            pathlib.Path(folder, name).write_bytes(seed)


def timed(target):
    """Return the target with a limit on its own time: machines are busy, too."""

    def run_timed(data):
        begin = time.process_time()
        target(data)
        assert time.process_time() - begin < SECONDS, "an input takes too long"

    return run_timed
