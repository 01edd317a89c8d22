from __future__ import annotations

import resource

import pytest

from evaluation.errors import UnreadableRun
from evaluation.store.journal import Journal

TITLE = "numbers 1"


def number(value):
    if not isinstance(value, int):
        raise TypeError
    return value


def opened(path):
    return Journal(path, TITLE, number)


def written(path, values):
    with opened(path) as journal:
        for value in values:
            journal.append(value)


def test_what_is_appended_is_read_again(tmp_path):
    path = tmp_path / "new" / "numbers.jsonl"
    written(path, [3, 1])
    written(path, [4])
    with opened(path) as journal:
        assert journal.entries == [3, 1, 4]


@pytest.mark.parametrize("torn", [1, 2, 15, 20, 24])
def test_a_line_torn_off_by_a_kill_is_dropped(tmp_path, torn):
    path = tmp_path / "numbers.jsonl"
    written(path, [3, 12345])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - torn])
    with opened(path) as journal:
        assert journal.entries == ([3] if torn < 7 else [])
        journal.append(5)
    with opened(path) as journal:
        assert journal.entries == ([3, 5] if torn < 7 else [5])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"format":"numbers 1"}\n1\n"two"\n3\n', "line 3"),
        ('{"format":"numbers 1"}\n1\n2"\n3\n', "line 3"),
        ('{"format":"letters 1"}\n', "line 1"),
        ("notes of mine\n", "line 1"),
        ("notes of mine", "notes of mine"),
    ],
)
def test_something_else_is_refused_and_left_alone(tmp_path, text, words):
    path = tmp_path / "numbers.jsonl"
    path.write_text(text)
    with pytest.raises(UnreadableRun, match=words):
        opened(path)
    assert path.read_text() == text


def test_a_second_writer_is_refused(tmp_path):
    path = tmp_path / "numbers.jsonl"
    with opened(path), pytest.raises(UnreadableRun, match="another process"):
        opened(path)
    opened(path).close()


def test_a_disk_that_fills_is_an_error_and_loses_no_line(tmp_path):
    path = tmp_path / "numbers.jsonl"
    written(path, [3])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with opened(path) as journal:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 4, hard))
        try:
            with pytest.raises(UnreadableRun, match=r"numbers\.jsonl"):
                journal.append(1234567)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        journal.append(4)
    with opened(path) as journal:
        assert journal.entries == [3, 4]


def test_a_folder_that_cannot_be_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnreadableRun, match="file"):
        opened(tmp_path / "file" / "numbers.jsonl")
