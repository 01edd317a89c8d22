"""What the three packages offer: their names, and no others."""

import ast
import contextlib
import doctest
import importlib
import json
import os
import re
import types
from collections import Counter

import numpy as np
import pytest

import c4env
from c4env.errors import MissingExtra
from docs import entries
from tests.helpers.paths import ROOT, modules
from tests.helpers.processes import run_python

PACKAGES = [c4env, c4env.agents, c4env.evaluation]
EXTRAS = [
    *("torch", "pygame", "scipy", "matplotlib"),
    *("pandas", "openai", "starlette", "stable_baselines3"),
]
IMPORT = r"^ *from (c4env[\w.]*) import (\([^)]*\)|.+)"
DOCUMENTED = [(package, name) for package in PACKAGES for name in dir(package)]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_dir_shows_what_is_public_and_nothing_else(package):
    shown = dir(package)
    assert {*package.__all__} == {*shown} - {"TensorEnv", "JaxEnv"}
    assert len(package.__all__) == len({*package.__all__})
    for name in package.__all__:
        result = getattr(package, name)
        assert callable(result) or result is importlib.import_module(f"{package.__name__}.{name}")
        assert result.__doc__
    for name in ("annotations", "TYPE_CHECKING", "lazy_names", "_NAMES", "__path__"):
        assert name not in shown


def test_everything_is_imported_and_pictures_are_made_without_an_extra():
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({EXTRAS}))\n"
        "from c4env import *; from c4env.agents import *; from c4env.evaluation import *\n"
        "import c4env.render; pictured = env(render_mode='rgb_array'); pictured.reset()\n"
        "print(agents.names is names, callable(evaluation.refute), pictured.render().any())"
    )
    assert run_python("-c", code, check=True).stdout == "True True True\n"


def listed():
    """The dotted names that the pages of the reference list."""
    for page in sorted((ROOT / "docs" / "reference").glob("*.md")):
        yield from entries.names_of(page.read_text("utf-8"))


def imported(name):
    """What a dotted name stands for, as a user imports it."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def imports_of_guides():
    """The dotted names of this project that the pages, notebooks and examples import."""
    for path in sorted((ROOT / "docs").glob("**/*.*")):
        if path.suffix == ".md":
            code = re.findall(r"^```python\n(.*?)^```$", path.read_text("utf-8"), re.M | re.S)
        elif path.suffix == ".ipynb":
            cells = json.loads(path.read_text("utf-8"))["cells"]
            code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        else:
            code = [path.read_text("utf-8")] if path.parent.name == "examples" else []
        for module, names in re.findall(IMPORT, "\n".join(code), re.M):
            for name in re.findall(r"\w+", re.sub(r"#.*| as \w+", "", names)):
                yield f"{module}.{name}"


def home_of(name):
    """Where a class or function is defined, of all names that it has; a constant has only one."""
    thing, last = imported(name), name.rpartition(".")[2]
    return f"{thing.__module__}.{last}" if getattr(thing, "__qualname__", "") == last else name


def test_whatever_a_caller_needs_has_an_entry_that_can_be_imported():
    homes = set()
    for name in listed():
        with contextlib.suppress(MissingExtra):
            homes.add(home_of(name))
    public = {f"{package.__name__}.{name}" for package in PACKAGES for name in dir(package)}
    for name in public.union(imports_of_guides()):
        with contextlib.suppress(MissingExtra):
            assert isinstance(imported(name), types.ModuleType) or home_of(name) in homes, name


@pytest.mark.parametrize(("package", "name"), DOCUMENTED)
def test_every_name_has_a_short_example_that_runs(package, name, tmp_path, monkeypatch):
    """Examples assume a star import of the three packages, and NumPy as np."""
    pytest.importorskip({"TensorEnv": "torch", "JaxEnv": "jax"}.get(name, "c4env"))
    known = {name: getattr(package, name) for package in PACKAGES for name in package.__all__}
    result = getattr(package, name)
    if "exec:" in result.__doc__ and os.name != "posix":
        pytest.skip("programs need a POSIX system")
    known |= {name: result, "np": np}
    example = doctest.DocTestParser().get_doctest(result.__doc__, known, name, None, None)
    lines = [line for part in example.examples for line in (part.source + part.want).splitlines()]
    assert 0 < len(lines) <= 5
    items = []
    monkeypatch.chdir(tmp_path)  # where an example writes its files
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=items.append)
    assert not items, "".join(items)


def test_no_two_modules_and_no_two_public_classes_have_one_name():
    files, classes = Counter(), Counter()
    for path in modules().values():
        files[path.name] += path.name not in ("__init__.py", "__main__.py")
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name] += 1
    twice = [name for name, count in (files + classes).items() if count > 1]
    assert twice == ["State"]  # of TensorEnv, and of JaxEnv, where it is pgx's name
