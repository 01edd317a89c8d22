"""The scripts of docs/examples, as modules."""

import importlib.util
import sys
from types import ModuleType

from tests.helpers.paths import ROOT

EXAMPLES = ROOT / "docs" / "examples"


def example(name: str) -> ModuleType:
    """The script of a name, imported from its file."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where PyTorch's compiler looks for it
    spec.loader.exec_module(module)
    return module
