"""What the suite itself rests on."""

import os
import subprocess
import sys
from collections import Counter
from inspect import signature
from itertools import combinations, product
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from pairs import by_pairs, in_one_test, pairwise_table

HERE = str(Path(__file__).parent)
FACTORS = ("abcde", (1, 2, 3), ("x", "y", "z"), (True, False))


def pairs_of(rows):
    """Return every pair of values, with the numbers of their factors."""
    return {
        ((a, row[a]), (b, row[b]))
        for row in rows
        for a, b in combinations(range(len(FACTORS)), 2)
    }


@pytest.mark.parametrize(
    "allowed", [None, lambda letter, number, *_: letter != "a" or number == 2]
)
def test_a_pairwise_table_has_every_pair_of_the_product(allowed):
    every = [row for row in product(*FACTORS) if allowed is None or allowed(*row)]
    rows = pairwise_table(*FACTORS, allowed=allowed)
    assert rows == [row for row in every if row in rows]
    assert pairs_of(rows) == pairs_of(every)
    assert len(rows) < len(every) / 2
    assert pairwise_table(*FACTORS, allowed=allowed) == rows


def test_the_rows_of_pairs_have_a_value_for_each_name():
    names, rows = by_pairs({"a,b": [(1, 2), (3, 4)], "c": [[5], [6]]}).args
    assert names == "a,b,c"
    assert sorted(rows) == [(1, 2, [5]), (1, 2, [6]), (3, 4, [5]), (3, 4, [6])]


def test_one_test_has_all_cases_each_time_that_it_runs():
    seen = []

    @in_one_test("a", iter([1, 2]))
    @in_one_test(("b", "c"), zip("xy", "zw", strict=True))
    def cases(a, b, c, fixture):
        seen.append((a, b, c, fixture))

    assert [*signature(cases).parameters] == ["fixture"]
    for fixture in "first", "second":
        cases(fixture=fixture)
        found = [(a, *own, fixture) for a in (1, 2) for own in ("xz", "yw")]
        assert seen[-4:] == found


def test_one_test_fails_as_its_case_does_and_names_it():
    @in_one_test("a", [1, 0])
    def cases(a):
        assert a

    with pytest.raises(AssertionError) as found:
        cases()
    assert found.value.__notes__ == ["The case is {'a': 0}."]
    with pytest.raises(ValueError, match=r"no case of 'a'"):
        in_one_test("a", ())


def test_a_case_that_is_skipped_ends_no_other():
    seen = []

    @in_one_test("a", [1, 2, 3])
    def cases(a):
        seen.append(a)
        if a == 2:
            pytest.skip("not here")

    with pytest.raises(pytest.skip.Exception, match="not here"):
        cases()
    assert seen == [1, 2, 3]


def test_blas_has_no_more_threads_than_the_environment_says():
    """No module imports NumPy before conftest.py has said how many."""
    most = os.environ.get("OPENBLAS_NUM_THREADS", os.environ["OMP_NUM_THREADS"])
    for pool in threadpool_info():
        assert pool["user_api"] != "blas" or pool["num_threads"] <= int(most)


def test_each_file_of_tests_has_a_name_of_its_own():
    """The folders are no packages: pytest imports the files by their names alone."""
    names = Counter(path.name for path in Path(HERE).rglob("test_*.py"))
    assert [name for name, n in names.items() if n > 1] == []


MARKED = """
import os, signal
import pytest

pytestmark = pytest.mark.survives
PARENT = os.getpid()
RUN = []

@pytest.mark.parametrize("i", range(6))
def test_marked(i):
    RUN.append(i)
    assert os.getpid() != PARENT
    if i == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if i == 2:
        os._exit(3)
    assert i != 4
    assert RUN == list(range(0 if i < 3 else 3, i + 1))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a crash ends the process")
def test_marked_tests_share_a_process_until_one_of_them_ends_it(tmp_path):
    file = tmp_path / "test_marked.py"
    file.write_text(MARKED)
    options = ["-q", "-p", "conftest", "-W", "ignore::pytest.PytestUnknownMarkWarning"]
    run = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", *options, f"--rootdir={tmp_path}", file],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([HERE, *sys.path])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    failed = [line for line in run.stdout.splitlines() if line.startswith("FAILED")]
    assert [line[line.index("[") + 1] for line in failed] == ["1", "2", "4"]
    assert [f"with {code}" in run.stdout for code in (-9, 3)] == [True, True]
    assert "3 failed, 3 passed" in run.stdout
