"""Compare the time of ``import skcrf_sdca`` with ``import sklearn.linear_model``.

Each import runs in a new process, and the two take turns. The script prints the medians
in processor seconds, without the start of Python, and their ratio. The promise is a
ratio below 1.5.

    python examples/benchmarks/import_time.py [--rounds 15]
"""

import argparse
import statistics
import subprocess
import sys

MODULES = ("sklearn.linear_model", "skcrf_sdca")
# Processor time does not count other work on the machine.
SCRIPT = """
import time
begin = time.process_time()
import {module}
print(time.process_time() - begin)
"""


def seconds(module):
    # Do not import from the current folder.
    command = [sys.executable, "-P", "-c", SCRIPT.format(module=module)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    # The first import reads the files from disk.
    for module in MODULES:
        seconds(module)
    taken = [[seconds(module) for module in MODULES] for _ in range(rounds)]
    medians = [statistics.median(column) for column in zip(*taken, strict=True)]
    for module, median in zip(MODULES, medians, strict=True):
        print(f"{module:22} {median:.3f} s")
    print(f"{'ratio':22} {medians[1] / medians[0]:.2f}")


if __name__ == "__main__":
    main()
