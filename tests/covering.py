"""Which tests call a function: record the calls that tests make; run it.

    python tests/covering.py skcrf_sdca/solvers/dual.py              # all its functions
    python tests/covering.py skcrf_sdca/solvers/dual.py certify
    python tests/covering.py skcrf_sdca/solvers/dual.py certify tests/matrix

The tests are those of the folder of the same name, or those that are given. Calls of
what is compiled are not seen: of a kernel, the tests are those that `mutants` asks.
"""

import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "skcrf_sdca"
# Tests that are named of each function.
MOST = 3


class Calls:
    """A plugin of pytest: the functions of the package that each test calls.

    Attributes
    ----------
    tests : dict of str to dict of str to float
        The seconds of each test, by its name, for each function, ``file:name``.
    """

    def __init__(self):
        self.tests = defaultdict(dict)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        """Run a test, and note what it calls in this thread."""
        codes, prefix = set(), str(PACKAGE)

        def on_event(frame, event, _):
            if event == "call" and frame.f_code.co_filename.startswith(prefix):
                codes.add(frame.f_code)

        begin = time.perf_counter()
        sys.setprofile(on_event)
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            names = [
                f"{Path(code.co_filename).relative_to(ROOT)}:{code.co_qualname}"
                for code in codes
            ]
            found = time.perf_counter() - begin, names
            item.user_properties.append(("calls", found))

    def pytest_runtest_logreport(self, report):
        """Read the note of a test, which a report brings from another process too."""
        if report.when == "call":
            seconds, names = dict(report.user_properties)["calls"]
            for name in names:
                self.tests[name][report.nodeid] = seconds


def tests_beside(path):
    """Return the folder, or the file, of the tests of a module."""
    folder, *_ = path.resolve().relative_to(PACKAGE).parts
    beside = ROOT / "tests" / folder
    return str(beside) if beside.is_dir() else str(ROOT / "tests")


def calls_of(*tests):
    """Run tests; return their `Calls.tests`."""
    calls = Calls()
    arguments = ["-q", "-p", "no:cacheprovider", "--no-header", *tests]
    pytest.main([f"--rootdir={ROOT}", *arguments], plugins=[calls])
    return calls.tests


def quickest(seconds):
    """Return the names of the tests that take least, at most `MOST`."""
    return sorted(seconds, key=seconds.get)[:MOST]


def main(path, name="", *tests):
    """Print the quickest tests that call each function of a module."""
    path = Path(path).resolve()
    if path.suffix == ".pyx":
        # It imports this module.
        import mutants

        print(*mutants.BESIDE[path.parent.name], sep="\n")
        return
    found = calls_of(*(tests or [tests_beside(path)]))
    begin = f"{path.relative_to(ROOT)}:"
    for function in sorted(f for f in found if f.startswith(begin) and name in f):
        print(function)
        for test in quickest(found[function]):
            print(f"    {found[function][test]:.3f} s  {test}")


if __name__ == "__main__":
    main(*sys.argv[1:])
