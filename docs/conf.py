"""The site: the pages as they stand, and one page of all docstrings, docs/reference/api.md.

``python -m sphinx -W -n -c docs . build/site`` builds it, offline, after
``pip install -e '.[docs]'``. A broken link or an unknown name fails.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.util
import io
import pkgutil
import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.napoleon import GoogleDocstring
from sphinx.util.nodes import make_refnode

from c4env.evaluation.__main__ import main

project = "c4env"
copyright = "the authors of c4env, MIT licence"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "docs/contents"
include_patterns = ["docs/**.md", "docs/notebooks/*.ipynb", "CHANGELOG.md", "CONTRIBUTING.md"]
html_theme = "furo"
html_title = "c4env"
html_show_copyright = False

nb_execution_mode = "force"  # a cell that fails, fails the site
nb_execution_in_temp = True  # the files that cells write
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_render_markdown_format = "myst"  # with tables
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_default_options = {"members": True, "imported-members": True, "show-inheritance": True}
python_use_unqualified_type_names = True
napoleon_use_ivar = True  # a class may describe a property that has an entry of its own
nitpick_ignore = [("py:class", "TensorDataset")]  # torch's, which is imported for checkers alone

# Napoleon takes "Of each opponent: ..." at the head of a property for a type and a description.
GoogleDocstring._parse_attribute_docstring = GoogleDocstring._consume_to_end


def resolve(
    app: Sphinx, env: BuildEnvironment, reference: nodes.Element, text: nodes.Element
) -> nodes.Node | None:
    """Link a name that the reference has under another module; accept one that exists at all."""
    target = reference.get("reftarget", "")
    last = target.rpartition(".")[2]
    objects = env.get_domain("py").objects
    found = [name for name in objects if name.rpartition(".")[2] == last]
    if len(found) == 1:
        known = objects[found[0]]
        return make_refnode(
            app.builder, reference["refdoc"], known.docname, known.node_id, text, found[0]
        )
    home, owner = reference.get("py:module"), reference.get("py:class")
    if home and owner and exists(f"{home}.{owner}.{target}"):
        return text
    return text if exists(target) else None


def mark_code(
    app: Sphinx, what: str, name: str, it: object, options: object, lines: list[str]
) -> None:
    """Show what stands below ``Example:`` as code."""
    for number, line in enumerate(lines):
        if line.strip() == "Example:":
            lines[number] = f"{line}:"
            lines.insert(number + 1, "")


def exists(name: str) -> bool:
    """Whether a dotted name can be imported, or one of our modules knows an undotted one."""
    module, _, last = name.rpartition(".")
    if not module:
        ours = [each for key, each in sys.modules.items() if key.startswith("c4env")]
        return hasattr(builtins, name) or any(hasattr(each, name) for each in ours)
    try:
        parent = importlib.import_module(module)
        return hasattr(parent, last) or importlib.util.find_spec(name) is not None
    except ImportError:  # an attribute of a class
        if not exists(module):
            return False
        found = pkgutil.resolve_name(module)
        return hasattr(found, last) or any(
            last in vars(c).get("__annotations__", ()) for c in getattr(found, "__mro__", ())
        )


def add_run(app: Sphinx, error: Exception | None) -> None:
    """Play a small run and write its page, which docs/example.md shows; lead to the first page."""
    field = ["alphabeta:depth=4", "greedy", "random"]
    with contextlib.redirect_stdout(io.StringIO()):
        main(["run", *field, "--openings", "0", "--quiet", "--html", f"{app.outdir}/run.html"])
    (Path(app.outdir) / "index.html").write_text(
        '<meta http-equiv="refresh" content="0; url=docs/index.html">', "utf-8"
    )


def setup(app: Sphinx) -> None:
    """Tell Sphinx of the above."""
    app.connect("autodoc-process-docstring", mark_code, priority=100)  # before napoleon's
    app.connect("missing-reference", resolve)
    app.connect("build-finished", add_run)
