"""The site: the pages as they stand.

``python -m sphinx -W -n -c docs . build/site`` builds it, offline, after
``pip install -e '.[docs]'``. A broken link fails.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_origin

from docutils import nodes
from sphinx import addnodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.napoleon import Config, GoogleDocstring
from sphinx.util.inspect import TypeAliasForwardRef
from sphinx.util.nodes import make_refnode

from c4env.evaluation.__main__ import main
from docs import entries

project = "c4env"
copyright = "the authors of c4env, MIT licence"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
root_doc = "docs/index"  # with the sidebar, which `add_sidebar` puts there
include_patterns = ["docs/**.md", "docs/notebooks/*.ipynb", "CHANGELOG.md", "CONTRIBUTING.md"]
html_theme = "furo"
html_title = "c4env"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_copyright = False
smartquotes = False  # options keep their two dashes

nb_execution_mode = "force"  # a cell that fails, fails the site
# Without PyTorch, the stored outputs of the notebook that needs it are shown.
nb_execution_excludepatterns = [] if find_spec("torch") else ["a-learner.ipynb"]
nb_execution_in_temp = True  # the files that cells write
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_render_markdown_format = "myst"  # with tables
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header"]

autodoc_default_options = {
    "members": True,
    "special-members": "__call__",
    "member-order": "bysource",
    "show-inheritance": True,
}
autodoc_mock_imports = ["flax", "jax", "stable_baselines3", "torch"]  # the site needs no extra
autodoc_inherit_docstrings = False  # an entry has what its own class says
autodoc_preserve_defaults = True
autoclass_content = "class"  # `read_sections` adds the constructor's arguments
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
LINKED = {  # aliases of types, which signatures show by name
    "c4env.agents.pool": "Priority",
    "c4env.agents.rewards": "Columns Positions",
    "c4env.arrays": "Bools Float32s Float64s Int8s Int32s Int64s",
    "c4env.envs.opponents": "AnyOpponent",
    "c4env.envs.tensor": "Observed TensorOpponent",
    "c4env.evaluation.exact.scores": "Scores",
    "c4env.evaluation.runs.players": "PlayerLike PlayersLike",
    "c4env.evaluation.progress": "ProgressCallback",
    "c4env.evaluation.ratings.sprt": "Decision",
    "c4env.evaluation.records.game": "Ending",
    "c4env.openings": "Openings",
    "jax": "Array",
    "numpy.typing": "ArrayLike DTypeLike",
    "torch": "Tensor",
    "torch.utils.data": "TensorDataset",
}
autodoc_type_aliases = {
    name: f"~{module}.{name}" for module, names in LINKED.items() for name in names.split()
}
UNDOCUMENTED = "   :undoc-members:\n"  # fields that their names describe
OPTIONS = {  # of the entries of the reference
    "c4env.JaxEnv": UNDOCUMENTED,
    "c4env.agents.Entry": UNDOCUMENTED,
    "c4env.agents.SearchResult": UNDOCUMENTED,
    "c4env.envs.single.Info": UNDOCUMENTED,
    "c4env.evaluation.GameRecord": UNDOCUMENTED,
    "c4env.evaluation.exact.concepts.Concepts": UNDOCUMENTED,
    "c4env.evaluation.ratings.ratings.Rating": UNDOCUMENTED,
    "c4env.evaluation.ratings.ratings.Ratings": "   :exclude-members: find_circles\n",
    "c4env.evaluation.ratings.circles.Circles": "   :exclude-members: fact, sentence\n",
    "c4env.evaluation.ratings.tally.WinTable": "   :exclude-members: of, kinds, forfeited, "
    "forfeit_columns, tables, matrix, counted, summary, reasons_of_forfeits\n",
}
nitpick_ignore_regex = [  # documented elsewhere, or nowhere
    (
        "py:.*",
        r"(abc|collections|gymnasium|jax|numpy|os|pathlib|pettingzoo|stable_baselines3|torch)\..*",
    ),
    ("py:class", r"Array|ArrayLike|NDArray|Tensor|np\.str_|spaces\.Dict"),
    ("py:class", r"(c4env\.arrays\.)?(Bools|(Int|Float)\d+s)"),  # a sentence says what they are
]

nitpick_ignore = {  # what a caller does not need to know
    ("py:class", name)
    for name in (
        "c4env.agents.learned.IntegerNetwork",
        "c4env.agents.making.maker.Maker",
        "c4env.agents.making.options.Init",
        "Spec",
        "c4env.envs.aec.CheckedEnv",
        "c4env.envs.jax_env.Game",
        "c4env.envs.opponents.Function",
        "c4env.observation.Form",
        "c4env.evaluation.runs.play_game.Clock",
        "c4env.evaluation.results.tournament.Counts",
        "c4env.evaluation.ratings.tally.Tally",
        "c4env.evaluation.records.header.RunHeader",
        "c4env.evaluation.results.match.Shares",
        "c4env.evaluation.results.placement.PlaceRow",
        "c4env.evaluation.tables.Column",
        "c4env.evaluation.tables.Table",
    )
}

TypeAliasForwardRef.__repr__ = lambda self: self.name  # as Sphinx shows it within a union
PLAIN = {"Bases: object", "Bases: ABC", "Bases: NamedTuple", "Bases: Protocol", "Bases: TypedDict"}
OF_TUPLES = re.compile(r"(Create new instance of|Alias for field number) .*")  # Python's words
ARRAY = re.compile(  # of any shape
    r"~?numpy\.ndarray\[tuple\[~?typing\.Any, \.\.\.\], ~?numpy\.dtype\[([^\[\]]+)\]\]"
)
EXAMPLE = re.compile(r"^Example:\n(?:[ \t]+.*\n|\n)*", re.M)
TYPE = re.compile(r"(\.\. attribute:: .+\n)\n((?: .*\n|\n)*?)( +:type: .+)")


def add_sidebar(_: Sphinx, page: str, source: list[str]) -> None:
    """Give the index its sidebar, and the reference its entries, which only the site shows."""
    if page == root_doc:
        for caption, pages in entries.sidebar().items():
            listed = "\n".join(f"/{path}" for path in pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n"
    source[0] = entries.with_entries(source[0], OPTIONS)


def read_sections(_: Sphinx, what: str, name: str, thing: Any, __: Any, lines: list[str]) -> None:
    """Read the sections of a docstring, and of a class the constructor's: arguments, then examples.

    In an attribute's text, a colon does not end a type.
    """
    parts = ["\n".join(lines)]
    if what == "class" and (init := vars(thing).get("__init__")) and init.__doc__:
        parts.append(inspect.cleandoc(init.__doc__))
    whole = "\n\n".join(parts) + "\n"
    ordered = "\n\n".join([EXAMPLE.sub("", whole), *EXAMPLE.findall(whole)])
    text = "\n".join(GoogleDocstring(ordered.split("\n"), Config(), obj=thing).lines())
    lines[:] = TYPE.sub(r"\1\3\n\n\2", OF_TUPLES.sub("", text)).split("\n")


def shorten_arrays(
    _: Sphinx, what: str, name: str, thing: Any, __: Any, arguments: str | None, result: str | None
) -> tuple[str | None, str | None]:
    """Write arrays in a signature as numpy.typing does."""
    short = [text and ARRAY.sub(r"~numpy.typing.NDArray[\1]", text) for text in (arguments, result)]
    return short[0], short[1]


def shorten_bases(_: Sphinx, name: str, thing: Any, __: Any, bases: list[Any]) -> None:
    """Leave out the type parameters of bases."""
    bases[:] = [get_origin(base) or base for base in bases]


def find_entry(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.TextElement
) -> nodes.reference | None:
    """Link a name to its only entry under another module, such as the package that offers it."""
    parts = node["reftarget"].split(".") if node.get("refdomain") == "py" else []
    for tail in (parts[-2:], parts[-1:]):
        places = {
            (entry.docname, entry.node_id)
            for name, entry in env.domains.python_domain.objects.items()
            if name.split(".")[-len(tail) :] == tail
        }
        if len(places) == 1:
            return make_refnode(app.builder, node["refdoc"], *places.pop(), shown)
    return None


def drop_plain_bases(_: Sphinx, domain: str, kind: str, content: addnodes.desc_content) -> None:
    """Leave out bases that say nothing to a caller, and what an alias of NumPy stands for."""
    for line in [*content.findall(nodes.paragraph)]:
        if line.astext() in PLAIN or "_SupportsArray" in line.astext():
            line.parent.remove(line)


def polish(_: Sphinx, page: nodes.document) -> None:
    """Put a colon for the two dashes before what an argument is; mark cells that are numbers.

    The style sheet keeps a number or an interval in one line.
    """
    for text in [text for text in page.findall(nodes.Text) if text == " -- "]:
        text.parent.replace(text, nodes.Text(": "))
    for cell in page.findall(nodes.entry):
        if re.fullmatch(r"[-+±]?\d[\d,.%+\- ()]*", cell.astext()):
            cell["classes"].append("number")


def add_run(app: Sphinx, error: Exception | None) -> None:
    """Play a small run and write its page, which a guide shows; lead to the first page."""
    field = ["alphabeta:depth=4", "greedy", "random"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.chdir(app.outdir):
        main(["run", *field, "--openings", "0", "--quiet", "--html", "run.html"])
    (Path(app.outdir) / "index.html").write_text(
        '<meta http-equiv="refresh" content="0; url=docs/index.html">', "utf-8"
    )


def setup(app: Sphinx) -> None:
    """Tell Sphinx of the above."""
    app.connect("source-read", add_sidebar)
    app.connect("autodoc-process-docstring", read_sections)
    app.connect("autodoc-process-signature", shorten_arrays)
    app.connect("autodoc-process-bases", shorten_bases)
    app.connect("missing-reference", find_entry)
    app.connect("object-description-transform", drop_plain_bases)
    app.connect("doctree-read", polish)
    app.connect("build-finished", add_run)
