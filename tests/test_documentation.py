"""The documentation: docstrings, API pages, examples of pages, and the build."""

import ast
import csv
import doctest
import importlib
import inspect
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

import skcrf_sdca
from pairs import in_one_test
from skcrf_sdca._utils.sklearn_versions import BEFORE_1_9

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.rst"))
README = ROOT / "README.rst"
EXAMPLES = [*(ROOT / "examples").glob("*.py")]
EXAMPLES += [
    path
    for folder in ("text", "signals", "optimisation")
    for path in (ROOT / "examples" / folder).glob("*.py")
]

# Codes of numpydoc.validate: docstring, first line, and parameters as in the signature;
# then return values and an example.
CHECKS_OF_MEMBERS = {"GL06", "GL07", "GL08", "SS01", "SS03", "PR01", "PR02", "PR08"}
CHECKS = CHECKS_OF_MEMBERS | {"RT01", "YD01", "EX01"}


def public_names():
    """Yield every name of ``__all__`` of every module whose name is public."""
    modules = pkgutil.walk_packages(skcrf_sdca.__path__, "skcrf_sdca.")
    names = [name for _, name, _ in modules if "._" not in name]
    for name in ["skcrf_sdca", *names]:
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", ()):
            if public != "__version__":
                yield f"{name}.{public}"


