"""The notebook that trains a network runs where PyTorch is; the site shows its stored outputs."""

import json

import pytest

from tests.helpers.paths import ROOT
from tests.helpers.processes import environment, run_python

pytest.importorskip("torch", reason="needs torch: pip install torch")


@pytest.mark.slow
def test_its_cells_run_and_find_a_mistake(tmp_path):
    pytest.importorskip("matplotlib")
    cells = json.loads((ROOT / "docs" / "notebooks" / "a-learner.ipynb").read_text("utf-8"))[
        "cells"
    ]
    code = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    done = run_python("-c", code, cwd=tmp_path, env=environment(MPLBACKEND="Agg"), check=True)
    assert "the network plays column" in done.stdout
