import ast
import os
import re
import shutil
from pathlib import Path

import pytest

from c4env import jit
from c4env.jit import config, kernel
from tests.helpers.paths import ROOT, modules
from tests.helpers.processes import run_python


def run(script, cache, **environment):
    """What a new process prints that runs a script with warnings as errors, exit code 0."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "XDG_", "C4ENV_"))}
    clean |= {"PYTHONPATH": str(script.parent), "NUMBA_CACHE_DIR": str(cache), **environment}
    done = run_python("-W", "error", script, env=clean, cwd=script.parent)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def contents(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_a_kernel_computes_what_its_function_does():
    @kernel("int64(int64)")
    def twice(number: int) -> int:
        return 2 * number

    assert twice(21) == 42
    assert type(twice(21)) is int
    if not config.DISABLE_JIT:
        assert len(twice.signatures) == 1  # compiled at once


NOT_IN_KERNELS = {  # modules whose constants no kernel uses
    *("c4env.boards", "c4env.system", "c4env.agents.graded_elo", "c4env.agents.making.options"),
}


def test_all_constants_that_kernels_may_use_are_hashed():
    """Kernels are compiled with the numbers that their modules import."""
    sources = jit.kernel_sources()
    hashed = {name for name, path in modules().items() if path in sources}
    assert len(hashed) > len(jit.CONSTANTS) + 20
    for path in sources:
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.ImportFrom) and node.module.startswith("c4env"):
                constants = [each.name for each in node.names if each.name.isupper()]
                assert not constants or node.module in hashed | NOT_IN_KERNELS, (path, constants)


@pytest.fixture
def small(tmp_path):
    """A tree with ``kernel()`` and a kernel that calls one from another file."""
    (tmp_path / "c4env").mkdir()
    (tmp_path / "c4env" / "__init__.py").write_text("")
    for name in ("jit.py", "geometry.py", "boards.py", "errors.py", "system.py"):
        shutil.copy(ROOT / "c4env" / name, tmp_path / "c4env")
    lines = "from c4env.jit import kernel\n@kernel('int64(int64)')\ndef "
    callee = f"{lines}callee(n):\n    return n + 1\n"
    caller = f"from c4env.callee import callee\n{lines}caller(n):\n    return callee(n)\n"
    (tmp_path / "c4env" / "callee.py").write_text(callee)
    (tmp_path / "c4env" / "caller.py").write_text(caller)
    return tmp_path


@pytest.mark.compiled
@pytest.mark.slow
def test_a_second_process_compiles_nothing_unless_a_callee_was_edited(small):
    script, cache = small / "main.py", small / "cache"
    script.write_text(
        "from c4env.caller import caller, callee\n"
        "print(caller(1), [sum(k.stats.cache_misses.values()) for k in (caller, callee)])\n"
    )
    assert run(script, cache) == "2 [1, 1]"
    kept = contents(cache)
    assert any(path.suffix == ".nbc" for path in kept)
    assert run(script, cache) == "2 [0, 0]"
    assert contents(cache) == kept
    callee = small / "c4env" / "callee.py"
    callee.write_text(callee.read_text().replace("n + 1", "n + 7"))
    assert run(script, cache) == "8 [1, 1]"


def test_the_first_writable_place_holds_the_cache(tmp_path, monkeypatch):
    """A file in the way stands for an unwritable place, which root would not notice."""
    places = {name: tmp_path / name for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME")}
    for name, base in places.items():
        monkeypatch.setenv(name, str(base))
    for name, base in places.items():
        result = jit.cache_folder.__wrapped__()  # not the one that this process remembers
        assert result.parent == (base / ".cache" if name == "HOME" else base)
        assert result.name.startswith("c4env-")
        assert result.is_dir()
        shutil.rmtree(base)
        base.write_text("in the way")


@pytest.mark.compiled
def test_where_nothing_is_writable_kernels_run_and_nothing_stays(small):
    blocked = small / "blocked"
    blocked.write_text("in the way")
    script = small / "main.py"
    script.write_text(
        "from c4env import jit\nfrom c4env.caller import caller\n"
        "print(caller(1), jit.cache_folder())\n"
    )
    answer, used = run(script, blocked, HOME=str(blocked), XDG_CACHE_HOME=str(blocked)).split()
    assert answer == "2"
    assert not Path(used).exists()


FULL = """
import builtins, errno, os
from pathlib import Path

cache, usual = Path(os.environ["NUMBA_CACHE_DIR"]), builtins.open

class Full:
    def __init__(self, file):
        self.file = file
    def __enter__(self):
        return self
    def __exit__(self, *_):
        self.file.close()
    def write(self, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

def limited(path, mode="r", *rest, **options):
    file = usual(path, mode, *rest, **options)
    is_full = "w" in mode and cache in Path(path).parents
    return Full(file) if is_full else file

builtins.open = limited
"""
ALL_IN_ONE = "import sys\nsys.stderr = sys.stdout\n"
USED = """
from c4env import jit
from c4env.caller import caller
print(caller(1), jit.cache_folder(), sep="\\n")
"""
FIRST = "c4env: compiling native code, only once for each function"
EACH = (
    "c4env: compiling native code, on each run: no cache folder can be written "
    "(NUMBA_CACHE_DIR sets one)"
)


@pytest.mark.compiled
@pytest.mark.isolated
def test_where_numba_cannot_make_a_folder_a_temporary_one_serves(small):
    """Numba would take ``__pycache__``, where it does not notice an edited callee."""
    script, cache = small / "main.py", small / "cache"
    script.write_text(ALL_IN_ONE + USED)
    _, answer, used = run(script, cache).splitlines()
    assert (answer, Path(used).parent) == ("2", cache)
    shutil.rmtree(used)
    Path(used).mkdir()
    Path(used, "6x7x4").write_text("in the way")
    message, answer, used = run(script, cache).splitlines()
    assert (message, answer) == (EACH, "2")
    assert cache not in Path(used).parents
    assert not Path(used).exists()


@pytest.mark.slow
@pytest.mark.compiled
def test_a_disk_that_fills_up_keeps_its_code_and_the_rest_is_temporary(small):
    script, cache = small / "main.py", small / "cache"
    script.write_text(f"{ALL_IN_ONE}from c4env.callee import callee\n{FULL}{USED}")
    message = run(script, cache).splitlines()
    assert message[:3] == [FIRST, EACH, "2"]
    kept = contents(cache)
    assert {path.suffix for path in kept} == {".nbi", ".nbc"}
    assert run(script, cache).splitlines()[:2] == [EACH, "2"]
    assert contents(cache) == kept


@pytest.mark.compiled
@pytest.mark.isolated
def test_without_room_anywhere_one_line_names_the_folder(small):
    resource = pytest.importorskip("resource")
    assert resource.RLIMIT_FSIZE
    script = small / "main.py"
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    script.write_text(
        f"{limit}from c4env.errors import Unwritable\n"
        "try:\n    import c4env.caller\nexcept Unwritable as error:\n    print(error)\n"
    )
    words = r"\S+c4env-\w+ cannot be written: File too large: expected room for compiled code; "
    assert re.fullmatch(f"{words}NUMBA_CACHE_DIR sets another folder", run(script, small / "cache"))
