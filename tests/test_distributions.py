"""The wheel holds no sources; the sdist holds all of them."""

import os
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[1]
# Modules of 40 kB each, without the symbols of a debugger, which would double it.
MAX_BYTES = 3_850_000

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """Folder of wheel and sdist; SKCRF_SDCA_DIST names it if they are built already."""
    if folder := os.environ.get("SKCRF_SDCA_DIST"):
        return Path(folder)
    folder = tmp_path_factory.mktemp("dist")
    # The wheel is built from the sdist, in an isolated environment.
    command = [sys.executable, "-m", "build", "--outdir", folder, ROOT]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def sdist(distributions):
    """Paths of the files in the sdist, without its top folder."""
    (path,) = distributions.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = [member.name for member in archive if member.isfile()]
    return {name.partition("/")[2] for name in names}


@pytest.fixture(scope="module")
def wheel(distributions):
    (path,) = distributions.glob("*.whl")
    return path


def tracked():
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode != 0:
        pytest.skip("needs the list of files that git has")
    return {name for name in listed.stdout.split("\0") if name and name[0] != "."}


def test_the_sdist_holds_every_file_and_no_others(sdist):
    made = {name for name in sdist if name.startswith("skcrf_sdca.egg-info/")}
    assert sdist - made - {"PKG-INFO"} == tracked()


def test_the_wheel_holds_modules_and_what_was_compiled(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    package = {name for name in names if ".dist-info/" not in name}
    assert {PurePosixPath(name).parts[0] for name in package} == {"skcrf_sdca"}
    modules = {p.relative_to(ROOT).as_posix() for p in ROOT.glob("skcrf_sdca/**/*.py")}
    compiled = {name for name in package if name.endswith((".so", ".pyd"))}
    assert package - compiled == modules | {"skcrf_sdca/py.typed"}
    sources = {
        p.relative_to(ROOT).with_suffix("") for p in ROOT.glob("skcrf_sdca/**/*.pyx")
    }
    wanted = {"skcrf_sdca/_kernels/_cython", *(path.as_posix() for path in sources)}
    assert {name.partition(".")[0] for name in compiled} == wanted


def test_the_wheel_is_small(wheel):
    assert wheel.stat().st_size < MAX_BYTES


def test_the_metadata_say_what_the_package_is(wheel):
    archive = zipfile.ZipFile(wheel)
    (name,) = (n for n in archive.namelist() if n.endswith("/METADATA"))
    metadata = Parser().parsestr(archive.read(name).decode())
    assert metadata["Name"] == "skcrf-sdca"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Description-Content-Type"] == "text/x-rst"
    assert metadata.get_payload().startswith("skcrf_sdca\n==========")
    assert any(n.endswith(".dist-info/licenses/LICENSE") for n in archive.namelist())
