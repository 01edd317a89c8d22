import pytest

from c4env.geometry import IS_STANDARD


@pytest.mark.skipif(IS_STANDARD, reason="tests/c4env has it of the standard board")
def test_games_are_those_of_positions():
    pytest.importorskip("jax", reason="needs jax: the extra jax")
    from tests.c4env.test_jax import follow_positions

    follow_positions(40)
