import pytest

from tests.c4env.test_tensor import follow


def test_games_are_those_of_the_vector_environment():
    pytest.importorskip("torch", reason="needs torch: the extra torch")
    follow(5, 20, opponent="random")
