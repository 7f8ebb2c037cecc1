"""Programs in a fresh process in which NumPy is the only other package."""

import subprocess
import sys

# A finder before all others: modules of other packages are not there.
_ALONE = """
import sys


class NumpyAlone:
    known = {*sys.stdlib_module_names, "numpy", "skcrf_sdca"}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in self.known:
            raise ModuleNotFoundError(f"{name} is not installed", name=name)


sys.meta_path.insert(0, NumpyAlone())
"""


def printed(code, *arguments, alone=True):
    """Return what a program prints; with ``alone=False`` all packages are there."""
    command = [sys.executable, "-P", "-c", _ALONE * alone + code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
