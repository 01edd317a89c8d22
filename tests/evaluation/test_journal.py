import pytest

from c4env.errors import UnreadableRun, Unwritable
from c4env.evaluation.store.journal import Findings, Format, Journal, line_of


def number(values):
    (value,) = values
    if not isinstance(value, int):
        raise TypeError("no number")
    return value


NUMBERS = Format("numbers 1", number, "numbers", lambda value: [value])
HEADER, ONE, TWO = (line_of(value).decode() for value in ({"format": "numbers 1"}, [1], ["two"]))


def opened(path):
    return Journal(path, NUMBERS)


def written(path, values):
    with opened(path) as journal:
        for value in values:
            journal.append(value)


@pytest.mark.parametrize("torn", [1, 5, 8, 9, 12, 20, 30])
def test_a_line_torn_off_by_a_kill_is_dropped(tmp_path, torn):
    path = tmp_path / "new" / "numbers.jsonl"
    written(path, [3, 12345])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - torn])
    with opened(path) as journal:
        assert journal.entries == ([3] if torn < 9 else [])
        journal.append(5)
    with opened(path) as journal:
        assert journal.entries == ([3, 5] if torn < 9 else [5])


def test_something_else_is_refused_and_left_alone(tmp_path):
    for text, words in (
        (HEADER + ONE + TWO + ONE, "line 3.*no number"),
        (HEADER + ONE + '[2"]\n' + ONE, "line 3.*Expecting"),
        (HEADER + ONE.strip() + ONE, "line 2.*Extra data"),
        (HEADER.replace("numbers", "letters"), "line 1.*the format is 'letters 1'"),
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
    texts = Format("texts 1", str, "texts", lambda text: [text])._replace(parse=lambda v: v[0])
    with Journal(path, texts, {"about": text}) as journal:
        journal.append(text)
    with Journal(path, texts, {"about": text}) as journal:
        assert journal.entries == [text]
    assert ("é" in path.read_text("utf-8")) == ("é" in text)  # people can read it


def test_a_disk_that_fills_is_an_error_and_loses_no_line(tmp_path):
    path = tmp_path / "numbers.jsonl"
    written(path, [3])
    resource = pytest.importorskip("resource")  # not on Windows
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with opened(path) as journal:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 4, hard))
        try:
            with pytest.raises(Unwritable, match=r"numbers\.jsonl"):
                journal.append(1234567)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        journal.append(4)
    with opened(path) as journal:
        assert journal.entries == [3, 4]


@pytest.mark.parametrize("kept", [True, False])
def test_findings_are_asked_for_once(tmp_path, kept):
    path = tmp_path / "found.jsonl" if kept else None
    form = Format("c4env findings 1", lambda line: ((line[0], line[1]), line[2]), "findings")
    asked = []

    def ask():
        asked.append(len(asked))
        return asked[-1]

    for _ in range(2):
        found = Findings(path, form)
        with found.journal:
            assert found.find(("a", 1), ask) == found.find(("a", 1), ask)
    assert len(asked) == (1 if kept else 2)
