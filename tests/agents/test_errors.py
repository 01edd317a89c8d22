"""What a program says may stand in an error, and do nothing to a terminal."""

from __future__ import annotations

import pickle

import pytest

from c4env.agents.errors import EngineFault, LateAnswer


@pytest.mark.parametrize("kind", [EngineFault, LateAnswer])
def test_what_a_program_says_is_shown_and_not_obeyed(kind):
    error = kind("it answered \x1b[2J\u202e\x07 é")
    assert str(error) == "it answered \\x1b[2J\\u202e\\x07 é"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
