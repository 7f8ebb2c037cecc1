"""The data flows one way: a module imports only from folders above its own."""

import ast
import inspect
import io
import re
import sys
import textwrap
import tokenize
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import code_figures
import skcrf_sdca
from skcrf_sdca._kernels.visits._item import Item
from skcrf_sdca.structures.registry import STRUCTURES
from skcrf_sdca.structures.structure import Structure

# The sources: an installed package holds only a part of them.
ROOT = Path(__file__).parents[1] / "skcrf_sdca"

# From the ground up. The files of one folder import each other without a circle.
FOLDERS = (
    "_version _utils _kernels data features text metrics structures objective solvers "
    "plotting model estimators selection inspection compat distributed persistence "
    "serving datasets testing command __init__ __main__"
).split()


def name_of(path):
    return str(path.relative_to(ROOT))


@cache
def imported_names(path):
    """Return the dotted names that a file imports, anywhere in it."""
    found = []
    for node in ast.walk(code_figures.tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
            found += (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
    return found


def imports(path):
    """Yield the modules of the package that a file imports, as lists of their parts."""
    names = imported_names(path)
    yield from (n.split(".")[1:] for n in names if n.startswith("skcrf_sdca."))


def folder_of(path):
    return path.relative_to(ROOT).with_suffix("").parts[0]


MODULES = sorted(ROOT.rglob("*.py"))


def test_imports_only_from_folders_above():
    below = {
        (name_of(path), name)
        for path in MODULES
        for [name, *_] in imports(path)
        if name in FOLDERS
        and FOLDERS.index(name) > FOLDERS.index(folder_of(path))
        and name != "persistence"
    }
    assert not below


@pytest.mark.parametrize("folder", [name for name in FOLDERS if (ROOT / name).is_dir()])
def test_files_of_a_folder_import_each_other_without_a_circle(folder):
    files = {p.relative_to(ROOT).with_suffix("").parts: p for p in MODULES}
    own = {name: path for name, path in files.items() if name[0] == folder}
    graph = {
        name: {tuple(i) for i in imports(path) if tuple(i) in own and tuple(i) != name}
        for name, path in own.items()
    }
    TopologicalSorter(graph).prepare()


def test_private_names_of_sklearn_are_imported_in_one_module():
    importing = {
        name_of(path)
        for path in MODULES
        for name in imported_names(path)
        if name.startswith("sklearn.") and "._" in name
    }
    assert importing == {"_utils/sklearn_private.py"}


def test_the_package_has_the_names_that_type_checkers_see():
    body = ast.parse((ROOT / "__init__.py").read_text()).body
    # The imports, and after them what type checkers do not see.
    block, _ = (node.body for node in body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in block for alias in node.names}
    assert {*seen, "__version__"} == set(skcrf_sdca.__all__)
    for name, module in seen.items():
        assert getattr(skcrf_sdca, name) is getattr(sys.modules[module], name)
    assert set(dir(skcrf_sdca)) - set(skcrf_sdca.__all__) <= set(FOLDERS)


def test_every_folder_has_a_place():
    assert {folder_of(path) for path in MODULES} == set(FOLDERS)


SOURCES = [p for p in sorted(ROOT.rglob("*.p*")) if p.suffix in {".py", ".pyx", ".pxd"}]


def first_line(path):
    """Return the first line of a file that is no comment."""
    lines = path.read_text().splitlines()
    return next(line for line in lines if not line.startswith("#"))


def test_first_lines_say_what_the_module_owns():
    silent = {name_of(p) for p in SOURCES if not first_line(p).startswith('"""')}
    assert not silent


def test_no_error_has_an_empty_message():
    # No memory for a message; and what the caller catches.
    may_be_silent = {"MemoryError", "StopIteration", "CommClosedError"}
    raised = re.compile(r"raise ([A-Z]\w+)(?:\(\))?(?: from \w+)?$", re.MULTILINE)
    silent = {
        (name_of(path), own)
        for path in SOURCES
        for own in set(raised.findall(path.read_text())) - may_be_silent
    }
    assert not silent


def test_no_possessive_quantifier_follows_a_group():
    # Until 3.11.4, Python goes on behind the part of a repetition that matched before
    # it failed: "Bern." was one word. An atomic group (?>(?:...)*) is right everywhere.
    possessive = re.compile(r"\)(?:[*+?]|\{[\d,]+\})\+")
    texts = (
        (name_of(path), node.value)
        for path in MODULES
        for node in ast.walk(code_figures.tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    assert not [name for name, text in texts if possessive.search(text)]


def test_kernels_do_not_need_the_headers_of_numpy():
    for path in (ROOT / "_kernels").rglob("*.p[yx][xd]"):
        assert "cimport numpy" not in path.read_text()


def test_kernels_check_the_errors_of_isinstance():
    """Cython checks none where classes stand in a tuple, unless they are built in."""
    built_in = {"list", "tuple", "dict", "set", "str", "bytes", ""}
    for path in SOURCES:
        tuples = re.findall(r"isinstance\([^()]*, \(([^()]*)\)\)", path.read_text())
        names = {name.strip() for names in tuples for name in names.split(",")}
        assert path.suffix == ".py" or names <= built_in, path


# The largest numbers that were reached; a change may lower them.
AT_MOST = {
    "repeated_parameters": 10,
    "long_functions": 0,
    "wide_functions": 13,
    "long_modules": 41,
    "private_names": 2,
    "branches_on_structure": 3,
    "kinds": 219,
    "arrows": 55,
    "top_level_names": 23,
}


@pytest.mark.parametrize("figure", AT_MOST)
def test_figures_of_the_sources_do_not_grow(figure):
    found = getattr(code_figures, figure)()
    assert len(found) <= AT_MOST[figure], found


def test_the_page_of_contributors_has_the_limits_that_are_kept():
    page = " ".join((ROOT.parent / "docs/contributing.rst").read_text().split())
    assert (
        f"A new function has at most {code_figures.MAX_LINES} lines of code and "
        f"{code_figures.MAX_PARAMETERS} parameters, a new module at most "
        f"{code_figures.MAX_MODULE} lines."
    ) in page


def test_the_folders_are_listed_in_the_order_of_reading():
    private = {"_version", "__init__", "__main__"}
    folders = [name for name in FOLDERS if name not in private]
    listed = re.findall(r"^    (\w+)/? +\w", skcrf_sdca.__doc__, re.MULTILINE)
    assert listed == folders
    page = (ROOT.parent / "docs/contributing.rst").read_text()
    rows = re.findall(r"^``(\w+)(?:/|\.py)`` +\w", page, re.MULTILINE)
    assert rows == folders


# What users call; the folders below the estimators do not need these names.
PUBLIC = {
    "EdgeFeatures",
    "TransitionDisplay",
    "edge_coef_",
    "edge_features",
    "higher_transitions_",
    "transition",
    "Transitions",
    "predict_edge_proba",
    "transition_",
    "transition_features",
    "transition_features_",
    "transitions",
    "TransitionFeatureWeights",
    "all_possible_transitions",
    "_transitions",
    "edgecolor",
    # Of graphs, whose users pass edges with features and get weights of these.
    "edge_coef",
    "Edges",
    "edges",
    "n_edge_features_in_",
}
# The file format of CRFsuite, and data made by a chain, have transitions of their own.
OTHER_CHAINS = {
    "_conversion.py",
    "_dump.py",
    "_model_file.py",
    "_tagger.py",
    "_training.py",
    "_online_training.py",
    "_chains.py",
}


def test_only_the_chain_knows_its_cliques():
    for path in MODULES:
        if "structures" in path.parts or path.name in OTHER_CHAINS:
            continue
        tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
        names = {token.string for token in tokens if token.type == tokenize.NAME}
        known = {name for name in names if re.search("edge|transition", name, re.I)}
        assert known <= PUBLIC, path


@pytest.mark.parametrize(
    "folder", "data features text metrics objective solvers".split()
)
def test_nothing_below_the_estimators_says_edge_or_transition(folder):
    # The reader and the makers of graphs, whose edges are data, have their own files.
    names = ["data/graphs", "data/graph_data", "data/images", "features/image_window"]
    of_graphs = {ROOT / f"{name}.py" for name in names}
    for path in set((ROOT / folder).rglob("*.py")) - of_graphs:
        # The parameter by which an estimator finds features of pairs of labels.
        text = path.read_text().replace("edge_features", "")
        assert not re.search("edge|transition", text, re.I), path


# Estimators of one structure alone, which may use what it adds.
ESTIMATORS_OF = {
    "graphs.py": "graph",
    "segments.py": "segments",
}


def structures_of(function, maker):
    """Return the names of a function's variables that are calls of ``maker``."""
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Assign))
    return {
        target.id
        for node in calls
        if isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func).rsplit(".", 1)[-1] == maker
        for target in node.targets
        if isinstance(target, ast.Name)
    }


@cache
def attributes_of_structures(path):
    """Return what a file uses of structures, and of the compiled ones, by names."""
    used, compiled = set(), set()
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for function in ast.walk(code_figures.tree_of(path)):
        if not isinstance(function, functions):
            continue
        kernels = structures_of(function, "kernel")
        own = structures_of(function, "structure") | {"structure"} - kernels
        for node in ast.walk(function):
            if not isinstance(node, ast.Attribute):
                continue
            owner = ast.unparse(node.value)
            if owner in own or owner.endswith(".structure"):
                used.add(node.attr)
            elif owner in kernels:
                compiled.add(node.attr)
    return used, compiled


def declared(cls):
    """Return the attributes of a class, with those that its constructor sets."""
    names = set(dir(cls))
    for base in cls.__mro__[:-1]:
        if "__init__" not in vars(base):
            continue
        code = ast.parse(textwrap.dedent(inspect.getsource(base.__init__)))
        names |= {
            node.attr
            for node in ast.walk(code)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
    return names | set(inspect.get_annotations(cls))


OF_USERS = {"objective", "solvers", "model", "estimators"}
USERS = [p for p in MODULES if folder_of(p) in OF_USERS]


def test_what_is_used_of_structures_is_declared_by_their_base():
    bases = [Structure, *(STRUCTURES[name] for name in ESTIMATORS_OF.values())]
    names = {base: declared(base) for base in bases}
    for path in USERS:
        used, compiled = attributes_of_structures(path)
        name = ESTIMATORS_OF.get(path.name)
        base = Structure if name is None else STRUCTURES[name]
        assert used <= names[base], path
        assert compiled <= set(dir(Item)), path


def test_the_search_for_what_is_used_of_structures_finds_it():
    found = [attributes_of_structures(path) for path in USERS]
    used, compiled = (set().union(*names) for names in zip(*found, strict=True))
    # By `structure`, `problem.structure`, `self.structure`, `chains` and `graphs`.
    assert used >= {"kernel", "sizes", "mix_marginals", "cost_of_states", "fixed"}
    assert compiled == {"keep_marginals"}


# What structures of a level must have.
OF_LEVELS = {
    "visit": {"kernel", "distinct_features", "in_partition", "n_coef_in"},
    "direct": {
        "marginal_axes",
        "uniform_marginals",
        "mix_marginals",
        "marginals_of",
        "size_of_marginals",
        "describe_marginals",
    },
}


@pytest.mark.parametrize("structure", STRUCTURES.values())
@pytest.mark.parametrize("level", OF_LEVELS)
def test_structures_have_the_methods_of_their_levels(structure, level):
    own = {
        name
        for name in OF_LEVELS[level]
        if getattr(structure, name) is not getattr(Structure, name)
    }
    assert level not in structure.levels or own == OF_LEVELS[level]


# Methods that the base answers, or that may have nothing to do.
ANSWERED = {"lacks", "take", "set_tied", "add_local_labels", "excess"}


def test_inference_names_each_method_that_it_lacks():
    text = (ROOT / "_kernels/inference/_inference.pyx").read_text()
    classes = [part for part in text.split("\ncdef class ") if "Inference" in part[:20]]
    methods = re.split(r"\n    (?=cdef |def )", "".join(classes))
    names = {re.match(r"cdef [\w ]+?[ *](\w+)\(", method) for method in methods}
    named = {name[1] for name in names if name and "noexcept nogil" in name.string}
    lacked = set(re.findall(r'self\.lacks\(b"(\w+)"\)', text))
    assert lacked == named - ANSWERED
    assert {"expect", "argmax", "set_direction"} <= lacked


# What a structure was made with is for its own folder; there are questions to ask it.
MADE_WITH = {"boundaries", "pairs", "keeps_forbidden"}


def test_solvers_ask_no_structure_what_it_was_made_with():
    asks = re.compile(r"isinstance\([^)]*(Solver|Structure|Chain|Graph)\b")
    for path in (p for p in USERS if folder_of(p) in {"objective", "solvers"}):
        used, _ = attributes_of_structures(path)
        assert not used & MADE_WITH, path
        assert not asks.search(path.read_text()), path
