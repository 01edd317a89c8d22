"""The pages show what their commands print; tests/test_readme.py runs them and compares."""

import re

import pytest

from c4env.evaluation.cli import COMMANDS
from tests.helpers.paths import ROOT
from tests.makers import outputs

PAGE = """```python
# right.py
def agent(observation):
    return 6
```

```console
$ c4 solve 44
```

<!-- made: output{most} -->
```console
$ c4 list greedy
old
$ c4 run right.py:agent random --openings 0
```
<!-- end -->

```console
$ c4 no such command
```
"""


@pytest.mark.slow
def test_outputs_are_written_below_their_commands():
    """In the marked block alone, and without times; a block after it is not run."""
    lines = outputs.made(PAGE.format(most="")).splitlines()
    start = lines.index("$ c4 list greedy")
    assert lines[start + 1].startswith("greedy  ")
    assert "old" not in lines
    (heading,) = (number for number, line in enumerate(lines) if line.endswith("   ms"))
    assert [line.endswith("  ...") for line in lines[heading + 1 : heading + 4]] == [1, 1, 0]
    assert PAGE.format(most="").count("```") == "\n".join(lines).count("```")
    assert "$ c4 solve 44\n```" in "\n".join(lines)


def test_an_output_is_cut_at_the_end_of_a_paragraph():
    assert outputs.shown("a\nb\n\nc\n\nd\n", 2) == "a\nb\n\nc\n\n..."
    assert outputs.shown("a\n\nb\n", 2) == outputs.shown("a\n\nb\n", 0) == "a\n\nb"
    assert outputs.shown("longest ms    0.3\n", 0) == "longest ms    ..."


def test_a_sentence_is_broken_where_the_site_would_cut_it():
    words, row = "word " * 30, "a  b" * 30
    assert [len(line) for line in outputs.shown(words + "\n\n" + row, 0).split("\n")] == [
        104,
        44,
        0,
        120,
    ]


def test_the_pages_show_what_each_command_prints():
    pages = [page.read_text("utf-8") for page in (ROOT / "docs").glob("**/*.md")]
    blocks = re.findall(r"^```console\n(.*?)^```$", "\n".join(pages), re.M | re.S)
    shown = set(re.findall(r"^\$ c4 (\w+).*\n(?=[^$\n])", "\n".join(blocks), re.M))
    assert shown >= {*COMMANDS} - {"leaderboard", "play", "web"}  # a table of a page, and games
