import json

import pytest

from c4env.errors import UnreadableRun, Unwritable
from c4env.evaluation.store.lines import Lines, Memo, read_lines


def number(value):
    (one,) = value
    if not isinstance(one, int):
        raise TypeError("no number")
    return one


def opened(path):
    return Lines(path, number)


def written(path, values):
    with opened(path) as lines:
        for value in values:
            lines.append([value])


@pytest.mark.parametrize("torn", [1, 5, 7, 8, 9, 11])
def test_a_line_torn_off_by_a_kill_is_dropped(tmp_path, torn):
    path = tmp_path / "new" / "numbers.jsonl"
    written(path, [3, 12345])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - torn])
    kept = [3] if torn < 9 else []
    assert read_lines(path, number) == kept
    with opened(path) as lines:
        assert lines.entries == kept
        lines.append([5])
    with opened(path) as lines:
        assert lines.entries == [*kept, 5]


def test_something_else_is_refused_and_left_alone(tmp_path):
    for text, words in (
        ('[1]\n["two"]\n[1]\n', "line 2.*no number"),
        ('[1]\n[2"]\n[1]\n', "line 2.*Expecting"),
        ("[1][1]\n", "line 1.*Extra data"),
        ("notes of mine\n", "line 1"),
        ("[]\n", "line 1"),
        ("notes of mine", "notes of mine"),
    ):
        path = tmp_path / "numbers.jsonl"
        path.write_text(text)
        with pytest.raises(UnreadableRun, match=words):
            opened(path)
        assert path.read_text() == text


def test_a_second_writer_is_refused(tmp_path):
    path = tmp_path / "numbers.jsonl"
    with opened(path), pytest.raises(Unwritable, match="another process"):
        opened(path)
    opened(path).close()
    assert list(tmp_path.iterdir()) == [path]  # no lock file stays


@pytest.mark.parametrize("text", ["a\u2028b\x85c\x0bd", "half \ud800 a pair", "\udcff", 'é\n"\\'])
def test_any_text_is_kept_as_it_is(tmp_path, text):
    path = tmp_path / "texts.jsonl"
    with Lines(path) as lines:
        lines.append([text])
    with Lines(path) as lines:
        assert lines.entries == [[text]]
    assert ("é" in path.read_text("utf-8")) == ("é" in text)  # people can read it


def test_a_disk_that_fills_is_an_error_and_loses_no_line(tmp_path):
    path = tmp_path / "numbers.jsonl"
    written(path, [3])
    resource = pytest.importorskip("resource")  # not on Windows
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with opened(path) as lines:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 4, hard))
        try:
            with pytest.raises(Unwritable, match=r"numbers\.jsonl"):
                lines.append([1234567])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        lines.append([4])
    assert read_lines(path, number) == [3, 4]


def test_an_interrupt_says_what_is_kept(tmp_path):
    def interrupted():
        with Lines(tmp_path / "numbers.jsonl") as lines:
            lines.append([3])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"1 numbers are kept in .*; the same command"):
        interrupted()


@pytest.mark.parametrize("kept", [True, False])
def test_a_memo_asks_once(tmp_path, kept):
    path = tmp_path / "found.jsonl" if kept else None
    asked = []

    def ask():
        asked.append(len(asked))
        return asked[-1]

    for _ in range(2):
        with Memo(path) as memo:
            assert memo.find(("a", 1), ask) == memo.find(("a", 1), ask)
    assert len(asked) == (1 if kept else 2)
    if kept:
        assert json.loads(path.read_text()) == ["a", 1, 0]


def test_a_memo_of_an_older_version_is_refused(tmp_path):
    path = tmp_path / "scores.jsonl"
    path.write_text('{"format":"c4env scores 1"}\n[1,2,[0]]\n')
    with pytest.raises(UnreadableRun, match=r"line 1: .*; delete a file of an older version"):
        Memo(path)
