"""The arrows between packages, folders and modules, read from the sources.

``evaluation -> agents -> c4env``, and inside each the order of ``ROOMS``: a room imports only
rooms before it. Imports inside functions and for typing alone count as well.
"""

import ast
import functools
import graphlib
import importlib
import shutil
from typing import NamedTuple

import pytest

from tests.helpers.paths import FOLDERS, ROOT, modules
from tests.helpers.processes import environment, run_python

PACKAGES = tuple(FOLDERS)  # each may import those before it
ROOMS = {  # of each package, folders and modules, from the ground up
    "c4env": "system errors files arrays boards lazy geometry jit rules bitboard position "
    "render observation openings envs",
    "c4env.agents": "errors base making heuristics "
    "search baselines solver rewards graded_elo graded learned programs sampling pool selfplay",
    "c4env.evaluation": "errors seeds progress tables records ratings runs exact results report "
    "human web cli __main__",
}


BY_TEXT = ("import_module", "__import__")


class Import(NamedTuple):
    module: str  # the importing one
    target: str  # what is imported, with the name taken from it; "" if it is computed
    function: str  # where: "" at the top of the module
    line: int
    relative: bool = False


def imports_of(source, module, package):
    """Every import of a source; relative ones against the package. Of those by a text, the ones
    that lead to another package, or may.
    """

    def visit(node, function):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(module, alias.name, function, child.lineno)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:
                    above = package.split(".")[: len(package.split(".")) - child.level + 1]
                    base = ".".join([*above, base]).rstrip(".")
                for alias in child.names:
                    yield Import(
                        module, f"{base}.{alias.name}", function, child.lineno, child.level > 0
                    )
            elif isinstance(child, ast.Call) and called(child) in BY_TEXT:
                target = beginning(child.args[0])
                if package_of(target) != package_of(module):
                    yield Import(module, target, function, child.lineno)
            inner = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from visit(child, child.name if inner else function)

    yield from visit(ast.parse(source), "")


def called(call):
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def beginning(text):
    """What a text begins with: of ``f"c4env.agents.{name}"``, ``c4env.agents``."""
    first = text.values[0] if isinstance(text, ast.JoinedStr) else text
    return str(first.value).rstrip(".") if isinstance(first, ast.Constant) else ""


@functools.cache
def all_imports():
    items = []
    for module, path in modules().items():
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        items += imports_of(path.read_text(), module, package)
    assert len(items) > 100
    return items


def package_of(module):
    """Which of our packages a module belongs to; empty for modules of others."""
    return next((p for p in reversed(PACKAGES) if f"{module}.".startswith(f"{p}.")), "")


def floor(module):
    """How high a module's room stands in its package; the package, and its names, above all."""
    package = package_of(module)
    room = module.removeprefix(package).lstrip(".").partition(".")[0]
    rooms = ROOMS[package].split()
    return rooms.index(room) if room in rooms else len(rooms)


def against_the_arrows(found):
    ours, theirs = package_of(found.module), package_of(found.target)
    if not theirs:
        return False
    if found.module == PACKAGES[0]:  # the root says, for typing, which packages stand on it
        return False
    if (found.module, found.function) == ("c4env.lazy", "agents_module"):  # where it says why
        return False
    if theirs != ours:
        return PACKAGES.index(theirs) > PACKAGES.index(ours)
    if found.module == ours:  # the package hands names on from any room
        return False
    if (found.module, found.function) == ("c4env.position", "_repr_svg_"):
        return floor(found.target) > floor("c4env.render")  # a notebook's picture, when it is shown
    return floor(found.target) > floor(found.module)


def test_no_import_turns_an_arrow():
    assert not [result for result in all_imports() if against_the_arrows(result)]


def test_c4env_imports_what_a_variable_names_in_one_module():
    computed = {found.module for found in all_imports() if not found.target}
    assert [m for m in computed if package_of(m) == "c4env"] == ["c4env.lazy"]


def test_what_c4env_takes_from_the_agents_by_a_text_exists():
    taken = [
        (node.value.args[0].value, node.attr)
        for module, path in modules().items()
        if package_of(module) == "c4env"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Call)
        and called(node.value) == "agents_module"
    ]
    assert len(taken) >= 5
    for name, attribute in taken:
        assert hasattr(importlib.import_module(f"c4env.agents.{name}"), attribute), name


def test_a_wrong_import_of_each_kind_is_found():
    for module, source in (
        ("c4env.position", "from c4env.agents import make"),  # a package that stands on it
        ("c4env.bitboard", "from c4env.position import Position"),  # a later room
        ("c4env.render", "from .envs.aec import env"),
        ("c4env.files", "if TYPE_CHECKING:\n    from c4env import Position"),  # its own names
        ("c4env.errors", "class Some:\n    async def late(self):\n        import c4env.lazy"),
        ("c4env.position", "def other():\n    from .render import svg"),
        ("c4env.openings", "importlib.import_module(f'c4env.agents.solver.{name}')"),
        ("c4env.files", "__import__('c4env.agents')"),
        ("c4env.lazy", "def other():\n    import_module('c4env.agents')"),
    ):
        (result,) = imports_of(source, module, module.rpartition(".")[0])
        assert against_the_arrows(result), result


def test_all_imports_are_absolute():
    assert [result for result in all_imports() if result.relative] == []


def test_no_modules_import_each_other_in_a_circle():
    graph = {module: set() for module in modules()}
    for result in all_imports():
        in_tree = [m for m in (result.target, result.target.rpartition(".")[0]) if m in graph]
        # Packages name their modules' contents for type checkers only, and functions import late.
        lazy = result.function or result.module in PACKAGES
        if in_tree and not lazy and in_tree[0] != result.module:
            graph[result.module].add(in_tree[0])
    graphlib.TopologicalSorter(graph).prepare()  # raises an error that shows a circle


@pytest.mark.parametrize("name", ["agents", "evaluation"])
def test_python_in_the_clone_imports_the_packages_only_under_c4env(name):
    done = run_python("-c", f"from c4env import {name}; print({name}.__name__)", cwd=ROOT)
    assert done.stdout == f"c4env.{name}\n"
    done = run_python("-c", f"import {name}", cwd=ROOT)
    assert f"\nImportError: {name} is imported as c4env.{name} (your own folder" in done.stderr


@pytest.mark.slow
@pytest.mark.compiled
def test_a_clone_without_links_plays_and_its_tests_say_what_they_need(tmp_path):
    """As Git on Windows makes it: a link is a text file."""
    for name in ("c4env", "agents", "evaluation", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True)
    for link in (tmp_path / "c4env" / "agents", tmp_path / "c4env" / "evaluation"):
        link.unlink()
        link.write_text(f"../{link.name}")
    clone = {"cwd": tmp_path, "env": environment(PYTHONPATH="")}
    code = "from c4env import Position, agents; print(agents.make('greedy').choose(Position()))"
    assert run_python("-c", code, check=True, **clone).stdout == "3\n"
    play = "-m", "c4env.evaluation", "run", "greedy", "random", "--openings", "0", "--jobs", "2"
    here = run_python(*play, cwd=ROOT, check=True).stdout
    assert run_python(*play, check=True, **clone).stdout.splitlines()[-1] == here.splitlines()[-1]
    tests = run_python("-m", "pytest", "-q", "tests/rules", **clone)
    assert (tests.returncode, "need links" in tests.stderr) == (2, True)
