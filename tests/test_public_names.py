"""What the three packages offer: their names, and no others."""

import doctest
import importlib
import os

import numpy as np
import pytest

import c4env
from tests.helpers.processes import run_python

PACKAGES = [c4env, c4env.agents, c4env.evaluation]
EXTRAS = [
    *("torch", "pygame", "scipy", "matplotlib"),
    *("pandas", "openai", "starlette", "stable_baselines3"),
]
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


def test_names_alone_compile_nothing():
    code = (
        "import sys, c4env, c4env.evaluation.__main__\n"
        "c4env.agents, c4env.evaluation, c4env.errors.C4Error, c4env.agents.names()\n"
        "dir(c4env), dir(c4env.agents), dir(c4env.evaluation), c4env.agents.make('random')\n"
        "print([name for name in sys.modules if name.startswith(('numba', 'llvmlite'))])"
    )
    assert run_python("-c", code, check=True).stdout == "[]\n"


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
