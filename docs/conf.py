"""Configuration of the documentation: ``sphinx-build -W docs build/docs``.

Neither the build nor the pages load anything from the network.
"""

import csv
import inspect
import json
import os
import re
from dataclasses import fields, is_dataclass
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes

import skcrf_sdca
from skcrf_sdca import compat
from skcrf_sdca.estimators import parameters

project = "skcrf_sdca"
version = release = skcrf_sdca.__version__
copyright = "the authors of skcrf_sdca, BSD-3-Clause"

extensions = [
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["custom.css"]
html_search_scorer = str(Path(__file__).parent / "search_scorer.js")
html_theme = "pydata_sphinx_theme"
html_title = "skcrf_sdca"
html_math_renderer = "mathml"
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "skcrf_sdca"},
    "navbar_align": "left",
    "show_toc_level": 2,
    # None on pages of examples: their output is as wide as a terminal.
    "secondary_sidebar_items": {
        "*": ["page-toc"],
        "api/**": ["page-toc"],
        "index": [],
        "auto_examples/**": [],
    },
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# The address of these pages, a folder named by their version. With it the pages have a
# menu of all versions, read from versions.json beside the folders.
ADDRESS = os.environ.get("SKCRF_SDCA_DOCS", "").rstrip("/")
FOLDERS = ADDRESS.rpartition("/")[0]
VERSIONS = ["0.2.0"]
if ADDRESS:
    html_theme_options |= {
        "switcher": {"json_url": f"{FOLDERS}/versions.json", "version_match": version},
        "check_switcher": False,
        "navbar_end": ["version-switcher", "theme-switcher"],
    }
# |tutorial_here| is a figure that is on several pages.
with (Path(__file__).parent / "figures.csv").open(encoding="utf-8") as figures:
    rst_prolog = "".join(
        f".. |{name}| replace:: {value}\n" for name, value, _ in csv.reader(figures)
    )
# Pages without a sidebar.
ALONE = "index install sklearn_crfsuite results promises glossary changelog".split()
html_sidebars = {page: [] for page in ALONE}

# A name in single backticks is a link where there is something of this name.
default_role = "autolink"
nitpicky = True
OTHERS = "sklearn|numpy|scipy|pandas|matplotlib|joblib|collections"
nitpick_ignore_regex = [(r"py:.*", rf"({OTHERS})\..*")]
# Quotes in types are Python's.
smartquotes = False
toc_object_entries_show_parents = "hide"
autosummary_generate = True
autodoc_member_order = "bysource"
# The docstrings of classes have their parameters.
PARAMETERS = {
    parameter.name
    for options in [*vars(parameters).values(), compat.CRF]
    if inspect.isclass(options) and is_dataclass(options)
    for parameter in fields(options)
}
# Names of parameters have no page of their own. Some also name something else.
nitpick_ignore = [
    ("py:obj", name)
    for name in {*PARAMETERS, "decoding", "n", "places", "source", "target"}
]
# The docstrings have the types, with shapes.
autodoc_typehints = "none"
numpydoc_show_class_members = False

# The build runs the examples named plot_: they take seconds and need no download. The
# pages of the others show the code, and what it printed or plotted in an earlier run.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"/benchmarks/",
    "subsection_order": [
        "../examples/text",
        "../examples/signals",
        "../examples/optimisation",
    ],
    "within_subsection_order": "ExampleTitleSortKey",
    "download_all_examples": False,
    "show_signature": False,
    # As wide as a card of the gallery on a screen with two pixels to a point.
    "thumbnail_size": (640, 448),
    "remove_config_comments": True,
    "min_reported_time": 5,
    # Their tables load scripts from the network.
    "write_computation_times": False,
}


def _mathml(self, node):
    """Write a formula as MathML, which browsers show without a script."""
    as_block = isinstance(node, nodes.math_block)
    formula = tex2mathml(node.astext(), as_block=as_block)
    formula = re.sub("<mo[^>]*>([‖∥])", r'<mo stretchy="false">\1', formula)
    self.body.append(f'<div class="formula">{formula}</div>' if as_block else formula)
    raise nodes.SkipNode


def _skip_members(app, what, name, obj, skip, options):
    """Leave out parameters, and the members that classes inherit from scikit-learn."""
    # A property has no module, but its function has.
    module = getattr(getattr(obj, "fget", obj), "__module__", None) or ""
    return True if module.startswith("sklearn.") or name in PARAMETERS else skip


def _escape_underscores(app, what, name, obj, options, lines):
    """Escape ``coef_`` in the line of a parameter, which would be read as a link."""
    for i, line in enumerate(lines):
        if re.match(r"[\w*, \\]+ : ", line):
            lines[i] = re.sub(r"(?<=\w)_(?=[,)])", r"\_", line)


# Modules with names that one file defines.
HOMES = "skcrf_sdca", "skcrf_sdca.estimators.tagger", "skcrf_sdca.selection"


def _add_anchors(app, doctree):
    """Add anchors for the links from source files, of which each takes one module."""
    for node in doctree.findall(addnodes.desc_signature):
        if node.get("module") in HOMES:
            names = {f"{home}.{node['fullname']}" for home in HOMES}
            node["ids"] += sorted(names - set(node["ids"]))


def _list_versions(app, exception):
    """Write versions.json, to be moved beside the folders of the versions."""
    if ADDRESS and exception is None:
        entries = [{"version": name, "url": f"{FOLDERS}/{name}/"} for name in VERSIONS]
        (Path(app.outdir) / "versions.json").write_text(json.dumps(entries))


def setup(app):
    """Register the functions above with Sphinx."""
    app.add_html_math_renderer("mathml", (_mathml, None), (_mathml, None))
    app.connect("autodoc-skip-member", _skip_members)
    app.connect("doctree-read", _add_anchors)
    # Before numpydoc reads them.
    app.connect("autodoc-process-docstring", _escape_underscores, priority=0)
    app.connect("build-finished", _list_versions)
