"""Files that are written whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from c4env.files import write_whole


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    file, link = tmp_path / "there" / "file", tmp_path / "link"
    link.symlink_to(file)
    for text in ("new", "newer"):
        write_whole(link, text)
        assert link.is_symlink()
        assert file.read_text() == text
    assert sorted(tmp_path.rglob("*")) == [link, file.parent, file]
