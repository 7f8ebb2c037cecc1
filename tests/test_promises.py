"""The page of promises names the tests that check them."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "promises.rst"


def test_the_files_that_it_names_are_there():
    named = set(re.findall(r"``(\w+\.py)``", PAGE.read_text()))
    assert len(named) > 10
    assert named <= {path.name for path in TESTS.rglob("*.py")}
