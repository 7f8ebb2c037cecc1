"""Files that must agree with pyproject.toml, and sources that are not compiled."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

from skcrf_sdca import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def lower_bounds(requirements):
    found = {}
    for requirement in map(Requirement, requirements):
        for bound in requirement.specifier:
            assert bound.operator == ">=", (
                f"{requirement}: only lower bounds are tested"
            )
            found[requirement.name] = Version(bound.version)
    return found


def test_the_oldest_versions_that_ci_tests_are_those_that_are_allowed():
    if not (ROOT / ".ci").exists():
        return  # An sdist has no CI.
    lines = (ROOT / ".ci" / "oldest.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if line and line[0] != "#"]
    tested = {p.name: Version(str(p.specifier).removeprefix("==")) for p in pins}
    needed = lower_bounds(PROJECT["dependencies"])
    extras = PROJECT["optional-dependencies"]
    taken = {}
    for extra in extras.values():
        taken |= lower_bounds(r for r in extra if not r.startswith("skcrf-sdca"))
    assert {name: tested[name] for name in needed} == needed
    others = {name: version for name, version in tested.items() if name not in needed}
    assert others == {name: taken[name] for name in others}


def test_the_citation_is_of_this_version():
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == __version__
    assert f"license: {PROJECT['license']}\n" in citation
    assert PROJECT["authors"][0]["name"] in citation


def test_classifiers_begin_with_the_oldest_python():
    minor = int(PROJECT["requires-python"].removeprefix(">=3."))
    listed = re.findall(r"Python :: 3\.(\d+)", "\n".join(PROJECT["classifiers"]))
    assert int(listed[0]) == minor
    assert list(map(int, listed)) == list(range(minor, minor + len(listed)))


def test_every_python_that_is_listed_is_in_the_table_of_what_was_run():
    listed = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    page = (ROOT / "docs" / "install.rst").read_text()
    rows = re.findall(r"^     - (3\.\d+(?:, 3\.\d+)*)$", page, re.MULTILINE)
    assert sorted(set(", ".join(rows).split(", "))) == listed


def test_sources_that_are_not_compiled_say_what_to_do(tmp_path):
    leave_out = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(ROOT / "skcrf_sdca", tmp_path / "skcrf_sdca", ignore=leave_out)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", "import skcrf_sdca"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    last_line = done.stderr.splitlines()[-1]
    assert last_line.startswith("ImportError: skcrf_sdca was imported from ")
    assert str(tmp_path) in last_line
    assert "start Python in another folder" in last_line
