"""Names of packages that are imported when somebody asks for one."""

import importlib
import subprocess
import sys

import pytest

PACKAGES = ["skcrf_sdca", "skcrf_sdca.text", "skcrf_sdca.persistence"]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_public_name_is_there_and_no_other(name):
    package = importlib.import_module(name)
    for public in package.__all__:
        assert getattr(package, public) is not None
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'no'"):
        package.no  # noqa: B018


@pytest.mark.parametrize("name", PACKAGES)
def test_the_import_of_a_package_leaves_scikit_learn_alone(name):
    code = f"import sys, {name}; print('sklearn' in sys.modules)"
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
