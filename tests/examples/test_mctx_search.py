"""The search of mctx: that it finds more best columns than its network alone."""

import pytest

from tests.helpers.examples import example

pytest.importorskip("jax", reason="needs jax: pip install jax")
pytest.importorskip("mctx", reason="needs mctx: pip install mctx")


@pytest.mark.slow
def test_the_search_finds_more_best_columns_than_the_network_without_search(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where it writes its positions
    alone, searched = example("mctx_search").main(500, 100)
    assert searched > alone + 0.05
