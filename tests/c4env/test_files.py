import os

import pytest

from c4env.files import write_whole


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders")
@pytest.mark.parametrize("content", ["text", lambda file: file.write(b"text")])
def test_a_pipe_gets_the_content_and_stays(tmp_path, content):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        write_whole(pipe, content)
        assert reader.read() == b"text"
    assert not pipe.is_file()
