"""The site: the pages as they stand.

``python -m sphinx -W -n -c docs . build/site`` builds it, offline, after
``pip install -e '.[docs]'``. A broken link fails.
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from sphinx.application import Sphinx

from c4env.evaluation.__main__ import main

project = "c4env"
copyright = "the authors of c4env, MIT licence"
extensions = ["myst_nb"]
root_doc = "docs/contents"
include_patterns = ["docs/**.md", "docs/notebooks/*.ipynb", "CHANGELOG.md", "CONTRIBUTING.md"]
html_theme = "furo"
html_title = "c4env"
html_show_copyright = False
smartquotes = False  # options keep their two dashes

nb_execution_mode = "force"  # a cell that fails, fails the site
nb_execution_in_temp = True  # the files that cells write
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_render_markdown_format = "myst"  # with tables
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header"]


def add_run(app: Sphinx, error: Exception | None) -> None:
    """Play a small run and write its page, which docs/example.md shows; lead to the first page."""
    field = ["alphabeta:depth=4", "greedy", "random"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.chdir(app.outdir):
        main(["run", *field, "--openings", "0", "--quiet", "--html", "run.html"])
    (Path(app.outdir) / "index.html").write_text(
        '<meta http-equiv="refresh" content="0; url=docs/index.html">', "utf-8"
    )


def setup(app: Sphinx) -> None:
    """Tell Sphinx of the above."""
    app.connect("build-finished", add_run)