def resolved(name):
    """Return the object of a dotted name."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


PUBLIC = list(public_names())
CALLABLE = [name for name in PUBLIC if callable(resolved(name))]


def members(name):
    """Yield the public methods of a class that this package defines."""
    for member, value in inspect.getmembers(resolved(name), inspect.isroutine):
        ours = (getattr(value, "__module__", None) or "").startswith("skcrf_sdca.")
        if ours and not member.startswith("_"):
            yield f"{name}.{member}"


def complaints(name, checks):
    """Return the errors that numpydoc finds in a docstring."""
    validate = pytest.importorskip("numpydoc.validate").validate
    return [error for error in validate(name)["errors"] if error[0] in checks]


@in_one_test("name", CALLABLE)
def test_the_docstring_has_parameters_as_in_the_signature_and_an_example(name):
    assert complaints(name, CHECKS) == []
    text = resolved(name).__doc__
    assert ">>> " in text
    # No marker of shared text is left.
    assert re.findall(r"^ *\{\w+\}$", text, re.MULTILINE) == []


def test_a_test_names_every_public_function():
    texts = (path.read_text() for path in (ROOT / "tests").rglob("*.py"))
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    functions = {n.split(".")[-1] for n in CALLABLE if inspect.isfunction(resolved(n))}
    assert functions - words == set()


@in_one_test("name", [n for n in CALLABLE if inspect.isclass(resolved(n))])
def test_the_docstrings_of_methods_have_parameters_as_in_the_signature(name):
    found = {member: complaints(member, CHECKS_OF_MEMBERS) for member in members(name)}
    assert {member: errors for member, errors in found.items() if errors} == {}


@pytest.mark.slow
def test_the_package_can_be_imported_without_docstrings():
    program = "import skcrf_sdca.distributed as d; print(d.DistributedCRF.__doc__)"
    command = [sys.executable, "-P", "-OO", "-c", program]
    assert subprocess.check_output(command, text=True) == "None\n"


@pytest.mark.parametrize("page", ["contributing", "extending"])
def test_the_pages_of_builders_name_files_that_are_there(page):
    text = (DOCS / f"{page}.rst").read_text()
    marked = re.findall(r"``((?:\w+/)*\w+\.(?:py|pyx|pxd|rst)|tests/\w+/)``", text)
    commands = re.findall(r"^    \.venv/.*", text, re.MULTILINE)
    asked = [path for line in commands for path in re.findall(r" tests/\S+", line)]
    paths = {path.strip() for path in (*marked, *asked)}
    homes = ROOT, ROOT / "skcrf_sdca", DOCS, ROOT / "examples" / "benchmarks"
    assert len(paths) > 5
    assert {p for p in paths if not any((home / p).exists() for home in homes)} == set()


def names_on_api_pages():
    """Yield the dotted names that the API pages list."""
    for page in (DOCS / "api").glob("*.rst"):
        module = ""
        for line in page.read_text().splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1] + "."
            elif found := re.match(r"(?:\.\. autodata:: |   )(\w[\w.]*)$", line):
                name = found[1]
                if page.stem != "index":
                    yield name if name.startswith("skcrf_sdca.") else module + name


def test_every_public_name_is_on_an_api_page():
    listed = list(names_on_api_pages())
    assert len(listed) == len(set(listed))
    # One object may have two names.
    documented = {id(resolved(name)) for name in listed}
    assert [name for name in PUBLIC if id(resolved(name)) not in documented] == []


# What people type into the search box, and the page that answers. A page is found if it
# has all of the words, in its text or among its meta keywords, one by one.
SEARCHES = [
    ("activity recognition", "signals"),
    ("batch prediction", "performance"),
    ("bert embeddings", "dense_features"),
    ("c1 c2", "alpha"),
    ("calibration", "scikit_learn"),
    ("cite", "questions"),
    ("class imbalance", "rare_labels"),
    ("conda", "questions"),
    ("confidence", "decoding"),
    ("confidence entities", "decoding"),
    ("convergencewarning", "gap"),
    ("cross validation", "pipelines"),
    ("data shift", "monitoring"),
    ("dev set", "gap"),
    ("development set", "gap"),
    ("did not converge", "questions"),
    ("doccano export", "questions"),
    ("docker rest api", "serving"),
    ("drift", "monitoring"),
    ("early stopping", "gap"),
    ("eeg", "signals"),
    ("explain prediction", "inspection"),
    ("f1 score", "evaluation"),
    ("faq", "questions"),
    ("fastapi", "serving"),
    ("feature importance", "inspection"),
    ("flask", "serving"),
    ("gap in practice", "questions"),
    ("gazetteer", "text"),
    ("gesture recognition", "signals"),
    ("gpu", "questions"),
    ("hidden markov model", "comparison"),
    ("hot reload", "serving"),
    ("hyperparameter search", "alpha"),
    ("imbalanced", "rare_labels"),
    ("impute", "signals"),
    ("incremental training", "online"),
    ("invalid sequences", "constraints"),
    ("language detection", "text"),
    ("language of scripts", "text"),
    ("learning rate", "questions"),
    ("lemma", "questions"),
    ("lemmatization", "comparison"),
    ("license", "questions"),
    ("load a crfsuite model", "sklearn_crfsuite"),
    ("memory usage", "performance"),
    ("memoryerror", "many_labels"),
    ("migrate from sklearn-crfsuite", "sklearn_crfsuite"),
    ("missing labels", "partial_labels"),
    ("missing values", "signals"),
    ("model size", "small_models"),
    ("monitor drift", "monitoring"),
    ("multithreading", "questions"),
    ("n-best", "decoding"),
    ("named entity recognition", "questions"),
    ("nan", "signals"),
    ("nan label", "questions"),
    ("nested entities", "questions"),
    ("nightly retrain", "monitoring"),
    ("oov", "questions"),
    ("optimizer", "questions"),
    ("out of memory", "questions"),
    ("overfitting", "alpha"),
    ("own data file", "own_file"),
    ("pandas dataframe", "text"),
    ("partial labels", "partial_labels"),
    ("per entity type", "questions"),
    ("predicted spans", "decoding"),
    ("prevent", "constraints"),
    ("progress bar", "gap"),
    ("python version", "questions"),
    ("rare entities", "rare_labels"),
    ("regularization strength", "alpha"),
    ("relation extraction", "questions"),
    ("reproducible", "questions"),
    ("restart a killed fit", "questions"),
    ("resume training checkpoint", "large_data"),
    ("retrain", "monitoring"),
    ("semi supervised", "partial_labels"),
    ("sentence splitting", "questions"),
    ("serve a model", "serving"),
    ("sleep stages", "signals"),
    ("sliding window", "signals"),
    ("slow", "performance"),
    ("time series", "signals"),
    ("tokenization", "text"),
    ("tokenize", "questions"),
    ("train own file", "own_file"),
    ("transition matrix", "inspection"),
    ("tutorial", "own_file"),
    ("unknown words", "questions"),
    ("warm start", "alpha"),
    ("word embeddings", "dense_features"),
]


@in_one_test(("search", "page"), SEARCHES)
def test_the_page_that_answers_has_the_words_of_users(search, page):
    text = (DOCS / f"{page}.rst").read_text(encoding="utf-8").lower()
    assert [word for word in search.split() if word not in text] == []


@in_one_test("page", PAGES)
def test_no_keyword_has_a_blank(page):
    # The index would have such a keyword as one word, which no search finds.
    text = page.read_text(encoding="utf-8")
    for keywords in re.findall(r"^   :keywords: (.*(?:\n +.*)*)", text, re.M):
        assert [word for word in keywords.split(",") if " " in word.strip()] == []


# What a reader meets who labels text for the first time.
FIRST = "command", "decoding", "index", "install", "own_file", "persistence", "text"
FIRST_PAGES = [README, *(DOCS / f"{name}.rst" for name in FIRST)]


@pytest.mark.parametrize("page", FIRST_PAGES, ids=lambda page: page.stem)
def test_the_first_estimator_that_a_reader_meets_is_the_same_everywhere(page):
    estimators = re.findall(r"\w*CRF(?=\()", page.read_text(encoding="utf-8"))
    assert estimators[:1] == ["CRF"]


def linked_pages(page):
    """Return the names of the pages of the guide to which a page links."""
    text = (DOCS / f"{page}.rst").read_text(encoding="utf-8")
    links = r":doc:`(?:[^`]*<)?/?(\w+)>?`|:link: (\w+)$|^   (\w+)$"
    return {name for found in re.findall(links, text, re.M) for name in found if name}


def test_every_page_of_the_guide_is_two_clicks_from_the_start():
    reached = linked_pages("index") & {page.stem for page in PAGES}
    reached |= set().union(*map(linked_pages, reached))
    assert {page.stem for page in PAGES} - reached == {"index"}


def test_the_first_row_of_performance_is_what_people_run():
    text = (DOCS / "performance.rst").read_text(encoding="utf-8")
    rows = re.findall(r'^   "([^"]*)",', text, re.M)
    assert rows[0].startswith("as the tutorial")
    assert text.index("after 100 iterations") < text.index("Run to its end")


def test_a_figure_of_several_pages_is_in_one_file_and_the_readme_has_it_too():
    with (DOCS / "figures.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    scripts = {path.name for path in (ROOT / "examples" / "benchmarks").glob("*.py")}
    assert {row["measured by"] for row in rows} - scripts == set()
    figures = {row["name"]: row["value"] for row in rows}
    shown = re.findall(r"([\d.,]+) (?:s|us)\b", README.read_text(encoding="utf-8"))
    assert set(shown) - set(figures.values()) == set()
    texts = [path.read_text(encoding="utf-8") for path in (*PAGES, *EXAMPLES)]
    uses = {
        name: sum(f"|{name}|" in text for text in texts) + (value in shown)
        for name, value in figures.items()
    }
    assert {name for name, number in uses.items() if number < 2} == set()
    assert len(shown) > 5


SKLEARN_1_9 = doctest.register_optionflag("SKLEARN_1_9")


class ExamplesOfThisVersion(doctest.DocTestParser):
    """All examples, but for those that need a newer scikit-learn than this one."""

    def get_examples(self, string, name="<string>"):
        """Return the examples of a page."""
        examples = super().get_examples(string, name)
        return [
            one for one in examples if not (BEFORE_1_9 and SKLEARN_1_9 in one.options)
        ]


@pytest.mark.parametrize("page", [README, *PAGES], ids=lambda page: page.stem)
def test_the_examples_of_the_page_run(page, monkeypatch):
    # A page puts another module into the place of one, which is there again afterwards.
    monkeypatch.setitem(sys.modules, "pycrfsuite", sys.modules.get("pycrfsuite"))
    # The code of the model format has its own test, with a model to read.
    failed, _ = doctest.testfile(
        str(page), module_relative=False, parser=ExamplesOfThisVersion()
    )
    assert not failed


@in_one_test("example", sorted(EXAMPLES))
def test_the_example_says_how_long_it_takes(example):
    text = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8")))
    assert re.search(r"\btakes?\s[^.:]*\b(second|minute)", text)


def test_every_card_of_the_gallery_has_a_picture_of_its_own():
    found = {}
    for example in EXAMPLES:
        text = example.read_text(encoding="utf-8")
        named = re.findall(r"^# sphinx_gallery_thumbnail_path = '(.*)'$", text, re.M)
        # The build draws the pictures of the others.
        is_drawn = example.stem.startswith("plot_") and "plt." in text
        assert len(named) == 1 or is_drawn, example
        for picture in named:
            assert (DOCS / picture).is_file(), example
            assert found.setdefault(picture, example) == example


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="the commands are of bash")
def test_the_commands_of_the_readme_print_what_it_says(tmp_path):
    text = README.read_text(encoding="utf-8")
    (shown,) = re.findall(r":: console\n\n((?:   .*\n)+)", text)
    lines = [line[3:] for line in shown.splitlines()]
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    command = f'skcrf-sdca() {{ "{sys.executable}" -m skcrf_sdca "$@"; }}'
    program = "\n".join(["set -e -o pipefail", command, *commands])
    printed = subprocess.check_output(["bash", "-c", program], cwd=tmp_path, text=True)
    assert printed.splitlines() == [line for line in lines if not line.startswith("$ ")]
    assert len(commands) > 2


@in_one_test("table", sorted((DOCS / "results").glob("*.csv")))
def test_no_cell_of_a_table_is_the_sign_of_a_list(table):
    with table.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert len(rows) > 1
    assert not {cell for row in rows for cell in row} & {"-", "*", "+"}


def test_the_pages_have_examples():
    assert sum(">>> " in page.read_text() for page in PAGES) > 12


class Page(HTMLParser):
    """The links of an HTML page, and its anchors."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = set(), {""}
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors |= {attrs.get("id"), attrs.get("name")}
        self.links |= {attrs[a] for a in ("href", "src") if attrs.get(a)}


