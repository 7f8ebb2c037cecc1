"""Compare the times of imports of the package with ``import sklearn.linear_model``.

``import skcrf_sdca`` loads no estimator; ``from skcrf_sdca import SDCACRF`` loads all
that one needs. Each import runs in a new process, and they take turns. The script
prints the medians in processor seconds, without the start of Python, and the ratios to
scikit-learn. The promise is a ratio below 1.5.

    python examples/benchmarks/import_time.py [--rounds 15]
"""

import argparse
import statistics
import subprocess
import sys

IMPORTS = (
    "import sklearn.linear_model",
    "import skcrf_sdca",
    "from skcrf_sdca import SDCACRF",
)
# Processor time does not count other work on the machine.
SCRIPT = """
import time
begin = time.process_time()
{statement}
print(time.process_time() - begin)
"""


def seconds(statement):
    # Do not import from the current folder.
    command = [sys.executable, "-P", "-c", SCRIPT.format(statement=statement)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    # The first import reads the files from disk.
    for statement in IMPORTS:
        seconds(statement)
    taken = [[seconds(statement) for statement in IMPORTS] for _ in range(rounds)]
    medians = [statistics.median(column) for column in zip(*taken, strict=True)]
    for statement, median in zip(IMPORTS, medians, strict=True):
        print(f"{statement:32} {median:.3f} s  ratio {median / medians[0]:.2f}")


if __name__ == "__main__":
    main()
