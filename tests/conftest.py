"""What all tests share."""

import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from c4env.agents.making import registry as zoo
from c4env.jit import KERNEL
from c4env.system import SILENT
from tests.helpers.paths import FOLDERS, modules

# The same examples every time, and no deadline: uncompiled kernels are slow.
settings.register_profile("c4env", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("c4env")

# What is printed does not depend on whether an earlier test compiled something.
os.environ[SILENT] = "1"

# A script's background process ignores Ctrl-C, and so would all that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure() -> None:
    """Two workers compile what is not yet compiled from both ends, rather than each all of it."""
    if not all(folder.is_dir() for folder in FOLDERS.values()):
        pytest.exit("the tests need links to agents and evaluation (CONTRIBUTING.md)", 2)
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        names = [name for name, file in modules().items() if KERNEL.search(file.read_bytes())]
        for name in names[:: -1 if worker.endswith(tuple("13579")) else 1]:
            with contextlib.suppress(ImportError):  # an extra is missing, or it is of another board
                importlib.import_module(name)


@pytest.fixture(autouse=True)
def own_modules(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """The modules and the path of each test: what one imports from its folder, no other finds."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before, folder = {*sys.modules}, os.path.realpath(tmp_path_factory.getbasetemp())
    yield
    for name in {*sys.modules} - before:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(folder):
            del sys.modules[name]


@pytest.fixture(autouse=True)
def own_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the table of agents for each test: what one registers, no other finds.

    Nothing public takes an agent out again.
    """
    monkeypatch.setattr(zoo, "_registered", dict(zoo._registered))


@pytest.fixture(autouse=True)
def no_width_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is printed is as wide as in a file; some test runners set a width."""
    monkeypatch.delenv("COLUMNS", raising=False)
