import json
from dataclasses import replace

import pytest

from c4env.errors import UnreadableRun
from c4env.evaluation.store.header import RunHeader
from c4env.evaluation.store.run_files import GameRecord, digest, open_games, read_games

WON = GameRecord(("a", "b"), "12", "1212121", 0, "four", "", (5, 7), (0.25, 0.5))
LEFT = GameRecord(("b", "a"), "", "44", 1, "exception", "ValueError: it broke\nbadly")


def test_values_and_parse_are_inverse():
    for game in (WON, LEFT):
        assert GameRecord.parse(json.loads(json.dumps(game.values()))) == game


def test_what_is_no_game_is_refused():
    for values in (
        "",
        None,
        replace(WON, winner=1).values(),
        replace(WON, moves="121212").values(),
        {key: value for key, value in WON.values().items() if key != "second"},
        replace(WON, ending="exception").values(),
        replace(LEFT, winner=None).values(),
    ):
        with pytest.raises(UnreadableRun):
            GameRecord.parse(values)


def test_digest_is_of_the_games_not_of_their_order_or_time():
    slower = replace(WON, seconds=(9.0, 9.0))
    assert digest([WON, LEFT]) == digest([LEFT, slower])
    assert digest([WON, LEFT]) != digest([WON])
    assert len(digest([WON])) == 16
    assert digest([WON]) != digest([replace(WON, nodes=(5, 8))])


PLANNED = RunHeader(players={"a": "a", "b": "b"}, openings=("12", ""))
OTHER = replace(WON, players=("c", "b"))


@pytest.mark.parametrize("games", [[WON, LEFT, WON], [LEFT, OTHER], [replace(WON, opening="1")]])
def test_reports_and_runs_refuse_the_same_games(tmp_path, games):
    """One twice, of players or openings that the run does not have: both read alike."""
    with open_games(tmp_path, PLANNED) as file:
        for game in games:
            file.append(game.values())
    words = f"line {len(games)}.*of another run, or occurs twice"
    with pytest.raises(UnreadableRun, match=words):
        read_games(tmp_path)
    with pytest.raises(UnreadableRun, match=words):
        open_games(tmp_path, PLANNED)


def test_people_may_play_one_opening_many_times(tmp_path):
    header = RunHeader(kind="people")
    for before in (0, 1):
        with open_games(tmp_path / "new", header) as file:
            assert file.entries == [WON] * before
            file.append(WON.values())
    assert read_games(tmp_path / "new") == (header, [WON, WON])
