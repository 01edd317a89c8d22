"""What all boards share: checks of integers, missing extras, files and cores."""

import os
import re
import stat
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from c4env.errors import InvalidOption, MissingExtra, Unwritable, require_integer
from c4env.files import write_whole
from c4env.lazy import EXTRAS, from_extra
from c4env.system import one_thread, usable_cores
from tests.helpers.paths import ROOT, modules
from tests.helpers.processes import environment, run_python


@pytest.mark.parametrize("value", [1, np.int8(7), np.uint64(7), np.array(7)])
def test_integers_of_any_library_are_taken(value):
    taken = require_integer("threads", value, high=7)
    assert type(taken) is int
    assert taken == value


@pytest.mark.parametrize("value", [0, 8, True, np.True_, 2.0, "3", None, 10**30])
def test_what_is_not_an_integer_in_bounds_is_quoted(value):
    with pytest.raises(InvalidOption) as caught:
        require_integer("threads", value, 1, "a number of threads", high=7)
    assert str(caught.value) == f"threads={value!r}: expected a number of threads"


def test_a_failed_import_names_what_it_was_for_and_the_packages_to_install():
    expected = r"^x needs y: pip install starlette uvicorn \(No module named 'no_such_module_1'\)$"
    with pytest.raises(MissingExtra, match=expected), from_extra("web", "x needs y"):
        import no_such_module_1  # noqa: F401
    with pytest.raises(KeyError, match="not an import"), from_extra("web", "x needs y"):
        raise KeyError("not an import")


def test_the_packages_of_an_extra_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {
        extra: " ".join(re.split("[>=<~! ]", requirement)[0] for requirement in requirements)
        for extra, requirements in project["optional-dependencies"].items()
        if extra not in ("test", "docs", "lint")
    }
    assert declared == EXTRAS


def test_nothing_asks_for_c4env_from_a_package_index():
    """The name there may be another's."""
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/**/*.ipynb")]
    assert len(documents) > 30
    asked = re.compile(rb"c4env\[[a-z]|pip install (-\w+ )*['\"]?c4env")
    paths = [*documents, *modules().values()]
    assert [path for path in paths if asked.search(path.read_bytes())] == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders")
@pytest.mark.parametrize("content", ["text", lambda file: file.write(b"text")])
def test_a_pipe_gets_the_content_and_stays(tmp_path, content):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        write_whole(pipe, content)
        assert reader.read() == b"text"
    assert not pipe.is_file()


def saved_by_torch(file):
    torch = pytest.importorskip("torch")
    torch.save(torch.zeros(100_000), file)  # hides the cause on a real file


@pytest.mark.parametrize(
    "content",
    [
        "text" * 1000,
        lambda file: np.save(file, np.zeros(1000)),  # hides the cause on a real file
        lambda file: np.savez_compressed(file, rows=np.random.default_rng(1).random(1000)),
        saved_by_torch,
    ],
)
def test_a_write_that_fails_leaves_the_file_and_names_it_with_the_cause(tmp_path, content):
    resource = pytest.importorskip("resource")  # not on Windows
    path = tmp_path / "kept"
    path.write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(Unwritable) as caught:
            write_whole(path, content)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(caught.value) == f"{path} cannot be written: File too large"
    assert [(p, p.read_text()) for p in tmp_path.iterdir()] == [(path, "old")]


def test_an_error_of_a_write_holds_no_buffer_of_the_content(tmp_path):
    """Python 3.12 dies when it collects a file in memory that has one, and 3.13 complains."""
    files = []
    with pytest.raises(Unwritable) as caught:
        write_whole(tmp_path / "missing" / "file", files.append)
    files[0].close()  # BufferError if a buffer is left
    assert "No such file" in str(caught.value)


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    for mode in (0o600, 0o664, 0o444):
        path = tmp_path / f"{mode:o}"
        path.write_text("old")
        path.chmod(mode)
        write_whole(path, "new")
        assert (stat.S_IMODE(path.stat().st_mode), path.read_text()) == (mode, "new")
    (tmp_path / "made").write_text("")
    write_whole(tmp_path / "new", "new")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "made").stat().st_mode  # as the umask


def test_threads_that_write_one_file_do_not_meet(tmp_path):
    texts = [str(number) * 10_000 for number in range(4)]
    with ThreadPoolExecutor(4) as threads:
        [*threads.map(lambda text: write_whole(tmp_path / "file", text), 20 * texts)]
    assert (tmp_path / "file").read_text() in texts
    assert len([*tmp_path.iterdir()]) == 1


NEWER = pytest.mark.skipif(sys.version_info < (3, 13), reason="a switch of Python 3.13")


@pytest.mark.parametrize(
    "variable", ["LOKY_MAX_CPU_COUNT", pytest.param("PYTHON_CPU_COUNT", marks=NEWER)]
)
def test_a_limit_of_the_machine_is_respected(variable):
    script = "from c4env.system import usable_cores; print(usable_cores())"
    assert run_python("-c", script, env=environment(**{variable: "1"})).stdout == "1\n"
    assert usable_cores() >= 1


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_linear_algebra_gets_its_threads_back_after_the_last_of_those_who_need_one():
    """They overlap, as in threads."""
    with threadpool_limits(2, "blas"):
        before, first, second = blas_threads(), one_thread(), one_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before
