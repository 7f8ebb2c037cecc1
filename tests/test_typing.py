"""The public interface has types, and a type checker uses them."""

import importlib
import inspect
import os
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

import skcrf_sdca

# Modules whose functions users call, and those of the returned objects.
PUBLIC = [
    "skcrf_sdca",
    *(
        f"skcrf_sdca.{name}"
        for name in (
            "compat",
            "data.label_encoding",
            "data.packed",
            "data.spans",
            "data.tagging_schemes",
            "datasets",
            "estimators.alpha_path",
            "estimators.callbacks",
            "estimators.crfs",
            "model.explanation",
            "estimators.model_selection",
            "estimators.online",
            "model.tables",
            "estimators.tagger",
            "features.hasher",
            "features.per_token",
            "features.union",
            "features.vectorizer",
            "metrics",
            "persistence",
            "plotting",
            "serving",
            "structures.chain.decoding",
            "structures.chain.marginals",
            "structures.chain.oracle",
            "text",
        )
    ),
]
# Internal observers that callbacks.py defines too.
INSIDE = {"CallbackBridge", "EpochPrinter"}


def functions_of(cls):
    """Yield the names and functions of the public methods and properties of a class."""
    for name in dir(cls):
        if name.startswith("_") and name != "__init__":
            continue
        found = inspect.getattr_static(cls, name)
        function = getattr(found, "fget", None) or getattr(found, "__func__", found)
        if inspect.isfunction(function) and function.__module__.startswith("skcrf_"):
            yield f"{cls.__qualname__}.{name}", function


def public_functions():
    for module in map(importlib.import_module, PUBLIC):
        names = getattr(module, "__all__", None) or {*vars(module)} - INSIDE
        for name in names:
            thing = getattr(module, name)
            owner = getattr(thing, "__module__", "")
            if name.startswith("_") or not owner.startswith(module.__name__):
                continue
            if inspect.isclass(thing):
                yield from functions_of(thing)
            elif inspect.isfunction(thing):
                yield name, thing


FUNCTIONS = dict(sorted(set(public_functions()), key=lambda pair: pair[0]))


def test_all_of_it_is_looked_at():
    assert {"SDCACRF.__init__", "OEGCRF.fit", "PackedSequences.lengths"} <= {*FUNCTIONS}
    assert {"viterbi", "span_f1_score", "read_conll", "load_model"} <= {*FUNCTIONS}
    assert len(FUNCTIONS) > 200


def untyped(function):
    """Return the names of the parameters without a type, and "return"."""
    signature = inspect.signature(function)
    names = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.annotation is parameter.empty
        and parameter.name not in ("self", "cls")
    ]
    no_result = signature.return_annotation is signature.empty
    return [*names, "return"] if no_result else names


def test_every_parameter_and_result_has_a_type():
    found = {}
    for name, wrapped in FUNCTIONS.items():
        function = inspect.unwrap(wrapped)
        # Dataclasses and named tuples generate methods with the types of their fields.
        if not function.__code__.co_filename.startswith("<"):
            found[name] = untyped(function)
    assert not {name: names for name, names in found.items() if names}


def test_the_package_says_that_it_has_types():
    assert (resources.files(skcrf_sdca) / "py.typed").is_file()


def mypy(path):
    """Return mypy's output for a user's script that imports the package."""
    root = Path(skcrf_sdca.__file__).parents[1]
    environment = dict(os.environ)
    if (root / "pyproject.toml").exists():
        environment["MYPYPATH"] = str(root)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file="]
    cache = path.parents[1] / "mypy"
    command += ["--follow-imports=silent", "--cache-dir", cache, path]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert not done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_typed_script_passes_the_strictest_check(tmp_path):
    script = tmp_path / "script.py"
    script.write_text((Path(__file__).parent / "typed_script.py").read_text())
    said = mypy(script)
    assert said.startswith("Success"), said


WRONG = """\
from skcrf_sdca import SDCACRF, PackedSequences, SequenceVectorizer, cross_val_predict
from skcrf_sdca import make_tagger
from skcrf_sdca.metrics import extract_spans
from skcrf_sdca.text import Suffix

crf = SDCACRF("strong")
SDCACRF(sampling="gaps")
SDCACRF(1.0, 100)
SDCACRF(max_iter="many")
crf.fit(3, [["O"]])
crf.predict([["a"]], decoding="best")
crf.predict_n_best([[["a"]]], "3")
crf.score([[["a"]]], [["O"]]).append(1)
crf.duality_gap_.append(1)
make_tagger(crf).predict_n_best([[["a"]]], "3")
SequenceVectorizer(dtype=int)
PackedSequences(1, None)
extract_spans(["O"], "BILOSE")
Suffix("s")
"""


@pytest.mark.slow
def test_wrong_types_are_found(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(WRONG)
    found = re.findall(r"script\.py:(\d+): error", mypy(script))
    first = WRONG.splitlines().index('crf = SDCACRF("strong")') + 1
    wanted = [1, *range(first, len(WRONG.splitlines()) + 1)]
    assert sorted(set(map(int, found))) == wanted
