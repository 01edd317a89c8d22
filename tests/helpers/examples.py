"""The scripts of docs/examples, as modules."""

import importlib.util
import sys
from types import ModuleType
from typing import Any

from c4env import evaluation
from tests.helpers.paths import ROOT

EXAMPLES = ROOT / "docs" / "examples"


def example(name: str) -> ModuleType:
    """The script of a name, imported from its file."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where PyTorch's compiler looks for it
    spec.loader.exec_module(module)
    return module


def share_against_random(agent: Any, openings: int = 3) -> float:
    """The share of the points that an agent gets, from openings of so many plies."""
    players = {"trained": agent, "random": "random"}
    run = evaluation.round_robin(players, openings, seed=1, jobs=1)
    return float(run.table.total("trained").score or 0)


def require_whole_games(spec: str) -> None:
    """Require that a spec plays with both colours, and that no game ends by a fault."""
    for game in evaluation.round_robin([spec, "random"], 0, seed=1, jobs=1).games:
        assert game.ending in ("four", "full board"), game
