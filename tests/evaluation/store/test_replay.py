from __future__ import annotations

from c4env.evaluation.store.record import GameRecord


def test_a_game_shows_itself_in_a_notebook():
    game = GameRecord(("<b>one</b>", "two"), "44", "4455667", 0, "four")
    shown = game._repr_html_()
    assert shown.count("<svg") == 6  # after the opening's two discs, and after each of five more
    assert shown.count('class="c4-frame" hidden') == 5
    assert "&lt;b&gt;one&lt;/b&gt; (first) against two: &lt;b&gt;one&lt;/b&gt; wins (four)" in shown
    assert "<b>" not in shown


def test_a_game_without_a_move():
    game = GameRecord(("a", "b"), "", "", 1, "exception", "ValueError: \x1b[2J")
    assert "ValueError: \\x1b[2J" in game._repr_html_()
