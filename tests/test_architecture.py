"""The data flows one way: a module imports only from those above it."""

import ast
from pathlib import Path

import pytest

# The sources: an installed package holds only a part of them.
ROOT = Path(__file__).parents[1] / "skcrf_sdca"

# From the ground up; modules of one line do not import each other.
LAYERS = [
    ["_kernels", "_memory", "_files", "_rows", "_typing"],
    ["_version"],
    ["packed_file"],
    ["_parallel", "data", "spans", "plotting", "tables"],
    ["marginals", "kinds", "explanation"],
    ["_fitted"],
    ["labels", "features"],
    ["pipeline", "text"],
    ["union"],
    ["oracle", "metrics"],
    ["decoding", "model", "constraints"],
    ["problem"],
    ["samplers"],
    ["solvers.base", "solvers.shares"],
    ["solvers.team"],
    ["solvers.dual"],
    ["solvers.sdca", "solvers.oeg", "solvers.sag", "solvers.lbfgs"],
    ["callbacks"],
    ["_inputs", "_span_inputs"],
    ["_prediction", "_inspection", "_trimming"],
    ["_base"],
    ["estimators", "path", "model_selection"],
    ["compat", "distributed"],
    ["persistence"],
    ["datasets"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
# The package's face, and two packages in it, only hand names on.
FACES = {"__init__", "compat.__init__", "distributed.__init__", "solvers.__init__"}


def layer_of(module):
    """Return the entry of LEVEL that a dotted module name belongs to."""
    parts = module.split(".")
    names = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((name for name in names if name in LEVEL), None)


def modules():
    for path in sorted(ROOT.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if name not in FACES:
            yield name, path


def imports(path):
    """Yield the modules of the package that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        known = [n.removeprefix("skcrf_sdca.") for n in names if "skcrf_sdca." in n]
        yield from {layer_of(n) for n in known} - {None}


@pytest.mark.parametrize(("name", "path"), list(modules()), ids=str)
def test_imports_only_from_above(name, path):
    own = layer_of(name)
    assert own is not None, f"{name} has no place in LAYERS"
    for imported in imports(path):
        assert imported == own or LEVEL[imported] < LEVEL[own], (
            f"{name} imports {imported}"
        )


def test_every_layer_exists():
    found = {layer_of(name) for name, _ in modules()}
    assert found == set(LEVEL)


SOURCES = [p for p in sorted(ROOT.rglob("*.p*")) if p.suffix in {".py", ".pyx", ".pxd"}]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_first_lines_say_what_the_module_owns(path):
    lines = [line for line in path.read_text().splitlines() if line[:1] != "#"]
    assert lines[0].startswith('"""')


def test_kernels_do_not_need_the_headers_of_numpy():
    for path in (ROOT / "_kernels").glob("*.p[yx]*"):
        assert "cimport numpy" not in path.read_text()