def broken_links(folder):
    """Yield the broken links between the HTML pages of a folder."""
    paths = (p for p in folder.rglob("*.html") if "_static" not in p.parts)
    pages = {path: Page(path) for path in paths}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = Path(os.path.normpath(path.parent / unquote(parts.path)))
            target = path if not parts.path else target
            known = target in pages and unquote(parts.fragment) in pages[target].anchors
            if not (known or (target.is_file() and target.suffix != ".html")):
                yield f"{path.relative_to(folder)}: {link}"


def search_ranks(html):
    """Return the rank of the page that answers, of each search in built pages."""
    script = Path(__file__).with_name("search_results.js")
    command = ["node", script, html, json.dumps([search for search, _ in SEARCHES])]
    found = json.loads(subprocess.check_output(command))
    return {
        search: pages.index(page) + 1 if page in pages else np.inf
        for (search, page), pages in zip(SEARCHES, found, strict=True)
    }


@pytest.mark.slow
def test_the_pages_build_without_warnings_and_their_links_resolve(tmp_path):
    pytest.importorskip("sphinx")
    source, html = tmp_path / "source", tmp_path / "html"
    generated = shutil.ignore_patterns("generated", "auto_examples", "_build", "*.so")
    for name in ("docs", "examples", "skcrf_sdca", "tests"):
        shutil.copytree(ROOT / name, source / name, ignore=generated)
    for name in ("CHANGELOG.rst", "SECURITY.md"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going"]
    # Run outside the sources, so that the installed package is imported.
    done = subprocess.run(
        [*command, source / "docs", html],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(html.rglob("*.html"))) > 100
    assert list(broken_links(html.resolve())) == []
    if shutil.which("node") is not None:
        ranks = search_ranks(html)
        assert {search: rank for search, rank in ranks.items() if rank > 3} == {}
    # Nothing is loaded from the network.
    pages = {path: path.read_text(encoding="utf-8") for path in html.rglob("*.html")}
    loads = r"""<(script|img)[^>]*\ssrc="https?:|<link[^>]*\shref="https?:"""
    assert [path for path, text in pages.items() if re.search(loads, text)] == []
