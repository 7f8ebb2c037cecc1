"""Packages that import the modules of their names lazily."""

import importlib
import subprocess
import sys

import pytest

import skcrf_sdca

PACKAGES = [
    *("skcrf_sdca", "skcrf_sdca.text", "skcrf_sdca.persistence"),
    *("skcrf_sdca.compat", "skcrf_sdca.compat.pycrfsuite"),
]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_public_name_is_there_and_no_other(name):
    package = importlib.import_module(name)
    for public in package.__all__:
        assert getattr(package, public) is not None
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'no'"):
        package.no  # noqa: B018


@pytest.mark.parametrize("name", skcrf_sdca._MOVED)
def test_the_old_place_of_a_name_says_the_new_one(name):
    place = f"skcrf_sdca.{skcrf_sdca._MOVED[name]}"
    message = f"{name} is in {place}: write from {place} import {name}$"
    with pytest.raises(ImportError, match=message):
        exec(f"from skcrf_sdca import {name}")
    with pytest.raises(AttributeError, match=message):
        getattr(skcrf_sdca, name)
    assert not hasattr(skcrf_sdca, name)
    module = importlib.import_module(place)
    assert name in module.__all__
    assert getattr(module, name) is not None


def test_the_import_of_the_packages_leaves_slow_ones_alone():
    code = f"""
import sys, skcrf_sdca
assert "skcrf_sdca.persistence" not in sys.modules
import {", ".join(PACKAGES)}
assert "sklearn" not in sys.modules
"""
    subprocess.run([sys.executable, "-P", "-c", code], check=True)
