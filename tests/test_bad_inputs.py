"""Bad and unusual inputs, T01 to T58 and more, for every estimator.

The cases are in bad_inputs.py. All run in one process of their own, which must survive
them: if it dies, the case that it was at fails, by name, and another process goes on
with the next. T56 is in test_common.py.
"""

import json
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from bad_inputs import CASES, ESTIMATORS, NOT_OF_COMPAT

PROGRAM = Path(__file__).with_name("bad_inputs.py")
ALL = list(product(ESTIMATORS, sorted(CASES)))
ALL += [("CRF", name) for name in sorted(CASES.keys() - NOT_OF_COMPAT)]


def try_all(cases):
    """Return {case: outcome}, in as many processes as it takes."""
    outcomes = {}
    while len(outcomes) < len(cases):
        rest = cases[len(outcomes) :]
        done = subprocess.run(
            [sys.executable, PROGRAM],
            input=json.dumps(rest),
            capture_output=True,
            text=True,
        )
        found = dict(json.loads(line) for line in done.stdout.splitlines())
        if not found:
            pytest.fail(f"the program does not start: {done.stderr}")
        for number, outcome in found.items():
            died = f"the process died, with {done.returncode}:\n{done.stderr}"
            outcomes[rest[number]] = outcome or died
    return outcomes


@pytest.fixture(scope="module")
def outcomes():
    return try_all(ALL)


@pytest.mark.parametrize("case", ALL, ids=lambda case: "-".join(reversed(case)))
def test_input(case, outcomes):
    assert outcomes[case] == "ok", outcomes[case]


def test_every_input_of_the_list_is_tried():
    tried = {int(name[1:3]) for name in CASES if name[0] == "t"}
    assert NOT_OF_COMPAT < CASES.keys()
    assert tried == set(range(1, 59)) - {56}
