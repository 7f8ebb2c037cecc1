"""What the suite itself rests on."""

import os
from collections import Counter
from itertools import combinations, product
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from pairs import pairwise_table

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


def test_blas_has_no_more_threads_than_the_environment_says():
    """No module imports NumPy before conftest.py has said how many."""
    most = os.environ.get("OPENBLAS_NUM_THREADS", os.environ["OMP_NUM_THREADS"])
    for pool in threadpool_info():
        assert pool["user_api"] != "blas" or pool["num_threads"] <= int(most)


def test_each_file_of_tests_has_a_name_of_its_own():
    """The folders are no packages: pytest imports the files by their names alone."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert [name for name, n in names.items() if n > 1] == []
