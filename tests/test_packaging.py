"""Files that must agree with pyproject.toml, and what setup.py compiles anew."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from contextlib import chdir
from pathlib import Path
from unittest import mock

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from skcrf_sdca import __version__

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "skcrf_sdca" / "_kernels"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, TOOLS = PYPROJECT["project"], PYPROJECT["tool"]


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


def test_the_first_lines_name_the_structures_in_the_same_words():
    files = ["README.rst", "CITATION.cff", "docs/index.rst", "skcrf_sdca/__init__.py"]
    texts = [(ROOT / name).read_text(encoding="utf-8")[:600] for name in files]
    for text in [*texts, PROJECT["description"]]:
        assert "of sequences, segments, trees and graphs" in " ".join(text.split())


def test_the_page_of_contributors_names_the_oldest_python_and_what_is_needed():
    page = " ".join((ROOT / "docs" / "contributing.rst").read_text().split())
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert f"``.ci/run`` uses every CPython from {oldest} on" in page
    (needed,) = re.findall(r"the package needs only (.*?)\.", page)
    needed = {name.lower() for name in re.split(", | and ", needed)}
    assert needed == set(lower_bounds(PROJECT["dependencies"]))


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


def workflow(name):
    """Return the jobs of a workflow of GitHub."""
    yaml = pytest.importorskip("yaml")
    text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text()
    return yaml.safe_load(text)["jobs"]


needs_workflows = pytest.mark.skipif(
    not (ROOT / ".github").exists(), reason="an sdist has no workflows"
)


@needs_workflows
def test_wheels_are_of_the_platforms_and_pythons_that_are_tested():
    tests = workflow("tests")["tests"]["strategy"]["matrix"]
    wheels = workflow("wheels")
    assert wheels["wheels"]["strategy"]["matrix"]["os"] == tests["os"]
    (built,) = TOOLS["cibuildwheel"]["build"]
    first, last = re.fullmatch(r"cp31\[(\d)-(\d)\]-\*", built).groups()
    assert tests["python"] == [f"3.1{i}" for i in range(int(first), int(last) + 1)]
    assert f">={tests['python'][0]}" == PROJECT["requires-python"]


@needs_workflows
def test_only_tags_are_published_and_without_a_token():
    jobs = workflow("wheels")
    assert jobs["publish"]["if"] == "github.event_name == 'push'"
    assert set(jobs["publish"]["needs"]) == jobs.keys() - {"publish"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    for path in (ROOT / ".github" / "workflows").iterdir():
        assert "secrets" not in path.read_text()


@needs_workflows
def test_the_oldest_scikit_learn_and_all_later_ones_are_tested():
    jobs = workflow("tests")
    oldest = lower_bounds(PROJECT["dependencies"])["scikit-learn"]
    versions = jobs["scikit-learn"]["strategy"]["matrix"]["version"]
    assert versions == [f"1.{minor}" for minor in range(oldest.minor, 9)]
    assert any("oldest.txt" in step.get("run", "") for step in jobs["oldest"]["steps"])
    (nightly,) = workflow("nightly").values()
    assert any("scikit-learn@main" in step.get("run", "") for step in nightly["steps"])


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


def defined_by_setup():
    """Return what setup.py defines, without a build."""
    with chdir(ROOT), mock.patch("setuptools.setup") as setup:
        defined = runpy.run_path("setup.py", run_name="__main__")
    return defined, setup.call_args.kwargs["ext_modules"]


def test_every_source_of_the_kernels_is_compiled():
    _, modules = defined_by_setup()
    sources = [source for module in modules for source in module.sources]
    written = {path.relative_to(ROOT).as_posix() for path in KERNELS.rglob("*.pyx")}
    written |= {p.relative_to(ROOT).as_posix() for p in KERNELS.rglob("[!_]*.c")}
    assert sorted(sources) == sorted(written | {"skcrf_sdca/_kernels/_cython.c"})


def test_options_are_of_modules_that_exist():
    defined, _ = defined_by_setup()
    named = {*defined["OPTIONS_OF"], *defined["LINK_OPTIONS_OF"]}
    assert named <= {path.stem for path in KERNELS.rglob("*.pyx")}


SOURCES = {
    "low/_low.pxd": 'cdef extern from "low.h":\n    int f()\n',
    "low/_low.pyx": 'cdef extern from "low.h":\n    pass\n',
    "low/low.c": '#include "low.h"\n#include "common.h"\n',
    "low/low.h": '#include <math.h>\n# include "lower.h"\n',
    "low/lower.h": "int f(void);\n",
    "high/common.h": "",
    "high/_high.pyx": "from skcrf_sdca._kernels.low._low cimport f\nx = f()\n",
    "high/_alone.pyx": "",
}


# Builds once, and then after each change; one process imports what setup.py needs.
BUILDS = """
import json, os, runpy, sys
from pathlib import Path
import Cython.Build, setuptools.command.build_ext

def built(changed=None):
    for path in Path().rglob("*"):
        os.utime(path, (1e9, 1e9))
    if changed is not None:
        os.utime(Path("skcrf_sdca", "_kernels", changed))
    child = os.fork()
    if child == 0:
        sys.argv = ["setup.py", "--quiet", "build_ext"]
        runpy.run_path("setup.py", run_name="__main__")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    libraries = Path("build").rglob("*.so")
    return [p.name.partition(".")[0] for p in libraries if p.stat().st_mtime > 1e9]

print(json.dumps([built(), *map(built, json.loads(sys.argv[1]))]))
"""


@pytest.fixture(scope="module")
def compiled_after(tmp_path_factory):
    """What is compiled after each change of three modules with our setup.py."""
    folder = tmp_path_factory.mktemp("project")
    for name, text in SOURCES.items():
        path = folder / "skcrf_sdca" / "_kernels" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        for package in path.parents[:3]:
            (package / "__init__.py").touch()
    shutil.copy(ROOT / "setup.py", folder)
    # In the place of a compiler: it makes empty files.
    compiler = folder / "compiler"
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done; : >"$2"\n')
    compiler.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-P", "-c", BUILDS, json.dumps(list(COMPILED))],
        cwd=folder,
        env={**os.environ, "CC": str(compiler), "LDSHARED": str(compiler)},
        check=True,
        capture_output=True,
        text=True,
    )
    first, *after = map(set, json.loads(done.stdout.splitlines()[-1]))
    assert first == {"_cython", "_low", "_high", "_alone"}
    return dict(zip(COMPILED, after, strict=True))


# Changed file -> what a build then compiles.
COMPILED = {
    None: set(),
    "low/_low.pxd": {"_low", "_high"},
    "low/lower.h": {"_low", "_high"},
    "low/low.c": {"_low"},
    "high/common.h": {"_low"},
    "high/_high.pyx": {"_high"},
}


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the compiler is a shell script")
@pytest.mark.parametrize(("changed", "compiled"), COMPILED.items())
def test_a_build_compiles_what_depends_on_what_changed(
    compiled_after, changed, compiled
):
    assert compiled_after[changed] == compiled
