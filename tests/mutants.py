"""Put faults into the package, one at a time, and see that tests find them; run it.

    python tests/mutants.py --number 30 --seed 0
    python tests/mutants.py --number 5 --room solvers

A fault is one token of one line of code: another comparison, another sign, another
constant. It is put into a copy of the checkout, with what is compiled there. A module
in Python is asked by the tests of its folder that call the function, the quickest
first, for `SECONDS` together; a kernel by the tests of the folder that `BESIDE` names.
Faults that no test finds are printed at the end: read each, as some change nothing that
can be seen, such as the text of a message.
"""

import argparse
import ast
import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path

import covering

import code_figures

ROOT = Path(__file__).parents[1]
# What a token becomes.
FAULTS = {
    " + ": " - ",
    " - ": " + ",
    " * ": " + ",
    " / ": " * ",
    " < ": " >= ",
    " <= ": " > ",
    " > ": " <= ",
    " >= ": " < ",
    " == ": " != ",
    " != ": " == ",
    " and ": " or ",
    " or ": " and ",
    " is None": " is not None",
    " is not None": " is None",
    " not in ": " in ",
    "if not ": "if ",
    "min(": "max(",
    "max(": "min(",
    "True": "False",
    "False": "True",
    "[0]": "[-1]",
    "[1:]": "[:]",
    " += ": " -= ",
    " 1": " 2",
    " 0.5": " 1.0",
}
# Lines whose faults are faults of texts, or of types.
LEFT_OUT = re.compile(
    r"^\s*(#|import |from |raise |@|cdef class|\"|f\"|'|f')|Error\(|strict="
)
# The tests of kernels, by their folder.
BESIDE = {
    "features": [
        *("tests/kernels", "tests/structures/test_observed.py"),
        *("tests/solvers/test_parallel.py", "tests/estimators/test_made_arcs.py"),
    ],
    "inference": ["tests/structures", "tests/kernels"],
    "math": ["tests/kernels"],
    "visits": ["tests/solvers", "tests/kernels"],
}
# Of the tests of a function, and of one run of all that are asked.
SECONDS, LIMIT = 5.0, 180.0


def lines_of_code(path):
    """Yield the numbers and the lines that a fault may be put into."""
    lines = path.read_text().splitlines()
    if path.suffix == ".py":
        left_out = code_figures.numbers_of(
            code_figures.docstrings(code_figures.tree_of(path))
        )
    else:
        text = path.read_text()
        left_out = {
            n
            for found in re.finditer(r'"""[\s\S]*?"""', text)
            for n in range(
                text.count("\n", 0, found.start()) + 1,
                text.count("\n", 0, found.end()) + 2,
            )
        }
    for number, line in enumerate(lines, 1):
        if number not in left_out and not LEFT_OUT.search(line):
            yield number, line.split("  #")[0]


def function_at(path, number):
    """Return the names of the innermost function of a line, None outside of all."""
    found = [
        node
        for node in ast.walk(code_figures.tree_of(path))
        if isinstance(node, code_figures.FUNCTIONS)
        and node.body[0].lineno <= number <= node.end_lineno
    ]
    return max(found, key=lambda node: node.lineno).name if found else None


def drawn(rng, room):
    """Return the path, the number, the line and its fault of one drawn fault."""
    paths = code_figures.files("*.py", "*.pyx")
    rooms = sorted({room_of(path) for path in paths})
    while True:
        own = room or rng.choice(rooms)
        path = rng.choice([p for p in paths if room_of(p) == own])
        lines = list(lines_of_code(path))
        if not lines:
            continue
        number, line = rng.choice(lines)
        tokens = [token for token in FAULTS if token in line]
        if not tokens or (path.suffix == ".py" and not function_at(path, number)):
            continue
        token = rng.choice(tokens)
        return path, number, line, line.replace(token, FAULTS[token], 1)


def room_of(path):
    """Return the folder of a module, with that of a kernel."""
    parts = path.relative_to(code_figures.ROOT).parts[:-1]
    return "/".join(parts[: 2 if parts[:1] == ("_kernels",) else 1]) or "top"


@cache
def calls(folder):
    """Return the tests that call each function, from one run of a folder."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        return covering.calls_of(folder)


def tests_of(path, number):
    """Return the tests that are asked, and how they were chosen."""
    room = room_of(path)
    if path.suffix == ".pyx":
        return BESIDE[room.split("/")[-1]], "folder"
    begin = f"{path.relative_to(ROOT)}:"
    name, seconds = function_at(path, number), {}
    for function, tests in calls(covering.tests_beside(path)).items():
        if function.startswith(begin) and name in function[len(begin) :].split("."):
            seconds |= tests
    # One case of each test comes before the second of any.
    n_before, order = Counter(), {}
    for test in sorted(seconds, key=seconds.get):
        name = test.split("[")[0]
        order[test] = n_before[name], seconds[test]
        n_before[name] += 1
    chosen, total = [], 0.0
    for test in sorted(order, key=order.get):
        total += seconds[test]
        if chosen and total > SECONDS:
            break
        chosen.append(test)
    return chosen, f"{len(chosen)} of {len(seconds)} that call it"


def run(copy, *arguments):
    """Run Python in the copy; return what it did."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )


def put(copy, path, text):
    """Write a module of the copy, and compile it; return whether that went well."""
    (copy / path.relative_to(ROOT)).write_text(text)
    if path.suffix == ".py":
        return True
    return not run(copy, "setup.py", "build_ext", "--inplace").returncode


def finder(copy, tests):
    """Return which test of the copy fails first, or None."""
    try:
        done = run(copy, "-m", "pytest", "-xq", "-p", "no:cacheprovider", *tests)
    except subprocess.TimeoutExpired:
        return f"no end after {LIMIT:.0f} s"
    if done.returncode == 0:
        return None
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return found[1] if found else f"exit status {done.returncode}"


def tried(copy, path, number, line, fault):
    """Put a fault into the copy, print who finds it, and return whether one does."""
    where = f"{path.relative_to(ROOT)}:{number}"
    print(f"{where}\n    {line.strip()}\n    {fault.strip()}", flush=True)
    tests, how = tests_of(path, number)
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    lines[number - 1] = lines[number - 1].replace(line, fault, 1)
    if not put(copy, path, "".join(lines)):
        found = "the compiler"
    else:
        begin = time.perf_counter()
        found = finder(copy, tests) if tests else None
        how = f"{time.perf_counter() - begin:.1f} s, {how}"
    put(copy, path, text)
    print(f"    {found or 'NOT FOUND'} ({how})", flush=True)
    return found is not None


def main():
    """Draw faults, and print who finds each of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--room", help="a folder of the package, such as solvers")
    options = parser.parse_args()
    rng, survivors = random.Random(options.seed), []
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        left_out = shutil.ignore_patterns(".git", "_build", "__pycache__", "found")
        shutil.copytree(ROOT, copy, ignore=left_out)
        for _ in range(options.number):
            path, number, line, fault = drawn(rng, options.room)
            if not tried(copy, path, number, line, fault):
                survivors.append(f"{path.relative_to(ROOT)}:{number}")
    print(f"{options.number - len(survivors)} of {options.number} found")
    print("\n".join(f"    not found: {where}" for where in survivors))


if __name__ == "__main__":
    main()
