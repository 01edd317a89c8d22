import pytest


def test_games_are_those_of_positions():
    pytest.importorskip("jax", reason="needs jax: the extra jax")
    from tests.c4env.test_jax import follow_positions

    follow_positions(40)
